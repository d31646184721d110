#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/machine.hpp"
#include "measure/platform.hpp"

/// Interface to the runtime of one GPU vendor, on which platform_gpu.cpp implements
/// measure/platform.hpp. Only chosen_index() requires Kokkos to be initialized.
namespace overlap::measure::vendor {

/// Number of visible devices; if 0, the reason.
struct Visible {
  int count = 0;
  std::string problem;
};
Visible visible();

/// Name, UUID, PCI address and NUMA node, without creating a context. Empty: the device is lost.
std::optional<base::DeviceInfo> identity_of(int index);

/// Adds all other properties that the runtime reports.
void describe(int index, base::DeviceInfo& device);

/// Index of the device that Kokkos selected.
int chosen_index();

/// The monitor from the management library of the vendor.
Monitor monitor_of(const std::string& pci_bus_id);

// Helpers for the vendor files.

/// "GPU-" followed by the UUID in the usual notation.
std::string uuid_text(std::span<const char, 16> bytes);

/// NUMA node of the device at a PCI address; empty: unknown.
std::optional<int> numa_node_of(std::string pci_bus_id);

/// The base::Error{precondition} of a failed page lock.
base::Error cannot_page_lock(std::size_t bytes, const std::string& reason);

}  // namespace overlap::measure::vendor
