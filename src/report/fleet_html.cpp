#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "report/fleet_tables.hpp"
#include "report/page.hpp"

namespace overlap::report {

/// fleet.css and the scripts of the page, which CMake builds in.
std::string_view fleet_style();
std::string_view fleet_script();

namespace {

namespace fs = std::filesystem;
using experiment::DeviceRecord;
using experiment::Distribution;
using experiment::Fleet;
using experiment::Group;

/// A list of a page's data, written one by one: as objects they would take ten times the memory.
template <class List, class Text>
std::string list_of(const List& list, const Text& text_of) {
  std::string json = "[";
  for (const auto& one : list) json += (json.size() > 1 ? "," : "") + text_of(one);
  return json + "]";
}

/// A number with enough digits to draw and read.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.5g}", value) : "null";
}

/// The address of a file, seen from the page.
std::string address_of(const fs::path& file, const fs::path& page) {
  const fs::path folder = fs::absolute(page).lexically_normal().parent_path();
  const std::string path = fs::absolute(file).lexically_normal().lexically_proximate(folder);
  std::string address;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-~").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return address;
}

/// The page of a device next to its result file, else that file; empty: neither is there.
std::string link_of(const DeviceRecord& device, const std::string& page) {
  std::error_code unknown;
  for (fs::path file : {fs::path(device.file).replace_extension(".html"), fs::path(device.file)}) {
    if (fs::exists(file, unknown)) return address_of(file, page);
  }
  return "";
}

/// The values of a figure, one per device of the group.
std::string values_of(const Distribution& of, const Fleet& fleet, const Group& group) {
  return list_of(group.devices, [&](std::size_t device) {
    const experiment::Figure* const figure = find(fleet.devices[device], of.key);
    return figure != nullptr ? number(figure->value.median) : "null";
  });
}

std::string figure_json(const Distribution& of, const Fleet& fleet, const Group& group) {
  const deck::MetricRow& row = deck::row_of(of.key.metric);
  return fmt::format(
      R"({{"phase":{},"name":{},"unit":{},"more":{},"compared":{},"median":{},"mad":{},)"
      R"("values":{}}})",
      quote_json(std::string(deck::to_string(of.key.phase))), quote_json(name_of(of.key)),
      quote_json(row.unit == "1" ? "" : std::string(row.unit)), row.better == deck::Better::more,
      !of.slowest.empty(), number(of.median), number(of.mad), values_of(of, fleet, group));
}

std::string group_json(const Fleet& fleet, const Group& group) {
  return fmt::format(
      R"({{"words":{},"devices":{},"figures":{}}})", quote_json(group_words(fleet, group)),
      list_of(group.devices, [](std::size_t device) { return std::to_string(device); }),
      list_of(group.distributions,
              [&](const Distribution& of) { return figure_json(of, fleet, group); }));
}

/// What the script draws.
std::string data_of(const Fleet& fleet, const std::string& page) {
  const auto texts = [&](const auto& text_of) {
    return list_of(fleet.devices,
                   [&](const DeviceRecord& device) { return quote_json(text_of(device)); });
  };
  return fmt::format(
      R"({{"host":{},"slot":{},"unit":{},"verdict":{},"link":{},"reasons":{},"missing":{},)"
      R"("groups":{}}})",
      texts([](const DeviceRecord& device) { return device.host; }),
      texts([](const DeviceRecord& device) { return device.slot; }),
      texts([](const DeviceRecord& device) { return device.unit; }), texts(device_verdict),
      texts([&](const DeviceRecord& device) { return link_of(device, page); }),
      list_of(fleet.devices,
              [](const DeviceRecord& device) {
                return list_of(device.troubles, [](const experiment::Trouble& trouble) {
                  return quote_json(trouble.text);
                });
              }),
      list_of(fleet.missing, quote_json),
      list_of(fleet.groups, [&](const Group& group) { return group_json(fleet, group); }));
}

/// A table with its heading; empty without rows.
std::string titled(const char* title, const Rows& rows) {
  return rows.empty() ? "" : fmt::format("<h2>{}</h2>\n", title) + page_table(rows);
}

std::string tables(const Fleet& fleet) {
  std::string html = titled("Not passed", trouble_rows(fleet, all_rows)) +
                     titled("Missing hosts", missing_rows(fleet, all_rows)) +
                     titled("Missing devices", missing_device_rows(fleet, all_rows)) +
                     titled("Broken files", broken_rows(fleet, all_rows));
  for (const Group& group : fleet.groups) {
    html += fmt::format("<section class=\"group\">\n<p class=\"place\">{}</p>\n",
                        escape_xml(group_words(fleet, group)));
    html += titled("Outliers", outlier_rows(fleet, group, all_rows, false)) +
            titled("Alone and together", phase_rows(group)) +
            titled("Figures", distribution_rows(fleet, group)) +
            titled("Slowest devices", slowest_rows(fleet, group)) +
            titled("Nodes, slowest in phase together first", node_rows(group, all_rows)) +
            titled("Drivers", driver_rows(fleet, group, all_rows));
    html += "</section>\n";
  }
  html += titled("Drift", history_rows(fleet, all_rows)) +
          titled("Unsteady", unsteady_rows(fleet, all_rows));
  for (const std::string& line : fleet.left_out) html += "<p>" + escape_xml(line) + "</p>\n";
  return html;
}

constexpr const char* map_tools = R"html(<nav aria-label="What the map shows">
<div class="tools">
<label id="pick-group">Group <select id="group"></select></label>
<label>Figure <select id="figure"></select></label>
<fieldset class="choice" id="phases"><legend>Phase</legend></fieldset>
</div>
<label>Find <input type="search" id="find" placeholder="host or UUID"> <output id="found"></output></label>
</nav>
)html";

constexpr const char* pictures = R"html(<div class="fleet">
<article class="run"><h2 id="by">Devices by host</h2><p class="figures" id="scale"></p>
<canvas id="map" tabindex="0" role="img" aria-label="Devices by host; arrow keys go from device to device, Enter opens a device's own page"></canvas>
<div class="key"><canvas id="legend" aria-hidden="true"></canvas><ul class="legend" id="marks" aria-label="Marks"></ul></div>
</article>
<aside class="run" id="device" aria-live="polite"><p class="figures">Choose a device for its figures.</p></aside>
<article class="run"><h2>Distribution</h2><p class="figures" id="spread-words"></p>
<canvas id="spread" role="img" aria-label="Number of devices by value"></canvas></article>
</div>
<noscript><p>The pictures need JavaScript; the tables do not.</p></noscript>
)html";

}  // namespace

std::string fleet_html(const Fleet& fleet, const std::string& page) {
  const std::string verdict(deck::to_string(fleet.verdict()));
  std::string html = page_head("Fleet: " + verdict);
  html += fmt::format("<style>\n{}</style>\n{}<main>\n", fleet_style(),
                      fleet.groups.empty() ? "" : map_tools);
  html += page_section(fmt::format("Fleet: <span class=\"verdict {0}\">{0}</span>", verdict),
                       escape_xml(summary_words(fleet)));
  if (!fleet.groups.empty()) html += pictures;
  html +=
      tables(fleet) + "</section>\n</main>\n<div id=\"details\" role=\"status\" hidden></div>\n";
  html += page_json("fleet", data_of(fleet, page));
  if (!fleet.groups.empty()) html += fmt::format("<script>\n{}</script>\n", fleet_script());
  return html + "</body>\n</html>\n";
}

}  // namespace overlap::report
