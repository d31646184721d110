#include <algorithm>
#include <cmath>
#include <utility>

#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"
#include "measure/sampling.hpp"

namespace overlap::measure {

std::int64_t largest_copy(const std::vector<experiment::Run>& runs) {
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
  return static_cast<std::int64_t>(bytes);
}

/// Copies of `bytes` in each direction, each with its half of the arrays and a lane.
struct LinkMeter::Link {
  Link(std::int64_t size, int ranks, Executor lanes)
      : bytes(size),
        workload(resident_workload(deck_of(size, ranks))),
        executor(std::move(lanes)) {}

  /// `copies` in each direction, of this fraction of `bytes`.
  schedule::Schedule row(double up, double down, std::int64_t copies = 1) const {
    const auto units = [&](double part) {
      return std::llround(part * static_cast<double>(bytes / 4));
    };
    HandSchedule hand(workload);
    for (std::int64_t i = 0; i < copies; ++i) {
      if (up > 0) hand.add(Stage::h2d, units(up), 0);
      if (down > 0) hand.add(Stage::d2h, units(down), up > 0 ? 1 : 0);
    }
    return hand.schedule();
  }

  /// Seconds per lane of copies of all `bytes` at the rates of this row.
  std::vector<double> seconds(double up, double down) {
    constexpr std::int64_t row_bytes = 256 << 20;  // amortizes the start of a row
    const std::int64_t copies = std::max<std::int64_t>(1, row_bytes / bytes);
    std::vector<double> lane_s;
    executor.run(row(up, down, copies), workload, hooks.before_sample, &lane_s);
    for (double& time_s : lane_s) time_s /= static_cast<double>(copies);
    if (up > 0) lane_s.front() /= up;
    if (down > 0) lane_s.back() /= down;
    return lane_s;
  }

  std::int64_t bytes;
  workload::Workload workload;
  Executor executor;
  Hooks hooks = {};
  double up_part = 1, down_part = 1;  ///< of `bytes`: take both directions the same time
  std::int64_t samples = 0;

 private:
  /// The memory is checked before it is allocated.
  static deck::Deck deck_of(std::int64_t bytes, int ranks) {
    require_host_memory((on_gpu() ? 2 : 4) * bytes, ranks);
    return plain_deck(2 * bytes);
  }
};

LinkMeter::LinkMeter(std::int64_t bytes, const Hooks& hooks, Executor lanes)
    : link_(std::make_unique<Link>(
          std::clamp<std::int64_t>(bytes, std::int64_t{64} << 20, std::int64_t{1} << 30),
          hooks.ranks, std::move(lanes))) {
  link_->hooks = hooks;
  wake(link_->executor, link_->row(1, 1), link_->workload);
  experiment::DeviceSamples warm_up;
  link_->hooks.before_sample = nullptr;  // other ranks do not wait for the warm-up
  link_->hooks.after_sample = nullptr;
  add_sample(warm_up);
  link_->hooks = hooks;
  link_->samples = 0;
}

LinkMeter::~LinkMeter() = default;

void LinkMeter::add_sample(experiment::DeviceSamples& device) {
  Link& link = *link_;
  device.link_bytes = link.bytes;
  const auto measured = [&](double up, double down) {
    base::check_interrupt();
    auto lane_s = link.seconds(up, down);
    link.hooks.after(false);
    return lane_s;
  };
  const double h2d_s = measured(1, 0).front();
  const double d2h_s = measured(0, 1).front();
  const std::vector<double> duplex_s = measured(link.up_part, link.down_part);
  const double up_s = duplex_s.front(), down_s = duplex_s.back();
  const auto add = [&](std::vector<double>& list, double value) {
    experiment::add_thinned(list, value, link.samples, experiment::most_kept);
  };
  add(device.h2d_s, h2d_s);
  add(device.d2h_s, d2h_s);
  add(device.duplex_s, 2 / (1 / up_s + 1 / down_s));
  add(device.duplex_h2d_s, up_s);
  add(device.duplex_d2h_s, down_s);
  ++link.samples;
  link.up_part = std::min(1.0, down_s / up_s);
  link.down_part = std::min(1.0, up_s / down_s);
}

std::function<void()> copy_load(int ranks) {
  const auto link = std::make_shared<LinkMeter::Link>(32 << 20, ranks, Executor(2));
  return [link, copies = link->row(1, 1)] { link->executor.run(copies, link->workload); };
}

}  // namespace overlap::measure
