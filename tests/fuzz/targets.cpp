#include "targets.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "deck/deck.hpp"
#include "experiment/judge.hpp"
#include "model/load.hpp"
#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results/read_files.hpp"
#include "schedule/build.hpp"

namespace overlap::fuzz {
namespace {

/// A file in memory; its path lasts as long as it does.
class File {
 public:
  explicit File(std::string_view text) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    while (descriptor_ >= 0 && !text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (descriptor_ < 0 || !text.empty()) throw std::runtime_error("no file in memory");
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// An oracle.
void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// A deck.
void deck(const std::string& input) { deck::load_points(File(input).path()); }

/// Options --set, one per line.
void overrides(const std::string& input) {
  const File file("workload: {kind: rowsum}\nissue: {lanes: 3}\n");
  std::vector<std::string> options;
  std::istringstream lines(input);
  for (std::string line; std::getline(lines, line);) options.push_back(line);
  deck::load_points(file.path(), options);
}

/// A device file.
void device(const std::string& input) { model::load_device(File(input).path()); }

/// A reference file is written as it is read.
void to_yaml_and_back(const results::Reference& reference) {
  const std::string text = results::to_yaml(reference, "a\nb");
  try {
    const results::Reference read = results::load_reference(File(text).path());
    require(results::to_yaml(read, "a\nb") == text, "a reference is read as it was written");
  } catch (const base::Error& error) {
    throw std::logic_error("a reference that was written is refused: " + std::string(error.what()));
  }
}

/// A reference file.
void reference(const std::string& input) {
  to_yaml_and_back(results::load_reference(File(input).path()));
}

/// A file of host names.
void hosts(const std::string& input) { results::read_hosts(File(input).path()); }

/// A report for every medium.
void show(const report::Report& report) {
  report::terminal(report, {.width = 80, .verbose = true});
  report::page(report);
}

void devices_of(const std::string& input) {
  const results::Fleet fleet =
      results::fleet_of({.devices = results::devices_of("a.json", input)}, {{"n1", 8}});
  show(report::fleet_report(fleet));
  report::fleet_lines(fleet, true);
  report::junit(fleet);
  const std::string text = results::to_json(fleet);
  results::Fleet read;
  describe::read(describe::Reader(describe::parse_json("fleet.json", text)), read);
  require(results::to_json(read) == text, "a fleet is read as it was written");
}

void runs_of(const std::string& input) {
  const auto all = results::measured_results("a.json", input, results::Extent::all);
  const results::Columns columns{.files = {all, all}, .to = 2};
  show(report::comparison_report(columns));
  report::csv(columns);
  show(report::comparison_report({.below = 0.1, .pairs = results::compare(all, all, 0.1)}));
  to_yaml_and_back({.path = "", .entries = results::baseline(all, std::nullopt).entries});
}

/// A result file, for one reader and for the other.
void result(const std::string& input) {
  for (const auto read : {devices_of, runs_of}) {
    try {
      read(input);
    } catch (const base::Error&) {
      // the other reader may take it
    }
  }
}

/// Far fewer than the program takes: an input must be done in a moment.
constexpr std::int64_t most_tasks = 128;
constexpr std::size_t most_points = 4;

bool small(const deck::Deck& deck) {
  const schedule::Costs costs = schedule::costs(deck.workload, deck.workload.intensity.repeats);
  const schedule::Layout layout = schedule::layout(deck, costs, std::nullopt);
  return layout.chunks_per_iteration * costs.iterations <= most_tasks &&
         costs.tasks.size() <= most_tasks;
}

/// A deck that is predicted and reported in every way there is.
void pipeline(const std::string& input) {
  static const std::vector<model::Device> devices = {model::load_device("h200"),
                                                     model::load_device("ideal_1copy")};
  const std::vector<deck::DeckPoint> points = deck::load_points(File(input).path());
  if (points.size() > most_points) return;
  results::Result result = experiment::new_result(
      points, {.build = {.backend = "x"}, .host = {.name = "x", .cpu = "x", .cores = 1}});
  result.started = "2026-01-31T12:00:00Z";
  result.predicted_for = {devices[0].name, devices[1].name};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!small(points[i].deck)) return;
    results::put(result, i, experiment::judge(experiment::predictions(points[i], devices), {}));
  }
  const std::string file = results::to_json({result});
  require(results::to_json(results::read_results(describe::parse_json("a.json", file))) == file,
          "a result is read as it was written");
  show(report::report({result}));
  report::result_lines(result);
  for (const report::Writer& writer : report::writers) {
    if (result.sweeps() && !writer.takes_sweeps) continue;
    const std::string text = writer.write({result});
    const bool json = writer.option == "--json" || writer.option == "--trace";
    const bool xml = writer.option == "--junit" || writer.suffix == ".svg";
    require(!json || nlohmann::json::accept(text), "JSON is well-formed");
    require(!xml || pugi::xml_document().load_string(text.c_str()), "XML is well-formed");
  }
}

template <void (*Take)(const std::string&)>
void tolerant(const std::string& input) {
  try {
    Take(input);
  } catch (const base::Error&) {
    // what a user reads
  }
}

}  // namespace

std::span<const Target> targets() {
  static const std::array all = {
      Target{"deck", false, tolerant<deck>},
      Target{"device", false, tolerant<device>},
      Target{"hosts", false, tolerant<hosts>},
      Target{"overrides", false, tolerant<overrides>},
      Target{"pipeline", false, tolerant<pipeline>},
      Target{"reference", false, tolerant<reference>},
      Target{"result", true, tolerant<result>},
  };
  return all;
}

}  // namespace overlap::fuzz
