#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "base/units.hpp"
#include "report/picture.hpp"
#include "report/sweep.hpp"
#include "report/sweep_style.hpp"

namespace overlap::report {
namespace {

constexpr double width = 1200;
constexpr double margin = 32;
constexpr double left = 72;  // of a panel: room for the words of its ticks
constexpr double gap = 28;   // between panels
constexpr std::size_t most_panels = 12;

/// From values to places along a line, by their logarithms where they span more than a decade.
class Scale {
 public:
  Scale() = default;
  Scale(double least, double most, bool logarithmic)
      : logarithmic_(logarithmic), least_(map(least)), most_(map(most)) {}

  bool logarithmic() const { return logarithmic_; }
  double operator()(double value) const {
    return most_ > least_ ? (map(value) - least_) / (most_ - least_) : 0.5;
  }

 private:
  double map(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_ = false;
  double least_ = 0;
  double most_ = 1;
};

bool spans_a_decade(double least, double most) { return least > 0 && most / least > 10; }

/// What is drawn: a number for each series at each value of the first key.
class Chart {
 public:
  explicit Chart(const Study& study)
      : study_(study), same_bytes_(report::same_bytes(study)), names_(series(study)) {
    scale_x();
    scale_y();
  }

  const std::vector<std::string>& names() const { return names_; }
  bool same_bytes() const { return same_bytes_; }

  /// Seconds as the chart shows them; empty where they are none.
  std::optional<double> shown(const Row& row, std::optional<double> seconds) const {
    if (!seconds || !(*seconds > 0)) return std::nullopt;
    if (same_bytes_) return seconds;
    return row.bytes > 0 ? std::optional(static_cast<double>(row.bytes) / *seconds * 1e-9)
                         : std::nullopt;
  }
  std::string words(double value) const {
    return same_bytes_ ? base::format_seconds(value) : base::format_number(value) + " GB/s";
  }
  std::string tick(double value) const {
    return same_bytes_ ? tick_words(value, most_) : fmt::format("{:.6g}", value);
  }

  /// From 0 at the left to 1 at the right.
  double x(std::size_t value) const {
    const Axis& axis = study_.axes.front();
    const auto count = static_cast<double>(axis.values.size());
    // Words stand side by side, with as much room beside the first and the last.
    if (!axis.numeric()) return (static_cast<double>(value) + 0.5) / count;
    return 0.03 + 0.94 * x_(*axis.values[value].number);
  }
  double x(const PointResult& point) const { return x(places(study_, point.number).front()); }
  double y(double value) const { return y_(value); }  ///< from 0 at the bottom to 1 at the top
  bool joined() const { return study_.axes.front().numeric(); }

  /// Places of ticks on the vertical axis.
  std::vector<double> ticks() const {
    std::vector<double> ticks;
    if (!y_.logarithmic()) {
      const double step = tick_s(most_, 6);
      for (int i = 0; i * step <= most_ * (1 + 1e-9); ++i) ticks.push_back(i * step);
      return ticks;
    }
    const double decades = std::log10(most_ / least_);
    for (double power = std::pow(10, std::floor(std::log10(least_))); power <= most_; power *= 10) {
      for (const double factor : {1, 2, 5}) {
        const double value = factor * power;
        if (factor > 1 && decades > 3) continue;
        if (value >= least_ * (1 - 1e-9) && value <= most_ * (1 + 1e-9)) ticks.push_back(value);
      }
    }
    return ticks;
  }

  /// The least bound of a point: the chunks of some orders fill and drain less.
  std::optional<double> bound(const PointResult& point) const {
    std::optional<double> best;
    for (const Row& row : point.rows) {
      const auto value = shown(row, row.bound_s);
      if (value && (!best || (same_bytes_ ? *value < *best : *value > *best))) best = value;
    }
    return best;
  }

  /// The index of a series' pen: the baseline has the first, others theirs in turn.
  std::size_t pen(std::size_t name) const {
    if (names_[name].starts_with("sequential")) return 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < name; ++i) others += names_[i].starts_with("sequential") ? 0 : 1;
    return 1 + others % (pens.size() - 1);
  }

 private:
  void scale_x() {
    const Axis& axis = study_.axes.front();
    if (!axis.numeric()) return;
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const Axis::Value& value : axis.values) {
      least = std::min(least, *value.number);
      most = std::max(most, *value.number);
    }
    x_ = Scale(least, most, spans_a_decade(least, most));
  }

  void scale_y() {
    least_ = std::numeric_limits<double>::infinity();
    const auto meet = [&](const std::optional<double>& value) {
      if (!value) return;
      least_ = std::min(least_, *value);
      most_ = std::max(most_, *value);
    };
    for (const PointResult& point : study_.done) {
      meet(bound(point));
      for (const Row& row : point.rows) {
        meet(shown(row, row.predicted_s));
        if (!row.time) continue;
        for (const double seconds : {row.time->median, row.time->lo, row.time->hi}) {
          meet(shown(row, seconds));
        }
      }
    }
    if (!(most_ > 0)) least_ = most_ = 1;
    const bool logarithmic = spans_a_decade(least_, most_);
    if (!logarithmic) least_ = 0;
    most_ *= 1.05;
    if (logarithmic) least_ *= 0.9;
    y_ = Scale(least_, most_, logarithmic);
  }

  const Study& study_;
  bool same_bytes_;
  std::vector<std::string> names_;
  Scale x_, y_;
  double least_ = 0;
  double most_ = 0;
};

/// The points that share the values of all keys but the first.
struct Panel {
  std::string words;
  std::vector<const PointResult*> points;  ///< by the first key's value
};

std::vector<Panel> panels_of(const Study& study) {
  std::map<std::vector<std::size_t>, Panel> panels;
  for (const PointResult& point : study.done) {
    std::vector<std::size_t> at = places(study, point.number);
    at.erase(at.begin());
    auto values = study.points[point.number].values;
    values.erase(values.begin());
    Panel& panel = panels[at];
    panel.words = point_words(values);
    panel.points.push_back(&point);
  }
  std::vector<Panel> list;
  for (auto& [at, panel] : panels) {
    const Axis& axis = study.axes.front();
    const auto value = [&](const PointResult* point) {
      const std::size_t place = places(study, point->number).front();
      return axis.numeric() ? *axis.values[place].number : static_cast<double>(place);
    };
    std::sort(panel.points.begin(), panel.points.end(),
              [&](const auto* a, const auto* b) { return value(a) < value(b); });
    list.push_back(std::move(panel));
  }
  return list;
}

/// Where a panel's chart is.
struct Frame {
  double x, y, width, height;
};

std::string hint(const Study& study, const Chart& chart, const PointResult& point, const Row& row) {
  std::string words = fmt::format("{} at {}", series_of(study, row),
                                  point_words(study.points[point.number].values));
  if (const auto value = chart.shown(row, row.time ? row.seconds() : std::nullopt)) {
    const double lo = *chart.shown(row, row.time->lo);
    const double hi = *chart.shown(row, row.time->hi);
    words += fmt::format(": {} ({} .. {})", chart.words(*value), chart.words(std::min(lo, hi)),
                         chart.words(std::max(lo, hi)));
  }
  if (const auto value = chart.shown(row, row.predicted_s)) {
    words += fmt::format("{} predicted {}", row.time ? "," : ":", chart.words(*value));
  }
  if (const auto speedup = row.median(deck::Metric::speedup)) {
    words += fmt::format(", speed-up {:.2f}", *speedup);
  };
  return words;
}

void draw_line(Page& page, const char* kind, const std::vector<std::pair<double, double>>& places) {
  if (places.size() < 2) return;
  page.add(R"(<path class="{}" d=")", kind);
  for (std::size_t i = 0; i < places.size(); ++i) {
    page.add("{}{} {}", i == 0 ? "M" : "L", coordinate(places[i].first),
             coordinate(places[i].second));
  }
  page.add(R"("/>)");
}

void draw_series(Page& page, const Study& study, const Chart& chart, const Panel& panel,
                 const Frame& frame, std::size_t name) {
  using Places = std::vector<std::pair<double, double>>;
  Places measured, predicted;
  Page marks;
  const std::size_t pen = chart.pen(name);
  // Words side by side: the series beside each other above each of them.
  const double aside =
      chart.joined()
          ? 0
          : 14 * (static_cast<double>(name) - static_cast<double>(chart.names().size() - 1) / 2);
  for (const PointResult* const point : panel.points) {
    const auto row = std::find_if(point->rows.begin(), point->rows.end(), [&](const Row& r) {
      return series_of(study, r) == chart.names()[name];
    });
    if (row == point->rows.end()) continue;
    const double x = frame.x + chart.x(*point) * frame.width + aside;
    const auto y = [&](double value) { return frame.y + (1 - chart.y(value)) * frame.height; };
    const auto model = chart.shown(*row, row->predicted_s);
    if (model) predicted.emplace_back(x, y(*model));
    const auto time = chart.shown(*row, row->time ? row->seconds() : std::nullopt);
    if (!time && !model) continue;
    const double here = y(time ? *time : *model);
    if (time) {
      measured.emplace_back(x, here);
      const double lo = y(*chart.shown(*row, row->time->lo));
      const double hi = y(*chart.shown(*row, row->time->hi));
      if (std::abs(hi - lo) > 3) {
        marks.add(R"(<path class="whisker" d="M{0} {1}V{2}M{3} {1}h6M{3} {2}h6"/>)", coordinate(x),
                  coordinate(lo), coordinate(hi), coordinate(x - 3));
      }
    }
    marks.add(
        R"g(<g transform="translate({} {})"><path class="{}" d="{}"/><circle class="area" r="9"/><title>{}</title></g>)g",
        coordinate(x), coordinate(here), time ? "mark" : "hollow", pens[pen].mark,
        escape_xml(hint(study, chart, *point, *row)));
  }
  page.add(R"(<g class="series p{}">)", pen);
  if (chart.joined()) {
    draw_line(page, "predicted", predicted);
    draw_line(page, "measured", measured);
  }
  page.add("{}</g>\n", marks.text);
}

/// The ticks of the first key: its values, as far as their words have room.
void draw_values(Page& page, const Study& study, const Chart& chart, const Frame& frame) {
  const Axis& axis = study.axes.front();
  std::vector<std::size_t> order(axis.values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return chart.x(a) < chart.x(b); });
  double until = -std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    const double x = frame.x + chart.x(i) * frame.width;
    const double half = width_of(axis.values[i].text) / 2;
    page.add(R"(<path class="axis" d="M{} {}v4"/>)", coordinate(x),
             coordinate(frame.y + frame.height));
    if (x - half < until) continue;
    until = x + half + 8;
    page.add(R"(<text class="tick mid" x="{}" y="{}">{}</text>)", coordinate(x),
             coordinate(frame.y + frame.height + 18), escape_xml(axis.values[i].text));
  }
  page.add(R"(<text class="muted end" x="{}" y="{}">{}</text>)", coordinate(frame.x + frame.width),
           coordinate(frame.y + frame.height + 37), escape_xml(axis.key));
  page.add("\n");
}

void draw_panel(Page& page, const Study& study, const Chart& chart, const Panel& panel,
                const Frame& frame) {
  page.add("<g class=\"plot\">\n");
  page.add(R"(<text class="name" x="{}" y="{}">{}</text>)", coordinate(frame.x),
           coordinate(frame.y - 14), escape_xml(panel.words));
  page.add("\n");
  for (const double tick : chart.ticks()) {
    const double y = frame.y + (1 - chart.y(tick)) * frame.height;
    page.add(R"(<path class="grid" d="M{} {}h{}"/><text class="tick end" x="{}" y="{}">{}</text>)",
             coordinate(frame.x), coordinate(y), coordinate(frame.width), coordinate(frame.x - 8),
             coordinate(y + 4), chart.tick(tick));
  }
  page.add(R"(<path class="axis" d="M{} {}h{}"/>)", coordinate(frame.x),
           coordinate(frame.y + frame.height), coordinate(frame.width));
  page.add("\n");
  draw_values(page, study, chart, frame);
  if (const auto turn = knee(study); turn && !turn->least) {
    const double x = frame.x + chart.x(turn->value) * frame.width;
    page.add(
        R"(<path class="knee" d="M{0} {1}v{2}"/><text class="tick halo" x="{3}" y="{4}">knee</text>)",
        coordinate(x), coordinate(frame.y), coordinate(frame.height), coordinate(x + 5),
        coordinate(frame.y + 10));
    page.add("\n");
  }
  std::vector<std::pair<double, double>> bounds;
  for (const PointResult* const point : panel.points) {
    if (const auto bound = chart.bound(*point)) {
      bounds.emplace_back(frame.x + chart.x(*point) * frame.width,
                          frame.y + (1 - chart.y(*bound)) * frame.height);
    }
  }
  if (chart.joined()) draw_line(page, "bound", bounds);
  for (std::size_t i = 0; i < chart.names().size(); ++i) {
    draw_series(page, study, chart, panel, frame, i);
  }
  const auto found = best(study);
  if (found &&
      std::find(panel.points.begin(), panel.points.end(), found->point) != panel.points.end()) {
    const double value = *chart.shown(*found->row, found->row->seconds());
    const double x = frame.x + chart.x(*found->point) * frame.width;
    const double y = frame.y + (1 - chart.y(value)) * frame.height;
    const std::string words = "best " + chart.words(value);
    // Where there is room: below or, low in the panel, above.
    const bool below = y + 30 < frame.y + frame.height;
    if (chart.joined()) {
      page.add(R"(<circle class="best" cx="{}" cy="{}" r="8.5"/>)", coordinate(x), coordinate(y));
    }
    page.add(R"(<text class="best-words halo mid" x="{}" y="{}">{}</text>)",
             coordinate(std::clamp(x, frame.x + width_of(words) / 2,
                                   frame.x + frame.width - width_of(words) / 2)),
             coordinate(below ? y + 25 : y - 16), words);
    page.add("\n");
  }
  page.add("</g>\n");
}

/// What the lines are; returns how high it is.
double draw_legend(Page& page, const Study& study, const Chart& chart, double y) {
  const double top = y;
  double x = margin;
  const auto entry = [&](const std::string& words, const std::string& swatch) {
    const double wide = 52 + width_of(words);
    if (x > margin && x + wide > width - margin) {
      x = margin;
      y += 22;
    }
    page.add(R"g(<g transform="translate({} {})">{}<text x="36" y="4">{}</text></g>)g",
             coordinate(x), coordinate(y), swatch, escape_xml(words));
    x += wide;
  };
  bool bounds = false, predictions = false, measured = false;
  for (const PointResult& point : study.done) {
    for (const Row& row : point.rows) {
      bounds |= row.bound_s.has_value();
      predictions |= row.predicted_s.has_value();
      measured |= row.time.has_value();
    }
  }
  for (std::size_t i = 0; i < chart.names().size(); ++i) {
    const std::size_t pen = chart.pen(i);
    entry(
        chart.names()[i],
        fmt::format(
            R"g(<g class="series p{0}"><path class="{1}" d="M0 0h28"/><g transform="translate(14 0)"><path class="{2}" d="{3}"/></g></g>)g",
            pen, measured ? "measured" : "predicted", measured ? "mark" : "hollow",
            pens[pen].mark));
  }
  if (chart.joined() && predictions && measured) {
    entry("predicted", R"g(<g class="series p0"><path class="predicted" d="M0 0h28"/></g>)g");
  }
  if (chart.joined() && bounds) entry("bound", R"(<path class="bound" d="M0 0h28"/>)");
  page.add("\n");
  return y - top + 34;
}

}  // namespace

std::string sweep_svg(const Study& study) {
  const Chart chart(study);
  std::vector<Panel> panels = panels_of(study);
  const std::size_t all = panels.size();
  panels.resize(std::min(all, most_panels));
  const std::size_t columns = panels.size() > 4 ? 3 : panels.size() > 1 ? 2 : 1;

  Page page;
  double y = margin + 18;
  page.add(R"(<text class="title" x="{}" y="{}">{}</text>)", margin, coordinate(y),
           escape_xml(study.deck().title));
  y += 22;
  const bool predictions = study.predicts();
  page.add(
      R"(<text class="muted" x="{}" y="{}">{}</text>)", margin, coordinate(y),
      escape_xml(
          place_words(study) +
          (predictions ? fmt::format(", predicted for {}", fmt::join(study.devices, ", ")) : "")));
  y += 22;
  std::string words = sweep_words(study);
  for (std::size_t end = 0; (end = words.find('\n')) != std::string::npos;) {
    page.add(R"(<text x="{}" y="{}">{}</text>)", margin, coordinate(y),
             escape_xml(words.substr(0, end)));
    words.erase(0, end + 1);
    y += 18;
  }
  y += 18;
  y += draw_legend(page, study, chart, y);
  page.add(R"(<text class="muted" x="{}" y="{}">{}</text>)", margin, coordinate(y),
           fmt::format("{}{}", chart.same_bytes() ? "time" : "GB/s in both directions",
                       predictions ? ", predicted" : ": median and its 95 % interval"));
  if (all > panels.size()) {
    page.add(R"(<text class="muted end" x="{}" y="{}">{}</text>)", width - margin, coordinate(y),
             fmt::format("the first {} of {} panels", panels.size(), all));
  }
  y += study.axes.size() > 1 ? 40 : 26;
  const auto count = static_cast<double>(columns);
  const double wide = (width - 2 * margin - (count - 1) * gap) / count;
  const double high = columns == 1 ? 440 : columns == 2 ? 320 : 230;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto column = static_cast<double>(i % columns);
    const auto row = static_cast<double>(i / columns);
    draw_panel(page, study, chart, panels[i],
               {margin + column * (wide + gap) + left - 16, y + row * (high + 84), wide - left + 16,
                high});
  }
  const double rows = std::ceil(static_cast<double>(panels.size()) / count);
  y += rows * (high + 84) - 84 + 48 + margin - 12;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sweep\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n"
      "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{4}</svg>\n",
      width, coordinate(y), escape_xml(study.deck().title), sweep_style(), page.text);
}

}  // namespace overlap::report
