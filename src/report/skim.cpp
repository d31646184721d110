#include "report/skim.hpp"

#include <algorithm>

namespace overlap::report {
namespace {

constexpr auto none = std::string_view::npos;

/// The closing quote of the string whose opening quote is at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (std::size_t end = text.find('"', at + 1); end != none; end = text.find('"', end + 1)) {
    std::size_t backslashes = 0;
    while (text[end - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return end;
  }
  return none;
}

/// The closing bracket of the list or object that opens at `at`.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = std::min(end_of_string(text, at), text.size());
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && --depth == 0) return at;
  }
  return none;
}

/// The first character from `at` on that is no white space; the end of the text: 0.
char next(std::string_view text, std::size_t& at) {
  at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  return at < text.size() ? text[at] : '\0';
}

constexpr std::string_view null = "null";

/// Appends null in place of a value of the same size or more, with blanks that leave what follows
/// at its line and column.
void append_null(std::string& kept, std::string_view value) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(value, '\n'));
  const std::size_t before = lines > 0 ? value.rfind('\n') + 1 : null.size();
  kept.append(null).append(lines, '\n').append(value.size() - before, ' ');
}

}  // namespace

std::string without(std::string_view json, std::span<const std::string_view> names) {
  std::string kept;
  std::size_t from = 0;  // what is not kept yet
  for (std::size_t at = json.find('"'); at != none; at = json.find('"', at)) {
    const std::size_t end = end_of_string(json, at);
    if (end == none) break;
    const std::string_view name = json.substr(at + 1, end - at - 1);
    at = end + 1;
    if (std::ranges::find(names, name) == names.end() || next(json, at) != ':') continue;
    const char first = next(json, ++at);
    if (first != '[' && first != '{') continue;
    const std::size_t last = end_of_value(json, at);
    if (last == none) break;
    const std::string_view value = json.substr(at, last + 1 - at);
    if (value.size() >= null.size()) {
      kept.append(json, from, at - from);
      append_null(kept, value);
      from = last + 1;
    }
    at = last;
  }
  return kept.append(json, from);
}

int nesting(std::string_view json) {
  int depth = 0, deepest = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') at = std::min(end_of_string(json, at), json.size());
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

}  // namespace overlap::report
