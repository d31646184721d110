#pragma once

#include <cstddef>

#include "base/parallel.hpp"

namespace overlap::base {

/// Writes the bytes back to memory and removes them from the caches of the processor. Does nothing
/// on processors other than x86-64 and AArch64.
inline void flush_caches([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__) || defined(__aarch64__)
  constexpr std::size_t line_bytes = 64;
  const auto lines = static_cast<std::int64_t>((bytes + line_bytes - 1) / line_bytes);
  parallel_for(lines, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::byte* const place =
          static_cast<const std::byte*>(data) + static_cast<std::size_t>(line) * line_bytes;
#if defined(__x86_64__)
      __builtin_ia32_clflush(place);
#else
      asm volatile("dc civac, %0" : : "r"(place) : "memory");
#endif
    }
#if defined(__x86_64__)
    __builtin_ia32_mfence();
#else
    asm volatile("dsb sy" : : : "memory");
#endif
  });
#endif
}

}  // namespace overlap::base
