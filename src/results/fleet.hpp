#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "results/figures.hpp"

/// The results of many devices as one outcome: what a fleet file holds, and how it is made.
namespace overlap::results {

struct DeviceFigure {
  FigureKey key;
  base::Summary value;
};

/// A reason for a verdict other than PASS.
struct Reason {
  base::ExitCode code = base::ExitCode::performance;
  std::string text;
  std::optional<deck::Phase> phase = {};  ///< empty: every phase
  std::string figure = {};  ///< "throughput of by_engine, alone"; empty: not about one

  bool operator==(const Reason&) const = default;
};

/// A result among several of one device.
struct DeviceResult {
  std::string file, started;
  base::ExitCode code = base::ExitCode::pass;
};

/// The retained part of the result of one device with one deck. Of several results the worst
/// counts: the device has the reasons of all, and of each figure the worst value.
struct FleetDevice : Origin {
  std::string build;                  ///< version and commit of the program
  std::vector<Reason> reasons;        ///< none: PASS
  std::vector<DeviceFigure> figures;  ///< sorted by key
  std::vector<DeviceResult> results;  ///< by file; empty: there is one

  // What merging needs; not in files.
  std::string boot_id;      ///< of its host; empty: unknown
  base::Job job;            ///< empty: started without a launcher
  int local_ranks = 0;      ///< of its host, as announced; 0: not
  double cores = 0;         ///< of the host that is the device, which it could use; 0: GPUs
  std::string criteria;     ///< hash of the acceptance criteria of the deck
  bool referenced = false;  ///< whether a reference judges it, or should
};

/// A device from its result. Whatever ended it early becomes a reason. `reference` judges its
/// figures, in addition to the verdict of its run, and decides checks that the run left undecided:
/// the figures with a referenced criterion in the deck, or, if the deck has none, all compared
/// figures. A criterion with a reference but without an entry is inconclusive, as is a device
/// without such criteria and without any entry. Null: no reference.
FleetDevice device_of(const Result& result, const Reference* reference = nullptr);

/// The figure with this key; null: none.
const DeviceFigure* find(const FleetDevice& device, const FigureKey& key);

/// The phases in which a device took part, at least one.
std::set<deck::Phase> phases_of(const FleetDevice& device);

/// The worst exit code of the reasons of a device, in all phases or in one.
base::ExitCode exit_code_of(const FleetDevice& device, std::optional<deck::Phase> phase = {});

/// A file that is not a result; `text` names the file, the reason and, if known, the host.
struct BrokenFile {
  std::string file, text;
};

/// A host that must have results.
struct ExpectedHost {
  std::string name;
  int devices = 1;  ///< the least number of devices with a result
};

/// Devices of a host, or of a launch on an unknown one, that have no result.
struct MissingDevices {
  std::string host;    ///< empty: unknown
  std::string launch;  ///< of an unknown host
  std::int64_t missing = 0, expected = 0;
  /// Ranks of the launch without a result, at most `most_ranks`, these among them; empty: unknown.
  std::vector<int> ranks = {};

  bool whole_host() const { return !host.empty() && missing == expected; }
  bool operator==(const MissingDevices&) const = default;
};

inline constexpr std::size_t most_ranks = 64;

/// "n2: 1 of 8 devices without a result: rank 3".
std::string text_of(const MissingDevices& missing);

/// A device relative to its group.
struct Standing {
  std::size_t device = 0;  ///< index into Fleet::devices
  std::string host, unit;
  double value = 0;   ///< median of its samples
  double off = 0;     ///< value / median of the group - 1
  double score = 0;   ///< 0.6745 * (value - median) / MAD; infinite if the MAD is 0
  bool slow = false;  ///< on the worse side of the median
};

/// One figure over all devices of a group.
struct Distribution {
  FigureKey key;
  int devices = 0;
  double median = 0, mad = 0, min = 0, max = 0;
  std::vector<Standing> slowest;  ///< worst first, at most `most_slowest`; only of compared figures
  std::vector<Standing> outliers;  ///< slow ones first; each kind farthest first
};

inline constexpr std::size_t most_slowest = 10;
inline constexpr std::size_t least_for_outliers = 8;
inline constexpr double outlier_score = 3.5;
inline constexpr double outlier_part = 0.02;
/// The limit for fewer devices: one that is so much slower than the median of three or more is an
/// outlier; the slowest and the fastest are inconclusive if they differ by more and no other is an
/// outlier. So a healthy result that is missing never hides a slow one.
inline constexpr double coarse_part = 0.25;

/// Whether it holds for a figure: together, two GPUs behind one switch are rightly slower.
inline bool is_coarse(const FigureKey& key, int devices) {
  return key.phase == deck::Phase::alone && devices < static_cast<int>(least_for_outliers);
}

/// Median, MAD, extremes, ranking, and outliers: modified z-score beyond 3.5 (Iglewicz and Hoaglin,
/// How to Detect and Handle Outliers, 1993) and more than 2 % off, or else the coarse limit. Of
/// `devices` the values count.
Distribution distribution_of(const FigureKey& key, std::vector<Standing> devices);

/// Total throughput of the devices of one node, GB/s.
struct NodeTotal {
  std::string host;
  deck::Order order = deck::Order::sequential;
  int devices = 0;
  double alone = 0;             ///< sum of their throughputs alone
  double together = 0;          ///< sum of their throughputs together
  std::optional<double> bound;  ///< sum of their duplex rates together; empty: not measured
};

/// Devices of the same kind, link, back end, deck and program build; hosts also of as many cores.
struct Group {
  Subject machine;
  std::string deck_name;
  std::string build;
  double cores = 0;                  ///< of each host; 0: GPUs
  std::vector<std::size_t> devices;  ///< indices into Fleet::devices
  std::vector<Distribution> distributions;
  std::vector<NodeTotal> nodes;  ///< nodes with figures of both phases
  std::string not_judged;        ///< what comparing so few devices does not show; empty: nothing
};

/// A fleet file. Until fleet_of() there are the devices of all files, in any order, and what became
/// of the other files.
struct Fleet {
  std::size_t files = 0;
  std::vector<FleetDevice> devices;  ///< one per device and deck, sorted by host and slot
  std::vector<Group> groups;
  std::vector<MissingDevices> missing;  ///< by host
  std::vector<BrokenFile> broken;
  std::vector<std::string> left_out;  ///< files of the folders that are no results
  std::vector<std::string> notes;     ///< nodes that share a name

  base::ExitCode exit_code() const;
  Verdict verdict() const { return verdict_of(exit_code()); }
  bool several_decks() const;
};

inline constexpr const char* fleet_schema = "overlap-fleet/1";

void describe(describe::Visitor& v, Fleet& fleet);

/// The text of a fleet file, with one line per device.
std::string to_json(const Fleet& fleet);

/// Creates the outcome from the results of all devices.
Fleet fleet_of(Fleet fleet, const std::vector<ExpectedHost>& expected = {});

/// Part of fleet_of(): what is announced or expected, minus what was found. Each launch announces
/// its ranks. Ranks that cannot be those of one launch are inconclusive.
void add_missing(const std::vector<ExpectedHost>& expected, Fleet& fleet);

/// Whether devices are compared by this figure, that is, whether it measures their speed: not by
/// ratios to their own baseline, errors and counters, and by time only if the order has no
/// throughput because it copies nothing.
bool is_compared(const FleetDevice& device, const FigureKey& key);

/// A text in natural order: node9 before node10.
struct Natural {
  std::string text;

  std::strong_ordering operator<=>(const Natural& other) const;
  bool operator==(const Natural&) const = default;
};

}  // namespace overlap::results
