#include <algorithm>

#include "model/figures.hpp"
#include "model/predict.hpp"

namespace overlap::model {
namespace {

/// Of times at one end of their spread: -1 or 1. Positive, since tasks of no given time have a
/// rate.
double factor_at(int end, double spread) { return std::max(1e-9, 1 + end * spread); }

/// The device with all figures at one end of their spread.
Device at_end(Device device, int end) {
  const double slowed = device.kernels_slowed;
  for (const Figure& figure : figures(device)) {
    const double factor = factor_at(end, spread_of(*device.spread, figure.kind));
    if (double* const* number = std::get_if<double*>(&figure.value)) {
      **number *= factor;
    } else {
      Curve& curve = *std::get<Curve*>(figure.value);
      curve = slower(curve, factor);
    }
  }
  device.kernels_slowed = slowed;  // a factor, not a time
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
