#pragma once

#include "workload/workload.hpp"

/// Enqueues single tasks on an instance.
namespace overlap::lanes {

/// Implementation of strided copies: the native call of the back end if available, or Kokkos.
enum class CopyCalls { native, kokkos };

/// Enqueues a copy between a region of a host array and contiguous bytes of the device array from
/// `device_offset` on, without a fence. Contiguous bytes, and with CopyCalls::kokkos on a GPU all
/// regions, are copied by the workload with Kokkos::deep_copy. A native strided copy is one call on
/// a GPU, executed by copy engines; on a host, one kernel.
void copy(const workload::InstanceRef& instance, const workload::Workload& workload,
          std::size_t array, bool to_device, const schedule::Region& region,
          std::size_t device_offset, CopyCalls copies = CopyCalls::native);

/// Enqueues a copy or kernel of a schedule on the instance.
void perform(const workload::InstanceRef& instance, const workload::Workload& workload,
             const schedule::Schedule& schedule, const schedule::Task& task,
             CopyCalls copies = CopyCalls::native);

/// Waits for the work of an instance, as its fence does, which on a lost device (up to 5.2) prints
/// a stack trace and aborts. Throws DeviceLost.
void wait_for(const workload::InstanceRef& instance, const std::string& label);

/// Throws DeviceLost if the device of a space is lost.
void require_not_lost(workload::SpaceId space, const std::string& label);

}  // namespace overlap::lanes
