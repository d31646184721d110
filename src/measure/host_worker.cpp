#include "measure/host_worker.hpp"

#include <cmath>

#include "lanes/lanes.hpp"
#include "measure/measure.hpp"
#include "workload/data.hpp"

namespace overlap::measure {
namespace {

/// An instance with all threads, or with one if lanes use the others.
template <class Space>
Space make_instance() {
  if constexpr (workload::is_host && workload::is_open_mp<Space>) return Space(1);
  return Space();
}

}  // namespace

HostWorker::HostWorker(std::int64_t pieces, double piece_s)
    : instance_(make_instance<Space>()),
      pieces_(pieces),
      threads_(instance_.concurrency()),
      results_("host work", static_cast<std::size_t>(pieces * threads_)) {
  const double step_s = seconds_per_step([this](std::int64_t steps) {
    const auto start = lanes::Clock::now();
    compute(results_, 0, 1, steps);
    return lanes::seconds_since(start);
  });
  steps_ = std::max<std::int64_t>(1, std::llround(piece_s / step_s));
}

void HostWorker::begin(std::uint32_t repetition) {
  Kokkos::deep_copy(instance_, results_, 0);
  instance_.fence("overlap::host work");
  repetition_ = repetition;
}

void HostWorker::run(std::int64_t first, std::int64_t last) {
  compute(results_, first, last, steps_);
}

std::optional<experiment::WrongData> HostWorker::verify() const {
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

void HostWorker::compute(const Results& results, std::int64_t first, std::int64_t last,
                         std::int64_t steps) const {
  const std::uint32_t repetition = repetition_;
  Kokkos::parallel_for(
      "overlap::host work",
      Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>(
          instance_, first * threads_, last * threads_),
      [=](std::int64_t part) {
        results(part) += workload::chain(steps, workload::word(part, repetition, 0));
      });
  instance_.fence("overlap::host work");
}

}  // namespace overlap::measure
