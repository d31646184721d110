#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "experiment/run.hpp"
#include "model/device.hpp"
#include "schedule/build.hpp"

/// From a deck and facts to the cases to run: pure, without Kokkos and devices.
namespace overlap::experiment {

using results::Notes;

/// Facts about a device for planning: measured by measure::probe(), or from a device file.
struct Facts {
  std::optional<std::int64_t> free_bytes;  ///< device memory for arrays; empty: unknown
  deck::Workload workload;         ///< of the deck, with bytes for copies given by their duration
  std::int64_t repeats = 1;        ///< of the arithmetic
  std::optional<Balance> balance;  ///< measurement of a balanced intensity
  Notes notes;
};

/// Facts from the deck alone.
Facts facts_of(const deck::Deck& deck);

/// Facts from the deck and a device description. Throws base::Error{usage} if the device has no
/// rate for the kernel of the deck.
Facts facts_of(const deck::Deck& deck, const model::Device& device);

/// Sets the bytes of copies given by their duration to those that a lane moves in that time, by the
/// times of copies by size.
void size_copies(Facts& facts, const deck::Deck& deck, const model::Curve& h2d,
                 const model::Curve& d2h);

/// Layout and schedules, before the hazard check and predictions.
struct Draft {
  schedule::Costs costs;
  schedule::Layout layout;
  std::vector<schedule::Schedule> schedules;  ///< one per entry of issue.orders
  int lanes = 1;                              ///< of the widest schedule
};

/// Builds layout and schedules. Throws base::Error{usage} if an order cannot issue the tasks of the
/// deck, and as schedule::layout().
Draft draft(const deck::Deck& deck, const Facts& facts);

struct Plan {
  deck::DeckPoint point = {};
  schedule::Layout layout = {};
  std::optional<Balance> balance = {};
  Notes notes = {};
  std::vector<Case> cases = {};  ///< in the order of the deck; variants with disturbance or host
                                 ///< work directly after their order
  int lanes = 1;                 ///< lanes to create; cases may use fewer
};

/// The cases of a deck, proved free of hazards. Throws base::Error{usage} if a custom list has
/// hazards, and as draft().
Plan plan(const deck::DeckPoint& point, const Facts& facts);

/// Why the model has no times of a deck on a device; empty: it has.
std::string unpredictable(const deck::Deck& deck, const model::Device& device);

/// Predicts the cases of a plan, but for tiles of a host whose rate is not known. Precondition:
/// nothing is unpredictable().
void predict(Plan& plan, const model::Device& device);

/// Checks what can be checked without facts: throws errors that plan() would throw with any facts,
/// and base::Error{usage} if `device` (null: none) has no rate for the kernel of the deck.
void check(const deck::DeckPoint& point, const model::Device* device);

/// One plan with the predictions for several devices. Throws base::Error{usage} if a deck is
/// unpredictable().
Plan predictions(const deck::DeckPoint& point, const std::vector<model::Device>& devices);

}  // namespace overlap::experiment
