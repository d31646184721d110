#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/judge.hpp"
#include "experiment/recorded.hpp"

/// Comparing results: what became faster, what slower.
namespace overlap::experiment {

enum class Trend { faster, slower, same, inconclusive };
constexpr auto words_of(Trend) {
  return yaml::in_order<Trend>("faster", "slower", "same", "inconclusive");
}

/// Times that differ by less than this part count as the same.
inline constexpr double same_within = 0.01;

/// Something that two results do not have in common.
struct Difference {
  std::string key;
  std::string a, b;  ///< "-": it is not there
};

/// A metric in both results.
struct Change {
  std::string point;  ///< of a sweep, "chunks.count 4"; else empty
  std::string order;  ///< with what runs beside it; "-": a metric of the device
  deck::Metric metric = deck::Metric::time;
  std::optional<base::Summary> a, b;    ///< empty: it is not there
  std::optional<base::Estimate> ratio;  ///< b / a; empty also where a value is 0 or less
  Trend trend = Trend::inconclusive;    ///< faster: the better value
  std::optional<Verdict> verdict;       ///< empty: the deck of a does not judge it
};

/// The results of one deck in two files.
struct Comparison {
  std::string a, b;                     ///< files
  std::string deck;                     ///< name
  std::vector<Difference> differences;  ///< of machine, program and deck
  std::vector<Change> changes;
};

/// The word for a ratio of which more or less is better: faster or slower where the whole interval
/// lies beyond `same_within` of 1, same where it lies inside, and inconclusive elsewhere or where
/// too few samples say nothing.
Trend trend_of(const base::Estimate& ratio, deck::Better better);

/// Times of all orders, and all metrics that the deck of `a` judges: FAIL where they got worse by
/// more than the part `below`, PASS where they did not, INCONCLUSIVE where the interval straddles
/// that limit or `b` has no value.
Comparison compare(const Recorded& a, const Recorded& b, double below);

/// Each deck of `a` with the same one of `b`, or that of the same file name. Throws
/// base::Error{runtime_error} where `b` has neither.
std::vector<Comparison> compare(const std::vector<Recorded>& a, const std::vector<Recorded>& b,
                                double below);

/// The worst of what is judged: PASS, FAIL or INCONCLUSIVE.
Verdict verdict_of(const std::vector<Comparison>& comparisons);

}  // namespace overlap::experiment
