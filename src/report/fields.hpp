#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "deck/words.hpp"
#include "yaml/value.hpp"

/// Tables of a record's fields, from which both its JSON and its JSON Schema are made.
namespace overlap::report {

using Json = nlohmann::ordered_json;

/// What numbers of a field may be.
enum class Range { any, from_zero, above_zero };

/// One field: key, meaning, and what gives its value: a member or a function of the record. The
/// type of the value says what the schema allows: an empty optional is null, a vector an array, a
/// type with a table of its own an object.
template <class Get>
struct Field {
  const char* key;
  const char* help;
  Get get;
  Range range = Range::any;
};
template <class Get>
Field(const char*, const char*, Get) -> Field<Get>;
template <class Get>
Field(const char*, const char*, Get, Range) -> Field<Get>;

/// The table of a record's fields: a tuple.
template <class Record>
inline constexpr auto fields = nullptr;

template <class Record>
constexpr bool has_fields = !std::is_same_v<decltype(fields<Record>), const std::nullptr_t>;

/// A value that is JSON already and knows its schema.
template <class T>
concept Own = requires(const T& value) {
  { value.json } -> std::convertible_to<Json>;
  { T::schema() } -> std::convertible_to<Json>;
};

/// An enumerator, written as its word.
template <class T>
concept Worded = std::is_enum_v<T> && requires(T value) { deck::to_string(value); };

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Value = T;
};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {
  using Value = T;
};

Json json_of(const yaml::Value& value);

template <class T>
Json json_of(const T& value);

/// Adds a table's fields of a record to a JSON object.
template <class Table, class T>
void write(Json& object, const Table& table, const T& record) {
  std::apply(
      [&](const auto&... field) {
        ((object[field.key] = json_of(std::invoke(field.get, record))), ...);
      },
      table);
}

template <class T>
Json json_of(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? json_of(*value) : Json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Json array = Json::array();
    for (const auto& one : value) array.push_back(json_of(one));
    return array;
  } else if constexpr (Own<T>) {
    return value.json;
  } else if constexpr (Worded<T>) {
    return deck::to_string(value);
  } else if constexpr (has_fields<T>) {
    Json object = Json::object();
    write(object, fields<T>, value);
    return object;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else {
    return Json(value);
  }
}

/// The JSON Schema of an object without fields.
inline Json object_schema() {
  return {{"type", "object"}, {"required", Json::array()}, {"properties", Json::object()}};
}

/// Adds a field to the schema of an object.
inline void describe(Json& object, const std::string& key, std::string_view help,
                     const Json& values) {
  Json schema = {{"description", help}};
  schema.update(values);
  object["properties"][key] = std::move(schema);
  object["required"].push_back(key);
}

template <class T>
Json schema_of(Range range);

/// Adds a table's fields of a record to the schema of an object.
template <class T, class Table>
void describe(Json& object, const Table& table) {
  const auto add = [&](const auto& field) {
    using Value = std::decay_t<std::invoke_result_t<decltype(field.get), const T&>>;
    describe(object, field.key, field.help, schema_of<Value>(field.range));
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, table);
}

/// The JSON Schema of a type's values.
template <class T>
Json schema_of(Range range) {
  if constexpr (IsOptional<T>::value) {
    Json schema = schema_of<typename IsOptional<T>::Value>(range);
    if (schema.contains("type") && schema["type"].is_string()) {
      schema["type"] = {schema["type"], "null"};
      if (schema.contains("enum")) schema["enum"].push_back(nullptr);
      return schema;
    }
    return {{"anyOf", {schema, {{"type", "null"}}}}};
  } else if constexpr (IsVector<T>::value) {
    return {{"type", "array"}, {"items", schema_of<typename IsVector<T>::Value>(range)}};
  } else if constexpr (Own<T>) {
    return T::schema();
  } else if constexpr (Worded<T>) {
    Json names = Json::array();
    for (const auto& word : deck::words<T>) names.push_back(word.name);
    return {{"type", "string"}, {"enum", names}};
  } else if constexpr (has_fields<T>) {
    Json schema = object_schema();
    describe<T>(schema, fields<T>);
    return schema;
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_arithmetic_v<T>) {
    Json schema = {{"type", std::is_integral_v<T> ? "integer" : "number"}};
    if (range == Range::from_zero) schema["minimum"] = 0;
    if (range == Range::above_zero) schema["exclusiveMinimum"] = 0;
    return schema;
  } else {
    return {{"type", "string"}};
  }
}

}  // namespace overlap::report
