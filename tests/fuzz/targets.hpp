#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace overlap::fuzz {

/// Takes any input. An error that tells a user what is wrong is fine; a crash, another exception, a
/// sanitizer's report or a long time is a defect.
struct Target {
  std::string_view name;  ///< of its folder in corpus/, too
  bool json;              ///< whether its inputs are mostly JSON
  std::function<void(const std::string& input)> run;
};

std::span<const Target> targets();

}  // namespace overlap::fuzz
