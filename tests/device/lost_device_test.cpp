// A kernel that writes to no memory at all loses the device: the error must reach the caller with
// task and lane named, nothing may be freed on the way, and the process must be able to end in its
// own way. A program of its own, since nothing can run on the device afterwards.
#include <cstdlib>
#include <iostream>
#include <string>

#include "deck/deck.hpp"
#include "lanes/lanes.hpp"
#include "measure/bench.hpp"
#include "measure/executor.hpp"
#include "measure/measure.hpp"
#include "measure/session.hpp"
#include "schedule/build.hpp"
#include "workload/workload.hpp"

namespace {

struct WildWrite {
  int* nowhere;
  KOKKOS_FUNCTION void operator()(int i) const { nowhere[i] = i; }
};

}  // namespace

// Where the device is lost: in a `run`, the default, in a `reset` before one, or while nothing
// runs, before the `launch` of a graph or the `probe` of the next deck.
int main(int argc, char** argv) {
  using namespace overlap;
  using workload::Space;
  const std::string where = argc > 1 ? argv[1] : "run";
  measure::Session session({});
  measure::Bench& bench = *(session.bench = std::make_shared<measure::Bench>());
  deck::Deck deck;
  deck.workload.elements = 1000;
  deck.chunks.count = 2;
  const auto costs = schedule::costs(deck.workload, 1);
  const auto arrays = schedule::device_bytes(costs, {}, costs.units);
  auto schedule = schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                                  deck::Order::depth_first, 2);
  if (where == "launch") schedule.mechanism = deck::Mechanism::graph;
  const auto write_nowhere = [](const Space& instance) {
    Kokkos::parallel_for("test::wild_write", Kokkos::RangePolicy<Space>(instance, 0, 1),
                         WildWrite{nullptr});
  };
  const auto lose = [&] {
    measure::Executor& executor = bench.executor.emplace(2);
    workload::Workload& workload = bench.workload;
    workload = workload::make(deck, costs, arrays, 1);
    workload.generate(1);
    executor.run(schedule, workload);
    if (where == "reset") {
      workload.place = [=](const Space& instance, std::uint32_t) { write_nowhere(instance); };
      measure::reset(executor.lanes().instance(0), workload, 2);
    } else if (where == "launch" || where == "probe") {
      write_nowhere(Space());
      try {
        lanes::wait_for(Space(), "the end of the device");
      } catch (const lanes::DeviceLost&) {  // now every call fails
      }
      if (where == "launch") executor.run(schedule, workload);
      measure::probe(deck, session, {});
    } else {
      workload.launch = [=](const Space& instance, const workload::Call&) {
        write_nowhere(instance);
      };
      executor.run(schedule, workload);
    }
    std::cerr << "no error\n";
  };
  try {
    // A fleet uses the session around each use of it.
    session.use([&] { session.use(lose); });
  } catch (const lanes::DeviceLost& error) {
    const std::string message = error.what();
    std::cerr << message << '\n';
    const auto has = [&](const char* text) { return message.find(text) != std::string::npos; };
    const bool named = where == "reset"    ? has("reset: ")
                       : where == "probe"  ? has("probe: ")
                       : where == "launch" ? has("GraphLaunch")
                                           : has("of chunk ") && has(" on lane ");
    std::_Exit(named && session.lost && bench.executor &&
                       error.code() == base::ExitCode::runtime_error
                   ? 0
                   : 1);
  } catch (const std::exception& error) {
    std::cerr << "another error: " << error.what() << '\n';
  }
  std::_Exit(1);
}
