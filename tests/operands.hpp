#pragma once

#include <vector>

#include "schedule/schedule.hpp"

/// What tests with and without Kokkos share: workloads to try, and faults planted into what a task
/// uses.
namespace overlap::schedule {

/// Whose data are split into chunks.
inline std::vector<deck::WorkloadKind> chunked_kinds() {
  std::vector<deck::WorkloadKind> kinds;
  for (const deck::WorkloadRow& row : deck::workloads) {
    if (row.split == deck::Split::chunks) kinds.push_back(row.value);
  }
  return kinds;
}

/// Moves the operand to the slot of another.
inline void take_slot(Operand& operand, const Operand& other) {
  operand.slot = other.slot;
  operand.device_begin = other.device_begin;
}

/// Lets the operand be the piece of another, in the slot that it has.
inline void take_piece(Operand& operand, const Operand& other) {
  operand.piece = other.piece;
  operand.begin = other.begin;
  operand.host = other.host;
}

}  // namespace overlap::schedule
