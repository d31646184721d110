#include <array>
#include <cmath>

#include "experiment/judge.hpp"

namespace overlap::experiment {
namespace {

/// For each rate the run whose chunks had the least median; null: none has rates.
using Least = std::array<const Case*, model::all_rates.size()>;

Least least_of(const std::vector<Case>& cases) {
  Least least{};
  for (const Case& one : cases) {
    // Tiles of the host reduce the work of the device.
    if (!one.run.rates || host_tiles(one.schedule) > 0) continue;
    for (std::size_t i = 0; i < least.size(); ++i) {
      const model::Rate rate = model::all_rates[i];
      if (!least[i] || (*one.run.rates).*rate < (*least[i]->run.rates).*rate) least[i] = &one;
    }
  }
  return least;
}

}  // namespace

void add_bounds(std::vector<Case>& cases, const timeline::Engines& engines) {
  const Least least = least_of(cases);
  for (Case& one : cases) {
    results::Run& run = one.run;
    if (!run.rates) continue;
    Least from = least;
    if (host_tiles(one.schedule) > 0) from.fill(&one);
    model::Rates best = *run.rates;
    for (std::size_t i = 0; i < from.size(); ++i) {
      best.*model::all_rates[i] = (*from[i]->run.rates).*model::all_rates[i];
    }
    run.bounds = model::bounds(one.schedule, *run.rates, best, engines);
    run.bound_samples_s.clear();
    if (run.bounds->bound_s <= 0) {  // no work
      run.bounds.reset();
      continue;
    }
    for (std::size_t round = 0; round < one.round_rates.size(); ++round) {
      model::Rates now = best;
      for (std::size_t i = 0; i < from.size(); ++i) {
        const double sampled_s = from[i]->round_rates[round].*model::all_rates[i];
        if (!std::isnan(sampled_s)) now.*model::all_rates[i] = sampled_s;
      }
      run.bound_samples_s.push_back(model::hardware_bounds(one.schedule, now, engines).bound_s);
    }
  }
}

}  // namespace overlap::experiment
