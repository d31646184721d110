#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// What the program ran on, as far as it can be read.
namespace overlap::base {

/// A device; what cannot be read is empty. On host back ends the processor is the device.
struct DeviceInfo {
  std::string name;
  std::string uuid;
  std::string compute_capability;
  std::optional<int> copy_engines;
  std::optional<bool> concurrent_kernels;
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> total_bytes;
  std::optional<int> cache_bytes;  ///< L2
  std::optional<std::string> pci_bus_id;
  std::optional<int> pcie_gen;
  std::optional<int> pcie_gen_max;
  std::optional<int> pcie_width;
  std::optional<int> pcie_width_max;
  std::optional<int> numa_node;
  std::optional<int> sm_clock_mhz;
  std::optional<int> sm_clock_max_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<bool> ecc;
  std::optional<bool> mig;
};

struct HostInfo {
  std::string name;
  std::string cpu;
  int cores = 0;         ///< that this process may use
  std::string affinity;  ///< as a list: "0-7,16"
  std::int64_t total_bytes = 0;
  std::int64_t available_bytes = 0;
};

struct BuildInfo {
  std::string compiler;
  std::string kokkos_version;
  std::string backend;                 ///< the default execution space
  std::string cuda_toolkit;            ///< empty without CUDA
  std::string kokkos_kernels_version;  ///< empty without Kokkos Kernels
};

/// What a study ran on.
struct Machine {
  BuildInfo build;
  HostInfo host;
  std::optional<DeviceInfo> device;  ///< empty on host back ends
};

}  // namespace overlap::base
