#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/statistics.hpp"
#include "results/result.hpp"

/// A report as data: blocks, which one renderer per medium shows (terminal, page).
namespace overlap::report {

/// What a text says about the machine, for colour.
enum class Tone { plain, good, bad, doubtful, muted };

/// How a word for an outcome looks, such as a verdict.
Tone tone_of(std::string_view outcome);

struct Cell {
  std::string text;  ///< one line
  Tone tone = Tone::plain;

  Cell() = default;
  Cell(std::string content, Tone look = Tone::plain) : text(std::move(content)), tone(look) {}
  Cell(std::string_view content) : text(content) {}
  Cell(const char* content) : text(content) {}
  Cell(std::integral auto number) : text(std::to_string(number)) {}
  Cell(results::Verdict verdict)
      : text(describe::to_string(verdict)), tone(report::tone_of(text)) {}
};

/// A value as text; "-": there is none.
template <class T>
std::string text_if(const std::optional<T>& value, const auto& format) {
  return value ? std::string(std::invoke(format, *value)) : "-";
}
using Format = std::string (*)(double);
std::string median(const std::optional<base::Summary>& summary, Format format);
std::string interval(const std::optional<base::Summary>& summary, Format format);

struct Column {
  std::string heading;
  int drop = 0;  ///< too wide: the columns with the highest number go first, which explain nothing;
                 ///< 0: never

  Column(std::string title, int number = 0) : heading(std::move(title)), drop(number) {}
  Column(const char* title, int number = 0) : heading(title), drop(number) {}
};

struct Table {
  std::string title;            ///< a line above; empty: none
  std::vector<Column> columns;  ///< without a heading anywhere: a list of names and values
  std::vector<std::vector<Cell>> rows;
  /// Rows for the terminal, which says how many there are beyond; a page has all of them, with
  /// filter and sorting by column if there are more than fit on a screen.
  std::size_t most_rows = SIZE_MAX;

  /// Whether it is a list of names and values.
  bool is_list() const;
  /// Whether most cells of a column that say something are numbers: aligned right.
  bool is_number(std::size_t column) const;
};

/// Lines of text, paragraphs on a page.
struct Text {
  std::vector<std::string> lines;
  Tone tone = Tone::plain;
};

struct Heading {
  std::string text;
  int level = 2;  ///< 1: of the report; 2: a deck or phase; 3: an order
};

/// A picture of a timeline.
struct TimelinePicture {
  std::string title;    ///< "depth_first"
  std::string caption;  ///< source of the times, doubts
  std::string note;     ///< more of it on pages and in files; a terminal has it in tables
  results::Timeline timeline;
  double axis_s = 0;  ///< end of the time axis, which all pictures of a report share
  std::optional<double> median_s, bound_s;  ///< marks
};

/// Lines, or marks over categories. Values of an axis whose name is "s" or ends with ", s" are
/// shown as times, in ms and so on.
struct Chart {
  struct Axis {
    std::string name;  ///< with its unit
    bool log = false;
    std::vector<double> includes = {};    ///< values that it spans at least: one scale for panels
    std::vector<std::string> categories;  ///< empty: numbers
    std::vector<std::pair<double, std::string>> ticks = {};  ///< empty: round numbers
  };
  struct Point {
    double x = 0;  ///< a number, or the place of a category
    double y = 0;
    std::optional<double> lo, hi;  ///< of the interval
    std::string label;             ///< shown beside the cursor
    std::string name = {};         ///< shown next to it; empty: none
  };
  struct Series {
    std::string name;
    std::vector<Point> points;
    bool muted = false;  ///< a baseline or bound: drawn as a line without marks
    bool joined = true;  ///< by lines; else dots alone
  };
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

struct VerdictLine {
  results::Verdict verdict = results::Verdict::pass;
  std::string subject;               ///< "verdict", "verdict of rowsum.yaml"
  std::vector<std::string> reasons;  ///< one line each
};

/// Where a block is shown.
enum class Detail {
  always,   ///< terminal and page
  verbose,  ///< page, folded; on the terminal with --verbose
  page,     ///< page alone
};

struct Block {
  std::variant<Heading, Text, Table, TimelinePicture, Chart, VerdictLine> content;
  Detail detail = Detail::always;
};

using Blocks = std::vector<Block>;

/// A line of text.
void add(Blocks& blocks, std::string line, Detail detail = Detail::always);
/// A table without the columns that have nothing but "-"; nothing without rows.
void add(Blocks& blocks, Table table, Detail detail = Detail::always);

struct Report {
  std::string title;
  std::string data;  ///< JSON that a page carries for other programs; empty: none
  Blocks blocks;
  std::optional<results::Verdict> verdict = {};  ///< in the title of a page; empty: none
};

/// What a terminal can show.
struct Screen {
  int width = 80;      ///< columns; tables drop columns, timelines scale
  bool narrow = true;  ///< false: tables are as wide as they are, in a pipe or file
  bool colour = false;
  bool verbose = false;
};

/// The report as text for a terminal or a file.
std::string terminal(const Report& report, const Screen& screen);

/// The report as a page of HTML: complete in one file, light, dark and printed.
std::string page(const Report& report);

/// The timelines among some blocks.
std::vector<const TimelinePicture*> pictures_of(const Blocks& blocks);

/// Timelines below each other as an SVG file.
std::string svg(const std::string& title, const Blocks& blocks);

}  // namespace overlap::report
