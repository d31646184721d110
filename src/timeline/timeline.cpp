#include "timeline/timeline.hpp"

#include <algorithm>

namespace overlap::timeline {

std::vector<double> busy_s(const Timeline& timeline) {
  std::vector<Span> spans = timeline.spans;
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start_s < b.start_s; });
  std::vector<double> busy(timeline.engines.size());
  std::vector<double> until(timeline.engines.size());
  for (const Span& span : spans) {
    const auto engine = static_cast<std::size_t>(span.engine);
    busy[engine] += std::max(0.0, span.stop_s - std::max(span.start_s, until[engine]));
    until[engine] = std::max(until[engine], span.stop_s);
  }
  return busy;
}

}  // namespace overlap::timeline
