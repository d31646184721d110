#pragma once

#include <vector>

#include "model/device.hpp"

namespace overlap::model {

/// Combines descriptions of one device that were measured one after the other. Each figure is the
/// median (of an even number the lower one, because a disturbance only adds time); the spread is
/// the median absolute deviation. A figure is doubtful if it deviates by more than 5 % (times below
/// 10 us: 0.5 us). A single pass is returned unchanged.
Device combine(std::vector<Device> passes);

}  // namespace overlap::model
