#include <array>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>
#include <vector>

#include "base/interrupt.hpp"
#include "experiment.hpp"
#include "model/load.hpp"
#include "options.hpp"
#include "report/ascii_timeline.hpp"
#include "report/json.hpp"
#include "report/output_file.hpp"
#include "report/timeline_html.hpp"
#include "report/timeline_svg.hpp"
#include "report/trace.hpp"

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

void print_schedules(const deck::Deck& deck, const model::Device* device) {
  const schedule::Costs costs = schedule::costs(deck.workload, repeats_on(deck, device));
  // Without a device its free memory is unknown: only the deck's own limit counts.
  const schedule::Layout layout = schedule::layout(deck, costs, std::nullopt);
  report::Choices choices;
  for (const timeline::Run& run : build_runs(deck, costs, layout, std::nullopt, device, choices)) {
    std::cout << report::schedule_table(run.schedule);
  }
}

/// Finds before anything runs what could not be written afterwards.
void require_writable(const Options& options) {
  for (const std::string& file : {options.json, options.trace, options.calibrate}) {
    if (!file.empty()) report::require_writable(file);
  }
  for (const std::string& file : options.timelines) report::require_writable(file);
}

/// Writes all result files.
void write(const Options& options, const std::vector<report::Result>& results) {
  if (!options.json.empty()) report::write_file(options.json, report::to_json(results));
  if (!options.trace.empty()) report::write_file(options.trace, report::trace(results));
  for (const std::string& file : options.timelines) {
    report::write_file(file, file.ends_with(".svg") ? report::timeline_svg(results)
                                                    : report::timeline_html(results));
  }
}

base::ExitCode predict(const Options& options, const std::vector<deck::Deck>& decks,
                       const std::vector<model::Device>& devices) {
  std::vector<report::Result> results;
  for (const deck::Deck& deck : decks) {
    results.push_back(named(deck, [&] { return predict_deck(deck, devices); }));
    results.back().build = executor::build_info();
    results.back().host = executor::host_info();
    if (!options.quiet) {
      std::cout << report::predictions(results.back(), report::terminal_width());
    }
    std::cout << report::result_lines(results.back());
  }
  write(options, results);
  return base::ExitCode::pass;
}

/// How a device file came to be.
std::string calibration_note(const executor::Runtime& runtime) {
  const base::BuildInfo build = executor::build_info();
  const base::HostInfo host = executor::host_info();
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::gmtime(&now));
  return "Measured by `miniapp --calibrate` on " + std::string(date.data()) + ":\n" +
         (executor::on_gpu() ? runtime.device().name + ", " : std::string()) + host.cpu + ", " +
         std::to_string(host.cores) + " cores; Kokkos " + build.kokkos_version + " " +
         build.backend + ", " + build.compiler + ".\n";
}

/// Measures this device thoroughly and writes its description.
model::Device calibrate(const executor::Runtime& runtime, const std::string& path) {
  const bool gpu = executor::on_gpu();
  model::Device device = calibrate_device(
      runtime,
      {.most_bytes = gpu ? 256 << 20 : 64 << 20, .repetitions = gpu ? 9 : 5, .pageable = true},
      true);
  device.path = path;
  report::write_file(path, model::to_yaml(device, calibration_note(runtime)));
  return device;
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
  std::optional<model::Device> device;
  if (!options.device.empty()) device = model::load_device(options.device);
  std::vector<model::Device> predicted;
  for (const std::string& name : options.predict) predicted.push_back(model::load_device(name));
  if (options.dry_run) {
    for (const deck::Deck& deck : decks) print_schedules(deck, device ? &*device : nullptr);
    return base::ExitCode::pass;
  }
  // What no device could run is found before anything runs.
  for (const deck::Deck& deck : decks) {
    const auto costs = schedule::costs(deck.workload, deck.workload.intensity.repeats);
    const schedule::Layout layout = schedule::layout(deck, costs, std::nullopt);
    report::Choices none;
    if (!costs.tasks.empty()) {
      build_runs(deck, costs, layout, std::nullopt, nullptr, none);
    } else if (device && device->unit_s == 0) {
      named(deck, [&] { return &device->known_kernel(costs.kernel); });
    }
  }
  require_writable(options);
  if (!options.predict.empty()) return predict(options, decks, predicted);

  base::catch_interrupts();
  const executor::Runtime runtime(options.kokkos);
  if (!options.calibrate.empty()) {
    device = calibrate(runtime, options.calibrate);
    if (!options.quiet) std::cout << "wrote " << options.calibrate << '\n' << std::flush;
  }
  std::vector<report::Result> results;
  auto code = base::ExitCode::pass;
  for (const deck::Deck& deck : decks) {
    Bench<Kokkos::DefaultExecutionSpace> bench;
    const base::ExitCode outcome = guarded([&] {
      results.push_back(named(deck, [&] {
        return run_deck(deck, runtime, device ? &*device : nullptr, options.quiet, bench);
      }));
      if (!options.quiet) std::cout << report::table(results.back(), report::terminal_width());
      std::cerr << report::wrong_data(results.back());
      std::cout << report::result_lines(results.back()) << std::flush;
      return results.back().exit_code;
    });
    code = base::worst(code, outcome);
    if (outcome == base::ExitCode::interrupted) return code;
  }
  // A deck that failed leaves no result: then there are no result files either.
  if (results.size() == decks.size()) {
    code = base::worst(code, guarded([&] {
                         write(options, results);
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
