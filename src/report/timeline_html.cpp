#include "report/timeline_html.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/console.hpp"
#include "report/json.hpp"
#include "report/picture.hpp"
#include "verdict/diagnosis.hpp"

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
Json picture(const timeline::Run& run, const Picture& picture) {
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

Json drawing(const Result& result) {
  Json runs = Json::array();
  for (const timeline::Run& run : result.runs) {
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
  return {{"longest_s", longest_s(result)}, {"runs", runs}};
}

/// What the hardware allows, where it was measured.
std::string bounds_list(const Result& result) {
  const std::string words = bound_words(result);
  if (words.empty()) return "";
  return "<details><summary>Rates and bounds</summary>\n" + html_table(rate_rows(result)) +
         fmt::format("<p>{}</p>\n", escape_xml(words)) + html_table(bound_rows(result)) +
         "</details>\n";
}

std::string facts_list(const Result& result, bool predictions) {
  std::string html = "<details><summary>How it was made</summary><dl>\n";
  for (const auto& row : facts(result, predictions)) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_xml(row[0]), escape_xml(row[1]));
  }
  return html + "</dl></details>\n";
}

std::string section(const Result& result, std::size_t deck) {
  const bool predictions = only_predicted(result);
  std::string html =
      fmt::format("<section class=\"deck\">\n<h1>{}</h1>\n<p class=\"place\">{}</p>\n",
                  escape_xml(result.deck.title), escape_xml(place_words(result)));
  html += html_table(predictions ? prediction_rows(result) : order_rows(result));
  html += bounds_list(result) + facts_list(result, predictions);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const timeline::Run& run = result.runs[i];
    const std::string order = escape_xml(order_words(run));
    html += fmt::format("<article class=\"run\">\n<h2>{}</h2><p class=\"figures\">{}</p>\n", order,
                        escape_xml(figures(result, i)));
    for (const auto& finding : verdict::diagnose(run, result.runs, result.environment)) {
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

std::string legend(const std::vector<Result>& results) {
  std::string html = "<ul class=\"legend\" aria-label=\"Colours\">";
  for (const Ink& ink : inks) {
    bool shown = false;
    for (const Result& result : results) shown = shown || has_stage(result, ink.stage);
    if (!shown) continue;
    html += fmt::format("<li><i style=\"background:var(--{})\"></i>{}</li>",
                        schedule::to_string(ink.stage), ink.words);
  }
  return html + "</ul>\n";
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

std::string timeline_html(const std::vector<Result>& results) {
  Json drawings = Json::array();
  for (const Result& result : results) drawings.push_back(drawing(result));
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += fmt::format("<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n",
                      escape_xml(results.empty() ? "" : results.front().deck.title), colours(),
                      page_style());
  html += "<nav aria-label=\"Pictures\">\n" + legend(results);
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
  for (std::size_t deck = 0; deck < results.size(); ++deck) html += section(results[deck], deck);
  html +=
      "<noscript><p>The pictures need JavaScript; the tables do not.</p></noscript>\n</main>\n"
      "<div id=\"details\" role=\"status\" hidden></div>\n";
  html += html_json("result", to_json(results, -1));
  html += html_json("drawing", drawings.dump(-1, ' ', false, Json::error_handler_t::replace));
  html += fmt::format("<script>\n{}</script>\n</body>\n</html>\n", page_script());
  return html;
}

}  // namespace overlap::report
