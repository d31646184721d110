#include <gmock/gmock.h>

#include <cstring>

#include "bench.hpp"
#include "deck/words.hpp"
#include "workload/product.hpp"

namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;
using schedule::Stage;
using schedule::Task;
using workload::product::Problem;

// Freivalds' check, on results that a loop has computed.

template <class T>
std::vector<T> right(const Problem<T>& problem, std::uint32_t repetition) {
  std::vector<T> c;
  for (std::int64_t i = 0; i < problem.m * problem.n; ++i) {
    c.push_back(static_cast<T>(workload::product::expected(problem, i, repetition).value));
  }
  return c;
}

/// The first wrong row; -1: none.
template <class T>
std::int64_t wrong_row(const Problem<T>& problem, const std::vector<T>& c) {
  return workload::product::wrong_row(problem, c.data(), 1).value_or(-1);
}

template <class T>
class FreivaldsTest : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FreivaldsTest, Floats);

TYPED_TEST(FreivaldsTest, AcceptsRightProducts) {
  for (const int beta : {0, 1}) {
    const Problem<TypeParam> problem{23, 17, 40, beta};
    EXPECT_EQ(wrong_row(problem, right(problem, 1)), -1);
  }
}

TYPED_TEST(FreivaldsTest, FindsTheSmallestError) {
  const Problem<TypeParam> problem{23, 17, 40, 1};
  const auto good = right(problem, 1);
  for (const std::size_t at : {std::size_t{0}, std::size_t{5 + 23 * 9}, good.size() - 1}) {
    auto c = good;
    c[at] = std::nextafter(c[at], TypeParam(100));
    EXPECT_EQ(wrong_row(problem, c), static_cast<std::int64_t>(at % 23));
    c[at] = std::numeric_limits<TypeParam>::quiet_NaN();
    EXPECT_EQ(wrong_row(problem, c), static_cast<std::int64_t>(at % 23));
  }
}

TYPED_TEST(FreivaldsTest, FindsWhatTilesGetWrong) {
  const Problem<TypeParam> problem{24, 16, 40, 1};
  const auto good = right(problem, 1);
  const auto row = [&](const auto& change) {
    auto c = good;
    change(c);
    return wrong_row(problem, c);
  };
  // Two tiles of 8 x 8 have changed places, in a row of tiles and in a column.
  const auto swap = [](auto& c, std::size_t a, std::size_t b) {
    for (std::size_t j = 0; j < 8; ++j) {
      for (std::size_t i = 0; i < 8; ++i) std::swap(c[a + i + 24 * j], c[b + i + 24 * j]);
    }
  };
  EXPECT_EQ(row([&](auto& c) { swap(c, 8, 8 + 24 * 8); }), 8);
  EXPECT_EQ(row([&](auto& c) { swap(c, 8, 16); }), 8);
  // A tile with another beta, and one of the repetition before.
  const Problem<TypeParam> other{24, 16, 40, 0};
  EXPECT_EQ(row([&](auto& c) {
              for (std::size_t i = 8; i < 16; ++i) c[i] = right(other, 1)[i];
            }),
            8);
  EXPECT_EQ(row([&](auto& c) {
              for (std::size_t i = 16; i < 24; ++i) c[i] = right(problem, 0)[i];
            }),
            16);
}

TYPED_TEST(FreivaldsTest, FindsExchangedColumns) {
  const Problem<TypeParam> problem{6, 40, 30, 0};
  const auto good = right(problem, 1);
  for (std::size_t j = 1; j < 40; ++j) {
    auto c = good;
    std::swap_ranges(c.begin(), c.begin() + 6, c.begin() + static_cast<std::ptrdiff_t>(6 * j));
    EXPECT_EQ(wrong_row(problem, c), 0) << j;
  }
}

TYPED_TEST(FreivaldsTest, NamesTheWrongElement) {
  // Too large for a comparison of all elements.
  const Problem<TypeParam> problem{700, 3, 70000, 0};
  std::vector<TypeParam> c = right(problem, 3);
  const auto verified = [&] {
    return workload::product::verify<TypeParam>(
        problem,
        {.memory = Kokkos::View<TypeParam*, Kokkos::HostSpace>(c.data(), c.size()),
         .region = {.line_bytes = c.size() * sizeof(TypeParam)},
         .name = "C"},
        3);
  };
  EXPECT_FALSE(verified().mismatch);
  EXPECT_EQ(verified().max_error, 0);
  const TypeParam was = c[700 + 333];
  c[700 + 333] += TypeParam(0.125);
  const auto result = verified();
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->index, 700 + 333);
  EXPECT_EQ(result.mismatch->expected, static_cast<double>(was));
  EXPECT_GT(result.max_error, 0);
}

// Products on lanes.

deck::Deck product_deck(ElementType type = ElementType::float64, int beta = 1) {
  deck::Deck deck = test_deck(WorkloadKind::dgemm, 0, 1, type);
  deck.workload.beta = beta;
  return deck;
}

/// The bench with a product, or nothing where the program has none.
#define OVERLAP_NEEDS_PRODUCTS()                                 \
  if (workload::unavailable(WorkloadKind::dgemm)) {              \
    GTEST_SKIP() << *workload::unavailable(WorkloadKind::dgemm); \
  }                                                              \
  static_assert(true)

TEST(ProductTest, EveryOrderIsRightWhateverFits) {
  OVERLAP_NEEDS_PRODUCTS();
  const std::size_t panel_a = 8 * 20 * 31, panel_b = 8 * 31 * 17, tile = 8 * 20 * 17;
  using schedule::TileSlots;
  for (const TileSlots slots :
       {TileSlots{4, 4, 16}, TileSlots{4, 1, 2}, TileSlots{2, 2, 3}, TileSlots{1, 1, 2}}) {
    for (const Order order : deck::orders_of(WorkloadKind::dgemm)) {
      for (const double share : {0.0, 0.3}) {
        if (share > 0 && order != Order::four_way) continue;
        SCOPED_TRACE(testing::Message() << deck::to_string(order) << " " << slots[0] << " "
                                        << slots[1] << " " << slots[2]);
        deck::Deck deck = product_deck();
        deck.workload.host_share = share;
        deck.memory.device_limit =
            static_cast<std::int64_t>(static_cast<std::size_t>(slots[0]) * panel_a +
                                      static_cast<std::size_t>(slots[1]) * panel_b +
                                      static_cast<std::size_t>(slots[2]) * tile);
        for (const auto mechanism : {deck::Mechanism::streams, deck::Mechanism::portable}) {
          deck.issue.mechanism = mechanism;
          TestBench bench(deck, order, 2);
          EXPECT_EQ(bench.schedule.out_of_core, slots[2] < 16);
          for (std::uint32_t repetition = 1; repetition <= 2; ++repetition) {
            const auto result = bench.run(repetition);
            EXPECT_FALSE(result.mismatch);
            EXPECT_EQ(result.max_error, 0);
          }
        }
      }
    }
  }
}

TEST(ProductTest, BothBetasAndTypesAreRight) {
  OVERLAP_NEEDS_PRODUCTS();
  for (const ElementType type : {ElementType::float32, ElementType::float64}) {
    for (const int beta : {0, 1}) {
      for (const Order order : {Order::sequential, Order::three_way, Order::four_way}) {
        deck::Deck deck = product_deck(type, beta);
        deck.workload.host_share = 0.2;
        TestBench bench(deck, order, 2);
        const auto result = bench.run(1);
        EXPECT_FALSE(result.mismatch) << deck::to_string(order) << " " << beta;
        EXPECT_EQ(result.max_error, 0);
      }
    }
  }
}

TEST(ProductTest, TheHostCanComputeAnyPart) {
  OVERLAP_NEEDS_PRODUCTS();
  for (const double share : {0.0, 0.5, 1.0}) {
    deck::Deck deck = product_deck();
    deck.workload.host_share = share;
    TestBench bench(deck, Order::four_way, 2);
    EXPECT_EQ(experiment::host_tiles(bench.schedule), share * 16);
    EXPECT_FALSE(bench.run(1).mismatch) << share;
    EXPECT_FALSE(bench.run(2).mismatch) << share;
  }
}

// Faults that verification must catch, whoever let them through.

template <class Fault>
std::optional<experiment::WrongData> with_fault(const Fault& fault, Order order = Order::three_way,
                                                int beta = 1) {
  deck::Deck deck = product_deck(ElementType::float64, beta);
  deck.workload.host_share = 0.2;
  TestBench bench(deck, order, 2);
  EXPECT_FALSE(bench.run(1).mismatch);
  fault(bench);
  return bench.run(2).mismatch;
}

/// The n-th of the schedule's copies of an array (-1: of its kernels) at a stage.
Task& nth(schedule::Schedule& schedule, Stage stage, int array, int n) {
  const schedule::Array* const wanted =
      array < 0 ? nullptr : &schedule.arrays[static_cast<std::size_t>(array)];
  for (Task& task : schedule.tasks) {
    if (task.stage == stage && copied_array(schedule, task) == wanted && n-- == 0) return task;
  }
  throw std::logic_error("no such task");
}

/// What others wait for stays in its place, but does nothing.
void drop(Task& task) {
  task.stage = Stage::default_stream;
  task.operands = {};
}

TEST(ProductTest, SwappedTilesAreCaught) {
  OVERLAP_NEEDS_PRODUCTS();
  // No copy in reads what the swapped copies back write at the same time.
  constexpr int beta = 0;
  const auto mismatch = with_fault(
      [](auto& bench) {
        // Of one size, not at an edge.
        Task& first = nth(bench.schedule, Stage::d2h, 2, 0);
        Task& second = nth(bench.schedule, Stage::d2h, 2, 1);
        const schedule::Operand piece = first.operands[0];
        take_piece(first.operands[0], second.operands[0]);
        take_piece(second.operands[0], piece);
      },
      Order::three_way, beta);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->array, "C");
}

TEST(ProductTest, AMissedPanelIsCaught) {
  OVERLAP_NEEDS_PRODUCTS();
  for (const int array : {0, 1}) {
    for (const int n : {0, 3}) {
      EXPECT_TRUE(with_fault([&](auto& bench) { drop(nth(bench.schedule, Stage::h2d, array, n)); }))
          << array;
      // And one that another is in place of.
      EXPECT_TRUE(with_fault([&](auto& bench) {
        Task& task = nth(bench.schedule, Stage::h2d, array, n);
        take_piece(task.operands[0],
                   nth(bench.schedule, Stage::h2d, array, n == 0 ? 1 : 0).operands[0]);
      })) << array;
    }
  }
}

TEST(ProductTest, AWrongBetaIsCaught) {
  OVERLAP_NEEDS_PRODUCTS();
  EXPECT_TRUE(with_fault([](auto& bench) {
    const auto launch = bench.workload.launch;
    bench.workload.launch = [=, w = bench.workload, turn = 0](const Space& instance,
                                                              const workload::Call& call) mutable {
      if (turn++ != 5) return launch(instance, call);
      std::array<double*, 3> data;
      for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = reinterpret_cast<double*>(w.device[i].data());
      }
      workload::gemm<double>(instance, *call.product, data, 0);
    };
  }));
}

TEST(ProductTest, ALostOrRepeatedTileIsCaught) {
  OVERLAP_NEEDS_PRODUCTS();
  for (const Stage stage : {Stage::kernel, Stage::d2h}) {
    EXPECT_TRUE(with_fault([&](auto& bench) {
      drop(nth(bench.schedule, stage, stage == Stage::kernel ? -1 : 2, 4));
    }));
  }
  EXPECT_TRUE(with_fault([](auto& bench) {
    auto& tasks = bench.schedule.tasks;
    const auto kernel = std::find_if(tasks.begin(), tasks.end(),
                                     [](const Task& task) { return task.stage == Stage::kernel; });
    Task again = *kernel;
    again.after.clear();
    for (Task& task : tasks) task.after.clear();
    bench.schedule.lanes = 1;
    for (Task& task : tasks) task.lane = 0;
    again.lane = 0;
    tasks.insert(kernel, again);
  }));
  // And a tile of the host's.
  EXPECT_TRUE(with_fault([](auto& bench) { bench.schedule.tasks.pop_back(); }, Order::four_way));
}

TEST(ProductTest, NamesTheChunkOfAWrongTile) {
  OVERLAP_NEEDS_PRODUCTS();
  TestBench bench(product_deck(), Order::three_way, 2);
  drop(nth(bench.schedule, Stage::d2h, 2, 6));
  const results::Run run = measured(bench);
  ASSERT_TRUE(run.wrong);
  EXPECT_EQ(run.wrong->chunk, 6);
}

}  // namespace
}  // namespace overlap
