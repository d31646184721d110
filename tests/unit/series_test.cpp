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

TEST(Series, SplitsTheDurationIntoBins) {
  std::vector<SoakBin> bins;
  for (int i = 0; i < 2048; ++i) {  // four each, with one slow repetition in the third
    add(bins, 1024, 0.5 * i, i == 9 ? 3.0 : 1.0 + 0.125 * (i % 4));
  }
  ASSERT_EQ(bins.size(), 512U);
  EXPECT_EQ(bins[2].at_s, 4);
  EXPECT_EQ(bins[2].repetitions, 4);
  EXPECT_EQ(bins[2].min_s, 1);
  EXPECT_EQ(bins[2].max_s, 3);
  EXPECT_THAT(bins[2].kept_s, ElementsAre(1, 3, 1.25, 1.375));
}

TEST(Series, IsBoundedHoweverManyRepetitionsThereAre) {
  std::vector<SoakBin> bins;
  for (int i = 0; i <= 1 << 20; ++i) add(bins, 1, i * 0x1p-20, 1);  // the last one too late
  EXPECT_EQ(bins.size(), 512U);
  std::int64_t repetitions = 0;
  for (const SoakBin& bin : bins) {
    EXPECT_LE(bin.kept_s.size(), 64U);
    repetitions += bin.repetitions;
  }
  EXPECT_EQ(repetitions, (1 << 20) + 1);
}

}  // namespace
}  // namespace overlap::experiment
