#pragma once

#include <cstdint>

namespace overlap::lanes {

/// Marks the lifetime of this object for profilers: a region for Kokkos tools, if one is loaded,
/// and an NVTX range in the domain "overlap" with `number` as payload. Costs nanoseconds without a
/// profiler. Ranges nest.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name, std::int64_t number = 0);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

 private:
  bool region_;  ///< a Kokkos region was pushed
};

}  // namespace overlap::lanes
