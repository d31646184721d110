#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/units.hpp"
#include "model/load.hpp"
#include "report/reports.hpp"

namespace overlap::report {
namespace {

using base::format_bytes;
using base::format_seconds;
using experiment::Case;

/// Whether the device's health can be read: the driver's version comes from the same library.
std::string health_source(const base::DeviceInfo& device, bool gpu) {
  if (!gpu) return "not read: this back end has no management library";
  if (!device.driver) return "not read: the driver's management library is missing";
  return "read by driver " + *device.driver;
}

/// The title of a device of the model, and what its predictions lack.
std::string title_of(const model::Device& device) {
  std::vector<std::string> known;
  for (const deck::WorkloadRow& row : deck::workloads) {
    const std::string kind(row.name);
    if (row.split == deck::Split::tasks || device.predicts(kind)) known.push_back(kind);
  }
  const bool all = known.size() == deck::workloads.size();
  return device.title + (device.match ? "" : "; described, not measured") +
         (all ? "" : fmt::format("; only {}", fmt::join(known, ", ")));
}

std::string shown(Table table) {
  Report report;
  add(report.blocks, std::move(table));
  return terminal(report, {.width = 1000});
}

}  // namespace

std::string schedule_table(const Case& planned) {
  const schedule::Schedule& schedule = planned.schedule;
  const bool custom = !schedule.names.empty();
  const auto cell = [](bool has, auto value) { return has ? fmt::format("{}", value) : "-"; };
  Table table{.columns = {"task", "name", "stage", "op", "chunk", "slot", "lane", "array", "bytes",
                          "duration", "share", "after"}};
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    std::vector<std::string> others;
    for (const schedule::TaskId other : task.after) {
      others.push_back(custom ? schedule.names[other] : std::to_string(other));
    }
    if (task.blocking) others.emplace_back("(blocks the host)");
    const bool on_lane = !schedule::on_host(task.stage);
    const int slot = task.operands.empty() || custom ? -1 : task.operands.back().slot;
    const schedule::Array* const array = schedule::copied_array(schedule, task);
    table.rows.push_back({id, custom ? schedule.names[id] : "-", schedule::to_string(task.stage),
                          cell(on_lane && !custom, task.op + 1), cell(!custom, task.chunk),
                          cell(slot >= 0, slot), cell(on_lane, task.lane),
                          array == nullptr || custom ? "-" : array->name,
                          cell(task.bytes > 0, task.bytes),
                          cell(task.duration_s > 0, format_seconds(task.duration_s)),
                          cell(task.share > 0, task.share),
                          others.empty() ? "-" : fmt::format("{}", fmt::join(others, " "))});
  }
  const schedule::Traffic traffic = schedule::traffic(schedule);
  const auto count = [&](const char* noun, int n) {
    return custom ? "" : ", " + base::counted(n, noun);
  };
  table.title =
      fmt::format("{}: {}{}, {}{}, {} to the device, {} back", order_label(planned.run),
                  base::counted(schedule.tasks.size(), "task"), count("chunk", schedule.chunks),
                  base::counted(schedule.lanes, "lane"), count("slot", schedule.slots),
                  format_bytes(traffic.h2d), format_bytes(traffic.d2h));
  return shown(std::move(table)) + "\n";
}

std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu, const std::map<deck::WorkloadKind, std::string>& unavailable,
                 bool verbose) {
  Blocks blocks;
  const auto add_list = [&](const char* heading, const Facts& facts) {
    blocks.push_back({Heading{.text = heading}});
    add_facts(blocks, facts);
  };
  const auto facts_of = [](const auto& table, const auto& note) {
    Facts facts;
    for (const auto& word : table) {
      facts.emplace_back("  " + std::string(word.name), std::string(word.help) + note(word.value));
    }
    return facts;
  };
  add_list("workloads", facts_of(describe::words<deck::WorkloadKind>, [&](deck::WorkloadKind kind) {
             const auto missing = unavailable.find(kind);
             return missing == unavailable.end() ? "" : " (unavailable: " + missing->second + ")";
           }));
  add_list("issue orders", facts_of(describe::words<deck::Order>, [](deck::Order) { return ""; }));
  Facts models;
  bool hides = false;
  for (const std::string& name : model::device_names()) {
    const bool teaches = name.starts_with("ideal_");
    hides = hides || (teaches && !verbose);
    if (teaches && !verbose) continue;
    models.emplace_back("  " + name, title_of(model::load_device(name)));
  }
  if (hides) models.emplace_back("  ideal_*", "for teaching: miniapp --list --verbose");
  add_list("model devices", models);
  add_list("back end", {{"  " + build.backend, "Kokkos " + build.kokkos_version}});
  add_list("devices", {});
  for (const base::DeviceInfo& device : devices) {
    Facts facts = device_facts(device, gpu);
    facts.emplace_back("  health", health_source(device, gpu));
    add_facts(blocks, facts);
  }
  if (devices.empty()) add(blocks, "none visible");
  return terminal({.blocks = std::move(blocks)}, {.width = 1000});
}

std::string version(const base::BuildInfo& build) {
  std::string text = fmt::format("miniapp {}", build.version);
  if (!build.git_sha.empty()) {
    text += fmt::format(" ({}{})", build.git_sha, build.dirty ? ", modified" : "");
  }
  text += fmt::format("\nKokkos {}, back end {}\ncompiler {}\n{}\nKokkos Kernels {}\n",
                      build.kokkos_version, build.backend, build.compiler,
                      !build.hip_toolkit.empty()    ? "HIP " + build.hip_toolkit
                      : !build.cuda_toolkit.empty() ? "CUDA " + build.cuda_toolkit
                                                    : "CUDA none",
                      build.kokkos_kernels_version.empty() ? "none" : build.kokkos_kernels_version);
  return text;
}

}  // namespace overlap::report
