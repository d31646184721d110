#include "deck/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/nearest.hpp"
#include "base/units.hpp"

namespace overlap::deck {
namespace {

/// Text from outside as one short line.
std::string clean(const std::string& text) {
  constexpr std::size_t most = 100;
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Cut between characters: bytes 10xxxxxx continue one.
    if (line.size() >= most && (byte & 0xc0) != 0x80) return line + "...";
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

/// What a node is, in the user's words.
std::string describe(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return quoted(node.Scalar());
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    default:
      return "nothing";
  }
}

/// An option as typed.
std::string shown(const std::string& option) {
  return "--set " + (option.empty() ? std::string("''") : clean(option));
}

std::string map_with(std::span<const std::string> keys) {
  return fmt::format("a map with the keys {}", fmt::join(keys, ", "));
}

}  // namespace

std::string suggestion(const std::string& found, std::span<const std::string> allowed) {
  const auto lower = [](std::string text) {
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
  };
  std::vector<std::string> words;
  for (const std::string& word : allowed) words.push_back(lower(word));
  const auto match = base::nearest(lower(found), words);
  if (!match) return "";
  const auto at = std::find(words.begin(), words.end(), *match) - words.begin();
  return fmt::format("; did you mean '{}'?", allowed[static_cast<std::size_t>(at)]);
}

std::string quoted(const std::string& text) { return "'" + clean(text) + "'"; }

std::string Reader::path_of(const std::string& key) const {
  const std::string name = key.empty() ? std::string("''") : clean(key);
  return path_.empty() ? name : path_ + "." + name;
}

std::size_t Reader::override_number() const {
  for (std::size_t i = source_->overrides.size(); i > 0; --i) {
    const std::string& key = source_->overrides[i - 1].first;
    if (path_ == key || path_.starts_with(key + ".") || path_.starts_with(key + "[")) return i;
  }
  return 0;
}

bool Reader::overridden() const { return override_number() > 0; }

base::Place Reader::place() const {
  const auto swept = source_->swept.lower_bound(path_);
  if (swept != source_->swept.end() && swept->first == path_) return swept->second;
  if (const std::size_t i = override_number(); i > 0) {
    return {shown(source_->overrides[i - 1].second)};
  }
  const YAML::Mark mark = node_.Mark();
  // The mark of a value that is not there is the next thing in the file.
  if (!node_.IsDefined() || node_.IsNull() || mark.is_null()) {
    // A sweep makes the maps that its keys are in.
    const bool made = swept != source_->swept.end() && swept->first.starts_with(path_ + ".");
    return made ? swept->second : above_;
  }
  return {source_->file, mark.line + 1, mark.column + 1};
}

void Reader::fail(const std::string& message) const {
  const std::string key = path_.empty() ? source_->kind : path_;
  throw base::Error(base::ExitCode::usage,
                    fmt::format("{}: {}: {}", base::to_string(place()), key, message));
}

void Reader::fail_allowed(const std::string& allowed) const {
  fail(fmt::format("found {}; allowed: {}", describe(node_), allowed));
}

void Reader::fail_allowed(std::span<const std::string> allowed) const {
  fail_allowed(fmt::format("{}{}", fmt::join(allowed, ", "),
                           node_.IsScalar() ? suggestion(node_.Scalar(), allowed) : ""));
}

std::vector<std::string> Reader::keys() const {
  std::vector<std::string> keys;
  if (!node_.IsMap()) return keys;
  for (const auto& entry : node_) {
    if (entry.first.IsScalar()) keys.push_back(entry.first.Scalar());
  }
  return keys;
}

void Reader::expect_keys(std::span<const std::string> allowed) const {
  if (!node_.IsDefined()) return;
  if (!node_.IsMap()) fail_allowed(map_with(allowed));
  std::map<std::string, base::Place> seen;
  for (const auto& entry : node_) {
    const YAML::Node& key_node = entry.first;
    if (!key_node.IsScalar()) {
      fail(fmt::format("found {} as a key; allowed: {}", describe(key_node),
                       fmt::join(allowed, ", ")));
    }
    const std::string key = key_node.Scalar();
    // The key's own place is the better one for an error about the key.
    const Reader at_key(key_node, path_of(key), *source_, place());
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      if (key == "<<") at_key.fail("found a merge key; allowed: no merging of maps");
      at_key.fail(fmt::format("unknown key; allowed: {}{}", fmt::join(allowed, ", "),
                              suggestion(key, allowed)));
    }
    const auto [first, is_new] = seen.emplace(key, at_key.place());
    if (!is_new) {
      at_key.fail(
          fmt::format("found twice, first at {}; allowed: once", base::to_string(first->second)));
    }
    source_->places[at_key.path()] = at(key).place();
  }
}

void Reader::expect_map(const std::string& allowed) const {
  if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap()) fail_allowed(allowed);
}

bool Reader::has(const std::string& key) const { return at(key).node_.IsDefined(); }

Reader Reader::at(const std::string& key) const {
  return {find(key).second, path_of(key), *source_, at_key(key).place()};
}

Reader Reader::at_key(const std::string& key) const {
  return {find(key).first, path_of(key), *source_, place()};
}

std::pair<YAML::Node, YAML::Node> Reader::find(const std::string& key) const {
  if (node_.IsMap()) {
    for (const auto& entry : node_) {
      if (entry.first.IsScalar() && entry.first.Scalar() == key) return {entry.first, entry.second};
    }
  }
  return {YAML::Node(YAML::NodeType::Undefined), YAML::Node(YAML::NodeType::Undefined)};
}

Reader Reader::latest(const std::string& a, const std::string& b) const {
  const Reader first = at(a);
  const Reader second = at(b);
  if (first.override_number() != second.override_number()) {
    return first.override_number() > second.override_number() ? first : second;
  }
  return first.node_.Mark().pos > second.node_.Mark().pos ? first : second;
}

std::vector<Reader> Reader::items(const std::string& allowed) const {
  if (!node_.IsSequence()) fail_allowed(allowed);
  std::vector<Reader> readers;
  for (std::size_t i = 0; i < node_.size(); ++i) {
    const Reader& item =
        readers.emplace_back(node_[i], fmt::format("{}[{}]", path_, i), *source_, place());
    source_->places[item.path()] = item.place();
  }
  return readers;
}

bool Reader::is(const std::string& word) const {
  return node_.IsScalar() && node_.Scalar() == word;
}

std::string Reader::text(const std::string& allowed) const {
  if (!node_.IsScalar()) fail_allowed(allowed);
  return node_.Scalar();
}

std::string Reader::one_of(std::span<const std::string> allowed) const {
  if (!node_.IsScalar() ||
      std::find(allowed.begin(), allowed.end(), node_.Scalar()) == allowed.end()) {
    fail_allowed(allowed);
  }
  return node_.Scalar();
}

std::int64_t Reader::count(std::int64_t least, std::int64_t most) const {
  constexpr std::int64_t suffixes_help = std::int64_t{1} << 30;
  const std::string allowed = fmt::format("a whole number from {} to {}{}", least, most,
                                          most > suffixes_help ? ", such as 4096 or 16 Mi" : "");
  const auto value = base::parse_count(text(allowed));
  if (!value || *value < least || *value > most) fail_allowed(allowed);
  return *value;
}

std::int64_t Reader::bytes(std::int64_t least, const std::string& alternative) const {
  const std::string allowed =
      fmt::format("{}{}a size of at least {} B, such as 65536, 16 MiB or 2 GB", alternative,
                  alternative.empty() ? "" : " or ", least);
  const std::string found = text(allowed);
  const auto value = base::parse_bytes(found);
  if (!value || *value < least) {
    const std::vector<std::string> words = {alternative};
    fail_allowed(allowed + (alternative.empty() ? "" : suggestion(found, words)));
  }
  return *value;
}

double Reader::number(const std::string& allowed, double least) const {
  const std::string found = text(allowed);
  double value = 0;
  const char* const end = found.data() + found.size();
  const auto parsed = std::from_chars(found.data(), end, value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == end;
  if (!whole || !std::isfinite(value) || value < least) fail_allowed(allowed);
  return value;
}

double Reader::seconds(const std::string& allowed, double least, double most) const {
  const auto value = base::parse_seconds(text(allowed));
  if (!value || *value < least || *value > most) fail_allowed(allowed);
  return *value;
}

double Reader::bandwidth() const {
  const std::string allowed = "a bandwidth from 1 B/s to 1000 TB/s, such as 5.04 GB/s";
  const auto value = base::parse_bandwidth(text(allowed));
  if (!value || *value < 1 || *value > 1e15) fail_allowed(allowed);
  return *value;
}

bool Reader::flag() const {
  const std::vector<std::string> allowed = {"true", "false"};
  return one_of(allowed) == "true";
}

std::string Reader::line() const {
  const std::string allowed = "one line of text";
  std::string line = text(allowed);
  // A block scalar ends in a line break.
  while (line.ends_with('\n')) line.pop_back();
  const bool control = std::any_of(line.begin(), line.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control) fail_allowed(allowed);
  return line;
}

void apply_override(YAML::Node& root, const std::string& option, Reader::Source& source) {
  const auto fail = [&](const std::string& why) {
    throw base::Error(base::ExitCode::usage, shown(option) + ": " + why);
  };
  constexpr const char* form = "allowed: key.path=VALUE, such as chunks.count=8";
  const auto equals = option.find('=');
  if (equals == std::string::npos) fail(fmt::format("found no '='; {}", form));
  if (equals == 0) fail(fmt::format("found no key; {}", form));
  const std::string path = option.substr(0, equals);
  YAML::Node value;
  try {
    value = YAML::Load(option.substr(equals + 1));
  } catch (const YAML::Exception& error) {
    fail("the value is not YAML: " + error.msg);
  }
  // yaml-cpp nodes are references: `node` walks down without copying the document.
  YAML::Node node = root;
  std::string changed;  // the shortest key that is made or replaced
  for (std::size_t begin = 0;;) {
    // What stands below `sweep` is one dotted key.
    const std::size_t dot =
        path.substr(0, begin) == "sweep." ? std::string::npos : path.find('.', begin);
    const std::string here = path.substr(0, dot);
    const std::string key = here.substr(begin);
    if (key.empty()) fail(fmt::format("found an empty part in the key; {}", form));
    if (const auto bracket = key.find('['); bracket != std::string::npos) {
      fail(fmt::format("{}: found an index; allowed: a list as a whole, --set '{}=[...]'",
                       clean(here), clean(here.substr(0, begin + bracket))));
    }
    if (node.IsDefined() && !node.IsNull() && !node.IsMap()) {
      const std::string above = clean(path.substr(0, begin == 0 ? 0 : begin - 1));
      fail(fmt::format(
          "{}: found {}; allowed: a map, to hold the key {}{}", above, describe(node), quoted(key),
          node.IsSequence() ? fmt::format(", or a list as a whole, --set '{}=[...]'", above) : ""));
    }
    if (dot == std::string::npos) {
      node[key] = value;
      if (changed.empty()) changed = here;
      break;
    }
    YAML::Node child = node[key];
    if (!child.IsDefined() || child.IsNull()) {
      node[key] = YAML::Node(YAML::NodeType::Map);
      child.reset(node[key]);
      if (changed.empty()) changed = here;
    }
    node.reset(child);
    begin = dot + 1;
  }
  source.overrides.emplace_back(changed, option);
}

}  // namespace overlap::deck
