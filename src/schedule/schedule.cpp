#include "schedule/schedule.hpp"

#include <algorithm>

#include "deck/words.hpp"

namespace overlap::schedule {

const char* to_string(Stage stage) { return deck::to_string(stage).data(); }

const Array* copied_array(const Schedule& schedule, const Task& task) {
  if (!is_copy(task.stage) || task.operands.empty()) return nullptr;
  return &schedule.arrays[static_cast<std::size_t>(task.operands.front().array)];
}

Region units_of(const Array& array, std::int64_t begin, std::int64_t size) {
  Region region = array.host;
  region.begin += static_cast<std::size_t>(begin) * region.plane_pitch;
  region.planes = static_cast<std::size_t>(size);
  return region;
}

std::size_t device_offset(const Schedule& schedule, const Operand& operand) {
  return static_cast<std::size_t>(operand.device_begin) *
         schedule.arrays[static_cast<std::size_t>(operand.array)].unit_bytes;
}

std::vector<Region> regions_of(const Array& array, std::size_t most_bytes) {
  const std::size_t unit = array.host.line_bytes * array.host.lines;
  const auto units = static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / unit));
  const auto planes = static_cast<std::int64_t>(array.host.planes);
  const std::size_t length = std::min(unit, most_bytes);  // splits units larger than most_bytes
  std::vector<Region> parts;
  for (std::int64_t begin = 0; begin < planes; begin += units) {
    for (std::size_t from = 0; from < unit; from += length) {
      Region part = units_of(array, begin, std::min(units, planes - begin));
      part.begin += from;
      if (length < unit) part.line_bytes = std::min(length, unit - from);
      parts.push_back(merged(part));
    }
  }
  return parts;
}

double work_units(const Schedule& schedule, const Operand& operand) {
  if (!schedule.tiling) return static_cast<double>(operand.size());
  return static_cast<double>(operand.host.bytes() / schedule.tiling->element_bytes);
}

int largest_chunk(const Schedule& schedule) {
  return std::ranges::max(schedule.tasks, {},
                          [](const Task& task) {
                            return task.operands.empty() ? 0 : task.operands.front().size();
                          })
      .chunk;
}

int chunk_of(const Schedule& schedule, std::int64_t unit) {
  const auto holds = [&](const Operand& operand) {
    if (!schedule.tiling) return operand.begin <= unit && unit < operand.begin + operand.size();
    const Tiling& tiling = *schedule.tiling;
    return operand.array == 2 &&
           operand.piece == tiling.tile(static_cast<int>(unit % tiling.m / tiling.tile_m),
                                        static_cast<int>(unit / tiling.m / tiling.tile_n));
  };
  const auto task = std::ranges::find_if(schedule.tasks, [&](const Task& other) {
    return std::ranges::any_of(other.operands, holds);
  });
  return task == schedule.tasks.end() ? 0 : task->chunk;
}

std::optional<Product> product(const Schedule& schedule, const Task& task) {
  if (!schedule.tiling || is_copy(task.stage) || task.operands.empty()) return std::nullopt;
  const auto elements = [&](std::size_t bytes) {
    return static_cast<std::int64_t>(bytes / schedule.tiling->element_bytes);
  };
  Product product{.m = elements(task.operands[0].host.line_bytes),
                  .n = task.operands[1].size(),
                  .k = schedule.tiling->k};
  for (std::size_t i = 0; i < product.matrices.size(); ++i) {
    const Operand& operand = task.operands[i];
    const Region& host = operand.host;
    product.matrices[i] = operand.slot < 0 ? Product::Matrix{host.begin, elements(host.plane_pitch)}
                                           : Product::Matrix{device_offset(schedule, operand),
                                                             elements(host.line_bytes)};
  }
  return product;
}

Traffic traffic(const Schedule& schedule) {
  Traffic sum;
  for (const Task& task : schedule.tasks) {
    const Traffic moved = traffic(schedule, task);
    sum.h2d += moved.h2d;
    sum.d2h += moved.d2h;
  }
  return sum;
}

Traffic traffic(const Schedule& schedule, const Task& task) {
  if (task.stage == Stage::h2d) return {.h2d = task.bytes};
  if (task.stage == Stage::d2h) return {.d2h = task.bytes};
  Traffic moved;
  if (deck::has_copies(schedule.transfer)) return moved;
  for (const Operand& operand : task.operands) {
    const Array& array = schedule.arrays[static_cast<std::size_t>(operand.array)];
    const std::size_t bytes = operand.host.bytes();
    if (array.to_device) moved.h2d += bytes;
    if (array.to_host) moved.d2h += bytes;
  }
  return moved;
}

}  // namespace overlap::schedule
