#include "timeline/timeline.hpp"

#include <algorithm>
#include <map>

namespace overlap::timeline {

std::vector<std::string> Engines::names() const {
  std::vector<std::string> names;
  for (int worker = 0; worker < workers; ++worker)
    names.push_back("worker " + std::to_string(worker));
  if (workers == 0 && copy_engines == 1) names = {"copy", "SM"};
  if (workers == 0 && copy_engines == 2) names = {"H2D", "SM", "D2H"};
  names.emplace_back("host");
  return names;
}

int Engines::index_of(const schedule::Task& task) const {
  const int last = workers > 0 ? workers : copy_engines + 1;
  if (schedule::on_host(task.stage)) return last;
  if (workers > 0) return task.lane % workers;
  if (schedule::is_kernel(task.stage)) return 1;
  return task.stage == schedule::Stage::h2d || copy_engines == 1 ? 0 : 2;
}

std::vector<double> busy_s(const Timeline& timeline) {
  std::vector<Span> spans = timeline.spans;
  std::ranges::sort(spans, {}, &Span::start_s);
  std::vector<double> busy(timeline.engines.size());
  std::vector<double> until(timeline.engines.size());
  for (const Span& span : spans) {
    const auto engine = static_cast<std::size_t>(span.engine);
    busy[engine] += std::max(0.0, span.stop_s - std::max(span.start_s, until[engine]));
    until[engine] = std::max(until[engine], span.stop_s);
  }
  return busy;
}

double wanted_s(const schedule::Schedule& schedule, const std::vector<Span>& spans, double cores) {
  std::map<double, int> changes;  // of the number of tasks under way
  for (schedule::TaskId id = 0; id < spans.size(); ++id) {
    const schedule::Stage stage = schedule.tasks[id].stage;
    if (schedule::on_host(stage) && stage != schedule::Stage::host) continue;
    ++changes[spans[id].start_s];
    --changes[spans[id].stop_s];
  }
  double wanted = 0, before_s = 0;
  int active = 0;
  for (const auto& [at_s, change] : changes) {
    wanted += std::min<double>(active, cores) * (at_s - before_s);
    active += change;
    before_s = at_s;
  }
  return wanted;
}

}  // namespace overlap::timeline
