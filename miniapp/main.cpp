#include <array>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <vector>

#include "base/interrupt.hpp"
#include "deck/words.hpp"
#include "experiment.hpp"
#include "model/load.hpp"
#include "options.hpp"
#include "report/ascii_timeline.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/output_file.hpp"
#include "report/timeline_html.hpp"
#include "report/timeline_svg.hpp"
#include "report/trace.hpp"
#include "sweep.hpp"

namespace overlap {
namespace {

/// Runs `body`; what it throws becomes one line on stderr and an exit code.
template <class Body>
base::ExitCode guarded(const Body& body) {
  try {
    return body();
  } catch (const lanes::DeviceLost& error) {
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
  } catch (const lanes::DeviceLost& error) {
    throw lanes::DeviceLost(error.code(), message(error));
  } catch (const base::Error& error) {
    throw base::Error(error.code(), message(error));
  }
}

void print_schedules(const deck::Deck& deck, const model::Device* device) {
  const schedule::Costs costs = schedule::costs(deck.workload, repeats_on(deck, device));
  // Without a device its free memory is unknown: only the deck's own limit counts.
  const schedule::Layout layout = schedule::layout(deck, costs, std::nullopt);
  report::Choices choices;
  auto runs = build_runs(deck, costs, layout, std::nullopt, device, choices);
  if (deck.host_work) add_host_work(runs, *deck.host_work, pieces_of_host_work(layout, costs));
  if (deck.disturb) add_disturbed(runs, *deck.disturb);
  for (const timeline::Run& run : runs) std::cout << report::schedule_table(run);
}

/// A sweep has its own tables and files, and neither timelines nor company.
void require_alone(const Options& options, const std::vector<deck::Point>& sweep) {
  const auto fail = [](const std::string& message) {
    throw base::Error(base::ExitCode::usage, message);
  };
  if (sweep.empty()) {
    if (options.resume) fail("--resume without a sweep; allowed: with a deck that has a sweep");
    return;
  }
  const auto& path = sweep.front().deck.path;
  if (options.decks.size() > 1) {
    fail(path + ": found a sweep beside other decks; allowed: a sweep alone, or --set sweep={}");
  }
  if (!options.trace.empty()) {
    fail(path +
         ": --trace of a sweep, whose points are not traced; allowed: --json, --csv, "
         "--timeline, or --set sweep={}");
  }
}

/// Finds before anything runs what could not be written afterwards.
void require_writable(const Options& options) {
  for (const std::string& file : {options.json, options.csv, options.trace, options.calibrate}) {
    if (!file.empty()) report::require_writable(file);
  }
  for (const std::string& file : options.timelines) report::require_writable(file);
}

/// Writes all result files.
void write(const Options& options, const std::vector<report::Result>& results) {
  if (!options.json.empty()) report::write_file(options.json, report::to_json(results));
  if (!options.csv.empty()) report::write_file(options.csv, report::csv(results));
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
    results.back().build = measure::build_info();
    results.back().host = measure::host_info();
    if (!options.quiet) {
      std::cout << report::predictions(results.back(), report::terminal_width());
    }
    std::cout << report::result_lines(results.back());
  }
  write(options, results);
  return base::ExitCode::pass;
}

base::ExitCode predict_sweep(const Options& options, std::vector<deck::Point> points,
                             const std::vector<model::Device>& devices) {
  report::Result common;
  common.build = measure::build_info();
  common.host = measure::host_info();
  std::vector<std::string> names;
  for (const model::Device& device : devices) names.push_back(device.name);
  report::Sweep sweep = report::new_sweep(std::move(common), std::move(points), names);
  if (!options.quiet) std::cout << report::sweep_heading(sweep) << std::flush;
  return run_sweep(options, std::move(sweep), nullptr,
                   [&](const deck::Deck& deck, report::ProgressLine&) {
                     return named(deck, [&] { return predict_deck(deck, devices); });
                   });
}

/// Runs all points of a sweep on a device that is measured once.
base::ExitCode measure_sweep(const Options& options, const std::vector<deck::Point>& points,
                             const measure::Runtime& runtime, const model::Device* device,
                             std::optional<Bench>& bench) {
  const auto any = [&](const auto& wanted) {
    return std::any_of(points.begin(), points.end(),
                       [&](const deck::Point& point) { return wanted(point.deck); });
  };
  report::Sweep sweep = report::new_sweep(new_result(points.front().deck, runtime), points);
  std::optional<report::Journal> journal;
  if (const std::string file = journal_file(options); !file.empty()) {
    journal.emplace(file, identity(options, sweep.common), options.resume);
    if (options.resume && journal->records().empty()) {
      std::cerr << "miniapp: " << file << ": no points to go on from; the sweep starts anew\n";
    }
  }
  if (!options.quiet) std::cout << report::sweep_heading(sweep) << std::flush;
  Conduct conduct{.device = device, .present = nullptr, .heading = false, .traced = false};
  std::optional<model::Device> present;
  if (any([&](const deck::Deck& deck) { return needs_present_device(deck, device); })) {
    present = measure_device(runtime, any([](const deck::Deck& deck) {
                               return deck.memory.host == deck::HostMemory::pageable;
                             }));
    conduct.present = &*present;
  }
  return run_sweep(options, std::move(sweep), journal ? &*journal : nullptr,
                   [&](const deck::Deck& deck, report::ProgressLine& line) {
                     bench.emplace();
                     conduct.line = &line;
                     return named(deck, [&] { return run_deck(deck, runtime, conduct, *bench); });
                   });
}

/// How a device file came to be.
std::string calibration_note(const measure::Runtime& runtime) {
  const base::BuildInfo build = measure::build_info();
  const base::HostInfo host = measure::host_info();
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::gmtime(&now));
  return "Measured by `miniapp --calibrate` on " + std::string(date.data()) + ":\n" +
         (measure::on_gpu() ? runtime.device().name + ", " : std::string()) + host.cpu + ", " +
         std::to_string(host.cores) + " cores; Kokkos " + build.kokkos_version + " " +
         build.backend + ", " + build.compiler + ".\n";
}

/// Measures this device thoroughly and writes its description.
model::Device calibrate(const measure::Runtime& runtime, const std::string& path) {
  const bool gpu = measure::on_gpu();
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
    std::cout << report::version(measure::build_info());
    return base::ExitCode::pass;
  }
  if (options.list) {
    std::map<deck::WorkloadKind, std::string> unavailable;
    for (const auto& word : deck::words<deck::WorkloadKind>) {
      if (const auto why = workload::unavailable(word.value)) unavailable[word.value] = *why;
    }
    std::cout << report::list(measure::build_info(), measure::devices(), measure::on_gpu(),
                              unavailable);
    return base::ExitCode::pass;
  }
  std::vector<deck::Deck> decks;
  std::vector<deck::Point> sweep;  // empty: none
  for (const std::string& path : options.decks) {
    const std::vector<deck::Point> points = deck::load_points(path, options.overrides);
    for (const deck::Point& point : points) decks.push_back(point.deck);
    if (!points.front().values.empty()) sweep = points;
  }
  require_alone(options, sweep);
  std::optional<model::Device> device;
  if (!options.device.empty()) device = model::load_device(options.device);
  std::vector<model::Device> predicted;
  for (const std::string& name : options.predict) predicted.push_back(model::load_device(name));
  if (options.dry_run && !sweep.empty()) {
    std::cout << point_table(sweep, device ? &*device : nullptr);
    return base::ExitCode::pass;
  }
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
  if (!options.predict.empty()) {
    return sweep.empty() ? predict(options, decks, predicted)
                         : predict_sweep(options, std::move(sweep), predicted);
  }

  base::catch_interrupts();
  const measure::Runtime runtime(options.kokkos);
  if (!options.calibrate.empty()) {
    device = calibrate(runtime, options.calibrate);
    if (!options.quiet) std::cout << "wrote " << options.calibrate << '\n' << std::flush;
  }
  if (!sweep.empty()) {
    std::optional<Bench> bench;
    return guarded(
        [&] { return measure_sweep(options, sweep, runtime, device ? &*device : nullptr, bench); });
  }
  std::vector<report::Result> results;
  auto code = base::ExitCode::pass;
  const Conduct conduct{.device = device ? &*device : nullptr, .heading = !options.quiet};
  for (const deck::Deck& deck : decks) {
    Bench bench;
    const base::ExitCode outcome = guarded([&] {
      results.push_back(named(deck, [&] { return run_deck(deck, runtime, conduct, bench); }));
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
