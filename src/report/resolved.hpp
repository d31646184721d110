#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "deck/deck.hpp"

namespace overlap::report {

using Json = nlohmann::ordered_json;

/// Every key of the deck with its value, defaults included.
Json resolved(const deck::Deck& deck);

/// The value of a dotted key; null: the deck has no such key.
Json value_at(Json deck, const std::string& key);

}  // namespace overlap::report
