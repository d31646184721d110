#pragma once

#include "model/device.hpp"
#include "model/load.hpp"
#include "yaml/fields.hpp"

namespace overlap::yaml {

template <>
inline constexpr auto words<model::Queues> =
    in_order<model::Queues>("engine", "connection", "worker");

}  // namespace overlap::yaml

namespace overlap::model {

/// The rows of a device file, which read and write it.
const yaml::Table<Device>& device_table();

}  // namespace overlap::model
