#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <sstream>

namespace overlap::base {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

/// Controls, and what cannot be seen or looks like ' '.
constexpr auto spelled = std::to_array<CodeRange>({{0, 0x1f},
                                                   {0x7f, 0xa0},
                                                   {0xad, 0xad},
                                                   {0x2000, 0x200f},
                                                   {0x2028, 0x202f},
                                                   {0x2060, 0x206f},
                                                   {0x3000, 0x3000},
                                                   {0xfeff, 0xfeff}});

bool is_spelled(char32_t code) {
  return std::ranges::any_of(spelled,
                             [=](const CodeRange& r) { return code >= r.first && code <= r.last; });
}

std::string spell(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return code < 0x20 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code))
                     : fmt::format("\\u{:04x}", static_cast<unsigned>(code));
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
  if (code == 0xfffe || code == 0xffff) return {std::nullopt, length};  // which XML cannot have
  return {code, length};
}

std::string one_line(std::string_view bytes) {
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
    } else if (is_spelled(*code)) {
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

/// Whether a byte of UTF-8 begins a character.
static bool begins(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, begins));
}

std::string_view first_columns(std::string_view line, std::size_t most) {
  std::size_t end = 0;
  for (; end < line.size() && (most > 0 || !begins(line[end])); ++end) {
    if (begins(line[end])) --most;
  }
  return line.substr(0, end);
}

}  // namespace overlap::base
