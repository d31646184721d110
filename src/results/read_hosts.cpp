#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "base/input_file.hpp"
#include "base/units.hpp"
#include "results/read_files.hpp"

namespace overlap::results {
namespace {

/// Labels of letters, digits and inner hyphens between dots (RFC 1123, section 2.1).
bool is_host_name(const std::string& name) {
  constexpr std::size_t most = 253;
  if (name.size() > most) return false;
  static const std::regex labels(
      "[0-9A-Za-z]([-0-9A-Za-z]{0,61}[0-9A-Za-z])?"
      "(\\.[0-9A-Za-z]([-0-9A-Za-z]{0,61}[0-9A-Za-z])?)*");
  return std::regex_match(name, labels);
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
          fmt::format("{}:{}: found {}; allowed: host names, one or several per line, as "
                      "`scontrol show hostnames` prints them, each alone or with the number of its "
                      "devices, such as node7:8",
                      file, number, describe::quoted(word.substr(0, 400))));
    }
  }
  if (hosts.empty()) {
    throw base::Error(base::ExitCode::usage, file + ": found no host; allowed: host names");
  }
  return hosts;
}

}  // namespace overlap::results
