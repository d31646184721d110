#include <fmt/format.h>

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

std::string svg(const Studies& studies) {
  if (studies.front().sweeps()) return sweep_svg(studies.front());
  Svg page{.text = {}, .y = edge};
  for (const Study& study : studies) {
    for (const experiment::Outcome* const outcome : study.outcomes()) draw(page, study, *outcome);
  }
  return page.finish(studies.front().deck().title);
}

}  // namespace overlap::report
