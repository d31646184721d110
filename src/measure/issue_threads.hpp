#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace overlap::measure {

/// The host threads that issue: the caller of run(), which is thread 0, and others that sleep
/// between runs. Lives where it is, because its threads refer to it.
class IssueThreads {
 public:
  explicit IssueThreads(int count) {
    for (int thread = 1; thread < count; ++thread) {
      threads_.emplace_back([this, thread] { work(thread); });
    }
  }
  IssueThreads(const IssueThreads&) = delete;
  ~IssueThreads() { wake(nullptr); }

  int count() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls body(thread) on each thread, and returns when all calls have. `body` throws nothing.
  void run(const std::function<void(int)>& body) {
    running_ = count() - 1;
    wake(&body);
    body(0);
    while (running_ > 0) std::this_thread::yield();
  }

 private:
  void wake(const std::function<void(int)>* body) {
    body_ = body;
    ++round_;
    round_.notify_all();
  }

  void work(int thread) {
    for (unsigned round = 0;; ++round) {
      round_.wait(round);
      if (body_ == nullptr) return;
      (*body_)(thread);
      --running_;
    }
  }

  const std::function<void(int)>* body_ = nullptr;  ///< null: the threads end
  std::atomic<int> running_ = 0;
  std::atomic<unsigned> round_ = 0;
  std::vector<std::jthread> threads_;  ///< last member, so that they end before what they use
};

}  // namespace overlap::measure
