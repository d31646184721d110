#pragma once

#include <functional>
#include <string>

namespace overlap::measure {

/// Callbacks into a measurement; any may be empty.
struct Hooks {
  /// Progress display: `done` of `total` runs; total 0: unknown.
  std::function<void(int done, int total, const std::string& activity)> progress;
  /// Called before every run, including warm-up, when everything is ready and before time counts.
  std::function<void()> before_sample;
  /// Called after each such run; `scored`: it is one of the repetitions.
  std::function<void(bool scored)> after_sample;
  /// Called after each complete round with whether this rank wishes to stop; returns whether all
  /// ranks of the phase do. Empty: this rank decides alone.
  std::function<bool(bool wish)> all_stop;
  /// Ranks of this node that allocate at once.
  int ranks = 1;
  /// Wraps measurements whose number of runs differs between ranks; empty: direct call.
  std::function<void(const std::function<void()>& body)> together;

  void show(const std::string& activity, int done = 0, int total = 0) const {
    if (progress) progress(done, total, activity);
  }
  void after(bool scored) const {
    if (after_sample) after_sample(scored);
  }
  bool stop(bool wish) const { return all_stop ? all_stop(wish) : wish; }
  void call(const std::function<void()>& body) const { together ? together(body) : body(); }
};

}  // namespace overlap::measure
