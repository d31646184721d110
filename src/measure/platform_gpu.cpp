#include "measure/platform_gpu.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/units.hpp"
#include "lanes/api.hpp"

namespace overlap::measure {

using base::DeviceInfo;

namespace vendor {

std::string uuid_text(std::span<const char, 16> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += {digits[byte / 16], digits[byte % 16]};
  }
  return text;
}

std::optional<int> numa_node_of(std::string pci_bus_id) {
  std::transform(pci_bus_id.begin(), pci_bus_id.end(), pci_bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file("/sys/bus/pci/devices/" + pci_bus_id + "/numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return std::nullopt;
  return node;
}

base::Error cannot_page_lock(std::size_t bytes, const std::string& reason) {
  return base::Error(base::ExitCode::precondition,
                     "cannot page-lock " + base::format_bytes(bytes) + " of host memory: " +
                         reason + " (with memory.host: pageable_staged a ring of slots is enough)");
}

}  // namespace vendor

namespace {

using Api = lanes::ApiOf<Kokkos::DefaultExecutionSpace>::type;

std::optional<DeviceInfo> device(int index) {
  auto device = vendor::identity_of(index);
  if (!device) return std::nullopt;
  vendor::describe(index, *device);
  const Monitor monitor = monitor_of(*device);
  return monitor.describe ? monitor.describe(*device) : device;
}

/// describe(index) of all visible devices; empty for lost ones.
std::vector<DeviceInfo> all_devices(std::optional<DeviceInfo> (*describe)(int index)) {
  std::vector<DeviceInfo> found;
  const int count = vendor::visible().count;
  for (int index = 0; index < count; ++index) {
    found.push_back(describe(index).value_or(DeviceInfo()));
  }
  static_cast<void>(Api::take_last_error());  // of a lost device; Kokkos would report it
  return found;
}

}  // namespace

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> found = all_devices(device);
  std::erase_if(found, [](const DeviceInfo& device) { return device.id().empty(); });
  return found;
}

std::vector<DeviceInfo> visible_devices() { return all_devices(vendor::identity_of); }

void require_device() {
  const auto [count, problem] = vendor::visible();
  if (count > 0) return;
  throw base::Error(base::ExitCode::precondition, std::string("this build runs on ") + Api::vendor +
                                                      " and there is no GPU to use: " + problem);
}

DeviceInfo chosen_device() { return device(vendor::chosen_index()).value_or(DeviceInfo{}); }

Monitor monitor_of(const DeviceInfo& device) {
  return device.pci_bus_id ? vendor::monitor_of(*device.pci_bus_id) : Monitor();
}

}  // namespace overlap::measure
