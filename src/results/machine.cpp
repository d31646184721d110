#include "results/describe.hpp"

namespace overlap::base {

using describe::above_zero;
using describe::from_zero;
using describe::Visitor;
using results::Name;
using results::TextOrNull;

void describe(Visitor& v, Summary& s) {
  v("median", s.median, "Median.", from_zero);
  v("min", s.min, "Least.", from_zero);
  v("max", s.max, "Largest.", from_zero);
  v("lo", s.lo, "Lower end of the 95 % interval of the median.", from_zero);
  v("hi", s.hi, "Upper end of the 95 % interval of the median.", from_zero);
  v("n", s.n, "Number of samples.", from_zero, describe::added);
}

void describe(Visitor& v, Estimate& e) {
  v("value", e.value, "Estimate of Hodges and Lehmann: the median of all ratios.", from_zero);
  v("lo", e.lo, "Lower end of its 95 % interval.", from_zero);
  v("hi", e.hi, "Upper end of its 95 % interval.", from_zero);
  v("covers", e.covers, "Whether samples suffice for 95 %; else the interval spans all ratios.");
}

void describe(Visitor& v, BuildInfo& build) {
  v("version", build.version, "Version of the program.");
  v("git_sha", build.git_sha, "Commit that was built; null: built without git.", TextOrNull());
  v("dirty", build.dirty, "Whether tracked files differed from that commit.");
  v("compiler", build.compiler, "Compiler and its version.");
  v("kokkos_version", build.kokkos_version, "Version of Kokkos.");
  v("kokkos_kernels_version", build.kokkos_kernels_version, "Kokkos Kernels; null: none.",
    TextOrNull());
  v("backend", build.backend, "Default execution space.", Name());
  v("cuda_toolkit", build.cuda_toolkit, "CUDA toolkit; null: none.", TextOrNull());
  v("hip_toolkit", build.hip_toolkit, "Version of HIP; null: built without.", TextOrNull());
}

void describe(Visitor& v, HostInfo& host) {
  v("name", host.name, "Host name.", Name());
  v("cpu", host.cpu, "Processor.", Name());
  v("cores", host.cores, "Cores that the process may use.", above_zero);
  v("cpuset", host.affinity, "Their numbers, such as 0-7,16.");
  v("total_bytes", host.total_bytes, "Memory, bytes.", above_zero);
  v("available_bytes", host.available_bytes, "Memory available at the start, bytes.", from_zero);
  v("kernel", host.kernel, "Release of the operating system's kernel.");
  v("transparent_huge_pages", host.transparent_huge_pages, "always, madvise or never.");
  v("huge_pages", host.huge_pages, "Huge pages that the system reserves.", from_zero);
}

void describe(Visitor& v, DeviceInfo& device) {
  v("name", device.name, "Name of the device.", Name());
  v("uuid", device.uuid, "What identifies it everywhere; null: it has none.", TextOrNull());
  v("compute_capability", device.compute_capability, "Such as 9.0.", TextOrNull());
  v("copy_engines", device.copy_engines, "Copy engines.", from_zero);
  v("concurrent_kernels", device.concurrent_kernels, "Whether kernels can run at the same time.");
  v("maps_host_memory", device.maps_host_memory, "Whether kernels reach page-locked host memory.",
    describe::added);
  v("concurrent_managed_access", device.concurrent_managed_access,
    "Whether host and kernels may use managed memory at the same time.", describe::added);
  v("pageable_memory_access", device.pageable_memory_access,
    "Whether kernels reach pageable host memory.", describe::added);
  v("free_bytes", device.free_bytes, "Free memory at the start, bytes.", from_zero);
  v("total_bytes", device.total_bytes, "Memory, bytes.", from_zero);
  v("pci", device.pci_bus_id, "PCI address.");
  v("numa_node", device.numa_node, "NUMA node of the PCI address.");
  v("pcie_gen", device.pcie_gen, "Generation of the link at the start.");
  v("pcie_gen_max", device.pcie_gen_max, "Maximum that device and slot support.");
  v("pcie_width", device.pcie_width, "Lanes of the link at the start.");
  v("pcie_width_max", device.pcie_width_max, "Maximum that device and slot support.");
  v("sm_clock_mhz", device.sm_clock_mhz, "SM clock at the start.");
  v("sm_clock_max_mhz", device.sm_clock_max_mhz, "Highest SM clock.");
  v("memory_clock_mhz", device.memory_clock_mhz, "Memory clock at the start.");
  v("ecc", device.ecc, "Whether ECC is on.");
  v("mig", device.mig, "Whether MIG is on.");
  v("driver", device.driver, "Version of the driver.");
  v("vbios", device.vbios, "Version of the device's firmware.");
  v("serial", device.serial, "Serial number.");
  v("power_limit_w", device.power_limit_w, "Power limit, W.", from_zero);
  v("power_limit_default_w", device.power_limit_default_w, "Its default, W.", from_zero);
}

void describe(Visitor& v, Job& job) {
  v("id", job.id, "Number of the batch job.");
  v("step", job.step, "Its step.");
  v("rank", job.rank, "Rank of this process.", from_zero);
  v("ranks", job.ranks, "Ranks that were started together.", above_zero);
}

void describe(Visitor& v, Placement& placement) {
  v("launch", placement.launch, "Identifies ranks started together.", describe::added);
  v("local_rank", placement.local_rank, "Rank among those of its node.", from_zero);
  v("local_ranks", placement.local_ranks, "Ranks of its node.", above_zero);
  v("nodes", placement.nodes, "Nodes of the fleet.", above_zero);
  v("device", placement.device, "Which of the devices it sees; null on host back ends.", from_zero);
  v("cpus", placement.cpus, "Processors of its threads; null: not bound.", TextOrNull());
  v("memory", placement.memory, "NUMA nodes of its memory; null: not bound.", TextOrNull());
  v("note", placement.note, "Why it is not bound; null: nothing to say.", TextOrNull());
}

void describe(Visitor& v, Health& health) {
  v("pcie_gen", health.pcie_gen, "Generation of the link.");
  v("pcie_width", health.pcie_width, "Lanes of the link.");
  v("replays", health.pcie_replays, "Packets that the link had to resend.", from_zero);
  const auto ecc = [](Visitor& part, Health& h) {
    part("corrected", h.ecc_corrected, "Corrected.", from_zero);
    part("uncorrected", h.ecc_uncorrected, "Not corrected.", from_zero);
  };
  v("ecc", health, "Memory errors since the driver was loaded.", describe::map_of<Health>(ecc));
  v("remapped_rows", health.remapped_rows, "Memory rows remapped to spare rows.", from_zero);
  v("temperature_c", health.temperature_c, "Temperature, degrees Celsius.");
  v("power_w", health.power_w, "Power, W.", from_zero);
  v("sm_clock_mhz", health.sm_clock_mhz, "SM clock.", from_zero);
  v("memory_clock_mhz", health.memory_clock_mhz, "Memory clock.", from_zero);
  v("throttle_reasons", health.throttle_reasons, "What holds the clocks down.");
}

}  // namespace overlap::base
