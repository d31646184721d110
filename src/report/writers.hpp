#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/reports.hpp"

/// Writers of result files. Each writer is a function in its own file with a row here, from which
/// its option, --help and the choice by suffix derive.
namespace overlap::report {

/// The result file, schema overlap-result/3; the comparison file.
std::string json(const Results& results);
std::string json(const results::Comparisons& comparisons);

/// A CSV table (RFC 4180, lines end in "\n"): one row per deck, sweep point and order. Values that
/// were not measured are empty. Swept keys are columns; sizes are in bytes.
std::string csv(const Results& results);
/// Files next to each other: one row per deck, column and figure, with all keys that differ.
std::string csv(const results::Columns& columns);

/// JUnit XML, as GitLab and Jenkins read it: one suite per deck, one test per check and one for the
/// data of each point. Class: host and device; name: deck[point]/phase/order/metric. FAIL is a
/// failure, SKIPPED skipped, any other verdict except PASS an error, with the reason as text.
std::string junit(const Results& results);
/// One suite with one test per device, missing host, host with missing devices and broken file.
std::string junit(const results::Fleet& fleet);

/// The report as a self-contained HTML page, with the result file as the script "result".
std::string html(const Results& results);
std::string html(const results::Fleet& fleet);
std::string html(const results::Comparisons& comparisons);
std::string html(const results::Columns& columns);

/// All orders of all decks for Perfetto and chrome://tracing (Trace Event Format): one process per
/// timeline, one track per lane and engine; overlapping tasks use additional tracks. Times are
/// microseconds with nanosecond resolution.
std::string trace(const Results& results);

struct Writer {
  std::string_view option;
  std::string_view suffix;  ///< of file names; empty: any
  std::string_view type;    ///< type of the option value, for --help
  std::string_view help;    ///< help text of the option, in its first row
  bool takes_sweeps;
  // Null: there is no such file.
  std::string (*write)(const Results&);
  std::string (*fleet)(const results::Fleet&) = nullptr;
  std::string (*comparison)(const results::Comparisons&) = nullptr;
  std::string (*columns)(const results::Columns&) = nullptr;

  auto function(const Results&) const { return write; }
  auto function(const results::Fleet&) const { return fleet; }
  auto function(const results::Comparisons&) const { return comparison; }
  auto function(const results::Columns&) const { return columns; }
};

inline constexpr auto writers = std::to_array<Writer>({
    {"--json", "", "FILE",
     "Write the result file; {deck}, {host}, {rank} and {uuid} in names of files are replaced",
     true, json, results::to_json, json},
    {"--csv", "", "FILE", "Write a table: one row per order and point of a sweep", true, csv,
     nullptr, nullptr, csv},
    {"--junit", "", "FILE", "Write the verdicts as JUnit XML: one test per check", true, junit,
     junit},
    {"--timeline", ".svg", "FILE.svg|.html",
     "Draw the timelines, measured above predicted, as a picture (.svg; not of sweeps), or write "
     "the page (.html)",
     false, svg},
    {"--timeline", ".html", "FILE.svg|.html", "", true, html},
    {"--report", "", "FILE.html",
     "Write the HTML page: of these decks, or with --fleet of all ranks", true, html, html, html,
     html},
    {"--trace", "", "FILE", "Write the timelines for Perfetto or chrome://tracing", false, trace},
});

/// The options of the files that a sweep can have: "--json, --csv".
std::string sweep_options();

// Result lines: one record a line, key=value, for scripts.

/// OVERLAP_FOM and OVERLAP_CHECK lines of a result.
std::string result_lines(const results::Result& result);

/// The OVERLAP_RESULT line of several results: the worst verdict.
std::string verdict_line(std::span<const results::Result> results);
std::string verdict_line(results::Verdict verdict, base::ExitCode code, bool ran);

}  // namespace overlap::report
