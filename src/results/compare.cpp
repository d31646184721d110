#include "results/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "results/checks.hpp"
#include "results/consistent.hpp"
#include "results/describe.hpp"
#include "results/figures.hpp"

namespace overlap::results {

using describe::from_zero;
using describe::Visitor;

namespace {

void describe_value(Visitor& v, base::Summary& value) {
  v("median", value.median, "Median.");
  v("lo", value.lo, "Lower end of its 95 % interval.");
  v("hi", value.hi, "Upper end of its 95 % interval.");
  v("n", value.n, "Samples.", from_zero);
}

}  // namespace

void describe(Visitor& v, Difference& difference) {
  v("key", difference.key, "Key of the result file or of its deck.");
  v("a", difference.a, "Value in the first file; -: missing.");
  v("b", difference.b, "Value in the other.");
}

void describe(Visitor& v, Change& change) {
  const auto value = describe::nullable(describe::map_of<base::Summary>(describe_value));
  v("point", change.point, "Swept keys and their values; empty: no sweep.");
  v("order", change.order,
    "Issue order with its disturbance or host work; -: a metric of the device.");
  v("metric", change.metric, "Metric.");
  v("a", change.a, "In the first file; null: missing.", value);
  v("b", change.b, "In the other.", value);
  v("ratio", change.ratio, "b / a; null: a value is missing, 0 or less.");
  v("trend", change.trend,
    "Trend from a to b; within 1 % they are the same; identical: the same samples.");
  v("verdict", change.verdict, "Verdict; null: the first file's deck does not judge it.");
}

void describe(Visitor& v, Comparison& comparison) {
  v("a", comparison.a, "The file that others are compared with.");
  v("b", comparison.b, "The other file.");
  v("deck", comparison.deck, "Name of the deck.");
  v("differences", comparison.differences, "What differs in machine, program and deck.");
  v("changes", comparison.changes, "Time of each order and all judged metrics.");
}

void describe(Visitor& v, Comparisons& comparisons) {
  std::string schema;
  v("schema", schema, "Name and version of this format.", OneText{comparison_schema});
  v("below", comparisons.below, "How much worse a judged metric may be, as a fraction.", from_zero);
  v("common", comparisons.common, "Whether what only one of two files has is not judged.");
  v("comparisons", comparisons.all, "One per deck and pair of files.");
  v("side_by_side", comparisons.side_by_side,
    "The files next to each other, with nothing judged; null: not asked for.");
  Verdict verdict = comparisons.verdict();
  v("verdict", verdict, "The worst of all changes.");
  v("exit_code", comparisons.code, "Exit code of the comparison.", CodeNumber());
}

namespace {

/// Adds the keys with different values, in order.
void add_differences(const Keys& a, const Keys& b, std::vector<Difference>& into) {
  Keys all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [key, ignored] : all) {
    const std::string &in_a = text_at(a, key), &in_b = text_at(b, key);
    if (in_a != in_b) into.push_back({key, in_a, in_b});
  }
}

/// Whether only the deck's own limit judges the second value: rounding errors may differ between
/// builds and errors of the hardware between runs, and metrics without a formula are ratios
/// themselves.
bool by_limit(const deck::MetricRow& row) {
  return row.value == deck::Metric::max_error || row.needs == deck::Needs::health ||
         row.formula == nullptr;
}

/// Verdict on the change of a metric from a to b.
Verdict judged(const Change& change, const std::vector<double>& a, const std::vector<double>& b,
               double below, std::optional<double> limit) {
  const deck::MetricRow& row = deck::row_of(change.metric);
  const bool more = row.better == deck::Better::more;
  const double worse = more ? -below : below;
  if (!change.a || !change.b) return Verdict::inconclusive;
  if (by_limit(row)) return judge(*change.b, more, limit.value());
  if (!a.empty() && a == b) {
    return Verdict::pass;  // the same measurement, however wide its interval
  }
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
  const auto most = [](const deck::Criterion* criterion) {
    return criterion->max.value_or(std::numeric_limits<double>::infinity());
  };
  const deck::Criterion* strictest = nullptr;
  for (const deck::Criterion& criterion : criteria) {
    if (criterion.metric != key.metric || !criterion.covers(key.order, key.phase)) continue;
    if (strictest == nullptr || most(&criterion) < most(strictest)) strictest = &criterion;
  }
  return strictest;
}

/// The rows of two tables, joined.
class Join {
 public:
  Join(const Figures& a, const Figures& b, double below)
      : a_(a), b_(b), criteria_(criteria(a.result)), below_(below) {
    for (const Figures* const figures : {&a, &b}) {
      for (const Figures::Place& place : figures->places) {
        for (const auto& [key, value] : point_keys(place.point)) swept_.insert(key);
      }
    }
  }

  const std::set<std::string>& swept() const { return swept_; }
  std::vector<Change> changes() const;

 private:
  struct Pair {
    const Figures::Row* a = nullptr;
    const Figures::Row* b = nullptr;
  };
  std::string place(const Figures& figures, std::size_t place) const;
  std::optional<Change> change(const Pair& pair) const;

  const Figures& a_;
  const Figures& b_;
  std::vector<deck::Criterion> criteria_;
  double below_;
  std::set<std::string> swept_;
};

/// The values of swept keys at a point, whether it belongs to a sweep or is a deck of its own.
std::string Join::place(const Figures& figures, std::size_t place) const {
  const Point& point = figures.places[place].point;
  const Keys values = point_keys(point), deck = deck_keys(figures.result);
  std::string key(deck::to_string(point.phase));
  for (const std::string& name : swept_) {
    key += "\n" + text_at(values.contains(name) ? values : deck, name);
  }
  return key;
}

/// Empty: it is neither a time nor judged.
std::optional<Change> Join::change(const Pair& pair) const {
  const auto& [a, b] = pair;
  const Figures::Row& row = a != nullptr ? *a : *b;
  const deck::MetricRow& metric = deck::row_of(row.key.metric);
  const deck::Criterion* const criterion = row.judged ? criterion_for(criteria_, row.key) : nullptr;
  if (criterion == nullptr && row.key.metric != deck::Metric::time) return {};
  if (row.run == nullptr && a == nullptr) return {};
  if (metric.formula == nullptr && !criterion->max) return {};
  Change change;
  for (const auto& [figures, side] : {std::pair(&a_, a), {&b_, b}}) {
    if (change.point.empty() && side != nullptr) change.point = figures->places[side->place].name();
  }
  change.order = row.run_name();
  change.metric = row.key.metric;
  if (a != nullptr) change.a = a->value;
  if (b != nullptr) change.b = b->value;
  const auto in_a = a != nullptr ? a_.samples(*a) : std::vector<double>();
  const auto in_b = b != nullptr ? b_.samples(*b) : std::vector<double>();
  change.ratio = base::ratio(in_b, in_a);
  if (change.ratio) change.trend = trend_of(*change.ratio, metric.better);
  const bool alike = !in_a.empty() && in_a == in_b;  // counters and errors have a single value
  const auto interval = [](const base::Summary& s) { return std::tuple(s.median, s.lo, s.hi); };
  const bool equal = change.a && change.b && interval(*change.a) == interval(*change.b);
  if (alike || (in_a.empty() && equal)) {
    change.trend = Trend::identical;
    if (change.ratio) change.ratio = {.value = 1, .lo = 1, .hi = 1};
  }
  if (criterion == nullptr || (by_limit(metric) && !criterion->max)) return change;
  change.verdict = judged(change, in_a, in_b, below_, criterion->max);
  if ((a != nullptr && !a_.unjudgeable(*a).empty()) ||
      (b != nullptr && !b_.unjudgeable(*b).empty())) {
    change.verdict = Verdict::inconclusive;
  }
  return change;
}

std::vector<Change> Join::changes() const {
  using Place = std::vector<std::pair<std::string, std::vector<Pair>>>;  // rows by run
  std::vector<std::pair<std::string, Place>> places;
  const auto part = [](auto& parts, const std::string& key) -> auto& {
    auto found = std::ranges::find(parts, key, [](const auto& p) { return p.first; });
    if (found == parts.end()) found = parts.insert(found, {key, {}});
    return found->second;
  };
  for (const Figures* const figures : {&a_, &b_}) {
    const Figures::Row* Pair::* const side = figures == &a_ ? &Pair::a : &Pair::b;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < figures->places.size(); ++i) names.push_back(place(*figures, i));
    for (const Figures::Row& row : figures->rows) {
      std::vector<Pair>& pairs = part(part(places, names[row.place]), row.run_name());
      const auto known = std::ranges::find_if(pairs, [&](const Pair& pair) {
        return (pair.a != nullptr ? pair.a : pair.b)->key.metric == row.key.metric;
      });
      (known != pairs.end() ? *known : pairs.emplace_back()).*side = &row;
    }
  }
  std::vector<Change> changes;
  for (const auto& [key, runs] : places) {
    for (const auto& [name, pairs] : runs) {
      for (const Pair& pair : pairs) {
        if (auto made = change(pair)) changes.push_back(*std::move(made));
      }
    }
  }
  return changes;
}

/// Results by their deck, its name and their device, as counterparts are looked for.
class Index {
 public:
  explicit Index(const std::vector<Result>& all) : first_file(all.front().file) {
    for (const Result& result : all) {
      for (std::string& key : keys(result)) results_[std::move(key)].push_back(&result);
    }
  }

  /// The results nearest to one, by the first of these that any has: its deck, name and device; its
  /// deck and name; its deck and device; its deck; its name and device; its name; one of its
  /// points.
  std::vector<const Result*> nearest(const Result& result) const {
    for (const std::string& key : keys(result)) {
      if (const auto found = results_.find(key); found != results_.end()) return found->second;
    }
    return {};
  }

  const std::string first_file;

 private:
  static std::vector<std::string> keys(const Result& result) {
    const std::string deck = "d" + result.deck.identity;
    const std::string device = "\nu" + origin(result).device();
    const std::string name = "\nn" + describe::name_of(result.deck.path);
    std::vector<std::string> keys = {deck + name + device, deck + name, deck + device, deck,
                                     name + device,        name};
    const Keys deck_values = deck_keys(result);
    const Figures figures(result);
    for (const Figures::Place& place : figures.places) {
      Keys all = deck_values;
      for (const auto& [key, value] : point_keys(place.point)) all[key] = value;
      std::string& key = keys.emplace_back("p");
      for (const auto& [part, value] : all) {
        if (part == "issue.orders" || part.starts_with("sweep.")) continue;
        key += "\n" + part + " " + value;
      }
    }
    return keys;
  }

  std::map<std::string, std::vector<const Result*>> results_;
};

/// The result to compare with one; of several that are near, the one of the same place. Null if
/// `result` is one of `several` devices, and the others are of other devices. Throws
/// base::Error{runtime_error} unless there is exactly one.
const Result* counterpart(const Result& result, bool several, const Index& all) {
  const std::string name = describe::name_of(result.deck.path);
  const Origin from = origin(result);
  std::vector<const Result*> same = all.nearest(result);
  std::vector<const Result*> here;
  std::ranges::copy_if(same, std::back_inserter(here), [&](const Result* other) {
    const Origin place = origin(*other);
    return place.host == from.host && place.slot == from.slot;
  });
  if (!here.empty()) {
    same = std::move(here);
  } else if (several && same.size() > 1 && origin(*same.front()).device() != from.device()) {
    return nullptr;
  }
  if (same.size() == 1) return same.front();
  throw base::Error(
      base::ExitCode::runtime_error,
      same.empty()
          ? fmt::format("{}: found no result of the deck {} of {}; allowed: results of the same "
                        "decks",
                        all.first_file, name, result.file)
          : fmt::format(
                "{}: found {} results of the deck {} to compare with, {} and {}{}; allowed: "
                "one result per deck and device: name the files instead of their folder",
                result.file, same.size(), name, same[0]->file, same[1]->file,
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
  Comparison comparison;
  comparison.a = a.file;
  comparison.b = b.file;
  comparison.deck = describe::name_of(a.deck.path);
  add_differences(machine_keys(a), machine_keys(b), comparison.differences);
  const Figures in_a(a), in_b(b);
  const Join join(in_a, in_b, below);
  Keys deck_a = deck_keys(a), deck_b = deck_keys(b);
  for (const std::string& key : join.swept()) {
    deck_a.erase(key);
    deck_b.erase(key);
  }
  add_differences(deck_a, deck_b, comparison.differences);
  comparison.changes = join.changes();
  for (Change& change : comparison.changes) {
    if (common && !(change.a && change.b)) change.verdict.reset();
  }
  return comparison;
}

std::vector<Comparison> compare(const std::vector<Result>& a, const std::vector<Result>& b,
                                double below, bool common) {
  std::vector<Comparison> comparisons;
  const Index all(b);
  std::map<std::string, int> results;  // of `a`, by deck
  for (const Result& result : a) ++results[result.deck.identity];
  for (const Result& result : a) {
    if (const auto* const other = counterpart(result, results[result.deck.identity] > 1, all)) {
      comparisons.push_back(compare(result, *other, below, common));
    } else {
      const Origin from = origin(result);
      comparisons.push_back({result.file,
                             "-",
                             describe::name_of(result.deck.path),
                             {{"device", from.host + " " + from.slot, "-"}},
                             {}});
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
      code = base::worst(code, code_of(change.metric, change.verdict.value_or(Verdict::pass)));
    }
  }
  const bool nothing = !comparisons.empty() && !shared;
  return nothing ? base::worst(code, base::ExitCode::inconclusive) : code;
}

}  // namespace overlap::results
