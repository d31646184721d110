#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/study.hpp"

/// What all pictures of timelines share: rows, words, what tasks waited for, colours.
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

/// "depth_first", "auto (breadth_first)", "depth_first on h200".
std::string order_words(const experiment::Case& run);

/// "5.657 ms (5.651 ms .. 5.662 ms), speed-up 1.88, overlap efficiency 0.98, predicted 5.648 ms
/// (-0.2 %)", as far as known.
std::string figures(const experiment::Run& run, const std::vector<experiment::Run>& runs);

/// One of the pictures of a run, or why there is none.
struct Picture {
  std::string words;  ///< "measured (CUPTI)", "predicted", "not measured"
  std::string doubt;  ///< "perturbed by 12 %"; empty: none
  const timeline::Timeline* timeline = nullptr;  ///< null: none
};
Picture measured(const experiment::Run& run);
Picture predicted(const experiment::Run& run);

/// The longest of all timelines and times of a deck: the end of its common time axis, above 0.
double longest_s(const experiment::Outcome& outcome);

/// Where and on what: "increment.yaml, NVIDIA H200, Kokkos 5.2.0 CUDA".
std::string place_words(const Study& study);

/// How wide text of 11 px is, about: nobody knows the reader's font.
double width_of(std::string_view text);

/// A number in a picture, short: hundredths of a unit are beyond sight.
std::string coordinate(double value);

/// Time between ticks: 1, 2 or 5 times a power of ten, for at most so many of them.
double tick_s(double longest_s, int most = 10);

/// A tick in the unit of the longest time: "0.5 ms".
std::string tick_words(double seconds, double longest_s);

/// Colours of a stage that people with any colour vision tell apart (after Okabe and Ito, "Color
/// universal design", 2008), on light and on dark ground, each with one for text on it.
struct Ink {
  schedule::Stage stage;
  std::string_view words;
  std::string_view light, on_light;
  std::string_view dark, on_dark;
};
inline constexpr std::array<Ink, 7> inks = {{
    {schedule::Stage::h2d, "copy to the device", "#0072b2", "#fff", "#56b4e9", "#04202f"},
    {schedule::Stage::kernel, "kernel", "#e69f00", "#291c00", "#e8ad2c", "#291c00"},
    {schedule::Stage::d2h, "copy back", "#009e73", "#00150f", "#2bb98f", "#00150f"},
    {schedule::Stage::host, "host work", "#cc79a7", "#2b0f1f", "#d992b8", "#2b0f1f"},
    {schedule::Stage::default_stream, "default stream", "#d55e00", "#1f0d00", "#e8792b", "#1f0d00"},
    {schedule::Stage::query, "query", "#6e6e73", "#fff", "#a1a1a8", "#111"},
    {schedule::Stage::disturbance, "disturbance", "#a3184a", "#fff", "#f0719c", "#2b0010"},
}};

/// Whether any task of the deck has this stage: what a legend shows.
bool has_stage(const experiment::Outcome& outcome, schedule::Stage stage);

/// Text for XML and HTML, in content and in attributes: valid whatever comes from outside.
std::string escape_xml(const std::string& text);

/// A JSON string with its quotes; what is no UTF-8 is replaced.
std::string quote_json(const std::string& text);

/// A picture that is written from top to bottom.
struct Page {
  std::string text;
  double y = 0;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
};

/// The picture of a deck's timelines, and that of a sweep.
std::string timeline_svg(const std::vector<Study>& studies);
std::string sweep_svg(const Study& study);

/// A table as HTML, its first row the headings; and JSON as a page's script `id`.
std::string html_table(const Rows& rows);
std::string html_json(const char* id, std::string json);

/// timeline.css and the scripts of this folder, which CMake builds in.
std::string_view page_style();
std::string_view page_script();

}  // namespace overlap::report
