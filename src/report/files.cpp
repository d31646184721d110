#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "report/writers.hpp"

namespace overlap::report {

std::string json(const Results& results) { return results::to_json(results); }

std::string html(const Results& results) { return page(report(results)); }

std::string sweep_options() {
  std::set<std::string> options;
  for (const Writer& writer : writers) {
    const std::string suffix(writer.suffix);
    if (writer.takes_sweeps) {
      options.insert(std::string(writer.option) + (suffix.empty() ? "" : " FILE" + suffix));
    }
  }
  return fmt::format("{}", fmt::join(options, ", "));
}

}  // namespace overlap::report
