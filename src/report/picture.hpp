#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/page.hpp"
#include "report/study.hpp"

/// Common parts of timeline pictures: rows, labels, wait analysis.
namespace overlap::report {

using Tasks = std::vector<schedule::TaskId>;

/// An engine or a lane with its tasks, in several rows if tasks overlap.
struct Band {
  std::string name;
  std::vector<Tasks> rows;
};

/// The engines with tasks, in the order of the timeline.
std::vector<Band> engine_bands(const timeline::Timeline& timeline);

/// "lane 0", ..., and "host" for tasks of the issuing thread.
std::vector<Band> lane_bands(const schedule::Schedule& schedule,
                             const timeline::Timeline& timeline);

/// Label of a bar: the name of the task, or the number of its chunk.
std::string label(const schedule::Schedule& schedule, schedule::TaskId id);

/// Label that includes the stage: "K1" or "kernel 3".
std::string full_label(const schedule::Schedule& schedule, schedule::TaskId id);

/// For each task, the one that it waited for: the last to finish among those that had to be
/// complete before it could start (previous task on its lane, `after`, blocking tasks).
std::vector<std::optional<schedule::TaskId>> waited_for(const schedule::Schedule& schedule,
                                                        const timeline::Timeline& timeline);

/// Throughput of a task in decimal GB/s; empty if it has no bytes or no duration.
std::optional<double> rate_gb_per_s(const schedule::Task& task, const timeline::Span& span);

/// Geometry of a timeline: time 0 at `left`, `scale` pixels per second.
struct Frame {
  double left = 0, width = 0, scale = 1;
  double bar_height = 18;                ///< of an engine with one row of tasks
  double gap = 3;                        ///< between engines
  std::string_view names = "muted end";  ///< CSS class of engine names
};

/// Draws the engines of a timeline from svg.y downwards, with names and a tooltip per task.
void draw_engines(Svg& svg, const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                  const Frame& frame);

/// Draws the axis from 0 to `longest_s` across the frame at svg.y, and a grid from `top` down to it
/// behind all that was drawn after the first `behind` characters.
void draw_time_axis(Svg& svg, const Frame& frame, double longest_s, double top, std::size_t behind);

/// "depth_first", "auto (breadth_first)", "depth_first on h200".
std::string order_words(const experiment::Case& run);

/// "5.657 ms (5.651 ms .. 5.662 ms), speed-up 1.88, overlap efficiency 0.98, predicted 5.648 ms
/// (-0.2 %)", as far as known.
std::string figures(const experiment::Run& run, const std::vector<experiment::Run>& runs);

/// A timeline of a run, or the reason why there is none.
struct Picture {
  std::string words;       ///< "measured (CUPTI)", "predicted", "not measured"
  std::string doubt = {};  ///< "doubtful: +12.3 % against the median"; empty: not doubtful
  const timeline::Timeline* timeline = nullptr;  ///< null: none
};
Picture measured(const experiment::Run& run);
Picture predicted(const experiment::Run& run);

/// End of the common time axis of outcomes: the latest time in any timeline, above 0.
double longest_s(const std::vector<const experiment::Outcome*>& outcomes);

/// SVG of a soak: throughput over time, with clocks, temperature and power if available; empty
/// without a soak.
std::string soak_svg(const experiment::Outcome& outcome);

/// Deck, phase (if together), device and software: "increment.yaml, NVIDIA H200, Kokkos 5.2.0
/// CUDA".
std::string place_words(const Study& study, const experiment::Outcome* outcome = nullptr);

/// Colours of all stages that occur, for legends.
std::vector<Ink> used_inks(std::span<const Study> studies);
std::vector<Ink> inks_of(const std::vector<const experiment::Run*>& runs);

/// The timeline as text: one row per engine (more if its tasks overlap), one column per time slice.
/// Each task shows its chunk number or name at its left end. `width`: total columns.
std::string ascii_timeline(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                           int width);

}  // namespace overlap::report
