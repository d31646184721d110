#include <algorithm>
#include <map>

#include "measure/calibration.hpp"
#include "measure/platform.hpp"
#include "schedule/build.hpp"

namespace overlap::measure {
namespace {

/// sizes_up_to(), closer to each other where kernels begin to fill a device: their times grow in
/// steps there.
std::vector<std::int64_t> sizes_with_steps(std::int64_t most) {
  std::vector<std::int64_t> sizes = sizes_up_to(most);
  for (const std::int64_t units : {32 << 10, 128 << 10}) {
    if (units < most) sizes.push_back(units);
  }
  std::ranges::sort(sizes);
  return sizes;
}

/// Kernels of one kind and type at several intensities.
void calibrate_kernels_of(deck::WorkloadKind kind, deck::ElementType type, Executor& executor,
                          const CalibrationPlan& plan, model::Device& device) {
  const deck::Deck deck = plain_deck(plan.most_bytes, kind, type);
  auto workload = resident_workload(deck);
  for (const std::int64_t repeats : {0, 1, 2, 8, 32, 128}) {
    if (kind == deck::WorkloadKind::rowsum && repeats != 1) continue;
    workload.repeats = repeats;
    const schedule::Costs costs = schedule::costs(deck.workload, repeats);
    device.kernels[costs.kernel].roofs.push_back(
        calibrate_kernel({executor, workload, plan}, sizes_with_steps(costs.units), costs, 1));
  }
}

/// Matrix products of one type with several k.
void calibrate_products_of(deck::ElementType type, Executor& executor, const CalibrationPlan& plan,
                           model::Device& device) {
  deck::Deck deck = plain_deck(0, deck::WorkloadKind::dgemm, type);
  deck::Workload& product = deck.workload;
  product.m = product.n = product.tile_m = product.tile_n = on_gpu() ? 2048 : 512;
  for (const std::int64_t k : {16, 64, 256, 1024, 4096}) {
    product.k = k;
    const schedule::Costs costs = schedule::costs(product, 1);
    const auto layout = schedule::layout(deck, costs, std::nullopt);
    const auto schedule = schedule::build(costs, layout, deck::Order::sequential, 1);
    const auto workload = resident_workload(deck);
    const auto rate = calibrate_products({executor, workload, plan}, {schedule}, 1);
    device.kernels[costs.kernel].roofs.push_back(rate.roofs.front());
  }
}

}  // namespace

model::Roof calibrate_kernel(const Meter& meter, const std::vector<std::int64_t>& sizes,
                             const schedule::Costs& costs, int cores_per_lane) {
  const double unit_bytes = schedule::kernel_bytes_per_unit(costs);
  std::vector<model::Curve::Point> points;
  for (const std::int64_t units : sizes) {
    const double bytes = unit_bytes * static_cast<double>(units);
    const bool enough = points.size() > 1;
    const double expected_s = enough ? points.back().seconds * bytes / points.back().bytes : 0;
    if (expected_s > meter.plan.longest_kernel_s) break;
    points.push_back({bytes, meter.slope(Stage::kernel, units)});
  }
  return {costs.flops_per_unit / unit_bytes,
          model::slower(model::increasing(std::move(points)), cores_per_lane)};
}

model::Kernel calibrate_products(const Meter& meter,
                                 const std::vector<schedule::Schedule>& schedules,
                                 int cores_per_lane) {
  std::map<double, std::map<double, double>> seconds;  // by flop/byte, then by bytes
  for (const schedule::Schedule& schedule : schedules) {
    for (const schedule::Task& task : schedule.tasks) {
      if (task.stage != Stage::kernel) continue;
      const auto bytes = static_cast<double>(task.bytes);
      const auto [entry, is_new] = seconds[task.flops / bytes].emplace(bytes, 0);
      const auto row = [&](int times) {
        return row_schedule(schedule, {std::vector(static_cast<std::size_t>(times), task)});
      };
      if (is_new) entry->second = meter.marginal(row, 1, 4).seconds();
    }
  }
  model::Kernel kernel;
  for (const auto& [flop_per_byte, sizes] : seconds) {
    std::vector<model::Curve::Point> points;
    for (const auto& [bytes, time] : sizes) {
      if (points.empty() || time > points.back().seconds) points.push_back({bytes, time});
    }
    kernel.roofs.push_back({flop_per_byte, model::slower(model::Curve(points), cores_per_lane)});
  }
  return kernel;
}

void calibrate_kernels(const CalibrationPlan& plan, model::Device& device) {
  using enum deck::ElementType;
  Executor executor(calibration_lanes());
  for (const deck::ElementType type : {float32, float64}) {
    for (const auto kind : {deck::WorkloadKind::increment, deck::WorkloadKind::pipeline}) {
      calibrate_kernels_of(kind, type, executor, plan, device);
    }
  }
  for (const deck::ElementType type : {float32, float64, int32, int64}) {
    calibrate_kernels_of(deck::WorkloadKind::rowsum, type, executor, plan, device);
  }
  if (workload::unavailable(deck::WorkloadKind::dgemm)) return;
  for (const deck::ElementType type : {float32, float64}) {
    calibrate_products_of(type, executor, plan, device);
  }
}

}  // namespace overlap::measure
