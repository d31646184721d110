#include "schedule/schedule.hpp"

#include <algorithm>

#include "deck/words.hpp"

namespace overlap::schedule {
namespace {

/// Without a section units are adjacent lines.
Section section_of(const Array& array) {
  return array.section.value_or(
      Section{.line_bytes = array.unit_bytes, .unit_pitch = array.unit_bytes});
}

Region region_of(const Array& array, const Piece& piece) {
  const Section section = section_of(array);
  return {.begin = section.begin + static_cast<std::size_t>(piece.begin) * section.unit_pitch +
                   piece.from,
          .line_bytes = piece.length > 0 ? piece.length : section.line_bytes,
          .lines = section.lines,
          .planes = static_cast<std::size_t>(piece.size()),
          .pitch = section.pitch,
          .plane_pitch = section.unit_pitch};
}

/// Where a piece's unit begins on the host, in the numbering of accesses.
std::size_t host_place(const Array& array, const Piece& piece, std::int64_t unit) {
  if (piece.length == 0) return host_begin(array, unit);
  return piece.from * static_cast<std::size_t>(array.units) +
         piece.length * static_cast<std::size_t>(unit);
}

const Use& copied(const Schedule& schedule, const Task& copy) {
  return uses(schedule, copy).front();
}

}  // namespace

const char* to_string(Stage stage) { return deck::to_string(stage).data(); }

std::span<const Use> uses(const Schedule& schedule, const Task& task) {
  return std::span(schedule.uses).subspan(task.uses.begin, task.uses.count);
}

const Array& array_of(const Schedule& schedule, const Use& use) {
  return schedule.arrays[static_cast<std::size_t>(use.array)];
}

const Piece& piece_of(const Schedule& schedule, const Use& use) {
  const Cut& cut = schedule.cuts[static_cast<std::size_t>(array_of(schedule, use).cut)];
  return cut.pieces[static_cast<std::size_t>(use.piece)];
}

const Array* copied_array(const Schedule& schedule, const Task& task) {
  if (!is_copy(task.stage) || task.uses.count == 0) return nullptr;
  return &array_of(schedule, copied(schedule, task));
}

std::size_t host_begin(const Array& array, std::int64_t unit) {
  const Section section = section_of(array);
  return section.begin + static_cast<std::size_t>(unit) * section.unit_pitch;
}

std::size_t host_bytes(const Array& array) {
  return array.section ? array.section->host_bytes : host_begin(array, array.units);
}

Region host_region(const Array& array) { return host_region(array, 0, array.units); }

Region host_region(const Array& array, std::int64_t begin, std::int64_t units) {
  return merged(region_of(array, {.begin = begin, .end = begin + units}));
}

Region host_region(const Schedule& schedule, const Use& use) {
  return region_of(array_of(schedule, use), piece_of(schedule, use));
}

Region host_region(const Schedule& schedule, const Task& copy) {
  return merged(host_region(schedule, copied(schedule, copy)));
}

std::int64_t slot_begin(const Schedule& schedule, const Use& use) {
  const Cut& cut = schedule.cuts[static_cast<std::size_t>(array_of(schedule, use).cut)];
  return cut.slots[static_cast<std::size_t>(use.slot)];
}

std::size_t device_begin(const Schedule& schedule, const Use& use) {
  return static_cast<std::size_t>(slot_begin(schedule, use)) * array_of(schedule, use).unit_bytes;
}

std::size_t device_begin(const Schedule& schedule, const Task& copy) {
  return device_begin(schedule, copied(schedule, copy));
}

std::vector<Region> parts_of(const Array& array, std::size_t most_bytes) {
  const std::size_t unit = section_of(array).line_bytes * section_of(array).lines;
  const auto units = static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / unit));
  const std::size_t length = std::min(unit, most_bytes);  // of a unit too large by itself
  std::vector<Region> parts;
  for (Piece part; part.begin < array.units; part.begin = part.end) {
    part.end = std::min(part.begin + units, array.units);
    for (part.from = 0; part.from < unit; part.from += length) {
      part.length = length < unit ? std::min(length, unit - part.from) : 0;
      parts.push_back(merged(region_of(array, part)));
    }
  }
  return parts;
}

double work_units(const Schedule& schedule, const Use& use) {
  if (!schedule.tiling) return static_cast<double>(piece_of(schedule, use).size());
  return static_cast<double>(host_region(schedule, use).bytes() / schedule.tiling->element_bytes);
}

int chunk_of(const Schedule& schedule, std::int64_t unit) {
  if (!schedule.tiling) {
    const std::vector<Piece>& pieces = schedule.cuts.front().pieces;
    const auto holder = std::upper_bound(pieces.begin(), pieces.end(), unit,
                                         [](std::int64_t u, const Piece& p) { return u < p.end; });
    return static_cast<int>(holder - pieces.begin());
  }
  const Tiling& tiling = *schedule.tiling;
  const int tile = tiling.tile(static_cast<int>(unit % tiling.m / tiling.tile_m),
                               static_cast<int>(unit / tiling.m / tiling.tile_n));
  const Use wanted = {.array = static_cast<int>(schedule.arrays.size()) - 1, .piece = tile};
  for (const Task& task : schedule.tasks) {
    if (task.uses.count == 0) continue;
    const Use& last = uses(schedule, task).back();
    if (last.array == wanted.array && last.piece == wanted.piece) return task.chunk;
  }
  return 0;
}

std::optional<Region> lines_apart(const Schedule& schedule, const Task& copy) {
  constexpr std::size_t page_bytes = 64 << 10;
  if (copy.uses.count == 0) return std::nullopt;  // a schedule of tasks alone
  const Region region = host_region(schedule, copy);
  const bool apart = region.all_lines() > 1 && region.pitch >= page_bytes;
  return apart ? std::optional(region) : std::nullopt;
}

std::vector<Access> accesses(const Schedule& schedule, const Task& task) {
  std::vector<Access> touched;
  const bool copies = is_copy(task.stage);
  if (!copies && task.stage != Stage::kernel && task.stage != Stage::host) return touched;
  for (const Use& use : uses(schedule, task)) {
    const Array& array = array_of(schedule, use);
    const Piece& piece = piece_of(schedule, use);
    const bool up = task.stage == Stage::h2d;
    if (copies || use.slot < 0) {
      touched.push_back({Access::Side::host, use.array, host_place(array, piece, piece.begin),
                         host_place(array, piece, piece.end), copies ? up : array.to_device,
                         copies ? !up : array.to_host, use.piece});
    }
    if (use.slot >= 0) {
      const std::size_t begin = device_begin(schedule, use);
      touched.push_back({Access::Side::device, use.array, begin,
                         begin + host_region(schedule, use).bytes(), copies ? !up : array.to_device,
                         copies ? up : array.to_host, use.piece});
    }
  }
  return touched;
}

std::optional<Product> product(const Schedule& schedule, const Task& task, Access::Side side) {
  if (!schedule.tiling || is_copy(task.stage) || task.uses.count == 0) return std::nullopt;
  const auto operands = uses(schedule, task);
  const auto elements = [&](std::size_t bytes) {
    return static_cast<std::int64_t>(bytes / schedule.tiling->element_bytes);
  };
  Product product;
  product.m = elements(piece_of(schedule, operands[0]).length);
  product.n = piece_of(schedule, operands[1]).size();
  product.k = schedule.tiling->k;
  for (std::size_t i = 0; i < product.matrices.size(); ++i) {
    const Region region = host_region(schedule, operands[i]);
    product.matrices[i] =
        side == Access::Side::host
            ? Product::Matrix{region.begin, elements(region.plane_pitch)}
            : Product::Matrix{device_begin(schedule, operands[i]), elements(region.line_bytes)};
  }
  return product;
}

Traffic traffic(const Schedule& schedule) {
  Traffic sum;
  for (const Task& task : schedule.tasks) {
    const Traffic own = traffic(schedule, task);
    sum.h2d += own.h2d;
    sum.d2h += own.d2h;
  }
  return sum;
}

Traffic traffic(const Schedule& schedule, const Task& task) {
  if (task.stage == Stage::h2d) return {.h2d = task.bytes};
  if (task.stage == Stage::d2h) return {.d2h = task.bytes};
  Traffic own;
  if (schedule.transfer == deck::Transfer::staged) return own;
  for (const Access& access : accesses(schedule, task)) {
    if (access.reads) own.h2d += access.end - access.begin;
    if (access.writes) own.d2h += access.end - access.begin;
  }
  return own;
}

}  // namespace overlap::schedule
