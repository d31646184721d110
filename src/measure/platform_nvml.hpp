#pragma once

#include <string>

#include "measure/platform.hpp"
#include "measure/platform_library.hpp"

/// NVML, NVIDIA's management library. It comes with the driver and is loaded at run time, because
/// its header is an optional part of the toolkit; its C interface is stable
/// (https://docs.nvidia.com/deploy/nvml-api).
namespace overlap::measure {

/// A monitor of the device with this PCI address, in any notation that NVML accepts. NVML stays
/// initialized while the monitor exists. Without NVML, or if NVML does not know the device, the
/// monitor is empty.
Monitor nvml_monitor(const std::string& pci_bus_id,
                     Symbols symbols = load_library({"libnvidia-ml.so.1"}));

}  // namespace overlap::measure
