#include "base/proc.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace overlap::base {
namespace {

/// Where a version of control groups keeps memory limits.
struct GroupVersion {
  const char* controller;
  const char* most;
  const char* used;
  const char* cache;  ///< key in memory.stat: file caches that count as free
};

constexpr auto versions = std::to_array<GroupVersion>(
    {{"", "memory.max", "memory.current", "inactive_file"},
     {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}});

/// Bytes that a control group still allows its processes; empty: no limit.
std::optional<std::int64_t> left_in_group(const GroupVersion& version, const std::string& folder) {
  std::int64_t most = 0, used = 0, bytes = 0;
  constexpr std::int64_t unlimited = std::int64_t{1} << 60;  // version 1 has a number, too
  std::ifstream limit(folder + "/" + version.most);
  if (!(limit >> most) || most > unlimited) return std::nullopt;
  std::ifstream(folder + "/" + version.used) >> used;
  std::ifstream stat(folder + "/memory.stat");
  for (std::string word; stat >> word >> bytes;) {
    if (word == version.cache) used -= bytes;
  }
  return std::max<std::int64_t>(0, most - used);
}

/// The folders of the group of this process and of those around it. `controller`: of version 1;
/// empty: version 2, whose folders have the limits of all controllers.
std::vector<std::string> group_folders(const std::string& controller, const std::string& root) {
  std::string mount = root + "/sys/fs/cgroup", group;
  if (!controller.empty()) mount += "/" + controller;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/job/step"
    const auto names = std::min(line.find(':'), line.size()), path = line.find(':', names + 1);
    if (path == std::string::npos) continue;
    const std::string listed = "," + line.substr(names + 1, path - names - 1) + ",";
    if (listed.find("," + controller + ",") != std::string::npos) group = line.substr(path + 1);
  }
  std::vector<std::string> folders;
  for (;; group.resize(group.rfind('/'))) {
    folders.push_back(mount + group);
    if (group.find('/') == std::string::npos) return folders;
  }
}

}  // namespace

std::string proc_value(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos) {
      const auto begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? std::string() : line.substr(begin);
    }
  }
  return {};
}

std::optional<std::int64_t> memory_bytes(const std::string& key, const std::string& root) {
  const std::string kib = proc_value(root + "/proc/meminfo", key);
  if (kib.empty()) return std::nullopt;
  return 1024 * std::strtoll(kib.c_str(), nullptr, 10);
}

std::optional<std::int64_t> available_memory(const std::string& root) {
  auto available = memory_bytes("MemAvailable", root);
  for (const GroupVersion& version : versions) {
    for (const std::string& folder : group_folders(version.controller, root)) {
      const auto left = left_in_group(version, folder);
      if (left) available = std::min(available.value_or(*left), *left);
    }
  }
  return available;
}

std::optional<double> cpu_quota(const std::string& root) {
  std::optional<double> least;
  for (const std::string controller : {"", "cpu"}) {
    for (const std::string& folder : group_folders(controller, root)) {
      double quota = 0, period = 0;
      std::ifstream file(folder + (controller.empty() ? "/cpu.max" : "/cpu.cfs_quota_us"));
      if (!(file >> quota) || quota <= 0) continue;  // no limit: "max", in version 1 -1
      if (!(file >> period)) std::ifstream(folder + "/cpu.cfs_period_us") >> period;
      if (period > 0) least = std::min(least.value_or(quota / period), quota / period);
    }
  }
  return least;
}

}  // namespace overlap::base
