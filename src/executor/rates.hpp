#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/statistics.hpp"
#include "executor/executor.hpp"
#include "executor/platform.hpp"
#include "model/bounds.hpp"
#include "timeline/run.hpp"

namespace overlap::executor {

/// Measures stages alone and together, with the tasks of real schedules.
template <class Space>
class RateMeter {
 public:
  /// On host back ends with the lanes that runs have, elsewhere with two.
  RateMeter(Executor<Space>& executor, const workload::Workload<Space>& workload)
      : executor_(executor), workload_(workload) {}

  timeline::Rates measure(const schedule::Schedule& schedule) {
    using schedule::Stage;
    timeline::Rates rates;
    rates.h2d_s = seconds(schedule, {{Stage::h2d, 1}});
    rates.kernel_s = seconds(schedule, {{Stage::kernel, 1}});
    rates.d2h_s = seconds(schedule, {{Stage::d2h, 1}});
    if constexpr (workload::is_host<Space>) return rates;
    // Of kernels that fill the device, one begins where another's last blocks leave room.
    const bool by_size = std::none_of(
        schedule.tasks.begin(), schedule.tasks.end(),
        [](const auto& task) { return schedule::is_kernel(task.stage) && task.duration_s > 0; });
    if (by_size) {
      const double two = seconds(schedule, {{Stage::kernel, 1}, {Stage::kernel, 1}});
      rates.kernel_s = std::min(rates.kernel_s, two / 2);
    }
    rates.both_s = rates.h2d_s + rates.d2h_s;
    if (rates.h2d_s > 0 && rates.d2h_s > 0) {
      const double together = seconds(schedule, {{Stage::h2d, 1}, {Stage::d2h, 1}});
      rates.both_s = std::clamp(together, std::max(rates.h2d_s, rates.d2h_s), rates.both_s);
    }
    rates.kernel_beside_copies = beside_copies(schedule, rates);
    return rates;
  }

 private:
  /// Stages and how often each one's tasks are repeated.
  using Stages = std::vector<std::pair<schedule::Stage, int>>;

  /// The tasks of the stages, each entry's in a lane of its own, back to back.
  static schedule::Schedule rows(const schedule::Schedule& schedule, const Stages& stages,
                                 int times) {
    schedule::Schedule rows = schedule;
    rows.tasks.clear();
    rows.names.clear();
    rows.mechanism = deck::Mechanism::streams;
    rows.lanes = static_cast<int>(stages.size());
    // Issued in turn, so that the lanes start together.
    std::vector<std::vector<schedule::Task>> lanes(stages.size());
    std::size_t longest = 0;
    for (std::size_t lane = 0; lane < stages.size(); ++lane) {
      const auto& [stage, repeats] = stages[lane];
      for (int i = 0; i < repeats * times; ++i) {
        for (schedule::Task task : schedule.tasks) {
          const bool default_stream = task.stage == schedule::Stage::default_stream;
          if ((default_stream ? schedule::Stage::kernel : task.stage) != stage) continue;
          task.lane = static_cast<int>(lane);
          task.after.clear();
          task.blocking = false;
          lanes[lane].push_back(std::move(task));
        }
      }
      longest = std::max(longest, lanes[lane].size());
    }
    for (std::size_t i = 0; i < longest; ++i) {
      for (auto& lane : lanes) {
        if (i < lane.size()) rows.tasks.push_back(std::move(lane[i]));
      }
    }
    return rows;
  }

  /// What the rows take, by the difference of twice as long ones run in turn with them: what a run
  /// costs beside its tasks falls out. Long rows are not worth it.
  double seconds(const schedule::Schedule& schedule, const Stages& stages) {
    const schedule::Schedule once = rows(schedule, stages, 1);
    if (once.tasks.empty()) return 0;
    const schedule::Schedule twice = rows(schedule, stages, 2);
    const auto run = [&](const schedule::Schedule& rows) {
      base::check_interrupt();
      return executor_.run(rows, workload_).complete_s;
    };
    constexpr double long_s = 50e-3;
    const bool is_long = run(once) > long_s;  // and warms up
    std::vector<double> times;
    std::vector<double> differences;
    const int pairs = is_long ? 3 : workload::is_host<Space> ? 5 : 9;
    for (int i = 0; i < pairs; ++i) {
      times.push_back(run(once));
      if (!is_long) differences.push_back(run(twice) - times.back());
    }
    const double time = base::summarize(std::move(times)).median;
    if (is_long) return time;
    const double more = base::summarize(std::move(differences)).median;
    return more > 0 ? std::min(time, more) : time;
  }

  /// By how much kernels take longer while copies run beside them all the time; empty where one of
  /// the two lasts too long to repeat the other beside it.
  std::optional<double> beside_copies(const schedule::Schedule& schedule,
                                      const timeline::Rates& rates) {
    constexpr double most = 64;
    if (rates.kernel_s <= 0 || rates.h2d_s <= 0) return std::nullopt;
    // Kernels outlast the copies a little.
    const double ratio = rates.h2d_s / rates.kernel_s;
    if (ratio > most || ratio < 1 / most) return std::nullopt;
    using schedule::Stage;
    const int kernels = std::max(1, static_cast<int>(std::lround(1.2 * std::max(1.0, ratio))));
    const int copies = std::max(1, static_cast<int>(std::lround(1 / std::max(ratio, 1.0 / most))));
    const double alone = seconds(schedule, {{Stage::kernel, kernels}});
    const double beside = seconds(schedule, {{Stage::kernel, kernels}, {Stage::h2d, copies}});
    const double covered = std::min(alone, copies * rates.h2d_s);
    return std::max(1.0, 1 + (beside - alone) / covered);
  }

  Executor<Space>& executor_;
  const workload::Workload<Space>& workload_;
};

/// Gives every run the rates of its stages; runs whose chunks are alike share them. One whose
/// kernels move the data themselves has those of the first that copies, if there is one. What the
/// runs left in the arrays is lost.
template <class Space>
void measure_rates(Executor<Space>& executor, const workload::Workload<Space>& workload,
                   std::vector<timeline::Run>& runs) {
  std::map<std::tuple<int, std::int64_t, std::size_t, int>, timeline::Rates> known;
  RateMeter<Space> meter(executor, workload);
  workload.generate(0);
  for (timeline::Run& run : runs) {
    const schedule::Schedule& schedule = run.schedule;
    if (schedule.transfer == deck::Transfer::zero_copy) continue;
    const auto shape = std::tuple(schedule.chunks, schedule.chunk_units, schedule.tasks.size(),
                                  timeline::host_tiles(schedule));
    auto rates = known.find(shape);
    if (rates == known.end()) rates = known.emplace(shape, meter.measure(schedule)).first;
    run.rates = rates->second;
  }
  const auto copies = std::find_if(runs.begin(), runs.end(),
                                   [](const timeline::Run& run) { return run.rates.has_value(); });
  if (copies == runs.end()) return;
  for (timeline::Run& run : runs) {
    if (!run.rates) run.rates = copies->rates;
  }
}

/// What executes tasks here, on so many lanes.
template <class Space>
timeline::Engines hardware(const std::optional<base::DeviceInfo>& device, int lanes) {
  timeline::Engines hardware;
  if (device) hardware.copy_engines = std::clamp(device->copy_engines.value_or(2), 1, 2);
  // Lanes of a threaded back end share its threads out; lanes of others share the cores.
  if (workload::is_host<Space>) {
    const int threads = Space().concurrency();
    hardware.workers =
        threads > 1 ? std::min({lanes, threads, base::usable_cpus()}) : base::usable_cpus();
  }
  return hardware;
}

}  // namespace overlap::executor
