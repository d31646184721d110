#include <gmock/gmock.h>

#include "bench.hpp"
#include "deck/words.hpp"
#include "experiment/judge.hpp"
#include "workload/check.hpp"

/// Arrays that are parts of larger ones on the host: padded rows and boxes.
namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;
using schedule::Stage;

deck::Deck rowsum_deck(std::int64_t lines, std::int64_t length, std::int64_t chunks,
                       ElementType type, std::int64_t padding) {
  deck::Deck deck = test_deck(WorkloadKind::rowsum, lines, chunks, type);
  deck.workload.columns = length;
  const auto element = static_cast<std::int64_t>(deck::size_of(type));
  deck.workload.pitch = (length + padding) * element;
  return deck;
}

deck::Deck box_deck(const deck::Box& box, std::int64_t chunks,
                    ElementType type = ElementType::float32, std::int64_t padding = 0) {
  const auto& [planes, rows, columns] = box.extent;
  deck::Deck deck = test_deck(WorkloadKind::increment, planes * rows * columns, chunks, type);
  deck.workload.box = box;
  const auto element = static_cast<std::int64_t>(deck::size_of(type));
  if (padding > 0) deck.workload.pitch = (box.array[2] + padding) * element;
  return deck;
}

/// From a single element to all of the array.
const std::vector<deck::Box> boxes = {
    {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}},       {{1, 1, 1}, {3, 4, 5}, {2, 3, 4}},
    {{1, 1, 50}, {4, 3, 60}, {1, 2, 10}},    {{1, 40, 1}, {3, 50, 7}, {2, 0, 6}},
    {{30, 1, 1}, {33, 3, 7}, {3, 1, 0}},     {{1, 37, 19}, {1, 40, 23}, {0, 3, 2}},
    {{9, 1, 60}, {9, 5, 64}, {0, 4, 4}},     {{9, 60, 1}, {10, 61, 2}, {1, 1, 1}},
    {{11, 13, 17}, {13, 15, 19}, {1, 1, 1}}, {{11, 13, 17}, {11, 15, 17}, {0, 2, 0}},
    {{11, 13, 17}, {14, 13, 17}, {3, 0, 0}}, {{11, 13, 17}, {11, 13, 17}, {0, 0, 0}},
    {{64, 32, 48}, {70, 40, 50}, {6, 8, 2}},
};

std::int64_t units_of(const deck::Deck& deck) { return schedule::costs(deck.workload, 1).units; }

TEST(SectionTest, PaddedRowsOfEveryTypeAndAxis) {
  for (const ElementType type :
       {ElementType::int32, ElementType::int64, ElementType::float32, ElementType::float64}) {
    for (const std::int64_t length : {1, 6, 64, 1000}) {
      for (const std::int64_t padding : {0, 1, 64}) {
        for (const auto axis : {deck::SumAxis::rows, deck::SumAxis::columns}) {
          deck::Deck deck = rowsum_deck(301, length, 7, type, padding);
          if (axis == deck::SumAxis::columns) std::swap(deck.workload.rows, deck.workload.columns);
          deck.workload.axis = axis;
          TestBench bench(deck, Order::depth_first, 2);
          EXPECT_EQ(bench.workload.host[0].size(),
                    static_cast<std::size_t>(301 * *deck.workload.pitch));
          EXPECT_FALSE(bench.run(3).mismatch) << length << " and " << padding;
        }
      }
    }
  }
}

TEST(SectionTest, PaddedRowsInEveryOrderAndOutOfCore) {
  for (const Order order : deck::orders_of(WorkloadKind::rowsum)) {
    for (const bool out_of_core : {false, true}) {
      deck::Deck deck = rowsum_deck(1003, 20, 10, ElementType::int32, 12);
      if (out_of_core) deck.memory.device_limit = 84 * 350;  // 3 of 10 chunks
      TestBench bench(deck, order, 4);
      EXPECT_EQ(bench.schedule.out_of_core, out_of_core);
      for (const std::uint32_t repetition : {1U, 2U}) {
        EXPECT_FALSE(bench.run(repetition).mismatch) << deck::to_string(order);
      }
    }
  }
}

TEST(SectionTest, PageablePaddedRows) {
  deck::Deck deck = rowsum_deck(1003, 20, 4, ElementType::int32, 12);
  deck.memory.host = deck::HostMemory::pageable;
  EXPECT_FALSE(TestBench(deck, Order::depth_first, 2).run(1).mismatch);
}

/// Bytes on the host that the box does not hold and that are not as fill() left them: looked for
/// element by element, by the definition of the box.
int touched_outside(const deck::Workload& deck, const workload::HostArray& host) {
  const deck::Box& box = *deck.box;
  const auto element = static_cast<std::int64_t>(deck::size_of(deck.type));
  const std::int64_t pitch = deck.pitch.value_or(box.array[2] * element);
  const auto bytes = static_cast<std::int64_t>(host.size());
  EXPECT_EQ(bytes, box.array[0] * box.array[1] * pitch);
  int touched = 0;
  for (std::int64_t at = 0; at < bytes; ++at) {
    const std::array<std::int64_t, 3> place = {at / pitch / box.array[1], at / pitch % box.array[1],
                                               at % pitch / element};
    bool inside = true;
    for (std::size_t i = 0; i < 3; ++i) {
      inside = inside && place[i] >= box.origin[i] && place[i] < box.origin[i] + box.extent[i];
    }
    if (!inside && host.data()[at] != workload::padding_byte) ++touched;
  }
  return touched;
}

TEST(SectionTest, BoxesAreIncrementedAndNothingElse) {
  for (const deck::Box& box : boxes) {
    for (const ElementType type : {ElementType::float32, ElementType::float64}) {
      for (const std::int64_t padding : {0, 3}) {
        for (const std::int64_t wanted : {1, 4}) {
          deck::Deck deck = box_deck(box, wanted, type, padding);
          deck.chunks.count = std::min(wanted, units_of(deck));
          TestBench bench(deck, Order::depth_first, 3);
          const auto result = bench.run(2);
          EXPECT_FALSE(result.mismatch) << result.mismatch->array << " " << result.mismatch->index;
          EXPECT_EQ(touched_outside(deck.workload, bench.workload.host[0]), 0);
        }
      }
    }
  }
}

TEST(SectionTest, BoxesInEveryOrderAndOutOfCore) {
  for (const Order order : deck::orders_of(WorkloadKind::increment)) {
    for (const bool out_of_core : {false, true}) {
      deck::Deck deck = box_deck(boxes[8], 5);
      if (out_of_core) deck.memory.device_limit = 6 * 13 * 17 * 4;  // 2 of 5 chunks
      TestBench bench(deck, order, 4);
      EXPECT_EQ(bench.schedule.out_of_core, out_of_core);
      for (const std::uint32_t repetition : {1U, 2U}) {
        EXPECT_FALSE(bench.run(repetition).mismatch) << deck::to_string(order);
        EXPECT_EQ(touched_outside(deck.workload, bench.workload.host[0]), 0);
      }
    }
  }
}

TEST(SectionTest, FencesServeWhereThereIsNothingBetter) {
  std::vector<deck::Deck> decks = {rowsum_deck(1003, 20, 4, ElementType::int32, 12),
                                   rowsum_deck(1003, 7, 4, ElementType::float64, 1)};
  for (const deck::Box& box : boxes) {
    decks.push_back(box_deck(box, 1));
    decks.push_back(box_deck(box, units_of(decks.back()), ElementType::float64, 3));
  }
  for (deck::Deck& deck : decks) {
    deck.issue.mechanism = deck::Mechanism::portable;
    for (const auto memory : {deck::HostMemory::pinned, deck::HostMemory::pageable}) {
      deck.memory.host = memory;
      TestBench bench(deck, Order::by_engine, 3);
      EXPECT_FALSE(bench.run(1).mismatch);
      if (deck.workload.box) {
        EXPECT_EQ(touched_outside(deck.workload, bench.workload.host[0]), 0);
      }
    }
  }
}

TEST(SectionTest, GraphsHoldCopiesOfLines) {
  if constexpr (workload::is_host) {
    GTEST_SKIP() << "only GPUs have graphs";
  } else {
    for (deck::Deck deck :
         {box_deck(boxes[8], 5), rowsum_deck(1003, 20, 4, ElementType::int32, 12)}) {
      deck.issue.mechanism = deck::Mechanism::graph;
      TestBench bench(deck, Order::depth_first, 4);
      EXPECT_FALSE(bench.run(1).mismatch);
      EXPECT_TRUE(bench.executor->lanes().graph_costs());
    }
  }
}

TEST(SectionTest, CopiesOfLinesAreTraced) {
  for (const deck::Deck& deck :
       {box_deck(boxes.back(), 4), rowsum_deck(10000, 20, 4, ElementType::int32, 12)}) {
    TestBench bench(deck, Order::depth_first, 2);
    bench.workload.generate(1);
    ASSERT_NE(bench.executor->lanes().trace(true), "");
    const auto traced = bench.executor->run_traced(bench.schedule, bench.workload);
    bench.executor->lanes().trace(false);
    for (const timeline::Span& span : traced.spans) EXPECT_GT(span.stop_s, span.start_s);
  }
}

// Faults that are planted into schedules must be caught, and named by chunk.

void expect_wrong(const TestBench& bench, const std::string& array, int chunk) {
  const results::Run run = measured(bench);
  EXPECT_EQ(exit_code(run), base::ExitCode::wrong_data);
  ASSERT_TRUE(run.wrong);
  EXPECT_EQ(run.wrong->array, array);
  EXPECT_EQ(run.wrong->chunk, chunk);
}

TEST(SectionTest, AWrongPitchIsCaught) {
  deck::Deck deck = rowsum_deck(1000, 20, 4, ElementType::int32, 12);
  TestBench bench(deck, Order::depth_first, 2);
  EXPECT_FALSE(measured(bench).wrong);
  for (const std::size_t pitch : {80U, 124U}) {  // of 128
    for (schedule::Task& task : bench.schedule.tasks) {
      for (schedule::Operand& operand : task.operands) {
        if (operand.array == 0) operand.host.plane_pitch = pitch;
      }
    }
    expect_wrong(bench, "sums", 0);
  }
}

TEST(SectionTest, AWrongPitchOfABoxIsCaught) {
  for (const Stage stage : {Stage::h2d, Stage::d2h}) {
    TestBench bench(box_deck(boxes[8], 3), Order::depth_first, 2);
    EXPECT_FALSE(measured(bench).wrong);
    // Of the copies in one direction alone.
    for (schedule::Task& task : bench.schedule.tasks) {
      if (task.stage == stage) task.operands[0].host.pitch -= 4;
    }
    expect_wrong(bench, "a", 0);
  }
}

TEST(SectionTest, EveryByteOfPaddingCounts) {
  TestBench bench(box_deck({{3, 4, 5}, {5, 6, 7}, {1, 1, 1}}, 3), Order::depth_first, 1);
  EXPECT_FALSE(bench.run(1).mismatch);
  const workload::HostArray& host = bench.workload.host[0];
  std::size_t padding = 0;
  for (std::size_t at = 0; at < host.size(); ++at) {
    workload::Byte& byte = host.data()[at];
    if (byte != workload::padding_byte) continue;
    byte ^= 1;
    const auto result = bench.workload.verify(1, bench.workload.repeats);
    byte ^= 1;
    if (result.mismatch) padding += result.mismatch->array == "padding of a" ? 1U : 0U;
  }
  EXPECT_EQ(padding, host.size() - bench.workload.arrays[0].host.bytes());
}

TEST(SectionTest, ACopyIntoPaddingIsCaught) {
  TestBench bench(box_deck({{1, 12, 3}, {1, 12, 8}, {0, 0, 4}}, 3), Order::depth_first, 1);
  EXPECT_FALSE(measured(bench).wrong);
  // One more copy back, of the last chunk, to the columns before the box.
  schedule::Task task = bench.schedule.tasks.back();
  task.operands[0].host.begin -= bench.schedule.arrays[0].host.begin;
  bench.schedule.tasks.push_back(task);
  expect_wrong(bench, "padding of a", 1);  // it begins behind the last row of the chunk before
}

TEST(SectionTest, ASwappedPlaneIsCaught) {
  for (const Stage stage : {Stage::h2d, Stage::d2h}) {
    TestBench bench(box_deck({{6, 7, 8}, {8, 9, 10}, {1, 1, 1}}, 6), Order::depth_first, 1);
    std::vector<schedule::Operand*> copied;
    for (schedule::Task& task : bench.schedule.tasks) {
      if (task.stage == stage) copied.push_back(&task.operands[0]);
    }
    std::swap(copied[2]->slot, copied[4]->slot);
    std::swap(copied[2]->device_begin, copied[4]->device_begin);
    EXPECT_FALSE(schedule::find_hazards(bench.schedule).empty());
    expect_wrong(bench, "a", 2);
  }
}

TEST(SectionTest, ABoxAtTheWrongPlaceIsCaught) {
  // Shifted by a column in both directions, all data end where they began: right inside the box but
  // for its first column, and one column of padding is incremented.
  TestBench bench(box_deck({{4, 5, 6}, {6, 7, 8}, {1, 1, 1}}, 2), Order::depth_first, 1);
  EXPECT_FALSE(measured(bench).wrong);
  for (schedule::Task& task : bench.schedule.tasks) task.operands[0].host.begin += 4;
  expect_wrong(bench, "a", 0);
}

}  // namespace
}  // namespace overlap
