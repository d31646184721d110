#include "describe/codecs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/whole.hpp"

namespace overlap::describe {
namespace {

/// "; units: s, min, ..." if the text is a number with a unit that is none of its kind's.
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

/// The limits of a number in words.
template <class T>
std::string limits(T least, T most, std::string_view unit) {
  const bool whole = std::is_integral_v<T>;
  if (unit == "B") {
    const std::string limit =
        most == any<T> ? "" : " and at most " + base::spell_bytes(static_cast<std::int64_t>(most));
    return fmt::format("a size of at least {} B{}, such as 65536, 16 MiB or 2 GB", least, limit);
  }
  std::string text = whole ? "a whole number" : "a number";
  if (static_cast<double>(least) == above_0) {
    text += " above 0";
  } else if (least != std::numeric_limits<T>::lowest()) {
    text += fmt::format(" from {}", least);
  }
  if (most == any<T>) return text;
  constexpr T suffixes_help = T{1 << 30};
  text += fmt::format("{} {}", least == std::numeric_limits<T>::lowest() ? " up" : "", "to");
  return text +
         fmt::format(" {}{}", most, whole && most > suffixes_help ? ", such as 4096 or 16 Mi" : "");
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
  if (found.is_string()) {
    const auto& text = found.get_ref<const std::string&>();
    if constexpr (std::is_integral_v<T>) {
      value = parser == nullptr ? base::parse_count(text) : parser(text);
    } else {
      value = parser == nullptr ? base::parse_number(text) : parser(text);
    }
  } else if (found.is_number()) {
    if constexpr (std::is_integral_v<T>) {
      value = found.is_number_float() ? base::whole<T>(found.get<double>())
              : found.is_number_unsigned() && !std::in_range<T>(found.get<std::uint64_t>())
                  ? std::nullopt
                  : std::optional(found.get<T>());
    } else {
      value = found.get<T>();
    }
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
  if (least != std::numeric_limits<T>::lowest()) {
    schema[open ? "exclusiveMinimum" : "minimum"] = open ? T{} : least;
  }
  if (most != any<T>) schema["maximum"] = most;
  return {allowed.empty() ? limits(least, most, unit) : std::string(allowed), schema,
          std::string(unit)};
}

template struct Number<double>;
template struct Number<std::int64_t>;

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
