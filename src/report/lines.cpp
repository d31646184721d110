#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Run;

/// " point=chunks.count:4,memory.host:pinned phase=together": values without spaces, as the program
/// took them.
std::string place_field(const results::Point& point) {
  std::string field;
  for (const auto& [key, json] : point.values.items()) {
    const std::string text =
        json.is_number() ? fmt::format("{}", json.get<double>()) : point.spelled(key);
    std::string value = base::field_value(text);
    std::ranges::replace_if(value, [](char c) { return c == ',' || c == ':'; }, '_');
    field += fmt::format("{}{}:{}", field.empty() ? " point=" : ",", key, value);
  }
  if (point.phase == deck::Phase::alone) return field;
  return field + fmt::format(" phase={}", deck::to_string(point.phase));
}

/// What tells runs of one order apart.
std::string twin_field(const Run& run) {
  if (run.disturbance) return fmt::format(" disturb={}", deck::to_string(*run.disturbance));
  return run.host_work ? " host_work=on" : "";
}

std::string device_field(const std::string& device) {
  return device.empty() ? "" : " device=" + base::field_value(device);
}

/// A value of a metric; `more`: further fields.
std::string fom_line(const results::Result& result, std::string_view order, std::string_view metric,
                     std::string_view unit, const base::Summary& s, const std::string& more) {
  return fmt::format(
      "OVERLAP_FOM deck={} order={} metric={} value={:.6g} unit={} lo={:.6g} hi={:.6g} n={}{}\n",
      result.deck.name(), order, metric, s.median, unit, s.lo, s.hi, s.n, more);
}

}  // namespace

std::string result_lines(const results::Result& result) {
  std::string text;
  for (const results::Point& point : result.points) {
    const std::string place = place_field(point);
    for (const Run& run : point.runs) {
      const std::string_view order = deck::to_string(run.order);
      const std::string twin = twin_field(run);
      if (run.predicted_s) {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        text += fom_line(result, order, "predicted_time", "s",
                         {.median = *run.predicted_s, .lo = unknown, .hi = unknown},
                         twin + device_field(run.device) + place);
      }
      for (const deck::MetricRow& row : deck::run_metrics) {
        const auto& value = run.value(row.value);
        if (!run.ran() || !value) continue;
        text += fom_line(result, order, row.name, row.unit, *value, twin + place);
      }
    }
    for (const deck::MetricRow& row : deck::device_metrics) {
      const auto value = results::value(row.value, point.device);
      if (value) text += fom_line(result, "-", row.name, row.unit, *value, place);
    }
    for (const results::Check& check : point.checks) {
      text += fmt::format(
          "OVERLAP_CHECK metric={} order={} verdict={} value={:.6g} limit={:.6g}{}{}\n",
          deck::to_string(check.key.metric), order_name(check.key), deck::to_string(check.verdict),
          check.value.median, check.limit, device_field(check.device), place);
    }
  }
  return text;
}

std::string verdict_line(results::Verdict verdict, base::ExitCode code, bool ran) {
  // A limit on max_error that is broken is the user's word on the data, too.
  const char* const state = code == base::ExitCode::wrong_data ? "WRONG" : ran ? "OK" : "NONE";
  return fmt::format("OVERLAP_RESULT verdict={} data={} exit={}\n", deck::to_string(verdict), state,
                     static_cast<int>(code));
}

std::string verdict_line(std::span<const results::Result> results) {
  auto code = base::ExitCode::pass;
  for (const results::Result& result : results) code = base::worst(code, result.code);
  const auto worst = std::ranges::find(results, code, &results::Result::code);
  return verdict_line(worst->verdict, code, std::ranges::any_of(results, &results::Result::ran));
}

}  // namespace overlap::report
