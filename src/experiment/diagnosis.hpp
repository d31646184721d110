#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/machine.hpp"
#include "experiment/run.hpp"

/// Why a run hides less than it could.
namespace overlap::experiment {

/// An environment variable that is set to a number.
struct Variable {
  std::string name;
  std::int64_t value = 0;
};

/// What surrounds the runs and may slow them down.
struct Conditions {
  std::optional<base::DeviceInfo> device;  ///< right after the runs, awake; empty: a host back end
  timeline::Engines engines;
  // Of the device's runtime; empty: not set.
  std::optional<Variable> launch_blocking;  ///< 1: the host waits for every kernel
  std::optional<Variable> max_connections;  ///< queues that streams share
  bool tool_loaded = false;                 ///< a Kokkos tool, which may fence every kernel
};

/// Runs that hide at least this part of what can be hidden need no explanation.
inline constexpr double good_efficiency = 0.9;

/// Times that certainly drift by more than this part are a finding.
inline constexpr double least_drift = 0.01;

/// The names of all causes, the likeliest first.
std::span<const std::string_view> causes();

/// The causes that the evidence shows, the likeliest first. Runs that are as good as the hardware
/// allows, and the baseline, have none but drift.
std::vector<Finding> diagnose(const Run& run, const std::vector<Run>& runs,
                              const Conditions& conditions);

}  // namespace overlap::experiment
