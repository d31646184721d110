#include "measure/platform_rocm_smi.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#if __has_include(<rocm_smi/rocm_smi.h>)
#include <rocm_smi/rocm_smi.h>
#endif

namespace overlap::measure {
namespace {

using base::DeviceInfo;
using base::Health;

// From rocm_smi.h.
constexpr int clock_system = 0;
constexpr int clock_memory = 4;
constexpr unsigned sensor_edge = 0;
constexpr unsigned sensor_junction = 1;
constexpr int temperature_current = 0;
constexpr std::uint64_t block_memory = 1;
constexpr int component_driver = 0;

struct Frequencies {  // rsmi_frequencies_t, since ROCm 6
  bool deep_sleep;
  std::uint32_t count;
  std::uint32_t current;
  std::uint64_t hz[33];

  /// Detects older libraries, which write a different structure.
  bool valid() const { return count > 0 && count <= std::size(hz) && current < count; }
};
struct Link {  // rsmi_pcie_bandwidth_t
  Frequencies rate;
  std::uint32_t lanes[33];
};
struct Errors {  // rsmi_error_count_t
  std::uint64_t corrected, uncorrected;
};
struct Process {  // rsmi_process_info_t
  std::uint32_t pid, pasid;
  std::uint64_t memory, copies_us;
  std::uint32_t occupancy;
};

#if __has_include(<rocm_smi/rocm_smi.h>)
static_assert(sizeof(Frequencies) == sizeof(rsmi_frequencies_t) &&
              offsetof(Frequencies, count) == offsetof(rsmi_frequencies_t, num_supported) &&
              offsetof(Frequencies, hz) == offsetof(rsmi_frequencies_t, frequency));
static_assert(sizeof(Link) == sizeof(rsmi_pcie_bandwidth_t) &&
              offsetof(Link, lanes) == offsetof(rsmi_pcie_bandwidth_t, lanes));
static_assert(sizeof(Errors) == sizeof(rsmi_error_count_t));
static_assert(sizeof(Process) == sizeof(rsmi_process_info_t));
static_assert(clock_system == RSMI_CLK_TYPE_SYS && clock_memory == RSMI_CLK_TYPE_MEM);
static_assert(sensor_edge == RSMI_TEMP_TYPE_EDGE && sensor_junction == RSMI_TEMP_TYPE_JUNCTION);
static_assert(temperature_current == RSMI_TEMP_CURRENT && block_memory == RSMI_GPU_BLOCK_UMC);
static_assert(component_driver == RSMI_SW_COMP_DRIVER);
#endif

/// PCIe generation for a transfer rate per lane of 2.5, 5, 8, 16 or 32 GT/s.
std::optional<int> generation(std::uint64_t transfers) {
  if (transfers == 0) return std::nullopt;
  return static_cast<int>(std::lround(std::log2(static_cast<double>(transfers) / 2.5e9))) + 1;
}

int megahertz(std::uint64_t hz) { return static_cast<int>(hz / 1'000'000); }

/// The initialized library and one of its devices.
class RocmSmi : Library {
 public:
  explicit RocmSmi(Symbols symbols)
      : Library(std::move(symbols)), ready_(call("rsmi_init", std::uint64_t{0})) {}
  ~RocmSmi() {
    if (ready_) call("rsmi_shut_down");
  }
  RocmSmi(const RocmSmi&) = delete;
  RocmSmi& operator=(const RocmSmi&) = delete;

  bool find(const std::string& pci_bus_id) {
    unsigned domain = 0, bus = 0, slot = 0;
    std::uint32_t count = 0;
    if (std::sscanf(pci_bus_id.c_str(), "%x:%x:%x", &domain, &bus, &slot) != 3 || !ready_ ||
        !call("rsmi_num_monitor_devices", &count)) {
      return false;
    }
    for (device_ = 0; device_ < count; ++device_) {
      std::uint64_t id = 0;  // domain: from bit 32, bus: 8, slot: 3
      if (call("rsmi_dev_pci_id_get", device_, &id) && id >> 32 == domain &&
          (id >> 8 & 0xff) == bus && (id >> 3 & 0x1f) == slot) {
        return true;
      }
    }
    return false;
  }

  DeviceInfo describe(DeviceInfo device) const {
    if (const auto link = this->link()) {
      const auto last = link->rate.count - 1;
      device.pcie_gen = generation(link->rate.hz[link->rate.current]);
      device.pcie_width = static_cast<int>(link->lanes[link->rate.current]);
      device.pcie_gen_max = generation(link->rate.hz[last]);
      device.pcie_width_max = static_cast<int>(link->lanes[last]);
    }
    if (const auto clock = frequencies(clock_system)) {
      device.sm_clock_mhz = megahertz(clock->hz[clock->current]);
      device.sm_clock_max_mhz = megahertz(std::ranges::max(clock->hz));
    }
    set(device.memory_clock_mhz, clock_mhz(clock_memory));
    if (const auto blocks = number("rsmi_dev_ecc_enabled_get")) {
      device.ecc = (*blocks & block_memory) != 0;
    }
    set(device.vbios, text("rsmi_dev_vbios_version_get", device_));
    set(device.serial, text("rsmi_dev_serial_number_get", device_));
    set(device.driver, text("rsmi_version_str_get", component_driver));
    set(device.power_limit_w, watts(number("rsmi_dev_power_cap_get", 0U)));
    set(device.power_limit_default_w, watts(number("rsmi_dev_power_cap_default_get")));
    return device;
  }

  Health health() const {
    Health health;
    if (const auto link = this->link()) {
      health.pcie_gen = generation(link->rate.hz[link->rate.current]);
      health.pcie_width = static_cast<int>(link->lanes[link->rate.current]);
    }
    if (const auto replays = number("rsmi_dev_pci_replay_counter_get")) {
      health.pcie_replays = static_cast<std::int64_t>(*replays);
    }
    Errors errors{};
    if (call("rsmi_dev_ecc_count_get", device_, block_memory, &errors)) {
      health.ecc_corrected = static_cast<std::int64_t>(errors.corrected);
      health.ecc_uncorrected = static_cast<std::int64_t>(errors.uncorrected);
    }
    health.temperature_c = temperature(sensor_junction);
    if (!health.temperature_c) health.temperature_c = temperature(sensor_edge);
    health.power_w = power();
    health.sm_clock_mhz = clock_mhz(clock_system);
    health.memory_clock_mhz = clock_mhz(clock_memory);
    return health;
  }

  /// Known only if the library also lists this process: it cannot see into other PID namespaces.
  std::optional<int> other_processes() const {
    std::vector<Process> processes(1024);
    auto count = static_cast<std::uint32_t>(processes.size());
    if (!call("rsmi_compute_process_info_get", processes.data(), &count)) return std::nullopt;
    processes.resize(std::min<std::size_t>(count, processes.size()));
    const auto own = static_cast<std::uint32_t>(getpid());
    if (std::ranges::count(processes, own, &Process::pid) == 0) return std::nullopt;
    return static_cast<int>(std::ranges::count_if(processes, [&](const Process& process) {
      return process.pid != own && uses_device(process.pid);
    }));
  }

 private:
  template <class... Arguments>
  std::optional<std::uint64_t> number(const char* name, Arguments... what) const {
    std::uint64_t found = 0;
    return call(name, device_, what..., &found) ? std::optional(found) : std::nullopt;
  }

  static std::optional<double> watts(std::optional<std::uint64_t> microwatts) {
    return microwatts ? std::optional(1e-6 * static_cast<double>(*microwatts)) : std::nullopt;
  }

  std::optional<Link> link() const {
    Link link{};
    const bool known = call("rsmi_dev_pci_bandwidth_get", device_, &link) && link.rate.valid();
    return known ? std::optional(link) : std::nullopt;
  }

  std::optional<Frequencies> frequencies(int clock) const {
    Frequencies found{};
    const bool known = call("rsmi_dev_gpu_clk_freq_get", device_, clock, &found) && found.valid();
    return known ? std::optional(found) : std::nullopt;
  }

  std::optional<int> clock_mhz(int clock) const {
    const auto found = frequencies(clock);
    return found ? std::optional(megahertz(found->hz[found->current])) : std::nullopt;
  }

  std::optional<int> temperature(unsigned sensor) const {
    std::int64_t millidegrees = 0;
    if (!call("rsmi_dev_temp_metric_get", device_, sensor, temperature_current, &millidegrees)) {
      return std::nullopt;
    }
    return static_cast<int>(millidegrees / 1000);
  }

  /// Current power, or an average if the device reports only that.
  std::optional<double> power() const {
    std::uint64_t microwatts = 0;
    int kind = 0;
    if (call("rsmi_dev_power_get", device_, &microwatts, &kind)) return watts(microwatts);
    return watts(number("rsmi_dev_power_ave_get", 0U));
  }

  bool uses_device(std::uint32_t pid) const {
    std::vector<std::uint32_t> devices(256);
    auto count = static_cast<std::uint32_t>(devices.size());
    if (!call("rsmi_compute_process_gpus_get", pid, devices.data(), &count)) return false;
    devices.resize(std::min<std::size_t>(count, devices.size()));
    return std::ranges::count(devices, device_) > 0;
  }

  bool ready_;
  std::uint32_t device_ = 0;
};

}  // namespace

Monitor rocm_smi_monitor(const std::string& pci_bus_id, Symbols symbols) {
  if (!symbols) return {};
  const auto smi = std::make_shared<RocmSmi>(std::move(symbols));
  if (!smi->find(pci_bus_id)) return {};
  return {.describe = [smi](const DeviceInfo& device) { return smi->describe(device); },
          .health = [smi] { return smi->health(); },
          .throttle_reasons = [] { return std::nullopt; },
          .other_processes = [smi] { return smi->other_processes(); }};
}

}  // namespace overlap::measure
