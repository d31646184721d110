#pragma once

#include <vector>

#include "model/device.hpp"

namespace overlap::model {

/// Combines descriptions of one device that were measured one after the other. Each figure is its
/// second lowest, because a disturbance only adds time; the spread is half the range of the lowest
/// three. A figure is doubtful if the second lowest differs by more than 5 % (times below 10 us:
/// 0.5 us) from the lowest and from the third, or if physics excludes it: a bandwidth that falls
/// with size by more than 3 %, or copies in both directions at once that are faster than each alone
/// or slower than one after the other. A single pass is returned as it is.
Device combine(const std::vector<Device>& passes);

}  // namespace overlap::model
