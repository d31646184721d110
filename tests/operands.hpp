#pragma once

#include "schedule/schedule.hpp"

/// For faults planted into what a task uses.
namespace overlap::schedule {

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
