#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>

#include "base/text.hpp"
#include "describe/document.hpp"
#include "describe/words.hpp"

/// Codecs: how values are spelled. They are made at each use, so they are small: limits and texts.
namespace overlap::describe {

/// What messages, pages and schemas say of values.
struct Values {
  std::string allowed;
  Json schema;  ///< JSON Schema of what is written
  std::string unit = {};
  std::vector<std::string> words = {};  ///< for suggestions
};

template <class C>
concept Codec = requires(const C& codec, const typename C::Type& value) {
  { codec.values() } -> std::same_as<Values>;
  { codec.write(value) } -> std::convertible_to<Json>;
};
/// A codec of single values: parse() is empty for a value that is not allowed.
template <class C>
concept ScalarCodec = Codec<C> && requires(const C& codec, const Json& value) {
  { codec.parse(value) } -> std::same_as<std::optional<typename C::Type>>;
};

/// Throws Error with the found and the allowed values, the units and the nearest match.
[[noreturn]] void fail_value(const Reader& reader, const Values& values);

/// Parses a single value. `described`: the codec whose values are allowed. Throws Error.
template <ScalarCodec C, Codec D>
typename C::Type parse(const C& codec, const Reader& reader, const D& described) {
  if (reader.exists()) {
    if (auto value = codec.parse(reader.value())) return *std::move(value);
  }
  fail_value(reader, described.values());
}
template <ScalarCodec C>
typename C::Type parse(const C& codec, const Reader& reader) {
  return parse(codec, reader, codec);
}

/// Reads a value; for single values, T may be narrower than the codec's type. In result files a
/// number that is not finite is null. Throws Error.
template <Codec C, class T>
void read(const C& codec, const Reader& reader, T& into) {
  if constexpr (ScalarCodec<C>) {
    if constexpr (std::is_floating_point_v<T>) {
      into = std::numeric_limits<T>::quiet_NaN();
      if (reader.document().json && reader.is_null()) return;
    }
    into = static_cast<T>(parse(codec, reader));
  } else {
    codec.read(reader, into);
  }
}

// Single values.

/// As a minimum: any number above 0.
inline constexpr double above_0 = std::numeric_limits<double>::denorm_min();
/// As a maximum: no limit.
template <class T>
inline constexpr T any = std::numeric_limits<T>::max();

/// A number from `least` to `most`.
template <class T>
struct Number {
  using Type = T;
  std::string_view allowed = {};  ///< empty: follows from the limits
  T least = std::numeric_limits<T>::lowest();
  T most = any<T>;
  std::string_view unit = {};
  std::optional<T> (*parser)(std::string_view) = nullptr;  ///< null: numbers without a unit
  std::string (*spell)(T) = nullptr;                       ///< null: written as a number
  T divisor = 1;                                           ///< of integers: what divides them

  std::optional<T> parse(const Json& found) const;
  Json write(T value) const;
  Values values() const;
};
using Count = Number<std::int64_t>;
using Real = Number<double>;

constexpr Count count(std::int64_t least, std::int64_t most) {
  return {.least = least, .most = most};
}
Count bytes(std::int64_t least, std::int64_t most = any<std::int64_t>);
Real number(std::string_view allowed, double least, double most);
Real seconds(std::string_view allowed, double least, double most);
Real part(std::string_view allowed, double least, double most);  ///< a fraction
/// The same, written with a unit.
template <class T>
Number<T> spelled(Number<T> codec, std::string (*spell)(std::type_identity_t<T>)) {
  codec.spell = spell;
  return codec;
}

/// A text: one line, or whatever a file of others has as one line.
struct Text {
  using Type = std::string;
  bool line = false;

  std::optional<std::string> parse(const Json& found) const;
  Json write(const std::string& text) const { return text; }
  Values values() const { return {line ? "one line of text" : "text", {{"type", "string"}}}; }
};
constexpr Text line() { return {.line = true}; }

/// Texts with a meaning.
template <class T>
struct Spelling {
  using Type = T;
  Values (*values)();
  std::optional<T> (*from)(const std::string&);
  Json (*write)(const T&);

  std::optional<T> parse(const Json& found) const {
    return found.is_string() ? from(found) : std::nullopt;
  }
};

/// One of some words.
Values words_values(std::vector<std::string> words);

/// One of an enumeration's words, or of some of them.
template <class Enum>
struct OneOf {
  using Type = Enum;
  std::vector<Enum> only = {};  ///< empty: all

  std::optional<Enum> parse(const Json& found) const {
    for (const auto& word : words<Enum>) {
      if (found == word.name && is_allowed(word.value)) return word.value;
    }
    return std::nullopt;
  }
  Json write(Enum value) const { return to_string(value); }
  Values values() const {
    std::vector<std::string> names;
    for (const auto& word : words<Enum>) {
      if (is_allowed(word.value)) names.emplace_back(word.name);
    }
    return words_values(std::move(names));
  }

 private:
  bool is_allowed(Enum value) const {
    return only.empty() || std::find(only.begin(), only.end(), value) != only.end();
  }
};

/// A flag, as JSON has it or with two words.
struct Flag {
  using Type = bool;
  const char* yes = nullptr;
  const char* no = nullptr;

  std::optional<bool> parse(const Json& found) const;
  Json write(bool value) const { return yes == nullptr ? Json(value) : Json(value ? yes : no); }
  Values values() const;
};

// Values that may be missing.

/// A key that is not written where `absent` holds: one that was added later and has the value that
/// held before, so that results and identities stay the same.
template <Codec C>
struct Unless : C {
  static constexpr bool may_miss = true;
  bool absent;

  Json write(const typename C::Type& value) const { return absent ? Json() : C::write(value); }
};
template <Codec C>
Unless<C> unless(bool absent, C codec) {
  return {{std::move(codec)}, absent};
}

/// The values, or null.
Values or_null(Values values);
/// The values, or a word; empty: or null.
Values or_word(std::string_view none, Values values);

/// A value or none: a word, null, or no key at all.
template <Codec C>
struct Maybe {
  using Type = std::optional<typename C::Type>;
  C codec;
  std::string_view none = {};  ///< the word; empty: null
  bool may_miss = false;       ///< whether the key is left out instead

  void read(const Reader& reader, Type& into) const {
    into.reset();
    if (none.empty() ? !may_miss && (!reader.exists() || reader.is_null()) : reader.is(none))
      return;
    if constexpr (ScalarCodec<C>) {
      into = parse(codec, reader, *this);
    } else {
      if (!none.empty() && !reader.is_map() && !reader.is_list()) fail_value(reader, values());
      describe::read(codec, reader, into.emplace());
    }
  }
  Json write(const Type& value) const {
    return value ? codec.write(*value) : none.empty() ? Json() : Json(none);
  }
  Values values() const { return may_miss ? codec.values() : or_word(none, codec.values()); }
};
template <Codec C>
Maybe<C> or_word(std::string_view none, C codec) {
  return {.codec = std::move(codec), .none = none};
}
/// A value whose key may be missing.
template <Codec C>
Maybe<C> optional(C codec) {
  return {.codec = std::move(codec), .may_miss = true};
}
/// A value or null, as result files have it.
template <Codec C>
Maybe<C> nullable(C codec) {
  return {.codec = std::move(codec)};
}

/// A key that its description reads itself, below v.reader(), and that is left out where `spell`
/// returns null.
template <class T, class F>
struct Written {
  using Type = T;
  static constexpr bool may_miss = true;
  F spell;
  Values described;

  void read(const Reader&, T&) const {}
  Json write(const T& value) const { return spell(value); }
  Values values() const { return described; }
};
template <class T, class F>
Written<T, F> written(F spell, Values described = {}) {
  return {std::move(spell), std::move(described)};
}

// Lists and maps.

Values list_values(std::string_view allowed, std::size_t least, const Values& items);
Values named_values(const Values& items);

/// A list of at least `least` values.
template <Codec C>
struct List {
  using Type = std::vector<typename C::Type>;
  C codec;
  std::string_view allowed;
  std::size_t least = 0;

  void read(const Reader& reader, Type& into) const {
    into.clear();
    for (const Reader& item : reader.items(allowed, least)) {
      describe::read(codec, item, into.emplace_back());
    }
  }
  Json write(const Type& items) const {
    Json list = Json::array();
    for (const auto& item : items) list.push_back(codec.write(item));
    return list;
  }
  Values values() const { return list_values(allowed, least, codec.values()); }
};
template <Codec C>
List<C> list_of(C codec, std::string_view allowed, std::size_t least = 0) {
  return {std::move(codec), allowed, least};
}

/// Values by name, in the order of their names or, in a vector of pairs, in their own.
template <Codec C, class M = std::map<std::string, typename C::Type>>
struct Named {
  using Type = M;
  C codec;

  void read(const Reader& reader, Type& into) const {
    if (!reader.is_map()) fail_value(reader, values());
    into.clear();
    for (const std::string& key : reader.keys()) {
      typename C::Type value{};
      describe::read(codec, reader.at(key), value);
      into.insert(into.end(), {key, std::move(value)});
    }
  }
  Json write(const Type& map) const {
    Json json = Json::object();
    for (const auto& [name, value] : map) json[name] = codec.write(value);
    return json;
  }
  Values values() const { return named_values(codec.values()); }
};

/// What has no struct.
struct Raw {
  using Type = Json;

  void read(const Reader& reader, Json& into) const {
    if (!reader.exists()) fail_value(reader, values());
    into = reader.value();
  }
  Json write(const Json& value) const { return value; }
  Values values() const { return {"any value", Json::object()}; }
};

}  // namespace overlap::describe
