#pragma once

#include <string>

#include "measure/platform.hpp"
#include "measure/platform_library.hpp"

/// ROCm SMI, AMD's management library. It comes with ROCm and is loaded at run time
/// (https://rocm.docs.amd.com/projects/rocm_smi_lib).
namespace overlap::measure {

/// A monitor of the device at this PCI address ("0000:c1:00.0"); of a partitioned device, its first
/// partition. ROCm SMI stays initialized while the monitor exists. Without ROCm SMI, or if it does
/// not know the device, the monitor is empty. Throttle reasons are not read: their structure
/// differs between versions of the library.
Monitor rocm_smi_monitor(const std::string& pci_bus_id,
                         Symbols symbols = load_library({"librocm_smi64.so.1", "librocm_smi64.so.7",
                                                         "librocm_smi64.so.6"}));

}  // namespace overlap::measure
