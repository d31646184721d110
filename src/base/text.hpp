#pragma once

#include <cstddef>
#include <optional>
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

/// Any bytes as valid UTF-8 that is safe in one line. What is no character becomes U+FFFD; control
/// characters, line separators and bidirectional controls are spelled, such as \n, \x1b, \u0085.
/// What is safe stays as it is. JSON stays JSON with the same meaning.
std::string one_line(std::string_view bytes);
/// The same, but lines stay lines.
std::string safe_lines(std::string_view bytes);
/// The same for text to read between result lines: a line that begins like one is indented.
std::string prose(std::string_view bytes);
/// One line as the value of a key=value line: without spaces and '='; empty: "-".
std::string field_value(std::string_view bytes);

/// Columns that a line takes on a terminal: 2 for wide characters, 0 for combining ones.
std::size_t columns(std::string_view line);
/// What fits into that many columns.
std::string_view first_columns(std::string_view line, std::size_t most);

}  // namespace overlap::base
