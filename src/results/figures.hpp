#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/metrics.hpp"
#include "results/reference.hpp"

/// The table of figures: all metrics of runs and devices, which commands join, pivot and rank.
namespace overlap::results {

/// Where figures come from: a deck on a device; on host back ends the processor is the device.
struct Origin {
  std::string file;
  Subject subject;  ///< device name, link, back end and deck identity
  std::string host;
  std::string unit;     ///< UUID; without one the PCI address, "rank3", or the host name
  bool unique = false;  ///< `unit` is a UUID, unique among all hosts
  std::string slot;     ///< PCI address, or the rank; empty: unknown
  std::string driver;   ///< empty: unknown
  std::string deck_name;
  std::string started;  ///< UTC

  /// Identifies the device among those of all hosts.
  std::string device() const { return unique ? unit : host + "\n" + unit; }
};
Origin origin(const Result& result);

/// Identifies a figure of an origin at a point.
struct FigureKey {
  deck::Phase phase = deck::Phase::alone;
  std::optional<deck::Order> order;  ///< empty: a metric of the device
  deck::Metric metric = deck::Metric::time;

  auto operator<=>(const FigureKey&) const = default;
};

/// "throughput of by_engine", "h2d_rate"; with the phase: "h2d_rate, alone".
std::string name(const FigureKey& key);
std::string name_with_phase(const FigureKey& key);

/// A figure of a machine, as references have it.
Subject subject_of(Subject machine, const FigureKey& key);

/// The figures of a result: a row for each metric of a run that was measured, and of the device at
/// each point with such runs. The result must outlive it.
struct Figures {
  struct Row {
    const Point* point = nullptr;
    const Run* run = nullptr;  ///< null: a metric of the device
    FigureKey key;
    bool judged = false;                 ///< whether criteria can be about it
    std::optional<base::Summary> value;  ///< empty: not available

    std::string run_name() const { return run == nullptr ? "-" : name(*run); }
  };

  explicit Figures(const Result& result);

  /// The values behind a row, one per repetition; empty for metrics over all repetitions.
  std::vector<double> samples(const Row& row) const;
  /// Why no limit can be applied; empty: it can.
  std::string unjudgeable(const Row& row) const;

  const Result& result;
  std::vector<Row> rows;  ///< by point: of the device, then of each run, in the order of metrics
};

/// The figures of several results as columns of one table: the rows of equal point, run and metric
/// next to each other. Points are equal if they agree in all swept keys, whether a sweep or a deck
/// of its own made them. The results, of which some may be null, must outlive it.
struct Pivot {
  using Line = std::vector<const Figures::Row*>;  ///< one per column; null: it lacks the row

  explicit Pivot(const std::vector<const Result*>& results);
  Pivot(const Pivot&) = delete;
  Pivot& operator=(const Pivot&) = delete;

  /// The values behind a row, as Figures::samples(); empty: the column lacks the row.
  std::vector<double> samples(const Line& line, std::size_t column) const;
  /// Values of one column / values of another; 1 if they are the same. Empty: base::ratio() is.
  std::optional<base::Estimate> ratio(const Line& line, std::size_t of, std::size_t to) const;

  std::vector<std::optional<Figures>> tables;  ///< one per column
  std::set<std::string> swept;                 ///< keys
  std::vector<Line> lines;                     ///< by point, then by run, then by metric
};

/// The value of a row for display, see shown_efficiency().
std::optional<base::Summary> shown(const Figures::Row& row);
/// The first row of a line.
const Figures::Row& first_of(const Pivot::Line& line);
/// The point of a line, as a sweep names it; empty: no column swept.
std::string point_name(const Pivot::Line& line);

/// Files next to each other, for porting studies: nothing is judged.
struct Columns {
  std::vector<std::vector<Result>> files;  ///< their results, one file or folder per column
  std::size_t to = 1;                      ///< number of the column that ratios refer to, from 1
};

/// What results of one deck on different machines have in common.
struct DeckTitle {
  std::string title;
  std::string workload;  ///< "increment: elements 65536, type float32", without swept keys

  auto operator<=>(const DeckTitle&) const = default;
};

/// The results of each deck, one per column; null: none. Throws base::Error{runtime_error} if a
/// column has two of one deck.
std::map<DeckTitle, std::vector<const Result*>> by_deck(const Columns& columns);

/// Dotted keys with their values as text.
using Keys = std::map<std::string, std::string>;

/// A key with one value per column; "-": missing.
struct Setting {
  std::string key;
  std::vector<std::string> values;
};

/// The keys in which columns differ; a column without keys is left out.
std::vector<Setting> differences(const std::vector<Keys>& columns);

/// The value of a key; "-": none.
const std::string& text_at(const Keys& keys, const std::string& key);
/// Program, host and device, without what may differ between two runs on one machine.
Keys machine_keys(const Result& result);
/// All keys of the deck that affect execution, without those of a sweep.
Keys deck_keys(const Result& result);
/// The same at a point of a sweep.
Keys deck_keys(const Result& result, const Point& point);

}  // namespace overlap::results
