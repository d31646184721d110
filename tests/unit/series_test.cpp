#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/run.hpp"

/// What is kept of a long run.
namespace overlap::experiment {
namespace {

using testing::ElementsAre;

/// Of the values 0, 1, ... `n` - 1, with at most 8.
std::vector<double> thinned(std::int64_t n) {
  std::vector<double> kept;
  for (std::int64_t i = 0; i < n; ++i) add_thinned(kept, static_cast<double>(i), i, 8);
  return kept;
}

TEST(Thinning, KeepsEvenlySpacedValues) {
  EXPECT_THAT(thinned(8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(thinned(9), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(thinned(16), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
  EXPECT_THAT(thinned(17), ElementsAre(0, 4, 8, 12, 16));
  EXPECT_THAT(thinned(40), ElementsAre(0, 8, 16, 24, 32));
}

TEST(Thinning, IsBounded) {
  for (const std::int64_t n : {1000, 12345, 1 << 20}) {
    const std::vector<double> kept = thinned(n);
    EXPECT_LE(kept.size(), 8U);
    EXPECT_GE(kept.size(), 4U);
    EXPECT_GE(kept.back(), static_cast<double>(n) / 2);
  }
}

}  // namespace
}  // namespace overlap::experiment
