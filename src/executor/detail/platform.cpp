#include "executor/platform.hpp"

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_runtime.h>
#endif

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "executor/detail/nvml.hpp"

namespace overlap::executor {
namespace {

/// The value of the first line "key ... : value" or "key: value" of a file under /proc.
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos) {
      const auto begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? std::string() : line.substr(begin);
    }
  }
  return {};
}

std::int64_t memory_bytes(const std::string& key) {
  std::istringstream value(proc_value("/proc/meminfo", key));
  std::int64_t kibibytes = 0;
  value >> kibibytes;
  return kibibytes * 1024;
}

/// What the kernel can give, but no more than a control group (a batch job, a container) may have.
std::int64_t available_memory() {
  std::int64_t available = memory_bytes("MemAvailable");
  std::string group = proc_value("/proc/self/cgroup", "0:");
  group.erase(0, group.find('/'));
  for (; group.find('/') != std::string::npos; group.resize(group.rfind('/'))) {
    std::ifstream file("/sys/fs/cgroup" + group + "/memory.max");
    std::int64_t most = 0;
    if (file >> most) available = std::min(available, most);
  }
  return available;
}

std::string affinity_list() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {};
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &mask)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
    if (last > cpu) list += "-" + std::to_string(last);
    cpu = last;
  }
  return list;
}

#if defined(KOKKOS_ENABLE_CUDA)

std::optional<int> numa_node_of(std::string pci_bus_id) {
  std::transform(pci_bus_id.begin(), pci_bus_id.end(), pci_bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file("/sys/bus/pci/devices/" + pci_bus_id + "/numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return std::nullopt;
  return node;
}

std::optional<int> attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) return std::nullopt;
  return value;
}

std::optional<DeviceInfo> cuda_device(int index) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) return std::nullopt;
  DeviceInfo info;
  info.name = properties.name;
  info.uuid = "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(properties.uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) info.uuid += '-';
    info.uuid += {digits[byte / 16], digits[byte % 16]};
  }
  info.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.copy_engines = attribute(cudaDevAttrAsyncEngineCount, index);
  info.cache_bytes = attribute(cudaDevAttrL2CacheSize, index);
  if (const auto concurrent = attribute(cudaDevAttrConcurrentKernels, index)) {
    info.concurrent_kernels = *concurrent != 0;
  }
  info.total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  if (const auto ecc = attribute(cudaDevAttrEccEnabled, index)) info.ecc = *ecc != 0;
  std::array<char, 32> bus_id{};
  if (cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index) == cudaSuccess) {
    info.pci_bus_id = bus_id.data();
    info.numa_node = numa_node_of(*info.pci_bus_id);
  }
  int before = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(index) == cudaSuccess) {
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
      info.free_bytes = static_cast<std::int64_t>(free);
    }
    cudaSetDevice(before);
  }
  detail::add_management_info(info);
  return info;
}

#else

DeviceInfo host_device() {
  DeviceInfo info;
  if (on_gpu()) {  // a GPU that this file cannot ask
    info.name = Kokkos::DefaultExecutionSpace::name();
    return info;
  }
  const HostInfo host = host_info();
  info.name = host.cpu + ", " + std::to_string(host.cores) + " cores";
  info.total_bytes = host.total_bytes;
  info.free_bytes = host.available_bytes;
  return info;
}

#endif

}  // namespace

HostInfo host_info() {
  HostInfo info;
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) info.name = name.data();
  info.cpu = proc_value("/proc/cpuinfo", "model name");
  if (info.cpu.empty()) info.cpu = "processor";
  info.cores = base::usable_cpus();
  info.affinity = affinity_list();
  info.total_bytes = memory_bytes("MemTotal");
  info.available_bytes = available_memory();
  return info;
}

BuildInfo build_info() {
  BuildInfo info;
#if defined(__clang__)
  info.compiler = std::string("clang ") + __clang_version__;
#else
  info.compiler = std::string("gcc ") + __VERSION__;
#endif
  info.kokkos_version = std::to_string(KOKKOS_VERSION / 10000) + "." +
                        std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                        std::to_string(KOKKOS_VERSION % 100);
  info.backend = Kokkos::DefaultExecutionSpace::name();
#if defined(KOKKOS_ENABLE_CUDA)
  info.cuda_toolkit =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
#endif
#if defined(OVERLAP_KOKKOS_KERNELS_VERSION)
  info.kokkos_kernels_version = OVERLAP_KOKKOS_KERNELS_VERSION;
#endif
  return info;
}

std::vector<DeviceInfo> devices() {
#if defined(KOKKOS_ENABLE_CUDA)
  std::vector<DeviceInfo> found;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int index = 0; index < count; ++index) {
    if (auto info = cuda_device(index)) found.push_back(*info);
  }
  return found;
#else
  return {host_device()};
#endif
}

bool on_gpu() {
  return !std::is_same_v<Kokkos::DefaultExecutionSpace::memory_space, Kokkos::HostSpace>;
}

bool has_graphs() {
#if defined(KOKKOS_ENABLE_CUDA)
  return true;
#else
  return false;
#endif
}

void require_host_memory(std::int64_t bytes) {
  const std::int64_t available = available_memory();
  if (bytes <= available) return;
  throw base::Error(base::ExitCode::precondition,
                    "the deck needs " + base::format_bytes(static_cast<std::uint64_t>(bytes)) +
                        " of host memory and " +
                        base::format_bytes(static_cast<std::uint64_t>(available)) +
                        " are available");
}

std::optional<bool> page_locked([[maybe_unused]] const void* memory) {
#if defined(KOKKOS_ENABLE_CUDA)
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) {
    return attributes.type == cudaMemoryTypeHost;
  }
  cudaGetLastError();  // not for whoever looks next
#endif
  return std::nullopt;
}

std::shared_ptr<const void> page_lock([[maybe_unused]] void* memory,
                                      [[maybe_unused]] std::size_t bytes) {
#if defined(KOKKOS_ENABLE_CUDA)
  const cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
  if (code != cudaSuccess) {
    cudaGetLastError();  // not for whoever looks next
    throw base::Error(base::ExitCode::precondition,
                      "cannot page-lock " + base::format_bytes(bytes) +
                          " of host memory: " + cudaGetErrorString(code) +
                          " (with memory.host: pageable_staged a ring of slots is enough)");
  }
  return {memory, [](void* locked) { cudaHostUnregister(locked); }};
#else
  throw base::Error(base::ExitCode::skipped,
                    "memory.host: registered needs CUDA, this back end is " +
                        std::string(Kokkos::DefaultExecutionSpace::name()));
#endif
}

Runtime::Runtime(std::vector<std::string> arguments) {
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    throw base::Error(
        base::ExitCode::precondition,
        std::string("this build runs on CUDA and there is no GPU to use: ") +
            (code == cudaSuccess ? "no device is visible" : cudaGetErrorString(code)));
  }
#endif
  // Lanes are threads of our own: binding OpenMP's to places would pile them onto the first. Unset
  // means unbound; saying so keeps Kokkos from warning.
  setenv("OMP_PROC_BIND", "false", 0);
  std::vector<char*> argv = {const_cast<char*>("miniapp")};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  try {
    Kokkos::initialize(argc, argv.data());
  } catch (const std::exception& error) {
    std::string line = error.what();
    line.resize(std::min(line.size(), line.find('\n')));
    // Without arguments of its own to blame, it is the machine that does not suit it.
    throw base::Error(arguments.empty() ? base::ExitCode::precondition : base::ExitCode::usage,
                      "Kokkos refused to start: " + line);
  }
#if defined(KOKKOS_ENABLE_CUDA)
  device_ = cuda_device(Kokkos::Cuda().cuda_device()).value_or(DeviceInfo{});
#else
  device_ = host_device();
#endif
}

DeviceInfo Runtime::device_now() const {
  DeviceInfo now = device_;
  detail::add_management_info(now);
  return now;
}

bool Runtime::tool_loaded() const { return Kokkos::Tools::profileLibraryLoaded(); }

Runtime::~Runtime() { Kokkos::finalize(); }

std::optional<std::int64_t> Runtime::free_device_bytes() const {
  if (!on_gpu() || !device_.free_bytes) return std::nullopt;
  constexpr std::int64_t reserve = std::int64_t{256} << 20;
  return std::max<std::int64_t>(0, *device_.free_bytes - reserve);
}

}  // namespace overlap::executor
