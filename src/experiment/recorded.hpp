#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/reference.hpp"
#include "experiment/run.hpp"

/// Results of earlier runs, as far as comparing them needs.
namespace overlap::experiment {

/// Dotted keys with their values in words.
using KeyWords = std::map<std::string, std::string>;

/// One point of a sweep, or one phase of a fleet; a deck without either is one point.
struct RecordedPoint {
  std::string words;  ///< "chunks.count 4", "together"; empty: no sweep, alone
  deck::Phase phase = deck::Phase::alone;
  /// With everything that metrics are made from. Without a trace, one copy stands for all tasks of
  /// a schedule.
  std::vector<Run> runs;
  DeviceSamples device = {};  ///< empty: not measured
};

/// The result of one deck.
struct Recorded {
  std::string file;  ///< that it comes from
  Subject machine;   ///< and the deck's identity
  std::string unit;  ///< which of the devices of this kind: UUID, or the host's name
  std::string title;
  std::string deck_path;
  std::string driver;   ///< empty: unknown
  std::string started;  ///< UTC
  std::string version;  ///< of the program
  KeyWords provenance;  ///< program, host and device
  KeyWords deck;        ///< all keys that change what runs
  std::vector<deck::Criterion> acceptance;
  std::vector<RecordedPoint> points;
  std::string error;  ///< why there are no points; empty: there are
};

}  // namespace overlap::experiment
