#include <fmt/format.h>

#include "deck/words.hpp"
#include "report/console.hpp"
#include "report/fields.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/picture.hpp"
#include "report/sweep.hpp"
#include "report/tables.hpp"
#include "report/writers.hpp"

namespace overlap::report {

/// The scripts of this folder, which CMake builds in.
std::string_view page_script();

namespace {

using yaml::Json;

Json bands(const std::vector<Band>& bands) {
  Json json = Json::array();
  for (const Band& band : bands) json.push_back({{"name", band.name}, {"rows", band.rows}});
  return json;
}

/// What the script needs to draw a timeline beside the spans, which the result file has.
Json picture(const experiment::Run& run, const Picture& picture) {
  Json json = {{"words", picture.words}, {"doubt", picture.doubt}};
  if (picture.timeline == nullptr) return json;
  json["complete_s"] = picture.timeline->complete_s;
  json["waited_for"] = json_of(waited_for(run.schedule, *picture.timeline));
  json["engines"] = bands(engine_bands(*picture.timeline));
  json["lanes"] = bands(lane_bands(run.schedule, *picture.timeline));
  return json;
}

/// Adds the pictures of the runs of a phase to those of its deck.
void draw(Json& drawing, const Outcome& outcome) {
  for (const experiment::Run& run : outcome.runs) {
    Json bytes = Json::array();
    Json arrays = Json::array();
    for (const schedule::Task& task : run.schedule.tasks) {
      bytes.push_back(task.bytes);
      const schedule::Array* const array = schedule::copied_array(run.schedule, task);
      arrays.push_back(array != nullptr ? Json(array->name) : Json(nullptr));
    }
    drawing["runs"].push_back({{"bytes", bytes},
                               {"arrays", arrays},
                               {"measured", picture(run, measured(run))},
                               {"predicted", picture(run, predicted(run))}});
  }
}

/// A verdict with its reasons; nothing for a prediction.
std::string verdict_list(const Study& study, experiment::Verdict verdict,
                         const std::vector<std::string>& reasons) {
  if (study.predicts() && verdict == experiment::Verdict::pass) return "";
  std::string html =
      fmt::format("<p class=\"verdict {0}\">verdict: {0}</p>\n", deck::to_string(verdict));
  for (const std::string& reason : reasons) {
    html += fmt::format("<p class=\"finding\">{}</p>\n", escape_xml(reason));
  }
  return html;
}

/// The criteria, open if one is not met.
std::string criteria_list(const Outcome& outcome) {
  if (outcome.checks.empty()) return "";
  return fmt::format("<details{}><summary>Criteria</summary>\n",
                     outcome.verdict() == experiment::Verdict::pass ? "" : " open") +
         page_table(check_rows(outcome)) + "</details>\n";
}

/// What the hardware allows, where it was measured.
std::string bounds_list(const Outcome& outcome) {
  const std::string words = bound_words(outcome);
  if (words.empty()) return "";
  return "<details><summary>Rates and bounds</summary>\n" + page_table(rate_rows(outcome)) +
         fmt::format("<p>{}</p>\n", escape_xml(words)) + page_table(bound_rows(outcome)) +
         "</details>\n";
}

std::string facts_list(const Study& study, const Outcome& outcome) {
  std::string html = "<details><summary>Settings and machine</summary><dl>\n";
  for (const auto& row : facts(study, outcome)) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_xml(row[0]), escape_xml(row[1]));
  }
  return html + "</dl></details>\n";
}

/// One phase of a deck; `run`: the place of its first run among those of the deck's result.
std::string section(const Study& study, const Outcome& outcome, std::size_t deck, std::size_t run) {
  std::string html =
      page_section(escape_xml(study.deck().title), escape_xml(place_words(study, &outcome)));
  html += verdict_list(study, outcome.verdict(), experiment::reasons(outcome));
  if (outcome.runs.empty()) return html + "</section>\n";
  html += page_table(study.predicts() ? prediction_rows(outcome) : order_rows(outcome));
  for (const std::string& words : {unexpected_words(outcome), stop_words(outcome)}) {
    if (!words.empty()) html += fmt::format("<p>{}</p>\n", escape_xml(words));
  }
  html += page_picture(soak_svg(outcome)) + bounds_list(outcome) + criteria_list(outcome) +
          facts_list(study, outcome);
  for (const experiment::Run& one : outcome.runs) {
    const std::string order = escape_xml(order_words(one));
    html += fmt::format("<article class=\"run\">\n<h2>{}</h2><p class=\"figures\">{}</p>\n", order,
                        escape_xml(figures(one, outcome.runs)));
    for (const experiment::Finding& finding : one.findings) {
      html += fmt::format("<p class=\"finding\">{}</p>\n", escape_xml(finding.text));
    }
    html += fmt::format(
        "<canvas tabindex=\"0\" role=\"img\" data-deck=\"{}\" data-run=\"{}\" "
        "aria-label=\"Timeline of {}; arrow keys go from task to task\"></canvas>\n</article>\n",
        deck, run++, order);
  }
  return html + "</section>\n";
}

constexpr const char* tools = R"html(<div class="tools">
<fieldset class="choice"><legend>Rows</legend>
<label><input type="radio" name="rows" value="engines" checked><span>Engines</span></label>
<label><input type="radio" name="rows" value="lanes"><span>Lanes</span></label>
</fieldset>
<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="out" aria-label="Zoom out" title="Zoom out (-)">&minus;</button>
<button type="button" id="in" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="reset" title="Show all (0)">Show all</button>
</div>
</div>
)html";

/// What a page of timelines shows.
std::string timelines(const Studies& studies) {
  std::string html = fmt::format("<nav aria-label=\"Pictures\">\n{}{}</nav>\n<main>\n",
                                 page_legend(used_inks(studies)), tools);
  Json drawings = Json::array();  // one per deck, as the results
  for (const Study& study : studies) {
    Json& drawing = drawings.emplace_back();
    drawing = {{"longest_s", longest_s(study.outcomes())}, {"runs", Json::array()}};
    for (const Outcome* const outcome : study.outcomes()) {
      html += section(study, *outcome, drawings.size() - 1, drawing["runs"].size());
      draw(drawing, *outcome);
    }
  }
  return html +
         "<noscript><p>The pictures need JavaScript; the tables do not.</p></noscript>\n</main>\n"
         "<div id=\"details\" role=\"status\" hidden></div>\n" +
         page_json("drawing", json_text(drawings));
}

}  // namespace

std::string html(const Studies& studies) {
  const Study& first = studies.front();
  std::string html = page_head(first.deck().title) + page_json("result", to_json(studies, -1));
  if (first.sweeps()) {
    html += "<main>\n" + verdict_list(first, first.verdict(), reasons(first)) +
            page_picture(sweep_svg(first)) +
            fmt::format("<p class=\"place\">{}</p>\n", sweep_table_heading(first)) +
            page_table(sweep_rows(first)) + "</main>\n";
  } else {
    html += timelines(studies) + fmt::format("<script>\n{}</script>\n", page_script());
  }
  return html + "</body>\n</html>\n";
}

}  // namespace overlap::report
