#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/compare.hpp"
#include "experiment/side_by_side.hpp"

/// Comparisons for people and programs.
namespace overlap::report {

/// What `compare` found.
struct Comparisons {
  double below = 0;  ///< by what part a judged metric may be worse
  std::vector<experiment::Comparison> all;
  std::optional<experiment::SideBySide> side_by_side = {};  ///< then nothing is judged

  experiment::Verdict verdict() const { return experiment::verdict_of(all); }
  base::ExitCode exit_code() const;
};

/// Differences, then a table of the changes, for each comparison; the verdict.
std::string comparison_text(const Comparisons& comparisons);

/// The file, schema overlap-comparison/1, and its JSON Schema.
std::string comparison_json(const Comparisons& comparisons);
std::string comparison_schema();

/// The same as one page, with a picture of the ratios and their intervals.
std::string comparison_html(const Comparisons& comparisons);

}  // namespace overlap::report
