#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/figures.hpp"
#include "results/result.hpp"

/// Comparisons of results, the later of which is judged: what a comparison file holds.
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
  std::string run;    ///< order with disturbance or host work; "-": the device
  FigureKey key;
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

/// A comparison file.
struct Comparisons {
  double below = 0;     ///< tolerated relative degradation of judged metrics
  bool common = false;  ///< what only one result has is not judged
  std::vector<Comparison> pairs;
  base::ExitCode code = base::ExitCode::pass;  ///< the worst of all changes

  Verdict verdict() const { return verdict_of(code); }
};

inline constexpr const char* comparison_schema = "overlap-comparison/1";

void describe(describe::Visitor& v, Change& change);
void describe(describe::Visitor& v, Comparison& comparison);
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

}  // namespace overlap::results
