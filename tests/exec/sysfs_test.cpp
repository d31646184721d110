#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "measure/platform.hpp"

/// The PCIe link and the NUMA node of an address, from Linux.
namespace overlap::measure {
namespace {

class SysfsTest : public testing::Test {
 protected:
  SysfsTest() { std::filesystem::create_directories(devices_ + "/0001:c1:02.0"); }
  ~SysfsTest() override { std::filesystem::remove_all(devices_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(devices_ + "/0001:c1:02.0/" + name) << text << '\n';
  }

  std::string devices_ = testing::TempDir() + "overlap-sysfs-" + std::to_string(getpid());
};

TEST_F(SysfsTest, ReadsTheLink) {
  write("current_link_speed", "16.0 GT/s PCIe");
  write("current_link_width", "8");
  write("max_link_speed", "32.0 GT/s PCIe");
  write("max_link_width", "16");
  const Monitor monitor = sysfs_monitor("0001:C1:02.0", devices_);
  const base::DeviceInfo device = monitor.describe({.name = "a"});
  EXPECT_EQ(device.name, "a");
  EXPECT_EQ(device.pcie_gen, 4);
  EXPECT_EQ(device.pcie_width, 8);
  EXPECT_EQ(device.pcie_gen_max, 5);
  EXPECT_EQ(device.pcie_width_max, 16);
  EXPECT_EQ(monitor.health().pcie_width, 8);
  EXPECT_FALSE(monitor.throttle_reasons);
  EXPECT_FALSE(monitor.other_processes);

  const std::pair<const char*, int> generations[] = {{"2.5", 1}, {"5", 2}, {"8.0", 3}, {"64.0", 6}};
  for (const auto& [rate, generation] : generations) {
    write("current_link_speed", std::string(rate) + " GT/s PCIe");
    EXPECT_EQ(monitor.health().pcie_gen, generation);  // clocks and link change with the load
  }
  write("current_link_speed", "Unknown");
  EXPECT_EQ(monitor.health().pcie_gen, std::nullopt);
}

TEST_F(SysfsTest, DevicesWithoutALink) {
  EXPECT_FALSE(sysfs_monitor("0001:c1:02.0", devices_).describe);
  write("current_link_width", "0");  // as integrated devices have it
  EXPECT_FALSE(sysfs_monitor("0001:c1:02.0", devices_).health);
  EXPECT_FALSE(sysfs_monitor("0000:00:00.0", devices_).describe);
}

TEST(NodeOf, IsKnownWhereTheKernelTells) {
  const int on_stack = 0;
  EXPECT_GE(node_of(&on_stack).value_or(0), 0);
  EXPECT_EQ(node_of(nullptr), std::nullopt);
}

}  // namespace
}  // namespace overlap::measure
