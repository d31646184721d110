#include "results/fleet.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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
Device device(const std::string& unit, double value, const std::string& host = "n1") {
  Device record;
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
  for (const double value : values) devices.push_back({{.device = devices.size()}, value});
  return distribution_of({deck::Phase::alone, Order::by_engine, metric}, devices);
}

std::vector<std::size_t> numbers(const std::vector<Standing>& standings) {
  std::vector<std::size_t> all;
  for (const Standing& standing : standings) all.push_back(standing.device);
  return all;
}

Fleet fleet(std::vector<Device> records, const std::vector<std::string>& hosts = {},
            const Reference* reference = nullptr) {
  const std::size_t files = records.size();
  std::vector<ExpectedHost> expected;
  for (const std::string& host : hosts) expected.push_back({host});
  return fleet_of({.files = files, .devices = std::move(records)}, expected, reference);
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

TEST(Distribution, FewerThanEightDevicesAreOnlyRanked) {
  std::vector<double> values = {50, 50, 50, 20, 50, 50, 50};
  EXPECT_THAT(distribution(values).outliers, IsEmpty());
  EXPECT_EQ(distribution(values).slowest.front().device, 3U);
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
    return is_compared(Device(), {deck::Phase::alone, std::nullopt, metric});
  };
  using enum Metric;
  for (const Metric metric : {time, throughput, h2d_rate, d2h_rate, duplex_rate, contention}) {
    EXPECT_TRUE(compares(metric)) << deck::to_string(metric);
  }
  for (const Metric metric : {speedup, max_error, drift, pcie_replays, throttled, bound_fraction}) {
    EXPECT_FALSE(compares(metric)) << deck::to_string(metric);
  }
}

std::vector<Device> nine(double last) {
  std::vector<Device> records;
  for (int i = 0; i < 8; ++i) records.push_back(device("GPU-" + std::to_string(i), 50 + 0.01 * i));
  records.push_back(device("GPU-8", last, "n2"));
  return records;
}

TEST(Fleet, ASlowOutlierFailsAloneAndAFastOneIsListed) {
  const Fleet slow = fleet(nine(40));
  EXPECT_EQ(slow.exit_code(), ExitCode::performance);
  EXPECT_EQ(slow.verdict(), Verdict::fail);
  for (const Device& one : slow.devices) {
    const bool is_slow = one.unit == "GPU-8";
    EXPECT_EQ(exit_code_of(one), is_slow ? ExitCode::performance : ExitCode::pass) << one.unit;
    EXPECT_EQ(exit_code_of(one, deck::Phase::together), ExitCode::pass);
  }
  EXPECT_THAT(
      slow.devices.back().reasons.at(0).text,
      HasSubstr(
          "throughput of by_engine, alone: 40.00 GB/s, 20.0 % below the median 50.03 GB/s of 9"));
  const Fleet fast = fleet(nine(60));
  EXPECT_EQ(fast.exit_code(), ExitCode::pass);
  EXPECT_THAT(numbers(fast.groups.at(0).distributions.at(0).outliers), ElementsAre(8U));
}

TEST(Fleet, HostsAreComparedWithHostsOfAsManyCores) {
  std::vector<Device> hosts = nine(40), gpus = hosts;
  for (std::vector<Device>* const devices : {&hosts, &gpus}) {
    for (Device& device : *devices) device.cores = device.unit == "GPU-8" ? 0.5 : 16;
  }
  for (Device& host : hosts) host.on_host = true;
  const Fleet apart = fleet(hosts);
  EXPECT_EQ(apart.exit_code(), ExitCode::pass);
  ASSERT_EQ(apart.groups.size(), 2U);
  EXPECT_EQ(apart.groups[0].cores, 16);
  EXPECT_EQ(apart.groups[1].cores, 0.5);
  const Fleet together = fleet(gpus);
  ASSERT_EQ(together.groups.size(), 1U);
  EXPECT_EQ(together.groups[0].cores, 0);
  EXPECT_THAT(together.devices.back().reasons.at(0).text,
              HasSubstr("of 9 devices; its process had 0.5 cores, the median 16"));
}

TEST(Fleet, TimesCountOnlyWithoutThroughput) {
  std::vector<Device> records;
  for (int i = 0; i < 9; ++i) {
    Device one = device("GPU-" + std::to_string(i), 50);
    one.figures.insert(one.figures.begin(), {contention_free, exactly(i == 8 ? 1.5e-3 : 1e-3)});
    records.push_back(one);
  }
  EXPECT_EQ(fleet(records).exit_code(), ExitCode::pass);
  for (Device& one : records) one.figures.back().value = exactly(0);
  EXPECT_EQ(fleet(records).exit_code(), ExitCode::performance);
  for (Device& one : records) one.figures.pop_back();
  const Fleet late = fleet(records);
  EXPECT_EQ(late.exit_code(), ExitCode::performance);
  EXPECT_THAT(late.devices.back().reasons.at(0).text,
              HasSubstr("1.500 ms, 50.0 % above the median 1.000 ms of 9 devices"));
}

TEST(Fleet, ContentionHasNoUnit) {
  constexpr FigureKey key{deck::Phase::together, Order::by_engine, Metric::contention};
  std::vector<Device> records;
  for (int i = 0; i < 9; ++i) {
    Device one = device("GPU-" + std::to_string(i), 50);
    one.figures = {{key, exactly(i == 8 ? 1.5 : 1.2)}};
    records.push_back(one);
  }
  EXPECT_EQ(fleet(records).devices.back().reasons.at(0).text,
            "contention of by_engine, together: 1.500, 25.0 % above the median 1.200 of 9 devices");
}

TEST(Fleet, GroupsByKindLinkDeckAndBuildButNotByDriver) {
  std::vector<Device> records(6, device("GPU-0", 50));
  for (std::size_t i = 0; i < records.size(); ++i) records[i].unit = "GPU-" + std::to_string(i);
  records[1].driver = "570";
  records[2].subject.device = "Other GPU";
  records[3].subject.link = "gen4 x16";
  records[4].subject.deck = "def";
  records[5].build = "2 def";
  const Fleet made = fleet(records);
  ASSERT_EQ(made.groups.size(), 5U);
  EXPECT_EQ(made.groups[0].devices.size(), 2U);
  ASSERT_EQ(made.groups[0].drivers.size(), 2U);
  const Fleet three = fleet({device("a", 1), device("b", 1), records[1]});
  ASSERT_EQ(three.groups.at(0).drivers.size(), 2U);
  EXPECT_EQ(three.groups[0].drivers[0].driver, "580");
  EXPECT_EQ(three.groups[0].drivers[1].devices.size(), 1U);
}

TEST(Fleet, TheNewestResultOfADeviceCountsAndDriftIsReported) {
  Device first = device("GPU-0", 50), second = first, last = first;
  first.reasons = {{.code = ExitCode::performance, .text = "slow once", .phase = {}}};
  second.started = "2026-02-01T12:00:00Z";
  second.figures[0].value = exactly(49);
  last.started = "2026-02-02T12:00:00Z";
  last.host = "n9";  // moved to another host
  last.figures[0].value = exactly(45);
  const Fleet made = fleet({second, last, first, device("GPU-1", 50)});
  ASSERT_EQ(made.devices.size(), 2U);
  EXPECT_EQ(made.superseded, 2U);
  EXPECT_EQ(made.devices[1].host, "n9");
  EXPECT_EQ(made.exit_code(), ExitCode::pass);
  ASSERT_EQ(made.histories.size(), 1U);
  EXPECT_EQ(made.histories[0].device, 1U);
  EXPECT_EQ(made.histories[0].results, 3);
  EXPECT_EQ(made.histories[0].since, "2026-01-31T12:00:00Z");
  EXPECT_NEAR(made.histories[0].change(), -0.1, 1e-12);
  ASSERT_EQ(fleet({first, last}).histories.size(), 1U);
  EXPECT_EQ(fleet({first, last}).histories[0].results, 2);
  EXPECT_THAT(fleet({last}).histories, IsEmpty());
  first.figures[0].value = exactly(0);  // nothing can be said relative to it
  EXPECT_THAT(fleet({first, last}).histories, IsEmpty());
}

TEST(Fleet, ADeviceThatPassesAfterItFailedIsUnsteady) {
  std::vector<Device> records;
  int day = 1;
  for (const ExitCode code : {ExitCode::performance, ExitCode::pass, ExitCode::inconclusive,
                              ExitCode::pass, ExitCode::wrong_data, ExitCode::wrong_data,
                              ExitCode::pass, ExitCode::performance, ExitCode::precondition}) {
    Device one = device("a", 1);
    one.started = fmt::format("2026-01-{:02}T12:00:00Z", day++);
    if (code != ExitCode::pass) one.reasons = {{.code = code, .text = "slow", .phase = {}}};
    records.push_back(one);
  }
  const Fleet made = fleet(records);
  ASSERT_EQ(made.unsteady.size(), 1U);
  EXPECT_EQ(made.unsteady[0].times, 2);
  EXPECT_EQ(made.unsteady[0].results, 9);
  EXPECT_EQ(made.unsteady[0].last, "2026-01-06T12:00:00Z");
  EXPECT_EQ(fleet({records[0], records[1]}).exit_code(), ExitCode::pass);
  EXPECT_THAT(fleet({records[1], records[2]}).unsteady, IsEmpty());
}

TEST(Fleet, DecksAndHostsWithoutUuidsAreApart) {
  Device other_deck = device("GPU-0", 50);
  other_deck.subject.deck = "def";
  EXPECT_EQ(fleet({device("GPU-0", 50), other_deck}).devices.size(), 2U);
  Device other_limits = device("GPU-0", 50);  // the same identity
  other_limits.criteria = "strict";
  other_limits.reasons = {{.code = ExitCode::performance, .text = "too slow", .phase = {}}};
  for (const auto& records : {std::vector{device("GPU-0", 50), other_limits},
                              std::vector{other_limits, device("GPU-0", 50)}}) {
    const Fleet both = fleet(records);
    EXPECT_EQ(both.exit_code(), ExitCode::performance);
    EXPECT_EQ(both.superseded, 0U);
    EXPECT_EQ(both.groups.size(), 2U);
  }
  Device other_name = device("GPU-0", 50);
  other_name.deck_name = "longer";  // and otherwise the same
  other_name.reasons = other_limits.reasons;
  const Fleet both = fleet({other_name, device("GPU-0", 50)});
  EXPECT_EQ(both.exit_code(), ExitCode::performance);
  EXPECT_EQ(both.groups.size(), 2U);
  Device a = device("rank0", 50, "n1"), b = device("rank0", 50, "n2");
  a.unique = b.unique = false;
  EXPECT_EQ(fleet({a, b}).devices.size(), 2U);
}

TEST(Fleet, SumsWhatANodeMoves) {
  std::vector<Device> records;
  for (int i = 0; i < 4; ++i) {
    Device one = device("GPU-" + std::to_string(i), 95, i < 2 ? "n1" : "n2");
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
  EXPECT_THAT(made.missing, ElementsAre("n3"));
  EXPECT_EQ(made.exit_code(), ExitCode::performance);
  for (const char* const other : {"n2.b", "n2.", "n2.a.b", "n"}) {
    EXPECT_THAT(fleet({device("a", 1, "n2.a")}, {other}).missing, ElementsAre(other));
  }
  EXPECT_THAT(fleet({device("a", 1, "n2")}, {"n2.b"}).missing, IsEmpty());
  EXPECT_THAT(fleet({device("a", 1, "n9"), device("b", 1, "n10")}, {"n9", "n10"}).missing,
              IsEmpty());
}

/// The devices of the ranks of one launch on one node, but one.
std::vector<Device> ranks(const std::string& host, int ranks, int without,
                          const std::string& id = "", int day = 1) {
  std::vector<Device> all;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == without) continue;
    Device one = device(fmt::format("{}-{}", host, rank), 1, host);
    one.started = fmt::format("2026-01-{:02}T12:00:00Z", day);
    one.file = one.started + one.unit;
    one.job = base::Job{.id = id, .step = {}, .rank = rank, .ranks = ranks};
    one.placement = base::Placement{.launch = "", .local_rank = rank, .local_ranks = ranks};
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Device> operator+(std::vector<Device> a, const std::vector<Device>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Lets the ranks be those of one launch on two nodes, of which `first` is the first one's last.
std::vector<Device> on_two_nodes(std::vector<Device> records, int offset_of_second) {
  for (Device& record : records) {
    *record.job->ranks *= 2;
    if (record.host == "n2") *record.job->rank += offset_of_second;
  }
  return records;
}

TEST(Fleet, AMissingRankIsWhatTheOthersAnnounce) {
  const Fleet made = fleet(ranks("n1", 8, -1) + ranks("n2", 8, 3));
  EXPECT_THAT(made.missing_devices,
              ElementsAre(MissingDevices{
                  .host = "n2", .missing = 1, .expected = 8, .ranks = {3}, .local_ranks = {3}}));
  EXPECT_EQ(text_of(made.missing_devices[0]), "1 of 8 devices without a result: rank 3");
  EXPECT_EQ(made.exit_code(), ExitCode::performance);
  EXPECT_EQ(fleet(ranks("n1", 8, -1) + ranks("n2", 8, -1)).exit_code(), ExitCode::pass);
}

TEST(Fleet, AMissingRankOfSeveralNodesIsNamedAmongAllIfThatIsSure) {
  const auto missing = [](int of_first, int of_second) {
    return fleet(on_two_nodes(ranks("n1", 4, of_first, "7") + ranks("n2", 4, of_second, "7"), 4))
        .missing_devices;
  };
  EXPECT_THAT(missing(-1, -1), IsEmpty());
  EXPECT_THAT(missing(-1, 2), ElementsAre(MissingDevices{"n2", 1, 4, {6}, {2}}));
  EXPECT_THAT(missing(1, 2), ElementsAre(MissingDevices{"n1", 1, 4, {}, {1}},
                                         MissingDevices{"n2", 1, 4, {}, {2}}));
  EXPECT_EQ(text_of(missing(1, 2)[0]), "1 of 4 devices without a result: local rank 1");
}

TEST(Fleet, ANodeWithoutAnyResultIsMissedByTheOthers) {
  const auto one = on_two_nodes(ranks("n1", 4, -1, "7"), 4);
  EXPECT_THAT(fleet(one).missing_devices, ElementsAre(MissingDevices{"", 4, 8, {4, 5, 6, 7}, {}}));
  auto alone = ranks("n1", 2, 1);  // without --fleet
  alone[0].placement.reset();
  EXPECT_THAT(fleet(alone).missing_devices, ElementsAre(MissingDevices{"", 1, 2, {1}, {}}));
}

TEST(Fleet, RanksOnOneDeviceAreOneDevice) {
  auto all = ranks("n1", 3, -1);
  all[2].unit = all[1].unit;
  EXPECT_THAT(fleet(all).missing_devices, ElementsAre(MissingDevices{"n1", 1, 3, {}, {}}));
}

TEST(Fleet, ALaterLaunchOnAsManyRanksTakesThePlace) {
  const auto first = ranks("n1", 4, 2, "first", 1);
  EXPECT_THAT(fleet(first + ranks("n1", 4, -1, "later", 2)).missing_devices, IsEmpty());
  EXPECT_EQ(fleet(first + ranks("n1", 2, -1, "later", 2)).missing_devices.size(), 1U);
  EXPECT_EQ(fleet(first + ranks("n2", 4, -1, "later", 2)).missing_devices.size(), 1U);
  // Nor does an older result stand in for one that the newest launch lacks.
  EXPECT_EQ(fleet(ranks("n1", 4, -1, "first", 1) + ranks("n1", 4, 2, "later", 2)).missing_devices,
            (std::vector{MissingDevices{"n1", 1, 4, {2}, {2}}}));
}

TEST(Fleet, ADeckOfWhichARankHasNoResultIsNotCoveredByAnother) {
  auto other = ranks("n1", 4, -1, "7");
  for (Device& one : other) one.deck_name = one.subject.deck = "other";
  EXPECT_EQ(fleet(ranks("n1", 4, 3, "7") + other).missing_devices.size(), 1U);
  other.pop_back();
  EXPECT_EQ(fleet(ranks("n1", 4, 3, "7") + other).missing_devices.size(), 1U);  // named once
}

TEST(Fleet, AHostHasAsManyDevicesAsExpected) {
  const auto missing = [](int expected, std::vector<Device> records) {
    return fleet_of({.devices = std::move(records)}, {{"n1", expected}}).missing_devices;
  };
  const std::vector<Device> two = {device("a", 1, "n1.cluster"), device("b", 1, "n1.cluster")};
  EXPECT_THAT(missing(2, two), IsEmpty());
  EXPECT_THAT(missing(1, two), IsEmpty());
  EXPECT_THAT(missing(4, two), ElementsAre(MissingDevices{"n1.cluster", 2, 4, {}, {}}));
  EXPECT_THAT(missing(4, ranks("n1", 4, 2)), ElementsAre(MissingDevices{"n1", 1, 4, {2}, {2}}));
  EXPECT_THAT(missing(8, ranks("n1", 4, 2)), ElementsAre(MissingDevices{"n1", 5, 8, {}, {}}));
}

TEST(Fleet, TheWorstCounts) {
  const auto code_of = [](ExitCode code, bool broken) {
    Device one = device("a", 1);
    if (code != ExitCode::pass) one.reasons = {{.code = code, .text = "why", .phase = {}}};
    Fleet input{.files = 2, .devices = {one, device("b", 1)}};
    if (broken) input.broken = {{"x.json", "x.json: found no JSON"}};
    return fleet_of(std::move(input)).exit_code();
  };
  using enum ExitCode;
  EXPECT_EQ(code_of(pass, false), pass);
  EXPECT_EQ(code_of(pass, true), runtime_error);
  EXPECT_EQ(code_of(performance, true), runtime_error);
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
  Device one = device("a", 1);
  one.figures.push_back({throughput_together, exactly(1)});
  one.reasons = {{.code = ExitCode::performance, .text = "slow", .phase = deck::Phase::together}};
  EXPECT_THAT(phases_of(one), ElementsAre(deck::Phase::alone, deck::Phase::together));
  EXPECT_EQ(exit_code_of(one, deck::Phase::alone), ExitCode::pass);
  EXPECT_EQ(exit_code_of(one, deck::Phase::together), ExitCode::performance);
  EXPECT_EQ(exit_code_of(one), ExitCode::performance);
  one.reasons[0].phase.reset();
  EXPECT_EQ(exit_code_of(one, deck::Phase::alone), ExitCode::performance);
}

Reference reference(double value, deck::Phase phase = deck::Phase::alone) {
  Entry entry;
  entry.subject = device("", 0).subject;
  entry.subject.phase = phase;
  entry.subject.order = Order::by_engine;
  entry.subject.metric = Metric::throughput;
  entry.value = value;
  entry.tolerance = 0.03;
  return {.path = "h100.yaml", .entries = {entry}};
}

TEST(Fleet, AReferenceJudges) {
  const Reference good = reference(51), high = reference(52),
                  far = reference(50, deck::Phase::together);
  EXPECT_EQ(fleet({device("a", 50)}, {}, &good).exit_code(), ExitCode::pass);
  const Fleet fails = fleet({device("a", 50)}, {}, &high);
  EXPECT_EQ(fails.exit_code(), ExitCode::performance);
  EXPECT_THAT(fails.devices[0].reasons[0].text, HasSubstr(">= 50.44 (52.00 - 3 % of h100.yaml)"));
  const Fleet unknown = fleet({device("a", 50)}, {}, &far);
  EXPECT_EQ(unknown.exit_code(), ExitCode::inconclusive);
  EXPECT_THAT(unknown.devices[0].reasons[0].text, HasSubstr("h100.yaml has no entry for"));
  Device other = device("a", 50);  // whose deck asks for a reference of something else
  other.referenced = {{.metric = Metric::h2d_rate, .order = {}, .min = {}, .max = {}}};
  const Fleet nothing = fleet({other}, {}, &high);
  EXPECT_EQ(nothing.exit_code(), ExitCode::inconclusive);
  EXPECT_THAT(nothing.devices[0].reasons[0].text, HasSubstr("h100.yaml judges nothing"));
  Device later = device("a", 50);  // whose deck asks for a reference of the other phase
  later.referenced = {{.metric = Metric::throughput, .order = {}, .phase = deck::Phase::together}};
  EXPECT_EQ(fleet({later}, {}, &high).exit_code(), ExitCode::inconclusive);
  Device wide = device("a", 50);
  wide.figures[0].value.lo = 48;
  EXPECT_EQ(fleet({wide}, {}, &good).exit_code(), ExitCode::inconclusive);
}

TEST(Fleet, EveryCriterionWithAReferenceNeedsAnEntry) {
  const Reference good = reference(51);
  Device one = device("a", 50);
  one.figures.push_back(
      {{deck::Phase::alone, Order::by_engine, Metric::bound_fraction}, exactly(1)});
  one.referenced = {{.metric = Metric::throughput, .order = {}},
                    {.metric = Metric::bound_fraction, .order = {}}};
  const Fleet made = fleet({one}, {}, &good);
  EXPECT_EQ(made.exit_code(), ExitCode::inconclusive);
  ASSERT_EQ(made.devices[0].reasons.size(), 1U);
  EXPECT_THAT(made.devices[0].reasons[0].text, HasSubstr("metric bound_fraction"));
  one.referenced.pop_back();
  EXPECT_EQ(fleet({one}, {}, &good).exit_code(), ExitCode::pass);
}

TEST(Fleet, AnUndecidedCheckIsToldForItsOwnFigureAlone) {
  const Reference far = reference(50, deck::Phase::together);
  constexpr FigureKey fraction{deck::Phase::alone, Order::by_engine, Metric::bound_fraction};
  Device one = device("a", 50);
  one.figures.push_back({fraction, exactly(1)});
  one.referenced = {{.metric = Metric::throughput, .order = {}},
                    {.metric = Metric::bound_fraction, .order = {}}};
  for (const FigureKey& undecided : {throughput, fraction}) {
    one.reasons = {{.code = ExitCode::inconclusive,
                    .text = "no --reference was given",
                    .phase = deck::Phase::alone,
                    .undecided = undecided}};
    const auto reasons = fleet({one}, {}, &far).devices[0].reasons;
    ASSERT_EQ(reasons.size(), 2U) << name_with_phase(undecided);
    EXPECT_THAT(reasons[0].text, HasSubstr("metric throughput"));
    EXPECT_THAT(reasons[1].text, HasSubstr("metric bound_fraction"));
  }
}

TEST(Fleet, ErrorsBeyondAReferenceAreWrongData) {
  Device one = device("a", 50);
  one.figures = {{{deck::Phase::alone, Order::by_engine, Metric::max_error}, exactly(1e-3)}};
  one.referenced = {{.metric = Metric::max_error, .order = {}, .min = {}, .max = {}}};
  Reference small = reference(1e-6);
  small.entries[0].subject.metric = Metric::max_error;
  EXPECT_EQ(fleet({one}, {}, &small).exit_code(), ExitCode::wrong_data);
}

TEST(Fleet, AReferenceDecidesWhatTheRunLeftUndecided) {
  Device open = device("a", 50);
  open.reasons = {{.code = ExitCode::inconclusive,
                   .text = "no --reference was given",
                   .phase = deck::Phase::alone,
                   .undecided = throughput}};
  const Reference good = reference(51), strict = reference(52);
  EXPECT_EQ(fleet({open}).exit_code(), ExitCode::inconclusive);
  EXPECT_EQ(fleet({open}, {}, &good).exit_code(), ExitCode::pass);
  EXPECT_EQ(fleet({open}, {}, &strict).exit_code(), ExitCode::performance);
  Device unjudgeable = open;
  unjudgeable.figures[0].unjudgeable = "there is nothing to hide";
  for (const Reference* const one : {&good, &strict}) {
    const Fleet made = fleet({unjudgeable}, {}, one);
    EXPECT_EQ(made.exit_code(), ExitCode::inconclusive);
    EXPECT_THAT(made.devices[0].reasons.at(0).text, HasSubstr("there is nothing to hide"));
  }
  const Reference far = reference(50, deck::Phase::together);
  const Fleet unknown = fleet({open}, {}, &far);
  EXPECT_EQ(unknown.exit_code(), ExitCode::inconclusive);
  ASSERT_EQ(unknown.devices[0].reasons.size(), 1U);
  EXPECT_THAT(unknown.devices[0].reasons[0].text,
              HasSubstr("phase alone, order by_engine, metric throughput; the nearest is for phase "
                        "together"));
  Device unmeasured = open;
  unmeasured.figures.clear();
  EXPECT_EQ(fleet({unmeasured}, {}, &strict).devices[0].reasons.at(0).text,
            "no --reference was given");
  open.referenced = {{.metric = Metric::throughput, .order = {}, .min = {}, .max = {}}};
  open.referenced[0].below = 0.1;  // the deck's own tolerance
  EXPECT_EQ(fleet({open}, {}, &strict).exit_code(), ExitCode::pass);
  open.referenced.push_back({.metric = Metric::throughput, .order = Order::by_engine});
  EXPECT_EQ(fleet({open}, {}, &strict).exit_code(), ExitCode::performance);  // each one counts
  open.referenced.pop_back();
  open.reasons[0].code = ExitCode::wrong_data;
  open.reasons[0].undecided.reset();
  EXPECT_EQ(fleet({open}, {}, &good).exit_code(), ExitCode::wrong_data);
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
