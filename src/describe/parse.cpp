#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ranges>
#include <sstream>

#include "base/input_file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "describe/document.hpp"

/// The two parsers.
namespace overlap::describe {
namespace {

using base::ExitCode;

[[noreturn]] void fail(const base::SourcePlace& place, const std::string& why,
                       ExitCode code = ExitCode::usage) {
  throw base::Error(code, fmt::format("{}: {}", base::to_string(place), why));
}

/// The mark of the end of a text.
YAML::Mark end_of(std::string_view text) {
  YAML::Mark mark;
  mark.line = static_cast<int>(std::ranges::count(text, '\n'));
  mark.column = static_cast<int>(text.size() - (text.rfind('\n') + 1));  // npos + 1 is 0
  return mark;
}

/// A text whose origin is the last one of a document. The parser counts bytes of a line from 0,
/// people count characters from 1.
class Source {
 public:
  Source(const Document& document, std::string_view text)
      : document_(document),
        origin_(static_cast<int>(document.origins.size()) - 1),
        is_ascii_(std::ranges::none_of(text, continues)) {
    for (const auto line : std::views::split(text, '\n')) {
      lines_.emplace_back(line.begin(), line.end());
    }
  }

  bool is_option() const { return origin_ > 0; }
  std::string_view line(int number) const {
    const auto at = static_cast<std::size_t>(number);
    return at < lines_.size() ? lines_[at] : "";
  }
  Document::Place place(const YAML::Mark& mark) const {
    if (is_option() || mark.is_null()) return {.origin = origin_};
    const auto column = static_cast<std::size_t>(mark.column);
    // A deck that a program wrote may be one long line; it is in ASCII.
    const std::string_view before = is_ascii_ ? "" : line(mark.line).substr(0, column);
    return {origin_, mark.line + 1,
            mark.column + 1 - static_cast<int>(std::ranges::count_if(before, continues))};
  }
  std::string spelled(const YAML::Mark& mark) const {
    const auto [origin, line, column] = place(mark);
    return base::to_string({document_.origins.back(), line, column, origin});
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& why) const {
    throw base::Error(ExitCode::usage, fmt::format("{}: {}", spelled(mark), why));
  }

 private:
  /// Whether a byte does not begin a character.
  static bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

  const Document& document_;
  int origin_;
  bool is_ascii_;
  std::vector<std::string_view> lines_;
};

/// Refuses a second document. (At a comma after the first one the parser stays where it is and
/// finds documents for ever.)
class OneDocument : public YAML::EventHandler {
 public:
  explicit OneDocument(Source& source) : source_(source) {}
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++count_ == 2) source_.fail(mark, "found a second YAML document; allowed: one");
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

 private:
  Source& source_;
  int count_ = 0;
};

/// Turns the parser's nodes into values and places of a document.
class Converter {
 public:
  Converter(Document& document, Source& source, std::size_t most)
      : document_(document), source_(source), left_(most) {}

  Json value(const YAML::Node& node, const std::string& path, int depth = 0) {
    constexpr int most_levels = 500;  // that the parser takes
    if (depth > most_levels) fail(node, "not YAML: found an alias inside its own anchor");
    if (left_-- == 0) fail(node, "not YAML: found aliases of too many values");
    if (const std::string& tag = node.Tag(); !tag.empty() && tag != "?" && tag != "!") {
      fail(node, fmt::format("found the tag {}; allowed: values without tags", quoted(tag)));
    }
    if (node.IsNull()) return {};
    if (!source_.is_option()) (*document_.places)[path].value = source_.place(node.Mark());
    if (node.IsScalar()) return node.Scalar();
    if (node.IsMap()) return map(node, path, depth);
    Json list = Json::array();
    for (const auto& item : node) {
      list.push_back(value(item, fmt::format("{}[{}]", path, list.size()), depth + 1));
    }
    return list;
  }

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& why) {
    source_.fail(node.Mark(), why);
  }
  Json map(const YAML::Node& node, const std::string& above, int depth) {
    Json::object_t map;
    std::map<std::string, YAML::Mark> seen;
    for (const auto& entry : node) {
      const YAML::Node& key = entry.first;
      if (!key.IsScalar()) fail(key, "found a key that is not text; allowed: a word");
      const std::string path = path_of(above, key.Scalar());
      if (const auto [first, is_new] = seen.emplace(key.Scalar(), key.Mark()); !is_new) {
        fail(key, fmt::format("{}: found twice, first at {}; allowed: once", path,
                              source_.spelled(first->second)));
      }
      if (!source_.is_option()) (*document_.places)[path].key = source_.place(key.Mark());
      map.emplace_back(key.Scalar(), value(entry.second, path, depth + 1));
    }
    return map;
  }

  Document& document_;
  Source& source_;
  std::size_t left_;
};

/// Control characters and bytes that are not UTF-8 have no business in a file; the YAML parser
/// would replace them or fail elsewhere.
void expect_text(std::string_view text, Source& source) {
  for (std::size_t at = 0; at < text.size();) {
    const base::Character character = base::first_character(text.substr(at));
    const char32_t code = character.code.value_or(0);
    const bool white = code == '\t' || code == '\n' || code == '\r' || code == 0x85;
    if (!white && (code < 0x20 || (code >= 0x7f && code < 0xa0))) {
      source.fail(end_of(text.substr(0, at)),
                  fmt::format("not YAML: found the byte 0x{:02x}; allowed: UTF-8 text without "
                              "control characters",
                              static_cast<unsigned char>(text[at])));
    }
    at += character.bytes;
  }
}

[[noreturn]] void fail_to_parse(const YAML::Exception& error, Source& source) {
  if (source.is_option()) source.fail({}, "the value is not YAML: " + error.msg);
  YAML::Mark mark = error.mark;
  const std::string_view line = source.line(mark.line);
  if (line.substr(std::min(line.find_first_not_of(' '), line.size())).starts_with('\t')) {
    mark.column = 0;
    source.fail(mark, "not YAML: found a tab; allowed: spaces to indent");
  }
  if (error.msg == YAML::ErrorMsg::BAD_FILE) {  // what the parser says of that
    source.fail(YAML::Mark::null_mark(), "not YAML: nested too deeply");
  }
  const char* const hint =
      "text with ': ' or other signs needs quotes; keys of a map share a column";
  source.fail(mark, fmt::format("not YAML: {} ({})", error.msg, hint));
}

/// The value of a text, whose origin is the last one of the document; null where it has none.
Json parse_yaml(Document& document, const std::string& text) {
  Source source(document, text);
  expect_text(text, source);
  try {
    // The parser overlooks a missing quote if the text ends with a line break: a comment ends it.
    const std::string closed = text + (text.ends_with('\n') ? "#" : "");
    std::istringstream stream(closed);
    YAML::Parser parser(stream);
    OneDocument handler(source);
    while (parser.HandleNextDocument(handler)) {
    }
    // Aliases may repeat values, but not beyond any use.
    return Converter(document, source, 1000 + 4 * text.size()).value(YAML::Load(closed), "");
  } catch (const YAML::Exception& error) {
    fail_to_parse(error, source);
  }
}

}  // namespace

Document read_yaml(const std::string& path, const std::string& kind) {
  std::error_code error;
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found) {
    fail({path.empty() ? "''" : path}, "no such " + kind);
  }
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  const std::string text =
      base::read_file(path, most_bytes, "a " + kind + " in YAML", ExitCode::usage);
  Document document{.kind = kind, .origins = {path}, .sha256 = base::sha256(text)};
  document.places = std::make_shared<std::map<std::string, Document::Places>>();
  if (Json root = parse_yaml(document, text); !root.is_null()) document.root = std::move(root);
  return document;
}

Json parse_option(Document& document, const std::string& option, const std::string& value) {
  document.origins.push_back(option);
  return parse_yaml(document, value);
}

Document parse_json(const std::string& path, const std::string& text,
                    std::span<const std::string_view> without) {
  constexpr int most_levels = 100;  // more than in any file of this program
  Document document{.kind = "result file", .origins = {path}, .json = true};
  const auto refuse = [&](const std::string& found, YAML::Mark at = YAML::Mark::null_mark()) {
    fail({path, at.line + 1, at.column + 1}, found + "; allowed: a result file",
         ExitCode::runtime_error);
  };
  try {
    document.root = Json::parse(text, [&](int depth, Json::parse_event_t event, const Json& part) {
      if (depth > most_levels) {
        refuse(fmt::format("found lists and objects more than {} deep", most_levels));
      }
      return event != Json::parse_event_t::key ||
             std::ranges::none_of(without, [&](std::string_view key) { return part == key; });
    });
  } catch (const Json::parse_error& error) {  // its byte counts from 1
    refuse(error.byte > text.size() ? "found no valid JSON: the file is cut short"
                                    : "found no valid JSON",
           end_of(std::string_view(text).substr(
               0, std::clamp<std::size_t>(error.byte, 1, text.size() + 1) - 1)));
  } catch (const Json::exception&) {
    refuse("found a number with more than 308 digits");
  }
  return document;
}

}  // namespace overlap::describe
