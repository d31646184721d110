#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment/recorded.hpp"

/// Results of several machines, back ends or builds next to each other: the view of a porting
/// study. Nothing is judged.
namespace overlap::experiment {

/// The results of one file, or of one folder with a file for each deck.
struct Column {
  std::string title;  ///< what tells it from the others; unique
  std::string file;
  std::string device;  ///< its name; on host back ends the processor's
  std::string backend;
  std::string mechanism;  ///< of all its decks
  std::string kokkos_version;
  std::string compiler;
  std::string host;
};

/// What a column has of one order.
struct Figures {
  Run run;  ///< with its timeline, where the file has it
  base::Summary time;
  std::optional<base::Summary> speedup, overlap_efficiency, bound_fraction;
  std::optional<base::Estimate> ratio;  ///< its time / that of the chosen column
};

/// One order at one point in all columns.
struct Match {
  std::string point;                            ///< of a sweep, or a phase; else empty
  std::string order;                            ///< with what runs beside it
  std::vector<std::optional<Figures>> figures;  ///< one per column; empty: it is not there
};

/// A key of the deck with a value per column; "-": it is not there.
struct Setting {
  std::string key;
  std::vector<std::string> values;
};

/// A deck that columns share: the same title and workload, whatever else differs.
struct SharedDeck {
  std::string title;
  KeyWords workload;
  std::vector<Setting> differences;  ///< of the keys that change what runs
  std::vector<std::string> errors;   ///< one per column: why the deck did not run; empty: it did
  std::vector<Match> matches;
};

struct SideBySide {
  std::vector<Column> columns;
  std::size_t to = 0;  ///< the column that ratios refer to
  std::vector<SharedDeck> decks;
};

/// `files` has the results of each column. `to` is the number of a column, from 1, or its title.
/// Throws base::Error{usage} where there is no such column, and base::Error{runtime_error} where a
/// column has no result or two of one deck.
SideBySide side_by_side(const std::vector<std::vector<Recorded>>& files, const std::string& to);

}  // namespace overlap::experiment
