#include "report/ascii_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "report/picture.hpp"

namespace overlap::report {
namespace {

using schedule::TaskId;

std::string draw(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                 const Tasks& row, int columns) {
  std::string line(static_cast<std::size_t>(columns), ' ');
  std::vector<double> covered(line.size());  // how much of each column its task takes
  const double scale = columns / timeline.complete_s;
  for (const TaskId id : row) {
    const timeline::Span& span = timeline.spans[id];
    const double begin = span.start_s * scale;
    const double end = span.stop_s * scale;
    // Whole columns, so that neighbours of equal length look alike; the shortest task keeps one.
    const auto first = std::min(std::llround(begin), static_cast<long long>(columns) - 1);
    const auto last =
        std::max(first + 1, std::min(std::llround(end), static_cast<long long>(columns)));
    const std::string text = label(schedule, id);
    // Too narrow: the last digit tells neighbouring chunks apart, the first letters tell names.
    const std::string narrow = schedule.names.empty() ? text.substr(text.size() - 1) : text;
    const bool fits = last - first > static_cast<long long>(text.size());
    for (auto column = first; column < last; ++column) {
      const auto c = static_cast<std::size_t>(column);
      const double part = std::min(end, static_cast<double>(column) + 1) -
                          std::max(begin, static_cast<double>(column));
      if (line[c] != ' ' && part <= covered[c]) continue;
      covered[c] = part;
      const auto at = static_cast<std::size_t>(column - first);
      line[c] = !fits ? narrow[std::min(at, narrow.size() - 1)] : at < text.size() ? text[at] : '=';
    }
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string ascii_timeline(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                           int width) {
  std::size_t name = 0;
  for (const std::string& engine : timeline.engines) name = std::max(name, engine.size());
  const int columns = std::max(20, width - static_cast<int>(name) - 2);
  std::string text;
  if (timeline.complete_s <= 0) return text;
  // Issuing itself is no task: the host's row shows only work and queries.
  for (Band& band : engine_bands(timeline)) {
    for (const Tasks& row : band.rows) {
      text += fmt::format("{:<{}}  {}\n", band.name, name, draw(schedule, timeline, row, columns));
      band.name.clear();
    }
  }
  const std::string end = base::format_seconds(timeline.complete_s);
  return text + fmt::format("{:<{}}  0{:>{}}\n", "", name, end, columns - 1);
}

}  // namespace overlap::report
