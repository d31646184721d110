#include "schedule/costs.hpp"

namespace overlap::schedule {

template <>
Costs costs_of<deck::WorkloadKind::rowsum>(const deck::Workload& workload,
                                           std::int64_t /*repeats*/) {
  // One line gives one sum: a row of a row-major array or a column of a column-major one.
  const bool rows = workload.axis == deck::SumAxis::rows;
  const std::int64_t lines = rows ? workload.rows : workload.columns;
  const std::int64_t length = rows ? workload.columns : workload.rows;
  const std::size_t sum_bytes =
      workload.sum_type == deck::SumType::int64 ? 8 : size_of(workload.type);
  Array array = {.name = "lines",
                 .unit_bytes = size_of(workload.type) * static_cast<std::size_t>(length),
                 .to_device = true};
  if (workload.pitch) {
    array.host = {.line_bytes = array.unit_bytes,
                  .plane_pitch = static_cast<std::size_t>(*workload.pitch)};
  }
  return {.arrays = {array, {.name = "sums", .unit_bytes = sum_bytes, .to_host = true}},
          .units = lines,
          .flops_per_unit = static_cast<double>(length)};
}

}  // namespace overlap::schedule
