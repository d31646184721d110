#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/bounds.hpp"
#include "timeline/run.hpp"

namespace overlap::verdict {

/// What surrounds a run and may slow it down.
struct Environment {
  bool gpu = false;
  timeline::Engines hardware;
  bool launch_blocking = false;        ///< CUDA_LAUNCH_BLOCKING is set to 1
  std::optional<int> max_connections;  ///< CUDA_DEVICE_MAX_CONNECTIONS, if set
  bool tool_loaded = false;            ///< a Kokkos tool, which may fence every kernel
  std::optional<int> pcie_gen, pcie_gen_max;
  std::optional<int> pcie_width, pcie_width_max;
};

/// Why a run hides less than it could.
struct Finding {
  enum class Cause {
    launch_blocking,
    tool_loaded,
    pageable_memory,
    few_lanes,
    default_stream,
    few_connections,
    small_chunks,
    waits,
    one_copy_engine,
    narrow_link,
    kernel_bound,
  };
  Cause cause;
  std::string text;  ///< one line: what, the number that shows it, what to change
};

/// Runs that hide at least this part of what can be hidden need no explanation.
inline constexpr double good_efficiency = 0.9;

/// The causes that the evidence shows, the likeliest first; none for runs that are as good as the
/// hardware allows, and for the baseline.
std::vector<Finding> diagnose(const timeline::Run& run, const std::vector<timeline::Run>& runs,
                              const Environment& environment);

}  // namespace overlap::verdict
