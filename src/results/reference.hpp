#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "deck/words.hpp"
#include "results/result.hpp"

/// References: values of healthy devices, with their origin.
namespace overlap::results {

/// Identifies a value of a reference: a figure of a deck on a kind of device.
struct Subject {
  std::string device;               ///< its name; on host back ends that of the processor
  std::optional<std::string> link;  ///< "gen5 x16"; empty: host back end, or unknown
  std::string backend;
  std::string deck;  ///< see deck::identity()
  FigureKey key = {};

  auto operator<=>(const Subject&) const = default;
};

/// A reference value in the unit of the metric, with its origin.
struct Entry {
  Subject subject;
  std::string deck_name;
  double value = 0;
  double tolerance = 0;  ///< relative
  int devices = 1;       ///< number of devices in the median
  double mad = 0;        ///< median absolute deviation of the devices
  std::string driver;    ///< empty: unknown
  std::string date;      ///< of the newest run, "2026-01-31"
  std::string version;   ///< of the program
};

struct Reference {
  std::string path;
  std::vector<Entry> entries;  ///< at most one per subject
};

/// References for the criteria of a deck.
struct References {
  Subject subject;                              ///< of the runs, with their phase
  std::map<std::string, Reference> files = {};  ///< by the name that criteria use
  std::string deck_name = {};
};

void describe(describe::Visitor& v, Subject& subject);
void describe(describe::Visitor& v, Entry& entry);

/// Device, link and back end of a machine.
Subject subject_of(const base::Machine& machine);

/// Reads a reference file. Throws base::Error{usage} with place, found and allowed values in one
/// line.
Reference load_reference(const std::string& path);

/// Reads the files that criteria name, each once. `given`: the file of --reference; empty: none.
/// Throws as load_reference().
std::map<std::string, Reference> load_references(const deck::Deck& deck, const std::string& given);

/// A reference file that load_reference() reads back, with seven significant digits. `heading`:
/// one or more lines.
std::string to_yaml(const Reference& reference, const std::string& heading);

/// Sets the limit of a check from the entry of its figure on this machine: worse than the entry by
/// the part `below`, or else by its own tolerance. Without an entry there is no limit: the reason
/// names both decks, if it has none of this deck, or else the subject, and how the nearest entry
/// differs.
void limit_by(const Reference& reference, Subject machine, const std::string& deck_name,
              std::optional<double> below, Check& check);

/// Relative tolerance of a reference that covers the spread of `n` devices: three standard
/// deviations of a normal distribution with this median absolute deviation, at least 1 %, and at
/// least 5 % below 8 devices.
double tolerance_of(double median, double mad, std::size_t n);

struct Baseline {
  std::vector<Entry> entries;
  /// Medians that are not above 0, which have no relative tolerance, and ratios without a unit
  /// that differ by more than 25 %.
  std::vector<Entry> left_out;
  std::vector<Entry> widened;  ///< those of `entries` with a tolerance raised until all pass
};

/// One entry per metric and order: the median over all devices of the same kind, link, back end and
/// deck; several results of one device count as their median, but their spread like that between
/// devices. `below` replaces the tolerance, which is at least what lets all results pass. Contains
/// the metrics that criteria can judge, except drift and those of health. Throws
/// base::Error{inconclusive} for results that do not agree, that is, need a tolerance above 25 %
/// and `below`, or lie farther from the median; base::Error{runtime_error} for sweeps, which have
/// more than one deck, for results that did not pass and lack more than a reference, and for
/// results without a figure.
Baseline baseline(const std::vector<Result>& results, std::optional<double> below);

}  // namespace overlap::results
