#include "yaml/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ranges>
#include <sstream>

#include "base/input_file.hpp"
#include "base/text.hpp"

namespace overlap::yaml {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 24;

[[noreturn]] void fail(const base::SourcePlace& place, const std::string& why) {
  throw base::Error(base::ExitCode::usage, fmt::format("{}: {}", base::to_string(place), why));
}

std::string read_text(const std::string& path, const std::string& kind) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    fail({path.empty() ? "''" : path}, "no such " + kind);
  }
  if (!std::filesystem::status_known(status)) fail({path}, "cannot be read: " + error.message());
  if (std::filesystem::is_directory(status)) fail({path}, "is a folder, not a " + kind);
  return base::read_file(path, most_bytes, "a " + kind + " in YAML", base::ExitCode::usage);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (const auto line : std::views::split(text, '\n'))
    lines.emplace_back(line.begin(), line.end());
  return lines;
}

/// Places in what an origin holds; an option is a place of its own. The parser counts bytes of a
/// line, people count characters.
class Places {
 public:
  Places(const base::SourcePlace& origin, std::string_view text)
      : origin_(origin), lines_(lines_of(text)) {}

  base::SourcePlace of(const YAML::Mark& mark) {
    if (origin_.option > 0) return origin_;
    if (mark.line != last_.line || mark.column < last_.column) {
      last_ = {.line = mark.line};
    }
    const std::string_view text = line(mark.line);
    const auto size = static_cast<int>(text.size());
    for (; last_.column < std::min(mark.column, size); ++last_.column) {
      const char c = text[static_cast<std::size_t>(last_.column)];
      if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) ++last_.continued;
    }
    return {origin_.file, mark.line + 1, mark.column - last_.continued + 1};
  }

  /// A line, counted from 0.
  std::string_view line(int number) const {
    const auto at = static_cast<std::size_t>(number);
    return at < lines_.size() ? lines_[at] : "";
  }

 private:
  /// Where counting continues: most marks follow one another.
  struct Last {
    int line = 0;
    int column = 0;
    int continued = 0;  ///< bytes that do not begin a character
  };

  base::SourcePlace origin_;
  std::vector<std::string_view> lines_;
  Last last_;
};

/// Whether YAML allows a character.
bool is_allowed(const base::Character& character) {
  if (!character.code) return false;
  const char32_t code = *character.code;
  const bool white = code == '\t' || code == '\n' || code == '\r' || code == 0x85;
  return white || (code >= 0x20 && code < 0x7f) || code >= 0xa0;
}

/// Where the first character lies that YAML forbids; the text's size: nowhere.
std::size_t end_of_text(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const base::Character character = base::first_character(text.substr(end));
    if (!is_allowed(character)) break;
    end += character.bytes;
  }
  return end;
}

/// Control characters and bytes that are not UTF-8 have no business in a file; the YAML parser
/// would replace them or fail elsewhere.
void expect_text(std::string_view text, const base::SourcePlace& origin) {
  const std::string_view good = text.substr(0, end_of_text(text));
  if (good.size() == text.size()) return;
  YAML::Mark mark;
  mark.line = static_cast<int>(std::ranges::count(good, '\n'));
  mark.column = static_cast<int>(good.size() - (good.rfind('\n') + 1));
  fail(Places(origin, good).of(mark),
       fmt::format("not YAML: found the byte 0x{:02x}; allowed: UTF-8 text without control "
                   "characters",
                   static_cast<unsigned char>(text[good.size()])));
}

std::shared_ptr<Node> node_of(Node::Kind kind, const base::SourcePlace& place) {
  return std::make_shared<Node>(Node{.kind = kind, .place = place, .text = {}, .entries = {}});
}

/// Builds the tree of a document.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const base::SourcePlace& origin, std::string_view text) : places_(origin, text) {}

  NodePtr root;  ///< null: no document

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) {
      fail(places_.of(mark), "found a second YAML document; allowed: one");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    begin(Node::Kind::null, mark, anchor);
    end();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const NodePtr node = anchor < anchors_.size() ? anchors_[anchor] : nullptr;
    if (!node) fail(places_.of(mark), "not YAML: found an alias inside its own anchor");
    add(node);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    expect_no_tag(mark, tag);
    begin(Node::Kind::scalar, mark, anchor).text = value;
    end();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    expect_no_tag(mark, tag);
    begin(Node::Kind::list, mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    expect_no_tag(mark, tag);
    begin(Node::Kind::map, mark, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    std::shared_ptr<Node> node;
    YAML::anchor_t anchor;
    NodePtr key;  ///< of a map: the key whose value comes next
  };

  void expect_no_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;  // plain and quoted values
    fail(places_.of(mark),
         fmt::format("found the tag {}; allowed: values without tags", quoted(tag)));
  }

  Node& begin(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    open_.push_back({node_of(kind, places_.of(mark)), anchor, {}});
    return *open_.back().node;
  }

  void end() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    if (anchors_.size() <= done.anchor) anchors_.resize(done.anchor + 1);
    anchors_[done.anchor] = done.node;  // 0: no anchor
    add(done.node);
  }

  void add(const NodePtr& node) {
    if (open_.empty()) {
      root = node;
      return;
    }
    Open& parent = open_.back();
    if (parent.node->kind == Node::Kind::map && !parent.key) {
      parent.key = node;
    } else {
      parent.node->entries.push_back({std::exchange(parent.key, nullptr), node});
    }
  }

  Places places_;
  int documents_ = 0;
  std::vector<Open> open_;
  std::vector<NodePtr> anchors_;
};

bool tab_indents(std::string_view line) {
  const auto start = line.find_first_not_of(' ');
  return start != std::string_view::npos && line[start] == '\t';
}

struct PlainWords {
  std::string_view parser;
  const char* ours;
};

const auto plain_words = std::to_array<PlainWords>({
    {YAML::ErrorMsg::END_OF_MAP,
     "found text that is neither a key nor a part of the value before it"},
    {YAML::ErrorMsg::END_OF_SEQ,
     "found text that is neither an item nor a part of the one before it"},
    {YAML::ErrorMsg::END_OF_MAP_FLOW, "found no ',' or '}' where one must be"},
    {YAML::ErrorMsg::END_OF_SEQ_FLOW, "found no ',' or ']' where one must be"},
    {YAML::ErrorMsg::FLOW_END, "found a bracket that closes nothing"},
    {YAML::ErrorMsg::EOF_IN_SCALAR, "found no closing quote"},
    {YAML::ErrorMsg::UNKNOWN_TOKEN,
     "found a character that must not begin a value; allowed: quotes around the value"},
    {YAML::ErrorMsg::CHAR_IN_BLOCK,
     "found text behind the sign of a block, '>' or '|'; allowed: quotes around the value"},
});

/// What the parser says, in the same words whatever its version.
[[noreturn]] void fail_to_parse(const YAML::Exception& error, const std::string& text,
                                const base::SourcePlace& origin) {
  // It says of nesting that is too deep for it that the file is bad.
  const bool deep = error.msg == YAML::ErrorMsg::BAD_FILE;
  // Since version 0.8 the name follows.
  const std::string anchor = "the referenced anchor is not defined";
  const auto plain = std::ranges::find(plain_words, error.msg, &PlainWords::parser);
  const std::string message = deep                            ? "nested too deeply"
                              : error.msg.starts_with(anchor) ? anchor
                              : plain != plain_words.end()    ? plain->ours
                                                              : error.msg;
  if (origin.option > 0) fail(origin, "the value is not YAML: " + message);
  if (deep) fail(origin, "not YAML: " + message);
  Places places(origin, text);
  YAML::Mark mark = error.mark;
  if (error.msg == YAML::ErrorMsg::EOF_IN_SCALAR) {  // behind the last character
    const std::string_view used(text.data(), text.find_last_not_of(" \t\r\n") + 1);
    mark.line = static_cast<int>(std::ranges::count(used, '\n'));
    mark.column = static_cast<int>(used.size() - (used.rfind('\n') + 1));
  }
  base::SourcePlace place = places.of(mark);
  if (tab_indents(places.line(error.mark.line))) {
    place.column = 1;
    fail(place, "not YAML: found a tab; allowed: spaces to indent");
  }
  const bool colon = error.msg == YAML::ErrorMsg::MAP_VALUE;
  const char* const hint = " (text with ': ' needs quotes; keys of a map share one column)";
  fail(place, fmt::format("not YAML: {}{}", message, colon ? hint : ""));
}

/// The document; null where the text has none.
NodePtr parse(const std::string& text, const base::SourcePlace& origin) {
  expect_text(text, origin);
  TreeBuilder builder(origin, text);
  try {
    // The parser overlooks a missing quote if the text ends with a line break: a comment ends it.
    std::istringstream stream(text.ends_with('\n') ? text + '#' : text);
    YAML::Parser parser(stream);
    // At a comma after the document the parser stays where it is and finds documents for ever: the
    // builder ends that.
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    fail_to_parse(error, text, origin);
  }
  return builder.root;
}

/// Whether a value contains a key below it; a word, such as `none`, replaces all keys.
bool sets(const Node* value, const std::string& key) {
  for (const std::string& part : parts_of(key)) {
    if (value->kind == Node::Kind::null) return false;
    if (value->kind != Node::Kind::map) return true;
    const Node::Entry* const entry = value->find(part);
    if (entry == nullptr) return false;
    value = entry->value.get();
  }
  return true;
}

/// Takes from the sweep what an option sets to one value: the key itself and all keys below it.
NodePtr pinned(const NodePtr& root, const std::string& key, const NodePtr& value) {
  const Node::Entry* const sweep = root->find("sweep");
  if (sweep == nullptr || sweep->value->kind != Node::Kind::map) return root;
  Node left = *sweep->value;
  std::erase_if(left.entries, [&](const Node::Entry& entry) {
    const std::string& swept = entry.key->text;
    if (swept == key) return true;
    if (!swept.starts_with(key + ".")) return false;
    const std::string below = swept.substr(key.size() + 1);
    if (sets(value.get(), below)) return true;
    fail(value->place,
         fmt::format("{}: found no {}, which is swept ({}); allowed: with {}, or after "
                     "--set 'sweep={{}}'",
                     clean(key), clean(below), base::to_string(entry.key->place), clean(below)));
  });
  const std::array<std::string, 1> path = {"sweep"};
  return with(root, path, std::make_shared<Node>(std::move(left)));
}

}  // namespace

std::string clean(const std::string& text) {
  constexpr std::size_t most = 100;
  const std::string line = base::one_line(text);
  const std::string_view head = base::first_columns(line, most);
  return std::string(head) + (head.size() < line.size() ? "..." : "");
}

std::string quoted(const std::string& text) { return "'" + clean(text) + "'"; }

std::string describe(const Node* node) {
  if (node == nullptr || node->kind == Node::Kind::null) return "nothing";
  if (node->kind == Node::Kind::scalar) return quoted(node->text);
  return node->kind == Node::Kind::list ? "a list" : "a map";
}

const Node::Entry* Node::find(std::string_view key) const {
  if (kind != Kind::map) return nullptr;
  const auto entry = std::ranges::find_if(
      entries, [&](const Entry& e) { return e.key->kind == Kind::scalar && e.key->text == key; });
  return entry == entries.end() ? nullptr : &*entry;
}

Document read_document(const std::string& path, const std::string& kind) {
  Document document{.text = read_text(path, kind), .root = {}};
  document.root = parse(document.text, {path});
  if (!document.root || document.root->kind == Node::Kind::null) {
    document.root = node_of(Node::Kind::map, {path});
  }
  return document;
}

std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(key, '.')) parts.emplace_back(part.begin(), part.end());
  if (key.empty()) parts.emplace_back();
  return parts;
}

NodePtr with(const NodePtr& node, std::span<const std::string> path, const NodePtr& value,
             const std::string& above) {
  if (path.empty()) return value;
  const bool absent = !node || node->kind == Node::Kind::null;
  if (!absent && node->kind != Node::Kind::map) {
    fail(value->place,
         fmt::format("{}: found {}; allowed: {}", clean(above), describe(node.get()),
                     node->kind == Node::Kind::list
                         ? fmt::format("the whole list, --set '{}=[...]'", clean(above))
                         : "a map, which can hold the key " + quoted(path[0])));
  }
  const auto made = absent ? node_of(Node::Kind::map, value->place) : std::make_shared<Node>(*node);
  const Node::Entry* const old = made->find(path[0]);
  // Errors about the key name what gave it or replaced its value.
  const auto key = node_of(Node::Kind::scalar, value->place);
  key->text = path[0];
  const std::string here = above.empty() ? path[0] : above + "." + path[0];
  const Node::Entry entry = {
      old == nullptr || path.size() == 1 ? key : old->key,
      with(old == nullptr ? nullptr : old->value, path.subspan(1), value, here)};
  if (old == nullptr) {
    made->entries.push_back(entry);
  } else {
    made->entries[static_cast<std::size_t>(old - made->entries.data())] = entry;
  }
  return made;
}

NodePtr with_option(const NodePtr& root, const std::string& option, int number) {
  const base::SourcePlace origin{.file = "--set " + (option.empty() ? "''" : clean(option)),
                                 .option = number};
  const auto refuse = [&](const std::string& why) {
    fail(origin, why + "; allowed: key.path=VALUE, such as chunks.count=8");
  };
  const auto equals = option.find('=');
  if (equals == std::string::npos) refuse("found no '='");
  if (equals == 0) refuse("found no key");
  const std::string key = option.substr(0, equals);
  std::vector<std::string> path = parts_of(key);
  if (path[0] == "sweep" && path.size() > 1) path = {path[0], key.substr(path[0].size() + 1)};
  if (std::ranges::find(path, "") != path.end()) refuse("found an empty part in the key");
  if (path.size() > most_parts) refuse(fmt::format("found a key of {} parts", path.size()));
  if (const auto bracket = key.find('['); bracket != std::string::npos) {
    const auto dot = std::min(key.find('.', bracket), key.size());
    fail(origin, fmt::format("{}: found an index; allowed: the whole list, --set '{}=[...]'",
                             clean(key.substr(0, dot)), clean(key.substr(0, bracket))));
  }
  NodePtr value = parse(option.substr(equals + 1), origin);
  if (!value) value = node_of(Node::Kind::null, origin);
  return pinned(with(root, path, value), key, value);
}

std::string name_of(const std::string& path) {
  return base::field_value(std::filesystem::path(path).stem().string());
}

}  // namespace overlap::yaml
