#pragma once

#include "experiment/fleet.hpp"

/// What fleet_of() is made from.
namespace overlap::experiment {

/// Whether devices are compared by this figure of one of them: by its time only where it copies
/// nothing, and so has no throughput.
bool is_compared(const DeviceRecord& record, const FigureKey& key);

/// Groups the devices of a fleet, with their drivers, distributions and nodes.
void add_groups(Fleet& fleet);

/// Makes every slow outlier of a group a trouble of its device.
void add_outliers(const Group& group, std::vector<DeviceRecord>& devices);

}  // namespace overlap::experiment
