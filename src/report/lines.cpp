#include "report/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "report/json.hpp"

namespace overlap::report {
namespace {

using experiment::Outcome;
using experiment::Run;

/// " point=chunks.count:4,memory.host:pinned": values without spaces, as the program took them.
std::string point_field(const Outcome& outcome) {
  std::string field;
  for (const auto& [key, text] : outcome.values) {
    const auto number = number_at(outcome.deck, key);
    std::string value = base::field_value(number ? fmt::format("{}", *number) : text);
    std::ranges::replace_if(value, [](char c) { return c == ',' || c == ':'; }, '_');
    field += fmt::format("{}{}:{}", field.empty() ? " point=" : ",", key, value);
  }
  return field;
}

/// " phase=together"; nothing for phase alone.
std::string phase_field(const Outcome& outcome) {
  return outcome.phase == deck::Phase::alone
             ? ""
             : fmt::format(" phase={}", deck::to_string(outcome.phase));
}

/// What tells runs of one order apart.
std::string twin_field(const Run& run) {
  if (run.disturbance) return fmt::format(" disturb={}", deck::to_string(*run.disturbance));
  return run.host_work ? " host_work=on" : "";
}

/// The device of a prediction.
std::string device_field(const std::string& device) {
  return device.empty() ? "" : " device=" + base::field_value(device);
}

}  // namespace

std::string point_lines(const Outcome& outcome) {
  std::string text;
  const std::string point = point_field(outcome) + phase_field(outcome);
  const auto figure = [&](std::string_view order, std::string_view metric, std::string_view unit,
                          const base::Summary& s, const std::string& more) {
    text += fmt::format(
        "OVERLAP_FOM deck={} order={} metric={} value={:.6g} unit={} lo={:.6g} hi={:.6g} n={}{}{}"
        "\n",
        outcome.deck.name(), order, metric, s.median, unit, s.lo, s.hi, s.n, more, point);
  };
  for (const Run& run : outcome.runs) {
    const std::string_view order = deck::to_string(run.order);
    if (const auto predicted = experiment::predicted_s(run)) {
      constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
      const auto expected = run.expected.value_or(model::Interval{unknown, unknown});
      figure(order, "predicted_time", "s",
             {.median = *predicted, .lo = expected.lo_s, .hi = expected.hi_s},
             twin_field(run) + device_field(run.device));
    }
    if (run.samples_s.empty()) continue;
    for (const deck::MetricRow& row : deck::run_metrics) {
      const auto value = experiment::value(row.value, run, outcome.runs);
      if (value) figure(order, row.name, row.unit, *value, twin_field(run));
    }
  }
  for (const deck::MetricRow& row : deck::device_metrics) {
    const auto value = experiment::value(row.value, outcome.device);
    if (value) figure("-", row.name, row.unit, *value, "");
  }
  for (const experiment::Check& check : outcome.checks) {
    text +=
        fmt::format("OVERLAP_CHECK metric={} order={} verdict={} value={:.6g} limit={:.6g}{}{}\n",
                    deck::to_string(check.metric), experiment::order_word(check),
                    deck::to_string(check.verdict), check.value.median, check.limit,
                    device_field(check.device), point);
  }
  return text;
}

std::string verdict_line(experiment::Verdict verdict, base::ExitCode code, bool ran) {
  // A limit on max_error that is broken is the user's word on the data, too.
  const char* const state = code == base::ExitCode::wrong_data ? "WRONG" : ran ? "OK" : "NONE";
  return fmt::format("OVERLAP_RESULT verdict={} data={} exit={}\n", deck::to_string(verdict), state,
                     static_cast<int>(code));
}

std::string verdict_line(std::span<const Study> studies) {
  auto code = base::ExitCode::pass;
  for (const Study& study : studies) code = base::worst(code, study.exit_code());
  const auto worst = std::ranges::find(studies, code, &Study::exit_code);
  return verdict_line(worst->verdict(), code, std::ranges::any_of(studies, &Study::ran));
}

std::string result_lines(const Study& study) {
  std::string text;
  for (const PointResult& point : study.done) text += point.lines;
  return text;
}

}  // namespace overlap::report
