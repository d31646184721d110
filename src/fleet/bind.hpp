#pragma once

#include <optional>
#include <string>

/// Binds threads and memory of a rank to a part of its node.
namespace overlap::fleet {

/// Result of a binding; empty `cpus` or `memory`: not bound.
struct Binding {
  std::string cpus = {};    ///< "0-15"
  std::string memory = {};  ///< NUMA nodes, "0"
  int ranks = 1;            ///< that share these CPUs
  std::string note;         ///< reason if something is not bound; empty: no remark
};

/// Binds threads and memory of this process to the NUMA node of the device with this PCI address;
/// the threads to the `part`-th (from 0) of `parts` nearly equal shares of the cores there that the
/// process may use.
Binding bind_to_device(const std::optional<std::string>& pci, int part, int parts);

/// Binds the threads to the `part`-th (from 0) of `parts` nearly equal shares of the cores that the
/// process may use.
Binding bind_to_share(int part, int parts);

}  // namespace overlap::fleet
