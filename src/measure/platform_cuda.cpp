#include "measure/platform_gpu.hpp"

namespace overlap::measure {
namespace vendor {

std::string uuid_of(const cudaDeviceProp& properties) { return uuid_text(properties.uuid.bytes); }

void describe(const cudaDeviceProp& properties, base::DeviceInfo& device) {
  device.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  device.copy_engines = properties.asyncEngineCount;
}

int chosen_index() { return Kokkos::Cuda().cuda_device(); }

Monitor monitor_of(const std::string& pci_bus_id) { return nvml_monitor(pci_bus_id); }

}  // namespace vendor

void add_toolkit(base::BuildInfo& build) {
  build.cuda_toolkit =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

Variables variables() { return {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS", 8}; }

}  // namespace overlap::measure
