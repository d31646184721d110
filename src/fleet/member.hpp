#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/machine.hpp"
#include "experiment/judge.hpp"
#include "fleet/board.hpp"
#include "fleet/world.hpp"
#include "measure/measure.hpp"

/// A rank and the others of its fleet: where it runs, when it works, and how all of them come to
/// one verdict.
namespace overlap::fleet {

/// A rank that gave no sign of life before it was done.
struct Lost {
  int rank = 0;
  std::string host;
};

/// "rank 3 on n1 is lost: it ended early, or gave no sign of life for too long (fleet.deadline)".
std::string words(const Lost& lost);

/// What rank 0 has of all of them.
struct Gathered {
  std::vector<std::string> texts;  ///< of the ranks that are not lost, by ranks
  std::vector<Lost> lost;
};

class Member {
 public:
  /// Starts MPI, and takes a device and cores: to be made before Kokkos starts. Throws what World
  /// and Board throw.
  explicit Member(double deadline_s);
  ~Member();

  int rank() const { return world_.rank(); }
  int size() const { return world_.size(); }
  std::string name() const;  ///< "rank 3 on n1"
  const base::Placement& placement() const { return placement_; }
  /// Why this rank has no device of its own; it takes part no further then.
  const std::optional<base::Error>& unplaced() const { return unplaced_; }
  /// The arguments given for Kokkos, and those that start it on the device and the cores that were
  /// taken. A number of threads that the user has chosen stays.
  std::vector<std::string> kokkos_arguments(std::vector<std::string> given) const;

  /// One phase, which all ranks go through in the same order. `body` measures with the hooks that
  /// it gets; `hooks` shows the progress. Alone: when it is this rank's turn on its node, while the
  /// others sleep. Together: each sample starts at the same time on all ranks of the node, which
  /// copy until the slowest has its own.
  using Body = std::function<experiment::Outcome(const measure::Hooks&)>;
  experiment::Outcome run(deck::Phase phase, const measure::Hooks& hooks, const Body& body);

  /// Passes over phases, until it has been through so many.
  void skip_to(std::size_t phases);

  /// This rank takes part in no more phases.
  void leave() { board_->leave(); }

  /// Brings all texts to rank 0, elsewhere the result is empty. Ranks that give no sign of life are
  /// not waited for.
  Gathered gather(std::string text);
  /// Rank 0's code, on all ranks. Throws base::Error{runtime_error} when rank 0 is lost.
  base::ExitCode conclude(base::ExitCode code);

  /// Whether all ranks came to the end: MPI can end in order only then.
  bool whole() const { return world_.whole(); }

 private:
  using Clock = std::chrono::steady_clock;

  /// One of the ranks, as it introduces itself.
  struct Rank {
    std::string host;
    std::string cpus;  ///< that it may use
    std::vector<base::DeviceInfo> devices;
  };
  /// Tells all ranks where this one is, and finds its place.
  void introduce();
  void take_place(const std::vector<Rank>& ranks);
  void take_device(const std::vector<Rank>& ranks);
  measure::Hooks hooks_of(deck::Phase phase, const measure::Hooks& hooks, const Poll& poll,
                          experiment::Window& window);
  void sign();
  /// Takes in messages, and shows ranks of other nodes now and then that this one lives: rank 0,
  /// or, on rank 0, those that are done and wait for the verdict.
  void tell();
  /// Takes in the messages that have come.
  void receive();
  base::ExitCode rank_0s_code();
  /// Notes who is lost on this node.
  void look_around();
  /// Whether nothing can be expected of the rank any more.
  bool silent(std::size_t rank) const;

  double deadline_s_;
  World world_;
  std::optional<Board> board_;
  base::Placement placement_;
  std::optional<base::Error> unplaced_;
  std::optional<int> threads_;      ///< of the cores that it shares with other ranks
  std::vector<std::string> hosts_;  ///< of all ranks
  std::vector<int> local_;          ///< ranks of this node, by slots of the board

  Clock::time_point signed_;                       ///< when this rank last told the others
  std::vector<Clock::time_point> heard_;           ///< when this rank last heard of each
  std::vector<std::optional<std::string>> texts_;  ///< rank 0: results
  std::vector<bool> lost_;                         ///< of each rank, as far as is known here
  std::optional<std::string> verdict_;             ///< of rank 0
  bool whole_ = false;                             ///< rank 0: nobody is lost, or was taken for it
};

}  // namespace overlap::fleet
