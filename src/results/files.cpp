#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/text.hpp"
#include "results/checks.hpp"
#include "results/describe.hpp"
#include "results/figures.hpp"

/// Result files: what is written, read and put together.
namespace overlap::results {
namespace {

using base::ExitCode;
using describe::quoted;
using describe::Reader;

[[noreturn]] void deny(const Reader& at, const std::string& found, const std::string& allowed) {
  at.fail(fmt::format("found {}; allowed: {}", found, allowed));
}

std::string number(double value) { return std::isnan(value) ? "null" : fmt::format("{:g}", value); }

/// Requires that the value of a check is that of the run, and its verdict that of the value.
/// `row`: null if the check is about nothing that was measured.
void require_right(const Reader& at, const Check& check, const Figures::Row* row) {
  const double median = check.value.median;
  if (row == nullptr && check.order) {
    deny(at.at("order"), quoted(std::string(order_name(check))), "an order that was measured");
  }
  // Earlier files lack the device's samples at the points of a sweep.
  if (row != nullptr && (check.order || row->value)) {
    constexpr double rounding = 1e-6;
    const double measured =
        row->value ? row->value->median : std::numeric_limits<double>::quiet_NaN();
    const bool differs = std::isnan(median) != std::isnan(measured) ||
                         std::abs(median - measured) > rounding * std::abs(measured);
    if (differs) deny(at.at("value"), number(median), number(measured) + ", as the run has it");
  }
  if (check.verdict == Verdict::inconclusive || check.verdict == Verdict::skipped) return;
  const std::string verdict = quoted(std::string(deck::to_string(check.verdict)));
  if (std::isnan(median) || std::isnan(check.limit)) {
    deny(at.at("verdict"), verdict, "INCONCLUSIVE, without value or limit");
  }
  const bool keeps = check.at_least ? median >= check.limit : median <= check.limit;
  if (keeps == (check.verdict == Verdict::pass)) return;
  deny(at.at("verdict"), verdict,
       fmt::format("that of {} with limit {}", number(median), number(check.limit)));
}

/// Requires runs that can have the file's verdict; returns the exit code without checks.
ExitCode code_of_runs(const Reader& file, const Result& result) {
  auto code = result.interrupted ? ExitCode::interrupted : ExitCode::pass;
  std::set<std::string> names;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const Run& run = result.runs[i];
    if (run.wrong) code = base::worst(code, ExitCode::wrong_data);
    if (!run.ran()) continue;
    const Reader at = file.at("runs").item(i);
    if (!run.verified && result.verdict == Verdict::pass) {
      deny(at.at("verified"), "false", "true, where the verdict is PASS");
    }
    const auto place = fmt::format("{} {} {} {}", run.point.dump(), static_cast<int>(run.phase),
                                   run.device, name(run));
    if (!names.insert(place).second) {
      deny(at.at("order"), "a second run of " + name(run), "one");
    }
  }
  return code;
}

/// Requires that a file does not contradict itself: verdict and exit code follow from runs and
/// checks, checks from their values, and values are those of the runs.
void require_consistent(const Reader& file, const Result& result) {
  if (result.verdict != verdict_of(result.code)) {
    deny(file.at("verdict"), quoted(std::string(deck::to_string(result.verdict))),
         fmt::format("that of exit code {}", int(result.code)));
  }
  if (!result.error.empty() && result.code == ExitCode::pass) {
    deny(file.at("error"), quoted(result.error), "null, where the verdict is PASS");
  }
  ExitCode code = code_of_runs(file, result);
  const Figures figures(result);
  const std::vector<deck::Criterion> judging = criteria(result);
  using About = std::pair<std::string, FigureKey>;  // a point and what is judged there
  std::map<About, const Figures::Row*> rows;
  std::set<About> due;  // checks that follow from the criteria and the runs
  for (const Figures::Row& row : figures.rows) {
    if (!row.judged) continue;
    const About about(figures.point(row).values.dump(), row.key);
    rows.emplace(about, &row);
    const auto is_judged = [&](const deck::Criterion& criterion) {
      return criterion.metric == row.key.metric && criterion.covers(row.key.order, row.key.phase);
    };
    if (std::ranges::any_of(judging, is_judged)) due.insert(about);
  }
  for (std::size_t i = 0; i < result.checks.size(); ++i) {
    const Check& check = result.checks[i];
    const About about(check.point.dump(), {check.phase, check.order, check.metric});
    const auto row = rows.find(about);
    if (check.device.empty()) {
      require_right(file.at("checks").item(i), check, row == rows.end() ? nullptr : row->second);
    }
    code = base::worst(code, code_of(check.metric, check.verdict));
    if (check.verdict != Verdict::skipped) due.erase(about);
  }
  if (!due.empty() && result.error.empty() && !result.interrupted) {
    deny(file.at("checks"), "none of " + name(due.begin()->second),
         "one for each criterion of the deck");
  }
  const ExitCode follows = result.error.empty() ? code : base::worst(result.code, code);
  if (result.code == follows) return;
  deny(file.at("exit_code"), std::to_string(int(result.code)),
       fmt::format("{}, which follows from runs and checks", int(code)));
}

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

Result read_result(const Reader& reader, const Rule& rule) {
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
  const Reader root(document);
  std::vector<Result> results;
  if (!root.has("results")) return {read_result(root, rule)};
  for (const Reader& item : root.at("results").items("a list of results")) {
    results.push_back(read_result(item, rule));
  }
  if (results.empty()) root.at("results").fail("found no result; allowed: one per deck");
  return results;
}

}  // namespace overlap::results
