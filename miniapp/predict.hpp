#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/device.hpp"
#include "model/search.hpp"
#include "report/result.hpp"

namespace overlap {

/// What the model says about the deck's orders on some devices: a run for each device and order,
/// with nothing measured. Needs no GPU and no Kokkos runtime.
report::Result predict_deck(const deck::Deck& deck, const std::vector<model::Device>& devices);

/// The costs of the deck's workload; copies of a custom one that are given by their duration have
/// the bytes that the device moves meanwhile, which `choices` then tells.
schedule::Costs device_costs(const deck::Deck& deck, std::int64_t repeats,
                             const model::Device& device, report::Choices& choices);

/// Lanes that the deck's orders need; `auto` may choose another number later.
int lanes_of(const deck::Deck& deck, const schedule::Costs& costs, const schedule::Layout& layout);

/// Repeats of the deck's arithmetic; balanced ones as the model finds them, if there is a device.
std::int64_t repeats_on(const deck::Deck& deck, const model::Device* device);

/// Says which of the candidates, best predicted first, `auto` becomes, and why in `choices`.
using Choose =
    std::function<model::Candidate(const std::vector<model::Candidate>&, report::Choices&)>;

/// The first, which is the one that the model finds best.
model::Candidate choose_predicted(const std::vector<model::Candidate>& candidates,
                                  report::Choices& choices);

/// The deck's schedules, each proved free of hazards; for `auto` the one that is chosen of those
/// that the model predicts for the device. Throws base::Error{usage} when a custom workload's
/// list has hazards or cannot be issued in one of the orders.
std::vector<timeline::Run> build_runs(const deck::Deck& deck, const schedule::Costs& costs,
                                      const schedule::Layout& layout,
                                      std::optional<std::int64_t> device_free_bytes,
                                      const model::Device* device, report::Choices& choices,
                                      const Choose& choose = choose_predicted);

/// Puts behind every run but the baseline's the same with the disturbance, which the model knows
/// nothing of.
void add_disturbed(std::vector<timeline::Run>& runs, const deck::Disturb& disturb);

/// The host works a piece for each chunk, as the deck cuts them.
std::int64_t pieces_of_host_work(const schedule::Layout& layout, const schedule::Costs& costs);

/// Puts behind every run the same with work of the host.
void add_host_work(std::vector<timeline::Run>& runs, const deck::HostWork& work,
                   std::int64_t pieces);

/// Adds the model's timeline to every run.
void predict_runs(std::vector<timeline::Run>& runs, const model::Device& device);

}  // namespace overlap
