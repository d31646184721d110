#pragma once

#include <functional>
#include <string>

namespace overlap::measure {

/// Who takes part in a measurement from outside; any may be empty.
struct Hooks {
  /// Where it is, for a progress display: `done` of `total` runs; total 0: nobody knows.
  std::function<void(int done, int total, const std::string& what)> progress;
  /// Called before every run, warm-up included, when all is ready and before time counts.
  std::function<void()> before_sample;
};

}  // namespace overlap::measure
