#include "base/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "base/launcher.hpp"
#include "base/parallel.hpp"
#include "base/proc.hpp"

namespace overlap::base {
namespace {

/// The word in brackets of "always [madvise] never".
std::optional<std::string> transparent_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  for (std::string word; file >> word;) {
    if (word.starts_with('[')) return word.substr(1, word.size() - 2);
  }
  return std::nullopt;
}

/// The first environment variable that is set and not empty.
std::optional<std::string> variable(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const char* const text = std::getenv(name);
    if (text != nullptr && *text != '\0') return text;
  }
  return std::nullopt;
}

}  // namespace

std::string compiler() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#else
  return std::string("gcc ") + __VERSION__;
#endif
}

HostInfo host_info() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  utsname system{};
  uname(&system);
  const std::string cpu = proc_value("/proc/cpuinfo", "model name");
  std::string boot_id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot_id;
  return {.name = name.data(),
          .boot_id = boot_id,
          .cpu = cpu.empty() ? "processor" : cpu,
          .cores = usable_cpus(),
          .affinity = proc_value("/proc/thread-self/status", "Cpus_allowed_list"),
          .cpu_quota = cpu_quota(),
          .total_bytes = memory_bytes("MemTotal"),
          .available_bytes = available_memory(),
          .kernel = system.release,
          .transparent_huge_pages = transparent_huge_pages(),
          .huge_pages = parse_count(proc_value("/proc/meminfo", "HugePages_Total"))};
}

std::optional<Job> job_info() {
  const Launch place = launch();
  Job job{
      .id = variable({"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}),
      .step = variable({"SLURM_STEP_ID"}),
      .rank = place.rank,
      .ranks = place.ranks,
  };
  if (!place.id.empty()) {
    // A requeued job keeps its id, as do the elements of a job array of LSF.
    const auto attempt = variable({"SLURM_RESTART_COUNT", "LSB_JOBINDEX"}).value_or("0");
    job.launch = fmt::format("{}/{}/{}", job.id.value_or("-"), attempt, place.id);
  }
  return job.id || job.step || job.rank || job.ranks ? std::optional(job) : std::nullopt;
}

}  // namespace overlap::base
