#include "lanes/copy_pool.hpp"

#include <gtest/gtest.h>

#include <array>

namespace overlap {
namespace {

// The slots of a ring, with the test as the device: it takes what threads have put into a slot, and
// gives the slot back. Jobs of the second queue copy it on, each behind the device's turn.
TEST(CopyPool, CopiesWhenItsTurnHasCome) {
  using lanes::Turn;
  constexpr std::size_t piece = 1000;
  constexpr std::size_t slots = 3;
  for (const int threads : {1, 2, 5}) {
    SCOPED_TRACE(threads);
    lanes::CopyPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t pieces : {1U, 7U, 5000U}) {
      std::vector<unsigned char> from(piece * pieces);
      for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<unsigned char>(i % 251 + pieces);
      }
      std::vector<unsigned char> slot(piece * slots), to(piece * pieces);
      std::vector<Turn> filled(slots), taken(slots), drained(pieces);
      std::jthread device([&] {
        for (std::size_t i = 0; i < pieces; ++i) {
          const auto turn = static_cast<Turn>(i / slots + 1);
          while (!lanes::has_reached(filled[i % slots], turn)) std::this_thread::yield();
          std::atomic_ref(taken[i % slots]).store(turn, std::memory_order_release);
          // The slot's next turn is the drain's, below.
          while (!lanes::has_reached(drained[i], 1)) std::this_thread::yield();
        }
      });
      for (std::size_t i = 0; i < pieces; ++i) {
        const auto turn = static_cast<Turn>(i / slots + 1);
        unsigned char* const place = slot.data() + i % slots * piece;
        // A slot may be filled again when it was drained.
        Turn* const free = i < slots ? &taken[i % slots] : &drained[i - slots];
        pool.push(0, {place, from.data() + i * piece, piece, free, i < slots ? 0U : 1U,
                      &filled[i % slots], turn});
        pool.push(1,
                  {to.data() + i * piece, place, piece, &taken[i % slots], turn, &drained[i], 1});
      }
      device.join();
      EXPECT_EQ(to, from);
      EXPECT_GT(pool.seconds(0), 0);
      pool.reset();
      EXPECT_EQ(pool.seconds(0), 0);
    }
  }
}

// Jobs behind one that must wait wait, too; other queues do not.
TEST(CopyPool, KeepsTheOrderOfEachQueue) {
  using lanes::Turn;
  lanes::CopyPool pool(2);
  Turn gate = 0;
  Turn open = 1;
  std::array<Turn, 3> done = {};
  char from = 'x', to[3] = {};
  pool.push(0, {&to[0], &from, 1, &gate, 1, &done[0], 1});
  pool.push(0, {&to[1], &from, 1, &open, 1, &done[1], 1});
  pool.push(1, {&to[2], &from, 1, &open, 1, &done[2], 1});
  while (!lanes::has_reached(done[2], 1)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(lanes::has_reached(done[1], 1));
  std::atomic_ref(gate).store(1, std::memory_order_release);
  for (const std::size_t job : {0U, 1U}) {
    while (!lanes::has_reached(done[job], 1)) std::this_thread::yield();
  }
}

TEST(CopyPool, ForgetsJobsThatNeverBegan) {
  using lanes::Turn;
  Turn never = 0;
  Turn done = 0;
  char from = 'x', to = 'y';
  lanes::CopyPool pool(2);
  pool.push(0, {&to, &from, 1, &never, 1, &done, 1});
  pool.reset();
  std::atomic_ref(never).store(1);
  Turn other = 0;
  pool.push(0, {&from, &from, 0, &never, 1, &other, 1});
  while (!lanes::has_reached(other, 1)) std::this_thread::yield();
  EXPECT_EQ(to, 'y');
}

TEST(CopyPool, AFullQueueAsksTheCallerWhetherToWait) {
  using lanes::Turn;
  Turn never = 0;
  Turn done = 0;
  char from = 'x', to = 'y';
  lanes::CopyPool pool(1);
  const lanes::CopyJob job{&to, &from, 1, &never, 1, &done, 1};
  struct Lost {};
  const auto fill = [&] {
    for (int i = 0; i < 10000; ++i) pool.push(0, job, [] { throw Lost(); });
  };
  EXPECT_THROW(fill(), Lost);
  pool.reset();
}

}  // namespace
}  // namespace overlap
