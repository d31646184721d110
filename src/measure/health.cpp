#include "measure/health.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>

#include "measure/calibration.hpp"
#include "measure/session.hpp"

namespace overlap::measure {
namespace {

using base::Throttle;

std::string cpus_of_node(int node) {
  std::ifstream file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  std::string list;
  std::getline(file, list);
  return list;
}

void put_load_on_device(Bench& bench) {
  constexpr std::int64_t bytes = 64 << 20;
  bench.workload = resident_workload(plain_deck(bytes));
  HandSchedule hand(bench.workload);
  hand.add(Stage::h2d, bytes / 4, 0);
  wake(bench.executor.emplace(1), hand.schedule(), bench.workload);
}

bool slows(Throttle reason) { return base::throttles[static_cast<std::size_t>(reason)].slows; }

}  // namespace

experiment::Readings readings(Session& session) {
  const base::DeviceInfo& device = session.device;
  const Monitor& monitor = session.monitor;
  if (on_gpu()) put_load_on_device(*session.bench);
  experiment::Readings readings{.device = monitor.describe ? monitor.describe(device) : device};
  if (monitor.other_processes) readings.other_processes = monitor.other_processes();
  readings.cpus = base::host_info().affinity;
  for (const base::DeviceInfo& visible : visible_devices()) {
    if (!visible.id().empty()) readings.devices.push_back(visible.id());  // without one: it is lost
  }
  if (readings.device.numa_node) readings.node_cpus = cpus_of_node(*readings.device.numa_node);
  return readings;
}

HealthWatch::HealthWatch(const Monitor& monitor, std::optional<double> duration_s)
    : monitor_(monitor), duration_s_(duration_s) {
  if (!monitor.health) return;
  before_ = monitor.health();
  if (monitor.throttle_reasons) {
    sampler_ = std::jthread([this](const std::stop_token& stop) { sample(stop); });
  }
}

void HealthWatch::add(const std::optional<base::Throttles>& reasons) {
  if (!reasons) return;
  ++readings_;
  if (std::ranges::any_of(*reasons, slows)) ++counts_.slowed_s;
  for (const Throttle reason : *reasons) ++counts_.by_reason_s[static_cast<std::size_t>(reason)];
}

/// One reading every 50 ms during runs; checks every 1 ms whether a short run has started.
void HealthWatch::sample(const std::stop_token& stop) {
  using std::chrono::milliseconds;
  constexpr double most_points = 512;
  std::optional<lanes::Clock::time_point> start;
  double due_s = 0;  // time of the next point of the series
  std::mutex mutex;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const bool running = running_;
    if (running) {
      if (!start) start = lanes::Clock::now();
      add(monitor_.throttle_reasons());
      const double now_s = lanes::seconds_since(*start);
      if (duration_s_ && now_s >= due_s) {
        const base::Health health = monitor_.health();
        series_.push_back({now_s, health.sm_clock_mhz, health.temperature_c, health.power_w});
        due_s += *duration_s_ / most_points;
      }
    }
    pause_.wait_for(lock, stop, milliseconds(running ? 50 : 1), [] { return false; });
  }
}

std::optional<experiment::ThrottledTime> HealthWatch::throttled() const {
  if (readings_ == 0) return std::nullopt;
  experiment::ThrottledTime time = counts_;
  time.slowed_s *= scored_s_ / readings_;
  for (double& seconds : time.by_reason_s) seconds *= scored_s_ / readings_;
  return time;
}

std::optional<experiment::HealthRecord> HealthWatch::finish() {
  if (!before_) return std::nullopt;
  sampler_.request_stop();
  if (sampler_.joinable()) sampler_.join();
  const base::Health after = monitor_.health();
  // No reading hit a run: use the state before and after the runs.
  if (readings_ == 0) {
    add(before_->throttle_reasons);
    add(after.throttle_reasons);
  }
  return experiment::HealthRecord{*before_, after, throttled()};
}

}  // namespace overlap::measure
