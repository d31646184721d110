#include "experiment/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

/// Each cause on evidence made for it, where it is found and no other is.
namespace overlap::experiment {
namespace {

using Cause = std::string;
using schedule::Stage;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Evidence: the baseline of 20 ms, and a run of 16 ms where 8 ms would be possible.
struct Evidence {
  std::vector<Case> cases = std::vector<Case>(2);
  Conditions conditions = {
      .device =
          base::DeviceInfo{
              .pcie_gen = 5, .pcie_gen_max = 5, .pcie_width = 16, .pcie_width_max = 16},
      .engines = {.copy_engines = 2}};

  Case& measured() { return cases[1]; }
  results::Run& run() { return measured().run; }
  std::vector<Finding> findings() const { return diagnose(cases[1], cases, conditions); }
};

/// Four chunks on four lanes whose tasks leave long gaps, for no reason that anything shows.
Evidence unexplained() {
  Evidence evidence;
  evidence.cases[0].run.order = deck::Order::sequential;
  evidence.cases[0].run.samples_s.assign(10, 20e-3);
  Case& measured = evidence.measured();
  results::Run& run = measured.run;
  run.order = deck::Order::depth_first;
  run.samples_s.assign(10, 16e-3);
  measured.schedule.lanes = 4;
  measured.schedule.chunks = 4;
  run.rates = {.h2d_s = 8e-3, .d2h_s = 8e-3, .both_s = 8e-3, .kernel_s = 4e-3};
  run.bounds = {.bound_s = 8e-3, .schedule_bound_s = 9e-3, .limit = "H2D and D2H"};
  measured.traced.emplace();
  measured.traced->engines = {"H2D", "SM", "D2H", "host"};
  for (int chunk = 0; chunk < 4; ++chunk) {
    const double start_s = chunk * 4e-3;
    int engine = 0;
    for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
      measured.schedule.tasks.push_back(
          {.stage = stage, .chunk = chunk, .lane = chunk, .bytes = 1 << 20});
      const double begin_s = start_s + engine * 1e-3;
      measured.traced->spans.push_back({engine++, begin_s, begin_s + 1e-3});
    }
  }
  return evidence;
}

std::vector<Cause> causes(const Evidence& evidence) {
  std::vector<Cause> causes;
  for (const Finding& finding : evidence.findings()) causes.push_back(finding.cause);
  return causes;
}

TEST(Diagnosis, SaysNothingWithoutEvidence) { EXPECT_THAT(causes(unexplained()), IsEmpty()); }

TEST(Diagnosis, SaysNothingOfALinkThatHardlyVariesOrOfCores) {
  Evidence evidence = unexplained();
  evidence.run().bound_samples_s = {8e-3, 8.1e-3, 8.2e-3, 8.3e-3};
  EXPECT_THAT(causes(evidence), IsEmpty());
  evidence.run().bound_samples_s = {8e-3, 9e-3, 9e-3, 9.1e-3};
  evidence.run().bounds->limit = "workers";
  EXPECT_THAT(causes(evidence), IsEmpty());
}

TEST(Diagnosis, FindsPageableMemoryWhereItLeavesNothingToHide) {
  Evidence evidence = unexplained();
  evidence.measured().schedule.host_memory = deck::HostMemory::pageable;
  evidence.conditions.launch_blocking = {"CUDA_LAUNCH_BLOCKING", 1};
  evidence.run().bounds->bound_s = 19e-3;
  for (const double time_s : {20e-3, 18.9e-3}) {  // and where noise makes it look hidden
    evidence.run().samples_s.assign(10, time_s);
    EXPECT_THAT(causes(evidence), ElementsAre("pageable_memory"));
  }
}

TEST(Diagnosis, OtherHostMemoryIsNotPageable) {
  Evidence evidence = unexplained();
  evidence.measured().schedule.host_memory = deck::HostMemory::registered;
  EXPECT_THAT(causes(evidence), IsEmpty());
}

TEST(Diagnosis, AsManyConnectionsAsLanesAreEnough) {
  Evidence evidence = unexplained();
  for (const int queues : {4, 8}) {
    evidence.conditions.max_connections = {"CUDA_DEVICE_MAX_CONNECTIONS", queues};
    EXPECT_THAT(causes(evidence), IsEmpty()) << queues;
  }
}

TEST(Diagnosis, TasksOfAListAreChainsOfTheirOwn) {
  Evidence evidence = unexplained();
  evidence.measured().schedule.names.assign(evidence.measured().schedule.tasks.size(), "task");
  for (schedule::Task& task : evidence.measured().schedule.tasks) {  // a list has no chunks
    task.number = task.chunk * 3 + static_cast<int>(task.stage);
    task.chunk = 0;
  }
  evidence.measured().schedule.lanes = 1;
  evidence.run().rates->both_s = 13e-3;
  evidence.run().bounds->schedule_bound_s = 14e-3;
  EXPECT_THAT(causes(evidence), ElementsAre("few_lanes", "small_chunks"));
}

TEST(Diagnosis, MoreAndFewerChunksAreNeverAskedForTogether) {
  Evidence evidence = unexplained();
  evidence.run().rates->both_s = 13e-3;
  evidence.run().bounds->schedule_bound_s = 19e-3;  // above the time: measured later
  EXPECT_THAT(causes(evidence), ElementsAre("small_chunks"));
}

TEST(Diagnosis, AMainCauseExplainsMoreThanHalfOfTheLostTime) {
  constexpr double unit_s = 0x1p-10;  // for exact differences
  Evidence gpu = unexplained();
  gpu.cases[0].run.samples_s.assign(10, 20 * unit_s);
  gpu.run().samples_s.assign(10, 16 * unit_s);
  gpu.run().rates = {.h2d_s = 8 * unit_s, .d2h_s = 8 * unit_s, .both_s = 8 * unit_s};
  gpu.run().bounds = {.bound_s = 8 * unit_s, .schedule_bound_s = 12 * unit_s, .limit = "H2D"};
  Evidence host = gpu;
  host.conditions.device.reset();
  host.conditions.engines.workers = 2;
  host.run().rates = {.kernel_s = 16 * unit_s};
  host.measured().schedule = {
      .tasks = {{.stage = Stage::kernel, .lane = 0, .duration_s = 3},
                {.stage = Stage::kernel, .chunk = 1, .lane = 1, .duration_s = 1},
                {.stage = Stage::host, .duration_s = 9}},  // no work of a lane
      .lanes = 2};
  Evidence small = gpu;
  small.run().rates->both_s = 12 * unit_s;
  for (const Evidence& half : {gpu, host, small}) EXPECT_THAT(causes(half), IsEmpty());
  gpu.run().bounds->schedule_bound_s = 13 * unit_s;
  EXPECT_THAT(causes(gpu), ElementsAre("waits"));
  host.measured().schedule.tasks[0].duration_s = 4;
  host.run().bounds->schedule_bound_s = 13 * unit_s;
  EXPECT_THAT(causes(host), ElementsAre("uneven_lanes"));
  small.run().rates->both_s = 13 * unit_s;
  small.run().bounds->schedule_bound_s = 13 * unit_s;
  EXPECT_THAT(causes(small), ElementsAre("small_chunks"));
}

TEST(Diagnosis, EvenLanesAreEvenWhereRatesAreSlowerThanTheRun) {
  Evidence evidence = unexplained();
  evidence.conditions.device.reset();
  evidence.conditions.engines.workers = 4;
  evidence.run().rates = {.h2d_s = 40e-3, .d2h_s = 40e-3, .kernel_s = 40e-3};
  evidence.run().bounds = {.bound_s = 5e-3, .schedule_bound_s = 30e-3, .limit = "workers"};
  EXPECT_THAT(causes(evidence), Not(Contains("uneven_lanes")));
}

TEST(Diagnosis, KernelsAloneHavePageableMemoryToNoHarm) {
  Evidence evidence = unexplained();
  evidence.measured().schedule.host_memory = deck::HostMemory::pageable;
  evidence.run().rates = {.kernel_s = 8e-3};
  EXPECT_THAT(causes(evidence), IsEmpty());
}

TEST(Diagnosis, SettingsAreNoCauseWhereTheScheduleIsAsFastAsItCanBe) {
  Evidence evidence = unexplained();
  evidence.conditions.launch_blocking = {"CUDA_LAUNCH_BLOCKING", 1};
  evidence.conditions.tool_loaded = true;
  evidence.conditions.max_connections = {"CUDA_DEVICE_MAX_CONNECTIONS", 1};
  evidence.run().bounds->schedule_bound_s = 15.9e-3;
  EXPECT_THAT(causes(evidence), ElementsAre("waits"));
}

TEST(Diagnosis, FewOrShortGapsAreNoSmallChunks) {
  Evidence evidence = unexplained();
  auto& spans = evidence.measured().traced->spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const double chunk = static_cast<double>(i / 3);
    spans[i].start_s = 1e-5 * chunk;
    spans[i].stop_s = 1e-5 * chunk + 4e-6;
  }
  evidence.measured().schedule.tasks.push_back({.stage = Stage::host});
  spans.push_back({3, 0, 1});  // the host is no engine of the device
  ASSERT_THAT(causes(evidence), ElementsAre("small_chunks"));
  Evidence back = evidence;  // where only the copies back have gaps, and are the busiest
  for (timeline::Span& span : back.measured().traced->spans) {
    if (span.engine < 2) span.stop_s = (span.start_s = 0) + 1e-6;
  }
  EXPECT_THAT(causes(back), ElementsAre("small_chunks"));
  Evidence longer = evidence;
  for (timeline::Span& span : longer.measured().traced->spans) {
    span.stop_s = (span.start_s *= 9) + 85e-6;  // 5 of each 90 us
  }
  EXPECT_THAT(causes(longer), IsEmpty());
}

TEST(Diagnosis, AsManyLanesAsEnginesAreEnough) {
  Evidence evidence = unexplained();
  evidence.measured().schedule.lanes = 3;
  EXPECT_THAT(causes(evidence), IsEmpty());
  evidence.run().bounds->schedule_bound_s = 14e-3;
  EXPECT_THAT(causes(evidence), ElementsAre("waits"));
}

TEST(Diagnosis, AHostHasNoneOfTheCausesOfAGpu) {
  Evidence evidence = unexplained();
  evidence.conditions = {.engines = {.workers = 4, .copy_engines = 1},
                         .launch_blocking = {{"CUDA_LAUNCH_BLOCKING", 1}},
                         .max_connections = {{"CUDA_DEVICE_MAX_CONNECTIONS", 1}}};
  evidence.measured().schedule.host_memory = deck::HostMemory::pageable;
  evidence.run().bounds->schedule_bound_s = 8e-3;
  EXPECT_THAT(causes(evidence), IsEmpty());
}

TEST(Diagnosis, OneCopyEngineIsEnoughForOneDirection) {
  for (const Stage copies : {Stage::h2d, Stage::d2h}) {
    Evidence evidence = unexplained();
    evidence.conditions.engines.copy_engines = 1;
    for (schedule::Task& task : evidence.measured().schedule.tasks) {
      if (schedule::is_copy(task.stage)) task.stage = copies;
    }
    EXPECT_THAT(causes(evidence), Not(Contains("one_copy_engine")));
  }
}

TEST(Diagnosis, OneCopyEngineIsTooFewForAByteEachWay) {
  Evidence evidence = unexplained();
  evidence.conditions.engines.copy_engines = 1;
  auto& tasks = evidence.measured().schedule.tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].bytes = i < 3 ? 1 : 0;
  EXPECT_THAT(causes(evidence), ElementsAre("one_copy_engine"));
}

TEST(Diagnosis, FindsADriftToFasterRuns) {
  Evidence evidence = unexplained();
  evidence.run().samples_s.insert(evidence.run().samples_s.begin(), 5, 17.6e-3);
  ASSERT_THAT(causes(evidence), ElementsAre("drifting"));
  EXPECT_THAT(evidence.findings()[0].text,
              HasSubstr("-9.1 % from the first third of the repetitions to the last (-9.1 .. -9.1 "
                        "%); raise"));
}

TEST(Diagnosis, RepetitionsAreSteadyUpToAWidth) {
  Evidence evidence = unexplained();
  const auto of_widths = [&](double below, double above, std::size_t slow) {
    for (auto& one : evidence.cases) one.run.samples_s.assign(8, 16e-3);
    std::vector<double>& times_s = evidence.run().samples_s;
    for (std::size_t i = 0; i < 3; ++i) times_s[2 * i] *= 1 - below;
    for (std::size_t i = 0; i < slow; ++i) times_s[2 * i + 1] *= 1 + above;
    return causes(evidence);
  };
  EXPECT_THAT(of_widths(0.07, 0.079, 3), IsEmpty());
  EXPECT_THAT(of_widths(0.07, 0.081, 3), ElementsAre("unsteady"));
  EXPECT_NEAR(evidence.findings()[0].evidence.begin()->second, 0.151, 1e-12);
  EXPECT_THAT(of_widths(0, 1, 2), IsEmpty()) << "two of eight are beyond the middle half";
  evidence.run().samples_s = {8e-3, 15e-3, 16e-3, 16e-3, 16e-3, 17e-3, 32e-3};
  EXPECT_THAT(causes(evidence), IsEmpty()) << "one of seven on each side";
  evidence.run().samples_s = {8e-3, 16e-3, 32e-3};
  EXPECT_THAT(causes(evidence), IsEmpty()) << "too few to have a middle half";
}

TEST(Diagnosis, TheWholeIntervalMustBeBelowTheBound) {
  Evidence evidence = unexplained();
  evidence.cases[0].run.bounds = {.bound_s = 8e-3};
  for (auto& one : evidence.cases) one.run.samples_s = {7e-3, 7e-3, 7e-3, 7.9e-3, 7.9e-3, 7.9e-3};
  EXPECT_THAT(causes(evidence), IsEmpty());
  evidence.cases[0].run.samples_s.assign(10, (1 - 0.03) * 8e-3);  // as much may be noise
  EXPECT_THAT(diagnose(evidence.cases[0], evidence.cases, evidence.conditions), IsEmpty());
  evidence.cases[0].run.samples_s.assign(10, 7e-3);  // also of the baseline
  for (const char* const limit : {"SM", "workers"}) {
    evidence.cases[0].run.bounds->limit = limit;
    EXPECT_THAT(diagnose(evidence.cases[0], evidence.cases, evidence.conditions), IsEmpty());
  }
  for (const char* const limit : {"H2D", "D2H", "H2D and D2H", "copy", "host"}) {
    evidence.cases[0].run.bounds->limit = limit;
    const auto found = diagnose(evidence.cases[0], evidence.cases, evidence.conditions);
    EXPECT_THAT(found, ElementsAre(testing::Field(&Finding::cause, "below_bound"))) << limit;
  }
}

TEST(Diagnosis, SaysNothingWithoutRates) {
  Evidence evidence = unexplained();
  evidence.conditions.launch_blocking = {"CUDA_LAUNCH_BLOCKING", 1};
  ASSERT_THAT(causes(evidence), ElementsAre("launch_blocking"));
  evidence.run().rates.reset();
  EXPECT_THAT(causes(evidence), IsEmpty());
}

TEST(Diagnosis, SaysNothingOfTheBaselineNorWithoutOne) {
  Evidence evidence = unexplained();
  evidence.conditions.launch_blocking = {"CUDA_LAUNCH_BLOCKING", 1};
  evidence.cases[0].run.rates = evidence.run().rates;
  evidence.cases[0].run.bounds = evidence.run().bounds;
  EXPECT_THAT(diagnose(evidence.cases[0], evidence.cases, evidence.conditions), IsEmpty());
  evidence.cases.erase(evidence.cases.begin());
  EXPECT_THAT(diagnose(evidence.cases[0], evidence.cases, evidence.conditions), IsEmpty());
}

struct Row {
  Cause cause;
  std::function<void(Evidence&)> change;
  const char* number;  ///< that shows it
  const char* remedy;

  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.number; }
};

/// All lanes on a host of so many cores.
void put_on_host(Evidence& evidence, double cores) {
  evidence.conditions.device.reset();
  evidence.conditions.engines.workers = 4;
  evidence.conditions.cores = cores;
}

const Row rows[] = {
    Row{"busy_cores",
        [](Evidence& e) {
          put_on_host(e, 4);
          e.measured().cpu_s = 8e-3;
          e.measured().wanted_s = 16e-3;
        },
        "the workers got 2.0 of 4 cores", "measure on a quiet machine"},
    Row{"busy_cores",
        [](Evidence& e) {
          put_on_host(e, 4);
          e.measured().schedule.mechanism = deck::Mechanism::portable;
          e.measured().schedule.threads = 2;
          e.measured().cpu_s = 14e-3;
          e.measured().wanted_s = 16e-3;
          e.cases[0].run.samples_s.assign(10, 8.8e-3);  // blocking tasks leave nothing to hide
        },
        "the issuing threads got 1.8 of 2 cores", "measure on a quiet machine"},
    Row{"few_cores", [](Evidence& e) { put_on_host(e, 1); }, "1 core for 4 workers",
        "give the process more"},
    Row{"few_cores", [](Evidence& e) { put_on_host(e, 0.4); }, "0.4 cores for 4 workers",
        "CPU quota"},
    Row{"few_cores",
        [](Evidence& e) {
          e.conditions.cores = 1;
          e.measured().schedule.threads = 2;
        },
        "1 core for 2 issuing threads", "--cpus-per-task"},
    Row{"launch_blocking",
        [](Evidence& e) { e.conditions.launch_blocking = {"CUDA_LAUNCH_BLOCKING", 1}; },
        "CUDA_LAUNCH_BLOCKING=1", "unset it"},
    Row{"tool_loaded", [](Evidence& e) { e.conditions.tool_loaded = true; }, "Kokkos tool",
        "unset KOKKOS_TOOLS_LIBS"},
    Row{"pageable_memory",
        [](Evidence& e) { e.measured().schedule.host_memory = deck::HostMemory::pageable; },
        "0.5243 GB/s", "memory.host: pinned"},  // 8 MiB in 16 ms
    Row{"few_lanes",
        [](Evidence& e) {
          e.measured().schedule.lanes = 1;
          e.run().bounds->schedule_bound_s = 15.9e-3;
        },
        "1 lane where 3 tasks could run at once", "issue.lanes"},
    Row{"few_lanes",
        [](Evidence& e) {
          e.conditions.device.reset();
          e.conditions.engines.workers = 4;
          e.measured().schedule.lanes = 2;
        },
        "2 lanes where 4 tasks could run at once", "issue.lanes"},
    Row{"few_lanes",
        [](Evidence& e) {
          e.run().order = deck::Order::by_engine;
          e.measured().schedule.lanes = 2;
        },
        "2 lanes where 3 tasks could run at once", "another order"},
    Row{"few_lanes",
        [](Evidence& e) {
          e.measured().schedule.lanes = 1;
          e.measured().schedule.streams = deck::Streams::legacy_default;
          e.run().bounds->schedule_bound_s = 15.9e-3;
        },
        "1 lane where 3 tasks could run at once", "issue.streams: own"},
    Row{"blocking_tasks",
        [](Evidence& e) {
          e.conditions.device.reset();
          e.conditions.engines.workers = 4;
          e.measured().schedule.mechanism = deck::Mechanism::portable;
          e.measured().schedule.lanes = 2;
          e.run().bounds->schedule_bound_s = 16e-3;
        },
        "each task blocks the host", "issue.mechanism: streams"},
    Row{"uneven_lanes",
        [](Evidence& e) {
          e.run().order = deck::Order::by_engine;
          e.conditions.device.reset();
          e.conditions.engines.workers = 4;
          e.run().rates = {.h2d_s = 8e-3, .d2h_s = 8e-3, .kernel_s = 16e-3};
          e.run().bounds = {.bound_s = 8e-3, .schedule_bound_s = 16e-3, .limit = "workers"};
          for (schedule::Task& task : e.measured().schedule.tasks)
            task.lane = static_cast<int>(task.stage);
        },
        "the busiest of 4 lanes works 16.00 ms, an equal share is 8.000 ms", "another order"},
    Row{"uneven_lanes",
        [](Evidence& e) {
          e.conditions.device.reset();
          e.conditions.engines.workers = 2;
          e.measured().schedule.lanes = 2;
          e.run().rates = {.h2d_s = 4e-3, .d2h_s = 4e-3, .kernel_s = 8e-3};
          e.run().bounds = {.bound_s = 8e-3, .schedule_bound_s = 15e-3, .limit = "workers"};
          for (schedule::Task& task : e.measured().schedule.tasks) task.lane = task.chunk / 4;
        },
        "the busiest of 2 lanes works 16.00 ms, an equal share is 8.000 ms", "a multiple of 2"},
    Row{"uneven_lanes",
        [](Evidence& e) {
          e.conditions.device.reset();
          e.conditions.engines.workers = 2;
          e.run().rates = {.kernel_s = 16e-3};
          e.run().bounds = {.bound_s = 8e-3, .schedule_bound_s = 14e-3, .limit = "workers"};
          e.measured().schedule = {
              .tasks = {{.stage = Stage::kernel, .lane = 0, .duration_s = 7e-3, .number = 0},
                        {.stage = Stage::kernel, .lane = 1, .duration_s = 1e-3, .number = 1}},
              .names = {"K1", "K2"},
              .lanes = 2};
        },
        "the busiest of 2 lanes works 14.00 ms, an equal share is 8.000 ms", "another order"},
    Row{"default_stream",
        [](Evidence& e) { e.measured().schedule.tasks[4].stage = Stage::default_stream; },
        "1 task in the default stream", "give each a lane"},
    Row{"default_stream",
        [](Evidence& e) {
          for (const std::size_t id : {4U, 7U}) {
            e.measured().schedule.tasks[id].stage = Stage::default_stream;
          }
        },
        "2 tasks in the default stream", "give each a lane"},
    Row{"few_connections",
        [](Evidence& e) { e.conditions.max_connections = {"CUDA_DEVICE_MAX_CONNECTIONS", 1}; },
        "4 lanes share 1 queue and", "set CUDA_DEVICE_MAX_CONNECTIONS to the number of lanes"},
    Row{"small_chunks",
        [](Evidence& e) {
          for (timeline::Span& span : e.measured().traced->spans) {
            span.start_s /= 1000;
            span.stop_s /= 1000;
          }
        },
        "idles 69 % of its time in 3 gaps of 3.000 us", "fewer, larger pieces"},
    Row{"small_chunks",
        [](Evidence& e) {
          std::vector<timeline::Span>& spans = e.measured().traced->spans;
          for (timeline::Span& span : spans) {
            span.start_s /= 1000;
            span.stop_s /= 1000;
          }
          std::ranges::reverse(spans);  // as a trace of several lanes may list them
        },
        "idles 69 % of its time in 3 gaps of 3.000 us", "fewer, larger pieces"},
    Row{"small_chunks",
        [](Evidence& e) {
          e.run().rates->both_s = 13e-3;
          e.run().bounds->schedule_bound_s = 14e-3;
        },
        "needs 13.00 ms for them, but 8.000 ms for all data", "fewer, larger pieces"},
    Row{"small_chunks",
        [](Evidence& e) {
          e.conditions.device.reset();
          e.conditions.engines.workers = 1;
          e.run().rates = {.h2d_s = 4.5e-3, .d2h_s = 4.5e-3, .both_s = 4.5e-3, .kernel_s = 4e-3};
          e.run().bounds->schedule_bound_s = 14e-3;
        },
        "needs 13.00 ms for them, but 8.000 ms for all data", "fewer, larger pieces"},
    Row{"waits", [](Evidence& e) { e.run().bounds->schedule_bound_s = 14e-3; },
        "takes at least 14.00 ms, the busiest engine only 8.000 ms", "another order"},
    Row{"waits",
        [](Evidence& e) {
          e.run().bounds->schedule_bound_s = 14e-3;
          e.measured().schedule.tiling.emplace();
        },
        "takes at least 14.00 ms", "more, smaller pieces or another order"},
    Row{"waits", [](Evidence& e) { e.run().bounds->schedule_bound_s = 24e-3; },
        "takes at least 24.00 ms", "another order"},
    Row{"one_copy_engine",
        [](Evidence& e) {
          e.conditions.engines.copy_engines = 1;
          e.run().rates->h2d_s = 4e-3;
        },
        "12.00 ms of 16.00 ms", "one copy engine"},
    Row{"one_copy_engine",
        [](Evidence& e) {
          e.conditions.engines.copy_engines = 1;
          e.run().rates->h2d_s = 12e-3;  // slower than in the run
        },
        "16.00 ms of 16.00 ms", "one copy engine"},
    Row{"narrow_link", [](Evidence& e) { e.conditions.device->pcie_width = 8; }, "gen5 x8",
        "gen5 x16"},
    Row{"narrow_link", [](Evidence& e) { e.conditions.device->pcie_gen = 3; }, "gen3 x16",
        "another slot"},
    Row{"kernel_bound",
        [](Evidence& e) {
          e.run().bounds = {.bound_s = 15e-3, .limit = "SM"};
          e.run().rates->kernel_s = 15e-3;
          e.run().samples_s.assign(10, 15.3e-3);
        },
        "98 % of the time", "faster copies would change nothing"},
    Row{"kernel_bound",
        [](Evidence& e) {
          e.run().bounds = {.bound_s = 15e-3, .limit = "SM"};
          e.run().rates->kernel_s = 15e-3;
          e.run().samples_s.assign(10, 14.9e-3);  // together kernels are faster
        },
        "take 100 % of the time", "faster copies would change nothing"},
    Row{"paused", [](Evidence& e) { e.conditions.paused_s = 15; }, "for 15.00 s, which do not",
        "look for what stopped it"},
    Row{"below_bound", [](Evidence& e) { e.run().samples_s.assign(10, 7.7e-3); },
        "its bound of 8.000 ms", "measure again"},
    Row{"link_varies", [](Evidence& e) { e.run().bound_samples_s = {8e-3, 9e-3, 9e-3, 9.1e-3}; },
        "at least 9.000 ms in the median round, 8.000 ms in the best", "on a quiet host"},
    Row{"drifting",
        [](Evidence& e) {
          e.run().samples_s.resize(15, 17.6e-3);  // after ten of 16 ms
        },
        "+10.0 % from the first third", "measure.warmup"},
    Row{"unsteady",
        [](Evidence& e) { e.run().samples_s = {15e-3, 18e-3, 15e-3, 18e-3, 15e-3, 15e-3, 18e-3}; },
        "middle half of them spans 20 % of the median", "on a quiet machine"}};

TEST(Diagnosis, APauseIsSaidOnce) {
  Evidence evidence = unexplained();
  evidence.conditions.paused_s = 15;
  EXPECT_THAT(diagnose(evidence.cases[0], evidence.cases, evidence.conditions), IsEmpty());
  EXPECT_TRUE(is_noise("paused"));
}

class EachCause : public testing::TestWithParam<Row> {};

TEST_P(EachCause, IsFoundAlone) {
  Evidence evidence = unexplained();
  GetParam().change(evidence);
  const std::vector<Finding> findings = evidence.findings();
  ASSERT_THAT(causes(evidence), ElementsAre(GetParam().cause));
  EXPECT_THAT(findings[0].text, HasSubstr(GetParam().number));
  EXPECT_THAT(findings[0].text, HasSubstr(GetParam().remedy));
  EXPECT_EQ(findings[0].text.find('\n'), std::string::npos);
}

TEST_P(EachCause, IsNoMatterWhereAllIsHidden) {
  const std::set<std::string_view> also_then = {"busy_cores", "few_cores", "kernel_bound", "paused",
                                                "link_varies"};
  if (also_then.contains(GetParam().cause)) return;
  Evidence evidence = unexplained();
  GetParam().change(evidence);
  evidence.run().samples_s.assign(10, 8.5e-3);
  EXPECT_THAT(causes(evidence), IsEmpty());
}

TEST(Diagnosis, EveryCauseHasEvidence) {
  for (const std::string_view cause : experiment::causes()) {
    EXPECT_TRUE(std::any_of(std::begin(rows), std::end(rows), [&](const Row& row) {
      return row.cause == cause;
    })) << cause;
  }
}

TEST(Diagnosis, EnginesThatWaitForTheHostDoNotWaitForEachOther) {
  Evidence evidence = unexplained();
  evidence.run().bounds = {.bound_s = 12e-3, .schedule_bound_s = 12e-3, .limit = "host"};
  EXPECT_THAT(causes(evidence), IsEmpty());
}

TEST(Diagnosis, ALackOfCoresComesFirst) {
  Evidence evidence = unexplained();
  put_on_host(evidence, 3);
  evidence.run().rates->both_s = 13e-3;
  evidence.run().bounds->schedule_bound_s = 16e-3;
  evidence.measured().cpu_s = 1;
  evidence.measured().wanted_s = 2;
  const std::vector<Cause> found = causes(evidence);
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found[0], "busy_cores");
  EXPECT_EQ(found[1], "few_cores");
  EXPECT_TRUE(is_noise("busy_cores"));
  EXPECT_FALSE(is_noise("few_cores"));
  evidence.conditions.cores = 4;
  evidence.measured().cpu_s = 1.8;  // the least that is enough
  EXPECT_THAT(causes(evidence), Not(testing::AnyOf(Contains("busy_cores"), Contains("few_cores"))));
}

TEST(Diagnosis, ALinkThatIsNotKnownIsNoEvidence) {
  Evidence evidence = unexplained();
  evidence.conditions.device->pcie_gen.reset();
  evidence.conditions.device->pcie_width = 8;
  EXPECT_THAT(causes(evidence), IsEmpty());
  evidence.conditions.device->pcie_gen = 5;
  ASSERT_THAT(causes(evidence), ElementsAre("narrow_link"));
  EXPECT_EQ(evidence.findings()[0].evidence,
            (std::map<std::string, double>{{"gen", 5}, {"width", 8}}));
}

INSTANTIATE_TEST_SUITE_P(Diagnosis, EachCause, testing::ValuesIn(rows));

}  // namespace
}  // namespace overlap::experiment
