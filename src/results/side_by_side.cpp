#include "results/side_by_side.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "results/describe.hpp"
#include "results/figures.hpp"

namespace overlap::results {

using describe::from_zero;
using describe::Visitor;

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
  v("trace", matched.trace, "How the timeline was measured; null: it was not.", describe::added);
  v("timeline", matched.timeline, "Every task as measured; null: not traced.", describe::added);
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

void describe(Visitor& v, SideBySide& all) {
  v("columns", all.columns, "One per file.");
  v("to", all.to, "The column that ratios refer to, from 1.", describe::above_zero);
  v("decks", all.decks, "Decks of the same title and workload.");
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

std::size_t chosen(const std::vector<std::string>& titles, const std::string& to) {
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
  std::vector<SameDeck> all;
  for (std::size_t column = 0; column < files.size(); ++column) {
    for (const Result& result : files[column]) {
      const Keys workload = workload_of(result);
      auto same = std::ranges::find_if(all, [&](const SameDeck& known) {
        return known.deck.title == result.title && known.deck.workload == workload;
      });
      if (same == all.end()) {
        same = all.insert(same, {{.title = result.title, .workload = workload},
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
  return all;
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
      if (match.point.empty()) match.point = columns[i]->point(*line[i]).name();
      cell = matched(*line[i]->run, columns[i]->points[line[i]->point].runs);
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
  SideBySide all;
  for (const std::vector<Result>& results : files) all.columns.push_back(column_of(results));
  const std::vector<std::string> titles = titles_of(all.columns);
  for (std::size_t i = 0; i < titles.size(); ++i) all.columns[i].title = titles[i];
  all.to = chosen(titles, to);
  for (auto& [deck, results] : shared_decks(files)) {
    std::vector<Keys> keys;
    for (const Result* const result : results) {
      keys.push_back(result == nullptr ? Keys() : deck_keys(*result));
      deck.errors.push_back(result == nullptr ? "" : result->error);
    }
    deck.differences = differences(keys);
    deck.matches = matches_of(results, all.to - 1);
    all.decks.push_back(std::move(deck));
  }
  return all;
}

}  // namespace overlap::results
