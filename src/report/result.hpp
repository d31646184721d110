#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/machine.hpp"
#include "deck/deck.hpp"
#include "schedule/build.hpp"
#include "timeline/run.hpp"
#include "verdict/diagnosis.hpp"
#include "verdict/verdict.hpp"

namespace overlap::report {

/// What the program chose: name, value.
using Choices = std::vector<std::pair<std::string, std::string>>;

/// One deck, done: what every writer writes.
struct Result {
  base::BuildInfo build;
  base::HostInfo host;
  std::optional<base::DeviceInfo> device;  ///< empty on host back ends
  deck::Deck deck;
  std::vector<deck::Point::Value> point;  ///< of a sweep; empty: the deck has none
  schedule::Layout layout;
  std::optional<timeline::Balance> balance;  ///< of a balanced intensity
  Choices choices;
  std::vector<timeline::Run> runs;
  int verified_runs = 0;
  double reference_s = 0;  ///< spent on the reference results and the comparison, all runs together
  verdict::Environment environment;
  std::vector<verdict::Check> checks;
  verdict::Verdict verdict = verdict::Verdict::pass;
  base::ExitCode exit_code = base::ExitCode::pass;
};

}  // namespace overlap::report
