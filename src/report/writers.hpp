#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/study.hpp"

/// Result files. Each writer is a function of its own file and a row here: the option that asks for
/// it, --help and the choice by suffix follow.
namespace overlap::report {

using Studies = std::vector<Study>;

/// The result file, schema overlap-result/2 (see json.hpp).
std::string json(const Studies& studies);

/// A table for spreadsheets and plots (RFC 4180, lines end in "\n"): a row for each deck, point of
/// a sweep and order. What was not measured is empty. Swept keys are columns, sizes in bytes.
std::string csv(const Studies& studies);

/// JUnit XML, which GitLab and Jenkins show: one suite per deck, one test per check and one for the
/// data of each point. A test's class is the host with its device, its name
/// deck[point]/phase/order/metric. FAIL is a failure, SKIPPED skipped, any other verdict but PASS
/// an error; the reason is the text of the element.
std::string junit(const Studies& studies);

/// Every order of every deck as a picture, measured above predicted. The orders of a deck share one
/// scale of time, so that lengths compare. Engines are rows; a task says what it is when a pointer
/// rests on it. Of a sweep: time (or GB/s where the bytes differ) over the first swept key, a line
/// for each order with its 95 % intervals, bound and predictions; a panel for each combination of
/// the other keys' values. Follows the reader's choice of light or dark.
std::string svg(const Studies& studies);

/// The same as one page, complete in itself: with tables, timelines to zoom and pan, and the result
/// file as the script "result".
std::string html(const Studies& studies);

/// Every order of every deck for Perfetto and chrome://tracing (the Trace Event Format): one
/// process per timeline, measured and predicted, with a track for each lane and each engine. Slices
/// of a track never overlap: tasks that do go to further tracks. Arrows lead from lane to lane,
/// from tasks to those that come after them. Times are microseconds with whole nanoseconds.
std::string trace(const Studies& studies);

struct Writer {
  std::string_view option;
  std::string_view suffix;  ///< of file names; empty: any
  std::string_view type;    ///< of the option's value, as --help shows it
  std::string_view help;    ///< of the option: in its first row
  bool takes_sweeps;
  std::string (*write)(const Studies&);
};

inline constexpr auto writers = std::to_array<Writer>({
    {"--json", "", "FILE", "Write the result file", true, json},
    {"--csv", "", "FILE", "Write a table: one row per order and point of a sweep", true, csv},
    {"--junit", "", "FILE", "Write the verdicts as JUnit XML: one test per check", true, junit},
    {"--timeline", ".svg", "FILE.svg|.html",
     "Draw the timelines, measured above predicted, or the times of a sweep: a picture (.svg) or "
     "an "
     "interactive page (.html); repeatable",
     true, svg},
    {"--timeline", ".html", "FILE.svg|.html", "", true, html},
    {"--trace", "", "FILE", "Write the timelines for Perfetto or chrome://tracing", false, trace},
});

}  // namespace overlap::report
