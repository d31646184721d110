#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/sha256.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "yaml/shipped.hpp"

namespace overlap::deck {
namespace {

constexpr std::size_t most_points = 10000;
constexpr std::size_t most_keys = 100;  // limit on the number of swept keys

/// Whether the value of a key is a list or a part of one.
bool is_in_list(const std::vector<std::string>& parts) {
  static const yaml::Json root = resolved_schema();
  const yaml::Json* schema = &root;
  for (const std::string& part : parts) {
    if (part.find('[') != std::string::npos) return true;
    if (!schema->contains("properties") || !schema->at("properties").contains(part)) return false;
    schema = &schema->at("properties").at(part);
    if (schema->value("type", "") == "array") return true;
  }
  return false;
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
  if (is_in_list(parts)) {
    at_key.fail("found a list or a part of one; allowed: keys that have a single value");
  }
  if (parts[0] == "title" || parts[0] == "sweep") {
    at_key.fail(fmt::format("found '{}'; allowed: keys that change what runs, such as chunks.count",
                            parts[0]));
  }
}

/// The values of a swept key, with their places in the deck.
std::vector<yaml::Reader> items_of(const yaml::Reader& values) {
  return values.items("a list of at least one value, such as [1, 2, 4]", 1);
}

/// Throws base::Error{usage} if two points are the same, such as those of 64 Ki and 65536.
void expect_different(const std::vector<Point>& points, const yaml::Reader& sweep) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t number = 0; number < points.size(); ++number) {
    const auto [same, is_new] = seen.emplace(resolved(points[number].deck).dump(), number);
    if (is_new) continue;
    std::size_t stride = points.size();
    for (const auto& [key, text] : points[number].values) {
      const std::vector<yaml::Reader> items = items_of(sweep.at(key));
      stride /= items.size();
      const yaml::Reader& item = items[number / stride % items.size()];
      const yaml::Reader& first = items[same->second / stride % items.size()];
      if (&item == &first) continue;
      item.fail(fmt::format("found {} again, first at {}; allowed: each value once",
                            yaml::quoted(text), first.origin()));
    }
  }
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
    const std::vector<yaml::Reader> values = items_of(reader.at(key));
    std::vector<Point> product;
    for (const Point& point : points) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        Point& made = product.emplace_back(point);
        made.deck.document =
            with(point.deck.document, yaml::parts_of(key), reader.at(key).node_of(i));
        made.values.push_back({key, values[i].text("a single value; lists cannot be swept")});
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
  expect_different(points, yaml::Reader(*root, "deck").at("sweep"));
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

base::Error error_at_order(const Deck& deck, std::size_t i, const std::string& why) {
  return error_at(deck, base::ExitCode::usage, fmt::format("issue.orders[{}]", i),
                  fmt::format("found '{}', which {}", to_string(deck.issue.orders[i]), why));
}

}  // namespace overlap::deck
