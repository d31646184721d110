#pragma once

#include <string>

#include "measure/platform.hpp"
#include "measure/platform_library.hpp"

/// AMD's management library, for every back end on its devices. It comes with ROCm and is loaded at
/// run time, as nvml_monitor() does with NVIDIA's
/// (https://rocm.docs.amd.com/projects/rocm_smi_lib).
namespace overlap::measure {

/// Reads the device at this PCI address, "0000:c1:00.0"; of a device in partitions, the first. The
/// library stays initialised as long as the monitor lives. Without the library, or without the
/// device in it, the monitor is empty. Throttle reasons are not known: their structure
/// differs between versions of the library.
Monitor rocm_smi_monitor(const std::string& pci_bus_id,
                         Symbols symbols = load_library({"librocm_smi64.so.1", "librocm_smi64.so.7",
                                                         "librocm_smi64.so.6"}));

}  // namespace overlap::measure
