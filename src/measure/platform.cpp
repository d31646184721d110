#include "measure/platform.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <new>
#include <string_view>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/parallel.hpp"
#include "base/proc.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "workload/workload.hpp"

namespace overlap::measure {
namespace {

constexpr std::string_view device_option = "--kokkos-device-id=";
constexpr const char* device_variable = "KOKKOS_DEVICE_ID";

[[noreturn]] void refuse(std::string_view name, std::string_view found, const char* allowed) {
  throw base::Error(base::ExitCode::usage,
                    fmt::format("{}: found {}; allowed: {}", name, found, allowed));
}

/// Kokkos aborts on a device that does not exist.
void require_device_number(std::string_view name, std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool digits = error == std::errc() && end == text.data() + text.size();
  const std::size_t devices = visible_devices().size();  // 0: unknown, or a host back end
  if (digits && number < (devices > 0 ? devices : INT_MAX)) return;
  refuse(name, fmt::format("'{}'", text), "the number of a device, counted from 0");
}

/// OpenMP would bind the thread that starts the lanes, and so all of them, to one core.
void require_unbound() {
  if (!workload::is_open_mp<Kokkos::DefaultHostExecutionSpace>) return;
  const char* const bind = std::getenv("OMP_PROC_BIND");
  if (bind != nullptr && strcasecmp(bind, "false") == 0) return;
  for (const char* const name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) {
      refuse(name, fmt::format("'{}'", value), "OMP_PROC_BIND=false, for lanes on all cores");
    }
  }
}

/// The option for the device with the number of the rank on its node, as Kokkos chooses it under
/// the launchers that it knows; empty: not on a GPU, unknown, or chosen by the user.
std::string device_of_rank(const std::vector<std::string>& arguments) {
  const auto rank = base::launch().local_rank;
  const auto is_set = [](const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0';
  };
  const bool chosen = is_set(device_variable) || is_set("KOKKOS_MAP_DEVICE_ID_BY") ||
                      is_set("KOKKOS_VISIBLE_DEVICES") ||
                      std::ranges::any_of(arguments, [](const std::string& argument) {
                        return argument.starts_with(device_option) ||
                               argument.starts_with("--kokkos-map-device-id-by");
                      });
  const std::size_t devices = on_gpu() && rank && !chosen ? visible_devices().size() : 0;
  return devices == 0
             ? ""
             : fmt::format("{}{}", device_option, static_cast<std::size_t>(*rank) % devices);
}

}  // namespace

std::map<deck::WorkloadKind, std::string> unavailable() {
  std::map<deck::WorkloadKind, std::string> reasons;
  for (const auto& word : deck::words<deck::WorkloadKind>) {
    if (const auto reason = workload::unavailable(word.value)) reasons[word.value] = *reason;
  }
  return reasons;
}

base::BuildInfo build_info() {
  base::BuildInfo info{.compiler = base::compiler()};
  info.kokkos_version = std::to_string(KOKKOS_VERSION / 10000) + "." +
                        std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                        std::to_string(KOKKOS_VERSION % 100);
  info.backend = Kokkos::DefaultExecutionSpace::name();
  add_toolkit(info);
#if defined(OVERLAP_KOKKOS_KERNELS_VERSION)
  info.kokkos_kernels_version = OVERLAP_KOKKOS_KERNELS_VERSION;
#endif
  return info;
}

bool on_gpu() { return !workload::is_host; }

void require_host_memory(std::int64_t bytes, int ranks) {
  const auto available = base::available_memory();
  if (!available || bytes <= *available / ranks) return;
  throw base::Error(base::ExitCode::precondition,
                    "found " + base::format_bytes(*available) +
                        " of available host memory; required: " + base::format_bytes(bytes) +
                        (ranks > 1 ? fmt::format(" for each of {} ranks", ranks) : ""));
}

void require_free_choice(const std::vector<std::string>& arguments) {
  if (!on_gpu()) return;
  constexpr const char* none = "no choice of a device, which the ranks make";
  for (const std::string& argument : arguments) {
    if (argument.starts_with(device_option)) refuse("--fleet", argument, none);
  }
  for (const char* const name : {device_variable, "KOKKOS_VISIBLE_DEVICES"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) refuse("--fleet", fmt::format("{}={}", name, value), none);
  }
}

Runtime::Runtime(std::vector<std::string> arguments) {
  require_device();
  for (const std::string_view argument : arguments) {
    if (!argument.starts_with(device_option)) continue;
    require_device_number("--kokkos-device-id", argument.substr(device_option.size()));
  }
  if (const char* const value = std::getenv(device_variable)) {
    require_device_number(device_variable, value);
  }
  require_unbound();
  // Unset also means unbound; the explicit value avoids a warning of Kokkos.
  setenv("OMP_PROC_BIND", "false", 0);
  std::vector<char*> argv = {const_cast<char*>("miniapp")};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::string device = device_of_rank(arguments);
  if (!device.empty()) argv.push_back(device.data());
  auto argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  try {
    Kokkos::initialize(argc, argv.data());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    // Without Kokkos arguments the machine is to blame.
    throw base::Error(arguments.empty() ? base::ExitCode::precondition : base::ExitCode::usage,
                      std::string("Kokkos refused to start: ") + base::error_of(error).what());
  }
  if (argc == 1) return;  // Kokkos removes the arguments that it knows, and only warns of others
  Kokkos::finalize();
  refuse("Kokkos", argv[1], "the options in miniapp --kokkos-help");
}

Runtime::~Runtime() { Kokkos::finalize(); }

}  // namespace overlap::measure
