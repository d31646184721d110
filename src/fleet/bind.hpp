#pragma once

#include <optional>
#include <string>

/// Binds threads and memory of a rank to a part of its node.
namespace overlap::fleet {

/// Result of a binding; empty `cpus` or `memory`: not bound.
struct Binding {
  std::string cpus = {};    ///< "0-15"
  std::string memory = {};  ///< NUMA nodes, "0"
  std::string note;         ///< reason if something is not bound; empty: no remark
};

/// Binds the threads to the `part`-th (from 0) of `parts` nearly equal shares of the cores that the
/// process may use; with `pci`, the address of a device, of those on its NUMA node, and binds the
/// memory to that node.
Binding bind(const std::optional<std::string>& pci, int part, int parts);

}  // namespace overlap::fleet
