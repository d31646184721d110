#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "yaml/reader.hpp"
#include "yaml/value.hpp"
#include "yaml/words.hpp"

/// Kinds of values: how each is read, written and described.
namespace overlap::yaml {

template <class T>
struct Kind {
  static Value as_is(const T& value) {
    if constexpr (std::is_constructible_v<Value, const T&>) return value;
    return {};
  }

  std::string values;  ///< what is allowed, for messages and pages
  Value schema;        ///< JSON Schema of what `write` gives
  std::string unit = {};
  std::vector<std::string> words = {};                             ///< to suggest
  std::function<std::optional<T>(const std::string&)> parse = {};  ///< of scalars
  std::function<T(const Reader&)> read = {};                       ///< may throw
  std::function<Value(const T&)> write = as_is;                    ///< null: left out
};

/// Gives a kind of scalars `read`.
template <class T>
Kind<T> scalar(Kind<T> kind) {
  kind.read = [parse = kind.parse, values = kind.values, words = kind.words](const Reader& reader) {
    const std::string found = reader.text(values);
    if (auto value = parse(found)) return *value;
    reader.fail_allowed(values + suggestion(found, words));
  };
  return kind;
}

/// As the least value of a kind: any number above 0.
inline constexpr double above_0 = std::numeric_limits<double>::denorm_min();
/// As the greatest: any number.
template <class T>
inline constexpr T any = std::numeric_limits<T>::max();

/// Numbers from `least` to `most`.
template <class T>
Kind<T> ranged(const std::string& values, T least, T most, const std::string& unit,
               std::optional<T> (*parse)(std::string_view)) {
  Value::Map schema = {{"type", std::is_integral_v<T> ? "integer" : "number"}};
  const bool open = static_cast<double>(least) == above_0;
  schema.emplace_back(open ? "exclusiveMinimum" : "minimum", open ? T{} : least);
  if (most != any<T>) schema.emplace_back("maximum", most);
  const auto in_range = [=](const std::string& text) {
    const auto value = parse(text);
    return value && *value >= least && *value <= most ? value : std::nullopt;
  };
  return scalar<T>({.values = values, .schema = schema, .unit = unit, .parse = in_range});
}

Kind<std::int64_t> count(std::int64_t least, std::int64_t most);
Kind<std::int64_t> bytes(std::int64_t least);
Kind<double> number(const std::string& values, double least, double most);
Kind<double> seconds(const std::string& values, double least, double most);
Kind<std::string> line();  ///< one line of text
Kind<bool> flag();

/// The values of a kind of scalars that pass a test.
template <class T, class Test>
Kind<T> only(Kind<T> kind, Test test) {
  kind.parse = [test, parse = kind.parse](const std::string& text) {
    const auto value = parse(text);
    return value && test(*value) ? value : std::nullopt;
  };
  return scalar(kind);
}

/// One of the words of an enumeration, of the first `count` where not all are allowed.
template <class Enum>
Kind<Enum> word(std::size_t count = words<Enum>.size()) {
  std::vector<std::string> names = spellings<Enum>();
  names.resize(count);
  const auto parse = [names](const std::string& text) {
    const auto at =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), text) - names.begin());
    return at < names.size() ? std::optional(words<Enum>[at].value) : std::nullopt;
  };
  return scalar<Enum>({.values = fmt::format("{}", fmt::join(names, ", ")),
                       .schema = Value::Map{{"enum", Value::List(names.begin(), names.end())}},
                       .words = names,
                       .parse = parse,
                       .write = [](const Enum& value) { return Value(to_string(value)); }});
}

/// A value, or a word for having none.
template <class T>
Kind<std::optional<T>> or_word(const std::string& none, const Kind<T>& kind) {
  Kind<std::optional<T>> either{
      .values = none + " or " + kind.values,
      .schema = single("oneOf", Value::List{single("const", none), kind.schema}),
      .unit = kind.unit,
      .words = {none}};
  either.write = [none, write = kind.write](const std::optional<T>& value) {
    return value ? write(*value) : Value(none);
  };
  either.read = [none, read = kind.read](const Reader& reader) {
    return reader.is(none) ? std::optional<T>() : read(reader);
  };
  if (!kind.parse) return either;
  either.parse = [none, parse = kind.parse](const std::string& text) {
    std::optional<std::optional<T>> found;
    if (text == none) return found.emplace(), found;
    if (const std::optional<T> value = parse(text)) found.emplace(value);
    return found;
  };
  return scalar(either);
}

/// A value that may be missing: then its key is not written.
template <class T>
Kind<std::optional<T>> optional(const Kind<T>& kind) {
  Kind<std::optional<T>> maybe{.values = kind.values, .schema = kind.schema, .unit = kind.unit};
  maybe.read = kind.read;
  maybe.write = [write = kind.write](const auto& value) { return value ? write(*value) : Value(); };
  return maybe;
}

/// The key of a value that is 0 is not written.
template <class T>
Kind<T> nonzero(Kind<T> kind) {
  kind.write = [write = kind.write](const T& value) {
    return value == T{} ? Value() : write(value);
  };
  return kind;
}

/// A list of at least so many.
template <class T>
Kind<std::vector<T>> list_of(const Kind<T>& kind, const std::string& values, int least = 0) {
  Kind<std::vector<T>> list{
      .values = values,
      .schema = Value::Map{{"type", "array"}, {"minItems", least}, {"items", kind.schema}}};
  list.read = [values, read = kind.read](const Reader& reader) {
    std::vector<T> items;
    for (const Reader& item : reader.items(values)) items.push_back(read(item));
    return items;
  };
  list.write = [write = kind.write](const std::vector<T>& items) {
    Value::List written;
    for (const T& item : items) written.push_back(write(item));
    return Value(std::move(written));
  };
  return list;
}

}  // namespace overlap::yaml
