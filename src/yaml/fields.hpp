#pragma once

#include <memory>

#include "yaml/kinds.hpp"

/// Field tables: one row per key of a map, which reads, writes and documents it.
namespace overlap::yaml {

/// A row: a key of a map that is stored in an S.
template <class S>
struct Field {
  std::string key;
  std::string help;    ///< meaning, a sentence
  std::string values;  ///< allowed values
  std::string unit;
  Json schema;
  /// Reads the key, which may be missing, from the map. Throws Error{usage}.
  std::function<void(const Reader&, S&)> read;
  std::function<Json(const S&)> write;  ///< null: not written
  bool may_miss = false;                ///< may be omitted when written
  bool needed = false;                  ///< required, has no default
  std::string fallback;                 ///< documented default, if not that of S
  std::vector<std::string> when;     ///< words of the selector with which it is valid; empty: all
  std::vector<std::string> selects;  ///< of a selector: its words
  std::function<std::string(const S&)> chosen;  ///< of a selector: its current word
  /// Of a key with a nested map: its indented lines.
  std::function<std::string(const S&, const std::string&)> block;

  void take(const Reader& map, S& s) const {
    if (needed && !map.has(key)) map.at(key).fail_allowed(values);
    if (read) read(map, s);
  }
  Json value(const S& s) const { return write ? write(s) : Json(); }

  /// Makes this row the selector, whose word determines the other valid keys.
  template <class Enum>
  Field decides(Enum S::* member) && {
    selects = spellings<Enum>();
    chosen = [=](const S& s) { return std::string(to_string(s.*member)); };
    return std::move(*this);
  }
  /// Restricts the row to these words of the selector.
  template <class Enum>
  Field with(std::initializer_list<Enum> words) && {
    for (const Enum word : words) when.emplace_back(to_string(word));
    return std::move(*this);
  }
  Field defaults_to(const std::string& text) && {
    fallback = text;
    return std::move(*this);
  }
  /// Makes the key required.
  Field required() && {
    needed = true;
    return std::move(*this).defaults_to("required");
  }
  /// Replaces the reader of its kind.
  Field reads(std::function<void(const Reader&, S&)> other) && {
    read = std::move(other);
    return std::move(*this);
  }
};

/// A row for a member of S.
template <class S, class M, class T>
Field<S> field(const std::string& key, M S::* member, const Kind<T>& kind,
               const std::string& help) {
  const auto shared = std::make_shared<const Kind<T>>(kind);
  return {.key = key,
          .help = help,
          .values = kind.values,
          .unit = kind.unit,
          .schema = kind.schema,
          .read =
              [=](const Reader& map, S& s) {
                if (map.has(key)) s.*member = static_cast<M>(shared->read(map.at(key)));
              },
          .write = [=](const S& s) { return shared->write(static_cast<T>(s.*member)); },
          .may_miss = kind.may_miss};
}

/// The rows of a map.
template <class S>
struct Table {
  std::vector<Field<S>> rows;
  Json schema = Json::object();  ///< additional schema

  const Field<S>* selector() const {
    const auto row = std::ranges::find_if(rows, [](const auto& r) { return !!r.chosen; });
    return row == rows.end() ? nullptr : &*row;
  }
  bool has(const Field<S>& row, const S& s) const {
    return row.when.empty() || std::ranges::find(row.when, selector()->chosen(s)) != row.when.end();
  }
  /// The value of a row; null if not written or not valid with the word of the selector.
  Json value(const Field<S>& row, const S& s) const { return has(row, s) ? row.value(s) : Json(); }
  /// The keys valid for `s`, or all.
  std::vector<std::string> keys(const S* s = nullptr) const {
    std::vector<std::string> keys;
    for (const Field<S>& row : rows) {
      if (s == nullptr || has(row, *s)) keys.push_back(row.key);
    }
    return keys;
  }
};

/// Rejects keys that are not valid with the word of the selector. Throws Error{usage}.
template <class S>
void expect_selected(const Table<S>& table, const Reader& map, const S& s) {
  const Field<S>& by = *table.selector();
  const Reader selector = map.at(by.key);
  for (const Field<S>& row : table.rows) {
    if (table.has(row, s) || !map.has(row.key)) continue;
    const Reader key = map.at_key(row.key);
    if (!by.needed) {
      key.fail(fmt::format("found with {} {} ({}); allowed: with {} {}", by.key, by.chosen(s),
                           selector.origin(), by.key, fmt::join(row.when, ", ")));
    }
    key.fail(fmt::format("found a key of {}, not of {}{}; allowed: {}",
                         fmt::join(row.when, " and "), by.chosen(s),
                         selector.overridden() ? " (" + selector.origin() + ")" : "",
                         fmt::join(table.keys(&s), ", ")));
  }
}

/// Reads a map into `s`; missing keys leave their members unchanged. Throws Error{usage}.
template <class S>
void read(const Table<S>& table, const Reader& map, S& s) {
  const Field<S>* const by = table.selector();
  // With a required selector, only keys valid with its word are known.
  const bool by_word = by != nullptr && by->needed && map.has(by->key);
  if (!by_word) map.expect_keys(table.keys());
  if (by != nullptr) {
    by->take(map, s);
    expect_selected(table, map, s);
  }
  if (by_word) map.expect_keys(table.keys(&s));
  for (const Field<S>& row : table.rows) {
    if (&row != by && table.has(row, s)) row.take(map, s);
  }
}

template <class S>
Json write(const Table<S>& table, const S& s) {
  Json map = Json::object();
  for (const Field<S>& row : table.rows) {
    if (Json value = table.value(row, s); !value.is_null()) map[row.key] = std::move(value);
  }
  return map;
}

/// The map as lines of a YAML file, with help texts as comments.
template <class S>
std::string to_yaml(const Table<S>& table, const S& s, const std::string& indent = "") {
  std::string text;
  for (const Field<S>& row : table.rows) {
    const Json value = table.value(row, s);
    if (value.is_null()) continue;
    const std::string comment = row.help.empty() ? "" : "# " + row.help;
    if (!row.block) {
      text += fmt::format("{}{}: {}{}{}\n", indent, row.key, spell(value),
                          comment.empty() ? "" : "  ", comment);
    } else if (indent.empty()) {
      text += fmt::format("\n{}\n{}:\n{}", comment, row.key, row.block(s, "  "));
    } else {
      text += fmt::format("{}{}:  {}\n{}", indent, row.key, comment, row.block(s, indent + "  "));
    }
  }
  return text;
}

/// JSON Schema of the result of write().
template <class S>
Json schema(const Table<S>& table) {
  Json properties = Json::object();
  Json always = Json::array();
  Json with = Json::object();  // keys by word of the selector
  for (const Field<S>& row : table.rows) {
    if (row.schema.is_null()) continue;
    properties[row.key] = {{"description", row.help}};
    properties[row.key].update(row.schema);
    if (row.may_miss) continue;
    if (row.when.empty()) always.push_back(row.key);
    for (const std::string& word : row.when) with[word].push_back(row.key);
  }
  Json object = {{"type", "object"},
                 {"additionalProperties", false},
                 {"required", always},
                 {"properties", properties}};
  const Field<S>* const by = table.selector();
  for (const std::string& word : by == nullptr ? std::vector<std::string>() : by->selects) {
    if (!with.contains(word)) continue;
    const Json is = {{"properties", {{by->key, {{"const", word}}}}}};
    object["allOf"].push_back({{"if", is}, {"then", {{"required", with[word]}}}});
  }
  object.update(table.schema);
  return object;
}

/// The rows as a Markdown table.
template <class S>
std::string reference(const Table<S>& table, const S& defaults = {}) {
  std::string text =
      "| key | values | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const Field<S>& row : table.rows) {
    const std::string written = row.block ? "" : spell(row.value(defaults));
    const std::string fallback = !row.fallback.empty() ? row.fallback
                                 : written.empty()     ? ""
                                                       : "`" + written + "`";
    std::string help = row.help;
    if (!row.when.empty()) {
      help += fmt::format(" Only with {} {}.", table.selector()->key, fmt::join(row.when, ", "));
    }
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.key,
                        row.block ? "a map, see below" : row.values, fallback, row.unit, help);
  }
  return text;
}

/// A kind whose values are maps; the table must outlive it.
template <class S>
Kind<S> map_of(const Table<S>& table) {
  return {.values = fmt::format("a map with the keys {}", fmt::join(table.keys(), ", ")),
          .schema = schema(table),
          .take =
              [&table](const Reader& reader) {
                S s;
                read(table, reader, s);
                return s;
              },
          .write = [&table](const S& s) { return write(table, s); }};
}

/// A row for a nested map: a member of S, or (std::identity) rows stored in S itself.
template <class S, class M>
Field<S> section(const std::string& key, auto part, const Table<M>& table,
                 const std::string& help) {
  return {.key = key,
          .help = help,
          .schema = schema(table),
          .read = [=, &table](const Reader& map,
                              S& s) { read(table, map.at(key), std::invoke(part, s)); },
          .write = [=, &table](const S& s) { return write(table, std::invoke(part, s)); },
          .block =
              [=, &table](const S& s, const std::string& indent) {
                return to_yaml(table, std::invoke(part, s), indent);
              }};
}

/// The rows of the table of a member as rows of S: keys on the same level as those of S.
template <class S, class M>
std::vector<Field<S>> rows_of(M S::* member, const Table<M>& table, const std::string& help) {
  std::vector<Field<S>> rows;
  for (const Field<M>& row : table.rows) {
    rows.push_back({.key = row.key,
                    .help = help,
                    .read = [=](const Reader& map, S& s) { row.take(map, s.*member); },
                    .write = [=](const S& s) { return row.value(s.*member); }});
  }
  return rows;
}

}  // namespace overlap::yaml
