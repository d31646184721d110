#pragma once

#include <vector>

#include "timeline/run.hpp"

namespace overlap::model {

/// The bounds of a schedule whose tasks take `own` in its own chunks, and `least` in the best of
/// all chunks that were measured.
timeline::Bounds bounds(const schedule::Schedule& schedule, const timeline::Rates& own,
                        const timeline::Rates& least, const timeline::Engines& engines);

/// Gives every run with rates its bounds, but for those that nothing limits: queries alone.
void add_bounds(std::vector<timeline::Run>& runs, const timeline::Engines& engines);

}  // namespace overlap::model
