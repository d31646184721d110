#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Synchronization of the ranks of a node through shared memory, one slot per rank. Every wait has
/// a deadline, counted from the last sign of life of the awaited rank. A rank that has died or
/// exceeds the deadline is lost, and nobody waits for it any more.
namespace overlap::fleet {

/// Called repeatedly while a rank waits.
using Poll = std::function<void()>;

class Board {
 public:
  /// All ranks of a node pass the same name and each its own slot in [0, slots); waits until all
  /// have come. Throws base::Error{runtime_error} if shared memory is not available, or if some
  /// have not come within the deadline (seconds).
  Board(const std::string& name, int slot, int slots, double deadline_s);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// Gives a sign of life; cheap. This and every wait throw base::Error{runtime_error} if the other
  /// ranks already count this rank as lost; waits also throw base::Error{interrupted}.
  void sign();

  /// Starts the next phase. All ranks must go through the same phases.
  void begin_phase();
  /// Number of phases begun.
  std::size_t phases() const { return static_cast<std::size_t>(phase_); }
  /// Waits until all ranks with lower slots have ended this phase.
  void wait_for_turn(const Poll& poll);
  /// Ends the phase for this rank: meetings no longer wait for it.
  void end_phase();
  /// Waits until all ranks have ended the phase.
  void wait_for_all(const Poll& poll);

  /// Barrier of all ranks in this phase.
  void meet(const Poll& poll);
  /// The same for ranks that arrive at about the same time: they leave within microseconds.
  void meet_at_once();
  /// A meeting at which all vote: whether no rank of the phase votes against it.
  bool agree(bool vote, const Poll& poll);

  /// Timing of the last sample on all ranks in this phase, in seconds, from their start_sample()
  /// and stop_sample(). Valid after a meeting that follows stop_sample().
  struct Shared {
    double skew_s = 0;    ///< last start - first start
    double shared_s = 0;  ///< last stop - last start
  };
  void start_sample();
  void stop_sample();
  Shared shared() const;

  /// After this call no rank waits for this one.
  void leave();

  std::vector<int> lost() const;  ///< slots of lost ranks
  /// Slots of the other ranks that have not left and are alive; those that are not are lost.
  std::vector<int> alive();

 private:
  struct Slot;
  Slot& slot(int index) const;
  template <class Done>
  void wait(const Done& done, const Poll& poll);
  bool is_gone(Slot& other);

  int own_slot_;
  int slots_;
  std::int64_t deadline_ns_;
  std::int64_t begin_ns_;
  void* memory_ = nullptr;
  std::int64_t phase_ = 0;     ///< from 1
  std::int64_t meetings_ = 0;  ///< in this phase
};

}  // namespace overlap::fleet
