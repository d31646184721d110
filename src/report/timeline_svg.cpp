#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/units.hpp"
#include "report/picture.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

using schedule::TaskId;

constexpr double width = 1200;
constexpr double margin = 24;
constexpr double left = 108;  // where time begins
constexpr double chart_width =
    width - left - 92;  // and room for a time behind the longest timeline
constexpr double bar_height = 18;
constexpr double least_bar_height = 4;
constexpr double band_height = 72;  // of an engine with many rows, at most

std::string style() {
  std::string light, dark;
  for (const Ink& ink : inks) {
    const char* const stage = schedule::to_string(ink.stage);
    light += fmt::format(".{0}{{fill:{1}}}text.{0}{{fill:{2}}}\n", stage, ink.light, ink.on_light);
    dark += fmt::format(".{0}{{fill:{1}}}text.{0}{{fill:{2}}}\n", stage, ink.dark, ink.on_dark);
  }
  return ":root{color-scheme:light dark}\n"
         "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
         "fill:#1d1d1f}\n"
         ".title{font-size:20px;font-weight:600}.order{font-size:15px;font-weight:600}\n"
         ".end,.start{text-anchor:end}.start{fill:#6e6e73}.tick,.muted{fill:#6e6e73}\n"
         ".tick{font-size:11px;text-anchor:middle}.bar{font-size:10px}\n"
         ".doubt{fill:#b3261e;font-weight:600}.ground{fill:#fff}\n"
         ".track{fill:#f5f5f7}.grid{stroke:#d2d2d7;stroke-width:.6}\n"
         ".axis,.stop{stroke:#86868b;fill:none}.stop{stroke-dasharray:2 2}\n" +
         light +
         "@media screen and (prefers-color-scheme:dark){text{fill:#f5f5f7}\n"
         ".start,.tick,.muted{fill:#a1a1a6}.doubt{fill:#ff8a80}.ground{fill:#161618}\n"
         ".track{fill:#202024}.grid{stroke:#3a3a40}.axis,.stop{stroke:#7c7c84}\n" +
         dark + "}\n";
}

std::string hint(const experiment::Run& run, const timeline::Span& at, TaskId id) {
  const schedule::Task& task = run.schedule.tasks[id];
  std::string words = full_label(run.schedule, id);
  if (!schedule::on_host(task.stage)) words += fmt::format(", lane {}", task.lane);
  return words + fmt::format(": {} .. {}", base::format_seconds(at.start_s),
                             base::format_seconds(at.stop_s));
}

/// One row of tasks, `height` high, from the page's place down.
void draw_row(Page& page, const experiment::Run& run, const timeline::Timeline& timeline,
              const Tasks& row, double scale, double height) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const schedule::Task& task = run.schedule.tasks[row[i]];
    const timeline::Span& at = timeline.spans[row[i]];
    const double begin = at.start_s * scale;
    double end = at.stop_s * scale;
    // Tasks too narrow to be told apart become one bar: files stay small.
    std::size_t last = i;
    while (last + 1 < row.size()) {
      const timeline::Span& next = timeline.spans[row[last + 1]];
      const bool same = run.schedule.tasks[row[last + 1]].stage == task.stage;
      if (!same || next.stop_s * scale - begin > 1) break;
      end = std::max(end, next.stop_s * scale);
      ++last;
    }
    const double wide = end - begin;
    const double gap = wide > 4 ? 0.8 : 0;  // neighbours of one colour must not run together
    const char* const stage = schedule::to_string(task.stage);
    page.add(R"(<rect class="{}" x="{}" width="{}" height="{}"{}><title>{}</title></rect>)", stage,
             coordinate(left + begin), coordinate(std::max(0.5, wide - gap)), coordinate(height),
             height > 8 && wide > 6 ? R"( rx="2")" : "",
             last == i ? escape_xml(hint(run, at, row[i]))
                       : fmt::format("{} {} tasks", last - i + 1, stage));
    const std::string words = label(run.schedule, row[i]);
    const double spare = wide - gap - width_of(words) * 10 / 11;
    if (last == i && height >= 11 && spare >= 1) {
      page.add(R"(<text class="bar {}" x="{}" y="{}">{}</text>)", stage,
               coordinate(left + begin + std::min(4.0, spare / 2)), coordinate(height / 2 + 4),
               escape_xml(words));
    }
    i = last;
  }
  page.add("\n");
}

void draw(Page& page, const experiment::Run& run, const Picture& picture, double scale) {
  page.add(R"(<text class="muted" x="{}" y="{}">{})", margin, coordinate(page.y + 12),
           escape_xml(picture.words));
  if (!picture.doubt.empty()) page.add(R"(<tspan class="doubt" dx="8">{}</tspan>)", picture.doubt);
  page.add("</text>\n");
  page.y += 19;
  if (picture.timeline == nullptr) return;
  const timeline::Timeline& timeline = *picture.timeline;
  const double top = page.y;
  for (const Band& band : engine_bands(timeline)) {
    const auto rows = static_cast<double>(band.rows.size());
    const double height = std::clamp(band_height / rows - 1, least_bar_height, bar_height);
    page.add(R"(<text class="start" x="{}" y="{}">{}</text>)", left - 8, coordinate(page.y + 13.5),
             escape_xml(band.name));
    page.add(R"(<rect class="track" x="{}" y="{}" width="{}" height="{}"/>)", left,
             coordinate(page.y), chart_width,
             coordinate(std::max(bar_height, rows * (height + 1) - 1)));
    const double next = page.y + std::max(bar_height, rows * (height + 1) - 1) + 3;
    for (const Tasks& row : band.rows) {
      page.add(R"g(<g transform="translate(0 {})">)g", coordinate(page.y));
      draw_row(page, run, timeline, row, scale, height);
      page.add("</g>");
      page.y += height + 1;
    }
    page.y = next;
  }
  const double stop = left + timeline.complete_s * scale;
  page.add(R"(<path class="stop" d="M{} {}V{}"/><text class="muted" x="{}" y="{}">{}</text>)",
           coordinate(stop), coordinate(top), coordinate(page.y - 2), coordinate(stop + 5),
           coordinate(top + 13), base::format_seconds(timeline.complete_s));
  page.add("\n");
  page.y += 5;
}

void draw_axis(Page& page, double longest_s, double scale) {
  page.add(R"(<path class="axis" d="M{} {}h{}"/>)", left, coordinate(page.y), chart_width);
  const double step = tick_s(longest_s);
  for (int i = 0; i * step <= longest_s * (1 + 1e-9); ++i) {
    page.add(R"(<text class="tick" x="{}" y="{}">{}</text>)", coordinate(left + i * step * scale),
             coordinate(page.y + 15), tick_words(i * step, longest_s));
  }
  page.add("\n");
  page.y += 22;
}

/// The axis' ticks continued upwards, behind the bars.
std::string grid(double top, double bottom, double longest_s, double scale) {
  std::string path;
  const double step = tick_s(longest_s);
  for (int i = 0; i * step <= longest_s * (1 + 1e-9); ++i) {
    path += fmt::format("M{} {}V{}", coordinate(left + i * step * scale), coordinate(top),
                        coordinate(bottom));
  }
  return fmt::format("<path class=\"grid\" d=\"{}\"/>\n", path);
}

void draw_legend(Page& page, const experiment::Outcome& outcome) {
  double x = margin;
  for (const Ink& ink : inks) {
    if (!has_stage(outcome, ink.stage)) continue;
    page.add(
        R"(<rect class="{}" x="{}" y="{}" width="14" height="14" rx="2"/><text x="{}" y="{}">{}</text>)",
        schedule::to_string(ink.stage), coordinate(x), coordinate(page.y), coordinate(x + 20),
        coordinate(page.y + 11.5), ink.words);
    x += 46 + width_of(ink.words);
  }
  page.add("\n");
  page.y += 34;
}

void draw(Page& page, const Study& study, const experiment::Outcome& outcome) {
  page.add("<g>\n<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n", margin,
           coordinate(page.y + 18), escape_xml(study.deck().title));
  page.add("<text class=\"muted\" x=\"{}\" y=\"{}\">{}</text>\n", margin, coordinate(page.y + 40),
           escape_xml(place_words(study)));
  page.y += 58;
  draw_legend(page, outcome);
  const double longest = longest_s(outcome);
  const double scale = chart_width / longest;
  for (const experiment::Run& run : outcome.runs) {
    page.add(
        "<g>\n<text class=\"order\" x=\"{}\" y=\"{}\">{}<tspan class=\"muted\" dx=\"14\" "
        "font-size=\"12\" font-weight=\"400\">{}</tspan></text>\n",
        margin, coordinate(page.y + 12), escape_xml(order_words(run)),
        escape_xml(figures(run, outcome.runs)));
    page.y += 24;
    Page inner;
    inner.y = page.y;
    for (const Picture& picture : {measured(run), predicted(run)}) draw(inner, run, picture, scale);
    // Without a timeline there is no axis either.
    if (measured(run).timeline != nullptr || predicted(run).timeline != nullptr) {
      const double bottom = inner.y;
      draw_axis(inner, longest, scale);
      page.add("{}", grid(page.y + 19, bottom, longest, scale));
    }
    page.add("{}</g>\n", inner.text);
    page.y = inner.y + 18;
  }
  page.add("</g>\n");
  page.y += 14;
}

}  // namespace

std::string timeline_svg(const Studies& studies) {
  Page page{.text = {}, .y = margin};
  for (const Study& study : studies) {
    if (const auto* outcome = study.outcome()) draw(page, study, *outcome);
  }
  const std::string title = studies.empty() ? "" : studies.front().deck().title;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n"
      "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{4}</svg>\n",
      width, coordinate(page.y), escape_xml(title), style(), page.text);
}

std::string svg(const Studies& studies) {
  const bool sweep = !studies.empty() && studies.front().sweeps();
  return sweep ? sweep_svg(studies.front()) : timeline_svg(studies);
}

}  // namespace overlap::report
