#include "experiment/side_by_side.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "yaml/reader.hpp"

namespace overlap::experiment {
namespace {

Column column_of(const std::vector<Recorded>& results) {
  const Recorded& first = results.front();
  std::set<std::string> mechanisms;
  for (const Recorded& one : results) mechanisms.insert(word_of(one.deck, "issue.mechanism"));
  return {.title = {},
          .file = first.file,
          .device = first.machine.device,
          .backend = first.machine.backend,
          .mechanism = fmt::format("{}", fmt::join(mechanisms, " and ")),
          .kokkos_version = word_of(first.provenance, "build.kokkos_version"),
          .compiler = word_of(first.provenance, "build.compiler"),
          .host = word_of(first.provenance, "host.name")};
}

using TextOfColumn = std::string Column::*;

/// A part of column titles: always shown if columns differ in it, or only if it distinguishes
/// columns that would have equal titles.
struct TitlePart {
  TextOfColumn value;
  const char* before;
  bool always;
};
constexpr std::array<TitlePart, 7> title_parts = {{{&Column::device, "", true},
                                                   {&Column::backend, "", true},
                                                   {&Column::mechanism, "", true},
                                                   {&Column::kokkos_version, "Kokkos ", false},
                                                   {&Column::compiler, "", false},
                                                   {&Column::host, "", false},
                                                   {&Column::file, "", false}}};

std::size_t distinct(const std::vector<std::string>& words) {
  return std::set(words.begin(), words.end()).size();
}

std::vector<std::string> titles_of(const std::vector<Column>& columns) {
  std::vector<std::string> titles(columns.size());
  for (const auto& [value, before, always] : title_parts) {
    std::vector<std::string> values;
    std::vector<std::string> longer = titles;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      values.push_back(columns[i].*value);
      longer[i] += fmt::format("{}{}{}", titles[i].empty() ? "" : ", ", before, values[i]);
    }
    const bool differ = distinct(values) > 1;
    if (differ && (always || distinct(longer) > distinct(titles))) titles = longer;
  }
  if (distinct(titles) == titles.size()) return titles;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    titles[i] += fmt::format("{}#{}", titles[i].empty() ? "" : " ", i + 1);
  }
  return titles;
}

std::size_t chosen(const std::vector<Column>& columns, const std::string& to) {
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (to == columns[i].title || to == std::to_string(i + 1)) return i;
    titles.push_back(columns[i].title);
  }
  throw base::Error(
      base::ExitCode::usage,
      fmt::format("--to: found '{}'; allowed: 1 to {}, or the title of a column: {}{}", to,
                  columns.size(), fmt::join(titles, "; "), yaml::suggestion(to, titles)));
}

/// The keys of the workload that are the same at all points.
KeyWords workload_of(const Recorded& result) {
  KeyWords workload;
  for (const auto& [key, value] : result.deck) {
    if (key.starts_with("workload.")) workload.emplace(key.substr(key.find('.') + 1), value);
  }
  return workload;
}

/// A deck with one result per column; null: none.
struct SameDeck {
  SharedDeck deck;
  std::vector<const Recorded*> results;
};

std::vector<SameDeck> shared_decks(const std::vector<std::vector<Recorded>>& files) {
  std::vector<SameDeck> all;
  for (std::size_t column = 0; column < files.size(); ++column) {
    for (const Recorded& result : files[column]) {
      const KeyWords workload = workload_of(result);
      auto same = std::ranges::find_if(all, [&](const SameDeck& one) {
        return one.deck.title == result.title && one.deck.workload == workload;
      });
      if (same == all.end()) {
        same = all.insert(same, {{.title = result.title, .workload = workload},
                                 std::vector<const Recorded*>(files.size())});
      }
      const Recorded*& place = same->results[column];
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

std::vector<Setting> differences_of(const std::vector<const Recorded*>& results) {
  KeyWords keys;
  for (const Recorded* const result : results) {
    if (result != nullptr) keys.insert(result->deck.begin(), result->deck.end());
  }
  std::vector<Setting> differences;
  for (const auto& [key, ignored] : keys) {
    Setting setting{key, {}};
    std::set<std::string> distinct;
    for (const Recorded* const result : results) {
      setting.values.push_back(result == nullptr ? "-" : word_of(result->deck, key));
      if (result != nullptr) distinct.insert(setting.values.back());
    }
    if (distinct.size() > 1) differences.push_back(std::move(setting));
  }
  return differences;
}

Figures figures_of(const Run& run, const std::vector<Run>& runs) {
  const auto median = [](const std::optional<base::Summary>& of) {
    return of ? std::optional(of->median) : std::nullopt;
  };
  return {.run = run,
          .time = time_s(run),
          .speedup = median(value(deck::Metric::speedup, run, runs)),
          .overlap_efficiency = median(shown_efficiency(run, runs)),
          .bound_fraction = median(value(deck::Metric::bound_fraction, run, runs)),
          .bound_s = run.bounds ? std::optional(run.bounds->bound_s) : std::nullopt};
}

void add_ratios(Match& match, std::size_t to) {
  const std::optional<Figures>& chosen = match.figures[to];
  if (!chosen) return;
  for (std::optional<Figures>& one : match.figures) {
    if (one) one->ratio = base::ratio(one->run.samples_s, chosen->run.samples_s);
  }
  match.figures[to]->ratio = base::Estimate{.value = 1, .lo = 1, .hi = 1};
}

std::vector<Match> matches_of(const std::vector<const Recorded*>& results, std::size_t to) {
  std::vector<Match> matches;
  std::map<std::pair<std::string, std::string>, std::size_t> place_of;  // by point and order
  for (std::size_t column = 0; column < results.size(); ++column) {
    if (results[column] == nullptr) continue;
    for (const RecordedPoint& point : results[column]->points) {
      for (const Run& run : point.runs) {
        const std::string order = name(run);
        const auto [place, is_new] =
            place_of.emplace(std::pair(point.words, order), matches.size());
        if (is_new) {
          matches.push_back({.point = point.words, .order = order, .figures = {}});
          matches.back().figures.resize(results.size());
        }
        matches[place->second].figures[column] = figures_of(run, point.runs);
      }
    }
  }
  for (Match& match : matches) add_ratios(match, to);
  return matches;
}

}  // namespace

SideBySide side_by_side(const std::vector<std::vector<Recorded>>& files, const std::string& to) {
  SideBySide all;
  for (const std::vector<Recorded>& results : files) {
    if (results.empty()) {
      throw base::Error(
          base::ExitCode::runtime_error,
          fmt::format("column {}: found no result; allowed: results of one deck or more",
                      all.columns.size() + 1));
    }
    all.columns.push_back(column_of(results));
  }
  const std::vector<std::string> titles = titles_of(all.columns);
  for (std::size_t i = 0; i < titles.size(); ++i) all.columns[i].title = titles[i];
  all.to = chosen(all.columns, to);
  for (auto& [deck, results] : shared_decks(files)) {
    deck.differences = differences_of(results);
    for (const Recorded* const result : results) {
      deck.errors.push_back(result == nullptr ? "" : result->error);
    }
    deck.matches = matches_of(results, all.to);
    all.decks.push_back(std::move(deck));
  }
  return all;
}

}  // namespace overlap::experiment
