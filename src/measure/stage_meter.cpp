#include <algorithm>

#include "base/parallel.hpp"
#include "measure/calibration.hpp"
#include "measure/platform.hpp"
#include "measure/sampling.hpp"
#include "schedule/build.hpp"

namespace overlap::measure {

HandSchedule::HandSchedule(const workload::Workload& workload) : workload_(workload) {
  schedule_.arrays = workload.arrays;
  schedule_.cuts.resize(1);
  schedule_.lanes = 0;
}

TaskId HandSchedule::add(Stage stage, std::int64_t units, int lane, std::vector<TaskId> after) {
  const auto id = static_cast<TaskId>(schedule_.tasks.size());
  const auto chunk = static_cast<int>(id);
  schedule::Task task{.stage = stage, .chunk = chunk, .lane = lane, .after = std::move(after)};
  task.uses.begin = static_cast<std::uint32_t>(schedule_.uses.size());
  const bool kernel = stage == Stage::kernel;
  for (std::size_t i = 0; i < workload_.arrays.size(); ++i) {
    const schedule::Array& array = workload_.arrays[i];
    const bool copied = stage == Stage::h2d ? array.to_device : array.to_host;
    if (kernel ? array.op != 0 : task.uses.count > 0 || !copied) continue;
    schedule_.uses.push_back({.array = static_cast<int>(i), .piece = chunk, .slot = chunk});
    ++task.uses.count;
    const int times = kernel ? int{array.to_device} + int{array.to_host} : 1;
    task.bytes += array.unit_bytes * static_cast<std::size_t>(units * times);
  }
  auto& [pieces, slots, most] = schedule_.cuts[0];
  const auto behind = [units](std::int64_t last, std::int64_t all) {
    return last + units <= all ? last : 0;
  };
  const std::int64_t last_slot = slots.empty() ? 0 : slots.back() + pieces.back().size();
  const std::int64_t begin = behind(next_, host_units());
  next_ = begin + units;
  pieces.push_back({.begin = begin, .end = next_});
  slots.push_back(behind(last_slot, device_units(workload_.device[0].size())));
  schedule_.lanes = std::max(schedule_.lanes, lane + 1);
  schedule_.tasks.push_back(std::move(task));
  return id;
}

void HandSchedule::cover(Stage stage, int lane) {
  const std::size_t bytes = workload::on_host(workload_.space) ? 2 << 20 : 16 << 20;
  add(stage, std::max<std::int64_t>(1, device_units(bytes)), lane);
  next_ = std::min(next_, host_units() / 2);
}

std::int64_t HandSchedule::host_units() const {
  return static_cast<std::int64_t>(workload_.arrays[0].host.planes);
}

std::int64_t HandSchedule::device_units(std::size_t bytes) const {
  return static_cast<std::int64_t>(std::min(bytes, workload_.device[0].size()) /
                                   workload_.arrays[0].unit_bytes);
}

double StageMeter::complete_s(const Add& fill) const {
  HandSchedule hand(workload);
  fill(hand);
  const auto samples = sample({.samples = plan.repetitions, .enough_s = 0.08, .step = plan.step},
                              [&] { return executor.run(hand.schedule(), workload); });
  return lower_quartile(samples, &Elapsed::complete_s);
}

double StageMeter::marginal_s(double Elapsed::* time, int few, int many, int times,
                              const Fill& row) const {
  HandSchedule shorter(workload);
  HandSchedule longer(workload);
  row(shorter, few);
  row(longer, many);
  return difference_s(time, shorter.schedule(), longer.schedule(), times) / (many - few);
}

double StageMeter::difference_s(double Elapsed::* time, const schedule::Schedule& shorter,
                                const schedule::Schedule& longer, int times) const {
  const auto run_s = [&](const schedule::Schedule& schedule) {
    if (plan.step) plan.step();
    return executor.run(schedule, workload).*time;
  };
  using Pair = std::pair<double, double>;
  const auto pairs = sample({.samples = times * plan.repetitions, .enough_s = 0.16, .step = {}},
                            [&] { return Pair(run_s(shorter), run_s(longer)); });
  return lower_quartile(pairs, &Pair::second) - lower_quartile(pairs, &Pair::first);
}

double StageMeter::slope(std::initializer_list<Stage> covers, const Add& add) const {
  const auto row = [&](HandSchedule& hand, int n) {
    int lane = 0;
    for (const Stage stage : covers) hand.cover(stage, lane++);
    for (int i = 0; i < n; ++i) add(hand);
  };
  const auto row_s = [&](int n) { return complete_s([&](HandSchedule& hand) { row(hand, n); }); };
  // The difference must exceed the noise, but rows of many milliseconds are rarely undisturbed.
  constexpr double short_s = 0.5e-3;
  constexpr double long_s = 4e-3;
  const double first_s = row_s(1);
  const int many = first_s < short_s ? 33 : std::max(2, static_cast<int>(long_s / first_s));
  const int times = many < 8 ? 5 : 1;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const double found_s = marginal_s(&Elapsed::complete_s, 1, many, times, row);
    if (found_s > 0) return found_s;
  }
  return row_s(many) / many;  // noise dominates: an upper bound
}

double StageMeter::slope(Stage stage, std::int64_t units) const {
  return slope({Stage::h2d}, [&](HandSchedule& hand) { hand.add(stage, units, 0); });
}

model::Curve StageMeter::curve(const std::function<double(std::int64_t)>& seconds) const {
  std::vector<model::Curve::Point> points;
  const auto unit_bytes = static_cast<std::int64_t>(workload.arrays[0].unit_bytes);
  for (const std::int64_t units : sizes_up_to(plan.most_bytes / unit_bytes)) {
    points.push_back({static_cast<double>(units * unit_bytes), seconds(units)});
  }
  return model::increasing(std::move(points));
}

int calibration_lanes() { return on_gpu() ? 16 : std::max(3, base::usable_cpus()); }

std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t units = 1024; units < most; units *= 4) sizes.push_back(units);
  sizes.push_back(most);
  return sizes;
}

deck::Deck plain_deck(std::int64_t bytes, deck::WorkloadKind kind, deck::ElementType type) {
  deck::Deck deck;
  deck.chunks.count = 1;
  deck.workload.kind = kind;
  deck.workload.type = type;
  deck.workload.iterations = 1;
  deck.workload.elements = bytes / static_cast<std::int64_t>(schedule::size_of(type));
  deck.workload.rows = deck.workload.elements / deck.workload.columns;
  return deck;
}

workload::Workload resident_workload(const deck::Deck& deck, workload::SpaceId space) {
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const auto layout = schedule::layout(deck, costs, std::nullopt);
  try {
    auto workload =
        workload::make(space, deck, costs, schedule::device_bytes(costs, layout, costs.units), 1);
    workload.generate(0);
    return workload;
  } catch (const base::Error& error) {  // these arrays are not those of the user's deck
    throw base::Error(error.code(), std::string("measuring the device: ") + error.what());
  }
}

}  // namespace overlap::measure
