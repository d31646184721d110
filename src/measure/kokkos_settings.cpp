#include "measure/kokkos_settings.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
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

/// One past the largest device id.
int devices_end() {
  return on_gpu() ? static_cast<int>(visible_devices().size()) : std::numeric_limits<int>::max();
}

bool is_threads(std::string_view text) {
  const auto number = whole_number(text);
  return number && *number >= 1 && *number <= most_threads;
}

/// OpenMP also accepts a list with one number per nesting level; checks the first.
bool is_openmp_threads(std::string_view text) {
  return text.empty() || is_threads(text.substr(0, text.find(',')));
}

bool is_device(std::string_view text) {
  const auto number = whole_number(text);
  return number && *number < devices_end();
}

bool is_device_list(std::string_view text) {
  for (; on_gpu(); text.remove_prefix(text.find(',') + 1)) {
    if (!is_device(text.substr(0, text.find(',')))) return false;
    if (text.find(',') == text.npos) break;
  }
  return true;
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
constexpr const char* id = "the number of a device, counted from 0";
constexpr const char* flag = "true, yes, 1, false, no, 0";

/// The settings of Kokkos 4.5 to 5.2 and OpenMP that are checked before Kokkos reads them.
constexpr auto settings = std::to_array<KokkosSetting>({
    {"--kokkos-num-threads", "KOKKOS_NUM_THREADS", is_threads, threads},
    {"", "OMP_NUM_THREADS", is_openmp_threads, threads},
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

}  // namespace overlap::measure
