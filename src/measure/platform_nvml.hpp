#pragma once

#include <string>

#include "measure/platform.hpp"
#include "measure/platform_library.hpp"

/// NVIDIA's management library, for every back end on its devices. The library comes with the
/// driver and is loaded at run time: its header is an optional part of the toolkit, its C interface
/// stable (https://docs.nvidia.com/deploy/nvml-api).
namespace overlap::measure {

/// Reads the device with this PCI address, which may be any way of writing it that the library
/// knows. The library stays initialised as long as the monitor lives. Without the library, or
/// without the device in it, the monitor is empty.
Monitor nvml_monitor(const std::string& pci_bus_id,
                     Symbols symbols = load_library({"libnvidia-ml.so.1"}));

}  // namespace overlap::measure
