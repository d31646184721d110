#include <algorithm>

#include "deck/words.hpp"
#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"
#include "schedule/build.hpp"

namespace overlap::measure {
namespace {

using schedule::Task;

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

/// Times of the kernel of a workload with its present repeats at increasing sizes.
model::Roof calibrate_kernel(const Meter& meter, const schedule::Costs& costs) {
  constexpr double longest_s = 5e-3;  // longer ones are extrapolated
  const double unit_bytes = schedule::kernel_bytes_per_unit(costs);
  std::vector<model::Curve::Point> points;
  for (const std::int64_t units : sizes_with_steps(costs.units)) {
    const double bytes = unit_bytes * static_cast<double>(units);
    const bool enough = points.size() > 1;
    const double expected_s = enough ? points.back().seconds * bytes / points.back().bytes : 0;
    if (expected_s > longest_s) break;
    points.push_back({bytes, meter.slope(Stage::kernel, units)});
  }
  return {costs.flops_per_unit / unit_bytes, model::increasing(std::move(points))};
}

/// Kernels of one kind and type at several intensities.
void calibrate_kernels_of(deck::WorkloadKind kind, deck::ElementType type,
                          const CalibrationPlan& plan, Bench& bench, model::Device& device) {
  const deck::Deck deck = plain_deck(plan.most_bytes, kind, type);
  bench.workload = resident_workload(deck);
  const double once = schedule::costs(deck.workload, 1).flops_per_unit;
  for (const std::int64_t repeats : {0, 1, 2, 8, 32, 128}) {
    bench.workload.repeats = repeats;
    const schedule::Costs costs = schedule::costs(deck.workload, repeats);
    if (repeats != 1 && costs.flops_per_unit == once) continue;  // its arithmetic is not repeated
    device.kernels[costs.kernel].roofs.push_back(
        calibrate_kernel({*bench.executor, bench.workload, plan}, costs));
  }
}

/// Matrix products of one type with several k.
void calibrate_products_of(deck::WorkloadKind kind, deck::ElementType type,
                           const CalibrationPlan& plan, Bench& bench, model::Device& device) {
  deck::Deck deck = plain_deck(0, kind, type);
  deck::Workload& product = deck.workload;
  product.m = product.n = product.tile_m = product.tile_n = on_gpu() ? 2048 : 512;
  for (const std::int64_t k : {16, 64, 256, 1024, 4096}) {
    product.k = k;
    const schedule::Costs costs = schedule::costs(product, 1);
    const auto layout = schedule::layout(deck, costs, std::nullopt);
    const auto schedule = schedule::build(costs, layout, deck::Order::sequential, 1);
    bench.workload = resident_workload(deck);
    const schedule::Task kernel = *std::ranges::find(schedule.tasks, Stage::kernel, &Task::stage);
    const auto row = [&](int times) {
      return row_schedule(schedule, {std::vector(static_cast<std::size_t>(times), kernel)});
    };
    const double time_s =
        Meter{*bench.executor, bench.workload, plan}.marginal(row, 1, 4).seconds();
    const auto bytes = static_cast<double>(kernel.bytes);
    device.kernels[costs.kernel].roofs.push_back(
        {kernel.flops / bytes, model::Curve({{bytes, time_s}})});
  }
}

}  // namespace

void calibrate_kernels(const CalibrationPlan& plan, Bench& bench, model::Device& device) {
  for (const deck::WorkloadRow& row : deck::workloads) {
    if (row.split == deck::Split::tasks || workload::unavailable(row.value)) continue;
    const auto calibrate =
        row.split == deck::Split::tiles ? calibrate_products_of : calibrate_kernels_of;
    for (const auto& type : deck::words<deck::ElementType>) {
      if (row.integers || !deck::is_integer(type.value)) {
        calibrate(row.value, type.value, plan, bench, device);
      }
    }
  }
}

}  // namespace overlap::measure
