#include "report/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "schedule/schedule.hpp"

namespace overlap::report::drawing {
namespace {

using results::TaskRecord;
using results::Timeline;

constexpr double page_width = 1200;
constexpr double left = 108;  // of time 0: room for names
constexpr double right = 24;  // room for half a tick label
constexpr double plot_width = page_width - left - right;
constexpr double axis_room = 24;  // below the bars
constexpr double bar_height = 18;
constexpr double band_gap = 3;

/// A colour on light and on dark ground, and the rules of pictures in which it stands for '$'.
struct Colour {
  std::string name;
  std::string_view light, dark;
  std::string rules = {};
};

std::vector<Colour> colours() {
  std::vector<Colour> colours = {
      {"ground", "#fbfbfd", "#111113"},
      {"card", "#fff", "#18181b", ".ground,.hollow{fill:$}.plot rect,.dot,text.mark{stroke:$}"},
      {"text", "#1d1d1f", "#f5f5f7", "text{fill:$}path.median{stroke:$}"},
      {"muted", "#6e6e73", "#a1a1a6", ".muted,.tick{fill:$}"},
      {"line", "#d2d2d7", "#3a3a40", ".grid{stroke:$}"},
      {"axis", "#86868b", "#7c7c84", ".axis{stroke:$}"},
      {"track", "#f5f5f7", "#202024", ".track{fill:$}"},
      {"bad", "#b3261e", "#ff8a80", "path.bound{stroke:$}text.bound{fill:$}"},
      {"doubtful", "#8a5f00", "#e8ad2c"},
      {"good", "#1a7f37", "#4cc38a"},
      {"accent", "#0066cc", "#5eb0ff"},
  };
  for (const StageLook& look : stage_looks) {
    const std::string stage(deck::to_string(look.stage));
    colours.push_back({stage, look.light, look.dark,
                       fmt::format(".{0}{{fill:$}}.plot .{0}.thin{{stroke:$}}", stage)});
    colours.push_back({"on-" + stage, look.on_light, look.on_dark, "text." + stage + "{fill:$}"});
  }
  // Of the series of charts; the first is for baselines and bounds.
  constexpr auto series =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"#6e6e73", "#a1a1a8"},
                                                                    {"#0072b2", "#56b4e9"},
                                                                    {"#d55e00", "#ff8b3d"},
                                                                    {"#009e73", "#2bb98f"},
                                                                    {"#aa4d86", "#d992b8"},
                                                                    {"#a87400", "#e8ad2c"},
                                                                    {"#3b4cc0", "#9aa7ff"}});
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string name = fmt::format("s{}", i);
    colours.push_back({name, series[i].first, series[i].second, "." + name + "{color:$}"});
  }
  return colours;
}

/// What `rules_of` makes of each colour, on light ground and on dark.
template <class RulesOf>
std::string themes(const RulesOf& rules_of) {
  std::string light, dark;
  for (const Colour& colour : colours()) {
    light += rules_of(colour, colour.light);
    dark += rules_of(colour, colour.dark);
  }
  return fmt::format("{}\n@media screen and (prefers-color-scheme:dark){{\n{}\n}}\n", light, dark);
}

constexpr std::string_view shapes =
    R"css(text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.title{font-size:20px;font-weight:600}
.name{font-size:15px;font-weight:600}
.tick,.mark{font-size:11px}
.label{font-size:10px}
.end{text-anchor:end}
.mid{text-anchor:middle}
path{fill:none}
.grid{stroke-width:.6}
.plot rect{stroke-width:.8;paint-order:stroke;vector-effect:non-scaling-stroke}
.plot .thin{stroke-width:.5}
.median{stroke-width:1.4}
.bound{stroke-width:1.4;stroke-dasharray:4 3}
text.median,text.bound{stroke-dasharray:none;stroke-width:3;paint-order:stroke}
.line{stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.interval{stroke:currentColor;stroke-width:1.2}
.baseline{stroke:currentColor;stroke-width:1.4;stroke-dasharray:5 4}
.cloud{stroke:currentColor;stroke-width:4;stroke-linecap:round}
.dot{fill:currentColor}
.dot{stroke-width:1}
)css";

/// Estimated width in pixels of text of `size` pixels; the actual font is unknown.
double width_of(std::string_view text, double size) {
  return 0.6 * size * static_cast<double>(base::columns(text));
}

/// The longest beginning of a text in at most `room` pixels.
std::string shortened(const std::string& text, double room, double size) {
  if (width_of(text, size) <= room) return text;
  const auto columns = static_cast<std::size_t>(room / width_of("m", size));
  return std::string(base::first_columns(text, columns - 1)) + "\u2026";
}

/// Places at multiples of 1, 2 or 5 times a power of ten that make at most `count` steps.
std::vector<double> ticks(double most, int count) {
  const double power = std::pow(10, std::floor(std::log10(most / count)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if (most / (factor * power) <= count) step = factor * power;
  }
  std::vector<double> places;
  for (int i = 0; i * step <= most * (1 + 1e-9); ++i) places.push_back(i * step);
  return places;
}

/// A time in the unit of the longest one: "0.5 ms".
std::string tick_label(double seconds, double longest_s) {
  constexpr auto units = std::to_array<std::pair<double, const char*>>(
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}});
  const auto* const unit = std::find_if(units.begin(), units.end() - 1,
                                        [&](const auto& row) { return longest_s >= row.first; });
  return fmt::format("{:.6g} {}", seconds / unit->first, unit->second);
}

/// The end of the time axis; 0: without tasks.
double axis_s(const TimelinePicture& picture) {
  const double end = results::end_s(picture.timeline);
  return end > 0 && picture.axis_s > 0 ? picture.axis_s : end;
}

bool on_host(const TaskRecord& task) { return schedule::on_host(task.stage); }

using Places = std::vector<std::optional<std::size_t>>;

/// For each task the one of its engine that ended last before it began.
Places behind(const Timeline& timeline) {
  std::map<std::string, std::vector<std::size_t>> by_stop;
  for (std::size_t place = 0; place < timeline.size(); ++place) {
    by_stop[timeline[place].engine].push_back(place);
  }
  const auto stop_of = [&](std::size_t place) { return timeline[place].stop_s; };
  for (auto& [engine, places] : by_stop) std::ranges::stable_sort(places, {}, stop_of);
  const double rounding = 1e-9 * results::end_s(timeline);
  Places before(timeline.size());
  for (std::size_t place = 0; place < timeline.size(); ++place) {
    const auto& places = by_stop[timeline[place].engine];
    const auto next =
        std::ranges::upper_bound(places, timeline[place].start_s + rounding, {}, stop_of);
    if (next != places.begin() && *std::prev(next) != place) before[place] = *std::prev(next);
  }
  return before;
}

/// What a task waited for: what it depends on, or the task before it on its engine, if it began
/// when that ended.
std::string wait_line(const Timeline& timeline, std::size_t place,
                      std::optional<std::size_t> needed, std::optional<std::size_t> before) {
  const auto began_within = [&](double seconds, std::optional<std::size_t> other) {
    return other && timeline[place].start_s - timeline[*other].stop_s <= seconds;
  };
  const auto line = [&](fmt::format_string<std::string, std::string> text, std::size_t other) {
    return fmt::format(text, xml(full_label(timeline[other])),
                       base::format_seconds(timeline[other].stop_s));
  };
  const bool queued = began_within(1e-6, before) && needed &&
                      timeline[*before].stop_s > timeline[*needed].stop_s + 1e-6;
  if (!queued && began_within(10e-6, needed)) {
    return line("\nwaited for {}, until {}", *needed);
  }
  if (began_within(1e-6, before))
    return line("\nwaited behind {} on the same engine, until {}", *before);
  return needed ? line("\nafter {}, which ended at {}", *needed) : "";
}

/// What a task was, when it ran and what it waited for: one line each.
std::string hint(const Timeline& timeline, std::size_t place, const std::string& wait) {
  const TaskRecord& task = timeline[place];
  std::string text = full_label(task);
  if (task.name) text += fmt::format(", {}", deck::to_string(task.stage));
  if (task.array) text += " of " + *task.array;
  if (!on_host(task)) text += fmt::format(", lane {}", task.lane);
  text = xml(text + ", " + task.engine) +
         fmt::format("\n{}: {} .. {}", base::format_seconds(task.stop_s - task.start_s),
                     base::format_seconds(task.start_s), base::format_seconds(task.stop_s));
  if (task.bytes > 0) text += "\n" + base::format_bytes(task.bytes);
  if (const auto rate = gb_per_s(task)) {
    text += fmt::format(", {} GB/s", base::format_number(*rate));
  }
  return text + wait;
}

/// SVG text, from top to bottom; y: where the bars of a timeline begin.
struct Canvas {
  std::string text = {};
  double y = 0;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
  void write(std::string_view kind, double x, double base, std::string_view content) {
    add("<text class=\"{}\" x=\"{:.6g}\" y=\"{:.6g}\">{}</text>\n", kind, x, base, xml(content));
  }
};

void draw_bands(Canvas& canvas, const Plot& plot, std::string_view kind) {
  canvas.add("<g class=\"{}\" data-height=\"{:g}\">\n", kind, plot.height);
  for (const Band& band : plot.bands) {
    canvas.add("<rect class=\"track\" x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/>", left,
               canvas.y + band.y, plot_width, band.height);
    canvas.write("muted end", left - 8, canvas.y + band.y + std::min(13.0, band.height / 2 + 4),
                 shortened(band.name, left - 12, 12));
  }
  canvas.add("</g>\n");
}

void draw_bars(Canvas& canvas, const Timeline& timeline, const Plot& plot,
               const std::optional<Plot>& lanes) {
  const std::vector<std::string> labels = drawing::labels(timeline);
  const Places waited = results::waited_for(timeline);
  const Places before = behind(timeline);
  canvas.add(
      "<svg class=\"plot\" x=\"{0:g}\" y=\"{1:g}\" width=\"{2:g}\" height=\"{3:g}\" "
      "viewBox=\"0 0 {2:g} {3:g}\" preserveAspectRatio=\"none\">\n",
      left, canvas.y, plot_width, plot.height);
  Canvas texts;
  for (std::size_t task = 0; task < plot.bars.size(); ++task) {
    const Bar& bar = plot.bars[task];
    const std::string& label = labels[task];
    const std::string_view stage = deck::to_string(timeline[task].stage);
    canvas.add(R"(<rect class="{}{}" x="{:.7g}" y="{:g}" width="{:.5g}" height="{:g}")", stage,
               bar.width < 3 ? " thin" : "", bar.x, bar.y, bar.width, bar.height);
    if (lanes) {
      canvas.add(R"( data-y="{:g}" data-height="{:g}" data-label="{}" data-task="{}")",
                 lanes->bars[task].y, lanes->bars[task].height, xml(label), task);
      if (waited[task]) canvas.add(" data-after=\"{}\"", *waited[task]);
    }
    canvas.add("><title>{}</title></rect>\n",
               hint(timeline, task, wait_line(timeline, task, waited[task], before[task])));
    const double spare = bar.width - width_of(label, 10);
    if (bar.height < 11 || spare < 2) continue;
    texts.write(fmt::format("label {}", stage), left + bar.x + std::min(4.0, spare / 2),
                canvas.y + bar.y + bar.height / 2 + 4, label);
  }
  canvas.add("</svg>\n<g class=\"labels\">\n{}</g>\n", texts.text);
}

/// A line across the bars with its time, each on a line of text of its own.
void draw_mark(Canvas& canvas, std::string_view name, double seconds, double end, double base,
               double bottom) {
  const double x = left + seconds / end * (plot_width);
  const bool ends = x > page_width / 2;
  canvas.add("<g class=\"mark\" data-at=\"{:.7g}\"><path class=\"{}\" d=\"M{:.6g} {:g}V{:g}\"/>",
             seconds / end, name, x, base - 9, bottom);
  canvas.write(fmt::format("mark {}{}", name, ends ? " end" : ""), ends ? x - 5 : x + 5, base,
               fmt::format("{} {}", name, base::format_seconds(seconds)));
  canvas.add("</g>\n");
}

void draw_axis(Canvas& canvas, double end, double bottom) {
  std::string grid;
  canvas.add("<g class=\"scale\"><path class=\"axis\" d=\"M{:g} {:g}h{:g}\"/>", left, bottom,
             plot_width);
  for (const double tick : ticks(end, 10)) {
    const double x = left + tick / end * (plot_width);
    canvas.write("tick mid", x, bottom + 15, tick_label(tick, end));
    grid += fmt::format("M{:.6g} {:g}V{:g}", x, canvas.y, bottom);
  }
  canvas.add("</g>\n<path class=\"grid\" d=\"{}\"/>\n", grid);
}

/// Its y is the height of the drawing; 0: there is nothing to draw.
Canvas draw(const TimelinePicture& picture, bool live) {
  Canvas canvas;
  const double end = axis_s(picture);
  if (!(end > 0)) return canvas;
  const Plot plot = drawing::plot(picture.timeline, Rows::engines, plot_width / end);
  std::optional<Plot> lanes;
  if (live) lanes = drawing::plot(picture.timeline, Rows::lanes, plot_width / end);
  canvas.y = picture.bound_s || picture.median_s ? 32 : 8;
  const double bottom = canvas.y + plot.height;
  draw_bands(canvas, plot, "engines");
  if (lanes) draw_bands(canvas, *lanes, "lanes");
  draw_axis(canvas, end, bottom);
  draw_bars(canvas, picture.timeline, plot, lanes);
  if (picture.bound_s) draw_mark(canvas, "bound", *picture.bound_s, end, 12, bottom);
  if (picture.median_s) draw_mark(canvas, "median", *picture.median_s, end, 25, bottom);
  canvas.y = bottom + axis_room;
  return canvas;
}

}  // namespace

const StageLook& look_of(deck::Stage stage) {
  return *std::ranges::find(stage_looks, stage, &StageLook::stage);
}

std::vector<StageLook> looks_in(const std::vector<const TimelinePicture*>& pictures) {
  std::set<deck::Stage> used;
  for (const TimelinePicture* const picture : pictures) {
    for (const TaskRecord& task : picture->timeline) used.insert(task.stage);
  }
  std::vector<StageLook> found;
  std::ranges::copy_if(stage_looks, std::back_inserter(found),
                       [&](const StageLook& look) { return used.contains(look.stage); });
  return found;
}

std::vector<LaneGroup> groups(const Timeline& tasks, Rows by) {
  const auto name_of = [&](const TaskRecord& task) {
    if (by == Rows::engines) return task.engine;
    return on_host(task) ? std::string("host") : fmt::format("lane {}", task.lane);
  };
  // Workers and lanes by number, "host" last, others as they first appear.
  const auto rank = [](const LaneGroup& group) {
    const bool numbered = group.name.starts_with("worker ") || group.name.starts_with("lane ");
    const int number = numbered ? std::atoi(group.name.c_str() + group.name.find(' ')) : 0;
    return std::pair(group.name == "host", number);
  };
  std::vector<LaneGroup> found;
  for (const TaskRecord& task : tasks) {
    const std::string name = name_of(task);
    if (std::ranges::find(found, name, &LaneGroup::name) == found.end())
      found.push_back({name, {}});
  }
  std::ranges::stable_sort(found, {}, rank);
  std::vector<std::size_t> places(tasks.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return tasks[place].start_s; });
  const double rounding = 1e-9 * results::end_s(tasks);
  for (const std::size_t place : places) {
    auto& rows = std::ranges::find(found, name_of(tasks[place]), &LaneGroup::name)->rows;
    const auto free = std::ranges::find_if(rows, [&](const auto& row) {
      return tasks[row.back()].stop_s <= tasks[place].start_s + rounding;
    });
    (free == rows.end() ? rows.emplace_back() : *free).push_back(place);
  }
  return found;
}

std::vector<std::string> labels(const Timeline& timeline) {
  std::set<std::string> arrays;
  for (const TaskRecord& task : timeline) {
    if (task.array && task.stage == deck::Stage::h2d) arrays.insert(*task.array);
  }
  std::vector<std::string> found;
  for (const TaskRecord& task : timeline) {
    const std::string array = arrays.size() > 1 ? task.array.value_or("") : "";
    const std::string chunk = std::to_string(task.chunk);
    found.push_back(task.name.value_or(array.size() > 2 ? chunk : array + chunk));
  }
  return found;
}

std::string caption(const TimelinePicture& picture) {
  const bool both = !picture.caption.empty() && !picture.note.empty();
  return picture.caption + (both ? "; " : "") + picture.note;
}

std::string full_label(const TaskRecord& task) {
  return task.name.value_or(fmt::format("{} {}", deck::to_string(task.stage), task.chunk));
}

std::optional<double> gb_per_s(const TaskRecord& task) {
  const double seconds = task.stop_s - task.start_s;
  if (task.bytes <= 0 || seconds <= 0) return std::nullopt;
  return 1e-9 * static_cast<double>(task.bytes) / seconds;
}

Plot plot(const Timeline& timeline, Rows by, double pixels_per_s) {
  Plot plot;
  plot.bars.resize(timeline.size());
  for (const LaneGroup& group : groups(timeline, by)) {
    const auto rows = static_cast<double>(group.rows.size());
    // An engine with many rows takes no more than four bars.
    const double height = std::clamp(4 * bar_height / rows - 1, 4.0, bar_height);
    const double band = std::max(bar_height, rows * (height + 1) - 1);
    for (std::size_t row = 0; row < group.rows.size(); ++row) {
      const double y = plot.height + static_cast<double>(row) * (height + 1);
      for (const std::size_t place : group.rows[row]) {
        const TaskRecord& task = timeline[place];
        const double width = (task.stop_s - task.start_s) * pixels_per_s;
        plot.bars[place] = {task.start_s * pixels_per_s, y, std::max(0.3, width), height};
      }
    }
    plot.bands.push_back({group.name, plot.height, band});
    plot.height += band + band_gap;
  }
  return plot;
}

std::string xml(std::string_view text) {
  std::string escaped = base::one_line(text);
  constexpr auto names = std::to_array<std::pair<const char*, const char*>>(
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
  for (const auto& [character, name] : names) escaped = base::replaced(escaped, character, name);
  return escaped;
}

std::string picture_style() {
  return std::string(shapes) + themes([](const Colour& colour, std::string_view shade) {
           return base::replaced(colour.rules, "$", shade);
         });
}

std::string colour_variables() {
  return themes([](const Colour& colour, std::string_view shade) {
    return fmt::format(":root{{--{}:{}}}", colour.name, shade);
  });
}

std::string picture(const TimelinePicture& picture) {
  const Canvas canvas = draw(picture, true);
  if (canvas.text.empty()) return "";
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"timeline\" width=\"{0:g}\" "
      "height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" data-axis=\"{2:.9g}\">\n{3}</svg>\n",
      page_width, canvas.y, axis_s(picture), canvas.text);
}

}  // namespace overlap::report::drawing

namespace overlap::report {

std::string svg(const std::string& title, const Blocks& blocks, const std::string& note) {
  using namespace drawing;
  Canvas canvas{.text = {}, .y = 38};
  const double room = page_width - 2 * right;
  canvas.write("title", right, canvas.y, shortened(title, room, 22));
  canvas.y += 22;
  const auto pictures = pictures_of(blocks);
  double x = right;
  for (const StageLook& look : looks_in(pictures)) {
    canvas.add(R"(<rect class="{}" x="{:g}" y="{:g}" width="12" height="12"/>)",
               deck::to_string(look.stage), x, canvas.y);
    canvas.write("muted", x + 18, canvas.y + 10, look.name);
    x += 42 + width_of(look.name, 12);
  }
  if (!note.empty()) {
    canvas.y += 32;
    canvas.write("muted", right, canvas.y, shortened(note, room, 12));
  }
  canvas.y += 34;
  for (const TimelinePicture* const picture : pictures) {
    canvas.y += 14;
    const std::string name = shortened(picture->title, room, 16.5);
    const double taken = width_of(name, 16.5) + 14;
    canvas.write("name", right, canvas.y, name);
    const std::string words = caption(*picture);
    const bool fits = width_of(words, 12) <= room - taken;
    if (!fits) canvas.y += 18;
    canvas.write("muted", fits ? right + taken : right, canvas.y, shortened(words, room, 12));
    canvas.y += 8;
    const Canvas drawn = draw(*picture, false);
    canvas.add("<g transform=\"translate(0 {:g})\">\n{}</g>\n", canvas.y, drawn.text);
    canvas.y += drawn.y + 22;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
      "viewBox=\"0 0 {0:g} {1:g}\" role=\"img\">\n<title>{2}</title>\n<style>\n:root{{color-scheme:"
      "light dark}}\n{3}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{4}"
      "</svg>\n",
      page_width, canvas.y, xml(title), picture_style(), canvas.text);
}

}  // namespace overlap::report
