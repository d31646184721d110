#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "deck/fields.hpp"
#include "deck/shipped.hpp"
#include "deck/words.hpp"

/// Options, sweeps and points.
namespace overlap::deck {
namespace {

using namespace describe;

constexpr std::size_t most_points = 10000;
constexpr std::size_t most_keys = 100;  // limit on the number of swept keys
constexpr std::size_t most_parts = 8;   // of a dotted key; more are a nesting that no deck has

// Options.

/// Whether a value contains a key below it; a word, such as `none`, replaces all keys.
bool sets(const Json* value, const std::string& key) {
  for (const std::string& part : parts_of(key)) {
    if (!value->is_object()) return !value->is_null();
    if (!value->contains(part)) return false;
    value = &value->at(part);
  }
  return true;
}

/// Takes from the sweep what an option sets to one value: the key itself and all keys below it.
void pin(Document& document, const std::string& option, const std::string& key, const Json& value) {
  if (!document.root.contains("sweep") || !document.root["sweep"].is_object()) return;
  Json left = Json::object();
  for (const auto& [swept, values] : document.root["sweep"].items()) {
    if (swept == key) continue;
    const bool below = swept.starts_with(key + ".");
    const std::string rest = below ? swept.substr(key.size() + 1) : "";
    if (!below) left[swept] = values;
    if (!below || sets(&value, rest)) continue;
    throw base::Error(
        base::ExitCode::usage,
        fmt::format("{}: {}: found no {}, which is swept ({}); allowed: with {}, or after --set "
                    "'sweep={{}}'",
                    option, clean(key), clean(rest),
                    base::to_string(document.key_place(path_of("sweep", swept))), clean(rest)));
  }
  document.root["sweep"] = std::move(left);
}

/// Applies an option `key.path=VALUE`. Below the key `sweep` the rest of the path is one key.
void apply(Document& document, const std::string& text) {
  const std::string option = "--set " + (text.empty() ? "''" : clean(text));
  const auto refuse = [&](const std::string& why) {
    throw base::Error(base::ExitCode::usage, fmt::format("{}: {}", option, why));
  };
  const char* const example = "; allowed: key.path=VALUE, such as chunks.count=8";
  const auto equals = text.find('=');
  if (equals == std::string::npos) refuse(std::string("found no '='") + example);
  if (equals == 0) refuse(std::string("found no key") + example);
  const std::string key = text.substr(0, equals);
  std::vector<std::string> path = parts_of(key);
  if (path[0] == "sweep" && path.size() > 1) path = {path[0], key.substr(path[0].size() + 1)};
  if (std::ranges::find(path, "") != path.end()) {
    refuse(std::string("found an empty part in the key") + example);
  }
  if (path.size() > most_parts)
    refuse(fmt::format("found a key of {} parts{}", path.size(), example));
  if (const auto bracket = key.find('['); bracket != std::string::npos) {
    const auto dot = std::min(key.find('.', bracket), key.size());
    refuse(fmt::format("{}: found an index; allowed: the whole list, --set '{}=[...]'",
                       clean(key.substr(0, dot)), clean(key.substr(0, bracket))));
  }
  const Json value = parse_option(document, option, text.substr(equals + 1));
  document.set(path, value);
  pin(document, option, key, value);
}

// Sweeps.

/// Whether the value of a key is a list or a part of one.
bool is_in_list(const std::vector<std::string>& parts) {
  static const Json root = resolved_schema();
  const Json* schema = &root;
  for (const std::string& part : parts) {
    if (part.find('[') != std::string::npos) return true;
    if (!schema->contains("properties") || !schema->at("properties").contains(part)) return false;
    schema = &schema->at("properties").at(part);
    if (schema->value("type", "") == "array") return true;
  }
  return false;
}

void expect_sweepable(const Reader& sweep, const std::string& key) {
  const char* const example = "allowed: a dotted key, such as chunks.count";
  const std::vector<std::string> parts = parts_of(key);
  if (parts.size() > most_parts) {
    sweep.fail_at_key(key, fmt::format("found a key of {} parts; {}", parts.size(), example));
  }
  if (std::ranges::find(parts, "") != parts.end()) {
    sweep.fail_at_key(key, fmt::format("found an empty part in the key; {}", example));
  }
  if (is_in_list(parts)) {
    sweep.fail_at_key(key, "found a list or a part of one; allowed: keys that have a single value");
  }
  if (parts[0] == "title" || parts[0] == "sweep") {
    sweep.fail_at_key(
        key, fmt::format("found '{}'; allowed: keys that change what runs, such as chunks.count",
                         parts[0]));
  }
}

/// The values of a swept key, with their places in the deck.
std::vector<Reader> items_of(const Reader& sweep, const std::string& key) {
  return sweep.at(key).items("a list of at least one value, such as [1, 2, 4]", 1);
}

/// The combinations of the values of a sweep; one without values if there is none. Throws
/// Error{usage}.
std::vector<std::vector<Reader>> combinations(const Reader& sweep) {
  if (sweep.exists() && !sweep.is_map()) {
    sweep.fail_allowed("a map of dotted keys to lists, such as {chunks.count: [1, 2, 4]}");
  }
  const std::vector<std::string> keys = sweep.keys();
  if (keys.size() > most_keys) {
    sweep.fail(fmt::format("found {} keys; allowed: at most {}", keys.size(), most_keys));
  }
  std::vector<std::vector<Reader>> points(1);
  for (auto key = keys.begin(); key != keys.end(); ++key) {
    expect_sweepable(sweep, *key);
    for (auto other = keys.begin(); other != key; ++other) {
      if (other->starts_with(*key + ".") || key->starts_with(*other + ".")) {
        sweep.fail_at_key(*key,
                          fmt::format("found with {}; allowed: each key once", quoted(*other)));
      }
    }
    const std::size_t count = points.size() * std::max<std::size_t>(sweep.at(*key).size(), 1);
    if (count > most_points) {
      sweep.fail(fmt::format("found {} points or more; allowed: at most {}", count, most_points));
    }
    std::vector<std::vector<Reader>> product;
    for (const std::vector<Reader>& point : points) {
      for (const Reader& item : items_of(sweep, *key)) {
        item.text("a single value; lists cannot be swept");
        product.emplace_back(point).push_back(item);
      }
    }
    points = std::move(product);
  }
  return points;
}

/// Throws base::Error{usage} if two points are the same, such as those of 64 Ki and 65536.
void expect_different(const std::vector<Point>& points,
                      const std::vector<std::vector<Reader>>& items) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t number = 0; number < points.size(); ++number) {
    const auto [same, is_new] = seen.emplace(resolved(points[number].deck).dump(), number);
    if (is_new) continue;
    for (std::size_t key = 0; key < items[number].size(); ++key) {
      const Reader& item = items[number][key];
      const Reader& first = items[same->second][key];
      if (item.path() == first.path()) continue;
      item.fail(fmt::format("found {} again, first at {}; allowed: each value once",
                            quoted(item.text()), first.origin()));
    }
  }
}

}  // namespace

std::vector<Point> load_points(const std::string& name, const std::vector<std::string>& overrides) {
  const std::string path = shipped_path(name, "", "deck");
  Document document = read_yaml(path, "deck");
  if (document.root.is_object()) {
    for (const std::string& option : overrides) apply(document, option);
  }
  const Reader sweep = Reader(document).at("sweep");
  const std::vector<std::string> keys = sweep.keys();
  const std::vector<std::vector<Reader>> items = combinations(sweep);
  std::vector<Point> points;
  for (const std::vector<Reader>& values : items) {
    const auto own = std::make_shared<Document>(document);
    Point& point = points.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      own->set(parts_of(keys[i]), values[i].value(), values[i].path());
      point.values.push_back({keys[i], values[i].text()});
    }
    point.deck.path = path;
    point.deck.sha256 = document.sha256;
    describe::read(Reader(*own), point.deck);
    own->root = nullptr;  // later errors need places only
    point.deck.document = own;
  }
  expect_different(points, items);
  return points;
}

std::string Deck::name() const { return name_of(path) + mark; }

base::SourcePlace place_of(const Deck& deck, const std::string& key) {
  if (!deck.document) return {deck.path};
  const base::SourcePlace place = deck.document->place(key);
  return place == deck.document->place("") ? base::SourcePlace{deck.path} : place;
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
