#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/compare.hpp"
#include "experiment/side_by_side.hpp"

/// Reports of comparisons, for people and programs.
namespace overlap::report {

/// Results of the command `compare`.
struct Comparisons {
  double below = 0;     ///< tolerated relative degradation of judged metrics
  bool common = false;  ///< what only one result has is not judged
  std::vector<experiment::Comparison> all;
  std::optional<experiment::SideBySide> side_by_side = {};  ///< if set, nothing is judged
  base::ExitCode least = base::ExitCode::pass;              ///< of writing the files

  /// The worst of all judged changes and of writing the files.
  base::ExitCode exit_code() const {
    return base::worst(least, experiment::exit_code_of(all, common));
  }
  experiment::Verdict verdict() const { return experiment::verdict_of(exit_code()); }
};

/// Differences and a table of the changes for each comparison.
std::string comparison_text(const Comparisons& comparisons);

/// The comparison file, schema overlap-comparison/1, and its JSON Schema.
std::string comparison_json(const Comparisons& comparisons);
std::string comparison_schema();

/// The same as an HTML page, with a plot of the ratios and their intervals.
std::string comparison_html(const Comparisons& comparisons);

// Results side by side.

/// Errors of columns that did not run a deck: "column 2: ...".
std::vector<std::string> error_lines(const experiment::SharedDeck& deck);

/// An order with its sweep point or phase.
std::string match_words(const experiment::Match& match);

/// The columns, then per deck the differences and a table of all orders.
std::string side_by_side_text(const experiment::SideBySide& all);

/// One row per deck, order and column. Times in seconds.
std::string side_by_side_csv(const experiment::SideBySide& all);

/// The same as an HTML page, with the measured timelines of each deck on a common time axis.
std::string side_by_side_html(const experiment::SideBySide& all);

}  // namespace overlap::report
