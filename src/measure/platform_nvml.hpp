#pragma once

#include <functional>
#include <string>

#include "measure/platform.hpp"

/// NVML, NVIDIA's management library. It comes with the driver and is loaded at run time, because
/// its header is an optional part of the toolkit; its C interface is stable
/// (https://docs.nvidia.com/deploy/nvml-api).
namespace overlap::measure {

/// Looks up a function of a library by name; null: not found.
using Symbols = std::function<void*(const char* name)>;

/// The functions of NVML, which stays loaded while the result exists; empty: there is none.
Symbols load_nvml();

/// A monitor of the device with this PCI address, in any notation that NVML accepts. NVML stays
/// initialized while the monitor exists. Without NVML, or if NVML does not know the device, the
/// monitor is empty.
Monitor nvml_monitor(const std::string& pci_bus_id, Symbols symbols = load_nvml());

}  // namespace overlap::measure
