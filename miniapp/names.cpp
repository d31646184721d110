#include "names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/text.hpp"
#include "report/output_file.hpp"

namespace overlap {
namespace {

bool has(const std::string& name, const char* part) { return name.find(part) != name.npos; }

}  // namespace

bool has_deck_placeholder(const std::string& name) { return has(name, "{deck}"); }
std::string with_deck(const std::string& name, const std::string& deck) {
  return base::replaced(name, "{deck}", deck);
}

bool has_device_placeholder(const std::string& name) { return has(name, "{uuid}"); }
bool has_rank_placeholder(const std::string& name) {
  return has(name, "{rank}") || has_device_placeholder(name);
}

void require_known_placeholders(std::string_view option, const std::string& name,
                                std::span<const std::string_view> allowed) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  for (std::size_t begin = 0; (begin = name.find('{', begin)) != name.npos; ++begin) {
    std::size_t end = std::min(name.find_first_not_of(letters, begin + 1), name.size());
    if (end == begin + 1) continue;
    if (name[end] == '}') ++end;  // also without it
    const std::string word = name.substr(begin, end - begin);
    if (std::ranges::find(allowed, word) != allowed.end()) continue;
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found {} in a file name; allowed: {}", option, word,
                                  allowed.empty() ? "no words in braces"
                                                  : fmt::format("{}", fmt::join(allowed, ", "))));
  }
}

std::string FileNames::resolve(std::string name) const {
  name = base::replaced(name, "{host}", host);
  name = base::replaced(name, "{rank}", fmt::format("{}", rank));
  return base::replaced(name, "{uuid}", uuid);
}

FileNames file_names(const base::Machine& machine, bool early) {
  const int rank = machine.job ? machine.job->rank.value_or(0) : 0;
  const std::string id = early ? "{uuid}" : machine.device ? machine.device->id() : "";
  return {machine.host.name, rank, id.empty() ? fmt::format("rank{}", rank) : id};
}

void require_separate_files(const Options& options) {
  const base::Launch launch = base::launch();
  if (options.fleet || !launch.several()) return;
  const auto require_separate = [&](std::string_view option, const std::string& path,
                                    const char* instead) {
    if (has(path, "{rank}") && !launch.rank) {
      std::set<std::string_view> variables;
      for (const base::Launcher& launcher : base::launchers) variables.insert(launcher.rank);
      throw base::Error(base::ExitCode::usage,
                        fmt::format("{}: found {} with {}, but no variable with the number of this "
                                    "rank; allowed: one of {}",
                                    option, path, launch.label(), fmt::join(variables, ", ")));
    }
    const bool is_separate = has_rank_placeholder(path) || report::is_stream(path) ||
                             (has(path, "{host}") && launch.local_ranks == 1);
    if (is_separate) return;
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found {} with {}, all of which would write this file; "
                                  "allowed: {}, or a name with {{rank}} or {{uuid}}",
                                  option, path, launch.label(), instead));
  };
  if (!options.calibrate.empty()) require_separate("--calibrate", options.calibrate, "one rank");
  for (const Output& output : options.outputs) {
    require_separate(output.writer->option, output.path, "--fleet");
  }
}

}  // namespace overlap
