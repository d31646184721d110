#include "report/picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

#include "base/units.hpp"
#include "deck/words.hpp"

namespace overlap::report {
namespace {

using base::format_seconds;
using schedule::Stage;
using schedule::TaskId;

/// Bands of the tasks that have a group each; groups without tasks have none.
template <class GroupOf>
std::vector<Band> bands(const timeline::Timeline& timeline, const std::vector<std::string>& names,
                        const GroupOf& group_of) {
  const auto& spans = timeline.spans;
  Tasks ids(spans.size());
  std::iota(ids.begin(), ids.end(), TaskId{0});
  std::ranges::stable_sort(ids, {}, [&](TaskId id) { return spans[id].start_s; });
  std::vector<Band> found;
  for (const std::string& name : names) found.push_back({name, {}});
  const double rounding = 1e-9 * timeline.complete_s;
  for (const TaskId id : ids) {
    auto& rows = found[group_of(id)].rows;
    const auto free = std::ranges::find_if(rows, [&](const Tasks& row) {
      return spans[row.back()].stop_s <= spans[id].start_s + rounding;
    });
    (free == rows.end() ? rows.emplace_back() : *free).push_back(id);
  }
  std::erase_if(found, [](const Band& band) { return band.rows.empty(); });
  return found;
}

/// A row of a timeline as text.
std::string draw(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                 const Tasks& row, std::size_t columns) {
  std::string line(columns, ' ');
  // How much of each column its task takes; less than anything: none does.
  std::vector<double> covered(columns, -std::numeric_limits<double>::infinity());
  const double scale = static_cast<double>(columns) / timeline.complete_s;
  const auto nearest = [](double place) { return static_cast<std::size_t>(std::lround(place)); };
  for (const TaskId id : row) {
    const timeline::Span& span = timeline.spans[id];
    const double begin = span.start_s * scale;
    const double end = span.stop_s * scale;
    // Whole columns, so that neighbours of equal length look alike; the shortest task keeps one.
    const std::size_t first = std::min(nearest(begin), columns - 1);
    const std::size_t last = std::max(first + 1, std::min(nearest(end), columns));
    const std::string text = label(schedule, id);
    // Too narrow: the last digit tells neighbouring chunks apart, the first letters tell names.
    const std::string narrow = schedule.names.empty() ? text.substr(text.size() - 1) : text;
    const bool fits = last - first > text.size();
    for (std::size_t column = first; column < last; ++column) {
      const auto x = static_cast<double>(column);
      const double part = std::min(end, x + 1) - std::max(begin, x);
      if (part <= covered[column]) continue;
      covered[column] = part;
      const std::size_t at = column - first;
      const std::string& words = fits ? text : narrow;
      line[column] = at < words.size() ? words[at] : '=';
    }
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
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
  return bands(timeline, names, [&](TaskId id) {
    const schedule::Task& task = schedule.tasks[id];
    return schedule::on_host(task.stage) ? lanes : static_cast<std::size_t>(task.lane);
  });
}

std::string label(const schedule::Schedule& schedule, TaskId id) {
  if (!schedule.names.empty()) return schedule.names[id];
  return fmt::format("{}", schedule.tasks[id].chunk);
}

std::string full_label(const schedule::Schedule& schedule, TaskId id) {
  const std::string text = label(schedule, id);
  if (!schedule.names.empty()) return text;
  return fmt::format("{} {}", schedule::to_string(schedule.tasks[id].stage), text);
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
      // The host waits for all that was issued to the lanes.
      if (host && !schedule::on_host(before.stage)) {
        waits(on_lane[static_cast<std::size_t>(before.lane)]);
      }
    }
    waits(on_host);
    if (!host) on_lane[static_cast<std::size_t>(task.lane)] = id;
    if (schedule::waits_for_lanes(task.stage) || task.blocking) on_host = id;
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
  std::vector<std::string> words;
  if (timed) {
    const base::Summary time = experiment::time_s(run);
    words.push_back(fmt::format("{} ({} .. {})", format_seconds(time.median),
                                format_seconds(time.lo), format_seconds(time.hi)));
    if (const auto speedup = value(deck::Metric::speedup, run, runs)) {
      words.push_back(fmt::format("speed-up {:.2f}", speedup->median));
    }
    if (const auto efficiency = experiment::shown_efficiency(run, runs)) {
      words.push_back(fmt::format("overlap efficiency {:.2f}", efficiency->median));
    }
  }
  if (const auto seconds = experiment::predicted_s(run)) {
    words.push_back("predicted " + format_seconds(*seconds));
    const auto speedup = experiment::predicted_speedup(run, runs);
    if (timed) {
      const double median = experiment::time_s(run).median;
      words.back() += fmt::format(" ({})", base::format_change(*seconds / median - 1));
    } else if (speedup) {
      words.push_back(fmt::format("speed-up {:.2f}", *speedup));
    }
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

Picture measured(const experiment::Run& run) {
  if (!run.trace) return {.words = "not measured"};
  const experiment::Trace& trace = *run.trace;
  Picture picture{.words = "measured", .timeline = &trace.timeline};
  if (!trace.source.empty()) picture.words += " (" + trace.source + ")";
  if (trace.doubtful) {
    picture.doubt =
        fmt::format("doubtful: {} against the median", base::format_change(trace.perturbation));
  }
  return picture;
}

Picture predicted(const experiment::Run& run) {
  if (!run.predicted) return {.words = "not predicted"};
  return {.words = "predicted", .timeline = &*run.predicted};
}

double longest_s(const std::vector<const experiment::Outcome*>& outcomes) {
  double longest = 0;
  const auto meet = [&](const Picture& picture) {
    if (picture.timeline == nullptr) return;
    longest = std::max(longest, picture.timeline->complete_s);
    for (const timeline::Span& span : picture.timeline->spans) {
      longest = std::max(longest, span.stop_s);
    }
  };
  for (const experiment::Outcome* const outcome : outcomes) {
    for (const experiment::Run& run : outcome->runs) {
      meet(measured(run));
      meet(predicted(run));
    }
  }
  return longest > 0 ? longest : 1;
}

std::string place_words(const Study& study, const experiment::Outcome* outcome) {
  std::string words = study.deck().path;
  if (outcome != nullptr && outcome->phase == deck::Phase::together) words += ", together";
  if (study.predicts()) {
    return words + fmt::format(", predicted for {}", fmt::join(study.devices, ", "));
  }
  const auto& [build, host, device, job, placement] = study.machine;
  if (device) {
    words += ", " + device->name;
  } else if (!host.cpu.empty()) {
    words += ", " + base::device_of(host).name;
  }
  return words + fmt::format(", Kokkos {} {}", build.kokkos_version, build.backend);
}

std::vector<Ink> used_inks(std::span<const Study> studies) {
  std::vector<const experiment::Run*> runs;
  for (const Study& study : studies) {
    for (const experiment::Outcome* const outcome : study.outcomes()) {
      for (const experiment::Run& run : outcome->runs) runs.push_back(&run);
    }
  }
  return inks_of(runs);
}

std::vector<Ink> inks_of(const std::vector<const experiment::Run*>& runs) {
  std::set<Stage> used;
  for (const experiment::Run* const run : runs) {
    for (const schedule::Task& task : run->schedule.tasks) used.insert(task.stage);
  }
  std::vector<Ink> found;
  std::ranges::copy_if(inks, std::back_inserter(found),
                       [&](const Ink& ink) { return used.contains(ink.stage); });
  return found;
}

std::string ascii_timeline(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                           int width) {
  std::size_t name = 0;
  for (const std::string& engine : timeline.engines) name = std::max(name, engine.size());
  const auto columns = static_cast<std::size_t>(std::max(20, width - static_cast<int>(name) - 2));
  std::string text;
  if (timeline.complete_s <= 0) return text;
  // Issuing itself is no task: the host's row shows only work and queries.
  for (Band& band : engine_bands(timeline)) {
    for (const Tasks& row : band.rows) {
      text += fmt::format("{:<{}}  {}\n", band.name, name, draw(schedule, timeline, row, columns));
      band.name.clear();
    }
  }
  const std::string end = format_seconds(timeline.complete_s);
  return text + fmt::format("{:<{}}  0{:>{}}\n", "", name, end, columns - 1);
}

}  // namespace overlap::report
