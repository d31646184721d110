#include <algorithm>
#include <iterator>
#include <map>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "report/read_files.hpp"
#include "report/read_value.hpp"
#include "report/study.hpp"

namespace overlap::report {
namespace {

using experiment::KeyWords;
using experiment::Recorded;

/// The leaves of nested objects by their dotted keys.
void flatten(const Json& json, const std::string& key, KeyWords& into) {
  if (!json.is_object()) {
    into[base::one_line(key)] = json.is_null() ? "-" : base::one_line(yaml::spell(json));
    return;
  }
  for (const auto& [name, value] : json.items()) {
    flatten(value, key.empty() ? name : key + "." + name, into);
  }
}

/// What may differ between two runs on one machine without saying anything.
constexpr auto fleeting = std::to_array<const char*>(
    {"host.available_bytes", "device.free_bytes", "device.pcie_gen", "device.pcie_width",
     "device.sm_clock_mhz", "device.memory_clock_mhz"});

KeyWords provenance(const Value& result) {
  KeyWords all;
  for (const char* part : {"build", "host", "device"}) {
    const Value value = result.at(part);
    flatten(value.is_null() ? Json() : value.object(), part, all);
  }
  for (const char* key : fleeting) all.erase(key);
  return all;
}

KeyWords deck_keys(const Value& deck) {
  Json keys = deck.at("resolved").object();
  for (const char* other : {"title", "measure", "acceptance", "require", "fleet"})
    keys.erase(other);
  KeyWords all;
  flatten(keys, "", all);
  const Json swept = keys.value("sweep", Json::object());
  for (const auto& [key, ignored] : swept.items()) all.erase(key);
  return all;
}

/// A run that was measured and verified.
experiment::Run read_right_run(const Value& value, Extent extent) {
  experiment::Run run = read_run(value);
  if (run.samples_s.empty()) value.at("samples_s").fail("a prediction", "measured runs");
  if (!value.at("wrong").is_null() || !run.verified) {
    value.at("verified").fail("wrong data", "true", base::ExitCode::wrong_data);
  }
  if (extent == Extent::all) read_trace(value, run);
  return run;
}

std::vector<experiment::RecordedPoint> read_points(const Value& runs, Extent extent) {
  std::vector<experiment::RecordedPoint> points;
  std::map<std::string, std::size_t> place_of;
  for (const Value& value : runs.items()) {
    std::vector<deck::Point::Value> values;
    const Value swept = value.at("point");
    for (const auto& [key, of] : swept.object().items()) {
      values.push_back({base::one_line(key), base::one_line(yaml::spell(of))});
    }
    const deck::Phase phase = phase_of(value);
    const std::string words =
        phase == deck::Phase::together ? std::string(deck::to_string(phase)) : point_words(values);
    const auto [place, is_new] = place_of.emplace(words, points.size());
    if (is_new) {
      points.push_back({.words = words, .phase = phase, .runs = {}});
      for (const auto& [key, text] : values) points.back().values[key] = text;
    }
    add_run(value, read_right_run(value, extent), points[place->second].runs);
  }
  if (points.empty()) runs.fail("no run", "measured runs");
  const auto alone = std::ranges::find(points, "", &experiment::RecordedPoint::words);
  for (experiment::RecordedPoint& point : points) {
    const bool together = point.phase == deck::Phase::together;
    if (together && alone != points.end()) experiment::set_alone(point.runs, alone->runs);
  }
  return points;
}

/// What changed during the runs, as counters that started at 0.
std::optional<experiment::HealthRecord> read_health(const Value& health) {
  if (health.is_null()) return {};
  experiment::HealthRecord read;
  if (const auto replays = health.find("pcie_replays")) {
    read.before.pcie_replays = 0;
    read.after.pcie_replays = replays->whole<std::int64_t>("a number of packets");
  }
  if (const auto errors = health.find("ecc_errors")) {
    read.before.ecc_corrected = read.before.ecc_uncorrected = read.after.ecc_uncorrected = 0;
    read.after.ecc_corrected = errors->whole<std::int64_t>("a number of errors");
  }
  if (const auto seconds = health.find("throttled_s")) {
    read.throttled.emplace().slowed_s = seconds->number();
  }
  return read;
}

/// Of a result, or of its phase together.
experiment::DeviceSamples read_device(const Value& of) {
  experiment::DeviceSamples device;
  device.health = read_health(of.at_or_null("health"));
  const Value rates = of.at("rates");
  if (rates.is_null()) return device;
  device.link_bytes = rates.at("bytes").whole<std::int64_t>("a size");
  device.h2d_s = rates.at("h2d_s").times();
  device.d2h_s = rates.at("d2h_s").times();
  device.duplex_s = rates.at("duplex_s").times();
  if (const auto up = rates.find("duplex_h2d_s")) device.duplex_h2d_s = up->times();
  if (const auto down = rates.find("duplex_d2h_s")) device.duplex_d2h_s = down->times();
  const auto differs = [&](const std::vector<double>& list) {
    return list.size() != device.h2d_s.size();
  };
  if (differs(device.d2h_s) || differs(device.duplex_s) ||
      device.duplex_h2d_s.size() != device.duplex_d2h_s.size() ||
      (!device.duplex_h2d_s.empty() && differs(device.duplex_h2d_s))) {
    rates.fail("lists of different lengths", "one time of each kind per repetition");
  }
  return device;
}

/// Whether a result passed, or is inconclusive only because its criteria have no reference yet.
bool is_healthy(base::ExitCode code, const Value& checks) {
  if (code != base::ExitCode::inconclusive) return code == base::ExitCode::pass;
  return std::ranges::all_of(checks.items(), [](const Value& check) {
    const auto verdict = check.at("verdict").word<experiment::Verdict>();
    return check.at("limit").is_null() ||
           (verdict != experiment::Verdict::fail && verdict != experiment::Verdict::inconclusive);
  });
}

Recorded read_result(const std::string& file, const Value& result, Extent extent) {
  const Value error = result.at("error"), runs = result.at("runs");
  const bool ran = !runs.items().empty();  // a sweep skips points that the machine cannot run
  if (!error.is_null() && !ran && extent != Extent::all) {
    error.fail(yaml::quoted(error.text()), "null");
  }
  if (const Value interrupted = result.at("interrupted"); interrupted.flag()) {
    interrupted.fail("true", "false");
  }
  const Value deck = result.at("deck");
  // Member by member: GCC 16 destroys members of an aggregate twice when a later one throws.
  Recorded recorded;
  static_cast<experiment::Origin&>(recorded) = origin_of(file, result);
  recorded.title = result.at_or_null("title").text_or_nothing();
  recorded.deck_path = deck.at("path").text();
  recorded.version = result.at("build").at("version").text();
  recorded.provenance = provenance(result);
  recorded.deck = deck_keys(deck);
  const bool on_gpu = !result.at("device").is_null();
  for (const Value& value : deck.at("resolved").at("acceptance").items()) {
    deck::Criterion criterion = read_criterion(value);
    if (criterion.holds_here(on_gpu)) recorded.acceptance.push_back(std::move(criterion));
  }
  recorded.code = exit_code_in(result.at("exit_code"));
  recorded.healthy = is_healthy(recorded.code, result.at("checks"));
  recorded.error = error.text_or_nothing();
  if (error.is_null() || ran) recorded.points = read_points(runs, extent);
  for (experiment::RecordedPoint& point : recorded.points) {
    const bool alone = point.phase == deck::Phase::alone;
    point.device = read_device(alone ? result : result.at("together"));
  }
  return recorded;
}

}  // namespace

std::vector<Recorded> results_of(const std::string& file, const std::string& text, Extent extent) {
  const Json json = parse_json(file, text);
  std::vector<Recorded> results;
  for (const Value& value : results_in({json, file})) {
    results.push_back(read_result(file, value, extent));
  }
  return results;
}

std::vector<Recorded> read_results(const std::vector<std::string>& files_or_folders,
                                   Extent extent) {
  std::vector<Recorded> results;
  for (const SourceFile& file : source_files(files_or_folders)) {
    base::check_interrupt();
    try {
      std::ranges::move(results_of(file.path, content_of(file.path), extent),
                        std::back_inserter(results));
    } catch (const base::Error&) {
      if (!is_left_out(file)) throw;
    }
  }
  if (results.empty()) {
    fail_to_read(files_or_folders.front() + ": found no result file; allowed: at least one");
  }
  return results;
}

}  // namespace overlap::report
