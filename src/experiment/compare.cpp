#include "experiment/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

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
  if (alike || (a.empty() && equal)) change.trend = Trend::same;
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
  /// deck and name; its deck and device; its deck; its name and device; its name.
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
    return {deck + name + device, deck + name, deck + device, deck, name + device, name};
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

}  // namespace

Trend trend_of(const base::Estimate& ratio, deck::Better better) {
  const bool more = better == deck::Better::more;
  if (!ratio.covers) return Trend::inconclusive;
  if (ratio.hi < 1 - same_within) return more ? Trend::slower : Trend::faster;
  if (ratio.lo > 1 + same_within) return more ? Trend::faster : Trend::slower;
  const bool inside = ratio.lo >= 1 - same_within && ratio.hi <= 1 + same_within;
  return inside ? Trend::same : Trend::inconclusive;
}

Comparison compare(const Recorded& a, const Recorded& b, double below) {
  Comparison comparison{.a = a.file, .b = b.file, .deck = yaml::name_of(a.deck_path)};
  add_differences(a.provenance, b.provenance, comparison.differences);
  add_differences(a.deck, b.deck, comparison.differences);
  std::map<std::string, const RecordedPoint*> points_of_b;
  for (const RecordedPoint& point : b.points) points_of_b.emplace(point.words, &point);
  const RecordedPoint none;
  for (const RecordedPoint& point : a.points) {
    const auto found = points_of_b.find(point.words);
    const RecordedPoint& same = found == points_of_b.end() ? none : *found->second;
    const std::vector<Run>& others = same.runs;
    for (const deck::MetricRow& row : deck::device_metrics) {
      const auto* const criterion = criterion_of(a.acceptance, row.value, {}, point.phase);
      if (criterion == nullptr) continue;
      comparison.changes.push_back(changed(
          {.point = point.words, .order = "-", .metric = row.value},
          values(row.value, point.device), values(row.value, same.device), criterion, below));
    }
    for (const Run& run : point.runs) {
      const std::string name = experiment::name(run);
      const auto other = std::ranges::find(others, name, experiment::name);
      for (const deck::MetricRow& row : deck::run_metrics) {
        const bool compares_phases = row.needs == deck::Needs::alone;
        const auto* const criterion =
            experiment::applies_to(row.value, run) &&
                    !(compares_phases && point.phase == deck::Phase::alone)
                ? criterion_of(a.acceptance, row.value, run.order, point.phase)
                : nullptr;
        if (criterion == nullptr && row.value != deck::Metric::time) continue;
        if (row.formula == nullptr && !criterion->max) continue;
        Change change{.point = point.words, .order = name, .metric = row.value};
        std::vector<double> of_b;
        if (row.formula == nullptr) {
          change.a = value(row.value, run, point.runs);
          if (other != others.end()) change.b = value(row.value, *other, others);
        } else if (other != others.end()) {
          of_b = values(row.value, *other, others);
        }
        comparison.changes.push_back(
            changed(change, values(row.value, run, point.runs), of_b, criterion, below));
        const bool judgeable =
            unjudgeable(row.value, run, point.runs).empty() &&
            (other == others.end() || unjudgeable(row.value, *other, others).empty());
        if (criterion != nullptr && !judgeable) {
          comparison.changes.back().verdict = Verdict::inconclusive;
        }
      }
    }
  }
  return comparison;
}

std::vector<Comparison> compare(const std::vector<Recorded>& a, const std::vector<Recorded>& b,
                                double below) {
  std::vector<Comparison> comparisons;
  const Index all(b);
  std::map<std::string, int> results;  // of `a`, by deck
  for (const Recorded& one : a) ++results[one.machine.deck];
  for (const Recorded& one : a) {
    if (const auto* const other = counterpart(one, results[one.machine.deck] > 1, all)) {
      comparisons.push_back(compare(one, *other, below));
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

base::ExitCode exit_code_of(const std::vector<Comparison>& comparisons) {
  auto code = base::ExitCode::pass;
  for (const Comparison& comparison : comparisons) {
    if (comparison.changes.empty()) code = base::worst(code, base::ExitCode::inconclusive);
    for (const Change& change : comparison.changes) {
      code = base::worst(code, code_of(change.metric, change.verdict.value_or(Verdict::pass)));
    }
  }
  return code;
}

}  // namespace overlap::experiment
