#pragma once

#include <string>

#include "base/table.hpp"

/// What all pages share.
namespace overlap::report {

/// A page up to its body, with the style of all pages.
std::string page_head(const std::string& title);

/// JSON as the page's script `id`.
std::string page_json(const std::string& id, std::string json);

/// Rows as a table, the first one the headings.
std::string page_table(const base::Rows& rows);

}  // namespace overlap::report
