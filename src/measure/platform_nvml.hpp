#pragma once

#include <functional>
#include <string>

#include "measure/platform.hpp"

/// NVIDIA's management library, for every back end on its devices. The library comes with the
/// driver and is loaded at run time: its header is an optional part of the toolkit, its C interface
/// stable (https://docs.nvidia.com/deploy/nvml-api).
namespace overlap::measure {

/// The function of a library with this name; null: it has none.
using Symbols = std::function<void*(const char* name)>;

/// Those of the library that the driver has; empty: there is none. It stays loaded as long as they
/// live.
Symbols management_library();

/// Reads the device with this PCI address, which may be any way of writing it that the library
/// knows. The library stays initialised as long as the monitor lives. Without the library, or
/// without the device in it, the monitor is empty.
Monitor nvml_monitor(const std::string& pci_bus_id, Symbols symbols = management_library());

}  // namespace overlap::measure
