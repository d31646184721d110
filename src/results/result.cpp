#include "results/result.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.hpp"
#include "deck/fields.hpp"
#include "results/describe.hpp"
#include "results/metrics.hpp"
#include "schedule/schedule.hpp"

namespace overlap::results {

using describe::above_zero;
using describe::added;
using describe::from_zero;
using describe::map_of;
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
  for (std::size_t i = 0; i < base::throttles.size(); ++i) {
    const base::ThrottleRow& row = base::throttles[i];
    v(row.name, time.by_reason_s[i], fmt::format("Seconds: {}.", row.help), from_zero);
  }
}

void describe(Visitor& v, HealthRecord& health) {
  v("before", health.before, "Right before the runs.");
  v("after", health.after, "Right after them.");
  v("throttled", health.throttled, "Scored time by reason for low clocks; null: unknown.");
  DeviceSamples device;
  device.health = health;
  for (const deck::MetricRow& row : deck::device_metrics) {
    if (row.needs != deck::Needs::health) continue;
    const auto value = results::value(row.value, device);
    auto median = value ? std::optional(value->median) : std::nullopt;
    v(row.key(), median, row.help);
    if (row.value == deck::Metric::throttled && v.reader() != nullptr && health.throttled) {
      health.throttled->slowed_s = median.value_or(0);
    }
  }
}

void describe(Visitor& v, HealthPoint& point) {
  v("at_s", point.at_s, "Seconds since the first scored repetition began.", from_zero);
  v("sm_clock_mhz", point.sm_clock_mhz, "SM clock.", from_zero);
  v("temperature_c", point.temperature_c, "Temperature, degrees Celsius.");
  v("power_w", point.power_w, "Power, W.", from_zero);
}

namespace {

void describe_link(Visitor& v, DeviceSamples& device) {
  v("bytes", device.link_bytes, "Size of each copy.", above_zero);
  for (const deck::MetricRow& row : deck::device_metrics) {
    if (row.needs != deck::Needs::link) continue;
    derived(v, row.key(), results::value(row.value, device), row.help, added);
  }
  v("h2d_s", device.h2d_s, "Copies to the device, seconds each.", Times());
  v("d2h_s", device.d2h_s, "Copies back, seconds each.", Times());
  v("duplex_s", device.duplex_s, "Both at once: harmonic mean of the directions.", Times());
  v("duplex_h2d_s", device.duplex_h2d_s, "Copies to the device while others go back.", added);
  v("duplex_d2h_s", device.duplex_d2h_s, "Copies back while others go to the device.", added);
}

void describe_device(Visitor& v, DeviceSamples& device) {
  auto link = device.link_bytes > 0 ? std::optional(device) : std::nullopt;
  v("rates", link, "Copies of the deck's largest size and at least 64 MiB; null: not measured.",
    describe::nullable(map_of<DeviceSamples>(describe_link)));
  if (v.reader() != nullptr) device = link.value_or(DeviceSamples());
  v("health", device.health, "Before, during and after the runs; null: unknown.");
  v("health_series", device.health_series, "The device during a soak.", added);
  v("numa_node", device.array_node, "Of the host arrays' first page; null: unknown.", added);
}

}  // namespace

void describe(Visitor& v, Window& window) {
  v("skew_s", window.skew_s, "Between the first and the last start of a repetition, seconds.");
  v("shared_s", window.shared_s, "From the last start until the last rank's sample, seconds.");
}

void describe(Visitor& v, Together& together) {
  describe_device(v, together.device);
  v("window", together.window, "How the node's ranks shared the repetitions.");
}

void describe(Visitor& v, Finding& finding) {
  v("order", finding.order, "Issue order.");
  v("disturb", finding.disturbance, "Its disturbance; null: none.");
  v("host_work", finding.host_work, "Whether it has host work.");
  describe_place(v, finding.point, finding.phase);
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
  v("metric", check.metric, "Metric.");
  v("order", check.order, "Issue order; null: a metric of the device.");
  v("device", check.device, "Device of a prediction; null: the device at hand.", TextOrNull());
  describe_place(v, check.point, check.phase);
  v("value", check.value.median, "Median of the metric; null: not measured.", NumberOrNull());
  v("lo", check.value.lo, "Lower end of its 95 % interval.", NumberOrNull(), added);
  v("hi", check.value.hi, "Upper end of its 95 % interval.", NumberOrNull(), added);
  v("n", check.value.n, "Its number of samples.", from_zero, added);
  v("bound", check.at_least, "min or max.", describe::Flag{.yes = "min", .no = "max"});
  v("limit", check.limit, "Limit; null: the reference has none.", NumberOrNull{{.least = 0}});
  v("reference", check.source, "Where the limit comes from; null: the deck.");
  v("verdict", check.verdict, "Verdict of this limit.");
  v("text", check.text, "Value, interval and limit in words.");
  v("reason", check.reason, "Why the verdict does not follow from the value; null: it does.",
    TextOrNull());
}

void describe(Visitor& v, Layout& layout) {
  v("chunks", layout.chunks, "Chunks per iteration; tiles of a product.", above_zero);
  v("slots", layout.slots, "How many of them the device holds.", above_zero);
  v("device_limit", layout.device_limit, "Bytes of the device's memory; null: all data fit.");
  v("a_panels", layout.a_panels, "Panels of A that the device holds; 0: no product.");
  v("b_panels", layout.b_panels, "Panels of B that the device holds.");
  v("loaded_bytes", layout.loaded_bytes, "Bytes of panels that are copied.");
  v("once_bytes", layout.once_bytes, "Bytes of all panels.");
}

void describe(Visitor& v, Point& point) {
  v("point", point.values, "Swept keys and their values.", Values());
  v("text", point.text, "The same as the deck spells them.");
  v("phase", point.phase, phase_help);
  v("exit_code", point.exit_code, "Exit code of this point; null: not finished.",
    describe::nullable(CodeNumber()));
  v("reasons", point.reasons, "Reasons for it, one line each.");
  v("ended_by", point.ended_by, "What ended it early; null: nothing.", TextOrNull());
  describe_device(v, point.device);
}

namespace {

void describe_choices(Visitor& v, Part& part) {
  v("choices", part.notes, "What the program chose where the deck leaves it open.",
    describe::Named<describe::Text, Notes>{});
  v("balance", part.balance, "Of a balanced intensity; null: the deck has repeats.");
  v("layout", part.layout, "How the data are cut; null: a custom list, or a sweep.", added);
}

void describe_runs(Visitor& v, Part& part) {
  const auto verification = [](Visitor& inner, Part& p) {
    inner("runs", p.verified_runs, "Runs that were verified.", from_zero);
    inner("reference_s", p.verification_s, "References and comparisons together, seconds.",
          from_zero);
  };
  v("verification", part, "What comparing with the reference took, outside the samples.",
    map_of<Part>(verification));
  v("runs", part.runs, "One run per issue order, point of a sweep and, of predictions, device.");
  v("findings", part.findings, "Why orders hide less than they could.");
  v("checks", part.checks, "Each limit of the deck's criteria, applied to each order.");
  v("interrupted", part.interrupted, "Whether it ended before all repetitions were done.");
  v("error", part.error, "What ended it early, or what could not be written; null: nothing.",
    TextOrNull());
}

}  // namespace

void describe(Visitor& v, Part& part) {
  v("point", part.point, "The point.");
  v("fingerprint", part.fingerprint, "Of its deck.");
  describe_choices(v, part);
  describe_device(v, part.device);
  v("window", part.window, "How the node's ranks shared the repetitions.");
  describe_runs(v, part);
}

void describe(Visitor& v, DeckFile& deck) {
  v("path", deck.path, "File name as given.");
  v("mark", deck.mark, "Tells it from others of its name in one call; null: it is alone.",
    TextOrNull(), added);
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
  v("predicted_for", result.predicted_for, "Devices of a prediction.", added);
  v("described", result.described, "Devices of predictions that were described, not measured.",
    added);
  v("without_latencies", result.without_latencies,
    "Those whose files have no latencies, so that more chunks never cost time.", added);
  describe_choices(v, result);
  describe_device(v, result.device);
  v("together", result.together, "Of phase together; null: there is none.");
  v("points", result.points, "The points of a sweep, or the phases.", added);
  describe_runs(v, result);
  v("verdict", result.verdict, "The worst of all checks.");
  v("exit_code", result.code, "Exit code of this result.", CodeNumber());
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

bool Part::ran() const { return std::ranges::any_of(runs, &Run::ran); }

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

std::vector<PointRuns> Result::by_point() const {
  static const DeviceSamples no_samples;
  std::vector<PointRuns> point_runs;
  std::map<std::pair<std::string, deck::Phase>, std::size_t> place_by_point;
  for (const Point& listed : points) {
    place_by_point.emplace(std::pair(listed.values.dump(), listed.phase), point_runs.size());
    const bool alone = listed.phase == deck::Phase::alone;
    const DeviceSamples& samples = listed.is_swept() ? listed.device
                                   : alone           ? device
                                   : together        ? together->device
                                                     : no_samples;
    point_runs.push_back({*this, listed, {}, samples});
  }
  for (const Run& run : runs) {
    const auto found = place_by_point.find({run.point.dump(), run.phase});
    if (found != place_by_point.end()) point_runs[found->second].runs.push_back(&run);
  }
  return point_runs;
}

bool PointRuns::ran() const {
  return std::ranges::any_of(runs, [](const Run* run) { return run->ran(); });
}

void append(Result& result, std::size_t number, Part part) {
  const bool together = part.point.phase == deck::Phase::together;
  for (auto& [name, value] : part.notes) {
    const auto note = std::ranges::find(result.notes, name, &Notes::value_type::first);
    if (note == result.notes.end()) {
      result.notes.emplace_back(name, value);
    } else if (note->second != value) {
      note->second = "differs from point to point";
    }
  }
  if (together) {
    result.together = Together{part.device, part.window};
    if (!result.balance) result.balance = part.balance;
  } else if (!result.sweeps()) {
    result.balance = part.balance;
    result.device = part.device;
  }
  if (result.sweeps()) part.point.device = part.device;
  if (!result.sweeps() && !result.layout) result.layout = part.layout;
  result.verified_runs += part.verified_runs;
  result.verification_s += part.verification_s;
  std::ranges::move(part.runs, std::back_inserter(result.runs));
  std::ranges::move(part.findings, std::back_inserter(result.findings));
  std::ranges::move(part.checks, std::back_inserter(result.checks));
  if (result.error.empty()) result.error = part.error;
  result.interrupted = result.interrupted || part.interrupted;
  result.code = base::worst(result.code, part.exit_code());
  result.verdict = verdict_of(result.code);
  result.points[number] = std::move(part.point);
}

void fail(Result& result, base::ExitCode code, const std::string& text) {
  if (result.error.empty()) result.error = text;
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
  for (const Task& task : timeline) end = std::max(end, task.stop_s);
  return end;
}

std::vector<std::optional<std::size_t>> waited_for(const Timeline& tasks) {
  using Place = std::optional<std::size_t>;
  std::vector<Place> latest(tasks.size());
  std::map<std::int64_t, Place> on_lane;
  Place on_host;  // what the host last did or waited for
  for (std::size_t place = 0; place < tasks.size(); ++place) {
    const Task& task = tasks[place];
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
