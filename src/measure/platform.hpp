#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"

/// The machine that the program runs on, and Kokkos on it.
namespace overlap::measure {

base::HostInfo host_info();
base::BuildInfo build_info();

/// Whether the back end's devices are GPUs, not the host.
bool on_gpu();

/// Throws base::Error{precondition} when the host has less than `bytes` of memory available: better
/// said now than by the kernel's out-of-memory killer.
void require_host_memory(std::int64_t bytes);

/// Kokkos, initialised for as long as this lives.
class Runtime {
 public:
  /// `arguments` are Kokkos' own (--kokkos-...). Throws base::Error{precondition} when the build
  /// needs a GPU and none is there, base::Error{usage} when Kokkos refuses an argument.
  explicit Runtime(std::vector<std::string> arguments);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

// What only a vendor's runtime knows: one file per vendor, which CMake picks.

/// The version of the vendor's toolkit; empty without one.
std::string toolkit();

/// Every device visible to this process that the build's back end could use; none without a GPU or
/// a driver. Needs no Kokkos runtime.
std::vector<base::DeviceInfo> devices();

/// Throws base::Error{precondition} when there is no device to run on. Needs no Kokkos runtime.
void require_device();

/// The device that Kokkos chose.
base::DeviceInfo chosen_device();

/// The same as it is now: clocks and the link change with the load.
base::DeviceInfo refreshed(base::DeviceInfo device);

/// Whether the back end's lanes can issue a schedule as a graph.
bool has_graphs();

/// Whether host memory is page-locked; empty where the back end has no say in it. Needs the Kokkos
/// runtime.
std::optional<bool> page_locked(const void* memory);

/// Page-locks host memory as long as the returned object lives. Throws base::Error{skipped} where
/// the back end cannot, base::Error{precondition} when the system does not let it.
std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes);

}  // namespace overlap::measure
