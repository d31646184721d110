#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "schedule/build.hpp"
#include "timeline/timeline.hpp"

namespace overlap::model {

/// A way to run a deck's workload, and what the model says about it.
struct Candidate {
  deck::Order order = deck::Order::sequential;
  std::int64_t chunks = 1;  ///< of an iteration
  int lanes = 1;
  deck::Profile profile = deck::Profile::uniform;
  double spread = 16;  ///< of a ramp
  deck::Transfer transfer = deck::Transfer::staged;
  deck::Mechanism mechanism = deck::Mechanism::streams;
  double predicted_s = 0;
  std::string busiest;  ///< the engine that is busy longest
  double busy_s = 0;    ///< and for how long
};

/// Predicts every order with 1 to 256 chunks an iteration on 1 to 32 lanes, and with the deck's own
/// numbers; ramps of chunks; and zero copy, where host memory and device allow it. Best first, of
/// equal times uniform chunks, then fewer chunks, then fewer lanes. `other_lanes` exist anyway, for
/// the deck's other orders. Throws base::Error{interrupted} after Ctrl-C.
std::vector<Candidate> search(const deck::Deck& deck, const schedule::Costs& costs,
                              const Device& device, std::optional<std::int64_t> device_free_bytes,
                              int other_lanes = 1);

/// Candidates to try out: the best of each order, profile and transfer, and the best with one
/// chunk. With `graphs` those whose tasks can be issued as a graph come in that way, too.
std::vector<Candidate> finalists(const std::vector<Candidate>& candidates, bool graphs);

/// The deck's schedule in the candidate's way.
schedule::Schedule build(const deck::Deck& deck, const schedule::Costs& costs,
                         const Candidate& candidate, std::optional<std::int64_t> device_free_bytes);

/// Repeats of the arithmetic that make a kernel of one chunk `balance` times as long as the copies
/// of it to the device. Throws base::Error{usage} when the device's rates leave none.
std::int64_t balanced_repeats(const deck::Deck& deck, const Device& device);

}  // namespace overlap::model
