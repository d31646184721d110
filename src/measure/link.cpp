#include <algorithm>
#include <array>

#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"
#include "measure/sampling.hpp"

namespace overlap::measure {

std::int64_t largest_copy(const std::vector<experiment::Run>& runs) {
  std::size_t bytes = 0;
  for (const experiment::Run& run : runs) {
    for (const schedule::Task& task : run.schedule.tasks) {
      if (schedule::is_copy(task.stage)) bytes = std::max(bytes, task.bytes);
    }
  }
  return static_cast<std::int64_t>(bytes);
}

experiment::DeviceSamples measure_link(std::int64_t bytes, int repetitions, const Hooks& hooks) {
  constexpr std::int64_t least = 64 << 20;
  constexpr std::int64_t row = 256 << 20;  // bytes per row of copies, which amortizes their start
  bytes = std::max(bytes, least);
  const auto copies = static_cast<int>(std::max<std::int64_t>(1, row / bytes));
  const deck::Deck deck = plain_deck(2 * bytes);
  require_host_memory((on_gpu() ? 2 : 4) * bytes, hooks.ranks);
  const workload::Workload workload = resident_workload(deck);
  Executor executor(2);
  const auto schedule_of = [&](bool up, bool down) {
    HandSchedule hand(workload);
    for (int i = 0; i < copies; ++i) {  // each direction has its half of the arrays
      if (up) hand.add(Stage::h2d, bytes / 4, 0);
      if (down) hand.add(Stage::d2h, bytes / 4, 1);
    }
    return hand.schedule();
  };
  const schedule::Schedule up = schedule_of(true, false);
  const schedule::Schedule down = schedule_of(false, true);
  const schedule::Schedule duplex = schedule_of(true, true);
  const auto seconds = [&](const schedule::Schedule& schedule) {
    const double time_s = executor.run(schedule, workload, hooks.before_sample).complete_s;
    hooks.after(false);
    return time_s / copies;
  };
  wake(executor, up, workload);
  experiment::DeviceSamples found{.link_bytes = bytes};
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

std::function<void()> copy_load() {
  struct Load {
    explicit Load(const deck::Deck& deck) : workload(resident_workload(deck)) {}
    workload::Workload workload;
    Executor executor = Executor(2);
    schedule::Schedule schedule;
  };
  constexpr std::int64_t bytes = 32 << 20;
  require_host_memory((on_gpu() ? 2 : 4) * bytes);
  const auto load = std::make_shared<Load>(plain_deck(2 * bytes));
  HandSchedule hand(load->workload);
  hand.add(Stage::h2d, bytes / 4, 0);  // each direction has its half of the arrays
  hand.add(Stage::d2h, bytes / 4, 1);
  load->schedule = hand.schedule();
  return [load] { load->executor.run(load->schedule, load->workload); };
}

}  // namespace overlap::measure
