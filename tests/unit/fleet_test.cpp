#include "results/fleet.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "results.hpp"

namespace overlap::results {
namespace {

using base::ExitCode;
using deck::Metric;
using deck::Order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr FigureKey throughput{deck::Phase::alone, Order::by_engine, Metric::throughput};
constexpr FigureKey throughput_together{deck::Phase::together, Order::by_engine,
                                        Metric::throughput};
constexpr FigureKey duplex_together{deck::Phase::together, std::nullopt, Metric::duplex_rate};
constexpr FigureKey contention_free{deck::Phase::alone, Order::by_engine, Metric::time};

base::Summary exactly(double value) {
  return {.n = 10, .median = value, .min = value, .max = value, .lo = value, .hi = value};
}

/// A device that moves as many GB/s.
FleetDevice device(const std::string& unit, double value, const std::string& host = "n1") {
  FleetDevice record;
  record.file = unit + ".json";
  record.host = host;
  record.unit = unit;
  record.unique = true;
  record.subject = {.device = "GPU", .link = "gen5 x16", .backend = "Cuda", .deck = "abc"};
  record.deck_name = "node";
  record.build = "1 abc";
  record.driver = "580";
  record.started = "2026-01-31T12:00:00Z";
  record.figures = {{throughput, exactly(value)}};
  return record;
}

Distribution distribution(const std::vector<double>& values, Metric metric = Metric::throughput) {
  std::vector<Standing> devices;
  for (const double value : values) devices.push_back({.device = devices.size(), .value = value});
  return distribution_of({deck::Phase::alone, Order::by_engine, metric}, devices);
}

std::vector<std::size_t> numbers(const std::vector<Standing>& standings) {
  std::vector<std::size_t> all;
  for (const Standing& standing : standings) all.push_back(standing.device);
  return all;
}

Fleet fleet(std::vector<FleetDevice> records, const std::vector<std::string>& hosts = {}) {
  const std::size_t files = records.size();
  std::vector<ExpectedHost> expected;
  for (const std::string& host : hosts) expected.push_back({host});
  return fleet_of({.files = files, .devices = std::move(records)}, expected);
}

/// The names of missing hosts.
std::vector<std::string> missing_hosts(const Fleet& fleet) {
  std::vector<std::string> hosts;
  for (const MissingDevices& missing : fleet.missing) hosts.push_back(missing.host);
  return hosts;
}

Reference reference(double value, deck::Phase phase = deck::Phase::alone) {
  Entry entry;
  entry.subject = device("", 0).subject;
  entry.subject.key.phase = phase;
  entry.subject.key.order = Order::by_engine;
  entry.subject.key.metric = Metric::throughput;
  entry.value = value;
  entry.tolerance = 0.03;
  return {.path = "h100.yaml", .entries = {entry}};
}

TEST(Distribution, HasMedianAndMad) {
  const Distribution of = distribution({1, 2, 4, 8});
  EXPECT_EQ(of.devices, 4);
  EXPECT_DOUBLE_EQ(of.median, 3);
  EXPECT_DOUBLE_EQ(of.mad, 1.5);  // of 2, 1, 1, 5
  EXPECT_DOUBLE_EQ(of.min, 1);
  EXPECT_DOUBLE_EQ(of.max, 8);
  EXPECT_DOUBLE_EQ(distribution({1, 5, 2}).median, 2);
}

/// Median 100 and MAD 1, and one more value.
std::vector<double> around_100(double value) {
  return {98, 99, 99, 100, 100, 100, 101, 101, 102, value};
}

TEST(Distribution, ScoresByTheMad) {
  const Distribution of = distribution(around_100(94.8));
  EXPECT_DOUBLE_EQ(of.median, 100);
  EXPECT_DOUBLE_EQ(of.mad, 1);
  ASSERT_THAT(numbers(of.outliers), ElementsAre(9U));
  EXPECT_NEAR(of.outliers[0].score, -0.6745 * 5.2, 1e-9);  // -3.507
  EXPECT_NEAR(of.outliers[0].off, -0.052, 1e-12);
  EXPECT_TRUE(of.outliers[0].slow);
  EXPECT_THAT(distribution(around_100(94.82)).outliers, IsEmpty());  // -3.494
}

TEST(Distribution, AnOutlierIsMoreThanTwoPercentOff) {
  // A MAD of 0.01: scores are large, differences small.
  std::vector<double> values = {99.98, 99.99, 99.99, 100, 100, 100, 100.01, 100.01, 100.02, 98.01};
  EXPECT_THAT(distribution(values).outliers, IsEmpty());
  values.back() = 97.99;
  EXPECT_THAT(numbers(distribution(values).outliers), ElementsAre(9U));
}

TEST(Distribution, AMadOfZeroLeavesTheTwoPercent) {
  std::vector<double> values(9, 50.0);
  values[3] = 49.1;
  EXPECT_THAT(distribution(values).outliers, IsEmpty());
  values[3] = 48.9;
  const Distribution of = distribution(values);
  ASSERT_THAT(numbers(of.outliers), ElementsAre(3U));
  EXPECT_TRUE(std::isinf(of.outliers[0].score));
  EXPECT_DOUBLE_EQ(of.slowest[1].score, 0);
}

TEST(Distribution, FewerThanEightDevicesHaveACoarseLimit) {
  std::vector<double> values = {50, 50, 50, 37.6, 50, 50, 90};
  EXPECT_THAT(distribution(values).outliers, IsEmpty());
  EXPECT_EQ(distribution(values).slowest.front().device, 3U);
  values[3] = 37.4;  // more than 25 % below; the fast one is none
  EXPECT_THAT(numbers(distribution(values).outliers), ElementsAre(3U));
  EXPECT_THAT(numbers(distribution({50, 50, 37.4}).outliers), ElementsAre(2U));
  EXPECT_THAT(distribution({50, 10}).outliers, IsEmpty());  // which is right is unknown
  EXPECT_THAT(numbers(distribution({1, 1, 1.24, 1.26}, Metric::time).outliers), IsEmpty());
  EXPECT_THAT(numbers(distribution({1, 1, 1, 1.26}, Metric::time).outliers), ElementsAre(3U));
  // Together, GPUs behind one switch are rightly slower.
  EXPECT_THAT(
      distribution_of(throughput_together, {{.value = 50}, {.value = 50}, {.value = 25}}).outliers,
      IsEmpty());
  values = {50, 50, 50, 45, 50, 50, 50};
  EXPECT_THAT(distribution(values).outliers, IsEmpty());
  values.push_back(50);
  EXPECT_THAT(numbers(distribution(values).outliers), ElementsAre(3U));
}

TEST(Distribution, TheMetricSaysWhatSlowIs) {
  std::vector<double> values = {1, 1.001, 1.002, 1, 1.001, 1.002, 1, 1.5, 0.5};
  const Distribution times = distribution(values, Metric::time);
  ASSERT_THAT(numbers(times.outliers), ElementsAre(7U, 8U));
  EXPECT_TRUE(times.outliers[0].slow);
  EXPECT_FALSE(times.outliers[1].slow);
  EXPECT_EQ(times.slowest.front().device, 7U);
  EXPECT_THAT(numbers(distribution(values).outliers), ElementsAre(8U, 7U));
}

TEST(Distribution, NamesTheTenSlowest) {
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back(100 + 0.01 * ((i * 7) % 30));
  const Distribution of = distribution(values);
  ASSERT_EQ(of.slowest.size(), most_slowest);
  EXPECT_DOUBLE_EQ(of.slowest[0].value, 100);
  EXPECT_DOUBLE_EQ(of.slowest[9].value, 100.09);
}

TEST(Distribution, ZerosHaveNoRanking) {
  const Distribution of = distribution(std::vector<double>(9, 0.0));
  EXPECT_THAT(of.slowest, IsEmpty());
  EXPECT_THAT(of.outliers, IsEmpty());
  EXPECT_EQ(distribution({}).devices, 0);
  EXPECT_THAT(distribution({-3, -2, -1}).slowest, IsEmpty());
}

TEST(Fleet, ComparesByHowFastDevicesWork) {
  const auto compares = [](Metric metric) {
    return is_compared(FleetDevice(), {deck::Phase::alone, std::nullopt, metric});
  };
  using enum Metric;
  for (const Metric metric : {time, throughput, h2d_rate, d2h_rate, duplex_rate, contention}) {
    EXPECT_TRUE(compares(metric)) << deck::to_string(metric);
  }
  for (const Metric metric : {speedup, max_error, drift, pcie_replays, throttled, bound_fraction}) {
    EXPECT_FALSE(compares(metric)) << deck::to_string(metric);
  }
}

std::vector<FleetDevice> nine(double last) {
  std::vector<FleetDevice> records;
  for (int i = 0; i < 8; ++i) records.push_back(device("GPU-" + std::to_string(i), 50 + 0.01 * i));
  records.push_back(device("GPU-8", last, "n2"));
  return records;
}

std::vector<FleetDevice> operator+(std::vector<FleetDevice> a, const std::vector<FleetDevice>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Fleet, ASlowOutlierFailsAloneAndAFastOneIsListed) {
  const Fleet slow = fleet(nine(40));
  EXPECT_EQ(slow.exit_code(), ExitCode::performance);
  EXPECT_EQ(slow.verdict(), Verdict::fail);
  for (const FleetDevice& one : slow.devices) {
    const bool is_slow = one.unit == "GPU-8";
    EXPECT_EQ(exit_code_of(one), is_slow ? ExitCode::performance : ExitCode::pass) << one.unit;
    EXPECT_EQ(exit_code_of(one, deck::Phase::together), ExitCode::pass);
  }
  const Reason& reason = slow.devices.back().reasons.at(0);
  EXPECT_EQ(reason.figure, "throughput of by_engine, alone");
  EXPECT_THAT(reason.text, HasSubstr("40.00 GB/s, 20.0 % below the median 50.03 GB/s of 9"));
  const Fleet fast = fleet(nine(60));
  EXPECT_EQ(fast.exit_code(), ExitCode::pass);
  EXPECT_THAT(numbers(fast.groups.at(0).distributions.at(0).outliers), ElementsAre(8U));
}

/// A fleet of devices with these throughputs.
Fleet fleet_of_rates(const std::vector<double>& rates) {
  std::vector<FleetDevice> devices;
  for (const double rate : rates) {
    devices.push_back(device("GPU-" + std::to_string(devices.size()), rate));
  }
  return fleet(devices);
}

TEST(Fleet, FewDevicesAreJudgedCoarsely) {
  const Fleet six = fleet_of_rates({4.0, 4.1, 3.9, 4.0, 4.0, 0.97});
  EXPECT_EQ(six.exit_code(), ExitCode::performance);
  EXPECT_EQ(exit_code_of(six.devices[0]), ExitCode::pass);
  EXPECT_EQ(six.devices[5].reasons[0].text,
            "0.9700 GB/s, 75.8 % below the median 4.000 GB/s of 6 devices; coarse limit 25 %");
  EXPECT_EQ(six.groups[0].not_judged,
            "6 devices: outliers below 25 % are not judged; give --reference");
  const Fleet two = fleet_of_rates({4.0, 2.9});
  EXPECT_EQ(two.exit_code(), ExitCode::inconclusive);
  for (const FleetDevice& one : two.devices) {
    EXPECT_EQ(exit_code_of(one), ExitCode::inconclusive);
    EXPECT_EQ(one.reasons[0].text,
              "2 devices from 2.900 GB/s to 4.000 GB/s, more than 25 % apart; too few to say which "
              "is right");
  }
  EXPECT_EQ(fleet_of_rates({4.0, 3.1}).exit_code(), ExitCode::pass);
  // Neither is far from the median.
  EXPECT_EQ(fleet_of_rates({4.0, 3.4, 3.4, 2.9}).exit_code(), ExitCode::inconclusive);
  EXPECT_EQ(fleet_of_rates({4.0, 4.1, 3.9}).exit_code(), ExitCode::pass);
  EXPECT_EQ(fleet_of_rates({4.0}).groups[0].not_judged,
            "1 device: compared with no other; give --reference");
  EXPECT_EQ(fleet_of_rates(std::vector<double>(8, 4)).groups[0].not_judged, "");
}

TEST(Fleet, AReferenceJudgesFewDevices) {
  FleetDevice judged = device("a", 50);
  judged.referenced = true;
  EXPECT_EQ(fleet({judged}).groups[0].not_judged, "");
  EXPECT_NE(fleet({device("b", 50)}).groups[0].not_judged, "");
  FleetDevice both = device("a", 50);
  both.figures.push_back({throughput_together, exactly(20)});
  EXPECT_THAT(fleet({both, both}).groups[0].not_judged, HasSubstr("1 device"));  // as one
  FleetDevice other = both;
  other.unit = "b";
  EXPECT_THAT(fleet({both, other}).groups[0].not_judged,
              HasSubstr("; in phase together no outlier"));
}

TEST(Fleet, ADeviceThatIsMissingNeverMakesAFailedFleetPass) {
  std::mt19937 random(1);  // NOLINT: the same devices in every test
  std::uniform_real_distribution<double> spread(0, 1);
  int failed = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<double> rates(3 + random() % 5);
    for (double& rate : rates) rate = 1 - 0.6 * std::pow(spread(random), 1 + trial % 4);
    const Fleet all = fleet_of_rates(rates);
    if (all.exit_code() != ExitCode::performance) continue;
    ++failed;
    for (std::size_t gone = 0; gone < rates.size(); ++gone) {
      if (exit_code_of(all.devices[gone]) != ExitCode::pass) continue;
      std::vector<double> rest = rates;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(gone));
      EXPECT_NE(fleet_of_rates(rest).exit_code(), ExitCode::pass) << testing::PrintToString(rates);
    }
  }
  EXPECT_GT(failed, 500);
}

TEST(Fleet, HostsAreComparedWithHostsOfAsManyCores) {
  std::vector<FleetDevice> hosts = nine(40);
  for (FleetDevice& host : hosts) host.cores = host.unit == "GPU-8" ? 0.5 : 16;
  const Fleet apart = fleet(hosts);
  EXPECT_EQ(apart.exit_code(), ExitCode::pass);
  ASSERT_EQ(apart.groups.size(), 2U);
  EXPECT_EQ(apart.groups[0].cores, 16);
  EXPECT_EQ(apart.groups[1].cores, 0.5);
}

TEST(Fleet, TimesCountOnlyWithoutThroughput) {
  std::vector<FleetDevice> records;
  for (int i = 0; i < 9; ++i) {
    FleetDevice one = device("GPU-" + std::to_string(i), 50);
    one.figures.insert(one.figures.begin(), {contention_free, exactly(i == 8 ? 1.5e-3 : 1e-3)});
    records.push_back(one);
  }
  EXPECT_EQ(fleet(records).exit_code(), ExitCode::pass);
  for (FleetDevice& one : records) one.figures.back().value = exactly(0);
  EXPECT_EQ(fleet(records).exit_code(), ExitCode::performance);
  for (FleetDevice& one : records) one.figures.pop_back();
  const Fleet late = fleet(records);
  EXPECT_EQ(late.exit_code(), ExitCode::performance);
  EXPECT_THAT(late.devices.back().reasons.at(0).text,
              HasSubstr("1.500 ms, 50.0 % above the median 1.000 ms of 9 devices"));
}

TEST(Fleet, ContentionHasNoUnit) {
  constexpr FigureKey key{deck::Phase::together, Order::by_engine, Metric::contention};
  std::vector<FleetDevice> records;
  for (int i = 0; i < 9; ++i) {
    FleetDevice one = device("GPU-" + std::to_string(i), 50);
    one.figures = {{key, exactly(i == 8 ? 1.5 : 1.2)}};
    records.push_back(one);
  }
  EXPECT_EQ(fleet(records).devices.back().reasons.at(0).text,
            "1.500, 25.0 % above the median 1.200 of 9 devices");
}

TEST(Fleet, GroupsByKindLinkDeckAndBuildButNotByDriver) {
  std::vector<FleetDevice> records(6, device("GPU-0", 50));
  for (std::size_t i = 0; i < records.size(); ++i) records[i].unit = "GPU-" + std::to_string(i);
  records[1].driver = "570";
  records[2].subject.device = "Other GPU";
  records[3].subject.link = "gen4 x16";
  records[4].subject.deck = "def";
  records[5].build = "2 def";
  const Fleet made = fleet(records);
  ASSERT_EQ(made.groups.size(), 5U);
  EXPECT_EQ(made.groups[0].devices.size(), 2U);
}

TEST(Fleet, OfSeveralResultsOfADeviceTheWorstCountsWhateverTheClock) {
  FleetDevice slow = device("GPU-0", 50), good = device("GPU-0", 48);
  slow.file = "slow.json";
  slow.reasons = {{.code = ExitCode::performance, .text = "slow", .phase = {}}};
  good.file = "good.json";
  good.host = "n9";  // moved to another host
  for (const char* const date : {"1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z"}) {
    slow.started = date;
    for (const auto& records : {std::vector{slow, good}, std::vector{good, slow}}) {
      const Fleet made = fleet(records);
      ASSERT_EQ(made.devices.size(), 1U);
      const FleetDevice& one = made.devices[0];
      EXPECT_EQ(made.exit_code(), ExitCode::performance);
      EXPECT_EQ(one.file, "slow.json");
      EXPECT_EQ(find(one, throughput)->value.median, 48);
      ASSERT_EQ(one.results.size(), 2U);
      EXPECT_EQ(one.results[0].file, "good.json");
      EXPECT_EQ(one.results[0].code, ExitCode::pass);
      EXPECT_EQ(one.results[1].started, date);
      EXPECT_EQ(one.results[1].code, ExitCode::performance);
    }
  }
  EXPECT_THAT(fleet({good}).devices[0].results, IsEmpty());
}

TEST(Fleet, TheReasonsOfAllResultsOfADeviceCount) {
  std::vector<FleetDevice> records;
  using enum ExitCode;
  for (const ExitCode code : {inconclusive, pass, runtime_error, performance, performance}) {
    FleetDevice one = device("a", 1);
    const std::string text = "code " + std::to_string(static_cast<int>(code));
    if (code != pass) one.reasons = {{.code = code, .text = text, .phase = {}}};
    records.push_back(one);
  }
  const FleetDevice one = fleet(records).devices.at(0);
  EXPECT_EQ(exit_code_of(one), performance);
  EXPECT_EQ(one.reasons.size(), 3U);
  EXPECT_EQ(one.results.size(), 5U);
}

TEST(Fleet, ASlowResultAmongGoodOnesIsAnOutlier) {
  const FleetDevice slow = nine(40).back();
  for (const auto& records : {nine(50) + std::vector{slow}, std::vector{slow} + nine(50)}) {
    const Fleet made = fleet(records);
    EXPECT_EQ(made.exit_code(), ExitCode::performance);
    EXPECT_EQ(made.groups.at(0).distributions.at(0).devices, 9);
  }
}

TEST(Fleet, DecksAndHostsWithoutUuidsAreApart) {
  FleetDevice other_deck = device("GPU-0", 50);
  other_deck.subject.deck = "def";
  EXPECT_EQ(fleet({device("GPU-0", 50), other_deck}).devices.size(), 2U);
  FleetDevice other_limits = device("GPU-0", 50);  // the same identity
  other_limits.criteria = "strict";
  other_limits.reasons = {{.code = ExitCode::performance, .text = "too slow", .phase = {}}};
  for (const auto& records : {std::vector{device("GPU-0", 50), other_limits},
                              std::vector{other_limits, device("GPU-0", 50)}}) {
    const Fleet both = fleet(records);
    EXPECT_EQ(both.exit_code(), ExitCode::performance);
    EXPECT_THAT(both.devices[0].results, IsEmpty());
    EXPECT_EQ(both.groups.size(), 2U);
  }
  FleetDevice other_name = device("GPU-0", 50);
  other_name.deck_name = "longer";  // and otherwise the same
  other_name.reasons = other_limits.reasons;
  const Fleet both = fleet({other_name, device("GPU-0", 50)});
  EXPECT_EQ(both.exit_code(), ExitCode::performance);
  EXPECT_EQ(both.groups.size(), 2U);
  FleetDevice a = device("rank0", 50, "n1"), b = device("rank0", 50, "n2");
  a.unique = b.unique = false;
  EXPECT_EQ(fleet({a, b}).devices.size(), 2U);
}

TEST(Fleet, SumsWhatANodeMoves) {
  std::vector<FleetDevice> records;
  for (int i = 0; i < 4; ++i) {
    FleetDevice one = device("GPU-" + std::to_string(i), 95, i < 2 ? "n1" : "n2");
    one.figures.push_back({duplex_together, exactly(65)});
    one.figures.push_back({throughput_together, exactly(60 + i)});
    records.push_back(one);
  }
  records[3].figures.erase(records[3].figures.begin() + 1);
  const Fleet made = fleet(records);
  ASSERT_EQ(made.groups.at(0).nodes.size(), 2U);
  const NodeTotal& node = made.groups[0].nodes[0];
  EXPECT_EQ(node.host, "n1");
  EXPECT_EQ(node.devices, 2);
  EXPECT_DOUBLE_EQ(node.alone, 190);
  EXPECT_DOUBLE_EQ(node.together, 121);
  EXPECT_DOUBLE_EQ(node.bound.value(), 130);
  EXPECT_FALSE(made.groups[0].nodes[1].bound);  // a device without its rate
}

TEST(Fleet, MissingHostsFailByName) {
  const Fleet made =
      fleet({device("a", 1, "n1"), device("b", 1, "n2.cluster")}, {"n1", "n2", "n3", "n3", "n1.x"});
  EXPECT_THAT(made.missing, ElementsAre(MissingDevices{"n3", "", 1, 1}));
  EXPECT_EQ(text_of(made.missing[0]), "n3: no result of this host");
  EXPECT_EQ(made.exit_code(), ExitCode::performance);
  for (const char* const other : {"n2.b", "n2.", "n2.a.b", "n"}) {
    EXPECT_THAT(missing_hosts(fleet({device("a", 1, "n2.a")}, {other})), ElementsAre(other));
  }
  EXPECT_THAT(fleet({device("a", 1, "n2")}, {"n2.b"}).missing, IsEmpty());
  EXPECT_THAT(fleet({device("a", 1, "GPU_1.B")}, {"gpu_1"}).missing, IsEmpty());
  EXPECT_THAT(fleet({device("a", 1, "n9"), device("b", 1, "n10")}, {"n9", "n10"}).missing,
              IsEmpty());
}

/// The devices of the ranks of one launch on one node, but one.
std::vector<FleetDevice> ranks(const std::string& host, int ranks, int without,
                               const std::string& launch = "") {
  std::vector<FleetDevice> all;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == without) continue;
    FleetDevice one = device(fmt::format("{}-{}", host, rank), 1, host);
    one.job = base::Job{.launch = launch.empty() ? host : launch, .rank = rank, .ranks = ranks};
    one.local_ranks = ranks;
    all.push_back(std::move(one));
  }
  return all;
}

/// Lets the ranks be those of one launch on two nodes, of which `first` is the first one's last.
std::vector<FleetDevice> on_two_nodes(std::vector<FleetDevice> records, int offset_of_second) {
  for (FleetDevice& record : records) {
    *record.job.ranks *= 2;
    if (record.host == "n2") *record.job.rank += offset_of_second;
  }
  return records;
}

TEST(Fleet, AMissingRankIsWhatTheOthersAnnounce) {
  const Fleet made = fleet(ranks("n1", 8, -1) + ranks("n2", 8, 3));
  EXPECT_THAT(made.missing, ElementsAre(MissingDevices{"n2", "", 1, 8, {3}}));
  EXPECT_EQ(text_of(made.missing[0]), "n2: 1 of 8 devices without a result: rank 3");
  EXPECT_EQ(made.exit_code(), ExitCode::performance);
  EXPECT_EQ(fleet(ranks("n1", 8, -1) + ranks("n2", 8, -1)).exit_code(), ExitCode::pass);
}

TEST(Fleet, MissingRanksOfSeveralNodesAreNamedAmongAll) {
  const auto missing = [](int of_first, int of_second) {
    return fleet(on_two_nodes(ranks("n1", 4, of_first, "7") + ranks("n2", 4, of_second, "7"), 4))
        .missing;
  };
  EXPECT_THAT(missing(-1, -1), IsEmpty());
  EXPECT_THAT(missing(-1, 2), ElementsAre(MissingDevices{"n2", "", 1, 4, {6}}));
  EXPECT_THAT(missing(1, 2), ElementsAre(MissingDevices{"n1", "", 1, 4, {1, 6}},
                                         MissingDevices{"n2", "", 1, 4, {1, 6}}));
  EXPECT_EQ(text_of(missing(1, 2)[0]), "n1: 1 of 4 devices without a result: among ranks 1, 6");
}

TEST(Fleet, ANodeWithoutAnyResultIsMissedByTheOthers) {
  const auto one = on_two_nodes(ranks("n1", 4, -1, "7"), 4);
  EXPECT_THAT(fleet(one).missing, ElementsAre(MissingDevices{"", "7", 4, 8, {4, 5, 6, 7}}));
  auto alone = ranks("n1", 2, 1);  // without --fleet
  alone[0].local_ranks = 0;
  EXPECT_THAT(fleet(alone).missing, ElementsAre(MissingDevices{"", "n1", 1, 2, {1}}));
}

TEST(Fleet, RanksOnOneDeviceAreOneDevice) {
  auto all = ranks("n1", 3, -1);
  all[2].unit = all[1].unit;
  EXPECT_THAT(fleet(all).missing, ElementsAre(MissingDevices{"n1", "", 1, 3, {2}}));
}

TEST(Fleet, ALaunchIsCompletedByNoOther) {
  auto all = ranks("n1", 2, 1, "77/0/0") + ranks("n2", 2, 0, "77/1/0");
  for (FleetDevice& one : all) one.local_ranks = 0;  // without --fleet
  const Fleet made = fleet(all);
  EXPECT_EQ(made.exit_code(), ExitCode::performance);
  EXPECT_THAT(made.missing, ElementsAre(MissingDevices{"", "77/0/0", 1, 2, {1}},
                                        MissingDevices{"", "77/1/0", 1, 2, {0}}));
  EXPECT_EQ(text_of(made.missing[0]),
            "unknown host: 1 of 2 devices of launch 77/0/0 without a result: rank 1");
  // Nor is a launch that lacks a rank completed by a whole one.
  EXPECT_THAT(fleet(ranks("n1", 4, 2, "first") + ranks("n1", 4, -1, "later")).missing,
              ElementsAre(MissingDevices{"n1", "", 1, 4, {2}}));
}

/// The reasons of the first device of a fleet of these, which must be inconclusive.
std::string doubts(std::vector<FleetDevice> records) {
  const Fleet made = fleet(std::move(records));
  EXPECT_EQ(made.exit_code(), ExitCode::inconclusive);
  std::string all;
  for (const Reason& reason : made.devices.at(0).reasons) all += reason.text + "\n";
  return all;
}

TEST(Fleet, RanksThatDoNotFitAreInconclusive) {
  auto twice = ranks("n1", 2, -1, "7") + ranks("n2", 2, 1, "7");
  twice[2].file = "n2-again.json";
  for (FleetDevice& one : twice) one.local_ranks = 0;
  EXPECT_THAT(doubts(twice),
              HasSubstr("launch 7: found rank 0 in n1-0.json and in n2-again.json\n"));
  auto counts = ranks("n1", 2, -1, "7") + ranks("n2", 4, -1, "7");
  for (FleetDevice& one : counts) one.local_ranks = 0;
  for (std::size_t i = 2; i < 6; ++i) *counts[i].job.rank += 2;
  EXPECT_THAT(doubts(counts), HasSubstr("launch 7: found ranks of 2 and of 4\n"));
  auto unknown = ranks("n1", 2, -1);
  for (FleetDevice& one : unknown) one.job.launch.reset();
  EXPECT_THAT(doubts(unknown), HasSubstr("unknown launch"));
  unknown.pop_back();
  EXPECT_EQ(fleet(unknown).exit_code(), ExitCode::performance);  // it is missing in any case
}

TEST(Fleet, NodesOfALaunchWithOneNameAreToldApart) {
  const auto of_node = [](const std::string& boot_id, int first, const std::string& launch) {
    auto all = ranks("localhost", 2, -1, launch);
    for (FleetDevice& one : all) {
      one.boot_id = boot_id;
      one.unique = false;
      one.unit = fmt::format("0000:0{}:00.0", *one.job.rank);
      *one.job.rank += first;
      *one.job.ranks = 4;
    }
    return all;
  };
  const Fleet made = fleet(of_node("b", 0, "7") + of_node("a", 2, "7"));
  EXPECT_EQ(made.exit_code(), ExitCode::pass);
  ASSERT_EQ(made.devices.size(), 4U);
  EXPECT_EQ(made.devices[1].host, "localhost");
  EXPECT_EQ(made.devices[2].host, "localhost#2");
  EXPECT_THAT(made.notes,
              ElementsAre("localhost#2 is another node named localhost: their boot ids differ"));
  // Without their boot ids they seem to be one.
  EXPECT_EQ(fleet(of_node("", 0, "7") + of_node("", 2, "7")).missing.size(), 1U);
  // Another launch may find the node booted.
  auto booted = of_node("c", 0, "8");
  for (FleetDevice& one : booted) *one.job.ranks = 2;
  const Fleet again = fleet(of_node("b", 0, "7") + of_node("a", 2, "7") + booted);
  EXPECT_EQ(again.devices.size(), 4U);
  EXPECT_EQ(again.devices[0].results.size(), 2U);
}

TEST(Fleet, ADeckOfWhichARankHasNoResultIsNotCoveredByAnother) {
  auto other = ranks("n1", 4, -1, "7");
  for (FleetDevice& one : other) one.deck_name = one.subject.deck = "other";
  EXPECT_EQ(fleet(ranks("n1", 4, 3, "7") + other).missing.size(), 1U);
  other.pop_back();
  EXPECT_EQ(fleet(ranks("n1", 4, 3, "7") + other).missing.size(), 1U);  // named once
}

TEST(Fleet, AHostHasAsManyDevicesAsExpected) {
  const auto missing = [](int expected, std::vector<FleetDevice> records) {
    return fleet_of({.devices = std::move(records)}, {{"n1", expected}}).missing;
  };
  const std::vector<FleetDevice> two = {device("a", 1, "n1.cluster"), device("b", 1, "n1.cluster")};
  EXPECT_THAT(missing(2, two), IsEmpty());
  EXPECT_THAT(missing(1, two), IsEmpty());
  EXPECT_THAT(missing(4, two), ElementsAre(MissingDevices{"n1.cluster", "", 2, 4}));
  EXPECT_THAT(missing(4, ranks("n1", 4, 2)), ElementsAre(MissingDevices{"n1", "", 1, 4, {2}}));
  EXPECT_THAT(missing(8, ranks("n1", 4, 2)), ElementsAre(MissingDevices{"n1", "", 5, 8}));
}

TEST(Fleet, TheWorstCounts) {
  const auto code_of = [](ExitCode code, bool broken) {
    FleetDevice one = device("a", 1);
    if (code != ExitCode::pass) one.reasons = {{.code = code, .text = "why", .phase = {}}};
    Fleet input{.files = 2, .devices = {one, device("b", 1)}};
    if (broken) input.broken = {{"x.json", "x.json: found no JSON"}};
    return fleet_of(std::move(input)).exit_code();
  };
  using enum ExitCode;
  EXPECT_EQ(code_of(pass, false), pass);
  EXPECT_EQ(code_of(pass, true), runtime_error);
  EXPECT_EQ(code_of(performance, true), performance);
  EXPECT_EQ(code_of(precondition, true), runtime_error);
  EXPECT_EQ(code_of(inconclusive, true), runtime_error);
  EXPECT_EQ(code_of(wrong_data, true), wrong_data);
  EXPECT_EQ(code_of(interrupted, true), interrupted);
  EXPECT_EQ(code_of(inconclusive, false), inconclusive);
  EXPECT_EQ(fleet({}).exit_code(), runtime_error);  // nothing is no pass
}

TEST(Fleet, ACodeHasItsVerdict) {
  using enum ExitCode;
  for (const auto& [code, verdict] : {std::pair(pass, Verdict::pass),
                                      {performance, Verdict::fail},
                                      {wrong_data, Verdict::fail},
                                      {inconclusive, Verdict::inconclusive},
                                      {skipped, Verdict::skipped},
                                      {interrupted, Verdict::interrupted},
                                      {runtime_error, Verdict::error},
                                      {usage, Verdict::error},
                                      {precondition, Verdict::error}}) {
    EXPECT_EQ(verdict_of(code), verdict) << static_cast<int>(code);
  }
}

TEST(Fleet, AVerdictBelongsToItsPhase) {
  FleetDevice one = device("a", 1);
  one.figures.push_back({throughput_together, exactly(1)});
  one.reasons = {{.code = ExitCode::performance, .text = "slow", .phase = deck::Phase::together}};
  EXPECT_THAT(phases_of(one), ElementsAre(deck::Phase::alone, deck::Phase::together));
  EXPECT_EQ(exit_code_of(one, deck::Phase::alone), ExitCode::pass);
  EXPECT_EQ(exit_code_of(one, deck::Phase::together), ExitCode::performance);
  EXPECT_EQ(exit_code_of(one), ExitCode::performance);
  one.reasons[0].phase.reset();
  EXPECT_EQ(exit_code_of(one, deck::Phase::alone), ExitCode::performance);
}

/// A result of by_engine with this throughput, of a deck with these criteria. `worst`: the
/// throughput of some repetitions; 0: the same.
Result measured(double gb_per_s, const Json& acceptance = Json::array(), double worst = 0) {
  std::vector<double> samples_s(10, 1 / gb_per_s);
  for (std::size_t i = 0; worst > 0 && i < 4; ++i) samples_s[i] = 1 / worst;
  Result result = result_of(point_of({run_of(Order::by_engine, samples_s)}));
  result.machine.build.backend = "Cuda";
  result.machine.device =
      base::DeviceInfo{.name = "GPU", .uuid = "a", .pcie_gen = 5, .pcie_width = 16};
  result.deck.identity = "abc";
  result.deck.resolved["acceptance"] = acceptance;
  return result;
}

Json criterion(const char* metric, const Json& more = Json::object()) {
  Json made = {{"metric", metric}, {"reference", "given"}};
  made.update(more);
  return made;
}

/// The exit code of a result by a reference, or without.
ExitCode code_of(const Result& result, const Reference* reference) {
  return exit_code_of(device_of(result, reference));
}

TEST(Fleet, AReferenceJudges) {
  const Reference good = reference(51), high = reference(52),
                  far = reference(50, deck::Phase::together);
  EXPECT_EQ(code_of(measured(50), &good), ExitCode::pass);
  const FleetDevice fails = device_of(measured(50), &high);
  EXPECT_EQ(exit_code_of(fails), ExitCode::performance);
  EXPECT_EQ(fails.reasons[0].figure, "throughput of by_engine, alone");
  EXPECT_EQ(fails.reasons[0].text,
            "50.00 (50.00 .. 50.00), limit >= 50.44 (52.00 - 3 % of h100.yaml)");
  const FleetDevice unknown = device_of(measured(50), &far);
  EXPECT_EQ(exit_code_of(unknown), ExitCode::inconclusive);
  ASSERT_EQ(unknown.reasons.size(), 1U);
  EXPECT_THAT(unknown.reasons[0].text, HasSubstr("h100.yaml has no entry for"));
  EXPECT_THAT(unknown.reasons[0].text, HasSubstr("; the nearest is for phase together"));
  // Whose deck asks for a reference of something else, or of the other phase.
  for (const Json& other :
       {criterion("h2d_rate"), criterion("throughput", {{"phase", "together"}})}) {
    const FleetDevice nothing = device_of(measured(50, Json::array({other})), &high);
    EXPECT_EQ(exit_code_of(nothing), ExitCode::inconclusive);
    EXPECT_THAT(nothing.reasons.at(0).text, HasSubstr("h100.yaml judges nothing"));
  }
  EXPECT_EQ(code_of(measured(50, Json::array(), 48), &good), ExitCode::inconclusive);
  EXPECT_TRUE(device_of(measured(50), &good).referenced);
  EXPECT_TRUE(device_of(measured(50, Json::array({criterion("throughput")}))).referenced);
  EXPECT_FALSE(device_of(measured(50)).referenced);
}

TEST(Fleet, AReferenceJudgesEachResult) {
  const Reference good = reference(51);
  const FleetDevice wide = device_of(measured(50, Json::array(), 48), &good);
  EXPECT_EQ(fleet({wide, device_of(measured(49), &good)}).exit_code(), ExitCode::performance);
}

TEST(Fleet, EveryCriterionWithAReferenceNeedsAnEntry) {
  const Reference good = reference(51);
  const FleetDevice one = device_of(
      measured(50, Json::array({criterion("throughput"), criterion("max_error")})), &good);
  EXPECT_EQ(exit_code_of(one), ExitCode::inconclusive);
  ASSERT_EQ(one.reasons.size(), 1U);
  EXPECT_THAT(one.reasons[0].text, HasSubstr("metric max_error"));
  EXPECT_EQ(code_of(measured(50, Json::array({criterion("throughput")})), &good), ExitCode::pass);
}

TEST(Fleet, ErrorsBeyondAReferenceAreWrongData) {
  Result result = measured(50, Json::array({criterion("max_error")}));
  set_error(result.points[0].runs[0], 1e-3);
  Reference small = reference(1e-6);
  small.entries[0].subject.key.metric = Metric::max_error;
  EXPECT_EQ(code_of(result, &small), ExitCode::wrong_data);
}

TEST(Fleet, AReferenceDecidesWhatTheRunLeftUndecided) {
  const Reference good = reference(51), strict = reference(52);
  Check open{.metric = Metric::throughput,
             .order = Order::by_engine,
             .limit = std::nan(""),
             .verdict = Verdict::inconclusive,
             .reason = "no --reference was given"};
  const auto undecided = [&](const Json& acceptance) {
    Result result = measured(50, acceptance);
    result.points[0].checks = {open};
    return result;
  };
  const Result result = undecided(Json::array({criterion("throughput")}));
  const FleetDevice without = device_of(result);
  EXPECT_EQ(exit_code_of(without), ExitCode::inconclusive);
  EXPECT_EQ(without.reasons.at(0).text, "no --reference was given");
  EXPECT_EQ(without.reasons.at(0).figure, "throughput of by_engine, alone");
  EXPECT_EQ(code_of(result, &good), ExitCode::pass);
  EXPECT_EQ(code_of(result, &strict), ExitCode::performance);
  Json own = criterion("throughput", {{"below", 0.1}});  // the deck's own tolerance
  EXPECT_EQ(code_of(undecided(Json::array({own})), &strict), ExitCode::pass);
  EXPECT_EQ(
      code_of(undecided(Json::array({own, criterion("throughput", {{"order", "by_engine"}})})),
              &strict),
      ExitCode::performance);      // each one counts
  open.metric = Metric::h2d_rate;  // which was not measured
  open.order.reset();
  EXPECT_EQ(device_of(undecided(Json::array({criterion("throughput")})), &good).reasons.at(0).text,
            "no --reference was given");
  open.verdict = Verdict::fail;
  open.limit = 60;
  open.value = exactly(50);
  EXPECT_EQ(code_of(undecided(Json::array({criterion("throughput")})), &good),
            ExitCode::performance);
}

TEST(Fleet, AReferenceDoesNotJudgeWhatCannotBeJudged) {
  Reference strict = reference(0.9);
  strict.entries[0].subject.key.metric = Metric::speedup;
  Result result = result_of(point_of({run_of(Order::sequential, std::vector(10, 1.0)),
                                      run_of(Order::by_engine, std::vector(10, 1.0))}));
  result.points[0].runs[1].bounds = model::Bounds{.bound_s = 0.99};
  result.machine = measured(50).machine;
  result.deck.identity = "abc";
  result.deck.resolved["acceptance"] =
      Json::array({criterion("speedup", {{"order", "by_engine"}})});
  const FleetDevice one = device_of(result, &strict);
  EXPECT_EQ(exit_code_of(one), ExitCode::inconclusive);
  EXPECT_THAT(one.reasons.at(0).text, HasSubstr("overlap could save at most 1.00 %"));
}

TEST(Fleet, SortsAsPeopleCount) {
  const std::vector<std::string> sorted = {"",   "a",   "a2b3", "a2b10", "aa", "b",   "n",
                                           "n/", "n01", "n0",   "n1",    "n9", "n10", "n:"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(Natural{sorted[i]} < Natural{sorted[j]}, i < j) << sorted[i] << " " << sorted[j];
    }
  }
}

}  // namespace
}  // namespace overlap::results
