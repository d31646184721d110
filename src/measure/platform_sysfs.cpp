#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>

#include "measure/platform.hpp"

namespace overlap::measure {
namespace {

/// The number at the start of a device's file.
std::optional<double> number_in(std::string pci_bus_id, const std::string& devices,
                                const char* name) {
  std::ranges::transform(pci_bus_id, pci_bus_id.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file(devices + "/" + pci_bus_id + "/" + name);
  double number = 0;
  return file >> number && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<int> numa_node_of(const std::string& pci_bus_id) {
  const auto node = number_in(pci_bus_id, "/sys/bus/pci/devices", "numa_node");
  return node ? std::optional(static_cast<int>(*node)) : std::nullopt;
}

std::optional<int> node_of(const void* memory) {
  int node = 0;  // libnuma would be a further dependency for one call
  const bool succeeded = memory != nullptr && syscall(SYS_get_mempolicy, &node, nullptr, 0, memory,
                                                      MPOL_F_NODE | MPOL_F_ADDR) == 0;
  return succeeded ? std::optional(node) : std::nullopt;
}

Monitor sysfs_monitor(const std::string& pci_bus_id, const std::string& devices) {
  const auto width = [=](const char* name) -> std::optional<int> {
    const auto lanes = number_in(pci_bus_id, devices, name);
    return lanes > 0 ? std::optional(static_cast<int>(*lanes)) : std::nullopt;
  };
  const auto generation = [=](const char* name) -> std::optional<int> {
    // "16.0 GT/s PCIe": 2.5, 5, 8, 16, 32, ... per lane.
    const auto rate = number_in(pci_bus_id, devices, name);
    return rate > 0 ? std::optional(static_cast<int>(std::lround(std::log2(*rate / 2.5))) + 1)
                    : std::nullopt;
  };
  if (!width("current_link_width")) return {};
  return {.describe =
              [=](base::DeviceInfo device) {
                device.pcie_gen = generation("current_link_speed");
                device.pcie_width = width("current_link_width");
                device.pcie_gen_max = generation("max_link_speed");
                device.pcie_width_max = width("max_link_width");
                return device;
              },
          .health =
              [=] {
                return base::Health{.pcie_gen = generation("current_link_speed"),
                                    .pcie_width = width("current_link_width")};
              },
          .throttle_reasons = {},
          .other_processes = {}};
}

}  // namespace overlap::measure
