#include "results/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "results/describe.hpp"
#include "results/figures.hpp"
#include "results/metrics.hpp"

namespace overlap::results {

using describe::from_zero;
using describe::Visitor;

namespace {

void describe_difference(Visitor& v, Setting& setting) {
  setting.values.resize(2);
  v("key", setting.key, "Key of the result file or of its deck.");
  v("a", setting.values[0], "Value in the first file; -: missing.");
  v("b", setting.values[1], "Value in the other.");
}

}  // namespace

void describe(Visitor& v, Change& change) {
  const auto value = describe::nullable(describe::map_of<base::Summary>(describe_value));
  v("point", change.point, "Swept keys and their values; empty: no sweep.");
  v("run", change.run, "Order with disturbance or host work; -: the device.");
  describe_key(v, change.key);
  v("a", change.a, "In the first file; null: missing.", value);
  v("b", change.b, "In the other.", value);
  v("ratio", change.ratio, "b / a; null: a value is missing, 0 or less.");
  v("trend", change.trend, "From a to b; same: within 1 %; identical: all samples.");
  v("verdict", change.verdict, "Verdict; null: the first file's deck does not judge it.");
}

void describe(Visitor& v, Comparison& comparison) {
  v("a", comparison.a, "The file that others are compared with.");
  v("b", comparison.b, "The other file.");
  v("deck", comparison.deck, "Name of the deck.");
  v("differences", comparison.differences, "What differs in machine, program and deck.",
    describe::list_of(describe::map_of<Setting>(describe_difference), "a list"));
  v("changes", comparison.changes, "Time of each order and all judged metrics.");
}

void describe(Visitor& v, Comparisons& comparisons) {
  describe_schema(v, comparison_schema);
  v("below", comparisons.below, "How much worse a judged metric may be, as a fraction.", from_zero);
  v("common", comparisons.common, "Whether what only one of two files has is not judged.");
  v("comparisons", comparisons.pairs, "One per deck and pair of files.");
  derived(v, "verdict", comparisons.verdict(), "The worst of all changes.");
  v("exit_code", comparisons.code, "Exit code of the comparison.", CodeNumber());
}

namespace {

/// Whether only the deck's own limit judges the second value: rounding errors may differ between
/// builds and errors of the hardware between runs, and metrics without a formula are ratios
/// themselves.
bool by_limit(const deck::MetricRow& row) {
  return row.value == deck::Metric::max_error || row.needs == deck::Needs::health ||
         row.formula == nullptr;
}

/// Verdict on the change of a metric from a to b.
Verdict judged(const Change& change, double below, std::optional<double> limit) {
  const deck::MetricRow& row = deck::row_of(change.key.metric);
  const bool more = row.better == deck::Better::more;
  const double worse = more ? -below : below;
  if (!change.a || !change.b) return Verdict::inconclusive;
  if (by_limit(row)) return judge(*change.b, more, limit.value());
  if (change.trend == Trend::identical) return Verdict::pass;  // however wide its interval
  if (change.ratio) {
    if (!change.ratio->covers) return Verdict::inconclusive;
    const base::Summary ratio{.lo = change.ratio->lo, .hi = change.ratio->hi};
    return judge(ratio, more, 1 + worse);
  }
  // Values of 0 and below have no ratio: both ends of the interval of a must agree.
  const auto judged_by = [&](double value) {
    return judge(*change.b, more, value + worse * std::abs(value));
  };
  const Verdict verdict = judged_by(change.a->lo);
  return verdict == judged_by(change.a->hi) ? verdict : Verdict::inconclusive;
}

/// The criterion that judges a metric, of several the one with the lowest maximum; null: none.
const deck::Criterion* criterion_for(const std::vector<deck::Criterion>& criteria,
                                     const FigureKey& key) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const deck::Criterion* strictest = nullptr;
  for (const deck::Criterion& criterion : criteria) {
    if (!criterion.judges(key.metric, key.order, key.phase)) continue;
    if (strictest == nullptr || criterion.max.value_or(none) < strictest->max.value_or(none)) {
      strictest = &criterion;
    }
  }
  return strictest;
}

/// The change of a figure; empty: it is neither a time nor judged.
std::optional<Change> change_of(const Pivot::Line& line,
                                const std::vector<deck::Criterion>& criteria, double below) {
  const Figure& row = first_of(line);
  const deck::MetricRow& metric = deck::row_of(row.key.metric);
  const deck::Criterion* const criterion = row.judged ? criterion_for(criteria, row.key) : nullptr;
  if (criterion == nullptr && row.key.metric != deck::Metric::time) return {};
  if (row.run == nullptr && line[0] == nullptr) return {};
  if (metric.formula == nullptr && !criterion->max) return {};
  Change change;
  change.point = point_name(line);
  change.run = row.run_name();
  change.key = row.key;
  bool judgeable = true;
  for (const std::size_t i : {0U, 1U}) {
    if (line[i] == nullptr) continue;
    (i == 0 ? change.a : change.b) = line[i]->value;
    judgeable = judgeable && unjudgeable(*line[i]).empty();
  }
  change.ratio = ratio(line, 1, 0);
  if (change.ratio) change.trend = trend_of(*change.ratio, metric.better);
  const auto interval = [](const base::Summary& s) { return std::tuple(s.median, s.lo, s.hi); };
  if (change.a && change.b && samples(*line[0]) == samples(*line[1]) &&
      interval(*change.a) == interval(*change.b)) {
    change.trend = Trend::identical;
  }
  if (criterion == nullptr || (by_limit(metric) && !criterion->max)) return change;
  change.verdict = judgeable ? judged(change, below, criterion->max) : Verdict::inconclusive;
  return change;
}

/// A result and what it is found by.
struct Candidate {
  explicit Candidate(const Result& one) : result(&one), from(origin(one)) {
    for (const Point& point : one.points) {
      Keys keys = deck_keys(one, point);
      std::erase_if(keys, [](const auto& key) {
        return key.first == "issue.orders" || key.first.starts_with("sweep.");
      });
      points.insert(std::move(keys));
    }
  }

  const Result* result;
  Origin from;
  std::set<Keys> points;  ///< of the deck, with all its keys
};

/// How far apart two results are.
struct Distance {
  enum { name_and_identity, identity, name, point, nothing } deck;  ///< what they share
  enum { device, slot, none } place;

  auto operator<=>(const Distance&) const = default;
};

Distance distance(const Candidate& a, const Candidate& b) {
  const bool identity = a.from.subject.deck == b.from.subject.deck;
  const bool name = a.from.deck_name == b.from.deck_name;
  const bool slot = a.from.host == b.from.host && a.from.slot == b.from.slot;
  const auto in_b = [&](const Keys& point) { return b.points.contains(point); };
  return {.deck = identity && name                      ? Distance::name_and_identity
                  : identity                            ? Distance::identity
                  : name                                ? Distance::name
                  : std::ranges::any_of(a.points, in_b) ? Distance::point
                                                        : Distance::nothing,
          .place = a.from.device() == b.from.device() ? Distance::device
                   : slot                             ? Distance::slot
                                                      : Distance::none};
}

/// The result to compare with one. Null if that is one of `several` devices, and the others are of
/// other devices. Throws base::Error{runtime_error} unless there is exactly one.
const Result* counterpart(const Candidate& one, bool several,
                          const std::vector<Candidate>& others) {
  std::map<Distance, std::vector<const Result*>> by_distance;
  for (const Candidate& other : others) by_distance[distance(one, other)].push_back(other.result);
  const auto& [nearest, same] = *by_distance.begin();
  const Result& result = *one.result;
  if (nearest.deck == Distance::nothing) {
    throw base::Error(base::ExitCode::runtime_error,
                      fmt::format("{}: found no result of the deck {} of {}; allowed: results of "
                                  "the same decks",
                                  same[0]->file, one.from.deck_name, result.file));
  }
  if (same.size() == 1) return same.front();
  if (several && nearest.place == Distance::none) return nullptr;
  throw base::Error(
      base::ExitCode::runtime_error,
      fmt::format("{}: found {} results of the deck {} to compare with, {} and {}{}; allowed: "
                  "one result per deck and device: name the files instead of their folder",
                  result.file, same.size(), one.from.deck_name, same[0]->file, same[1]->file,
                  same.size() > 2 ? " among them" : ""));
}

}  // namespace

Trend trend_of(const base::Estimate& ratio, deck::Better better) {
  const bool more = better == deck::Better::more;
  if (!ratio.covers) return Trend::inconclusive;
  if (ratio.hi < 1 - same_within) return more ? Trend::slower : Trend::faster;
  if (ratio.lo > 1 + same_within) return more ? Trend::faster : Trend::slower;
  const bool inside = ratio.lo >= 1 - same_within && ratio.hi <= 1 + same_within;
  return inside ? Trend::same : Trend::inconclusive;
}

Comparison compare(const Result& a, const Result& b, double below, bool common) {
  Comparison comparison{a.file, b.file, describe::name_of(a.deck.path), {}, {}};
  const Pivot pivot({&a, &b});
  std::vector<Keys> decks = {deck_keys(a), deck_keys(b)};
  for (Keys& keys : decks)
    std::erase_if(keys, [&](const auto& key) { return pivot.swept.contains(key.first); });
  for (const auto& columns : {std::vector{machine_keys(a), machine_keys(b)}, decks}) {
    std::ranges::move(differences(columns), std::back_inserter(comparison.differences));
  }
  const std::vector<deck::Criterion> judging = criteria(a);
  for (const Pivot::Line& line : pivot.lines) {
    auto change = change_of(line, judging, below);
    if (!change) continue;
    if (common && !(change->a && change->b)) change->verdict.reset();
    comparison.changes.push_back(*std::move(change));
  }
  return comparison;
}

std::vector<Comparison> compare(const std::vector<Result>& a, const std::vector<Result>& b,
                                double below, bool common) {
  const std::vector<Candidate> others(b.begin(), b.end());
  std::map<std::string, int> count_by_deck;  // of `a`
  for (const Result& result : a) ++count_by_deck[result.deck.identity];
  std::vector<Comparison> comparisons;
  for (const Result& result : a) {
    const Candidate one(result);
    const bool several = count_by_deck[result.deck.identity] > 1;
    if (const Result* const other = counterpart(one, several, others)) {
      comparisons.push_back(compare(result, *other, below, common));
    } else {
      const Setting missing{"device", {one.from.host + " " + one.from.slot, "-"}};
      comparisons.push_back({result.file, "-", one.from.deck_name, {missing}, {}});
    }
  }
  return comparisons;
}

base::ExitCode exit_code_of(const std::vector<Comparison>& comparisons, bool common) {
  auto code = base::ExitCode::pass;
  bool shared = false;
  for (const Comparison& comparison : comparisons) {
    if (comparison.changes.empty() && !common) {
      code = base::worst(code, base::ExitCode::inconclusive);
    }
    for (const Change& change : comparison.changes) {
      shared = shared || (change.a && change.b);
      code = base::worst(code, code_of(change.key.metric, change.verdict.value_or(Verdict::pass)));
    }
  }
  const bool nothing = !comparisons.empty() && !shared;
  return nothing ? base::worst(code, base::ExitCode::inconclusive) : code;
}

}  // namespace overlap::results
