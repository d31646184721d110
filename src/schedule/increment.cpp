#include "schedule/costs.hpp"

namespace overlap::schedule {
namespace {

/// Units are the planes of the box, or its rows if it has a single plane.
void lay_out(Array& array, const deck::Workload& workload) {
  const deck::Box& box = *workload.box;
  const auto element = static_cast<std::int64_t>(size_of(workload.type));
  const std::int64_t pitch = workload.pitch.value_or(box.array[2] * element);
  const std::int64_t plane_pitch = box.array[1] * pitch;
  const bool by_planes = box.extent[0] > 1;
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  array.host = {
      .begin = bytes(box.origin[0] * plane_pitch + box.origin[1] * pitch + box.origin[2] * element),
      .line_bytes = bytes(box.extent[2] * element),
      .lines = by_planes ? bytes(box.extent[1]) : 1,
      .pitch = bytes(pitch),
      .plane_pitch = bytes(by_planes ? plane_pitch : pitch)};
  array.host_bytes = bytes(box.array[0] * plane_pitch);
  array.unit_bytes = array.host.line_bytes * array.host.lines;
}

}  // namespace

template <>
Costs costs_of<deck::WorkloadKind::increment>(const deck::Workload& workload,
                                              std::int64_t repeats) {
  const std::size_t element = size_of(workload.type);
  Array array = {.name = "a", .unit_bytes = element, .to_device = true, .to_host = true};
  if (workload.box) lay_out(array, workload);
  const auto unit_elements = static_cast<std::int64_t>(array.unit_bytes / element);
  // One repeat is sine, cosine, two squares, a sum, a root and the accumulation: seven operations,
  // counting the transcendental functions and the root as one each.
  const double flops = repeats == 0 ? 1.0 : 7.0 * static_cast<double>(repeats);
  return {.arrays = {array},
          .units = workload.elements / unit_elements,
          .flops_per_unit = flops * static_cast<double>(unit_elements)};
}

}  // namespace overlap::schedule
