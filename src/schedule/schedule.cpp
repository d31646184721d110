#include "schedule/schedule.hpp"

#include "deck/words.hpp"

namespace overlap::schedule {
namespace {

/// Of an array that is none: its units are adjacent lines.
Section section_of(const Array& array) {
  return array.section.value_or(
      Section{.line_bytes = array.unit_bytes, .unit_pitch = array.unit_bytes});
}

/// One piece, one slot.
std::vector<Access> tiled_accesses(const Schedule& schedule, const Task& task) {
  std::vector<Access> touched;
  const auto add = [&](Access::Side side, int array, int index, bool reads, bool writes) {
    const auto begin = static_cast<std::size_t>(index);
    touched.push_back({side, array, begin, begin + 1, reads, writes});
  };
  for (const Place& place : task.places) {
    const bool up = task.stage == Stage::h2d;
    const Array& array = schedule.arrays[static_cast<std::size_t>(place.array)];
    if (is_copy(task.stage)) {
      add(Access::Side::host, place.array, place.piece, up, !up);
      add(Access::Side::device, place.array, place.slot, !up, up);
    } else if (task.stage == Stage::host) {
      add(Access::Side::host, place.array, place.piece, array.to_device, array.to_host);
    } else {
      add(Access::Side::device, place.array, place.slot, array.to_device, array.to_host);
    }
  }
  return touched;
}

}  // namespace

const char* to_string(Stage stage) { return deck::to_string(stage).data(); }

std::size_t host_begin(const Array& array, std::int64_t unit) {
  const Section section = section_of(array);
  return section.begin + static_cast<std::size_t>(unit) * section.unit_pitch;
}

std::size_t host_bytes(const Array& array, std::int64_t units) {
  if (!array.pieces.empty()) {
    const Region& last = array.pieces.back();
    return last.line_begin(last.all_lines() - 1) + last.line_bytes;
  }
  return array.section ? array.section->host_bytes : host_begin(array, units);
}

Region host_region(const Array& array, std::int64_t begin, std::int64_t units) {
  if (!array.pieces.empty()) {
    const std::size_t all = host_bytes(array, units);
    return {.line_bytes = all, .pitch = all, .plane_pitch = all};
  }
  const Section section = section_of(array);
  return merged({.begin = host_begin(array, begin),
                 .line_bytes = section.line_bytes,
                 .lines = section.lines,
                 .planes = static_cast<std::size_t>(units),
                 .pitch = section.pitch,
                 .plane_pitch = section.unit_pitch});
}

Region host_region(const Schedule& schedule, const Task& copy) {
  const Array& array = schedule.arrays[static_cast<std::size_t>(copy.array)];
  if (!copy.places.empty()) {
    return merged(array.pieces[static_cast<std::size_t>(copy.places.front().piece)]);
  }
  const Chunk& chunk = schedule.chunks[static_cast<std::size_t>(copy.chunk)];
  return host_region(array, chunk.begin, chunk.size());
}

std::optional<Region> lines_apart(const Schedule& schedule, const Task& copy) {
  constexpr std::size_t page_bytes = 64 << 10;
  if (schedule.arrays.empty()) return std::nullopt;  // a schedule of tasks alone
  const Array& array = schedule.arrays[static_cast<std::size_t>(copy.array)];
  if (!array.section && array.pieces.empty()) return std::nullopt;
  const Region region = host_region(schedule, copy);
  return region.all_lines() > 1 && region.pitch >= page_bytes ? std::optional(region)
                                                              : std::nullopt;
}

std::size_t device_begin(const Schedule& schedule, const Task& copy) {
  const Array& array = schedule.arrays[static_cast<std::size_t>(copy.array)];
  const std::int64_t unit = copy.places.empty()
                                ? schedule.chunks[static_cast<std::size_t>(copy.chunk)].device_begin
                                : copy.places.front().slot;
  return static_cast<std::size_t>(unit) * array.unit_bytes;
}

std::optional<Product> product(const Schedule& schedule, const Task& task, Access::Side side) {
  if (is_copy(task.stage) || task.places.empty()) return std::nullopt;
  const Tiling& tiling = *schedule.tiling;
  const auto region = [&](std::size_t i) {
    return schedule.arrays[i].pieces[static_cast<std::size_t>(task.places[i].piece)];
  };
  const auto elements = [&](std::size_t bytes) {
    return static_cast<std::int64_t>(bytes / tiling.element_bytes);
  };
  Product product;
  product.m = elements(region(0).line_bytes);
  product.n = static_cast<std::int64_t>(region(1).lines);
  product.k = tiling.k;
  for (std::size_t i = 0; i < product.matrices.size(); ++i) {
    const Array& array = schedule.arrays[i];
    product.matrices[i] =
        side == Access::Side::host
            ? Product::Matrix{region(i).begin, elements(region(i).pitch)}
            : Product::Matrix{static_cast<std::size_t>(task.places[i].slot) * array.unit_bytes,
                              elements(region(i).line_bytes)};
  }
  return product;
}

std::vector<Access> accesses(const Schedule& schedule, const Task& task) {
  if (!task.places.empty()) return tiled_accesses(schedule, task);
  const Chunk& chunk = schedule.chunks[static_cast<std::size_t>(task.chunk)];
  const auto access = [&](Access::Side side, int index, bool reads, bool writes) {
    const Array& array = schedule.arrays[static_cast<std::size_t>(index)];
    const auto place = [&](std::int64_t unit) {
      return side == Access::Side::host
                 ? host_begin(array, chunk.begin + unit)
                 : static_cast<std::size_t>(chunk.device_begin + unit) * array.unit_bytes;
    };
    return Access{side, index, place(0), place(chunk.size()), reads, writes};
  };
  if (is_copy(task.stage)) {
    const bool up = task.stage == Stage::h2d;
    return {access(Access::Side::host, task.array, up, !up),
            access(Access::Side::device, task.array, !up, up)};
  }
  std::vector<Access> touched;
  if (task.stage != Stage::kernel) return touched;
  for (std::size_t i = 0; i < schedule.arrays.size(); ++i) {
    const Array& array = schedule.arrays[i];
    if (array.op == task.op) {
      const bool mapped = schedule.transfer == deck::Transfer::zero_copy;
      touched.push_back(access(mapped ? Access::Side::host : Access::Side::device,
                               static_cast<int>(i), array.to_device, array.to_host));
    }
  }
  return touched;
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
  Traffic own;
  if (is_copy(task.stage)) {
    (task.stage == Stage::h2d ? own.h2d : own.d2h) = task.bytes;
  } else if (schedule.transfer == deck::Transfer::zero_copy) {
    for (const Access& access : accesses(schedule, task)) {
      if (access.reads) own.h2d += access.end - access.begin;
      if (access.writes) own.d2h += access.end - access.begin;
    }
  }
  return own;
}

}  // namespace overlap::schedule
