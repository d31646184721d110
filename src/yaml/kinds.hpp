#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "yaml/reader.hpp"
#include "yaml/value.hpp"
#include "yaml/words.hpp"

/// Kinds of values: how each is read, written and described.
namespace overlap::yaml {

template <class T>
struct Kind {
  std::string values;  ///< what is allowed, for messages and pages
  Value schema;        ///< JSON Schema of what `write` gives
  std::string unit = {};
  std::vector<std::string> words = {};                             ///< for suggestions
  std::function<std::optional<T>(const std::string&)> parse = {};  ///< of scalars
  std::function<T(const Reader&)> read = {};                       ///< throws Error{usage}
  std::function<Value(const T&)> write = [](const T& v) { return Value(v); };  ///< null: left out
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

Kind<std::int64_t> count(std::int64_t least, std::int64_t most);
Kind<std::int64_t> bytes(std::int64_t least);
/// As the least value of a kind: any number above 0.
inline constexpr double above_0 = std::numeric_limits<double>::denorm_min();
Kind<double> number(const std::string& values, double least, double most);
Kind<double> seconds(const std::string& values, double least, double most);
Kind<std::string> line();  ///< one line of text
Kind<bool> flag();

/// One of the words of an enumeration, of the first `count` where not all are allowed.
template <class Enum>
Kind<Enum> word(std::size_t count = words<Enum>.size()) {
  std::vector<std::string> names = spellings<Enum>();
  names.resize(count);
  std::string values;
  Value::List list;
  for (const std::string& name : names) {
    values += (values.empty() ? "" : ", ") + name;
    list.emplace_back(name);
  }
  const auto parse = [names](const std::string& text) -> std::optional<Enum> {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) return words<Enum>[i].value;
    }
    return std::nullopt;
  };
  return scalar<Enum>({.values = values,
                       .schema = Value::Map{{"enum", list}},
                       .words = names,
                       .parse = parse,
                       .write = [](const Enum& value) { return Value(to_string(value)); }});
}

/// A value, or a word for having none.
template <class T>
Kind<std::optional<T>> or_word(const std::string& none, const Kind<T>& kind) {
  Kind<std::optional<T>> either{
      .values = none + " or " + kind.values,
      .schema = Value::Map{{"oneOf", Value::List{Value::Map{{"const", none}}, kind.schema}}},
      .unit = kind.unit,
      .words = kind.words,
      .write = [none, write = kind.write](const std::optional<T>& value) {
        return value ? write(*value) : Value(none);
      }};
  either.words.push_back(none);
  if (!kind.parse) {
    either.read = [none, read = kind.read](const Reader& reader) {
      return reader.is(none) ? std::optional<T>() : read(reader);
    };
    return either;
  }
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
  return {.values = kind.values,
          .schema = kind.schema,
          .unit = kind.unit,
          .read = [read = kind.read](const Reader& reader) { return std::optional(read(reader)); },
          .write = [write = kind.write](
                       const std::optional<T>& value) { return value ? write(*value) : Value(); }};
}

/// The key of a value that is 0 is not written.
template <class T>
Kind<T> nonzero(Kind<T> kind) {
  kind.write = [write = kind.write](const T& value) {
    return value == T{} ? Value() : write(value);
  };
  return kind;
}

template <class T>
Kind<std::vector<T>> list_of(const Kind<T>& kind, const std::string& values) {
  return {.values = values,
          .schema = Value::Map{{"type", "array"}, {"items", kind.schema}},
          .unit = kind.unit,
          .read =
              [=](const Reader& reader) {
                std::vector<T> list;
                for (const Reader& item : reader.items(values)) list.push_back(kind.read(item));
                return list;
              },
          .write =
              [write = kind.write](const std::vector<T>& list) {
                Value::List written;
                for (const T& item : list) written.push_back(write(item));
                return Value(std::move(written));
              }};
}

}  // namespace overlap::yaml
