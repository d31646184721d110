#include "deck/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace overlap::deck {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 24;

[[noreturn]] void fail(const base::Place& place, const std::string& why) {
  throw base::Error(base::ExitCode::usage, fmt::format("{}: {}", base::to_string(place), why));
}

std::string read_text(const std::string& path, const std::string& kind) {
  if (path.empty()) fail({"''"}, "no such " + kind);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) fail({path}, "no such " + kind);
  if (!std::filesystem::status_known(status)) fail({path}, "cannot be read: " + error.message());
  if (std::filesystem::is_directory(status)) fail({path}, "is a folder, not a " + kind);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes) {
      fail({path}, fmt::format("found more than 16 MiB; allowed: a {} in YAML", kind));
    }
  }
  if (!file.is_open() || file.bad()) {
    fail({path}, fmt::format("cannot be read: {}", std::strerror(errno != 0 ? errno : EIO)));
  }
  return text;
}

/// Bytes of the UTF-8 character that `text` begins with; 0: malformed, or one that YAML forbids.
std::size_t length_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length > text.size()) return 0;
  std::uint32_t code = length == 1 ? byte(0) : byte(0) & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  // The least code of each length: below it the spelling is overlong, or no character begins so.
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const bool control = (code < 0x20 && code != '\t' && code != '\n' && code != '\r') ||
                       (code >= 0x7f && code < 0xa0 && code != 0x85);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool no_character = code == 0xfffe || code == 0xffff || code > 0x10ffff;
  const bool good = byte(0) < 0xf8 && code >= least[length];
  return good && !control && !surrogate && !no_character ? length : 0;
}

/// Control characters and bytes that are not UTF-8 have no business in a file; the YAML parser
/// would replace them or fail elsewhere.
void expect_text(const std::string& text, const std::string& path) {
  int line = 1;
  int column = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of(std::string_view(text).substr(i));
    if (length == 0) {
      fail({path, line, column},
           fmt::format("not YAML: found the byte 0x{:02x}; allowed: UTF-8 text without control "
                       "characters",
                       static_cast<unsigned char>(text[i])));
    }
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n' ? 1 : 0;
    i += length;
  }
}

/// Counts the documents of a YAML stream; YAML::LoadAll stops at an empty one.
class Documents : public YAML::EventHandler {
 public:
  int count = 0;
  YAML::Mark second;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++count == 2) second = mark;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Whether a tab indents a line, counted from 0.
bool tab_indents(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i <= number; ++i) std::getline(lines, line);
  const auto start = line.find_first_not_of(' ');
  return start != std::string::npos && line[start] == '\t';
}

YAML::Node parse(const std::string& text, const std::string& path) {
  expect_text(text, path);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Documents documents;
    // At a comma after the document the parser stays where it is and finds documents for ever.
    while (documents.count < 2 && parser.HandleNextDocument(documents)) {
    }
    if (documents.count > 1) {
      fail({path, documents.second.line + 1, documents.second.column + 1},
           "found a second YAML document; allowed: one");
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    // What yaml-cpp says of nesting that is too deep for it.
    if (error.msg == YAML::ErrorMsg::BAD_FILE) fail({path}, "not YAML: nested too deeply");
    if (tab_indents(text, error.mark.line)) {
      fail({path, error.mark.line + 1, 1}, "not YAML: found a tab; allowed: spaces to indent");
    }
    const bool colon = error.msg == YAML::ErrorMsg::MAP_VALUE;
    fail(
        {path, error.mark.line + 1, error.mark.column + 1},
        fmt::format("not YAML: {}{}", error.msg,
                    colon ? " (text with ': ' needs quotes; keys of a map share one column)" : ""));
  }
}

}  // namespace

Document read_document(const std::string& path, const std::string& kind) {
  Document document{.text = read_text(path, kind), .root = {}, .source = {}};
  document.source.file = path;
  document.source.kind = kind;
  document.root = parse(document.text, path);
  if (document.root.IsNull()) document.root = YAML::Node(YAML::NodeType::Map);
  return document;
}

std::string name_of(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  // Result lines are key=value, parted by spaces.
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '='; }, '_');
  return name;
}

}  // namespace overlap::deck
