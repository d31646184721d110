#include "base/error.hpp"
#include "measure/platform.hpp"
#include "workload/space.hpp"

/// Host back ends, and GPUs without a vendor file.
namespace overlap::measure {

void add_toolkit(base::BuildInfo&) {}

Variables variables() { return {}; }

std::vector<base::DeviceInfo> visible_devices() { return {}; }
std::vector<base::DeviceInfo> devices() { return {chosen_device()}; }

void require_device() {}

base::DeviceInfo chosen_device() {
  if (on_gpu()) return {.name = workload::Space::name()};
  return base::device_of(base::host_info());
}

Monitor monitor_of(const base::DeviceInfo&) { return {}; }

std::optional<bool> page_locked(const void*) { return std::nullopt; }

std::shared_ptr<const void> page_lock(void*, std::size_t, bool) { return {}; }

}  // namespace overlap::measure
