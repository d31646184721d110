#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/units.hpp"
#include "experiment/diagnosis.hpp"
#include "report/reports.hpp"
#include "results/metrics.hpp"

/// Sweeps: one row per point, the best point of each device, and where more of a key brings no
/// more.
namespace overlap::report {
namespace {

using results::Result;
using results::Run;

/// How much slower than the best a point may be at the knee.
constexpr double knee_margin = 0.05;

/// A run with its time or, where points copy different amounts of data, its time per GB.
struct SweepEntry {
  const Run* run;
  std::size_t point;
  double cost, lo, hi;

  bool ties(const SweepEntry& other) const { return lo <= other.hi && other.lo <= hi; }
};

/// The points of a sweep on one device.
class Sweep {
 public:
  /// `device`: of several that are predicted; empty: there is one.
  Sweep(const Result& result, const std::string& device)
      : result_(result),
        on_device_(device.empty() ? "" : " on " + device),
        axis_(result.axes().front()),
        combinations_(result.points.size() / axis_.values.size()) {
    std::set<std::int64_t> bytes;
    std::set<double> flops;  // how many bytes a product copies depends on how it is cut
    for (const results::Point& swept : result.points) {
      for (const Run& run : swept.runs) {
        bytes.insert(run.bytes());
        flops.insert(run.product ? run.product->flops : 0);
      }
    }
    const bool cuts = std::ranges::any_of(result.axes(), [](const results::Axis& axis) {
      return axis.key.starts_with("chunks.") || axis.key.starts_with("workload.tile_");
    });
    const auto& lacking = result.without_latencies;
    ranks_ = !cuts || std::ranges::none_of(lacking, [&](const std::string& name) {
      return device.empty() || name == device;
    });
    by_time_ = bytes.size() < 2 || (flops.size() == 1 && *flops.begin() > 0);
    for (const results::Point& swept : result.points) {
      points_.emplace_back();
      bounds_.emplace_back();
      for (const Run& run : swept.runs) {
        if (device.empty() || run.device == device) add(run);
      }
    }
  }

  void add_charts(Blocks& blocks) const;
  void add_points(Blocks& blocks) const;
  void add_best(Blocks& blocks) const;

 private:
  void add(const Run& run) {
    const std::string order = name(run);
    if (std::ranges::find(orders_, order) == orders_.end()) orders_.push_back(order);
    const double unit = by_time_ ? 1 : 1e-9 * static_cast<double>(run.bytes());
    const double predicted_s = run.predicted_s.value_or(0);
    const base::Summary time =
        run.ran() ? results::time_s(run)
                  : base::Summary{.median = predicted_s, .lo = predicted_s, .hi = predicted_s};
    if (unit == 0 || !(time.median > 0)) return;
    points_.back().push_back(
        {&run, points_.size() - 1, time.median / unit, time.lo / unit, time.hi / unit});
    auto& bound = bounds_.back();
    if (run.bounds && run.bounds->bound_s > 0) {
      bound = std::min(bound.value_or(run.bounds->bound_s / unit), run.bounds->bound_s / unit);
    }
  }
  double shown(double cost) const { return by_time_ ? cost : 1 / cost; }
  std::string spell(double cost) const {
    return by_time_ ? base::format_seconds(cost) : base::format_number(1 / cost);
  }
  std::string with_unit(const SweepEntry& entry) const {
    return spell(entry.cost) + (by_time_ ? "" : " GB/s");
  }
  /// The best run of some points; null: none has a value.
  const SweepEntry* best(std::size_t first, std::size_t count) const {
    const SweepEntry* best = nullptr;
    for (std::size_t point = first; point < first + count; ++point) {
      for (const SweepEntry& entry : points_[point]) {
        if (best == nullptr || entry.cost < best->cost) best = &entry;
      }
    }
    return best;
  }
  const SweepEntry* find(const std::string& order, std::size_t point) const {
    const auto found = std::ranges::find(points_[point], order,
                                         [](const SweepEntry& entry) { return name(*entry.run); });
    return found == points_[point].end() ? nullptr : &*found;
  }
  /// The orders by their best points.
  std::vector<std::string> orders_by_cost() const {
    const auto least = [&](const std::string& order) {
      double cost = std::numeric_limits<double>::infinity();
      for (std::size_t point = 0; point < points_.size(); ++point) {
        if (const SweepEntry* const entry = find(order, point)) cost = std::min(cost, entry->cost);
      }
      return cost;
    };
    std::vector<std::string> orders = orders_;
    std::ranges::stable_sort(orders, {}, least);
    return orders;
  }
  /// The values of the other keys at a point.
  std::string other_keys(std::size_t point) const {
    const results::Point& swept = result_.points[point];
    results::Point rest{.values = swept.values, .text = swept.text};
    rest.values.erase(axis_.key);
    return rest.name();
  }
  std::string knee(const SweepEntry& fastest) const;

  const Result& result_;
  std::string on_device_;
  results::Axis axis_;        // the first
  std::size_t combinations_;  // points per value of it
  std::vector<std::vector<SweepEntry>> points_;
  std::vector<std::optional<double>> bounds_;  // the best of each point
  std::vector<std::string> orders_;
  bool by_time_ = true;
  bool ranks_ = true;  // unless more chunks never cost time
};

void Sweep::add_points(Blocks& blocks) const {
  const SweepEntry* const fastest = best(0, points_.size());
  Table table{.title = fmt::format("{} {}{}", result_.predicts() ? "predicted" : "median",
                                   by_time_ ? "times" : "GB/s, both directions", on_device_)};
  for (const results::Axis& axis : result_.axes()) table.columns.emplace_back(axis.key);
  // The order that wins goes last, those that are never near first.
  const std::vector<std::string> ranking = orders_by_cost();
  for (const std::string& order : orders_) {
    const auto rank = std::ranges::find(ranking, order) - ranking.begin();
    table.columns.emplace_back(order, rank == 0 ? 1 : static_cast<int>(rank) + 2);
  }
  table.columns.insert(table.columns.end(),
                       {{"bound", 2}, "fastest", by_time_ ? "time" : "GB/s", "mark"});
  for (std::size_t point = 0; point < points_.size(); ++point) {
    const SweepEntry* const entry = best(point, 1);
    if (entry == nullptr) continue;
    auto& cells = table.rows.emplace_back();
    const results::Point& swept = result_.points[point];
    for (const auto& [key, value] : swept.values.items()) cells.emplace_back(swept.spelled(key));
    for (const std::string& order : orders_) {
      const SweepEntry* const order_entry = find(order, point);
      cells.emplace_back(order_entry == nullptr ? "-" : spell(order_entry->cost));
    }
    cells.insert(cells.end(), {text_if(bounds_[point], [&](double cost) { return spell(cost); }),
                               name(*entry->run), spell(entry->cost),
                               !ranks_                 ? ""
                               : entry == fastest      ? "best"
                               : entry->ties(*fastest) ? "tie"
                                                       : ""});
  }
  report::add(blocks, std::move(table));
}

/// "knee: chunks.count 8 is the smallest value that comes within 5 % of the best ...".
std::string Sweep::knee(const SweepEntry& fastest) const {
  std::vector<std::pair<const results::Axis::Value*, const SweepEntry*>> tried;
  for (std::size_t i = 0; i < axis_.values.size(); ++i) {
    const SweepEntry* const entry = best(i * combinations_, combinations_);
    if (entry != nullptr) tried.emplace_back(&axis_.values[i], entry);
  }
  if (!axis_.numeric() || tried.size() < 2) return "";
  std::ranges::sort(tried, {}, [](const auto& value) { return *value.first->number; });
  const auto near = [&](const auto& value) {
    return value.second->cost <= fastest.cost * (1 + knee_margin);
  };
  const auto turn = std::ranges::find_if(tried, near);
  const auto last = std::prev(std::find_if_not(turn, tried.end(), near));
  const auto& [value, entry] = *turn;
  const std::string place = other_keys(entry->point);
  std::string line = fmt::format(
      "knee{}: {} {}{} comes within {:.0f} % of the best {}, with {}, {}{}", on_device_, axis_.key,
      value->text, turn == tried.begin() ? ", the smallest tried," : " is the smallest value that",
      100 * knee_margin, by_time_ ? "time" : "GB/s", with_unit(*entry), name(*entry->run),
      place.empty() ? "" : " at " + place);
  if (last != turn) {
    line += fmt::format("; {} to {} are within {:.0f} % of the best", value->text,
                        last->first->text, 100 * knee_margin);
  }
  return line;
}

void Sweep::add_best(Blocks& blocks) const {
  constexpr std::size_t most_listed = 8;
  const SweepEntry* const fastest = best(0, points_.size());
  if (fastest == nullptr) return;
  if (!ranks_) {
    report::add(blocks, fmt::format("no best{}: the device file has no latencies, so more chunks "
                                    "never cost time",
                                    on_device_));
    return;
  }
  Text text{.lines = {fmt::format("best{}: {}, {} at {}", on_device_, with_unit(*fastest),
                                  name(*fastest->run), result_.points[fastest->point].name())}};
  std::vector<std::string> same;
  for (std::size_t point = 0; point < points_.size(); ++point) {
    const SweepEntry* const entry = best(point, 1);
    if (entry == nullptr || entry == fastest || !entry->ties(*fastest)) continue;
    same.push_back(result_.points[point].name());
  }
  if (same.size() > most_listed) {
    const std::size_t more = same.size() - most_listed;
    same.resize(most_listed);
    same.push_back(fmt::format("{} more", more));
  }
  if (!same.empty()) {
    text.lines.push_back(fmt::format(
        "ties{}, {}: {}", on_device_,
        result_.predicts() ? "as fast as the best" : "whose intervals overlap the best one's",
        fmt::join(same, "; ")));
  }
  if (std::string line = knee(*fastest); !line.empty()) text.lines.push_back(std::move(line));
  blocks.push_back({std::move(text)});
}

/// One picture per combination of the other keys, all on one scale: a curve per order over the
/// first key.
void Sweep::add_charts(Blocks& blocks) const {
  const bool numeric = axis_.numeric();
  const SweepEntry* const fastest = ranks_ ? best(0, points_.size()) : nullptr;
  const auto [least, most] = std::ranges::minmax(
      axis_.values, {}, [](const results::Axis::Value& value) { return value.number.value_or(0); });
  Chart::Axis x{.name = axis_.key}, y{.name = by_time_ ? "time, s" : "GB/s", .log = by_time_};
  x.log = numeric && *least.number > 0 && *most.number >= 8 * *least.number;
  if (numeric) x.includes = {*least.number, *most.number};
  for (const results::Axis::Value& value : axis_.values) {
    if (!numeric) x.categories.push_back(value.text);
  }
  for (std::size_t point = 0; point < points_.size(); ++point) {
    for (const SweepEntry& entry : points_[point]) {
      y.includes.insert(y.includes.end(), {shown(entry.lo), shown(entry.hi)});
    }
    if (bounds_[point]) y.includes.push_back(shown(*bounds_[point]));
  }
  if (y.includes.empty()) return;
  const auto [lowest, highest] = std::ranges::minmax(y.includes);
  y.includes = {lowest, highest};
  for (std::size_t panel = 0; panel < combinations_; ++panel) {
    const std::string place = other_keys(panel);
    Chart chart{.title = (place.empty() ? result_.title : place) + on_device_, .x = x, .y = y};
    Chart::Series bounds{.name = "bound", .muted = true};
    for (const std::string& order : orders_) chart.series.push_back({.name = order});
    for (std::size_t i = 0; i < axis_.values.size(); ++i) {
      const std::size_t point = i * combinations_ + panel;
      const double at = numeric ? *axis_.values[i].number : static_cast<double>(i);
      for (Chart::Series& curve : chart.series) {
        const SweepEntry* const entry = find(curve.name, point);
        if (entry == nullptr) continue;
        const auto [lo, hi] = std::minmax({shown(entry->lo), shown(entry->hi)});
        curve.points.push_back({.x = at,
                                .y = shown(entry->cost),
                                .lo = lo,
                                .hi = hi,
                                .label = axis_.values[i].text,
                                .name = entry == fastest ? "best" : ""});
      }
      if (bounds_[point]) bounds.points.push_back({.x = at, .y = shown(*bounds_[point])});
    }
    chart.series.push_back(std::move(bounds));
    std::erase_if(chart.series, [](const Chart::Series& curve) { return curve.points.empty(); });
    if (!chart.series.empty()) blocks.push_back({std::move(chart), Detail::page});
  }
}

/// The findings about noise, one line per cause.
void add_noise(Blocks& blocks, const Result& result) {
  struct Noise {
    std::string cause, first;
    int runs = 0;
  };
  std::vector<Noise> noise;
  std::size_t runs = 0;
  for (const results::Point& point : result.points) {
    runs += point.runs.size();
    for (const results::Finding& finding : point.findings) {
      if (!experiment::is_noise(finding.cause)) continue;
      auto found = std::ranges::find(noise, finding.cause, &Noise::cause);
      if (found == noise.end()) {
        const std::string_view order = deck::to_string(finding.order);
        found = noise.insert(
            found, {finding.cause, fmt::format("{}, {}: {}", point.name(), order, finding.text)});
      }
      ++found->runs;
    }
  }
  for (const auto& [cause, first, count] : noise) {
    add(blocks, fmt::format("{} ({} of {} runs), first at {}", cause, count, runs, first));
  }
}

}  // namespace

void add_sweep(Blocks& blocks, const Result& result) {
  if (std::ranges::all_of(result.points, [](const auto& point) { return point.runs.empty(); })) {
    return;
  }
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
