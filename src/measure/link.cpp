#include <algorithm>
#include <cmath>
#include <utility>

#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"
#include "measure/sampling.hpp"

namespace overlap::measure {

std::int64_t link_bytes(const std::vector<experiment::Run>& runs) {
  // The baseline copies all data at once.
  const auto in_chunks = [](const experiment::Run& run) {
    return run.order != deck::Order::sequential;
  };
  const bool baseline_alone = std::ranges::none_of(runs, in_chunks);
  std::size_t bytes = 0;
  for (const experiment::Run& run : runs) {
    if (!baseline_alone && !in_chunks(run)) continue;
    for (const schedule::Task& task : run.schedule.tasks) {
      if (schedule::is_copy(task.stage)) bytes = std::max(bytes, task.bytes);
    }
  }
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes), 64 << 20, 1 << 30);
}

namespace {

/// Arrays for copies of `bytes` in both directions; the memory is checked before it is allocated.
workload::Workload arrays_of(std::int64_t bytes, int ranks) {
  require_host_memory((on_gpu() ? 2 : 4) * bytes, ranks);
  return resident_workload(plain_deck(2 * bytes));
}

}  // namespace

LinkMeter::LinkMeter(std::int64_t bytes, const Hooks& hooks, Executor lanes)
    : bytes_(bytes), workload_(arrays_of(bytes, hooks.ranks)), executor_(std::move(lanes)) {
  wake(executor_, row(1, 1, 1), workload_);
  experiment::DeviceSamples warm_up;
  add_sample(warm_up);
  hooks_ = hooks;  // other ranks do not wait for the warm-up
  samples_ = 0;
}

schedule::Schedule LinkMeter::row(double up, double down, std::int64_t copies) const {
  const auto units = [&](double part) {
    return std::llround(part * static_cast<double>(bytes_ / 4));
  };
  HandSchedule hand(workload_);
  for (std::int64_t i = 0; i < copies; ++i) {
    if (up > 0) hand.add(Stage::h2d, units(up), 0);
    if (down > 0) hand.add(Stage::d2h, units(down), up > 0 ? 1 : 0);
  }
  return hand.schedule();
}

void LinkMeter::copy() { executor_.run(row(1, 1, 1), workload_); }

std::vector<double> LinkMeter::seconds(double up, double down) {
  constexpr std::int64_t row_bytes = 256 << 20;  // amortizes the start of a row
  const std::int64_t copies = std::max<std::int64_t>(1, row_bytes / bytes_);
  base::check_interrupt();
  std::vector<double> lane_s;
  executor_.run(row(up, down, copies), workload_, hooks_.before_sample, &lane_s);
  hooks_.after(false);
  for (double& time_s : lane_s) time_s /= static_cast<double>(copies);
  if (up > 0) lane_s.front() /= up;
  if (down > 0) lane_s.back() /= down;
  return lane_s;
}

void LinkMeter::add_sample(experiment::DeviceSamples& device) {
  device.link_bytes = bytes_;
  const double h2d_s = seconds(1, 0).front();
  const double d2h_s = seconds(0, 1).front();
  const std::vector<double> duplex_s = seconds(up_part_, down_part_);
  const double up_s = duplex_s.front(), down_s = duplex_s.back();
  const auto add = [&](std::vector<double>& list, double value) {
    experiment::add_thinned(list, value, samples_, experiment::most_kept);
  };
  add(device.h2d_s, h2d_s);
  add(device.d2h_s, d2h_s);
  add(device.duplex_s, 2 / (1 / up_s + 1 / down_s));
  add(device.duplex_h2d_s, up_s);
  add(device.duplex_d2h_s, down_s);
  ++samples_;
  up_part_ = std::min(1.0, down_s / up_s);
  down_part_ = std::min(1.0, up_s / down_s);
}

}  // namespace overlap::measure
