#pragma once

#include "workload/workload.hpp"

/// Putting single tasks on an instance.
namespace overlap::lanes {

/// Enqueues one copy on the instance, between a region of the host array and as many bytes of the
/// device array from `device_offset` on: on CUDA exactly one asynchronous copy, no fence; other
/// GPUs get one per line.
void copy(const workload::InstanceRef& instance, const workload::Workload& workload,
          std::size_t array, bool to_device, const schedule::Region& region,
          std::size_t device_offset);

/// Enqueues a task of a schedule on the instance.
void perform(const workload::InstanceRef& instance, const workload::Workload& workload,
             const schedule::Schedule& schedule, const schedule::Task& task);

}  // namespace overlap::lanes
