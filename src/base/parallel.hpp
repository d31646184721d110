#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace overlap::base {

/// Number of processors in the affinity mask of the calling thread, at least 1.
inline int usable_cpus() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Calls `body(begin, end)` on contiguous parts of [0, count) of at least `smallest_part` each,
/// with one thread per usable processor. Small counts run on the calling thread. Rethrows an
/// exception of one part after all parts have ended.
template <class Body>
void parallel_for(std::int64_t count, const Body& body, std::int64_t smallest_part = 1 << 14) {
  const std::int64_t parts = std::clamp<std::int64_t>(count / smallest_part, 1, usable_cpus());
  if (parts == 1) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  std::exception_ptr failure;
  std::mutex failure_mutex;
  {
    std::vector<std::jthread> threads;
    for (std::int64_t part = 0; part < parts; ++part) {
      threads.emplace_back([&, part] {
        try {
          body(count * part / parts, count * (part + 1) / parts);
        } catch (...) {
          const std::scoped_lock lock(failure_mutex);
          failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace overlap::base
