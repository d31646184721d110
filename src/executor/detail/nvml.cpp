#include "executor/detail/nvml.hpp"

#include <dlfcn.h>

#include <memory>

namespace overlap::executor::detail {
namespace {

// The few declarations of NVML's stable C interface that are needed; its header is an optional part
// of the toolkit. Every function returns 0 on success.
using Device = void*;
using Number = int (*)(Device, unsigned*);
constexpr int clock_sm = 1;
constexpr int clock_memory = 2;

struct Close {
  void operator()(void* library) const { dlclose(library); }
};

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

void add_management_info(DeviceInfo& device) {
  const std::unique_ptr<void, Close> library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (!library || !device.pci_bus_id) return;
  const auto init = find<int (*)()>(library.get(), "nvmlInit_v2");
  const auto shutdown = find<int (*)()>(library.get(), "nvmlShutdown");
  const auto by_bus_id =
      find<int (*)(const char*, Device*)>(library.get(), "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || shutdown == nullptr || by_bus_id == nullptr || init() != 0) return;

  Device handle = nullptr;
  if (by_bus_id(device.pci_bus_id->c_str(), &handle) == 0) {
    const auto number = [&](const char* name, std::optional<int>& value) {
      const auto get = find<Number>(library.get(), name);
      unsigned found = 0;
      if (get != nullptr && get(handle, &found) == 0) value = static_cast<int>(found);
    };
    number("nvmlDeviceGetCurrPcieLinkGeneration", device.pcie_gen);
    number("nvmlDeviceGetMaxPcieLinkGeneration", device.pcie_gen_max);
    number("nvmlDeviceGetCurrPcieLinkWidth", device.pcie_width);
    number("nvmlDeviceGetMaxPcieLinkWidth", device.pcie_width_max);

    const auto clock = [&](const char* name, int type, std::optional<int>& value) {
      const auto get = find<int (*)(Device, int, unsigned*)>(library.get(), name);
      unsigned found = 0;
      if (get != nullptr && get(handle, type, &found) == 0) value = static_cast<int>(found);
    };
    clock("nvmlDeviceGetClockInfo", clock_sm, device.sm_clock_mhz);
    clock("nvmlDeviceGetMaxClockInfo", clock_sm, device.sm_clock_max_mhz);
    clock("nvmlDeviceGetClockInfo", clock_memory, device.memory_clock_mhz);

    const auto mode = [&](const char* name, std::optional<bool>& value) {
      const auto get = find<int (*)(Device, unsigned*, unsigned*)>(library.get(), name);
      unsigned current = 0;
      unsigned pending = 0;
      if (get != nullptr && get(handle, &current, &pending) == 0) value = current != 0;
    };
    mode("nvmlDeviceGetEccMode", device.ecc);
    mode("nvmlDeviceGetMigMode", device.mig);
  }
  shutdown();
}

}  // namespace overlap::executor::detail
