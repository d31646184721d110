#include "experiment/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "model/balance.hpp"
#include "model/predict.hpp"
#include "model/spread.hpp"
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
  facts.device = device;
  if (device.memory_bytes > 0) facts.free_bytes = device.memory_bytes;
  if (deck.workload.intensity.balance > 0) {
    facts.repeats = model::balanced_repeats(deck, device);
    facts.notes.emplace_back("intensity",
                             fmt::format("{} repeats, balanced by the model", facts.repeats));
  }
  size_copies(facts, deck, device);
  return facts;
}

void size_copies(Facts& facts, const deck::Deck& deck, const model::Device& device) {
  if (device.unit_s > 0 || !schedule::has_timed_copies(deck.workload)) return;
  const auto curve = [&](schedule::Stage stage) -> const model::Curve& {
    return device.copies(stage).alone(deck.memory.host);
  };
  const auto gigabytes = [&](schedule::Stage stage) {
    return base::format_number(1e-9 / curve(stage).seconds_per_byte()) + " GB/s";
  };
  facts.notes.emplace_back("copy rates", "to the device " + gigabytes(schedule::Stage::h2d) +
                                             ", back " + gigabytes(schedule::Stage::d2h));
  // Copies of a lane use all of its cores.
  const int cores = device.cores_per_lane(draft(deck, facts_of(deck)).lanes);
  facts.workload = schedule::size_copies(deck.workload, [&](schedule::Stage stage, double seconds) {
    return curve(stage).bytes(seconds * cores);
  });
}

Draft draft(const deck::Deck& deck, const Facts& facts) {
  Draft draft;
  draft.costs = schedule::costs(facts.workload, facts.repeats);
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
  const std::int64_t chunks = draft.layout.chunks_per_iteration * draft.costs.iterations;
  plan.lanes = draft.lanes;
  for (std::size_t i = 0; i < deck.issue.orders.size(); ++i) {
    require_safe(deck, draft.schedules[i], deck.issue.orders[i]);
    Case planned;
    planned.order = deck.issue.orders[i];
    planned.device = facts.device_name;
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
      set_schedule(variant,
                   schedule::with_host_work(planned.schedule, deck.host_work->per_chunk_s, chunks));
      variant.host_work = true;
    }
  }
  if (facts.is_current_device) plan.current_device = facts.device;
  for (Case& planned : plan.cases) {
    if (!facts.device) continue;
    if (host_tiles(planned.schedule) > 0 && facts.device->host.flops_per_s == 0) {
      plan.notes.emplace_back("not predicted", name(planned) + ": the device has no host.products");
      continue;
    }
    predict(planned, *facts.device);
  }
  return plan;
}

void predict(Case& planned, const model::Device& device, const std::function<void()>& step) {
  const schedule::Schedule schedule = model::with_effects(planned.schedule, device);
  planned.prediction = model::predict(schedule, device, step);
  const auto expected = model::expected(schedule, device, step);
  planned.predicted_lo_s = expected ? std::optional(expected->lo_s) : std::nullopt;
  planned.predicted_hi_s = expected ? std::optional(expected->hi_s) : std::nullopt;
  // Queries alone may take no time; speed-ups would be undefined.
  const double complete_s = planned.prediction->complete_s;
  planned.predicted_s = complete_s > 0 ? std::optional(complete_s) : std::nullopt;
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
static Plan predicted_plan(const deck::Point& point, const Facts& facts) {
  try {
    return plan(point, facts);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::precondition) throw;
    throw base::Error(error.code(),
                      fmt::format("{} (--predict {})", error.what(), facts.device_name));
  }
}

Plan predictions(const deck::Point& point, const std::vector<model::Device>& devices) {
  Plan plan;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Facts facts = facts_of(point.deck, devices[i]);
    facts.device_name = devices[i].name;
    for (auto& note : facts.notes) note.first += " on " + facts.device_name;
    Plan next = predicted_plan(point, facts);
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
