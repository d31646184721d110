#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "deck_file.hpp"
#include "model/load.hpp"

/// Every kind of bad device file with the exact line that the user reads.
namespace overlap::model {
namespace {

struct Bad {
  std::string file;
  std::string message;  ///< '@' stands for the path of the file
};

/// A good device on three lines and `rest` below.
std::string device(const std::string& rest) {
  return "h2d: {bandwidth: 5 GB/s}\nd2h: {bandwidth: 5 GB/s}\n"
         "kernels: {rates: {increment: {bandwidth: 8 GB/s}}}\n" +
         rest;
}

/// A device with these copies on its first line.
std::string h2d(const std::string& keys) { return "h2d: {" + keys + "}\n"; }

/// A device with these rates on its third line.
std::string rates(const std::string& rates) {
  return "h2d: {bandwidth: 5 GB/s}\nd2h: {bandwidth: 5 GB/s}\nkernels: {rates: " + rates + "}\n";
}

/// What load_device() says: "" when it says nothing.
std::string complaint(const std::string& name_or_path) {
  try {
    load_device(name_or_path);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.what();
  }
  return "";
}

void expect_messages(const std::vector<Bad>& table) {
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.file);
    const DeckFile file(bad.file, "device.yaml");
    std::string expected = bad.message;
    for (auto at = expected.find('@'); at != std::string::npos;
         at = expected.find('@', at + file.path().size())) {
      expected.replace(at, 1, file.path());
    }
    EXPECT_EQ(complaint(file.path()), expected);
  }
}

const std::string top_keys =
    "title, unit, memory, copy_engines, queues, workers, h2d, d2h, kernels, host, latency, "
    "calls, spread, doubtful";
const std::string curve_keys = "bandwidth (and latency) or times";
const std::string bandwidth = "a bandwidth from 1 B/s to 1000 TB/s, such as 5.04 GB/s";
const std::string time = "a time from 0 to 1000 s, such as 2.2 us";
const std::string point = "a point [size, time], such as [64 KiB, 3.9 us]";
const std::string points =
    "a list of points [size, time], such as [[64 KiB, 3.9 us], [1 MiB, 21 us]]";

const std::string kernels =
    "a workload (increment, rowsum, pipeline, dgemm, custom), or with its type (int32, int64, "
    "float32, float64), such as rowsum/int32";
const std::string size = "a size of at least 0 B, such as 65536, 16 MiB or 2 GB";

TEST(DeviceErrors, TheGoodDeviceIsGood) {
  EXPECT_EQ(complaint(DeckFile(device(""), "device.yaml").path()), "");
  EXPECT_EQ(complaint(DeckFile("unit: 1 ms\n", "device.yaml").path()), "");
}

/// A device with this duplex curve of copies at 1 MB/s.
std::string h2d_duplex(const std::string& duplex) {
  return "h2d: {bandwidth: 1 MB/s, duplex: " + duplex +
         "}\nd2h: {bandwidth: 5 GB/s}\nkernels: {rates: {increment: {bandwidth: 8 GB/s}}}\n";
}

TEST(DeviceErrors, TheLimitsThemselvesAreGood) {
  for (const std::string& text :
       {std::string("unit: 1 ns\n"), std::string("unit: 1000 s\n"),
        std::string("unit: 1 ms\nkernels: {concurrent: 1, slowed: 1}\n"),
        std::string("unit: 1 ms\nkernels: {concurrent: 1024, slowed: 100}\n"),
        device("queues: {connections: 1, copy_connections: 1, window: 0}\n"),
        device("queues: {connections: 1024, copy_connections: 1024, window: 1048576}\n"),
        device("queues: {kind: worker}\nworkers: {cores: 1}\n"),
        device("queues: {kind: worker}\nworkers: {cores: 1024}\n"), device("copy_engines: 1\n"),
        device("copy_engines: 2\n"), device("spread: {copies: 0, kernels: 0, calls: 0}\n"),
        device("spread: {copies: 1, kernels: 1, calls: 1}\n"), device("memory: 1\n"),
        device("doubtful: [host, kernels.slowed, h2d.duplex at 64 KiB, kernels.rates.increment at "
               "1 B]\n"),
        h2d_duplex("{times: [[1 KB, 970 us], [2 KB, 2 ms]]}"),
        device("latency: {event: 0, notice: 1000}\n"),
        rates("{rowsum: [{intensity: 0, bandwidth: 1 B/s}, {intensity: 1e9, bandwidth: 1 B/s}]}"),
        h2d("bandwidth: 1000 TB/s, slowed: 1") + "d2h: {bandwidth: 1 B/s, slowed: 100}\n" +
            "kernels: {rates: {increment: {bandwidth: 8 GB/s}}}\n"}) {
    EXPECT_EQ(complaint(DeckFile(text, "device.yaml").path()), "") << text;
  }
}

TEST(DeviceErrors, FilesThatAreNoDevices) {
  const DeckFile file("[1]\n", "device.yaml");
  EXPECT_EQ(complaint(""),
            "'': no such device; allowed: c1060, c2050, c2070, fermi, h200, host, "
            "ideal_1copy, ideal_2copy, ideal_2copy_delayed_signal, ideal_hyperq, "
            "k20c, kepler, rtx5070ti, or the path of a device file");
  EXPECT_EQ(complaint("c2051"),
            "'c2051': no such device; allowed: c1060, c2050, c2070, fermi, h200, host, "
            "ideal_1copy, ideal_2copy, ideal_2copy_delayed_signal, ideal_hyperq, k20c, kepler, "
            "rtx5070ti, or the path of a device file; did you mean 'c2050'?");
  EXPECT_THAT(complaint("H200"), testing::EndsWith("; did you mean 'h200'?"));
  EXPECT_EQ(complaint(file.folder() + "/other"), file.folder() + "/other: no such device file");
  EXPECT_EQ(complaint("other.yaml"), "other.yaml: no such device file");
  EXPECT_EQ(complaint(file.folder()),
            file.folder() + ": is a folder; allowed: a device file in YAML");
  EXPECT_EQ(complaint(DeckFile(std::string(std::size_t{17} << 20, '#'), "big.yaml").path())
                .substr(file.folder().size()),
            "/big.yaml: found more than 16 MiB; allowed: a device file in YAML");
  expect_messages({
      {"[1]\n", "@:1:1: device file: found a list; allowed: a map with the keys " + top_keys},
      {"", "@: h2d: found nothing; allowed: " + curve_keys + "; a device without rates has a unit"},
      {"h2d: {bandwidth: 5 GB/s\n",
       "@:2:1: not YAML: end of map flow not found (text with ': ' or other signs needs quotes; "
       "keys of a map share a column)"},
      {"unit: 1 ms\n---\nunit: 1 ms\n", "@:2:1: found a second YAML document; allowed: one"},
      {"title: \xff\n",
       "@:1:8: not YAML: found the byte 0xff; allowed: UTF-8 text without control characters"},
  });
}

TEST(DeviceErrors, UnknownAndRepeatedKeys) {
  expect_messages({
      {device("queue: {kind: engine}\n"),
       "@:4:1: queue: unknown key; allowed: " + top_keys + "; did you mean 'queues'?"},
      {device("d2h: {bandwidth: 5 GB/s}\n"),
       "@:4:1: d2h: found twice, first at @:2:1; allowed: once"},
      {h2d("bandwith: 5 GB/s"),
       "@:1:7: h2d.bandwith: unknown key; allowed: latency, bandwidth, times, slowed, duplex, "
       "pageable, lines, unblocked; did you mean 'bandwidth'?"},
      {h2d("bandwidth: 5 GB/s, pageable: {slowed: 1}"),
       "@:1:37: h2d.pageable.slowed: unknown key; allowed: latency, bandwidth, times"},
      {device("queues: {kinds: engine}\n"),
       "@:4:10: queues.kinds: unknown key; allowed: kind, connections, copy_connections, "
       "delayed_signal, query_releases, window; did you mean 'kind'?"},
      {"unit: 1 ms\nkernels: {concurent: 4}\n",
       "@:2:11: kernels.concurent: unknown key; allowed: concurrent, slowed, cache, zero_copy, "
       "rates; did you "
       "mean "
       "'concurrent'?"},
      {device("host: {notice: 1 us}\n"),
       "@:4:8: host.notice: unknown key; allowed: copy, kernel, record, wait, query, "
       "synchronize, products"},
      {device("host: {products: 43}\n"),
       "@:4:18: host.products: found '43'; allowed: a rate from 1 flop/s to 1000 Tflop/s, such as "
       "43 Gflop/s"},
      {device("host: {products: 43 GFlop/s}\n"),
       "@:4:18: host.products: found '43 GFlop/s'; allowed: a rate from 1 flop/s to 1000 Tflop/s, "
       "such as 43 Gflop/s; units: Tflop/s, Gflop/s, Mflop/s, kflop/s, flop/s"},
      {device("spread: {copies: 0.1, kernels: 0.1}\n"),
       "@:4:9: spread.calls: found nothing; allowed: a number from 0 to 1"},
      {device("spread: {copies: 1.5, kernels: 0.1, calls: 0}\n"),
       "@:4:18: spread.copies: found '1.5'; allowed: a number from 0 to 1"},
      {device("doubtful: h2d\n"),
       "@:4:11: doubtful: found 'h2d'; allowed: a list of names of figures, such as [host]"},
      {device("latency: {copy: 1 us}\n"),
       "@:4:11: latency.copy: unknown key; allowed: start, lane, event, "
       "notice, handover, small_lane, small_event, small_handover"},
      {device("queues: {kind: worker}\nworkers: {core: 2}\n"),
       "@:5:11: workers.core: unknown key; allowed: cores, lanes_divide; did you mean 'cores'?"},
      {rates("{increment: {intensity: 1, bandwidth: 1 GB/s}}"),
       "@:3:31: kernels.rates.increment.intensity: unknown key; allowed: latency, bandwidth, "
       "times"},
      {rates("{increment: {bandwidth: 1 GB/s}, increment: {bandwidth: 2 GB/s}}"),
       "@:3:51: kernels.rates.increment: found twice, first at @:3:19; allowed: once"},
  });
}

TEST(DeviceErrors, Values) {
  const auto queues = [](const std::string& keys) { return device("queues: {" + keys + "}\n"); };
  expect_messages({
      {device("title: [1]\n"), "@:4:8: title: found a list; allowed: one line of text"},
      {device("title: \"a\\nb\"\n"), "@:4:8: title: found 'a\\nb'; allowed: one line of text"},
      {"unit: 0 ms\n",
       "@:1:7: unit: found '0 ms'; allowed: a time from 1 ns to 1000 s, such as 1 ms"},
      {"unit: 1 GB/s\n",
       "@:1:7: unit: found '1 GB/s'; allowed: a time from 1 ns to 1000 s, such as 1 ms; units: s, "
       "min, h, ms, us, µs, ns"},
      {device("copy_engines: 3\n"),
       "@:4:15: copy_engines: found '3'; allowed: a whole number from 1 to 2"},
      {device("memory: 0\n"),
       "@:4:9: memory: found '0'; allowed: a size of at least 1 B, such as 65536, 16 MiB or 2 GB"},
      {h2d("bandwidth: 5"), "@:1:18: h2d.bandwidth: found '5'; allowed: " + bandwidth},
      {h2d("bandwidth: 0 GB/s"), "@:1:18: h2d.bandwidth: found '0 GB/s'; allowed: " + bandwidth},
      {h2d("bandwidth: -1 GB/s"), "@:1:18: h2d.bandwidth: found '-1 GB/s'; allowed: " + bandwidth},
      {h2d("bandwidth: 5 Gbit/s"), "@:1:18: h2d.bandwidth: found '5 Gbit/s'; allowed: " +
                                       bandwidth + "; units: TB/s, GB/s, MB/s, kB/s, B/s"},
      {h2d("bandwidth: [5 GB/s]"), "@:1:18: h2d.bandwidth: found a list; allowed: " + bandwidth},
      {h2d("bandwidth: 5 GB/s, latency: -1 us"),
       "@:1:35: h2d.latency: found '-1 us'; allowed: " + time},
      {h2d("bandwidth: 5 GB/s, latency: 1 day"), "@:1:35: h2d.latency: found '1 day'; allowed: " +
                                                     time + "; units: s, min, h, ms, us, µs, ns"},
      {h2d("bandwidth: 5 GB/s, slowed: 0.9"),
       "@:1:34: h2d.slowed: found '0.9'; allowed: a number from 1 to 100"},
      {h2d("bandwidth: 5 GB/s, slowed: 101"),
       "@:1:34: h2d.slowed: found '101'; allowed: a number from 1 to 100"},
      {h2d("bandwidth: 5 GB/s, slowed: nan"),
       "@:1:34: h2d.slowed: found 'nan'; allowed: a number from 1 to 100"},
      {h2d("bandwidth: 5 GB/s, unblocked: -1"),
       "@:1:37: h2d.unblocked: found '-1'; allowed: " + size},
      {h2d("bandwidth: 5 GB/s, pageable: 3 GB/s"),
       "@:1:36: h2d.pageable: found '3 GB/s'; allowed: a map with the keys latency, bandwidth, "
       "times"},
      {h2d("bandwidth: 5 GB/s, lines: {slowed: 2}"),
       "@:1:34: h2d.lines.slowed: unknown key; allowed: latency, bandwidth, times"},
      {"h2d: 5 GB/s\n",
       "@:1:6: h2d: found '5 GB/s'; allowed: a map with the keys latency, bandwidth, times, "
       "slowed, duplex, pageable, lines, unblocked"},
      {queues("kind: engines"),
       "@:4:16: queues.kind: found 'engines'; allowed: engine, connection, worker; did you mean "
       "'engine'?"},
      {queues("connections: 0"),
       "@:4:23: queues.connections: found '0'; allowed: a whole number from 1 to 1024"},
      {queues("copy_connections: 0"),
       "@:4:28: queues.copy_connections: found '0'; allowed: a whole number from 1 to 1024"},
      {queues("copy_connections: 1025"),
       "@:4:28: queues.copy_connections: found '1025'; allowed: a whole number from 1 to 1024"},
      {queues("delayed_signal: yes"),
       "@:4:26: queues.delayed_signal: found 'yes'; allowed: true, false"},
      {queues("window: -1"),
       "@:4:18: queues.window: found '-1'; allowed: a whole number from 0 to 1048576"},
      {queues("window: 1048577"),
       "@:4:18: queues.window: found '1048577'; allowed: a whole number from 0 to 1048576"},
      {"unit: 1001 s\n",
       "@:1:7: unit: found '1001 s'; allowed: a time from 1 ns to 1000 s, such as 1 ms"},
      {device("spread: {copies: 0, kernels: -0.1, calls: 0}\n"),
       "@:4:30: spread.kernels: found '-0.1'; allowed: a number from 0 to 1"},
      {device("queues: {kind: worker}\nworkers: {cores: 1025}\n"),
       "@:5:18: workers.cores: found '1025'; allowed: a whole number from 1 to 1024"},
      {"unit: 1 ms\nkernels: {concurrent: 0}\n",
       "@:2:23: kernels.concurrent: found '0'; allowed: a whole number from 1 to 1024"},
      {"unit: 1 ms\nkernels: {slowed: 0}\n",
       "@:2:19: kernels.slowed: found '0'; allowed: a number from 1 to 100"},
      {device("host: {copy: fast}\n"), "@:4:14: host.copy: found 'fast'; allowed: " + time},
      {device("latency: {event: 1001}\n"), "@:4:18: latency.event: found '1001'; allowed: " + time},
      {device("queues: {kind: worker}\nworkers: {cores: 0}\n"),
       "@:5:18: workers.cores: found '0'; allowed: a whole number from 1 to 1024"},
      {device("queues: {kind: worker}\nworkers: {lanes_divide: 1}\n"),
       "@:5:25: workers.lanes_divide: found '1'; allowed: true, false"},
  });
}

TEST(DeviceErrors, Points) {
  expect_messages({
      {h2d("times: 3 us"), "@:1:14: h2d.times: found '3 us'; allowed: " + points},
      {h2d("times: []"), "@:1:14: h2d.times: found an empty list; allowed: " + points},
      {h2d("times: [4 KiB, 3 us]"), "@:1:15: h2d.times[0]: found '4 KiB'; allowed: " + point},
      {h2d("times: [[4 KiB]]"), "@:1:15: h2d.times[0]: found a list of 1; allowed: " + point},
      {h2d("times: [[4 KB/s, 3 us]]"), "@:1:16: h2d.times[0][0]: found '4 KB/s'; allowed: " + size +
                                           "; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB"},
      {h2d("times: [[3 us, 4 KiB]]"), "@:1:16: h2d.times[0][0]: found '3 us'; allowed: " + size +
                                          "; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB"},
      {h2d("times: [[4 KiB, 3 um]]"), "@:1:23: h2d.times[0][1]: found '3 um'; allowed: " + time +
                                          "; units: s, min, h, ms, us, µs, ns"},
      {h2d("times: [[4 KiB, 3 us], [4 KiB, 4 us]]"),
       "@:1:31: h2d.times[1][0]: found '4 KiB'; allowed: more than at the point before"},
      {h2d("times: [[4 KiB, 3 us], [8 KiB, 3 us]]"),
       "@:1:38: h2d.times[1][1]: found '3 us'; allowed: more than at the point before"},
      {h2d("times: [[0, 3 us]]"),
       "@:1:15: h2d.times[0]: found 0 in the only point; allowed: a size and a time above 0"},
      {h2d("times: [[4 KiB, 0 us]]"),
       "@:1:15: h2d.times[0]: found 0 in the only point; allowed: a size and a time above 0"},
  });
}

TEST(DeviceErrors, Rates) {
  expect_messages({
      {rates("8 GB/s"),
       "@:3:18: kernels.rates: found '8 GB/s'; allowed: a rate for a workload, such as "
       "{increment: {bandwidth: 7.8 GB/s}}"},
      {rates("{}"),
       "@:3:18: kernels.rates: found a map; allowed: a rate for a workload, such as "
       "{increment: {bandwidth: 7.8 GB/s}}"},
      {rates("{incremnt: {bandwidth: 8 GB/s}}"),
       "@:3:19: kernels.rates.incremnt: unknown kernel; allowed: " + kernels +
           "; did you mean 'increment'?"},
      {rates("{rowsum/int: {bandwidth: 8 GB/s}}"),
       "@:3:19: kernels.rates.rowsum/int: unknown kernel; allowed: " + kernels +
           "; did you mean 'rowsum/int32'?"},
      {rates("{rowsum/imt32: {bandwidth: 8 GB/s}}"),
       "@:3:19: kernels.rates.rowsum/imt32: unknown kernel; allowed: " + kernels +
           "; did you mean 'rowsum/int32'?"},
      {rates("{rowsum: 8 GB/s}"),
       "@:3:27: kernels.rates.rowsum: found '8 GB/s'; allowed: a map with the keys latency, "
       "bandwidth, times"},
      {rates("{rowsum: []}"),
       "@:3:27: kernels.rates.rowsum: found an empty list; allowed: rates by increasing intensity"},
      {rates("{rowsum: [{bandwidth: 8 GB/s}]}"),
       "@:3:28: kernels.rates.rowsum[0].intensity: found nothing; allowed: a number from 0 to 1e9 "
       "of flop/byte"},
      {rates("{rowsum: [{intensity: 1000000001, bandwidth: 8 GB/s}]}"),
       "@:3:40: kernels.rates.rowsum[0].intensity: found '1000000001'; allowed: a number from 0 to "
       "1e9 of flop/byte"},
      {rates("{rowsum: [{intensity: -1, bandwidth: 8 GB/s}]}"),
       "@:3:40: kernels.rates.rowsum[0].intensity: found '-1'; allowed: a number from 0 to 1e9 of "
       "flop/byte"},
      {rates("{rowsum: [{intensity: 1, bandwidth: 8 GB/s}, {intensity: 1, bandwidth: 4 GB/s}]}"),
       "@:3:75: kernels.rates.rowsum[1].intensity: found '1'; allowed: more than in the entry "
       "before"},
      {rates("{rowsum: [{intensity: 1}]}"),
       "@:3:28: kernels.rates.rowsum[0]: found neither bandwidth nor times; allowed: " +
           curve_keys},
  });
}

TEST(DeviceErrors, MissingKeys) {
  expect_messages({
      {"h2d: {bandwidth: 5 GB/s}\n",
       "@:1:1: d2h: found nothing; allowed: " + curve_keys + "; a device without rates has a unit"},
      {"h2d: {bandwidth: 5 GB/s}\nd2h: {bandwidth: 5 GB/s}\n",
       "@:1:1: kernels.rates: found nothing; allowed: a rate for a workload, such as {increment: "
       "{bandwidth: 7.8 GB/s}}"},
      {h2d(""), "@:1:6: h2d: found neither bandwidth nor times; allowed: " + curve_keys},
      {h2d("latency: 1 us"),
       "@:1:6: h2d: found neither bandwidth nor times; allowed: " + curve_keys},
      {h2d("bandwidth: 5 GB/s, pageable: {latency: 1 us}"),
       "@:1:36: h2d.pageable: found neither bandwidth nor times; allowed: " + curve_keys},
      {"h2d:\n",
       "@:1:1: h2d: found nothing; allowed: a map with the keys latency, bandwidth, times, "
       "slowed, duplex, pageable, lines, unblocked"},
      {device("queues: {kind: }\n"),
       "@:4:10: queues.kind: found nothing; allowed: engine, connection, worker"},
  });
}

TEST(DeviceErrors, Contradictions) {
  expect_messages({
      {h2d("bandwidth: 5 GB/s, times: [[4 KiB, 3 us]]"),
       "@:1:18: h2d.bandwidth: found with h2d.times (@:1:33); the two are mutually exclusive"},
      {h2d("times: [[4 KiB, 3 us]], latency: 1 us"),
       "@:1:40: h2d.latency: found with h2d.times (@:1:14); the two are mutually exclusive"},
      {device("unit: 1 ms\n"),
       "@:1:6: h2d: found with unit (@:4:7); the two are mutually exclusive"},
      {"unit: 1 ms\nd2h: {bandwidth: 5 GB/s}\n",
       "@:2:6: d2h: found with unit (@:1:7); the two are mutually exclusive"},
      {"unit: 1 ms\nkernels: {rates: {increment: {bandwidth: 8 GB/s}}}\n",
       "@:2:11: kernels.rates: found with unit (@:1:7); the two are mutually exclusive"},
      {device("queues: {kind: engine, connections: 8}\n"),
       "@:4:24: queues.connections: found with kind engine (@:4:16); allowed: with kind "
       "connection"},
      {device("queues: {kind: worker, connections: 8}\n"),
       "@:4:24: queues.connections: found with kind worker (@:4:16); allowed: with kind "
       "connection"},
      {device("queues: {window: 62, kind: worker}\n"),
       "@:4:10: queues.window: found with kind worker (@:4:28); allowed: with kind engine, "
       "connection"},
      {device("queues: {kind: worker, delayed_signal: false}\n"),
       "@:4:24: queues.delayed_signal: found with kind worker (@:4:16); allowed: with kind engine, "
       "connection"},
      {device("workers: {cores: 2}\n"),
       "@:4:1: workers: found with queues.kind connection (by default); allowed: with queues.kind "
       "worker"},
      {device("queues: {kind: engine}\nworkers: {cores: 2}\n"),
       "@:5:1: workers: found with queues.kind engine (@:4:16); allowed: with queues.kind worker"},
      {device("queues: {kind: worker}\ncopy_engines: 1\n"),
       "@:5:1: copy_engines: found with queues.kind worker (@:4:16); allowed: with queues.kind "
       "engine, "
       "connection"},
  });
}

TEST(DeviceErrors, ATruncatedFileLoadsOrIsNamed) {
  std::ifstream file(load_device("rtx5070ti").path);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(whole.size(), 1000u);
  for (std::size_t end = 0; end < whole.size(); end += 3) {
    const DeckFile part(whole.substr(0, end), "device.yaml");
    const std::string message = complaint(part.path());
    EXPECT_TRUE(message.empty() || message.starts_with(part.path())) << message;
  }
}

}  // namespace
}  // namespace overlap::model
