#include "experiment/metrics.hpp"

#include <algorithm>

namespace overlap::experiment {

const Metric& metric(deck::Metric id) {
  return *std::find_if(metrics.begin(), metrics.end(),
                       [id](const Metric& metric) { return metric.id == id; });
}

const yaml::Word<deck::Metric>& word(const Metric& metric) {
  const auto& words = deck::words<deck::Metric>;
  return *std::find_if(words.begin(), words.end(),
                       [&](const auto& word) { return word.value == metric.id; });
}

}  // namespace overlap::experiment
