#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/sha256.hpp"
#include "base/units.hpp"
#include "deck/deck.hpp"
#include "deck/fields.hpp"
#include "yaml/shipped.hpp"

namespace overlap::deck {
namespace {

// The part of a deck that asks for many runs: `sweep: {dotted.key: [values]}`.

/// A swept key and what the deck's value for it is replaced by, one after the other.
struct SweptKey {
  std::string key;
  std::vector<yaml::NodePtr> values;  ///< scalars; at least one, each once
};

constexpr std::size_t most_points = 10000;
constexpr std::size_t most_keys = 100;  // more than a deck has

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

SweptKey read_key(const yaml::Reader& reader, const std::string& key) {
  SweptKey swept{.key = key, .values = {}};
  std::map<std::string, std::size_t> seen;  // the places of values by their names
  for (const yaml::Reader& item :
       reader.items("a list of at least one value, such as [1, 2, 4]", 1)) {
    const std::string text = item.text();
    const std::size_t place = swept.values.size();
    for (const std::string& name : names_of(text)) {
      const auto [first, is_new] = seen.emplace(name, place);
      if (is_new || first->second == place) continue;
      item.fail(fmt::format("found {} again, first at {}; allowed: each value once",
                            yaml::quoted(text),
                            base::to_string(swept.values[first->second]->place)));
    }
    swept.values.push_back(reader.node_of(place));
  }
  return swept;
}

/// The value of the key `sweep`; empty where there is no sweep. Throws Error{usage}.
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
    const auto other = std::ranges::find_if(sweep, [&](const SweptKey& swept) {
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

}  // namespace

std::string Deck::name() const { return yaml::name_of(path); }

std::vector<Point> load_points(const std::string& name, const std::vector<std::string>& overrides) {
  const std::string path = yaml::path_of(name, "", "deck");
  const yaml::Document document = yaml::read_document(path, "deck");
  yaml::NodePtr root = document.root;
  if (root->kind == yaml::Node::Kind::map) {
    int number = 0;
    for (const std::string& option : overrides) root = with_option(root, option, ++number);
  }
  const std::vector<SweptKey> sweep = read_sweep(yaml::Reader(*root, "deck").at("sweep"));
  std::size_t count = 1;
  for (const SweptKey& swept : sweep) count *= swept.values.size();
  const std::string sha256 = base::sha256(document.text);
  std::vector<Point> points;
  for (std::size_t number = 0; number < count; ++number) {
    Point& point = points.emplace_back();
    Deck& deck = point.deck;
    deck.path = path;
    deck.sha256 = sha256;
    deck.document = root;
    std::size_t rest = number;
    std::size_t block = count;
    for (const SweptKey& swept : sweep) {
      block /= swept.values.size();
      const yaml::NodePtr& value = swept.values[rest / block];
      rest %= block;
      deck.document = with(deck.document, yaml::parts_of(swept.key), value);
      point.values.push_back({swept.key, value->text});
    }
    read(yaml::Reader(*deck.document, "deck"), deck);
  }
  return points;
}

Deck load(const std::string& path, const std::vector<std::string>& overrides) {
  std::vector<Point> points = load_points(path, overrides);
  if (!points.front().values.empty()) {
    throw error_at(points.front().deck, base::ExitCode::usage, "sweep",
                   "found a sweep; allowed: a deck of one experiment");
  }
  return std::move(points.front().deck);
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
