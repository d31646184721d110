#include <cuda_runtime.h>
#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <memory>

#include "base/error.hpp"
#include "base/units.hpp"
#include "measure/platform.hpp"

namespace overlap::measure {

using base::DeviceInfo;

namespace {

/// Adds what only NVIDIA's management library knows (link, clocks, ECC, MIG) to a device with a PCI
/// bus id. The library comes with the driver and is loaded at run time; without it the fields stay
/// empty. Its header is an optional part of the toolkit, its C interface stable.
void add_management_info(DeviceInfo& device) {
  const auto close = [](void* library) { dlclose(library); };
  const std::unique_ptr<void, decltype(close)> library(
      dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), close);
  if (!library || !device.pci_bus_id) return;
  const auto call = [&](const char* name, auto... arguments) {
    const auto function =
        reinterpret_cast<int (*)(decltype(arguments)...)>(dlsym(library.get(), name));
    return function != nullptr && function(arguments...) == 0;
  };
  if (!call("nvmlInit_v2")) return;
  void* handle = nullptr;
  if (call("nvmlDeviceGetHandleByPciBusId_v2", device.pci_bus_id->c_str(), &handle)) {
    constexpr int clock_sm = 1;
    constexpr int clock_memory = 2;
    const auto number = [&](std::optional<int>& value, const char* name, auto... what) {
      unsigned found = 0;
      if (call(name, handle, what..., &found)) value = static_cast<int>(found);
    };
    const auto mode = [&](std::optional<bool>& value, const char* name) {
      unsigned now = 0;
      unsigned pending = 0;
      if (call(name, handle, &now, &pending)) value = now != 0;
    };
    number(device.pcie_gen, "nvmlDeviceGetCurrPcieLinkGeneration");
    number(device.pcie_gen_max, "nvmlDeviceGetMaxPcieLinkGeneration");
    number(device.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
    number(device.pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth");
    number(device.sm_clock_mhz, "nvmlDeviceGetClockInfo", clock_sm);
    number(device.sm_clock_max_mhz, "nvmlDeviceGetMaxClockInfo", clock_sm);
    number(device.memory_clock_mhz, "nvmlDeviceGetClockInfo", clock_memory);
    mode(device.ecc, "nvmlDeviceGetEccMode");
    mode(device.mig, "nvmlDeviceGetMigMode");
  }
  call("nvmlShutdown");
}

std::optional<int> numa_node_of(std::string pci_bus_id) {
  std::transform(pci_bus_id.begin(), pci_bus_id.end(), pci_bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file("/sys/bus/pci/devices/" + pci_bus_id + "/numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return std::nullopt;
  return node;
}

std::optional<DeviceInfo> cuda_device(int index) {
  cudaDeviceProp properties{};
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
  info.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.copy_engines = properties.asyncEngineCount;
  info.cache_bytes = properties.l2CacheSize;
  info.concurrent_kernels = properties.concurrentKernels != 0;
  info.total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.ecc = properties.ECCEnabled != 0;
  std::array<char, 32> bus_id{};
  if (cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index) == cudaSuccess) {
    info.pci_bus_id = bus_id.data();
    info.numa_node = numa_node_of(*info.pci_bus_id);
  }
  int before = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(index) == cudaSuccess) {
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
      info.free_bytes = static_cast<std::int64_t>(free);
    }
    cudaSetDevice(before);
  }
  add_management_info(info);
  return info;
}

}  // namespace

std::string toolkit() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> found;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int index = 0; index < count; ++index) {
    if (auto info = cuda_device(index)) found.push_back(*info);
  }
  return found;
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

DeviceInfo refreshed(DeviceInfo device) {
  add_management_info(device);
  return device;
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
