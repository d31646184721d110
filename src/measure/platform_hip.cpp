#include <algorithm>
#include <cctype>

#include "measure/platform_gpu.hpp"

namespace overlap::measure {
namespace vendor {

/// The UUID bytes of AMD are 16 hexadecimal digits, or "XX" on devices without a UUID.
std::string uuid_of(const hipDeviceProp_t& properties) {
  const std::span<const char, 16> bytes(properties.uuid.bytes);
  const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (std::ranges::all_of(bytes, is_digit)) return "GPU-" + std::string(bytes.begin(), bytes.end());
  return bytes[0] == 'X' && bytes[1] == 'X' ? "" : uuid_text(bytes);
}

void describe(const hipDeviceProp_t& properties, base::DeviceInfo& device) {
  // "gfx90a:sramecc+:xnack-". asyncEngineCount of HIP counts queues, not copy engines.
  const std::string architecture = properties.gcnArchName;
  device.compute_capability = architecture.substr(0, architecture.find(':'));
}

int chosen_index() { return Kokkos::HIP().hip_device(); }

Monitor monitor_of(const std::string&) { return {}; }

}  // namespace vendor

void add_toolkit(base::BuildInfo& build) {
  build.hip_toolkit = std::to_string(HIP_VERSION_MAJOR) + "." + std::to_string(HIP_VERSION_MINOR);
}

Variables variables() { return {"HIP_LAUNCH_BLOCKING", "GPU_MAX_HW_QUEUES"}; }

}  // namespace overlap::measure
