#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stop_token>
#include <thread>
#include <vector>

namespace overlap::lanes {

/// Number of a use of a memory slot, from 1. On completion of a use its number is written to a
/// word, which host threads poll with has_reached() and devices with stream operations.
using Turn = std::uint32_t;

inline bool has_reached(Turn& word, Turn turn) {
  const Turn reached = std::atomic_ref(word).load(std::memory_order_acquire);
  return static_cast<std::int32_t>(reached - turn) >= 0;
}

/// A host memory copy that starts when `ready` has reached `after`, and then sets `done` to `turn`.
struct CopyJob {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  Turn* ready = nullptr;
  Turn after = 0;
  Turn* done = nullptr;
  Turn turn = 0;
};

/// A thread pool for memory copies; each job runs on one thread. Jobs of one queue start in FIFO
/// order; queues are independent. Threads poll while jobs are queued and for 1 ms afterwards, then
/// sleep.
class CopyPool {
 public:
  explicit CopyPool(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  int threads() const { return static_cast<int>(threads_.size()); }

  /// Appends a job to a queue (0 or 1). Calls `wait` while the queue holds 4096 jobs. Not
  /// thread-safe.
  template <class Wait = void (*)()>
  void push(std::size_t queue, const CopyJob& job, Wait wait = std::this_thread::yield) {
    Queue& jobs = queues_[queue];
    const std::size_t at = jobs.pushed.load(std::memory_order_relaxed);
    while (at - jobs.taken.load(std::memory_order_acquire) == capacity) wait();
    jobs.cells[at % capacity] = job;
    jobs.pushed.store(at + 1, std::memory_order_release);
    ++changes_;
    changes_.notify_one();
  }

  /// Discards jobs that have not started, and resets the times. No job may be running.
  void reset() {
    for (Queue& jobs : queues_) {
      while (jobs.looking.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
      jobs.taken.store(jobs.pushed.load());
      jobs.looking.clear(std::memory_order_release);
      jobs.ns = 0;
    }
  }

  /// Time spent copying for a queue since reset(), summed over all threads.
  double seconds(std::size_t queue) const {
    return 1e-9 * static_cast<double>(queues_[queue].ns.load());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t capacity = 4096;

  struct Queue {
    std::vector<CopyJob> cells = std::vector<CopyJob>(capacity);
    // Apart: what polling threads write must not delay push().
    alignas(128) std::atomic<std::size_t> pushed = 0;
    alignas(128) std::atomic<std::size_t> taken = 0;
    alignas(128) std::atomic_flag looking;  ///< held by the thread that inspects the next job
    std::atomic<std::int64_t> ns = 0;

    bool empty() const { return taken.load() == pushed.load(); }
  };

  /// Executes the next job of the queue if it is ready and no other thread inspects it.
  static bool do_next(Queue& jobs) {
    if (jobs.empty() || jobs.looking.test_and_set(std::memory_order_acquire)) return false;
    const std::size_t at = jobs.taken.load(std::memory_order_relaxed);
    const CopyJob& next = jobs.cells[at % capacity];
    const bool begins = !jobs.empty() && has_reached(*next.ready, next.after);
    CopyJob job;
    if (begins) {
      job = next;
      jobs.taken.store(at + 1, std::memory_order_release);
    }
    jobs.looking.clear(std::memory_order_release);
    if (!begins) return false;
    const auto start = Clock::now();
    std::memcpy(job.to, job.from, job.bytes);
    jobs.ns += std::chrono::nanoseconds(Clock::now() - start).count();
    std::atomic_ref(*job.done).store(job.turn, std::memory_order_release);
    return true;
  }

  void work(const std::stop_token& stop) {
    constexpr auto patience = std::chrono::milliseconds(1);
    const std::stop_callback wake(stop, [this] {
      ++changes_;
      changes_.notify_all();
    });
    auto busy = Clock::now();
    while (true) {
      const unsigned seen = changes_;  // read first, so that no later change is missed
      if (stop.stop_requested()) return;
      bool worked = false;
      for (Queue& jobs : queues_) worked = do_next(jobs) || worked;
      if (worked) {
        busy = Clock::now();
      } else if (Clock::now() - busy > patience && std::ranges::all_of(queues_, &Queue::empty)) {
        changes_.wait(seen);
        busy = Clock::now();
      } else {
        std::this_thread::yield();
      }
    }
  }

  std::array<Queue, 2> queues_;
  alignas(128) std::atomic<unsigned> changes_ = 0;  ///< incremented to wake the threads
  std::vector<std::jthread> threads_;  ///< last member, so that they end before what they use
};

}  // namespace overlap::lanes
