#include "experiment/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
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

/// Throws base::Error{usage} where all orders together have too many tasks. Lists of tasks and
/// tiles have limits of their own.
void require_few_tasks(const deck::Deck& deck, const schedule::Costs& costs,
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

}  // namespace

Facts facts_of(const deck::Deck& deck) {
  return {.workload = deck.workload, .repeats = deck.workload.intensity.repeats};
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
  draft.layout = schedule::layout(deck, draft.costs, facts.free_bytes);
  for (const deck::Order order : deck.issue.orders) {
    draft.schedules.push_back(schedule::build(draft.costs, draft.layout, order, deck.issue.lanes));
    draft.lanes = std::max(draft.lanes, draft.schedules.back().lanes);
  }
  return draft;
}

Plan plan(const deck::DeckPoint& point, const Facts& facts) {
  const deck::Deck& deck = point.deck;
  const Draft draft = experiment::draft(deck, facts);
  Plan plan{point, draft.layout, facts.balance, facts.notes};
  const std::int64_t chunks = draft.layout.chunks_per_iteration * draft.costs.iterations;
  plan.lanes = draft.lanes;
  for (std::size_t i = 0; i < deck.issue.orders.size(); ++i) {
    require_safe(deck, draft.schedules[i], deck.issue.orders[i]);
    Case planned;
    planned.run.order = deck.issue.orders[i];
    schedule::Schedule schedule = draft.schedules[i];
    schedule.instances = plan.lanes;
    set_schedule(planned, std::move(schedule));
    plan.cases.push_back(planned);
    if (deck.disturb && planned.run.order != deck::Order::sequential) {
      Case& variant = plan.cases.emplace_back(planned);
      set_schedule(variant, schedule::disturbed(planned.schedule, *deck.disturb));
      variant.run.disturbance = deck.disturb->operation;
    }
    if (deck.host_work) {
      Case& variant = plan.cases.emplace_back(planned);
      set_schedule(variant,
                   schedule::with_host_work(planned.schedule, deck.host_work->per_chunk_s, chunks));
      variant.run.host_work.emplace();
    }
  }
  return plan;
}

void check(const deck::DeckPoint& point, const model::Device* device) {
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

}  // namespace overlap::experiment
