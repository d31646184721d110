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
#include "workload/workload.hpp"

namespace overlap::lanes {

/// Page-locked slots through which pageable memory passes. Threads fill slots for copies to the
/// device and drain those of copies back, each a slot of its own; copies between slots and the
/// device run in the lanes. Lanes and threads wait for each other's turns at a slot, so that
/// neither the issuing thread nor the driver's wait. A lane goes on behind a copy to the host
/// when its data are in the slots; who waits for the lane must wait for them to leave, too. What
/// came back does not go out again in the same run.
template <class Api>
class StagingRing {
  using Stream = typename Api::Stream;

 public:
  StagingRing(std::int64_t slots, std::int64_t slot_bytes)
      : slot_bytes_(static_cast<std::size_t>(slot_bytes)),
        up_(static_cast<std::size_t>(slots), slot_bytes_),
        down_(static_cast<std::size_t>(slots), slot_bytes_),
        pool_(std::max(1, base::usable_cpus() - 1)) {  // one is left to the issuing thread
    if (operations_.available()) return;
    throw base::Error(base::ExitCode::skipped, std::string("memory.host: pageable_staged needs ") +
                                                   Api::word_call + ", which this driver lacks");
  }

  /// All copies before are complete.
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
      const Use use = (to_device ? up_ : down_).next();
      auto& [threads, lanes] = *use.done;
      if (to_device) {
        pool_.push(fill,
                   CopyJob{use.data, host + at, part, &lanes, use.turn - 1, &threads, use.turn});
        operations_.wait(&threads, use.turn);
        operations_.enqueue(lane);
        Api::copy(device + at, use.data, part, Api::to_device, lane);
        operations_.write(&lanes, use.turn);
      } else {
        if (use.turn > 1) operations_.wait(&threads, use.turn - 1);
        operations_.enqueue(lane);
        Api::copy(use.data, device + at, part, Api::to_host, lane);
        operations_.write(&lanes, use.turn);
        pool_.push(drain, CopyJob{host + at, use.data, part, &lanes, use.turn, &threads, use.turn});
        draining_[lane].push_back(use);
      }
    }
    operations_.enqueue(lane);
  }

  /// Waits until what a lane's copies brought has left the slots; the lane is complete.
  void finish(Stream lane) {
    for (const Use& use : draining_[lane]) {
      while (!has_reached(use.done->threads, use.turn)) std::this_thread::yield();
    }
    draining_[lane].clear();
  }

  /// Times per thread, as if all had the same share of the work.
  experiment::StagingCosts costs() const {
    return {pool_.seconds(fill) / pool_.threads(), pool_.seconds(drain) / pool_.threads(),
            pool_.threads()};
  }

 private:
  static constexpr std::size_t fill = 0;
  static constexpr std::size_t drain = 1;

  /// The turns at a slot that threads and lanes have finished, each in a cache line of its own.
  struct Turns {
    alignas(128) Turn threads;
    alignas(128) Turn lanes;
  };
  /// A slot's next use.
  struct Use {
    workload::Byte* data;
    Turns* done;
    Turn turn;
  };

  /// Slots that are used in turn.
  class Slots {
   public:
    Slots(std::size_t count, std::size_t bytes)
        : count_(count),
          bytes_(bytes),
          data_(workload::Bytes::in<workload::PinnedSpace<typename Api::Space>>("overlap::staging",
                                                                                count * bytes)),
          turns_(Api::allocate_page_locked(count * sizeof(Turns))) {}

    void reset() {
      uses_ = 0;
      std::memset(turns_, 0, count_ * sizeof(Turns));
    }

    Use next() {
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
    typename Api::PageLockedMemory turns_;  ///< coherent, which Kokkos' is not everywhere
  };

  typename Api::WordOperations operations_;      ///< of a lane, not yet enqueued
  std::map<Stream, std::vector<Use>> draining_;  ///< since the lane was last waited for
  std::size_t slot_bytes_;
  Slots up_;
  Slots down_;
  CopyPool pool_;  ///< last, so that its threads end before what they use
};

}  // namespace overlap::lanes
