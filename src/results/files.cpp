#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "results/consistent.hpp"
#include "results/describe.hpp"
#include "results/metrics.hpp"

/// Result files: what is written, read and put together.
namespace overlap::results {
namespace {

/// Adds the points of runs that a file does not list: one of an earlier version has runs alone.
void add_points(Result& result) {
  std::set<std::pair<std::string, deck::Phase>> known;
  for (const Point& point : result.points) known.emplace(point.values.dump(), point.phase);
  const auto add = [&](const Json& values, deck::Phase phase) {
    if (!known.emplace(values.dump(), phase).second) return;
    Point& point = result.points.emplace_back(Point{.values = values, .phase = phase});
    for (const auto& [key, value] : values.items()) point.text[key] = describe::spell(value);
    point.exit_code = result.code;
    if (!result.error.empty()) point.reasons = {result.error};
    point.ended_by = result.error.empty() && result.interrupted ? "interrupted" : result.error;
  };
  for (const Run& run : result.runs) add(run.point, run.phase);
  if (result.points.empty()) add(Json::object(), deck::Phase::alone);
}

std::vector<std::string> devices_of(const Result& result) {
  std::vector<std::string> devices;
  for (const Run& run : result.runs) {
    const bool known = std::ranges::find(devices, run.device) != devices.end();
    if (!run.device.empty() && !known) devices.push_back(run.device);
  }
  return devices;
}

Result read_result(const describe::Reader& reader, const Rule& rule) {
  const std::string& path = reader.document().origins.front();
  if (!reader.at("schema").is(result_schema)) {
    const std::string where = reader.path().empty() ? path : path + ": " + reader.path();
    const std::string found =
        reader.has("schema") ? describe::found(&reader.at("schema").value()) : "no schema";
    throw base::Error(base::ExitCode::runtime_error,
                      fmt::format("{}: found {}; allowed: a result file, schema {}", where, found,
                                  result_schema));
  }
  Result result;
  describe::read(reader, result);
  result.file = path;
  add_points(result);
  if (result.predicted_for.empty()) result.predicted_for = devices_of(result);
  require_consistent(reader, result);
  if (rule) rule(reader, result);
  evaluate(result.runs);
  return result;
}

}  // namespace

void append(Result& result, std::size_t number, Part part) {
  const bool together = part.point.phase == deck::Phase::together;
  for (auto& [name, value] : part.choices) {
    const auto known = std::ranges::find(result.choices, name, &Choices::value_type::first);
    if (known == result.choices.end()) {
      result.choices.emplace_back(name, value);
    } else if (known->second != value) {
      known->second = "differs from point to point";
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
  result.reference_s += part.reference_s;
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
  Json all = Json::array();
  for (const Result& result : results) all.push_back(describe::write(result));
  const Json document = results.size() == 1 ? all.front() : Json{{"results", all}};
  return json_text(document, indent) + "\n";
}

std::string json_text(const Json& json, int indent) {
  return base::safe_lines(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::vector<Result> read_results(const describe::Document& document, const Rule& rule) {
  const describe::Reader root(document);
  std::vector<Result> results;
  if (!root.has("results")) return {read_result(root, rule)};
  for (const describe::Reader& item : root.at("results").items("a list of results")) {
    results.push_back(read_result(item, rule));
  }
  if (results.empty()) root.at("results").fail("found no result; allowed: one per deck");
  return results;
}

}  // namespace overlap::results
