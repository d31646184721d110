#include "describe/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace overlap::describe {
namespace {

using Names = std::vector<std::string>;

/// Visits the keys that a map has with one word of its selector.
class Keys : public Visitor {
 public:
  using Callback = std::function<void(const Key&, const Value&)>;

  explicit Keys(Callback on_key = {}, std::optional<std::size_t> word_index = {})
      : on_key_(std::move(on_key)), word_index_(word_index) {}
  /// With the word that the map has, if any.
  explicit Keys(const Reader& map) : map_(&map) {}

  Names names;
  std::string selector;  ///< empty: none
  bool required = false;
  Names words;       ///< of the selector
  std::string word;  ///< that the selector has now

 private:
  void field(const Key& key, const Value& value) override {
    names.emplace_back(key.name);
    if (on_key_) on_key_(key, value);
  }
  std::optional<std::size_t> select(const Key& key, const Value& value) override {
    selector = key.name;
    required = key.missing.error;
    words = value.values().words;
    if (map_ != nullptr && map_->at_path(selector).exists()) value.read(map_->at_path(selector));
    word = word_index_ ? words[*word_index_] : value.write().get<std::string>();
    return word_index_;
  }

  Callback on_key_;
  std::optional<std::size_t> word_index_;
  const Reader* map_ = nullptr;
};

/// The keys with every word of the selector.
struct AllKeys {
  Names names;                                ///< in the order of the description
  std::string selector;                       ///< empty: none
  Names words;                                ///< of the selector
  std::map<std::string, Names> words_by_key;  ///< with which a key is there

  bool needs_word(const std::string& key) const {
    return words_by_key.at(key).size() < words.size();
  }
};

/// Calls `on_key` for the keys with every word of the selector, which keeps the last one.
AllKeys all_keys(const Body& body, const Keys::Callback& on_key = {}) {
  Keys first;
  body(first);
  AllKeys result{.selector = first.selector, .words = first.words};
  for (std::size_t i = 0; i < std::max<std::size_t>(first.words.size(), 1); ++i) {
    Keys keys(on_key, first.words.empty() ? std::nullopt : std::optional(i));
    body(keys);
    // Keys that are new stand before the next one that is not.
    auto next = result.names.end();
    for (auto name = keys.names.rbegin(); name != keys.names.rend(); ++name) {
      const auto earlier = std::ranges::find(result.names, *name);
      next = earlier != result.names.end() ? earlier : result.names.insert(next, *name);
      result.words_by_key[*name].push_back(keys.word);
    }
  }
  return result;
}

/// Requires a map with allowed keys. Reads the selector, which decides which keys those are.
void expect_allowed_keys(const Reader& map, const Body& body) {
  if (!map.exists()) return;
  Keys keys(map);
  body(keys);
  const auto is_allowed = [&](const std::string& name) {
    return std::ranges::find(keys.names, name) != keys.names.end();
  };
  const Names names = map.keys();
  if (map.is_map() && std::ranges::all_of(names, is_allowed)) return;
  const bool is_decided = keys.required && map.has(keys.selector);
  const AllKeys all_words = all_keys(body);
  const Names& allowed = is_decided ? keys.names : all_words.names;
  const std::string list = fmt::format("{}", fmt::join(allowed, ", "));
  if (!map.is_map()) map.fail_allowed("a map with the keys " + list);
  for (const std::string& name : names) {
    if (is_allowed(name)) continue;
    if (name == "<<") map.fail_at_key(name, "found a merge key; YAML merge keys are not supported");
    const auto entry = all_words.words_by_key.find(name);
    if (entry == all_words.words_by_key.end()) {
      map.fail_at_key(name,
                      fmt::format("unknown key; allowed: {}{}", list, suggestion(name, allowed)));
    }
    if (keys.required && !is_decided) continue;
    map.fail_at_key(name, fmt::format("found with {} {} ({}); allowed: with {} {}", keys.selector,
                                      keys.word, map.at_path(keys.selector).origin(), keys.selector,
                                      fmt::join(entry->second, ", ")));
  }
}

class ReadingVisitor : public Visitor {
 public:
  explicit ReadingVisitor(const Reader& map) : map_(map) {}
  const Reader* reader() const override { return &map_; }

 private:
  void field(const Key& key, const Value& value) override {
    const Reader at = map_.at(std::string(key.name));
    const bool in_result = map_.document().json && !value.may_miss();
    if (at.exists() || in_result || (value.is_map() && !value.may_miss())) {
      value.read(at);
    } else if (key.missing.error) {
      at.fail_allowed(value.values().allowed);
    }
  }

  const Reader& map_;
};

class WritingVisitor : public Visitor {
 public:
  Json map = Json::object();

 private:
  void field(const Key& key, const Value& value) override {
    Json written = value.write();
    if (!written.is_null() || !value.may_miss()) map[std::string(key.name)] = std::move(written);
  }
};

std::string as_comment(std::string_view lines) {
  return lines.empty() ? "" : "# " + base::replaced(lines, "\n", "\n# ");
}

bool is_list_of_maps(const Json& value) {
  return value.is_array() && !value.empty() && value[0].is_object();
}

/// The items of a map or list of maps, one per line; of a list those with many keys as blocks.
std::string lines_of(const Json& value, const std::string& indent) {
  constexpr std::size_t block_keys = 8;
  std::string text;
  for (const auto& [key, item] : value.items()) {
    const std::string name = value.is_array() ? "- " : key + ":";
    if (is_list_of_maps(item)) {
      text += fmt::format("{}{}\n{}", indent, name, lines_of(item, indent + "  "));
    } else if (value.is_array() && item.size() >= block_keys) {
      text += indent + name + lines_of(item, indent + "  ").substr(indent.size() + 2);
    } else {
      text += indent + name + (value.is_array() ? "" : " ") + spell(item, true) + "\n";
    }
  }
  return text;
}

class YamlVisitor : public Visitor {
 public:
  explicit YamlVisitor(std::string indent) : indent_(std::move(indent)) {}
  std::string text;

 private:
  void field(const Key& key, const Value& value) override {
    const Json written = value.write();
    if (written.is_null()) return;
    const std::string comment = as_comment(key.help);
    const std::string indent = indent_ + "  ";
    if (value.is_map() && indent_.empty()) {
      YamlVisitor part(indent);
      value.visit(part);
      text += fmt::format("\n{}\n{}:\n{}", comment, key.name, part.text);
    } else if (std::ranges::any_of(written, [](const Json& item) {
                 return item.is_object() || is_list_of_maps(item);
               })) {
      text += fmt::format("{}{}:{}{}\n{}", indent_, key.name, comment.empty() ? "" : "  ", comment,
                          lines_of(written, indent));
    } else {
      text += fmt::format("{}{}: {}{}{}\n", indent_, key.name, spell(written, true),
                          comment.empty() ? "" : "  ", comment);
    }
  }

  std::string indent_;
};

}  // namespace

void read_map(const Reader& map, const Body& body) {
  if (!map.document().json) {
    expect_allowed_keys(map, body);
  } else if (!map.is_map()) {
    map.fail_allowed("a map");
  }
  ReadingVisitor reading(map);
  body(reading);
}

Json write_map(const Body& body) {
  WritingVisitor writing;
  body(writing);
  return std::move(writing.map);
}

Values map_values(const Body& body) {
  Json properties = Json::object();
  Names needed;
  const AllKeys keys = all_keys(body, [&](const Key& key, const Value& value) {
    const std::string name(key.name);
    if (properties.contains(name)) return;
    properties[name] = {{"description", key.help}};
    properties[name].update(value.values().schema);
    if (!value.may_miss()) needed.push_back(name);
  });
  Json always = Json::array(), by_word = Json::object();  // keys by word of the selector
  for (const std::string& name : needed) {
    if (!keys.needs_word(name)) always.push_back(name);
    for (const std::string& word : keys.words_by_key.at(name)) {
      if (keys.needs_word(name)) by_word[word].push_back(name);
    }
  }
  Json schema = {{"type", "object"}, {"required", always}, {"properties", properties}};
  for (const auto& [word, names] : by_word.items()) {
    const Json has_word = {{"properties", {{keys.selector, {{"const", word}}}}}};
    schema["allOf"].push_back({{"if", has_word}, {"then", {{"required", names}}}});
  }
  return {fmt::format("a map with the keys {}", fmt::join(keys.names, ", ")), std::move(schema)};
}

std::string map_to_yaml(const Body& body, const std::string& heading) {
  YamlVisitor lines("");
  body(lines);
  return as_comment(heading) + (heading.empty() ? "" : "\n") + lines.text;
}

std::string map_reference(const Body& body) {
  std::map<std::string, std::string, std::less<>> rows;
  const AllKeys keys = all_keys(body, [&](const Key& key, const Value& value) {
    const Values values = value.values();
    const std::string written = value.is_map() ? "" : spell(value.write());
    const std::string fallback = !key.missing.documented.empty()
                                     ? std::string(key.missing.documented)
                                 : written.empty() ? ""
                                                   : "`" + written + "`";
    rows.emplace(key.name, fmt::format("| `{}` | {} | {} | {} | {}", key.name,
                                       value.is_map() ? "a map, see below" : values.allowed,
                                       fallback, values.unit, key.help));
  });
  std::string text =
      "| key | values | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const std::string& name : keys.names) {
    text += rows.at(name);
    if (keys.needs_word(name)) {
      text += fmt::format(" Only with {} {}.", keys.selector,
                          fmt::join(keys.words_by_key.at(name), ", "));
    }
    text += " |\n";
  }
  return text;
}

}  // namespace overlap::describe
