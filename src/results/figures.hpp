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

/// Identifies a device among those of all hosts.
struct DeviceId {
  std::string host;  ///< empty: `unit` is unique
  std::string unit;

  auto operator<=>(const DeviceId&) const = default;
};

/// Where figures come from: a deck on a device; on host back ends the processor is the device.
struct Origin {
  std::string file;
  Subject subject;  ///< without a key
  std::string host;
  std::string unit;     ///< UUID; without one the PCI address, "rank3", or the host name
  bool unique = false;  ///< `unit` is a UUID, unique among all hosts
  std::string slot;     ///< PCI address, or the rank; empty: unknown
  std::string driver;   ///< empty: unknown
  std::string deck_name;
  std::string started;  ///< UTC

  DeviceId device() const { return {unique ? "" : host, unit}; }
};
Origin origin(const Result& result);

/// A figure of a result, which must outlive it.
struct Figure {
  const Point* point = nullptr;
  const Run* run = nullptr;  ///< null: a metric of the device
  FigureKey key;
  bool judged = false;                 ///< whether criteria can be about it
  std::optional<base::Summary> value;  ///< empty: not available

  std::string run_name() const { return run == nullptr ? "-" : name(*run); }
};

/// A figure for each metric of a run that was measured, and of the device at each point with such
/// runs; by point: of the device, then of each run, in the order of metrics.
std::vector<Figure> figures_of(const Result& result);

/// The values behind a figure, one per repetition; empty for metrics over all repetitions.
std::vector<double> samples(const Figure& figure);
/// Why no limit can be applied; empty: it can.
std::string unjudgeable(const Figure& figure);
/// The value for display, see shown_efficiency().
std::optional<base::Summary> shown(const Figure& figure);

/// The figures of several results as columns of one table: those of equal point, run and metric
/// next to each other. Points are equal if they agree in all swept keys, whether a sweep or a deck
/// of its own made them. The results, of which some may be null, must outlive it.
struct Pivot {
  using Line = std::vector<const Figure*>;  ///< one per column; null: it lacks the figure

  explicit Pivot(const std::vector<const Result*>& results);
  Pivot(const Pivot&) = delete;
  Pivot& operator=(const Pivot&) = delete;

  std::vector<std::vector<Figure>> columns;
  std::set<std::string> swept;  ///< keys
  std::vector<Line> lines;      ///< by point, then by run, then by metric
};

/// The first figure of a line.
const Figure& first_of(const Pivot::Line& line);
/// The point of a line, as a sweep names it; empty: no column swept.
std::string point_name(const Pivot::Line& line);
/// Values of one column / values of another; 1 if they are the same. Empty: base::ratio() is.
std::optional<base::Estimate> ratio(const Pivot::Line& line, std::size_t of, std::size_t to);

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
