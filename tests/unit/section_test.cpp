#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "schedule/hazard.hpp"
#include "schedule/schedule.hpp"
#include "schedules.hpp"

/// Where arrays lie on the host that are parts of larger ones.
namespace overlap::schedule {
namespace {

using deck::WorkloadKind;
using testing::HasSubstr;

deck::Deck box_deck(const deck::Box& box, std::int64_t chunks,
                    std::optional<std::int64_t> pitch = {}) {
  const auto& [planes, rows, columns] = box.extent;
  deck::Deck deck = small_deck(WorkloadKind::increment, planes * rows * columns, chunks);
  deck.workload.box = box;
  deck.workload.pitch = pitch;
  return deck;
}

deck::Deck padded_rows(std::int64_t chunks) {
  deck::Deck deck = small_deck(WorkloadKind::rowsum, 1200, chunks);
  deck.workload.pitch = 40;  // of 24 bytes
  return deck;
}

Array array_of(const deck::Deck& deck) { return costs(deck.workload, 1).arrays[0]; }

/// Where so many units lie on the host, in as few lines as possible.
Region merged_units(const Array& array, std::int64_t begin, std::int64_t units) {
  return merged(schedule::units_of(array, begin, units));
}

void expect_lines(const Region& region, std::size_t line_bytes, std::size_t lines,
                  std::size_t planes) {
  EXPECT_EQ(region.line_bytes, line_bytes);
  EXPECT_EQ(region.lines, lines);
  EXPECT_EQ(region.planes, planes);
}

TEST(Section, AdjacentUnitsAreOneLine) {
  const Region region = merged_units(array_of(small_deck(WorkloadKind::rowsum, 1200, 4)), 300, 20);
  EXPECT_EQ(region.begin, 300U * 24);
  expect_lines(region, 20 * 24, 1, 1);
}

TEST(Section, PaddedRowsAreOnePlane) {
  const Array array = array_of(padded_rows(4));
  const Region region = merged_units(array, 300, 20);
  EXPECT_EQ(region.begin, 300U * 40);
  EXPECT_EQ(region.pitch, 40U);
  expect_lines(region, 24, 20, 1);
  EXPECT_EQ(region.bytes(), 20U * 24);
  EXPECT_EQ(array.host_bytes, 1200U * 40);
}

TEST(Section, APitchOfALineIsNone) {
  deck::Deck deck = padded_rows(4);
  deck.workload.pitch = 24;
  expect_lines(merged_units(array_of(deck), 0, 1200), 1200 * 24, 1, 1);
}

TEST(Section, BoxesHaveAsFewLinesAsPossible) {
  const auto region = [](const deck::Box& box, std::optional<std::int64_t> pitch = {}) {
    const deck::Deck deck = box_deck(box, 1, pitch);
    return merged_units(array_of(deck), 0, costs(deck.workload, 1).units);
  };
  expect_lines(region({{4, 5, 6}, {4, 5, 6}, {}}), 480, 1, 1);
  expect_lines(region({{4, 5, 6}, {9, 5, 6}, {3, 0, 0}}), 480, 1, 1);  // whole planes
  expect_lines(region({{4, 5, 6}, {4, 7, 6}, {0, 1, 0}}), 120, 4, 1);  // whole rows
  expect_lines(region({{4, 5, 6}, {4, 5, 8}, {0, 0, 2}}), 24, 20, 1);  // of all rows
  expect_lines(region({{4, 5, 6}, {4, 5, 6}, {}}, 28), 24, 20, 1);
  expect_lines(region({{4, 5, 6}, {4, 7, 8}, {0, 1, 2}}), 24, 5, 4);
  expect_lines(region({{1, 5, 6}, {4, 7, 8}, {2, 1, 2}}), 24, 5, 1);
  expect_lines(region({{4, 1, 6}, {4, 7, 8}, {0, 6, 2}}), 24, 4, 1);
  expect_lines(region({{1, 1, 1}, {4, 7, 8}, {3, 6, 7}}), 4, 1, 1);
}

TEST(Section, RegionsHoldTheElementsOfTheirUnitsAndNothingElse) {
  std::mt19937 random(5);
  const auto pick = [&](std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution(lo, hi)(random);
  };
  for (int round = 0; round < 300; ++round) {
    deck::Box box;
    for (std::size_t i = 0; i < 3; ++i) {
      box.extent[i] = pick(1, 5);
      box.array[i] = box.extent[i] + (pick(0, 1) == 0 ? 0 : pick(0, 3));
      box.origin[i] = pick(0, box.array[i] - box.extent[i]);
    }
    const std::int64_t pitch = 4 * (box.array[2] + (pick(0, 1) == 0 ? 0 : pick(0, 3)));
    const deck::Deck deck = box_deck(box, 1, pitch);
    const Costs all = costs(deck.workload, 1);
    const std::int64_t begin = pick(0, all.units - 1);
    const std::int64_t end = pick(begin + 1, all.units);

    std::vector<std::size_t> expected;  // places of 4-byte elements
    const bool by_planes = box.extent[0] > 1;
    const auto& [plane_0, row_0, column_0] = box.origin;
    for (std::int64_t plane = 0; plane < box.extent[0]; ++plane) {
      for (std::int64_t row = 0; row < box.extent[1]; ++row) {
        const std::int64_t unit = by_planes ? plane : row;
        if (unit < begin || unit >= end) continue;
        for (std::int64_t column = 0; column < box.extent[2]; ++column) {
          expected.push_back(static_cast<std::size_t>(
              ((plane_0 + plane) * box.array[1] + row_0 + row) * pitch + (column_0 + column) * 4));
        }
      }
    }
    std::vector<std::size_t> found;
    const Region region = merged_units(all.arrays[0], begin, end - begin);
    for_lines(region, 0, region.bytes(),
              [&](std::size_t place, std::size_t position, std::size_t bytes) {
                EXPECT_EQ(position, found.size() * 4);
                for (std::size_t i = 0; i < bytes; i += 4) found.push_back(place + i);
              });
    ASSERT_EQ(found, expected);
    EXPECT_LE(found.back() + 4, all.arrays[0].host_bytes);
    EXPECT_LE(region.bytes(), static_cast<std::size_t>(end - begin) * all.arrays[0].unit_bytes);
  }
}

TEST(Section, PartsOfAnArrayAreAllOfItInLimits) {
  for (const bool padded : {false, true}) {
    const Array array =
        array_of(padded ? padded_rows(4) : small_deck(WorkloadKind::rowsum, 1200, 4));
    for (const std::size_t most_bytes : {10U, 24U, 47U, 100U, 24U * 1200, 100000U}) {
      std::set<std::size_t> found;
      for (const Region& part : regions_of(array, most_bytes)) {
        EXPECT_LE(part.bytes(), most_bytes);
        for_lines(part, 0, part.bytes(), [&](std::size_t place, std::size_t, std::size_t bytes) {
          for (std::size_t i = 0; i < bytes; ++i) EXPECT_TRUE(found.insert(place + i).second);
        });
      }
      EXPECT_EQ(found.size(), 1200U * 24) << most_bytes;
    }
  }
}

TEST(Section, PartsOfAnArrayOfPlanesAreAsManyPlanesAsFit) {
  const Array array = array_of(box_deck({{5, 3, 6}, {5, 7, 8}, {}}, 1));  // planes of 3 * 24 bytes
  const auto planes = [&](std::size_t most_bytes) {
    std::vector<std::size_t> found;
    for (const Region& part : regions_of(array, most_bytes)) found.push_back(part.planes);
    return found;
  };
  EXPECT_THAT(planes(72), testing::ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(planes(143), testing::ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(planes(144), testing::ElementsAre(2, 2, 1));
  EXPECT_THAT(planes(1000), testing::ElementsAre(5));
}

TEST(Section, PartsOfARegionBeginAndEndWithinLines) {
  const Region region = merged_units(array_of(padded_rows(4)), 0, 10);
  std::vector<std::array<std::size_t, 3>> pieces;
  for_lines(region, 20, 50, [&](std::size_t place, std::size_t position, std::size_t bytes) {
    pieces.push_back({place, position, bytes});
  });
  using Piece = std::array<std::size_t, 3>;
  EXPECT_THAT(pieces, testing::ElementsAre(Piece{20, 20, 4}, Piece{40, 24, 24}, Piece{80, 48, 2}));
}

TEST(Section, CopiesArePitchedOnTheHostAndPackedOnTheDevice) {
  const Schedule s = small_schedule(padded_rows(4), Order::depth_first, 4, 2);
  const Operand& operand = s.tasks[6].operands[0];  // h2d of chunk 2, in slot 0
  EXPECT_EQ(operand.host.begin, 600U * 40);
  expect_lines(merged(operand.host), 24, 300, 1);
  EXPECT_EQ(device_offset(s, operand), 0U);
  EXPECT_EQ(device_offset(s, s.tasks[9].operands[0]), 300U * 24);  // of chunk 3, in slot 1
  EXPECT_EQ(s.tasks[6].bytes, 300U * 24);
}

TEST(Section, TrafficAndKernelsCountNoPadding) {
  const Schedule padded = small_schedule(padded_rows(4), Order::depth_first, 4);
  const Schedule plain =
      small_schedule(small_deck(WorkloadKind::rowsum, 1200, 4), Order::depth_first, 4);
  EXPECT_EQ(traffic(padded).h2d, 1200U * 24);
  for (TaskId id = 0; id < plain.tasks.size(); ++id) {
    EXPECT_EQ(padded.tasks[id].bytes, plain.tasks[id].bytes);
    EXPECT_EQ(padded.tasks[id].flops, plain.tasks[id].flops);
  }
}

TEST(Section, BoxesAreCutIntoPlanesOrRows) {
  const deck::Deck deep = box_deck({{6, 4, 5}, {7, 8, 9}, {1, 2, 3}}, 3);
  const Schedule s = small_schedule(deep, Order::depth_first, 3);
  EXPECT_EQ(s.arrays[0].host.planes, 6U);
  EXPECT_EQ(s.arrays[0].unit_bytes, 4U * 5 * 4);
  EXPECT_EQ(s.tasks[0].bytes, 2U * 4 * 5 * 4);
  EXPECT_EQ(s.tasks[1].flops, 7.0 * 2 * 4 * 5);
  EXPECT_EQ(traffic(s).d2h, 6U * 4 * 5 * 4);
  const Schedule flat =
      small_schedule(box_deck({{1, 4, 5}, {1, 8, 9}, {0, 2, 3}}, 2), Order::depth_first, 2);
  EXPECT_EQ(flat.arrays[0].host.planes, 4U);
  EXPECT_EQ(flat.tasks[0].bytes, 2U * 5 * 4);
}

TEST(Section, MoreChunksThanPlanesAreRefused) {
  const deck::Deck deck = box_deck({{6, 4, 5}, {6, 4, 5}, {}}, 7);
  try {
    layout(deck, costs(deck.workload, 1), std::nullopt);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("chunks.count: found 7; allowed: at most 6"));
  }
}

TEST(Section, HazardsAreFoundInBoxes) {
  const deck::Deck deck = box_deck({{6, 4, 5}, {8, 6, 7}, {1, 1, 1}}, 3, 32);
  const Schedule right = small_schedule(deck, Order::by_engine, 3, 2);
  EXPECT_TRUE(find_hazards(right).empty());
  for (TaskId id = 0; id < right.tasks.size(); ++id) {
    for (const TaskId other : right.tasks[id].after) {
      Schedule wrong = right;
      std::erase(wrong.tasks[id].after, other);
      EXPECT_FALSE(find_hazards(wrong).empty()) << id << " after " << other;
    }
  }
  Schedule wrong = right;
  wrong.tasks.pop_back();
  const auto hazards = find_hazards(wrong);
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_EQ(hazards[0].message, "missing: tasks copy 320 of 480 bytes of array a to the host");
}

}  // namespace
}  // namespace overlap::schedule
