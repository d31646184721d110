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

/// Several tables as columns of one: the rows of equal point, run and metric next to each other.
/// Points are equal if they agree in all swept keys, whether a sweep or a deck of its own made
/// them. The tables, of which some may be null, must outlive it.
struct Pivot {
  using Line = std::vector<const Figures::Row*>;  ///< one per table; null: it lacks the row

  explicit Pivot(const std::vector<const Figures*>& tables);

  std::set<std::string> swept;  ///< keys
  std::vector<Line> lines;      ///< by point, then by run, then by metric
};

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
