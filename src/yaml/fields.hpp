#pragma once

#include <functional>
#include <optional>

#include "yaml/kinds.hpp"

/// Field tables: one row per key of a map, which reads, writes and documents it.
namespace overlap::yaml {

/// A key of a map as messages, pages and the schema describe it, whatever it is stored in.
struct Key {
  std::string name;
  std::string help;  ///< meaning, a sentence
  Values values;
  bool needed = false;               ///< required, has no default
  std::string fallback;              ///< documented default, if not that of the type
  std::vector<std::string> when;     ///< words of the selector with which it is valid; empty: all
  std::vector<std::string> selects;  ///< of a selector: its words

  bool is_valid(const std::string& word) const {
    return when.empty() || std::ranges::find(when, word) != when.end();
  }
};

/// The keys of a map.
struct MapKeys {
  std::vector<const Key*> keys;

  const Key* selector() const;  ///< null: all keys are always valid
  /// All names, or those that are valid with a word of the selector.
  std::vector<std::string> names(const std::optional<std::string>& word = {}) const;
  /// Rejects keys that are not valid with the word of the selector. Throws Error{usage}.
  void expect_selected(const Reader& map, const std::string& word) const;
  /// JSON Schema of a written map.
  Json schema(const Json& more) const;
};

/// The key and its value as lines of a YAML file, with the help text as comment. `block`: the lines
/// of a nested map.
std::string to_yaml(const Key& key, const Json& value, const std::optional<std::string>& block,
                    const std::string& indent);

/// The key as a line of a Markdown table. `written`: its default; null: it is a nested map.
std::string reference(const Key& key, const std::optional<Json>& written, const Key* selector);

/// A row: a key of a map that is stored in an S.
template <class S>
struct Field {
  Key key;
  /// Reads the key, which may be missing, from the map. Throws Error{usage}.
  std::function<void(const Reader&, S&)> read;
  std::function<Json(const S&)> write;          ///< null: not written
  std::function<std::string(const S&)> chosen;  ///< of a selector: its current word
  /// Of a key with a nested map: its indented lines.
  std::function<std::string(const S&, const std::string&)> block;

  void take(const Reader& map, S& s) const {
    if (key.needed && !map.has(key.name)) map.at(key.name).fail_allowed(key.values.allowed);
    if (read) read(map, s);
  }
  Json value(const S& s) const { return write ? write(s) : Json(); }

  /// Makes this row the selector, whose word determines the other valid keys.
  template <class Enum>
  Field decides(Enum S::* member) && {
    key.selects = spellings<Enum>();
    chosen = [=](const S& s) { return std::string(to_string(s.*member)); };
    return std::move(*this);
  }
  /// Restricts the row to these words of the selector.
  template <class Enum>
  Field with(std::initializer_list<Enum> words) && {
    for (const Enum word : words) key.when.emplace_back(to_string(word));
    return std::move(*this);
  }
  Field defaults_to(const std::string& text) && {
    key.fallback = text;
    return std::move(*this);
  }
  /// Leaves out the default when writing, so that hashes from before there was this key hold.
  Field unless_default() && {
    const Json standard = write(S());
    key.values.may_miss = true;
    write = [all = write, standard](const S& s) {
      Json value = all(s);
      return value == standard ? Json() : value;
    };
    return std::move(*this).defaults_to("`" + spell(standard) + "`");
  }
  /// Makes the key required.
  Field required() && {
    key.needed = true;
    return std::move(*this).defaults_to("required");
  }
  /// Replaces the reader.
  Field reads(std::function<void(const Reader&, S&)> other) && {
    read = std::move(other);
    return std::move(*this);
  }
};

/// A row for a member of S.
template <class S, class M, class T>
Field<S> field(const std::string& key, M S::* member, const Kind<T>& kind,
               const std::string& help) {
  // Not as one aggregate: where a copy fails, g++ destroys members that were not made yet.
  Field<S> row;
  row.key.name = key;
  row.key.help = help;
  row.key.values = kind.values;
  row.read = [=](const Reader& map, S& s) {
    if (map.has(key)) s.*member = static_cast<M>(kind.read(map.at(key)));
  };
  row.write = [=](const S& s) { return kind.write(static_cast<T>(s.*member)); };
  return row;
}

/// The rows of a map.
template <class S>
struct Table {
  std::vector<Field<S>> rows;
  Json schema = Json::object();  ///< additional schema

  MapKeys keys() const {
    MapKeys all;
    for (const Field<S>& row : rows) all.keys.push_back(&row.key);
    return all;
  }
  const Field<S>* selector() const {
    const auto row = std::ranges::find_if(rows, [](const auto& r) { return !!r.chosen; });
    return row == rows.end() ? nullptr : &*row;
  }
  /// The current word of the selector.
  std::string word(const S& s) const {
    const Field<S>* const by = selector();
    return by == nullptr ? "" : by->chosen(s);
  }
  /// The value of a row; null if not written or not valid with the word of the selector.
  Json value(const Field<S>& row, const S& s) const {
    return row.key.is_valid(word(s)) ? row.value(s) : Json();
  }
};

/// Reads a map into `s`; missing keys leave their members unchanged. Throws Error{usage}.
template <class S>
void read(const Table<S>& table, const Reader& map, S& s) {
  const Field<S>* const by = table.selector();
  const MapKeys keys = table.keys();
  // With a required selector, only keys valid with its word are known.
  const bool by_word = by != nullptr && by->key.needed && map.has(by->key.name);
  if (!by_word) map.expect_keys(keys.names());
  if (by != nullptr) {
    by->take(map, s);
    keys.expect_selected(map, by->chosen(s));
  }
  const std::string word = table.word(s);
  if (by_word) map.expect_keys(keys.names(word));
  for (const Field<S>& row : table.rows) {
    if (&row != by && row.key.is_valid(word)) row.take(map, s);
  }
}

template <class S>
Json write(const Table<S>& table, const S& s) {
  Json map = Json::object();
  for (const Field<S>& row : table.rows) {
    if (Json value = table.value(row, s); !value.is_null()) map[row.key.name] = std::move(value);
  }
  return map;
}

/// Lines of text as comments of a YAML file; empty: none.
std::string as_comment(const std::string& lines);

/// The map as lines of a YAML file, with help texts as comments.
template <class S>
std::string to_yaml(const Table<S>& table, const S& s, const std::string& indent = "") {
  std::string text;
  for (const Field<S>& row : table.rows) {
    const Json value = table.value(row, s);
    if (value.is_null()) continue;
    std::optional<std::string> block;
    if (row.block) block = row.block(s, indent + "  ");
    text += to_yaml(row.key, value, block, indent);
  }
  return text;
}

/// JSON Schema of the result of write().
template <class S>
Json schema(const Table<S>& table) {
  return table.keys().schema(table.schema);
}

/// The rows as a Markdown table.
template <class S>
std::string reference(const Table<S>& table) {
  std::string text =
      "| key | values | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
  const Key* const selector = table.keys().selector();
  for (const Field<S>& row : table.rows) {
    std::optional<Json> written;
    if (!row.block) written = row.value(S());
    text += reference(row.key, written, selector);
  }
  return text;
}

/// A kind whose values are maps; the table must outlive it.
template <class S>
Kind<S> map_of(const Table<S>& table) {
  return {.values = {.allowed = fmt::format("a map with the keys {}",
                                            fmt::join(table.keys().names(), ", ")),
                     .schema = schema(table)},
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
  return {.key = {.name = key, .help = help, .values = {.allowed = "", .schema = schema(table)}},
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
    rows.push_back({.key = {.name = row.key.name, .help = help},
                    .read = [=](const Reader& map, S& s) { row.take(map, s.*member); },
                    .write = [=](const S& s) { return row.value(s.*member); }});
  }
  return rows;
}

}  // namespace overlap::yaml
