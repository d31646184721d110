#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/figures.hpp"
#include "results/result.hpp"

/// Comparisons of results: what a comparison file holds. Of two results, the second is judged; side
/// by side, for porting studies, nothing is.
namespace overlap::results {

enum class Trend { faster, slower, same, identical, inconclusive };
constexpr auto words_of(Trend) {
  return describe::in_order<Trend>("faster", "slower", "same", "identical", "inconclusive");
}

/// Relative differences of times below this count as equal.
inline constexpr double same_within = 0.01;

/// A metric in two results.
struct Change {
  std::string point;  ///< of a sweep, "chunks.count 4"; else empty
  std::string order;  ///< with disturbance or host work; "-": a metric of the device
  deck::Metric metric = deck::Metric::time;
  std::optional<base::Summary> a, b;    ///< empty: missing
  std::optional<base::Estimate> ratio;  ///< b / a; also empty if a value is not above 0
  Trend trend = Trend::inconclusive;    ///< faster: b is better; identical: the same samples
  std::optional<Verdict> verdict;       ///< empty: the deck of a does not judge it
};

/// Comparison of the results of one deck in two files.
struct Comparison {
  std::string a, b;                  ///< file names
  std::string deck;                  ///< name of the deck
  std::vector<Setting> differences;  ///< of machine, program and deck
  std::vector<Change> changes;
};

/// The results of one file, or of one folder with one file per deck.
struct ResultColumn {
  std::string title;   ///< distinguishes the columns; unique
  std::string device;  ///< its name; on host back ends that of the processor
  std::string backend;
  std::string mechanism;  ///< of all its decks
  std::string kokkos_version;
  std::string compiler;
  std::string host;
  std::string file;
};

/// A field of columns, and how titles and tables show it.
struct ColumnField {
  using Text = std::string ResultColumn::*;  // nvcc writes it with parentheses, of which g++ warns

  Text text;
  const char* key;
  const char* help;
  const char* heading;
  bool in_titles = false;   ///< whenever columns differ in it
  const char* before = "";  ///< in titles
  int drop = 0;             ///< from tables, see report::Column
};
inline constexpr auto column_fields = std::to_array<ColumnField>({
    {&ResultColumn::title, "title", "What distinguishes the column from the others.", "title"},
    {&ResultColumn::device, "device", "Device; on host back ends the processor.", "device", true},
    {&ResultColumn::backend, "backend", "Default execution space.", "back end", true},
    {&ResultColumn::mechanism, "mechanism", "How tasks are issued, for all its decks.", "mechanism",
     true},
    {&ResultColumn::kokkos_version, "kokkos_version", "Version of Kokkos.", "Kokkos", false,
     "Kokkos "},
    {&ResultColumn::compiler, "compiler", "Compiler and its version.", "compiler", false, "", 1},
    {&ResultColumn::host, "host", "Host name.", "host", false, "", 3},
    {&ResultColumn::file, "file", "Result file.", "file", false, "", 2},
});

/// Results of one order in one column.
struct Matched {
  base::Summary time_s;
  std::optional<double> speedup, overlap_efficiency, bound_fraction;  ///< medians
  std::optional<double> bound_s;
  std::optional<base::Estimate> ratio = {};  ///< time / time of column `to`
  std::optional<Trace> trace;                ///< of the timeline
  std::optional<Timeline> timeline;
};

/// One order at one point in all columns.
struct MatchedOrder {
  std::string point;                            ///< of a sweep, or a phase; else empty
  std::string order;                            ///< with disturbance or host work
  std::vector<std::optional<Matched>> columns;  ///< one per column; empty: missing
};

/// A deck with the same title and workload in several columns.
struct SharedDeck {
  std::string title;
  std::map<std::string, std::string> workload;
  std::vector<Setting> differences;  ///< among the keys that affect execution
  std::vector<std::string> errors;   ///< one per column: why the deck did not run; empty: it ran
  std::vector<MatchedOrder> matches;
};

struct SideBySide {
  std::vector<ResultColumn> columns;
  std::size_t to = 1;  ///< number of the reference column of the ratios, from 1
  std::vector<SharedDeck> decks;
};

/// A comparison file.
struct Comparisons {
  double below = 0;     ///< tolerated relative degradation of judged metrics
  bool common = false;  ///< what only one result has is not judged
  std::vector<Comparison> pairs;
  std::optional<SideBySide> side_by_side = {};  ///< if set, nothing is judged
  base::ExitCode code = base::ExitCode::pass;   ///< the worst of all changes

  Verdict verdict() const { return verdict_of(code); }
};

inline constexpr const char* comparison_schema = "overlap-comparison/1";

void describe(describe::Visitor& v, Change& change);
void describe(describe::Visitor& v, Comparison& comparison);
void describe(describe::Visitor& v, SideBySide& side_by_side);
void describe(describe::Visitor& v, Comparisons& comparisons);

/// Trend of a ratio: faster or slower if the whole interval lies beyond 1 +- `same_within`, same if
/// it lies within, otherwise (also with too few samples) inconclusive.
Trend trend_of(const base::Estimate& ratio, deck::Better better);

/// Compares the times of all orders and all metrics that the deck of `a` judges. Verdict of a
/// judged metric: FAIL if it got worse by more than the fraction `below` (errors, drift and
/// contention: if it is beyond the limit of that deck), PASS if not, INCONCLUSIVE if the interval
/// contains that limit or a value is missing. Points are the same if they agree in all swept keys,
/// whether a sweep or a deck of its own made them. `common`: what only one of them has is not
/// judged.
Comparison compare(const Result& a, const Result& b, double below, bool common = false);

/// Compares each deck of `a` with the same deck (by identity, else by file name, else by a point)
/// of `b`. Throws base::Error{runtime_error} if `b` has none of them. Where both have several
/// devices and `b` lacks one of `a`, that comparison has no changes.
std::vector<Comparison> compare(const std::vector<Result>& a, const std::vector<Result>& b,
                                double below, bool common = false);

/// The worst exit code of all verdicts, as code_of(); inconclusive where a device is missing
/// (unless `common`), or where nothing is in both results.
base::ExitCode exit_code_of(const std::vector<Comparison>& comparisons, bool common = false);

/// `files`: the results of each column, at least one. `to`: number of the reference column, from 1,
/// or its title. Throws base::Error{usage} if there is no such column, and
/// base::Error{runtime_error} if a column has two results of one deck.
SideBySide side_by_side(const std::vector<std::vector<Result>>& files, const std::string& to);

}  // namespace overlap::results
