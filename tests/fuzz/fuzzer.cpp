/// One target for libFuzzer: OVERLAP_FUZZ_TARGET names it.
#include <algorithm>
#include <cstdint>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto target = std::ranges::find(overlap::fuzz::targets(), OVERLAP_FUZZ_TARGET,
                                               &overlap::fuzz::Target::name);
  target->run(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
