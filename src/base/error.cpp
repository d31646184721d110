#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "base/text.hpp"

namespace overlap::base {

namespace {

constexpr std::array worst_first = {
    ExitCode::usage,         ExitCode::wrong_data,   ExitCode::interrupted,
    ExitCode::runtime_error, ExitCode::precondition, ExitCode::performance,
    ExitCode::inconclusive,  ExitCode::skipped,      ExitCode::pass};

}  // namespace

Error::Error(ExitCode code, const std::string& message)
    : std::runtime_error(one_line(message)), code_(code) {}

ExitCode worst(ExitCode a, ExitCode b) {
  return std::ranges::find(worst_first, a) < std::ranges::find(worst_first, b) ? a : b;
}

ExitCode exit_code(double number) {
  const auto code =
      std::ranges::find(worst_first, number, [](ExitCode c) { return static_cast<double>(c); });
  if (code == worst_first.end()) throw Error(ExitCode::usage, "found an unknown exit code");
  return *code;
}

Error error_of(const std::exception& exception) {
  if (const auto* const ours = dynamic_cast<const Error*>(&exception)) return *ours;
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) {
    return {ExitCode::precondition, "out of memory"};
  }
  const std::string text = exception.what();
  return {ExitCode::runtime_error, text.substr(0, text.find('\n'))};
}

std::string to_string(const SourcePlace& place) {
  if (place.line == 0) return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

}  // namespace overlap::base
