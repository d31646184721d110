#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/picture.hpp"

namespace overlap::report {
namespace {

using experiment::Outcome;

constexpr double margin = 32;
constexpr double left = 96;  // where time begins: room for the words of ticks
constexpr double chart_width = Svg::width - left - margin;
constexpr double panel_height = 130;

/// A quantity over time.
struct Line {
  std::string name;  ///< empty: the panel's
  std::size_t pen = 0;
  std::vector<std::pair<double, double>> points;  ///< seconds, value
};

struct Panel {
  std::string name;  ///< with its unit
  std::vector<Line> lines;
};

/// What is drawn of the device, where it was read.
struct Reading {
  const char* name;
  decltype(&experiment::HealthPoint::power_w) value;
};
constexpr std::array<Reading, 3> readings = {{
    {"SM clock, MHz", &experiment::HealthPoint::sm_clock_mhz},
    {"temperature, °C", &experiment::HealthPoint::temperature_c},
    {"power, W", &experiment::HealthPoint::power_w},
}};

Panel throughput(const Outcome& outcome) {
  Panel panel{"throughput, GB/s: medians of stretches of the soak", {}};
  for (const experiment::Run& run : outcome.runs) {
    const double gigabytes = 1e-9 * static_cast<double>(copied_bytes(run));
    if (run.series.empty() || gigabytes == 0) continue;
    Line& line = panel.lines.emplace_back(Line{name(run), panel.lines.size() % pens.size(), {}});
    for (const experiment::Stretch& stretch : run.series) {
      line.points.emplace_back(stretch.at_s, gigabytes / base::summarize(stretch.kept_s).median);
    }
  }
  return panel;
}

std::vector<Panel> panels_of(const Outcome& outcome) {
  std::vector<Panel> panels = {throughput(outcome)};
  if (panels.front().lines.empty()) return {};
  for (const Reading& reading : readings) {
    Line line;
    for (const experiment::HealthPoint& point : outcome.device.series) {
      if (point.*reading.value) line.points.emplace_back(point.at_s, *(point.*reading.value));
    }
    if (!line.points.empty()) panels.push_back({reading.name, {line}});
  }
  return panels;
}

/// Draws a panel from the top of the picture down. Its values begin where the least one needs it:
/// what a soak looks for are small changes.
void draw(Svg& svg, const Panel& panel, double longest_s) {
  double least = panel.lines.front().points.front().second;
  double most = least;
  for (const Line& line : panel.lines) {
    for (const auto& [at_s, value] : line.points) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  const double room = std::max(0.1 * (most - least), 0.01 * most);
  least -= room;
  most += room;
  const auto across = [&](double at_s) { return left + at_s / longest_s * chart_width; };
  const auto up = [&](double value) {
    return svg.y + (most - value) / (most - least) * panel_height;
  };
  svg.words("name", margin, svg.y - 12, panel.name);
  const double step = ticks(most - least, 5)[1];
  for (double tick = std::ceil(least / step) * step; tick <= most; tick += step) {
    svg.add(R"(<path class="grid" d="M{:g} {:g}h{:g}"/>)", left, up(tick), chart_width);
    svg.words("tick end", left - 8, up(tick) + 4, fmt::format("{:.6g}", tick));
  }
  for (const Line& line : panel.lines) {
    std::vector<std::string> places;
    for (const auto& [at_s, value] : line.points) {
      places.push_back(fmt::format("{:g} {:g}", across(at_s), up(value)));
    }
    svg.add(R"(<g class="p{}"><path class="measured" d="M{}"/></g>)", line.pen,
            fmt::join(places, "L"));
  }
  svg.y += panel_height;
  svg.add(R"(<path class="axis" d="M{:g} {:g}h{:g}"/>)", left, svg.y, chart_width);
  for (const double tick : ticks(longest_s)) {
    svg.words("tick mid", across(tick), svg.y + 16, tick_words(tick, longest_s));
  }
  svg.y += 56;
}

}  // namespace

std::string soak_svg(const Outcome& outcome) {
  const std::vector<Panel> panels = panels_of(outcome);
  if (panels.empty()) return "";
  double longest_s = 0;
  for (const Panel& panel : panels) {
    for (const Line& line : panel.lines) {
      longest_s = std::max(longest_s, line.points.back().first);
    }
  }
  if (longest_s <= 0) return "";
  Svg svg{.text = {}, .y = margin};
  std::vector<std::pair<std::string, std::string>> entries;
  for (const Line& line : panels.front().lines) {
    entries.emplace_back(
        fmt::format(R"(<g class="p{}"><path class="measured" d="M0 0h28"/></g>)", line.pen),
        line.name);
  }
  svg.legend(margin, 28, entries);
  svg.y += 20;
  for (const Panel& panel : panels) draw(svg, panel, longest_s);
  return svg.finish("Soak");
}

}  // namespace overlap::report
