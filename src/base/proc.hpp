#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Values that the kernel reports in /proc and /sys.
namespace overlap::base {

/// Value of the first line "KEY... : value" or "KEY: value" in a file under /proc; empty: none.
std::string proc_value(const std::string& path, const std::string& key);

/// A value of /proc/meminfo in bytes; empty: unknown.
std::optional<std::int64_t> memory_bytes(const std::string& key, const std::string& root = "");

/// Available memory in bytes, limited by the control groups of this process (batch job, container),
/// of version 2 or 1; empty: unknown. `root` replaces "/".
std::optional<std::int64_t> available_memory(const std::string& root = "");

/// CPU time per wall-clock time that the control groups of this process allow; empty: no limit.
std::optional<double> cpu_quota(const std::string& root = "");

}  // namespace overlap::base
