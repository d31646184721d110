#include "lanes/staging_ring.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace overlap {
namespace {

/// Streams that execute what was enqueued when they are synchronized.
struct LateApi {
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Stream = std::vector<std::function<void()>>*;
  using PageLockedMemory = std::shared_ptr<void>;
  static constexpr const char* word_call = "write";
  enum Kind { to_device, to_host };

  static PageLockedMemory allocate_page_locked(std::size_t bytes) {
    return {std::aligned_alloc(128, bytes), std::free};
  }
  static void copy(void* to, const void* from, std::size_t bytes, Kind, Stream stream) {
    stream->push_back([=] { std::memcpy(to, from, bytes); });
  }
  static bool is_complete(Stream) { throw std::runtime_error("lost"); }
  static void synchronize(Stream stream) {
    for (const auto& operation : *stream) operation();
    stream->clear();
  }

  struct WordOperations {
    std::vector<std::function<void()>> operations;
    inline static int calls_before_failure;

    static bool available() { return true; }
    void clear() { operations.clear(); }
    void wait(lanes::Turn* word, lanes::Turn turn) {
      operations.emplace_back([=] {
        while (!lanes::has_reached(*word, turn)) std::this_thread::yield();
      });
    }
    void write(lanes::Turn* word, lanes::Turn turn) {
      operations.emplace_back(
          [=] { std::atomic_ref(*word).store(turn, std::memory_order_release); });
    }
    void enqueue(Stream stream) {
      if (operations.empty()) return;
      const bool fails = calls_before_failure-- == 0;
      if (!fails) stream->insert(stream->end(), operations.begin(), operations.end());
      clear();
      if (fails) throw std::runtime_error("planted");
    }
  };
};

TEST(StagingRing, HasNoMoreThreadsThanAreOfUse) {
  EXPECT_EQ(lanes::StagingRing<LateApi>::threads_for(4, 64), 8);
  EXPECT_EQ(lanes::StagingRing<LateApi>::threads_for(1024, 64), 16);
  EXPECT_EQ(lanes::StagingRing<LateApi>::threads_for(1024, 8), 7);
  EXPECT_EQ(lanes::StagingRing<LateApi>::threads_for(1024, 1), 1);
}

/// 1000 bytes through slots of 300 to the device and, in another lane, back.
struct RoundTrip {
  std::vector<unsigned char> from = std::vector<unsigned char>(1000);
  std::vector<unsigned char> device = std::vector<unsigned char>(1000);
  std::vector<unsigned char> to = std::vector<unsigned char>(1000);
  std::vector<std::function<void()>> up, down;

  RoundTrip() { std::iota(from.begin(), from.end(), static_cast<unsigned char>(1)); }

  void copy(lanes::StagingRing<LateApi>& ring, int calls_before_failure) {
    LateApi::WordOperations::calls_before_failure = calls_before_failure;
    ring.begin_run();
    ring.copy(&up, from.data(), device.data(), from.size(), true);
    ring.copy(&down, to.data(), device.data(), to.size(), false);
  }
  void finish(lanes::StagingRing<LateApi>& ring) {
    for (auto* const stream : {&up, &down}) {
      LateApi::synchronize(stream);
      ring.finish(stream);
    }
  }
};

TEST(StagingRing, CopiesToTheDeviceAndBack) {
  for (const std::int64_t slots : {1, 2, 8}) {
    SCOPED_TRACE(slots);
    lanes::StagingRing<LateApi> ring(slots, 300);
    RoundTrip data;
    data.copy(ring, -1);
    data.finish(ring);
    EXPECT_EQ(data.to, data.from);
  }
}

// Wherever an operation fails, the lanes can be waited for, and the next run is a good one.
TEST(StagingRing, EndsAfterAFailedOperation) {
  for (const std::int64_t slots : {1, 2, 8}) {
    lanes::StagingRing<LateApi> ring(slots, 300);
    int calls = 0;
    for (bool failed = true; failed; ++calls) {
      SCOPED_TRACE(calls);
      RoundTrip data;
      try {
        data.copy(ring, calls);
        failed = false;
      } catch (const std::runtime_error&) {
      }
      data.finish(ring);
      EXPECT_EQ(data.to == data.from, !failed);
    }
    EXPECT_GT(calls, 8);
  }
}

TEST(StagingRing, ADeviceThatIsLostEndsTheWaitForIt) {
  constexpr std::size_t slot = 64, parts = 10000;  // more than its queue holds
  std::vector<unsigned char> from(slot * parts), device(slot * parts);
  std::vector<std::function<void()>> never;
  LateApi::WordOperations::calls_before_failure = -1;
  lanes::StagingRing<LateApi> ring(2, slot);
  ring.begin_run();
  EXPECT_THROW(ring.copy(&never, from.data(), device.data(), from.size(), true),
               std::runtime_error);
  ring.begin_run();
}

}  // namespace
}  // namespace overlap
