#include "model/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/statistics.hpp"
#include "model/device.hpp"
#include "model/predict.hpp"

namespace overlap::model {
namespace {

using schedule::Schedule;
using schedule::Stage;
using schedule::Task;

struct Work {
  double h2d_bytes = 0;
  double d2h_bytes = 0;
  double kernel_bytes = 0;
  double kernel_s = 0;       ///< of kernels given by their duration
  double kernel_area_s = 0;  ///< kernel_s weighted by the fraction of the device
  double host_s = 0;
};

Work work_of(const Schedule& schedule) {
  Work work;
  for (const Task& task : schedule.tasks) {
    const auto bytes = static_cast<double>(task.bytes);
    if (task.stage == Stage::h2d) work.h2d_bytes += bytes;
    if (task.stage == Stage::d2h) work.d2h_bytes += bytes;
    if (task.stage == Stage::host) work.host_s += task.duration_s;
    if (!schedule::is_kernel(task.stage)) continue;
    work.kernel_bytes += bytes;
    work.kernel_s += task.duration_s;
    work.kernel_area_s += task.duration_s * task.share;
  }
  return work;
}

/// A curve proportional to size.
Curve rate(double bytes, double seconds) {
  return bytes > 0 && seconds > 0 ? Curve({{bytes, seconds}}) : Curve();
}

/// Mutual slow-down of the directions: both are slower while the shorter one lasts; the rest of the
/// longer one runs alone.
double duplex_factor(const Rates& rates) {
  const double shorter = std::min(rates.h2d_s, rates.d2h_s);
  const double longer = std::max(rates.h2d_s, rates.d2h_s);
  if (shorter <= 0) return 1;
  return std::clamp((rates.both_s - (longer - shorter)) / shorter, 1.0, 2.0);
}

/// The schedule on a device with these rates and no overhead. Kernels given by their duration are
/// scaled to the measured time.
struct Ideal {
  Ideal(Schedule scheduled, const Work& work, const Rates& rates, const timeline::Engines& engines)
      : schedule(std::move(scheduled)) {
    device.connections = device.copy_connections = schedule.lanes;
    device.copy_engines = engines.copy_engines;
    device.concurrent_kernels = std::numeric_limits<int>::max();
    device.h2d.pinned = rate(work.h2d_bytes, rates.h2d_s);
    device.d2h.pinned = rate(work.d2h_bytes, rates.d2h_s);
    if (engines.workers > 0) {
      device.queues = Queues::worker;
      device.cores = engines.workers;
    } else {
      const double factor = duplex_factor(rates);
      device.h2d.duplex = slower(device.h2d.pinned, factor);
      device.d2h.duplex = slower(device.d2h.pinned, factor);
    }
    device.kernels[schedule.kernel] = {{{0, rate(work.kernel_bytes, rates.kernel_s)}}};
    schedule.host_memory = deck::HostMemory::pinned;  // copies do not block the host
    for (Task& task : schedule.tasks) {
      if (schedule::is_kernel(task.stage) && work.kernel_s > 0 && rates.kernel_s > 0) {
        task.duration_s *= rates.kernel_s / work.kernel_s;
      }
    }
  }

  /// The longest sum of times of tasks that need each other: those of an operation of a chunk, or
  /// in a list, which has no chunks, those that come after each other.
  double longest_chain_s() const {
    const bool listed = !schedule.names.empty();
    std::map<std::pair<int, int>, double> chains;
    std::vector<double> ends_s(schedule.tasks.size());  // of listed tasks, else 0
    double longest_s = 0;
    for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
      const Task& task = schedule.tasks[id];
      double& end_s = listed ? ends_s[id] : chains[{task.chunk, task.op}];
      for (const schedule::TaskId other : task.after) end_s = std::max(end_s, ends_s[other]);
      if (!schedule::on_host(task.stage)) end_s += seconds_alone(schedule, task, device);
      longest_s = std::max(longest_s, end_s);
    }
    return longest_s;
  }

  Schedule schedule;
  Device device;
};

/// The slower direction, or both if they differ by at most 5 %.
std::string longer_direction(const Rates& rates) {
  constexpr double alike = 0.05;
  if (std::abs(rates.h2d_s - rates.d2h_s) <= alike * std::max(rates.h2d_s, rates.d2h_s)) {
    return "H2D and D2H";
  }
  return rates.h2d_s > rates.d2h_s ? "H2D" : "D2H";
}

}  // namespace

Rates median(const std::vector<Rates>& samples) {
  Rates medians;
  for (const Rate rate : all_rates) {
    std::vector<double> times;
    for (const Rates& sample : samples) {
      if (!std::isnan(sample.*rate)) times.push_back(sample.*rate);
    }
    if (!times.empty()) medians.*rate = base::median(std::move(times));
  }
  return medians;
}

Bounds hardware_bounds(const Schedule& schedule, const Rates& best,
                       const timeline::Engines& engines) {
  const Work work = work_of(schedule);
  // Kernels given by their duration may run concurrently if each fills a fraction of the device.
  const double kernel_share = work.kernel_s > 0 ? work.kernel_area_s / work.kernel_s : 1;
  const double kernels_s = best.kernel_s * kernel_share;
  Bounds bounds;
  bounds.serial_s = best.h2d_s + best.d2h_s + best.kernel_s + work.host_s;
  const auto limit = [&](double copies, const std::string& name) {
    const double most = std::max({copies, kernels_s, work.host_s});
    bounds.limit = most == copies ? name : most == kernels_s ? "SM" : "host";
    return most;
  };
  if (engines.workers > 0) {
    const int parallel = std::min(schedule.lanes, engines.workers);
    const double all_s = best.h2d_s + best.d2h_s + best.kernel_s;
    const double longest_s = Ideal(schedule, work, best, engines).longest_chain_s();
    bounds.bound_s = std::max({all_s / parallel, longest_s, work.host_s});
    bounds.limit = bounds.bound_s > work.host_s ? "workers" : "host";
  } else {
    bounds.one_engine_s = bounds.bound_s = limit(best.h2d_s + best.d2h_s, "copy");
    if (engines.copy_engines > 1) {
      bounds.two_engines_s = bounds.bound_s = limit(best.both_s, longer_direction(best));
    }
  }
  return bounds;
}

Bounds bounds(const Schedule& schedule, const Rates& rates, const Rates& best,
              const timeline::Engines& engines) {
  Bounds bounds = hardware_bounds(schedule, best, engines);
  const Ideal ideal(schedule, work_of(schedule), rates, engines);
  // Not to be interrupted: what was measured would be lost.
  const double ideal_s = predict(ideal.schedule, ideal.device, [] {}).complete_s;
  bounds.schedule_bound_s = std::max(bounds.bound_s, ideal_s);
  return bounds;
}

std::vector<Rate> limiting_rates(const Bounds& bounds) {
  if (bounds.limit == "host") return {};
  if (bounds.limit == "SM") return {&Rates::kernel_s};
  if (bounds.limit == "workers") return {&Rates::h2d_s, &Rates::d2h_s, &Rates::kernel_s};
  if (bounds.limit == "copy") return {&Rates::h2d_s, &Rates::d2h_s};
  return {&Rates::both_s};
}

}  // namespace overlap::model
