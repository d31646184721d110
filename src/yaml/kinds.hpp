#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "yaml/reader.hpp"
#include "yaml/words.hpp"

/// Kinds of values: reading, writing, description.
namespace overlap::yaml {

/// A value without a place: the output of tables. Maps keep their order.
using Json = nlohmann::ordered_json;

/// The value of a dotted key, such as "memory.host"; null: no such key.
Json value_at(const Json& map, std::string key);

/// The value as one line of YAML, with unquoted strings.
std::string spell(const Json& value);

/// What messages, pages and the schema say of values.
struct Values {
  std::string allowed;  ///< for messages and pages
  Json schema;          ///< JSON Schema of what is written
  std::string unit = {};
  std::vector<std::string> words = {};  ///< for suggestions
  bool may_miss = false;                ///< may be omitted when written
};

/// "; units: s, min, ..." if the text is a number with a unit that is none of its kind's.
std::string unit_words(const std::string& found, const std::string& unit);

template <class T>
struct Kind {
  static Json as_is(const T& value) {
    if constexpr (std::is_constructible_v<Json, const T&>) return value;
    return {};
  }

  Values values;
  std::function<std::optional<T>(const std::string&)> parse = {};  ///< reads a scalar
  std::function<T(const Reader&)> take = {};                       ///< reads a list or map
  std::function<Json(const T&)> write = as_is;                     ///< null: not written

  /// Reads a value. Throws Error{usage}.
  T read(const Reader& reader) const {
    if (take) return take(reader);
    const std::string found = reader.text(values.allowed);
    if (auto value = parse(found)) return *value;
    const std::string point = base::replaced(found, ",", ".");
    if (std::is_floating_point_v<T> && point != found && parse(point)) {
      reader.fail_allowed(values.allowed + decimal_comma(point));
    }
    reader.fail_allowed(values.allowed + unit_words(found, values.unit) +
                        suggestion(found, values.words));
  }
};

/// As minimum of a kind: any number above 0.
inline constexpr double above_0 = std::numeric_limits<double>::denorm_min();
/// As maximum of a kind: no limit.
template <class T>
inline constexpr T any = std::numeric_limits<T>::max();

/// A scalar kind restricted to values that pass a test.
template <class T>
Kind<T> only(Kind<T> kind, auto test) {
  kind.parse = [test, parse = kind.parse](const std::string& text) {
    const auto value = parse(text);
    return value && test(*value) ? value : std::nullopt;
  };
  return kind;
}

/// Numbers from `least` to `most`.
template <class T>
Kind<T> ranged(const std::string& values, T least, T most, const std::string& unit,
               std::optional<T> (*parse)(std::string_view)) {
  Json schema = {{"type", std::is_integral_v<T> ? "integer" : "number"}};
  const bool open = static_cast<double>(least) == above_0;
  schema[open ? "exclusiveMinimum" : "minimum"] = open ? T{} : least;
  if (most != any<T>) schema["maximum"] = most;
  return only<T>({.values = {.allowed = values, .schema = schema, .unit = unit}, .parse = parse},
                 [=](T value) { return value >= least && value <= most; });
}

/// Kinds of scalars in [least, most]; `values` describes the allowed values.
Kind<std::int64_t> count(std::int64_t least, std::int64_t most);
Kind<std::int64_t> bytes(std::int64_t least, std::int64_t most = any<std::int64_t>);
Kind<double> number(const std::string& values, double least, double most);
Kind<double> seconds(const std::string& values, double least, double most);
/// In GB/s, which is also the unit of plain numbers.
Kind<double> rate(const std::string& values, double least, double most);
Kind<double> part(const std::string& values, double least, double most);  ///< a fraction
Kind<std::string> line();                                                 ///< one line of text
/// A flag spelled with two words.
Kind<bool> either(const std::string& yes, const std::string& no);

/// One of the first `count` words of an enumeration.
template <class Enum>
Kind<Enum> word(std::size_t count = words<Enum>.size()) {
  std::vector<std::string> names = spellings<Enum>();
  names.resize(count);
  const auto parse = [names](const std::string& text) {
    const auto at = static_cast<std::size_t>(std::ranges::find(names, text) - names.begin());
    return at < names.size() ? std::optional(words<Enum>[at].value) : std::nullopt;
  };
  return {.values = {.allowed = fmt::format("{}", fmt::join(names, ", ")),
                     .schema = {{"enum", names}},
                     .words = names},
          .parse = parse,
          .write = [](const Enum& value) -> Json { return to_string(value); }};
}

/// A value, or the word `none` for no value.
template <class T>
Kind<std::optional<T>> or_word(const std::string& none, Kind<T> kind) {
  Values& values = kind.values;
  values.allowed = none + " or " + values.allowed;
  values.words.push_back(none);
  return {.values = {.allowed = values.allowed,
                     .schema = {{"oneOf", {{{"const", none}}, values.schema}}},
                     .unit = values.unit},
          .take = [=](const Reader& reader) -> std::optional<T> {
            if (reader.is(none)) return std::nullopt;
            if (kind.take && reader.is(Node::Kind::null)) reader.fail_allowed(values.allowed);
            if (kind.take && reader.is(Node::Kind::scalar)) {
              reader.fail_allowed(values.allowed + suggestion(reader.text(""), values.words));
            }
            return kind.read(reader);
          },
          .write = [=](const auto& value) { return value ? kind.write(*value) : Json(none); }};
}

/// An optional value: without one the key is not written.
template <class T>
Kind<std::optional<T>> optional(const Kind<T>& kind) {
  Values values = kind.values;
  values.may_miss = true;
  return {.values = values,
          .take = [=](const Reader& reader) { return std::optional(kind.read(reader)); },
          .write = [=](const auto& value) { return value ? kind.write(*value) : Json(); }};
}

/// A value whose key is not written if it is 0.
template <class T>
Kind<T> nonzero(Kind<T> kind) {
  kind.values.may_miss = true;
  kind.write = [write = kind.write](const T& value) {
    return value == T{} ? Json() : write(value);
  };
  return kind;
}

/// A list of at least `least` values.
template <class T>
Kind<std::vector<T>> list_of(const Kind<T>& kind, const std::string& values,
                             std::size_t least = 0) {
  const Json schema = {{"type", "array"}, {"minItems", least}, {"items", kind.values.schema}};
  return {.values = {.allowed = values, .schema = schema},
          .take =
              [=](const Reader& reader) {
                std::vector<T> items;
                for (const Reader& item : reader.items(values, least)) {
                  items.push_back(kind.read(item));
                }
                return items;
              },
          .write =
              [=](const std::vector<T>& items) {
                Json written = Json::array();
                for (const T& item : items) written.push_back(kind.write(item));
                return written;
              }};
}

}  // namespace overlap::yaml
