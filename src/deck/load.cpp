#include <fmt/format.h>

#include <map>

#include "deck/fields.hpp"
#include "deck/words.hpp"

/// Options, sweeps and points.
namespace overlap::deck {
namespace {

using namespace describe;

constexpr std::size_t most_points = 10000;

/// Whether a value contains a key below it; a word, such as `none`, replaces all keys.
bool sets(const Json* value, const std::string& key) {
  for (const std::string& part : split_key(key)) {
    if (!value->is_object()) return !value->is_null();
    if (!value->contains(part)) return false;
    value = &value->at(part);
  }
  return true;
}

/// Applies an option `key.path=VALUE`. What it sets to one value is no longer swept.
void apply(Document& document, const std::string& text) {
  const std::string option = "--set " + (text.empty() ? "''" : clean(text));
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found no {}; allowed: key.path=VALUE, such as "
                                  "chunks.count=8",
                                  option, equals == 0 ? "key" : "'='"));
  }
  const std::string key = text.substr(0, equals);
  const Json value = parse_option(document, option, text.substr(equals + 1));
  document.set(key, value);
  if (!document.root.contains("sweep") || !document.root["sweep"].is_object()) return;
  Json still_swept = Json::object();
  for (const auto& [swept, values] : document.root["sweep"].items()) {
    const bool below = swept.starts_with(key + ".");
    const bool is_set = swept == key || (below && sets(&value, swept.substr(key.size() + 1)));
    if (!is_set) still_swept[swept] = values;
  }
  document.root["sweep"] = std::move(still_swept);
}

/// The combinations of the values of a sweep, with their places; one without values if there is
/// none. Throws Error{usage}.
std::vector<std::vector<Reader>> combinations(const Reader& sweep) {
  if (sweep.exists() && !sweep.is_map()) {
    sweep.fail_allowed("a map of dotted keys to lists, such as {chunks.count: [1, 2, 4]}");
  }
  std::vector<std::vector<Reader>> points(1);
  for (const std::string& key : sweep.keys()) {
    const std::vector<Reader> items =
        sweep.at(key).items("a list of at least one value, such as [1, 2, 4]", 1);
    const std::size_t count = points.size() * items.size();
    if (count > most_points) {
      sweep.fail(fmt::format("found {} points or more; allowed: at most {}", count, most_points));
    }
    std::vector<std::vector<Reader>> product;
    for (const std::vector<Reader>& point : points) {
      for (const Reader& item : items) {
        item.text("a single value; lists cannot be swept");
        product.emplace_back(point).push_back(item);
      }
    }
    points = std::move(product);
  }
  return points;
}

/// Throws base::Error{usage} if two points are the same, such as those of 64 Ki and 65536.
void expect_different(const std::vector<DeckPoint>& points,
                      const std::vector<std::vector<Reader>>& items) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t number = 0; number < points.size(); ++number) {
    const auto [earlier, is_new] = seen.emplace(resolved(points[number].deck).dump(), number);
    for (std::size_t key = 0; !is_new && key < items[number].size(); ++key) {
      const Reader& item = items[number][key];
      const Reader& first = items[earlier->second][key];
      if (item.path() == first.path()) continue;
      item.fail(fmt::format("found {} again, first at {}; allowed: each value once",
                            quoted(item.text()), first.origin()));
    }
  }
}

}  // namespace

std::vector<DeckPoint> load_points(const std::string& name,
                                   const std::vector<std::string>& overrides) {
  const std::string path = shipped_path(name, "", "deck");
  Document document = read_yaml(path, "deck");
  if (document.root.is_object()) {
    for (const std::string& option : overrides) apply(document, option);
  }
  const Reader sweep = Reader(document).at("sweep");
  const std::vector<std::string> keys = sweep.keys();
  const std::vector<std::vector<Reader>> items = combinations(sweep);
  std::vector<DeckPoint> points;
  for (const std::vector<Reader>& values : items) {
    const auto point_document = std::make_shared<Document>(document);
    DeckPoint& point = points.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      point_document->set(keys[i], values[i].value(), values[i].path());
      point.values.push_back({keys[i], values[i].text()});
    }
    point.deck.path = path;
    point.deck.sha256 = document.sha256;
    describe::read(Reader(*point_document), point.deck);
    point_document->root = nullptr;  // later errors need places only
    point.deck.document = point_document;
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
