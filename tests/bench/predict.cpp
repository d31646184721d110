// Speed of the simulator: schedules of 10^4, 10^5 and 10^6 tasks of the increment, their time on
// several devices and the memory that the prediction takes above the schedule's own.
#include "model/predict.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "deck/words.hpp"
#include "model/load.hpp"
#include "schedule/build.hpp"

namespace {

using namespace overlap;

/// A value of /proc/self/status in MiB: VmRSS, or VmHWM, the most that VmRSS was.
double memory_mib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == name + ":" && status >> kib) return kib / 1024;
  }
  return 0;
}

/// Makes VmHWM begin anew, without what earlier runs have left to the allocator.
void forget_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

schedule::Schedule increment(deck::Order order, std::int64_t tasks, int lanes) {
  deck::Deck deck;
  deck.chunks.count = tasks / 3;
  deck.workload.elements = tasks / 3 * 65536;
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  return schedule::build(costs, schedule::layout(deck, costs, std::nullopt), order, lanes);
}

void measure(const std::string& name, deck::Order order, int lanes) {
  const model::Device device = model::load_device(name);
  for (const std::int64_t tasks : {10'000, 100'000, 1'000'000}) {
    const schedule::Schedule schedule = increment(order, tasks, lanes);
    double best_s = 1e9;
    double growth_mib = 0;
    for (int run = 0; run < 3; ++run) {
      forget_peak();
      const double before_mib = memory_mib("VmRSS");
      const auto start = std::chrono::steady_clock::now();
      const timeline::Timeline timeline = model::predict(schedule, device);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best_s = std::min(best_s, took.count());
      growth_mib = std::max(growth_mib, memory_mib("VmHWM") - before_mib);
    }
    const auto n = static_cast<double>(schedule.tasks.size());
    fmt::print("{:<28} {:<14} {:>5} {:>8} {:>9.4f} {:>8.0f} {:>9.1f}\n", name,
               deck::to_string(order), lanes, schedule.tasks.size(), best_s, best_s / n * 1e9,
               growth_mib);
  }
}

}  // namespace

int main() {
  try {
    fmt::print("{:<28} {:<14} {:>5} {:>8} {:>9} {:>8} {:>9}\n", "device", "order", "lanes", "tasks",
               "seconds", "ns/task", "MiB more");
    for (const auto order : {deck::Order::depth_first, deck::Order::breadth_first}) {
      measure("h200", order, 16);
      measure("ideal_2copy_delayed_signal", order, 16);
      measure("c2050", order, 16);
      measure("host", order, 16);
    }
  } catch (const base::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
