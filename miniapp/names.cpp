#include "names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/platform.hpp"
#include "report/output_file.hpp"

namespace overlap {
namespace {

bool has(const std::string& name, const char* part) { return name.find(part) != name.npos; }

}  // namespace

bool has_deck_placeholder(const std::string& name) { return has(name, "{deck}"); }
std::string with_deck(const std::string& name, const std::string& deck) {
  return base::replaced(name, "{deck}", deck);
}

bool has_rank_placeholder(const std::string& name) {
  return has(name, "{rank}") || has(name, "{uuid}");
}

void require_known_placeholders(std::string_view option, const std::string& name,
                                std::span<const std::string_view> allowed) {
  static const std::regex words("\\{[A-Za-z_]+\\}");
  for (std::sregex_iterator at(name.begin(), name.end(), words), end; at != end; ++at) {
    if (std::ranges::find(allowed, at->str()) != allowed.end()) continue;
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found {} in a file name; allowed: {}", option, at->str(),
                                  allowed.empty() ? "no words in braces"
                                                  : fmt::format("{}", fmt::join(allowed, ", "))));
  }
}

std::string FileNames::of(std::string name) const {
  name = base::replaced(name, "{host}", host);
  name = base::replaced(name, "{rank}", fmt::format("{}", rank));
  return base::replaced(name, "{uuid}", uuid);
}

FileNames names_of(const base::Machine& machine) {
  const int rank = machine.job ? machine.job->rank.value_or(0) : 0;
  const std::string id = machine.device ? machine.device->id() : "";
  return {machine.host.name, rank, id.empty() ? fmt::format("rank{}", rank) : id};
}

void require_own_files(const Options& options) {
  const auto job = measure::job_info();
  const int ranks = job && job->ranks ? *job->ranks : 1;
  if (ranks < 2 || options.fleet) return;
  if (!options.calibrate.empty() && !has_rank_placeholder(options.calibrate)) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("--calibrate: found {} with {} ranks, all of which would write "
                                  "this file; allowed: one rank, or a name with {{rank}} or "
                                  "{{uuid}}",
                                  options.calibrate, ranks));
  }
  for (const Output& output : options.outputs) {
    const bool own = has_rank_placeholder(output.path) || report::is_stream(output.path) ||
                     (has(output.path, "{host}") && measure::ranks_of_node().value_or(ranks) == 1);
    if (own) continue;
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found {} with {} ranks, all of which would write this file; "
                                  "allowed: --fleet, or a name with {{rank}} or {{uuid}}",
                                  output.writer->option, output.path, ranks));
  }
}

}  // namespace overlap
