#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/input_file.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "report/read_files.hpp"
#include "report/read_value.hpp"
#include "report/skim.hpp"
#include "yaml/document.hpp"

namespace overlap::report {
namespace {

using deck::MetricRow;
using deck::Phase;
using experiment::DeviceRecord;
using experiment::Trouble;

/// What no figure of a device is made from: most of a file.
constexpr auto unused = std::to_array<std::string_view>(
    {"timeline", "predicted_timeline", "series", "findings", "issue_s", "chunk_issue_s", "bounds",
     "trace", "stopped", "product", "staging", "graph", "choices", "verification", "workload",
     "memory", "measure", "devices", "comparisons"});

base::Summary summary_of(const Value& value, int n) {
  if (!value.is_object()) {
    const double one = value.number();
    return {.n = n, .median = one, .min = one, .max = one, .lo = one, .hi = one};
  }
  const base::Summary summary = {.n = n,
                                 .median = value.at("median").number(),
                                 .min = value.at("min").number(),
                                 .max = value.at("max").number(),
                                 .lo = value.at("lo").number(),
                                 .hi = value.at("hi").number()};
  if (summary.lo > summary.median || summary.hi < summary.median) {
    value.at("median").fail(value.at("median").spelled(), "a number from lo to hi");
  }
  return summary;
}

/// The runs of one phase, and where they come from.
struct PhaseRuns {
  std::vector<experiment::Run> runs;
  std::vector<Value> values;
};

/// The number of a rank, or of ranks.
int rank_in(const Value& value, int least, int most) {
  const std::string allowed = fmt::format("a number from {} to {}", least, most);
  const int number = value.whole<int>(allowed);
  if (number < least || number > most) value.fail(value.spelled(), allowed);
  return number;
}

/// Of a rank among others.
std::optional<experiment::Launch> launch_of(const Value& result) {
  constexpr int most_ranks = 1 << 20;
  const auto job = result.find("job"), placement = result.find("placement");
  const auto rank = job ? job->find("rank") : std::nullopt;
  const auto ranks = job ? job->find("ranks") : std::nullopt;
  if (!rank || !ranks) return {};
  experiment::Launch launch;
  launch.ranks = rank_in(*ranks, 1, most_ranks);
  launch.rank = rank_in(*rank, 0, launch.ranks - 1);
  if (launch.ranks == 1) return {};
  for (const char* const part : {"id", "step"}) {
    launch.id += job->at_or_null(part).text_or_nothing() + " ";
  }
  if (!placement) return launch;
  launch.local_ranks = rank_in(placement->at("local_ranks"), 1, most_ranks);
  launch.local_rank = rank_in(placement->at("local_rank"), 0, launch.local_ranks - 1);
  launch.id += placement->at_or_null("launch").text_or_nothing();
  return launch;
}

/// Files have only the median of most metrics: their spread follows from the samples.
void add_run_figures(deck::Phase phase, const PhaseRuns& of, DeviceRecord& into) {
  for (std::size_t i = 0; i < of.runs.size(); ++i) {
    const experiment::Run& run = of.runs[i];
    if (run.samples_s.empty()) continue;
    for (const MetricRow& row : deck::run_metrics) {
      if (!experiment::applies_to(row.value, run)) continue;
      const auto value = of.values[i].find(std::string(row.key()));
      if (!value) continue;
      base::Summary summary = summary_of(*value, static_cast<int>(run.samples_s.size()));
      if (!value->is_object()) {
        summary = experiment::value(row.value, run, of.runs).value_or(summary);
      }
      into.figures.push_back({{phase, run.order, row.value},
                              summary,
                              experiment::unjudgeable(row.value, run, of.runs)});
    }
  }
}

/// Of `rates` and `health`, those of one phase.
void add_device_figures(deck::Phase phase, const Value& of, DeviceRecord& into) {
  for (const MetricRow& row : deck::device_metrics) {
    const bool of_link = row.needs == deck::Needs::link;
    const auto part = of.find(of_link ? "rates" : "health");
    const auto value = part ? part->find(std::string(row.key())) : std::nullopt;
    if (!value) continue;
    const int n = of_link ? static_cast<int>(part->at("h2d_s").items().size()) : 1;
    into.figures.push_back({{phase, std::nullopt, row.value}, summary_of(*value, n)});
  }
}

void add_runs(const Value& result, DeviceRecord& into) {
  std::array<PhaseRuns, deck::words<deck::Phase>.size()> phases;
  bool predicted = false, measured = false;
  for (const Value& value : result.at("runs").items()) {
    if (!value.at("point").object().empty()) {
      value.at("point").fail("a sweep", "a deck without a sweep");
    }
    experiment::Run run = read_run(value);
    (run.samples_s.empty() ? predicted : measured) = true;
    const deck::Phase phase = phase_of(value);
    if (!value.at("wrong").is_null()) {
      into.troubles.push_back({.code = base::ExitCode::wrong_data,
                               .text = experiment::name(run) + " left wrong data",
                               .phase = phase});
    }
    PhaseRuns& of = phases[static_cast<std::size_t>(phase)];
    add_run(value, std::move(run), of.runs);
    of.values.push_back(value);
  }
  const bool ended_early = !result.at("error").is_null() || result.at("interrupted").flag();
  if ((!measured || predicted) && !ended_early) {
    result.at("runs").fail(predicted ? "a prediction" : "no run", "measured runs");
  }
  experiment::set_alone(phases[static_cast<std::size_t>(Phase::together)].runs,
                        phases[static_cast<std::size_t>(Phase::alone)].runs);
  for (const auto& word : deck::words<deck::Phase>) {
    const PhaseRuns& of = phases[static_cast<std::size_t>(word.value)];
    add_run_figures(word.value, of, into);
  }
}

/// The text of a check, of a fleet with the phase.
std::string check_words(const std::string& text, const experiment::FigureKey& about, bool fleet) {
  const std::size_t colon = text.find(": ");
  return fleet && colon != std::string::npos ? experiment::words(about) + text.substr(colon) : text;
}

void add_checks(const Value& result, DeviceRecord& into) {
  for (const Value& check : result.at("checks").items()) {
    const auto verdict = check.at("verdict").word<experiment::Verdict>();
    if (verdict == experiment::Verdict::pass || verdict == experiment::Verdict::skipped) continue;
    experiment::FigureKey about{.phase = phase_of(check), .order = {}};
    about.metric = check.at("metric").word<deck::Metric>();
    if (const Value order = check.at("order"); !order.is_null()) {
      about.order = order.word<deck::Order>();
    }
    Trouble trouble{.code = experiment::code_of(about.metric, verdict),
                    .text = check_words(check.at("text").text(), about, check.has("phase")),
                    .phase = about.phase};
    if (check.at("limit").is_null()) trouble.undecided = about;
    into.troubles.push_back(std::move(trouble));
  }
}

/// Why it does not pass.
void add_troubles(const Value& result, DeviceRecord& into) {
  add_checks(result, into);
  if (const Value error = result.at("error"); !error.is_null()) {
    into.troubles.push_back(
        {.code = exit_code_in(result.at("exit_code")), .text = error.text(), .phase = {}});
  }
  if (result.at("interrupted").flag()) {
    into.troubles.push_back(
        {.code = base::ExitCode::interrupted, .text = "interrupted", .phase = {}});
  }
}

DeviceRecord device_of(const std::string& file, const Value& result) {
  // Member by member: GCC 16 destroys members of an aggregate twice when a later one throws.
  DeviceRecord record;
  static_cast<experiment::Origin&>(record) = origin_of(file, result);
  record.launch = launch_of(result);
  const Value build = result.at("build");
  const Value deck = result.at("deck");
  record.deck_name = yaml::name_of(deck.at("path").text());
  const Value keys = deck.at("resolved");
  const Value require = keys.at_or_null("require");
  record.criteria = base::sha256(keys.at("acceptance").dumped() + require.dumped());
  record.build = build.at("version").text();
  const std::string sha = build.at_or_null("git_sha").text_or_nothing();
  if (!sha.empty()) record.build += " " + sha.substr(0, 12);
  add_runs(result, record);
  add_device_figures(deck::Phase::alone, result, record);
  if (const auto together = result.find("together")) {
    add_device_figures(deck::Phase::together, *together, record);
  }
  std::ranges::stable_sort(record.figures, {}, &experiment::Figure::key);
  const bool on_gpu = !result.at("device").is_null();
  for (const Value& value : keys.at("acceptance").items()) {
    if (!value.find("reference")) continue;
    deck::Criterion criterion = read_criterion(value);
    if (criterion.holds_here(on_gpu)) record.referenced.push_back(std::move(criterion));
  }
  add_troubles(result, record);
  return record;
}

/// What became of one file.
struct Reading {
  std::vector<DeviceRecord> records;
  std::string broken;    ///< why it is
  std::string left_out;  ///< the same
};

/// The schema of another kind of file of this program; empty: it is none. Throws as parse_json().
std::string other_schema(const std::string& file, const std::string& text) {
  const Json json = parse_json(file, without_lists(text));
  const auto found = json.find("schema");
  if (found == json.end() || !found->is_string()) return "";
  const std::string schema = *found;
  return schema.starts_with("overlap-") && !schema.starts_with("overlap-result/") ? schema : "";
}

Reading reading_of(const SourceFile& file) {
  Reading reading;
  try {
    const std::string text = content_of(file.path);
    try {
      reading.records = devices_of(file.path, text);
    } catch (const base::Error&) {
      const std::string schema = file.named ? "" : other_schema(file.path, text);
      if (schema.empty()) throw;
      reading.left_out =
          base::one_line(fmt::format("{}: {}, not a result file; skipped", file.path, schema));
    }
  } catch (const base::Error& error) {
    reading.broken = error.what();
  }
  return reading;
}

/// The files *.json of a folder, by name. Throws base::Error{runtime_error}, also if there is none.
std::vector<std::string> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (auto at = std::filesystem::directory_iterator(folder, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  if (error) fail_to_read(folder + ": cannot read: " + error.message());
  if (files.empty())
    fail_to_read(folder + ": found no file *.json; allowed: a folder with result files");
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string without_lists(const std::string& text) { return without(text, unused); }

std::vector<DeviceRecord> devices_of(const std::string& file, const std::string& text) {
  const Json json = parse_json(file, without_lists(text));
  std::vector<DeviceRecord> records;
  for (const Value& result : results_in({json, file})) records.push_back(device_of(file, result));
  return records;
}

std::vector<SourceFile> source_files(const std::vector<std::string>& files_or_folders) {
  std::vector<SourceFile> files;
  std::set<std::string> known;
  for (const std::string& path : files_or_folders) {
    std::error_code unknown;
    const bool named = !std::filesystem::is_directory(path, unknown);
    for (std::string& file : named ? std::vector{path} : files_in(path)) {
      const auto place = std::filesystem::absolute(file, unknown).lexically_normal();
      if (known.insert(place.string()).second) files.push_back({std::move(file), named});
    }
  }
  return files;
}

bool is_left_out(const SourceFile& file) { return !reading_of(file).left_out.empty(); }

experiment::FleetInput read_devices(const std::vector<SourceFile>& files) {
  std::vector<Reading> readings(files.size());
  const auto read = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      base::check_interrupt();
      readings[i] = reading_of(files[i]);
    }
  };
  constexpr std::int64_t least_files = 16;  // of a thread
  base::parallel_for(static_cast<std::int64_t>(files.size()), read, least_files);
  experiment::FleetInput input{.files = files.size()};
  for (std::size_t i = 0; i < files.size(); ++i) {
    Reading& reading = readings[i];
    std::ranges::move(reading.records, std::back_inserter(input.records));
    if (!reading.broken.empty()) input.broken.push_back({files[i].path, reading.broken});
    if (!reading.left_out.empty()) input.left_out.push_back(reading.left_out);
  }
  return input;
}

}  // namespace overlap::report
