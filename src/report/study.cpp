#include "report/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/console.hpp"
#include "report/json.hpp"
#include "report/lines.hpp"

namespace overlap::report {

bool Axis::numeric() const {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return !!v.number; });
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

bool Study::ran() const {
  return std::any_of(done.begin(), done.end(), [](const PointResult& point) {
    return std::any_of(point.rows.begin(), point.rows.end(),
                       [](const Row& row) { return row.time.has_value(); });
  });
}

base::ExitCode Study::exit_code() const {
  auto code = unwritten ? base::ExitCode::runtime_error : base::ExitCode::pass;
  for (const PointResult& point : done) code = base::worst(code, point.code);
  return code;
}

experiment::Verdict Study::verdict() const {
  const base::ExitCode worst = exit_code();
  const auto point =
      std::find_if(done.begin(), done.end(), [&](const PointResult& p) { return p.code == worst; });
  if (point != done.end()) return point->verdict;
  return unwritten ? experiment::Verdict::error : experiment::Verdict::pass;
}

Study new_study(base::Machine machine, std::vector<deck::Point> points,
                std::vector<std::string> devices) {
  Study study{.machine = std::move(machine),
              .started = {},
              .points = std::move(points),
              .axes = {},
              .devices = std::move(devices),
              .done = {}};
  const std::vector<deck::Point::Value>& first = study.points.front().values;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Axis& axis = study.axes.emplace_back(Axis{.key = first[i].key, .values = {}});
    for (const deck::Point& point : study.points) {
      const std::string& text = point.values[i].text;
      if (std::any_of(axis.values.begin(), axis.values.end(),
                      [&](const Axis::Value& value) { return value.text == text; })) {
        continue;
      }
      axis.values.push_back({text, number_at(point.deck, axis.key)});
    }
  }
  return study;
}

PointResult& add(Study& study, std::size_t point, experiment::Outcome outcome) {
  PointResult result{.number = point,
                     .fingerprint = fingerprint(study.points[point]),
                     .record = study.sweeps() ? record(outcome, study.points[point], point) : "",
                     .rows = rows_of(outcome),
                     .lines = point_lines(outcome),
                     .verdict = outcome.verdict(),
                     .code = outcome.exit_code(),
                     .reasons = experiment::reasons(outcome),
                     .wrong_data = wrong_data(outcome),
                     .ended_by = outcome.failure       ? outcome.failure->text
                                 : outcome.interrupted ? "interrupted"
                                                       : "",
                     .outcome = {}};
  if (!study.sweeps()) result.outcome = std::move(outcome);
  const auto behind = std::find_if(study.done.begin(), study.done.end(),
                                   [&](const PointResult& other) { return other.number > point; });
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
