#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace overlap::schedule {

/// A defect of a schedule that could give wrong data or never finish.
struct Hazard {
  enum class Kind {
    raw,        ///< reads what may not have been written yet
    war,        ///< overwrites what may still be read
    waw,        ///< overwrites what may still be written
    stale,      ///< ordered, but reads the data of another chunk, or data that nothing wrote
    missing,    ///< an output that no task copies to the host
    malformed,  ///< an index out of range, or a wait for a task that is issued later
  };
  Kind kind;
  TaskId task;  ///< where it shows; the last of all for what is missing
  std::string message;
};
const char* to_string(Hazard::Kind kind);

/// Proves that a schedule is free of hazards, or lists them (at most `most`). It looks only at what
/// each task touches, byte by byte, and at the order that lanes, dependencies and a blocked host
/// guarantee (vector clocks, as race detectors use them); it shares nothing with the builder.
/// Time n log n, memory lanes times tasks in the worst case.
std::vector<Hazard> find_hazards(const Schedule& schedule, std::size_t most = 8);

/// "task 7 (h2d of chunk 3 on lane 1)"; "task 7 (DH1, d2h)" where tasks have names.
std::string describe(const Schedule& schedule, TaskId task);

}  // namespace overlap::schedule
