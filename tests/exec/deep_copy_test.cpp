#include <gmock/gmock.h>

#include <mutex>

#include "bench.hpp"
#include "deck/words.hpp"

/// What a Kokkos tool sees of the copies: one deep_copy per copy of contiguous data. Not seen are
/// copies of graphs (launched at once) and strided copies by native calls.
namespace overlap {
namespace {

using deck::ElementType;
using deck::HostMemory;
using deck::Order;
using deck::WorkloadKind;

/// Copies that a tool has seen since begin().
class SeenCopies {
 public:
  static void begin() {
    sizes().clear();
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(
        [](Kokkos_Profiling_SpaceHandle, const char*, const void*, Kokkos_Profiling_SpaceHandle,
           const char*, const void*, std::uint64_t bytes) {
          static std::mutex mutex;  // lanes of a host copy in several threads
          const std::scoped_lock lock(mutex);
          sizes().push_back(bytes);
        });
  }
  static std::vector<std::uint64_t> end() {
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(nullptr);
    return sizes();
  }

 private:
  static std::vector<std::uint64_t>& sizes() {
    static std::vector<std::uint64_t> sizes;
    return sizes;
  }
};

/// Expects one deep_copy per copy of the deck.
void expect_all_seen(const deck::Deck& deck, Order order) {
  SCOPED_TRACE(testing::Message() << to_string(deck.workload.kind) << " " << to_string(order));
  TestBench bench(deck, order, 3);
  measure::reset(bench.executor->lanes().instance(0), bench.workload, 1);
  SeenCopies::begin();
  bench.executor->run(bench.schedule, bench.workload);
  const std::vector<std::uint64_t> seen = SeenCopies::end();
  EXPECT_FALSE(bench.workload.verify(1, bench.workload.repeats).mismatch);
  std::vector<std::uint64_t> expected;
  for (const schedule::Task& task : bench.schedule.tasks) {
    if (schedule::is_copy(task.stage)) expected.push_back(task.bytes);
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_THAT(seen, testing::UnorderedElementsAreArray(expected));
}

TEST(DeepCopyTest, ToolsSeeEveryContiguousCopy) {
  for (const WorkloadKind kind : schedule::chunked_kinds()) {
    for (const Order order : {Order::sequential, Order::depth_first, Order::by_engine}) {
      // Below and above the size from which Kokkos copies with several threads.
      for (const std::int64_t units : {1000, 100000}) {
        expect_all_seen(test_deck(kind, units, 4, ElementType::float32), order);
      }
    }
  }
}

TEST(DeepCopyTest, InEveryKindOfHostMemory) {
  for (const HostMemory memory :
       {HostMemory::pinned, HostMemory::pageable, HostMemory::registered}) {
    if (memory == HostMemory::registered && workload::is_host) continue;
    deck::Deck deck = test_deck(WorkloadKind::increment, 5000, 4, ElementType::float64);
    deck.memory.host = memory;
    expect_all_seen(deck, Order::depth_first);
  }
}

TEST(DeepCopyTest, AlsoOfThePortableMechanism) {
  deck::Deck deck = test_deck(WorkloadKind::increment, 5000, 4, ElementType::float32);
  deck.issue.mechanism = deck::Mechanism::portable;
  expect_all_seen(deck, Order::sequential);
}

}  // namespace
}  // namespace overlap
