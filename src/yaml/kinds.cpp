#include "yaml/kinds.hpp"

#include <charconv>
#include <cmath>

#include "base/units.hpp"

namespace overlap::yaml {
namespace {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.begin(), text.end(), value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.end();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

Kind<std::int64_t> count(std::int64_t least, std::int64_t most) {
  constexpr std::int64_t suffixes_help = std::int64_t{1} << 30;
  const char* const example = most > suffixes_help ? ", such as 4096 or 16 Mi" : "";
  return ranged(fmt::format("a whole number from {} to {}{}", least, most, example), least, most,
                "", base::parse_count);
}

Kind<std::int64_t> bytes(std::int64_t least) {
  return ranged(fmt::format("a size of at least {} B, such as 65536, 16 MiB or 2 GB", least), least,
                any<std::int64_t>, "B", base::parse_bytes);
}

Kind<double> number(const std::string& values, double least, double most) {
  return ranged(values, least, most, "", parse_number);
}

Kind<double> seconds(const std::string& values, double least, double most) {
  return ranged(values, least, most, "s", base::parse_seconds);
}

Kind<bool> flag() {
  const auto parse = [](const std::string& text) {
    return text == "true" || text == "false" ? std::optional(text == "true") : std::nullopt;
  };
  return scalar<bool>({.values = "true, false",
                       .schema = Value::Map{{"type", "boolean"}},
                       .words = {"true", "false"},
                       .parse = parse});
}

Kind<std::string> line() {
  const auto parse = [](std::string text) {
    while (text.ends_with('\n')) text.pop_back();  // in which a block scalar ends
    const bool one = text.find_first_of("\t\r\n") == std::string::npos && is_text(text);
    return one ? std::optional(text) : std::nullopt;
  };
  return scalar<std::string>(
      {.values = "one line of text", .schema = Value::Map{{"type", "string"}}, .parse = parse});
}

}  // namespace overlap::yaml
