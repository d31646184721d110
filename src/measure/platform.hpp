#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "deck/deck.hpp"

/// The machine on which the program runs, and Kokkos on it.
namespace overlap::measure {

base::BuildInfo build_info();
/// Workloads that this program cannot run, with the reasons.
std::map<deck::WorkloadKind, std::string> unavailable();

/// Whether the devices of the back end are GPUs.
bool on_gpu();

/// Throws base::Error{precondition} if less than `bytes` of host memory are available for each of
/// `ranks` that allocate at once, before the kernel's out-of-memory killer acts.
void require_host_memory(std::int64_t bytes, int ranks = 1);

/// Throws base::Error{usage} if the arguments or the environment select a GPU, which all ranks
/// would then share.
void require_free_choice(const std::vector<std::string>& arguments);

/// Initializes Kokkos for its lifetime.
class Runtime {
 public:
  /// `arguments`: options of Kokkos (--kokkos-...). Throws base::Error{precondition} if the build
  /// requires a GPU and there is none, or Kokkos fails to start without arguments, and
  /// base::Error{usage} if Kokkos rejects an argument, the chosen device does not exist, or the
  /// environment binds all lanes to one core. On other wrong settings Kokkos aborts.
  explicit Runtime(std::vector<std::string> arguments);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

// Vendor-specific functions: one file per vendor, selected by CMake.

/// Adds the version of the vendor toolkit.
void add_toolkit(base::BuildInfo& build);

/// Names of environment variables of the vendor runtime; empty: none.
struct Variables {
  std::string launch_blocking = {};  ///< value 1: the host waits for every kernel
  std::string max_connections = {};  ///< number of hardware queues that streams share
  std::optional<std::int64_t> default_connections = {};  ///< if that is not set
};
Variables variables();

/// All devices that the back end can use in this process; on host back ends the host. Empty if a
/// GPU back end finds no GPU or driver. Does not require Kokkos to be initialized.
std::vector<base::DeviceInfo> devices();

/// The visible GPUs by number, with name, UUID, PCI address and NUMA node only, without creating
/// contexts on devices of other ranks; lost ones are empty. None on host back ends.
std::vector<base::DeviceInfo> visible_devices();

/// Throws base::Error{precondition} if there is no device to run on. Does not require Kokkos to be
/// initialized.
void require_device();

/// The device that Kokkos selected.
base::DeviceInfo chosen_device();

/// Reads the state of one device: cheap, from any thread. An empty function or result means
/// unknown.
struct Monitor {
  /// Current description of the device; clocks and link change with the load.
  std::function<base::DeviceInfo(const base::DeviceInfo&)> describe;
  std::function<base::Health()> health;
  std::function<std::optional<base::Throttles>()> throttle_reasons;
  /// Number of other processes that compute on the device.
  std::function<std::optional<int>()> other_processes;
};

/// Reads the management library of the vendor, or else the PCIe link alone. All functions are empty
/// on host back ends.
Monitor monitor_of(const base::DeviceInfo& device);

// What Linux knows about a PCI device, whoever made it
// (https://docs.kernel.org/admin-guide/abi-testing.html, sysfs-bus-pci).

/// Empty: unknown.
std::optional<int> numa_node_of(const std::string& pci_bus_id);

/// The NUMA node of the page of an address; empty: unknown.
std::optional<int> node_of(const void* memory);

/// A monitor that reads the PCIe link alone. `devices` has one folder per PCI address.
Monitor sysfs_monitor(const std::string& pci_bus_id,
                      const std::string& devices = "/sys/bus/pci/devices");

// NVML, NVIDIA's management library. It comes with the driver and is loaded at run time, because
// its header is an optional part of the toolkit; its C interface is stable
// (https://docs.nvidia.com/deploy/nvml-api).

/// Looks up a function of a library by name; null: not found.
using Symbols = std::function<void*(const char* name)>;

/// The functions of NVML, which stays loaded while the result exists; empty: there is none.
Symbols load_nvml();

/// A monitor of the device with this PCI address, in any notation that NVML accepts. NVML stays
/// initialized while the monitor exists. Without NVML, or if NVML does not know the device, the
/// monitor is empty.
Monitor nvml_monitor(const std::string& pci_bus_id, Symbols symbols = load_nvml());

/// Whether host memory is page-locked; empty if the back end cannot tell. Requires Kokkos to be
/// initialized.
std::optional<bool> page_locked(const void* memory);

/// Page-locks host memory for the lifetime of the returned object; `mapped`: kernels will use its
/// address. Throws base::Error{precondition} if the system refuses or the device has another
/// address for it. Does nothing on host back ends, whose lanes
/// refuse `memory.host: registered`.
std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes, bool mapped);

}  // namespace overlap::measure
