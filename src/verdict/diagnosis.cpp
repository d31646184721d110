#include "verdict/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "verdict/verdict.hpp"

namespace overlap::verdict {
namespace {

using Cause = Finding::Cause;
using schedule::Stage;

/// How an engine spends the time from its first task to its last.
struct Use {
  double span_s = 0;
  int short_gaps = 0;  ///< between one task and the next, no longer than issuing takes
  double short_gaps_s = 0;
};

Use use_of(const timeline::Timeline& timeline, std::size_t engine) {
  std::vector<timeline::Span> spans;
  for (const timeline::Span& span : timeline.spans) {
    if (static_cast<std::size_t>(span.engine) == engine) spans.push_back(span);
  }
  Use use;
  if (spans.empty()) return use;
  std::sort(spans.begin(), spans.end(),
            [](const auto& a, const auto& b) { return a.start_s < b.start_s; });
  constexpr double short_gap_s = 20e-6;
  double until = spans.front().start_s;
  for (const timeline::Span& span : spans) {
    const double gap = span.start_s - until;
    if (gap > 0 && gap < short_gap_s) {
      use.short_gaps_s += gap;
      ++use.short_gaps;
    }
    until = std::max(until, span.stop_s);
  }
  use.span_s = until - spans.front().start_s;
  return use;
}

/// The use of the engine that is busy longest.
Use busiest_use(const timeline::Timeline& timeline) {
  const std::vector<double> busy = timeline::busy_s(timeline);
  const auto busiest = std::max_element(busy.begin(), busy.end() - 1);  // the host is the last
  return use_of(timeline, static_cast<std::size_t>(busiest - busy.begin()));
}

/// Stages that have tasks on engines of their own.
int stages_of(const schedule::Schedule& schedule) {
  bool found[3] = {};
  for (const schedule::Task& task : schedule.tasks) {
    if (task.stage == Stage::h2d) found[0] = true;
    if (schedule::is_kernel(task.stage)) found[1] = true;
    if (task.stage == Stage::d2h) found[2] = true;
  }
  return int{found[0]} + int{found[1]} + int{found[2]};
}

/// What the busiest engine needs for these chunks, without waits for others.
double busiest_s(const timeline::Run& run, const timeline::Engines& hardware) {
  const timeline::Rates& rates = *run.rates;
  const double copies_s = rates.h2d_s + rates.d2h_s;
  double seconds = 0;
  if (hardware.workers > 0) {
    seconds = (copies_s + rates.kernel_s) / std::min(hardware.workers, run.schedule.lanes);
  } else {
    const bool shared = hardware.copy_engines == 1;
    seconds =
        std::max({rates.kernel_s, shared ? copies_s : rates.both_s, rates.h2d_s, rates.d2h_s});
  }
  return std::min(seconds, run.bounds->schedule_bound_s);  // kernels may share the device
}

}  // namespace

std::vector<Finding> diagnose(const timeline::Run& run, const std::vector<timeline::Run>& runs,
                              const Environment& environment) {
  std::vector<Finding> findings;
  const auto efficiency = timeline::overlap_efficiency(run, runs);
  if (run.order == deck::Order::sequential || !efficiency || !run.rates || !run.bounds) {
    return findings;
  }
  const auto add = [&](Cause cause, std::string text) {
    findings.push_back({cause, std::move(text)});
  };
  const double time_s = timeline::time_s(run).median;
  const auto potential = timeline::overlap_potential(run, runs);
  const bool nothing_to_hide = potential && *potential < timeline::least_potential;
  if (run.bounds->limit == "SM" && (nothing_to_hide || efficiency->median >= good_efficiency)) {
    // No fault, but copies no longer matter.
    add(Cause::kernel_bound,
        fmt::format("kernels alone take {:.0f} % of the time: faster copies would change nothing",
                    100 * run.bounds->bound_s / time_s));
  }
  if (efficiency->median >= good_efficiency && !nothing_to_hide) return findings;

  const schedule::Schedule& schedule = run.schedule;
  const schedule::Traffic traffic = schedule::traffic(schedule);
  const double copies_s = run.rates->h2d_s + run.rates->d2h_s;
  if (environment.gpu && schedule.host_memory == deck::HostMemory::pageable && copies_s > 0) {
    // Slow copies may leave nothing to hide behind them.
    add(Cause::pageable_memory,
        fmt::format(
            "pageable host memory: copies are staged at {} GB/s and hold the host; set "
            "memory.host: pinned",
            base::format_number(static_cast<double>(traffic.h2d + traffic.d2h) / copies_s * 1e-9)));
  }
  if (nothing_to_hide) return findings;
  const timeline::Bounds& bounds = *run.bounds;
  // What the schedule alone explains has no other cause.
  const bool beyond_schedule = time_s > 1.03 * bounds.schedule_bound_s;
  if (beyond_schedule && environment.gpu && environment.launch_blocking) {
    add(Cause::launch_blocking,
        "CUDA_LAUNCH_BLOCKING=1: the host waits for every kernel; unset it");
  }
  if (beyond_schedule && environment.tool_loaded) {
    add(Cause::tool_loaded,
        "a Kokkos tool is loaded, which may fence every kernel; unset KOKKOS_TOOLS_LIBS");
  }
  const bool listed = !schedule.names.empty();  // by the deck, which cuts no chunks then
  const char* const fewer = listed ? "list fewer, larger tasks" : "set fewer chunks";
  const auto chunks = schedule.chunks;
  const int wanted = environment.gpu ? std::min(stages_of(schedule), chunks)
                                     : std::min(environment.hardware.workers, chunks);
  if (schedule.lanes < wanted) {
    add(Cause::few_lanes,
        fmt::format("{} {} for {} chunks: no more tasks than that run at once; {} {} or more",
                    schedule.lanes, schedule.lanes == 1 ? "lane" : "lanes", chunks,
                    listed ? "give the tasks lanes up to" : "set issue.lanes:", wanted));
  }
  const auto in_default =
      std::count_if(schedule.tasks.begin(), schedule.tasks.end(),
                    [](const schedule::Task& task) { return task.stage == Stage::default_stream; });
  if (in_default > 0) {
    add(Cause::default_stream,
        fmt::format("{} {} in the default stream, which everything before and after waits for; "
                    "give {} a lane",
                    in_default, in_default == 1 ? "task is" : "tasks are",
                    in_default == 1 ? "it" : "them"));
  }
  if (beyond_schedule && environment.gpu && environment.max_connections &&
      *environment.max_connections < schedule.lanes) {
    const int queues = *environment.max_connections;
    add(Cause::few_connections,
        fmt::format("CUDA_DEVICE_MAX_CONNECTIONS={}: {} lanes share {} {} and block each other; "
                    "unset it",
                    queues, schedule.lanes, queues, queues == 1 ? "queue" : "queues"));
  }
  const double half_s = (time_s - bounds.bound_s) / 2;
  const double chunks_s = busiest_s(run, environment.hardware);
  if (chunks_s - bounds.bound_s > half_s) {
    add(Cause::small_chunks,
        fmt::format("small chunks: the busiest engine needs {} for them, {} for the whole; {}",
                    base::format_seconds(chunks_s), base::format_seconds(bounds.bound_s), fewer));
  } else if (run.trace) {
    const Use use = busiest_use(run.trace->timeline);
    constexpr double much = 0.1;
    if (use.short_gaps > 2 && use.short_gaps_s > much * use.span_s) {
      add(Cause::small_chunks,
          fmt::format(
              "small chunks: the busiest engine idles {:.0f} % of its time in {} gaps of {} "
              "on average; {}",
              100 * use.short_gaps_s / use.span_s, use.short_gaps,
              base::format_seconds(use.short_gaps_s / use.short_gaps), fewer));
    }
  }
  if (schedule.lanes >= wanted && bounds.schedule_bound_s - chunks_s > half_s) {
    add(Cause::waits,
        fmt::format("engines wait for each other, at the begin and the end if not between: this "
                    "order of these chunks takes {} at least, the busiest engine {}; {} another "
                    "order",
                    base::format_seconds(bounds.schedule_bound_s), base::format_seconds(chunks_s),
                    listed ? "list" : "set more chunks or"));
  }
  if (environment.gpu && environment.hardware.copy_engines == 1 && traffic.h2d > 0 &&
      traffic.d2h > 0) {
    add(Cause::one_copy_engine,
        fmt::format("one copy engine: both directions share it, {} of {}",
                    base::format_seconds(copies_s), base::format_seconds(time_s)));
  }
  const auto below = [](std::optional<int> now, std::optional<int> most) {
    return now && most && *now < *most;
  };
  if (environment.gpu && (below(environment.pcie_gen, environment.pcie_gen_max) ||
                          below(environment.pcie_width, environment.pcie_width_max))) {
    const auto link = [](std::optional<int> gen, std::optional<int> width) {
      return (gen ? fmt::format("gen {}", *gen) : "") + (gen && width ? " " : "") +
             (width ? fmt::format("x{}", *width) : "");
    };
    add(Cause::narrow_link,
        fmt::format("the PCIe link runs at {}, the device can {}: reseat it or use another slot",
                    link(environment.pcie_gen, environment.pcie_width),
                    link(environment.pcie_gen_max, environment.pcie_width_max)));
  }
  return findings;
}

}  // namespace overlap::verdict
