#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace overlap::schedule {

/// A defect of a schedule that could cause wrong data or a deadlock.
struct Hazard {
  enum class Kind {
    raw,        ///< read without waiting for the writer
    war,        ///< overwrite without waiting for a reader
    waw,        ///< overwrite without waiting for the previous writer
    stale,      ///< read of data of another chunk or of unwritten memory, although ordered
    missing,    ///< output that no task copies to the host
    malformed,  ///< invalid index or size, overlapping pieces, or a wait for a later task
  };
  Kind kind;
  TaskId task;  ///< where it was detected; for `missing` the last task
  std::string message;
};
const char* to_string(Hazard::Kind kind);

/// Proves the absence of hazards, or returns up to `most` of them: that different pieces and slots
/// are separate bytes, and that the order that lanes, dependencies and blocking waits guarantee
/// (vector clocks, as in race detectors) suffices for all accesses to one piece or slot. Shares no
/// code with the builder. Schedules with named tasks may leave outputs on the device. Time
/// O(n (log n + lanes)), memory up to lanes * tasks.
std::vector<Hazard> find_hazards(const Schedule& schedule, std::size_t most = 8);

/// "task 7 (h2d of chunk 3 on lane 1)"; "task 7 (DH1, d2h)" where tasks have names.
std::string describe(const Schedule& schedule, TaskId task);

}  // namespace overlap::schedule
