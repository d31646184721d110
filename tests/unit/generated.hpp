#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace overlap::test {

inline std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Compares a committed file with what the program generates or, asked for it, writes it anew.
inline void expect_generated(const std::string& path, const std::string& expected) {
  if (std::getenv("OVERLAP_REGENERATE") != nullptr) std::ofstream(path) << expected;
  EXPECT_TRUE(content(path) == expected)
      << path << " is not what the program generates; write it anew with\n"
      << "  OVERLAP_REGENERATE=1 ci/quickstart.sh --test -R 'OnThePage|AsItIsWritten'";
}

}  // namespace overlap::test
