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

std::string suggestion(const std::string& found, std::span<const std::string> allowed) {
  const auto match = base::nearest(found, allowed);
  return match ? fmt::format("; did you mean '{}'?", *match) : std::string();
}

/// What a node is, in the user's words.
std::string describe(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return fmt::format("'{}'", node.Scalar());
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    default:
      return "nothing";
  }
}

}  // namespace

base::Place Reader::place() const {
  for (const auto& [key, option] : source_->overrides) {
    if (path_ == key || path_.starts_with(key + ".") || path_.starts_with(key + "[")) {
      return {"--set " + option};
    }
  }
  const YAML::Mark mark = node_.Mark();
  if (mark.is_null()) return {source_->file};
  return {source_->file, mark.line + 1, mark.column + 1};
}

void Reader::fail(const std::string& message) const {
  const std::string key = path_.empty() ? std::string("deck") : path_;
  throw base::Error(base::ExitCode::usage,
                    fmt::format("{}: {}: {}", base::to_string(place()), key, message));
}

void Reader::fail_allowed(const std::string& found, std::span<const std::string> allowed) const {
  fail(fmt::format("found '{}'; allowed: {}{}", found, fmt::join(allowed, ", "),
                   suggestion(found, allowed)));
}

void Reader::expect_keys(std::span<const std::string> allowed) const {
  if (!node_.IsDefined()) return;
  if (!node_.IsMap()) {
    fail(fmt::format("found {}; allowed: a map with the keys {}", describe(node_),
                     fmt::join(allowed, ", ")));
  }
  std::vector<std::string> seen;
  for (const auto& entry : node_) {
    const YAML::Node& key_node = entry.first;
    if (!key_node.IsScalar()) fail("found a key that is no plain word");
    const std::string key = key_node.Scalar();
    // The key's own place is the better one for an error about the key.
    const Reader at_key(key_node, path_.empty() ? key : path_ + "." + key, *source_);
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      at_key.fail(fmt::format("unknown key; allowed: {}{}", fmt::join(allowed, ", "),
                              suggestion(key, allowed)));
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      at_key.fail("the key is given twice");
    }
    seen.push_back(key);
    source_->places[at_key.path()] = Reader(entry.second, at_key.path(), *source_).place();
  }
}

bool Reader::has(const std::string& key) const {
  return node_.IsDefined() && node_.IsMap() && node_[key].IsDefined();
}

Reader Reader::at(const std::string& key) const {
  const std::string path = path_.empty() ? key : path_ + "." + key;
  if (!has(key)) return Reader(YAML::Node(YAML::NodeType::Undefined), path, *source_);
  return Reader(node_[key], path, *source_);
}

std::vector<Reader> Reader::items() const {
  if (!node_.IsSequence()) fail(fmt::format("found {}; allowed: a list [...]", describe(node_)));
  std::vector<Reader> readers;
  for (std::size_t i = 0; i < node_.size(); ++i) {
    readers.emplace_back(node_[i], fmt::format("{}[{}]", path_, i), *source_);
  }
  return readers;
}

std::string Reader::text() const {
  if (!node_.IsScalar()) fail(fmt::format("found {}; allowed: a single value", describe(node_)));
  return node_.Scalar();
}

std::int64_t Reader::count(std::int64_t least, std::int64_t most) const {
  const std::string found = text();
  const auto value = base::parse_count(found);
  if (!value || *value < least || *value > most) {
    const std::string range =
        most == std::numeric_limits<std::int64_t>::max()
            ? fmt::format("a whole number of at least {}", least)
            : fmt::format("a whole number from {} to {}", least, most);
    fail(fmt::format("found '{}'; allowed: {}", found, range));
  }
  return *value;
}

std::int64_t Reader::bytes(std::int64_t least) const {
  const std::string found = text();
  const auto value = base::parse_bytes(found);
  if (!value || *value < least) {
    fail(fmt::format(
        "found '{}'; allowed: a size of at least {} B, such as 65536, 16 MiB or 2 GB", found,
        least));
  }
  return *value;
}

double Reader::number() const {
  const std::string found = text();
  double value = 0;
  const auto parsed = std::from_chars(found.data(), found.data() + found.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != found.data() + found.size() ||
      !std::isfinite(value)) {
    fail(fmt::format("found '{}'; allowed: a number", found));
  }
  return value;
}

void apply_override(YAML::Node& root, const std::string& option, Reader::Source& source) {
  const auto fail = [&](const std::string& why) {
    throw base::Error(base::ExitCode::usage, fmt::format("--set {}: {}", option, why));
  };
  const auto equals = option.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail("found no 'key.path=VALUE'; for example --set chunks.count=8");
  }
  const std::string path = option.substr(0, equals);
  YAML::Node value;
  try {
    value = YAML::Load(option.substr(equals + 1));
  } catch (const YAML::Exception& error) {
    fail("the value is not YAML: " + error.msg);
  }
  // yaml-cpp nodes are references: `node` walks down without copying the document.
  YAML::Node node = root;
  std::size_t begin = 0;
  while (true) {
    const std::size_t dot = path.find('.', begin);
    const std::string key = path.substr(begin, dot == std::string::npos ? dot : dot - begin);
    if (key.empty()) fail("the key has an empty part");
    if (node.IsDefined() && !node.IsNull() && !node.IsMap()) {
      fail(fmt::format("'{}' holds no keys", path.substr(0, begin == 0 ? 0 : begin - 1)));
    }
    if (dot == std::string::npos) {
      node[key] = value;
      break;
    }
    YAML::Node child = node[key];
    if (!child.IsDefined() || child.IsNull()) {
      node[key] = YAML::Node(YAML::NodeType::Map);
      child.reset(node[key]);
    }
    node.reset(child);
    begin = dot + 1;
  }
  // An override below an earlier one of the same key replaces what that said.
  source.overrides[path] = option;
}

}  // namespace overlap::deck
