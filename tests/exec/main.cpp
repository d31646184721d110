#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>

#include "measure/platform.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (overlap::measure::devices().empty()) return 77;  // skipped: built for a GPU that is not there
  setenv("OMP_PROC_BIND", "false", 0);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
