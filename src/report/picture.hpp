#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/study.hpp"
#include "report/svg.hpp"

/// What all pictures of timelines share: rows, words, what tasks waited for.
namespace overlap::report {

using Tasks = std::vector<schedule::TaskId>;

/// An engine or a lane: a row of tasks one after the other, more rows where they overlap.
struct Band {
  std::string name;
  std::vector<Tasks> rows;
};

/// The engines that have tasks, in the timeline's order.
std::vector<Band> engine_bands(const timeline::Timeline& timeline);

/// "lane 0", ..., and "host" for what the issuing thread does itself.
std::vector<Band> lane_bands(const schedule::Schedule& schedule,
                             const timeline::Timeline& timeline);

/// What a bar says: the task's name, or the number of its chunk.
std::string label(const schedule::Schedule& schedule, schedule::TaskId id);

/// The same where nothing around it tells the stage: "K1" or "kernel 3".
std::string full_label(const schedule::Schedule& schedule, schedule::TaskId id);

/// For each task the one that it waited for: of those that had to be complete before it could
/// start (the one before it on its lane, `after`, what blocked the host) the last to finish.
std::vector<std::optional<schedule::TaskId>> waited_for(const schedule::Schedule& schedule,
                                                        const timeline::Timeline& timeline);

/// Decimal GB/s at which the task moved its bytes; empty when it has none or took no time.
std::optional<double> rate_gb_per_s(const schedule::Task& task, const timeline::Span& span);

/// Where engines are drawn: time 0 at `left`, a second `scale` pixels long.
struct Frame {
  double left = 0, width = 0, scale = 1;
  double bar_height = 18;                ///< of an engine with one row of tasks
  double gap = 3;                        ///< between engines
  std::string_view names = "muted end";  ///< class of the engines' names
};

/// The engines of a timeline from svg.y down, each with its name; a task says what it is when a
/// pointer rests on it.
void draw_engines(Svg& svg, const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                  const Frame& frame);

/// "depth_first", "auto (breadth_first)", "depth_first on h200".
std::string order_words(const experiment::Case& run);

/// "5.657 ms (5.651 ms .. 5.662 ms), speed-up 1.88, overlap efficiency 0.98, predicted 5.648 ms
/// (-0.2 %)", as far as known.
std::string figures(const experiment::Run& run, const std::vector<experiment::Run>& runs);

/// One of the pictures of a run, or why there is none.
struct Picture {
  std::string words;       ///< "measured (CUPTI)", "predicted", "not measured"
  std::string doubt = {};  ///< "perturbed by 12 %"; empty: none
  const timeline::Timeline* timeline = nullptr;  ///< null: none
};
Picture measured(const experiment::Run& run);
Picture predicted(const experiment::Run& run);

/// The longest of all timelines and times of a deck: the end of its common time axis, above 0.
double longest_s(const experiment::Outcome& outcome);

/// Throughput over the time of a soak as a picture, above clocks, temperature and power of the
/// device as far as they were read; empty: no soak.
std::string soak_svg(const experiment::Outcome& outcome);

/// Where and on what: "increment.yaml, NVIDIA H200, Kokkos 5.2.0 CUDA".
std::string place_words(const Study& study);

/// The colours of the stages that any task has: what a legend shows.
std::vector<Ink> used_inks(std::span<const Study> studies);
std::vector<Ink> inks_of(const std::vector<const experiment::Run*>& runs);

/// The timeline as text: a row per engine (more where its tasks overlap), a column per slice of
/// time, each task by the number of its chunk (or its name) at its left end. `width` columns in
/// all.
std::string ascii_timeline(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                           int width);

}  // namespace overlap::report
