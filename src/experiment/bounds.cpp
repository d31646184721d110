#include <array>
#include <cmath>

#include "experiment/judge.hpp"

namespace overlap::experiment {
namespace {

/// For each rate the run whose chunks had the least median; null: none has rates.
using Least = std::array<const MeasuredRun*, model::all_rates.size()>;

Least least_of(const std::vector<MeasuredRun>& runs) {
  Least least{};
  for (const MeasuredRun& run : runs) {
    // Tiles of the host reduce the work of the device.
    if (!run.rates || host_tiles(run.schedule) > 0) continue;
    for (std::size_t i = 0; i < least.size(); ++i) {
      const model::Rate rate = model::all_rates[i];
      if (!least[i] || (*run.rates).*rate < (*least[i]->rates).*rate) least[i] = &run;
    }
  }
  return least;
}

}  // namespace

void add_bounds(std::vector<MeasuredRun>& runs, const timeline::Engines& engines) {
  const Least least = least_of(runs);
  for (MeasuredRun& run : runs) {
    if (!run.rates) continue;
    Least from = least;
    if (host_tiles(run.schedule) > 0) from.fill(&run);
    model::Rates best = *run.rates;
    for (std::size_t i = 0; i < from.size(); ++i) {
      best.*model::all_rates[i] = (*from[i]->rates).*model::all_rates[i];
    }
    run.bounds = model::bounds(run.schedule, *run.rates, best, engines);
    run.bound_samples_s.clear();
    if (run.bounds->bound_s <= 0) {  // no work
      run.bounds.reset();
      continue;
    }
    for (std::size_t round = 0; round < run.round_rates.size(); ++round) {
      model::Rates now = best;
      for (std::size_t i = 0; i < from.size(); ++i) {
        const double sampled_s = from[i]->round_rates[round].*model::all_rates[i];
        if (!std::isnan(sampled_s)) now.*model::all_rates[i] = sampled_s;
      }
      run.bound_samples_s.push_back(model::hardware_bounds(run.schedule, now, engines).bound_s);
    }
  }
}

}  // namespace overlap::experiment
