#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "deck/words.hpp"

/// References: what healthy devices reach, and where that is known from.
namespace overlap::experiment {

/// What a value of a reference is about.
struct Subject {
  std::string device;               ///< its name; on host back ends the processor's
  std::optional<std::string> link;  ///< "gen5 x16"; empty: a host back end, or unknown
  std::string backend;
  std::string deck;  ///< its identity
  deck::Phase phase = deck::Phase::alone;
  std::optional<deck::Order> order = {};  ///< empty: a metric of the device
  deck::Metric metric = deck::Metric::time;

  bool operator==(const Subject&) const = default;
};

/// A value, in the metric's unit, with how it was found.
struct Entry {
  Subject subject;
  std::string deck_name;
  double value = 0;
  double tolerance = 0;  ///< part of the value
  int devices = 1;       ///< of which it is the median
  double mad = 0;        ///< their median absolute deviation
  std::string driver;    ///< empty: unknown
  std::string date;      ///< of the newest of their runs, "2026-01-31"
  std::string version;   ///< of the program that ran
};

struct Reference {
  std::string path;
  std::vector<Entry> entries;  ///< at most one for each subject
};

/// What the criteria of a deck are compared with.
struct References {
  Subject machine;                              ///< device, link and back end
  std::map<std::string, Reference> files = {};  ///< by the word that criteria have for them
};

/// Device, link and back end of a machine.
Subject subject_of(const base::Machine& machine);

/// "gen5 x16"; empty where it is unknown.
std::optional<std::string> link_words(std::optional<int> generation, std::optional<int> width);

/// Reads a reference file. Throws base::Error{usage}, one line that says what was found where and
/// what is allowed.
Reference load_reference(const std::string& path);

/// The files that criteria name, each read once; `given` is that of --reference, empty: none.
/// Throws what load_reference() throws.
std::map<std::string, Reference> load_references(const deck::Deck& deck, const std::string& given);

/// A reference file that load_reference() reads back: values with seven significant digits.
/// `how` tells where it comes from; it may have several lines.
std::string to_yaml(const Reference& reference, const std::string& how);

/// The entry of a subject; null: there is none.
const Entry* find(const Reference& reference, const Subject& subject);

/// Why there is none: what was searched for, and how the nearest entry differs.
std::string missing_words(const Reference& reference, const Subject& subject);

}  // namespace overlap::experiment
