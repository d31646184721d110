#include "results/result.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "deck/fields.hpp"
#include "results/describe.hpp"
#include "results/metrics.hpp"
#include "schedule/schedule.hpp"

namespace overlap::results {

using describe::above_zero;
using describe::from_zero;
using describe::Visitor;

namespace {

/// Every key of a deck.
struct DeckKeys : Values {
  describe::Values values() const { return {"a deck", deck::resolved_schema()}; }
};

}  // namespace

std::optional<base::ExitCode> CodeNumber::parse(const Json& found) const {
  using enum base::ExitCode;
  for (const auto code : {pass, runtime_error, wrong_data, usage, precondition, performance,
                          inconclusive, skipped, interrupted}) {
    if (found == static_cast<int>(code)) return code;
  }
  return std::nullopt;
}

std::optional<std::string> Moment::parse(const Json& found) const {
  const auto text = describe::Text::parse(found);
  std::tm time = {};
  const char* const end = text ? strptime(text->c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) : nullptr;
  constexpr std::size_t characters = std::string_view("2026-01-31T12:00:00Z").size();
  const bool valid = end != nullptr && *end == '\0' && text->size() == characters;
  return valid ? text : std::nullopt;
}

void Times::read(const describe::Reader& reader, Type& into) const {
  List::read(reader, into);
  for (std::size_t i = 0; i < into.size(); ++i) {  // elsewhere null is a number that is not finite
    if (!(into[i] > 0)) reader.item(i).fail_allowed(std::string(codec.allowed));
  }
}

describe::Values CodeNumber::values() const {
  return {"an exit code of miniapp", {{"enum", {0, 1, 2, 4, 5, 6, 77, 130}}}};
}

void describe(Visitor& v, Balance& balance) {
  v("repeats", balance.repeats, "Repeats of the arithmetic.", above_zero);
  v("copy_s", balance.copy_s, "One chunk's copies to the device, seconds.");
  v("kernel_s", balance.kernel_s, "Its kernel with these repeats, seconds.");
  derived(v, "ratio", balance.ratio(), "kernel_s / copy_s.", from_zero);
}

void describe(Visitor& v, ThrottledTime& time) {
  v("slowed_s", time.slowed_s, "Seconds, for any reason that slows work.", from_zero);
  for (std::size_t i = 0; i < base::throttles.size(); ++i) {
    const base::ThrottleRow& row = base::throttles[i];
    v(row.name, time.by_reason_s[i], fmt::format("Seconds: {}.", row.help), from_zero);
  }
}

namespace {

/// The metrics of the device that need this.
void describe_metrics(Visitor& v, const DeviceSamples& device, deck::Needs needs) {
  for (const deck::MetricRow& row : deck::device_metrics) {
    if (row.needs == needs) derived(v, row.key(), results::value(row.value, device), row.help);
  }
}

}  // namespace

void describe(Visitor& v, HealthRecord& health) {
  v("before", health.before, "Right before the runs.");
  v("after", health.after, "Right after them.");
  v("throttled", health.throttled, "Scored time by reason for low clocks; null: unknown.");
  describe_metrics(v, {.health = health}, deck::Needs::health);
}

void describe(Visitor& v, HealthPoint& point) {
  v("at_s", point.at_s, "Seconds since the first scored repetition began.", from_zero);
  v("sm_clock_mhz", point.sm_clock_mhz, "SM clock.", from_zero);
  v("temperature_c", point.temperature_c, "Temperature, degrees Celsius.");
  v("power_w", point.power_w, "Power, W.", from_zero);
}

void describe(Visitor& v, LinkSamples& link) {
  v("bytes", link.bytes, "Size of each copy.", above_zero);
  describe_metrics(v, {.link = link}, deck::Needs::link);
  v("h2d_s", link.h2d_s, "Copies to the device, seconds each.", Times());
  v("d2h_s", link.d2h_s, "Copies back, seconds each.", Times());
  v("duplex_s", link.duplex_s, "Both at once: harmonic mean of the directions.", Times());
  v("duplex_h2d_s", link.duplex_h2d_s, "Copies to the device while others go back.", Times());
  v("duplex_d2h_s", link.duplex_d2h_s, "Copies back while others go to the device.", Times());
}

void describe(Visitor& v, Window& window) {
  v("skew_s", window.skew_s, "Between the first and the last start of a repetition, seconds.");
  v("shared_s", window.shared_s, "From the last start until the last rank's sample, seconds.");
}

void describe(Visitor& v, Finding& finding) {
  v("order", finding.order, "Issue order.");
  v("disturb", finding.disturbance, "Its disturbance; null: none.");
  v("host_work", finding.host_work, "Whether it has host work.");
  v("cause", finding.cause, "Name of the diagnosis.");
  v("text", finding.text, "The cause, the number that shows it, and what to change.");
  v("evidence", finding.evidence, "Numbers behind it, by name; times in seconds.");
}

void describe(Visitor& v, LimitSource& source) {
  v("file", source.file, "Reference file.");
  v("value", source.value, "Value that it has.", from_zero);
  v("below", source.below, "How much worse a value may be, as a fraction of it.", from_zero);
}

void describe(Visitor& v, Check& check) {
  describe_key(v, check.key);
  v("device", check.device, "Device of a prediction; null: the device at hand.", TextOrNull());
  v("value", check.value.median, "Median of the metric; null: not measured.", NumberOrNull());
  v("lo", check.value.lo, "Lower end of its 95 % interval.", NumberOrNull());
  v("hi", check.value.hi, "Upper end of its 95 % interval.", NumberOrNull());
  v("n", check.value.n, "Its number of samples.", from_zero);
  v("bound", check.at_least, "min or max.", describe::Flag{.yes = "min", .no = "max"});
  v("limit", check.limit, "Limit; null: the reference has none.", NumberOrNull{{.least = 0}});
  v("reference", check.source, "Where the limit comes from; null: the deck.");
  v("verdict", check.verdict, "Verdict of this limit.");
  v("text", check.text, "Value, interval and limit in words.");
  v("reason", check.reason, "Why the verdict does not follow from the value; null: it does.",
    TextOrNull());
}

void describe(Visitor& v, DataLayout& layout) {
  v("chunks", layout.chunks, "Chunks per iteration; tiles of a product.", above_zero);
  v("slots", layout.slots, "How many of them the device holds.", above_zero);
  v("device_limit", layout.device_limit, "Bytes of the device's memory; null: all data fit.");
  v("a_panels", layout.a_panels, "Panels of A that the device holds; 0: no product.");
  v("b_panels", layout.b_panels, "Panels of B that the device holds.");
  v("loaded_bytes", layout.loaded_bytes, "Bytes of panels that are copied.");
  v("once_bytes", layout.once_bytes, "Bytes of all panels.");
}

void describe(Visitor& v, Outcome& outcome) {
  v("exit_code", outcome.exit_code, "Exit code of this point.", CodeNumber());
  v("reasons", outcome.reasons, "Reasons for it, one line each.");
  v("error", outcome.error, "What ended it early; null: nothing.");
  v("interrupted", outcome.interrupted, "Whether it ended before all repetitions were done.");
}

void describe(Visitor& v, Point& point) {
  v("values", point.values, "Swept keys and their values.", Values());
  v("text", point.text, "The same as the deck spells them.");
  v("phase", point.phase, "alone, or together with the other devices of its node.");
  v("choices", point.notes, "What the program chose where the deck leaves it open.",
    describe::Named<describe::Text, Notes>{});
  v("balance", point.balance, "Of a balanced intensity; null: the deck has repeats.");
  v("layout", point.layout, "How the data are cut; null: a custom list, or not planned.");
  v("rates", point.device.link,
    "Copies of the deck's largest size and at least 64 MiB; null: not measured.");
  v("health", point.device.health, "Before, during and after the runs; null: unknown.");
  v("health_series", point.device.health_series, "The device during a soak.");
  v("numa_node", point.device.array_node, "Of the host arrays' first page; null: unknown.");
  v("window", point.window, "How the node's ranks shared the repetitions; null: alone.");
  v("verified_runs", point.verified_runs, "Runs that were compared with the reference.", from_zero);
  v("verification_s", point.verification_s,
    "References and comparisons together, outside the samples, seconds.", from_zero);
  v("runs", point.runs, "One per issue order and, of predictions, device.");
  v("findings", point.findings, "Why orders hide less than they could.");
  v("checks", point.checks, "Each limit of the deck's criteria, applied to each order.");
  v("outcome", point.outcome, "How it ended; null: it did not run yet.");
}

void describe(Visitor& v, DeckFile& deck) {
  v("path", deck.path, "File name as given.");
  v("mark", deck.mark, "Tells it from others of its name in one call; null: it is alone.",
    TextOrNull());
  v("sha256", deck.sha256, "SHA-256 of the file, before --set.", Hash());
  v("identity", deck.identity,
    "SHA-256 of all keys that change what runs, --set included; of a sweep those of its first "
    "point.",
    Name());
  v("resolved", deck.resolved, "Every key with its value, defaults included.", DeckKeys());
}

void describe(Visitor& v, Result& result) {
  describe_schema(v, result_schema);
  v("build", result.machine.build, "What the program was built from.");
  v("started", result.started, "When the program started, UTC.", Moment());
  v("job", result.machine.job, "The batch job; null: started without a launcher.");
  v("placement", result.machine.placement, "Place of this rank; null: no --fleet.");
  v("host", result.machine.host, "The machine.");
  v("device", result.machine.device, "The GPU; null on host back ends.");
  v("title", result.title, "The deck's title.");
  v("deck", result.deck, "The deck.");
  v("inputs", result.inputs, "References and device files: path, SHA-256 of what they say.");
  v("predicted_for", result.predicted_for, "Devices of a prediction.");
  v("described", result.described, "Devices of predictions that were described, not measured.");
  v("without_latencies", result.without_latencies,
    "Those whose files have no latencies, so that more chunks never cost time.");
  v("points", result.points, "One per combination of a sweep's values, or per phase; else one.",
    describe::list_of(describe::codec_of<Point>(), "a list of points, at least one", 1));
  v("error", result.error, "What ended it early, or what could not be written; null: nothing.");
  v("verdict", result.verdict, "The worst of all checks.");
  v("exit_code", result.code, "Exit code of this result.", CodeNumber());
}

void describe_key(Visitor& v, FigureKey& key) {
  v("phase", key.phase, "Whether the device worked alone or together with the others of its node.");
  v("order", key.order, "Issue order; null: a metric of the device.");
  v("metric", key.metric, "Metric.");
}

void describe_value(Visitor& v, base::Summary& value) {
  v("median", value.median, "Median of its samples.");
  v("lo", value.lo, "Lower end of its 95 % interval.");
  v("hi", value.hi, "Upper end of its 95 % interval.");
  v("n", value.n, "Samples.", from_zero);
}

std::string Point::name() const {
  if (phase == deck::Phase::together) return "together";
  std::string name;
  for (const auto& [key, value] : values.items()) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", key, spelled(key));
  }
  return name;
}

std::string Point::spelled(const std::string& key) const {
  const auto found = text.find(key);
  return found != text.end() ? found->second : describe::spell(values.at(key));
}

bool Axis::numeric() const {
  return std::ranges::all_of(values, [](const Value& v) { return v.number.has_value(); });
}

bool Point::ran() const { return std::ranges::any_of(runs, &Run::ran); }

std::string Point::ended_by() const {
  if (!outcome) return "";
  if (outcome->error) return *outcome->error;
  if (!outcome->interrupted) return "";
  return ran() || is_swept() ? "interrupted" : "interrupted before a repetition was complete";
}

bool Result::ran() const { return std::ranges::any_of(points, &Point::ran); }

bool Result::interrupted() const {
  return std::ranges::any_of(
      points, [](const Point& point) { return point.outcome && point.outcome->interrupted; });
}

std::vector<Axis> Result::axes() const {
  std::vector<Axis> axes;
  for (const Point& swept : points) {
    std::size_t number = 0;
    for (const auto& [key, value] : swept.values.items()) {
      if (number == axes.size()) axes.push_back({.key = key});
      Axis& axis = axes[number++];
      const std::string text = swept.spelled(key);
      if (std::ranges::find(axis.values, text, &Axis::Value::text) != axis.values.end()) continue;
      axis.values.push_back(
          {text, value.is_number() ? std::optional(value.get<double>()) : std::nullopt});
    }
  }
  return axes;
}

void put(Result& result, std::size_t number, Point point) {
  if (!result.error) result.error = point.outcome->error;
  result.code = base::worst(result.code, point.outcome->exit_code);
  result.verdict = verdict_of(result.code);
  result.points[number] = std::move(point);
}

void fail(Result& result, base::ExitCode code, const std::string& text) {
  if (!result.error) result.error = text;
  result.code = base::worst(result.code, code);
  result.verdict = verdict_of(result.code);
}

std::string to_json(const std::vector<Result>& results, int indent) {
  Json list = Json::array();
  for (const Result& result : results) list.push_back(describe::write(result));
  const Json document = results.size() == 1 ? list.front() : Json{{"results", list}};
  return json_text(document, indent) + "\n";
}

std::string json_text(const Json& json, int indent) {
  return base::safe_lines(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

double end_s(const Timeline& timeline) {
  double end = 0;
  for (const TaskRecord& task : timeline) end = std::max(end, task.stop_s);
  return end;
}

std::vector<std::optional<std::size_t>> waited_for(const Timeline& tasks) {
  using Place = std::optional<std::size_t>;
  std::vector<Place> latest(tasks.size());
  std::map<std::int64_t, Place> on_lane;
  Place on_host;  // what the host last did or waited for
  for (std::size_t place = 0; place < tasks.size(); ++place) {
    const TaskRecord& task = tasks[place];
    const auto wait = [&](Place other) {
      if (!other) return;
      if (!latest[place] || tasks[*other].stop_s > tasks[*latest[place]].stop_s) {
        latest[place] = other;
      }
    };
    const bool host = schedule::on_host(task.stage);
    if (!host) wait(on_lane[task.lane]);
    for (const std::int64_t number : task.after) {
      const auto other = static_cast<std::size_t>(number);
      if (other >= place) continue;  // in a file by hand
      wait(other);
      // The host waits for all that was issued to the lanes.
      if (host && !schedule::on_host(tasks[other].stage)) wait(on_lane[tasks[other].lane]);
    }
    wait(on_host);
    if (!host) on_lane[task.lane] = place;
    if (task.stage == schedule::Stage::host || task.blocking) on_host = place;
  }
  return latest;
}

}  // namespace overlap::results
