#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace overlap::yaml {

/// A value without a place: what a table writes. Maps keep their order.
struct Value {
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;

  Value() = default;
  Value(bool value) : data(value) {}
  Value(std::integral auto value) : data(static_cast<std::int64_t>(value)) {}
  Value(double value) : data(value) {}
  Value(std::string value) : data(std::move(value)) {}
  Value(std::string_view value) : data(std::string(value)) {}
  Value(const char* value) : data(std::string(value)) {}
  Value(List value) : data(std::move(value)) {}
  Value(Map value) : data(std::move(value)) {}

  bool is_null() const { return data.index() == 0; }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  /// The value of a dotted key, such as "memory.host"; null: there is no such key.
  const Value* at(std::string_view key) const;
  bool operator==(const Value& other) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data;
};

/// A map of one key. (nvcc 13 takes nested braces of one pair for something else.)
inline Value single(std::string key, Value value) {
  Value::Map map;
  map.emplace_back(std::move(key), std::move(value));
  return map;
}

/// The value as one line of YAML, its strings unquoted.
std::string spell(const Value& value);

}  // namespace overlap::yaml
