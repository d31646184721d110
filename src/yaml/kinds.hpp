#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "yaml/reader.hpp"
#include "yaml/words.hpp"

/// Kinds of values: how each is read, written and described.
namespace overlap::yaml {

/// A value without a place: what a table writes. Maps keep their order.
using Json = nlohmann::ordered_json;

/// The value of a dotted key, such as "memory.host"; null: there is no such key.
Json value_at(const Json& map, std::string key);

/// The value as one line of YAML, its strings unquoted.
std::string spell(const Json& value);

template <class T>
struct Kind {
  static Json as_is(const T& value) {
    if constexpr (std::is_constructible_v<Json, const T&>) return value;
    return {};
  }

  std::string values;  ///< what is allowed, for messages and pages
  Json schema;         ///< JSON Schema of what `write` gives
  std::string unit = {};
  std::vector<std::string> words = {};                             ///< to suggest
  std::function<std::optional<T>(const std::string&)> parse = {};  ///< of scalars
  std::function<T(const Reader&)> take = {};                       ///< of lists and maps
  std::function<Json(const T&)> write = as_is;                     ///< null: left out
  bool may_miss = false;                                           ///< `write` may give null

  /// Throws Error{usage}.
  T read(const Reader& reader) const {
    if (take) return take(reader);
    const std::string found = reader.text(values);
    if (auto value = parse(found)) return *value;
    reader.fail_allowed(values + suggestion(found, words));
  }
};

/// As the least value of a kind: any number above 0.
inline constexpr double above_0 = std::numeric_limits<double>::denorm_min();
/// As the greatest: any number.
template <class T>
inline constexpr T any = std::numeric_limits<T>::max();

/// The values of a kind of scalars that pass a test.
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
  return only<T>({.values = values, .schema = schema, .unit = unit, .parse = parse},
                 [=](T value) { return value >= least && value <= most; });
}

Kind<std::int64_t> count(std::int64_t least, std::int64_t most);
Kind<std::int64_t> bytes(std::int64_t least);
Kind<double> number(const std::string& values, double least, double most);
Kind<double> seconds(const std::string& values, double least, double most);
Kind<double> part(const std::string& values, double least, double most);  ///< of something
Kind<std::string> line();                                                 ///< one line of text
Kind<bool> flag();

/// One of the words of an enumeration, of the first `count` where not all are allowed.
template <class Enum>
Kind<Enum> word(std::size_t count = words<Enum>.size()) {
  std::vector<std::string> names = spellings<Enum>();
  names.resize(count);
  const auto parse = [names](const std::string& text) {
    const auto at = static_cast<std::size_t>(std::ranges::find(names, text) - names.begin());
    return at < names.size() ? std::optional(words<Enum>[at].value) : std::nullopt;
  };
  return {.values = fmt::format("{}", fmt::join(names, ", ")),
          .schema = {{"enum", names}},
          .words = names,
          .parse = parse,
          .write = [](const Enum& value) -> Json { return to_string(value); }};
}

/// A value, or a word for having none.
template <class T>
Kind<std::optional<T>> or_word(const std::string& none, Kind<T> kind) {
  kind.values = none + " or " + kind.values;
  kind.words.push_back(none);
  return {.values = kind.values,
          .schema = {{"oneOf", {{{"const", none}}, kind.schema}}},
          .unit = kind.unit,
          .take = [=](const Reader& reader) -> std::optional<T> {
            if (reader.is(none)) return std::nullopt;
            return kind.read(reader);
          },
          .write = [=](const auto& value) { return value ? kind.write(*value) : Json(none); }};
}

/// A value that may be missing: then its key is not written.
template <class T>
Kind<std::optional<T>> optional(const Kind<T>& kind) {
  return {.values = kind.values,
          .schema = kind.schema,
          .unit = kind.unit,
          .take = [=](const Reader& reader) { return std::optional(kind.read(reader)); },
          .write = [=](const auto& value) { return value ? kind.write(*value) : Json(); },
          .may_miss = true};
}

/// The key of a value that is 0 is not written.
template <class T>
Kind<T> nonzero(Kind<T> kind) {
  kind.may_miss = true;
  kind.write = [write = kind.write](const T& value) {
    return value == T{} ? Json() : write(value);
  };
  return kind;
}

/// A list of at least so many.
template <class T>
Kind<std::vector<T>> list_of(const Kind<T>& kind, const std::string& values,
                             std::size_t least = 0) {
  return {.values = values,
          .schema = {{"type", "array"}, {"minItems", least}, {"items", kind.schema}},
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
