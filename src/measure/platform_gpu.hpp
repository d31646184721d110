#pragma once

#include <span>
#include <string>

#include "base/machine.hpp"
#include "lanes/api.hpp"
#include "measure/platform.hpp"

/// What platform_gpu.cpp, which implements measure/platform.hpp, leaves to each GPU vendor. Only
/// chosen_index() requires Kokkos to be initialized.
namespace overlap::measure::vendor {

using Properties = lanes::Api::Properties;

/// Empty: the device has none.
std::string uuid_of(const Properties& properties);

/// Adds the properties that each vendor reports in its own way.
void describe(const Properties& properties, base::DeviceInfo& device);

/// Index of the device that Kokkos selected.
int chosen_index();

/// The monitor from the management library of the vendor; empty: none.
Monitor monitor_of(const std::string& pci_bus_id);

/// "GPU-" followed by the UUID in the usual notation: a helper for uuid_of().
std::string uuid_text(std::span<const char, 16> bytes);

}  // namespace overlap::measure::vendor
