#pragma once

#include "executor/platform.hpp"

namespace overlap::executor::detail {

/// Adds what only NVIDIA's management library tells (link, clocks, ECC, MIG) to a device known by
/// its PCI bus id. The library comes with the driver and is loaded at run time; without it the
/// fields stay empty.
void add_management_info(DeviceInfo& device);

}  // namespace overlap::executor::detail
