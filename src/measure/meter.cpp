#include "measure/meter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace overlap::measure {

HandSchedule::HandSchedule(const workload::Workload& workload) : workload_(workload) {
  schedule_.arrays = workload.arrays;
  schedule_.lanes = 0;
}

TaskId HandSchedule::add(Stage stage, std::int64_t units, int lane, std::vector<TaskId> after) {
  const auto id = static_cast<TaskId>(schedule_.tasks.size());
  const auto chunk = static_cast<int>(id);
  schedule::Task task{.stage = stage, .chunk = chunk, .lane = lane, .after = std::move(after)};
  const auto next_begin = [units](std::int64_t end, std::int64_t available) {
    return end + units <= available ? end : 0;
  };
  const std::int64_t begin = next_begin(next_, host_units());
  next_ = begin + units;
  const std::int64_t slot = next_begin(next_slot_, device_units(workload_.device[0].size()));
  next_slot_ = slot + units;
  const bool kernel = stage == Stage::kernel;
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    const schedule::Array& array = schedule_.arrays[i];
    const bool copied = stage == Stage::h2d ? array.to_device : array.to_host;
    if (kernel ? array.op != 0 : !task.operands.empty() || !copied) continue;
    task.operands.push_back({.array = static_cast<int>(i),
                             .piece = chunk,
                             .slot = chunk,
                             .begin = begin,
                             .device_begin = slot,
                             .host = schedule::units_of(array, begin, units)});
    const int times = kernel ? int{array.to_device} + int{array.to_host} : 1;
    task.bytes += array.unit_bytes * static_cast<std::size_t>(units * times);
  }
  schedule_.lanes = std::max(schedule_.lanes, lane + 1);
  schedule_.tasks.push_back(std::move(task));
  return id;
}

void HandSchedule::cover(Stage stage, int lane) {
  const std::size_t bytes = workload::is_host ? 2 << 20 : 16 << 20;
  add(stage, std::max<std::int64_t>(1, device_units(bytes)), lane);
  next_ = std::min(next_, host_units() / 2);
}

std::int64_t HandSchedule::host_units() const {
  return static_cast<std::int64_t>(schedule_.arrays[0].host.planes);
}

std::int64_t HandSchedule::device_units(std::size_t bytes) const {
  return static_cast<std::int64_t>(std::min(bytes, workload_.device[0].size()) /
                                   schedule_.arrays[0].unit_bytes);
}

schedule::Schedule row_schedule(const schedule::Schedule& schedule,
                                const std::vector<std::vector<schedule::Task>>& rows) {
  schedule::Schedule result = schedule;
  result.tasks.clear();
  result.names.clear();
  result.mechanism = deck::Mechanism::streams;
  result.threads = 1;
  result.lanes = static_cast<int>(rows.size());
  const std::size_t longest = std::ranges::max(rows, {}, &std::vector<schedule::Task>::size).size();
  for (std::size_t i = 0; i < longest; ++i) {
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
      if (i >= rows[lane].size()) continue;
      schedule::Task& task = result.tasks.emplace_back(rows[lane][i]);
      task.lane = static_cast<int>(lane);
      task.after.clear();
      task.blocking = false;
    }
  }
  return result;
}

Marginal::Marginal(const Build& build, int few, int many, double Elapsed::* time)
    : shorter_(build(few)), longer_(build(many)), few_(few), many_(many), time_(time) {}

Marginal::Marginal(Build build) : shorter_(build(1)), build_(std::move(build)) {}

void Marginal::add_sample(Executor& executor, const workload::Workload& workload,
                          const std::function<void()>& step) {
  if (empty()) return;
  const auto run_s = [&](const schedule::Schedule& schedule) {
    if (step) step();
    return time_(executor.run(schedule, workload));
  };
  constexpr double long_s = 50e-3;
  if (shorter_s_.empty()) {  // also the warm-up
    const double first_s = run_s(shorter_);
    is_long_ = first_s > long_s;
    if (build_) {
      constexpr double enough_s = 10e-3;
      constexpr double most = 32;
      many_ = 1 + std::ceil(std::clamp(enough_s / std::max(first_s, 1e-9), 1.0, most));
      if (!is_long_) longer_ = build_(static_cast<int>(many_));
      build_ = nullptr;
    }
  }
  shorter_s_.push_back(run_s(shorter_));
  if (!is_long_) longer_s_.push_back(run_s(longer_));
}

double Marginal::difference_s() const {
  if (shorter_s_.empty()) return 0;
  const double few_s = base::median(shorter_s_);
  return is_long_ ? few_s / few_ : (base::median(longer_s_) - few_s) / (many_ - few_);
}

double Marginal::seconds(double few_s, double many_s) const {
  const double more_s = (many_s - few_s) / (many_ - few_);
  const double mean_s = many_s / many_;
  return more_s > 0 ? std::min(more_s, mean_s) : mean_s;
}

double Marginal::seconds() const {
  if (longer_s_.empty()) return difference_s();
  return seconds(base::median(shorter_s_), base::median(longer_s_));
}

double Marginal::last_s() const {
  if (shorter_s_.empty()) return 0;
  return is_long_ ? shorter_s_.back() / few_ : seconds(shorter_s_.back(), longer_s_.back());
}

void Meter::wake() const {
  HandSchedule copy(workload);
  copy.add(Stage::h2d, plan.most_bytes / 4, 0);
  measure::wake(executor, copy.schedule(), workload);
}

double Meter::seconds(const schedule::Schedule& schedule) const {
  const auto samples = sample({.samples = plan.repetitions, .enough_s = 0.08, .step = plan.step},
                              [&] { return executor.run(schedule, workload); });
  return median(samples, &Elapsed::complete_s);
}

double Meter::seconds(const Fill& fill) const {
  HandSchedule hand(workload);
  fill(hand);
  return seconds(hand.schedule());
}

Marginal Meter::marginal(const Marginal::Build& build, int few, int many, int times,
                         double Elapsed::* time) const {
  Marginal marginal(build, few, many, time);
  sample({.warmup = 0, .samples = times * plan.repetitions, .enough_s = 0.16, .step = {}}, [&] {
    marginal.add_sample(executor, workload, plan.step);
    return 0;
  });
  return marginal;
}

Marginal::Build Meter::row(const std::vector<Stage>& covers, const Add& add) const {
  return [this, covers, add](int tasks) {
    HandSchedule hand(workload);
    int lane = 0;
    for (const Stage stage : covers) hand.cover(stage, lane++);
    for (int i = 0; i < tasks; ++i) add(hand, i);
    return hand.schedule();
  };
}

double Meter::call_s(double Elapsed::* time, int few, int many, const Add& add,
                     const std::vector<Stage>& covers) const {
  return std::max(0.0, marginal(row(covers, add), few, many, 1, time).difference_s());
}

double Meter::slope(const std::vector<Stage>& covers, const Add& add) const {
  const Marginal::Build build = row(covers, add);
  // The difference must exceed the noise, but rows of many milliseconds are rarely undisturbed.
  constexpr double short_s = 0.5e-3;
  constexpr double long_s = 4e-3;
  const double first_s = seconds(build(1));
  const int many = first_s < short_s ? 33 : std::max(2, static_cast<int>(long_s / first_s));
  return marginal(build, 1, many, many < 8 ? 3 : 1).seconds();
}

double Meter::slope(Stage stage, std::int64_t units) const {
  return slope({Stage::h2d}, [&](HandSchedule& hand, int) { hand.add(stage, units, 0); });
}

model::Curve Meter::curve(const std::function<double(std::int64_t)>& seconds) const {
  std::vector<model::Curve::Point> points;
  const auto unit_bytes = static_cast<std::int64_t>(workload.arrays[0].unit_bytes);
  for (const std::int64_t units : sizes_up_to(plan.most_bytes / unit_bytes)) {
    points.push_back({static_cast<double>(units * unit_bytes), seconds(units)});
  }
  return model::increasing(std::move(points));
}

model::Curve Meter::curve(Stage stage) const {
  return curve([&](std::int64_t units) { return slope(stage, units); });
}

std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t units = 1024; units < most; units *= 4) sizes.push_back(units);
  sizes.push_back(most);
  return sizes;
}

}  // namespace overlap::measure
