#pragma once

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/table.hpp"
#include "report/study.hpp"

/// Common parts of HTML pages and of pictures: colours, text, tables, legends, ticks.
namespace overlap::report {

/// Colours of a stage for light and dark backgrounds, each with a text colour. Distinguishable with
/// any colour vision (after Okabe and Ito, "Color universal design", 2008).
struct Ink {
  schedule::Stage stage;
  std::string_view words;
  std::string_view light, on_light;
  std::string_view dark, on_dark;
};
inline constexpr std::array<Ink, 8> inks = {{
    {schedule::Stage::h2d, "copy to the device", "#0072b2", "#fff", "#56b4e9", "#04202f"},
    {schedule::Stage::kernel, "kernel", "#e69f00", "#291c00", "#e8ad2c", "#291c00"},
    {schedule::Stage::d2h, "copy back", "#009e73", "#00150f", "#2bb98f", "#00150f"},
    {schedule::Stage::host, "host work", "#cc79a7", "#2b0f1f", "#d992b8", "#2b0f1f"},
    {schedule::Stage::default_stream, "default stream", "#d55e00", "#1f0d00", "#e8792b", "#1f0d00"},
    {schedule::Stage::query, "query", "#6e6e73", "#fff", "#a1a1a8", "#111"},
    {schedule::Stage::disturbance, "disturbance", "#a3184a", "#fff", "#f0719c", "#2b0010"},
    {schedule::Stage::fence, "fence", "#8c6d31", "#fff", "#c9a95f", "#241a04"},
}};

/// Colours and marker shape of a curve. The first pen is for the baseline.
struct Pen {
  std::string_view light, dark;
  std::string_view mark;  ///< SVG path around (0, 0)
};
inline constexpr std::array<Pen, 7> pens = {{
    {"#6e6e73", "#a1a1a8", "M-3.6-3.6h7.2v7.2h-7.2z"},
    {"#0072b2", "#56b4e9", "M0-4.3A4.3 4.3 0 1 1 0 4.3A4.3 4.3 0 1 1 0-4.3z"},
    {"#d55e00", "#ff8b3d", "M0-5.2L4.9 3.6H-4.9z"},
    {"#009e73", "#2bb98f", "M0-5.4L5.4 0L0 5.4L-5.4 0z"},
    {"#aa4d86", "#d992b8", "M0 5.2L4.9-3.6H-4.9z"},
    {"#a87400", "#e8ad2c", "M-1.5-4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z"},
    {"#3b4cc0", "#9aa7ff",
     "M-3-4.6L0-1.6L3-4.6L4.6-3L1.6 0L4.6 3L3 4.6L0 1.6L-3 4.6L-4.6 3L-1.6 0L-4.6-3z"},
}};

/// Escapes one_line() of a text for content and attributes of XML and HTML.
std::string escape_xml(const std::string& text);

/// JSON as text: safe_lines() whatever its strings hold.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
/// A quoted JSON string.
std::string quote_json(const std::string& text);

/// Estimated width in pixels of text of `size` pixels; the actual font is unknown.
double width_of(std::string_view text, double size = 12);
inline constexpr double bold = 1.1;  ///< how much wider bold letters are

/// Ticks of an axis from `least` to `most`, which make at most `count` steps, at multiples of 1, 2
/// or 5 times a power of ten.
std::vector<double> ticks(double least, double most, int count = 10);

/// A tick label in the unit of the longest time: "0.5 ms".
std::string tick_words(double seconds, double longest_s);

/// A picture, built from top to bottom. Lengths in pixels; classes refer to its style sheet.
struct Svg {
  static constexpr double width = 1200;
  static constexpr double margin = 32;
  std::string text;
  double y = 0;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }

  /// A line of text with its baseline at `base`.
  void words(std::string_view kind, double x, double base, const std::string& words);

  /// The same in at most `room` pixels: the end is cut off, and a tooltip has the whole text.
  /// `size`: of the letters.
  void words_within(double room, std::string_view kind, double x, double base,
                    const std::string& words, double size = 12);

  /// The same from y down, in one line or two, `step` apart; y is that of the last.
  void words_in_two_lines(double room, std::string_view kind, double x, double step,
                          const std::string& words, double size = 12);

  /// A legend: swatches, drawn around (0, 0) and `wide` pixels wide, with labels; lines start at
  /// `edge`.
  void legend(double edge, double wide,
              const std::vector<std::pair<std::string, std::string>>& swatches_and_words);

  /// The complete SVG file.
  std::string finish(const std::string& title) const;
};

/// The page up to its body, with the common style.
std::string page_head(const std::string& title);

/// The start of a section; heading and place are HTML.
std::string page_section(const std::string& heading, const std::string& place);

/// JSON as the script `id` of the page.
std::string page_json(const std::string& id, std::string_view json);

/// Rows as an HTML table; the first row contains the headings.
std::string page_table(const base::Rows& rows);

/// A picture, which scrolls sideways in a narrow window; empty: none.
std::string page_picture(const std::string& svg);

/// Legend of the stage colours.
std::string page_legend(const std::vector<Ink>& used);

}  // namespace overlap::report
