#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "base/error.hpp"

namespace overlap {

Options parse_options(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Runs overlap experiments: chunked host-device transfers and kernels in several issue "
      "orders,\n"
      "verified, timed, compared with the sequential baseline and judged.",
      "miniapp");
  app.add_option("DECK", options.decks, "YAML decks, run one after the other");
  app.add_option("--set", options.overrides, "Override a deck value; repeatable")
      ->type_name("KEY.PATH=VALUE")
      ->allow_extra_args(false);
  app.add_option("--json", options.json, "Write the result file")->type_name("FILE");
  app.add_option("--csv", options.csv, "Write a table, a row for each order and point of a sweep")
      ->type_name("FILE");
  app.add_option("--timeline", options.timelines,
                 "Draw the timelines, measured above predicted, or the times of a sweep: a picture "
                 "(.svg) or a page to explore (.html); repeatable")
      ->type_name("FILE.svg|.html")
      ->allow_extra_args(false);
  app.add_option("--trace", options.trace, "Write the timelines for Perfetto or chrome://tracing")
      ->type_name("FILE");
  app.add_option("--predict", options.predict,
                 "Predict the decks' runs on a device instead of running them: a name of "
                 "input/devices or a file; repeatable")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  app.add_option("--device", options.device,
                 "The device that predictions beside real runs are for (default: measured first)")
      ->type_name("DEVICE");
  app.add_option("--calibrate", options.calibrate,
                 "Measure this device and write its description, before any deck runs")
      ->type_name("FILE");
  app.add_flag("--list", options.list,
               "List workloads, issue orders, model devices, back end, devices");
  app.add_flag("--resume", options.resume,
               "Go on with an interrupted sweep, whose points are kept beside its result file");
  app.add_flag("--dry-run", options.dry_run,
               "Print the schedules, or the points of a sweep; run nothing");
  app.add_flag("--quiet", options.quiet, "Print the result lines alone");
  app.add_flag("--version", options.version, "Print version, git commit, Kokkos, compiler, CUDA");
  app.footer(
      "Options that begin with --kokkos- go to Kokkos.\n"
      "Exit codes: 0 pass, 1 runtime error, 2 wrong data, 3 bad usage or deck, 4 precondition not\n"
      "met, 5 performance below a criterion, 6 inconclusive, 77 skipped, 130 interrupted.");

  std::vector<std::string> arguments;  // CLI11 takes them last first
  for (int i = argc - 1; i > 0; --i) {
    const std::string_view argument = argv[i];
    (argument.starts_with("--kokkos-") ? options.kokkos : arguments).emplace_back(argument);
  }
  std::reverse(options.kokkos.begin(), options.kokkos.end());
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    throw base::Error(base::ExitCode::usage, std::string(error.what()) + " (see miniapp --help)");
  }
  if (options.decks.empty() && !options.list && !options.version && options.calibrate.empty()) {
    throw base::Error(base::ExitCode::usage, "no deck given (see miniapp --help)");
  }
  for (const char* option : {"--json", "--csv", "--timeline", "--trace"}) {
    if (options.decks.empty() && app.count(option) > 0) {
      throw base::Error(base::ExitCode::usage,
                        std::string(option) + " without a deck (see miniapp --help)");
    }
  }
  for (const std::string& file : options.timelines) {
    if (!file.ends_with(".svg") && !file.ends_with(".html")) {
      throw base::Error(base::ExitCode::usage, "--timeline: found '" + file +
                                                   "'; allowed: a name that ends in .svg or "
                                                   ".html");
    }
  }
  for (const char* option : {"--json", "--csv", "--trace", "--calibrate", "--device"}) {
    if (app.count(option) > 0 && app.get_option(option)->as<std::string>().empty()) {
      throw base::Error(base::ExitCode::usage, std::string(option) + " needs a file name");
    }
  }
  const auto together = [&](const char* a, const char* b) {
    if (app.count(a) > 0 && app.count(b) > 0) {
      throw base::Error(
          base::ExitCode::usage,
          std::string(a) + " beside " + b + ": allowed: one of the two (see miniapp --help)");
    }
  };
  together("--predict", "--device");
  together("--predict", "--calibrate");
  together("--predict", "--dry-run");
  together("--device", "--calibrate");
  together("--resume", "--predict");
  together("--resume", "--dry-run");
  if (options.resume && options.json.empty() && options.csv.empty() && options.timelines.empty()) {
    throw base::Error(base::ExitCode::usage,
                      "--resume without a result file, beside which the points are kept; allowed: "
                      "with --json, --csv or --timeline");
  }
  for (const char* option : {"--json", "--csv", "--timeline", "--trace"}) {
    together("--dry-run", option);
    together("--list", option);
    together("--version", option);
  }
  return options;
}

}  // namespace overlap
