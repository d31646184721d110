#include "predict.hpp"

#include <algorithm>

#include "base/machine.hpp"
#include "deck/words.hpp"
#include "model/predict.hpp"
#include "model/search.hpp"
#include "report/console.hpp"
#include "schedule/hazard.hpp"

namespace overlap {

std::vector<timeline::Run> build_runs(const deck::Deck& deck, const schedule::Costs& costs,
                                      const schedule::Layout& layout,
                                      std::optional<std::int64_t> device_free_bytes,
                                      const model::Device* device, report::Choices& choices) {
  std::vector<timeline::Run> runs;
  for (const deck::Order order : deck.issue.orders) {
    if (order == deck::Order::automatic) {
      const auto candidates = model::search(deck, costs, *device, device_free_bytes);
      choices.emplace_back("auto", report::why(candidates));
      runs.push_back(timeline::new_run(
          order, model::build(deck, costs, candidates.front(), device_free_bytes)));
    } else {
      runs.push_back(
          timeline::new_run(order, schedule::build(costs, layout, order, deck.issue.lanes)));
    }
    const auto hazards = schedule::find_hazards(runs.back().schedule, 1);
    if (!hazards.empty()) {
      throw base::Error(base::ExitCode::runtime_error,
                        deck.path + ": order " + std::string(deck::to_string(order)) +
                            " is not safe to run: " + hazards.front().message);
    }
  }
  int lanes = 1;
  for (const timeline::Run& run : runs) lanes = std::max(lanes, run.schedule.lanes);
  for (timeline::Run& run : runs) run.schedule.instances = lanes;
  return runs;
}

void predict_runs(std::vector<timeline::Run>& runs, const model::Device& device) {
  for (timeline::Run& run : runs) run.predicted = model::predict(run.schedule, device);
}

report::Result predict_deck(const deck::Deck& deck, const std::vector<model::Device>& devices) {
  report::Result result;
  result.deck = deck;
  for (const model::Device& device : devices) {
    const std::int64_t repeats = deck.workload.intensity.balance > 0
                                     ? model::balanced_repeats(deck, device)
                                     : deck.workload.intensity.repeats;
    const schedule::Costs costs = schedule::costs(deck.workload, repeats);
    // The device's free memory is unknown: only the deck's own limit counts.
    result.layout = schedule::layout(deck, costs, std::nullopt);
    report::Choices choices;
    if (deck.workload.intensity.balance > 0) {
      choices.emplace_back("intensity",
                           std::to_string(repeats) + " repeats, balanced by the model");
    }
    std::vector<timeline::Run> runs =
        build_runs(deck, costs, result.layout, std::nullopt, &device, choices);
    predict_runs(runs, device);
    for (timeline::Run& run : runs) {
      run.device = device.name;
      result.runs.push_back(std::move(run));
    }
    for (const auto& [name, value] : choices) {
      result.choices.emplace_back(name + " on " + device.name, value);
    }
  }
  return result;
}

}  // namespace overlap
