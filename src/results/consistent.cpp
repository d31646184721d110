#include "results/consistent.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "results/checks.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

using base::ExitCode;

/// What a check is about: point, phase, order (empty: the device), metric.
using About = std::tuple<std::string, deck::Phase, std::string, deck::Metric>;
using Medians = std::map<About, std::optional<double>>;

std::string number(double value) { return std::isnan(value) ? "null" : fmt::format("{:g}", value); }

/// Medians of what the measured runs and the device reached, as the file has them.
Medians medians(const Result& result) {
  Medians all;
  for (const Run& run : result.runs) {
    if (!run.ran()) continue;
    for (const deck::MetricRow& row : deck::run_metrics) {
      if (!applies_to(row.value, run)) continue;
      const auto& value = run.value(row.value);
      all.emplace(About(run.point.dump(), run.phase, deck::to_string(run.order), row.value),
                  value ? std::optional(value->median) : std::nullopt);
    }
  }
  const auto add = [&](const DeviceSamples& device, deck::Phase phase) {
    for (const deck::MetricRow& row : deck::device_metrics) {
      const bool measured =
          row.needs == deck::Needs::link ? device.link_bytes > 0 : device.health.has_value();
      if (!measured) continue;
      const auto median = value(row.value, device);
      all.emplace(About("{}", phase, "", row.value),
                  median ? std::optional(median->median) : std::nullopt);
    }
  };
  add(result.device, deck::Phase::alone);
  if (result.together) add(result.together->device, deck::Phase::together);
  return all;
}

/// The checks that follow from the criteria and the runs.
std::set<About> due_checks(const Result& result) {
  std::set<About> due;
  for (const deck::Criterion& criterion : criteria(result)) {
    const deck::Needs needs = deck::row_of(criterion.metric).needs;
    const bool of_device = deck::of_device(needs);
    for (const Run& run : result.runs) {
      if (!run.ran() || criterion.phase.value_or(run.phase) != run.phase) continue;
      if (needs == deck::Needs::alone && run.phase == deck::Phase::alone) continue;
      if (!of_device && (criterion.order.value_or(run.order) != run.order ||
                         !applies_to(criterion.metric, run))) {
        continue;
      }
      due.emplace(run.point.dump(), run.phase, of_device ? "" : deck::to_string(run.order),
                  criterion.metric);
    }
  }
  return due;
}

/// The value is that of the run, and the verdict that of the value.
void require_right(const describe::Reader& at, const Check& check, const About& about,
                   const Medians& figures) {
  const auto fail = [&](const char* key, const std::string& found, const std::string& allowed) {
    at.at(key).fail(fmt::format("found {}; allowed: {}", found, allowed));
  };
  const double median = check.value.median;
  if (const auto figure = figures.find(about); figure != figures.end()) {
    constexpr double rounding = 1e-6;
    const std::optional<double> run = figure->second;
    const bool same = std::isnan(median) || !run
                          ? std::isnan(median) == !run
                          : std::abs(median - *run) <= rounding * std::abs(*run);
    if (!same) {
      fail("value", number(median), (run ? number(*run) : "null") + ", as the run has it");
    }
  } else if (check.order) {
    fail("order", describe::quoted(std::string(deck::to_string(*check.order))),
         "an order that was measured");
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

template <class Enum>
std::optional<Enum> word(const Json& map, const char* key) {
  return map.contains(key) ? describe::OneOf<Enum>().parse(map.at(key)) : std::nullopt;
}

/// A criterion as `deck.resolved` has it.
deck::Criterion criterion_of(const Json& map) {
  deck::Criterion criterion;
  const auto number = [&](const char* key) {
    const bool given = map.contains(key) && map.at(key).is_number();
    return given ? std::optional(map.at(key).get<double>()) : std::nullopt;
  };
  criterion.metric = word<deck::Metric>(map, "metric").value_or(deck::Metric::time);
  criterion.order = word<deck::Order>(map, "order");
  criterion.phase = word<deck::Phase>(map, "phase");
  criterion.min = number("min");
  criterion.max = number("max");
  criterion.below = number("below");
  if (map.contains("reference")) criterion.reference = describe::spell(map.at("reference"));
  for (const Json& place : map.value("where", Json::array())) {
    criterion.where.push_back(describe::spell(place));
  }
  return criterion;
}

}  // namespace

std::vector<deck::Criterion> criteria(const Result& result) {
  std::vector<deck::Criterion> found;
  const Json list = result.deck.resolved.value("acceptance", Json::array());
  for (const Json& value : list) {
    deck::Criterion criterion = criterion_of(value);
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
  std::set<About> due = due_checks(result);
  const Medians all = medians(result);
  for (std::size_t i = 0; i < result.checks.size(); ++i) {
    const Check& check = result.checks[i];
    const About about(check.point.dump(), check.phase,
                      check.order ? deck::to_string(*check.order) : "", check.metric);
    if (check.device.empty()) require_right(file.at("checks").item(i), check, about, all);
    code = base::worst(code, code_of(check.metric, check.verdict));
    if (check.verdict != Verdict::skipped) due.erase(about);
  }
  const bool ended_early = !result.error.empty() || result.interrupted;
  if (!due.empty() && !ended_early) {
    const auto& [point, phase, order, metric] = *due.begin();
    file.at("checks").fail(
        fmt::format("found none of {}{}; allowed: one for each criterion of the deck",
                    deck::to_string(metric), order.empty() ? "" : " of " + order));
  }
  const bool follows =
      result.error.empty() ? result.code == code : base::worst(result.code, code) == result.code;
  if (follows) return;
  file.at("exit_code")
      .fail(fmt::format("found {}; allowed: {}, which follows from runs and checks",
                        int(result.code), int(code)));
}

}  // namespace overlap::results
