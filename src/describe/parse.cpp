#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/input_file.hpp"
#include "base/sha256.hpp"
#include "describe/document.hpp"

/// The two parsers.
namespace overlap::describe {
namespace {

using base::ExitCode;

[[noreturn]] void fail(const base::SourcePlace& place, const std::string& why,
                       ExitCode code = ExitCode::usage) {
  throw base::Error(code, fmt::format("{}: {}", base::to_string(place), why));
}

/// A text whose origin is the last one of a document. The parser counts from 0, people from 1.
class YamlSource {
 public:
  explicit YamlSource(const Document& document)
      : document_(document), origin_(static_cast<int>(document.origins.size()) - 1) {}

  bool is_option() const { return origin_ > 0; }
  Document::Place place(const YAML::Mark& mark) const {
    if (is_option() || mark.is_null()) return {.origin = origin_};
    return {origin_, mark.line + 1, mark.column + 1};
  }
  std::string spelled(const YAML::Mark& mark) const {
    const auto [origin, line, column] = place(mark);
    return base::to_string({document_.origins.back(), line, column, origin});
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& why) const {
    throw base::Error(ExitCode::usage, fmt::format("{}: {}", spelled(mark), why));
  }

 private:
  const Document& document_;
  int origin_;
};

/// Turns the parser's nodes into values and places of a document.
class Converter {
 public:
  /// `most`: values in all, since few aliases of aliases can stand for any number.
  Converter(Document& document, YamlSource& source, std::size_t most)
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
  YamlSource& source_;
  std::size_t left_;
};

/// Takes what a parser finds.
struct Ignore : YAML::EventHandler {
  using Mark = YAML::Mark;
  using Style = YAML::EmitterStyle::value;

  void OnDocumentStart(const Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, YAML::anchor_t) override {}
  void OnAlias(const Mark&, YAML::anchor_t) override {}
  void OnScalar(const Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const Mark&, const std::string&, YAML::anchor_t, Style) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark&, const std::string&, YAML::anchor_t, Style) override {}
  void OnMapEnd() override {}
};

/// The value of a text, whose origin is the last one of the document; null where it has none.
Json parse_yaml(Document& document, const std::string& text) {
  YamlSource source(document);
  try {
    // The parser overlooks a missing quote if the text ends with a line break: a comment ends it.
    const std::string closed = text + (text.ends_with('\n') ? "#" : "");
    std::istringstream stream(closed);
    YAML::Parser parser(stream);
    Ignore handler;
    // Whatever follows the first document, such as a comma, would be ignored.
    if (parser.HandleNextDocument(handler) && parser) {
      source.fail(YAML::Mark::null_mark(), "found a second YAML document; allowed: one");
    }
    return Converter(document, source, 1000 + 4 * text.size()).value(YAML::Load(closed), "");
  } catch (const YAML::Exception& error) {
    if (source.is_option()) source.fail({}, "the value is not YAML: " + error.msg);
    source.fail(
        error.mark,
        fmt::format("not YAML: {} (text with ': ' or other signs needs quotes; keys of a map "
                    "share a column, behind spaces and no tabs)",
                    error.msg));
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
  Document document{.kind = "result file", .origins = {path}, .json = true};
  const auto refuse = [&](std::size_t line, std::size_t column) {
    fail({path, static_cast<int>(line), static_cast<int>(column)},
         "found no valid JSON; allowed: a result file", ExitCode::runtime_error);
  };
  try {
    document.root = Json::parse(text, [&](int depth, Json::parse_event_t event, const Json& part) {
      if (depth > 100) refuse(0, 0);  // more than in any file of this program
      return event != Json::parse_event_t::key ||
             std::ranges::none_of(without, [&](std::string_view key) { return part == key; });
    });
  } catch (const Json::parse_error& error) {  // its byte counts from 1
    const auto before = std::string_view(text).substr(0, error.byte - 1);
    refuse(static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
           before.size() - (before.rfind('\n') + 1) + 1);  // npos + 1 is 0
  } catch (const Json::exception&) {                       // numbers out of range
    refuse(0, 0);
  }
  return document;
}

}  // namespace overlap::describe
