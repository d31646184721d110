#include <hip/hip_runtime.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cctype>

#include "measure/platform_gpu.hpp"
#include "measure/platform_rocm_smi.hpp"

namespace overlap::measure {
namespace vendor {
namespace {

/// The UUID bytes of AMD are 16 hexadecimal digits, or "XX" on devices without a UUID.
std::string uuid_of(const hipDeviceProp_t& properties) {
  const std::span<const char, 16> bytes(properties.uuid.bytes);
  const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (std::ranges::all_of(bytes, is_digit)) return "GPU-" + std::string(bytes.begin(), bytes.end());
  return bytes[0] == 'X' && bytes[1] == 'X' ? "" : uuid_text(bytes);
}

}  // namespace

Visible visible() {
  int count = 0;
  const hipError_t code = hipGetDeviceCount(&count);
  if (code != hipSuccess) return {0, hipGetErrorString(code)};
  return {count, count > 0 ? "" : "no device is visible"};
}

std::optional<base::DeviceInfo> identity_of(int index) {
  hipDeviceProp_t properties{};
  if (hipGetDeviceProperties(&properties, index) != hipSuccess) return std::nullopt;
  base::DeviceInfo device;
  device.name = properties.name;
  std::array<char, 32> bus_id{};
  if (hipDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index) == hipSuccess) {
    device.pci_bus_id = bus_id.data();
    device.numa_node = numa_node_of(*device.pci_bus_id);
  }
  device.uuid = uuid_of(properties);
  return device;
}

void describe(int index, base::DeviceInfo& device) {
  hipDeviceProp_t properties{};
  if (hipGetDeviceProperties(&properties, index) != hipSuccess) return;
  // "gfx90a:sramecc+:xnack-". asyncEngineCount of HIP counts queues, not copy engines.
  const std::string architecture = properties.gcnArchName;
  device.compute_capability = architecture.substr(0, architecture.find(':'));
  device.cache_bytes = properties.l2CacheSize;
  device.concurrent_kernels = properties.concurrentKernels != 0;
  device.total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device.ecc = properties.ECCEnabled != 0;
  int before = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  if (hipGetDevice(&before) == hipSuccess && hipSetDevice(index) == hipSuccess) {
    if (hipMemGetInfo(&free, &total) == hipSuccess) {
      device.free_bytes = static_cast<std::int64_t>(free);
    }
    static_cast<void>(hipSetDevice(before));
  }
}

int chosen_index() { return Kokkos::HIP().hip_device(); }

Monitor monitor_of(const std::string& pci_bus_id) { return rocm_smi_monitor(pci_bus_id); }

}  // namespace vendor

void add_toolkit(base::BuildInfo& build) {
  build.hip_toolkit = std::to_string(HIP_VERSION_MAJOR) + "." + std::to_string(HIP_VERSION_MINOR);
}

Variables variables() { return {"HIP_LAUNCH_BLOCKING", "GPU_MAX_HW_QUEUES"}; }

std::optional<bool> page_locked(const void* memory) {
  hipPointerAttribute_t attributes{};
  if (hipPointerGetAttributes(&attributes, memory) == hipSuccess) {
    return attributes.type == hipMemoryTypeHost;
  }
  static_cast<void>(hipGetLastError());  // no later check must report it
  return std::nullopt;
}

std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes) {
  const hipError_t code = hipHostRegister(memory, bytes, hipHostRegisterDefault);
  if (code == hipSuccess) {
    return {memory, [](void* locked) { static_cast<void>(hipHostUnregister(locked)); }};
  }
  static_cast<void>(hipGetLastError());  // no later check must report it
  throw vendor::cannot_page_lock(bytes, hipGetErrorString(code));
}

}  // namespace overlap::measure
