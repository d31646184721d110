#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/machine.hpp"
#include "experiment/judge.hpp"
#include "fleet/board.hpp"
#include "fleet/world.hpp"
#include "measure/measure.hpp"

/// One rank of a fleet: its placement, its turns, and the common verdict of all ranks.
namespace overlap::fleet {

/// A rank that died or stopped giving signs of life before it was done.
struct Lost {
  int rank = 0;
  std::string node;  ///< "n1", or "n1#2" if its host has the name of another
  base::Node host;
};

/// "rank 3 on n1 is lost: it ended early or gave no sign of life within fleet.deadline".
std::string text_of(const Lost& lost);

/// Results of all ranks, on rank 0.
struct Gathered {
  std::vector<std::string> texts;  ///< of all ranks that are not lost, by rank
  std::vector<Lost> lost;
};

class Member {
 public:
  /// Selects device and cores; must be called before Kokkos is initialized. Throws as
  /// World::exchange() and Board.
  Member(World& world, double deadline_s);

  int rank() const { return world_.rank(); }
  int size() const { return world_.size(); }
  std::string name() const;  ///< "rank 3 on n1"
  const base::Placement& placement() const { return placement_; }
  /// The same for all ranks, and different for those of another fleet.
  const std::string& launch() const { return launch_; }
  /// Why this rank has no device of its own, in which case it does not measure; empty: it has one.
  const std::optional<base::Error>& unplaced() const { return unplaced_; }
  /// Throws base::Error{precondition} on all ranks of a node that has not this number of devices.
  void require_devices(int devices) const;
  /// Adds device and number of threads to the Kokkos arguments. A number of threads that the user
  /// has chosen takes precedence.
  std::vector<std::string> kokkos_arguments(std::vector<std::string> arguments) const;

  /// Runs one phase; all ranks call this for the same phases in the same order. `body` measures
  /// with the hooks that it receives; `hooks` shows progress. Phase alone: the ranks of a node take
  /// turns, the others sleep. Phase together: each sample starts at the same time on all ranks of
  /// the node, and faster ranks copy until the slowest has finished.
  using Body = std::function<results::Point(const measure::Hooks&)>;
  results::Point run(deck::Phase phase, const measure::Hooks& hooks, const Body& body);

  /// Skips phases until `phases` have begun.
  void skip_to(std::size_t phases);

  /// This rank takes part in no further phases.
  void leave() { board_->leave(); }
  /// Receives messages and periodically sends signs of life: to rank 0, or, on rank 0, to the ranks
  /// that are done and wait for the verdict.
  void keep_in_touch();

  /// Collects the texts of all ranks on rank 0; returns an empty result elsewhere. Does not wait
  /// for lost ranks. `can_end`: this process can end regularly, with MPI; if one cannot, none does.
  Gathered gather(std::string text, bool can_end);
  /// Returns the code of rank 0 on all ranks. Throws base::Error{runtime_error} if rank 0 is lost.
  base::ExitCode conclude(base::ExitCode code);

 private:
  using Clock = std::chrono::steady_clock;

  /// Self-description of a rank.
  struct Rank {
    std::string cpus;  ///< usable CPUs
    std::vector<base::DeviceInfo> devices;
  };
  /// Exchanges the descriptions of all ranks and selects the placement of this one.
  void introduce();
  void choose_place(const std::vector<Rank>& ranks);
  struct Claim {
    const base::DeviceInfo* device;  ///< of the ranks
    int rank;
  };
  std::vector<Claim> claim_devices(const std::vector<Rank>& ranks);
  measure::Hooks phase_hooks(deck::Phase phase, const measure::Hooks& hooks, const Poll& poll,
                             experiment::Window& window);
  void sign();
  /// Receives all pending messages.
  void receive();
  base::ExitCode rank_0s_code();
  /// Records which ranks of this node are lost and which are at work.
  void look_around();
  /// Whether the rank is lost or has exceeded this deadline.
  bool silent(std::size_t rank, double deadline_s) const;

  double deadline_s_;
  World& world_;
  std::optional<Board> board_;
  base::Placement placement_;
  std::string launch_;
  std::optional<base::Error> unplaced_;
  std::optional<int> threads_;        ///< threads for its share of the cores; empty: not shared
  bool crowded_ = false;              ///< on a host: more ranks than CPUs share these
  std::vector<base::Node> hosts_;     ///< by rank
  std::vector<std::string> nodes_;    ///< their names, by rank
  std::vector<int> local_;            ///< ranks of this node, by slot of the board
  std::vector<std::string> devices_;  ///< of the ranks of this node; on a host the ranks

  Clock::time_point last_sent_;                    ///< last sign of life sent
  std::vector<Clock::time_point> last_heard_;      ///< last message from each rank
  std::vector<std::optional<std::string>> texts_;  ///< rank 0: results
  std::vector<bool> lost_;                         ///< by rank, as far as known here
  std::optional<std::string> verdict_;             ///< received from rank 0
  bool none_lost_ = false;                         ///< rank 0: none was ever counted as lost
};

}  // namespace overlap::fleet
