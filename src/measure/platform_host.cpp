#include "base/error.hpp"
#include "measure/platform.hpp"
#include "workload/spaces.hpp"

/// Host back ends, and GPUs without a vendor file.
namespace overlap::measure {

void add_toolkit(base::BuildInfo&) {}

Variables variables() { return {}; }

std::vector<base::DeviceInfo> visible_devices() { return {}; }
std::vector<base::DeviceInfo> devices() { return {chosen_device()}; }

void require_device() {}

base::DeviceInfo chosen_device() {
  if (on_gpu()) return {.name = workload::name(workload::default_space)};
  const base::HostInfo host = host_info();
  return {.name = host.cpu + ", " + std::to_string(host.cores) + " cores",
          .free_bytes = host.available_bytes,
          .total_bytes = host.total_bytes};
}

Monitor monitor_of(const base::DeviceInfo&) { return {}; }

std::optional<bool> page_locked(const void*) { return std::nullopt; }

std::shared_ptr<const void> page_lock(void*, std::size_t) {
  throw base::Error(base::ExitCode::skipped,
                    "memory.host: registered needs streams of a GPU; this back end is " +
                        workload::name(workload::default_space));
}

}  // namespace overlap::measure
