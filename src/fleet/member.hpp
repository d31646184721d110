#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/machine.hpp"
#include "experiment/judge.hpp"
#include "fleet/meetings.hpp"
#include "measure/hooks.hpp"

/// One rank of a fleet: its placement, its turns, and the common verdict of all ranks.
namespace overlap::fleet {

class Member {
 public:
  /// Selects device and cores; must be called before Kokkos is initialized. `when_lost` gets the
  /// text about a lost rank, on rank 0, as soon as it is lost. Throws as Meetings::exchange().
  Member(Meetings& meetings, double deadline_s,
         const std::function<void(const std::string&)>& when_lost);

  int rank() const { return meetings_.rank(); }
  int size() const { return meetings_.size(); }
  std::string name() const { return name_of(rank()); }  ///< "rank 3 on n1"
  const base::Node& host_of(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }
  std::string loss(int rank) const;  ///< "rank 3 on n1 is lost: …"
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
  void skip_to(std::int64_t phases);

  /// Returns the texts of all ranks on rank 0, by rank; empty: of a lost one.
  std::vector<std::string> gather(const std::string& text);
  /// Returns the code of rank 0 on all ranks. Throws base::Error{runtime_error} if rank 0 is lost.
  /// `can_end`: this process can end regularly, with MPI; if one cannot, none does.
  base::ExitCode conclude(base::ExitCode code, bool can_end);

 private:
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
  const std::string& node_of(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  std::string name_of(int rank) const;

  measure::Hooks phase_hooks(deck::Phase phase, const measure::Hooks& hooks,
                             experiment::RankWindow& window);
  void end_phase();
  /// Gives a sign of life. Throws base::Error{runtime_error} if the others continue without it.
  void sign();
  /// Meetings::hear(), which also throws as sign() and base::Error{interrupted}.
  void wait(const Ranks& ranks, Meeting meeting, const Poll& poll);
  /// The next meeting of the node's ranks in a phase. Returns the words of those that came to it.
  std::vector<std::string> meet(const Poll& poll, const std::string& word = "");

  Meetings& meetings_;
  double deadline_s_;
  base::Placement placement_;
  std::string launch_;
  std::optional<base::Error> unplaced_;
  std::optional<int> threads_;        ///< threads for its share of the cores; empty: not shared
  bool crowded_ = false;              ///< on a host: more ranks than CPUs share these
  std::vector<base::Node> hosts_;     ///< by rank
  std::vector<std::string> nodes_;    ///< their names, by rank
  Ranks local_;                       ///< of this node
  Ranks neighbors_;                   ///< the same without this one
  std::vector<std::string> devices_;  ///< of the ranks of this node; on a host the ranks

  /// What this rank does while it waits in a phase. Kept after an error: nothing on a lost device
  /// can be freed.
  Poll poll_;
  std::int64_t phase_ = 0;     ///< the last that has begun, from 1
  Meeting meeting_ = 0;        ///< the last in it
  std::int64_t start_ns_ = 0;  ///< of the last sample
};

}  // namespace overlap::fleet
