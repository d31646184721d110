#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "report/picture.hpp"
#include "report/sweep.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

constexpr double margin = 24;
constexpr double left = 108;  // where time begins
// Room for a time behind the longest timeline.
constexpr double chart_width = Svg::width - left - 92;
constexpr double bar_height = 18;
constexpr double least_bar_height = 4;
constexpr double band_height = 72;  // of an engine with many rows, at most

std::string hint(const experiment::Run& run, const timeline::Span& at, schedule::TaskId id) {
  const schedule::Task& task = run.schedule.tasks[id];
  std::string words = full_label(run.schedule, id);
  if (!schedule::on_host(task.stage)) words += fmt::format(", lane {}", task.lane);
  return words + fmt::format(": {} .. {}", base::format_seconds(at.start_s),
                             base::format_seconds(at.stop_s));
}

/// One row of tasks, `height` high, from y = 0 down.
void draw_row(Svg& svg, const experiment::Run& run, const timeline::Timeline& timeline,
              const Tasks& row, double scale, double height) {
  for (std::size_t i = 0, next = 0; i < row.size(); i = next) {
    const schedule::Stage stage = run.schedule.tasks[row[i]].stage;
    const timeline::Span& at = timeline.spans[row[i]];
    double stop_s = at.stop_s;
    // Tasks too narrow to be told apart become one bar: files stay small.
    for (next = i + 1; next < row.size(); ++next) {
      const double next_s = timeline.spans[row[next]].stop_s;
      const bool same = run.schedule.tasks[row[next]].stage == stage;
      if (!same || (next_s - at.start_s) * scale > 1) break;
      stop_s = std::max(stop_s, next_s);
    }
    const bool alone = next == i + 1;
    const double begin = left + at.start_s * scale;
    double wide = (stop_s - at.start_s) * scale;
    if (wide > 4) wide -= 0.8;  // neighbours of one colour must not run together
    const char* const name = schedule::to_string(stage);
    svg.add(R"(<rect class="{}" x="{:g}" width="{:g}" height="{:g}"{}><title>{}</title></rect>)",
            name, begin, std::max(0.5, wide), height, height > 8 && wide > 5 ? R"( rx="2")" : "",
            alone ? escape_xml(hint(run, at, row[i])) : fmt::format("{} {} tasks", next - i, name));
    const std::string words = label(run.schedule, row[i]);
    const double spare = wide - width_of(words) * 10 / 11;
    if (alone && height >= 11 && spare >= 1) {
      svg.words(fmt::format("bar {}", name), begin + std::min(4.0, spare / 2), height / 2 + 4,
                words);
    }
  }
}

void draw(Svg& svg, const experiment::Run& run, const Picture& picture, double scale) {
  svg.add(R"(<text class="muted" x="{:g}" y="{:g}">{})", margin, svg.y + 12,
          escape_xml(picture.words));
  if (!picture.doubt.empty()) svg.add(R"(<tspan class="doubt" dx="8">{}</tspan>)", picture.doubt);
  svg.add("</text>\n");
  svg.y += 19;
  if (picture.timeline == nullptr) return;
  const timeline::Timeline& timeline = *picture.timeline;
  const double top = svg.y;
  for (const Band& band : engine_bands(timeline)) {
    const auto rows = static_cast<double>(band.rows.size());
    const double height = std::clamp(band_height / rows - 1, least_bar_height, bar_height);
    const double all = std::max(bar_height, rows * (height + 1) - 1);
    svg.words("muted end", left - 8, svg.y + 13.5, band.name);
    svg.add(R"(<rect class="track" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>)", left, svg.y,
            chart_width, all);
    for (std::size_t i = 0; i < band.rows.size(); ++i) {
      svg.add(R"g(<g transform="translate(0 {:g})">)g",
              svg.y + static_cast<double>(i) * (height + 1));
      draw_row(svg, run, timeline, band.rows[i], scale, height);
      svg.add("</g>\n");
    }
    svg.y += all + 3;
  }
  const double stop = left + timeline.complete_s * scale;
  svg.add(R"(<path class="stop" d="M{:g} {:g}V{:g}"/>)", stop, top, svg.y - 2);
  svg.words("muted", stop + 5, top + 13, base::format_seconds(timeline.complete_s));
  svg.y += 5;
}

void draw(Svg& svg, const experiment::Run& run, const experiment::Outcome& outcome,
          double longest) {
  svg.add(
      "<g>\n<text class=\"order\" x=\"{:g}\" y=\"{:g}\">{}<tspan class=\"muted figures\" "
      "dx=\"14\">{}</tspan></text>\n",
      margin, svg.y + 12, escape_xml(order_words(run)), escape_xml(figures(run, outcome.runs)));
  svg.y += 24;
  const std::size_t behind = svg.text.size();
  const double top = svg.y + 19;
  const double scale = chart_width / longest;
  draw(svg, run, measured(run), scale);
  draw(svg, run, predicted(run), scale);
  // Without a timeline there is no axis either.
  if (run.trace || run.predicted) {
    svg.add(R"(<path class="axis" d="M{:g} {:g}h{:g}"/>)", left, svg.y, chart_width);
    std::string grid;
    for (const double tick : ticks(longest)) {
      const double x = left + tick * scale;
      svg.words("tick mid", x, svg.y + 15, tick_words(tick, longest));
      grid += fmt::format("M{:g} {:g}V{:g}", x, top, svg.y);
    }
    svg.text.insert(behind, fmt::format("<path class=\"grid\" d=\"{}\"/>\n", grid));
    svg.y += 22;
  }
  svg.add("</g>\n");
  svg.y += 18;
}

}  // namespace

std::string svg(const Studies& studies) {
  if (!studies.empty() && studies.front().sweeps()) return sweep_svg(studies.front());
  Svg page{.text = {}, .y = margin};
  for (const Study& study : studies) {
    if (study.outcome() == nullptr) continue;
    page.words("title", margin, page.y + 18, study.deck().title);
    page.words("muted", margin, page.y + 40, place_words(study));
    page.y += 65;
    std::vector<std::pair<std::string, std::string>> entries;
    for (const Ink& ink : used_inks({&study, 1})) {
      entries.emplace_back(fmt::format(R"(<rect class="{}" y="-7" width="14" height="14" rx="2"/>)",
                                       schedule::to_string(ink.stage)),
                           ink.words);
    }
    page.legend(margin, 14, entries);
    const double longest = longest_s(*study.outcome());
    for (const experiment::Run& run : study.outcome()->runs) {
      draw(page, run, *study.outcome(), longest);
    }
    page.y += 7;
  }
  return page.finish(studies.empty() ? "" : studies.front().deck().title);
}

}  // namespace overlap::report
