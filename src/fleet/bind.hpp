#pragma once

#include <optional>
#include <string>

#include "base/machine.hpp"

namespace overlap::fleet {

/// Binds the threads to the `part`-th (from 0) of `parts` nearly equal shares of the cores that the
/// process may use; with `pci`, the address of a device, of those on its NUMA node, and binds the
/// memory to that node. Stores in `place` what was bound; returns the reason if something was not.
std::string bind(base::Placement& place, const std::optional<std::string>& pci, int part,
                 int parts);

}  // namespace overlap::fleet
