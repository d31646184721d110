#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "experiment/run.hpp"
#include "lanes/copy_pool.hpp"
#include "lanes/lanes.hpp"
#include "workload/workload.hpp"

namespace overlap::lanes {

/// A ring of page-locked slots for copies of pageable memory. Host threads fill slots for copies to
/// the device and drain slots of copies back, one thread per slot; copies between slots and the
/// device run in the lanes. Lanes and threads synchronize through the turns of each slot, so that
/// neither the issuing thread nor the driver blocks. In the lane, a copy to the host is complete
/// when its data are in the slots; waiting for the lane must include finish(). Data copied back
/// must not be copied to the device again in the same run. Kokkos (up to 5.2) blocks the host
/// during copies of pageable memory, and its instances cannot wait for host threads.
template <class Api>
class StagingRing {
  using Stream = typename Api::Stream;

 public:
  StagingRing(std::int64_t slots, std::int64_t slot_bytes)
      : slot_bytes_(static_cast<std::size_t>(slot_bytes)),
        up_(static_cast<std::size_t>(slots), slot_bytes_),
        down_(static_cast<std::size_t>(slots), slot_bytes_),
        pool_(threads_for(slots, base::usable_cpus())) {
    if (operations_.available()) return;
    throw base::Error(base::ExitCode::skipped, std::string("memory.host: pageable_staged needs ") +
                                                   Api::word_call + ", which this driver lacks");
  }

  /// One core is left to the issuing thread. Idle threads poll and so slow it down: more than one
  /// per slot, or than saturate memory, are of no use.
  static int threads_for(std::int64_t slots, int cpus) {
    constexpr std::int64_t most_useful = 16;
    const auto useful = static_cast<int>(std::min(most_useful, 2 * slots));
    return std::clamp(cpus - 1, 1, useful);
  }

  /// Prepares for a run. All earlier copies must be complete.
  void begin_run() {
    pool_.reset();
    up_.reset();
    down_.reset();
    draining_.clear();
    operations_.clear();
  }

  void copy(Stream lane, workload::Byte* host, workload::Byte* device, std::size_t bytes,
            bool to_device) {
    for (std::size_t at = 0; at < bytes; at += slot_bytes_) {
      const std::size_t part = std::min(slot_bytes_, bytes - at);
      const SlotUse use = (to_device ? up_ : down_).next();
      auto& [threads, lanes] = *use.done;
      if (to_device) {
        // First the lane's wait: whatever fails, a lane that is complete has no job left.
        operations_.wait(&threads, use.turn);
        operations_.enqueue(lane);
        push(fill, CopyJob{use.data, host + at, part, &lanes, use.turn - 1, &threads, use.turn},
             lane);
        Api::copy(device + at, use.data, part, Api::to_device, lane);
        operations_.write(&lanes, use.turn);
      } else {
        if (use.turn > 1) operations_.wait(&threads, use.turn - 1);
        operations_.enqueue(lane);
        Api::copy(use.data, device + at, part, Api::to_host, lane);
        operations_.write(&lanes, use.turn);
        push(drain, CopyJob{host + at, use.data, part, &lanes, use.turn, &threads, use.turn}, lane);
        draining_[lane].push_back(use);
      }
    }
    operations_.enqueue(lane);
  }

  /// Waits until the data copied back in this lane have left the slots. The lane must be complete:
  /// a slot that it has not written then is one of a copy that failed.
  void finish(Stream lane) {
    for (const SlotUse& use : draining_[lane]) {
      if (!has_reached(use.done->lanes, use.turn)) continue;
      while (!has_reached(use.done->threads, use.turn)) std::this_thread::yield();
    }
    draining_[lane].clear();
  }

  /// Times averaged over the threads.
  experiment::StagingCosts costs() const {
    return {pool_.seconds(fill) / pool_.threads(), pool_.seconds(drain) / pool_.threads(),
            pool_.threads()};
  }

 private:
  static constexpr std::size_t fill = 0;
  static constexpr std::size_t drain = 1;

  /// A full queue waits for the device; an error of the device ends the wait.
  void push(std::size_t queue, const CopyJob& job, Stream lane) {
    pool_.push(queue, job, [lane, checked = Clock::time_point()]() mutable {
      std::this_thread::yield();
      if (seconds_since(checked) < 1e-3) return;
      static_cast<void>(Api::is_complete(lane));
      checked = Clock::now();
    });
  }

  /// Turns of a slot that threads and lanes have completed, each in its own cache line.
  struct Turns {
    alignas(128) Turn threads;
    alignas(128) Turn lanes;
  };
  /// One use of a slot.
  struct SlotUse {
    workload::Byte* data;
    Turns* done;
    Turn turn;
  };

  /// Slots used round-robin.
  class Slots {
   public:
    Slots(std::size_t count, std::size_t bytes)
        : count_(count),
          bytes_(bytes),
          data_(workload::aligned<workload::Byte, workload::PinnedSpace<typename Api::Space>>(
              "overlap::staging", count * bytes)),
          turns_(Api::allocate_page_locked(count * sizeof(Turns))) {}

    void reset() {
      uses_ = 0;
      std::memset(turns_.get(), 0, count_ * sizeof(Turns));
    }

    SlotUse next() {
      const std::size_t slot = uses_ % count_;
      return {.data = data_.data() + slot * bytes_,
              .done = static_cast<Turns*>(turns_.get()) + slot,
              .turn = static_cast<Turn>(uses_++ / count_ + 1)};
    }

   private:
    std::size_t count_;
    std::size_t bytes_;
    std::size_t uses_ = 0;
    workload::Bytes data_;
    typename Api::PageLockedMemory turns_;  ///< coherent, unlike Kokkos allocations on some systems
  };

  typename Api::WordOperations operations_;          ///< collected for a lane, not yet enqueued
  std::map<Stream, std::vector<SlotUse>> draining_;  ///< since the last wait for the lane
  std::size_t slot_bytes_;
  Slots up_;
  Slots down_;
  CopyPool pool_;  ///< last member, so that its threads end before what they use
};

}  // namespace overlap::lanes
