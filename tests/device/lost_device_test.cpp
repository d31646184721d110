// A kernel that writes to no memory at all loses the device: the error must reach the caller with
// task and lane named, nothing may be freed on the way, and the process must be able to end in its
// own way. A program of its own, since nothing can run on the device afterwards.
#include <cstdlib>
#include <iostream>
#include <string>

#include "deck/deck.hpp"
#include "measure/executor.hpp"
#include "measure/session.hpp"
#include "schedule/build.hpp"
#include "workload/workload.hpp"

namespace {

struct WildWrite {
  int* nowhere;
  KOKKOS_FUNCTION void operator()(int i) const { nowhere[i] = i; }
};

}  // namespace

int main() {
  using namespace overlap;
  using Space = Kokkos::DefaultExecutionSpace;
  measure::Session session({});
  deck::Deck deck;
  deck.workload.elements = 1000;
  deck.chunks.count = 2;
  const auto costs = schedule::costs(deck.workload, 1);
  const auto arrays = schedule::device_bytes(costs, {}, costs.units);
  const auto schedule = schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                                        deck::Order::depth_first, 2);
  const auto lose = [&] {
    measure::Executor executor(2);
    auto workload = workload::make(workload::default_space, deck, costs, arrays, 1);
    workload.generate(1);
    executor.run(schedule, workload);
    workload.launch = [](const Space& instance, const workload::Call&) {
      Kokkos::parallel_for("test::wild_write", Kokkos::RangePolicy<Space>(instance, 0, 1),
                           WildWrite{nullptr});
    };
    executor.run(schedule, workload);
    std::cerr << "no error\n";
  };
  try {
    // A fleet uses the session around each use of it.
    session.use([&] { session.use(lose); });
  } catch (const lanes::DeviceLost& error) {
    const std::string message = error.what();
    std::cerr << message << '\n';
    const bool named = message.find("of chunk ") != std::string::npos &&
                       message.find(" on lane ") != std::string::npos;
    std::_Exit(named && session.lost && session.kept.size() == 2 &&
                       error.code() == base::ExitCode::runtime_error
                   ? 0
                   : 1);
  } catch (const std::exception& error) {
    std::cerr << "another error: " << error.what() << '\n';
  }
  std::_Exit(1);
}
