#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/input_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "results/read_files.hpp"

namespace overlap::results {
namespace {

/// Labels of letters, digits and inner hyphens between dots (RFC 1123, section 2.1).
bool is_host_name(std::string_view name) {
  constexpr std::size_t most = 253, most_of_label = 63;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (name.size() > most) return false;
  for (;;) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > most_of_label) return false;
    if (!is_plain(label.front()) || !is_plain(label.back())) return false;
    if (!std::ranges::all_of(label, [&](char c) { return is_plain(c) || c == '-'; })) return false;
    if (label.size() == name.size()) return true;
    name.remove_prefix(label.size() + 1);
  }
}

std::optional<ExpectedHost> parse_host(const std::string& word) {
  constexpr int most_devices = 1024;
  const std::size_t colon = word.find(':');
  ExpectedHost host{.name = word.substr(0, colon)};
  if (!is_host_name(host.name)) return {};
  if (colon == std::string::npos) return host;
  const auto devices = base::parse_count(word.substr(colon + 1));
  if (!devices || *devices < 1 || *devices > most_devices) return {};
  host.devices = static_cast<int>(*devices);
  return host;
}

/// What is printed of a word of any length.
std::string shortened(const std::string& word) {
  constexpr std::size_t most = 60;
  const std::string line = base::one_line(word.substr(0, 4 * most));
  const std::string shown(base::first_columns(line, most));
  return shown + (shown.size() < line.size() || word.size() > 4 * most ? "..." : "");
}

}  // namespace

std::vector<ExpectedHost> read_hosts(const std::string& file) {
  std::vector<ExpectedHost> hosts;
  constexpr std::size_t most_bytes = std::size_t{1} << 26;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::string text =
      base::read_file(file, most_bytes, "a file of host names", base::ExitCode::usage);
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  std::istringstream lines(std::move(text));
  lines.exceptions(std::ios::badbit);  // a lack of memory must not shorten the list
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    words.exceptions(std::ios::badbit);
    for (std::string word; words >> word;) {
      if (const auto host = parse_host(word)) {
        hosts.push_back(*host);
        continue;
      }
      throw base::Error(
          base::ExitCode::usage,
          fmt::format("{}:{}: found '{}'; allowed: host names, one or several per line, as "
                      "`scontrol show hostnames` prints them, each alone or with the number of its "
                      "devices, such as node7:8",
                      file, number, shortened(word)));
    }
  }
  if (hosts.empty()) {
    throw base::Error(base::ExitCode::usage, file + ": found no host; allowed: host names");
  }
  return hosts;
}

}  // namespace overlap::results
