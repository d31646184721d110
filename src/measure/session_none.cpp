#include "measure/session.hpp"

/// A build without Kokkos: no deck can run.
namespace overlap::measure {

base::BuildInfo build_info() {
  return {.compiler = base::compiler(), .kokkos_version = "none", .backend = "none"};
}
std::map<deck::WorkloadKind, std::string> unavailable() { return {}; }
bool on_gpu() { return false; }
std::vector<base::DeviceInfo> devices() { return {}; }
std::vector<base::DeviceInfo> visible_devices() { return {}; }
void require_free_choice(const std::vector<std::string>&) {}

Runtime::Runtime(std::vector<std::string>) {
  throw base::Error(base::ExitCode::skipped,
                    "this miniapp was built without Kokkos and runs no deck; allowed: --predict, "
                    "--dry-run, or a build with Kokkos");
}

// What follows needs a session, which cannot be.
Runtime::~Runtime() = default;
base::DeviceInfo chosen_device() { return {}; }
Monitor monitor_of(const base::DeviceInfo&) { return {}; }
model::Match match_of(const Session&) { return {}; }
model::Device calibrate(Session&, const Hooks&) { return {}; }
experiment::Facts probe(const deck::Deck&, Session&, const Hooks&) { return {}; }
experiment::Samples measure(const experiment::Plan&, Session&, const Hooks&) { return {}; }
std::function<void()> load(int) { return {}; }

}  // namespace overlap::measure
