#include <algorithm>

#include "model/predict.hpp"

namespace overlap::model {
namespace {

/// Of times at one end of their spread: -1 or 1. Positive, since tasks of no given time have a
/// rate.
double factor_at(int end, double spread) { return std::max(1e-9, 1 + end * spread); }

/// The device with all figures at one end of their spread.
Device at_end(Device device, int end) {
  const auto factor = [&](double spread) { return factor_at(end, spread); };
  const Spread spread = *device.spread;
  for (Copies* copies : {&device.h2d, &device.d2h}) {
    for (Curve* curve : {&copies->pinned, &copies->pageable, &copies->duplex, &copies->lines}) {
      *curve = slower(*curve, factor(spread.copies));
    }
  }
  device.zero_copy = slower(device.zero_copy, factor(spread.copies));
  for (auto& [name, kernel] : device.kernels) {
    for (Roof& roof : kernel.roofs) roof.time = slower(roof.time, factor(spread.kernels));
  }
  device.host = slower(device.host, factor(spread.calls));
  for (const auto delay : latencies) device.latency.*delay *= factor(spread.calls);
  return device;
}

/// The schedule with the kernels of a task list, whose times are given, at one end.
schedule::Schedule at_end(schedule::Schedule schedule, int end, double spread) {
  for (schedule::Task& task : schedule.tasks) {
    if (schedule::is_kernel(task.stage)) task.duration_s *= factor_at(end, spread);
  }
  return schedule;
}

}  // namespace

std::optional<Interval> expected(const schedule::Schedule& schedule, const Device& device,
                                 const std::function<void()>& step) {
  if (!device.spread) return std::nullopt;
  const auto end_s = [&](int end) {
    return predict(at_end(schedule, end, device.spread->kernels), at_end(device, end), step)
        .complete_s;
  };
  const double low_s = end_s(-1), high_s = end_s(1);
  const double own = own_error(device);
  return Interval{(1 - own) * std::min(low_s, high_s), (1 + own) * std::max(low_s, high_s)};
}

}  // namespace overlap::model
