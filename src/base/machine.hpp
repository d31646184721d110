#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/in_sequence.hpp"
#include "base/units.hpp"
#include "base/version.hpp"

/// Hardware and software on which the program runs, as far as they can be read.
namespace overlap::base {

/// A device. Fields that cannot be read are empty. On host back ends the processor is the device.
struct DeviceInfo {
  std::string name;
  std::string uuid;  ///< empty: it has none
  std::string compute_capability;
  std::optional<int> copy_engines;
  std::optional<bool> concurrent_kernels;
  std::optional<bool> maps_host_memory;           ///< kernels reach page-locked host memory
  std::optional<bool> concurrent_managed_access;  ///< host and kernels at the same time
  std::optional<bool> pageable_memory_access;     ///< kernels reach all host memory
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> total_bytes;
  std::optional<std::string> pci_bus_id;
  std::optional<int> pcie_gen;
  std::optional<int> pcie_gen_max;
  std::optional<int> pcie_width;
  std::optional<int> pcie_width_max;
  std::optional<int> numa_node;
  std::optional<int> sm_clock_mhz;
  std::optional<int> sm_clock_max_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<bool> ecc;
  std::optional<bool> mig;
  std::optional<std::string> driver;  ///< driver version
  std::optional<std::string> vbios;
  std::optional<std::string> serial;
  std::optional<double> power_limit_w;
  std::optional<double> power_limit_default_w;

  /// Free memory that arrays can have, without what the back end takes; empty: unknown.
  std::optional<std::int64_t> array_bytes() const {
    constexpr std::int64_t reserve = 256 << 20;
    if (!free_bytes) return {};
    return std::max<std::int64_t>(0, *free_bytes - reserve);
  }

  /// Identifies it on its host; empty: unknown.
  std::string id() const { return uuid.empty() ? pci_bus_id.value_or("") : uuid; }
};

/// Reasons for reduced clocks.
enum class Throttle {
  idle,
  applications_clocks,
  sw_power_cap,
  hw_slowdown,
  sync_boost,
  sw_thermal,
  hw_thermal,
  hw_power_brake,
  display_clocks,
};

struct ThrottleRow {
  Throttle value;
  std::string_view name;
  std::string_view help;
  bool slows;  ///< reduces clocks under load; the others indicate idleness or a setting
};

inline constexpr auto throttles = std::to_array<ThrottleRow>({
    {Throttle::idle, "idle", "nothing runs", false},
    {Throttle::applications_clocks, "applications_clocks", "a setting limits the clocks", false},
    {Throttle::sw_power_cap, "sw_power_cap", "the power limit is reached", true},
    {Throttle::hw_slowdown, "hw_slowdown", "hardware protects itself: temperature or power", true},
    {Throttle::sync_boost, "sync_boost", "the clocks follow those of another device", false},
    {Throttle::sw_thermal, "sw_thermal", "the driver holds the temperature down", true},
    {Throttle::hw_thermal, "hw_thermal", "hardware protects itself: temperature", true},
    {Throttle::hw_power_brake, "hw_power_brake", "the power supply asks for less load", true},
    {Throttle::display_clocks, "display_clocks", "a display limits the clocks", false},
});
constexpr auto words_of(Throttle) { return throttles; }

static_assert(in_sequence(throttles, Throttle::display_clocks), "one row for each reason");

/// Reasons that apply at the same time.
using Throttles = std::vector<Throttle>;

/// One reading of the state of a device. Fields that cannot be read are empty.
struct Health {
  std::optional<int> pcie_gen;
  std::optional<int> pcie_width;
  std::optional<std::int64_t> pcie_replays;   ///< since the driver was loaded
  std::optional<std::int64_t> ecc_corrected;  ///< volatile counter, since the driver was loaded
  std::optional<std::int64_t> ecc_uncorrected;
  std::optional<int> remapped_rows;  ///< memory rows, over the life of the device
  std::optional<int> temperature_c;
  std::optional<double> power_w;
  std::optional<int> sm_clock_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<Throttles> throttle_reasons;
};

struct HostInfo {
  std::string name;
  std::string boot_id;  ///< of its kernel since it was booted; empty: unknown
  std::string cpu;
  int cores = 0;         ///< usable by this process
  std::string affinity;  ///< list of usable CPUs: "0-7,16"
  /// CPU time per wall-clock time that the control groups allow; empty: no limit.
  std::optional<double> cpu_quota = {};
  std::optional<std::int64_t> total_bytes;
  std::optional<std::int64_t> available_bytes;
  std::string kernel;                                 ///< release of the operating system kernel
  std::optional<std::string> transparent_huge_pages;  ///< "always", "madvise" or "never"
  std::optional<std::int64_t> huge_pages;             ///< reserved by the system

  /// Cores that threads of this process can keep busy.
  double usable_cores() const { return std::min<double>(cores, cpu_quota.value_or(cores)); }
};

/// The cores of a host as one device.
inline DeviceInfo device_of(const HostInfo& host) {
  return {.name = host.cpu + ", " + counted(host.cores, "core"),
          .free_bytes = host.available_bytes,
          .total_bytes = host.total_bytes};
}

/// The batch job and the rank of this process, from the environment of the launcher.
struct Job {
  std::optional<std::string> id;
  std::optional<std::string> step;
  /// The same for all ranks that were started together, and for no others; empty: unknown.
  std::optional<std::string> launch;
  std::optional<int> rank;
  std::optional<int> ranks;
};

/// Placement of one rank of a fleet.
struct Placement {
  int local_rank = 0;  ///< among the ranks of its node
  int local_ranks = 1;
  int nodes = 1;              ///< nodes of the fleet
  std::optional<int> device;  ///< index among its visible devices; empty on host back ends
  std::string cpus, memory;   ///< binding, as lists; empty: not bound
  std::string note;           ///< why it is not bound; empty: no remark
};

struct BuildInfo {
  std::string version = base::version().version;  ///< of this program
  std::string git_sha = base::version().git_sha;  ///< empty: built without git
  bool dirty = base::version().dirty;             ///< tracked files differed from that commit
  std::string compiler;
  std::string kokkos_version;
  std::string backend;                 ///< the default execution space
  std::string cuda_toolkit;            ///< empty without CUDA
  std::string hip_toolkit;             ///< empty without HIP
  std::string kokkos_kernels_version;  ///< empty without Kokkos Kernels
};

/// The machine on which a study ran.
struct Machine {
  BuildInfo build;
  HostInfo host;
  std::optional<DeviceInfo> device;         ///< empty on host back ends
  std::optional<Job> job = {};              ///< empty: started without a launcher
  std::optional<Placement> placement = {};  ///< empty: not a rank of a fleet
};

std::string compiler();  ///< that compiled this program
HostInfo host_info();
/// Empty without a batch system or a launcher of ranks.
std::optional<Job> job_info();

}  // namespace overlap::base
