#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/interrupt.hpp"
#include "model/device.hpp"
#include "schedule/schedule.hpp"

/// How far the figures of a device differed while they were measured, and what follows for
/// predictions.
namespace overlap::model {

/// Combines descriptions of one device that were measured one after the other. Each figure is the
/// median (of an even number the lower one, because a disturbance only adds time); the spread is
/// the median absolute deviation. A figure is doubtful if it deviates by more than 5 % (times below
/// 10 us: 0.5 us). A single pass is returned unchanged.
Device combine(std::vector<Device> passes);

/// Times between which a run is expected, seconds.
struct Interval {
  double lo_s = 0;
  double hi_s = 0;
};

/// The predicted times with all figures of the device at the low and at the high end of their
/// spread, widened by model_error(). Empty if the spread is unknown.
std::optional<Interval> expected(const schedule::Schedule& schedule, const Device& device,
                                 const std::function<void()>& step = base::check_interrupt);

/// Relative error that 90 % of the predictions with undisturbed figures do not exceed: on GPUs, and
/// on hosts, whose workers share caches and memory.
constexpr double model_error(const Device& device) {
  return device.queues == Queues::worker ? 0.15 : 0.08;
}

}  // namespace overlap::model
