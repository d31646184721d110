#include "schedule/costs.hpp"

namespace overlap::schedule {
namespace {

/// Whether a box is cut between planes; one of a single plane is cut between rows.
bool by_planes(const deck::Box& box) { return box.extent[0] > 1; }

Section section_of(const deck::Workload& workload) {
  const deck::Box& box = *workload.box;
  const auto element = static_cast<std::int64_t>(size_of(workload.type));
  const std::int64_t pitch = workload.pitch.value_or(box.array[2] * element);
  const std::int64_t plane_pitch = box.array[1] * pitch;
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  return {
      .begin = bytes(box.origin[0] * plane_pitch + box.origin[1] * pitch + box.origin[2] * element),
      .line_bytes = bytes(box.extent[2] * element),
      .lines = by_planes(box) ? bytes(box.extent[1]) : 1,
      .pitch = bytes(pitch),
      .unit_pitch = bytes(by_planes(box) ? plane_pitch : pitch),
      .host_bytes = bytes(box.array[0] * plane_pitch)};
}

}  // namespace

template <>
Costs costs_of<deck::WorkloadKind::increment>(const deck::Workload& workload,
                                              std::int64_t repeats) {
  Array array = {.name = "a",
                 .op = 0,
                 .unit_bytes = size_of(workload.type),
                 .to_device = true,
                 .to_host = true};
  std::int64_t unit_elements = 1;
  if (workload.box) {
    const auto& [planes, rows, columns] = workload.box->extent;
    unit_elements = by_planes(*workload.box) ? rows * columns : columns;
    array.unit_bytes *= static_cast<std::size_t>(unit_elements);
    array.section = section_of(workload);
  }
  // A repeat is sine, cosine, two squares, a sum, a root and the accumulation: seven operations if
  // the two transcendental ones and the root count as one each.
  const double flops = repeats == 0 ? 1.0 : 7.0 * static_cast<double>(repeats);
  return {.arrays = {array},
          .ops = 1,
          .units = workload.elements / unit_elements,
          .iterations = 1,
          .flops_per_unit = flops * static_cast<double>(unit_elements)};
}

}  // namespace overlap::schedule
