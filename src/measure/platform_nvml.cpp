#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "measure/platform.hpp"

namespace overlap::measure {
namespace {

using base::DeviceInfo;
using base::Health;

// From nvml.h.
constexpr int clock_sm = 1;
constexpr int clock_mem = 2;
constexpr int temperature_gpu = 0;
constexpr int error_corrected = 0;
constexpr int error_uncorrected = 1;
constexpr int counter_volatile = 0;

struct ProcessInfo {  // nvmlProcessInfo_t
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

/// The initialized library and one of its devices.
class Nvml {
 public:
  explicit Nvml(Symbols symbols) : symbols_(std::move(symbols)), ready_(call("nvmlInit_v2")) {}
  ~Nvml() {
    if (ready_) call("nvmlShutdown");
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool find(const std::string& pci_bus_id) {
    return ready_ && call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device_);
  }

  DeviceInfo describe(DeviceInfo device) const {
    set(device.pcie_gen, number("nvmlDeviceGetCurrPcieLinkGeneration"));
    set(device.pcie_gen_max, number("nvmlDeviceGetMaxPcieLinkGeneration"));
    set(device.pcie_width, number("nvmlDeviceGetCurrPcieLinkWidth"));
    set(device.pcie_width_max, number("nvmlDeviceGetMaxPcieLinkWidth"));
    set(device.sm_clock_mhz, number("nvmlDeviceGetClockInfo", clock_sm));
    set(device.sm_clock_max_mhz, number("nvmlDeviceGetMaxClockInfo", clock_sm));
    set(device.memory_clock_mhz, number("nvmlDeviceGetClockInfo", clock_mem));
    set(device.ecc, mode("nvmlDeviceGetEccMode"));
    set(device.mig, mode("nvmlDeviceGetMigMode"));
    set(device.vbios, text("nvmlDeviceGetVbiosVersion", device_));
    set(device.serial, text("nvmlDeviceGetSerial", device_));
    set(device.driver, text("nvmlSystemGetDriverVersion"));
    set(device.power_limit_w, watts("nvmlDeviceGetEnforcedPowerLimit"));
    set(device.power_limit_default_w, watts("nvmlDeviceGetPowerManagementDefaultLimit"));
    return device;
  }

  Health health() const {
    return {.pcie_gen = number("nvmlDeviceGetCurrPcieLinkGeneration"),
            .pcie_width = number("nvmlDeviceGetCurrPcieLinkWidth"),
            .pcie_replays = number("nvmlDeviceGetPcieReplayCounter"),
            .ecc_corrected = ecc_errors(error_corrected),
            .ecc_uncorrected = ecc_errors(error_uncorrected),
            .remapped_rows = remapped_rows(),
            .temperature_c = number("nvmlDeviceGetTemperature", temperature_gpu),
            .power_w = watts("nvmlDeviceGetPowerUsage"),
            .sm_clock_mhz = number("nvmlDeviceGetClockInfo", clock_sm),
            .memory_clock_mhz = number("nvmlDeviceGetClockInfo", clock_mem),
            .throttle_reasons = throttle_reasons()};
  }

  /// The bits of NVML are in the order of the enumerators. Newer versions rename the function.
  std::optional<base::Throttles> throttle_reasons() const {
    unsigned long long bits = 0;
    if (!call("nvmlDeviceGetCurrentClocksEventReasons", device_, &bits) &&
        !call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &bits)) {
      return std::nullopt;
    }
    base::Throttles reasons;
    for (std::size_t i = 0; i < base::throttles.size(); ++i) {
      if ((bits >> i & 1) != 0) reasons.push_back(base::throttles[i].value);
    }
    return reasons;
  }

  /// Known only if NVML also lists this process: from another PID namespace it shows other ids, or
  /// none.
  std::optional<int> other_processes() const {
    std::vector<ProcessInfo> processes(1024);
    auto count = static_cast<unsigned>(processes.size());
    if (!call("nvmlDeviceGetComputeRunningProcesses_v3", device_, &count, processes.data())) {
      return std::nullopt;
    }
    processes.resize(std::min<std::size_t>(count, processes.size()));
    const auto own_pid = static_cast<unsigned>(getpid());
    const auto own_entries = std::ranges::count(processes, own_pid, &ProcessInfo::pid);
    if (own_entries == 0) return std::nullopt;
    return static_cast<int>(std::ssize(processes) - own_entries);
  }

 private:
  /// Calls a function; returns whether it exists and succeeded.
  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(symbols_(name));
    return function != nullptr && function(arguments...) == 0;
  }

  /// Calls a function that writes a string about `subject`.
  std::optional<std::string> text(const char* name, auto... subject) const {
    std::array<char, 96> characters{};
    if (!call(name, subject..., characters.data(), static_cast<unsigned>(characters.size() - 1))) {
      return std::nullopt;
    }
    return characters.data();
  }

  /// Assigns `reading` unless it is empty.
  template <class T>
  static void set(std::optional<T>& value, const std::optional<T>& reading) {
    if (reading) value = reading;
  }

  std::optional<int> number(const char* name, auto... subject) const {
    unsigned value = 0;
    if (!call(name, device_, subject..., &value)) return std::nullopt;
    return static_cast<int>(value);
  }

  std::optional<double> watts(const char* name) const {
    const auto milliwatts = number(name);
    return milliwatts ? std::optional(1e-3 * *milliwatts) : std::nullopt;
  }

  std::optional<bool> mode(const char* name) const {
    unsigned current = 0;
    unsigned pending = 0;
    if (!call(name, device_, &current, &pending)) return std::nullopt;
    return current != 0;
  }

  std::optional<std::int64_t> ecc_errors(int type) const {
    unsigned long long errors = 0;
    if (!call("nvmlDeviceGetTotalEccErrors", device_, type, counter_volatile, &errors)) {
      return std::nullopt;
    }
    return static_cast<std::int64_t>(errors);
  }

  std::optional<int> remapped_rows() const {
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (!call("nvmlDeviceGetRemappedRows", device_, &corrected, &uncorrected, &pending, &failed)) {
      return std::nullopt;
    }
    return static_cast<int>(corrected + uncorrected);
  }

  Symbols symbols_;
  bool ready_;
  void* device_ = nullptr;
};

}  // namespace

Symbols load_nvml() {
  const std::shared_ptr<void> library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL),
                                      [](void* handle) {
                                        if (handle != nullptr) dlclose(handle);
                                      });
  if (library == nullptr) return {};
  return [library](const char* name) { return dlsym(library.get(), name); };
}

Monitor nvml_monitor(const std::string& pci_bus_id, Symbols symbols) {
  if (!symbols) return {};
  const auto nvml = std::make_shared<Nvml>(std::move(symbols));
  if (!nvml->find(pci_bus_id)) return {};
  return {.describe = [nvml](const DeviceInfo& device) { return nvml->describe(device); },
          .health = [nvml] { return nvml->health(); },
          .throttle_reasons = [nvml] { return nvml->throttle_reasons(); },
          .other_processes = [nvml] { return nvml->other_processes(); }};
}

}  // namespace overlap::measure
