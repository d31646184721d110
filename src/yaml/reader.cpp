#include "yaml/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

#include "base/nearest.hpp"

namespace overlap::yaml {

std::string suggestion(const std::string& found, std::span<const std::string> allowed) {
  const auto match = base::nearest(found, allowed);
  return match ? fmt::format("; did you mean '{}'?", *match) : "";
}

std::string decimal_comma(const std::string& meant) {
  return fmt::format("; a decimal comma is not allowed; did you mean {}?", quoted(meant));
}

std::string Reader::path_of(const std::string& key) const {
  const std::string name = key.empty() ? "''" : clean(key);
  return path_.empty() ? name : path_ + "." + name;
}

base::SourcePlace Reader::place() const {
  return node_ == nullptr || node_->kind == Node::Kind::null ? above_ : node_->place;
}

std::string Reader::origin() const {
  return node_ == nullptr ? "by default" : base::to_string(place());
}

void Reader::fail(const std::string& message) const {
  throw base::Error(base::ExitCode::usage, fmt::format("{}: {}: {}", base::to_string(place()),
                                                       path_.empty() ? kind_ : path_, message));
}

void Reader::fail_allowed(const std::string& allowed) const {
  fail(fmt::format("found {}; allowed: {}", describe(node_), allowed));
}

void Reader::fail_allowed(std::span<const std::string> allowed) const {
  fail_allowed(fmt::format("{}{}", fmt::join(allowed, ", "),
                           is(Node::Kind::scalar) ? suggestion(node_->text, allowed) : ""));
}

void Reader::expect_one(const std::string& a, const std::string& b,
                        const std::string& remedy) const {
  if (!has(a) || !has(b)) return;
  const Reader blamed = latest(a, b);
  const Reader other = at(blamed.path() == at(a).path() ? b : a);
  blamed.fail(fmt::format("found with {} ({}); the two are mutually exclusive{}", other.path(),
                          other.origin(), remedy));
}

std::vector<std::string> Reader::keys() const {
  std::vector<std::string> keys;
  if (!is(Node::Kind::map)) return keys;
  for (const Node::Entry& entry : node_->entries) {
    if (entry.key->kind == Node::Kind::scalar) keys.push_back(entry.key->text);
  }
  return keys;
}

void Reader::expect_keys(std::span<const std::string> allowed) const {
  if (node_ == nullptr) return;
  const std::string list = fmt::format("{}", fmt::join(allowed, ", "));
  if (!is(Node::Kind::map)) fail_allowed("a map with the keys " + list);
  for (const Node::Entry& entry : node_->entries) {
    if (entry.key->kind != Node::Kind::scalar) {
      fail(fmt::format("found {} as a key; allowed: {}", describe(entry.key.get()), list));
    }
    const std::string& key = entry.key->text;
    // The key's own place is the better one for an error about the key.
    const Reader at_key(entry.key, path_of(key), place());
    if (std::ranges::find(allowed, key) == allowed.end()) {
      if (key == "<<") at_key.fail("found a merge key; YAML merge keys are not supported");
      if (entry.value->kind == Node::Kind::null &&
          std::isdigit(static_cast<unsigned char>(key[0]))) {
        fail_comma(static_cast<std::size_t>(&entry - node_->entries.data()));
      }
      at_key.fail(fmt::format("unknown key; allowed: {}{}", list, suggestion(key, allowed)));
    }
    if (const Node::Entry* const first = node_->find(key); first != &entry) {
      at_key.fail(fmt::format("found twice, first at {}; allowed: once",
                              base::to_string(first->key->place)));
    }
  }
}

void Reader::fail_comma(std::size_t item) const {
  const auto& [key, value] = node_->entries[item];
  const Node::Entry* const before = item == 0 ? nullptr : &node_->entries[item - 1];
  if (before == nullptr || before->value->kind != Node::Kind::scalar) return;
  const std::string& whole = before->value->text;
  if (whole.empty() || !std::isdigit(static_cast<unsigned char>(whole.back()))) return;
  at(before->key->text)
      .fail(fmt::format("found {}{}", quoted(whole + "," + key->text),
                        decimal_comma(whole + "." + key->text)));
}

const Node::Entry& Reader::entry(const std::string& key) const {
  static const Node::Entry none;
  const Node::Entry* const found = node_ == nullptr ? nullptr : node_->find(key);
  return found == nullptr ? none : *found;
}

Reader Reader::at(const std::string& key) const {
  const auto& [name, value] = entry(key);
  return {value, path_of(key), name ? name->place : place()};
}

Reader Reader::at_key(const std::string& key) const {
  return {entry(key).key, path_of(key), place()};
}

Reader Reader::at_path(const std::string& keys) const {
  Reader here = *this;
  for (const std::string& part : parts_of(keys)) {
    const auto bracket = std::min(part.find('['), part.size());
    here = here.at(part.substr(0, bracket));
    if (bracket == part.size()) continue;
    std::size_t index = 0;
    std::from_chars(part.data() + bracket + 1, part.data() + part.size(), index);
    here = index < here.size() ? here.items("")[index] : here.at(part);
  }
  return here;
}

Reader Reader::latest(const std::string& a, const std::string& b) const {
  const auto rank = [&](const std::string& key) {
    const base::SourcePlace place = at(key).place();
    return std::tuple(place.option, place.line, place.column);
  };
  return at(rank(a) > rank(b) ? a : b);
}

std::vector<Reader> Reader::items(const std::string& allowed, std::size_t least) const {
  if (!is(Node::Kind::list)) fail_allowed(allowed);
  if (size() < least) fail("found an empty list; allowed: " + allowed);
  std::vector<Reader> readers;
  for (const Node::Entry& entry : node_->entries) {
    readers.push_back({entry.value, fmt::format("{}[{}]", path_, readers.size()), place()});
  }
  return readers;
}

bool Reader::is(const std::string& word) const {
  return is(Node::Kind::scalar) && node_->text == word;
}

std::string Reader::text(const std::string& allowed) const {
  if (!is(Node::Kind::scalar)) fail_allowed(allowed);
  return node_->text;
}

std::string Reader::one_of(std::span<const std::string> allowed) const {
  if (!is(Node::Kind::scalar) || std::ranges::find(allowed, node_->text) == allowed.end()) {
    fail_allowed(allowed);
  }
  return node_->text;
}

}  // namespace overlap::yaml
