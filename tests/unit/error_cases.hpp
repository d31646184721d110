#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "deck_file.hpp"
#include "generated.hpp"

/// Bad inputs with the exact line that the user reads, in files of tests/data/golden. A case is the
/// input on one line, with \n, \t, \\ and \x1b for what a line cannot hold, and indented below it
/// the message, in which '@' is the path of the input, and lists of names, which grow, are cut. An
/// input may end with overrides, each after " --set ".
namespace overlap::test {

inline std::string unescaped(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
    } else if (const char sign = line.at(++i); sign == 'x') {
      text += static_cast<char>(std::stoi(line.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      text += sign == 'n' ? '\n' : sign == 't' ? '\t' : sign;
    }
  }
  return text;
}

/// What `load` says of a bad input: "" when it says nothing.
inline std::string complaint(const std::function<void()>& load) {
  try {
    load();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.what();
  }
  return "";
}

/// The message with lists of names cut to their first, such as "allowed: time, ...": no name that
/// is new changes it.
inline std::string without_lists(const std::string& message) {
  static const std::regex list(R"((\b[a-z]\w{3,})(, [a-z]\w*){3,}|(kind \w+)(, \w+)+)");
  return std::regex_replace(message, list, "$1$3, ...");
}

using Load =
    std::function<void(const std::string& path, const std::vector<std::string>& overrides)>;

/// Compares the messages of a file with those of `load` or, asked for it, writes them anew. A
/// beginning is what an input may begin with and what that stands for.
inline void expect_errors(const std::string& file,
                          const std::map<std::string, std::string>& beginnings, const Load& load) {
  const std::string path = OVERLAP_SOURCE_DIR "/tests/data/golden/" + file;
  std::istringstream lines(content(path));
  const Folder folder;
  std::string written;
  std::string expected;
  for (std::string line; std::getline(lines, line); written += line + "\n") {
    if (line.starts_with("# ")) continue;
    std::vector<std::string> overrides;
    std::string input = line;
    for (std::size_t at = 0; (at = input.rfind(" --set ")) != std::string::npos;) {
      overrides.insert(overrides.begin(), unescaped(input.substr(at + 7)));
      input.erase(at);
    }
    for (const auto& [name, beginning] : beginnings) {
      if (input.starts_with(name)) input.replace(0, name.size(), beginning);
    }
    const std::string place = folder.write("deck.yaml", unescaped(input) + "\n");
    const std::string found = "  " + without_lists(base::replaced(
                                         complaint([&] { load(place, overrides); }), place, "@"));
    std::getline(lines, expected);
    EXPECT_NE(found, "  ") << path << ": no error: " << line;
    EXPECT_EQ(found, expected) << path << ": " << line;
    line += "\n" + found;
  }
  EXPECT_NE(written, "") << path;
  if (std::getenv("OVERLAP_REGENERATE") != nullptr) std::ofstream(path) << written;
}

}  // namespace overlap::test
