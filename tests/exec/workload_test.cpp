#include <gmock/gmock.h>

#include "bench.hpp"
#include "workload/buffers.hpp"
#include "workload/data.hpp"

namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;

workload::Verification run(const deck::Deck& deck) {
  return TestBench(deck, Order::depth_first, 2).run(5);
}

struct CountsTheLast {
  Kokkos::View<std::int64_t, Space> visited;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i >= (std::int64_t{1} << 32) - 2) Kokkos::atomic_inc(visited.data());
  }
};

/// Number of indices from 2^32 - 2 on that a kernel over `count` elements visits.
std::int64_t last_visited(std::int64_t count) {
  const Space space;
  const Kokkos::View<std::int64_t, Space> visited("visited");
  workload::for_parts(count, [&](std::int64_t begin, std::int64_t end) {
    Kokkos::parallel_for("count", workload::RangePolicy(space, begin, end), CountsTheLast{visited});
  });
  std::int64_t found = 0;
  Kokkos::deep_copy(found, visited);
  return found;
}

TEST(WorkloadTest, KernelsMayHaveMoreElementsThan32BitsCount) {
  if (workload::is_host) GTEST_SKIP() << "takes seconds on a host";
  EXPECT_EQ(last_visited((std::int64_t{1} << 32) + 3), 5);
}

TEST(WorkloadTest, IncrementOfEveryTypeAndIntensity) {
  for (const ElementType type : {ElementType::float32, ElementType::float64}) {
    for (const std::int64_t repeats : {0, 1, 2, 17}) {
      deck::Deck deck = test_deck(WorkloadKind::increment, 5001, 3, type);
      deck.workload.intensity.repeats = repeats;
      const auto result = run(deck);
      EXPECT_FALSE(result.mismatch) << repeats;
      EXPECT_LE(result.max_error, repeats == 0 ? 0 : type == ElementType::float64 ? 1e-14 : 1e-5);
    }
  }
}

TEST(WorkloadTest, PipelineOfEveryTypeAndIntensity) {
  for (const ElementType type : {ElementType::float32, ElementType::float64}) {
    for (const std::int64_t repeats : {0, 1, 9}) {
      deck::Deck deck = test_deck(WorkloadKind::pipeline, 777, 2, type);
      deck.workload.intensity.repeats = repeats;
      EXPECT_FALSE(run(deck).mismatch) << repeats;
    }
  }
}

TEST(WorkloadTest, RowsumOfEveryTypeKernelAndLength) {
  for (const ElementType type :
       {ElementType::int32, ElementType::int64, ElementType::float32, ElementType::float64}) {
    for (const auto kernel : {deck::RowsumKernel::automatic, deck::RowsumKernel::thread_per_row,
                              deck::RowsumKernel::team_per_row}) {
      // Around the warp and the limits of a team.
      for (const std::int64_t columns : {1, 3, 6, 31, 64, 100, 255, 512, 1100}) {
        deck::Deck deck = test_deck(WorkloadKind::rowsum, 301, 3, type);
        deck.workload.columns = columns;
        deck.workload.kernel = kernel;
        const auto result = run(deck);
        EXPECT_FALSE(result.mismatch) << columns;
        const bool integer = type == ElementType::int32 || type == ElementType::int64;
        EXPECT_LE(result.max_error, integer ? 0 : 1e-3);
      }
    }
  }
}

TEST(WorkloadTest, RowsumOfFewVeryLongLines) {
  deck::Deck deck = test_deck(WorkloadKind::rowsum, 150000, 2, ElementType::int32);
  deck.workload.columns = 3;
  deck.workload.axis = deck::SumAxis::columns;  // three lines of 150000
  for (const auto kernel : {deck::RowsumKernel::thread_per_row, deck::RowsumKernel::team_per_row}) {
    deck.workload.kernel = kernel;
    EXPECT_FALSE(run(deck).mismatch);
  }
}

TEST(WorkloadTest, LongSumsOfOtherDataAreNoRoundingErrors) {
  deck::Deck deck = test_deck(WorkloadKind::rowsum, 4, 2, ElementType::float32);
  deck.workload.columns = 1 << 20;
  TestBench bench(deck, Order::depth_first, 2);
  EXPECT_FALSE(bench.run(1).mismatch);
  EXPECT_TRUE(bench.workload.verify(2, 1).mismatch);
}

TEST(WorkloadTest, RowsumAccumulatesIn64Bits) {
  deck::Deck deck = test_deck(WorkloadKind::rowsum, 1000, 4, ElementType::int32);
  deck.workload.sum_type = deck::SumType::int64;
  TestBench bench(deck, Order::depth_first, 2);
  EXPECT_FALSE(bench.run(1).mismatch);
  EXPECT_EQ(bench.workload.host[1].size(), 8000U);
}

TEST(WorkloadTest, OverflowWrapsOrNeeds64Bits) {
  // 2^17 summands of 2^15 - 1 leave 32 bits: the sum wraps, the 64-bit sum does not.
  for (const auto sum_type : {deck::SumType::same, deck::SumType::int64}) {
    deck::Deck deck = test_deck(WorkloadKind::rowsum, 1, 1, ElementType::int32);
    deck.workload.columns = 1 << 17;
    deck.workload.sum_type = sum_type;
    TestBench bench(deck, Order::sequential, 1);
    for (auto& x : elements<std::int32_t>(bench.workload.host[0])) x = 32767;
    bench.executor->run(bench.schedule, bench.workload);
    constexpr std::int64_t exact = (std::int64_t{1} << 17) * 32767;
    if (sum_type == deck::SumType::int64) {
      EXPECT_EQ(elements<std::int64_t>(bench.workload.host[1])[0], exact);
    } else {
      EXPECT_EQ(elements<std::int32_t>(bench.workload.host[1])[0],
                static_cast<std::int32_t>(exact));
    }
  }
}

TEST(WorkloadTest, BuffersAreSeparateAndPoisoned) {
  TestBench bench(test_deck(WorkloadKind::rowsum, 1000, 4, ElementType::float32),
                  Order::depth_first, 2);
  measure::reset(bench.executor->lanes().instance(0), bench.workload, 3);
  EXPECT_NE(static_cast<void*>(bench.workload.device[0].data()),
            static_cast<void*>(bench.workload.host[0].data()));
  for (const auto& array : bench.workload.device) {
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Kokkos::View<workload::Byte*, Space::memory_space, Unmanaged> view(array.data(),
                                                                             array.size());
    const auto bytes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
    for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes(i), 0xff);
  }
  for (const float sum : elements<float>(bench.workload.host[1])) {
    ASSERT_TRUE(std::isnan(sum));
  }
}

TEST(Data, DependOnPositionRepetitionAndArray) {
  int same = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto here = workload::value<float>(i, 1, 0);
    same += here == workload::value<float>(i + 1, 1, 0);
    same += here == workload::value<float>(i, 2, 0);
    same += here == workload::value<float>(i, 1, 1);
    EXPECT_EQ(here, static_cast<double>(workload::integer_value<float>(i, 1, 0)) * 0x1p-20);
  }
  EXPECT_LT(same, 5);
}

}  // namespace
}  // namespace overlap
