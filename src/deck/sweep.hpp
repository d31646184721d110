#pragma once

#include <string>
#include <vector>

#include "yaml/reader.hpp"

/// The part of a deck that asks for many runs: `sweep: {dotted.key: [values]}`.
namespace overlap::deck {

/// A swept key and what the deck's value for it is replaced by, one after the other.
struct SweptKey {
  std::string key;
  std::vector<yaml::NodePtr> values;  ///< scalars; at least one, each once
};

/// Points that a sweep may have at most.
inline constexpr std::size_t most_points = 10000;
/// And keys: more than a deck has.
inline constexpr std::size_t most_keys = 100;

/// The value of the key `sweep`; empty where there is no sweep. Throws Error{usage}.
std::vector<SweptKey> read_sweep(const yaml::Reader& reader);

}  // namespace overlap::deck
