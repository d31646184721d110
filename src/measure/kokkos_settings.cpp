#include "measure/kokkos_settings.hpp"

#include <strings.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <string_view>

#include "base/error.hpp"
#include "measure/platform.hpp"

namespace overlap::measure {
namespace {

constexpr int most_threads = 4096;  // OpenMP crashes on huge numbers

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

/// The parts of a list with commas.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(list, ',')) {
    parts.emplace_back(part.begin(), part.end());
  }
  return parts;
}

bool is_device_of(const std::vector<base::DeviceInfo>& devices, std::string_view text) {
  const auto number = whole_number(text);
  return number && (!on_gpu() || static_cast<std::size_t>(*number) < devices.size());
}

bool is_threads(std::string_view text) {
  const auto number = whole_number(text);
  return number && *number >= 1 && *number <= most_threads;
}

/// OpenMP also accepts blanks, and a list with one number per nesting level; checks the first.
bool is_openmp_threads(std::string_view text) {
  text = text.substr(0, text.find(','));
  const auto from = text.find_first_not_of(' ');
  const std::string_view host = Kokkos::DefaultHostExecutionSpace::name();
  if (host != "OpenMP" || from == text.npos) return true;
  return is_threads(text.substr(from, text.find_last_not_of(' ') + 1 - from));
}

/// Lanes are threads of their own: OpenMP binds the thread that starts them, and so all of them, to
/// one core.
bool is_unbound(std::string_view text) {
  const std::string_view host = Kokkos::DefaultHostExecutionSpace::name();
  return host != "OpenMP" || strcasecmp(std::string(text).c_str(), "false") == 0;
}

/// OpenMP places bind as well, unless OMP_PROC_BIND is false.
bool is_place(std::string_view) {
  const char* const bind = std::getenv("OMP_PROC_BIND");
  return is_unbound(bind == nullptr ? "" : bind);
}

bool is_device(std::string_view text) { return is_device_of(kokkos_devices(), text); }

bool is_device_list(std::string_view text) {
  if (!on_gpu()) return true;
  return !text.empty() &&
         std::ranges::all_of(parts_of(text), [all = visible_devices()](std::string_view number) {
           return is_device_of(all, number);
         });
}

bool is_flag(std::string_view text) {
  constexpr std::array<const char*, 6> words = {"true", "yes", "1", "false", "no", "0"};
  return std::ranges::any_of(words, [word = std::string(text)](const char* known) {
    return strcasecmp(word.c_str(), known) == 0;
  });
}

bool is_rule(std::string_view text) { return text == "mpi_rank" || text == "random"; }

bool is_text(std::string_view) { return true; }

struct KokkosSetting {
  std::string_view option;  ///< empty: none
  const char* variable;
  bool (*takes)(std::string_view);
  const char* allowed;
  bool stands_alone = false;  ///< whether the option needs no value
};

constexpr const char* threads = "a whole number from 1 to 4096";
constexpr const char* unbound = "false, since OpenMP would bind all lanes to one core";
constexpr const char* id = "the number of a device, counted from 0";
constexpr const char* flag = "true, yes, 1, false, no, 0";

/// The settings of Kokkos 4.5 to 5.2 and OpenMP that are checked before Kokkos reads them.
constexpr auto settings = std::to_array<KokkosSetting>({
    {"--kokkos-num-threads", "KOKKOS_NUM_THREADS", is_threads, threads},
    {"", "OMP_NUM_THREADS", is_openmp_threads, threads},
    {"", "OMP_PROC_BIND", is_unbound, unbound},
    {"", "OMP_PLACES", is_place, "OMP_PROC_BIND=false beside it"},
    {"", "GOMP_CPU_AFFINITY", is_place, "OMP_PROC_BIND=false beside it"},
    {"--kokkos-device-id", "KOKKOS_DEVICE_ID", is_device, id},
    {"", "KOKKOS_VISIBLE_DEVICES", is_device_list, "numbers of devices, such as 0,1"},
    {"--kokkos-map-device-id-by", "KOKKOS_MAP_DEVICE_ID_BY", is_rule, "mpi_rank, random"},
    {"--kokkos-disable-warnings", "KOKKOS_DISABLE_WARNINGS", is_flag, flag, true},
    {"--kokkos-print-configuration", "KOKKOS_PRINT_CONFIGURATION", is_flag, flag, true},
    {"--kokkos-tune-internals", "KOKKOS_TUNE_INTERNALS", is_flag, flag, true},
    {"--kokkos-tools-libs", "KOKKOS_TOOLS_LIBS", is_text, "a value"},
    {"--kokkos-tools-args", "KOKKOS_TOOLS_ARGS", is_text, "a value"},
});

[[noreturn]] void refuse(std::string_view name, const std::string& found, const char* allowed) {
  throw base::Error(base::ExitCode::usage,
                    std::string(name) + ": found " + found + "; allowed: " + allowed);
}

}  // namespace

void require_kokkos_settings(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const auto* const setting = std::ranges::find(
        settings, std::string_view(argument).substr(0, equals), &KokkosSetting::option);
    if (setting == settings.end()) continue;  // Kokkos warns about it
    if (equals == argument.size()) {
      if (!setting->stands_alone) refuse(setting->option, "no value", setting->allowed);
      continue;
    }
    const std::string value = argument.substr(equals + 1);
    if (!setting->takes(value)) refuse(setting->option, "'" + value + "'", setting->allowed);
  }
  for (const KokkosSetting& setting : settings) {
    const char* const value = std::getenv(setting.variable);
    if (value == nullptr || setting.takes(value)) continue;
    refuse(setting.variable, "'" + std::string(value) + "'", setting.allowed);
  }
}

void require_free_choice(const std::vector<std::string>& arguments) {
  if (!on_gpu()) return;
  constexpr const char* none = "no choice of a device, which the ranks make";
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--kokkos-device-id=")) refuse("--fleet", argument, none);
  }
  if (const char* const chosen = std::getenv("KOKKOS_DEVICE_ID")) {
    refuse("--fleet", std::string("KOKKOS_DEVICE_ID=") + chosen, none);
  }
}

std::vector<base::DeviceInfo> kokkos_devices() {
  const std::vector<base::DeviceInfo> all = visible_devices();
  const char* const list = std::getenv("KOKKOS_VISIBLE_DEVICES");
  if (!on_gpu() || list == nullptr || !is_device_list(list))
    return all;  // a wrong list is refused elsewhere
  std::vector<base::DeviceInfo> chosen;
  for (const std::string_view number : parts_of(list)) {
    chosen.push_back(all[static_cast<std::size_t>(*whole_number(number))]);
  }
  return chosen;
}

}  // namespace overlap::measure
