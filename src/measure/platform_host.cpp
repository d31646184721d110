#include "base/error.hpp"
#include "measure/platform_vendor.hpp"
#include "workload/spaces.hpp"

/// Host back ends, and GPUs for which there is no file of their own.
namespace overlap::measure {

std::string vendor::toolkit() { return {}; }

std::vector<DeviceInfo> devices() { return {vendor::chosen_device()}; }

void vendor::require_device() {}

DeviceInfo vendor::chosen_device() {
  DeviceInfo info;
  if (!workload::on_host(workload::default_space)) {
    info.name = workload::name(workload::default_space);
    return info;
  }
  const HostInfo host = host_info();
  info.name = host.cpu + ", " + std::to_string(host.cores) + " cores";
  info.total_bytes = host.total_bytes;
  info.free_bytes = host.available_bytes;
  return info;
}

void vendor::update(DeviceInfo&) {}

bool has_graphs() { return false; }

std::optional<bool> page_locked(const void*) { return std::nullopt; }

std::shared_ptr<const void> page_lock(void*, std::size_t) {
  throw base::Error(base::ExitCode::skipped,
                    "memory.host: registered needs streams of a GPU, this back end is " +
                        workload::name(workload::default_space));
}

}  // namespace overlap::measure
