#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace overlap::describe {

/// An enumerator with its spelling, used in files, on the console and in results.
template <class Enum>
struct Word {
  Enum value;
  std::string_view name;
  std::string_view help = {};
};

/// Words of consecutive enumerators from 0.
template <class Enum>
constexpr auto in_order(auto... names) {
  int number = 0;
  return std::array<Word<Enum>, sizeof...(names)>{
      Word<Enum>{static_cast<Enum>(number++), names}...};
}

/// All words of an enumeration: the result of words_of(Enum), declared next to it.
template <class Enum>
inline constexpr auto words = words_of(Enum{});

/// The spelling of an enumerator.
template <class Enum>
  requires requires(Enum value) { words_of(value); }
constexpr std::string_view to_string(Enum value) {
  for (const auto& word : words<Enum>) {
    if (word.value == value) return word.name;
  }
  return "?";
}

/// All spellings, for error messages.
template <class Enum>
std::vector<std::string> spellings() {
  std::vector<std::string> names;
  for (const auto& word : words<Enum>) names.emplace_back(word.name);
  return names;
}

}  // namespace overlap::describe
