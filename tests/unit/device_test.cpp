#include "model/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "deck_file.hpp"
#include "generated.hpp"
#include "model/load.hpp"

/// Device descriptions: the curves in them, the shipped ones, and writing.
namespace overlap::model {
namespace {

constexpr double MiB = 0x1p20;

// ------------------------------------------------------------------------------------ curves

TEST(DeviceCurve, LineHasLatencyAndBandwidth) {
  const Curve line = Curve::line(10e-6, 5e9);
  EXPECT_DOUBLE_EQ(line.seconds(0), 10e-6);
  EXPECT_NEAR(line.seconds(5e6), 1.01e-3, 1e-15);
  EXPECT_NEAR(line.seconds_per_byte(), 2e-10, 1e-22);
  EXPECT_NEAR(line.bytes(1.01e-3), 5e6, 1e-3);
  EXPECT_EQ(line.bytes(5e-6), 0);
}

TEST(DeviceCurve, LineWithoutLatencyIsProportional) {
  const Curve line = Curve::line(0, 4e9);
  EXPECT_EQ(line.seconds(0), 0);
  EXPECT_DOUBLE_EQ(line.seconds(4e9), 1);
  EXPECT_DOUBLE_EQ(line.bytes(0.5), 2e9);
  EXPECT_EQ(Curve().seconds(100), 0);
  EXPECT_EQ(Curve().seconds_per_byte(), 0);
  EXPECT_EQ(Curve().bytes(1), 0);
}

TEST(DeviceCurve, PointsAreJoinedAndTheEndsGoOn) {
  const Curve curve({{100, 1}, {200, 2}, {400, 6}});
  EXPECT_DOUBLE_EQ(curve.seconds(10), 1);  // never below the first
  EXPECT_DOUBLE_EQ(curve.seconds(150), 1.5);
  EXPECT_DOUBLE_EQ(curve.seconds(200), 2);
  EXPECT_DOUBLE_EQ(curve.seconds(300), 4);
  EXPECT_DOUBLE_EQ(curve.seconds(500), 8);
  EXPECT_DOUBLE_EQ(curve.seconds_per_byte(), 0.02);
  for (const double bytes : {150.0, 200.0, 300.0, 500.0}) {
    EXPECT_DOUBLE_EQ(curve.bytes(curve.seconds(bytes)), bytes);
  }
  EXPECT_EQ(curve.bytes(1), 0);
}

TEST(DeviceCurve, LargerSizesTakeLonger) {
  const Curve curve = increasing({{1, 1}, {2, 5}, {4, 4}, {8, 8}, {16, 7}});
  std::vector<double> seconds;
  for (const Curve::Point& point : curve.points()) seconds.push_back(point.seconds);
  EXPECT_THAT(seconds, testing::ElementsAre(1, testing::DoubleEq(4 * (1 - 1e-6)), 4,
                                            testing::DoubleEq(7 * (1 - 1e-6)), 7));
}

TEST(DeviceKernel, OneRoofOfIntensityZeroHoldsForAny) {
  const Kernel kernel{{{0, Curve::line(0, 1e9)}}};
  EXPECT_DOUBLE_EQ(kernel.seconds(1e9, 0), 1);
  EXPECT_DOUBLE_EQ(kernel.seconds(1e9, 1e12), 1);
}

TEST(DeviceKernel, TimeBetweenAndBeyondRoofs) {
  const Kernel kernel{{{1, Curve::line(0, 4e9)}, {3, Curve::line(0, 1e9)}}};
  EXPECT_DOUBLE_EQ(kernel.seconds(1e9, 0), 0.25);  // memory alone
  EXPECT_DOUBLE_EQ(kernel.seconds(1e9, 1e9), 0.25);
  EXPECT_DOUBLE_EQ(kernel.seconds(1e9, 2e9), 0.625);  // half way
  EXPECT_DOUBLE_EQ(kernel.seconds(1e9, 3e9), 1);
  EXPECT_DOUBLE_EQ(kernel.seconds(1e9, 6e9), 2);  // as many times the arithmetic
  EXPECT_EQ(kernel.seconds(0, 0), 0);
}

TEST(DeviceKernel, SmallKernelsLeaveRoom) {
  const Kernel latency{{{0, Curve::line(10e-6, 1e9)}}};
  EXPECT_NEAR(latency.share(10e3, 0), 0.5, 1e-5);  // 10 us of work in 20 us
  EXPECT_GT(latency.share(1e9, 0), 0.9999);
  const Kernel proportional{{{0, Curve::line(0, 1e9)}}};
  EXPECT_EQ(proportional.share(1, 0), 1);
  EXPECT_EQ(proportional.share(0, 0), 1);
  // Seven kernels together take at least as long as one of their size: 22 s, not 7 * 2 s.
  const Kernel filling{{{0, Curve({{5, 9.99}, {10, 10}, {70, 22}})}}};
  EXPECT_NEAR(filling.share(10, 0), 22. / 70, 1e-9);
  EXPECT_NEAR(filling.share(700, 0), 0.2 / (148. / 700), 1e-4);  // larger than measured
  // The least of the largest sizes counts.
  const Kernel rows{{{1, Curve({{10, 10}, {70, 22}})}, {3, Curve({{10, 10}, {40, 28}})}}};
  EXPECT_NEAR(rows.share(10, 30), 28. / 40, 1e-9);
}

TEST(DeviceKernel, IsFoundByWorkloadAndType) {
  Device device;
  device.kernels["rowsum"].roofs.resize(1);
  device.kernels["rowsum/int32"].roofs.resize(2);
  ASSERT_NE(device.kernel("rowsum/int32"), nullptr);
  EXPECT_EQ(device.kernel("rowsum/int32")->roofs.size(), 2u);
  EXPECT_EQ(device.kernel("rowsum/float64")->roofs.size(), 1u);
  EXPECT_EQ(device.kernel("increment/float32"), nullptr);
}

// ------------------------------------------------------------------------- the shipped devices

TEST(ShippedDevices, AreThese) {
  EXPECT_THAT(
      device_names(),
      testing::ElementsAre("a100", "c1060", "c2050", "c2070", "fermi", "h100", "h200", "host",
                           "ideal_1copy", "ideal_2copy", "ideal_2copy_delayed_signal",
                           "ideal_hyperq", "k20c", "kepler", "rtx4090", "rtx5070ti", "v100"));
}

TEST(ShippedDevices, Load) {
  for (const std::string& name : device_names()) {
    SCOPED_TRACE(name);
    const Device device = load_device(name);
    EXPECT_EQ(device.name, name);
    EXPECT_TRUE(std::filesystem::exists(device.path));
    EXPECT_NE(device.title, "");
    EXPECT_EQ(device.unit_s > 0, name.starts_with("ideal_"));
    EXPECT_EQ(device.kernels.empty(), name.starts_with("ideal_"));
    EXPECT_EQ(load_device(device.path).title, device.title);
  }
}

TEST(ShippedDevices, OfOneNameAreNumbered) {
  std::vector<std::string> names;
  for (const Device& device : load_devices({"h200", "host", load_device("h200").path, "h200"})) {
    names.push_back(device.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("h200", "host", "h200 2", "h200 3"));
}

TEST(ShippedDevices, IdealOnesHaveTheQueuesOfTheSeeds) {
  const Device one = load_device("ideal_1copy");
  EXPECT_EQ(one.unit_s, 1e-3);
  EXPECT_EQ(one.copy_engines, 1);
  EXPECT_EQ(one.queues, Queues::engine);
  EXPECT_FALSE(one.delayed_signal);
  EXPECT_EQ(one.host.copy_s + one.host.kernel_s + one.latency.start_s, 0);
  const Device delayed = load_device("ideal_2copy_delayed_signal");
  EXPECT_EQ(delayed.copy_engines, 2);
  EXPECT_EQ(delayed.concurrent_kernels, 16);
  EXPECT_EQ(delayed.window, 0);
  EXPECT_TRUE(delayed.delayed_signal);
  EXPECT_TRUE(delayed.query_releases);
  EXPECT_FALSE(load_device("ideal_2copy").delayed_signal);
  EXPECT_EQ(load_device("ideal_hyperq").queues, Queues::connection);
  EXPECT_EQ(load_device("ideal_hyperq").connections, 32);
  EXPECT_EQ(load_device("c2050").window, 62);
  EXPECT_EQ(load_device("host").queues, Queues::worker);
  EXPECT_EQ(load_device("host").cores, 2);
}

/// Seconds of a whole workload, one stage after the other.
double sequential(const Device& device, const std::string& kernel, double up, double memory,
                  double down, double flops = 0) {
  return device.h2d.pinned.seconds(up) + device.kernel(kernel)->seconds(memory, flops) +
         device.d2h.pinned.seconds(down);
}

TEST(ShippedDevices, GiveTheSequentialTimesThatTheyWereMadeFrom) {
  for (const auto& [name, ms] :
       {std::pair{"c1060", 12.92381}, {"c2050", 9.984512}, {"k20c", 7.101760}}) {
    const Device device = load_device(name);
    EXPECT_NEAR(1e3 * sequential(device, "increment/float32", 16 * MiB, 32 * MiB, 16 * MiB), ms,
                1e-6 * ms);
    EXPECT_NEAR(1e3 * device.h2d.pinned.seconds(16 * MiB), ms / 3, 1e-6 * ms);
  }
  for (const auto& [name, ms] : {std::pair{"fermi", 41.917}, {"kepler", 52.19}}) {
    EXPECT_NEAR(
        1e3 * 10 * sequential(load_device(name), "pipeline/float32", 8 * MiB, 12 * MiB, 4 * MiB),
        ms, 1e-6 * ms);
  }
  // Less the calls of the host and its waits.
  EXPECT_NEAR(sequential(load_device("rtx5070ti"), "rowsum/int32", 12e9, 14e9, 2e9), 303.726e-3,
              30e-6);
  // A and B go to the device, C goes both ways; the kernel's memory does not matter.
  const double factors = 2 * 8192.0 * 288 * 8;
  const double c = 8192.0 * 8192 * 8;
  const double flops = 2 * 8192.0 * 8192 * 288;
  EXPECT_NEAR(flops / sequential(load_device("c2070"), "dgemm/float64", factors + c,
                                 factors + 2 * c, c, flops),
              125e9, 1e5);
}

TEST(ShippedDevices, H200AgreesWithOtherMeasurements) {
  // Of plain CUDA on another H200.
  const Device device = load_device("h200");
  EXPECT_NEAR(device.h2d.pinned.seconds(64 * 1024), 3.9e-6, 0.4e-6);
  EXPECT_NEAR(device.h2d.pinned.seconds(16 * MiB), 0.310e-3, 0.006e-3);
  EXPECT_NEAR(device.d2h.pinned.seconds(1024 * MiB), 19.38e-3, 0.2e-3);
  EXPECT_NEAR(device.d2h.duplex.seconds(1024 * MiB), 21.12e-3, 0.2e-3);
  const Kernel& increment = *device.kernel("increment/float32");
  const double elements = 64 * MiB;
  EXPECT_NEAR(increment.seconds(8 * elements, 7 * elements), 0.93e-3, 0.04e-3);
}

TEST(DeviceCopies, OfNoTimeAreNotSlowed) {
  const Copies copies = {.pinned = Curve({{1, 0}, {2, 1}}), .duplex = Curve::line(1, 1)};
  EXPECT_EQ(copies.slowed(1), 1);
  EXPECT_EQ(copies.slowed(2), 3);
  // Nor does the other direction make one faster, whatever was measured.
  EXPECT_EQ((Copies{.pinned = Curve::line(1, 1), .duplex = Curve::line(0.5, 1)}).slowed(1), 1);
}

/// The part of a line before its comment, and the comment.
std::pair<std::string, std::string> split_comment(const std::string& line) {
  const auto hash = line.find('#');
  if (hash == std::string::npos) return {line, ""};
  return {line.substr(0, hash), line.substr(hash)};
}

/// Whether a value, or an element of a list, starts with a digit.
bool has_number(const std::string& line) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    const bool starts_value = line.substr(i - 1, 2) == ": " || line[i] == '[';
    const auto next = line.find_first_not_of(' ', i + 1);
    if (starts_value && next != std::string::npos && line[next] >= '0' && line[next] <= '9')
      return true;
  }
  return false;
}

/// Lines with a number but without a source: in a comment beside it, or in one right above it.
/// Titles need none, and lists that go on have that of their first line.
std::vector<std::string> unsourced(std::istream& file) {
  const auto has_source = [](const std::string& comment) {
    return std::ranges::any_of(
        std::array{"seed", "data sheet", "published", "measured", "definition"},
        [&](const char* word) { return comment.find(word) != std::string::npos; });
  };
  std::vector<std::string> found;
  bool above = false;
  std::size_t block = std::string::npos;  // indentation of a key whose comment holds for its values
  for (std::string line; std::getline(file, line);) {
    const auto [value, comment] = split_comment(line);
    const auto first = value.find_first_not_of(' ');
    if (first == std::string::npos) {
      above = has_source(comment);
      continue;
    }
    const bool goes_on = value[first] == '[';
    if (first != std::string::npos && block != std::string::npos && first <= block) {
      block = std::string::npos;
    }
    const auto end = std::min(value.find_last_not_of(' '), value.find(": &"));  // without an anchor
    if (has_source(comment) && value.substr(0, end + 1).ends_with(':')) block = first;
    const bool here = has_source(comment) || block != std::string::npos;
    if (has_number(value) && !here && !above && !value.starts_with("title:")) {
      found.push_back(line);
    }
    above = above && (goes_on || value.find(": [") != std::string::npos);
  }
  return found;
}

TEST(ShippedDevices, EveryNumberHasASource) {
  for (const std::string& name : device_names()) {
    std::ifstream file(load_device(name).path);
    EXPECT_THAT(unsourced(file), testing::IsEmpty()) << name;
  }
  std::istringstream bad("unit: 1 ms\n# seed 000\nunit: 2 ms\nunit: 3 ms  # so\na: {b: 1}\n");
  EXPECT_THAT(unsourced(bad), testing::ElementsAre("unit: 1 ms", "unit: 3 ms  # so", "a: {b: 1}"));
}

// ------------------------------------------------------------------------------------ writing

void expect_close(double found, double expected, const std::string& what) {
  EXPECT_NEAR(found, expected, 1e-6 * std::abs(expected)) << what;
}

void expect_equal(const Curve& found, const Curve& expected, const std::string& what) {
  for (const double bytes : {0.0, 1.0, 5e3, 64 * 1024.0, 1e6, 3e8, 5e10}) {
    expect_close(found.seconds(bytes), expected.seconds(bytes), what);
  }
}

void expect_equal(const Copies& found, const Copies& expected, const std::string& what) {
  expect_equal(found.pinned, expected.pinned, what + ".pinned");
  expect_equal(found.pageable, expected.pageable, what + ".pageable");
  expect_equal(found.duplex, expected.duplex, what + ".duplex");
  EXPECT_EQ(found.unblocked_bytes, expected.unblocked_bytes);
}

void expect_equal(const Device& found, const Device& expected) {
  EXPECT_EQ(found.title, expected.title);
  expect_close(found.unit_s, expected.unit_s, "unit");
  EXPECT_EQ(found.memory_bytes, expected.memory_bytes);
  EXPECT_EQ(found.copy_engines, expected.copy_engines);
  expect_equal(found.h2d, expected.h2d, "h2d");
  expect_equal(found.d2h, expected.d2h, "d2h");
  EXPECT_EQ(found.queues, expected.queues);
  EXPECT_EQ(found.connections, expected.connections);
  EXPECT_EQ(found.copy_connections, expected.copy_connections);
  EXPECT_EQ(found.delayed_signal, expected.delayed_signal);
  EXPECT_EQ(found.query_releases, expected.query_releases);
  EXPECT_EQ(found.window, expected.window);
  EXPECT_EQ(found.concurrent_kernels, expected.concurrent_kernels);
  expect_close(found.kernels_slowed, expected.kernels_slowed, "kernels.slowed");
  ASSERT_EQ(found.kernels.size(), expected.kernels.size());
  for (const auto& [name, kernel] : expected.kernels) {
    ASSERT_EQ(found.kernels.count(name), 1u) << name;
    const Kernel& other = found.kernels.at(name);
    ASSERT_EQ(other.roofs.size(), kernel.roofs.size()) << name;
    for (std::size_t i = 0; i < kernel.roofs.size(); ++i) {
      expect_close(other.roofs[i].flop_per_byte, kernel.roofs[i].flop_per_byte, name);
      expect_equal(other.roofs[i].time, kernel.roofs[i].time, name);
    }
  }
  EXPECT_EQ(found.cores, expected.cores);
  EXPECT_EQ(found.lanes_divide, expected.lanes_divide);
  const auto costs = [](const Device& d) {
    return std::vector{d.host.copy_s,     d.host.kernel_s,      d.host.record_s,   d.host.wait_s,
                       d.host.query_s,    d.host.synchronize_s, d.latency.start_s, d.latency.lane_s,
                       d.latency.event_s, d.latency.notice_s};
  };
  for (std::size_t i = 0; i < costs(found).size(); ++i) {
    expect_close(costs(found)[i], costs(expected)[i], "cost " + std::to_string(i));
  }
  EXPECT_EQ(found.match, expected.match);
}

/// A device with a different, crooked value everywhere.
Device crooked() {
  Device device;
  device.title = "A \"crooked\" \\ device: {#1}";
  device.copy_engines = 1;
  device.h2d = {.pinned = Curve({{4096, 2.7123456e-6}, {65536, 3.91e-6}, {1e9 + 1, 0.0193}}),
                .pageable = Curve::line(1.23456e-5, 2.2812345e10),
                .duplex = Curve({{4096, 3.7e-6}, {1e9 + 1, 0.0213}}),
                .unblocked_bytes = 65536};
  device.d2h = {.pinned = Curve({{0, 1e-6}, {1000, 2e-6}, {3000, 7e-6}}),
                .pageable = Curve({{3333, 1e-5}}),
                .duplex = Curve::line(1.5e-6, 1e8),
                .unblocked_bytes = 1};
  device.memory_bytes = 79 << 20;
  device.connections = 7;
  device.copy_connections = 3;
  device.delayed_signal = true;
  device.query_releases = true;
  device.window = 61;
  device.concurrent_kernels = 5;
  device.kernels_slowed = 1.01234;
  device.kernels["increment"] = {{{0, Curve::line(3e-6, 1.23456e12)}}};
  device.kernels["rowsum/int32"] = {
      {{0.214286, Curve::line(0, 4.4e12)}, {1.75, Curve({{65536, 3e-6}, {1e9, 3e-3}})}}};
  device.kernels["rowsum/int64"] = {{{1.5, Curve::line(0, 2.3e12)}}};
  device.host = {1.1e-6, 2.2e-6, 3.3e-6, 4.4e-7, 5.5e-9, 6.6e-10};
  device.latency = {1.5e-6, 0, 3.25e-3, 1.75};
  device.match = {"A \"crooked\" GPU: 1", "gen4 x8"};
  return device;
}

/// What load_device() makes of to_yaml().
Device reread(const Device& device) {
  return load_device(DeckFile(to_yaml(device, "How.\nWhen."), "written.yaml").path());
}

TEST(DeviceFile, SaysNothingAboutPageableCopiesThatBlock) {
  Device device = crooked();
  device.h2d.unblocked_bytes = device.d2h.unblocked_bytes = 0;
  EXPECT_THAT(to_yaml(device, ""), testing::Not(testing::HasSubstr("unblocked:")));
  EXPECT_THAT(to_yaml(crooked(), ""), testing::HasSubstr("unblocked: 64 KiB"));
}

TEST(DeviceFile, LeavesOutWhatTheDocumentationSays) {
  const Device device = load_device(DeckFile("h2d: {bandwidth: 5 GB/s}\nd2h: {bandwidth: 5 GB/s}\n"
                                             "kernels: {rates: {increment: {bandwidth: 8 GB/s}}}\n",
                                             "least.yaml")
                                        .path());
  EXPECT_EQ(device.copy_engines, 2);
  EXPECT_EQ(device.queues, Queues::connection);
  EXPECT_EQ(device.connections, 32);
  EXPECT_EQ(device.copy_connections, 32);
  EXPECT_EQ(device.concurrent_kernels, 1);
  EXPECT_EQ(device.window, 0);
  EXPECT_EQ(device.cores, 1);
  EXPECT_FALSE(device.match);
  EXPECT_EQ(device.memory_bytes, 0);
  EXPECT_EQ(device.kernels_slowed, 1);
  EXPECT_EQ(device.h2d.unblocked_bytes, 0);
}

TEST(DeviceFile, IsReadAsItWasWritten) {
  Device device = crooked();
  expect_equal(reread(device), device);
  EXPECT_EQ(reread(device).name, "written");
  device.queues = Queues::engine;
  device.connections = Device().connections;
  device.copy_connections = Device().copy_connections;
  expect_equal(reread(device), device);
  device = load_device("host");
  device.lanes_divide = true;
  expect_equal(reread(device), device);
  for (const std::string& name : device_names()) {
    SCOPED_TRACE(name);
    expect_equal(reread(load_device(name)), load_device(name));
  }
}

TEST(DeviceFile, OfAMeasuredDeviceIsShippedAsItIsWritten) {
  for (const std::string name : {"h200", "host"}) {
    const Device device = load_device(name);
    const std::string text = test::content(device.path);
    test::expect_generated(device.path, text.substr(0, text.find("title:")) + to_yaml(device, ""));
  }
}

TEST(ShippedDevices, AreFoundByWhereTheyWereMeasured) {
  const auto name = [](const Match& match) {
    const auto device = shipped_device(match);
    return device ? device->name : "none";
  };
  EXPECT_EQ(name({"NVIDIA H200", "gen5 x16"}), "h200");
  EXPECT_EQ(name({"NVIDIA H200", "gen4 x16"}), "none");
  EXPECT_EQ(name({"NVIDIA H200", {}}), "none");
  EXPECT_EQ(name({"NVIDIA H100", "gen5 x16"}), "none");
}

TEST(DeviceFile, SaysHowItWasMeasuredAndWhatItMeans) {
  const std::string text = to_yaml(crooked(), "On a bench,\n2031-02-03.");
  EXPECT_THAT(text, testing::StartsWith("# On a bench,\n# 2031-02-03.\ntitle: "));
  std::istringstream stream(text);
  EXPECT_THAT(unsourced(stream), testing::IsEmpty());
  EXPECT_THAT(text,
              testing::HasSubstr("pageable: {latency: 12.3456 us, bandwidth: 22.81235 GB/s}"));
  EXPECT_THAT(text, testing::HasSubstr("[4 KiB, 2.712346 us], [64 KiB, 3.91 us]"));
  // One rate for any intensity, or a list.
  EXPECT_THAT(text, testing::HasSubstr(" increment: {latency: 3 us, bandwidth: 1.23456 TB/s}\n"));
  EXPECT_THAT(text, testing::HasSubstr(" rowsum/int64:\n      - {intensity: 1.5, "));
}

}  // namespace
}  // namespace overlap::model
