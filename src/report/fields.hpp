#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "deck/words.hpp"
#include "yaml/kinds.hpp"

/// A function `fields(Record&, const T&)` lists the fields of a T in result files once; JSON output
/// and JSON Schema both derive from it.
namespace overlap::report {

using yaml::Json;

/// Optional text: null if empty.
inline std::optional<std::string> or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Allowed range of a number.
enum class Sign { any, from_zero, above_zero };

/// An object of a result file, or its schema.
class Record {
 public:
  explicit Record(bool describes) : describes_(describes) {
    if (describes) json_ = {{"type", "object"}, {"required", {}}, {"properties", Json::object()}};
  }

  /// Adds a field. Its schema follows from the type: an optional may be null, a vector is an array,
  /// a type with fields is an object.
  template <class T>
  void operator()(std::string_view key, std::string_view help, const T& value,
                  Sign range = Sign::any);

  /// Adds a field that is already JSON.
  void raw(std::string_view key, std::string_view help, Json value, const Json& schema) {
    if (!describes_) {
      json_[std::string(key)] = std::move(value);
      return;
    }
    Json property = {{"description", help}};
    property.update(schema);
    json_["properties"][std::string(key)] = std::move(property);
    json_["required"].push_back(key);
  }

  Json json() && { return std::move(json_); }

 private:
  bool describes_;
  Json json_ = Json::object();
};

template <class T>
concept HasFields = requires(Record& record, const T& value) { fields(record, value); };

/// An enumeration, written as words.
template <class T>
concept Worded = std::is_enum_v<T> && requires(T value) { deck::to_string(value); };

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
Json json_of(const T& value) {
  if constexpr (is_optional<T>) {
    return value ? json_of(*value) : Json(nullptr);
  } else if constexpr (is_vector<T>) {
    Json array = Json::array();
    for (const auto& one : value) array.push_back(json_of(one));
    return array;
  } else if constexpr (Worded<T>) {
    return deck::to_string(value);
  } else if constexpr (HasFields<T>) {
    Record record(false);
    fields(record, value);
    return std::move(record).json();
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else {
    return Json(value);
  }
}

/// An arbitrary T, from which to derive the schema.
template <class T>
const T& example() {
  static const T one{};
  return one;
}

/// The start of the JSON Schema of a file; `what`: the file in a sentence.
inline Json schema_head(const char* schema, const std::string& what) {
  constexpr const char* promise =
      " Fields may be added within a version: readers ignore what they do not know.";
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", schema},
          {"description", what + promise}};
}

/// The schema of the exit code of a result; usage errors leave none.
inline Json exit_codes() { return {{"enum", {0, 1, 2, 4, 5, 6, 77, 130}}}; }

inline Json array_of(const Json& items) { return {{"type", "array"}, {"items", items}}; }

/// The JSON Schema of a type.
template <class T>
Json schema_of(Sign range = Sign::any) {
  if constexpr (is_optional<T>) {
    Json schema = schema_of<typename T::value_type>(range);
    if (schema.contains("type") && schema["type"].is_string()) {
      schema["type"] = {schema["type"], "null"};
      if (schema.contains("enum")) schema["enum"].push_back(nullptr);
      return schema;
    }
    return {{"anyOf", {schema, {{"type", "null"}}}}};
  } else if constexpr (is_vector<T>) {
    return array_of(schema_of<typename T::value_type>(range));
  } else if constexpr (Worded<T>) {
    Json names = Json::array();
    for (const auto& word : deck::words<T>) names.push_back(word.name);
    return {{"type", "string"}, {"enum", names}};
  } else if constexpr (HasFields<T>) {
    Record record(true);
    fields(record, example<T>());
    return std::move(record).json();
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_arithmetic_v<T>) {
    Json schema = {{"type", std::is_integral_v<T> ? "integer" : "number"}};
    if (range == Sign::from_zero) schema["minimum"] = 0;
    if (range == Sign::above_zero) schema["exclusiveMinimum"] = 0;
    return schema;
  } else {
    static_assert(std::is_convertible_v<T, std::string_view>);
    return {{"type", "string"}};
  }
}

template <class T>
void Record::operator()(std::string_view key, std::string_view help, const T& value, Sign range) {
  if (describes_) {
    raw(key, help, {}, schema_of<T>(range));
  } else {
    raw(key, help, json_of(value), {});
  }
}

}  // namespace overlap::report
