#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/figures.hpp"

/// Results of several machines, back ends or builds side by side, for porting studies. Nothing is
/// judged.
namespace overlap::results {

/// The results of one file, or of one folder with one file per deck.
struct Column {
  std::string title;   ///< distinguishes the columns; unique
  std::string device;  ///< its name; on host back ends that of the processor
  std::string backend;
  std::string mechanism;  ///< of all its decks
  std::string kokkos_version;
  std::string compiler;
  std::string host;
  std::string file;
};

/// A field of columns, and how titles and tables show it.
struct ColumnField {
  using Text = std::string Column::*;  // nvcc writes it with parentheses, of which g++ warns

  Text text;
  const char* key;
  const char* help;
  const char* heading;
  bool in_titles = false;   ///< whenever columns differ in it
  const char* before = "";  ///< in titles
  int drop = 0;             ///< from tables, see report::Column
};
inline constexpr auto column_fields = std::to_array<ColumnField>({
    {&Column::title, "title", "What distinguishes the column from the others.", "title"},
    {&Column::device, "device", "Device; on host back ends the processor.", "device", true},
    {&Column::backend, "backend", "Default execution space.", "back end", true},
    {&Column::mechanism, "mechanism", "How tasks are issued, for all its decks.", "mechanism",
     true},
    {&Column::kokkos_version, "kokkos_version", "Version of Kokkos.", "Kokkos", false, "Kokkos "},
    {&Column::compiler, "compiler", "Compiler and its version.", "compiler", false, "", 1},
    {&Column::host, "host", "Host name.", "host", false, "", 3},
    {&Column::file, "file", "Result file.", "file", false, "", 2},
});

/// Results of one order in one column.
struct Matched {
  base::Summary time_s;
  std::optional<double> speedup, overlap_efficiency, bound_fraction;  ///< medians
  std::optional<double> bound_s;
  std::optional<base::Estimate> ratio = {};  ///< time / time of column `to`
  std::optional<Trace> trace;                ///< of the timeline
  std::optional<Timeline> timeline;
};

/// One order at one point in all columns.
struct Match {
  std::string point;                            ///< of a sweep, or a phase; else empty
  std::string order;                            ///< with disturbance or host work
  std::vector<std::optional<Matched>> columns;  ///< one per column; empty: missing
};

/// A deck with the same title and workload in several columns.
struct SharedDeck {
  std::string title;
  std::map<std::string, std::string> workload;
  std::vector<Setting> differences;  ///< among the keys that affect execution
  std::vector<std::string> errors;   ///< one per column: why the deck did not run; empty: it ran
  std::vector<Match> matches;
};

struct SideBySide {
  std::vector<Column> columns;
  std::size_t to = 1;  ///< number of the reference column of the ratios, from 1
  std::vector<SharedDeck> decks;
};

void describe(describe::Visitor& v, SideBySide& all);

/// `files`: the results of each column, at least one. `to`: number of the reference column, from 1,
/// or its title. Throws base::Error{usage} if there is no such column, and
/// base::Error{runtime_error} if a column has two results of one deck.
SideBySide side_by_side(const std::vector<std::vector<Result>>& files, const std::string& to);

}  // namespace overlap::results
