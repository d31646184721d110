#include "describe/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ranges>

#include "base/text.hpp"

namespace overlap::describe {
namespace {

/// Whether a path is that of a value or leads into it.
bool is_in(std::string_view path, std::string_view value) {
  return path.starts_with(value) &&
         (path.size() == value.size() || path[value.size()] == '.' || path[value.size()] == '[');
}

base::SourcePlace source(const Document& document, const Document::Place& place) {
  return {document.origins[static_cast<std::size_t>(place.origin)], place.line, place.column,
          place.origin};
}

/// The place that a change gave to a path; null: none.
const Document::Place* changed(const Document& document, std::string_view path) {
  for (const auto& [value, place] : document.changes | std::views::reverse) {
    if (is_in(path, value)) return &place;
  }
  return nullptr;
}

/// Places in the file; null: none.
const Document::Places* in_file(const Document& document, const std::string& path) {
  if (!document.places) return nullptr;
  const auto found = document.places->find(path);
  return found == document.places->end() ? nullptr : &found->second;
}

/// The place of the value at a path or, without one, of its key or what it would lie in.
Document::Place find(const Document& document, std::string path) {
  while (true) {
    if (const Document::Place* const place = changed(document, path)) return *place;
    if (const Document::Places* const places = in_file(document, path)) {
      return places->value.line > 0 ? places->value : places->key;
    }
    if (path.empty()) return {};
    path.resize(std::min(path.find_last_of(".["), path.size()) % path.size());  // none: to 0
  }
}

/// Whether YAML reads it as this text without quotes, also in braces, and not as a date.
bool is_plain(const std::string& text) {
  if (text.empty() || text == "null" || text.back() == ' ') return false;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  const bool letter = std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  const std::string_view signs = letter ? " %/+-" : " %/+";
  return is_word(text.front()) && std::ranges::all_of(text, [&](char c) {
           return is_word(c) || signs.find(c) != signs.npos;
         });
}

/// Optimal string alignment distance, ignoring case: insert, delete, replace, swap neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto equal = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(a[i])) ==
           std::tolower(static_cast<unsigned char>(b[j]));
  };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      d[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t replaced = d[i - 1][j - 1] + (equal(i - 1, j - 1) ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && equal(i - 1, j - 2) && equal(i - 2, j - 1);
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

[[noreturn]] void fail_at(const base::SourcePlace& place, const Document& document,
                          const std::string& path, const std::string& message) {
  throw base::Error(document.json ? base::ExitCode::runtime_error : base::ExitCode::usage,
                    fmt::format("{}: {}: {}", base::to_string(place),
                                path.empty() ? document.kind : path, message));
}

}  // namespace

base::SourcePlace Document::place(const std::string& path) const {
  return source(*this, find(*this, path));
}

base::SourcePlace Document::key_place(const std::string& path) const {
  const Places* const found = in_file(*this, path);
  return found != nullptr && changed(*this, path) == nullptr ? source(*this, found->key)
                                                             : place(path);
}

void Document::set(const std::string& key, Json value, const std::string& origin) {
  const Place option{.origin = static_cast<int>(origins.size()) - 1};
  const Place place = origin.empty() ? option : find(*this, origin);
  std::vector<std::string> parts = split_key(key);
  if (parts[0] == "sweep" && parts.size() > 1) parts = {parts[0], key.substr(6)};
  constexpr std::size_t most_parts = 8;  // more are a nesting that no deck has
  if (parts.size() > most_parts || std::ranges::find(parts, "") != parts.end()) {
    fail_at(source(*this, place), *this, clean(key),
            "found no key of a deck; allowed: key.path, such as chunks.count");
  }
  Json* node = &root;
  std::string path, new_path;
  for (const std::string& part : parts) {
    if (node->is_null()) *node = Json::object();
    if (!node->is_object()) {
      fail_at(source(*this, place), *this, clean(path),
              fmt::format("found {}; allowed: a map, which can hold the key {}", found(node),
                          quoted(part)));
    }
    path = path_of(path, part);
    node = &(*node)[part];
    if (new_path.empty() && node->is_null()) new_path = path;
  }
  *node = std::move(value);
  changes.emplace_back(new_path.empty() ? path : new_path, place);
}

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

void Reader::expect_one(const std::string& a, const std::string& b) const {
  if (!has(a) || !has(b)) return;
  const bool first = at(a).place().option > at(b).place().option;
  const Reader blamed = at(first ? a : b), other = at(first ? b : a);
  const std::string remedy =
      blamed.place().option == 0
          ? ""
          : fmt::format("; replace both, as in --set '{}={{{}: ...}}'", path_, first ? a : b);
  blamed.fail(fmt::format("found with {} ({}); the two are mutually exclusive{}", other.path(),
                          other.origin(), remedy));
}

std::vector<std::string> Reader::keys() const {
  std::vector<std::string> keys;
  if (!is_map()) return keys;
  for (const auto& [key, value] : value_->items()) keys.push_back(key);
  return keys;
}

Reader Reader::at(const std::string& key) const {
  const Json* const value = has(key) ? &(*value_)[key] : nullptr;
  return {*document_, value, path_of(path_, key)};
}

Reader Reader::item(std::size_t number) const {
  return {*document_, &(*value_)[number], fmt::format("{}[{}]", path_, number)};
}

Reader Reader::at_path(const std::string& keys) const {
  Reader reader = *this;
  for (const std::string& part : split_key(keys)) reader = reader.at(part);
  return reader;
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

std::string path_of(const std::string& above, const std::string& key) {
  const std::string name = key.empty() ? "''" : clean(key);
  return above.empty() ? name : above + "." + name;
}

std::vector<std::string> split_key(const std::string& key) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(key, '.')) parts.emplace_back(part.begin(), part.end());
  if (key.empty()) parts.emplace_back();
  return parts;
}

Json value_at(const Json& map, std::string key) {
  std::ranges::replace(key, '.', '/');
  const Json::json_pointer place("/" + key);
  return map.contains(place) ? map.at(place) : Json();
}

std::string spell(const Json& value, bool for_file) {
  if (value.is_null()) return "";
  if (value.is_string()) {
    const std::string text = value;
    return for_file && !is_plain(text) ? value.dump(-1, ' ', false, Json::error_handler_t::replace)
                                       : text;
  }
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::vector<std::string> parts;
  for (const auto& [key, item] : value.items()) {
    parts.push_back((value.is_object() ? key + ": " : "") + spell(item, for_file));
  }
  const std::string list = fmt::format("{}", fmt::join(parts, ", "));
  return value.is_object() ? "{" + list + "}" : "[" + list + "]";
}

std::string found(const Json* value) {
  if (value == nullptr || value->is_null()) return "nothing";
  if (value->is_structured()) return value->is_array() ? "a list" : "a map";
  return value->is_string() ? quoted(value->get<std::string>()) : value->dump();
}

std::string clean(const std::string& text) {
  constexpr std::size_t most = 100;
  const std::string line = base::one_line(text);
  const std::string_view head = base::first_columns(line, most);
  return std::string(head) + (head.size() < line.size() ? "..." : "");
}

std::string quoted(const std::string& text) { return "'" + clean(text) + "'"; }

std::string suggestion(const std::string& text, std::span<const std::string> allowed) {
  const std::string* best = nullptr;
  std::size_t least = 0;
  for (const std::string& word : allowed) {
    const std::size_t most = std::max<std::size_t>(1, word.size() / 3);
    const auto [shorter, longer] = std::minmax({text.size(), word.size()});
    constexpr std::size_t enough = 3;
    const bool begins =
        shorter >= enough && distance(text.substr(0, shorter), word.substr(0, shorter)) == 0;
    // Each edit changes the length by one at most: a huge text is not worth its table.
    if (!begins && text.size() > word.size() + most) continue;
    const std::size_t edits = begins ? longer - shorter : distance(text, word);
    if ((edits > most && !begins) || (best != nullptr && edits >= least)) continue;
    best = &word;
    least = edits;
  }
  return best != nullptr && *best != text ? fmt::format("; did you mean '{}'?", *best) : "";
}

std::string name_of(const std::string& path) {
  return base::field_value(std::filesystem::path(path).stem().string());
}

}  // namespace overlap::describe
