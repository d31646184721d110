#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "deck/fields.hpp"
#include "measure/numa.hpp"
#include "measure/platform.hpp"
#include "schedule/build.hpp"

/// The PCIe link and the NUMA nodes from Linux' files, and arrays on them.
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

class NumaTest : public testing::Test {
 protected:
  NumaTest() { std::filesystem::create_directories(nodes_); }
  ~NumaTest() override { std::filesystem::remove_all(nodes_); }

  void host_has(const std::string& memory, const std::string& cpus) const {
    std::ofstream(nodes_ + "/has_memory") << memory << '\n';
    std::ofstream(nodes_ + "/has_cpu") << cpus << '\n';
  }
  /// The node, or the reason why there is none.
  std::string node(int numa, std::optional<int> local) const {
    deck::Deck deck;
    deck.path = "a.yaml";
    deck.memory.numa = numa;
    try {
      return std::to_string(wanted_node(deck, local, numa_nodes(nodes_)));
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::precondition);
      return error.what();
    }
  }

  std::string nodes_ = testing::TempDir() + "overlap-nodes-" + std::to_string(getpid());
};

TEST_F(NumaTest, NodesOfTheHost) {
  using namespace deck;
  host_has("0-3", "0,2-3");  // node 1 is the memory of a device
  EXPECT_EQ(node(numa_local, 2), "2");
  EXPECT_EQ(node(numa_remote, 2), "3");
  EXPECT_EQ(node(numa_remote, 0), "2");
  EXPECT_EQ(node(1, 0), "1");
  EXPECT_EQ(node(4, 0),
            "a.yaml: memory.numa: found 4, but the host has memory on NUMA node 0, 1, 2, 3");
  EXPECT_EQ(node(numa_local, std::nullopt),
            "a.yaml: memory.numa: found local, but the NUMA node of the device is not known");
}

TEST_F(NumaTest, HostsWithOneNodeOrNone) {
  using namespace deck;
  EXPECT_EQ(node(numa_local, 0),
            "a.yaml: memory.numa: found local, but this kernel has no NUMA nodes");
  host_has("0", "0");
  EXPECT_EQ(node(numa_local, std::nullopt), "0");
  EXPECT_EQ(node(0, std::nullopt), "0");
  EXPECT_EQ(node(numa_remote, std::nullopt),
            "a.yaml: memory.numa: found remote, but the host has memory on NUMA node 0 alone");
}

/// On this host, if its kernel lets containers ask.
TEST_F(NumaTest, ArraysLieWhereTheDeckSays) {
  const NumaNodes nodes = numa_nodes();
  int on_stack = 0;
  if (nodes.with_memory.empty() || !node_of(&on_stack)) GTEST_SKIP() << "a kernel without NUMA";
  deck::Deck deck;
  deck.memory.host = deck::HostMemory::pageable;
  const auto costs = schedule::costs(deck.workload, 1);
  const auto layout = schedule::layout(deck, costs, std::nullopt);
  const auto make = [&] {
    return workload::make(workload::default_space, deck, costs,
                          schedule::device_bytes(costs, layout, costs.units), 1);
  };
  for (const int number : nodes.with_cpus) {
    deck.memory.numa = number;
    const workload::Workload workload = on_node(deck, number, make);
    EXPECT_EQ(node_of(workload.host.front().data()), number);
  }
  EXPECT_EQ(node_of(nullptr), std::nullopt);
  deck.memory.numa = deck::most_numa_node;
  EXPECT_THROW(on_node(deck, deck::most_numa_node, make), base::Error);
}

}  // namespace
}  // namespace overlap::measure
