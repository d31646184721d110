#include "measure/numa.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include "base/text.hpp"
#include "deck/fields.hpp"
#include "measure/platform.hpp"

namespace overlap::measure {
namespace {

base::Error cannot(const deck::Deck& deck, const std::string& why) {
  return deck::error_at(deck, base::ExitCode::precondition, "memory.numa",
                        fmt::format("found {}, but {}", deck::spell_numa(deck.memory.numa), why));
}

/// A set of nodes, one bit each, as the kernel takes it.
constexpr std::size_t node_bits = deck::most_numa_node + 1;
using Nodes = std::array<std::uint64_t, node_bits / 64>;

/// Sets the memory policy of this thread. libnuma would be a further dependency for three calls.
bool set_policy(int mode, const Nodes& nodes) {
  return syscall(SYS_set_mempolicy, mode, nodes.data(), node_bits + 1) == 0;
}

}  // namespace

NumaNodes numa_nodes(const std::string& folder) {
  const auto nodes = [&](const char* name) {
    std::ifstream file(folder + "/" + name);
    std::string list;
    std::getline(file, list);
    return base::numbers(list);
  };
  const auto memory = nodes("has_memory");
  const auto cpus = nodes("has_cpu");
  NumaNodes result{.with_memory = {memory.begin(), memory.end()}, .with_cpus = {}};
  std::ranges::set_intersection(memory, cpus, std::back_inserter(result.with_cpus));
  return result;
}

int wanted_node(const deck::Deck& deck, std::optional<int> local, const NumaNodes& nodes) {
  const int numa = deck.memory.numa;
  if (nodes.with_memory.empty()) throw cannot(deck, "this kernel has no NUMA nodes");
  const std::string memory =
      fmt::format("the host has memory on NUMA node {}", fmt::join(nodes.with_memory, ", "));
  if (numa >= 0) {
    if (std::ranges::count(nodes.with_memory, numa) > 0) return numa;
    throw cannot(deck, memory);
  }
  if (!local && nodes.with_memory.size() == 1) local = nodes.with_memory.front();
  if (!local) throw cannot(deck, "the NUMA node of the device is not known");
  if (numa == deck::numa_local) return *local;
  const auto distance = [&](int node) {
    return node == *local ? INT_MAX : std::abs(node - *local);
  };
  const auto nearest = std::ranges::min_element(nodes.with_cpus, {}, distance);
  if (nearest == nodes.with_cpus.end() || *nearest == *local) throw cannot(deck, memory + " alone");
  return *nearest;
}

std::optional<int> wanted_node(const deck::Deck& deck, const base::DeviceInfo& device) {
  if (deck.memory.numa == deck::numa_any) return std::nullopt;
  std::optional<int> local = device.numa_node;
  unsigned cpu = 0;
  unsigned node = 0;
  if (!on_gpu() && getcpu(&cpu, &node) == 0) local = static_cast<int>(node);
  return wanted_node(deck, local, numa_nodes());
}

std::optional<int> node_of(const void* memory) {
  int node = 0;
  const bool succeeded = memory != nullptr && syscall(SYS_get_mempolicy, &node, nullptr, 0, memory,
                                                      MPOL_F_NODE | MPOL_F_ADDR) == 0;
  return succeeded ? std::optional(node) : std::nullopt;
}

workload::Workload on_node(const deck::Deck& deck, std::optional<int> node,
                           const std::function<workload::Workload()>& make) {
  if (!node) return make();
  const auto number = static_cast<std::size_t>(*node);
  int mode = MPOL_DEFAULT;
  Nodes before = {};
  Nodes target = {};
  target[number / 64] = std::uint64_t{1} << number % 64;
  // From that node as long as it has room.
  if (syscall(SYS_get_mempolicy, &mode, before.data(), node_bits, nullptr, 0) != 0 ||
      !set_policy(MPOL_PREFERRED, target)) {
    throw cannot(deck, fmt::format("the kernel refuses to place memory on NUMA node {}: {}", *node,
                                   std::generic_category().message(errno)));
  }
  const std::shared_ptr<const void> restore(nullptr, [&](auto) { set_policy(mode, before); });
  workload::Workload workload = make();  // takes page-locked pages
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const workload::HostArray& array : workload.host) {
    // The first touch takes all others; what is there stays.
    for (std::size_t at = 0; at < array.size(); at += page) {
      volatile workload::Byte* const byte = array.data() + at;
      *byte = *byte;
    }
    const auto actual = node_of(array.data());
    if (actual.value_or(*node) == *node) continue;
    throw cannot(deck, fmt::format("the kernel placed arrays on NUMA node {}", *actual));
  }
  return workload;
}

}  // namespace overlap::measure
