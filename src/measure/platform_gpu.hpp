#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/machine.hpp"
#include "measure/platform.hpp"

/// How one vendor's runtime knows its GPUs: platform_gpu.cpp makes of it what measure/platform.hpp
/// promises. Nothing here needs the Kokkos runtime but chosen_index().
namespace overlap::measure::vendor {

/// CUDA, HIP.
std::string name();

/// Devices that this process sees; why it sees none.
struct Visible {
  int count = 0;
  std::string problem;
};
Visible visible();

/// Name, UUID, PCI address and NUMA node, without a context on the device. Empty: it is lost.
std::optional<base::DeviceInfo> identity_of(int index);

/// Adds what the runtime knows beyond that.
void describe(int index, base::DeviceInfo& device);

/// The device that Kokkos chose.
int chosen_index();

/// Of the vendor's management library.
Monitor monitor_of(const std::string& pci_bus_id);

// For the vendors' files.

/// "GPU-" and the bytes of a UUID as they are usually written.
std::string uuid_text(std::span<const char, 16> bytes);

/// Of the device at a PCI address.
std::optional<int> numa_node_of(std::string pci_bus_id);

base::Error cannot_page_lock(std::size_t bytes, const std::string& reason);

}  // namespace overlap::measure::vendor
