#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/machine.hpp"
#include "measure/meter.hpp"

/// Measures the device description of the model: thoroughly for a device file, briefly for the
/// predictions of one deck.
namespace overlap::measure {

/// Measures copies, host costs, latencies, contention and queues of the device with the arrays of
/// an increment, on its own lanes. Not measured: strided copies, kernel rates, and the rules of
/// queues that only device files describe (query cost, delayed signals, window).
model::Device calibrate(const base::DeviceInfo& info, const CalibrationPlan& plan);

/// The title of the current device's description.
std::string title_of(const base::DeviceInfo& info);

/// Adds the kernel rates of increment, pipeline, rowsum and (with Kokkos Kernels) dgemm, by type
/// and intensity.
void calibrate_kernels(const CalibrationPlan& plan, model::Device& device);

/// Sizes in bytes of the lines in lines_apart() of all copies of the schedule.
std::set<std::size_t> line_sizes(const schedule::Schedule& schedule);

/// Adds the times per line of strided copies (see model::Copies::lines) with these line sizes in
/// bytes: copies of up to 64 MiB, each after a kernel on twice the cache size. Sizes above 1 MiB
/// are measured as 1 MiB.
void calibrate_lines(const std::set<std::size_t>& sizes, const CalibrationPlan& plan,
                     model::Device& device, workload::SpaceId space = workload::default_space);

/// Measures the host cost of issuing a schedule, repeatedly during a run: it depends on the order
/// of the calls and varies over time by up to a factor of two, unlike the other costs.
class IssueMeter {
 public:
  IssueMeter(const schedule::Schedule& schedule, const model::Device& device);

  /// The cost of a chunk now, as model::HostCosts::chunk_s(), if all calls cost in proportion to
  /// those of the device; 0 if those are unknown or schedule::calls_only() is empty. Overwrites the
  /// arrays.
  double chunk_s(Executor& executor, const workload::Workload& workload) const;

 private:
  std::optional<schedule::Schedule> calls_;
  double scale_ = 0;  ///< HostCosts::chunk_s() by the predicted time of these calls; 0: unknown
};

/// Measures the kernel of a workload with its present repeats at increasing `sizes` (units) up to
/// the longest kernel of the plan. Times are scaled to one core from `cores_per_lane` cores.
model::Roof calibrate_kernel(const Meter& meter, const std::vector<std::int64_t>& sizes,
                             const schedule::Costs& costs, int cores_per_lane);

/// Measures the kernels of a matrix product at all sizes and shapes in the schedules, scaled to one
/// core.
model::Kernel calibrate_products(const Meter& meter,
                                 const std::vector<schedule::Schedule>& schedules,
                                 int cores_per_lane);

/// Lanes for a calibration: 16 on a GPU, at least one per core on a host.
int calibration_lanes();

/// A deck of one workload in one chunk on arrays of at most `bytes`, otherwise with defaults.
deck::Deck plain_deck(std::int64_t bytes, deck::WorkloadKind kind = deck::WorkloadKind::increment,
                      deck::ElementType type = deck::ElementType::float32);

/// The workload of a deck with device arrays for all data. Inputs are generated on the host;
/// nothing is copied.
workload::Workload resident_workload(const deck::Deck& deck,
                                     workload::SpaceId space = workload::default_space);

}  // namespace overlap::measure
