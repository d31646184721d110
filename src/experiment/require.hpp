#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "deck/deck.hpp"

/// Whether a machine is what a deck requires.
namespace overlap::experiment {

/// What is known of the machine right before the runs, with the device awake.
struct Readings {
  base::DeviceInfo device;             ///< on host back ends without all that is required of one
  std::optional<int> other_processes;  ///< that compute on the device; empty: unknown
  std::string cpus;                    ///< that this process may use, as a list: "0-7,16"
  std::string node_cpus;               ///< of the device's NUMA node; empty: unknown
};

/// Each requirement that is not met, in the deck's order: "require.ecc: found off; required: on".
/// What is unknown meets none.
std::vector<std::string> unmet(const deck::Require& require, const Readings& readings);

}  // namespace overlap::experiment
