#pragma once

#include "experiment/fleet.hpp"

/// Parts of fleet_of().
namespace overlap::experiment {

/// Whether devices are compared by this figure: by time only if the order has no throughput because
/// it copies nothing.
bool is_compared(const DeviceRecord& record, const FigureKey& key);

/// Groups the devices that have figures, with drivers, distributions and nodes.
void add_groups(Fleet& fleet);

/// Adds a trouble to the device of every slow outlier.
void add_outliers(const Group& group, std::vector<DeviceRecord>& devices);

}  // namespace overlap::experiment
