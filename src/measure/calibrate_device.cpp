#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/caches.hpp"
#include "base/parallel.hpp"
#include "measure/calibration.hpp"
#include "measure/platform.hpp"
#include "measure/session.hpp"
#include "results/reference.hpp"
#include "schedule/build.hpp"

namespace overlap::measure {
namespace {

constexpr std::int64_t tiny = 1024;  // units of an increment, 4 bytes each

/// Costs of calls for the host.
void measure_host_costs(const Meter& meter, int lanes, model::HostCosts& host) {
  const auto issue_s = [&](const Meter::Add& add, const std::vector<Stage>& covers = {Stage::h2d}) {
    return meter.call_s(&Elapsed::issued_s, 8, 40, add, covers);
  };
  host.copy_s = issue_s([](HandSchedule& hand, int) { hand.add(Stage::h2d, tiny, 0); });
  // Kernels are issued between copies on several lanes in turn: on a single lane they cost less,
  // behind a busy device more. The cost matters only if the device keeps up.
  const auto chunk = [&](HandSchedule& hand, int i) {
    for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h})
      hand.add(stage, tiny, i % lanes);
  };
  host.kernel_s = std::max(0.0, issue_s(chunk, {}) - 2 * host.copy_s);
  // The first copy, in lane 0, has an event; every further task waits for it.
  const double waiting =
      issue_s([](HandSchedule& hand, int) { hand.add(Stage::h2d, tiny, 1, {0}); });
  host.wait_s = std::max(0.0, waiting - host.copy_s);
  // Each task waits for the previous one in the other lane: one wait and one record per task.
  const double ring = issue_s([](HandSchedule& hand, int i) {
    hand.add(Stage::h2d, tiny, (i + 1) % 2, {static_cast<TaskId>(i)});
  });
  host.record_s = std::max(0.0, ring - host.copy_s - host.wait_s);
  // Waits for lanes that are already complete.
  host.synchronize_s =
      meter.call_s(&Elapsed::complete_s, 1, lanes - 1,
                   [](HandSchedule& hand, int i) { hand.add(Stage::d2h, tiny, i + 1); });
}

/// Delays between tasks.
void measure_latencies(const Meter& meter, model::Device& device) {
  model::Latencies& latency = device.latency;
  const std::int64_t units = on_gpu() ? 64 * tiny : tiny;
  const double bytes = 4 * static_cast<double>(units);
  const double task_s = (device.h2d.pinned.seconds(bytes) + device.d2h.pinned.seconds(bytes) +
                         meter.slope(Stage::kernel, units)) /
                        3;
  // Between the tasks of a chain of kernels and copies over several lanes.
  const auto delay_s = [&](int lanes) {
    const auto add = [&](HandSchedule& hand, int i) {
      constexpr std::array chain = {Stage::kernel, Stage::d2h, Stage::h2d};
      std::vector<TaskId> after;
      if (lanes > 1) after.push_back(static_cast<TaskId>(hand.schedule().tasks.size()) - 1);
      hand.add(chain[static_cast<std::size_t>(i % 3)], units, (i + 1) % lanes, std::move(after));
    };
    return std::max(0.0, meter.call_s(&Elapsed::complete_s, 6, 36, add) - task_s);
  };
  latency.event_s = delay_s(3);
  if (on_gpu()) latency.lane_s = delay_s(1);
  // A single copy: the remainder is the delay from issue to start plus from end to host.
  const double single = meter.seconds([](HandSchedule& hand) { hand.add(Stage::h2d, tiny, 0); });
  const double delays = single - device.host.copy_s - device.h2d.pinned.seconds(4 * tiny);
  latency.start_s = latency.notice_s = std::max(0.0, delays) / 2;
}

/// Slow-down of concurrent copies and kernels.
void measure_slowing(const Meter& meter, int lanes, model::Device& device) {
  constexpr int n = 4;
  const auto workers = static_cast<std::size_t>(on_gpu() ? 1 : std::min(device.cores, lanes));
  const std::int64_t units = meter.plan.most_bytes / 4 / (n * static_cast<std::int64_t>(workers));
  // Time of concurrent rows of tasks, one lane per row.
  const auto together = [&](const std::vector<std::pair<Stage, int>>& rows) {
    return meter.seconds([&](HandSchedule& hand) {
      for (std::size_t lane = 0; lane < rows.size(); ++lane) {
        const auto& [stage, count] = rows[lane];
        for (int i = 0; i < count; ++i) hand.add(stage, units, static_cast<int>(lane));
      }
    });
  };
  const double up = together({{Stage::h2d, n}});
  const double down = together({{Stage::d2h, n}});
  const double kernels = together({{Stage::kernel, n}});
  if (!on_gpu()) {
    const auto slowed = [&](Stage stage, double alone) {
      return std::max(1.0, together({workers, std::pair(stage, n)}) / alone);
    };
    device.h2d.duplex = model::slower(device.h2d.pinned, slowed(Stage::h2d, up));
    device.d2h.duplex = model::slower(device.d2h.pinned, slowed(Stage::d2h, down));
    device.kernels_slowed = slowed(Stage::kernel, kernels);
  } else {
    // Marginal time of a pair of copies, one per direction and lane.
    device.h2d.duplex = device.d2h.duplex = meter.curve([&](std::int64_t size) {
      return meter.slope({Stage::h2d, Stage::d2h}, [&](HandSchedule& hand, int) {
        hand.add(Stage::h2d, size, 0);
        hand.add(Stage::d2h, size, 1);
      });
    });
    // Enough kernels to last about as long as the copies.
    const int count = std::max(1, static_cast<int>(up / kernels * n * 1.2));
    const double alone = together({{Stage::kernel, count}});
    const double concurrent = together({{Stage::kernel, count}, {Stage::h2d, n}});
    device.kernels_slowed = std::max(1.0, 1 + (concurrent - alone) / std::min(up, alone));
  }
}

void measure_device(const Meter& meter, int lanes, model::Device& device) {
  meter.wake();
  device.h2d.pinned = meter.curve(Stage::h2d);
  device.d2h.pinned = meter.curve(Stage::d2h);
  measure_host_costs(meter, std::min(lanes, 4), device.host);
  measure_latencies(meter, device);
  measure_slowing(meter, lanes, device);
}

/// Measures copies, host costs, latencies, contention and queues of the device with the arrays of
/// an increment, on its own lanes. Not measured: kernel rates, and the rules of queues that only
/// device files describe (number of queues, query cost, delayed signals, window).
model::Device calibrate_device(const base::DeviceInfo& info, const CalibrationPlan& plan,
                               Bench& bench) {
  model::Device device{.title = (on_gpu() ? info.name : "The host's workers") + ", measured"};
  if (on_gpu()) {
    device.name = info.name;
    device.memory_bytes = info.array_bytes().value_or(0);
    device.concurrent_kernels = info.concurrent_kernels.value_or(true) ? 128 : 1;
    const auto connections = max_connections();
    device.connections = connections ? static_cast<int>(connections->value) : 8;
    device.copy_connections = std::min(4, device.connections);  // as on H100s and H200s
    device.copy_engines = engines_of(info, 1).copy_engines;
  } else {
    const int threads = workload::Space().concurrency();
    device.name = "host";
    device.queues = model::Queues::worker;
    device.lanes_divide = threads > 1;
    device.cores = engines_of(info, threads).workers;
  }
  deck::Deck deck = plain_deck(plan.most_bytes);
  const int lanes = calibration_lanes();
  const Meter meter{bench.executor.emplace(lanes), bench.workload, plan};
  bench.workload = resident_workload(deck);
  measure_device(meter, lanes, device);
  deck.memory.host = deck::HostMemory::pageable;
  bench.workload = resident_workload(deck);
  device.h2d.pageable = pageable_curve(meter, Stage::h2d, device);
  device.d2h.pageable = pageable_curve(meter, Stage::d2h, device);
  device.h2d.unblocked_bytes = on_gpu() ? 64 << 10 : 0;
  return device;
}

}  // namespace

model::Match match_of(const Session& session) {
  base::Machine machine = session.machine();
  if (machine.device && session.monitor.describe) {
    machine.device = session.monitor.describe(session.device);
  }
  const results::Subject subject = results::subject_of(machine);
  return {subject.device, subject.link};
}

model::Device calibrate(Session& session, const Hooks& hooks) {
  return session.use([&] {
    const CalibrationPlan plan =
        with_progress({.most_bytes = on_gpu() ? 256 << 20 : 64 << 20, .repetitions = 7}, hooks);
    Bench& bench = *(session.bench = std::make_shared<Bench>());
    model::Device device = calibrate_device(session.device, plan, bench);
    calibrate_kernels(plan, bench, device);
    session.bench.reset();
    device.match = match_of(session);
    return device;
  });
}

CalibrationPlan with_progress(CalibrationPlan plan, const Hooks& hooks) {
  plan.step = [&hooks] {
    base::check_interrupt();
    hooks.show("measuring the device");
  };
  return plan;
}

// Copies from the processor's caches take half as long (Xeon with an H200). The time of pinned
// memory is a lower bound, since the subtracted costs are noisy.
model::Curve pageable_curve(const Meter& meter, Stage stage, const model::Device& device) {
  return meter.curve([&](std::int64_t units) {
    const auto bytes = 4 * static_cast<std::size_t>(units);
    Meter flushing = meter;
    flushing.plan.step = [&] {
      if (meter.plan.step) meter.plan.step();
      if (on_gpu()) base::flush_caches(meter.workload.host[0].data(), bytes);
    };
    const double seconds = flushing.seconds([&](HandSchedule& hand) { hand.add(stage, units, 0); });
    return std::max(device.copies(stage).pinned.seconds(static_cast<double>(bytes)),
                    seconds - device.host.copy_s - device.host.synchronize_s);
  });
}

int calibration_lanes() { return on_gpu() ? 16 : std::max(3, base::usable_cpus()); }

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

workload::Workload resident_workload(const deck::Deck& deck) {
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const auto layout = schedule::layout(deck, costs, std::nullopt);
  try {
    auto workload =
        workload::make(deck, costs, schedule::device_bytes(costs, layout, costs.units), 1);
    workload.generate(0);
    return workload;
  } catch (const base::Error& error) {  // these arrays are not those of the user's deck
    throw base::Error(error.code(), std::string("measuring the device: ") + error.what());
  }
}

}  // namespace overlap::measure
