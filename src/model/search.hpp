#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "schedule/build.hpp"

namespace overlap::model {

/// A way to run the workload of a deck, and its prediction.
struct Candidate {
  deck::Order order = deck::Order::sequential;
  std::int64_t chunks = 1;  ///< per iteration
  int lanes = 1;
  deck::Profile profile = deck::Profile::uniform;
  double spread = 16;  ///< of a ramp
  deck::Transfer transfer = deck::Transfer::staged;
  deck::Mechanism mechanism = deck::Mechanism::streams;
  double predicted_s = 0;
  std::string busiest;  ///< engine with the longest busy time
  double busy_s = 0;    ///< its busy time
};

/// Predicts by_engine, depth_first and breadth_first with 1 to 256 chunks per iteration on 1 to 32
/// lanes, and with the numbers of the deck; ramps; the baseline; and zero copy if host memory and
/// device support it. Best first; ties are broken in favour of uniform chunks, then fewer chunks,
/// then fewer lanes. `other_lanes`: lanes that other orders of the deck need. Throws
/// base::Error{interrupted} after Ctrl-C.
std::vector<Candidate> search(const deck::Deck& deck, const schedule::Costs& costs,
                              const Device& device, std::optional<std::int64_t> device_free_bytes,
                              int other_lanes = 1);

/// Candidates to measure: the best of each order, profile and transfer, and the best with one
/// chunk. With `graphs` each is added once more as a graph, except the baseline.
std::vector<Candidate> finalists(const std::vector<Candidate>& candidates, bool graphs);

/// The schedule of a deck as the candidate runs it.
schedule::Schedule build(const deck::Deck& deck, const schedule::Costs& costs,
                         const Candidate& candidate, std::optional<std::int64_t> device_free_bytes);

/// Number of repeats with which the kernel of one chunk takes closest to `balance` times its H2D
/// copies. Throws base::Error{usage} if the rates of the device do not determine one.
std::int64_t balanced_repeats(const deck::Deck& deck, const Device& device);

}  // namespace overlap::model
