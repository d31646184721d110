#include "yaml/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace overlap::yaml {

const Key* MapKeys::selector() const {
  const auto key = std::ranges::find_if(keys, [](const Key* k) { return !k->selects.empty(); });
  return key == keys.end() ? nullptr : *key;
}

std::vector<std::string> MapKeys::names(const std::optional<std::string>& word) const {
  std::vector<std::string> names;
  for (const Key* const key : keys) {
    if (!word || key->is_valid(*word)) names.push_back(key->name);
  }
  return names;
}

void MapKeys::expect_selected(const Reader& map, const std::string& word) const {
  const Key& by = *selector();
  const Reader selector = map.at(by.name);
  for (const Key* const key : keys) {
    if (key->is_valid(word) || !map.has(key->name)) continue;
    const Reader found = map.at_key(key->name);
    if (!by.needed) {
      found.fail(fmt::format("found with {} {} ({}); allowed: with {} {}", by.name, word,
                             selector.origin(), by.name, fmt::join(key->when, ", ")));
    }
    found.fail(fmt::format(
        "found a key of {}, not of {}{}; allowed: {}", fmt::join(key->when, " and "), word,
        selector.overridden() ? " (" + selector.origin() + ")" : "", fmt::join(names(word), ", ")));
  }
}

Json MapKeys::schema(const Json& more) const {
  Json properties = Json::object();
  Json always = Json::array();
  Json with = Json::object();  // keys by word of the selector
  for (const Key* const key : keys) {
    if (key->values.schema.is_null()) continue;
    properties[key->name] = {{"description", key->help}};
    properties[key->name].update(key->values.schema);
    if (key->values.may_miss) continue;
    if (key->when.empty()) always.push_back(key->name);
    for (const std::string& word : key->when) with[word].push_back(key->name);
  }
  Json object = {{"type", "object"},
                 {"additionalProperties", false},
                 {"required", always},
                 {"properties", properties}};
  const Key* const by = selector();
  for (const std::string& word : by == nullptr ? std::vector<std::string>() : by->selects) {
    if (!with.contains(word)) continue;
    const Json is = {{"properties", {{by->name, {{"const", word}}}}}};
    object["allOf"].push_back({{"if", is}, {"then", {{"required", with[word]}}}});
  }
  object.update(more);
  return object;
}

std::string to_yaml(const Key& key, const Json& value, const std::optional<std::string>& block,
                    const std::string& indent) {
  const std::string comment = key.help.empty() ? "" : "# " + key.help;
  if (!block) {
    return fmt::format("{}{}: {}{}{}\n", indent, key.name, spell(value),
                       comment.empty() ? "" : "  ", comment);
  }
  if (indent.empty()) return fmt::format("\n{}\n{}:\n{}", comment, key.name, *block);
  return fmt::format("{}{}:  {}\n{}", indent, key.name, comment, *block);
}

std::string as_comment(const std::string& lines) {
  return lines.empty() ? "" : "# " + base::replaced(lines, "\n", "\n# ") + "\n";
}

std::string reference(const Key& key, const std::optional<Json>& written, const Key* selector) {
  std::string fallback = key.fallback;
  const std::string value = spell(written.value_or(Json()));
  if (fallback.empty() && !value.empty()) fallback = "`" + value + "`";
  std::string help = key.help;
  if (!key.when.empty()) {
    help += fmt::format(" Only with {} {}.", selector->name, fmt::join(key.when, ", "));
  }
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name,
                     written ? key.values.allowed : "a map, see below", fallback, key.values.unit,
                     help);
}

}  // namespace overlap::yaml
