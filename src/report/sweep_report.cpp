#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

/// How much slower than the best a point may be at the knee.
constexpr double knee_margin = 0.05;

/// The points of a sweep on one device.
class Sweep {
 public:
  /// `device`: of several that are predicted; empty: there is one.
  Sweep(const Result& result, std::string device)
      : result_(result), device_(std::move(device)), axes_(result.axes()) {
    std::set<std::int64_t> bytes;
    std::set<double> flops;  // how many bytes a product copies depends on how it is cut
    for (const Run& run : result.runs) {
      bytes.insert(run.bytes());
      flops.insert(run.product ? run.product->flops : 0);
    }
    by_time_ = bytes.size() < 2 || (flops.size() == 1 && *flops.begin() > 0);
    for (const results::PointRuns& at : result.by_point()) {
      results::Runs& runs = points_.emplace_back(at.runs);
      std::erase_if(runs,
                    [&](const Run* run) { return !device_.empty() && run->device != device_; });
      for (const Run* const run : runs) {
        const std::string order = name(*run);
        if (std::ranges::find(orders_, order) == orders_.end()) orders_.push_back(order);
      }
      best_.push_back(best_of(runs));
    }
  }

  void add_charts(Blocks& blocks) const;
  void add_points(Blocks& blocks) const;
  void add_best(Blocks& blocks) const;

 private:
  /// What points are compared by: time, or GB/s where they copy different amounts.
  std::optional<double> value(const Run& run, std::optional<double> seconds) const {
    if (!seconds || !(*seconds > 0) || (!by_time_ && run.bytes() == 0)) return std::nullopt;
    return by_time_ ? *seconds : 1e-9 * static_cast<double>(run.bytes()) / *seconds;
  }
  std::optional<double> value(const Run& run) const {
    return value(run, run.ran() ? std::optional(results::time_s(run).median) : run.predicted_s);
  }
  bool better(double a, double b) const { return by_time_ ? a < b : a > b; }
  std::string quantity() const { return by_time_ ? "time" : "GB/s"; }
  std::string spell(std::optional<double> v) const {
    return text_if(v, by_time_ ? base::format_seconds : base::format_number);
  }
  std::string with_unit(const Run& run) const {
    return spell(value(run)) + (by_time_ ? "" : " GB/s");
  }

  /// The best run; null: none has a value.
  const Run* best_of(const results::Runs& runs) const {
    const Run* best = nullptr;
    for (const Run* const run : runs) {
      if (run == nullptr || !value(*run)) continue;
      if (best == nullptr || better(*value(*run), *value(*best))) best = run;
    }
    return best;
  }
  std::pair<double, double> interval_of(const Run& run) const {
    if (!run.ran()) return {*value(run), *value(run)};
    const base::Summary time = results::time_s(run);
    return std::minmax({*value(run, time.lo), *value(run, time.hi)});
  }
  bool ties(const Run& a, const Run& b) const {
    return interval_of(a).first <= interval_of(b).second &&
           interval_of(b).first <= interval_of(a).second;
  }
  std::optional<double> bound(std::size_t point) const {
    std::optional<double> least;
    for (const Run* const run : points_[point]) {
      const auto here = run->bounds ? value(*run, run->bounds->bound_s) : std::nullopt;
      if (here && (!least || better(*here, *least))) least = here;
    }
    return least;
  }
  const Run* run_of(const std::string& order, std::size_t point) const {
    const auto found =
        std::ranges::find(points_[point], order, [](const Run* run) { return name(*run); });
    return found == points_[point].end() ? nullptr : *found;
  }
  /// Points per value of the first key.
  std::size_t combinations() const { return points_.size() / axes_.front().values.size(); }
  /// The values of the other keys at a point.
  std::string others(std::size_t point) const {
    results::Point others = result_.points[point];
    others.values.erase(axes_.front().key);
    return others.name();
  }
  std::size_t place_of(const Run* run) const {
    return static_cast<std::size_t>(std::ranges::find(best_, run) - best_.begin());
  }
  std::string knee(const Run& fastest) const;

  const Result& result_;
  std::string device_;
  std::vector<results::Axis> axes_;
  std::vector<results::Runs> points_;
  std::vector<const Run*> best_;  // of each point
  std::vector<std::string> orders_;
  bool by_time_ = true;
};

void Sweep::add_points(Blocks& blocks) const {
  const Run* const fastest = best_of(best_);
  Table table{.title = fmt::format("{} {}{}", result_.predicts() ? "predicted" : "median",
                                   by_time_ ? "times" : "GB/s, both directions",
                                   device_.empty() ? "" : " on " + device_)};
  for (const results::Axis& axis : axes_) table.columns.emplace_back(axis.key);
  int drop = static_cast<int>(orders_.size());
  for (const std::string& order : orders_) table.columns.emplace_back(order, drop--);
  table.columns.insert(table.columns.end(), {"bound", "fastest", quantity(), "mark"});
  for (std::size_t point = 0; point < points_.size(); ++point) {
    if (points_[point].empty()) continue;
    auto& cells = table.rows.emplace_back();
    const results::Point& at = result_.points[point];
    for (const auto& [key, value] : at.values.items()) cells.emplace_back(at.spelled(key));
    for (const std::string& order : orders_) {
      const Run* const run = run_of(order, point);
      cells.emplace_back(run == nullptr ? "-" : spell(value(*run)));
    }
    const Run* const best = best_[point];
    cells.emplace_back(spell(bound(point)));
    cells.emplace_back(best == nullptr ? "-" : name(*best));
    cells.emplace_back(best == nullptr ? "-" : spell(value(*best)));
    cells.emplace_back(best == nullptr         ? ""
                       : best == fastest       ? "best"
                       : ties(*best, *fastest) ? "tie"
                                               : "");
  }
  add(blocks, std::move(table));
}

/// "knee: chunks.count 8 is the smallest value that comes within 5 % of the best ...".
std::string Sweep::knee(const Run& fastest) const {
  const results::Axis& axis = axes_.front();
  struct Tried {
    const results::Axis::Value* value;
    const Run* best;
  };
  std::vector<Tried> tried;
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const auto first = best_.begin() + static_cast<std::ptrdiff_t>(i * combinations());
    const Run* const best = best_of({first, first + static_cast<std::ptrdiff_t>(combinations())});
    if (best != nullptr) tried.push_back({&axis.values[i], best});
  }
  if (!axis.numeric() || tried.size() < 2) return "";
  std::ranges::sort(tried, {}, [](const Tried& one) { return *one.value->number; });
  const double most = *value(fastest);
  const double limit = by_time_ ? most * (1 + knee_margin) : most / (1 + knee_margin);
  const auto near = [&](const Tried& one) { return !better(limit, *value(*one.best)); };
  const auto turn = std::ranges::find_if(tried, near);
  const auto last = std::prev(std::find_if_not(turn, tried.end(), near));
  const std::string place = others(place_of(turn->best));
  std::string line =
      fmt::format("knee{}: {} {}{} comes within {:.0f} % of the best {}, with {}, {}{}",
                  device_.empty() ? "" : " on " + device_, axis.key, turn->value->text,
                  turn == tried.begin() ? ", the smallest tried," : " is the smallest value that",
                  100 * knee_margin, quantity(), with_unit(*turn->best), name(*turn->best),
                  place.empty() ? "" : " at " + place);
  if (last != turn) {
    line += fmt::format("; {} to {} are within {:.0f} % of the best", turn->value->text,
                        last->value->text, 100 * knee_margin);
  }
  return line;
}

void Sweep::add_best(Blocks& blocks) const {
  constexpr std::size_t most_listed = 8;
  const Run* const fastest = best_of(best_);
  if (fastest == nullptr) return;
  const std::string on = device_.empty() ? "" : " on " + device_;
  Text text{.lines = {fmt::format("best{}: {}, {} at {}", on, with_unit(*fastest), name(*fastest),
                                  result_.points[place_of(fastest)].name())}};
  std::vector<std::string> same;
  for (std::size_t point = 0; point < points_.size(); ++point) {
    const Run* const best = best_[point];
    if (best == nullptr || best == fastest || !ties(*best, *fastest)) continue;
    same.push_back(result_.points[point].name());
  }
  if (same.size() > most_listed) {
    const std::size_t more = same.size() - most_listed;
    same.resize(most_listed);
    same.push_back(fmt::format("{} more", more));
  }
  if (!same.empty()) {
    text.lines.push_back(fmt::format(
        "ties{}, {}: {}", on,
        result_.predicts() ? "as fast as the best" : "whose intervals overlap the best one's",
        fmt::join(same, "; ")));
  }
  if (std::string line = knee(*fastest); !line.empty()) text.lines.push_back(std::move(line));
  blocks.push_back({std::move(text)});
}

/// One picture per combination of the other keys: a curve per order over the first key.
void Sweep::add_charts(Blocks& blocks) const {
  const results::Axis& axis = axes_.front();
  const auto [least, most] = std::ranges::minmax(
      axis.values, {}, [](const results::Axis::Value& value) { return value.number.value_or(0); });
  for (std::size_t panel = 0; panel < combinations(); ++panel) {
    const std::string place = others(panel);
    Chart chart{.title = (place.empty() ? result_.title : place) +
                         (device_.empty() ? "" : " on " + device_),
                .x = {.name = axis.key},
                .y = {.name = by_time_ ? "time, s" : "GB/s", .log = by_time_}};
    chart.x.log = axis.numeric() && *least.number > 0 && *most.number >= 8 * *least.number;
    if (!axis.numeric()) {
      for (const results::Axis::Value& value : axis.values) {
        chart.x.categories.push_back(value.text);
      }
    }
    Chart::Series bounds{.name = "bound", .muted = true};
    for (const std::string& order : orders_) chart.series.push_back({.name = order});
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
      const std::size_t point = i * combinations() + panel;
      const double x = axis.numeric() ? *axis.values[i].number : static_cast<double>(i);
      for (Chart::Series& curve : chart.series) {
        const Run* const run = run_of(curve.name, point);
        if (run == nullptr || !value(*run)) continue;
        const auto [lo, hi] = interval_of(*run);
        curve.points.push_back(
            {.x = x, .y = *value(*run), .lo = lo, .hi = hi, .words = axis.values[i].text});
      }
      if (const auto y = bound(point)) bounds.points.push_back({.x = x, .y = *y});
    }
    chart.series.push_back(std::move(bounds));
    std::erase_if(chart.series, [](const Chart::Series& one) { return one.points.empty(); });
    if (!chart.series.empty()) blocks.push_back({std::move(chart), Detail::page});
  }
}

/// The findings about noise, one line per cause.
void add_noise(Blocks& blocks, const Result& result) {
  std::set<std::string> seen;
  for (const results::Finding& first : result.findings) {
    if (!experiment::is_noise(first.cause) || !seen.insert(first.cause).second) continue;
    const auto runs = std::ranges::count(result.findings, first.cause, &results::Finding::cause);
    const auto at = std::ranges::find_if(result.points, [&](const results::Point& point) {
      return point.is(first.point, first.phase);
    });
    add(blocks, fmt::format("{} ({} of {} runs), first at {}, {}: {}", first.cause, runs,
                            result.runs.size(), at == result.points.end() ? "" : at->name(),
                            deck::to_string(first.order), first.text));
  }
}

}  // namespace

void add_sweep(Blocks& blocks, const Result& result) {
  if (result.runs.empty()) return;
  const bool several = result.predicted_for.size() > 1;
  for (const std::string& device : several ? result.predicted_for : std::vector<std::string>{""}) {
    const Sweep sweep(result, device);
    sweep.add_charts(blocks);
    sweep.add_points(blocks);
    sweep.add_best(blocks);
  }
  add_noise(blocks, result);
}

}  // namespace overlap::report
