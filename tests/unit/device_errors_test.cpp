#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "error_cases.hpp"
#include "model/load.hpp"

/// Every kind of bad device file with the exact line that the user reads.
namespace overlap::model {
namespace {

const std::string copies = "h2d: {bandwidth: 5 GB/s}\nd2h: {bandwidth: 5 GB/s}\n";
const std::string kernels = "kernels: {rates: {increment: {bandwidth: 8 GB/s}}}\n";
const std::string good = copies + kernels;

std::string complaint(const std::string& name_or_path) {
  return test::complaint([&] { load_device(name_or_path); });
}

TEST(DeviceErrors, EachAsItIsWritten) {
  test::expect_errors(
      "device_errors.txt",
      {{"(empty)", ""}, {"(device) ", good}, {"(rates) ", copies + "kernels: {rates: "}},
      [](const std::string& path, const auto&) { load_device(path); });
}

TEST(DeviceErrors, TheLimitsThemselvesAreGood) {
  for (const std::string& text :
       {good, std::string("unit: 1 ns\n"), std::string("unit: 1000 s\n"),
        std::string("unit: 1 ms\nkernels: {concurrent: 1, slowed: 1}\n"),
        std::string("unit: 1 ms\nkernels: {concurrent: 1024, slowed: 100}\n"),
        good + "queues: {connections: 1, copy_connections: 1, window: 0}\n",
        good + "queues: {connections: 1024, copy_connections: 1024, window: 1048576}\n",
        good + "queues: {kind: worker}\nworkers: {cores: 1}\n",
        good + "queues: {kind: worker}\nworkers: {cores: 1024}\n", good + "copy_engines: 1\n",
        good + "copy_engines: 2\n", good + "memory: 1\n", good + "match: {device: A GPU}\n",
        good + "match: {device: A GPU, link: gen5 x16}\n",
        "h2d: {bandwidth: 1 MB/s, duplex: {times: [[1 KB, 970 us], [2 KB, 2 ms]]}}\n"
        "d2h: {bandwidth: 5 GB/s}\n" +
            kernels,
        good + "latency: {event: 0, notice: 1000}\n",
        copies + "kernels: {rates: {rowsum: [{intensity: 0, bandwidth: 1 B/s}, "
                 "{intensity: 1e9, bandwidth: 1 B/s}]}}\n",
        "h2d: {bandwidth: 1000 TB/s, slowed: 1}\nd2h: {bandwidth: 1 B/s, slowed: 100}\n" +
            kernels}) {
    EXPECT_EQ(complaint(DeckFile(text, "device.yaml").path()), "") << text;
  }
}

TEST(DeviceErrors, FilesThatAreNoDevices) {
  const DeckFile file("[1]\n", "device.yaml");
  EXPECT_EQ(complaint(""),
            "'': no such device; allowed: a100, c1060, c2050, c2070, fermi, h100, h200, host, "
            "ideal_1copy, ideal_2copy, ideal_2copy_delayed_signal, ideal_hyperq, k20c, kepler, "
            "rtx4090, rtx5070ti, v100, or the path of a device file");
  EXPECT_THAT(complaint("c2051"), testing::HasSubstr("device; did you mean 'c2050'? allowed"));
  EXPECT_THROW(load_device("c2051"), UnknownDevice);
  EXPECT_THAT(complaint("H200"), testing::HasSubstr("; did you mean 'h200'?"));
  EXPECT_THAT(complaint("A100-sxm"), testing::HasSubstr("; did you mean 'a100'?"));
  EXPECT_THAT(complaint("rtx"), testing::HasSubstr("; did you mean 'rtx4090'?"));
  EXPECT_EQ(complaint(file.folder() + "/other"), file.folder() + "/other: no such device file");
  EXPECT_EQ(complaint("other.yaml"), "other.yaml: no such device file");
  EXPECT_EQ(complaint(file.folder()),
            file.folder() + ": is a folder; allowed: a device file in YAML");
  EXPECT_EQ(complaint(DeckFile(std::string(std::size_t{17} << 20, '#'), "big.yaml").path())
                .substr(file.folder().size()),
            "/big.yaml: found more than 16 MiB; allowed: a device file in YAML");
}

TEST(DeviceErrors, ATruncatedFileLoadsOrIsNamed) {
  std::ifstream file(load_device("rtx5070ti").path);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(whole.size(), 1000u);
  for (std::size_t end = 0; end < whole.size(); end += 29) {
    const DeckFile part(whole.substr(0, end), "device.yaml");
    const std::string message = complaint(part.path());
    EXPECT_TRUE(message.empty() || message.starts_with(part.path())) << message;
  }
}

}  // namespace
}  // namespace overlap::model
