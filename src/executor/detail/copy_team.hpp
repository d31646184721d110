#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace overlap::executor::detail {

/// Threads that copy memory together; they sleep in between.
class CopyTeam {
 public:
  /// With the calling thread so many.
  explicit CopyTeam(int threads) {
    try {
      for (int i = 1; i < threads; ++i) {
        workers_.emplace_back([this, i] { work(static_cast<std::size_t>(i)); });
      }
    } catch (...) {  // no more threads to be had: those that run must end
      stop();
      throw;
    }
  }

  ~CopyTeam() { stop(); }

  CopyTeam(const CopyTeam&) = delete;
  CopyTeam& operator=(const CopyTeam&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Copies; returns when all is there. One caller at a time.
  void copy(void* to, const void* from, std::size_t bytes) {
    to_ = static_cast<char*>(to);
    from_ = static_cast<const char*>(from);
    bytes_ = bytes;
    busy_ = workers_.size();
    begin();
    copy_part(0);
    for (std::size_t left = busy_; left > 0; left = busy_) busy_.wait(left);
  }

 private:
  void stop() {
    stop_ = true;
    begin();
  }

  void begin() {
    ++calls_;
    calls_.notify_all();
  }

  void copy_part(std::size_t part) const {
    constexpr std::size_t line = 64;  // no two threads write to one
    const std::size_t parts = workers_.size() + 1;
    const auto border = [&](std::size_t i) {
      return i == parts ? bytes_ : bytes_ / line * i / parts * line;
    };
    std::memcpy(to_ + border(part), from_ + border(part), border(part + 1) - border(part));
  }

  void work(std::size_t part) {
    for (unsigned seen = 0;; ++seen) {
      while (calls_ == seen) calls_.wait(seen);
      if (stop_) return;
      copy_part(part);
      if (--busy_ == 0) busy_.notify_one();
    }
  }

  char* to_ = nullptr;
  const char* from_ = nullptr;
  std::size_t bytes_ = 0;
  std::atomic<unsigned> calls_ = 0;
  std::atomic<std::size_t> busy_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> workers_;  ///< last, so that they end before what they use
};

}  // namespace overlap::executor::detail
