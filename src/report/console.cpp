#include "report/console.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/units.hpp"
#include "base/version.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "model/load.hpp"
#include "report/ascii_timeline.hpp"
#include "report/json.hpp"
#include "report/picture.hpp"

namespace overlap::report {
namespace {

using base::format_bytes;
using base::format_number;
using base::format_seconds;

std::string bytes(std::int64_t n) { return format_bytes(static_cast<std::uint64_t>(n)); }

std::string pcie(std::optional<int> gen, std::optional<int> width) {
  return gen && width ? fmt::format("gen {} x{}", *gen, *width) : "unknown";
}

/// The worst verdict among an order's checks.
std::string verdict_of(const Result& result, const timeline::Run& run) {
  if (run.wrong) return "WRONG DATA";
  auto worst = verdict::Verdict::pass;
  for (const verdict::Check& check : result.checks) {
    if (check.order != run.order || !verdict::is_judged(check.metric, run)) continue;
    if (check.verdict == verdict::Verdict::pass) continue;
    if (worst != verdict::Verdict::fail) worst = check.verdict;
  }
  return verdict::to_string(worst);
}

/// How a matrix product is cut, and how often its panels are copied.
std::string tiles_line(const deck::Workload& workload, const schedule::Layout& layout) {
  const schedule::TilePlan& plan = *layout.tiles;
  const std::size_t once = schedule::size_of(workload.type) *
                           static_cast<std::size_t>(workload.k * (workload.m + workload.n));
  return fmt::format(
      "{}; the device holds {} of them, {} of A's panels and {} of B's, which are copied {}",
      plan.turns.size(), plan.slots.c, plan.slots.a, plan.slots.b,
      plan.loaded_bytes <= once
          ? fmt::format("once, {}", format_bytes(plan.loaded_bytes))
          : fmt::format("{:.2f} times, {}",
                        static_cast<double>(plan.loaded_bytes) / static_cast<double>(once),
                        format_bytes(plan.loaded_bytes)));
}

/// How the data are cut; a custom list has no chunks of its own.
void add_layout(Rows& rows, const Result& result) {
  if (result.deck.workload.kind == deck::WorkloadKind::custom) return;
  const schedule::Layout& layout = result.layout;
  if (layout.tiles) {
    std::string line = tiles_line(result.deck.workload, layout);
    if (layout.out_of_core) {
      line += fmt::format(" (out of core: limit {})", bytes(layout.device_limit));
    }
    rows.push_back({"tiles", line});
    return;
  }
  std::string line = fmt::format("{}, {} {} on the device", layout.chunks_per_iteration,
                                 layout.slots, layout.slots == 1 ? "slot" : "slots");
  if (result.deck.chunks.profile == deck::Profile::ramp) {
    line += fmt::format(", a ramp from {} to {} units", layout.borders[1], layout.slot_units);
  }
  if (layout.out_of_core)
    line += fmt::format(" (out of core: limit {})", bytes(layout.device_limit));
  rows.push_back({"chunks", line});
}

}  // namespace

std::string align(const Rows& rows, bool numbers) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += numbers && i > 0 ? fmt::format("{:>{}}", row[i], widths[i])
                               : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string workload_line(const deck::Workload& workload,
                          const std::vector<deck::Point::Value>& swept) {
  std::string line;
  const yaml::Value values = write(deck::table_of(deck::Workload{}), workload);
  for (const auto& [key, value] : *values.get<yaml::Value::Map>()) {
    if (std::any_of(swept.begin(), swept.end(), [&name = key](const deck::Point::Value& given) {
          return given.key == "workload." + name;
        })) {
      continue;
    }
    const auto* const list = key == "tasks" ? value.get<yaml::Value::List>() : nullptr;
    const std::string text = list == nullptr ? spell(value) : fmt::format("{}", list->size());
    if (text == "none") continue;
    line += line.empty() ? text : fmt::format(", {} {}", key, text);
  }
  return line;
}

std::string device_table(const base::DeviceInfo& device, bool gpu) {
  Rows rows = {{"device", device.name}};
  if (gpu) {
    const auto number = [](const std::optional<int>& value, const char* unit = "") {
      return value ? fmt::format("{}{}", *value, unit) : std::string("unknown");
    };
    const auto yes_no = [](const std::optional<bool>& value, const char* yes, const char* no) {
      return std::string(!value ? "unknown" : *value ? yes : no);
    };
    rows.push_back({"  UUID", device.uuid});
    rows.push_back(
        {"  capability", fmt::format("compute {}, {} copy engines, concurrent kernels: {}",
                                     device.compute_capability, number(device.copy_engines),
                                     yes_no(device.concurrent_kernels, "yes", "no"))});
    rows.push_back({"  memory", fmt::format("{} free of {}", bytes(device.free_bytes.value_or(0)),
                                            bytes(device.total_bytes.value_or(0)))});
    rows.push_back(
        {"  link",
         fmt::format("PCIe {}, at most {}; NUMA node {}", pcie(device.pcie_gen, device.pcie_width),
                     pcie(device.pcie_gen_max, device.pcie_width_max), number(device.numa_node))});
    rows.push_back(
        {"  state",
         fmt::format("SM clock {} of {}, ECC {}, MIG {}", number(device.sm_clock_mhz, " MHz"),
                     number(device.sm_clock_max_mhz, " MHz"), yes_no(device.ecc, "on", "off"),
                     yes_no(device.mig, "on", "off"))});
  } else {
    rows.push_back(
        {"  memory", fmt::format("{} available of {}", bytes(device.free_bytes.value_or(0)),
                                 bytes(device.total_bytes.value_or(0)))});
  }
  return align(rows, false);
}

std::string title(const Result& result) {
  const std::string text = result.deck.title + "\n\n";
  base::DeviceInfo device;
  if (result.device) {
    device = *result.device;
  } else {
    device.name = fmt::format("{}, {} cores", result.host.cpu, result.host.cores);
    device.free_bytes = result.host.available_bytes;
    device.total_bytes = result.host.total_bytes;
  }
  return text + device_table(device, result.device.has_value());
}

std::string heading(const Result& result) {
  return title(result) + align(facts(result, false), false);
}

Rows provenance(const Result& result) {
  return {{"host", fmt::format("{}, {} cores (CPUs {})", result.host.name, result.host.cores,
                               result.host.affinity)},
          {"back end", fmt::format("Kokkos {} {}, {}", result.build.kokkos_version,
                                   result.build.backend, result.build.compiler)}};
}

Rows facts(const Result& result, bool predictions) {
  Rows rows;
  if (!predictions) rows = provenance(result);
  rows.push_back({"deck", result.deck.path});
  rows.push_back({"workload", workload_line(result.deck.workload)});
  if (!predictions) {
    rows.push_back({"host memory", std::string(deck::to_string(result.deck.memory.host))});
  }
  add_layout(rows, result);
  if (result.balance) {
    rows.push_back(
        {"intensity",
         fmt::format("{} repeats: kernel {} / copies to the device {} of a chunk = {:.3f}",
                     result.balance->repeats, format_seconds(result.balance->kernel_s),
                     format_seconds(result.balance->copy_s), result.balance->ratio())});
  }
  for (const auto& [name, value] : result.choices) rows.push_back({name, value});
  return rows;
}

Rows order_rows(const Result& result) {
  Rows rows = {{"order", "lanes", "tasks", "median", "95 % interval", "GB/s", "speed-up",
                "predicted", "error", "max error", "verdict"}};
  for (const timeline::Run& run : result.runs) {
    const base::Summary time = timeline::time_s(run);
    const auto speedup = timeline::speedup(run, result.runs);
    const auto predicted = timeline::predicted_s(run);
    rows.push_back(
        {timeline::name(run), fmt::format("{}", run.schedule.lanes),
         fmt::format("{}", run.schedule.tasks.size()), format_seconds(time.median),
         fmt::format("{} .. {}", format_seconds(time.lo), format_seconds(time.hi)),
         run.bytes > 0 ? format_number(timeline::throughput(run).median) : "-",
         speedup ? fmt::format("{:.2f}", speedup->median) : "-",
         predicted ? format_seconds(*predicted) : "-",
         predicted ? fmt::format("{:+.1f} %", 100 * (*predicted / time.median - 1)) : "-",
         run.verified ? fmt::format("{:.3g}", run.max_error) : "-", verdict_of(result, run)});
  }
  return rows;
}

Rows issue_rows(const Result& result) {
  const bool graphs = std::any_of(result.runs.begin(), result.runs.end(),
                                  [](const timeline::Run& run) { return run.graph.has_value(); });
  const bool polls = result.deck.issue.sync == deck::Sync::query;
  const bool staging =
      std::any_of(result.runs.begin(), result.runs.end(),
                  [](const timeline::Run& run) { return run.staging.has_value(); });
  Rows rows = {{"order", "issuing", "a task"}};
  if (graphs) rows[0].insert(rows[0].end(), {"captured in", "instantiated in"});
  if (polls) rows[0].emplace_back("polls");
  if (staging) rows[0].insert(rows[0].end(), {"filling the ring", "draining it", "threads"});
  for (const timeline::Run& run : result.runs) {
    if (run.issue_s.empty()) continue;
    const double issue_s = timeline::issue_s(run).median;
    const auto tasks = static_cast<double>(run.schedule.tasks.size());
    const auto repetitions = static_cast<double>(run.issue_s.size());
    auto& row = rows.emplace_back(std::vector<std::string>{
        timeline::name(run), format_seconds(issue_s), format_seconds(issue_s / tasks)});
    if (graphs) {
      row.push_back(run.graph ? format_seconds(run.graph->capture_s) : "-");
      row.push_back(run.graph ? format_seconds(run.graph->instantiate_s) : "-");
    }
    if (polls) {
      row.push_back(format_number(static_cast<double>(run.polls) / repetitions));
    }
    if (run.staging) {
      row.insert(row.end(), {format_seconds(run.staging->fill_s / repetitions),
                             format_seconds(run.staging->drain_s / repetitions),
                             fmt::format("{}", run.staging->threads)});
    }
  }
  return rows.size() > 1 ? rows : Rows();
}

Rows host_work_rows(const Result& result) {
  Rows rows = {{"order", "work", "hidden", "95 % interval"}};
  for (const timeline::Run& run : result.runs) {
    const auto hidden = timeline::host_work_hidden(run, result.runs);
    if (!hidden) continue;
    rows.push_back({timeline::name(run),
                    format_seconds(base::summarize(run.host_work->samples_s).median),
                    fmt::format("{:.1f} %", 100 * hidden->median),
                    fmt::format("{:.1f} % .. {:.1f} %", 100 * hidden->lo, 100 * hidden->hi)});
  }
  return rows.size() > 1 ? rows : Rows();
}

/// Orders of a matrix product by the operations that they do a second.
Rows product_rows(const Result& result) {
  Rows rows = {{"order", "Gflop/s", "95 % interval", "of kernels", "to the device", "back"}};
  for (const timeline::Run& run : result.runs) {
    const double flops = timeline::product_flops(run.schedule);
    if (flops == 0 || run.samples_s.empty()) continue;
    const base::Summary rate = timeline::flops_per_s(run);
    const schedule::Traffic traffic = schedule::traffic(run.schedule);
    const double time_s = timeline::time_s(run).median;
    rows.push_back(
        {timeline::name(run), format_number(1e-9 * rate.median),
         fmt::format("{} .. {}", format_number(1e-9 * rate.lo), format_number(1e-9 * rate.hi)),
         run.rates ? fmt::format("{:.1f} %", 100 * run.rates->kernel_s / time_s) : "-",
         format_bytes(traffic.h2d), format_bytes(traffic.d2h)});
  }
  return rows.size() > 1 ? rows : Rows();
}

/// What limits a matrix product: its roofline.
std::string product_words(const Result& result) {
  for (const timeline::Run& run : result.runs) {
    const double flops = timeline::product_flops(run.schedule);
    if (flops == 0 || !run.bounds || !run.rates || timeline::host_tiles(run.schedule) > 0) continue;
    const schedule::Traffic traffic = schedule::traffic(run.schedule);
    const bool compute = run.bounds->limit == "SM" || run.bounds->limit == "workers";
    return fmt::format(
        "matrix product: {} Gflop, {} flop a byte over the link; kernels alone {}, {} Gflop/s; {}-"
        "bound, at most {} Gflop/s\n",
        format_number(1e-9 * flops),
        format_number(flops / static_cast<double>(traffic.h2d + traffic.d2h)),
        format_seconds(run.rates->kernel_s), format_number(1e-9 * flops / run.rates->kernel_s),
        compute ? "compute" : "transfer", format_number(1e-9 * flops / run.bounds->bound_s));
  }
  return "";
}

Rows disturbance_rows(const Result& result) {
  Rows rows = {{"disturbed order", "loss", "95 % interval"}};
  for (const timeline::Run& run : result.runs) {
    const auto loss = timeline::disturbance_loss(run, result.runs);
    if (!loss) continue;
    rows.push_back({timeline::name(run), fmt::format("{:+.1f} %", 100 * loss->median),
                    fmt::format("{:+.1f} % .. {:+.1f} %", 100 * loss->lo, 100 * loss->hi)});
  }
  return rows.size() > 1 ? rows : Rows();
}

Rows rate_rows(const Result& result) {
  Rows rows = {{"chunks", "H2D GB/s", "D2H GB/s", "both GB/s", "kernels", "beside copies"}};
  std::set<std::size_t> seen;
  for (const timeline::Run& run : result.runs) {
    if (!run.rates || !seen.insert(run.schedule.chunks.size()).second) continue;
    const schedule::Traffic traffic = schedule::traffic(run.schedule);
    const auto rate = [](std::size_t bytes, double seconds) {
      return bytes > 0 && seconds > 0 ? format_number(static_cast<double>(bytes) / seconds * 1e-9)
                                      : "-";
    };
    rows.push_back(
        {fmt::format("{}", run.schedule.chunks.size()), rate(traffic.h2d, run.rates->h2d_s),
         rate(traffic.d2h, run.rates->d2h_s), rate(traffic.h2d + traffic.d2h, run.rates->both_s),
         format_seconds(run.rates->kernel_s),
         run.rates->kernel_beside_copies ? fmt::format("x {:.3f}", *run.rates->kernel_beside_copies)
                                         : "-"});
  }
  return rows.size() > 1 ? rows : Rows();
}

Rows bound_rows(const Result& result) {
  Rows rows = {
      {"order", "bound", "of time", "schedule bound", "of time", "efficiency", "limited by"}};
  for (const timeline::Run& run : result.runs) {
    if (!run.bounds) continue;
    const auto percent = [](const std::optional<base::Summary>& part) {
      return part ? fmt::format("{:.1f} %", 100 * part->median) : "-";
    };
    const auto efficiency = timeline::shown_efficiency(run, result.runs);
    rows.push_back(
        {timeline::name(run), format_seconds(run.bounds->bound_s),
         percent(timeline::bound_fraction(run)), format_seconds(run.bounds->schedule_bound_s),
         percent(timeline::schedule_bound_fraction(run)),
         efficiency ? fmt::format("{:.3f}", efficiency->median) : "-", run.bounds->limit});
  }
  return rows.size() > 1 ? rows : Rows();
}

std::string bound_words(const Result& result) {
  const auto run = std::find_if(result.runs.begin(), result.runs.end(),
                                [](const timeline::Run& r) { return r.bounds.has_value(); });
  if (run == result.runs.end()) return "";
  std::string words = "bounds: " + format_seconds(run->bounds->serial_s) + " without overlap";
  if (!result.device) return words;
  words += ", " + format_seconds(run->bounds->one_engine_s) + " with one copy engine";
  if (run->bounds->two_engines_s > 0) {
    words += ", " + format_seconds(run->bounds->two_engines_s) + " with two";
  }
  return words;
}

/// What the hardware needs for the deck's data.
std::string bounds_table(const Result& result) {
  const std::string words = bound_words(result);
  if (words.empty()) return "";
  return "\nrates, measured after the runs\n" + align(rate_rows(result), true) + "\n" + words +
         "\n" + align(bound_rows(result), true);
}

/// Why orders hide less than they could.
std::string diagnosis(const Result& result) {
  Rows rows;
  for (const timeline::Run& run : result.runs) {
    for (const auto& finding : verdict::diagnose(run, result.runs, result.environment)) {
      rows.push_back({timeline::name(run), finding.text});
    }
  }
  return rows.empty() ? "" : "\n" + align(rows, false);
}

/// Measured timelines of schedules that fit on a screen.
std::string timelines(const Result& result, int width) {
  constexpr std::size_t most_tasks = 64;
  std::string text;
  for (const timeline::Run& run : result.runs) {
    if (!run.untraced.empty()) {
      text += fmt::format("\n{}, not traced: {}\n", timeline::name(run), run.untraced);
    }
    if (!run.trace || run.schedule.tasks.size() > most_tasks) continue;
    const timeline::Trace& trace = *run.trace;
    text +=
        fmt::format("\n{}, traced by {} ({:+.1f} % against the median{}{})\n", timeline::name(run),
                    trace.source, 100 * trace.perturbation,
                    trace.parts > 1 ? fmt::format(", copies back in {} parts", trace.parts) : "",
                    trace.doubtful ? ": doubtful" : "") +
        ascii_timeline(run.schedule, trace.timeline, width);
  }
  return text;
}

std::string table(const Result& result, int width) {
  std::string text = "\n" + align(order_rows(result), true);
  text += timelines(result, width);
  if (const Rows rows = host_work_rows(result); !rows.empty()) {
    text += "\nwork of the host while the device works\n" + align(rows, true);
  }
  if (const Rows rows = disturbance_rows(result); !rows.empty()) {
    text += "\nagainst the undisturbed runs\n" + align(rows, true);
  }
  if (const Rows rows = issue_rows(result); !rows.empty()) {
    text += "\nthe host, per repetition\n" + align(rows, true);
  }
  if (const Rows rows = product_rows(result); !rows.empty()) {
    text += "\n" + product_words(result) + align(rows, true);
  }
  text += bounds_table(result);
  text += diagnosis(result);
  const bool product = result.deck.workload.kind == deck::WorkloadKind::dgemm;
  text += fmt::format("\n{} runs verified {} in {}\n", result.verified_runs,
                      product ? "by Freivalds' check" : "element by element",
                      format_seconds(result.reference_s));
  if (!result.checks.empty()) {
    Rows checks = {{"criterion", "order", "value", "95 % interval", "verdict"}};
    for (const verdict::Check& check : result.checks) {
      checks.push_back(
          {fmt::format("{} {} {}", deck::to_string(check.metric),
                       check.at_least ? ">=" : "<=", check.limit),
           std::string(deck::to_string(check.order)), format_number(check.value.median),
           fmt::format("{} .. {}", format_number(check.value.lo), format_number(check.value.hi)),
           verdict::to_string(check.verdict)});
    }
    text += "\n" + align(checks, true);
    for (const verdict::Check& check : result.checks) {
      if (check.reason.empty()) continue;
      text += fmt::format("{} of {} is inconclusive: {}\n", deck::to_string(check.metric),
                          deck::to_string(check.order), check.reason);
    }
  }
  return text + "\n";
}

bool only_predicted(const Result& result) {
  return std::none_of(result.runs.begin(), result.runs.end(),
                      [](const timeline::Run& run) { return run.device.empty(); });
}

namespace {

/// Predictions are the same runs for each device.
std::size_t runs_of_device(const Result& result) {
  return result.deck.issue.orders.size() * (result.deck.host_work ? 2 : 1);
}

}  // namespace

std::optional<double> predicted_speedup(const Result& result, std::size_t run) {
  // The deck's orders on the first device, on the second, ... Devices may share a name.
  const auto first =
      result.runs.begin() + static_cast<std::ptrdiff_t>(run - run % runs_of_device(result));
  const auto last = first + static_cast<std::ptrdiff_t>(runs_of_device(result));
  const auto baseline = std::find_if(first, last, [&](const timeline::Run& other) {
    return other.order == deck::Order::sequential &&
           other.host_work.has_value() == result.runs[run].host_work.has_value();
  });
  if (baseline == last) return std::nullopt;
  const auto base_s = timeline::predicted_s(*baseline);
  const auto seconds = timeline::predicted_s(result.runs[run]);
  if (!base_s || !seconds || *seconds <= 0) return std::nullopt;
  return *base_s / *seconds;
}

Rows prediction_rows(const Result& result) {
  const std::size_t runs = runs_of_device(result);
  Rows rows = {{"order"}};
  for (std::size_t i = 0; i < runs; ++i) rows.push_back({timeline::name(result.runs[i])});
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const std::size_t row = i % runs;
    if (row == 0) rows[0].insert(rows[0].end(), {result.runs[i].device, "speed-up"});
    const auto speedup = predicted_speedup(result, i);
    rows[row + 1].insert(rows[row + 1].end(), {format_seconds(result.runs[i].predicted->complete_s),
                                               speedup ? fmt::format("{:.2f}", *speedup) : "-"});
  }
  return rows;
}

std::string predictions(const Result& result, int width) {
  std::string text = result.deck.title + "\n\n" + align(facts(result, true), false) + "\n" +
                     align(prediction_rows(result), true);
  for (const timeline::Run& run : result.runs) {
    text += fmt::format("\n{} on {}\n", timeline::name(run), run.device) +
            ascii_timeline(run.schedule, *run.predicted, width);
  }
  return text + "\n";
}

namespace {

std::string name(const model::Candidate& c) {
  return fmt::format(
      "{} with {} {} on {} {}{}{}{}", deck::to_string(c.order), c.chunks,
      c.chunks == 1 ? "chunk" : "chunks", c.lanes, c.lanes == 1 ? "lane" : "lanes",
      c.profile == deck::Profile::ramp ? fmt::format(", a ramp of spread {}", c.spread) : "",
      c.transfer == deck::Transfer::zero_copy ? ", zero copy" : "",
      c.mechanism == deck::Mechanism::graph ? ", as a graph" : "");
}

}  // namespace

std::string why(const std::vector<Tried>& tried) {
  const auto& [best, best_s] = tried.front();
  std::string text =
      fmt::format("{}, fastest of {} tried: {}, predicted {}", name(best), tried.size(),
                  format_seconds(best_s), format_seconds(best.predicted_s));
  if (tried.size() > 1) {
    text += fmt::format("; next: {}, {:+.1f} %", name(tried[1].first),
                        100 * (tried[1].second / best_s - 1));
  }
  return text;
}

std::string why(const std::vector<model::Candidate>& candidates) {
  const model::Candidate& best = candidates.front();
  const auto percent = [&](double seconds) {
    return best.predicted_s > 0 ? 100 * seconds / best.predicted_s : 0;
  };
  std::string text =
      fmt::format("{}, predicted {}, of which {} is busy {:.0f} %", name(best),
                  format_seconds(best.predicted_s), best.busiest, percent(best.busy_s));
  const auto other = std::find_if(candidates.begin(), candidates.end(), [&](const auto& c) {
    return c.order != best.order && c.order != deck::Order::sequential;
  });
  if (other != candidates.end()) {
    text += fmt::format("; next order: {}, {:+.1f} %", name(*other),
                        percent(other->predicted_s - best.predicted_s));
  }
  return text;
}

std::string wrong_data(const Result& result) {
  std::string text;
  for (const timeline::Run& run : result.runs) {
    if (!run.wrong) continue;
    text +=
        fmt::format("wrong data: {}order {}, chunk {}, array {}, index {}: expected {}, found {}\n",
                    result.point.empty() ? "" : point_words(result.point) + ", ",
                    timeline::name(run), run.wrong->chunk, run.wrong->array, run.wrong->index,
                    run.wrong->expected, run.wrong->found);
  }
  return text;
}

namespace {

/// " point=chunks.count:4,memory.host:pinned": values without spaces, as the program took them.
std::string point_field(const Result& result) {
  std::string field;
  for (const auto& [key, text] : result.point) {
    const auto number = number_at(result.deck, key);
    std::string value = number ? fmt::format("{}", *number) : text;
    std::replace_if(
        value.begin(), value.end(),
        [](char c) { return c == ' ' || c == '=' || c == ',' || c == ':'; }, '_');
    field += fmt::format("{}{}:{}", field.empty() ? " point=" : ",", key, value);
  }
  return field;
}

}  // namespace

std::string point_lines(const Result& result) {
  std::string text;
  const std::string point = point_field(result);
  const std::string deck = result.deck.name();
  const auto figure = [&](const timeline::Run& run, deck::Metric metric, const base::Summary& s) {
    const auto& words = deck::words<deck::Metric>;
    const auto word =
        std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.value == metric; });
    text += fmt::format(
        "OVERLAP_FOM deck={} order={} metric={} value={:.6g} unit={} lo={:.6g} hi={:.6g} "
        "n={}{}{}\n",
        deck, deck::to_string(run.order), word->name, s.median, word->help, s.lo, s.hi, s.n,
        run.disturbance ? fmt::format(" disturb={}", deck::to_string(*run.disturbance))
        : run.host_work ? " host_work=on"
                        : "",
        point);
  };
  for (const timeline::Run& run : result.runs) {
    if (const auto predicted = timeline::predicted_s(run)) {
      text += fmt::format(
          "OVERLAP_FOM deck={} order={} metric=predicted_time value={:.6g} unit=s lo={:.6g} "
          "hi={:.6g} n=0{}{}{}\n",
          deck, deck::to_string(run.order), *predicted, *predicted, *predicted,
          run.host_work ? " host_work=on" : "", run.device.empty() ? "" : " device=" + run.device,
          point);
    }
    if (run.samples_s.empty()) continue;
    figure(run, deck::Metric::time, timeline::time_s(run));
    if (run.bytes > 0) figure(run, deck::Metric::throughput, timeline::throughput(run));
    if (const auto s = timeline::speedup(run, result.runs)) figure(run, deck::Metric::speedup, *s);
    if (run.verified) figure(run, deck::Metric::max_error, base::summarize({run.max_error}));
    for (const auto& [metric, value] :
         {std::pair(deck::Metric::overlap_efficiency,
                    timeline::overlap_efficiency(run, result.runs)),
          std::pair(deck::Metric::bound_fraction, timeline::bound_fraction(run)),
          std::pair(deck::Metric::schedule_bound_fraction, timeline::schedule_bound_fraction(run)),
          std::pair(deck::Metric::host_work_hidden,
                    timeline::host_work_hidden(run, result.runs))}) {
      if (value) figure(run, metric, *value);
    }
  }
  for (const verdict::Check& check : result.checks) {
    text += fmt::format("OVERLAP_CHECK metric={} order={} verdict={} value={:.6g} limit={:.6g}{}\n",
                        deck::to_string(check.metric), deck::to_string(check.order),
                        verdict::to_string(check.verdict), check.value.median, check.limit, point);
  }
  return text;
}

std::string verdict_line(verdict::Verdict verdict, base::ExitCode code, bool ran) {
  // A limit on max_error that is broken is the user's word on the data, too.
  const bool wrong = code == base::ExitCode::wrong_data;
  return fmt::format("OVERLAP_RESULT verdict={} data={} exit={}\n", verdict::to_string(verdict),
                     wrong ? "WRONG"
                     : ran ? "OK"
                           : "NONE",
                     static_cast<int>(code));
}

std::string result_lines(const Result& result) {
  const bool ran = std::any_of(result.runs.begin(), result.runs.end(),
                               [](const timeline::Run& run) { return !run.samples_s.empty(); });
  return point_lines(result) + verdict_line(result.verdict, result.exit_code, ran);
}

namespace {

/// The schedule of a custom workload: its tasks' names instead of chunks, slots and arrays.
std::string custom_table(const schedule::Schedule& schedule) {
  Rows rows = {{"task", "name", "stage", "lane", "bytes", "duration", "share", "after"}};
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto given = [](bool is, const std::string& text) { return is ? text : "-"; };
    std::vector<std::string> after;
    for (const schedule::TaskId other : task.after) after.push_back(schedule.names[other]);
    if (task.blocking) after.emplace_back("(blocks the host)");
    rows.push_back({fmt::format("{}", id), schedule.names[id], schedule::to_string(task.stage),
                    given(task.stage != schedule::Stage::host, fmt::format("{}", task.lane)),
                    given(task.bytes > 0, fmt::format("{}", task.bytes)),
                    given(task.duration_s > 0, format_seconds(task.duration_s)),
                    given(task.share > 0, fmt::format("{}", task.share)),
                    given(!after.empty(), fmt::format("{}", fmt::join(after, " ")))});
  }
  const schedule::Traffic traffic = schedule::traffic(schedule);
  return fmt::format("{}: {} tasks, {} lanes, {} to the device, {} back\n{}\n",
                     deck::to_string(schedule.order), schedule.tasks.size(), schedule.lanes,
                     format_bytes(traffic.h2d), format_bytes(traffic.d2h), align(rows, true));
}

}  // namespace

std::string schedule_table(const timeline::Run& run) {
  const schedule::Schedule& schedule = run.schedule;
  if (!schedule.names.empty()) return custom_table(schedule);
  Rows rows = {{"task", "stage", "op", "chunk", "slot", "lane", "array", "bytes", "after"}};
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const bool on_host = schedule::on_host(task.stage);
    std::string after = fmt::format("{}", fmt::join(task.after, " "));
    if (task.blocking) after += after.empty() ? "(blocks the host)" : " (blocks the host)";
    rows.push_back(
        {fmt::format("{}", id), schedule::to_string(task.stage),
         on_host ? "-" : fmt::format("{}", task.op + 1), fmt::format("{}", task.chunk),
         fmt::format("{}", schedule.chunks[static_cast<std::size_t>(task.chunk)].slot),
         on_host ? "-" : fmt::format("{}", task.lane),
         task.array < 0 ? "-" : schedule.arrays[static_cast<std::size_t>(task.array)].name,
         fmt::format("{}", task.bytes), after.empty() ? "-" : after});
  }
  const schedule::Traffic traffic = schedule::traffic(schedule);
  return fmt::format("{}: {} tasks, {} chunks, {} lanes, {} slots, {} to the device, {} back\n{}\n",
                     order_words(run), schedule.tasks.size(), schedule.chunks.size(),
                     schedule.lanes, schedule.slots, format_bytes(traffic.h2d),
                     format_bytes(traffic.d2h), align(rows, true));
}

std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu, const std::map<deck::WorkloadKind, std::string>& unavailable) {
  std::string text = "workloads\n";
  const auto words = [&](const auto& table, const auto& note) {
    Rows rows;
    for (const auto& word : table) {
      rows.push_back({"  " + std::string(word.name), std::string(word.help) + note(word.value)});
    }
    text += align(rows, false);
  };
  words(deck::words<deck::WorkloadKind>, [&](deck::WorkloadKind kind) -> std::string {
    const auto missing = unavailable.find(kind);
    return missing == unavailable.end() ? "" : " (unavailable: " + missing->second + ")";
  });
  text += "\nissue orders\n";
  words(deck::words<deck::Order>, [](deck::Order) { return ""; });
  text += "\nmodel devices\n";
  Rows models;
  for (const std::string& name : model::device_names()) {
    models.push_back({"  " + name, model::load_device(name).title});
  }
  text += align(models, false);
  text +=
      fmt::format("\nback end\n  {} (Kokkos {})\n\ndevices\n", build.backend, build.kokkos_version);
  for (const base::DeviceInfo& device : devices) text += device_table(device, gpu);
  if (devices.empty()) text += "none visible\n";
  return text;
}

std::string version(const base::BuildInfo& build) {
  const base::Version v = base::version();
  std::string text = fmt::format("miniapp {}", v.version);
  if (*v.git_sha != '\0') text += fmt::format(" ({}{})", v.git_sha, v.dirty ? ", modified" : "");
  text += fmt::format("\nKokkos {}, back end {}\ncompiler {}\nCUDA {}\nKokkos Kernels {}\n",
                      build.kokkos_version, build.backend, build.compiler,
                      build.cuda_toolkit.empty() ? "none" : build.cuda_toolkit,
                      build.kokkos_kernels_version.empty() ? "none" : build.kokkos_kernels_version);
  return text;
}

}  // namespace overlap::report
