#include "timeline/run.hpp"

#include <algorithm>
#include <utility>

#include "deck/words.hpp"

namespace overlap::timeline {
namespace {

/// The first of the runs that is this; null: there is none.
template <class Predicate>
const Run* find(const std::vector<Run>& runs, const Predicate& predicate) {
  const auto found = std::find_if(runs.begin(), runs.end(), predicate);
  return found == runs.end() ? nullptr : &*found;
}

/// The baseline that does the same, with work of the host or without.
const Run* baseline_of(const Run& run, const std::vector<Run>& runs) {
  return find(runs, [&](const Run& other) {
    return other.order == deck::Order::sequential &&
           other.host_work.has_value() == run.host_work.has_value();
  });
}

/// The run of the same order with nothing beside it.
const Run* plain_twin_of(const Run& run, const std::vector<Run>& runs) {
  return find(runs, [&](const Run& other) {
    return other.order == run.order && !other.disturbance && !other.host_work;
  });
}

/// `seconds` / time. Its interval is that of the time, turned over.
std::optional<base::Summary> fraction(const Run& run, double seconds) {
  if (run.samples_s.empty()) return std::nullopt;
  std::vector<double> parts;
  for (const double s : run.samples_s) parts.push_back(seconds / s);
  return base::summarize(std::move(parts));
}

}  // namespace

Run new_run(deck::Order order, schedule::Schedule schedule) {
  Run run;
  const schedule::Traffic traffic = schedule::traffic(schedule);
  run.order = order;
  run.bytes = static_cast<std::int64_t>(traffic.h2d + traffic.d2h);
  run.schedule = std::move(schedule);
  return run;
}

std::optional<double> predicted_s(const Run& run) {
  // Queries alone may take no time; no figure follows from that.
  if (!run.predicted || run.predicted->complete_s <= 0) return std::nullopt;
  return run.predicted->complete_s;
}

std::string name(const Run& run) {
  std::string name(deck::to_string(run.order));
  if (run.disturbance) name += " + " + std::string(deck::to_string(*run.disturbance));
  if (run.host_work) name += " + host work";
  return name;
}

std::optional<base::Summary> disturbance_loss(const Run& run, const std::vector<Run>& runs) {
  const Run* const twin = plain_twin_of(run, runs);
  if (!run.disturbance || twin == nullptr || run.samples_s.empty()) return std::nullopt;
  std::vector<double> losses;
  for (std::size_t i = 0; i < std::min(run.samples_s.size(), twin->samples_s.size()); ++i) {
    losses.push_back(run.samples_s[i] / twin->samples_s[i] - 1);
  }
  return base::summarize(std::move(losses));
}

std::optional<base::Summary> host_work_hidden(const Run& run, const std::vector<Run>& runs) {
  const Run* const twin = plain_twin_of(run, runs);
  if (!run.host_work || twin == nullptr || run.samples_s.empty()) return std::nullopt;
  std::vector<double> parts;
  for (std::size_t i = 0; i < std::min(run.samples_s.size(), twin->samples_s.size()); ++i) {
    parts.push_back(1 - (run.samples_s[i] - twin->samples_s[i]) / run.host_work->samples_s[i]);
  }
  return base::summarize(std::move(parts));
}

base::Summary time_s(const Run& run) { return base::summarize(run.samples_s); }

base::Summary issue_s(const Run& run) { return base::summarize(run.issue_s); }

base::Summary throughput(const Run& run) {
  std::vector<double> rates;
  for (const double s : run.samples_s) rates.push_back(static_cast<double>(run.bytes) / s * 1e-9);
  return base::summarize(std::move(rates));
}

double product_flops(const schedule::Schedule& schedule) {
  double flops = 0;
  for (const schedule::Task& task : schedule.tasks) {
    if (schedule.tiling && !schedule::is_copy(task.stage)) flops += task.flops;
  }
  return flops;
}

int host_tiles(const schedule::Schedule& schedule) {
  return static_cast<int>(
      std::count_if(schedule.tasks.begin(), schedule.tasks.end(), [](const schedule::Task& task) {
        return task.stage == schedule::Stage::host && task.uses.count > 0;
      }));
}

base::Summary flops_per_s(const Run& run) {
  const double flops = product_flops(run.schedule);
  std::vector<double> rates;
  for (const double s : run.samples_s) rates.push_back(flops / s);
  return base::summarize(std::move(rates));
}

std::optional<base::Summary> overlap_efficiency(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  if (baseline == nullptr || &run == baseline || !run.bounds || run.samples_s.empty()) {
    return std::nullopt;
  }
  std::vector<double> parts;
  for (std::size_t i = 0; i < std::min(run.samples_s.size(), baseline->samples_s.size()); ++i) {
    const double hidden = baseline->samples_s[i] - run.samples_s[i];
    parts.push_back(hidden / (baseline->samples_s[i] - run.bounds->bound_s));
  }
  return base::summarize(std::move(parts));
}

std::optional<base::Summary> shown_efficiency(const Run& run, const std::vector<Run>& runs) {
  const auto potential = overlap_potential(run, runs);
  if (!potential || *potential < least_potential) return std::nullopt;
  return overlap_efficiency(run, runs);
}

std::optional<base::Summary> bound_fraction(const Run& run) {
  if (!run.bounds) return std::nullopt;
  return fraction(run, run.bounds->bound_s);
}

std::optional<base::Summary> schedule_bound_fraction(const Run& run) {
  if (!run.bounds) return std::nullopt;
  return fraction(run, run.bounds->schedule_bound_s);
}

std::optional<double> overlap_potential(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  if (baseline == nullptr || !run.bounds || baseline->samples_s.empty()) return std::nullopt;
  return 1 - run.bounds->bound_s / time_s(*baseline).median;
}

std::optional<base::Summary> speedup(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  if (baseline == nullptr || run.samples_s.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(run.samples_s.size(), baseline->samples_s.size()); ++i) {
    ratios.push_back(baseline->samples_s[i] / run.samples_s[i]);
  }
  return base::summarize(std::move(ratios));
}

}  // namespace overlap::timeline
