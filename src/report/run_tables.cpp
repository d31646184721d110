#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "base/units.hpp"
#include "report/reports.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using base::format_change;
using base::format_number;
using base::format_percent;
using base::format_seconds;
using deck::Metric;
using results::Check;
using results::Run;

std::string giga(double value) { return format_number(1e-9 * value); }

std::string error_text(double value) { return fmt::format("{:.3g}", value); }
std::string two_digits(double value) { return fmt::format("{:.2f}", value); }
std::string three_digits(double value) { return fmt::format("{:.3f}", value); }

void add_host_work(Blocks& blocks, const results::Point& point) {
  Table table{.title = "host work while the device works",
              .columns = {"order", "work", "hidden", "95 % interval"}};
  for (const Run& run : point.runs) {
    const auto& hidden = run.value(Metric::host_work_hidden);
    if (!hidden || !run.host_work) continue;
    const base::Summary work_s = base::summarize(run.host_work->samples_s);
    table.rows.push_back({name(run), format_seconds(work_s.median), median(hidden, format_percent),
                          interval(hidden, format_percent)});
  }
  add(blocks, std::move(table));
}

void add_disturbances(Blocks& blocks, const results::Point& point) {
  Table table{.title = "compared with the undisturbed runs",
              .columns = {"disturbed order", "loss", "95 % interval"}};
  for (const Run& run : point.runs) {
    const auto loss = results::disturbance_loss(run, point.runs);
    if (!loss) continue;
    table.rows.push_back({name(run), median(loss, format_change), interval(loss, format_change)});
  }
  add(blocks, std::move(table));
}

void add_issuing(Blocks& blocks, const results::Point& point) {
  Table table{.title = "the host, per repetition",
              .columns = {"order", "issue time", "per task", "capture time", "instantiation time",
                          "polls"}};
  const auto time = [](const auto& costs, auto part) {
    return costs ? format_seconds((*costs).*part) : "-";
  };
  for (const Run& run : point.runs) {
    if (!run.issue) continue;
    const auto polls = static_cast<double>(run.polls) / static_cast<double>(run.repetitions);
    table.rows.push_back({name(run), format_seconds(run.issue->median),
                          format_seconds(run.issue->median / static_cast<double>(run.tasks)),
                          time(run.graph, &results::GraphCosts::capture_s),
                          time(run.graph, &results::GraphCosts::instantiate_s),
                          run.polls > 0 ? format_number(polls) : "-"});
  }
  add(blocks, std::move(table), Detail::verbose);
}

void add_products(Blocks& blocks, const results::Point& point) {
  Table table{
      .columns = {
          "order", "Gflop/s", {"95 % interval", 1}, {"of kernels", 2}, "to the device", "back"}};
  for (const Run& run : point.runs) {
    if (!run.product || !run.product->flops_per_s) continue;
    const auto& rate = run.product->flops_per_s;
    if (table.title.empty() && run.bounds && run.rates && run.product->host_tiles == 0) {
      const double flops = run.product->flops;
      const bool compute = run.bounds->limit == "SM" || run.bounds->limit == "workers";
      table.title = fmt::format(
          "matrix product: {} Gflop, {} flop per byte over the link; kernels alone {}, {} Gflop/s; "
          "{}-bound, at most {} Gflop/s",
          giga(flops), format_number(flops / static_cast<double>(run.bytes())),
          format_seconds(run.rates->kernel_s), giga(flops / run.rates->kernel_s),
          compute ? "compute" : "transfer", giga(flops / run.bounds->bound_s));
    }
    table.rows.push_back(
        {name(run), median(rate, giga), interval(rate, giga),
         run.rates ? format_percent(run.rates->kernel_s / results::time_s(run).median) : "-",
         base::format_bytes(run.h2d_bytes), base::format_bytes(run.d2h_bytes)});
  }
  add(blocks, std::move(table));
}

void add_rates(Blocks& blocks, const results::Point& point) {
  Table table{
      .title = "rates, measured between the runs",
      .columns = {"chunks", "H2D GB/s", "D2H GB/s", "both GB/s", "kernels", "during copies"}};
  const auto rate = [](std::int64_t bytes, double seconds) {
    return bytes > 0 && seconds > 0 ? giga(static_cast<double>(bytes) / seconds) : "-";
  };
  std::set<std::int64_t> seen;
  for (const Run& run : point.runs) {
    if (!run.rates || !seen.insert(run.chunks).second) continue;
    const auto& slower = run.rates->kernel_beside_copies;
    table.rows.push_back({run.chunks, rate(run.h2d_bytes, run.rates->h2d_s),
                          rate(run.d2h_bytes, run.rates->d2h_s),
                          rate(run.bytes(), run.rates->both_s), format_seconds(run.rates->kernel_s),
                          slower ? format_change(*slower - 1) : "-"});
  }
  add(blocks, std::move(table), Detail::verbose);
}

void add_bounds(Blocks& blocks, const results::Point& point) {
  Table table{
      .columns = {"order", "bound", "of time", {"schedule bound", 1}, "efficiency", "limited by"}};
  for (const Run& run : point.runs) {
    if (!run.bounds) continue;
    const model::Bounds& bounds = *run.bounds;
    if (table.title.empty()) {
      table.title = "bounds: " + format_seconds(bounds.serial_s) + " without overlap";
      if (bounds.one_engine_s > 0) {
        table.title += ", " + format_seconds(bounds.one_engine_s) + " with one copy engine";
      }
      if (bounds.two_engines_s > 0) {
        table.title += ", " + format_seconds(bounds.two_engines_s) + " with two";
      }
    }
    table.rows.push_back({name(run), format_seconds(bounds.bound_s),
                          median(run.value(Metric::bound_fraction), format_percent),
                          format_seconds(bounds.schedule_bound_s),
                          median(results::shown_efficiency(run, point.runs), three_digits),
                          bounds.limit});
  }
  add(blocks, std::move(table));
}

void add_link(Blocks& blocks, const results::Point& point) {
  if (!point.device.link) return;
  Table table{.title = "the link, copies of " + base::format_bytes(point.device.link->bytes),
              .columns = {"metric", "GB/s", "95 % interval"}};
  for (const deck::MetricRow& row : deck::device_metrics) {
    const auto rate = results::value(row.value, point.device);
    if (row.needs != deck::Needs::link || !rate) continue;
    table.rows.push_back({row.name, median(rate, format_number), interval(rate, format_number)});
  }
  add(blocks, std::move(table));
}

std::string throttling(const std::optional<results::ThrottledTime>& time) {
  if (!time) return "throttling unknown";
  std::vector<std::string> found;
  for (const base::ThrottleRow& row : base::throttles) {
    const double seconds = time->by_reason_s[static_cast<std::size_t>(row.value)];
    if (!row.slows || seconds == 0) continue;
    found.push_back(fmt::format("{} for {}", row.name, format_seconds(seconds)));
  }
  return found.empty() ? "not throttled" : fmt::format("throttled by {}", fmt::join(found, ", "));
}

void add_health(Blocks& blocks, const results::Point& point) {
  if (!point.device.health) return;
  const results::HealthRecord& health = *point.device.health;
  Table table{.title = "health of the device: " + throttling(health.throttled),
              .columns = {"",
                          "link",
                          "replays",
                          "ECC errors",
                          "SM clock",
                          {"memory clock", 1},
                          "temperature",
                          "power"}};
  const auto number = [](const auto& value, const char* unit = "") {
    return value ? fmt::format("{}{}", *value, unit) : std::string("-");
  };
  const auto add_row = [&](const char* when, const base::Health& h) {
    const bool ecc = h.ecc_corrected && h.ecc_uncorrected;
    table.rows.push_back(
        {when, base::spell_link(h.pcie_gen, h.pcie_width).value_or("-"), number(h.pcie_replays),
         ecc ? fmt::format("{}", *h.ecc_corrected + *h.ecc_uncorrected) : "-",
         number(h.sm_clock_mhz, " MHz"), number(h.memory_clock_mhz, " MHz"),
         number(h.temperature_c, " C"), h.power_w ? fmt::format("{:.0f} W", *h.power_w) : "-"});
  };
  add_row("before", health.before);
  add_row("after", health.after);
  add(blocks, std::move(table));
}

void add_findings(Blocks& blocks, const results::Point& point) {
  Table table{.columns = {"", ""}};
  for (const results::Finding& finding : point.findings) {
    Run run{.order = finding.order, .disturbance = finding.disturbance};
    if (finding.host_work) run.host_work.emplace();
    table.rows.push_back({name(run), finding.text});
  }
  add(blocks, std::move(table));
}

}  // namespace

void add_orders(Blocks& blocks, const results::Point& point) {
  Table table{.columns = {"order",
                          {"lanes", 5},
                          {"tasks", 6},
                          "median",
                          {"95 % interval", 1},
                          "GB/s",
                          "speed-up",
                          {"predicted", 2},
                          {"error", 3},
                          {"max error", 4},
                          "verdict"}};
  for (const Run& run : point.runs) {
    if (!run.ran()) continue;
    const base::Summary time = results::time_s(run);
    const std::string verdict(results::run_verdict(run, point.checks));
    const auto error = [&](double predicted_s) {
      return format_change(predicted_s / time.median - 1);
    };
    table.rows.push_back(
        {name(run), run.lanes, run.tasks, format_seconds(time.median),
         interval(time, format_seconds), median(run.value(Metric::throughput), format_number),
         median(run.value(Metric::speedup), two_digits), text_if(run.predicted_s, format_seconds),
         text_if(run.predicted_s, error), median(run.value(Metric::max_error), error_text),
         Cell(verdict, tone_of(verdict))});
  }
  add(blocks, std::move(table));
}

void add_predictions(Blocks& blocks, const results::Point& point,
                     const std::vector<std::string>& devices) {
  Table table{.columns = {"order"}};
  for (const std::string& device : devices) {
    table.columns.insert(table.columns.end(), {device, "speed-up"});
  }
  for (const Run& run : point.runs) {
    const std::string order = name(run);
    auto row = std::ranges::find_if(table.rows,
                                    [&](const auto& cells) { return cells.front().text == order; });
    if (row == table.rows.end()) row = table.rows.insert(row, {Cell(order)});
    const bool compared = results::baseline_of(run, point.runs) != nullptr;
    const auto faster = results::predicted(Metric::speedup, run, point.runs);
    row->push_back(text_if(run.predicted_s, format_seconds));
    row->push_back(compared ? median(faster, two_digits) : "-");
  }
  for (auto& row : table.rows) row.resize(table.columns.size(), Cell("-"));
  add(blocks, std::move(table));
}

void add_checks(Blocks& blocks, const results::Point& point) {
  Table table{.columns = {"criterion", "order", "value", "95 % interval", "verdict"}};
  std::vector<double> medians;  // of the checks in the last row
  for (const Check& check : point.checks) {
    std::vector<Cell> row = {
        fmt::format("{} {}", deck::to_string(check.key.metric), results::limit_text(check)),
        fmt::format("{}{}{}", order_name(check.key), check.device.empty() ? "" : " on ",
                    check.device),
        std::isnan(check.value.median) ? "unknown" : format_number(check.value.median),
        std::isnan(check.value.median) || !check.device.empty()
            ? "-"
            : interval(check.value, format_number),
        check.verdict};
    const bool joins = !table.rows.empty() && check.device.empty() &&
                       check.verdict == results::Verdict::pass &&
                       table.rows.back().front().text == row.front().text &&
                       table.rows.back().back().text == row.back().text;
    if (!joins) {
      table.rows.push_back(std::move(row));
      medians = {check.value.median};
      continue;
    }
    medians.push_back(check.value.median);
    const auto [least, most] = std::ranges::minmax(medians);
    std::vector<Cell>& joined = table.rows.back();
    joined[1] = fmt::format("{} orders", medians.size());
    joined[2] = fmt::format("{} .. {}", format_number(least), format_number(most));
    joined[3] = "-";
  }
  add(blocks, std::move(table));
}

void add_details(Blocks& blocks, const results::Point& point) {
  if (!point.ran()) return;
  add_host_work(blocks, point);
  add_disturbances(blocks, point);
  add_issuing(blocks, point);
  add_products(blocks, point);
  add_rates(blocks, point);
  add_bounds(blocks, point);
  add_link(blocks, point);
  add_health(blocks, point);
  add_findings(blocks, point);
  for (const Run& run : point.runs) {
    const bool counted = !run.stopped || run.stopped->reason == results::StopReason::repetitions;
    if (counted) continue;
    add(blocks, "stopped: " + results::stop_text(*run.stopped));
    break;
  }
}

}  // namespace overlap::report
