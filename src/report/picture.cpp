#include "report/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/units.hpp"
#include "deck/words.hpp"

namespace overlap::report {
namespace {

using base::format_seconds;
using schedule::Stage;
using schedule::TaskId;

/// The tasks in rows of which each has one task at a time, earliest first.
std::vector<Tasks> rows_of(const timeline::Timeline& timeline, Tasks ids) {
  const auto& spans = timeline.spans;
  std::stable_sort(ids.begin(), ids.end(),
                   [&](TaskId a, TaskId b) { return spans[a].start_s < spans[b].start_s; });
  const double rounding = 1e-9 * timeline.complete_s;
  std::vector<Tasks> rows;
  for (const TaskId id : ids) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Tasks& r) {
      return spans[r.back()].stop_s <= spans[id].start_s + rounding;
    });
    if (row == rows.end()) {
      rows.push_back({id});
    } else {
      row->push_back(id);
    }
  }
  return rows;
}

/// Bands of the tasks that have a group each; groups without tasks have none.
template <class GroupOf>
std::vector<Band> bands(const timeline::Timeline& timeline, std::vector<std::string> names,
                        const GroupOf& group_of) {
  std::vector<Tasks> groups(names.size());
  for (TaskId id = 0; id < timeline.spans.size(); ++id) groups[group_of(id)].push_back(id);
  std::vector<Band> found;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].empty()) continue;
    found.push_back({std::move(names[i]), rows_of(timeline, std::move(groups[i]))});
  }
  return found;
}

/// Valid UTF-8: what is none is replaced.
std::string valid(const std::string& text) {
  return nlohmann::json::parse(quote_json(text)).get<std::string>();
}

}  // namespace

std::vector<Band> engine_bands(const timeline::Timeline& timeline) {
  return bands(timeline, timeline.engines,
               [&](TaskId id) { return static_cast<std::size_t>(timeline.spans[id].engine); });
}

std::vector<Band> lane_bands(const schedule::Schedule& schedule,
                             const timeline::Timeline& timeline) {
  const auto lanes = static_cast<std::size_t>(schedule.lanes);
  std::vector<std::string> names;
  for (std::size_t lane = 0; lane < lanes; ++lane) names.push_back(fmt::format("lane {}", lane));
  names.emplace_back("host");
  return bands(timeline, std::move(names), [&](TaskId id) {
    const schedule::Task& task = schedule.tasks[id];
    return schedule::on_host(task.stage) ? lanes : static_cast<std::size_t>(task.lane);
  });
}

std::string label(const schedule::Schedule& schedule, TaskId id) {
  if (!schedule.names.empty()) return schedule.names[id];
  return fmt::format("{}", schedule.tasks[id].chunk);
}

std::string full_label(const schedule::Schedule& schedule, TaskId id) {
  if (!schedule.names.empty()) return schedule.names[id];
  const schedule::Task& task = schedule.tasks[id];
  return fmt::format("{} {}", schedule::to_string(task.stage), task.chunk);
}

std::vector<std::optional<TaskId>> waited_for(const schedule::Schedule& schedule,
                                              const timeline::Timeline& timeline) {
  std::vector<std::optional<TaskId>> latest(schedule.tasks.size());
  std::vector<std::optional<TaskId>> on_lane(static_cast<std::size_t>(schedule.lanes));
  std::optional<TaskId> on_host;  // what the host last did or waited for
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto waits = [&](std::optional<TaskId> other) {
      if (!other) return;
      const double stop_s = timeline.spans[*other].stop_s;
      if (!latest[id] || stop_s > timeline.spans[*latest[id]].stop_s) latest[id] = other;
    };
    const bool host = schedule::on_host(task.stage);
    if (!host) waits(on_lane[static_cast<std::size_t>(task.lane)]);
    for (const TaskId other : task.after) {
      waits(other);
      const schedule::Task& before = schedule.tasks[other];
      // Host work waits for all that was issued to the lanes.
      if (host && !schedule::on_host(before.stage)) {
        waits(on_lane[static_cast<std::size_t>(before.lane)]);
      }
    }
    waits(on_host);
    if (!host) on_lane[static_cast<std::size_t>(task.lane)] = id;
    if (task.stage == Stage::host || task.blocking) on_host = id;
  }
  return latest;
}

std::optional<double> rate_gb_per_s(const schedule::Task& task, const timeline::Span& span) {
  const double seconds = span.stop_s - span.start_s;
  if (task.bytes == 0 || !(seconds > 0)) return std::nullopt;
  return static_cast<double>(task.bytes) / seconds * 1e-9;
}

std::string order_words(const experiment::Case& run) {
  std::string words = experiment::name(run);
  if (run.order != run.schedule.order) {
    words += fmt::format(" ({})", deck::to_string(run.schedule.order));
  }
  return run.device.empty() ? words : words + " on " + run.device;
}

std::string figures(const experiment::Run& run, const std::vector<experiment::Run>& runs) {
  const bool timed = !run.samples_s.empty();
  std::string words;
  const auto add = [&](const std::string& text) { words += (words.empty() ? "" : ", ") + text; };
  const base::Summary time = experiment::time_s(run);
  if (timed) {
    add(fmt::format("{} ({} .. {})", format_seconds(time.median), format_seconds(time.lo),
                    format_seconds(time.hi)));
    if (const auto speedup = value(deck::Metric::speedup, run, runs)) {
      add(fmt::format("speed-up {:.2f}", speedup->median));
    }
    if (const auto efficiency = experiment::shown_efficiency(run, runs)) {
      add(fmt::format("overlap efficiency {:.2f}", efficiency->median));
    }
  }
  if (const auto seconds = experiment::predicted_s(run)) {
    const double error = timed && time.median > 0 ? 100 * (*seconds / time.median - 1) : 0;
    add("predicted " + format_seconds(*seconds) +
        (timed ? fmt::format(" ({:+.1f} %)", error) : std::string()));
    const auto speedup = experiment::predicted_speedup(run, runs);
    if (!timed && speedup) add(fmt::format("speed-up {:.2f}", *speedup));
  }
  return words;
}

Picture measured(const experiment::Run& run) {
  if (!run.trace) return {.words = "not measured", .doubt = {}, .timeline = nullptr};
  const experiment::Trace& trace = *run.trace;
  Picture picture{.words = "measured", .doubt = {}, .timeline = &trace.timeline};
  if (!trace.source.empty()) picture.words += " (" + trace.source + ")";
  if (trace.doubtful)
    picture.doubt = fmt::format("perturbed by {:.3g} %", 100 * trace.perturbation);
  return picture;
}

Picture predicted(const experiment::Run& run) {
  if (!run.predicted) return {.words = "not predicted", .doubt = {}, .timeline = nullptr};
  return {.words = "predicted", .doubt = {}, .timeline = &*run.predicted};
}

double longest_s(const experiment::Outcome& outcome) {
  double longest = 0;
  for (const experiment::Run& run : outcome.runs) {
    for (const Picture& picture : {measured(run), predicted(run)}) {
      if (picture.timeline == nullptr) continue;
      longest = std::max(longest, picture.timeline->complete_s);
      for (const timeline::Span& span : picture.timeline->spans) {
        longest = std::max(longest, span.stop_s);
      }
    }
  }
  return longest > 0 ? longest : 1;
}

std::string place_words(const Study& study) {
  std::string words = study.deck().path;
  if (study.predicts()) return words;
  const auto& [build, host, device] = study.machine;
  if (device) {
    words += ", " + device->name;
  } else if (!host.cpu.empty()) {
    words += fmt::format(", {}, {} cores", host.cpu, host.cores);
  }
  return words + fmt::format(", Kokkos {} {}", build.kokkos_version, build.backend);
}

bool has_stage(const experiment::Outcome& outcome, Stage stage) {
  return std::any_of(outcome.runs.begin(), outcome.runs.end(), [&](const experiment::Run& run) {
    const auto& tasks = run.schedule.tasks;
    return std::any_of(tasks.begin(), tasks.end(),
                       [&](const schedule::Task& task) { return task.stage == stage; });
  });
}

double width_of(std::string_view text) {
  double sum = 0;
  for (const char c : text) sum += c >= 'A' && c <= 'Z' ? 8.4 : 7;
  return sum;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

double tick_s(double longest_s, int most) {
  const double power = std::pow(10, std::floor(std::log10(longest_s / most)));
  for (const double factor : {1, 2, 5}) {
    if (longest_s / (factor * power) <= most) return factor * power;
  }
  return 10 * power;
}

std::string tick_words(double seconds, double longest_s) {
  struct Unit {
    double s;
    const char* name;
  };
  constexpr std::array<Unit, 4> units = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  const auto unit =
      std::find_if(units.begin(), units.end() - 1, [&](const Unit& u) { return longest_s >= u.s; });
  return fmt::format("{:.6g} {}", seconds / unit->s, unit->name);
}

std::string escape_xml(const std::string& text) {
  std::string escaped;
  for (const char c : valid(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // XML has no way to write control characters.
        escaped += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return escaped;
}

std::string quote_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace overlap::report
