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
  app.add_flag("--list", options.list,
               "List workloads, issue orders, model devices, back end, devices");
  app.add_flag("--dry-run", options.dry_run, "Print the schedules; run nothing");
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
  if (options.decks.empty() && !options.list && !options.version) {
    throw base::Error(base::ExitCode::usage, "no deck given (see miniapp --help)");
  }
  if (app.count("--json") > 0 && options.json.empty()) {
    throw base::Error(base::ExitCode::usage, "--json needs a file name");
  }
  return options;
}

}  // namespace overlap
