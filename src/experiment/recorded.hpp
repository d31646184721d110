#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/reference.hpp"
#include "experiment/run.hpp"

/// Results of earlier runs, reduced to what comparisons need.
namespace overlap::experiment {

/// Dotted keys with their values as text.
using KeyWords = std::map<std::string, std::string>;

/// The value of a key; "-": none.
inline std::string word_of(const KeyWords& keys, const std::string& key) {
  const auto found = keys.find(key);
  return found == keys.end() ? "-" : found->second;
}

/// The device that a result comes from; on host back ends the processor.
struct Origin {
  std::string file;
  Subject machine;  ///< device name, link, back end and deck identity
  std::string host;
  std::string unit;     ///< UUID; without one the PCI address, "rank3", or the host name
  bool unique = false;  ///< `unit` is a UUID, unique among all hosts
  std::string slot;     ///< PCI address, or the rank; empty: unknown
  std::string driver;   ///< empty: unknown
  std::string started;  ///< UTC

  /// Identifies the device among those of all hosts.
  std::string device() const { return unique ? unit : host + "\n" + unit; }
};

/// One point of a sweep, or one phase of a fleet; otherwise the whole deck.
struct RecordedPoint {
  std::string words;     ///< "chunks.count 4", "together"; empty: no sweep, alone
  KeyWords values = {};  ///< of swept keys
  deck::Phase phase = deck::Phase::alone;
  /// With all inputs of the metrics. Without a trace, one copy represents all tasks of a schedule.
  std::vector<Run> runs;
  DeviceSamples device = {};  ///< empty: not measured
};

/// The result of one deck.
struct Recorded : Origin {
  std::string title;
  std::string deck_path;
  std::string version;  ///< of the program
  KeyWords provenance;  ///< program, host and device
  KeyWords deck;        ///< all keys that affect execution
  std::vector<deck::Criterion> acceptance;
  std::vector<RecordedPoint> points;
  base::ExitCode code = base::ExitCode::pass;
  bool healthy = true;  ///< it passed, or only lacks a reference
  std::string error;    ///< why there are none, or fewer points than in the deck; else empty
};

}  // namespace overlap::experiment
