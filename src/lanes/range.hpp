#pragma once

#include <cstdint>

namespace overlap::lanes {

/// Marks the lifetime of this object for profilers: a region for Kokkos tools, if one is loaded,
/// and an NVTX range in the domain "overlap" with `number` as payload. Costs nanoseconds without a
/// profiler. Ranges nest.
class Range {
 public:
  explicit Range(const char* name, std::int64_t number = 0);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool region_;  ///< a Kokkos region was pushed
};

}  // namespace overlap::lanes
