#include "experiment/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "model/balance.hpp"
#include "model/predict.hpp"
#include "schedule/hazard.hpp"

namespace overlap::experiment {
namespace {

using base::format_seconds;

/// Throws if the schedule has a hazard. For custom workloads the error names the task in the deck.
void require_safe(const deck::Deck& deck, const schedule::Schedule& schedule, deck::Order order) {
  const auto hazards = schedule::find_hazards(schedule, 1);
  if (hazards.empty()) return;
  const std::string why = fmt::format("order {} is not safe to run: {}", deck::to_string(order),
                                      hazards.front().message);
  if (schedule.names.empty()) {
    throw base::Error(base::ExitCode::runtime_error, deck.path + ": " + why);
  }
  throw deck::error_at(
      deck, base::ExitCode::usage,
      fmt::format("workload.tasks[{}]", schedule.tasks[hazards.front().task].number), why);
}

}  // namespace

Facts facts_of(const deck::Deck& deck) {
  return {.workload = deck.workload, .repeats = deck.workload.intensity.repeats};
}

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
  if (deck.workload.kind == deck::WorkloadKind::dgemm && deck.issue.has(deck::Order::four_way)) {
    const bool on_host = device.queues == model::Queues::worker;
    share_with_host(facts, deck, device.host.flops_per_s, on_host ? nullptr : &device);
  }
  return facts;
}

void share_with_host(Facts& facts, const deck::Deck& deck, double flops_per_s,
                     const model::Device* device) {
  const std::optional<double>& share = deck.workload.host_share;
  const auto note = [&](const std::string& text) { facts.notes.emplace_back("host share", text); };
  if (!share && device == nullptr) return note("none: workload.host_share is not given");
  Draft draft = experiment::draft(deck, facts);  // with the tiles that the deck asks for
  facts.host_share = HostShare{.tiles = 0, .flops_per_s = flops_per_s};
  if (flops_per_s == 0) {
    return note(fmt::format("none{}: the host's rate is not known",
                            share ? fmt::format(" instead of {:g} %", 100 * *share) : ""));
  }
  const auto tiles = static_cast<int>(draft.costs.units);
  const std::string rate = base::format_number(1e-9 * flops_per_s) + " Gflop/s";
  if (share) {
    facts.host_share->tiles = draft.costs.host_tiles;
    return note(fmt::format("{} of {} tiles, set by the deck; the host computes {}",
                            draft.costs.host_tiles, tiles, rate));
  }
  draft.costs.host_flops_per_s = flops_per_s;
  const auto build = [&](int count) {
    draft.costs.host_tiles = count;
    return schedule::build(draft.costs, draft.layout, deck::Order::four_way, deck.issue.lanes);
  };
  const auto predicted = [&](int count) {
    return model::predict(build(count), *device).complete_s;
  };
  const double none_s = predicted(0);
  const double tile_s = build(1).tasks.back().duration_s;  // the first given
  // As many as take the host as long as the others the device. Require a gain of 2 %, because host
  // work slows down the copies.
  constexpr double worth = 0.98;
  const int even = static_cast<int>(tiles * none_s / (tiles * tile_s + none_s));
  if (even > 0 && predicted(even) < worth * none_s) {
    facts.host_share->tiles = even;
    return note(fmt::format("{} of {} tiles, predicted to be fastest: the host computes {}", even,
                            tiles, rate));
  }
  note(fmt::format("none of {} tiles: the host, at {}, needs {} for one, the device {} for all",
                   tiles, rate, format_seconds(tile_s), format_seconds(none_s)));
}

void size_copies(Facts& facts, const deck::Deck& deck, const model::Curve& h2d,
                 const model::Curve& d2h) {
  const auto gigabytes = [](const model::Curve& curve) {
    return base::format_number(1e-9 / curve.seconds_per_byte()) + " GB/s";
  };
  facts.notes.emplace_back("copy rates",
                           "to the device " + gigabytes(h2d) + ", back " + gigabytes(d2h));
  facts.workload = schedule::size_copies(deck.workload, [&](schedule::Stage stage, double seconds) {
    return (stage == schedule::Stage::h2d ? h2d : d2h).bytes(seconds);
  });
}

Draft draft(const deck::Deck& deck, const Facts& facts) {
  Draft draft;
  draft.costs = schedule::costs(facts.workload, facts.repeats);
  if (facts.host_share) {
    draft.costs.host_tiles = facts.host_share->tiles;
    draft.costs.host_flops_per_s = facts.host_share->flops_per_s;
  }
  draft.layout = schedule::layout(deck, draft.costs, facts.free_bytes);
  for (const deck::Order order : deck.issue.orders) {
    draft.schedules.push_back(schedule::build(draft.costs, draft.layout, order, deck.issue.lanes));
    draft.lanes = std::max(draft.lanes, draft.schedules.back().lanes);
  }
  return draft;
}

Plan plan(const deck::Point& point, const Facts& facts) {
  const deck::Deck& deck = point.deck;
  const Draft draft = experiment::draft(deck, facts);
  Plan plan{point, draft.layout, facts.balance, facts.notes};
  plan.host_work_pieces = draft.layout.chunks_per_iteration * draft.costs.iterations;
  plan.lanes = draft.lanes;
  for (std::size_t i = 0; i < deck.issue.orders.size(); ++i) {
    require_safe(deck, draft.schedules[i], deck.issue.orders[i]);
    Case planned;
    planned.order = deck.issue.orders[i];
    schedule::Schedule schedule = draft.schedules[i];
    schedule.instances = plan.lanes;
    set_schedule(planned, std::move(schedule));
    plan.cases.push_back(planned);
    if (deck.disturb && planned.order != deck::Order::sequential) {
      Case& variant = plan.cases.emplace_back(planned);
      set_schedule(variant, schedule::disturbed(planned.schedule, *deck.disturb));
      variant.disturbance = deck.disturb->operation;
    }
    if (deck.host_work) {
      Case& variant = plan.cases.emplace_back(planned);
      set_schedule(variant, schedule::with_host_work(planned.schedule, deck.host_work->per_chunk_s,
                                                     plan.host_work_pieces));
      variant.host_work.emplace();
    }
  }
  return plan;
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
    const schedule::Schedule schedule =
        planned.disturbance ? model::with_effects(planned.schedule, device) : planned.schedule;
    planned.prediction = model::predict(schedule, device);
    // Queries alone may take no time; speed-ups would be undefined.
    const double complete_s = planned.prediction->complete_s;
    if (complete_s > 0) planned.predicted_s = complete_s;
  }
}

/// Throws base::Error{usage} where all orders together have too many tasks. Lists of tasks and
/// tiles have limits of their own.
static void require_few_tasks(const deck::Deck& deck, const schedule::Costs& costs,
                              const schedule::Layout& layout) {
  const std::int64_t chunks = layout.chunks_per_iteration;
  std::int64_t chunk_tasks = costs.ops;
  for (const schedule::Array& array : costs.arrays) chunk_tasks += array.to_device + array.to_host;
  std::int64_t tasks = 0;
  for (const deck::Order order : deck.issue.orders) {
    const bool baseline = order == deck::Order::sequential;
    const std::int64_t pieces = (baseline && !layout.out_of_core ? 1 : chunks) * costs.iterations;
    tasks += pieces * chunk_tasks;
    if (deck.disturb && !baseline) tasks += pieces * chunk_tasks + deck.disturb->times;
    if (deck.host_work) tasks += pieces * chunk_tasks + pieces;
  }
  if (tasks <= deck::most_tasks) return;
  const bool iterates = costs.iterations > chunks;
  throw deck::error_at(
      deck, base::ExitCode::usage,
      iterates            ? "workload.iterations"
      : deck.chunks.count ? "chunks.count"
                          : "chunks.bytes",
      fmt::format("found {} {}, which make {} tasks in all orders; allowed: at most {}",
                  iterates ? costs.iterations : chunks, iterates ? "iterations" : "chunks", tasks,
                  deck::most_tasks));
}

void check(const deck::Point& point, const model::Device* device) {
  const deck::Deck& deck = point.deck;
  const Facts facts = facts_of(deck);
  if (deck.workload.kind == deck::WorkloadKind::custom) {
    const Draft listed = draft(deck, facts);
    for (std::size_t i = 0; i < listed.schedules.size(); ++i) {
      require_safe(deck, listed.schedules[i], deck.issue.orders[i]);
    }
    return;
  }
  const schedule::Costs costs = schedule::costs(facts.workload, facts.repeats);
  require_few_tasks(deck, costs, schedule::layout(deck, costs, std::nullopt));
  if (device != nullptr && device->unit_s == 0) device->required_kernel(costs.kernel);
}

/// The plan of a point for the device of a prediction, which errors about its memory name.
static Plan predicted_plan(const deck::Point& point, const model::Device& device) {
  try {
    Facts facts = facts_of(point.deck, device);
    for (auto& note : facts.notes) note.first += " on " + device.name;
    Plan plan = experiment::plan(point, facts);
    predict(plan, device);
    for (Case& predicted : plan.cases) predicted.device = device.name;
    return plan;
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::precondition) throw;
    throw base::Error(error.code(), fmt::format("{} (--predict {})", error.what(), device.name));
  }
}

Plan predictions(const deck::Point& point, const std::vector<model::Device>& devices) {
  if (point.deck.memory.host == deck::HostMemory::managed) {
    throw deck::error_at(point.deck, base::ExitCode::usage, "memory.host",
                         "found managed with --predict; allowed: other memory, because the model "
                         "does not know when managed pages move");
  }
  Plan plan;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Plan next = predicted_plan(point, devices[i]);
    for (Case& predicted : next.cases) predicted.target = static_cast<int>(i);
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
