#pragma once

#include <string>

#include "measure/platform.hpp"

/// What Linux knows about a PCI device, whoever made it
/// (https://docs.kernel.org/admin-guide/abi-testing.html, sysfs-bus-pci).
namespace overlap::measure {

/// Empty: unknown.
std::optional<int> numa_node_of(const std::string& pci_bus_id);

/// A monitor that reads the PCIe link alone. `devices` has one folder per PCI address.
Monitor sysfs_monitor(const std::string& pci_bus_id,
                      const std::string& devices = "/sys/bus/pci/devices");

}  // namespace overlap::measure
