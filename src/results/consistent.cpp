#include "results/consistent.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "results/checks.hpp"
#include "results/figures.hpp"

namespace overlap::results {
namespace {

using base::ExitCode;

/// What a check is about: point, phase, order (empty: the device) and metric.
using About = std::pair<std::string, FigureKey>;
/// The rows that criteria can be about, with the medians that the file has.
using Rows = std::map<About, const Figures::Row*>;

std::string number(double value) { return std::isnan(value) ? "null" : fmt::format("{:g}", value); }

/// The value is that of the run, and the verdict that of the value.
void require_right(const describe::Reader& at, const Check& check, const About& about,
                   const Rows& rows) {
  const auto fail = [&](const char* key, const std::string& found, const std::string& allowed) {
    at.at(key).fail(fmt::format("found {}; allowed: {}", found, allowed));
  };
  const double median = check.value.median;
  const auto row = rows.find(about);
  if (row == rows.end() && check.order) {
    fail("order", describe::quoted(std::string(deck::to_string(*check.order))),
         "an order that was measured");
  }
  // Earlier files lack the device's samples at the points of a sweep.
  if (row != rows.end() && (check.order || row->second->value)) {
    constexpr double rounding = 1e-6;
    const double measured =
        row->second->value ? row->second->value->median : std::numeric_limits<double>::quiet_NaN();
    const bool same = std::isnan(median) || std::isnan(measured)
                          ? std::isnan(median) == std::isnan(measured)
                          : std::abs(median - measured) <= rounding * std::abs(measured);
    if (!same) fail("value", number(median), number(measured) + ", as the run has it");
  }
  if (check.verdict == Verdict::inconclusive || check.verdict == Verdict::skipped) return;
  const std::string verdict(deck::to_string(check.verdict));
  if (std::isnan(median) || std::isnan(check.limit)) {
    fail("verdict", describe::quoted(verdict), "INCONCLUSIVE, without value or limit");
  }
  const bool keeps = check.at_least ? median >= check.limit : median <= check.limit;
  if (keeps == (check.verdict == Verdict::pass)) return;
  fail("verdict", describe::quoted(verdict),
       fmt::format("that of {} with limit {}", number(median), number(check.limit)));
}

/// Requires runs that can have the file's verdict; returns the exit code without checks.
ExitCode code_of_runs(const describe::Reader& file, const Result& result) {
  auto code = result.interrupted ? ExitCode::interrupted : ExitCode::pass;
  std::set<std::string> names;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const Run& run = result.runs[i];
    if (run.wrong) code = base::worst(code, ExitCode::wrong_data);
    if (!run.ran()) continue;
    const describe::Reader at = file.at("runs").item(i);
    if (!run.verified && result.verdict == Verdict::pass) {
      at.at("verified").fail("found false; allowed: true, where the verdict is PASS");
    }
    const auto place = fmt::format("{} {} {} {}", run.point.dump(), static_cast<int>(run.phase),
                                   run.device, name(run));
    if (!names.insert(place).second) {
      at.at("order").fail(fmt::format("found a second run of {}; allowed: one", name(run)));
    }
  }
  return code;
}

/// A criterion as `deck.resolved` has it.
deck::Criterion criterion_of(const Json& map) {
  const auto value = [&]<class C>(const char* key, const C& codec) {
    return map.contains(key) ? codec.parse(map.at(key)) : std::optional<typename C::Type>();
  };
  deck::Criterion criterion{
      .metric = value("metric", describe::OneOf<deck::Metric>()).value_or(deck::Metric::time),
      .order = value("order", describe::OneOf<deck::Order>()),
      .phase = value("phase", describe::OneOf<deck::Phase>()),
      .min = value("min", describe::Real()),
      .max = value("max", describe::Real()),
      .reference = value("reference", describe::Text()),
      .below = value("below", describe::Real())};
  for (const Json& place : map.value("where", Json::array())) {
    criterion.where.push_back(describe::spell(place));
  }
  return criterion;
}

}  // namespace

std::vector<deck::Criterion> criteria(const Result& result) {
  std::vector<deck::Criterion> found;
  for (const Json& value : result.deck.resolved.value("acceptance", Json::array())) {
    const deck::Criterion criterion = criterion_of(value);
    if (criterion.holds_here(result.machine.device.has_value())) found.push_back(criterion);
  }
  return found;
}

void require_consistent(const describe::Reader& file, const Result& result) {
  if (result.verdict != verdict_of(result.code)) {
    file.at("verdict").fail(fmt::format(
        "found {}; allowed: that of exit code {}",
        describe::quoted(std::string(deck::to_string(result.verdict))), int(result.code)));
  }
  if (!result.error.empty() && result.code == ExitCode::pass) {
    file.at("error").fail(fmt::format("found {}; allowed: null, where the verdict is PASS",
                                      describe::quoted(result.error)));
  }
  ExitCode code = code_of_runs(file, result);
  const Figures figures(result);
  const std::vector<deck::Criterion> judging = criteria(result);
  Rows rows;
  std::set<About> due;  // checks that follow from the criteria and the runs
  for (const Figures::Row& row : figures.rows) {
    if (!row.judged) continue;
    const About about(result.points[row.point].values.dump(), row.key);
    rows.emplace(about, &row);
    for (const deck::Criterion& criterion : judging) {
      const bool covers =
          criterion.metric == row.key.metric && criterion.covers(row.key.order, row.key.phase);
      if (covers) due.insert(about);
    }
  }
  for (std::size_t i = 0; i < result.checks.size(); ++i) {
    const Check& check = result.checks[i];
    const About about(check.point.dump(), {check.phase, check.order, check.metric});
    if (check.device.empty()) require_right(file.at("checks").item(i), check, about, rows);
    code = base::worst(code, code_of(check.metric, check.verdict));
    if (check.verdict != Verdict::skipped) due.erase(about);
  }
  const bool ended_early = !result.error.empty() || result.interrupted;
  if (!due.empty() && !ended_early) {
    file.at("checks").fail(
        fmt::format("found none of {}; allowed: one for each criterion of the deck",
                    name(due.begin()->second)));
  }
  const bool follows =
      result.error.empty() ? result.code == code : base::worst(result.code, code) == result.code;
  if (follows) return;
  file.at("exit_code")
      .fail(fmt::format("found {}; allowed: {}, which follows from runs and checks",
                        int(result.code), int(code)));
}

}  // namespace overlap::results
