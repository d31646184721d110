#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/machine.hpp"
#include "experiment/run.hpp"

/// Diagnoses why a run hides less than it could.
namespace overlap::experiment {

/// An environment variable with an integer value.
struct Variable {
  std::string name;
  std::int64_t value = 0;
};

/// Conditions that may slow down the runs.
struct Conditions {
  std::optional<base::DeviceInfo> device;  ///< right after the runs, awake; empty: a host back end
  timeline::Engines engines;
  double cores = 0;  ///< of the host that the process may use; 0: unknown
  // Environment variables of the device runtime; empty: not set.
  std::optional<Variable> launch_blocking;  ///< 1: the host waits for every kernel
  std::optional<Variable> max_connections;  ///< number of hardware queues that streams share
  bool tool_loaded = false;                 ///< a Kokkos tool is loaded and may fence every kernel
  double paused_s = 0;                      ///< for which the process was paused
};

/// Overlap efficiency from which a run needs no explanation.
inline constexpr double good_efficiency = 0.9;

/// Drift that is a finding if its whole interval exceeds this.
inline constexpr double least_drift = 0.01;

/// Maximum width of the middle half of steady repetitions, relative to the median time.
inline constexpr double most_steady = 0.15;

/// Names of all causes, most likely first.
std::span<const std::string_view> causes();

/// Whether a cause is the measurement itself: noise, drift, doubtful rates.
bool is_noise(std::string_view cause);

/// Findings of a case, most likely first. Runs with an efficiency of at least `good_efficiency`,
/// and runs in which overlap can save less than `least_potential`, have only few_cores,
/// kernel_bound, busy_cores, below_bound, link_varies, drifting and unsteady, the latter runs also
/// pageable_memory. The baseline and runs without rates have only those from busy_cores on. A pause
/// is a finding of the last run.
std::vector<Finding> diagnose(const Case& measured, const std::vector<Case>& cases,
                              const Conditions& conditions);

}  // namespace overlap::experiment
