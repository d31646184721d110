#include "measure/platform_gpu.hpp"

#include <array>

#include "base/units.hpp"

namespace overlap::measure {

using base::DeviceInfo;

std::string vendor::uuid_text(std::span<const char, 16> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += {digits[byte / 16], digits[byte % 16]};
  }
  return text;
}

namespace {

using lanes::Api;

bool succeeded(OVERLAP_GPU(Error_t) code) { return code == OVERLAP_GPU(Success); }

/// Number of visible devices; if 0, the reason.
struct Visible {
  int count = 0;
  std::string problem;
};

Visible visible() {
  int count = 0;
  const auto code = OVERLAP_GPU(GetDeviceCount)(&count);
  if (!succeeded(code)) return {0, OVERLAP_GPU(GetErrorString)(code)};
  return {count, count > 0 ? "" : "no device is visible"};
}

/// Without creating a context. Empty: the device is lost.
std::optional<Api::Properties> properties_of(int index) {
  Api::Properties properties{};
  if (!succeeded(OVERLAP_GPU(GetDeviceProperties)(&properties, index))) return std::nullopt;
  return properties;
}

/// Name, UUID, PCI address and NUMA node, as properties_of().
std::optional<DeviceInfo> identity_of(int index) {
  const auto properties = properties_of(index);
  if (!properties) return std::nullopt;
  DeviceInfo device{.name = properties->name, .uuid = vendor::uuid_of(*properties)};
  std::array<char, 32> bus_id{};
  if (succeeded(OVERLAP_GPU(DeviceGetPCIBusId)(bus_id.data(), bus_id.size(), index))) {
    device.pci_bus_id = bus_id.data();
    device.numa_node = numa_node_of(*device.pci_bus_id);
  }
  return device;
}

/// Adds all other properties that the runtime reports.
void describe(int index, DeviceInfo& device) {
  const auto properties = properties_of(index);
  if (!properties) return;
  vendor::describe(*properties, device);
  device.concurrent_kernels = properties->concurrentKernels != 0;
  device.maps_host_memory = properties->canMapHostMemory != 0;
  device.concurrent_managed_access = properties->concurrentManagedAccess != 0;
  device.pageable_memory_access = properties->pageableMemoryAccess != 0;
  device.total_bytes = static_cast<std::int64_t>(properties->totalGlobalMem);
  device.ecc = properties->ECCEnabled != 0;
  int before = 0;
  if (!succeeded(OVERLAP_GPU(GetDevice)(&before)) || !succeeded(OVERLAP_GPU(SetDevice)(index))) {
    return;
  }
  std::size_t free = 0;
  std::size_t total = 0;
  if (succeeded(OVERLAP_GPU(MemGetInfo)(&free, &total))) {
    device.free_bytes = static_cast<std::int64_t>(free);
  }
  static_cast<void>(OVERLAP_GPU(SetDevice)(before));
}

std::optional<DeviceInfo> device(int index) {
  auto device = identity_of(index);
  if (!device) return std::nullopt;
  describe(index, *device);
  const Monitor monitor = monitor_of(*device);
  return monitor.describe ? monitor.describe(*device) : device;
}

/// describe(index) of all visible devices; empty for lost ones.
std::vector<DeviceInfo> all_devices(std::optional<DeviceInfo> (*describe)(int index)) {
  std::vector<DeviceInfo> infos;
  const int count = visible().count;
  for (int index = 0; index < count; ++index) {
    infos.push_back(describe(index).value_or(DeviceInfo()));
  }
  static_cast<void>(Api::take_last_error());  // of a lost device; Kokkos would report it
  return infos;
}

}  // namespace

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> infos = all_devices(device);
  std::erase_if(infos, [](const DeviceInfo& device) { return device.id().empty(); });
  return infos;
}

std::vector<DeviceInfo> visible_devices() { return all_devices(identity_of); }

void require_device() {
  const auto [count, problem] = visible();
  if (count > 0) return;
  throw base::Error(base::ExitCode::precondition, std::string("this build runs on ") + Api::vendor +
                                                      " and there is no GPU to use: " + problem);
}

DeviceInfo chosen_device() { return device(vendor::chosen_index()).value_or(DeviceInfo{}); }

Monitor monitor_of(const DeviceInfo& device) {
  if (!device.pci_bus_id) return {};
  const Monitor monitor = vendor::monitor_of(*device.pci_bus_id);
  return monitor.health ? monitor : sysfs_monitor(*device.pci_bus_id);
}

std::optional<bool> page_locked(const void* memory) {
  Api::PointerAttributes attributes{};
  if (succeeded(OVERLAP_GPU(PointerGetAttributes)(&attributes, memory))) {
    return attributes.type == OVERLAP_GPU(MemoryTypeHost);
  }
  Api::take_last_error();  // no later check must report it
  return std::nullopt;
}

std::shared_ptr<const void> page_lock(void* memory, std::size_t bytes, bool mapped) {
  const auto code = OVERLAP_GPU(HostRegister)(memory, bytes, OVERLAP_GPU(HostRegisterDefault));
  if (succeeded(code)) {
    std::shared_ptr<const void> lock(
        memory, [](void* locked) { static_cast<void>(OVERLAP_GPU(HostUnregister)(locked)); });
    void* on_device = memory;
    if (!mapped || (succeeded(OVERLAP_GPU(HostGetDevicePointer)(&on_device, memory, 0)) &&
                    on_device == memory)) {
      return lock;
    }
    throw base::Error(base::ExitCode::precondition,
                      "this device sees registered memory at another address; allowed for "
                      "memory.transfer: zero_copy: memory.host: pinned");
  }
  Api::take_last_error();  // no later check must report it
  throw base::Error(base::ExitCode::precondition,
                    "cannot page-lock " + base::format_bytes(bytes) +
                        " of host memory: " + OVERLAP_GPU(GetErrorString)(code));
}

}  // namespace overlap::measure
