#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "deck/words.hpp"
#include "report/picture.hpp"
#include "report/sweep.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

constexpr double edge = 24;
// Room for names before time begins, and for a time behind the longest timeline.
constexpr Frame engines{.left = 108, .width = Svg::width - 108 - 92};
constexpr double least_bar_height = 4;

std::string hint(const schedule::Schedule& schedule, const timeline::Span& at,
                 schedule::TaskId id) {
  const schedule::Task& task = schedule.tasks[id];
  std::string words = full_label(schedule, id);
  if (const auto* const array = schedule::copied_array(schedule, task))
    words += " of " + array->name;
  if (!schedule::on_host(task.stage)) words += fmt::format(", lane {}", task.lane);
  return words + fmt::format(": {} .. {}", base::format_seconds(at.start_s),
                             base::format_seconds(at.stop_s));
}

/// One row of tasks, `height` high, from y = 0 down.
void draw_row(Svg& svg, const schedule::Schedule& schedule, const timeline::Timeline& timeline,
              const Tasks& row, const Frame& frame, double height) {
  std::size_t next = 0;
  while (next < row.size()) {
    const std::size_t i = next++;
    const schedule::Stage stage = schedule.tasks[row[i]].stage;
    const timeline::Span& at = timeline.spans[row[i]];
    double stop_s = at.stop_s;
    // Tasks too narrow to be told apart become one bar: files stay small.
    for (; next < row.size(); ++next) {
      const double next_s = timeline.spans[row[next]].stop_s;
      const bool same = schedule.tasks[row[next]].stage == stage;
      if (!same || (next_s - at.start_s) * frame.scale > 1) break;
      stop_s = std::max(stop_s, next_s);
    }
    const bool alone = next == i + 1;
    const double begin = frame.left + at.start_s * frame.scale;
    double wide = (stop_s - at.start_s) * frame.scale;
    if (wide > 4) wide -= 0.8;  // neighbours of one colour must not run together
    const char* const name = schedule::to_string(stage);
    svg.add(R"(<rect class="{}" x="{:g}" width="{:g}" height="{:g}"{}><title>{}</title></rect>)",
            name, begin, std::max(0.5, wide), height, height > 8 && wide > 5 ? R"( rx="2")" : "",
            alone ? escape_xml(hint(schedule, at, row[i]))
                  : fmt::format("{} {} tasks", next - i, name));
    std::string words = label(schedule, row[i]);
    // A tile is made of three arrays.
    const auto* const array = schedule::copied_array(schedule, schedule.tasks[row[i]]);
    if (schedule.tiling && array != nullptr) words = array->name + words;
    const double spare = wide - width_of(words, 10);
    if (alone && height >= 11 && spare >= 1) {
      svg.words(fmt::format("bar {}", name), begin + std::min(4.0, spare / 2), height / 2 + 4,
                words);
    }
  }
}

void draw(Svg& svg, const experiment::Run& run, const Picture& picture, double scale) {
  svg.add(R"(<text class="muted" x="{:g}" y="{:g}">{})", edge, svg.y + 12,
          escape_xml(picture.words));
  if (!picture.doubt.empty()) svg.add(R"(<tspan class="doubt" dx="8">{}</tspan>)", picture.doubt);
  svg.add("</text>\n");
  svg.y += 19;
  if (picture.timeline == nullptr) return;
  const timeline::Timeline& timeline = *picture.timeline;
  const double top = svg.y;
  draw_engines(svg, run.schedule, timeline,
               {.left = engines.left, .width = engines.width, .scale = scale});
  const double stop = engines.left + timeline.complete_s * scale;
  svg.add(R"(<path class="stop" d="M{:g} {:g}V{:g}"/>)", stop, top, svg.y - 2);
  svg.words("muted", stop + 5, top + 13, base::format_seconds(timeline.complete_s));
  svg.y += 5;
}

void draw(Svg& svg, const experiment::Run& run, const experiment::Outcome& outcome,
          double longest) {
  svg.add(
      "<g>\n<text class=\"order\" x=\"{:g}\" y=\"{:g}\">{}<tspan class=\"muted figures\" "
      "dx=\"14\">{}</tspan></text>\n",
      edge, svg.y + 12, escape_xml(order_words(run)), escape_xml(figures(run, outcome.runs)));
  svg.y += 24;
  const std::size_t behind = svg.text.size();
  const double top = svg.y + 19;
  const double scale = engines.width / longest;
  if (run.device.empty()) draw(svg, run, measured(run), scale);
  draw(svg, run, predicted(run), scale);
  // Without a timeline there is no axis either.
  if (run.trace || run.predicted) {
    draw_time_axis(svg, engines, longest, top, behind);
    svg.y += 22;
  }
  svg.add("</g>\n");
  svg.y += 18;
}

/// One phase of a deck.
void draw(Svg& page, const Study& study, const experiment::Outcome& outcome) {
  constexpr double room = Svg::width - 2 * edge;
  page.y += 18;
  page.words_in_two_lines(room, "title", edge, 26, study.deck().title, 20);
  page.words_within(room, "muted", edge, page.y += 22, place_words(study, &outcome));
  page.y += 25;
  if (outcome.verdict() != experiment::Verdict::pass) {
    const auto reasons = experiment::reasons(outcome);
    page.words_in_two_lines(room, "doubt", edge, 18,
                            std::string(deck::to_string(outcome.verdict())) +
                                (reasons.empty() ? "" : ": " + reasons.front()));
    page.y += 25;
  }
  if (outcome.runs.empty()) return;
  std::vector<std::pair<std::string, std::string>> entries;
  for (const Ink& ink : used_inks({&study, 1})) {
    entries.emplace_back(fmt::format(R"(<rect class="{}" y="-7" width="14" height="14" rx="2"/>)",
                                     schedule::to_string(ink.stage)),
                         ink.words);
  }
  page.legend(edge, 14, entries);
  const double longest = longest_s({&outcome});
  for (const experiment::Run& run : outcome.runs) draw(page, run, outcome, longest);
  page.y += 7;
}

}  // namespace

void draw_engines(Svg& svg, const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                  const Frame& frame) {
  const double most = 4 * frame.bar_height;  // of an engine with many rows
  for (const Band& band : engine_bands(timeline)) {
    const auto rows = static_cast<double>(band.rows.size());
    const double height = std::clamp(most / rows - 1, least_bar_height, frame.bar_height);
    const double all = std::max(frame.bar_height, rows * (height + 1) - 1);
    svg.words(frame.names, frame.left - 8, svg.y + frame.bar_height * 0.75, band.name);
    svg.add(R"(<rect class="track" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>)", frame.left,
            svg.y, frame.width, all);
    for (std::size_t i = 0; i < band.rows.size(); ++i) {
      svg.add(R"g(<g transform="translate(0 {:g})">)g",
              svg.y + static_cast<double>(i) * (height + 1));
      draw_row(svg, schedule, timeline, band.rows[i], frame, height);
      svg.add("</g>\n");
    }
    svg.y += all + frame.gap;
  }
}

void draw_time_axis(Svg& svg, const Frame& frame, double longest_s, double top,
                    std::size_t behind) {
  svg.add(R"(<path class="axis" d="M{:g} {:g}h{:g}"/>)", frame.left, svg.y, frame.width);
  std::string grid;
  for (const double tick : ticks(0, longest_s)) {
    const double x = frame.left + tick / longest_s * frame.width;
    svg.words("tick mid", x, svg.y + 15, tick_words(tick, longest_s));
    grid += fmt::format("M{:g} {:g}V{:g}", x, top, svg.y);
  }
  svg.text.insert(behind, fmt::format("<path class=\"grid\" d=\"{}\"/>\n", grid));
}

std::string svg(const Studies& studies) {
  if (studies.front().sweeps()) return sweep_svg(studies.front());
  Svg page{.text = {}, .y = edge};
  for (const Study& study : studies) {
    for (const experiment::Outcome* const outcome : study.outcomes()) draw(page, study, *outcome);
  }
  return page.finish(studies.front().deck().title);
}

}  // namespace overlap::report
