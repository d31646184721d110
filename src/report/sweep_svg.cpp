#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "report/picture.hpp"
#include "report/sweep.hpp"

namespace overlap::report {
namespace {

constexpr double tick_room = 56;   // of a panel: room for the words of its ticks
constexpr double below = 84;       // and of its values, and of the panel's below it
constexpr double gap = 28;         // between panels
constexpr double row_height = 13;  // of words of the first key
constexpr std::size_t most_panels = 12;

/// From values to 0 .. 1, by their logarithms where they span a factor of 8 or more.
struct Scale {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void meet(const std::optional<double>& value) {
    least = std::min(least, value.value_or(least));
    most = std::max(most, value.value_or(most));
  }

  bool logarithmic() const { return least > 0 && most / least >= 8; }
  const char* words() const { return logarithmic() ? " (log)" : ""; }

  double operator()(double value) const {
    if (!(most > least)) return 0.5;
    if (logarithmic()) return std::log(value / least) / std::log(most / least);
    return (value - least) / (most - least);
  }

  /// Widens the scale to ticks, which it returns: without logarithms to 0 alone, with some room at
  /// the other end.
  std::vector<double> widen_to_ticks() {
    if (!logarithmic()) {
      least = 0;
      most *= 1.05;
      return report::ticks(0, most, 6);
    }
    const bool coarse = most / least > 1000;
    std::vector<double> ticks;
    for (double power = std::pow(10, std::floor(std::log10(least)));
         ticks.empty() || ticks.back() < most; power *= 10) {
      for (const double factor : {1, 2, 5}) {
        if (factor > 1 && coarse) continue;
        const double tick = factor * power;
        if (ticks.empty() || tick <= least) {
          ticks = {tick};
        } else if (ticks.back() < most) {
          ticks.push_back(tick);
        }
      }
    }
    least = ticks.front();
    most = ticks.back();
    return ticks;
  }
};

/// Where the colour and the mark of a series come from.
struct Look {
  std::size_t pen = 0;
  std::string_view mark;
};

/// What is drawn: a number for each series at each value of the first key.
struct Chart {
  explicit Chart(const Study& sweep);

  /// From 0 at the left to 1 at the right.
  double x(std::size_t value) const {
    if (joined) return 0.03 + 0.94 * across(*axis.values[value].number);
    // Words, and a single number, stand side by side, with as much room beside the first and the
    // last.
    return (static_cast<double>(value) + 0.5) / static_cast<double>(axis.values.size());
  }
  double x(const PointResult& point) const { return x(point.number / combinations(study)); }

  std::optional<double> measured(const Row& row) const {
    return row.time ? yardstick.of(row) : std::nullopt;
  }
  std::optional<double> predicted(const Row& row) const {
    return yardstick.of(row, row.predicted_s);
  }
  std::string words(double value) const { return yardstick.words(value) + yardstick.unit(); }
  std::string hint(const PointResult& point, const Row& row) const;
  std::size_t rows(double width) const;

  const Study& study;
  const Axis& axis;
  bool joined;  ///< several numbers, by lines
  Yardstick yardstick;
  std::vector<std::string> names;
  std::vector<Look> looks;  ///< of each name: the baseline has the first pen, others theirs
  std::optional<SweepEntry> fastest;
  std::optional<Knee> turn;
  Scale across, up;
  std::vector<double> ticks;  ///< of up
};

Chart::Chart(const Study& sweep)
    : study(sweep),
      axis(sweep.axes.front()),
      joined(axis.numeric() && axis.values.size() > 1),
      yardstick(sweep),
      names(series(sweep)),
      fastest(best(sweep)),
      turn(knee(sweep)) {
  std::size_t others = 0;
  for (const std::string& name : names) {
    if (looks.empty() && name.starts_with("sequential")) {
      looks.push_back({0, pens[0].mark});
      continue;
    }
    // When the pens are used up, each colour gets the mark of a later pen.
    constexpr std::size_t most = pens.size() - 1;
    looks.push_back({1 + others % most, pens[1 + (others + others / most) % most].mark});
    ++others;
  }
  for (const Axis::Value& value : axis.values) across.meet(value.number);
  for (const PointResult& point : study.done) {
    up.meet(yardstick.bound(point));
    for (const Row& row : point.rows) {
      up.meet(predicted(row));
      up.meet(measured(row));
      if (!row.time) continue;
      up.meet(yardstick.of(row, row.time->lo));
      up.meet(yardstick.of(row, row.time->hi));
    }
  }
  if (!(up.most > 0)) up.meet(1);
  ticks = up.widen_to_ticks();
}

std::string Chart::hint(const PointResult& point, const Row& row) const {
  std::string text = fmt::format("{} at {}", series_of(study, row),
                                 point_words(study.points[point.number].values));
  if (const auto value = measured(row)) {
    const auto [lo, hi] =
        std::minmax({*yardstick.of(row, row.time->lo), *yardstick.of(row, row.time->hi)});
    text += fmt::format(": {} ({} .. {})", words(*value), words(lo), words(hi));
  }
  if (const auto value = predicted(row)) {
    text += fmt::format("{} predicted {}", row.time ? "," : ":", words(*value));
  }
  if (const auto speedup = row.median(deck::Metric::speedup)) {
    text += fmt::format(", speed-up {:.2f}", *speedup);
  }
  return text;
}

/// Rows in which the values of the first key have room below a panel.
std::size_t Chart::rows(double width) const {
  if (joined) return 1;
  const auto values = static_cast<double>(axis.values.size());
  double widest = 1;
  for (const Axis::Value& value : axis.values) {
    widest = std::max(widest, width_of(value.text, 11) + 6);
  }
  return static_cast<std::size_t>(std::min({std::ceil(widest * values / width), 3.0, values}));
}

/// The points that share the values of all keys but the first, by its value.
using Points = std::vector<const PointResult*>;

std::vector<Points> panels_of(const Chart& chart) {
  std::vector<Points> panels(combinations(chart.study));
  for (const PointResult& point : chart.study.done) {
    panels[point.number % panels.size()].push_back(&point);
  }
  std::erase_if(panels, [](const Points& points) { return points.empty(); });
  for (Points& points : panels) {
    std::ranges::sort(points, {}, [&](const PointResult* point) { return chart.x(*point); });
  }
  return panels;
}

/// Draws one panel in its frame.
struct Panel {
  Svg& page;
  const Chart& chart;
  const Points& points;
  double x, y, width, height;
  std::size_t rows;  ///< of words of the first key

  double at(double part) const { return x + part * width; }
  double at(const PointResult& point) const { return at(chart.x(point)); }
  /// Where lines do not join them, the series stand side by side above each value.
  double at(const PointResult& point, const Row& row) const {
    const std::vector<std::string>& names = chart.names;
    const auto name = std::ranges::find(names, series_of(chart.study, row)) - names.begin();
    const double middle = static_cast<double>(names.size() - 1) / 2;
    return at(point) + (chart.joined ? 0 : step() * (static_cast<double>(name) - middle));
  }
  double step() const {
    return std::min(14.0, slot() / static_cast<double>(chart.names.size() + 1));
  }
  /// The width of a value of the first key.
  double slot() const { return width / static_cast<double>(chart.axis.values.size()); }
  double up(double value) const { return y + (1 - chart.up(value)) * height; }

  void draw() const;
  void draw_line(const char* kind, const std::vector<std::string>& places, double wide) const;
  void draw_name() const;
  void draw_axes() const;
  void draw_series(std::size_t name) const;
  void draw_best() const;
  bool covers_mark(double middle, double base, const std::string& words) const;
};

/// A place of a path.
std::string place(double x, double y) { return fmt::format("{:g} {:g}", x, y); }

/// A line through places, or where there is none a stroke at each, `wide` pixels wide.
void Panel::draw_line(const char* kind, const std::vector<std::string>& places, double wide) const {
  if (places.size() < (chart.joined ? 2 : 1)) return;
  const std::string stroke = chart.joined ? "" : fmt::format("m{:g} 0h{:g}", -wide / 2, wide);
  page.add("<path class=\"{}\" d=\"M{}{}\"/>\n", kind,
           fmt::join(places, chart.joined ? "L" : stroke + "M"), stroke);
}

void Panel::draw_axes() const {
  const double bottom = y + height;
  for (const double tick : chart.ticks) {
    page.add(R"(<path class="grid" d="M{:g} {:g}h{:g}"/>)", x, up(tick), width);
    // Over decades each tick has a unit of its own, in spite of rounding.
    const double longest = chart.up.logarithmic() ? 1.01 * tick : chart.up.most;
    page.words("tick end", x - 8, up(tick) + 4,
               chart.yardstick.by_time() ? tick_words(tick, longest) : fmt::format("{:.6g}", tick));
  }
  page.add(R"(<path class="axis" d="M{:g} {:g}h{:g}"/>)", x, bottom, width);
  // The values of the first key, as far as their words have room.
  std::vector<std::size_t> rising(chart.axis.values.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  std::ranges::sort(rising, {}, [&](std::size_t value) { return chart.x(value); });
  double until = 0;
  // Words may reach beyond the panel as far as the margin of the page does.
  const double room = std::min(static_cast<double>(rows) * slot() - 6, slot() + 2 * Svg::margin);
  for (const std::size_t value : rising) {
    const std::string& text = chart.axis.values[value].text;
    const double middle = at(chart.x(value));
    page.add(R"(<path class="axis" d="M{:g} {:g}v4"/>)", middle, bottom);
    if (!chart.joined) {
      page.words_within(std::max(0.0, room), "tick mid", middle,
                        bottom + 18 + row_height * static_cast<double>(value % rows), text, 11);
      continue;
    }
    const double half = width_of(text, 11) / 2;
    if (middle - half < until) continue;
    until = middle + half + 8;
    page.words("tick mid", middle, bottom + 18, text);
  }
  page.words("muted end", x + width, bottom + 37 + row_height * static_cast<double>(rows - 1),
             chart.axis.key + (chart.joined ? chart.across.words() : ""));
}

void Panel::draw_series(std::size_t name) const {
  std::vector<std::string> measured, predicted;
  std::string marks;
  for (const PointResult* const point : points) {
    const auto row = std::ranges::find(point->rows, chart.names[name],
                                       [&](const Row& r) { return series_of(chart.study, r); });
    if (row == point->rows.end()) continue;
    const double here = at(*point, *row);
    const auto model = chart.predicted(*row);
    const auto time = chart.measured(*row);
    if (model && (time || chart.joined)) predicted.push_back(place(here, up(*model)));
    if (!time && !model) continue;
    const double high = up(time ? *time : *model);
    if (time) {
      measured.push_back(place(here, high));
      const double lo = up(*chart.yardstick.of(*row, row->time->lo));
      const double hi = up(*chart.yardstick.of(*row, row->time->hi));
      if (std::abs(hi - lo) > 3) {
        marks += fmt::format(
            R"(<path class="whisker" d="M{0:g} {1:g}V{2:g}M{3:g} {1:g}h6M{3:g} {2:g}h6"/>)", here,
            lo, hi, here - 3);
      }
    }
    marks += fmt::format(
        "<g transform=\"translate({})\"><path class=\"{}\" d=\"{}\"/>"
        "<circle class=\"area\" r=\"9\"/><title>{}</title></g>\n",
        place(here, high), time ? "mark" : "hollow", chart.looks[name].mark,
        escape_xml(chart.hint(*point, *row)));
  }
  page.add("<g class=\"series p{}\">\n", chart.looks[name].pen);
  draw_line("predicted", predicted, step());
  if (chart.joined) draw_line("measured", measured, 0);
  page.add("{}</g>\n", marks);
}

void Panel::draw_best() const {
  if (!chart.fastest || !std::ranges::count(points, chart.fastest->point)) return;
  const double value = *chart.yardstick.of(*chart.fastest->row);
  const double here = at(*chart.fastest->point, *chart.fastest->row);
  const double high = up(value);
  const std::string words = "best " + chart.words(value);
  const double half = width_of(words, bold * 12) / 2;
  page.add(R"(<circle class="best" cx="{:g}" cy="{:g}" r="8.5"/>)", here, high);
  const double middle = std::clamp(here, x + half, x + width - half);
  // Near the mark, where there is room and no other mark; else above it.
  double base = high - 16;
  for (const double offset : {25, -16, 42, -33, 59, -50}) {
    const double at = high + offset;
    if (at < y + 10 || at > y + height - 5 || covers_mark(middle, at, words)) continue;
    base = at;
    break;
  }
  page.words("doubt halo mid", middle, base, words);
}

bool Panel::covers_mark(double middle, double base, const std::string& words) const {
  const double half = width_of(words, bold * 12) / 2;
  for (const PointResult* const point : points) {
    for (const Row& row : point->rows) {
      const auto value = chart.yardstick.of(row);
      if (value && std::abs(at(*point, row) - middle) < half + 6 &&
          std::abs(up(*value) - base + 4) < 12) {
        return true;
      }
    }
  }
  return false;
}

/// Says which values the panel is of: without sections where they need too much room, and then in
/// two lines.
void Panel::draw_name() const {
  auto values = chart.study.points[points.front()->number].values;
  values.erase(values.begin());
  const auto too_wide = [&] { return width_of(point_words(values), bold * 13) > width; };
  if (too_wide()) {
    for (auto& value : values) value.key.erase(0, value.key.rfind('.') + 1);
  }
  if (too_wide() && values.size() > 1) {
    const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    page.words_within(width, "name", x, y - 30, point_words({values.begin(), half}), 13);
    values.erase(values.begin(), half);
  }
  page.words_within(width, "name", x, y - 14, point_words(values), 13);
}

void Panel::draw() const {
  page.add("<g class=\"plot\">\n");
  draw_name();
  draw_axes();
  const bool knee = chart.turn && !chart.turn->least;
  const double turn = knee ? at(chart.x(chart.turn->value)) : 0;
  if (knee) page.add(R"(<path class="knee" d="M{:g} {:g}v{:g}"/>)", turn, y, height);
  std::vector<std::string> bounds;
  for (const PointResult* const point : points) {
    if (const auto bound = chart.yardstick.bound(*point))
      bounds.push_back(place(at(*point), up(*bound)));
  }
  draw_line("bound", bounds, 0.8 * slot());
  for (std::size_t name = 0; name < chart.names.size(); ++name) draw_series(name);
  if (knee) {
    const bool last = turn + 5 + width_of("knee", 11) > x + width;
    page.words(last ? "tick halo end" : "tick halo", turn + (last ? -5 : 5), y + 10, "knee");
  }
  draw_best();
  page.add("</g>\n");
}

void draw_legend(Svg& page, const Chart& chart) {
  const Study& study = chart.study;
  const bool measured = study.ran();
  const bool predicted = study.any([](const Row& row) { return row.predicted_s.has_value(); });
  const bool bounds = study.any([](const Row& row) { return row.bound_s.has_value(); });
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    const Look& look = chart.looks[i];
    entries.emplace_back(
        fmt::format(R"(<g class="series p{}"><path class="{}" d="M0 0h28"/>)"
                    R"g(<path class="{}" transform="translate(14 0)" d="{}"/></g>)g",
                    look.pen, measured ? "measured" : "predicted", measured ? "mark" : "hollow",
                    look.mark),
        chart.names[i]);
  }
  if (predicted && measured) {
    entries.emplace_back(R"(<path class="p0 predicted" d="M0 0h28"/>)", "predicted");
  }
  if (bounds) {
    entries.emplace_back(R"(<path class="bound" d="M0 0h28"/>)", "bound");
  }
  page.legend(Svg::margin, 28, entries);
}

/// How many points could not run, and why the first of them could not; empty: all could.
std::string missing_words(const Study& study) {
  const auto missing = [](const PointResult& point) { return point.rows.empty(); };
  const auto first = std::ranges::find_if(study.done, missing);
  if (first == study.done.end()) return "";
  return fmt::format("{} of {} points could not run; {}: {}",
                     std::ranges::count_if(study.done, missing), study.points.size(),
                     point_words(study.points[first->number].values), first->ended_by);
}

}  // namespace

std::string sweep_svg(const Study& study) {
  const Chart chart(study);
  std::vector<Points> panels = panels_of(chart);
  const std::size_t shown = std::min(panels.size(), most_panels);
  const auto hidden = panels.begin() + static_cast<std::ptrdiff_t>(shown);
  const auto best = std::find_if(hidden, panels.end(), [&](const Points& points) {
    return chart.fastest && std::ranges::count(points, chart.fastest->point) > 0;
  });
  const bool late = best != panels.end();
  if (late) std::iter_swap(best, hidden - 1);
  const std::size_t columns = shown > 4 ? 3 : shown > 1 ? 2 : 1;

  Svg page{.text = {}, .y = Svg::margin + 18};
  const double room = Svg::width - 2 * Svg::margin;
  page.words_in_two_lines(room, "title", Svg::margin, 26, study.deck().title, 20);
  page.words_within(room, "muted", Svg::margin, page.y += 22, place_words(study));
  page.y += 4;
  for (const std::string& line : sweep_words(study)) {
    page.y += 18;
    page.words_in_two_lines(room, "", Svg::margin, 18, line);
  }
  if (const std::string words = missing_words(study); !words.empty()) {
    page.y += 18;
    page.words_in_two_lines(room, "doubt", Svg::margin, 18, words);
  }
  page.y += 36;
  draw_legend(page, chart);
  page.words("muted", Svg::margin, page.y,
             fmt::format("{}{}{}", chart.yardstick.by_time() ? "time" : "GB/s in both directions",
                         chart.up.words(),
                         study.predicts() ? ", predicted" : ": median and its 95 % interval"));
  if (panels.size() > shown) {
    page.words("muted end", Svg::width - Svg::margin, page.y,
               late
                   ? fmt::format("the first {} of {} panels and the best", shown - 1, panels.size())
                   : fmt::format("the first {} of {} panels", shown, panels.size()));
  }
  page.y += study.axes.size() > 1 ? 46 : 26;
  const auto count = static_cast<double>(columns);
  const double wide = (Svg::width - 2 * Svg::margin - (count - 1) * gap) / count;
  const double high = columns == 1 ? 440 : columns == 2 ? 320 : 230;
  const std::size_t rows = chart.rows(wide - tick_room);
  const double all = high + below + row_height * static_cast<double>(rows - 1);
  for (std::size_t i = 0; i < shown; ++i) {
    const double x = Svg::margin + static_cast<double>(i % columns) * (wide + gap);
    const double y = page.y + static_cast<double>(i / columns) * all;
    Panel{page, chart, panels[i], x + tick_room, y, wide - tick_room, high, rows}.draw();
  }
  page.y += std::ceil(static_cast<double>(shown) / count) * all - 16;
  return page.finish(study.deck().title);
}

}  // namespace overlap::report
