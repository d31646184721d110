#include "schedule/hazard.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedules.hpp"

namespace overlap::schedule {
namespace {

using deck::WorkloadKind;
using Kind = Hazard::Kind;
using testing::HasSubstr;

Schedule increment(Order order, int chunks, int lanes, int slots = 0) {
  return small_schedule(small_deck(WorkloadKind::increment, 1200, chunks), order, lanes, slots);
}

/// The one hazard of a schedule with one planted fault.
Hazard only(const Schedule& schedule) {
  const auto hazards = find_hazards(schedule);
  EXPECT_FALSE(hazards.empty());
  return hazards.empty() ? Hazard{} : hazards.front();
}

TEST(Hazard, KernelThatDoesNotWaitForItsCopyIsRaw) {
  Schedule s = increment(Order::by_engine, 2, 3);
  s.tasks[1].after.clear();
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::raw);
  EXPECT_EQ(hazard.task, 1U);
  EXPECT_EQ(hazard.message,
            "RAW: task 1 (kernel of chunk 0 on lane 1) reads array a on the device without waiting "
            "for its writer task 0 (h2d of chunk 0 on lane 0)");
}

TEST(Hazard, EveryMissingWaitIsFound) {
  int tried = 0;
  for (const WorkloadKind kind : chunked_kinds()) {
    for (const Order order : {Order::depth_first, Order::breadth_first, Order::by_engine}) {
      for (const int slots : {0, 2, 3}) {
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(kind), to_string(order), slots));
        const Schedule right = small_schedule(small_deck(kind, 1200, 6), order, 4, slots);
        EXPECT_TRUE(find_hazards(right).empty());
        for (TaskId id = 0; id < right.tasks.size(); ++id) {
          for (const TaskId other : right.tasks[id].after) {
            Schedule wrong = right;
            std::erase(wrong.tasks[id].after, other);
            EXPECT_FALSE(find_hazards(wrong).empty()) << id << " after " << other;
            ++tried;
          }
        }
      }
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(Hazard, CopyIntoASlotThatIsStillReadIsWar) {
  Schedule s = increment(Order::depth_first, 3, 3, 2);
  ASSERT_EQ(s.tasks[6].after.size(), 1U);
  s.tasks[6].after.clear();
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::war);
  EXPECT_EQ(hazard.task, 6U);
  EXPECT_THAT(hazard.message, HasSubstr("without waiting for task 2 (d2h of chunk 0 on lane 0)"));
}

TEST(Hazard, TheSeedsOutOfCoreLoopIsWar) {
  // The published V1 re-uses a slot on another stream as soon as it is issued: no dependency at
  // all.
  Schedule s = small_schedule(small_deck(WorkloadKind::rowsum, 1200, 6), Order::depth_first, 6, 4);
  for (Task& task : s.tasks) task.after.clear();
  EXPECT_EQ(only(s).kind, Kind::war);
}

TEST(Hazard, TheArticlesPipelineLoopIsWar) {
  // As published (seed 001): events only from copies to kernels and from kernels to copies back.
  deck::Deck deck = small_deck(WorkloadKind::pipeline, 100, 1);
  deck.workload.iterations = 2;
  Schedule s = small_schedule(deck, Order::by_engine, 1);
  for (Task& task : s.tasks) {
    std::erase_if(task.after, [&](TaskId other) { return s.tasks[other].chunk != task.chunk; });
  }
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::war);
  EXPECT_THAT(hazard.message, HasSubstr("(h2d of chunk 1 on lane 0) overwrites array 1_a"));
}

/// Lets all operands of chunk 1 be in the slot of chunk 0.
void share_a_slot(Schedule& s) {
  const Operand slot = s.tasks[0].operands[0];
  for (Task& task : s.tasks) {
    for (Operand& operand : task.operands) {
      if (operand.piece == 1) take_slot(operand, slot);
    }
  }
}

TEST(Hazard, TwoUnorderedWritersAreWaw) {
  // Two chunks are copied into one slot, and nothing reads in between.
  Schedule s = increment(Order::depth_first, 2, 2);
  std::erase_if(s.tasks, [](const Task& task) { return task.stage != Stage::h2d; });
  share_a_slot(s);
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::waw);
  EXPECT_EQ(hazard.task, 1U);
}

TEST(Hazard, CopiesBackToTheSameHostRangeAreWaw) {
  Schedule s = small_schedule(small_deck(WorkloadKind::rowsum, 1200, 2), Order::depth_first, 2);
  for (TaskId id = 4; id < 6; ++id) {  // kernel and copy back of chunk 1
    Operand& sums = s.tasks[id].operands.back();
    take_piece(sums, s.tasks[1].operands[1]);
    if (id == 4) take_piece(s.tasks[4].operands[0], s.tasks[1].operands[0]);
  }
  take_piece(s.tasks[3].operands[0], s.tasks[0].operands[0]);
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::waw);
  EXPECT_THAT(hazard.message, HasSubstr("array sums on the host"));
}

TEST(Hazard, DroppedCopyIsStale) {
  Schedule s = increment(Order::depth_first, 2, 1);
  s.tasks.erase(s.tasks.begin());
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::stale);
  EXPECT_THAT(hazard.message, HasSubstr("which nothing has written"));
}

TEST(Hazard, SwappedChunksAreStale) {
  // Everything on one lane, so ordered; but the kernels of the two chunks changed places.
  Schedule s = increment(Order::breadth_first, 2, 1);
  share_a_slot(s);
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::stale);
  EXPECT_THAT(
      hazard.message,
      HasSubstr(
          "reads stale data of array a on the device, last written by task 1 (h2d of chunk 1"));
}

TEST(Hazard, HalfACopyIsStale) {
  Schedule s = small_schedule(small_deck(WorkloadKind::rowsum, 1200, 2), Order::depth_first, 1);
  s.tasks[0].operands[0].host.planes /= 2;
  s.tasks[0].bytes /= 2;
  EXPECT_EQ(only(s).kind, Kind::stale);
}

TEST(Hazard, MissingKernelIsStale) {
  Schedule s = increment(Order::depth_first, 1, 1);
  s.tasks.erase(s.tasks.begin() + 1);
  EXPECT_EQ(only(s).kind, Kind::stale);
}

TEST(Hazard, AnOutputThatNobodyCopiesIsMissing) {
  for (const Order order : {Order::sequential, Order::depth_first, Order::by_engine}) {
    const Schedule right = increment(order, 4, 3);
    for (int lost = 0; lost < right.chunks; ++lost) {
      Schedule s = right;
      std::erase_if(s.tasks, [&](const Task& task) {
        return task.stage == Stage::d2h && task.chunk == lost;
      });
      for (Task& task : s.tasks) task.after.clear();
      s.lanes = 1;
      for (Task& task : s.tasks) task.lane = 0;
      const Hazard hazard = only(s);
      EXPECT_EQ(hazard.kind, Kind::missing);
      EXPECT_EQ(hazard.task, s.tasks.size() - 1);
      EXPECT_EQ(hazard.message,
                fmt::format("missing: tasks copy {} of 4800 bytes of array a to the host",
                            4800 - 4800 / right.chunks));
    }
  }
}

TEST(Hazard, WaitingForALaterTaskIsMalformed) {
  Schedule s = increment(Order::by_engine, 2, 3);
  s.tasks[1].after = {4};
  const Hazard hazard = only(s);
  EXPECT_EQ(hazard.kind, Kind::malformed);
  EXPECT_THAT(hazard.message, HasSubstr("waits for task 4, which is issued later"));
}

TEST(Hazard, PiecesAndSlotsThatOverlapAreMalformed) {
  const auto message = [](auto change) {  // changes all operands of chunk 1
    Schedule s = increment(Order::depth_first, 2, 2);
    for (Task& task : s.tasks) {
      if (task.chunk == 1) change(task.operands[0]);
    }
    const Hazard hazard = only(s);
    EXPECT_EQ(hazard.kind, Kind::malformed);
    EXPECT_EQ(hazard.task, 3U);
    return hazard.message;
  };
  EXPECT_EQ(message([](Operand& operand) {
              operand.begin -= 1;
              operand.host.begin -= 4;
            }),
            "malformed: task 3 (h2d of chunk 1 on lane 1) shares bytes of array a with task 0 (h2d "
            "of chunk 0 on lane 0)");
  EXPECT_THAT(message([](Operand& operand) { operand.device_begin -= 1; }),
              HasSubstr("shares bytes of array a"));
}

TEST(Hazard, APieceOrASlotIsOnePlace) {
  Schedule s = increment(Order::depth_first, 2, 2);
  s.tasks[1].operands[0].device_begin += 1;
  EXPECT_EQ(only(s).message,
            "malformed: task 1 (kernel of chunk 0 on lane 0) uses another place of array a on the "
            "device than task 0 (h2d of chunk 0 on lane 0)");
  s = increment(Order::depth_first, 2, 2);
  s.tasks[2].operands[0].begin += 1;
  s.tasks[2].operands[0].host.begin += 4;
  EXPECT_THAT(only(s).message, HasSubstr("uses another place of array a on the host"));
}

TEST(Hazard, IndicesOutOfRangeAreMalformed) {
  using Change = void (*)(Task&);
  for (const Change change : std::initializer_list<Change>{[](Task& task) { task.lane = 2; },  //
                                                           [](Task& task) { task.lane = -1; },
                                                           [](Task& task) { task.chunk = 2; },
                                                           [](Task& task) { task.chunk = -1; }}) {
    Schedule s = increment(Order::depth_first, 2, 2);
    change(s.tasks[0]);
    EXPECT_THAT(only(s).message, HasSubstr("has an index out of range"));
  }
}

TEST(Hazard, PiecesBeyondTheirArraysAreMalformed) {
  using Change = void (*)(Schedule&, Operand&);
  for (const Change change : std::initializer_list<Change>{
           [](Schedule&, Operand& operand) { operand.array = 1; },
           [](Schedule&, Operand& operand) { operand.array = -1; },
           [](Schedule&, Operand& operand) { operand.begin = -1; },
           [](Schedule&, Operand& operand) { operand.device_begin = -1; },
           [](Schedule&, Operand& operand) { operand.host.planes = 0; },
           [](Schedule&, Operand& operand) { ++operand.host.planes; },
           [](Schedule&, Operand& operand) { ++operand.host.line_bytes; },
           [](Schedule&, Operand& operand) { operand.host.begin += 4; },
           [](Schedule& s, Operand&) { s.arrays[0].device_units = 1199; }}) {
    Schedule s = increment(Order::depth_first, 2, 2);
    change(s, s.tasks[3].operands[0]);
    EXPECT_THAT(only(s).message, HasSubstr("reaches beyond its arrays"));
  }
}

TEST(Hazard, KernelsOnHostMemoryNeedNoDeviceMemory) {
  deck::Deck deck = small_deck(WorkloadKind::increment, 1200, 2);
  deck.memory.transfer = deck::Transfer::zero_copy;
  Schedule s = small_schedule(deck, Order::depth_first, 2);
  s.arrays[0].device_units = 0;
  EXPECT_TRUE(find_hazards(s).empty());
}

TEST(Hazard, ACopyThatIsNotItsChunkIsMalformed) {
  Schedule s = increment(Order::depth_first, 2, 2);
  s.tasks[0].bytes += 4;
  EXPECT_THAT(only(s).message, HasSubstr("copies 2404 bytes, which is not the size of its piece"));
  s = increment(Order::depth_first, 2, 2);
  s.tasks[0].operands.push_back(s.tasks[3].operands[0]);
  EXPECT_THAT(only(s).message, HasSubstr("copies 2400 bytes, which is not the size of its piece"));
  s = increment(Order::depth_first, 2, 2);
  s.tasks[0].operands[0].slot = -1;  // from the host to itself
  EXPECT_THAT(only(s).message, HasSubstr("copies 2400 bytes, which is not the size of its piece"));
}

TEST(Hazard, TheFirstEightAreReported) {
  Schedule s = increment(Order::by_engine, 9, 3);
  for (Task& task : s.tasks) task.after.clear();
  EXPECT_EQ(find_hazards(s).size(), 8U);
}

TEST(Hazard, AKernelUsesAllArraysOfItsOperationOnOneChunk) {
  const Schedule right =
      small_schedule(small_deck(WorkloadKind::pipeline, 1200, 2), Order::depth_first, 2);
  const TaskId kernel = 2;
  ASSERT_EQ(right.tasks[kernel].stage, Stage::kernel);
  Schedule s = right;
  s.tasks[kernel].op = 2;
  EXPECT_THAT(only(s).message, HasSubstr("does not use the arrays of its operation"));
  s = right;
  s.tasks[kernel].operands.pop_back();
  EXPECT_THAT(only(s).message, HasSubstr("does not use the arrays of its operation"));
  s = right;
  s.tasks[kernel].operands.push_back(right.tasks[4].operands[0]);
  EXPECT_THAT(only(s).message, HasSubstr("does not use the arrays of its operation"));
  s = right;
  s.tasks[kernel].operands[1].slot = 1;
  EXPECT_THAT(only(s).message, HasSubstr("uses pieces of several chunks"));
}

TEST(Hazard, ABlockedHostOrdersWhatFollows) {
  // Without waits between the lanes, but the host waits for every task before it issues the next.
  Schedule s = increment(Order::by_engine, 3, 3);
  for (Task& task : s.tasks) {
    task.after.clear();
    task.blocking = true;
  }
  EXPECT_TRUE(find_hazards(s).empty());
  s.tasks[0].blocking = false;
  EXPECT_EQ(only(s).kind, Kind::raw);
}

TEST(Hazard, DependenciesCarryOver) {
  // Task c of lane 2 waits for lane 1 only, which waited for lane 0.
  Schedule s = increment(Order::by_engine, 3, 3, 1);
  EXPECT_TRUE(find_hazards(s).empty());
}

TEST(Hazard, HandlesHundredThousandTasks) {
  const Schedule s =
      small_schedule(small_deck(WorkloadKind::increment, 40000, 33000), Order::by_engine, 3, 64);
  ASSERT_EQ(s.tasks.size(), 99000U);
  EXPECT_TRUE(find_hazards(s).empty());
}

}  // namespace
}  // namespace overlap::schedule
