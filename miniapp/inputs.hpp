#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "model/device.hpp"
#include "options.hpp"
#include "results/reference.hpp"

namespace overlap {

/// Inputs of the command line, loaded.
struct Inputs {
  std::vector<std::vector<deck::DeckPoint>> decks;  ///< points per deck
  std::vector<std::map<std::string, results::Reference>>
      references;                        ///< per deck, by name in criteria
  std::optional<model::Device> device;   ///< predicts measured runs; empty: nothing does
  std::vector<model::Device> predicted;  ///< of --predict
};

/// Reads decks, references and device files. Throws base::Error{usage}, also for decks that no
/// device could run.
Inputs read_inputs(const Options& options);

/// The error with the deck's name before it, if it does not name it.
base::Error named(const deck::Deck& deck, const base::Error& error);

/// --dry-run: all schedules, or the points of a sweep.
std::string dry_run(const Inputs& inputs);

}  // namespace overlap
