#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Ranks of a parallel launch, as launchers say in the environment, without MPI.
namespace overlap::base {

/// A launcher and its environment variables; empty: it sets none.
struct Launcher {
  std::string_view name;
  std::string_view rank;
  std::string_view size;
  std::string_view local_rank;  ///< number of the rank on its node
  std::string_view local_size;  ///< ranks on the node; Slurm: a list by node
  std::string_view launch;      ///< the same for all ranks, and another for the next launch
};

/// Launchers that others may start come first: their ranks are those of the innermost launch.
inline constexpr auto launchers = std::to_array<Launcher>({
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "", "FLUX_JOB_ID"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"MVAPICH2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE", ""},
    {"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
     "JSM_NAMESPACE_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"HPE PALS", "PALS_RANKID", "", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", "PALS_APID"},
    {"MPICH, Intel MPI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ""},
    {"Cray PMI", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", ""},
    {"PMIx", "PMIX_RANK", "", "", "", "PMIX_NAMESPACE"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
     "SLURM_STEP_ID"},
});

/// The place of this process in its launch; empty: unknown.
struct Launch {
  std::optional<int> rank, ranks, local_rank, local_ranks;
  std::string id;  ///< as Launcher::launch

  /// Whether any of these shows that there is more than one rank.
  bool several() const { return ranks > 1 || rank > 0 || local_ranks > 1 || local_rank > 0; }
  /// "4 ranks", or "several ranks".
  std::string label() const;
};

/// The first launcher with a rank, completed by others that give the same rank and size.
Launch launch();

/// A host name and the boot id of its kernel; empty: unknown.
using Node = std::pair<std::string, std::string>;

/// The host names, one per node: of nodes that share a name, those after the first in the order of
/// their boot ids end in "#2", "#3".
std::vector<std::string> node_names(const std::vector<Node>& nodes);

}  // namespace overlap::base
