#include "base/parallel.hpp"

#include <sched.h>

namespace overlap::base {

int usable_cpus() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace overlap::base
