#include <cuda_runtime.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <memory>

#include "base/error.hpp"
#include "base/units.hpp"
#include "measure/platform_nvml.hpp"

namespace overlap::measure {

using base::DeviceInfo;

namespace {

std::optional<int> numa_node_of(std::string pci_bus_id) {
  std::transform(pci_bus_id.begin(), pci_bus_id.end(), pci_bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file("/sys/bus/pci/devices/" + pci_bus_id + "/numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return std::nullopt;
  return node;
}

/// Its name, UUID and PCI address, which are known without a context on it.
std::optional<DeviceInfo> identity_of(int index, cudaDeviceProp& properties) {
  if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) return std::nullopt;
  DeviceInfo info;
  info.name = properties.name;
  info.uuid = "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(properties.uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) info.uuid += '-';
    info.uuid += {digits[byte / 16], digits[byte % 16]};
  }
  std::array<char, 32> bus_id{};
  if (cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index) == cudaSuccess) {
    info.pci_bus_id = bus_id.data();
    info.numa_node = numa_node_of(*info.pci_bus_id);
  }
  return info;
}

std::optional<DeviceInfo> cuda_device(int index) {
  cudaDeviceProp properties{};
  auto known = identity_of(index, properties);
  if (!known) return std::nullopt;
  DeviceInfo& info = *known;
  info.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.copy_engines = properties.asyncEngineCount;
  info.cache_bytes = properties.l2CacheSize;
  info.concurrent_kernels = properties.concurrentKernels != 0;
  info.total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.ecc = properties.ECCEnabled != 0;
  int before = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(index) == cudaSuccess) {
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
      info.free_bytes = static_cast<std::int64_t>(free);
    }
    cudaSetDevice(before);
  }
  const Monitor monitor = monitor_of(info);
  return monitor.describe ? monitor.describe(info) : info;
}

/// Of every visible device what `describe` says.
template <class Describe>
std::vector<DeviceInfo> all_devices(const Describe& describe) {
  std::vector<DeviceInfo> found;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int index = 0; index < count; ++index) {
    if (auto info = describe(index)) found.push_back(*info);
  }
  return found;
}

}  // namespace

std::string toolkit() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

std::vector<DeviceInfo> devices() { return all_devices(cuda_device); }

std::vector<DeviceInfo> visible_devices() {
  return all_devices([](int index) {
    cudaDeviceProp properties{};
    return identity_of(index, properties);
  });
}

void require_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return;
  throw base::Error(base::ExitCode::precondition,
                    std::string("this build runs on CUDA and there is no GPU to use: ") +
                        (code == cudaSuccess ? "no device is visible" : cudaGetErrorString(code)));
}

DeviceInfo chosen_device() {
  return cuda_device(Kokkos::Cuda().cuda_device()).value_or(DeviceInfo{});
}

Monitor monitor_of(const DeviceInfo& device) {
  return device.pci_bus_id ? nvml_monitor(*device.pci_bus_id) : Monitor();
}

bool has_graphs() { return true; }

std::optional<bool> page_locked(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) {
    return attributes.type == cudaMemoryTypeHost;
  }
  cudaGetLastError();  // not for whoever looks next
  return std::nullopt;
}

std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes) {
  const cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
  if (code == cudaSuccess) {
    return {memory, [](void* locked) { cudaHostUnregister(locked); }};
  }
  cudaGetLastError();  // not for whoever looks next
  throw base::Error(base::ExitCode::precondition,
                    "cannot page-lock " + base::format_bytes(bytes) +
                        " of host memory: " + cudaGetErrorString(code) +
                        " (with memory.host: pageable_staged a ring of slots is enough)");
}

}  // namespace overlap::measure
