#include "report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"

namespace overlap::report {
namespace {

using base::format_bytes;
using base::format_number;
using base::format_seconds;
using experiment::Run;

/// A median and its interval.
std::string interval(const base::Summary& s, std::string (*words)(double)) {
  return fmt::format("{} .. {}", words(s.lo), words(s.hi));
}

std::string giga(double value) { return format_number(1e-9 * value); }

/// Nothing where there is only a heading.
Rows or_nothing(Rows rows) { return rows.size() > 1 ? std::move(rows) : Rows(); }

/// How a matrix product is cut, and how often its panels are copied.
std::string tiles_line(const deck::Workload& workload, const schedule::Layout& layout) {
  const schedule::TilePlan& plan = *layout.tiles;
  const std::size_t once = schedule::size_of(workload.type) *
                           static_cast<std::size_t>(workload.k * (workload.m + workload.n));
  return fmt::format(
      "{}; the device holds {} of them, {} of A's panels and {} of B's, which are copied {}",
      plan.turns.size(), plan.slots[2], plan.slots[0], plan.slots[1],
      plan.loaded_bytes <= once
          ? fmt::format("once, {}", format_bytes(plan.loaded_bytes))
          : fmt::format("{:.2f} times, {}",
                        static_cast<double>(plan.loaded_bytes) / static_cast<double>(once),
                        format_bytes(plan.loaded_bytes)));
}

/// How the data are cut; a custom list has no chunks of its own.
void add_layout(Rows& rows, const deck::Deck& deck, const schedule::Layout& layout) {
  if (deck.workload.kind == deck::WorkloadKind::custom) return;
  std::string line = layout.tiles ? tiles_line(deck.workload, layout)
                                  : fmt::format("{}, {} on the device", layout.chunks_per_iteration,
                                                base::counted(layout.slots, "slot"));
  if (!layout.tiles && deck.chunks.profile == deck::Profile::ramp) {
    line +=
        fmt::format(", a ramp from {} to {} units", layout.borders[1], layout.largest_chunk_units);
  }
  if (layout.out_of_core) {
    line += fmt::format(" (out of core: limit {})", format_bytes(layout.device_limit));
  }
  rows.push_back({layout.tiles ? "tiles" : "chunks", line});
}

}  // namespace

std::string workload_line(const deck::Workload& workload,
                          const std::vector<deck::Point::Value>& swept) {
  std::string line;
  const yaml::Json values = write(deck::workload_table(), workload);
  for (const auto& [key, value] : values.items()) {
    if (std::ranges::count(swept, "workload." + key, &deck::Point::Value::key) > 0) continue;
    const std::string text = key == "tasks" ? std::to_string(value.size()) : yaml::spell(value);
    if (text == "none") continue;
    line += line.empty() ? text : fmt::format(", {} {}", key, text);
  }
  return line;
}

Rows provenance(const base::Machine& machine) {
  return {{"host", fmt::format("{}, {} (CPUs {})", machine.host.name,
                               base::counted(machine.host.cores, "core"), machine.host.affinity)},
          {"back end", fmt::format("Kokkos {} {}, {}", machine.build.kokkos_version,
                                   machine.build.backend, machine.build.compiler)}};
}

/// The settings that no other line shows and that differ from their defaults.
std::string settings_words(const deck::Deck& deck, bool measured) {
  constexpr auto shown = std::to_array<std::string_view>(
      {"memory.host", "memory.device_limit", "issue.orders", "issue.lanes"});
  deck::Deck plain;
  plain.memory.host = deck.memory.host;  // which decides what other keys there are
  yaml::Json all = deck::resolved(deck), defaults = deck::resolved(plain);
  std::string words;
  for (const char* const section : {"memory", "issue", "measure"}) {
    if (!measured && section == std::string_view("measure")) continue;
    for (const auto& [name, value] : all[section].items()) {
      const std::string key = fmt::format("{}.{}", section, name);
      if (value == defaults[section][name] || std::ranges::find(shown, key) != shown.end())
        continue;
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key, yaml::spell(value));
    }
  }
  return words;
}

Rows facts(const Study& study, const experiment::Setup& known) {
  Rows rows;
  if (!study.predicts()) rows = provenance(study.machine);
  rows.push_back({"deck", known.deck.path});
  rows.push_back({"workload", workload_line(known.deck.workload)});
  rows.push_back({"host memory", std::string(deck::to_string(known.deck.memory.host))});
  add_layout(rows, known.deck, known.layout);
  const std::string settings = settings_words(known.deck, !study.predicts());
  if (!settings.empty()) rows.push_back({"settings", settings});
  if (known.balance) {
    const double asked = known.deck.workload.intensity.balance;
    const bool beyond = known.balance->repeats == 1 && known.balance->ratio() > 1.1 * asked;
    rows.push_back(
        {"intensity",
         fmt::format(
             "{} repeats: kernel {} / copies to the device {} of the largest chunk = {:.3f}{}",
             known.balance->repeats, format_seconds(known.balance->kernel_s),
             format_seconds(known.balance->copy_s), known.balance->ratio(),
             beyond ? fmt::format(", not {:g}: a single repeat takes longer", asked) : "")});
  }
  for (const auto& [name, value] : known.choices) rows.push_back({name, value});
  return rows;
}

std::string prediction(const Run& run) {
  const auto predicted = predicted_s(run);
  if (!predicted) return "-";
  const auto uncertainty = experiment::uncertainty(run);
  return format_seconds(*predicted) +
         (uncertainty ? fmt::format(" ±{:.0f} %", 100 * *uncertainty) : "");
}

Rows order_rows(const Outcome& outcome) {
  Rows rows = {{"order", "lanes", "tasks", "median", "95 % interval", "GB/s", "speed-up",
                "predicted", "error", "max error", "verdict"}};
  for (const Run& run : outcome.runs) {
    const base::Summary time = time_s(run);
    const auto faster = value(deck::Metric::speedup, run, outcome.runs);
    const auto throughput = value(deck::Metric::throughput, run, outcome.runs);
    const auto predicted = predicted_s(run);
    rows.push_back(
        {name(run), fmt::format("{}", run.schedule.lanes),
         fmt::format("{}", run.schedule.tasks.size()), format_seconds(time.median),
         interval(time, format_seconds), throughput ? format_number(throughput->median) : "-",
         faster ? fmt::format("{:.2f}", faster->median) : "-", prediction(run),
         predicted
             ? base::format_change(*predicted / time.median - 1) + (as_expected(run) ? "" : " !")
             : "-",
         run.verified ? fmt::format("{:.3g}", run.max_error) : "-",
         std::string(verdict_of(run, outcome.checks))});
  }
  return rows;
}

std::string unexpected_words(const Outcome& outcome) {
  if (std::ranges::all_of(outcome.runs, experiment::as_expected)) return "";
  return "! the measured time is outside the range that the model expects";
}

Rows issue_rows(const Outcome& outcome) {
  const auto any = [&](const auto& has) { return std::ranges::any_of(outcome.runs, has); };
  const bool graphs = any([](const Run& run) { return run.graph.has_value(); });
  const bool polls = outcome.deck.issue.sync == deck::Sync::query;
  const bool staging = any([](const Run& run) { return run.staging.has_value(); });
  Rows rows = {{"order", "issue time", "per task"}};
  if (graphs) rows[0].insert(rows[0].end(), {"capture time", "instantiation time"});
  if (polls) rows[0].emplace_back("polls");
  if (staging) rows[0].insert(rows[0].end(), {"ring fill", "ring drain", "threads"});
  for (const Run& run : outcome.runs) {
    if (run.issue_s.empty()) continue;
    const double issuing_s = base::summarize(run.issue_s).median;
    const auto tasks = static_cast<double>(run.schedule.tasks.size());
    auto& row = rows.emplace_back(std::vector<std::string>{name(run), format_seconds(issuing_s),
                                                           format_seconds(issuing_s / tasks)});
    if (graphs) {
      row.push_back(run.graph ? format_seconds(run.graph->capture_s) : "-");
      row.push_back(run.graph ? format_seconds(run.graph->instantiate_s) : "-");
    }
    if (polls) {
      const auto repetitions = static_cast<double>(run.repetitions);
      row.push_back(format_number(static_cast<double>(run.polls) / repetitions));
    }
    if (const auto costs = experiment::staging_costs(run)) {
      row.insert(row.end(), {format_seconds(costs->fill_s), format_seconds(costs->drain_s),
                             fmt::format("{}", costs->threads)});
    } else if (staging) {
      row.insert(row.end(), 3, "-");
    }
  }
  return or_nothing(std::move(rows));
}

Rows host_work_rows(const Outcome& outcome) {
  Rows rows = {{"order", "work", "hidden", "95 % interval"}};
  for (const Run& run : outcome.runs) {
    const auto hidden = value(deck::Metric::host_work_hidden, run, outcome.runs);
    if (!hidden) continue;
    rows.push_back({name(run),
                    format_seconds(base::summarize(run.host_work_samples.samples_s).median),
                    base::format_percent(hidden->median), interval(*hidden, base::format_percent)});
  }
  return or_nothing(std::move(rows));
}

Rows product_rows(const Outcome& outcome) {
  Rows rows = {{"order", "Gflop/s", "95 % interval", "of kernels", "to the device", "back"}};
  for (const Run& run : outcome.runs) {
    const double flops = experiment::product_flops(run.schedule);
    const auto rate = flops_per_s(run);
    if (flops == 0 || !rate) continue;
    const schedule::Traffic traffic = schedule::traffic(run.schedule);
    const double seconds = time_s(run).median;
    rows.push_back({name(run), giga(rate->median), interval(*rate, giga),
                    run.rates ? base::format_percent(run.rates->kernel_s / seconds) : "-",
                    format_bytes(traffic.h2d), format_bytes(traffic.d2h)});
  }
  return or_nothing(std::move(rows));
}

std::string product_words(const Outcome& outcome) {
  for (const Run& run : outcome.runs) {
    const double flops = experiment::product_flops(run.schedule);
    if (flops == 0 || !run.bounds || !run.rates || experiment::host_tiles(run.schedule) > 0)
      continue;
    const bool compute = run.bounds->limit == "SM" || run.bounds->limit == "workers";
    return fmt::format(
        "matrix product: {} Gflop, {} flop per byte over the link; kernels alone {}, {} Gflop/s; "
        "{}-bound, at most {} Gflop/s\n",
        giga(flops), format_number(flops / static_cast<double>(copied_bytes(run))),
        format_seconds(run.rates->kernel_s), giga(flops / run.rates->kernel_s),
        compute ? "compute" : "transfer", giga(flops / run.bounds->bound_s));
  }
  return "";
}

Rows disturbance_rows(const Outcome& outcome) {
  Rows rows = {{"disturbed order", "loss", "95 % interval"}};
  for (const Run& run : outcome.runs) {
    const auto loss = disturbance_loss(run, outcome.runs);
    if (!loss) continue;
    rows.push_back(
        {name(run), base::format_change(loss->median), interval(*loss, base::format_change)});
  }
  return or_nothing(std::move(rows));
}

Rows rate_rows(const Outcome& outcome) {
  Rows rows = {{"chunks", "H2D GB/s", "D2H GB/s", "both GB/s", "kernels", "during copies"}};
  std::set<int> seen;
  for (const Run& run : outcome.runs) {
    if (!run.rates || !seen.insert(run.schedule.chunks).second) continue;
    const schedule::Traffic traffic = schedule::traffic(run.schedule);
    const auto rate = [](std::size_t bytes, double seconds) {
      return bytes > 0 && seconds > 0 ? giga(static_cast<double>(bytes) / seconds) : "-";
    };
    rows.push_back(
        {fmt::format("{}", run.schedule.chunks), rate(traffic.h2d, run.rates->h2d_s),
         rate(traffic.d2h, run.rates->d2h_s), rate(traffic.h2d + traffic.d2h, run.rates->both_s),
         format_seconds(run.rates->kernel_s),
         run.rates->kernel_beside_copies ? fmt::format("x {:.3f}", *run.rates->kernel_beside_copies)
                                         : "-"});
  }
  return or_nothing(std::move(rows));
}

Rows link_rows(const Outcome& outcome) {
  Rows rows = {{"metric", "GB/s", "95 % interval"}};
  for (const deck::MetricRow& row : deck::device_metrics) {
    const auto rate = value(row.value, outcome.device);
    if (row.needs != deck::Needs::link || !rate) continue;
    rows.push_back(
        {std::string(row.name), format_number(rate->median), interval(*rate, format_number)});
  }
  return or_nothing(std::move(rows));
}

Rows health_rows(const Outcome& outcome) {
  if (!outcome.device.health) return {};
  const auto number = [](const auto& value, const char* unit = "") {
    return value ? fmt::format("{}{}", *value, unit) : std::string("-");
  };
  Rows rows = {
      {"", "link", "replays", "ECC errors", "SM clock", "memory clock", "temperature", "power"}};
  const auto add = [&](const char* when, const base::Health& health) {
    const bool ecc = health.ecc_corrected && health.ecc_uncorrected;
    rows.push_back({when, base::spell_link(health.pcie_gen, health.pcie_width).value_or("-"),
                    number(health.pcie_replays),
                    ecc ? fmt::format("{}", *health.ecc_corrected + *health.ecc_uncorrected) : "-",
                    number(health.sm_clock_mhz, " MHz"), number(health.memory_clock_mhz, " MHz"),
                    number(health.temperature_c, " C"),
                    health.power_w ? fmt::format("{:.0f} W", *health.power_w) : "-"});
  };
  add("before", outcome.device.health->before);
  add("after", outcome.device.health->after);
  return rows;
}

std::string throttle_words(const Outcome& outcome) {
  if (!outcome.device.health || !outcome.device.health->throttled) return "throttling unknown";
  const experiment::ThrottledTime& time = *outcome.device.health->throttled;
  std::string words;
  for (const base::ThrottleRow& row : base::throttles) {
    const double seconds = time.by_reason_s[static_cast<std::size_t>(row.value)];
    if (!row.slows || seconds == 0) continue;
    words += fmt::format("{}{} for {}", words.empty() ? "throttled by " : ", ", row.name,
                         format_seconds(seconds));
  }
  return words.empty() ? "not throttled" : words;
}

Rows bound_rows(const Outcome& outcome) {
  Rows rows = {
      {"order", "bound", "of time", "schedule bound", "of time", "efficiency", "limited by"}};
  for (const Run& run : outcome.runs) {
    if (!run.bounds) continue;
    const auto part = [&](deck::Metric metric) {
      const auto of = value(metric, run, outcome.runs);
      return of ? base::format_percent(of->median) : "-";
    };
    const auto efficiency = shown_efficiency(run, outcome.runs);
    rows.push_back(
        {name(run), format_seconds(run.bounds->bound_s), part(deck::Metric::bound_fraction),
         format_seconds(run.bounds->schedule_bound_s), part(deck::Metric::schedule_bound_fraction),
         efficiency ? fmt::format("{:.3f}", efficiency->median) : "-", run.bounds->limit});
  }
  return or_nothing(std::move(rows));
}

std::string stop_words(const Outcome& outcome) {
  const bool counted =
      !outcome.stopped || outcome.stopped->reason == experiment::StopReason::repetitions;
  return counted ? "" : "stopped: " + experiment::words(*outcome.stopped);
}

std::string bound_words(const Outcome& outcome) {
  const auto run = std::ranges::find_if(outcome.runs, [](const Run& r) { return !!r.bounds; });
  if (run == outcome.runs.end()) return "";
  std::string words = "bounds: " + format_seconds(run->bounds->serial_s) + " without overlap";
  if (run->bounds->one_engine_s == 0) return words;  // workers
  words += ", " + format_seconds(run->bounds->one_engine_s) + " with one copy engine";
  if (run->bounds->two_engines_s > 0) {
    words += ", " + format_seconds(run->bounds->two_engines_s) + " with two";
  }
  return words;
}

Rows check_rows(const Outcome& outcome) {
  Rows rows = {{"criterion", "order", "value", "95 % interval", "verdict"}};
  for (const experiment::Check& check : outcome.checks) {
    const bool known = !std::isnan(check.value.median);
    const std::string limit = check.source || std::isnan(check.limit)
                                  ? experiment::limit_words(check)
                                  : fmt::format("{} {}", check.at_least ? ">=" : "<=", check.limit);
    rows.push_back({fmt::format("{} {}", deck::to_string(check.metric), limit),
                    std::string(experiment::order_word(check)) +
                        (check.device.empty() ? "" : " on " + check.device),
                    known ? format_number(check.value.median) : "unknown",
                    known && check.device.empty() ? interval(check.value, format_number) : "",
                    std::string(deck::to_string(check.verdict))});
  }
  return or_nothing(std::move(rows));
}

Rows finding_rows(const Outcome& outcome) {
  Rows rows;
  for (const Run& run : outcome.runs) {
    for (const experiment::Finding& finding : run.findings) {
      rows.push_back({name(run), finding.text});
    }
  }
  return rows;
}

Rows prediction_rows(const Outcome& outcome) {
  Rows rows = {{"order"}};
  for (const Run& run : outcome.runs) {
    if (run.target == 0) rows.push_back({name(run)});
  }
  std::size_t row = 0;
  for (std::size_t i = 0; i < outcome.runs.size(); ++i) {
    const Run& run = outcome.runs[i];
    if (i == 0 || run.target != outcome.runs[i - 1].target) {
      row = 0;
      rows[0].insert(rows[0].end(), {run.device, "speed-up"});
    }
    const auto faster = predicted_speedup(run, outcome.runs);
    auto& cells = rows[++row];
    cells.insert(cells.end(), {prediction(run), faster ? fmt::format("{:.2f}", *faster) : "-"});
  }
  return rows;
}

}  // namespace overlap::report
