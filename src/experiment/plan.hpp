#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deck/deck.hpp"
#include "experiment/run.hpp"
#include "model/device.hpp"
#include "model/search.hpp"
#include "schedule/build.hpp"

/// From a deck and facts to the cases that run: pure, no Kokkos and no device.
namespace overlap::experiment {

/// What the program chose: name, value.
using Choices = std::vector<std::pair<std::string, std::string>>;

/// Tiles of a matrix product that `four_way` leaves to the host.
struct HostShare {
  int tiles = 0;
  double flops_per_s = 0;  ///< at which the host computes them; 0: unknown
};

/// What planning must know of a device: measured by measure::probe(), or from a device file.
struct Facts {
  std::optional<model::Device> device;  ///< that predictions are for; empty: none are made
  std::string device_name;  ///< shown with predictions for another device; empty: the present one
  std::optional<std::int64_t> free_bytes;  ///< device memory for arrays; empty: unknown
  deck::Workload workload;   ///< the deck's, copies that are given by their duration with bytes
  std::int64_t repeats = 1;  ///< of the arithmetic
  std::optional<Balance> balance;  ///< how a balanced intensity was measured
  std::optional<HostShare> host_share;
  std::optional<model::Candidate> automatic;  ///< what `auto` becomes
  Choices choices;
};

/// The deck's own numbers, before anything is known of a device.
Facts facts_of(const deck::Deck& deck);

/// The same on a device as its description says. Throws base::Error{usage} when the device does not
/// know the deck's kernel.
Facts facts_of(const deck::Deck& deck, const model::Device& device);

/// Gives copies that are given by their duration the bytes that the device moves in that time.
void size_copies(Facts& facts, const deck::Deck& deck, const model::Device& device);

/// Data cut and orders issued, before anything is proved or predicted.
struct Draft {
  schedule::Costs costs;
  schedule::Layout layout;
  /// Of issue.orders; `auto` has none before the facts say what it becomes.
  std::vector<std::optional<schedule::Schedule>> schedules;
  int lanes = 1;  ///< of the widest
};

/// Throws base::Error{usage} when the deck's tasks cannot be issued in one of its orders, and what
/// schedule::layout() throws.
Draft draft(const deck::Deck& deck, const Facts& facts);

/// A point with what became of its deck: what a plan and its outcome have in common.
struct Setup : deck::Point {
  schedule::Layout layout = {};
  std::optional<Balance> balance = {};
  Choices choices = {};
};

struct Plan : Setup {
  std::vector<Case> cases =
      {};  ///< in the deck's order, twins right behind the case they belong to
  std::int64_t host_work_pieces = 0;  ///< one for each chunk as the deck cuts it
  int lanes = 1;                      ///< that cases run on; cases may use fewer
};

/// The deck's cases, each proved free of hazards, with predictions if the facts have a device.
/// Throws base::Error{usage} when a custom list has hazards or `auto` has not become anything, and
/// what draft() throws.
Plan plan(const deck::Point& point, const Facts& facts);

/// What no device could run: throws what plan() would throw whatever the facts, and for a device
/// file base::Error{usage} when it does not know the deck's kernel.
void check(const deck::Point& point, const model::Device* device);

/// One plan of predictions for several devices.
Plan predictions(const deck::Point& point, const std::vector<model::Device>& devices);

/// The candidates for `auto`, best predicted first.
std::vector<model::Candidate> candidates(const deck::Deck& deck, const Facts& facts);

/// A candidate that was tried out, and its median time, seconds.
using Tried = std::pair<model::Candidate, double>;

/// Why `auto` chose the first: of candidates by their prediction, of those tried out by their time.
std::string why(const std::vector<model::Candidate>& candidates);
std::string why(const std::vector<Tried>& tried);

}  // namespace overlap::experiment
