#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/sha256.hpp"
#include "base/units.hpp"
#include "deck/fields.hpp"
#include "yaml/shipped.hpp"

namespace overlap::deck {
namespace {

constexpr std::size_t most_points = 10000;
constexpr std::size_t most_keys = 100;  // limit on the number of swept keys

/// Forms in which two values of a sweep may be equal while their kind is unknown: the text, the
/// count ("1 Ki" is 1024), the size, the time with its unit.
std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names = {text};
  if (const auto count = base::parse_count(text)) names.push_back(fmt::format("{} ", *count));
  if (const auto bytes = base::parse_bytes(text)) names.push_back(fmt::format("{} B ", *bytes));
  const auto time_s = base::parse_number(text) ? std::nullopt : base::parse_seconds(text);
  if (time_s) names.push_back(fmt::format("{} s ", *time_s));
  return names;
}

void expect_sweepable(const yaml::Reader& at_key, const std::string& key) {
  const std::vector<std::string> parts = yaml::parts_of(key);
  if (parts.size() > yaml::most_parts) {
    at_key.fail(fmt::format("found a key of {} parts; allowed: a dotted key, such as chunks.count",
                            parts.size()));
  }
  if (std::ranges::find(parts, "") != parts.end()) {
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

/// The values of a swept key: at least one scalar, without duplicates.
std::vector<yaml::NodePtr> read_values(const yaml::Reader& reader) {
  std::vector<yaml::NodePtr> values;
  std::map<std::string, std::size_t> seen;  // index of each value by its names
  for (const yaml::Reader& item :
       reader.items("a list of at least one value, such as [1, 2, 4]", 1)) {
    const std::string text = item.text();
    const std::size_t place = values.size();
    for (const std::string& name : names_of(text)) {
      const auto [first, is_new] = seen.emplace(name, place);
      if (is_new || first->second == place) continue;
      item.fail(fmt::format("found {} again, first at {}; allowed: each value once",
                            yaml::quoted(text), base::to_string(values[first->second]->place)));
    }
    values.push_back(reader.node_of(place));
  }
  return values;
}

/// The unread points of a document: `sweep: {dotted.key: [values]}` produces one per combination of
/// the values; without it there is one point.
std::vector<Point> points_of(const yaml::NodePtr& root) {
  std::vector<Point> points(1);
  points[0].deck.document = root;
  const yaml::Reader reader = yaml::Reader(*root, "deck").at("sweep");
  const std::string allowed = "a map of dotted keys to lists, such as {chunks.count: [1, 2, 4]}";
  if (root->find("sweep") != nullptr && !reader.is(yaml::Node::Kind::map)) {
    reader.fail_allowed(allowed);
  }
  const std::vector<std::string> keys = reader.keys();
  if (keys.size() < reader.size()) {
    reader.fail("found a list, a map or nothing as a key; allowed: " + allowed);
  }
  if (keys.size() > most_keys) {
    reader.fail(fmt::format("found {} keys; allowed: at most {}", keys.size(), most_keys));
  }
  if (!keys.empty()) reader.expect_keys(keys);  // none of them twice
  for (const std::string& key : keys) {
    expect_sweepable(reader.at_key(key), key);
    for (const auto& [other, text] : points[0].values) {
      if (other.starts_with(key + ".") || key.starts_with(other + ".")) {
        reader.at_key(key).fail(
            fmt::format("found with {}; allowed: each key once", yaml::quoted(other)));
      }
    }
    const std::size_t count = points.size() * std::max<std::size_t>(reader.at(key).size(), 1);
    if (count > most_points) {
      reader.fail(fmt::format("found {} points or more; allowed: at most {}", count, most_points));
    }
    const std::vector<yaml::NodePtr> values = read_values(reader.at(key));
    std::vector<Point> product;
    for (const Point& point : points) {
      for (const yaml::NodePtr& value : values) {
        Point& made = product.emplace_back(point);
        made.deck.document = with(point.deck.document, yaml::parts_of(key), value);
        made.values.push_back({key, value->text});
      }
    }
    points = std::move(product);
  }
  return points;
}

}  // namespace

std::vector<Point> load_points(const std::string& name, const std::vector<std::string>& overrides) {
  const std::string path = yaml::path_of(name, "", "deck");
  const yaml::Document document = yaml::read_document(path, "deck");
  yaml::NodePtr root = document.root;
  if (root->kind == yaml::Node::Kind::map) {
    int number = 0;
    for (const std::string& option : overrides) root = with_option(root, option, ++number);
  }
  const std::string sha256 = base::sha256(document.text);
  std::vector<Point> points = points_of(root);
  for (Point& point : points) {
    point.deck.path = path;
    point.deck.sha256 = sha256;
    read(yaml::Reader(*point.deck.document, "deck"), point.deck);
  }
  return points;
}

base::SourcePlace place_of(const Deck& deck, const std::string& key) {
  if (!deck.document) return {deck.path};
  const yaml::Reader root(*deck.document, "deck");
  const base::SourcePlace place = root.at_path(key).place();
  return place == root.place() ? base::SourcePlace{deck.path} : place;
}

base::Error error_at(const Deck& deck, base::ExitCode code, const std::string& key,
                     const std::string& message) {
  return base::Error(code,
                     fmt::format("{}: {}: {}", base::to_string(place_of(deck, key)), key, message));
}

}  // namespace overlap::deck
