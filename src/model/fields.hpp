#pragma once

#include "model/device.hpp"
#include "model/load.hpp"
#include "yaml/fields.hpp"

namespace overlap::model {

constexpr auto words_of(Queues) { return yaml::in_order<Queues>("engine", "connection", "worker"); }

/// The rows of a device file, which read and write it.
const yaml::Table<Device>& device_table();

}  // namespace overlap::model
