#include "experiment/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "yaml/document.hpp"

namespace overlap::experiment {
namespace {

/// Adds the keys with different values, in order.
void add_differences(const KeyWords& a, const KeyWords& b, std::vector<Difference>& into) {
  KeyWords all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [key, ignored] : all) {
    const std::string of_a = word_of(a, key);
    const std::string of_b = word_of(b, key);
    if (of_a != of_b) into.push_back({key, of_a, of_b});
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
  if (!a.empty() && a == b)
    return Verdict::pass;  // the same measurement, however wide its interval
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

/// Derives all other members from the values of both results.
Change changed(Change change, const std::vector<double>& a, const std::vector<double>& b,
               const deck::Criterion* criterion, double below) {
  if (!a.empty()) change.a = base::summarize(a);
  if (!b.empty()) change.b = base::summarize(b);
  change.ratio = base::ratio(b, a);
  const deck::Better better = deck::row_of(change.metric).better;
  if (change.ratio) change.trend = trend_of(*change.ratio, better);
  const bool alike = !a.empty() && a == b;  // counters and errors have a single value
  const auto interval = [](const base::Summary& of) { return std::tuple(of.median, of.lo, of.hi); };
  const bool equal = change.a && change.b && interval(*change.a) == interval(*change.b);
  if (alike || (a.empty() && equal)) {
    change.trend = Trend::identical;
    if (change.ratio) change.ratio = {.value = 1, .lo = 1, .hi = 1};
  }
  if (criterion != nullptr && (criterion->max || !by_limit(deck::row_of(change.metric)))) {
    change.verdict = judged(change, a, b, below, criterion->max);
  }
  return change;
}

/// The criterion that judges a metric, of several the one with the lowest maximum; null: none.
const deck::Criterion* criterion_of(const std::vector<deck::Criterion>& criteria,
                                    deck::Metric metric, std::optional<deck::Order> order,
                                    deck::Phase phase) {
  const auto most = [](const deck::Criterion* criterion) {
    return criterion->max.value_or(std::numeric_limits<double>::infinity());
  };
  const deck::Criterion* strictest = nullptr;
  for (const deck::Criterion& criterion : criteria) {
    if (criterion.metric != metric || !criterion.covers(order, phase)) continue;
    if (strictest == nullptr || most(&criterion) < most(strictest)) strictest = &criterion;
  }
  return strictest;
}

/// Results by their deck, its name and their device, as counterparts are looked for.
class Index {
 public:
  explicit Index(const std::vector<Recorded>& all) : first_file(all.front().file) {
    for (const Recorded& one : all) {
      for (std::string& key : keys(one)) results_[std::move(key)].push_back(&one);
    }
  }

  /// The results nearest to one, by the first of these that any has: its deck, name and device; its
  /// deck and name; its deck and device; its deck; its name and device; its name; one of its
  /// points.
  std::vector<const Recorded*> nearest(const Recorded& one) const {
    for (const std::string& key : keys(one)) {
      if (const auto found = results_.find(key); found != results_.end()) return found->second;
    }
    return {};
  }

  const std::string first_file;

 private:
  static std::vector<std::string> keys(const Recorded& one) {
    const std::string deck = "d" + one.machine.deck, device = "\nu" + one.device();
    const std::string name = "\nn" + yaml::name_of(one.deck_path);
    std::vector<std::string> keys = {deck + name + device, deck + name, deck + device, deck,
                                     name + device,        name};
    for (const RecordedPoint& point : one.points) {
      KeyWords all = one.deck;
      for (const auto& [key, value] : point.values) all[key] = value;
      std::string& key = keys.emplace_back("p");
      for (const auto& [part, value] : all) {
        if (part == "issue.orders" || part.starts_with("sweep.")) continue;
        key += "\n" + part + " " + value;
      }
    }
    return keys;
  }

  std::map<std::string, std::vector<const Recorded*>> results_;
};

/// The result to compare with one; of several that are near, the one of the same place. Null if
/// `one` is one of `several` devices, and the others are of other devices. Throws
/// base::Error{runtime_error} unless there is exactly one.
const Recorded* counterpart(const Recorded& one, bool several, const Index& all) {
  const std::string name = yaml::name_of(one.deck_path);
  std::vector<const Recorded*> same = all.nearest(one);
  std::vector<const Recorded*> here;
  std::ranges::copy_if(same, std::back_inserter(here), [&](const Recorded* other) {
    return other->host == one.host && other->slot == one.slot;
  });
  if (!here.empty()) {
    same = std::move(here);
  } else if (several && same.size() > 1 && same.front()->device() != one.device()) {
    return nullptr;
  }
  if (same.size() == 1) return same.front();
  throw base::Error(
      base::ExitCode::runtime_error,
      same.empty()
          ? fmt::format("{}: found no result of the deck {} of {}; allowed: results of the same "
                        "decks",
                        all.first_file, name, one.file)
          : fmt::format(
                "{}: found {} results of the deck {} to compare with, {} and {}{}; allowed: "
                "one result per deck and device: name the files instead of their folder",
                one.file, same.size(), name, same[0]->file, same[1]->file,
                same.size() > 2 ? " among them" : ""));
}

/// The values of swept keys at a point, whether it belongs to a sweep or is a deck of its own.
std::string key_at(const Recorded& result, const RecordedPoint& point,
                   const std::set<std::string>& swept) {
  std::string key(deck::to_string(point.phase));
  for (const std::string& name : swept) {
    const auto value = point.values.find(name);
    key += "\n" + (value == point.values.end() ? word_of(result.deck, name) : value->second);
  }
  return key;
}

/// The items of `a`, each with the one of `b` that has the same key, then those of `b` alone; null:
/// there is none.
template <class T>
std::vector<std::pair<const T*, const T*>> paired(const std::vector<T>& a, const std::vector<T>& b,
                                                  auto key_of_a, auto key_of_b) {
  std::vector<std::pair<const T*, const T*>> pairs;
  std::map<std::string, std::size_t> place_of;
  for (const T& item : a) {
    place_of.emplace(key_of_a(item), pairs.size());
    pairs.emplace_back(&item, nullptr);
  }
  for (const T& item : b) {
    const auto place = place_of.find(key_of_b(item));
    if (place == place_of.end()) {
      pairs.emplace_back(nullptr, &item);
    } else {
      pairs[place->second].second = &item;
    }
  }
  return pairs;
}

/// One point in both results; empty where a result does not have it.
struct SamePoint {
  const std::vector<deck::Criterion>& acceptance;
  const RecordedPoint& a;
  const RecordedPoint& b;
  double below;

  const std::string& words() const { return a.words.empty() ? b.words : a.words; }
  deck::Phase phase() const { return a.runs.empty() ? b.phase : a.phase; }
};

/// Changes of an order, which one of the results may lack.
void add_changes(const SamePoint& point, const Run* a, const Run* b, std::vector<Change>& into) {
  const Run& run = a == nullptr ? *b : *a;
  const auto samples = [](deck::Metric metric, const Run* of, const RecordedPoint& at) {
    return of == nullptr ? std::vector<double>() : values(metric, *of, at.runs);
  };
  const auto unjudgeable_in = [](deck::Metric metric, const Run* of, const RecordedPoint& at) {
    return of != nullptr && !unjudgeable(metric, *of, at.runs).empty();
  };
  for (const deck::MetricRow& row : deck::run_metrics) {
    const bool has_phases = row.needs != deck::Needs::alone || point.phase() != deck::Phase::alone;
    const auto* const criterion =
        applies_to(row.value, run) && has_phases
            ? criterion_of(point.acceptance, row.value, run.order, point.phase())
            : nullptr;
    if (criterion == nullptr && row.value != deck::Metric::time) continue;
    if (row.formula == nullptr && !criterion->max) continue;
    Change change{.point = point.words(), .order = name(run), .metric = row.value};
    if (row.formula == nullptr) {
      if (a != nullptr) change.a = value(row.value, *a, point.a.runs);
      if (b != nullptr) change.b = value(row.value, *b, point.b.runs);
    }
    into.push_back(changed(change, samples(row.value, a, point.a), samples(row.value, b, point.b),
                           criterion, point.below));
    if (criterion != nullptr &&
        (unjudgeable_in(row.value, a, point.a) || unjudgeable_in(row.value, b, point.b))) {
      into.back().verdict = Verdict::inconclusive;
    }
  }
}

void add_changes(const SamePoint& point, std::vector<Change>& into) {
  for (const deck::MetricRow& row : deck::device_metrics) {
    const auto* const criterion = criterion_of(point.acceptance, row.value, {}, point.phase());
    if (criterion == nullptr || point.a.runs.empty()) continue;
    into.push_back(changed({.point = point.words(), .order = "-", .metric = row.value},
                           values(row.value, point.a.device), values(row.value, point.b.device),
                           criterion, point.below));
  }
  const auto name_of = [](const Run& run) { return name(run); };
  for (const auto& [a, b] : paired(point.a.runs, point.b.runs, name_of, name_of)) {
    add_changes(point, a, b, into);
  }
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

Comparison compare(const Recorded& a, const Recorded& b, double below, bool common) {
  Comparison comparison{.a = a.file, .b = b.file, .deck = yaml::name_of(a.deck_path)};
  add_differences(a.provenance, b.provenance, comparison.differences);
  std::set<std::string> swept;
  for (const Recorded* const result : {&a, &b}) {
    for (const RecordedPoint& point : result->points) {
      for (const auto& [key, ignored] : point.values) swept.insert(key);
    }
  }
  KeyWords deck_a = a.deck, deck_b = b.deck;
  for (const std::string& key : swept) {
    deck_a.erase(key);
    deck_b.erase(key);
  }
  add_differences(deck_a, deck_b, comparison.differences);
  const auto key_of = [&](const Recorded& result) {
    return [&](const RecordedPoint& point) { return key_at(result, point, swept); };
  };
  const RecordedPoint none;
  for (const auto& [point_a, point_b] : paired(a.points, b.points, key_of(a), key_of(b))) {
    const RecordedPoint& of_a = point_a == nullptr ? none : *point_a;
    const RecordedPoint& of_b = point_b == nullptr ? none : *point_b;
    add_changes({.acceptance = a.acceptance, .a = of_a, .b = of_b, .below = below},
                comparison.changes);
  }
  for (Change& change : comparison.changes) {
    if (common && !(change.a && change.b)) change.verdict.reset();
  }
  return comparison;
}

std::vector<Comparison> compare(const std::vector<Recorded>& a, const std::vector<Recorded>& b,
                                double below, bool common) {
  std::vector<Comparison> comparisons;
  const Index all(b);
  std::map<std::string, int> results;  // of `a`, by deck
  for (const Recorded& one : a) ++results[one.machine.deck];
  for (const Recorded& one : a) {
    if (const auto* const other = counterpart(one, results[one.machine.deck] > 1, all)) {
      comparisons.push_back(compare(one, *other, below, common));
    } else {
      comparisons.push_back({one.file,
                             "-",
                             yaml::name_of(one.deck_path),
                             {{"device", one.host + " " + one.slot, "-"}},
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

}  // namespace overlap::experiment
