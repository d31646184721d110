#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <sstream>

namespace overlap::base {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

bool is_in(std::span<const CodeRange> ranges, char32_t code) {
  return std::ranges::any_of(ranges,
                             [=](const CodeRange& r) { return code >= r.first && code <= r.last; });
}

/// Controls, separators of lines and paragraphs, what changes the direction of text, and what has
/// no width on its own.
constexpr auto spelled = std::to_array<CodeRange>({{0, 0x1f},
                                                   {0x7f, 0x9f},
                                                   {0xad, 0xad},
                                                   {0x200b, 0x200f},
                                                   {0x2028, 0x202e},
                                                   {0x2060, 0x206f},
                                                   {0xfeff, 0xfeff}});

/// Spaces that look like ' '.
constexpr auto spaces =
    std::to_array<CodeRange>({{0xa0, 0xa0}, {0x2000, 0x200a}, {0x202f, 0x202f}, {0x3000, 0x3000}});

/// Marks above or below other characters and selectors of variants.
constexpr auto narrow = std::to_array<CodeRange>({{0x300, 0x36f},
                                                  {0x1ab0, 0x1aff},
                                                  {0x1dc0, 0x1dff},
                                                  {0x20d0, 0x20ff},
                                                  {0xfe00, 0xfe0f},
                                                  {0xfe20, 0xfe2f}});
/// East Asian characters and emoji.
constexpr auto wide = std::to_array<CodeRange>({{0x1100, 0x115f},
                                                {0x2e80, 0xa4cf},
                                                {0xac00, 0xd7a3},
                                                {0xf900, 0xfaff},
                                                {0xfe30, 0xfe6f},
                                                {0xff00, 0xff60},
                                                {0xffe0, 0xffe6},
                                                {0x1f300, 0x1f64f},
                                                {0x1f900, 0x1f9ff},
                                                {0x20000, 0x3fffd}});

std::string spell(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return code < 0x20 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code))
                     : fmt::format("\\u{:04x}", static_cast<unsigned>(code));
}

std::size_t columns_of(const Character& character) {
  if (!character.code || is_in(narrow, *character.code)) return character.code ? 0 : 1;
  return is_in(wide, *character.code) ? 2 : 1;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t length = byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (byte(0) < 0xc0 || byte(0) >= 0xf8 || length > text.size()) return {};
  char32_t code = byte(0) & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  // The least code of each length: below it the spelling is overlong.
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < least[length] || surrogate || code > 0x10ffff) return {};
  const bool no_character = code == 0xfffe || code == 0xffff || (code >= 0xfdd0 && code <= 0xfdef);
  return {no_character ? std::nullopt : std::optional(code), length};
}

std::string one_line(std::string_view bytes, bool spell_spaces) {
  const auto is_special = [](char c) { return c < ' ' || c > '~'; };  // of either sign
  std::string line;
  line.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if(bytes, is_special) - bytes.begin());
    line += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    const auto [code, length] = first_character(bytes);
    if (!code) {
      line += "\xef\xbf\xbd";
    } else if (is_in(spelled, *code) || (spell_spaces && is_in(spaces, *code))) {
      line += spell(*code);
    } else {
      line += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
  return line;
}

std::string safe_lines(std::string_view bytes) {
  std::string lines;
  for (const auto line : std::views::split(bytes, '\n')) {
    lines += one_line({line.begin(), line.end()}) + '\n';
  }
  if (!lines.empty()) lines.pop_back();
  return lines;
}

std::string prose(std::string_view bytes) {
  constexpr std::string_view begin = "OVERLAP_";
  std::string text = safe_lines(bytes);
  for (std::size_t at = text.find(begin); at != std::string::npos;
       at = text.find(begin, at + begin.size())) {
    if (at == 0 || text[at - 1] == '\n') text.insert(at, 1, ' ');
  }
  return text;
}

std::string field_value(std::string_view bytes) {
  std::string value = one_line(bytes);
  std::ranges::replace_if(value, [](char c) { return c == ' ' || c == '='; }, '_');
  return value.empty() ? "-" : value;
}

std::string replaced(std::string_view text, std::string_view part, std::string_view replacement) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(part, from)) != text.npos; from = at + part.size()) {
    result.append(text, from, at - from).append(replacement);
  }
  return result.append(text, from);
}

std::set<int> numbers(const std::string& list) {
  std::set<int> result;
  std::istringstream text(list);
  for (int first = 0; text >> first; text.ignore()) {
    int last = first;
    if (text.peek() == '-') text.ignore() >> last;
    for (int number = first; number <= last; ++number) result.insert(number);
  }
  return result;
}

std::size_t columns(std::string_view line) {
  std::size_t sum = 0;
  while (!line.empty()) {
    const Character character = first_character(line);
    sum += columns_of(character);
    line.remove_prefix(character.bytes);
  }
  return sum;
}

std::string_view first_columns(std::string_view line, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t sum = 0; end < line.size();) {
    const Character character = first_character(line.substr(end));
    sum += columns_of(character);
    if (sum > most) break;
    end += character.bytes;
  }
  return line.substr(0, end);
}

}  // namespace overlap::base
