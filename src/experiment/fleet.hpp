#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "experiment/judge.hpp"
#include "experiment/reference.hpp"

/// Many devices' results as one outcome: pure, from small records.
namespace overlap::experiment {

/// What a figure of a device is about.
struct FigureKey {
  deck::Phase phase = deck::Phase::alone;
  std::optional<deck::Order> order;  ///< empty: a metric of the device
  deck::Metric metric = deck::Metric::time;

  auto operator<=>(const FigureKey&) const = default;
};

/// "throughput of by_engine, together", "h2d_rate, alone".
std::string words(const FigureKey& key);

struct Figure {
  FigureKey key;
  base::Summary value;
};

/// Something that keeps a device from passing.
struct Trouble {
  base::ExitCode code = base::ExitCode::performance;
  std::string text;
  std::optional<deck::Phase> phase;  ///< empty: every phase
  /// Of a check without a limit, because the run had no reference for it: what it is about.
  std::optional<FigureKey> undecided = {};
};

/// One device with one deck: what is kept of its result.
struct DeviceRecord {
  std::string file;
  std::string host;
  std::string unit;     ///< UUID; on host back ends "rank3", or the host's name
  bool unique = false;  ///< the unit is a UUID: no other host has it
  std::string slot;     ///< PCI address, or the rank; empty: unknown
  Subject machine;      ///< kind of device, link, back end and the deck's identity
  std::string deck_name;
  std::string build;  ///< version and commit of the program
  std::string driver;
  std::string started;                      ///< UTC
  std::vector<Trouble> troubles;            ///< none: PASS
  std::vector<Figure> figures;              ///< by key
  std::vector<deck::Criterion> referenced;  ///< criteria with a reference
};

/// The figure of this key; null: there is none.
const Figure* find(const DeviceRecord& record, const FigureKey& key);

/// The phases that a device took part in, at least one.
std::vector<deck::Phase> phases_of(const DeviceRecord& record);

/// The worst of a device's troubles, of all phases or of one.
base::ExitCode exit_code_of(const DeviceRecord& record, std::optional<deck::Phase> phase = {});

/// The verdict that an exit code stands for.
Verdict verdict_of(base::ExitCode code);

/// A file that is no result, with the reason, which names it.
struct BrokenFile {
  std::string file, text;
};

/// What was read.
struct FleetInput {
  std::vector<DeviceRecord> records;  ///< in any sequence
  std::vector<BrokenFile> broken;
  std::vector<std::string> left_out;  ///< other files of this program, a line each
  std::size_t files = 0;
};

/// A device among those of its group.
struct Standing {
  std::size_t device = 0;  ///< number in Fleet::devices
  double value = 0;        ///< median of its samples
  double off = 0;          ///< value / median of the group - 1
  double score = 0;        ///< 0.6745 * (value - median) / MAD; infinite where the MAD is 0
  bool slow = false;       ///< it is the worse side of the median
};

/// One figure over all devices of a group.
struct Distribution {
  FigureKey key;
  int devices = 0;
  double median = 0, mad = 0, min = 0, max = 0;
  std::vector<Standing> slowest;   ///< worst first, at most `most_slowest`; of compared figures
  std::vector<Standing> outliers;  ///< worst first, the slow ones before the fast
};

inline constexpr std::size_t most_slowest = 10;
inline constexpr std::size_t least_for_outliers = 8;  ///< of fewer devices only a ranking
inline constexpr double outlier_score = 3.5;
inline constexpr double outlier_part = 0.02;

/// Whether devices are compared by this metric: it says how fast they work. Ratios to a device's
/// own baseline, errors and counters do not.
bool compares(deck::Metric metric);

/// Median, median absolute deviation, extremes, ranking and outliers (Iglewicz and Hoaglin, How to
/// Detect and Handle Outliers, 1993: modified z-score beyond 3.5) that are more than 2 % off.
/// `values` are those of the devices with these numbers.
Distribution distribution_of(const FigureKey& key, const std::vector<std::size_t>& devices,
                             const std::vector<double>& values);

struct DriverUse {
  std::string driver;                ///< empty: unknown
  std::vector<std::size_t> devices;  ///< numbers in Fleet::devices
};

/// What the devices of one node move at the same time, GB/s.
struct NodeTotal {
  std::string host;
  deck::Order order = deck::Order::sequential;
  int devices = 0;
  double alone = 0;             ///< sum of what each moves alone
  double together = 0;          ///< sum of what they move together
  std::optional<double> bound;  ///< sum of their duplex rates together; empty: not measured
};

/// Devices of one kind on one kind of link, with one deck and one build of the program.
struct Group {
  Subject machine;
  std::string deck_name;
  std::string build;
  std::vector<std::size_t> devices;  ///< numbers in Fleet::devices
  std::vector<DriverUse> drivers;    ///< most frequent first
  std::vector<Distribution> distributions;
  std::vector<NodeTotal> nodes;  ///< those with figures of both phases
};

/// A compared figure of a device over several files.
struct History {
  std::size_t device = 0;  ///< number in Fleet::devices
  FigureKey key;
  int results = 0;
  std::string since;  ///< when the first of them started
  double first = 0, last = 0;

  double change() const { return last / first - 1; }
};

/// The outcome of many devices.
struct Fleet {
  std::size_t files = 0;
  std::vector<DeviceRecord> devices;  ///< the newest result of each device and deck, by host
  std::size_t superseded = 0;         ///< results with a newer one of the same device and deck
  std::vector<Group> groups;
  std::vector<History> histories;
  std::vector<std::string> missing;  ///< expected hosts without a result
  std::vector<BrokenFile> broken;
  std::vector<std::string> left_out;

  base::ExitCode exit_code() const;
  Verdict verdict() const { return verdict_of(exit_code()); }
};

/// Makes one outcome. Of each device and deck the newest result counts. `expected` are hosts, and
/// `reference` judges the devices, see judge_by(); null: none.
Fleet fleet_of(FleetInput input, const std::vector<std::string>& expected = {},
               const Reference* reference = nullptr);

/// Judges a device's figures by a reference, in addition to the run's own verdict: those that the
/// deck has a criterion with a reference for, and of a deck without one those by which devices are
/// compared. What the run left undecided is decided. A device without any entry is inconclusive.
void judge_by(const Reference& reference, DeviceRecord& record);

/// Whether `a` comes before `b` as people count: node9 before node10.
bool comes_before(std::string_view a, std::string_view b);

}  // namespace overlap::experiment
