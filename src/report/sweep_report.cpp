#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/units.hpp"
#include "experiment/diagnosis.hpp"
#include "report/run_report.hpp"
#include "results/metrics.hpp"

/// Sweeps: one row per point, the best point of each device, and where more of a key brings no
/// more.
namespace overlap::report {
namespace {

using results::Result;
using results::Run;

/// A run with its point.
struct Entry {
  std::size_t point = 0;
  const Run* run = nullptr;
};

/// The values of swept keys as the deck spells them.
std::vector<std::string> texts(const results::Point& point) {
  std::vector<std::string> all;
  for (const auto& [key, value] : point.values.items()) {
    const auto spelled = point.text.find(key);
    all.push_back(spelled != point.text.end() ? spelled->second : describe::spell(value));
  }
  return all;
}

/// How much slower than the best a point may be at the knee.
constexpr double knee_margin = 0.05;

class Sweep {
 public:
  explicit Sweep(const Result& result)
      : result_(result), axes_(result.axes()), runs_(result.runs_by_point()) {
    std::set<std::int64_t> bytes;
    std::set<double> flops;  // how many bytes a product copies depends on how it is cut
    for (const Run& run : result.runs) {
      bytes.insert(run.bytes());
      flops.insert(run.product ? run.product->flops : 0);
    }
    by_time_ = bytes.size() < 2 || (flops.size() == 1 && *flops.begin() > 0);
  }

  /// Devices that have a best point each; empty name: all that there are.
  std::vector<std::string> devices() const {
    return result_.predicted_for.size() < 2 ? std::vector<std::string>{""} : result_.predicted_for;
  }
  std::vector<std::string> series() const {
    std::vector<std::string> names;
    for (const Run& run : result_.runs) {
      if (std::ranges::find(names, series_of(run)) == names.end()) names.push_back(series_of(run));
    }
    return names;
  }
  std::string series_of(const Run& run) const {
    return devices().size() < 2 ? name(run) : name(run) + " on " + run.device;
  }

  /// What points are compared by: time, or GB/s where they copy different amounts.
  std::optional<double> value(const Run& run, std::optional<double> seconds) const {
    if (!seconds || !(*seconds > 0)) return std::nullopt;
    if (by_time_) return seconds;
    if (run.bytes() == 0) return std::nullopt;
    return 1e-9 * static_cast<double>(run.bytes()) / *seconds;
  }
  static std::optional<double> seconds(const Run& run) {
    return run.ran() ? std::optional(results::time_s(run).median) : run.predicted_s;
  }
  std::optional<double> value(const Run& run) const { return value(run, seconds(run)); }
  bool better(double a, double b) const { return by_time_ ? a < b : a > b; }
  std::string quantity() const { return by_time_ ? "time" : "GB/s"; }
  std::string spell(double v) const {
    return by_time_ ? base::format_seconds(v) : base::format_number(v);
  }
  std::string spell(std::optional<double> v) const { return v ? spell(*v) : "-"; }

  std::optional<Entry> best(const std::string& device) const {
    std::optional<Entry> found;
    for (std::size_t point = 0; point < runs_.size(); ++point) improve(found, point, device);
    return found;
  }
  /// The best of a point.
  std::optional<Entry> best_at(std::size_t point, const std::string& device) const {
    std::optional<Entry> found;
    improve(found, point, device);
    return found;
  }
  /// Points whose intervals overlap the best one's.
  std::vector<Entry> ties(const std::string& device) const {
    std::vector<Entry> found;
    const auto fastest = best(device);
    for (std::size_t point = 0; fastest && point < runs_.size(); ++point) {
      const auto here = best_at(point, device);
      if (here && point != fastest->point && tie(*here->run, *fastest->run)) found.push_back(*here);
    }
    return found;
  }

  void add_rows(Blocks& blocks) const;
  void add_best(Blocks& blocks, const std::string& device) const;
  void add_charts(Blocks& blocks) const;
  void add_noise(Blocks& blocks) const;

 private:
  void improve(std::optional<Entry>& found, std::size_t point, const std::string& device) const {
    for (const Run* const run : runs_[point]) {
      if (!device.empty() && run->device != device) continue;
      const auto here = value(*run);
      if (here && (!found || better(*here, *value(*found->run)))) found = Entry{point, run};
    }
  }
  std::pair<double, double> interval(const Run& run) const {
    if (!run.ran()) return {*value(run), *value(run)};
    const base::Summary time = results::time_s(run);
    return std::minmax({*value(run, time.lo), *value(run, time.hi)});
  }
  bool tie(const Run& a, const Run& b) const {
    const auto [a_lo, a_hi] = interval(a);
    const auto [b_lo, b_hi] = interval(b);
    return a_lo <= b_hi && b_lo <= a_hi;
  }
  std::optional<double> bound(std::size_t point) const {
    std::optional<double> least;
    for (const Run* const run : runs_[point]) {
      const auto here = run->bounds ? value(*run, run->bounds->bound_s) : std::nullopt;
      if (here && (!least || better(*here, *least))) least = here;
    }
    return least;
  }
  /// Points per value of the first key.
  std::size_t combinations() const { return runs_.size() / axes_.front().values.size(); }
  std::string knee(const std::string& device, const Entry& fastest) const;

  const Result& result_;
  std::vector<results::Axis> axes_;
  std::vector<std::vector<const Run*>> runs_;
  bool by_time_ = true;
};

void Sweep::add_rows(Blocks& blocks) const {
  std::vector<std::string> orders;
  for (const Run& run : result_.runs) {
    if (std::ranges::find(orders, name(run)) == orders.end()) orders.push_back(name(run));
  }
  const bool several = devices().size() > 1;
  Table table;
  table.title = fmt::format("{} {}", result_.predicts() ? "predicted" : "median",
                            by_time_ ? "times" : "GB/s, both directions");
  for (const results::Axis& axis : axes_) table.columns.push_back(number_column(axis.key));
  table.columns.push_back(text_column("device"));
  int drop = static_cast<int>(orders.size());
  for (const std::string& order : orders) table.columns.push_back(number_column(order, drop--));
  table.columns.push_back(number_column("bound"));
  table.columns.push_back(text_column("fastest"));
  table.columns.push_back(number_column(quantity()));
  table.columns.push_back(text_column("mark"));
  for (const std::string& device : devices()) {
    std::map<std::size_t, std::string> marks;
    if (const auto found = best(device)) marks[found->point] = "best";
    for (const Entry& entry : ties(device)) marks[entry.point] = "tie";
    for (std::size_t point = 0; point < runs_.size(); ++point) {
      const auto fastest = best_at(point, device);
      if (runs_[point].empty()) continue;
      auto& cells = table.rows.emplace_back();
      for (const std::string& value : texts(result_.points[point])) cells.emplace_back(value);
      cells.emplace_back(several ? device : "-");
      for (const std::string& order : orders) {
        const auto run = std::ranges::find_if(runs_[point], [&](const Run* r) {
          return name(*r) == order && (device.empty() || r->device == device);
        });
        cells.emplace_back(run == runs_[point].end() ? "-" : spell(value(**run)));
      }
      cells.emplace_back(spell(bound(point)));
      cells.emplace_back(fastest ? name(*fastest->run) : "-");
      cells.emplace_back(fastest ? spell(value(*fastest->run)) : "-");
      cells.emplace_back(marks[point]);
    }
  }
  table.most_rows = 1000;
  add_table(blocks, std::move(table));
}

/// "knee: chunks.count 8 is the smallest value that comes within 5 % of the best ...".
std::string Sweep::knee(const std::string& device, const Entry& fastest) const {
  const results::Axis& axis = axes_.front();
  std::vector<std::optional<Entry>> at(axis.values.size());
  for (std::size_t point = 0; point < runs_.size(); ++point) {
    improve(at[point / combinations()], point, device);
  }
  const auto tried = std::ranges::count_if(at, [](const auto& entry) { return !!entry; });
  if (!axis.numeric() || tried < 2) return "";
  std::vector<std::size_t> rising(axis.values.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  std::ranges::sort(rising, {}, [&](std::size_t i) { return *axis.values[i].number; });
  const double most = *value(*fastest.run);
  const double limit = by_time_ ? most * (1 + knee_margin) : most / (1 + knee_margin);
  std::optional<std::size_t> turn;
  std::size_t last = 0;
  bool least = true, smallest = false;
  for (const std::size_t i : rising) {
    if (!at[i]) continue;
    const bool near = !better(limit, *value(*at[i]->run));
    if (turn && !near) break;
    if (near) last = i;
    if (near && !turn) {
      turn = i;
      smallest = least;
    }
    least = false;
  }
  if (!turn) return "";
  const Entry& entry = *at[*turn];
  results::Point others = result_.points[entry.point];
  others.values.erase(axis.key);
  const std::string& first = axis.values[*turn].text;
  std::string line =
      fmt::format("knee{}: {} {}{} comes within {:.0f} % of the best {}, with {}{}, {}{}",
                  device.empty() ? "" : " on " + device, axis.key, first,
                  smallest ? ", the smallest tried," : " is the smallest value that",
                  100 * knee_margin, quantity(), spell(value(*entry.run)), by_time_ ? "" : " GB/s",
                  name(*entry.run), others.values.empty() ? "" : " at " + others.name());
  if (last != *turn) {
    line += fmt::format("; {} to {} are within {:.0f} % of the best", first, axis.values[last].text,
                        100 * knee_margin);
  }
  return line;
}

void Sweep::add_best(Blocks& blocks, const std::string& device) const {
  constexpr std::size_t most_listed = 8;
  const auto found = best(device);
  if (!found) return;
  const std::string on = device.empty() ? "" : " on " + device;
  Text text;
  text.lines.push_back(fmt::format("best{}: {}{}, {} at {}", on, spell(value(*found->run)),
                                   by_time_ ? "" : " GB/s", name(*found->run),
                                   result_.points[found->point].name()));
  std::vector<std::string> listed;
  const std::vector<Entry> same = ties(device);
  for (const Entry& entry : same) {
    if (listed.size() < most_listed) listed.push_back(result_.points[entry.point].name());
  }
  if (same.size() > most_listed)
    listed.push_back(fmt::format("{} more", same.size() - most_listed));
  if (!same.empty()) {
    text.lines.push_back(fmt::format(
        "ties{}, {}: {}", on,
        result_.predicts() ? "as fast as the best" : "whose intervals overlap the best one's",
        fmt::join(listed, "; ")));
  }
  if (std::string line = knee(device, *found); !line.empty()) text.lines.push_back(std::move(line));
  blocks.push_back({std::move(text)});
}

/// One picture per combination of the other keys: a curve per order over the first key.
void Sweep::add_charts(Blocks& blocks) const {
  const results::Axis& axis = axes_.front();
  for (std::size_t panel = 0; panel < combinations(); ++panel) {
    results::Point others = result_.points[panel];
    others.values.erase(axis.key);
    Chart chart{.title = others.values.empty() ? result_.title : others.name(),
                .x = {.name = axis.key},
                .y = {.name = by_time_ ? "time, s" : "GB/s", .log = by_time_}};
    double least = 0, most = 0;
    for (const results::Axis::Value& value : axis.values) {
      if (!axis.numeric()) chart.x.categories.push_back(value.text);
      least = least == 0 ? value.number.value_or(0) : std::min(least, value.number.value_or(0));
      most = std::max(most, value.number.value_or(0));
    }
    chart.x.log = axis.numeric() && least > 0 && most >= 8 * least;
    std::map<std::string, Chart::Series> curves;
    Chart::Series bounds{.name = "bound", .points = {}, .muted = true};
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
      const std::size_t point = i * combinations() + panel;
      const double x = axis.numeric() ? *axis.values[i].number : static_cast<double>(i);
      for (const Run* const run : runs_[point]) {
        const auto y = value(*run);
        if (!y) continue;
        const auto [lo, hi] = interval(*run);
        Chart::Series& curve = curves[series_of(*run)];
        curve.points.push_back({.x = x, .y = *y, .lo = lo, .hi = hi, .words = axis.values[i].text});
      }
      if (const auto y = bound(point)) bounds.points.push_back({.x = x, .y = *y});
    }
    for (const std::string& series : series()) {
      if (!curves.contains(series)) continue;
      curves[series].name = series;
      chart.series.push_back(std::move(curves[series]));
    }
    if (chart.series.empty()) continue;
    if (!bounds.points.empty()) chart.series.push_back(std::move(bounds));
    blocks.push_back({std::move(chart), Detail::page});
  }
}

/// The findings about noise, one line per cause.
void Sweep::add_noise(Blocks& blocks) const {
  struct Cause {
    int runs = 0;
    const results::Finding* first = nullptr;
  };
  std::vector<std::pair<std::string, Cause>> causes;
  for (const results::Finding& finding : result_.findings) {
    if (!experiment::is_noise(finding.cause)) continue;
    auto known = std::ranges::find(causes, finding.cause, [](const auto& c) { return c.first; });
    if (known == causes.end()) {
      known = causes.insert(causes.end(), {finding.cause, {.first = &finding}});
    }
    ++known->second.runs;
  }
  for (const auto& [cause, found] : causes) {
    const results::Finding& first = *found.first;
    const auto at = std::ranges::find_if(result_.points, [&](const results::Point& point) {
      return point.is(first.point, first.phase);
    });
    add_text(blocks, fmt::format("{} ({} of {} runs), first at {}, {}: {}", cause, found.runs,
                                 result_.runs.size(), at == result_.points.end() ? "" : at->name(),
                                 deck::to_string(first.order), first.text));
  }
}

}  // namespace

void add_sweep(Blocks& blocks, const Result& result) {
  if (result.runs.empty()) return;
  const Sweep sweep(result);
  sweep.add_charts(blocks);
  sweep.add_rows(blocks);
  for (const std::string& device : sweep.devices()) sweep.add_best(blocks, device);
  sweep.add_noise(blocks);
}

}  // namespace overlap::report
