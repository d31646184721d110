#include "report/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/json.hpp"
#include "report/lines.hpp"

namespace overlap::report {

bool Axis::numeric() const {
  return std::ranges::all_of(values, [](const Value& v) { return v.number.has_value(); });
}

std::optional<double> Row::seconds() const {
  return time ? std::optional<double>(time->median) : predicted_s;
}

std::optional<double> Row::median(deck::Metric metric) const {
  return medians[static_cast<std::size_t>(metric)];
}

const experiment::Outcome* Study::outcome() const {
  return !sweeps() && !done.empty() && done.front().outcome ? &*done.front().outcome : nullptr;
}

std::vector<const experiment::Outcome*> Study::outcomes() const {
  std::vector<const experiment::Outcome*> outcomes;
  for (const PointResult& point : done) {
    if (point.outcome) outcomes.push_back(&*point.outcome);
  }
  return outcomes;
}

bool Study::any(bool (*has)(const Row&)) const {
  return std::ranges::any_of(
      done, [&](const PointResult& point) { return std::ranges::any_of(point.rows, has); });
}

bool Study::ran() const {
  return any([](const Row& row) { return row.time.has_value(); });
}

base::ExitCode Study::exit_code() const {
  auto code = unwritten ? unwritten->code() : base::ExitCode::pass;
  for (const PointResult& point : done) code = base::worst(code, point.code);
  return code;
}

Study new_study(base::Machine machine, std::vector<deck::Point> points,
                std::vector<std::string> devices) {
  Study study{
      .machine = std::move(machine), .points = std::move(points), .devices = std::move(devices)};
  const std::vector<deck::Point::Value>& first = study.points.front().values;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Axis& axis = study.axes.emplace_back(Axis{.key = first[i].key});
    for (const deck::Point& point : study.points) {
      const std::string& text = point.values[i].text;
      if (std::ranges::count(axis.values, text, &Axis::Value::text) > 0) continue;
      axis.values.push_back({text, number_at(point.deck, axis.key)});
    }
  }
  return study;
}

/// Why a point did not come to its end; empty: it did.
static std::string end_of(const experiment::Outcome& outcome, bool sweeps) {
  if (outcome.failure) return outcome.failure->text;
  if (!outcome.interrupted) return "";
  return outcome.ran() || sweeps ? "interrupted" : "interrupted before a repetition was complete";
}

PointResult& add(Study& study, std::size_t point, experiment::Outcome outcome) {
  PointResult result{.number = point,
                     .record = study.sweeps() ? record(outcome, study.points[point], point) : "",
                     .rows = rows_of(outcome),
                     .checks = checks_of(outcome),
                     .findings = findings_of(outcome),
                     .lines = point_lines(outcome),
                     .code = outcome.exit_code(),
                     .reasons = experiment::reasons(outcome),
                     .ended_by = end_of(outcome, study.sweeps())};
  if (!study.sweeps()) result.outcome = std::move(outcome);
  const auto behind = std::ranges::upper_bound(study.done, point, {}, &PointResult::number);
  return *study.done.insert(behind, std::move(result));
}

std::string point_words(const std::vector<deck::Point::Value>& values) {
  std::string text;
  for (const auto& [key, value] : values) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

}  // namespace overlap::report
