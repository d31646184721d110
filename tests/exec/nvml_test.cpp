#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "measure/platform.hpp"

/// The reader of NVIDIA's management library, against a library of planted readings.
namespace overlap::measure {
namespace {

using base::Throttle;
using testing::ElementsAre;
using testing::IsEmpty;

/// What the planted library knows of its one device.
struct Planted {
  int opened = 0;  ///< nvmlInit_v2 without nvmlShutdown
  std::string pci = "00000000:18:00.0";
  unsigned width = 8;
  unsigned long long throttle_bits = 0;
  unsigned long long corrected = 4;
  std::vector<unsigned> pids = {1};
  std::map<std::string, void*> functions;  ///< by name
};

struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

Planted* library = nullptr;  // C functions have nothing else to know it by
constexpr int not_found = 6;
constexpr int too_small = 7;

template <unsigned Value>
int number(void*, unsigned* value) {
  *value = Value;
  return 0;
}
template <unsigned Now>
int mode(void*, unsigned* now, unsigned* pending) {
  *now = Now;
  *pending = 1 - Now;
  return 0;
}
int put(const char* text, char* into, unsigned size) {
  if (std::strlen(text) >= size) return too_small;
  std::strcpy(into, text);
  return 0;
}

int init() { return ++library->opened, 0; }
int shutdown() { return --library->opened, 0; }
int handle(const char* pci, void** device) {
  if (pci != library->pci) return not_found;
  *device = library;
  return 0;
}
int width(void* device, unsigned* value) {
  *value = static_cast<Planted*>(device)->width;
  return 0;
}
int clock(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : type == 2 ? 3201 : 0;
  return 0;
}
int temperature(void*, int sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 41 : 0;
  return 0;
}
int ecc_errors(void* device, int type, int counter, unsigned long long* count) {
  if (counter != 0) return not_found;
  *count = type == 0 ? static_cast<Planted*>(device)->corrected : 1;
  return 0;
}
int rows(void*, unsigned* corrected, unsigned* uncorrected, unsigned*, unsigned*) {
  *corrected = 2;
  *uncorrected = 1;
  return 0;
}
int reasons(void* device, unsigned long long* bits) {
  *bits = static_cast<Planted*>(device)->throttle_bits;
  return 0;
}
int processes(void* device, unsigned* count, Process* found) {
  const auto& pids = static_cast<Planted*>(device)->pids;
  if (*count < pids.size()) return too_small;
  *count = static_cast<unsigned>(pids.size());
  for (std::size_t i = 0; i < pids.size(); ++i) found[i] = {pids[i], 1 << 20, ~0U, ~0U};
  return 0;
}

class NvmlTest : public testing::Test {
 protected:
  NvmlTest() {
    library = &planted;
    const auto plant = [&](const char* name, auto* function) {
      planted.functions[name] = reinterpret_cast<void*>(function);
    };
    plant("nvmlInit_v2", init);
    plant("nvmlShutdown", shutdown);
    plant("nvmlDeviceGetHandleByPciBusId_v2", handle);
    plant("nvmlDeviceGetCurrPcieLinkGeneration", number<5>);
    plant("nvmlDeviceGetMaxPcieLinkGeneration", number<5>);
    plant("nvmlDeviceGetCurrPcieLinkWidth", width);
    plant("nvmlDeviceGetMaxPcieLinkWidth", number<16>);
    plant("nvmlDeviceGetClockInfo", clock);
    plant("nvmlDeviceGetMaxClockInfo", clock);
    plant("nvmlDeviceGetEccMode", mode<1>);
    plant("nvmlDeviceGetMigMode", mode<0>);
    plant(
        "nvmlDeviceGetVbiosVersion",
        +[](void*, char* into, unsigned size) { return put("96.00.A5", into, size); });
    plant(
        "nvmlDeviceGetSerial",
        +[](void*, char* into, unsigned size) { return put("165", into, size); });
    plant(
        "nvmlSystemGetDriverVersion",
        +[](char* into, unsigned size) { return put("570.86.15", into, size); });
    plant("nvmlDeviceGetEnforcedPowerLimit", number<500000>);
    plant("nvmlDeviceGetPowerManagementDefaultLimit", number<700000>);
    plant("nvmlDeviceGetPcieReplayCounter", number<3>);
    plant("nvmlDeviceGetTotalEccErrors", ecc_errors);
    plant("nvmlDeviceGetRemappedRows", rows);
    plant("nvmlDeviceGetTemperature", temperature);
    plant("nvmlDeviceGetPowerUsage", number<123456>);
    plant("nvmlDeviceGetCurrentClocksEventReasons", reasons);
    plant("nvmlDeviceGetComputeRunningProcesses_v3", processes);
  }
  ~NvmlTest() override { library = nullptr; }

  Monitor monitor() {
    return nvml_monitor(planted.pci, [this](const char* name) -> void* {
      const auto found = planted.functions.find(name);
      return found == planted.functions.end() ? nullptr : found->second;
    });
  }

  Planted planted;
};

TEST_F(NvmlTest, DescribesTheDevice) {
  const base::DeviceInfo device = monitor().describe({.name = "planted"});
  EXPECT_EQ(device.name, "planted");
  EXPECT_EQ(device.pcie_gen, 5);
  EXPECT_EQ(device.pcie_gen_max, 5);
  EXPECT_EQ(device.pcie_width, 8);
  EXPECT_EQ(device.pcie_width_max, 16);
  EXPECT_EQ(device.sm_clock_mhz, 1980);
  EXPECT_EQ(device.memory_clock_mhz, 3201);
  EXPECT_EQ(device.ecc, true);
  EXPECT_EQ(device.mig, false);
  EXPECT_EQ(device.driver, "570.86.15");
  EXPECT_EQ(device.vbios, "96.00.A5");
  EXPECT_EQ(device.serial, "165");
  EXPECT_EQ(device.power_limit_w, 500);
  EXPECT_EQ(device.power_limit_default_w, 700);
}

TEST_F(NvmlTest, ReadsHealthAsItIsNow) {
  const Monitor device = monitor();
  base::Health health = device.health();
  EXPECT_EQ(health.pcie_gen, 5);
  EXPECT_EQ(health.pcie_width, 8);
  EXPECT_EQ(health.pcie_replays, 3);
  EXPECT_EQ(health.ecc_corrected, 4);
  EXPECT_EQ(health.ecc_uncorrected, 1);
  EXPECT_EQ(health.remapped_rows, 3);
  EXPECT_EQ(health.temperature_c, 41);
  EXPECT_DOUBLE_EQ(health.power_w.value(), 123.456);
  EXPECT_EQ(health.sm_clock_mhz, 1980);
  EXPECT_EQ(health.memory_clock_mhz, 3201);
  EXPECT_THAT(health.throttle_reasons.value(), IsEmpty());
  planted.width = 16;
  planted.corrected = 9;
  planted.throttle_bits = 0x84;
  health = device.health();
  EXPECT_EQ(health.pcie_width, 16);
  EXPECT_EQ(health.ecc_corrected, 9);
  EXPECT_THAT(health.throttle_reasons.value(),
              ElementsAre(Throttle::sw_power_cap, Throttle::hw_power_brake));
}

TEST_F(NvmlTest, EachReasonHasItsBit) {
  const Monitor device = monitor();
  for (const auto& [bit, reason] : {std::pair(0x1, Throttle::idle),
                                    {0x2, Throttle::applications_clocks},
                                    {0x4, Throttle::sw_power_cap},
                                    {0x8, Throttle::hw_slowdown},
                                    {0x10, Throttle::sync_boost},
                                    {0x20, Throttle::sw_thermal},
                                    {0x40, Throttle::hw_thermal},
                                    {0x80, Throttle::hw_power_brake},
                                    {0x100, Throttle::display_clocks}}) {
    planted.throttle_bits = static_cast<unsigned>(bit);
    EXPECT_THAT(device.throttle_reasons().value(), ElementsAre(reason)) << bit;
  }
}

TEST_F(NvmlTest, OlderDriversHaveAnotherNameForTheReasons) {
  auto& functions = planted.functions;
  functions["nvmlDeviceGetCurrentClocksThrottleReasons"] =
      functions.at("nvmlDeviceGetCurrentClocksEventReasons");
  functions.erase("nvmlDeviceGetCurrentClocksEventReasons");
  planted.throttle_bits = 0x40;
  EXPECT_THAT(monitor().throttle_reasons().value(), ElementsAre(Throttle::hw_thermal));
}

TEST_F(NvmlTest, ProcessesAreKnownWhereThisOneIsListed) {
  const auto own = static_cast<unsigned>(getpid());
  const Monitor device = monitor();
  planted.pids = {own};
  EXPECT_EQ(device.other_processes(), 0);
  planted.pids = {7, own, 8};
  EXPECT_EQ(device.other_processes(), 2);
  for (const auto& others :
       {std::vector<unsigned>(), {own + 1}, std::vector<unsigned>(2000, own)}) {
    planted.pids = others;
    EXPECT_EQ(device.other_processes(), std::nullopt) << others.size();
  }
}

TEST_F(NvmlTest, WhatTheLibraryDoesNotKnowIsEmpty) {
  std::erase_if(planted.functions, [](const auto& function) {
    return function.first.starts_with("nvmlDeviceGet") &&
           function.first.find("Handle") == std::string::npos;
  });
  const Monitor device = monitor();
  const base::DeviceInfo info = device.describe({.name = "planted", .ecc = true});
  EXPECT_EQ(info.ecc, true);  // known from elsewhere
  EXPECT_FALSE(info.pcie_gen || info.pcie_width || info.mig || info.vbios || info.power_limit_w);
  const base::Health health = device.health();
  EXPECT_FALSE(health.pcie_gen || health.pcie_replays || health.ecc_corrected ||
               health.remapped_rows || health.temperature_c || health.power_w ||
               health.sm_clock_mhz || health.throttle_reasons);
  EXPECT_FALSE(device.throttle_reasons());
  EXPECT_FALSE(device.other_processes());
}

TEST_F(NvmlTest, StaysOpenAsLongAsTheMonitorLives) {
  {
    const Monitor device = monitor();
    const Monitor copy = device;
    EXPECT_EQ(planted.opened, 1);
  }
  EXPECT_EQ(planted.opened, 0);
}

TEST_F(NvmlTest, WithoutTheDeviceThereIsNoMonitor) {
  for (const char* const lost : {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlInit_v2"}) {
    planted.functions.erase(lost);
    const Monitor device = monitor();
    EXPECT_FALSE(device.describe || device.health || device.throttle_reasons ||
                 device.other_processes)
        << lost;
    EXPECT_EQ(planted.opened, 0) << lost;
  }
  EXPECT_FALSE(nvml_monitor(planted.pci, {}).health);
}

}  // namespace
}  // namespace overlap::measure
