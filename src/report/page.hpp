#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "report/svg.hpp"

/// What all pages share.
namespace overlap::report {

/// A page up to its body, with the style of all pages.
std::string page_head(const std::string& title);

/// JSON as the page's script `id`.
std::string page_json(const std::string& id, std::string json);

/// Rows as a table, the first one the headings.
std::string page_table(const base::Rows& rows);

/// What the colours of stages mean.
std::string page_legend(const std::vector<Ink>& used);

}  // namespace overlap::report
