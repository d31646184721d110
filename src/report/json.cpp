#include "report/json.hpp"

#include <cmath>

#include "base/sha256.hpp"
#include "report/lines.hpp"
#include "report/result_fields.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

constexpr const char* schema_name = "overlap-result/2";

Json run_json(const RunOf& run) {
  Json json = Json::object();
  write(json, run_head, run);
  for (const deck::MetricRow& row : deck::metrics) {
    const auto value = experiment::value(row.metric, run.run, run.outcome.runs);
    json[row.key()] = !value ? Json(nullptr) : row.whole ? json_of(*value) : json_of(value->median);
  }
  write(json, run_tail, run);
  return json;
}

Json run_schema() {
  Json schema = object_schema();
  describe<RunOf>(schema, run_head);
  for (const deck::MetricRow& row : deck::metrics) {
    const Range range = row.metric == deck::Metric::throughput  ? Range::above_zero
                        : row.metric == deck::Metric::max_error ? Range::from_zero
                                                                : Range::any;
    describe(schema, std::string(row.key()), row.help,
             row.whole ? schema_of<std::optional<base::Summary>>(range)
                       : schema_of<std::optional<double>>(range));
  }
  describe<RunOf>(schema, run_tail);
  return schema;
}

/// What a point adds to a result file.
struct Part {
  Json choices = Json::object();
  Json balance;
  int verified_runs = 0;
  double reference_s = 0;
  Json runs = Json::array();
  Json findings = Json::array();
  Json checks = Json::array();
  Json error;
  bool interrupted = false;
};

Part part_of(const Outcome& outcome) {
  Part part{.balance = json_of(outcome.balance),
            .verified_runs = outcome.verified_runs,
            .reference_s = outcome.reference_s,
            .error = outcome.failure ? Json(outcome.failure->text) : Json(nullptr),
            .interrupted = outcome.interrupted};
  for (const auto& [name, value] : outcome.choices) part.choices[name] = value;
  for (const Run& run : outcome.runs) {
    part.runs.push_back(run_json({run, outcome}));
    for (const experiment::Finding& finding : run.findings) {
      part.findings.push_back(json_of(FindingOf{finding, run, outcome}));
    }
  }
  for (const Check& check : outcome.checks) part.checks.push_back(json_of(CheckOf{check, outcome}));
  return part;
}

Part read_part(const Json& json) {
  return {.choices = json.at("choices"),
          .verified_runs = json.at("verified_runs"),
          .reference_s = json.at("reference_s"),
          .runs = json.at("runs"),
          .findings = json.at("findings"),
          .checks = json.at("checks"),
          .error = json.at("error"),
          .interrupted = json.at("interrupted")};
}

void append(Json& list, Json more) {
  for (Json& entry : more) list.push_back(std::move(entry));
}

/// Adds a point to those before it.
void merge(Part& all, Part part, bool first) {
  for (const auto& [name, value] : part.choices.items()) {
    const bool same = !all.choices.contains(name) || all.choices[name] == value;
    all.choices[name] = same ? value : Json("differs from point to point");
  }
  all.verified_runs += part.verified_runs;
  all.reference_s += part.reference_s;
  if (first) all.balance = std::move(part.balance);
  append(all.runs, std::move(part.runs));
  append(all.findings, std::move(part.findings));
  append(all.checks, std::move(part.checks));
  if (all.error.is_null()) all.error = std::move(part.error);
  all.interrupted |= part.interrupted;
}

Json swept(const Study& study) {
  Json json = Json::object();
  for (const Axis& axis : study.axes) {
    json[axis.key] = Json::array();
    for (const Axis::Value& value : axis.values) {
      const bool whole = value.number && *value.number == std::trunc(*value.number);
      json[axis.key].push_back(whole          ? Json(static_cast<std::int64_t>(*value.number))
                               : value.number ? Json(*value.number)
                                              : Json(value.text));
    }
  }
  return json;
}

Json study_json(const Study& study) {
  Part all;
  for (const PointResult& point : study.done) {
    merge(all, point.outcome ? part_of(*point.outcome) : read_part(Json::parse(point.record)),
          !study.sweeps());
  }
  const deck::Deck& deck = study.deck();
  Json keys = json_of(deck::resolved(deck));
  if (study.sweeps()) keys["sweep"] = swept(study);
  return {{"schema", schema_name},
          {"build", json_of(study.machine.build)},
          {"started", study.started},
          {"host", json_of(study.machine.host)},
          {"device", json_of(study.machine.device)},
          {"title", deck.title},
          {"deck", {{"path", deck.path}, {"sha256", deck.sha256}, {"resolved", keys}}},
          {"choices", all.choices},
          {"balance", all.balance},
          {"verification", {{"runs", all.verified_runs}, {"reference_s", all.reference_s}}},
          {"runs", all.runs},
          {"findings", all.findings},
          {"checks", all.checks},
          {"interrupted", all.interrupted},
          {"error", all.error},
          {"verdict", deck::to_string(study.verdict())},
          {"exit_code", static_cast<int>(study.exit_code())}};
}

Json result_schema() {
  Json schema = object_schema();
  const auto add = [&](const char* key, const char* help, const Json& values) {
    describe(schema, key, help, values);
  };
  const Json text = {{"type", "string"}};
  const auto list = [](const Json& items) { return Json{{"type", "array"}, {"items", items}}; };
  add("schema", "Name and version of this format.", {{"const", schema_name}});
  add("build", "What the program was built from.", schema_of<base::BuildInfo>(Range::any));
  add("started", "When the program started, UTC.",
      {{"type", "string"}, {"pattern", "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$"}});
  add("host", "The machine.", schema_of<base::HostInfo>(Range::any));
  add("device", "The GPU; null on host back ends.",
      schema_of<std::optional<base::DeviceInfo>>(Range::any));
  add("title", "The deck's title.", text);
  Json deck = object_schema();
  describe(deck, "path", "File name as given.", text);
  describe(deck, "sha256", "SHA-256 of the file, before --set.",
           {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}});
  describe(deck, "resolved", "Every key with its value, defaults included.", Resolved::schema());
  add("deck", "The deck.", deck);
  add("choices", "What the program chose where the deck leaves it open.", Chosen::schema());
  add("balance", "How a balanced intensity was measured; null: the deck gives the repeats.",
      schema_of<std::optional<experiment::Balance>>(Range::any));
  Json verification = object_schema();
  describe(verification, "runs", "Runs that were verified.", schema_of<int>(Range::from_zero));
  describe(verification, "reference_s", "References and comparisons together, seconds.",
           schema_of<double>(Range::from_zero));
  add("verification", "What comparing with the reference took, outside the samples.", verification);
  add("runs", "One run per issue order, point of a sweep and, of predictions, device.",
      list(run_schema()));
  add("findings", "Why orders hide less than they could.", list(schema_of<FindingOf>(Range::any)));
  add("checks", "Each limit of the deck's criteria, applied to each order.",
      list(schema_of<CheckOf>(Range::any)));
  add("interrupted", "Whether it was interrupted before all repetitions were done.",
      {{"type", "boolean"}});
  add("error", "What ended it early; null: nothing.", {{"type", {"string", "null"}}});
  add("verdict", "The worst of all checks.", schema_of<experiment::Verdict>(Range::any));
  add("exit_code", "Exit code of this result.", {{"enum", {0, 1, 2, 4, 5, 6, 77, 130}}});
  return schema;
}

/// Text from outside (paths, titles) may be no UTF-8: replaced, never an exception.
std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::optional<double> read_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(json);
}

std::string read_words(const Json& json) { return json.is_null() ? "" : json.get<std::string>(); }

Row read_row(const Json& run, const Json& row) {
  Row read{.order = run.at("order"),
           .disturb = read_words(run.at("disturb")),
           .host_work = !run.at("host_work").is_null(),
           .device = read_words(run.at("device")),
           .lanes = run.at("lanes"),
           .chunks = run.at("chunks"),
           .tasks = run.at("tasks"),
           .bytes = run.at("bytes"),
           .bound_s = read_number(run.at("bound_s")),
           .schedule_bound_s = read_number(run.at("schedule_bound_s")),
           .predicted_s = read_number(run.at("predicted_s")),
           .verified = run.at("verified"),
           .verdict = row.get<std::string>()};
  for (std::size_t i = 0; i < deck::metrics.size(); ++i) {
    const Json& value = run.at(std::string(deck::metrics[i].key()));
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

}  // namespace

Json json_of(const yaml::Value& value) {
  return std::visit(
      [](const auto& v) -> Json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, yaml::Value::List>) {
          Json list = Json::array();
          for (const yaml::Value& item : v) list.push_back(json_of(item));
          return list;
        } else if constexpr (std::is_same_v<T, yaml::Value::Map>) {
          Json map = Json::object();
          for (const auto& [key, item] : v) map[key] = json_of(item);
          return map;
        } else {
          return v;
        }
      },
      value.data);
}

std::string to_json(const std::vector<Study>& studies, int indent) {
  Json all = Json::array();
  for (const Study& study : studies) all.push_back(study_json(study));
  const Json document = studies.size() == 1 ? all.front() : Json{{"results", all}};
  return text_of(document, indent) + "\n";
}

std::string json(const std::vector<Study>& studies) { return to_json(studies); }

std::string json_schema() {
  Json results = object_schema();
  describe(results, "results", "One result per deck.",
           {{"type", "array"}, {"minItems", 1}, {"items", {{"$ref", "#/$defs/result"}}}});
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", schema_name},
                 {"description",
                  "Result file of miniapp. Fields may be added within a version: readers ignore "
                  "what they do not know."},
                 {"oneOf", {{{"$ref", "#/$defs/result"}}, results}}};
  schema["$defs"]["result"] = result_schema();
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
            .predicted_s = experiment::predicted_s(run),
            .verified = run.verified && !run.wrong});
    for (std::size_t i = 0; i < deck::metrics.size(); ++i) {
      const auto value = experiment::value(deck::metrics[i].metric, run, outcome.runs);
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

std::string record(const Outcome& outcome, const deck::Point& point, std::size_t number) {
  const Part part = part_of(outcome);
  Json verdicts = Json::array();
  for (const Row& row : rows_of(outcome)) verdicts.push_back(row.verdict);
  return text_of({{"point", number},
                  {"fingerprint", fingerprint(point)},
                  {"choices", part.choices},
                  {"verified_runs", part.verified_runs},
                  {"reference_s", part.reference_s},
                  {"runs", part.runs},
                  {"findings", part.findings},
                  {"checks", part.checks},
                  {"error", part.error},
                  {"interrupted", part.interrupted},
                  {"verdicts", verdicts},
                  {"verdict", deck::to_string(outcome.verdict())},
                  {"exit_code", static_cast<int>(outcome.exit_code())},
                  {"reasons", experiment::reasons(outcome)},
                  {"lines", point_lines(outcome)}},
                 -1);
}

PointResult read_record(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    PointResult point{.number = json.at("point"),
                      .fingerprint = json.at("fingerprint"),
                      .record = line,
                      .rows = {},
                      .lines = json.at("lines"),
                      .reasons = json.at("reasons"),
                      .outcome = {}};
    const std::string verdict = json.at("verdict");
    for (const auto& word : deck::words<experiment::Verdict>) {
      if (word.name == verdict) point.verdict = word.value;
    }
    point.code = base::exit_code(json.at("exit_code"));
    const Json& verdicts = json.at("verdicts");
    for (std::size_t i = 0; i < json.at("runs").size(); ++i) {
      point.rows.push_back(read_row(json.at("runs")[i], verdicts.at(i)));
    }
    read_part(json);
    if (!point.rows.empty()) return point;
  } catch (const Json::exception&) {  // the same
  }
  throw base::Error(base::ExitCode::usage, "found no finished point of a sweep");
}

std::string fingerprint(const deck::Point& point) {
  std::string text = text_of(json_of(deck::resolved(point.deck)), -1);
  for (const deck::Point::Value& value : point.values) text += "\n" + value.key;
  return base::sha256(text).substr(0, 16);
}

std::optional<double> number_at(const deck::Deck& deck, const std::string& key) {
  const yaml::Value values = deck::resolved(deck);
  const yaml::Value* const value = values.at(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = value->get<std::int64_t>()) return static_cast<double>(*whole);
  const auto* number = value->get<double>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

}  // namespace overlap::report
