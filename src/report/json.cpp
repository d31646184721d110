#include "report/json.hpp"

#include <sstream>

#include "base/sha256.hpp"
#include "base/whole.hpp"
#include "deck/fields.hpp"
#include "report/lines.hpp"
#include "report/page.hpp"
#include "report/result_fields.hpp"
#include "report/skim.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

using experiment::Check;
using experiment::Outcome;
using experiment::Run;

/// What a point adds to a result file.
Json part_of(const Outcome& outcome) {
  Json runs = Json::array(), findings = Json::array(), checks = Json::array();
  for (const Run& run : outcome.runs) {
    runs.push_back(json_of(RunOf{run, outcome}));
    for (const experiment::Finding& finding : run.findings) {
      findings.push_back(json_of(FindingOf{finding, run, outcome}));
    }
  }
  for (const Check& check : outcome.checks) checks.push_back(json_of(CheckOf{check, outcome}));
  Json choices = Json::object();
  for (const auto& [name, value] : outcome.choices) choices[name] = value;
  return {{"choices", choices},
          {"balance", json_of(outcome.balance)},
          {"verified_runs", outcome.verified_runs},
          {"reference_s", outcome.reference_s},
          {"rates", outcome.device.link_bytes > 0 ? json_of(outcome.device) : Json(nullptr)},
          {"health", json_of(outcome.device.health)},
          {"window", json_of(outcome.window)},
          {"runs", std::move(runs)},
          {"findings", std::move(findings)},
          {"checks", std::move(checks)},
          {"error", outcome.failure ? Json(outcome.failure->text) : Json(nullptr)},
          {"interrupted", outcome.interrupted}};
}

/// A number that is read: nothing says yet that it is whole.
template <class T>
T whole(const Json& json) {
  const auto number = base::whole<T>(json.get<double>());
  if (!number) throw base::Error(base::ExitCode::usage, "found a number that is not whole");
  return *number;
}

/// Adds a point to those before it.
void merge(Json& all, Json part) {
  for (const auto& [name, value] : part.at("choices").items()) {
    Json& choice = all["choices"][name];
    choice = choice.is_null() || choice == value ? value : Json("differs from point to point");
  }
  all["verified_runs"] =
      whole<std::int64_t>(all["verified_runs"]) + whole<int>(part.at("verified_runs"));
  all["reference_s"] = all["reference_s"].get<double>() + part.at("reference_s").get<double>();
  for (const char* list : {"runs", "findings", "checks"}) {
    for (Json& entry : part.at(list)) all[list].push_back(std::move(entry));
  }
  if (all["error"].is_null()) all["error"] = part.at("error");
  if (part.at("interrupted")) all["interrupted"] = true;
}

Json swept(const Study& study) {
  Json json = Json::object();
  for (const Axis& axis : study.axes) {
    json[axis.key] = Json::array();
    for (const Axis::Value& value : axis.values) {
      const auto count = value.number ? base::whole<std::int64_t>(*value.number) : std::nullopt;
      json[axis.key].push_back(count          ? Json(*count)
                               : value.number ? Json(*value.number)
                                              : Json(value.text));
    }
  }
  return json;
}

/// All points together; a sweep has neither balance nor rates nor health.
Json parts_of(const Study& study) {
  Json all = part_of({});
  all["together"] = nullptr;
  for (const PointResult& point : study.done) {
    Json part = point.outcome ? part_of(*point.outcome) : Json::parse(point.record);
    if (study.points[point.number].phase == deck::Phase::together) {
      all["together"] = json_of(Together{part.at("rates"), part.at("health"), part.at("window")});
      if (all["balance"].is_null()) all["balance"] = part.at("balance");
    } else if (!study.sweeps()) {
      for (const char* const one : {"balance", "rates", "health"}) all[one] = part.at(one);
    }
    merge(all, std::move(part));
  }
  if (all["error"].is_null() && study.unwritten) all["error"] = study.unwritten->what();
  return all;
}

struct DeckFile {
  std::string path, sha256, identity;
  Json resolved;
};

void fields(Record& add, const DeckFile& of) {
  add("path", "File name as given.", of.path);
  const Json sha256 = {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}};
  add.raw("sha256", "SHA-256 of the file, before --set.", of.sha256, sha256);
  add.raw("identity",
          "SHA-256 of all keys that change what runs, --set included; of a sweep those of its "
          "first point.",
          of.identity, sha256);
  add.raw("resolved", "Every key with its value, defaults included.", of.resolved,
          deck::resolved_schema());
}

struct VerifiedRuns {
  std::int64_t runs = 0;
  double reference_s = 0;
};

void fields(Record& add, const VerifiedRuns& of) {
  add("runs", "Runs that were verified.", of.runs, Sign::from_zero);
  add("reference_s", "References and comparisons together, seconds.", of.reference_s,
      Sign::from_zero);
}

struct Result {
  base::Machine machine;
  std::string started;
  std::string title;
  DeckFile deck;
  Json parts = parts_of({});
  experiment::Verdict verdict = experiment::Verdict::pass;
  base::ExitCode code = base::ExitCode::pass;
};

void fields(Record& add, const Result& of) {
  const auto at = [&](const char* key) { return of.parts.at(key); };
  add.raw("schema", "Name and version of this format.", result_schema, {{"const", result_schema}});
  add("build", "What the program was built from.", of.machine.build);
  add.raw("started", "When the program started, UTC.", of.started,
          {{"type", "string"}, {"pattern", "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$"}});
  add("job", "The batch job; null: started without a launcher.", of.machine.job);
  add("placement", "Where this rank of a fleet runs; null: without --fleet.", of.machine.placement);
  add("host", "The machine.", of.machine.host);
  add("device", "The GPU; null on host back ends.", of.machine.device);
  add("title", "The deck's title.", of.title);
  add("deck", "The deck.", of.deck);
  add.raw("choices", "What the program chose where the deck leaves it open.", at("choices"),
          {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}});
  add.raw("balance", "How a balanced intensity was measured; null: the deck gives the repeats.",
          at("balance"), schema_of<std::optional<experiment::Balance>>());
  add.raw("rates", "Copies of the deck's largest size and at least 64 MiB; null: not measured.",
          at("rates"), schema_of<std::optional<experiment::DeviceSamples>>());
  add.raw("health",
          "The device before, during and after the runs; null: the back end cannot read it.",
          at("health"), schema_of<std::optional<experiment::HealthRecord>>());
  add.raw("together", "Of phase together; null: without --fleet, or not in fleet.phases.",
          at("together"), schema_of<std::optional<Together>>());
  add("verification", "What comparing with the reference took, outside the samples.",
      VerifiedRuns{at("verified_runs"), at("reference_s")});
  add.raw("runs", "One run per issue order, point of a sweep and, of predictions, device.",
          at("runs"), schema_of<std::vector<RunOf>>());
  add.raw("findings", "Why orders hide less than they could.", at("findings"),
          schema_of<std::vector<FindingOf>>());
  add.raw("checks", "Each limit of the deck's criteria, applied to each order.", at("checks"),
          schema_of<std::vector<CheckOf>>());
  add("interrupted", "Whether it was interrupted before all repetitions were done.",
      at("interrupted").get<bool>());
  add.raw("error", "What ended it early, or what could not be written; null: nothing.", at("error"),
          {{"type", {"string", "null"}}});
  add("verdict", "The worst of all checks.", of.verdict);
  add.raw("exit_code", "Exit code of this result.", static_cast<int>(of.code), exit_codes());
}

/// The keys of a study's deck. A sweep of a selector, such as chunks.profile, has points with more
/// keys than others; keys that only some of them take would make the deck invalid.
Json keys_of(const Study& study) {
  Json keys = deck::resolved(study.deck());
  if (!study.sweeps()) return keys;
  std::size_t least = keys.flatten().size();
  for (const deck::Point& point : study.points) {
    Json others = deck::resolved(point.deck);
    const std::size_t size = others.flatten().size();
    if (size >= least) continue;
    least = size;
    keys = std::move(others);
  }
  keys["sweep"] = swept(study);
  return keys;
}

Json study_json(const Study& study) {
  const deck::Deck& deck = study.deck();
  return json_of(Result{.machine = study.machine,
                        .started = study.started,
                        .title = deck.title,
                        .deck = {deck.path, deck.sha256, deck::identity(deck), keys_of(study)},
                        .parts = parts_of(study),
                        .verdict = study.verdict(),
                        .code = study.exit_code()});
}

std::optional<double> read_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(json);
}

std::string read_words(const Json& json) { return json.is_null() ? "" : json.get<std::string>(); }

experiment::Verdict read_verdict(const Json& json) {
  const std::string name = json;
  if (const auto verdict = yaml::word<experiment::Verdict>().parse(name)) return *verdict;
  throw base::Error(base::ExitCode::usage, "found verdict " + name);
}

// Member by member: GCC 16 destroys members of an aggregate twice when a later one throws.

CheckRow read_check(const Json& check) {
  const Json& order = check.at("order");
  CheckRow read;
  read.metric = check.at("metric");
  read.order = order.is_null() ? "-" : order.get<std::string>();
  read.verdict = read_verdict(check.at("verdict"));
  read.text = check.at("text");
  return read;
}

FindingRow read_finding(const Json& finding) {
  FindingRow read;
  read.order = finding.at("order");
  read.cause = finding.at("cause");
  read.text = finding.at("text");
  return read;
}

Row read_row(const Json& run, const Json& row) {
  Row read;
  read.order = run.at("order");
  read.disturb = read_words(run.at("disturb"));
  read.host_work = !run.at("host_work").is_null();
  read.device = read_words(run.at("device"));
  read.lanes = whole<std::int64_t>(run.at("lanes"));
  read.chunks = whole<std::int64_t>(run.at("chunks"));
  read.tasks = whole<std::int64_t>(run.at("tasks"));
  read.bytes = whole<std::int64_t>(run.at("bytes"));
  read.repetitions = whole<std::int64_t>(run.at("repetitions"));
  read.bound_s = read_number(run.at("bound_s"));
  read.schedule_bound_s = read_number(run.at("schedule_bound_s"));
  read.predicted_s = read_number(run.at("predicted_s"));
  read.verified = run.at("verified");
  read.verdict = row.get<std::string>();
  for (std::size_t i = 0; i < deck::run_metrics.size(); ++i) {
    const Json& value = run.at(std::string(deck::run_metrics[i].key()));
    read.medians[i] = read_number(value.is_object() ? value.at("median") : value);
  }
  if (const Json& time = run.at("time_s"); !time.is_null()) {
    read.time = base::Summary{.n = static_cast<int>(run.at("samples_s").size()),
                              .median = time.at("median"),
                              .min = time.at("min"),
                              .max = time.at("max"),
                              .lo = time.at("lo"),
                              .hi = time.at("hi")};
  }
  return read;
}

/// Whether these are result lines of a point: OVERLAP_RESULT is of the run.
bool are_point_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("OVERLAP_FOM ") && !line.starts_with("OVERLAP_CHECK ")) return false;
  }
  return true;
}

}  // namespace

std::string to_json(const std::vector<Study>& studies, int indent) {
  Json all = Json::array();
  for (const Study& study : studies) all.push_back(study_json(study));
  const Json document = studies.size() == 1 ? all.front() : Json{{"results", all}};
  return json_text(document, indent) + "\n";
}

std::string json(const std::vector<Study>& studies) { return to_json(studies); }

std::string json_schema() {
  const Json result = {{"$ref", "#/$defs/result"}};
  Record several(true);
  several.raw("results", "One result per deck.", {},
              {{"type", "array"}, {"minItems", 1}, {"items", result}});
  Json schema = schema_head(result_schema, "Result file of miniapp.");
  schema["oneOf"] = {result, std::move(several).json()};
  schema["$defs"]["result"] = schema_of<Result>();
  return schema.dump(2) + "\n";
}

std::vector<Row> rows_of(const Outcome& outcome) {
  std::vector<Row> rows;
  for (const Run& run : outcome.runs) {
    Row& row = rows.emplace_back(
        Row{.order = std::string(deck::to_string(run.order)),
            .disturb = std::string(run.disturbance ? deck::to_string(*run.disturbance) : ""),
            .host_work = run.host_work,
            .device = run.device,
            .lanes = run.schedule.lanes,
            .chunks = run.schedule.chunks,
            .tasks = static_cast<std::int64_t>(run.schedule.tasks.size()),
            .bytes = copied_bytes(run),
            .repetitions = run.repetitions,
            .predicted_s = experiment::predicted_s(run),
            .verified = run.verified && !run.wrong});
    for (std::size_t i = 0; i < deck::run_metrics.size(); ++i) {
      const auto value = experiment::value(deck::run_metrics[i].value, run, outcome.runs);
      if (value) row.medians[i] = value->median;
    }
    if (run.bounds) {
      row.bound_s = run.bounds->bound_s;
      row.schedule_bound_s = run.bounds->schedule_bound_s;
    }
    if (run.samples_s.empty()) continue;
    row.time = experiment::time_s(run);
    row.verdict = experiment::verdict_of(run, outcome.checks);
  }
  return rows;
}

std::vector<FindingRow> findings_of(const Outcome& outcome) {
  std::vector<FindingRow> rows;
  for (const Run& run : outcome.runs) {
    for (const experiment::Finding& finding : run.findings) {
      rows.push_back(
          {std::string(deck::to_string(run.order)), std::string(finding.cause), finding.text});
    }
  }
  return rows;
}

std::vector<CheckRow> checks_of(const Outcome& outcome) {
  std::vector<CheckRow> rows;
  for (const Check& check : outcome.checks) {
    rows.push_back({std::string(deck::to_string(check.metric)),
                    std::string(experiment::order_word(check)), check.verdict,
                    experiment::words(check)});
  }
  return rows;
}

std::string record(const Outcome& outcome, const deck::Point& point, std::size_t number) {
  Json verdicts = Json::array();
  for (const Row& row : rows_of(outcome)) verdicts.push_back(row.verdict);
  Json json = {{"point", number},
               {"fingerprint", fingerprint(point)},
               {"verdicts", verdicts},
               {"exit_code", static_cast<int>(outcome.exit_code())},
               {"reasons", experiment::reasons(outcome)},
               {"lines", point_lines(outcome)}};
  json.update(part_of(outcome));
  return json_text(json, -1);
}

PointResult read_record(const std::string& line) {
  try {
    const Json json = nesting(line) > most_nested ? Json() : Json::parse(line);
    PointResult point;
    point.number = whole<std::size_t>(json.at("point"));
    point.fingerprint = json.at("fingerprint");
    point.record = line;
    point.lines = json.at("lines");
    point.reasons = json.at("reasons");
    point.code = base::exit_code(json.at("exit_code"));
    const Json& verdicts = json.at("verdicts");
    for (std::size_t i = 0; i < json.at("runs").size(); ++i) {
      point.rows.push_back(read_row(json.at("runs")[i], verdicts.at(i)));
    }
    for (const Json& check : json.at("checks")) point.checks.push_back(read_check(check));
    for (const Json& finding : json.at("findings")) point.findings.push_back(read_finding(finding));
    Json all = part_of({});
    merge(all, json);
    if (!point.rows.empty() && are_point_lines(point.lines)) return point;
  } catch (const Json::exception&) {  // the same
  }
  throw base::Error(base::ExitCode::usage, "found no finished point of a sweep");
}

std::string fingerprint(const deck::Point& point) {
  std::string text = point.deck.name() + "\n" + json_text(deck::resolved(point.deck), -1);
  for (const deck::Point::Value& value : point.values) text += "\n" + value.key;
  return base::sha256(text).substr(0, 16);
}

std::optional<double> number_at(const deck::Deck& deck, const std::string& key) {
  const Json value = yaml::value_at(deck::resolved(deck), key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace overlap::report
