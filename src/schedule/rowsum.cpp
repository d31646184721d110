#include "schedule/costs.hpp"

namespace overlap::schedule {

template <>
Costs costs_of<deck::WorkloadKind::rowsum>(const deck::Workload& workload,
                                           std::int64_t /*repeats*/) {
  // A line is what is summed: a row of a row-major array, or a column of a column-major one.
  const bool rows = workload.axis == deck::SumAxis::rows;
  const std::int64_t lines = rows ? workload.rows : workload.columns;
  const std::int64_t length = rows ? workload.columns : workload.rows;
  const std::size_t sum_bytes =
      workload.sum_type == deck::SumType::int64 ? 8 : size_of(workload.type);
  Array array = {.name = "lines",
                 .op = 0,
                 .unit_bytes = size_of(workload.type) * static_cast<std::size_t>(length),
                 .to_device = true,
                 .to_host = false};
  if (workload.pitch) {
    const auto pitch = static_cast<std::size_t>(*workload.pitch);
    array.section = {.line_bytes = array.unit_bytes,
                     .unit_pitch = pitch,
                     .host_bytes = pitch * static_cast<std::size_t>(lines)};
  }
  return {
      .arrays =
          {array,
           {.name = "sums", .op = 0, .unit_bytes = sum_bytes, .to_device = false, .to_host = true}},
      .ops = 1,
      .units = lines,
      .iterations = 1,
      .flops_per_unit = static_cast<double>(length)};
}

}  // namespace overlap::schedule
