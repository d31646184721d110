// Rates of a deck's kernels alone: overlap_bench_kernels DECK... [--set key=value...]
// A line a deck: bytes read and written in device memory by one kernel on the whole resident array,
// its time (median of 11 runs of 20 launches back to back), GB/s.
#include <iostream>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "measure/meter.hpp"
#include "measure/platform.hpp"
#include "schedule/build.hpp"
#include "workload/workload.hpp"

namespace {

using namespace overlap;

void show_rate(const deck::Deck& deck) {
  constexpr int launches = 20;
  constexpr int runs = 11;
  const std::int64_t repeats = deck.workload.intensity.repeats;
  const auto costs = schedule::costs(deck.workload, repeats);
  const auto layout = schedule::layout(deck, costs, std::nullopt);
  auto schedule = schedule::build(costs, layout, deck::Order::sequential, 1);
  const auto copies_and_kernel = schedule;
  std::erase_if(schedule.tasks,
                [](const schedule::Task& task) { return task.stage != schedule::Stage::kernel; });
  schedule.tasks.resize(1);
  schedule.tasks.front().blocking = false;
  schedule.tasks.resize(launches, schedule.tasks.front());

  measure::Executor executor(1);
  auto workload = workload::make(
      deck, costs, schedule::device_bytes(costs, layout, schedule.arrays[0].device_units), repeats);
  workload.generate(0);
  executor.run(copies_and_kernel, workload);
  const double time_s =
      measure::Meter{executor, workload, {.repetitions = runs}}.seconds(schedule) / launches;
  const auto bytes = static_cast<double>(schedule.tasks.front().bytes);
  std::cout << deck.name() << " kernel=" << (workload.kernel.empty() ? "-" : workload.kernel)
            << " columns=" << deck.workload.columns << " bytes=" << bytes << " time_s=" << time_s
            << " gb_per_s=" << bytes / time_s * 1e-9 << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> decks;
  std::vector<std::string> overrides;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--set" && i + 1 < argc) {
      overrides.emplace_back(argv[++i]);
    } else {
      decks.push_back(argument);
    }
  }
  try {
    const measure::Runtime runtime({});
    for (const std::string& path : decks)
      show_rate(deck::load_points(path, overrides).front().deck);
  } catch (const base::Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    return static_cast<int>(error.code());
  }
  return 0;
}
