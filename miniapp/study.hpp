#pragma once

#include <vector>

#include "deck/deck.hpp"
#include "results/result.hpp"

namespace overlap {

/// A deck while it runs: its points, and what they found so far.
struct Study {
  std::vector<deck::Point> points;
  results::Result result;
  bool unwritten = false;  ///< whether a file could not be written
};

}  // namespace overlap
