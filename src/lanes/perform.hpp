#pragma once

#include "workload/workload.hpp"

/// Putting single tasks on an instance.
namespace overlap::lanes {

/// What copies lines that are not adjacent: the back end's own call where there is one, or Kokkos.
enum class Copies { native, kokkos };

/// Enqueues one copy on the instance, between a region of the host array and as many bytes of the
/// device array from `device_offset` on, without a fence. A native copy of any lines is one call,
/// which copy engines carry out. Kokkos copies adjacent bytes in one such call, lines of
/// page-locked memory in one kernel, and lines of pageable memory one by one.
void copy(const workload::InstanceRef& instance, const workload::Workload& workload,
          std::size_t array, bool to_device, const schedule::Region& region,
          std::size_t device_offset, Copies copies = Copies::native);

/// Enqueues a task of a schedule on the instance.
void perform(const workload::InstanceRef& instance, const workload::Workload& workload,
             const schedule::Schedule& schedule, const schedule::Task& task,
             Copies copies = Copies::native);

}  // namespace overlap::lanes
