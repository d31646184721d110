#include "yaml/value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace overlap::yaml {

const Value* Value::at(std::string_view key) const {
  const auto* const map = get<Map>();
  if (map == nullptr) return nullptr;
  const auto dot = std::min(key.find('.'), key.size());
  const auto found = std::find_if(map->begin(), map->end(), [&](const auto& entry) {
    return entry.first == key.substr(0, dot);
  });
  if (found == map->end()) return nullptr;
  return dot == key.size() ? &found->second : found->second.at(key.substr(dot + 1));
}

bool Value::operator==(const Value& other) const { return data == other.data; }

std::string spell(const Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        std::vector<std::string> parts;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "";
        } else if constexpr (std::is_same_v<T, Value::List>) {
          for (const Value& item : v) parts.push_back(spell(item));
          return fmt::format("[{}]", fmt::join(parts, ", "));
        } else if constexpr (std::is_same_v<T, Value::Map>) {
          for (const auto& [key, item] : v) parts.push_back(key + ": " + spell(item));
          return fmt::format("{{{}}}", fmt::join(parts, ", "));
        } else {
          return fmt::format("{}", v);
        }
      },
      value.data);
}

}  // namespace overlap::yaml
