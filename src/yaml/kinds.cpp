#include "yaml/kinds.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/units.hpp"

namespace overlap::yaml {
namespace {

Value limited(const char* type, auto least, auto most) {
  Value::Map map = {{"type", type}};
  if (static_cast<double>(least) == above_0) {
    map.emplace_back("exclusiveMinimum", 0);
  } else {
    map.emplace_back("minimum", least);
  }
  if (std::isfinite(static_cast<double>(most))) map.emplace_back("maximum", most);
  return map;
}

Kind<double> real(const std::string& values, double least, double most, const char* unit,
                  std::optional<double> (*parse)(std::string_view)) {
  return scalar<double>({.values = values,
                         .schema = limited("number", least, most),
                         .unit = unit,
                         .parse = [=](const std::string& text) {
                           const auto value = parse(text);
                           const bool good = value && *value >= least && *value <= most;
                           return good ? value : std::nullopt;
                         }});
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.begin(), text.end(), value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.end();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

Kind<std::int64_t> count(std::int64_t least, std::int64_t most) {
  constexpr std::int64_t suffixes_help = std::int64_t{1} << 30;
  return scalar<std::int64_t>(
      {.values = fmt::format("a whole number from {} to {}{}", least, most,
                             most > suffixes_help ? ", such as 4096 or 16 Mi" : ""),
       .schema = limited("integer", least, most),
       .parse = [=](const std::string& text) {
         const auto value = base::parse_count(text);
         return value && *value >= least && *value <= most ? value : std::nullopt;
       }});
}

Kind<std::int64_t> bytes(std::int64_t least) {
  return scalar<std::int64_t>(
      {.values = fmt::format("a size of at least {} B, such as 65536, 16 MiB or 2 GB", least),
       .schema = Value::Map{{"type", "integer"}, {"minimum", least}},
       .unit = "B",
       .parse = [=](const std::string& text) {
         const auto value = base::parse_bytes(text);
         return value && *value >= least ? value : std::nullopt;
       }});
}

Kind<double> number(const std::string& values, double least, double most) {
  return real(values, least, most, "", parse_number);
}

Kind<double> seconds(const std::string& values, double least, double most) {
  return real(values, least, most, "s", base::parse_seconds);
}

Kind<bool> flag() {
  return scalar<bool>({.values = "true, false",
                       .schema = Value::Map{{"type", "boolean"}},
                       .words = {"true", "false"},
                       .parse = [](const std::string& text) {
                         const bool good = text == "true" || text == "false";
                         return good ? std::optional(text == "true") : std::nullopt;
                       }});
}

Kind<std::string> line() {
  return scalar<std::string>({.values = "one line of text",
                              .schema = Value::Map{{"type", "string"}},
                              .parse = [](std::string text) -> std::optional<std::string> {
                                // A block scalar ends in a line break.
                                while (text.ends_with('\n')) text.pop_back();
                                const bool whole = text.find_first_of("\t\r\n") == text.npos;
                                if (!whole || !is_text(text)) return std::nullopt;
                                return text;
                              }});
}

}  // namespace overlap::yaml
