#include "results/describe.hpp"
#include "results/fleet.hpp"

/// Fleet files.
namespace overlap::results {

using describe::above_zero;
using describe::from_zero;
using describe::Visitor;

struct PhaseVerdict {
  deck::Phase phase = deck::Phase::alone;
  Verdict verdict = Verdict::pass;
};

namespace {

/// What like devices have in common.
void describe_kind(Visitor& v, Subject& machine, std::string& deck_name, std::string& build) {
  v("device", machine.device, "Name of the device; on host back ends the processor.");
  v("link", machine.link, "Generation and width of the link; null: none, or unknown.");
  v("backend", machine.backend, "Default execution space.");
  v("deck", machine.deck, "Identity of the deck.");
  v("deck_name", deck_name, "Name of the deck.");
  v("build", build, "Version and commit of the program.");
}

/// The verdict and the exit code of something.
void describe_code(Visitor& v, base::ExitCode& code, const char* help) {
  derived(v, "verdict", verdict_of(code), help);
  v("exit_code", code, "Its exit code.", CodeNumber());
}

}  // namespace

void describe(Visitor& v, DeviceFigure& figure) {
  describe_key(v, figure.key);
  describe_value(v, figure.value);
}

void describe(Visitor& v, Reason& reason) {
  v("phase", reason.phase, "Phase; null: all.");
  describe_code(v, reason.code, "Verdict of the device for this reason.");
  v("figure", reason.figure, "Figure that it is about; null: none.", TextOrNull());
  v("text", reason.text, "The reason.");
}

void describe(Visitor& v, PhaseVerdict& phase) {
  v("phase", phase.phase, "Phase.");
  v("verdict", phase.verdict, "The worst of the reasons that concern it.");
}

void describe(Visitor& v, DeviceResult& result) {
  v("file", result.file, "Result file.");
  v("started", result.started, "When the program started, UTC.");
  describe_code(v, result.code, "Its verdict.");
}

void describe(Visitor& v, FleetDevice& device) {
  v("file", device.file, "Result file; of several the worst.");
  v("host", device.host, "Host name; of nodes of one launch with one name, name#2 and so on.");
  v("uuid", device.unit, "UUID, or else the PCI address, rankN, or the host's name.");
  v("slot", device.slot, "PCI address, or rank; null: unknown.", TextOrNull());
  describe_kind(v, device.subject, device.deck_name, device.build);
  v("driver", device.driver, "Version of the driver; null: unknown.", TextOrNull());
  v("started", device.started, "When the program started, UTC.");
  base::ExitCode code = exit_code_of(device);
  describe_code(v, code, "The worst of all reasons.");
  std::vector<PhaseVerdict> phases;
  for (const deck::Phase phase : phases_of(device)) {
    phases.push_back({phase, verdict_of(exit_code_of(device, phase))});
  }
  v("phases", phases, "Verdict of each phase that it took part in.");
  v("reasons", device.reasons, "Why it does not pass, outliers included.");
  v("figures", device.figures, "Every metric, by phase and order; of several results the worst.");
  v("results", device.results, "All of its results, if there are several.");
}

void describe(Visitor& v, Standing& standing) {
  v("device", standing.device, "Its place in `devices`, from 0.", from_zero);
  v("host", standing.host, "Host name.");
  v("uuid", standing.unit, "UUID, or what stands for it.");
  v("value", standing.value, "Median of its samples.");
  v("off", standing.off, "value / median of all devices - 1.");
  v("score", standing.score, "0.6745 (value - median) / MAD; null: the MAD is 0.", NumberOrNull());
  v("slow", standing.slow, "Whether it is on the worse side of the median.");
}

void describe(Visitor& v, Distribution& figure) {
  describe_key(v, figure.key);
  derived(v, "unit", std::string(deck::row_of(figure.key.metric).unit), "Unit of the metric.");
  v("devices", figure.devices, "Devices that have the figure.", above_zero);
  v("median", figure.median, "Median of the devices' medians.");
  v("mad", figure.mad, "Median absolute deviation.", from_zero);
  v("min", figure.min, "Least.");
  v("max", figure.max, "Largest.");
  v("slowest", figure.slowest, "Worst first; empty: devices are not compared by it.");
  v("outliers", figure.outliers,
    "Devices beyond a modified z-score of 3.5 and more than 2 % off the median; slow ones, which "
    "fail, first. Of 3 to 7 devices, in phase alone, those more than 25 % slower than it.");
}

void describe(Visitor& v, NodeTotal& node) {
  v("host", node.host, "Host name.");
  v("order", node.order, "Issue order.");
  v("devices", node.devices, "Devices of the node.", above_zero);
  v("alone", node.alone, "Sum of the devices' throughput alone, GB/s.", from_zero);
  v("together", node.together, "Sum of it together, GB/s.", from_zero);
  v("bound", node.bound, "Sum of their duplex rates; null: not measured.", from_zero);
}

void describe(Visitor& v, Group& group) {
  describe_kind(v, group.machine, group.deck_name, group.build);
  v("cores", group.cores, "Cores that each process could use; 0: GPUs.", from_zero);
  derived(v, "devices", group.devices.size(), "Devices with figures.", above_zero);
  v("numbers", group.devices, "Their places in `devices`, from 0.", from_zero);
  v("distributions", group.distributions, "Each figure over all devices.");
  v("nodes", group.nodes, "Throughput of each node; only with both phases.");
  v("not_judged", group.not_judged, "What comparing so few devices does not show; null: nothing.",
    TextOrNull());
}

void describe(Visitor& v, MissingDevices& missing) {
  v("host", missing.host, "Host name; null: unknown.", TextOrNull());
  v("launch", missing.launch, "Launch, where the host is unknown.", TextOrNull());
  v("missing", missing.missing, "How many have no result.", above_zero);
  v("expected", missing.expected, "Of how many.", above_zero);
  v("ranks", missing.ranks, "These or more ranks of the launch, up to 64; empty: unknown.");
}

void describe(Visitor& v, BrokenFile& file) {
  v("file", file.file, "File.");
  v("text", file.text, "Why it is not a valid result.");
}

namespace {

/// A fleet, with these devices.
void describe_fleet(Visitor& v, Fleet& fleet, std::vector<FleetDevice>& devices) {
  describe_schema(v, fleet_schema);
  v("files", fleet.files, "Files that were read.", from_zero);
  v("missing", fleet.missing, "Hosts and devices without a result.");
  v("broken_files", fleet.broken, "Files that are not valid results.");
  v("left_out", fleet.left_out, "Files of the folders that are no results.");
  v("notes", fleet.notes, "Nodes that share a name.");
  v("groups", fleet.groups, "Devices of one kind and link, with one deck and build.");
  v("devices", devices, "One per device and deck, by host.");
  base::ExitCode code = fleet.exit_code();
  describe_code(v, code, "The worst of all devices, missing devices and broken files.");
}

}  // namespace

void describe(Visitor& v, Fleet& fleet) { describe_fleet(v, fleet, fleet.devices); }

std::string to_json(const Fleet& fleet) {
  std::vector<FleetDevice> no_devices;
  const Json map = describe::write_map(
      [&](Visitor& v) { describe_fleet(v, const_cast<Fleet&>(fleet), no_devices); });
  const std::string rest = json_text(map, 2) + "\n";
  if (fleet.devices.empty()) return rest;
  // Devices as text, one by one: all of them as objects would take ten times the memory.
  std::string devices;
  for (const FleetDevice& device : fleet.devices) {
    devices += (devices.empty() ? "\n    " : ",\n    ") + json_text(describe::write(device));
  }
  // No string has it: quotes are escaped. Groups have numbers of devices, and more indentation.
  constexpr std::string_view empty_list = "\n  \"devices\": []";
  const std::size_t at = rest.find(empty_list) + empty_list.size() - 1;
  return rest.substr(0, at) + devices + "\n  " + rest.substr(at);
}

}  // namespace overlap::results
