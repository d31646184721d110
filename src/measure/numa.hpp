#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workload/workload.hpp"

/// The NUMA node that holds the host arrays: `memory.numa`.
namespace overlap::measure {

/// NUMA nodes of the host, ascending; none if the kernel does not tell.
struct NumaNodes {
  std::vector<int> with_memory;
  std::vector<int> with_cpus;  ///< and with memory: not those of a device or of memory alone
};

/// Reads Linux' files
/// (https://docs.kernel.org/admin-guide/abi-stable.html, sysfs-devices-node).
NumaNodes numa_nodes(const std::string& folder = "/sys/devices/system/node");

/// The node that `memory.numa` asks for; `local`: that of the device, empty if unknown. Throws
/// base::Error{precondition} with the place in the deck and the reason.
int wanted_node(const deck::Deck& deck, std::optional<int> local, const NumaNodes& nodes);

/// That node; empty if the deck asks for none. On host back ends local is the node of the CPU that
/// runs this thread.
std::optional<int> wanted_node(const deck::Deck& deck, const base::DeviceInfo& device);

/// The node of the page of an address; empty: unknown.
std::optional<int> node_of(const void* memory);

/// The workload that make() allocates, with the pages of its host arrays on this node. Throws
/// base::Error{precondition} if the kernel does not place them there.
workload::Workload on_node(const deck::Deck& deck, std::optional<int> node,
                           const std::function<workload::Workload()>& make);

}  // namespace overlap::measure
