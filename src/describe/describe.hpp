#pragma once

#include <cmath>
#include <functional>

#include "describe/codecs.hpp"

/// One description per struct; visitors read, write and document it.
///
///     // summary.hpp, next to the struct, in its namespace
///     void describe(describe::Visitor& v, Summary& s);
///
///     // summary.cpp
///     void describe(describe::Visitor& v, Summary& s) {
///       v("n", s.n, "Number of samples.", describe::from(1));
///       v("median", s.median, "Median, in seconds.", describe::above_zero);
///       v("limit", s.limit, "Its limit.");           // std::optional: null in result files
///       v("trend", s.trend, "What it shows.");       // an enumeration with words_of()
///       v("parts", s.parts, "Its parts.");           // a vector, also of described structs
///       if (s.trend == Trend::slower) v("by", s.by, "How much.");
///     }
///
///     describe::read(Reader(document), s)   // of read_yaml() or parse_json()
///     describe::write(s)                    // as JSON
///     describe::to_yaml(s)                  // with the help texts as comments
///     describe::schema<Summary>()           // JSON Schema
///
/// After the help text come a codec (describe/codecs.hpp), which says how the value is spelled, or
/// for numbers a range; then what a missing key means: `required`, `defaults_to("text for the
/// page")`. In YAML unknown keys are errors and missing ones leave the member as it is; in
/// result files unknown keys are ignored, and missing ones are errors unless optional.
///
/// v.selector() is for an enumeration whose word decides, with a plain `if`, which other keys there
/// are: errors, schema and page tell them by word. map_of() is for a part whose description takes
/// more arguments, or is not that of its type: v("chunks", d.chunks, "Help.", map_of<Chunks>(
/// [&](Visitor& part, Chunks& c) { describe(part, c, d.workload); })). Defaults and checks that
/// need other keys stand below `if (const Reader* const map = v.reader())`, which only a reader
/// enters. Nothing else in a description assigns: writers visit const objects.
namespace overlap::describe {

class Visitor;

/// Limits of a number whose codec follows from its type.
struct Range {
  double least = std::numeric_limits<double>::lowest();
  double most = any<double>;
};
inline constexpr Range from_zero{.least = 0};
inline constexpr Range above_zero{.least = above_0};

/// A key as it is described.
struct Key {
  std::string_view name;
  std::string_view help;  ///< its meaning, a sentence
  /// What holds without it.
  struct Missing {
    bool error = false;
    std::string_view documented = {};  ///< for the page, if not the value of the member
  } missing = {};
};
using Missing = Key::Missing;

inline constexpr Missing required{.error = true, .documented = "required"};
constexpr Missing defaults_to(std::string_view text) { return {.documented = text}; }

/// A member with its codec, whatever their types.
class Value {
 public:
  virtual ~Value() = default;
  virtual void read(const Reader&) const = 0;  ///< throws Error
  virtual Json write() const = 0;
  virtual Values values() const = 0;
  virtual bool may_miss() const = 0;
  virtual bool is_map() const = 0;
  virtual void visit(Visitor&) const = 0;  ///< the keys of a map
};

class Visitor {
 public:
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  virtual ~Visitor() = default;

  template <class T, Codec C>
  void operator()(std::string_view key, T& member, std::string_view help, const C& codec,
                  Missing missing = {});
  /// With the codec of the type.
  template <class T>
  void operator()(std::string_view key, T& member, std::string_view help, Missing missing = {}) {
    (*this)(key, member, help, Range(), missing);
  }
  template <class T>
  void operator()(std::string_view key, T& member, std::string_view help, Range range,
                  Missing missing = {});
  /// The enumeration whose word decides which other keys there are.
  template <class Enum>
  void selector(std::string_view key, Enum& member, std::string_view help, Missing missing = {},
                OneOf<Enum> codec = {});

  /// The same if it lies in a part of the map, such as "queues.kind", whose description has it.
  template <class Enum>
  void selector_in_part(std::string_view keys, Enum& member);

  /// The map that is being read; null: another visitor.
  virtual const Reader* reader() const { return nullptr; }

 protected:
  virtual void field(const Key& key, const Value& value) = 0;
  /// The position of the word that a selector is to have; empty: it keeps its own.
  virtual std::optional<std::size_t> select(const Key&, const Value&) { return std::nullopt; }
};

/// The description of a map: visits its keys.
using Body = std::function<void(Visitor&)>;

/// Reads a map; an absent one in YAML counts as empty. Throws Error.
void read_map(const Reader& map, const Body& body);
Json write_map(const Body& body);
Values map_values(const Body& body);
/// Its lines in a YAML file, with help texts as comments, below the lines of `heading` as comment.
std::string map_to_yaml(const Body& body, const std::string& heading);
/// Its keys as a Markdown table.
std::string map_reference(const Body& body);

/// Not a description: in this namespace it makes describe() a function that is found by arguments.
void describe(Visitor&, Key&) = delete;

template <class T>
concept Described = requires(Visitor& v, T& value) { describe(v, value); };

/// Visits with the description of the type.
struct TypeDescription {
  void operator()(Visitor& v, Described auto& value) const { describe(v, value); }
};

/// A struct as a map. A writer visits a const struct, of which a description changes nothing.
template <class T, class F = TypeDescription>
struct Map {
  using Type = T;
  F visit = {};

  Body body(T& value) const {
    return [this, &value](Visitor& v) { visit(v, value); };
  }
  void read(const Reader& reader, T& value) const { read_map(reader, body(value)); }
  Json write(const T& value) const { return write_map(body(const_cast<T&>(value))); }
  Values values() const {
    T value{};
    return map_values(body(value));
  }
};
/// A struct whose description takes more arguments: `visit(Visitor&, T&)` hands them over.
template <class T, class F>
Map<T, F> map_of(F visit) {
  return {std::move(visit)};
}

/// The codec of a type.
template <class T>
auto codec_of(Range range = {}) {
  if constexpr (Described<T>) {
    return Map<T>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return Flag();
  } else if constexpr (std::is_arithmetic_v<T>) {
    Number<T> codec;
    if (range.least > Range().least)
      codec.least = T(std::is_integral_v<T> ? std::ceil(range.least) : range.least);
    if (range.most < Range().most) codec.most = T(range.most);
    return codec;
  } else if constexpr (std::is_enum_v<T>) {
    return OneOf<T>();
  } else if constexpr (std::is_same_v<T, Json>) {
    return Raw();
  } else if constexpr (requires(T value) { value.has_value(); }) {
    return nullable(codec_of<typename T::value_type>(range));
  } else if constexpr (requires { typename T::mapped_type; }) {
    return Named{codec_of<typename T::mapped_type>(range)};
  } else if constexpr (requires(T value) { value.emplace_back(); }) {
    return list_of(codec_of<typename T::value_type>(range), "a list");
  } else {
    return Text();
  }
}

/// Reads all of a document. Throws Error.
template <Described T>
void read(const Reader& reader, T& value) {
  read_map(reader, Map<T>().body(value));
}
template <Described T>
Json write(const T& value) {
  return Map<T>().write(value);
}
template <Described T>
std::string to_yaml(const T& value, const std::string& heading = "") {
  return map_to_yaml(Map<T>().body(const_cast<T&>(value)), heading);
}
template <Described T>
Json schema() {
  return Map<T>().values().schema;
}
template <class T>
inline constexpr bool is_map = false;
template <class T, class F>
inline constexpr bool is_map<Map<T, F>> = true;
template <class C>
inline constexpr bool is_map<Unless<C>> = is_map<C>;

template <class T, Codec C>
class Bound final : public Value {
 public:
  Bound(T& member, const C& codec) : member_(member), codec_(codec) {}

  void read(const Reader& reader) const override { describe::read(codec_, reader, member_); }
  Json write() const override {
    if constexpr (std::is_same_v<T, typename C::Type>) return codec_.write(member_);
    return codec_.write(static_cast<typename C::Type>(member_));
  }
  Values values() const override { return codec_.values(); }
  bool may_miss() const override {
    if constexpr (requires { codec_.may_miss; }) return codec_.may_miss;
    return false;
  }
  bool is_map() const override { return describe::is_map<C>; }
  void visit(Visitor& v) const override {
    if constexpr (describe::is_map<C>) codec_.visit(v, member_);
  }

 private:
  T& member_;
  const C& codec_;
};

template <class T, Codec C>
void Visitor::operator()(std::string_view key, T& member, std::string_view help, const C& codec,
                         Missing missing) {
  field({key, help, missing}, Bound<T, C>(member, codec));
}

template <class T>
void Visitor::operator()(std::string_view key, T& member, std::string_view help, Range range,
                         Missing missing) {
  (*this)(key, member, help, codec_of<T>(range), missing);
}

template <class Enum>
void Visitor::selector(std::string_view key, Enum& member, std::string_view help, Missing missing,
                       OneOf<Enum> codec) {
  const Key described{key, help, missing};
  const Bound value(member, codec);
  if (const auto word = select(described, value)) member = words<Enum>[*word].value;
  field(described, value);
}

template <class Enum>
void Visitor::selector_in_part(std::string_view keys, Enum& member) {
  const OneOf<Enum> codec;
  if (const auto word = select({keys, ""}, Bound(member, codec))) {
    member = words<Enum>[*word].value;
  }
}

}  // namespace overlap::describe
