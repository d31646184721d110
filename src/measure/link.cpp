#include <algorithm>
#include <array>

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

namespace {

/// Copies of `bytes` in each direction, each with its half of the arrays and a lane.
struct Link {
  Link(std::int64_t size, int ranks)
      : bytes(size), workload(resident_workload(deck_of(size, ranks))) {}

  /// `copies` in one direction or both.
  schedule::Schedule row(bool up, bool down, int copies = 1) const {
    HandSchedule hand(workload);
    for (int i = 0; i < copies; ++i) {
      if (up) hand.add(Stage::h2d, bytes / 4, 0);
      if (down) hand.add(Stage::d2h, bytes / 4, 1);
    }
    return hand.schedule();
  }

  std::int64_t bytes;
  workload::Workload workload;
  Executor executor = Executor(2);

 private:
  /// The memory is checked before it is allocated.
  static deck::Deck deck_of(std::int64_t bytes, int ranks) {
    require_host_memory((on_gpu() ? 2 : 4) * bytes, ranks);
    return plain_deck(2 * bytes);
  }
};

}  // namespace

experiment::DeviceSamples measure_link(std::int64_t bytes, int repetitions, const Hooks& hooks) {
  constexpr std::int64_t least = 64 << 20, most = 1 << 30;
  constexpr std::int64_t row = 256 << 20;  // bytes per row of copies, which amortizes their start
  Link link(std::clamp(bytes, least, most), hooks.ranks);
  const auto copies = static_cast<int>(std::max<std::int64_t>(1, row / link.bytes));
  const schedule::Schedule up = link.row(true, false, copies);
  const schedule::Schedule down = link.row(false, true, copies);
  const schedule::Schedule duplex = link.row(true, true, copies);
  const auto seconds = [&](const schedule::Schedule& schedule) {
    const double time_s =
        link.executor.run(schedule, link.workload, hooks.before_sample).complete_s;
    hooks.after(false);
    return time_s / copies;
  };
  wake(link.executor, up, link.workload);
  experiment::DeviceSamples found{.link_bytes = link.bytes};
  int done = 0;
  const auto once = [&] {
    hooks.show("rates of the link", done++, repetitions + 1);
    return std::array{seconds(up), seconds(down), seconds(duplex)};
  };
  for (const auto& [up_s, down_s, duplex_s] : sample({.samples = repetitions}, once)) {
    found.h2d_s.push_back(up_s);
    found.d2h_s.push_back(down_s);
    found.duplex_s.push_back(duplex_s);
  }
  return found;
}

std::function<void()> copy_load(int ranks) {
  const auto link = std::make_shared<Link>(32 << 20, ranks);
  return [link, copies = link->row(true, true)] { link->executor.run(copies, link->workload); };
}

}  // namespace overlap::measure
