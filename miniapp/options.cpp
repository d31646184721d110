#include "options.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/error.hpp"
#include "base/units.hpp"
#include "describe/document.hpp"
#include "names.hpp"
#include "report/output_file.hpp"

namespace overlap {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw base::Error(base::ExitCode::usage, message);
}

constexpr int most_files = 1 << 20;

/// The result file of this name, by the writers' suffixes.
Output output_of(std::string_view option, const std::string& file) {
  std::vector<std::string_view> suffixes;
  for (const report::Writer& writer : report::writers) {
    if (writer.option != option) continue;
    if (file.ends_with(writer.suffix)) return {&writer, file, {}};
    suffixes.push_back(writer.suffix);
  }
  fail(fmt::format("{}: found '{}'; allowed: a name that ends in {}", option, file,
                   fmt::join(suffixes, " or ")));
}

/// Gives an option a value, in the place of which another option may stand by mistake.
CLI::Option* with_value(CLI::Option* option, const std::string& type) {
  return option->type_name(type)->allow_extra_args(false)->check(
      [name = option->get_name(), type](const std::string& value) {
        const bool is_option = value.starts_with("--");
        if (!value.empty() && !is_option) return std::string();
        fail(fmt::format("{}: found {}; allowed: {}", name,
                         is_option ? value + ", which is an option" : "''", type));
      });
}

/// Gives it the name of a file to write, which may have some words in braces.
CLI::Option* with_output(CLI::Option* option, const std::string& type,
                         std::span<const std::string_view> allowed = {}) {
  return with_value(option, type)
      ->check([name = option->get_name(), allowed](const std::string& file) {
        require_known_placeholders(name, file, allowed);
        return std::string();
      });
}

/// The options of result files, which take_outputs() reads in the sequence of the command line.
void add_writers(CLI::App& app) {
  for (const report::Writer& writer : report::writers) {
    if (writer.help.empty()) continue;
    const std::string help(writer.help);
    CLI::Option* const option = app.add_option(std::string(writer.option), help)->take_all();
    with_output(option, std::string(writer.type), placeholders);
  }
}

/// The subcommands, which read results and need no device.
void add_commands(CLI::App& app, Options& options) {
  const auto take_below = [&options](const std::string& text) {
    options.below = base::parse_part(text);
    if (!options.below || *options.below < 0 || *options.below > 1) {
      fail(fmt::format("--below: found '{}'; allowed: a fraction from 0 to 100 %, such as 3%",
                       text));
    }
  };
  const auto command = [&](Command value, const char* name, const char* help, const char* files,
                           int least) {
    CLI::App* const subcommand = app.add_subcommand(name, help);
    subcommand->add_option(files, options.results, "Results, at least " + std::to_string(least))
        ->expected(least, most_files)
        ->required()
        ->option_text("...");
    subcommand->add_flag("--quiet", options.quiet, "Print only the result lines");
    subcommand->add_flag("--verbose", options.verbose, "Print details, too");
    subcommand->callback([&options, value] { options.command = value; });
    return subcommand;
  };
  CLI::App* const baseline = command(Command::baseline, "baseline",
                                     "Make a reference file from results", "FILE|FOLDER", 1);
  CLI::App* const compare = command(Command::compare, "compare",
                                    "Compare later results with the first one", "FILE|FOLDER", 2);
  CLI::App* const merge = command(
      Command::merge, "merge", "Judge the results of many devices as one fleet", "FILE|FOLDER", 1);
  CLI::App* const show = command(
      Command::show, "show", "Report results, a fleet or a comparison as if just made", "FILE", 1);
  const auto output = [](CLI::App* subcommand, const char* name, const char* type,
                         const std::string& help) {
    return with_output(subcommand->add_option(name, help), type);
  };
  with_output(baseline->add_option("-o", options.output, "Reference file to write"), "FILE.yaml")
      ->required();
  CLI::Option* const json = output(compare, "--json", "FILE", "Write the comparison");
  output(compare, "--report", "FILE.html", "Write it as an HTML page");
  CLI::Option* const side_by_side = compare->add_flag(
      "--side-by-side", options.side_by_side,
      "Show all files side by side, one column per file, without verdicts: for porting studies");
  side_by_side->excludes(json);
  compare
      ->add_flag("--common", options.common,
                 "Judge what both files have; else orders and points of one file are inconclusive")
      ->excludes(side_by_side);
  with_value(compare->add_option("--to", options.to, "The column that ratios refer to (default 1)"),
             "N")
      ->needs(side_by_side);
  output(compare, "--csv", "FILE", "Write a table: one row per file and figure")
      ->needs(side_by_side);
  with_value(merge->add_option("--expect", options.expected,
                               "File that lists the hosts that must have a result, as host or "
                               "host:devices"),
             "HOSTS");
  with_value(
      merge->add_option("--reference", options.reference, "Reference file to judge the devices by"),
      "FILE");
  output(merge, "--json", "FILE", "Write the fleet file");
  output(merge, "--junit", "FILE", "Write the verdicts as JUnit XML: one test per device");
  output(merge, "--report", "FILE.html", "Write it as an HTML page");
  add_writers(*show);
  for (CLI::App* const sub : {baseline, compare}) {
    CLI::Option* const below =
        sub->add_option_function<std::string>(
               "--below", take_below,
               sub == baseline ? "Tolerance (default: from the spread of the devices)"
                               : "How much worse judged metrics may be (default 1%)")
            ->type_name("FRACTION");
    if (sub == compare) below->excludes(side_by_side);
  }
}

/// The result files in the sequence of the command line.
void take_outputs(const CLI::App& app, Options& options) {
  std::map<const CLI::Option*, std::size_t> next_value;
  for (const CLI::Option* const option : app.parse_order()) {
    const std::string name = option->get_name();
    if (std::ranges::find(report::writers, name, &report::Writer::option) == report::writers.end())
      continue;
    options.outputs.push_back(output_of(name, option->results().at(next_value[option]++)));
  }
}

/// Rejects a misspelled command, which was taken for a deck.
void require_no_command(const CLI::App& app, const Options& options) {
  std::error_code error;
  if (options.decks.empty() || std::filesystem::exists(options.decks.front(), error)) return;
  std::vector<std::string> commands;
  for (const CLI::App* const command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
  }
  const std::string suggestion = describe::suggestion(options.decks.front(), commands);
  if (suggestion.empty()) return;
  fail(fmt::format("found {}; allowed: decks, or a command ({}) and its arguments{}",
                   describe::quoted(options.decks.front()), fmt::join(commands, ", "), suggestion));
}

/// Rejects an option that miniapp, or else its command, does not have.
[[noreturn]] void fail_unknown(const CLI::App& app) {
  const bool in_command = app.remaining().empty();
  const CLI::App& parser = in_command ? *app.get_subcommands().front() : app;
  std::vector<std::string> names;
  for (const CLI::Option* const option : parser.get_options()) names.push_back(option->get_name());
  const std::string argument = parser.remaining().front();
  const std::string name = argument.substr(0, argument.find('='));
  fail(fmt::format("found {}; allowed: the options in miniapp {}--help{}", describe::quoted(name),
                   in_command ? parser.get_name() + " " : "", describe::suggestion(name, names)));
}

/// The help without relations of options.
struct Help : CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = Formatter::make_option_opts(option);
    return text.substr(0, std::min(text.find(" Needs:"), text.find(" Excludes:")));
  }
};

/// Options that cannot stand together or need a deck.
void relate(CLI::App& app) {
  const auto exclude = [&](const std::string& a, const std::string& b) {
    app.get_option(a)->excludes(app.get_option(b));
  };
  const std::array modes = {"--predict", "--calibrate", "--dry-run", "--resume", "--fleet"};
  for (std::size_t i = 1; i < modes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) exclude(modes[k], modes[i]);
  }
  for (const char* const other : {"--predict", "--calibrate"}) exclude("--device", other);
  exclude("--predict", "--reference");
  for (const char* const option : {"--set", "--reference"}) app.get_option(option)->needs("DECK");
  for (const report::Writer& writer : report::writers) {
    exclude("--dry-run", std::string(writer.option));
    app.get_option(std::string(writer.option))->needs("DECK");
  }
  for (const char* const alone : {"--list", "--version"}) {
    for (const CLI::Option* const other : app.get_options()) {
      const bool details = other->get_name() == "--verbose" && alone == std::string_view("--list");
      if (other->get_name() != alone && !details) exclude(alone, other->get_name());
    }
  }
}

/// Rejects what is neither a deck nor a command, and --resume without a result file.
void check(const CLI::App& app, const Options& options) {
  require_no_command(app, options);
  const bool asks = options.list || options.version ||
                    std::ranges::find(options.kokkos, "--kokkos-help") != options.kokkos.end();
  if (options.decks.empty() && options.calibrate.empty() && !asks) {
    fail("no deck given (see miniapp --help)");
  }
  const auto keeps_points = [](const Output& output) {
    return is_json(output) && !report::is_stream(output.path);
  };
  if (options.resume && std::ranges::none_of(options.outputs, keeps_points)) {
    fail("--resume without a result file; allowed: with --json FILE, the one to continue");
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Runs overlap experiments: chunked host-device transfers and kernels in\n"
      "several issue orders, verified, timed, compared with the sequential baseline\n"
      "and judged.",
      "miniapp");
  app.add_option("DECK", options.decks,
                 "YAML decks or names of shipped decks, run one after the other");
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    with_value(app.add_option(name, value, help), type);
  };
  add("--set", options.overrides, "KEY.PATH=VALUE", "Override a deck value; repeatable");
  add_writers(app);
  add("--predict", options.predict, "DEVICE",
      "Predict the decks' runs on a device instead of running them: a name from input/devices or a "
      "file; repeatable");
  add("--device", options.device, "DEVICE",
      "Predict measured runs with this device: a name from input/devices, a file, or none "
      "(default: the name that was measured on the device and link at hand)");
  add("--reference", options.reference, "FILE",
      "Reference for criteria with `reference: given`: a name from input/references or a file");
  with_output(
      app.add_option("--calibrate", options.calibrate,
                     "Measure this device and write a device file, which predicts the decks"),
      "FILE", std::span(placeholders).subspan(1));
  app.add_flag("--fleet", options.fleet,
               "Run under mpirun or srun with one rank per device: the devices of a node one at a "
               "time, then all together");
  app.add_flag("--list", options.list,
               "List workloads, issue orders, model devices, back end, devices");
  app.add_flag("--resume", options.resume,
               "Continue an interrupted sweep: run the points that the file of --json lacks");
  app.add_flag("--dry-run", options.dry_run,
               "Print the schedules, or the points of a sweep; run nothing");
  app.add_flag("--quiet", options.quiet, "Print only the result lines");
  app.add_flag("--verbose", options.verbose,
               "Print details, too: host times, rates, all that a page has; with --list the model "
               "devices for teaching");
  app.add_flag("--version", options.version,
               "Print version, git commit, Kokkos, compiler, CUDA or HIP");
  app.footer(
      "Options that begin with --kokkos- go to Kokkos (see miniapp --kokkos-help).\n"
      "Exit codes: 0 pass, 1 runtime error, 2 wrong data, 3 bad usage or deck,\n"
      "4 precondition not met, 5 performance below a criterion, 6 inconclusive,\n"
      "77 skipped, 130 interrupted.");

  add_commands(app, options);
  relate(app);
  app.formatter(std::make_shared<Help>());

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
  } catch (const CLI::ExtrasError&) {
    require_no_command(app, options);
    fail_unknown(app);
  } catch (const CLI::ParseError& error) {
    fail(std::string(error.what()) + " (see miniapp --help)");
  }
  if (options.command != Command::run && !app.parse_order().empty()) {
    fail(fmt::format(
        "found {} before a command; allowed: after the command",
        options.decks.empty() ? app.parse_order().front()->get_name() : options.decks.front()));
  }
  take_outputs(options.command == Command::run ? app : *app.get_subcommands().front(), options);
  if (options.command == Command::run) check(app, options);
  return options;
}

}  // namespace overlap
