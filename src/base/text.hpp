#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

/// Text from outside (paths, titles, names in files of others) as text that is safe to print.
namespace overlap::base {

/// The character that a text begins with.
struct Character {
  std::optional<char32_t> code;  ///< none: not UTF-8, or a code that is no character
  std::size_t bytes = 1;
};
/// `text` is not empty.
Character first_character(std::string_view text);

/// Any bytes as valid UTF-8 that is safe on one line. Invalid bytes and non-characters become
/// U+FFFD. Control and invisible characters and special spaces are escaped: \n, \x1b, \u00a0. All
/// other text is unchanged.
std::string one_line(std::string_view bytes);
/// As one_line(), but keeps line breaks.
std::string safe_lines(std::string_view bytes);
/// As safe_lines(), for text between result lines: indents lines that begin like a result line.
std::string prose(std::string_view bytes);
/// One line as the value of a key=value line: without spaces and '='; empty: "-".
std::string field_value(std::string_view bytes);

/// The text with `replacement` in place of each `part`.
std::string replaced(std::string_view text, std::string_view part, std::string_view replacement);

/// The numbers of a list such as "0-7,16".
std::set<int> numbers(const std::string& list);

/// Characters of a line; each takes one column of a terminal.
std::size_t columns(std::string_view line);
/// What fits into that many columns.
std::string_view first_columns(std::string_view line, std::size_t most);

}  // namespace overlap::base
