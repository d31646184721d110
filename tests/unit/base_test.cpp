#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/caches.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/proc.hpp"
#include "base/sha256.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace overlap::base {
namespace {

TEST(Caches, FlushingKeepsTheData) {
  std::vector<std::size_t> data(100000);
  std::iota(data.begin(), data.end(), 0);
  const auto before = data;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{64}, sizeof data[0] * data.size()}) {
    flush_caches(data.data(), bytes);
    EXPECT_EQ(data, before);
  }
  flush_caches(nullptr, 0);
}

/// Files below a folder that stands for "/".
struct Root {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("overlap-proc-{}", getpid());
  Root() {
    std::filesystem::remove_all(path);
    write("proc/meminfo", "MemTotal:  2000 kB\nMemAvailable:   1000 kB\n");
  }
  ~Root() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
};

TEST(Memory, IsWhatTheMachineHasWithoutGroups) {
  const Root root;
  EXPECT_EQ(memory_bytes("MemTotal", root.path), 2048000);
  EXPECT_EQ(available_memory(root.path), 1024000);
  root.write("proc/self/cgroup", "0::/job/step\n");
  EXPECT_EQ(available_memory(root.path), 1024000);
}

TEST(Memory, ThatIsUnknownIsNotZero) {
  const Root root;
  root.write("proc/meminfo", "MemTotal:  2000 kB\n");  // before Linux 3.14, in some sandboxes
  EXPECT_EQ(available_memory(root.path), std::nullopt);
  std::filesystem::remove(root.path / "proc/meminfo");
  EXPECT_EQ(memory_bytes("MemTotal", root.path), std::nullopt);
  root.write("proc/self/cgroup", "0::/job\n");
  root.write("sys/fs/cgroup/job/memory.max", "700000\n");
  root.write("sys/fs/cgroup/job/memory.current", "300000\n");
  EXPECT_EQ(available_memory(root.path), 400000);
}

TEST(Memory, IsLimitedByAnyGroupOfVersion2) {
  const Root root;
  root.write("proc/self/cgroup", "0::/job/step\n");
  root.write("sys/fs/cgroup/job/step/memory.max", "max\n");
  root.write("sys/fs/cgroup/job/memory.max", "700000\n");
  root.write("sys/fs/cgroup/job/memory.current", "300000\n");
  root.write("sys/fs/cgroup/job/memory.stat", "anon 200000\ninactive_file 50000\n");
  EXPECT_EQ(available_memory(root.path), 450000);
}

TEST(Memory, IsLimitedByAnyGroupOfVersion1) {
  const Root root;
  root.write("proc/self/cgroup", "7:cpu,cpuacct:/job\n4:memory:/slurm/job\n0::/other\n");
  const std::string group = "sys/fs/cgroup/memory/slurm/job/memory.";
  root.write(group + "limit_in_bytes", "500000\n");
  root.write(group + "usage_in_bytes", "300000\n");
  root.write(group + "stat", "inactive_file 1\ntotal_inactive_file 100000\n");
  EXPECT_EQ(available_memory(root.path), 300000);
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // none
  std::filesystem::remove(root.path / "proc/meminfo");
  EXPECT_EQ(available_memory(root.path), 300000);
  root.write(group + "limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available_memory(root.path), std::nullopt);
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "200000\n");  // that of a container
  EXPECT_EQ(available_memory(root.path), 200000);
}

TEST(CpuQuota, IsTheLeastOfAnyGroup) {
  const Root root;
  EXPECT_EQ(cpu_quota(root.path), std::nullopt);
  root.write("proc/self/cgroup", "7:cpu,cpuacct:/slurm/job\n4:memory:/other\n0::/job/step\n");
  root.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/cpu/slurm/job/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/slurm/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root.path), std::nullopt);
  root.write("sys/fs/cgroup/cpu/slurm/cpu.cfs_quota_us", "150000\n");
  root.write("sys/fs/cgroup/cpu/slurm/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root.path), 1.5);
  root.write("sys/fs/cgroup/job/cpu.max", "20000 50000\n");
  EXPECT_EQ(cpu_quota(root.path), 0.4);
}

TEST(Units, ParseBytes) {
  EXPECT_EQ(parse_bytes("65536"), 65536);
  EXPECT_EQ(parse_bytes("16 MiB"), 16 << 20);
  EXPECT_EQ(parse_bytes("16MiB"), 16 << 20);
  EXPECT_EQ(parse_bytes("1.5 KiB"), 1536);
  EXPECT_EQ(parse_bytes("2 GB"), 2000000000);
  for (const char* const text : {"3 KB", "3 kB"}) EXPECT_EQ(parse_bytes(text), 3000) << text;
  EXPECT_EQ(parse_bytes("9007199254740993"), 9007199254740993);  // no detour through double
  for (const char* bad :
       {"", "MiB", "16 mib", "16 MiB x", "1.0001 B", "nan", "inf", "1e30", "0x10", " 1"}) {
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
  }
}

TEST(Units, ParseCount) {
  EXPECT_EQ(parse_count("64 Mi"), 64 << 20);
  EXPECT_EQ(parse_count("3e9"), 3000000000);
  EXPECT_EQ(parse_count("-1"), -1);
  EXPECT_EQ(parse_count("0"), 0);
  EXPECT_EQ(parse_count("010"), std::nullopt);  // octal in other programs
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(parse_count("1.5"), std::nullopt);
  EXPECT_EQ(parse_count("16 MiB"), std::nullopt);
}

TEST(Units, ParseSeconds) {
  EXPECT_DOUBLE_EQ(*parse_seconds("50 us"), 50e-6);
  for (const char* const text : {"100 us", "0.1 ms", "1e2 us", "1E+2us", "100000 ns", "1e-4"}) {
    EXPECT_EQ(parse_seconds(text), 1e-4) << text;  // to the last bit
  }
  EXPECT_EQ(parse_seconds("3e-2 ms"), 3e-5);
  EXPECT_DOUBLE_EQ(*parse_seconds("0.25"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_seconds("5 min"), 300);
  EXPECT_DOUBLE_EQ(*parse_seconds("1.5 h"), 5400);
  EXPECT_EQ(parse_seconds("5 days"), std::nullopt);
}

TEST(Units, ParseBandwidth) {
  EXPECT_DOUBLE_EQ(*parse_bandwidth("5.04 GB/s"), 5.04e9);
  EXPECT_DOUBLE_EQ(*parse_bandwidth("4.4TB/s"), 4.4e12);
  EXPECT_DOUBLE_EQ(*parse_bandwidth("3 MiB/s"), 3 * 0x1p20);
  EXPECT_DOUBLE_EQ(*parse_bandwidth("1 B/s"), 1);
  for (const char* bad : {"", "5", "5 /s", "5 GB", "5 GB/ms", "5 Gbit/s", "GB/s", "inf GB/s"}) {
    EXPECT_EQ(parse_bandwidth(bad), std::nullopt) << bad;
  }
}

TEST(Units, ParseFlopRate) {
  EXPECT_DOUBLE_EQ(*parse_flop_rate("43 Gflop/s"), 43e9);
  EXPECT_DOUBLE_EQ(*parse_flop_rate("1.5Tflop/s"), 1.5e12);
  EXPECT_DOUBLE_EQ(*parse_flop_rate("1 flop/s"), 1);
  for (const char* bad : {"", "43", "43 Gflop", "43 GB/s", "Gflop/s"}) {
    EXPECT_EQ(parse_flop_rate(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(spell_flop_rate(43e9), "43 Gflop/s");
  EXPECT_EQ(spell_flop_rate(0.5), "0.5 flop/s");
}

TEST(Units, ParsePart) {
  EXPECT_DOUBLE_EQ(*parse_part("3 %"), 0.03);
  EXPECT_DOUBLE_EQ(*parse_part("-1.5%"), -0.015);
  EXPECT_DOUBLE_EQ(*parse_part("0.03"), 0.03);
  for (const char* bad : {"", "%", "3 percent", "3 % %", "3 % 4", "inf %"}) {
    EXPECT_EQ(parse_part(bad), std::nullopt) << bad;
  }
}

TEST(Units, SpellsWhatItParses) {
  EXPECT_EQ(spell_bytes(0), "0 B");
  EXPECT_EQ(spell_bytes(65536), "64 KiB");
  EXPECT_EQ(spell_bytes(1000000), "1000000 B");
  EXPECT_EQ(spell_seconds(0), "0 s");
  EXPECT_EQ(spell_seconds(2.7e-6), "2.7 us");
  EXPECT_EQ(spell_seconds(1.234567e-3), "1.234567 ms");
  EXPECT_EQ(spell_seconds(1e-12), "0.001 ns");
  EXPECT_EQ(spell_bandwidth(5.04097e9), "5.04097 GB/s");
  EXPECT_EQ(spell_bandwidth(0.5), "0.5 B/s");
  EXPECT_EQ(spell_part(0.03), "3 %");
  EXPECT_EQ(spell_part(0.012345), "1.234 %");
}

TEST(Units, Format) {
  EXPECT_EQ(format_bytes(16 << 20), "16 MiB");
  EXPECT_EQ(format_bytes(4352), "4.2 KiB");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_seconds(5.67e-3), "5.670 ms");
  EXPECT_EQ(format_seconds(2.7e-6), "2.700 us");
  EXPECT_EQ(format_seconds(309.5), "309.5 s");
  EXPECT_EQ(format_seconds(7200), "7200 s");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(101.72), "101.7");
}

// NIST's examples (FIPS 180-4) and one whose padding takes a block of its own.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Statistics, MedianAndInterval) {
  // Conover's table: for n = 10 the 2nd and 9th smallest cover the median with 97.9 %.
  const Summary s = summarize({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(s.median, 5.5);
  EXPECT_DOUBLE_EQ(s.lo, 2);
  EXPECT_DOUBLE_EQ(s.hi, 9);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.max, 10);
  EXPECT_EQ(s.n, 10);
}

TEST(Statistics, OrderStatisticsOfManySizes) {
  // n -> rank (from 1) of the lower end, from the binomial distribution.
  for (const auto& [n, rank] :
       {std::pair(1, 1), {5, 1}, {6, 1}, {8, 1}, {9, 2}, {12, 3}, {20, 6}, {100, 40}}) {
    std::vector<double> samples;
    for (int i = 1; i <= n; ++i) samples.push_back(i);
    const Summary s = summarize(samples);
    EXPECT_DOUBLE_EQ(s.lo, rank) << n;
    EXPECT_DOUBLE_EQ(s.hi, n + 1 - rank) << n;
  }
}

// Made with SciPy 1.17.1 from the same samples:
//   k = max(u for u in range(m * n // 2) if _mannwhitneyu._MWU(m, n).cdf([u])[0] <= 0.025)
//   d = sorted(x / y for x in b for y in a); exp(median(log(d))), d[k], d[-1 - k]
// and for more than 50 samples k = floor(m n / 2 - 1.959964 sqrt(m n (m + n + 1) / 12) - 1 / 2).
TEST(Statistics, RatioOfTwoSamplesIsThatOfScipy) {
  struct Case {
    int m, n;
    double value, lo, hi;
  };
  for (const Case& c : {Case{4, 4, 1.034614, 0.582011, 1.945},
                        {5, 6, 1.145238, 0.714286, 1.705512},
                        {10, 10, 1.134316, 0.904795, 1.421233},
                        {20, 20, 1.143844, 0.990991, 1.320388},
                        {50, 50, 1.139350, 1.049550, 1.238854},
                        {60, 40, 1.132725, 1.040110, 1.231844}}) {
    std::vector<double> a, b;
    for (int i = 0; i < c.m; ++i) a.push_back(1 + 0.01 * ((i * 7919) % 97));
    for (int i = 0; i < c.n; ++i) b.push_back(1.1 + 0.013 * ((i * 104729) % 89));
    const auto found = ratio(b, a);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->value, c.value, 1e-6) << c.m;
    EXPECT_NEAR(found->lo, c.lo, 1e-6) << c.m;
    EXPECT_NEAR(found->hi, c.hi, 1e-6) << c.m;
  }
}

TEST(Statistics, RatioOfSmallSamplesTakesTheExtremes) {
  const auto found = ratio({2, 4, 3}, {1, 2});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->lo, 1);
  EXPECT_DOUBLE_EQ(found->hi, 4);
  EXPECT_FALSE(found->covers);
  EXPECT_FALSE(ratio({1, 2, 3}, {1, 2, 3})->covers);       // 1 of 20 orders
  EXPECT_TRUE(ratio({1, 2, 3, 4}, {1, 2, 3, 4})->covers);  // 1 of 70
  EXPECT_DOUBLE_EQ(found->value, 2);                       // of 1, 1.5, 2, 2, 3, 4
}

TEST(Statistics, RatioNeedsSamplesAboveZero) {
  EXPECT_FALSE(ratio({}, {1}));
  EXPECT_FALSE(ratio({1}, {}));
  EXPECT_FALSE(ratio({1, 0}, {1}));
  EXPECT_FALSE(ratio({1}, {1, -1}));
}

TEST(Parallel, CoversEveryIndexOnce) {
  std::vector<std::atomic<int>> hits(100000);
  parallel_for(100000, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
  });
  for (const auto& hit : hits) ASSERT_EQ(hit, 1);
}

TEST(Parallel, PassesExceptionsOn) {
  EXPECT_THROW(
      parallel_for(1000000, [](std::int64_t, std::int64_t) { throw std::runtime_error("x"); }),
      std::runtime_error);
}

}  // namespace
}  // namespace overlap::base
