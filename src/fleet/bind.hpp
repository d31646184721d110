#pragma once

#include <optional>
#include <string>

/// Binding a rank's threads and memory to a part of its node.
namespace overlap::fleet {

/// What was done, in words; `cpus` and `memory` empty: not bound.
struct Binding {
  std::string cpus;    ///< "0-15"
  std::string memory;  ///< NUMA nodes, "0"
  std::string note;    ///< why not, or why not to all; empty: nothing to say
};

/// Threads and memory of this process go to the NUMA node of the device at this PCI address, as far
/// as the process may use it.
Binding bind_to_device(const std::optional<std::string>& pci);

/// Its threads get the `part`-th of `parts` equal parts of the cores that it may use.
Binding bind_to_share(int part, int parts);

}  // namespace overlap::fleet
