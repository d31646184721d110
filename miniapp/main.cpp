#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

#include "base/interrupt.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "report/json.hpp"
#include "report/output_file.hpp"

namespace overlap {
namespace {

/// Runs `body`; what it throws becomes one line on stderr and an exit code.
template <class Body>
base::ExitCode guarded(const Body& body) {
  try {
    return body();
  } catch (const executor::DeviceLost& error) {
    // Freeing and finalizing would fail, with a stack trace.
    std::cerr << "miniapp: error: " << error.what() << '\n';
    std::_Exit(static_cast<int>(error.code()));
  } catch (const base::Error& error) {
    std::cerr << "miniapp: error: " << error.what() << '\n';
    return error.code();
  } catch (const std::exception& error) {
    std::cerr << "miniapp: error: " << error.what() << '\n';
    return base::ExitCode::runtime_error;
  }
}

/// Runs `body`; puts the deck's name before an error that does not name it.
template <class Body>
auto named(const deck::Deck& deck, const Body& body) {
  const auto message = [&](const base::Error& error) {
    const std::string text = error.what();
    return text.starts_with(deck.path) ? text : deck.path + ": " + text;
  };
  try {
    return body();
  } catch (const executor::DeviceLost& error) {
    throw executor::DeviceLost(error.code(), message(error));
  } catch (const base::Error& error) {
    throw base::Error(error.code(), message(error));
  }
}

void print_schedules(const deck::Deck& deck) {
  const schedule::Costs costs = schedule::costs(deck.workload, deck.workload.intensity.repeats);
  // Without a device its free memory is unknown: only the deck's own limit counts.
  const schedule::Layout layout = schedule::layout(deck, costs, std::nullopt);
  for (const auto& schedule : build_schedules(deck, costs, layout)) {
    std::cout << report::schedule_table(schedule);
  }
}

base::ExitCode run(const Options& options) {
  if (!options.help.empty()) {
    std::cout << options.help;
    return base::ExitCode::pass;
  }
  if (options.version) {
    std::cout << report::version(executor::build_info());
    return base::ExitCode::pass;
  }
  if (options.list) {
    std::cout << report::list(executor::build_info(), executor::devices(), executor::on_gpu());
    return base::ExitCode::pass;
  }
  std::vector<deck::Deck> decks;
  for (const std::string& path : options.decks)
    decks.push_back(deck::load(path, options.overrides));
  if (options.dry_run) {
    for (const deck::Deck& deck : decks) print_schedules(deck);
    return base::ExitCode::pass;
  }
  // What no device could run is found before anything runs.
  for (const deck::Deck& deck : decks) {
    const auto costs = schedule::costs(deck.workload, deck.workload.intensity.repeats);
    const schedule::Layout layout = schedule::layout(deck, costs, std::nullopt);
    if (!costs.tasks.empty()) build_schedules(deck, costs, layout);
  }
  if (!options.json.empty()) report::require_writable(options.json);

  base::catch_interrupts();
  const executor::Runtime runtime(options.kokkos);
  std::vector<report::Result> results;
  auto code = base::ExitCode::pass;
  for (const deck::Deck& deck : decks) {
    Bench<Kokkos::DefaultExecutionSpace> bench;
    const base::ExitCode outcome = guarded([&] {
      results.push_back(named(deck, [&] { return run_deck(deck, runtime, options.quiet, bench); }));
      if (!options.quiet) std::cout << report::table(results.back());
      std::cerr << report::wrong_data(results.back());
      std::cout << report::result_lines(results.back()) << std::flush;
      return results.back().exit_code;
    });
    code = base::worst(code, outcome);
    if (outcome == base::ExitCode::interrupted) return code;
  }
  // A deck that failed leaves no result: then there is no result file either.
  if (!options.json.empty() && results.size() == decks.size()) {
    code = base::worst(code, guarded([&] {
                         report::write_file(options.json, report::to_json(results));
                         return base::ExitCode::pass;
                       }));
  }
  return code;
}

}  // namespace
}  // namespace overlap

int main(int argc, char** argv) {
  using namespace overlap;
  base::ExitCode code = guarded([&] { return run(parse_options(argc, argv)); });
  if (!std::cout.flush()) {
    std::cerr << "miniapp: error: standard output: cannot write\n";
    code = base::worst(code, base::ExitCode::runtime_error);
  }
  return static_cast<int>(code);
}
