#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"

/// The machine that the program runs on, and Kokkos on it.
namespace overlap::measure {

using base::BuildInfo;
using base::DeviceInfo;
using base::HostInfo;

HostInfo host_info();
BuildInfo build_info();

/// Every device visible to this process that the build's back end could use; none without a GPU or
/// a driver. Needs no Kokkos runtime.
std::vector<DeviceInfo> devices();

/// Whether the back end's devices are GPUs, not the host.
bool on_gpu();

/// Whether the back end's lanes can issue a schedule as a graph.
bool has_graphs();

/// Throws base::Error{precondition} when the host has less than `bytes` of memory available: better
/// said now than by the kernel's out-of-memory killer.
void require_host_memory(std::int64_t bytes);

/// Whether host memory is page-locked; empty where the back end has no say in it. Needs the Kokkos
/// runtime.
std::optional<bool> page_locked(const void* memory);

/// Page-locks host memory as long as the returned object lives. Throws base::Error{skipped} where
/// the back end cannot, base::Error{precondition} when the system does not let it.
std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes);

/// Kokkos, initialised for as long as this lives.
class Runtime {
 public:
  /// `arguments` are Kokkos' own (--kokkos-...). Throws base::Error{precondition} when the build
  /// needs a GPU and none is there, base::Error{usage} when Kokkos refuses an argument.
  explicit Runtime(std::vector<std::string> arguments);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The device that Kokkos chose.
  const DeviceInfo& device() const { return device_; }

  /// The same as it is now: clocks and the link change with the load.
  DeviceInfo device_now() const;

  /// Whether a Kokkos tool (profiler) is loaded: unless it says otherwise, Kokkos then fences
  /// around every kernel.
  bool tool_loaded() const;

  /// Device memory that arrays may take: what is free, less a reserve for the back end's own needs.
  /// Empty on host back ends, where the host's memory is the limit.
  std::optional<std::int64_t> free_device_bytes() const;

 private:
  DeviceInfo device_;
};

}  // namespace overlap::measure
