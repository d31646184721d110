#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"

/// The machine that the program runs on, and Kokkos on it.
namespace overlap::measure {

base::HostInfo host_info();
base::BuildInfo build_info();
/// Empty without a batch system or launcher of ranks.
std::optional<base::Job> job_info();

/// Ranks that were started together on this node; empty: the launcher does not say.
std::optional<int> ranks_of_node();

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

/// Adds the version of the vendor's toolkit.
void add_toolkit(base::BuildInfo& build);

/// Environment variables of the vendor's runtime; empty: it has none.
struct Variables {
  std::string launch_blocking = {};  ///< 1: the host waits for every kernel
  std::string max_connections = {};  ///< queues that streams share
};
Variables variables();

/// Every device visible to this process that the build's back end could use; none without a GPU or
/// a driver. Needs no Kokkos runtime.
std::vector<base::DeviceInfo> devices();

/// The same with name, UUID and PCI address alone: without touching the devices, which belong to
/// other ranks.
std::vector<base::DeviceInfo> visible_devices();

/// Throws base::Error{precondition} when there is no device to run on. Needs no Kokkos runtime.
void require_device();

/// The device that Kokkos chose.
base::DeviceInfo chosen_device();

/// Reads one device's state: cheap, from any thread. A function that is empty, or returns nothing,
/// cannot know.
struct Monitor {
  /// The device as it is now: clocks and the link change with the load.
  std::function<base::DeviceInfo(const base::DeviceInfo&)> describe;
  std::function<base::Health()> health;
  std::function<std::optional<base::Throttles>()> throttle_reasons;
  /// Processes that compute on the device, without this one.
  std::function<std::optional<int>()> other_processes;
};

/// Empty on back ends without a management library.
Monitor monitor_of(const base::DeviceInfo& device);

/// Whether the back end's lanes can issue a schedule as a graph.
bool has_graphs();

/// Whether host memory is page-locked; empty where the back end has no say in it. Needs the Kokkos
/// runtime.
std::optional<bool> page_locked(const void* memory);

/// Page-locks host memory as long as the returned object lives. Throws base::Error{skipped} where
/// the back end cannot, base::Error{precondition} when the system does not let it.
std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes);

}  // namespace overlap::measure
