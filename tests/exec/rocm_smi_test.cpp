#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "measure/platform_rocm_smi.hpp"

/// The reader of AMD's management library, against a library of planted readings.
namespace overlap::measure {
namespace {

struct Frequencies {
  bool deep_sleep;
  std::uint32_t count, current;
  std::uint64_t hz[33];
};
struct Link {
  Frequencies rate;
  std::uint32_t lanes[33];
};
struct Errors {
  std::uint64_t corrected, uncorrected;
};
struct Process {
  std::uint32_t pid, pasid;
  std::uint64_t memory, copies_us;
  std::uint32_t occupancy;
};

/// What the planted library knows; the second of its devices is the one that is read.
struct Planted {
  int opened = 0;  ///< rsmi_init without rsmi_shut_down
  std::string pci = "0001:c1:02.0";
  Link link = {{false, 3, 1, {5'000'000'000, 16'000'000'000, 32'000'000'000}}, {16, 8, 16}};
  Frequencies clock = {true, 3, 1, {132'000'000, 500'000'000, 1'700'000'000}};
  std::uint64_t corrected = 4;
  std::vector<std::uint32_t> pids = {1};
  std::map<std::string, void*> functions;  ///< by name
};

Planted* library = nullptr;  // C functions have nothing else to know it by
constexpr int not_supported = 2;
constexpr std::uint32_t own_device = 1;

int init(std::uint64_t) { return ++library->opened, 0; }
int shut_down() { return --library->opened, 0; }
int count(std::uint32_t* devices) {
  *devices = 3;
  return 0;
}
int pci_id(std::uint32_t device, std::uint64_t* id) {
  // The last is a further partition of the second.
  constexpr std::uint64_t ids[] = {0xc100, 0x1'0000'c110, 0x1'1000'c111};
  *id = ids[device];
  return 0;
}
int bandwidth(std::uint32_t device, Link* link) {
  *link = library->link;
  return device == own_device ? 0 : not_supported;
}
int clock(std::uint32_t device, int type, Frequencies* found) {
  *found = library->clock;
  if (type == 4) *found = {false, 1, 0, {1'600'000'000}};
  return device == own_device && (type == 0 || type == 4) ? 0 : not_supported;
}
template <std::uint64_t Value>
int number(std::uint32_t device, std::uint64_t* value) {
  *value = Value;
  return device == own_device ? 0 : not_supported;
}
template <std::uint64_t Value>
int sensor(std::uint32_t device, std::uint32_t which, std::uint64_t* value) {
  return which == 0 ? number<Value>(device, value) : not_supported;
}
int power(std::uint32_t device, std::uint64_t* value, int* kind) {
  *kind = 1;
  return number<123'456'000>(device, value);
}
int errors(std::uint32_t, std::uint64_t block, Errors* found) {
  *found = {library->corrected, 1};
  return block == 1 ? 0 : not_supported;
}
template <int Sensor>
int temperature(std::uint32_t, std::uint32_t which, int metric, std::int64_t* found) {
  *found = 41'900 + which;
  return which == Sensor && metric == 0 ? 0 : not_supported;
}
int put(const char* text, char* into, unsigned size) {
  if (std::strlen(text) >= size) return not_supported;
  std::strcpy(into, text);
  return 0;
}
int processes(Process* found, std::uint32_t* items) {
  if (*items < library->pids.size()) return not_supported;
  *items = static_cast<std::uint32_t>(library->pids.size());
  for (std::size_t i = 0; i < library->pids.size(); ++i) found[i] = {library->pids[i], 0, 0, 0, 0};
  return 0;
}
/// Even processes use our device, odd ones the first.
int devices_of(std::uint32_t pid, std::uint32_t* devices, std::uint32_t* items) {
  devices[0] = pid % 2 == 0 ? own_device : 0;
  *items = 1;
  return 0;
}

class RocmSmiTest : public testing::Test {
 protected:
  RocmSmiTest() {
    library = &planted;
    plant("rsmi_init", init);
    plant("rsmi_shut_down", shut_down);
    plant("rsmi_num_monitor_devices", count);
    plant("rsmi_dev_pci_id_get", pci_id);
    plant("rsmi_dev_pci_bandwidth_get", bandwidth);
    plant("rsmi_dev_gpu_clk_freq_get", clock);
    plant("rsmi_dev_ecc_enabled_get", number<0b101>);
    plant("rsmi_dev_pci_replay_counter_get", number<3>);
    plant("rsmi_dev_power_cap_get", sensor<500'000'000>);
    plant("rsmi_dev_power_cap_default_get", number<560'000'000>);
    plant("rsmi_dev_power_get", power);
    plant("rsmi_dev_ecc_count_get", errors);
    plant("rsmi_dev_temp_metric_get", temperature<1>);
    plant(
        "rsmi_dev_vbios_version_get",
        +[](std::uint32_t, char* into, unsigned size) { return put("113-D65209", into, size); });
    plant(
        "rsmi_dev_serial_number_get",
        +[](std::uint32_t, char* into, unsigned size) { return put("69221", into, size); });
    plant(
        "rsmi_version_str_get", +[](int component, char* into, unsigned size) {
          return component == 0 ? put("6.10.5", into, size) : not_supported;
        });
    plant("rsmi_compute_process_info_get", processes);
    plant("rsmi_compute_process_gpus_get", devices_of);
  }
  ~RocmSmiTest() override { library = nullptr; }

  void plant(const char* name, auto* function) {
    planted.functions[name] = reinterpret_cast<void*>(function);
  }

  Monitor monitor() {
    return rocm_smi_monitor(planted.pci, [this](const char* name) -> void* {
      const auto found = planted.functions.find(name);
      return found == planted.functions.end() ? nullptr : found->second;
    });
  }

  Planted planted;
};

TEST_F(RocmSmiTest, DescribesTheDevice) {
  const base::DeviceInfo device = monitor().describe({.name = "planted"});
  EXPECT_EQ(device.name, "planted");
  EXPECT_EQ(device.pcie_gen, 4);
  EXPECT_EQ(device.pcie_gen_max, 5);
  EXPECT_EQ(device.pcie_width, 8);
  EXPECT_EQ(device.pcie_width_max, 16);
  EXPECT_EQ(device.sm_clock_mhz, 500);
  EXPECT_EQ(device.sm_clock_max_mhz, 1700);
  EXPECT_EQ(device.memory_clock_mhz, 1600);
  EXPECT_EQ(device.ecc, true);
  EXPECT_EQ(device.driver, "6.10.5");
  EXPECT_EQ(device.vbios, "113-D65209");
  EXPECT_EQ(device.serial, "69221");
  EXPECT_EQ(device.power_limit_w, 500);
  EXPECT_EQ(device.power_limit_default_w, 560);
}

TEST_F(RocmSmiTest, ReadsHealthAsItIsNow) {
  const Monitor device = monitor();
  base::Health health = device.health();
  EXPECT_EQ(health.pcie_gen, 4);
  EXPECT_EQ(health.pcie_width, 8);
  EXPECT_EQ(health.pcie_replays, 3);
  EXPECT_EQ(health.ecc_corrected, 4);
  EXPECT_EQ(health.ecc_uncorrected, 1);
  EXPECT_EQ(health.temperature_c, 41);
  EXPECT_DOUBLE_EQ(health.power_w.value(), 123.456);
  EXPECT_EQ(health.sm_clock_mhz, 500);
  EXPECT_EQ(health.memory_clock_mhz, 1600);
  planted.link.rate.current = 2;
  planted.corrected = 9;
  health = device.health();
  EXPECT_EQ(health.pcie_gen, 5);
  EXPECT_EQ(health.pcie_width, 16);
  EXPECT_EQ(health.ecc_corrected, 9);
}

TEST_F(RocmSmiTest, EachGenerationHasItsRate) {
  const Monitor device = monitor();
  int generation = 0;
  for (const double gigatransfers : {2.5, 5.0, 8.0, 16.0, 32.0, 64.0}) {
    planted.link.rate.hz[1] = static_cast<std::uint64_t>(gigatransfers * 1e9);
    EXPECT_EQ(device.health().pcie_gen, ++generation) << gigatransfers;
  }
}

TEST_F(RocmSmiTest, DevicesHaveDifferentSensors) {
  plant("rsmi_dev_temp_metric_get", temperature<0>);
  planted.functions.erase("rsmi_dev_power_get");
  plant("rsmi_dev_power_ave_get", sensor<99'000'000>);
  const base::Health health = monitor().health();
  EXPECT_EQ(health.temperature_c, 41);
  EXPECT_EQ(health.power_w, 99);
}

TEST_F(RocmSmiTest, WhatAnOlderLibraryWritesIsNotTaken) {
  // Before ROCm 6 the structure had no first member: count, current, then the frequencies.
  const std::uint32_t words[] = {3, 1, 500'000'000};
  std::memcpy(&planted.clock, words, sizeof words);
  std::memcpy(&planted.link, words, sizeof words);
  const base::Health health = monitor().health();
  EXPECT_FALSE(health.sm_clock_mhz || health.pcie_gen || health.pcie_width);
}

TEST_F(RocmSmiTest, OtherProcessesAreThoseOnTheDevice) {
  const auto own = static_cast<std::uint32_t>(getpid());
  const Monitor device = monitor();
  planted.pids = {own};
  EXPECT_EQ(device.other_processes(), 0);
  const std::uint32_t even = 2 * own, odd = even + 1;
  planted.pids = {even, own, odd};
  EXPECT_EQ(device.other_processes(), 1);
  for (const auto& others : {std::vector<std::uint32_t>(), {even, odd}}) {
    planted.pids = others;
    EXPECT_EQ(device.other_processes(), std::nullopt) << others.size();
  }
}

TEST_F(RocmSmiTest, WhatTheLibraryDoesNotKnowIsEmpty) {
  std::erase_if(planted.functions, [](const auto& function) {
    return function.first.starts_with("rsmi_dev") && function.first != "rsmi_dev_pci_id_get";
  });
  const Monitor device = monitor();
  const base::DeviceInfo info = device.describe({.name = "planted", .ecc = true});
  EXPECT_EQ(info.ecc, true);  // known from elsewhere
  EXPECT_FALSE(info.pcie_gen || info.pcie_width || info.vbios || info.power_limit_w);
  const base::Health health = device.health();
  EXPECT_FALSE(health.pcie_gen || health.pcie_replays || health.ecc_corrected ||
               health.temperature_c || health.power_w || health.sm_clock_mhz);
  EXPECT_FALSE(device.throttle_reasons());
}

TEST_F(RocmSmiTest, StaysOpenAsLongAsTheMonitorLives) {
  {
    const Monitor device = monitor();
    const Monitor copy = device;
    EXPECT_EQ(planted.opened, 1);
  }
  EXPECT_EQ(planted.opened, 0);
}

TEST_F(RocmSmiTest, WithoutTheDeviceThereIsNoMonitor) {
  for (const char* const pci : {"0001:c1:03.0", "0000:c1:02.0", "0001:c2:02.0", ""}) {
    planted.pci = pci;
    EXPECT_FALSE(monitor().health) << pci;
  }
  planted.pci = "0001:c1:02.0";
  for (const char* const lost : {"rsmi_num_monitor_devices", "rsmi_init"}) {
    planted.functions.erase(lost);
    EXPECT_FALSE(monitor().health) << lost;
    EXPECT_EQ(planted.opened, 0) << lost;
  }
  EXPECT_FALSE(rocm_smi_monitor(planted.pci, {}).health);
}

}  // namespace
}  // namespace overlap::measure
