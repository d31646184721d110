#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "experiment/plan.hpp"
#include "model/balance.hpp"
#include "model/predict.hpp"

namespace overlap::experiment {
namespace {

/// The plan of a point for the device of a prediction, which errors about its memory name.
Plan predicted_plan(const deck::DeckPoint& point, const model::Device& device) {
  try {
    Facts facts = facts_of(point.deck, device);
    for (auto& note : facts.notes) note.first += " on " + device.name;
    Plan plan = experiment::plan(point, facts);
    predict(plan, device);
    for (Case& predicted : plan.cases) predicted.run.device = device.name;
    return plan;
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::precondition) throw;
    throw base::Error(error.code(), fmt::format("{} (--predict {})", error.what(), device.name));
  }
}

}  // namespace

Facts facts_of(const deck::Deck& deck, const model::Device& device) {
  Facts facts = facts_of(deck);
  if (device.memory_bytes > 0) facts.free_bytes = device.memory_bytes;
  if (deck.workload.intensity.balance > 0) {
    facts.repeats = model::balanced_repeats(deck, device);
    facts.notes.emplace_back("intensity",
                             fmt::format("{} repeats, balanced by the model", facts.repeats));
  }
  if (device.unit_s == 0 && schedule::has_timed_copies(deck.workload)) {
    // Copies of a lane use all of its cores.
    const double part = 1.0 / device.cores_per_lane(draft(deck, facts).lanes);
    size_copies(facts, deck, model::slower(device.h2d.alone(deck.memory.host), part),
                model::slower(device.d2h.alone(deck.memory.host), part));
  }
  return facts;
}

std::string unpredictable(const deck::Deck& deck, const model::Device& device) {
  if (deck.memory.host == deck::HostMemory::managed) {
    return "managed memory: the model does not know when its pages move";
  }
  const std::string kernel = schedule::costs(deck.workload, 1).kernel;
  const bool timed = device.unit_s > 0 || deck.workload.kind == deck::WorkloadKind::custom;
  return timed || device.kernel(kernel) != nullptr ? "" : "no rate for the kernel " + kernel;
}

void predict(Plan& plan, const model::Device& device) {
  for (Case& planned : plan.cases) {
    if (host_tiles(planned.schedule) > 0 && device.host.flops_per_s == 0) {
      plan.notes.emplace_back("not predicted",
                              name(planned.run) + ": " + device.name + " has no host.products");
      continue;
    }
    planned.prediction = model::predict(model::with_effects(planned.schedule, device), device);
    // Queries alone may take no time; speed-ups would be undefined.
    const double complete_s = planned.prediction->complete_s;
    if (complete_s > 0) planned.run.predicted_s = complete_s;
  }
}

Plan predictions(const deck::DeckPoint& point, const std::vector<model::Device>& devices) {
  if (point.deck.memory.host == deck::HostMemory::managed) {
    throw deck::error_at(point.deck, base::ExitCode::usage, "memory.host",
                         "found managed with --predict; allowed: other memory, because the model "
                         "does not know when managed pages move");
  }
  Plan plan;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Plan next = predicted_plan(point, devices[i]);
    if (i == 0) {
      plan = std::move(next);
      continue;
    }
    std::ranges::move(next.cases, std::back_inserter(plan.cases));
    std::ranges::move(next.notes, std::back_inserter(plan.notes));
  }
  if (point.deck.issue.mechanism == deck::Mechanism::graph) {
    plan.notes.emplace_back("issue.mechanism", "graph: predicted as streams");
  }
  return plan;
}

}  // namespace overlap::experiment
