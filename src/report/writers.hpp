#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/study.hpp"

/// Writers of result files. Each writer is a function in its own file with a row here, from which
/// its option, --help and the choice by suffix derive.
namespace overlap::report {

using Studies = std::vector<Study>;

/// The result file, schema overlap-result/2 (see json.hpp).
std::string json(const Studies& studies);

/// A CSV table (RFC 4180, lines end in "\n"): one row per deck, sweep point and order. Values that
/// were not measured are empty. Swept keys are columns; sizes are in bytes.
std::string csv(const Studies& studies);

/// JUnit XML, as GitLab and Jenkins read it: one suite per deck, one test per check and one for the
/// data of each point. Class: host and device; name: deck[point]/phase/order/metric. FAIL is a
/// failure, SKIPPED skipped, any other verdict except PASS an error, with the reason as text.
std::string junit(const Studies& studies);

/// All orders of all decks as SVG, measured above predicted, with engines as rows, tooltips, and a
/// common time scale per deck. Sweeps: time (or GB/s if bytes differ) over the first swept key, one
/// curve per order with 95 % intervals, bound and predictions, one panel per combination of the
/// other keys. Light or dark as the reader prefers.
std::string svg(const Studies& studies);

/// The same as a self-contained HTML page, with tables, zoomable timelines, and the result file as
/// the script "result".
std::string html(const Studies& studies);

/// All orders of all decks for Perfetto and chrome://tracing (Trace Event Format): one process per
/// timeline, one track per lane and engine; overlapping tasks use additional tracks. Arrows connect
/// dependent tasks of different lanes. Times are microseconds with nanosecond resolution.
std::string trace(const Studies& studies);

struct Writer {
  std::string_view option;
  std::string_view suffix;  ///< of file names; empty: any
  std::string_view type;    ///< type of the option value, for --help
  std::string_view help;    ///< help text of the option, in its first row
  bool takes_sweeps;
  std::string (*write)(const Studies&);
};

inline constexpr auto writers = std::to_array<Writer>({
    {"--json", "", "FILE",
     "Write the result file; {deck}, {host}, {rank} and {uuid} in names of files are replaced",
     true, json},
    {"--csv", "", "FILE", "Write a table: one row per order and point of a sweep", true, csv},
    {"--junit", "", "FILE", "Write the verdicts as JUnit XML: one test per check", true, junit},
    {"--timeline", ".svg", "FILE.svg|.html",
     "Draw the timelines, measured above predicted, or the times of a sweep: a picture (.svg) or "
     "an interactive page (.html); repeatable",
     true, svg},
    {"--timeline", ".html", "FILE.svg|.html", "", true, html},
    {"--report", "", "FILE.html",
     "Write the HTML page: of these decks, or with --fleet of all ranks", true, html},
    {"--trace", "", "FILE", "Write the timelines for Perfetto or chrome://tracing", false, trace},
});

/// The options of the files that a sweep can have: "--json, --csv".
std::string sweep_options();

}  // namespace overlap::report
