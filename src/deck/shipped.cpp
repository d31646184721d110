#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "deck/deck.hpp"
#include "describe/document.hpp"

namespace overlap::deck {
namespace {

/// The folder input/, next to the installed program or else in the sources.
std::string input_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto installed = program.parent_path() / OVERLAP_INSTALLED_INPUT;
  if (!error && std::filesystem::is_directory(installed, error)) return installed;
  return OVERLAP_SOURCE_INPUT;
}

}  // namespace

std::vector<std::string> shipped_names(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(input_folder()) / folder;
  std::vector<std::string> names;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(root, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path name = at->path().lexically_relative(root);
    if (folder.empty() && (name == "devices" || name == "references")) {
      at.disable_recursion_pending();
    }
    if (name.extension() == ".yaml") names.push_back(fs::path(name).replace_extension());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string shipped_path(const std::string& name_or_path, const std::string& folder,
                         const std::string& kind) {
  const std::vector<std::string> names = shipped_names(folder);
  std::error_code error;
  std::string name = name_or_path;
  if (constexpr std::string_view suffix = ".yaml"; name_or_path.ends_with(suffix)) {
    name.resize(name.size() - suffix.size());
    const bool shipped = std::ranges::find(names, name) != names.end();
    if (!shipped || std::filesystem::exists(name_or_path, error)) return name_or_path;
  }
  if (std::ranges::find(names, name_or_path) != names.end()) {
    return std::filesystem::path(input_folder()) / folder / (name_or_path + ".yaml");
  }
  const bool has_suffix = name != name_or_path && std::ranges::find(names, name) != names.end();
  const std::string near =
      has_suffix ? fmt::format("; did you mean '{}'?", name) : describe::suggestion(name, names);
  const bool is_path = name_or_path.find('/') != std::string::npos && near.empty();
  if (is_path || std::filesystem::exists(name_or_path, error)) return name_or_path;
  constexpr std::size_t few = 20;
  const std::string shipped = names.size() > few
                                  ? "the name of a shipped " + kind + ", or "
                                  : fmt::format("{}", fmt::join(names, ", ")) +
                                        (names.empty() ? "" : ", or ");  // nothing is installed
  throw base::Error(
      base::ExitCode::usage,
      fmt::format("{}: no such {}{} allowed: {}the path of a {} file",
                  describe::quoted(name_or_path), kind, near.empty() ? ";" : near, shipped, kind));
}

}  // namespace overlap::deck
