#include "yaml/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/nearest.hpp"

namespace overlap::yaml {

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

std::string Reader::path_of(const std::string& key) const {
  const std::string name = key.empty() ? std::string("''") : clean(key);
  return path_.empty() ? name : path_ + "." + name;
}

const Mark& Reader::mark() const {
  return node_ == nullptr || node_->kind == Node::Kind::null ? above_ : node_->mark;
}

std::string Reader::origin() const {
  return node_ == nullptr ? "by default" : base::to_string(place());
}

void Reader::fail(const std::string& message) const {
  const std::string& key = path_.empty() ? above_.origin->kind : path_;
  throw base::Error(base::ExitCode::usage,
                    fmt::format("{}: {}: {}", base::to_string(place()), key, message));
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
  std::map<std::string, base::SourcePlace> seen;
  for (const Node::Entry& entry : node_->entries) {
    if (entry.key->kind != Node::Kind::scalar) {
      fail(fmt::format("found {} as a key; allowed: {}", describe(entry.key.get()), list));
    }
    const std::string& key = entry.key->text;
    // The key's own place is the better one for an error about the key.
    const Reader at_key(entry.key.get(), path_of(key), mark());
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      if (key == "<<") at_key.fail("found a merge key; YAML merge keys are not supported");
      at_key.fail(fmt::format("unknown key; allowed: {}{}", list, suggestion(key, allowed)));
    }
    const auto [first, is_new] = seen.emplace(key, at_key.place());
    if (!is_new) {
      at_key.fail(
          fmt::format("found twice, first at {}; allowed: once", base::to_string(first->second)));
    }
  }
}

Reader Reader::at(const std::string& key) const {
  const Node::Entry* const entry = node_ == nullptr ? nullptr : node_->find(key);
  if (entry == nullptr) return {nullptr, path_of(key), mark()};
  return {entry->value.get(), path_of(key), entry->key->mark};
}

Reader Reader::at_key(const std::string& key) const {
  const Node::Entry* const entry = node_ == nullptr ? nullptr : node_->find(key);
  return {entry == nullptr ? nullptr : entry->key.get(), path_of(key), mark()};
}

Reader Reader::latest(const std::string& a, const std::string& b) const {
  const Reader first = at(a);
  const Reader second = at(b);
  const auto rank = [](const Reader& reader) {
    const Mark& mark = reader.mark();
    return std::tuple(mark.origin->option, mark.line, mark.column);
  };
  return rank(first) > rank(second) ? first : second;
}

std::vector<Reader> Reader::items(const std::string& allowed) const {
  if (!is(Node::Kind::list)) fail_allowed(allowed);
  std::vector<Reader> readers;
  readers.reserve(size());
  for (const Node::Entry& entry : node_->entries) {
    readers.push_back(
        {entry.value.get(), fmt::format("{}[{}]", path_, readers.size()), node_->mark});
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
  if (!is(Node::Kind::scalar) ||
      std::find(allowed.begin(), allowed.end(), node_->text) == allowed.end()) {
    fail_allowed(allowed);
  }
  return node_->text;
}

}  // namespace overlap::yaml
