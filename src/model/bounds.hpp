#pragma once

#include <vector>

#include "timeline/run.hpp"

namespace overlap::model {

/// What executes the tasks of a run.
struct Hardware {
  int copy_engines = 2;  ///< 1: both directions share it
  int workers = 0;       ///< that can work at once, each an engine; 0: a device with engines
};

/// The bounds of a schedule whose tasks take `own` in its own chunks, and `least` in the best of
/// all chunks that were measured.
timeline::Bounds bounds(const schedule::Schedule& schedule, const timeline::Rates& own,
                        const timeline::Rates& least, const Hardware& hardware);

/// Gives every run with rates its bounds.
void add_bounds(std::vector<timeline::Run>& runs, const Hardware& hardware);

}  // namespace overlap::model
