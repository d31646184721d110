#pragma once

#include <cstdint>

namespace overlap::lanes {

/// Names what the issuing thread does while this lives, for profilers: a region for Kokkos tools,
/// where one is loaded, and an NVTX range of the domain "overlap", whose payload is the number.
/// Costs nanoseconds where nobody looks. Objects nest.
class Range {
 public:
  explicit Range(const char* name, std::int64_t number = 0);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool region_;  ///< a tool was told
};

}  // namespace overlap::lanes
