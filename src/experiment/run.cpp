#include "experiment/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "deck/words.hpp"

namespace overlap::experiment {
namespace {

using deck::Repetition;

/// The undisturbed run of an order on a device, with or without host work; null: none.
const Run* find(deck::Order order, bool host_work, int target, const std::vector<Run>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const Run& run) {
    return run.order == order && run.host_work == host_work && run.target == target &&
           !run.disturbance;
  });
  return found == runs.end() ? nullptr : &*found;
}

/// The baseline with the same host work.
const Run* baseline_of(const Run& run, const std::vector<Run>& runs) {
  return find(deck::Order::sequential, run.host_work, run.target, runs);
}

/// What all repetitions of a run have in common.
Repetition common(const Run& run) {
  Repetition all;
  if (run.bounds) all.bound_s = run.bounds->bound_s;
  if (run.bounds) all.schedule_bound_s = run.bounds->schedule_bound_s;
  if (const auto bytes = copied_bytes(run); bytes > 0) all.bytes = static_cast<double>(bytes);
  all.flops = product_flops(run.schedule);
  return all;
}

std::vector<Repetition> repetitions(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  const bool has_twin = run.disturbance || run.host_work;
  const Run* const twin = has_twin ? find(run.order, false, run.target, runs) : nullptr;
  const auto sample = [](const std::vector<double>& samples, std::size_t i) {
    return i < samples.size() ? samples[i] : Repetition::none;
  };
  std::vector<Repetition> repetitions(std::max(run.samples_s.size(), run.alone_s.size()),
                                      common(run));
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    Repetition& one = repetitions[i];
    one.time_s = sample(run.samples_s, i);
    if (baseline != nullptr) one.sequential_s = sample(baseline->samples_s, i);
    if (twin != nullptr) one.undisturbed_s = sample(twin->samples_s, i);
    one.alone_s = sample(run.alone_s, i);
    one.host_work_s = sample(run.host_work_samples.samples_s, i);
    if (run.order != deck::Order::sequential) one.hideable_s = one.sequential_s - one.bound_s;
    if (i == 0 && run.verified) one.max_error = run.max_error;
  }
  return repetitions;
}

/// Health changes over all runs, as one repetition.
Repetition counted(const HealthRecord& health) {
  const auto& [before, after, throttled] = health;
  const auto more = [&](std::optional<std::int64_t> base::Health::* counter) {
    const bool known = before.*counter && after.*counter;
    return known ? static_cast<double>(*(after.*counter) - *(before.*counter)) : Repetition::none;
  };
  Repetition all;
  all.pcie_replays = more(&base::Health::pcie_replays);
  all.ecc_errors = more(&base::Health::ecc_corrected) + more(&base::Health::ecc_uncorrected);
  if (throttled) all.throttled_s = throttled->slowed_s;
  return all;
}

std::vector<Repetition> repetitions(const DeviceSamples& device) {
  std::vector<Repetition> repetitions(device.duplex_s.size());
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    repetitions[i].link_bytes = static_cast<double>(device.link_bytes);
    repetitions[i].h2d_s = device.h2d_s[i];
    repetitions[i].d2h_s = device.d2h_s[i];
    repetitions[i].duplex_s = device.duplex_s[i];
    if (device.duplex_h2d_s.empty()) continue;
    repetitions[i].duplex_h2d_s = device.duplex_h2d_s[i];
    repetitions[i].duplex_d2h_s = device.duplex_d2h_s[i];
  }
  if (device.health) repetitions.push_back(counted(*device.health));
  return repetitions;
}

/// Values of a formula for the repetitions with all inputs.
std::vector<double> values(double (*formula)(const Repetition&),
                           const std::vector<Repetition>& repetitions) {
  std::vector<double> values;
  for (const Repetition& one : repetitions) {
    const double value = formula(one);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

}  // namespace

std::string name(const Case& run) {
  std::string name(deck::to_string(run.order));
  if (run.disturbance) name += " + " + std::string(deck::to_string(*run.disturbance));
  if (run.host_work) name += " + host work";
  return name;
}

std::optional<StagingCosts> staging_costs(const Run& run) {
  if (!run.staging || run.samples_s.empty()) return std::nullopt;
  StagingCosts costs = *run.staging;
  const auto repetitions = static_cast<double>(run.repetitions);
  costs.fill_s /= repetitions;
  costs.drain_s /= repetitions;
  return costs;
}

std::int64_t copied_bytes(const Case& run) {
  const schedule::Traffic traffic = schedule::traffic(run.schedule);
  return static_cast<std::int64_t>(traffic.h2d + traffic.d2h);
}

std::optional<double> predicted_s(const Case& run) {
  // Queries alone may take no time; speed-ups would be undefined.
  if (!run.predicted || run.predicted->complete_s <= 0) return std::nullopt;
  return run.predicted->complete_s;
}

std::optional<double> uncertainty(const Case& run) {
  const auto predicted = predicted_s(run);
  if (!run.expected || !predicted) return std::nullopt;
  return (run.expected->hi_s - run.expected->lo_s) / 2 / *predicted;
}

bool as_expected(const Run& run) {
  if (!run.expected || run.samples_s.empty()) return true;
  const double median_s = time_s(run).median;
  return run.expected->lo_s <= median_s && median_s <= run.expected->hi_s;
}

std::optional<double> predicted_speedup(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  const auto seconds = predicted_s(run);
  if (baseline == nullptr || !baseline->predicted || !seconds) return std::nullopt;
  return baseline->predicted->complete_s / *seconds;
}

base::Summary time_s(const Run& run) { return base::summarize(run.samples_s); }

void set_alone(std::vector<Run>& together, const std::vector<Run>& alone) {
  for (Run& run : together) {
    const auto same = std::ranges::find_if(
        alone, [of = name(run)](const Run& other) { return name(other) == of; });
    if (same != alone.end()) run.alone_s = same->samples_s;
  }
}

std::vector<double> values(deck::Metric metric, const Run& run, const std::vector<Run>& runs) {
  const deck::MetricRow& row = deck::row_of(metric);
  if (deck::of_device(row.needs) || row.formula == nullptr) return {};
  return values(row.formula, repetitions(run, runs));
}

std::vector<double> values(deck::Metric metric, const DeviceSamples& device) {
  if (!deck::of_device(deck::row_of(metric).needs)) return {};
  return values(deck::row_of(metric).formula, repetitions(device));
}

std::optional<base::Summary> value(deck::Metric metric, const Run& run,
                                   const std::vector<Run>& runs) {
  const deck::MetricRow& row = deck::row_of(metric);
  if (row.of_all != nullptr) return row.of_all(repetitions(run, runs));
  return base::summary_if_any(values(metric, run, runs));
}

std::optional<base::Summary> predicted(deck::Metric metric, const Run& run,
                                       const std::vector<Run>& runs) {
  const auto time = [](const Run* of) {
    return of != nullptr ? predicted_s(*of).value_or(Repetition::none) : Repetition::none;
  };
  Repetition all = common(run);
  all.time_s = time(&run);
  all.sequential_s = time(baseline_of(run, runs));
  const deck::MetricRow& row = deck::row_of(metric);
  return row.formula == nullptr ? std::nullopt : base::summary_if_any(values(row.formula, {all}));
}

std::optional<base::Summary> value(deck::Metric metric, const DeviceSamples& device) {
  return base::summary_if_any(values(metric, device));
}

std::string value_words(deck::Metric metric, double value) {
  const std::string_view unit = deck::row_of(metric).unit;
  if (unit == "s") return base::format_seconds(value);
  const std::string number = base::format_number(value);
  return unit == "1" ? number : fmt::format("{} {}", number, unit);
}

std::optional<base::Summary> disturbance_loss(const Run& run, const std::vector<Run>& runs) {
  if (!run.disturbance) return std::nullopt;
  return base::summary_if_any(values(
      [](const Repetition& r) { return r.time_s / r.undisturbed_s - 1; }, repetitions(run, runs)));
}

std::optional<base::Summary> flops_per_s(const Run& run) {
  return base::summary_if_any(
      values([](const Repetition& r) { return r.flops / r.time_s; }, repetitions(run, {})));
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

std::optional<double> overlap_potential(const Run& run, const std::vector<Run>& runs) {
  const Run* const baseline = baseline_of(run, runs);
  if (baseline == nullptr || !run.bounds || baseline->samples_s.empty()) return std::nullopt;
  return 1 - run.bounds->bound_s / time_s(*baseline).median;
}

std::optional<base::Summary> shown_efficiency(const Run& run, const std::vector<Run>& runs) {
  const auto potential = overlap_potential(run, runs);
  if (!potential || *potential < least_potential) return std::nullopt;
  return value(deck::Metric::overlap_efficiency, run, runs);
}

}  // namespace overlap::experiment
