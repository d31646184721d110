#pragma once

#include <algorithm>
#include <cstddef>

namespace overlap::schedule {

/// Bytes of a host array: equidistant planes of equidistant lines of contiguous bytes.
struct Region {
  std::size_t begin = 0;       ///< offset of the first byte
  std::size_t line_bytes = 0;  ///< per line
  std::size_t lines = 1;       ///< per plane
  std::size_t planes = 1;
  std::size_t pitch = 0;        ///< bytes between starts of adjacent lines
  std::size_t plane_pitch = 0;  ///< bytes between starts of adjacent planes

  std::size_t all_lines() const { return lines * planes; }
  std::size_t bytes() const { return line_bytes * all_lines(); }
  /// Offset of the i-th line of the region.
  std::size_t line_begin(std::size_t i) const {
    return begin + i / lines * plane_pitch + i % lines * pitch;
  }
};

/// A region of contiguous planes of one line each.
inline Region adjacent(std::size_t line_bytes, std::size_t planes) {
  return {.line_bytes = line_bytes, .planes = planes, .plane_pitch = line_bytes};
}

/// The same bytes in as few lines and planes as possible: merges contiguous lines, and planes whose
/// lines are all equidistant.
inline Region merged(Region region) {
  if (region.lines == 1 || region.plane_pitch == region.lines * region.pitch) {
    if (region.lines == 1) region.pitch = region.plane_pitch;
    region.lines *= region.planes;
    region.planes = 1;
  }
  if (region.pitch == region.line_bytes) {
    region.line_bytes *= region.lines;
    region.lines = region.planes;
    region.planes = 1;
    region.pitch = region.plane_pitch;
  }
  return region;
}

/// Visits the bytes [begin, end) of a region line by line, counted without padding: calls
/// body(offset in the host array, offset in the region, bytes).
template <class Body>
void for_lines(const Region& region, std::size_t begin, std::size_t end, const Body& body) {
  if (begin == end) return;
  std::size_t skipped = begin % region.line_bytes;
  for (std::size_t line = begin / region.line_bytes; begin < end; ++line) {
    const std::size_t bytes = std::min(end - begin, region.line_bytes - skipped);
    body(region.line_begin(line) + skipped, begin, bytes);
    begin += bytes;
    skipped = 0;
  }
}

}  // namespace overlap::schedule
