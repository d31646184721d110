#include "predict.hpp"

#include <algorithm>

#include "base/machine.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "model/predict.hpp"
#include "report/console.hpp"
#include "schedule/additions.hpp"
#include "schedule/hazard.hpp"

namespace overlap {
namespace {

/// Puts behind every run its twin, if it is to have one.
template <class MakeTwin>
void add_twins(std::vector<timeline::Run>& runs, const MakeTwin& make_twin) {
  std::vector<timeline::Run> all;
  for (timeline::Run& run : runs) {
    std::optional<timeline::Run> twin = make_twin(run);
    all.push_back(std::move(run));
    if (twin) all.push_back(*std::move(twin));
  }
  runs = std::move(all);
}

}  // namespace

schedule::Costs device_costs(const deck::Deck& deck, std::int64_t repeats,
                             const model::Device& device, report::Choices& choices) {
  if (device.unit_s > 0 || !schedule::has_timed_copies(deck.workload)) {
    return schedule::costs(deck.workload, repeats);
  }
  const auto curve = [&](schedule::Stage stage) -> const model::Curve& {
    const model::Copies& copies = stage == schedule::Stage::h2d ? device.h2d : device.d2h;
    const bool staged = deck.memory.host == deck::HostMemory::pageable;
    return staged && !copies.pageable.points().empty() ? copies.pageable : copies.pinned;
  };
  // A lane's copies run on all of its cores.
  const schedule::Costs nominal = schedule::costs(deck.workload, repeats);
  const int lanes = lanes_of(deck, nominal, schedule::layout(deck, nominal, std::nullopt));
  const int cores = device.cores_of_lane(lanes);
  const auto gigabytes = [&](schedule::Stage stage) {
    return base::format_number(1e-9 / curve(stage).seconds_per_byte()) + " GB/s";
  };
  choices.emplace_back("copy rates", "to the device " + gigabytes(schedule::Stage::h2d) +
                                         ", back " + gigabytes(schedule::Stage::d2h));
  const auto bytes_in = [&](schedule::Stage stage, double seconds) {
    return curve(stage).bytes(seconds * cores);
  };
  return schedule::costs(schedule::size_copies(deck.workload, bytes_in), repeats);
}

int lanes_of(const deck::Deck& deck, const schedule::Costs& costs, const schedule::Layout& layout) {
  int lanes = 1;
  for (const deck::Order order : deck.issue.orders) {
    if (order == deck::Order::automatic) continue;
    lanes = std::max(lanes, schedule::build(costs, layout, order, deck.issue.lanes).lanes);
  }
  return lanes;
}

std::int64_t repeats_on(const deck::Deck& deck, const model::Device* device) {
  const deck::Intensity& intensity = deck.workload.intensity;
  return intensity.balance > 0 && device != nullptr ? model::balanced_repeats(deck, *device)
                                                    : intensity.repeats;
}

model::Candidate choose_predicted(const std::vector<model::Candidate>& candidates,
                                  report::Choices& choices) {
  choices.emplace_back("auto", report::why(candidates));
  return candidates.front();
}

std::vector<timeline::Run> build_runs(const deck::Deck& deck, const schedule::Costs& costs,
                                      const schedule::Layout& layout,
                                      std::optional<std::int64_t> device_free_bytes,
                                      const model::Device* device, report::Choices& choices,
                                      const Choose& choose) {
  std::vector<timeline::Run> runs;
  for (std::size_t i = 0; i < deck.issue.orders.size(); ++i) {
    const deck::Order order = deck.issue.orders[i];
    const std::string name(deck::to_string(order));
    if (const auto reason = schedule::misplaced(costs, order)) {
      throw deck::error_at(deck, base::ExitCode::usage, "issue.orders[" + std::to_string(i) + "]",
                           "found '" + name + "', which " + *reason);
    }
    if (order == deck::Order::automatic) {
      if (device == nullptr) {
        throw deck::error_at(deck, base::ExitCode::usage, "issue.orders[" + std::to_string(i) + "]",
                             "found 'auto', which needs a device; allowed: with --device or "
                             "--predict");
      }
      const auto candidates =
          model::search(deck, costs, *device, device_free_bytes, lanes_of(deck, costs, layout));
      const model::Candidate chosen = choose(candidates, choices);
      runs.push_back(
          timeline::new_run(order, model::build(deck, costs, chosen, device_free_bytes)));
    } else {
      runs.push_back(
          timeline::new_run(order, schedule::build(costs, layout, order, deck.issue.lanes)));
    }
    const schedule::Schedule& schedule = runs.back().schedule;
    const auto hazards = schedule::find_hazards(schedule, 1);
    if (hazards.empty()) continue;
    const std::string why = "order " + name + " is not safe to run: " + hazards.front().message;
    if (costs.tasks.empty()) {
      throw base::Error(base::ExitCode::runtime_error, deck.path + ": " + why);
    }
    // The list is the user's own.
    const int listed = schedule.tasks[hazards.front().task].number;
    throw deck::error_at(deck, base::ExitCode::usage,
                         "workload.tasks[" + std::to_string(listed) + "]", why);
  }
  int lanes = 1;
  for (const timeline::Run& run : runs) lanes = std::max(lanes, run.schedule.lanes);
  for (timeline::Run& run : runs) run.schedule.instances = lanes;
  return runs;
}

void add_disturbed(std::vector<timeline::Run>& runs, const deck::Disturb& disturb) {
  add_twins(runs, [&](const timeline::Run& run) -> std::optional<timeline::Run> {
    if (run.order == deck::Order::sequential || run.host_work) return std::nullopt;
    timeline::Run twin = timeline::new_run(run.order, schedule::disturbed(run.schedule, disturb));
    twin.disturbance = disturb.operation;
    return twin;
  });
}

std::int64_t pieces_of_host_work(const schedule::Layout& layout, const schedule::Costs& costs) {
  return layout.chunks_per_iteration * costs.iterations;
}

void add_host_work(std::vector<timeline::Run>& runs, const deck::HostWork& work,
                   std::int64_t pieces) {
  add_twins(runs, [&](const timeline::Run& run) -> std::optional<timeline::Run> {
    timeline::Run twin = timeline::new_run(
        run.order, schedule::with_host_work(run.schedule, work.per_chunk_s, pieces));
    twin.host_work.emplace();
    return twin;
  });
}

void predict_runs(std::vector<timeline::Run>& runs, const model::Device& device) {
  for (timeline::Run& run : runs) run.predicted = model::predict(run.schedule, device);
}

report::Result predict_deck(const deck::Deck& deck, const std::vector<model::Device>& devices) {
  report::Result result;
  result.deck = deck;
  for (const model::Device& device : devices) {
    const std::int64_t repeats = repeats_on(deck, &device);
    report::Choices choices;
    schedule::Costs costs = device_costs(deck, repeats, device, choices);
    const auto& orders = deck.issue.orders;
    if (std::find(orders.begin(), orders.end(), deck::Order::four_way) != orders.end() &&
        costs.tiling) {
      costs.host_tiles = 0;
      choices.emplace_back("host share", "none: how fast the host computes is not known");
    }
    // The device's free memory is unknown: only the deck's own limit counts.
    result.layout = schedule::layout(deck, costs, std::nullopt);
    if (deck.workload.intensity.balance > 0) {
      choices.emplace_back("intensity",
                           std::to_string(repeats) + " repeats, balanced by the model");
    }
    std::vector<timeline::Run> runs =
        build_runs(deck, costs, result.layout, std::nullopt, &device, choices);
    if (deck.host_work)
      add_host_work(runs, *deck.host_work, pieces_of_host_work(result.layout, costs));
    predict_runs(runs, device);
    for (timeline::Run& run : runs) {
      run.device = device.name;
      result.runs.push_back(std::move(run));
    }
    // Devices may share a name.
    const auto same = std::count_if(&devices.front(), &device, [&](const model::Device& before) {
      return before.name == device.name;
    });
    const std::string label = device.name + (same > 0 ? " " + std::to_string(same + 1) : "");
    for (const auto& [name, value] : choices) {
      result.choices.emplace_back(name + " on " + label, value);
    }
  }
  return result;
}

}  // namespace overlap
