#include "base/proc.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

namespace overlap::base {
namespace {

/// Where a version of control groups keeps memory limits.
struct GroupVersion {
  const char* line;  ///< begins this process' line in /proc/self/cgroup, after the number
  const char* mount;
  const char* most;
  const char* used;
  const char* cache;  ///< key in memory.stat: file caches that count as free
};

constexpr auto versions = std::to_array<GroupVersion>(
    {{"::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
     {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
      "total_inactive_file"}});

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

/// Path of the group of this process, "/job/step"; empty: none.
std::string group_of(const GroupVersion& version, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto colon = std::min(line.find(':'), line.size());
    const std::string_view rest = std::string_view(line).substr(colon);
    const std::string_view wanted = version.line;
    if (rest.starts_with(wanted)) return std::string(rest.substr(wanted.size()));
  }
  return "";
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
    for (std::string group = group_of(version, root);; group.resize(group.rfind('/'))) {
      const auto left = left_in_group(version, root + version.mount + group);
      if (left) available = std::min(available.value_or(*left), *left);
      if (group.find('/') == std::string::npos) break;
    }
  }
  return available;
}

}  // namespace overlap::base
