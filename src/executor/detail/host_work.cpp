#include "executor/host_work.hpp"

#include <chrono>
#include <cmath>

#include "executor/durations.hpp"
#include "executor/platform.hpp"

namespace overlap::executor {
namespace {

/// Takes the steps of one thread's part of a piece.
struct Part {
  std::uint32_t* results;
  std::int64_t first;
  std::int64_t steps;
  std::uint32_t repetition;

  void operator()(std::int64_t i) const {
    const std::int64_t part = first + i;
    results[part] += workload::custom::chain(steps, workload::custom::initial(part, repetition, 0));
  }
};

}  // namespace

HostWork::Space HostWork::own_instance() {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) {
    if (!on_gpu()) return Kokkos::OpenMP(1);
  }
#endif
  return Space();
}

HostWork::HostWork(std::int64_t pieces, double piece_s)
    : pieces_(pieces),
      threads_(instance_.concurrency()),
      results_("host work", static_cast<std::size_t>(pieces * threads_)) {
  const double step_s = seconds_per_step([this](std::int64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    compute(results_, 0, 1, steps);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  steps_ = std::max<std::int64_t>(1, std::llround(piece_s / step_s));
}

void HostWork::begin(std::uint32_t repetition) {
  Kokkos::deep_copy(instance_, results_, 0);
  instance_.fence("overlap::host work");
  repetition_ = repetition;
}

void HostWork::run(std::int64_t first, std::int64_t last) {
  compute(results_, first, last, steps_);
}

std::optional<experiment::WrongData> HostWork::verify() const {
  const Results expected("expected host work", results_.size());
  compute(expected, 0, pieces_, steps_);
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (results_(i) == expected(i)) continue;
    const auto part = static_cast<std::int64_t>(i);
    return experiment::WrongData{.chunk = static_cast<int>(part / threads_),
                                 .array = "host work",
                                 .index = part,
                                 .expected = static_cast<double>(expected(i)),
                                 .found = static_cast<double>(results_(i))};
  }
  return std::nullopt;
}

void HostWork::compute(const Results& results, std::int64_t first, std::int64_t last,
                       std::int64_t steps) const {
  Kokkos::parallel_for(
      "overlap::host work",
      Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>(
          instance_, 0, (last - first) * threads_),
      Part{results.data(), first * threads_, steps, repetition_});
  instance_.fence("overlap::host work");
}

}  // namespace overlap::executor
