#pragma once

#include <bit>
#include <cstdint>

#include "yaml/kinds.hpp"

/// Field tables: one row for each key of a map, which reads, writes and describes it.
namespace overlap::yaml {

/// A row: a key of a map that is kept in an S.
template <class S>
struct Field {
  std::string key;
  std::string help;    ///< what it means, a sentence
  std::string values;  ///< what is allowed
  std::string unit;
  Value schema;
  /// From the map, where the key may be missing. Throws Error{usage}.
  std::function<void(const Reader&, S&)> read;
  std::function<Value(const S&)> write;  ///< a null is left out
  std::string fallback;                  ///< the default, where it is not that of S
  bool needed = false;                   ///< it has no default
  bool may_miss = false;                 ///< it may be left out when written
  std::uint32_t when = ~0U;              ///< bits of the selector's words that it comes with
  std::vector<std::string> selects;      ///< of a selector: its words
  std::function<std::uint32_t(const S&)> chosen;  ///< of a selector: the bit of its word
  /// Of a key that files have on lines of its own: what stands there, indented.
  std::function<std::string(const S&, const std::string&)> block;

  void take(const Reader& map, S& s) const {
    if (read) read(map, s);
  }
  Value value(const S& s) const { return write ? write(s) : Value(); }

  /// Only with these words of the table's selector.
  template <class Enum>
  Field with(std::initializer_list<Enum> words) && {
    when = 0;
    for (const Enum word : words) when |= 1U << static_cast<unsigned>(word);
    return std::move(*this);
  }
  Field defaults_to(const std::string& text) && {
    fallback = text;
    return std::move(*this);
  }
  /// It must be given.
  Field required() && {
    needed = true;
    read = [key = key, read = read, values = values](const Reader& map, S& s) {
      if (!map.has(key)) map.at(key).fail_allowed(values);
      if (read) read(map, s);
    };
    return std::move(*this);
  }
  Field optional() && {
    may_miss = true;
    return std::move(*this);
  }
  /// Reads it otherwise than its kind does.
  Field reads(std::function<void(const Reader&, S&)> other) && {
    read = std::move(other);
    return std::move(*this);
  }
};

/// A row of a member.
template <class S, class M, class T>
Field<S> field(const std::string& key, M S::* member, const Kind<T>& kind,
               const std::string& help) {
  return {
      .key = key,
      .help = help,
      .values = kind.values,
      .unit = kind.unit,
      .schema = kind.schema,
      .read =
          [=, read = kind.read](const Reader& map, S& s) {
            if (map.has(key)) s.*member = static_cast<M>(read(map.at(key)));
          },
      .write = [=, write = kind.write](const S& s) { return write(static_cast<T>(s.*member)); }};
}

/// A row of an enumeration that decides which other keys the map has.
template <class S, class Enum>
Field<S> selector(const std::string& key, Enum S::* member, const Kind<Enum>& kind,
                  const std::string& help) {
  Field<S> row = field(key, member, kind, help);
  row.selects = spellings<Enum>();
  row.chosen = [=](const S& s) { return 1U << static_cast<unsigned>(s.*member); };
  return row;
}

/// The rows of a map.
template <class S>
struct Table {
  std::vector<Field<S>> rows;
  Value::Map schema = {};  ///< beyond what the rows say

  const Field<S>* selector() const {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [](const auto& r) { return !!r.chosen; });
    return row == rows.end() ? nullptr : &*row;
  }
  bool has(const Field<S>& row, const S& s) const {
    const Field<S>* const by = selector();
    return by == nullptr || &row == by || (row.when & by->chosen(s)) != 0;
  }
  /// The keys that come with the selector's word, or all.
  std::vector<std::string> keys(const S* s = nullptr) const {
    std::vector<std::string> keys;
    for (const Field<S>& row : rows) {
      if (s == nullptr || has(row, *s)) keys.push_back(row.key);
    }
    return keys;
  }
};

/// The words of a selector that a row comes with.
template <class S>
std::vector<std::string> words_with(const Field<S>& selector, const Field<S>& row) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < selector.selects.size(); ++i) {
    if ((row.when >> i & 1U) != 0) words.push_back(selector.selects[i]);
  }
  return words;
}

/// Refuses keys that do not come with the selector's word.
template <class S>
void expect_selected(const Table<S>& table, const Reader& map, const S& s) {
  const Field<S>& by = *table.selector();
  const Reader selector = map.at(by.key);
  for (const std::string& key : map.keys()) {
    const auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                  [&](const Field<S>& r) { return r.key == key; });
    if (row == table.rows.end() || table.has(*row, s)) continue;
    const auto words = words_with(by, *row);
    const auto bit = static_cast<std::size_t>(std::countr_zero(by.chosen(s)));
    const std::string& word = by.selects[bit];
    if (!by.needed) {
      map.at_key(key).fail(fmt::format("found with {} {} ({}); allowed: with {} {}", by.key, word,
                                       selector.origin(), by.key, fmt::join(words, ", ")));
    }
    const std::string why =
        selector.overridden() ? fmt::format(" ({})", selector.origin()) : std::string();
    map.at_key(key).fail(fmt::format("found a key of {}, not of {}{}; allowed: {}",
                                     fmt::join(words, " and "), word, why,
                                     fmt::join(table.keys(&s), ", ")));
  }
}

/// Reads a map into `s`; keys that are not given leave its members as they are. Throws
/// Error{usage}.
template <class S>
void read(const Table<S>& table, const Reader& map, S& s) {
  const Field<S>* const by = table.selector();
  // Which keys are unknown may depend on a selector that has no default.
  const bool by_word = by != nullptr && by->needed && map.has(by->key);
  if (!by_word) map.expect_keys(table.keys());
  if (by != nullptr) {
    by->read(map, s);
    expect_selected(table, map, s);
  }
  if (by_word) map.expect_keys(table.keys(&s));
  for (const Field<S>& row : table.rows) {
    if (&row != by && table.has(row, s)) row.take(map, s);
  }
}

template <class S>
Value write(const Table<S>& table, const S& s) {
  Value::Map map;
  for (const Field<S>& row : table.rows) {
    Value value = table.has(row, s) ? row.value(s) : Value();
    if (!value.is_null()) map.emplace_back(row.key, std::move(value));
  }
  return map;
}

/// The map as lines of a YAML file, with the rows' help as comments.
template <class S>
std::string to_yaml(const Table<S>& table, const S& s, const std::string& indent = "") {
  std::string text;
  for (const Field<S>& row : table.rows) {
    const Value value = table.has(row, s) ? row.value(s) : Value();
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

/// JSON Schema of what write() gives.
template <class S>
Value schema(const Table<S>& table) {
  const auto list = [](const std::vector<std::string>& keys) {
    return Value::List(keys.begin(), keys.end());
  };
  const Field<S>* const by = table.selector();
  const auto always = [&](const std::string* word) {  // keys without a condition, or of a word
    std::vector<std::string> keys;
    for (const Field<S>& row : table.rows) {
      const bool any = by == nullptr || row.when == ~0U;
      const auto words = any ? std::vector<std::string>() : words_with(*by, row);
      const bool of =
          word != nullptr && std::find(words.begin(), words.end(), *word) != words.end();
      if (!row.may_miss && !row.schema.is_null() && (word == nullptr ? any : of)) {
        keys.push_back(row.key);
      }
    }
    return keys;
  };
  Value::Map properties;
  for (const Field<S>& row : table.rows) {
    if (row.schema.is_null()) continue;
    Value::Map property = {{"description", row.help}};
    const auto& kind = *row.schema.template get<Value::Map>();
    property.insert(property.end(), kind.begin(), kind.end());
    properties.emplace_back(row.key, property);
  }
  Value::Map object = {{"type", "object"},
                       {"additionalProperties", false},
                       {"required", list(always(nullptr))},
                       {"properties", properties}};
  Value::List conditions;
  for (const std::string& word : by == nullptr ? std::vector<std::string>() : by->selects) {
    const auto keys = always(&word);
    if (keys.empty()) continue;
    const Value is = single("properties", single(by->key, single("const", word)));
    conditions.push_back(Value::Map{{"if", is}, {"then", single("required", list(keys))}});
  }
  if (!conditions.empty()) object.emplace_back("allOf", conditions);
  object.insert(object.end(), table.schema.begin(), table.schema.end());
  return object;
}

/// The rows as a Markdown table.
template <class S>
std::string reference(const Table<S>& table, const S& defaults = {}) {
  std::string text =
      "| key | values | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const Field<S>& row : table.rows) {
    const std::string written = spell(row.value(defaults));
    const std::string fallback = row.needed                     ? "required"
                                 : !row.fallback.empty()        ? row.fallback
                                 : row.block || written.empty() ? ""
                                                                : "`" + written + "`";
    std::string help = row.help;
    if (row.when != ~0U) {
      help += fmt::format(" Only with {} {}.", table.selector()->key,
                          fmt::join(words_with(*table.selector(), row), ", "));
    }
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.key,
                        row.block ? "a map, see below" : row.values, fallback, row.unit, help);
  }
  return text;
}

/// A map as a kind of value; the table must outlive it.
template <class S>
Kind<S> map_of(const Table<S>& table) {
  Kind<S> map{.values = fmt::format("a map with the keys {}", fmt::join(table.keys(), ", ")),
              .schema = schema(table)};
  map.read = [&table](const Reader& reader) {
    S s;
    read(table, reader, s);
    return s;
  };
  map.write = [&table](const S& s) { return write(table, s); };
  return map;
}

/// A row of a member that is a map, on lines of its own in files.
template <class S, class M>
Field<S> section(const std::string& key, M S::* member, const Table<M>& table,
                 const std::string& help) {
  Field<S> row = field(key, member, map_of(table), help);
  row.read = [=, &table](const Reader& map, S& s) { read(table, map.at(key), s.*member); };
  row.block = [=, &table](const S& s, const std::string& indent) {
    return to_yaml(table, s.*member, indent);
  };
  return row;
}

/// A row of a map whose rows are kept in S itself.
template <class S>
Field<S> section(const std::string& key, const Table<S>& table, const std::string& help) {
  Field<S> row{.key = key, .help = help, .schema = schema(table)};
  row.read = [=, &table](const Reader& map, S& s) { read(table, map.at(key), s); };
  row.write = [&table](const S& s) { return write(table, s); };
  row.block = [&table](const S& s, const std::string& indent) { return to_yaml(table, s, indent); };
  return row;
}

/// The rows of a member's table as rows of S: keys that lie among those of S.
template <class S, class M>
std::vector<Field<S>> rows_of(M S::* member, const Table<M>& table, const std::string& help) {
  std::vector<Field<S>> rows;
  for (const Field<M>& row : table.rows) {
    Field<S>& lifted = rows.emplace_back(Field<S>{.key = row.key, .help = help});
    lifted.read = [=](const Reader& map, S& s) { row.take(map, s.*member); };
    lifted.write = [=](const S& s) { return row.value(s.*member); };
  }
  return rows;
}

}  // namespace overlap::yaml
