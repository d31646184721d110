#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/block.hpp"

/// Where the bars of a timeline lie, and how stages look: shared by terminal, page and SVG file.
namespace overlap::report::drawing {

/// The look of a stage: on a terminal, and on light and dark ground, each with a text colour.
/// Distinguishable with any colour vision (after Okabe and Ito, "Color universal design", 2008).
struct StageLook {
  deck::Stage stage;
  std::string_view name;
  char letter;
  std::string_view ansi;  ///< code of a colour of terminals
  std::string_view light, on_light;
  std::string_view dark, on_dark;
};
inline constexpr auto stage_looks = std::to_array<StageLook>({
    {deck::Stage::h2d, "copy to the device", 'h', "34", "#0072b2", "#fff", "#56b4e9", "#04202f"},
    {deck::Stage::kernel, "kernel", 'K', "33", "#e69f00", "#291c00", "#e8ad2c", "#291c00"},
    {deck::Stage::d2h, "copy back", 'd', "32", "#009e73", "#00150f", "#2bb98f", "#00150f"},
    {deck::Stage::host, "host work", 'w', "35", "#cc79a7", "#2b0f1f", "#d992b8", "#2b0f1f"},
    {deck::Stage::default_stream, "default stream", 's', "31", "#d55e00", "#1f0d00", "#e8792b",
     "#1f0d00"},
    {deck::Stage::query, "query", 'q', "90", "#6e6e73", "#fff", "#a1a1a8", "#111"},
    {deck::Stage::disturbance, "disturbance", 'x', "91", "#a3184a", "#fff", "#f0719c", "#2b0010"},
});
const StageLook& look_of(deck::Stage stage);

/// The looks of the stages in the timelines of a report.
std::vector<StageLook> looks_in(const std::vector<const TimelinePicture*>& pictures);

/// What a row of bars stands for.
enum class Rows { engines, lanes };

/// An engine or a lane with the places of its tasks by start, in several rows if tasks overlap.
struct LaneGroup {
  std::string name;
  std::vector<std::vector<std::size_t>> rows;
};

/// The engines or lanes with tasks; tasks of the issuing thread come last, as "host".
std::vector<LaneGroup> groups(const results::Timeline& tasks, Rows by);

/// Labels of bars: name or chunk of each task, with the array if chunks copy several.
std::vector<std::string> labels(const results::Timeline& timeline);

/// Pixels from the upper left corner.
struct Bar {
  double x = 0, y = 0, width = 0, height = 0;
};
struct Band {
  std::string name;
  double y = 0, height = 0;
};
struct Plot {
  std::vector<Band> bands;
  std::vector<Bar> bars;  ///< of each task
  double height = 0;
};

/// The geometry of a timeline, `pixels_per_s` wide.
Plot plot(const results::Timeline& timeline, Rows by, double pixels_per_s);

/// Caption and note.
std::string caption(const TimelinePicture& picture);

/// The name of a task, or its stage and chunk.
std::string full_label(const results::TaskRecord& task);
/// The rate of a copy; empty: it is none, or took no time.
std::optional<double> gb_per_s(const results::TaskRecord& task);

/// Style of pictures: an SVG file and a page contain it, and what a page saves.
std::string picture_style();

/// All colours as variables for the style of pages, on light and dark ground: "--text", "--h2d".
std::string colour_variables();

/// A timeline as an SVG element without title and caption, with the labels of all bars and the
/// geometry of lanes for the script of pages; empty: nothing to draw.
std::string picture(const TimelinePicture& picture);

/// Escapes one_line() of a text for content and attributes of XML and HTML.
std::string xml(std::string_view text);

}  // namespace overlap::report::drawing
