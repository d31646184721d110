#include "report/console.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "deck/words.hpp"
#include "model/load.hpp"
#include "report/picture.hpp"
#include "report/sweep.hpp"
#include "report/tables.hpp"

namespace overlap::report {
namespace {

using base::format_bytes;
using base::format_seconds;
using experiment::Case;
using experiment::Run;
using experiment::Trace;

/// A device and what it can do, one property per line.
std::string device_table(const base::DeviceInfo& device, bool gpu) {
  const auto bytes = [](const std::optional<std::int64_t>& n) {
    return format_bytes(n.value_or(0));
  };
  const std::string memory = fmt::format("{} {} of {}", bytes(device.free_bytes),
                                         gpu ? "free" : "available", bytes(device.total_bytes));
  if (!gpu) return base::align({{"device", device.name}, {"  memory", memory}}, false);
  const auto number = [](const std::optional<int>& value, const char* unit = "") {
    return value ? fmt::format("{}{}", *value, unit) : std::string("unknown");
  };
  const auto pcie = [](std::optional<int> gen, std::optional<int> width) {
    return base::spell_link(gen, width).value_or("unknown");
  };
  const auto word = [](const std::optional<bool>& value, const char* yes, const char* no) {
    return !value ? "unknown" : *value ? yes : no;
  };
  const Rows rows = {
      {"device", device.name},
      {"  UUID", device.uuid},
      {"  capability",
       fmt::format("compute {}, {} copy engines, concurrent kernels: {}", device.compute_capability,
                   number(device.copy_engines), word(device.concurrent_kernels, "yes", "no"))},
      {"  memory", memory},
      {"  link",
       fmt::format("PCIe {}, at most {}; NUMA node {}", pcie(device.pcie_gen, device.pcie_width),
                   pcie(device.pcie_gen_max, device.pcie_width_max), number(device.numa_node))},
      {"  state",
       fmt::format("SM clock {} of {}, ECC {}, MIG {}", number(device.sm_clock_mhz, " MHz"),
                   number(device.sm_clock_max_mhz, " MHz"), word(device.ecc, "on", "off"),
                   word(device.mig, "on", "off"))}};
  return base::align(rows, false);
}

/// Whether the device's health can be read: the driver's version comes from the same library.
std::string health_words(const base::DeviceInfo& device, bool gpu) {
  if (!gpu) return "not read: this back end has no management library";
  if (!device.driver) return "not read: the driver's management library is missing";
  return "read by driver " + *device.driver;
}

/// Measured timelines of schedules that fit on a screen.
std::string timelines(const Outcome& outcome, int width) {
  constexpr std::size_t most_tasks = 64;
  std::string text;
  for (const Run& run : outcome.runs) {
    if (!run.untraced.empty()) {
      text += fmt::format("\n{}, not traced: {}\n", name(run), run.untraced);
    }
    if (!run.trace || run.schedule.tasks.size() > most_tasks) continue;
    const Trace& trace = *run.trace;
    text +=
        fmt::format("\n{}, traced by {} ({:+.1f} % against the median{})\n", name(run),
                    trace.source, 100 * trace.perturbation, trace.doubtful ? ": doubtful" : "") +
        ascii_timeline(run.schedule, trace.timeline, width);
  }
  return text;
}

/// The values of a swept key; of many only the first and the last.
std::string values_words(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Axis::Value& value : axis.values) texts.push_back(value.text);
  constexpr std::size_t most = 16;
  if (texts.size() <= most) return fmt::format("{}", fmt::join(texts, ", "));
  return fmt::format("{}, ..., {} ({} values)",
                     fmt::join(texts.begin(), texts.begin() + most - 2, ", "), texts.back(),
                     texts.size());
}

/// A table with words above it; nothing where it is empty.
std::string section(const std::string& words, const Rows& rows, bool numbers = true) {
  return rows.empty() ? "" : "\n" + words + base::align(rows, numbers);
}

/// A line of words; nothing where there are none.
std::string line(const std::string& words) { return words.empty() ? "" : words + "\n"; }

std::string predictions(const Study& study, const Outcome& outcome, int width) {
  std::string text = title(study) + base::align(facts(study, outcome), false) + "\n" +
                     base::align(prediction_rows(outcome), true);
  for (const Run& run : outcome.runs) {
    text += fmt::format("\n{} on {}\n", name(run), run.device) +
            ascii_timeline(run.schedule, *run.predicted, width);
  }
  return text + section("", check_rows(outcome)) + "\n";
}

}  // namespace

std::string title(const Study& study) {
  const std::string text = base::one_line(study.deck().title) + "\n\n";
  if (study.predicts()) return text;
  const auto& [build, host, device, job, placement] = study.machine;
  return text + device_table(device.value_or(base::device_of(host)), device.has_value());
}

std::string sweep_heading(const Study& study) {
  Rows rows;
  if (!study.predicts()) rows = provenance(study.machine);
  rows.push_back({"deck", study.deck().path});
  rows.push_back({"workload", workload_line(study.deck().workload, study.points.front().values)});
  if (study.predicts()) {
    rows.push_back({"devices", fmt::format("{}", fmt::join(study.devices, ", "))});
  }
  rows.push_back({"sweep", base::counted(study.points.size(), "point")});
  for (const Axis& axis : study.axes) rows.push_back({"  " + axis.key, values_words(axis)});
  return title(study) + base::align(rows, false);
}

std::string heading(const Study& study, const experiment::Plan& plan) {
  return title(study) + base::align(facts(study, plan), false);
}

std::string table(const Study& study, int width) {
  if (study.sweeps()) {
    const bool empty = !study.any([](const Row&) { return true; });
    return empty ? "" : sweep_table(study, width);
  }
  if (study.outcome() == nullptr) return "";
  const Outcome& outcome = *study.outcome();
  if (study.predicts() && !outcome.runs.empty()) return predictions(study, outcome, width);
  if (!outcome.ran()) return "";
  std::string text = section("", order_rows(outcome)) + line(unexpected_words(outcome)) +
                     timelines(outcome, width) +
                     section("host work while the device works\n", host_work_rows(outcome)) +
                     section("compared with the undisturbed runs\n", disturbance_rows(outcome)) +
                     section("the host, per repetition\n", issue_rows(outcome)) +
                     section(product_words(outcome), product_rows(outcome));
  if (const std::string words = bound_words(outcome); !words.empty()) {
    text += section("rates, measured after the runs\n", rate_rows(outcome)) +
            section(words + "\n", bound_rows(outcome));
  }
  text += section(fmt::format("the link, copies of {}\n", format_bytes(outcome.device.link_bytes)),
                  link_rows(outcome)) +
          section(fmt::format("health of the device: {}\n", throttle_words(outcome)),
                  health_rows(outcome)) +
          section("", finding_rows(outcome), false);
  const bool product = outcome.deck.workload.kind == deck::WorkloadKind::dgemm;
  text += fmt::format("\n{} verified {} in {}\n", base::counted(outcome.verified_runs, "run"),
                      product ? "by Freivalds' check" : "element by element",
                      format_seconds(outcome.reference_s));
  return text + line(stop_words(outcome)) + section("", check_rows(outcome)) + "\n";
}

std::string wrong_data(const Outcome& outcome) {
  std::string text;
  for (const Run& run : outcome.runs) {
    if (!run.wrong) continue;
    text +=
        fmt::format("wrong data: {}order {}, chunk {}, array {}, index {}: expected {}, found {}\n",
                    outcome.values.empty() ? "" : point_words(outcome.values) + ", ", name(run),
                    run.wrong->chunk, run.wrong->array, run.wrong->index, run.wrong->expected,
                    run.wrong->found);
  }
  return text;
}

std::vector<std::string> reasons(const Study& study, bool with_errors) {
  std::vector<std::string> lines;
  constexpr std::size_t most = 8;
  std::size_t shown = 0;
  for (const PointResult& point : study.done) {
    for (const std::string& reason : point.reasons) {
      if (!with_errors && reason == point.ended_by) continue;
      if (point.code != study.exit_code() || ++shown > most) continue;
      lines.push_back(
          (study.sweeps() ? point_words(study.points[point.number].values) + ": " : "") +
          base::one_line(reason));
    }
  }
  if (shown > most) lines.push_back(fmt::format("and {} more", shown - most));
  return lines;
}

std::string verdict_words(const Study& study, bool named) {
  std::string text = fmt::format("verdict{}: {}", named ? " of " + study.deck().name() : "",
                                 deck::to_string(study.verdict()));
  for (const std::string& line : reasons(study, false)) text += "\n  " + line;
  return text + "\n";
}

std::string schedule_table(const Case& run) {
  const schedule::Schedule& schedule = run.schedule;
  const bool custom = !schedule.names.empty();
  const auto given = [](bool is, const auto& value) { return is ? fmt::format("{}", value) : "-"; };
  Rows rows = {{"task", "stage", "op", "chunk", "slot", "lane", "array", "bytes", "after"}};
  if (custom) rows = {{"task", "name", "stage", "lane", "bytes", "duration", "share", "after"}};
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    std::vector<std::string> others;
    for (const schedule::TaskId other : task.after) {
      others.push_back(custom ? schedule.names[other] : fmt::format("{}", other));
    }
    if (task.blocking) others.emplace_back("(blocks the host)");
    const std::string number = fmt::format("{}", id);
    const std::string stage = schedule::to_string(task.stage);
    const std::string after = others.empty() ? "-" : fmt::format("{}", fmt::join(others, " "));
    if (custom) {
      rows.push_back({number, schedule.names[id], stage,
                      given(!schedule::waits_for_lanes(task.stage), task.lane),
                      given(task.bytes > 0, task.bytes),
                      given(task.duration_s > 0, format_seconds(task.duration_s)),
                      given(task.share > 0, task.share), after});
      continue;
    }
    const bool on_lane = !schedule::on_host(task.stage);
    const auto used = schedule::uses(schedule, task);
    const int slot = used.empty() ? -1 : used.back().slot;
    const schedule::Array* const array = schedule::copied_array(schedule, task);
    rows.push_back({number, stage, given(on_lane, task.op + 1), fmt::format("{}", task.chunk),
                    given(slot >= 0, slot), given(on_lane, task.lane),
                    array == nullptr ? "-" : array->name, fmt::format("{}", task.bytes), after});
  }
  const schedule::Traffic traffic = schedule::traffic(schedule);
  const auto count = [&](const char* what, int n) {
    return custom ? "" : ", " + base::counted(n, what);
  };
  return fmt::format("{}: {}{}, {}{}, {} to the device, {} back\n{}\n", order_words(run),
                     base::counted(schedule.tasks.size(), "task"), count("chunk", schedule.chunks),
                     base::counted(schedule.lanes, "lane"), count("slot", schedule.slots),
                     format_bytes(traffic.h2d), format_bytes(traffic.d2h), base::align(rows, true));
}

PointRow point_row(const experiment::Plan& plan) {
  PointRow row;
  for (const auto& [key, text] : plan.values) row.emplace_back(key, text);
  for (const Case& one : plan.cases) {
    if (one.host_work || one.disturbance) continue;
    row.emplace_back(deck::to_string(one.order),
                     fmt::format("{} on {}", one.schedule.tasks.size(), one.schedule.lanes));
  }
  return row;
}

std::string point_table(const std::vector<PointRow>& points) {
  std::vector<std::string> columns;
  for (const PointRow& point : points) {
    for (const auto& [column, cell] : point) {
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  Rows rows = {columns};
  for (const PointRow& point : points) {
    const std::map<std::string, std::string> cells(point.begin(), point.end());
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& column : columns) {
      row.push_back(cells.contains(column) ? cells.at(column) : "-");
    }
  }
  const auto& [key, text] = points.front().front();
  return fmt::format(
      "{}; number of tasks on lanes per order (for the schedules of one point: --set {}={} "
      "and so on)\n{}",
      base::counted(points.size(), "point"), key, text, base::align(rows, true));
}

std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu, const std::map<deck::WorkloadKind, std::string>& unavailable) {
  std::string text = "workloads\n";
  const auto words = [&](const auto& table, const auto& note) {
    Rows rows;
    for (const auto& word : table) {
      rows.push_back({"  " + std::string(word.name), std::string(word.help) + note(word.value)});
    }
    text += base::align(rows, false);
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
  text += base::align(models, false);
  text +=
      fmt::format("\nback end\n  {} (Kokkos {})\n\ndevices\n", build.backend, build.kokkos_version);
  for (const base::DeviceInfo& device : devices) {
    text += device_table(device, gpu) + "  health  " + health_words(device, gpu) + "\n";
  }
  if (devices.empty()) text += "none visible\n";
  return text;
}

std::string version(const base::BuildInfo& build) {
  const base::Version v = base::version();
  std::string text = fmt::format("miniapp {}", v.version);
  if (*v.git_sha != '\0') text += fmt::format(" ({}{})", v.git_sha, v.dirty ? ", modified" : "");
  text += fmt::format("\nKokkos {}, back end {}\ncompiler {}\n{}\nKokkos Kernels {}\n",
                      build.kokkos_version, build.backend, build.compiler,
                      !build.hip_toolkit.empty()    ? "HIP " + build.hip_toolkit
                      : !build.cuda_toolkit.empty() ? "CUDA " + build.cuda_toolkit
                                                    : "CUDA none",
                      build.kokkos_kernels_version.empty() ? "none" : build.kokkos_kernels_version);
  return text;
}

}  // namespace overlap::report
