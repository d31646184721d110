#include "deck/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/units.hpp"

namespace overlap::deck {
namespace {

/// Under what values of a sweep are the same, as far as that shows before anybody knows what they
/// are for: as words, counts ("1 Ki" is 1024) or sizes.
std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names = {text};
  if (const auto count = base::parse_count(text)) names.push_back(fmt::format("{} ", *count));
  if (const auto bytes = base::parse_bytes(text)) names.push_back(fmt::format("{} B ", *bytes));
  return names;
}

void expect_sweepable(const yaml::Reader& at_key, const std::string& key) {
  const std::vector<std::string> parts = yaml::parts_of(key);
  if (std::find(parts.begin(), parts.end(), "") != parts.end()) {
    at_key.fail("found an empty part in the key; allowed: a dotted key, such as chunks.count");
  }
  if (key.find('[') != std::string::npos || parts[0] == "acceptance") {
    at_key.fail("found a part of a list; allowed: keys that have a single value");
  }
  if (parts[0] == "title" || parts[0] == "sweep") {
    at_key.fail(fmt::format("found '{}'; allowed: keys that change what runs, such as chunks.count",
                            parts[0]));
  }
}

SweptKey read_key(const yaml::Reader& reader, const std::string& key) {
  const std::string allowed = "a list of at least one value, such as [1, 2, 4]";
  SweptKey swept{.key = key, .values = {}};
  std::map<std::string, std::size_t> seen;  // the places of values by their names
  for (const yaml::Reader& item : reader.items(allowed)) {
    const std::string text = item.text();
    const std::size_t place = swept.values.size();
    for (const std::string& name : names_of(text)) {
      const auto [first, is_new] = seen.emplace(name, place);
      if (is_new || first->second == place) continue;
      item.fail(fmt::format("found {} again, first at {}; allowed: each value once",
                            yaml::quoted(text),
                            base::to_string(swept.values[first->second]->mark.place())));
    }
    swept.values.push_back(reader.node_of(place));
  }
  if (swept.values.empty()) reader.fail("found an empty list; allowed: " + allowed);
  return swept;
}

}  // namespace

std::vector<SweptKey> read_sweep(const yaml::Reader& reader) {
  if (reader.is(yaml::Node::Kind::list) || reader.is(yaml::Node::Kind::scalar)) {
    reader.fail_allowed("a map of dotted keys to lists, such as {chunks.count: [1, 2, 4]}");
  }
  std::vector<SweptKey> sweep;
  std::size_t points = 1;
  const std::vector<std::string> keys = reader.keys();
  if (keys.size() > most_keys) {
    reader.fail(fmt::format("found {} keys; allowed: at most {}", keys.size(), most_keys));
  }
  for (const std::string& key : keys) {
    expect_sweepable(reader.at_key(key), key);
    const auto other = std::find_if(sweep.begin(), sweep.end(), [&](const SweptKey& swept) {
      return swept.key == key || swept.key.starts_with(key + ".") ||
             key.starts_with(swept.key + ".");
    });
    if (other != sweep.end()) {
      reader.at_key(key).fail(
          fmt::format("found with {}; allowed: each key once", yaml::quoted(other->key)));
    }
    points *= std::max<std::size_t>(reader.at(key).size(), 1);
    if (points > most_points) {
      reader.fail(fmt::format("found {} points or more; allowed: at most {}", points, most_points));
    }
    sweep.push_back(read_key(reader.at(key), key));
  }
  return sweep;
}

}  // namespace overlap::deck
