#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/picture.hpp"

namespace overlap::report {
namespace {

using experiment::Outcome;

// Room for the words of ticks before time begins.
constexpr Frame soak{.left = 96, .width = Svg::width - 96 - Svg::margin};
constexpr double plot_height = 130;

/// A quantity over time.
struct Line {
  std::string name;  ///< empty: the plot's
  std::size_t pen = 0;
  std::vector<std::pair<double, double>> points;  ///< seconds, value
};

struct Plot {
  std::string name;  ///< with its unit
  std::vector<Line> lines;
};

/// What is drawn of the device, where it was read.
struct HealthCurve {
  const char* name;
  decltype(&experiment::HealthPoint::power_w) value;
};
constexpr std::array<HealthCurve, 3> quantities = {{
    {"SM clock, MHz", &experiment::HealthPoint::sm_clock_mhz},
    {"temperature, °C", &experiment::HealthPoint::temperature_c},
    {"power, W", &experiment::HealthPoint::power_w},
}};

Plot throughput(const Outcome& outcome) {
  Plot plot{"throughput, GB/s: medians of stretches of the soak", {}};
  for (const experiment::Run& run : outcome.runs) {
    const double gigabytes = 1e-9 * static_cast<double>(copied_bytes(run));
    if (run.series.empty() || gigabytes == 0) continue;
    Line& line = plot.lines.emplace_back(Line{name(run), plot.lines.size() % pens.size(), {}});
    for (const experiment::Stretch& stretch : run.series) {
      line.points.emplace_back(stretch.at_s, gigabytes / base::summarize(stretch.kept_s).median);
    }
  }
  return plot;
}

std::vector<Plot> plots_of(const Outcome& outcome) {
  std::vector<Plot> plots = {throughput(outcome)};
  if (plots.front().lines.empty()) return {};
  for (const HealthCurve& quantity : quantities) {
    Line line;
    for (const experiment::HealthPoint& point : outcome.device.series) {
      if (point.*quantity.value) line.points.emplace_back(point.at_s, *(point.*quantity.value));
    }
    if (!line.points.empty()) plots.push_back({quantity.name, {line}});
  }
  return plots;
}

/// Draws a plot from the top of the picture down. Its values begin where the least one needs it:
/// what a soak looks for are small changes.
void draw(Svg& svg, const Plot& plot, double longest_s) {
  double least = plot.lines.front().points.front().second;
  double most = least;
  for (const Line& line : plot.lines) {
    for (const auto& [at_s, value] : line.points) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  const double wanted = std::max(0.1 * (most - least), 0.01 * std::abs(most));
  const double room = wanted > 0 ? wanted : 1;  // all values are 0
  least -= room;
  most += room;
  const auto across = [&](double at_s) { return soak.left + at_s / longest_s * soak.width; };
  const auto up = [&](double value) {
    return svg.y + (most - value) / (most - least) * plot_height;
  };
  svg.words("name", Svg::margin, svg.y - 12, plot.name);
  for (const double tick : ticks(least, most, 5)) {
    svg.add(R"(<path class="grid" d="M{:g} {:g}h{:g}"/>)", soak.left, up(tick), soak.width);
    svg.words("tick end", soak.left - 8, up(tick) + 4, fmt::format("{:.6g}", tick));
  }
  for (const Line& line : plot.lines) {
    std::vector<std::string> places;
    for (const auto& [at_s, value] : line.points) {
      places.push_back(fmt::format("{:g} {:g}", across(at_s), up(value)));
    }
    svg.add(R"(<g class="p{}"><path class="measured" d="M{}"/></g>)", line.pen,
            fmt::join(places, "L"));
  }
  svg.y += plot_height;
  svg.add(R"(<path class="axis" d="M{:g} {:g}h{:g}"/>)", soak.left, svg.y, soak.width);
  for (const double tick : ticks(0, longest_s)) {
    svg.words("tick mid", across(tick), svg.y + 16, tick_words(tick, longest_s));
  }
  svg.y += 56;
}

}  // namespace

std::string soak_svg(const Outcome& outcome) {
  const std::vector<Plot> plots = plots_of(outcome);
  if (plots.empty()) return "";
  double longest_s = 0;
  for (const Plot& plot : plots) {
    for (const Line& line : plot.lines) {
      longest_s = std::max(longest_s, line.points.back().first);
    }
  }
  if (longest_s <= 0) return "";
  Svg svg{.text = {}, .y = Svg::margin};
  std::vector<std::pair<std::string, std::string>> entries;
  for (const Line& line : plots.front().lines) {
    entries.emplace_back(
        fmt::format(R"(<g class="p{}"><path class="measured" d="M0 0h28"/></g>)", line.pen),
        line.name);
  }
  svg.legend(Svg::margin, 28, entries);
  svg.y += 20;
  for (const Plot& plot : plots) draw(svg, plot, longest_s);
  return svg.finish("Soak");
}

}  // namespace overlap::report
