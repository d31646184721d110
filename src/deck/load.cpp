#include <fmt/format.h>

#include <charconv>

#include "base/sha256.hpp"
#include "deck/deck.hpp"
#include "deck/fields.hpp"
#include "deck/sweep.hpp"
#include "yaml/shipped.hpp"

namespace overlap::deck {

std::string Deck::name() const { return yaml::name_of(path); }

std::vector<Point> load_points(const std::string& name, const std::vector<std::string>& overrides) {
  const std::string path = yaml::path_of(name, "", "deck");
  const yaml::Document document = yaml::read_document(path, "deck");
  yaml::NodePtr root = document.root;
  if (root->kind == yaml::Node::Kind::map) {
    int number = 0;
    for (const std::string& option : overrides) root = with_option(root, option, ++number);
  }
  const std::vector<SweptKey> sweep = read_sweep(yaml::Reader(*root).at("sweep"));
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
    const yaml::Reader reader(*deck.document);
    read(table_of(Deck{}), reader, deck);
    check_deck(reader, deck);
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
  base::SourcePlace place{deck.path};
  if (!deck.document) return place;
  yaml::Reader here(*deck.document);
  for (const std::string& part : yaml::parts_of(key)) {
    const auto bracket = std::min(part.find('['), part.size());
    yaml::Reader next = here.at(part.substr(0, bracket));
    if (!here.has(part.substr(0, bracket))) return place;
    place = next.place();
    if (bracket < part.size()) {
      std::size_t index = 0;
      std::from_chars(part.data() + bracket + 1, part.data() + part.size(), index);
      if (index >= next.size()) return place;
      next = next.items("")[index];
      place = next.place();
    }
    here = next;
  }
  return place;
}

base::Error error_at(const Deck& deck, base::ExitCode code, const std::string& key,
                     const std::string& message) {
  return base::Error(code,
                     fmt::format("{}: {}: {}", base::to_string(place_of(deck, key)), key, message));
}

}  // namespace overlap::deck
