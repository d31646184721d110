#include <cuda_runtime.h>

#include <Kokkos_Core.hpp>
#include <array>

#include "measure/platform_gpu.hpp"
#include "measure/platform_nvml.hpp"

namespace overlap::measure {
namespace vendor {

Visible visible() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) return {0, cudaGetErrorString(code)};
  return {count, count > 0 ? "" : "no device is visible"};
}

std::optional<base::DeviceInfo> identity_of(int index) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) return std::nullopt;
  base::DeviceInfo device;
  device.name = properties.name;
  device.uuid = uuid_text(properties.uuid.bytes);
  std::array<char, 32> bus_id{};
  if (cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index) == cudaSuccess) {
    device.pci_bus_id = bus_id.data();
    device.numa_node = numa_node_of(*device.pci_bus_id);
  }
  return device;
}

void describe(int index, base::DeviceInfo& device) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) return;
  device.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  device.copy_engines = properties.asyncEngineCount;
  device.cache_bytes = properties.l2CacheSize;
  device.concurrent_kernels = properties.concurrentKernels != 0;
  device.total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device.ecc = properties.ECCEnabled != 0;
  int before = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(index) == cudaSuccess) {
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
      device.free_bytes = static_cast<std::int64_t>(free);
    }
    cudaSetDevice(before);
  }
}

int chosen_index() { return Kokkos::Cuda().cuda_device(); }

Monitor monitor_of(const std::string& pci_bus_id) { return nvml_monitor(pci_bus_id); }

}  // namespace vendor

void add_toolkit(base::BuildInfo& build) {
  build.cuda_toolkit =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

Variables variables() { return {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS"}; }

std::optional<bool> page_locked(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) {
    return attributes.type == cudaMemoryTypeHost;
  }
  cudaGetLastError();  // no later check must report it
  return std::nullopt;
}

std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes) {
  const cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
  if (code == cudaSuccess) {
    return {memory, [](void* locked) { cudaHostUnregister(locked); }};
  }
  cudaGetLastError();  // no later check must report it
  throw vendor::cannot_page_lock(bytes, cudaGetErrorString(code));
}

}  // namespace overlap::measure
