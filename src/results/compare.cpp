#include "results/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
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
  v("order", change.order, "Order with disturbance or host work; -: the device.");
  v("metric", change.metric, "Metric.");
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

void describe(Visitor& v, Column& column) {
  for (const ColumnField& field : column_fields) v(field.key, column.*field.text, field.help);
}

void describe(Visitor& v, Matched& matched) {
  v("n", matched.time_s.n, "Repetitions.", describe::above_zero);
  v("time_s", matched.time_s, "Time of a repetition, seconds.");
  v("speedup", matched.speedup, "Its own sequential time / time; null: no baseline.");
  v("overlap_efficiency", matched.overlap_efficiency,
    "Time that overlap saves / time that it could save; null: no baseline or no bound, or overlap "
    "can save less than 10 %.");
  v("bound_s", matched.bound_s, "Least time that its own hardware allows; null: unknown.",
    from_zero);
  v("bound_fraction", matched.bound_fraction, "bound_s / time; null: not measured.");
  v("ratio", matched.ratio, "Time / time of column `to`; null: it lacks the order.");
  v("trace", matched.trace, "How the timeline was measured; null: it was not.");
  v("timeline", matched.timeline, "Every task as measured; null: not traced.");
}

void describe(Visitor& v, Match& match) {
  v("point", match.point, "Swept keys and their values, or the phase; empty: neither.");
  v("order", match.order, "Issue order with its disturbance or host work.");
  v("columns", match.columns, "One per column; null: the column does not have the order.");
}

void describe(Visitor& v, Setting& setting) {
  v("key", setting.key, "Key of the deck.");
  v("values", setting.values, "One per column; -: missing.");
}

void describe(Visitor& v, SharedDeck& deck) {
  v("title", deck.title, "Title of the deck.");
  v("workload", deck.workload, "Its workload, the same in all columns: keys and values.");
  v("differences", deck.differences, "Keys of the deck that differ between columns.");
  v("errors", deck.errors, "Per column: why the deck did not run; empty: it ran.");
  v("orders", deck.matches, "Each order at each point.");
}

void describe(Visitor& v, SideBySide& side_by_side) {
  v("columns", side_by_side.columns, "One per file.");
  v("to", side_by_side.to, "The column that ratios refer to, from 1.", describe::above_zero);
  v("decks", side_by_side.decks, "Decks of the same title and workload.");
}

void describe(Visitor& v, Comparisons& comparisons) {
  describe_schema(v, comparison_schema);
  v("below", comparisons.below, "How much worse a judged metric may be, as a fraction.", from_zero);
  v("common", comparisons.common, "Whether what only one of two files has is not judged.");
  v("comparisons", comparisons.pairs, "One per deck and pair of files.");
  v("side_by_side", comparisons.side_by_side, "Files next to each other; null: not asked for.");
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
  const deck::MetricRow& row = deck::row_of(change.metric);
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
std::optional<Change> change_of(const std::array<const Figures*, 2>& tables,
                                const Pivot::Line& line,
                                const std::vector<deck::Criterion>& criteria, double below) {
  const Figures::Row& row = line[0] != nullptr ? *line[0] : *line[1];
  const deck::MetricRow& metric = deck::row_of(row.key.metric);
  const deck::Criterion* const criterion = row.judged ? criterion_for(criteria, row.key) : nullptr;
  if (criterion == nullptr && row.key.metric != deck::Metric::time) return {};
  if (row.run == nullptr && line[0] == nullptr) return {};
  if (metric.formula == nullptr && !criterion->max) return {};
  Change change;
  change.order = row.run_name();
  change.metric = row.key.metric;
  std::array<std::vector<double>, 2> samples;
  bool judgeable = true;
  for (const std::size_t i : {0U, 1U}) {
    if (line[i] == nullptr) continue;
    const Figures& table = *tables[i];
    if (change.point.empty()) change.point = line[i]->point->name();
    (i == 0 ? change.a : change.b) = line[i]->value;
    samples[i] = table.samples(*line[i]);
    judgeable = judgeable && table.unjudgeable(*line[i]).empty();
  }
  change.ratio = base::ratio(samples[1], samples[0]);
  if (change.ratio) change.trend = trend_of(*change.ratio, metric.better);
  const auto interval = [](const base::Summary& s) { return std::tuple(s.median, s.lo, s.hi); };
  if (change.a && change.b && samples[0] == samples[1] &&
      interval(*change.a) == interval(*change.b)) {
    change.trend = Trend::identical;
    if (change.ratio) change.ratio = {.value = 1, .lo = 1, .hi = 1};
  }
  if (criterion == nullptr || (by_limit(metric) && !criterion->max)) return change;
  change.verdict = judgeable ? judged(change, below, criterion->max) : Verdict::inconclusive;
  return change;
}

/// By which results of the same deck are found, nearest first: its identity and name, its identity,
/// its name, each of the same device, of the same slot and of any; then one of its points.
std::vector<std::string> search_keys(const Result& result) {
  const Origin from = origin(result);
  const std::string deck = "d" + result.deck.identity, name = "\nn" + from.deck_name;
  std::vector<std::string> keys;
  for (const std::string& prefix : {deck + name, deck, name}) {
    keys.push_back(prefix + "\nu" + from.device());
    keys.push_back(prefix + "\ns" + from.host + "\n" + from.slot);
    keys.push_back(prefix);
  }
  for (const Point& point : result.points) {
    std::string& key = keys.emplace_back("p");
    for (const auto& [part, value] : deck_keys(result, point)) {
      if (part == "issue.orders" || part.starts_with("sweep.")) continue;
      key += "\n" + part + " " + value;
    }
  }
  return keys;
}

/// Results by all of their search keys.
using Index = std::map<std::string, std::vector<const Result*>>;

/// The result to compare with one. Null if `result` is one of `several` devices, and the others are
/// of other devices. Throws base::Error{runtime_error} unless there is exactly one.
const Result* counterpart(const Result& result, bool several, const Index& index,
                          const std::string& file) {
  const Origin from = origin(result);
  const std::string& name = from.deck_name;
  std::vector<const Result*> same;
  for (const std::string& key : search_keys(result)) {
    const auto found = index.find(key);
    if (same.empty() && found != index.end()) same = found->second;
  }
  if (several && same.size() > 1) {
    const Origin other = origin(*same.front());
    const bool same_slot = other.host == from.host && other.slot == from.slot;
    if (!same_slot && other.device() != from.device()) return nullptr;
  }
  if (same.size() == 1) return same.front();
  throw base::Error(
      base::ExitCode::runtime_error,
      same.empty()
          ? fmt::format("{}: found no result of the deck {} of {}; allowed: results of the same "
                        "decks",
                        file, name, result.file)
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
  Comparison comparison{a.file, b.file, describe::name_of(a.deck.path), {}, {}};
  const Figures in_a(a), in_b(b);
  const Pivot pivot({&in_a, &in_b});
  std::vector<Keys> decks = {deck_keys(a), deck_keys(b)};
  for (Keys& keys : decks)
    std::erase_if(keys, [&](const auto& key) { return pivot.swept.contains(key.first); });
  for (const auto& columns : {std::vector{machine_keys(a), machine_keys(b)}, decks}) {
    std::ranges::move(differences(columns), std::back_inserter(comparison.differences));
  }
  const std::vector<deck::Criterion> judging = criteria(a);
  for (const Pivot::Line& line : pivot.lines) {
    auto change = change_of({&in_a, &in_b}, line, judging, below);
    if (!change) continue;
    if (common && !(change->a && change->b)) change->verdict.reset();
    comparison.changes.push_back(*std::move(change));
  }
  return comparison;
}

std::vector<Comparison> compare(const std::vector<Result>& a, const std::vector<Result>& b,
                                double below, bool common) {
  Index index;
  for (const Result& result : b) {
    for (const std::string& key : search_keys(result)) index[key].push_back(&result);
  }
  std::map<std::string, int> count_by_deck;  // of `a`
  for (const Result& result : a) ++count_by_deck[result.deck.identity];
  std::vector<Comparison> comparisons;
  for (const Result& result : a) {
    const bool several = count_by_deck[result.deck.identity] > 1;
    if (const auto* const other = counterpart(result, several, index, b.front().file)) {
      comparisons.push_back(compare(result, *other, below, common));
    } else {
      const Origin from = origin(result);
      const Setting missing{"device", {from.host + " " + from.slot, "-"}};
      comparisons.push_back({result.file, "-", from.deck_name, {missing}, {}});
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

namespace {

Column column_of(const std::vector<Result>& results) {
  const Result& first = results.front();
  std::set<std::string> mechanisms;
  for (const Result& result : results) {
    mechanisms.insert(text_at(deck_keys(result), "issue.mechanism"));
  }
  const base::Machine& machine = first.machine;
  return {.device = subject_of(machine).device,
          .backend = machine.build.backend,
          .mechanism = fmt::format("{}", fmt::join(mechanisms, " and ")),
          .kokkos_version = machine.build.kokkos_version,
          .compiler = machine.build.compiler,
          .host = machine.host.name,
          .file = first.file};
}

std::size_t distinct(const std::vector<std::string>& texts) {
  return std::set(texts.begin(), texts.end()).size();
}

/// The fields in which columns differ: some always, others only where they distinguish columns that
/// would have equal titles.
std::vector<std::string> titles_of(const std::vector<Column>& columns) {
  std::vector<std::string> titles(columns.size());
  for (const ColumnField& field : column_fields) {
    std::vector<std::string> values;
    std::vector<std::string> longer = titles;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      values.push_back(columns[i].*field.text);
      longer[i] += fmt::format("{}{}{}", titles[i].empty() ? "" : ", ", field.before, values[i]);
    }
    const bool differ = distinct(values) > 1;
    if (differ && (field.in_titles || distinct(longer) > distinct(titles))) titles = longer;
  }
  if (distinct(titles) == titles.size()) return titles;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    titles[i] += fmt::format("{}#{}", titles[i].empty() ? "" : " ", i + 1);
  }
  return titles;
}

std::size_t column_number(const std::vector<std::string>& titles, const std::string& to) {
  for (std::size_t number = 1; number <= titles.size(); ++number) {
    if (to == titles[number - 1] || to == std::to_string(number)) return number;
  }
  throw base::Error(
      base::ExitCode::usage,
      fmt::format("--to: found '{}'; allowed: 1 to {}, or the title of a column: {}{}", to,
                  titles.size(), fmt::join(titles, "; "), describe::suggestion(to, titles)));
}

/// The keys of the workload that are the same at all points.
Keys workload_of(const Result& result) {
  Keys workload;
  for (const auto& [key, value] : deck_keys(result)) {
    if (key.starts_with("workload.")) workload.emplace(key.substr(key.find('.') + 1), value);
  }
  return workload;
}

/// A deck with one result per column; null: none.
struct SameDeck {
  SharedDeck deck;
  std::vector<const Result*> results;
};

std::vector<SameDeck> shared_decks(const std::vector<std::vector<Result>>& files) {
  std::vector<SameDeck> decks;
  for (std::size_t column = 0; column < files.size(); ++column) {
    for (const Result& result : files[column]) {
      const Keys workload = workload_of(result);
      auto same = std::ranges::find_if(decks, [&](const SameDeck& entry) {
        return entry.deck.title == result.title && entry.deck.workload == workload;
      });
      if (same == decks.end()) {
        same = decks.insert(same, {{.title = result.title, .workload = workload},
                                   std::vector<const Result*>(files.size())});
      }
      const Result*& place = same->results[column];
      if (place != nullptr) {
        throw base::Error(base::ExitCode::runtime_error,
                          fmt::format("{}: found a second result of '{}', which {} also has; "
                                      "allowed: one per column",
                                      result.file, result.title, place->file));
      }
      place = &result;
    }
  }
  return decks;
}

Matched matched(const Run& run, const Runs& runs) {
  const auto median = [](const std::optional<base::Summary>& value) {
    return value ? std::optional(value->median) : std::nullopt;
  };
  Matched matched;
  matched.time_s = time_s(run);
  matched.speedup = median(run.value(deck::Metric::speedup));
  matched.overlap_efficiency = median(shown_efficiency(run, runs));
  matched.bound_fraction = median(run.value(deck::Metric::bound_fraction));
  if (run.bounds) matched.bound_s = run.bounds->bound_s;
  matched.trace = run.trace;
  if (run.trace) matched.timeline = run.timeline;
  return matched;
}

/// The orders of a deck at all points; null: a column without the deck.
std::vector<Match> matches_of(const std::vector<const Result*>& results, std::size_t to) {
  std::deque<Figures> tables;
  std::vector<const Figures*> columns;
  for (const Result* const result : results) {
    columns.push_back(result != nullptr ? &tables.emplace_back(*result) : nullptr);
  }
  std::vector<Match> matches;
  for (const Pivot::Line& line : Pivot(columns).lines) {
    const Figures::Row& first = **std::ranges::find_if(line, [](auto* row) { return row; });
    if (first.run == nullptr || first.key.metric != deck::Metric::time) continue;
    Match& match = matches.emplace_back();
    match.order = first.run_name();
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::optional<Matched>& cell = match.columns.emplace_back();
      if (line[i] == nullptr) continue;
      if (match.point.empty()) match.point = line[i]->point->name();
      cell = matched(*line[i]->run, line[i]->point->runs);
      if (i == to) {
        cell->ratio = base::Estimate{.value = 1, .lo = 1, .hi = 1};
      } else if (line[to] != nullptr) {
        cell->ratio = base::ratio(line[i]->run->samples_s, line[to]->run->samples_s);
      }
    }
  }
  return matches;
}

}  // namespace

SideBySide side_by_side(const std::vector<std::vector<Result>>& files, const std::string& to) {
  std::vector<Column> columns;
  for (const std::vector<Result>& results : files) columns.push_back(column_of(results));
  const std::vector<std::string> titles = titles_of(columns);
  for (std::size_t i = 0; i < titles.size(); ++i) columns[i].title = titles[i];
  SideBySide side_by_side{.columns = std::move(columns), .to = column_number(titles, to)};
  for (auto& [deck, results] : shared_decks(files)) {
    std::vector<Keys> keys;
    for (const Result* const result : results) {
      keys.push_back(result == nullptr ? Keys() : deck_keys(*result));
      deck.errors.push_back(result == nullptr ? "" : result->error.value_or(""));
    }
    deck.differences = differences(keys);
    deck.matches = matches_of(results, side_by_side.to - 1);
    side_by_side.decks.push_back(std::move(deck));
  }
  return side_by_side;
}

}  // namespace overlap::results
