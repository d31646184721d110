#include "report/read_value.hpp"

#include <time.h>

#include <array>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/units.hpp"
#include "experiment/reference.hpp"
#include "report/json.hpp"
#include "report/skim.hpp"

namespace overlap::report {

void fail_to_read(const std::string& message, base::ExitCode code) {
  throw base::Error(code, message);
}

Json parse_json(const std::string& file, const std::string& text) {
  if (nesting(text) > most_nested) {
    fail_to_read(
        fmt::format("{}: found lists and objects more than {} deep; allowed: a result file", file,
                    most_nested));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {  // its byte counts from 1
    const std::string_view before(text.data(),
                                  std::clamp<std::size_t>(error.byte, 1, text.size() + 1) - 1);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    fail_to_read(
        fmt::format("{}:{}:{}: found no valid JSON; allowed: a result file", file, line, column));
  } catch (const Json::exception&) {
    fail_to_read(file + ": found a number with more than 308 digits; allowed: a result file");
  }
}

std::vector<Value> results_in(const Value& root) {
  std::vector<Value> results = {root};
  if (root.has("results")) results = root.at("results").items();
  if (results.empty()) root.at("results").fail("no result", "one per deck");
  for (const Value& result : results) {
    if (!result.has("schema") || !result.at("schema").is(result_schema)) {
      result.fail(result.has("schema") ? result.at("schema").spelled() : "no schema",
                  fmt::format("a result file, schema {}", result_schema));
    }
    require_consistent(result);
  }
  return results;
}

namespace {

/// The link of the device of a result, as measured while awake if recorded.
std::optional<std::string> link_of(const Value& result) {
  const auto of = [](const Value& state) -> std::optional<std::string> {
    std::vector<std::optional<int>> numbers;
    for (const char* key : {"pcie_gen", "pcie_width"}) {
      const Value value = state.at(key);
      numbers.push_back(value.is_null() ? std::nullopt
                                        : std::optional(value.whole<int>("a whole number")));
    }
    return base::spell_link(numbers[0], numbers[1]);
  };
  for (const Value& phase : {result, result.at_or_null("together")}) {
    if (phase.is_null() || !phase.has("health")) continue;
    const Value health = phase.at("health");
    if (health.has("after") && !health.at("after").is_null()) return of(health.at("after"));
  }
  return of(result.at("device"));
}

std::string start_in(const Value& value) {
  std::tm time = {};
  const std::string text = value.text();
  const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  constexpr std::size_t characters = std::string_view("2026-01-31T12:00:00Z").size();
  if (end == nullptr || *end != '\0' || text.size() != characters) {
    value.fail(yaml::quoted(text), "a time such as 2026-01-31T12:00:00Z");
  }
  return text;
}

}  // namespace

experiment::Origin origin_of(const std::string& file, const Value& result) {
  // Member by member: GCC 16 destroys members of an aggregate twice when a later one throws.
  experiment::Origin origin;
  origin.file = file;
  origin.machine.backend = result.at("build").at("backend").name();
  origin.machine.deck = result.at("deck").at("identity").name();
  origin.started = start_in(result.at("started"));
  const Value host = result.at("host");
  origin.host = host.at("name").name();
  origin.unit = origin.host;
  origin.machine.device = host.at("cpu").name();
  const auto job = result.find("job");
  if (const auto rank = job ? job->find("rank") : std::nullopt) {
    origin.slot = fmt::format("{}", rank->number());
    origin.unit = "rank" + origin.slot;
  }
  const Value device = result.at("device");
  if (device.is_null()) return origin;
  origin.machine.device = device.at("name").name();
  origin.machine.link = link_of(result);
  origin.driver = device.at_or_null("driver").text_or_nothing();
  if (const auto pci = device.find("pci")) {
    origin.slot = pci->text();
    origin.unit = origin.slot;
  }
  if (const Value uuid = device.at("uuid"); !uuid.is_null()) {
    origin.unit = uuid.text();
    origin.unique = true;
  }
  return origin;
}

deck::Phase phase_of(const Value& entry) {
  const Value phase = entry.at_or_null("phase");
  return phase.is_null() ? deck::Phase::alone : phase.word<deck::Phase>();
}

experiment::Run read_run(const Value& value) {
  experiment::Run run;
  run.order = value.at("order").word<deck::Order>();
  if (const Value disturb = value.at("disturb"); !disturb.is_null()) {
    run.disturbance = disturb.word<deck::Disturbance>();
  }
  if (const Value work = value.at("host_work"); !work.is_null()) {
    run.host_work = true;
    run.host_work_samples.samples_s = work.at("samples_s").times();
  }
  run.samples_s = value.at("samples_s").times();
  run.verified = value.at("verified").flag();
  if (const Value error = value.at("max_error"); !error.is_null()) run.max_error = error.number();
  if (const Value bound = value.at("bound_s"); !bound.is_null()) {
    run.bounds = model::Bounds{.bound_s = bound.number(),
                               .schedule_bound_s = value.at("schedule_bound_s").number()};
  }
  run.schedule.tasks = {
      {.stage = schedule::Stage::h2d, .bytes = value.at("bytes").whole<std::size_t>("a size")}};
  return run;
}

void add_run(const Value& value, experiment::Run run, std::vector<experiment::Run>& runs) {
  const std::string name = experiment::name(run);
  if (!run.samples_s.empty() && std::ranges::find(runs, name, experiment::name) != runs.end()) {
    value.at("order").fail("a second run of " + name, "one");
  }
  runs.push_back(std::move(run));
}

namespace {

int small_count(const Value& value) {
  constexpr int most = 1 << 30;
  const int number = value.whole<int>("a whole number up to 2^30");
  if (number < 0 || number > most) value.fail(value.spelled(), "a whole number up to 2^30");
  return number;
}

/// Where an engine stands in a timeline: copies to the device above kernels above copies back, then
/// workers by their numbers, the host last.
std::size_t rank_of(const std::string& engine) {
  constexpr std::array<const char*, 4> first = {"H2D", "copy", "SM", "D2H"};
  const auto place = static_cast<std::size_t>(std::ranges::find(first, engine) - first.begin());
  if (place < first.size()) return place;
  return engine == "host" ? std::string::npos : first.size() + engine.size();
}

/// The engines that a timeline's tasks name.
std::vector<std::string> engines_of(const std::vector<Value>& entries) {
  std::vector<std::string> engines;
  for (const Value& entry : entries) engines.push_back(entry.at("engine").text());
  std::ranges::sort(engines, {},
                    [](const std::string& name) { return std::pair(rank_of(name), name); });
  const auto [begin, end] = std::ranges::unique(engines);
  engines.erase(begin, end);
  return engines;
}

}  // namespace

void read_trace(const Value& value, experiment::Run& run) {
  const auto timeline = value.find("timeline"), source = value.find("trace");
  if (!timeline || !source) return;
  const std::vector<Value> entries = timeline->items();
  if (entries.empty()) return;
  const Value perturbation = source->at("perturbation");
  // Member by member: GCC 16 destroys members of an aggregate twice when a later one throws.
  experiment::Trace trace;
  trace.timeline.engines = engines_of(entries);
  trace.source = source->at("source").text();
  trace.perturbation = perturbation.is_null() ? 0 : perturbation.number();
  trace.doubtful = source->at("doubtful").flag();
  const std::size_t bytes = run.schedule.tasks.front().bytes;
  run.schedule.tasks.clear();
  for (const Value& entry : entries) {
    const schedule::Stage stage = entry.at("stage").word<schedule::Stage>();
    run.schedule.tasks.push_back({.stage = stage,
                                  .chunk = small_count(entry.at("chunk")),
                                  .lane = small_count(entry.at("lane"))});
    const Value name = entry.at("name");
    if (!name.is_null()) run.schedule.names.push_back(name.text());
    const auto engine = std::ranges::find(trace.timeline.engines, entry.at("engine").text());
    const double start_s = entry.at("start_s").number();
    const double stop_s = entry.at("stop_s").number();
    if (!(start_s >= 0 && stop_s >= start_s))
      entry.fail("a task that stops before it starts", "times in order");
    trace.timeline.spans.push_back(
        {static_cast<int>(engine - trace.timeline.engines.begin()), start_s, stop_s});
    trace.timeline.complete_s = std::max(trace.timeline.complete_s, stop_s);
  }
  if (!run.schedule.names.empty() && run.schedule.names.size() != entries.size()) {
    timeline->fail("names of some tasks", "names of all tasks, or of none");
  }
  const auto copy = std::ranges::find_if(
      run.schedule.tasks, [](const schedule::Task& task) { return schedule::is_copy(task.stage); });
  if (copy != run.schedule.tasks.end()) copy->bytes = bytes;
  run.trace = std::move(trace);
}

base::ExitCode exit_code_in(const Value& value) {
  const double number = value.number();
  try {
    return base::exit_code(number);
  } catch (const base::Error&) {
    value.fail(value.spelled(), "an exit code of miniapp");
  }
}

deck::Criterion read_criterion(const Value& value) {
  deck::Criterion criterion;
  criterion.metric = value.at("metric").word<deck::Metric>();
  if (const auto order = value.find("order")) criterion.order = order->word<deck::Order>();
  if (const auto phase = value.find("phase")) criterion.phase = phase->word<deck::Phase>();
  if (const auto below = value.find("below")) criterion.below = below->number();
  if (const auto max = value.find("max")) criterion.max = max->number();
  if (const auto where = value.find("where")) {
    for (const Value& place : where->items()) criterion.where.push_back(place.text());
  }
  return criterion;
}

std::string content_of(const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  return base::read_file(file, most_bytes, "a result file", base::ExitCode::runtime_error);
}

}  // namespace overlap::report
