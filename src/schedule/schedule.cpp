#include "schedule/schedule.hpp"

#include <algorithm>

#include "deck/words.hpp"

namespace overlap::schedule {

const char* to_string(Stage stage) { return deck::to_string(stage).data(); }

std::span<const Use> uses(const Schedule& schedule, const Task& task) {
  return std::span(schedule.uses).subspan(task.uses.begin, task.uses.count);
}

const Array& array_of(const Schedule& schedule, const Use& use) {
  return schedule.arrays[static_cast<std::size_t>(use.array)];
}

const Cut& cut_of(const Schedule& schedule, const Array& array) {
  return schedule.cuts[static_cast<std::size_t>(array.cut)];
}

const Piece& piece_of(const Schedule& schedule, const Use& use) {
  return cut_of(schedule, array_of(schedule, use)).pieces[static_cast<std::size_t>(use.piece)];
}

const Array* copied_array(const Schedule& schedule, const Task& task) {
  if (!is_copy(task.stage) || task.uses.count == 0) return nullptr;
  return &array_of(schedule, uses(schedule, task).front());
}

Region host_region(const Array& array, const Piece& piece) {
  Region region = array.host;
  region.begin += static_cast<std::size_t>(piece.begin) * region.plane_pitch + piece.from;
  region.planes = static_cast<std::size_t>(piece.size());
  if (piece.length > 0) region.line_bytes = piece.length;
  return region;
}

Region host_region(const Schedule& schedule, const Use& use) {
  return host_region(array_of(schedule, use), piece_of(schedule, use));
}

Region host_region(const Schedule& schedule, const Task& copy) {
  return merged(host_region(schedule, uses(schedule, copy).front()));
}

std::int64_t slot_begin(const Schedule& schedule, const Use& use) {
  return cut_of(schedule, array_of(schedule, use)).slots[static_cast<std::size_t>(use.slot)];
}

std::size_t device_offset(const Schedule& schedule, const Use& use) {
  return static_cast<std::size_t>(slot_begin(schedule, use)) * array_of(schedule, use).unit_bytes;
}

std::size_t device_offset(const Schedule& schedule, const Task& copy) {
  return device_offset(schedule, uses(schedule, copy).front());
}

std::vector<Region> regions_of(const Array& array, std::size_t most_bytes) {
  const std::size_t unit = array.host.line_bytes * array.host.lines;
  const auto units = static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / unit));
  const auto planes = static_cast<std::int64_t>(array.host.planes);
  const std::size_t length = std::min(unit, most_bytes);  // splits units larger than most_bytes
  std::vector<Region> parts;
  for (Piece part; part.begin < planes; part.begin = part.end) {
    part.end = std::min(part.begin + units, planes);
    for (part.from = 0; part.from < unit; part.from += length) {
      part.length = length < unit ? std::min(length, unit - part.from) : 0;
      parts.push_back(merged(host_region(array, part)));
    }
  }
  return parts;
}

double work_units(const Schedule& schedule, const Use& use) {
  if (!schedule.tiling) return static_cast<double>(piece_of(schedule, use).size());
  return static_cast<double>(host_region(schedule, use).bytes() / schedule.tiling->element_bytes);
}

int largest_chunk(const Schedule& schedule) {
  const std::vector<Piece>& pieces = schedule.cuts.front().pieces;
  return static_cast<int>(std::ranges::max_element(pieces, {}, &Piece::size) - pieces.begin());
}

int chunk_of(const Schedule& schedule, std::int64_t unit) {
  if (!schedule.tiling) {
    const std::vector<Piece>& pieces = schedule.cuts.front().pieces;
    const auto holder = std::ranges::upper_bound(pieces, unit, {}, &Piece::end);
    return static_cast<int>(holder - pieces.begin());
  }
  const Tiling& tiling = *schedule.tiling;
  const int tile = tiling.tile(static_cast<int>(unit % tiling.m / tiling.tile_m),
                               static_cast<int>(unit / tiling.m / tiling.tile_n));
  const auto task = std::ranges::find_if(schedule.tasks, [&](const Task& other) {
    if (other.uses.count == 0) return false;
    const Use& last = uses(schedule, other).back();
    return &array_of(schedule, last) == &schedule.arrays.back() && last.piece == tile;
  });
  return task == schedule.tasks.end() ? 0 : task->chunk;
}

std::optional<Product> product(const Schedule& schedule, const Task& task) {
  if (!schedule.tiling || is_copy(task.stage) || task.uses.count == 0) return std::nullopt;
  const auto operands = uses(schedule, task);
  const auto elements = [&](std::size_t bytes) {
    return static_cast<std::int64_t>(bytes / schedule.tiling->element_bytes);
  };
  Product product{.m = elements(piece_of(schedule, operands[0]).length),
                  .n = piece_of(schedule, operands[1]).size(),
                  .k = schedule.tiling->k};
  for (std::size_t i = 0; i < product.matrices.size(); ++i) {
    const Region region = host_region(schedule, operands[i]);
    product.matrices[i] =
        operands[i].slot < 0
            ? Product::Matrix{region.begin, elements(region.plane_pitch)}
            : Product::Matrix{device_offset(schedule, operands[i]), elements(region.line_bytes)};
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
  for (const Use& use : uses(schedule, task)) {
    const Array& array = array_of(schedule, use);
    const std::size_t bytes = host_region(schedule, use).bytes();
    if (array.to_device) moved.h2d += bytes;
    if (array.to_host) moved.d2h += bytes;
  }
  return moved;
}

}  // namespace overlap::schedule
