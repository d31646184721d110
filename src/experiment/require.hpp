#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "deck/deck.hpp"

/// Checks the `require` section of a deck.
namespace overlap::experiment {

/// State of the machine right before the runs, with the device awake.
struct Readings {
  base::DeviceInfo device;             ///< on host back ends without the properties of GPUs
  std::optional<int> other_processes;  ///< number computing on the device; empty: unknown
  std::string cpus;                    ///< usable by this process: "0-7,16"
  std::string node_cpus;               ///< of the NUMA node of the device; empty: unknown
  std::vector<std::string> devices;    ///< UUIDs, or PCI addresses, of those that it sees
};

/// "2 (GPU-1a, GPU-2b)"; none: "0".
std::string listed(const std::vector<std::string>& devices);

/// The keys that require something: "require.ecc".
std::vector<std::string> required(const deck::Require& require);

/// Unmet requirements in the order of the deck: "require.ecc: found off; required: on". Unknown
/// properties count as unmet.
std::vector<std::string> unmet(const deck::Require& require, const Readings& readings);

}  // namespace overlap::experiment
