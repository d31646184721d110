#include "describe/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

namespace overlap::describe {
namespace {

[[noreturn]] void fail_at(const base::SourcePlace& place, const Document& document,
                          const std::string& path, const std::string& message) {
  throw base::Error(document.json ? base::ExitCode::runtime_error : base::ExitCode::usage,
                    fmt::format("{}: {}: {}", base::to_string(place),
                                path.empty() ? document.kind : path, message));
}

}  // namespace

void Reader::fail(const std::string& message) const {
  fail_at(place(), *document_, path_, message);
}

void Reader::fail_at_key(const std::string& key, const std::string& message) const {
  const std::string path = path_of(path_, key);
  fail_at(document_->key_place(path), *document_, path, message);
}

void Reader::fail_allowed(const std::string& allowed) const {
  fail(fmt::format("found {}; allowed: {}", found(value_), allowed));
}

void Reader::fail_allowed(std::span<const std::string> allowed) const {
  fail_allowed(
      fmt::format("{}{}", fmt::join(allowed, ", "), is_text() ? suggestion(text(), allowed) : ""));
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
  if (!is_map()) return keys;
  for (const auto& [key, value] : value_->items()) keys.push_back(key);
  return keys;
}

void Reader::expect_keys(std::span<const std::string> allowed) const {
  if (!exists()) return;
  const std::string list = fmt::format("{}", fmt::join(allowed, ", "));
  if (!is_map()) fail_allowed("a map with the keys " + list);
  for (const std::string& key : keys()) {
    if (std::ranges::find(allowed, key) != allowed.end()) continue;
    if (at(key).is_null()) expect_no_comma(key);
    if (key == "<<") fail_at_key(key, "found a merge key; YAML merge keys are not supported");
    fail_at_key(key, fmt::format("unknown key; allowed: {}{}", list, suggestion(key, allowed)));
  }
}

void Reader::expect_no_comma(const std::string& key) const {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const std::vector<std::string> names = keys();
  const auto here = std::ranges::find(names, key);
  if (here == names.begin() || key.empty() || !is_digit(key[0])) return;
  const Reader before = at(here[-1]);
  const std::string text = before.is_text() ? before.text() : "";
  if (text.empty() || !is_digit(text.back())) return;
  before.fail(fmt::format("found {}{}", quoted(text + "," + key), decimal_comma(text + "." + key)));
}

Reader Reader::at(const std::string& key) const {
  const Json* const value = has(key) ? &(*value_)[key] : nullptr;
  return {*document_, value, path_of(path_, key)};
}

Reader Reader::item(std::size_t number) const {
  return {*document_, &(*value_)[number], fmt::format("{}[{}]", path_, number)};
}

Reader Reader::at_path(const std::string& keys) const {
  Reader here = *this;
  for (const std::string& part : parts_of(keys)) {
    const auto bracket = std::min(part.find('['), part.size());
    here = here.at(part.substr(0, bracket));
    if (bracket == part.size()) continue;
    std::size_t number = 0;
    std::from_chars(part.data() + bracket + 1, part.data() + part.size(), number);
    here = here.is_list() && number < here.size() ? here.item(number) : here.at(part);
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

std::vector<Reader> Reader::items(std::string_view allowed, std::size_t least) const {
  if (!is_list()) fail_allowed(std::string(allowed));
  if (size() < least) fail(fmt::format("found an empty list; allowed: {}", allowed));
  std::vector<Reader> readers;
  for (std::size_t i = 0; i < size(); ++i) readers.push_back(item(i));
  return readers;
}

std::string Reader::text(const std::string& allowed) const {
  if (!is_text()) fail_allowed(allowed);
  return *value_;
}

std::string Reader::one_of(std::span<const std::string> allowed) const {
  if (!is_text() || std::ranges::find(allowed, text()) == allowed.end()) fail_allowed(allowed);
  return *value_;
}

}  // namespace overlap::describe
