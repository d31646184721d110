#include "describe/codecs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"

namespace overlap::describe {
namespace {

/// "; units: s, min, ..." if the text ends in a unit that is none of its kind's.
std::string unit_words(const std::string& found, const std::string& unit) {
  const std::vector<std::string> names = base::unit_names(unit);
  const std::string ending = found.substr(found.find_last_of("0123456789. ") + 1);
  const bool is_number = !ending.empty() && ending != found;
  if (!is_number || names.empty() || std::ranges::find(names, ending) != names.end()) return "";
  return fmt::format("; units: {}", fmt::join(names, ", "));
}

/// Whether a minimum is more than that of most types.
template <class T>
bool is_limited(T least) {
  return std::is_unsigned_v<T> || least != std::numeric_limits<T>::lowest();
}

/// The limits of a number in words.
template <class T>
std::string limits(T least, T most, std::string_view unit) {
  const bool is_integer = std::is_integral_v<T>;
  if (unit == "B") {
    const std::string limit =
        most == any<T> ? "" : " and at most " + base::spell_bytes(static_cast<std::int64_t>(most));
    return fmt::format("a size of at least {} B{}, such as 65536, 16 MiB or 2 GB", least, limit);
  }
  std::string text = is_integer ? "a whole number" : "a number";
  if (static_cast<double>(least) == above_0) {
    text += " above 0";
  } else if (is_limited(least)) {
    text += fmt::format(" from {}", least);
  }
  if (most == any<T>) return text;
  constexpr T suffixes_help = T{1 << 30};
  return text + fmt::format("{} to {}{}", is_limited(least) ? "" : " up", most,
                            is_integer && most > suffixes_help ? ", such as 4096 or 16 Mi" : "");
}

}  // namespace

void fail_value(const Reader& reader, const Values& values) {
  const std::string text = reader.is_text() ? reader.text() : "";
  reader.fail_allowed(values.allowed + unit_words(text, values.unit) +
                      suggestion(text, values.words));
}

template <class T>
std::optional<T> Number<T>::parse(const Json& found) const {
  std::optional<T> value;
  const auto take = [&](auto number) {
    if (std::in_range<T>(number)) value = static_cast<T>(number);
  };
  const std::string text = found.is_string() ? found.get<std::string>() : "";
  if (found.is_string() && parser != nullptr) {
    value = parser(text);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (found.is_string()) value = base::parse_number(text);
    if (found.is_number()) value = found.get<T>();
  } else if (found.is_string()) {
    if (const auto count = base::parse_count(text)) take(*count);
  } else if (found.is_number_float()) {
    const double number = found;
    if (number == std::trunc(number) && std::abs(number) < 0x1p63) take(std::llround(number));
  } else if (found.is_number()) {
    found.is_number_unsigned() ? take(found.get<std::uint64_t>()) : take(found.get<std::int64_t>());
  }
  if constexpr (std::is_integral_v<T>) {
    if (value && *value % divisor != 0) return std::nullopt;
  }
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

template <class T>
Json Number<T>::write(T value) const {
  if (spell != nullptr) return spell(value);
  return std::isfinite(static_cast<double>(value)) ? Json(value) : Json();
}

template <class T>
Values Number<T>::values() const {
  Json schema = {{"type", std::is_integral_v<T> ? "integer" : "number"}};
  const bool open = static_cast<double>(least) == above_0;
  if (is_limited(least)) {
    schema[open ? "exclusiveMinimum" : "minimum"] = open ? T{} : least;
  }
  if (most != any<T>) schema["maximum"] = most;
  return {allowed.empty() ? limits(least, most, unit) : std::string(allowed), schema,
          std::string(unit)};
}

template struct Number<double>;
template struct Number<int>;
template struct Number<std::int64_t>;
template struct Number<std::size_t>;

Count bytes(std::int64_t least, std::int64_t most) {
  return {.least = least, .most = most, .unit = "B", .parser = base::parse_bytes};
}

Real number(std::string_view allowed, double least, double most) {
  return {.allowed = allowed, .least = least, .most = most};
}

Real seconds(std::string_view allowed, double least, double most) {
  return {allowed, least, most, "s", base::parse_seconds};
}

Real part(std::string_view allowed, double least, double most) {
  return {allowed, least, most, "", base::parse_part};
}

std::optional<std::string> Text::parse(const Json& found) const {
  if (!found.is_string()) return std::nullopt;
  std::string text = found;
  if (!line) return base::one_line(text);
  while (text.ends_with('\n')) text.pop_back();  // in which a block scalar ends
  return text == base::one_line(text) ? std::optional(text) : std::nullopt;
}

Values words_values(std::vector<std::string> words) {
  return {.allowed = fmt::format("{}", fmt::join(words, ", ")),
          .schema = {{"type", "string"}, {"enum", words}},
          .words = std::move(words)};
}

std::optional<bool> Flag::parse(const Json& found) const {
  if (yes == nullptr && found.is_boolean()) return found.get<bool>();
  if (found == (yes == nullptr ? "true" : yes)) return true;
  return found == (yes == nullptr ? "false" : no) ? std::optional(false) : std::nullopt;
}

Values Flag::values() const {
  if (yes != nullptr) return words_values({yes, no});
  return {"true, false", {{"type", "boolean"}}, "", {"true", "false"}};
}

Values or_word(std::string_view none, Values values) {
  if (none.empty()) return or_null(std::move(values));
  values.allowed = std::string(none) + " or " + values.allowed;
  values.schema = {{"oneOf", {{{"const", none}}, values.schema}}};
  values.words.emplace_back(none);
  return values;
}

Values list_values(std::string_view allowed, std::size_t least, const Values& items) {
  return {std::string(allowed), {{"type", "array"}, {"minItems", least}, {"items", items.schema}}};
}

Values named_values(const Values& items) {
  return {"a map of names", {{"type", "object"}, {"additionalProperties", items.schema}}};
}

Values or_null(Values values) {
  Json& schema = values.schema;
  values.allowed += ", or null";
  // An object may stand among the definitions, for others without null.
  if (schema.contains("properties") || !schema.contains("type") || !schema["type"].is_string()) {
    schema = {{"anyOf", {schema, {{"type", "null"}}}}};
    return values;
  }
  schema["type"] = {schema["type"], "null"};
  if (schema.contains("enum")) schema["enum"].push_back(nullptr);
  return values;
}

}  // namespace overlap::describe
