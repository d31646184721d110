#include "yaml/kinds.hpp"

#include <strings.h>

#include <cctype>
#include <charconv>

#include "base/text.hpp"
#include "base/units.hpp"

namespace overlap::yaml {

Json value_at(const Json& map, std::string key) {
  std::ranges::replace(key, '.', '/');
  const Json::json_pointer place("/" + key);
  return map.contains(place) ? map.at(place) : Json();
}

std::string spell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::vector<std::string> parts;
  for (const auto& [key, item] : value.items()) {
    parts.push_back(value.is_object() ? key + ": " + spell(item) : spell(item));
  }
  const std::string list = fmt::format("{}", fmt::join(parts, ", "));
  return value.is_object() ? "{" + list + "}" : "[" + list + "]";
}

std::string unit_words(const std::string& found, const std::string& unit) {
  const std::vector<std::string> names = base::unit_names(unit);
  double ignored = 0;
  const char* const end = std::from_chars(found.data(), found.data() + found.size(), ignored).ptr;
  const std::size_t begin =
      found.find_first_not_of(' ', static_cast<std::size_t>(end - found.data()));
  const bool is_number = end != found.data() && !std::isalpha(static_cast<unsigned char>(end[-1]));
  if (!is_number || begin == found.npos) return "";
  const std::string own = found.substr(begin);
  if (names.empty() || std::ranges::find(names, own) != names.end()) return "";
  const auto near = std::ranges::find_if(
      names, [&](const std::string& name) { return strcasecmp(name.c_str(), own.c_str()) == 0; });
  return fmt::format("; units: {}{}", fmt::join(names, ", "),
                     near == names.end() ? "" : fmt::format("; did you mean '{}'?", *near));
}

Kind<std::int64_t> count(std::int64_t least, std::int64_t most) {
  constexpr std::int64_t suffixes_help = std::int64_t{1} << 30;
  const char* const example = most > suffixes_help ? ", such as 4096 or 16 Mi" : "";
  return ranged(fmt::format("a whole number from {} to {}{}", least, most, example), least, most,
                "", base::parse_count);
}

Kind<std::int64_t> bytes(std::int64_t least, std::int64_t most) {
  const std::string limit =
      most == any<std::int64_t> ? "" : " and at most " + base::spell_bytes(most);
  return ranged(
      fmt::format("a size of at least {} B{}, such as 65536, 16 MiB or 2 GB", least, limit), least,
      most, "B", base::parse_bytes);
}

Kind<double> number(const std::string& values, double least, double most) {
  return ranged(values, least, most, "", base::parse_number);
}

Kind<double> seconds(const std::string& values, double least, double most) {
  return ranged(values, least, most, "s", base::parse_seconds);
}

Kind<double> rate(const std::string& values, double least, double most) {
  return ranged<double>(values, least, most, "B/s", [](std::string_view text) {
    const auto bytes_per_s = base::parse_bandwidth(text);
    return bytes_per_s ? std::optional(*bytes_per_s / 1e9) : base::parse_number(text);
  });
}

Kind<double> part(const std::string& values, double least, double most) {
  return ranged(values, least, most, "", base::parse_part);
}

Kind<bool> either(const std::string& yes, const std::string& no) {
  return {
      .values = {.allowed = yes + ", " + no, .schema = {{"enum", {yes, no}}}, .words = {yes, no}},
      .parse = [=](const std::string& text) -> std::optional<bool> {
        if (text != yes && text != no) return std::nullopt;
        return text == yes;
      },
      .write = [=](const bool& value) -> Json { return value ? yes : no; }};
}

Kind<std::string> line() {
  const auto parse = [](std::string text) {
    while (text.ends_with('\n')) text.pop_back();  // in which a block scalar ends
    return text == base::one_line(text) ? std::optional(text) : std::nullopt;
  };
  return {.values = {.allowed = "one line of text", .schema = {{"type", "string"}}},
          .parse = parse};
}

}  // namespace overlap::yaml
