#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "base/units.hpp"
#include "report/run_phase.hpp"
#include "results/checks.hpp"

namespace overlap::report {
namespace {

using base::format_number;
using base::format_seconds;
using deck::Metric;
using results::Check;
using results::Run;

std::string interval(const base::Summary& s, std::string (*spell)(double)) {
  return fmt::format("{} .. {}", spell(s.lo), spell(s.hi));
}

std::string giga(double value) { return format_number(1e-9 * value); }

Tone tone_of(std::string_view verdict) {
  return verdict == "PASS" ? Tone::good : verdict == "INCONCLUSIVE" ? Tone::doubtful : Tone::bad;
}

std::string prediction(const Run& run) {
  if (!run.predicted_s) return "-";
  const auto uncertainty = results::uncertainty(run);
  return format_seconds(*run.predicted_s) +
         (uncertainty ? fmt::format(" ±{:.0f} %", 100 * *uncertainty) : "");
}

void add_host_work(Blocks& blocks, const Phase& phase) {
  Table table{.title = "host work while the device works",
              .columns = {text_column("order"), number_column("work"), number_column("hidden"),
                          number_column("95 % interval")}};
  for (const Run* const run : phase.runs) {
    const auto& hidden = run->value(Metric::host_work_hidden);
    if (!hidden) continue;
    table.rows.push_back(
        {name(*run), format_seconds(base::summarize(run->host_work_samples.samples_s).median),
         base::format_percent(hidden->median), interval(*hidden, base::format_percent)});
  }
  add_table(blocks, std::move(table));
}

void add_disturbances(Blocks& blocks, const Phase& phase) {
  Table table{.title = "compared with the undisturbed runs",
              .columns = {text_column("disturbed order"), number_column("loss"),
                          number_column("95 % interval")}};
  for (const Run* const run : phase.runs) {
    const auto loss = results::disturbance_loss(*run, phase.runs);
    if (!loss) continue;
    table.rows.push_back(
        {name(*run), base::format_change(loss->median), interval(*loss, base::format_change)});
  }
  add_table(blocks, std::move(table));
}

void add_issuing(Blocks& blocks, const Phase& phase) {
  Table table{
      .title = "the host, per repetition",
      .columns = {text_column("order"), number_column("issue time"), number_column("per task"),
                  number_column("capture time"), number_column("instantiation time"),
                  number_column("polls"), number_column("ring fill"), number_column("ring drain"),
                  number_column("threads", 1)}};
  for (const Run* const run : phase.runs) {
    if (!run->issue) continue;
    const auto time = [](const auto& costs, auto part) {
      return costs ? format_seconds((*costs).*part) : std::string("-");
    };
    const auto polls = static_cast<double>(run->polls) / static_cast<double>(run->repetitions);
    table.rows.push_back({name(*run), format_seconds(run->issue->median),
                          format_seconds(run->issue->median / static_cast<double>(run->tasks)),
                          time(run->graph, &results::GraphCosts::capture_s),
                          time(run->graph, &results::GraphCosts::instantiate_s),
                          run->polls > 0 ? format_number(polls) : "-",
                          time(run->staging, &results::StagingCosts::fill_s),
                          time(run->staging, &results::StagingCosts::drain_s),
                          run->staging ? fmt::format("{}", run->staging->threads) : "-"});
  }
  add_table(blocks, std::move(table), Detail::verbose);
}

void add_products(Blocks& blocks, const Phase& phase) {
  Table table{.columns = {text_column("order"), number_column("Gflop/s"),
                          number_column("95 % interval", 1), number_column("of kernels", 2),
                          number_column("to the device"), number_column("back")}};
  for (const Run* const run : phase.runs) {
    if (!run->product || !run->product->flops_per_s) continue;
    const base::Summary& rate = *run->product->flops_per_s;
    if (table.title.empty() && run->bounds && run->rates && run->product->host_tiles == 0) {
      const double flops = run->product->flops;
      const bool compute = run->bounds->limit == "SM" || run->bounds->limit == "workers";
      table.title = fmt::format(
          "matrix product: {} Gflop, {} flop per byte over the link; kernels alone {}, {} Gflop/s; "
          "{}-bound, at most {} Gflop/s",
          giga(flops), format_number(flops / static_cast<double>(run->bytes())),
          format_seconds(run->rates->kernel_s), giga(flops / run->rates->kernel_s),
          compute ? "compute" : "transfer", giga(flops / run->bounds->bound_s));
    }
    table.rows.push_back(
        {name(*run), giga(rate.median), interval(rate, giga),
         run->rates ? base::format_percent(run->rates->kernel_s / results::time_s(*run).median)
                    : "-",
         base::format_bytes(run->h2d_bytes), base::format_bytes(run->d2h_bytes)});
  }
  add_table(blocks, std::move(table));
}

void add_rates(Blocks& blocks, const Phase& phase) {
  Table table{.title = "rates, measured between the runs",
              .columns = {number_column("chunks"), number_column("H2D GB/s"),
                          number_column("D2H GB/s"), number_column("both GB/s"),
                          number_column("kernels"), number_column("during copies")}};
  std::set<std::int64_t> seen;
  for (const Run* const run : phase.runs) {
    if (!run->rates || !seen.insert(run->chunks).second) continue;
    const auto rate = [](std::int64_t bytes, double seconds) {
      return bytes > 0 && seconds > 0 ? giga(static_cast<double>(bytes) / seconds) : "-";
    };
    const auto& slower = run->rates->kernel_beside_copies;
    table.rows.push_back(
        {fmt::format("{}", run->chunks), rate(run->h2d_bytes, run->rates->h2d_s),
         rate(run->d2h_bytes, run->rates->d2h_s), rate(run->bytes(), run->rates->both_s),
         format_seconds(run->rates->kernel_s), slower ? fmt::format("x {:.3f}", *slower) : "-"});
  }
  add_table(blocks, std::move(table), Detail::verbose);
}

void add_bounds(Blocks& blocks, const Phase& phase) {
  Table table{.columns = {text_column("order"), number_column("bound"), number_column("of time"),
                          number_column("schedule bound", 1), number_column("efficiency"),
                          text_column("limited by")}};
  for (const Run* const run : phase.runs) {
    if (!run->bounds) continue;
    const model::Bounds& bounds = *run->bounds;
    if (table.title.empty()) {
      table.title = "bounds: " + format_seconds(bounds.serial_s) + " without overlap";
      if (bounds.one_engine_s > 0) {
        table.title += ", " + format_seconds(bounds.one_engine_s) + " with one copy engine";
      }
      if (bounds.two_engines_s > 0) {
        table.title += ", " + format_seconds(bounds.two_engines_s) + " with two";
      }
    }
    const auto& part = run->value(Metric::bound_fraction);
    const auto efficiency = results::shown_efficiency(*run, phase.runs);
    table.rows.push_back(
        {name(*run), format_seconds(bounds.bound_s),
         part ? base::format_percent(part->median) : "-", format_seconds(bounds.schedule_bound_s),
         efficiency ? fmt::format("{:.3f}", efficiency->median) : "-", bounds.limit});
  }
  add_table(blocks, std::move(table));
}

void add_link(Blocks& blocks, const Phase& phase) {
  Table table{
      .title = fmt::format("the link, copies of {}", base::format_bytes(phase.device.link_bytes)),
      .columns = {text_column("metric"), number_column("GB/s"), number_column("95 % interval")}};
  for (const deck::MetricRow& row : deck::device_metrics) {
    const auto rate = results::value(row.value, phase.device);
    if (row.needs != deck::Needs::link || !rate) continue;
    table.rows.push_back({row.name, format_number(rate->median), interval(*rate, format_number)});
  }
  add_table(blocks, std::move(table));
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

void add_health(Blocks& blocks, const Phase& phase) {
  if (!phase.device.health) return;
  const results::HealthRecord& health = *phase.device.health;
  Table table{.title = "health of the device: " + throttling(health.throttled),
              .columns = {text_column(""), text_column("link"), number_column("replays"),
                          number_column("ECC errors"), number_column("SM clock"),
                          number_column("memory clock", 1), number_column("temperature"),
                          number_column("power")}};
  const auto number = [](const auto& value, const char* unit = "") {
    return value ? fmt::format("{}{}", *value, unit) : std::string("-");
  };
  const auto add = [&](const char* when, const base::Health& h) {
    const bool ecc = h.ecc_corrected && h.ecc_uncorrected;
    table.rows.push_back(
        {when, base::spell_link(h.pcie_gen, h.pcie_width).value_or("-"), number(h.pcie_replays),
         ecc ? fmt::format("{}", *h.ecc_corrected + *h.ecc_uncorrected) : "-",
         number(h.sm_clock_mhz, " MHz"), number(h.memory_clock_mhz, " MHz"),
         number(h.temperature_c, " C"), h.power_w ? fmt::format("{:.0f} W", *h.power_w) : "-"});
  };
  add("before", health.before);
  add("after", health.after);
  add_table(blocks, std::move(table));
}

std::vector<const Check*> checks_of(const Phase& phase) {
  std::vector<const Check*> checks;
  for (const Check& check : phase.result.checks) {
    if (phase.point.is(check.point, check.phase)) checks.push_back(&check);
  }
  return checks;
}

void add_findings(Blocks& blocks, const Phase& phase) {
  Table table{.columns = {text_column(""), text_column("")}};
  for (const results::Finding& finding : phase.result.findings) {
    if (!phase.point.is(finding.point, finding.phase)) continue;
    Run run;
    run.order = finding.order;
    run.disturbance = finding.disturbance;
    run.host_work = finding.host_work;
    table.rows.push_back({name(run), finding.text});
  }
  add_table(blocks, std::move(table));
}

}  // namespace

void add_orders(Blocks& blocks, const Phase& phase) {
  Table table{.columns = {text_column("order"), number_column("lanes", 5),
                          number_column("tasks", 6), number_column("median"),
                          number_column("95 % interval", 1), number_column("GB/s"),
                          number_column("speed-up"), number_column("predicted", 2),
                          number_column("error", 3), number_column("max error", 4),
                          text_column("verdict")}};
  bool unexpected = false;
  for (const Run* const run : phase.runs) {
    if (!run->ran()) continue;
    const base::Summary time = results::time_s(*run);
    const auto& faster = run->value(Metric::speedup);
    const auto& throughput = run->value(Metric::throughput);
    const bool expected = results::as_expected(*run);
    unexpected = unexpected || !expected;
    const std::string verdict(results::run_verdict(*run, phase.result.checks));
    table.rows.push_back(
        {name(*run), fmt::format("{}", run->lanes), fmt::format("{}", run->tasks),
         format_seconds(time.median), interval(time, format_seconds),
         throughput ? format_number(throughput->median) : "-",
         faster ? fmt::format("{:.2f}", faster->median) : "-", prediction(*run),
         run->predicted_s
             ? base::format_change(*run->predicted_s / time.median - 1) + (expected ? "" : " !")
             : "-",
         run->verified ? fmt::format("{:.3g}", run->max_error) : "-",
         Cell(verdict, tone_of(verdict))});
  }
  add_table(blocks, std::move(table));
  if (unexpected) {
    add_text(blocks, "! the measured time is outside the range that the model expects");
  }
}

void add_predictions(Blocks& blocks, const Phase& phase) {
  Table table{.columns = {text_column("order")}};
  for (const std::string& device : phase.result.predicted_for) {
    table.columns.push_back(number_column(device));
    table.columns.push_back(number_column("speed-up"));
  }
  for (const Run* const run : phase.runs) {
    const std::string order = name(*run);
    auto row = std::ranges::find_if(table.rows,
                                    [&](const auto& cells) { return cells.front().text == order; });
    if (row == table.rows.end()) row = table.rows.insert(row, {Cell(order)});
    const auto faster = results::predicted(Metric::speedup, *run, phase.runs);
    const Run* const baseline = results::baseline_of(*run, phase.runs);
    const bool shown = faster && baseline != nullptr;
    row->push_back(prediction(*run));
    row->push_back(shown ? fmt::format("{:.2f}", faster->median) : "-");
  }
  for (auto& row : table.rows) row.resize(table.columns.size(), Cell("-"));
  add_table(blocks, std::move(table));
}

void add_checks(Blocks& blocks, const Phase& phase) {
  Table table{.columns = {text_column("criterion"), text_column("order"), number_column("value"),
                          number_column("95 % interval", 1), text_column("verdict")}};
  struct Group {
    std::string criterion;
    std::vector<const Check*> checks;
  };
  std::vector<Group> groups;
  for (const Check* const check : checks_of(phase)) {
    const std::string limit =
        check->source || std::isnan(check->limit)
            ? results::limit_text(*check)
            : fmt::format("{} {}", check->at_least ? ">=" : "<=", check->limit);
    Group group{fmt::format("{} {}", deck::to_string(check->metric), limit), {check}};
    const bool joins = !groups.empty() && groups.back().criterion == group.criterion &&
                       check->verdict == results::Verdict::pass && check->device.empty() &&
                       groups.back().checks.front()->verdict == check->verdict;
    if (joins) {
      groups.back().checks.push_back(check);
    } else {
      groups.push_back(std::move(group));
    }
  }
  for (const auto& [criterion, checks] : groups) {
    const Check& check = *checks.front();
    const auto known = !std::isnan(check.value.median);
    const auto [least, most] =
        std::ranges::minmax(checks, {}, [](const Check* c) { return c->value.median; });
    const bool several = checks.size() > 1;
    const std::string verdict(deck::to_string(check.verdict));
    table.rows.push_back(
        {criterion,
         several ? fmt::format("{} orders", checks.size())
                 : std::string(results::order_name(check)) +
                       (check.device.empty() ? "" : " on " + check.device),
         !known ? "unknown"
         : several && least->value.median != most->value.median
             ? fmt::format("{} .. {}", format_number(least->value.median),
                           format_number(most->value.median))
             : format_number(check.value.median),
         known && !several && check.device.empty() ? interval(check.value, format_number) : "",
         Cell(verdict, tone_of(verdict))});
  }
  add_table(blocks, std::move(table));
}

void add_details(Blocks& blocks, const Phase& phase) {
  if (!phase.ran()) return;
  add_host_work(blocks, phase);
  add_disturbances(blocks, phase);
  add_issuing(blocks, phase);
  add_products(blocks, phase);
  add_rates(blocks, phase);
  add_bounds(blocks, phase);
  add_link(blocks, phase);
  add_health(blocks, phase);
  add_findings(blocks, phase);
  for (const Run* const run : phase.runs) {
    const bool counted = !run->stopped || run->stopped->reason == results::StopReason::repetitions;
    if (counted) continue;
    add_text(blocks, "stopped: " + results::stop_text(*run->stopped));
    break;
  }
}

}  // namespace overlap::report
