#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "report/picture.hpp"
#include "report/sweep.hpp"
#include "report/tables.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

using Json = nlohmann::ordered_json;
using schedule::TaskId;

Json bands(const std::vector<Band>& bands) {
  Json json = Json::array();
  for (const Band& band : bands) json.push_back({{"name", band.name}, {"rows", band.rows}});
  return json;
}

/// What the script needs to draw a timeline beside the spans, which the result file has.
Json picture(const experiment::Run& run, const Picture& picture) {
  Json json = {{"words", picture.words}, {"doubt", picture.doubt}};
  if (picture.timeline == nullptr) return json;
  Json waits = Json::array();
  for (const auto& other : waited_for(run.schedule, *picture.timeline)) {
    waits.push_back(other ? Json(*other) : Json(nullptr));
  }
  json["complete_s"] = picture.timeline->complete_s;
  json["waited_for"] = std::move(waits);
  json["engines"] = bands(engine_bands(*picture.timeline));
  json["lanes"] = bands(lane_bands(run.schedule, *picture.timeline));
  return json;
}

Json drawing(const Outcome& outcome) {
  Json runs = Json::array();
  for (const experiment::Run& run : outcome.runs) {
    Json bytes = Json::array();
    Json arrays = Json::array();
    for (const schedule::Task& task : run.schedule.tasks) {
      bytes.push_back(task.bytes);
      const schedule::Array* const array = schedule::copied_array(run.schedule, task);
      arrays.push_back(array != nullptr ? Json(array->name) : Json(nullptr));
    }
    runs.push_back({{"bytes", bytes},
                    {"arrays", arrays},
                    {"measured", picture(run, measured(run))},
                    {"predicted", picture(run, predicted(run))}});
  }
  return {{"longest_s", longest_s(outcome)}, {"runs", runs}};
}

/// What the hardware allows, where it was measured.
std::string bounds_list(const Outcome& outcome) {
  const std::string words = bound_words(outcome);
  if (words.empty()) return "";
  return "<details><summary>Rates and bounds</summary>\n" + html_table(rate_rows(outcome)) +
         fmt::format("<p>{}</p>\n", escape_xml(words)) + html_table(bound_rows(outcome)) +
         "</details>\n";
}

std::string facts_list(const Study& study, const Outcome& outcome) {
  std::string html = "<details><summary>How it was made</summary><dl>\n";
  for (const auto& row : facts(study, outcome)) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_xml(row[0]), escape_xml(row[1]));
  }
  return html + "</dl></details>\n";
}

std::string section(const Study& study, std::size_t deck) {
  const Outcome* const outcome = study.outcome();
  std::string html =
      fmt::format("<section class=\"deck\">\n<h1>{}</h1>\n<p class=\"place\">{}</p>\n",
                  escape_xml(study.deck().title), escape_xml(place_words(study)));
  if (outcome == nullptr) return html + "</section>\n";
  html += html_table(study.predicts() ? prediction_rows(*outcome) : order_rows(*outcome));
  html += bounds_list(*outcome) + facts_list(study, *outcome);
  for (std::size_t i = 0; i < outcome->runs.size(); ++i) {
    const experiment::Run& run = outcome->runs[i];
    const std::string order = escape_xml(order_words(run));
    html += fmt::format("<article class=\"run\">\n<h2>{}</h2><p class=\"figures\">{}</p>\n", order,
                        escape_xml(figures(run, outcome->runs)));
    for (const experiment::Finding& finding : run.findings) {
      html += fmt::format("<p class=\"finding\">{}</p>\n", escape_xml(finding.text));
    }
    html += fmt::format(
        "<canvas tabindex=\"0\" role=\"img\" data-deck=\"{}\" data-run=\"{}\" "
        "aria-label=\"Timeline of {}; arrow keys go from task to task\"></canvas>\n</article>\n",
        deck, i, order);
  }
  return html + "</section>\n";
}

/// The colours of stages by name, for light and for dark.
std::string colours() {
  std::string light, dark;
  for (const Ink& ink : inks) {
    const char* const stage = schedule::to_string(ink.stage);
    light += fmt::format("--{0}:{1};--on-{0}:{2};", stage, ink.light, ink.on_light);
    dark += fmt::format("--{0}:{1};--on-{0}:{2};", stage, ink.dark, ink.on_dark);
  }
  return fmt::format(":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n",
                     light, dark);
}

std::string legend(const Studies& studies) {
  std::string html = "<ul class=\"legend\" aria-label=\"Colours\">";
  for (const Ink& ink : inks) {
    const bool shown = std::any_of(studies.begin(), studies.end(), [&](const Study& study) {
      return study.outcome() != nullptr && has_stage(*study.outcome(), ink.stage);
    });
    if (!shown) continue;
    html += fmt::format("<li><i style=\"background:var(--{})\"></i>{}</li>",
                        schedule::to_string(ink.stage), ink.words);
  }
  return html + "</ul>\n";
}

/// A page's start until its body, and its end.
std::string page_head(const std::string& title, const std::string& style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n",
      escape_xml(title), style);
}
constexpr const char* page_end = "</body>\n</html>\n";

std::string sweep_page(const Study& study) {
  return page_head(study.deck().title,
                   std::string(page_style()) +
                       "svg.sweep { display: block; width: 100%; height: auto; margin: 24px 0; "
                       "border-radius: 14px; box-shadow: var(--shadow); }\n") +
         "<main>\n" + sweep_svg(study) + html_table(sweep_rows(study)) + "</main>\n" +
         html_json("result", to_json({study}, -1)) + page_end;
}

}  // namespace

std::string html_json(const char* id, std::string json) {
  // Only `</` and `<!--` could end or change the element.
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) {
    json.replace(at, 1, "\\u003c");
  }
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, json);
}

std::string html_table(const Rows& rows) {
  std::string html = "<div class=\"wide\"><table>\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    html += row == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      const std::string cell = escape_xml(rows[row][i]);
      const bool verdict = row > 0 && rows[0][i] == "verdict";
      if (row == 0) {
        html += fmt::format("<th scope=\"col\">{}</th>", cell);
      } else if (i == 0) {
        html += fmt::format("<th scope=\"row\">{}</th>", cell);
      } else if (verdict) {
        html +=
            fmt::format("<td class=\"verdict {}\">{}</td>", cell.substr(0, cell.find(' ')), cell);
      } else {
        html += fmt::format("<td>{}</td>", cell);
      }
    }
    html += row == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string html(const Studies& studies) {
  if (!studies.empty() && studies.front().sweeps()) return sweep_page(studies.front());
  Json drawings = Json::array();
  for (const Study& study : studies) {
    drawings.push_back(study.outcome() != nullptr ? drawing(*study.outcome()) : Json());
  }
  std::string html = page_head(studies.empty() ? "" : studies.front().deck().title,
                               colours() + std::string(page_style()));
  html += "<nav aria-label=\"Pictures\">\n" + legend(studies);
  html += R"html(<div class="tools">
<fieldset class="choice"><legend>Rows</legend>
<label><input type="radio" name="rows" value="engines" checked><span>Engines</span></label>
<label><input type="radio" name="rows" value="lanes"><span>Lanes</span></label>
</fieldset>
<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="out" aria-label="Zoom out" title="Zoom out (-)" > &minus;</button>
<button type="button" id="in" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="reset" title="Show all (0)">Show all</button>
</div>
</div>
</nav>
<main>
)html";
  for (std::size_t deck = 0; deck < studies.size(); ++deck) html += section(studies[deck], deck);
  html +=
      "<noscript><p>The pictures need JavaScript; the tables do not.</p></noscript>\n</main>\n"
      "<div id=\"details\" role=\"status\" hidden></div>\n";
  html += html_json("result", to_json(studies, -1));
  html += html_json("drawing", drawings.dump(-1, ' ', false, Json::error_handler_t::replace));
  return html + fmt::format("<script>\n{}</script>\n", page_script()) + page_end;
}

}  // namespace overlap::report
