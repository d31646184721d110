#pragma once

#include <string>
#include <vector>

#include "deck/reader.hpp"

/// The part of a deck that asks for many runs: `sweep: {dotted.key: [values]}`.
namespace overlap::deck {

/// A swept key and what the deck's value for it is replaced by, one after the other.
struct SweptKey {
  struct Value {
    std::string text;  ///< as spelled
    YAML::Node node;
    base::Place place;
  };
  std::string key;
  std::vector<Value> values;  ///< at least one, each once
};

/// Points that a sweep may have at most.
inline constexpr std::size_t most_points = 10000;
/// And keys: more than a deck has.
inline constexpr std::size_t most_keys = 100;

/// The value of the key `sweep`; empty where there is no sweep. Throws Error{usage}.
std::vector<SweptKey> read_sweep(const Reader& reader);

/// Takes from the sweep what an option has set to one value: the key itself and all keys below it.
void pin(YAML::Node& root, const std::string& option);

/// Puts a value of the sweep in the place of the deck's own; messages say where it stands in the
/// sweep. Throws Error{usage} where the key is below one that is no map.
void put(YAML::Node& root, const std::string& key, const SweptKey::Value& value,
         Reader::Source& source);

}  // namespace overlap::deck
