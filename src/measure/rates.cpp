#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"
#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/session.hpp"
#include "workload/data.hpp"

namespace overlap::measure {
namespace {

/// Stages, and how often the tasks of each are repeated.
using Stages = std::vector<std::pair<Stage, int>>;

/// Tasks of the stages, one row per entry. Rows begin at different chunks, so as not to find each
/// other's data in caches.
std::vector<std::vector<schedule::Task>> task_rows(const schedule::Schedule& schedule,
                                                   const Stages& stages, int times) {
  std::vector<std::vector<schedule::Task>> rows;
  for (const auto& [stage, repeats] : stages) {
    std::vector<schedule::Task> tasks;
    for (const schedule::Task& task : schedule.tasks) {
      const bool default_stream = task.stage == Stage::default_stream;
      if ((default_stream ? Stage::kernel : task.stage) == stage) tasks.push_back(task);
    }
    std::ranges::rotate(tasks,
                        tasks.begin() + std::ssize(tasks) * std::ssize(rows) / std::ssize(stages));
    auto& row = rows.emplace_back();
    for (int i = 0; i < repeats * times; ++i) row.insert(row.end(), tasks.begin(), tasks.end());
  }
  return rows;
}

/// The time of all tasks of some stages, one row per entry. The schedule must outlive it.
Marginal stage_marginal(const schedule::Schedule& schedule, Stages stages) {
  return Marginal([&schedule, stages = std::move(stages)](int times) {
    return row_schedule(schedule, task_rows(schedule, stages, times));
  });
}

/// The copies of a schedule, and where each array is one piece, its halves: at the same time both
/// directions would find the data of the other in the processor's caches. (On a host whose memory
/// is busy, an H200 took 5.4 ms for 256 MiB both ways; by halves, or in chunks, 6.2 ms.)
schedule::Schedule copies_of(schedule::Schedule schedule) {
  std::vector<schedule::Task> copies;
  for (const schedule::Task& task : schedule.tasks) {
    if (!schedule::is_copy(task.stage)) continue;
    const schedule::Operand& all = task.operands.front();
    copies.push_back(task);
    if (schedule.chunks > 1 || all.size() < 2) continue;
    const schedule::Array& array = *schedule::copied_array(schedule, task);
    const std::int64_t half = all.size() / 2;
    schedule::Operand first = all, second = all;
    second.piece = second.slot = 1;
    second.begin += half;
    second.device_begin += half;
    first.host = schedule::units_of(array, first.begin, half);
    second.host = schedule::units_of(array, second.begin, all.size() - half);
    copies.push_back(task);
    const auto set = [](schedule::Task& copy, const schedule::Operand& part) {
      copy.operands = {part};
      copy.bytes = part.host.bytes();
    };
    set(copies.end()[-2], first);
    set(copies.end()[-1], second);
  }
  schedule.tasks = std::move(copies);
  return schedule;
}

/// Whether all rates are asked for.
bool all(std::span<const model::Rate> which) { return which.size() == model::all_rates.size(); }

}  // namespace

RateMeter::RateMeter(Executor& executor, const workload::Workload& workload,
                     schedule::Schedule schedule)
    : executor_(executor),
      workload_(workload),
      schedule_(std::move(schedule)),
      copies_(copies_of(schedule_)) {
  using model::Rates;
  const auto add = [&](model::Rate rate, const Stages& stages, int times = 1) {
    rows_.push_back({rate, times, stage_marginal(schedule_, stages)});
  };
  add(&Rates::h2d_s, {{Stage::h2d, 1}});
  add(&Rates::kernel_s, {{Stage::kernel, 1}});
  add(&Rates::d2h_s, {{Stage::d2h, 1}});
  if (workload::is_host) return;
  // A kernel that fills the device starts as the last blocks of its predecessor leave room.
  const bool by_size = std::ranges::none_of(schedule_.tasks, [](const schedule::Task& task) {
    return schedule::is_kernel(task.stage) && task.duration_s > 0;
  });
  if (by_size) add(&Rates::kernel_s, {{Stage::kernel, 1}, {Stage::kernel, 1}}, 2);
  Stages copies;
  for (const Stage stage : {Stage::h2d, Stage::d2h}) {
    const auto has = [&](const schedule::Task& task) { return task.stage == stage; };
    if (std::ranges::any_of(schedule_.tasks, has)) copies.emplace_back(stage, 1);
  }
  if (!copies.empty()) rows_.push_back({&Rates::both_s, 1, stage_marginal(copies_, copies)});
}

model::Rates RateMeter::sample(std::span<const model::Rate> which) {
  model::Rates rates;
  for (const model::Rate rate : model::all_rates) rates.*rate = std::nan("");
  for (Row& row : rows_) {
    if (std::ranges::find(which, row.rate) == which.end()) continue;
    row.tasks.add_sample(executor_, workload_);
    rates.*row.rate = std::fmin(rates.*row.rate, row.tasks.last_s() / row.times);
  }
  if (workload::is_host || !all(which)) return rates;
  if (copy_count_ == 0) {
    // So many kernels that they last slightly longer than the copies, unless that takes many.
    constexpr double most_ratio = 64;
    const double ratio = rates.h2d_s / rates.kernel_s;
    if (!(ratio <= most_ratio && ratio >= 1 / most_ratio)) return rates;
    const int kernels = std::max(1, static_cast<int>(std::lround(1.2 * std::max(1.0, ratio))));
    copy_count_ = std::max(1, static_cast<int>(std::lround(1 / ratio)));
    kernel_alone_ = stage_marginal(schedule_, {{Stage::kernel, kernels}});
    kernel_during_copies_ =
        stage_marginal(schedule_, {{Stage::kernel, kernels}, {Stage::h2d, copy_count_}});
  }
  for (Marginal* const row : {&kernel_alone_, &kernel_during_copies_}) {
    row->add_sample(executor_, workload_);
  }
  return rates;
}

model::Rates RateMeter::rates(const std::vector<model::Rates>& samples) const {
  model::Rates rates = model::median(samples);
  if (workload::is_host) return rates;
  rates.both_s =
      std::clamp(rates.both_s, std::max(rates.h2d_s, rates.d2h_s), rates.h2d_s + rates.d2h_s);
  if (copy_count_ > 0) {
    const double alone = kernel_alone_.seconds();
    const double covered = std::min(alone, copy_count_ * rates.h2d_s);
    rates.kernel_beside_copies =
        std::max(1.0, 1 + (kernel_during_copies_.seconds() - alone) / covered);
  }
  return rates;
}

RatesOfRuns::RatesOfRuns(Executor& executor, const workload::Workload& workload,
                         const std::vector<experiment::Case>& cases) {
  std::map<std::tuple<int, std::int64_t, std::ptrdiff_t, int>, std::size_t> shapes;
  for (const experiment::Case& one : cases) {
    schedule::Schedule schedule = one.schedule;
    if (schedule.host_memory == deck::HostMemory::managed) {
      schedule.host_memory = deck::HostMemory::pinned;
      schedule.transfer = deck::Transfer::staged;
    }
    auto& index = meter_index_.emplace_back();
    if (schedule.transfer != deck::Transfer::staged) continue;
    // Host work and disturbances change no rates.
    const auto device_tasks = std::ranges::count_if(
        schedule.tasks, [](const schedule::Task& task) { return !schedule::on_host(task.stage); });
    const auto shape = std::tuple(schedule.chunks, schedule.chunk_units, device_tasks,
                                  experiment::host_tiles(schedule));
    const auto [entry, is_new] = shapes.try_emplace(shape, meters_.size());
    if (is_new) {
      host_tiles_.push_back(experiment::host_tiles(schedule) > 0);
      meters_.emplace_back(executor, workload, std::move(schedule));
    }
    index = entry->second;
  }
  samples_.resize(meters_.size());
}

void RatesOfRuns::add_sample(std::span<const model::Rate> which, std::int64_t most) {
  std::vector<std::vector<model::Rate>> wanted(meters_.size(), {which.begin(), which.end()});
  if (!all(which)) {
    if (sources_.empty()) find_sources();
    for (std::size_t i = 0; i < meters_.size(); ++i) {
      std::erase_if(wanted[i], [&](model::Rate rate) {
        const auto number = std::ranges::find(model::all_rates, rate) - model::all_rates.begin();
        return !host_tiles_[i] && sources_[static_cast<std::size_t>(number)] != i;
      });
    }
  }
  std::vector<model::Rates> round;
  for (std::size_t i = 0; i < meters_.size(); ++i) round.push_back(meters_[i].sample(wanted[i]));
  for (std::size_t i = 0; i < meters_.size(); ++i) {
    experiment::add_thinned(samples_[i], round[i], number_, most);
  }
  ++number_;
}

void RatesOfRuns::find_sources() {
  for (const model::Rate rate : model::all_rates) {
    std::size_t source = 0;
    double least_s = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < meters_.size(); ++i) {
      const double median_s = model::median(samples_[i]).*rate;
      if (host_tiles_[i] || median_s >= least_s) continue;
      source = i;
      least_s = median_s;
    }
    sources_.push_back(source);
  }
}

void RatesOfRuns::store(std::vector<experiment::Case>& cases, bool by_round) const {
  if (number_ == 0 || meters_.empty()) return;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t meter = meter_index_[i].value_or(0);
    cases[i].run.rates = meters_[meter].rates(samples_[meter]);
    if (by_round) cases[i].round_rates = samples_[meter];
  }
}

timeline::Engines engines_of(const base::DeviceInfo& device, int lanes) {
  timeline::Engines engines;
  engines.copy_engines = std::clamp(device.copy_engines.value_or(2), 1, 2);
  if (workload::is_host) {
    engines.workers = lanes::max_concurrent_lanes();
    // Lanes of a threaded back end divide its threads.
    if (workload::Space().concurrency() > 1) engines.workers = std::min(engines.workers, lanes);
  }
  return engines;
}

experiment::Balance find_balance(Executor& executor, const schedule::Schedule& schedule,
                                 workload::Workload& workload, double balance,
                                 const std::function<void()>& step) {
  const Meter meter{executor, workload, {.repetitions = 7, .step = step}};
  const int chunk = schedule::largest_chunk(schedule);
  const auto time = [&](Stage stage) {
    std::vector<schedule::Task> tasks;
    std::ranges::copy_if(schedule.tasks, std::back_inserter(tasks),
                         [&](const schedule::Task& task) {
                           return task.stage == stage && task.chunk == chunk && task.op == 0;
                         });
    return meter.seconds(row_schedule(schedule, {std::move(tasks)}));
  };
  workload.repeats = 1;
  workload.generate(0);
  wake(executor, schedule, workload);
  const double copy_s = time(Stage::h2d);
  const double target = balance * copy_s;
  const auto trial = [&](std::int64_t repeats) {
    workload.repeats = repeats;
    return experiment::Balance{repeats, copy_s, time(Stage::kernel)};
  };
  // Kernel time is linear in the repeats plus a constant. Grow until the kernel is long enough,
  // then interpolate: noise of short kernels has little effect, and no trial takes more than about
  // 8 times the target.
  constexpr std::int64_t most_repeats = std::int64_t{1} << 24;
  experiment::Balance low = trial(1);
  experiment::Balance high = low;
  while (high.kernel_s < target && high.repeats < most_repeats) {
    low = high;
    high = trial(8 * high.repeats);
  }
  for (int trials = 0; trials < 4 && low.kernel_s < target && target < high.kernel_s; ++trials) {
    const double part = (target - low.kernel_s) / (high.kernel_s - low.kernel_s);
    const std::int64_t repeats =
        low.repeats + std::llround(part * static_cast<double>(high.repeats - low.repeats));
    if (repeats == low.repeats || repeats == high.repeats) break;
    const experiment::Balance between = trial(repeats);
    (between.kernel_s < target ? low : high) = between;
  }
  const experiment::Balance best = target - low.kernel_s < high.kernel_s - target ? low : high;
  workload.repeats = best.repeats;
  return best;
}

// The difference of two sizes removes the launch overhead. The shortest times count, because other
// load only lengthens pure arithmetic: with medians, kernels on a host with 8 processes per core
// lasted 0.4 times as long as asked. The sizes grow until the smaller one can be measured well.
double seconds_per_step(const std::function<double(std::int64_t)>& time) {
  constexpr double long_enough = 3e-4;
  constexpr std::int64_t most_steps = std::int64_t{1} << 30;
  const auto least_s = [&](std::int64_t steps) {
    return std::ranges::min(sample({.samples = 10}, [&] { return time(steps); }));
  };
  std::int64_t steps = 1 << 14;
  while (steps < most_steps && least_s(steps) < long_enough) steps *= 2;
  const double many_s = least_s(4 * steps);
  const double more_s = many_s - least_s(steps);
  // If noise dominates: at least half of the time was work.
  return std::max(more_s / static_cast<double>(3 * steps), many_s / static_cast<double>(8 * steps));
}

void calibrate_host_steps(workload::Workload& workload) {
  workload.host_steps_per_s = 1 / seconds_per_step([](std::int64_t steps) {
                                const auto start = lanes::Clock::now();
                                [[maybe_unused]] const volatile auto end = workload::chain(steps);
                                return lanes::seconds_since(start);
                              });
}

void calibrate_steps(Executor& executor, workload::Workload& workload) {
  // This kernel has no data; without a duration its steps are workload.repeats.
  schedule::Schedule kernel;
  kernel.tasks = {{.stage = Stage::default_stream, .share = 1}};
  workload.repeats = 1 << 14;
  wake(executor, kernel, workload);
  workload.repeats = std::llround(1 / seconds_per_step([&](std::int64_t steps) {
                                    workload.repeats = steps;
                                    return executor.run(kernel, workload).complete_s;
                                  }));
  calibrate_host_steps(workload);
}

std::int64_t link_bytes(const std::vector<experiment::Case>& cases) {
  // The baseline copies all data at once.
  const auto in_chunks = [](const experiment::Case& one) {
    return one.run.order != deck::Order::sequential;
  };
  const bool baseline_alone = std::ranges::none_of(cases, in_chunks);
  std::size_t bytes = 0;
  for (const experiment::Case& one : cases) {
    if (!baseline_alone && !in_chunks(one)) continue;
    for (const schedule::Task& task : one.schedule.tasks) {
      if (schedule::is_copy(task.stage)) bytes = std::max(bytes, task.bytes);
    }
  }
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes), 64 << 20, 1 << 30);
}

namespace {

/// Arrays for copies of `bytes` in both directions; the memory is checked before it is allocated.
workload::Workload link_workload(std::int64_t bytes, int ranks) {
  require_host_memory((on_gpu() ? 2 : 4) * bytes, ranks);
  return resident_workload(plain_deck(2 * bytes));
}

}  // namespace

LinkMeter::LinkMeter(std::int64_t bytes, int ranks, Executor lanes)
    : bytes_(bytes), workload_(link_workload(bytes, ranks)), executor_(std::move(lanes)) {}

void LinkMeter::warm_up() {
  wake(executor_, row(1, 1, 1), workload_);
  experiment::DeviceSamples first;
  add_sample(first);
  samples_ = 0;
}

schedule::Schedule LinkMeter::row(double up, double down, std::int64_t copies) const {
  const auto units = [&](double part) {
    return std::llround(part * static_cast<double>(bytes_ / 4));
  };
  HandSchedule hand(workload_);
  for (std::int64_t i = 0; i < copies; ++i) {
    if (up > 0) hand.add(Stage::h2d, units(up), 0);
    if (down > 0) hand.add(Stage::d2h, units(down), up > 0 ? 1 : 0);
  }
  return hand.schedule();
}

std::function<void()> load(int ranks) {
  constexpr std::int64_t bytes = 32 << 20;
  return [meter = std::make_shared<LinkMeter>(bytes, ranks)] { meter->copy(); };
}

void LinkMeter::copy() { executor_.run(row(1, 1, 1), workload_); }

std::vector<double> LinkMeter::seconds(double up, double down, const Hooks& hooks) {
  constexpr std::int64_t row_bytes = 256 << 20;  // amortizes the start of a row
  const std::int64_t copies = std::max<std::int64_t>(1, row_bytes / bytes_);
  base::check_interrupt();
  std::vector<double> lane_s;
  executor_.run(row(up, down, copies), workload_, hooks.before_sample, &lane_s);
  hooks.after(false);
  for (double& time_s : lane_s) time_s /= static_cast<double>(copies);
  if (up > 0) lane_s.front() /= up;
  if (down > 0) lane_s.back() /= down;
  return lane_s;
}

void LinkMeter::add_sample(experiment::DeviceSamples& device, const Hooks& hooks) {
  const double h2d_s = seconds(1, 0, hooks).front();
  const double d2h_s = seconds(0, 1, hooks).front();
  const std::vector<double> duplex_s = seconds(up_part_, down_part_, hooks);
  const double up_s = duplex_s.front(), down_s = duplex_s.back();
  const auto add = [&](std::vector<double>& list, double value) {
    experiment::add_thinned(list, value, samples_, experiment::most_kept);
  };
  if (!device.link) device.link = results::LinkSamples{.bytes = bytes_};
  results::LinkSamples& link = *device.link;
  add(link.h2d_s, h2d_s);
  add(link.d2h_s, d2h_s);
  add(link.duplex_s, 2 / (1 / up_s + 1 / down_s));
  add(link.duplex_h2d_s, up_s);
  add(link.duplex_d2h_s, down_s);
  ++samples_;
  up_part_ = std::min(1.0, down_s / up_s);
  down_part_ = std::min(1.0, up_s / down_s);
}

}  // namespace overlap::measure
