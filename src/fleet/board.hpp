#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Where the ranks of a node see each other: shared memory with a slot for each. A rank waits for
/// the others with a deadline since their last sign of life; one that has died, or gives no sign
/// for so long, is lost, and nobody waits for it any more.
namespace overlap::fleet {

/// What a rank does while it waits, over and over.
using Poll = std::function<void()>;

class Board {
 public:
  /// The ranks of a node give the same name, one slot each, from 0 to `slots` - 1, and wait until
  /// all have come. Throws base::Error{runtime_error} without shared memory.
  Board(const std::string& name, int slot, int slots, double deadline_s);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// A sign of life; cheap. Throws base::Error{runtime_error} when the others took this rank for
  /// lost; so does every wait.
  void sign();

  /// Begins the next phase. Every rank goes through the same phases, however it ends them.
  void begin_phase();
  std::size_t phases() const { return static_cast<std::size_t>(phase_); }  ///< begun
  /// Waits until the ranks with lower slots have ended this phase.
  void wait_for_turn(const Poll& poll);
  /// Ends the phase: who meets waits for this rank no more.
  void end_phase();
  /// Waits until all have ended it.
  void wait_for_all(const Poll& poll);

  /// Waits until all that are in this phase have come here as often as this rank.
  void meet(const Poll& poll);
  /// The same for ranks that all come at the same time: they leave within microseconds.
  void meet_at_once();

  /// How the ranks that are in this phase shared the time between their own start and stop, in
  /// seconds: to be asked by all of them after the same meeting.
  struct Shared {
    double skew_s = 0;    ///< last start - first start
    double shared_s = 0;  ///< last stop - last start
  };
  void start_sample();
  void stop_sample();
  Shared shared() const;

  /// From now on nobody waits for this rank.
  void leave();

  std::vector<int> lost() const;  ///< slots of lost ranks

 private:
  struct Slot;
  Slot& slot(int index) const;
  template <class Done>
  void wait(const Done& done, const Poll& poll);
  bool is_out(Slot& other);

  std::string name_;
  int own_;
  int slots_;
  std::int64_t deadline_ns_;
  std::int64_t begin_ns_;
  void* memory_ = nullptr;
  std::int64_t phase_ = 0;     ///< from 1 on
  std::int64_t meetings_ = 0;  ///< in this phase
};

}  // namespace overlap::fleet
