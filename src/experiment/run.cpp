#include "experiment/run.hpp"

#include <algorithm>
#include <utility>

#include "deck/words.hpp"

namespace overlap::experiment {
namespace {

/// The first run on the same device that is this; null: there is none.
template <class Predicate>
const Run* find(const Run& run, const std::vector<Run>& runs, const Predicate& predicate) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const Run& other) {
    return other.target == run.target && !other.disturbance && predicate(other);
  });
  return found == runs.end() ? nullptr : &*found;
}

/// The baseline that does the same, with host work or without.
const Run* baseline_of(const Run& run, const std::vector<Run>& runs) {
  return find(run, runs, [&](const Run& other) {
    return other.order == deck::Order::sequential && other.host_work == run.host_work;
  });
}

/// The run of the same order with nothing beside it.
const Run* plain_twin_of(const Run& run, const std::vector<Run>& runs) {
  return find(run, runs,
              [&](const Run& other) { return other.order == run.order && !other.host_work; });
}

/// One figure per repetition, from the samples of a run and of the one it is compared with.
template <class Figure>
std::optional<base::Summary> paired(const Run& run, const Run* other, const Figure& figure) {
  if (other == nullptr || run.samples_s.empty() || other->samples_s.empty()) return std::nullopt;
  std::vector<double> figures;
  for (std::size_t i = 0; i < std::min(run.samples_s.size(), other->samples_s.size()); ++i) {
    figures.push_back(figure(i, run.samples_s[i], other->samples_s[i]));
  }
  return base::summarize(std::move(figures));
}

/// `amount` per second of a run. Its interval is that of the time, turned over.
base::Summary per_second(const Run& run, double amount) {
  std::vector<double> rates;
  for (const double s : run.samples_s) rates.push_back(amount / s);
  return base::summarize(std::move(rates));
}

}  // namespace

Case new_case(deck::Order order, schedule::Schedule schedule) {
  const schedule::Traffic traffic = schedule::traffic(schedule);
  Case one;
  one.order = order;
  one.bytes = static_cast<std::int64_t>(traffic.h2d + traffic.d2h);
  one.schedule = std::move(schedule);
  return one;
}

Run new_run(deck::Order order, schedule::Schedule schedule) {
  return {new_case(order, std::move(schedule)), {}, {}, {}};
}

std::optional<double> predicted_s(const Case& run) {
  // Queries alone may take no time; no figure follows from that.
  if (!run.predicted || run.predicted->complete_s <= 0) return std::nullopt;
  return run.predicted->complete_s;
}

std::string name(const Case& run) {
  std::string name(deck::to_string(run.order));
  if (run.disturbance) name += " + " + std::string(deck::to_string(*run.disturbance));
  if (run.host_work) name += " + host work";
  return name;
}

std::optional<base::Summary> disturbance_loss(const Run& run, const std::vector<Run>& runs) {
  if (!run.disturbance) return std::nullopt;
  return paired(run, plain_twin_of(run, runs),
                [](std::size_t, double time_s, double plain_s) { return time_s / plain_s - 1; });
}

std::optional<base::Summary> host_work_hidden(const Run& run, const std::vector<Run>& runs) {
  if (!run.host_work) return std::nullopt;
  return paired(run, plain_twin_of(run, runs), [&](std::size_t i, double time_s, double plain_s) {
    return 1 - (time_s - plain_s) / run.host_work_samples.samples_s[i];
  });
}

base::Summary time_s(const Run& run) { return base::summarize(run.samples_s); }

base::Summary issue_s(const Run& run) { return base::summarize(run.issue_s); }

base::Summary throughput(const Run& run) {
  return per_second(run, 1e-9 * static_cast<double>(run.bytes));
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

base::Summary flops_per_s(const Run& run) { return per_second(run, product_flops(run.schedule)); }

std::optional<base::Summary> overlap_efficiency(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  if (&run == baseline || !run.bounds) return std::nullopt;
  return paired(run, baseline, [&](std::size_t, double time_s, double sequential_s) {
    return (sequential_s - time_s) / (sequential_s - run.bounds->bound_s);
  });
}

std::optional<base::Summary> shown_efficiency(const Run& run, const std::vector<Run>& runs) {
  const auto potential = overlap_potential(run, runs);
  if (!potential || *potential < least_potential) return std::nullopt;
  return overlap_efficiency(run, runs);
}

std::optional<base::Summary> bound_fraction(const Run& run) {
  if (!run.bounds || run.samples_s.empty()) return std::nullopt;
  return per_second(run, run.bounds->bound_s);
}

std::optional<base::Summary> schedule_bound_fraction(const Run& run) {
  if (!run.bounds || run.samples_s.empty()) return std::nullopt;
  return per_second(run, run.bounds->schedule_bound_s);
}

std::optional<double> overlap_potential(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  if (baseline == nullptr || !run.bounds || baseline->samples_s.empty()) return std::nullopt;
  return 1 - run.bounds->bound_s / time_s(*baseline).median;
}

std::optional<base::Summary> speedup(const Run& run, const std::vector<Run>& runs) {
  return paired(run, baseline_of(run, runs), [](std::size_t, double time_s, double sequential_s) {
    return sequential_s / time_s;
  });
}

std::optional<double> predicted_speedup(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  const auto seconds = predicted_s(run);
  if (baseline == nullptr || !baseline->predicted || !seconds || *seconds <= 0) {
    return std::nullopt;
  }
  return *predicted_s(*baseline) / *seconds;
}

}  // namespace overlap::experiment
