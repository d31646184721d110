#include <cmath>

#include "base/parallel.hpp"
#include "report/fields.hpp"
#include "report/fleet.hpp"
#include "report/page.hpp"

namespace overlap::report {

using experiment::DeviceRecord;
using experiment::Fleet;
using enum Sign;

/// A part of a fleet that refers to devices by number, and the fleet.
template <class T>
struct In {
  const T& part = example<T>();
  const Fleet& fleet = example<Fleet>();
};

namespace {

template <class T>
std::vector<In<T>> all_in(const Fleet& fleet, const std::vector<T>& parts) {
  std::vector<In<T>> all;
  for (const T& part : parts) all.push_back({part, fleet});
  return all;
}

struct NamedDriver {
  std::string driver;
  std::size_t devices = 0;
  std::vector<std::string> units;
};
struct PhaseVerdict {
  deck::Phase phase = deck::Phase::alone;
  experiment::Verdict verdict = experiment::Verdict::pass;
};

/// The device that a number stands for; an example has none.
const DeviceRecord& device_at(const Fleet& fleet, std::size_t number) {
  return number < fleet.devices.size() ? fleet.devices[number] : example<DeviceRecord>();
}

std::vector<NamedDriver> named(const std::vector<experiment::DriverUse>& drivers,
                               const Fleet& fleet) {
  std::vector<NamedDriver> all;
  for (const auto& [driver, devices] : drivers) {
    NamedDriver& one = all.emplace_back(NamedDriver{.driver = driver, .devices = devices.size()});
    if (all.size() == 1) continue;  // all others
    for (const std::size_t device : devices) one.units.push_back(fleet.devices[device].unit);
  }
  return all;
}

/// What all descriptions of figures have in common.
void add_key(Record& add, const experiment::FigureKey& key) {
  add("phase", "Whether the device worked alone or together with the others of its node.",
      key.phase);
  add("order", "Issue order; null: a metric of the device.", key.order);
  add("metric", "Metric.", key.metric);
}

}  // namespace

void fields(Record& add, const experiment::Figure& of) {
  add_key(add, of.key);
  add("median", "Median of its samples.", of.value.median);
  add("lo", "Lower end of the 95 % interval of the median.", of.value.lo);
  add("hi", "Upper end of it.", of.value.hi);
  add("n", "Samples.", of.value.n, from_zero);
}

void fields(Record& add, const experiment::Trouble& of) {
  add("phase", "Phase; null: all.", of.phase);
  add("verdict", "Verdict of the device for this reason.", experiment::verdict_of(of.code));
  add("text", "The reason.", of.text);
}

void fields(Record& add, const PhaseVerdict& of) {
  add("phase", "Phase.", of.phase);
  add("verdict", "The worst of the reasons that concern it.", of.verdict);
}

void fields(Record& add, const DeviceRecord& of) {
  std::vector<PhaseVerdict> phases;
  for (const deck::Phase phase : phases_of(of)) {
    phases.push_back({phase, experiment::verdict_of(exit_code_of(of, phase))});
  }
  const base::ExitCode code = exit_code_of(of);
  add("file", "Result file.", of.file);
  add("host", "Host name.", of.host);
  add("uuid", "UUID; without one the PCI address; on host back ends rankN, or the host's name.",
      of.unit);
  add("slot", "PCI address, or rank; null: unknown.", or_null(of.slot));
  add("device", "Name of the device; on host back ends the processor.", of.machine.device);
  add("link", "Generation and width of the link; null: none, or unknown.", of.machine.link);
  add("backend", "Default execution space.", of.machine.backend);
  add("deck", "Identity of the deck.", of.machine.deck);
  add("deck_name", "Name of the deck.", of.deck_name);
  add("build", "Version and commit of the program.", of.build);
  add("driver", "Version of the driver; null: unknown.", or_null(of.driver));
  add("started", "When the program started, UTC.", of.started);
  add("verdict", "The worst of all reasons.", experiment::verdict_of(code));
  add.raw("exit_code", "Its exit code.", static_cast<int>(code), exit_codes());
  add("phases", "Verdict of each phase that it took part in.", phases);
  add("reasons", "Why it does not pass, outliers included.", of.troubles);
  add("figures", "Every metric, by phase and order.", of.figures);
}

void fields(Record& add, const In<experiment::Standing>& in) {
  const experiment::Standing& of = in.part;
  const DeviceRecord& device = device_at(in.fleet, of.device);
  add("host", "Host name.", device.host);
  add("uuid", "UUID, or what stands for it.", device.unit);
  add("value", "Median of its samples.", of.value);
  add("off", "value / median of all devices - 1.", of.off);
  add("score", "0.6745 (value - median) / MAD; null: the MAD is 0.",
      std::isfinite(of.score) ? std::optional(of.score) : std::nullopt);
  add("slow", "Whether it is on the worse side of the median.", of.slow);
}

void fields(Record& add, const In<experiment::Distribution>& in) {
  const experiment::Distribution& of = in.part;
  add_key(add, of.key);
  add("unit", "Unit of the metric.", deck::row_of(of.key.metric).unit);
  add("devices", "Devices that have the figure.", of.devices, above_zero);
  add("median", "Median of the devices' medians.", of.median);
  add("mad", "Median absolute deviation.", of.mad, from_zero);
  add("min", "Least.", of.min);
  add("max", "Largest.", of.max);
  add("slowest", "The slowest devices, worst first; empty: devices are not compared by it.",
      all_in(in.fleet, of.slowest));
  add("outliers",
      "Devices beyond a modified z-score of 3.5 and more than 2 % off the median; slow ones, which "
      "fail, first; needs at least 8 devices.",
      all_in(in.fleet, of.outliers));
}

void fields(Record& add, const NamedDriver& of) {
  add("driver", "Version of the driver; null: unknown.", or_null(of.driver));
  add("devices", "Devices that have it.", of.devices, above_zero);
  add("uuids", "Which; empty for the most frequent driver.", of.units);
}

void fields(Record& add, const experiment::NodeTotal& of) {
  add("host", "Host name.", of.host);
  add("order", "Issue order.", of.order);
  add("devices", "Devices of the node.", of.devices, above_zero);
  add("alone", "Sum of the devices' throughput alone, GB/s.", of.alone, from_zero);
  add("together", "Sum of it together, GB/s.", of.together, from_zero);
  add("bound", "Sum of their duplex rates together, GB/s; null: not measured.", of.bound,
      from_zero);
}

void fields(Record& add, const In<experiment::Group>& in) {
  const experiment::Group& of = in.part;
  const experiment::Subject& machine = of.machine;
  add("device", "Name of the devices.", machine.device);
  add("link", "Generation and width of their links; null: none, or unknown.", machine.link);
  add("backend", "Default execution space.", machine.backend);
  add("deck", "Identity of the deck.", machine.deck);
  add("deck_name", "Name of the deck.", of.deck_name);
  add("build", "Version and commit of the program.", of.build);
  add("devices", "Devices with figures.", of.devices.size(), above_zero);
  add("drivers", "Drivers, the most frequent first.", named(of.drivers, in.fleet));
  add("distributions", "Each figure over all devices.", all_in(in.fleet, of.distributions));
  add("nodes", "Throughput of the devices of each node together; only with both phases.", of.nodes);
}

void fields(Record& add, const In<experiment::History>& in) {
  const experiment::History& of = in.part;
  const DeviceRecord& device = device_at(in.fleet, of.device);
  add("host", "Host name, in the newest result.", device.host);
  add("uuid", "UUID, or what stands for it.", device.unit);
  add_key(add, of.key);
  add("results", "Results that have the figure.", of.results, above_zero);
  add("since", "When the first of them started, UTC.", of.since);
  add("first", "Median in the first of them.", of.first);
  add("last", "Median in the newest.", of.last);
  add("change", "last / first - 1.", of.change());
}

void fields(Record& add, const In<experiment::Unsteady>& in) {
  const experiment::Unsteady& of = in.part;
  const DeviceRecord& device = device_at(in.fleet, of.device);
  add("host", "Host name, in the newest result.", device.host);
  add("uuid", "UUID, or what stands for it.", device.unit);
  add("deck_name", "Name of the deck.", device.deck_name);
  add("times", "How often a result failed and the next one passed.", of.times, above_zero);
  add("results", "Results of the device with this deck.", of.results, above_zero);
  add("last", "When the last such failed result started, UTC.", of.last);
}

void fields(Record& add, const experiment::MissingDevices& of) {
  add("host", "Host name; null: unknown.", or_null(of.host));
  add("missing", "How many have no result.", of.missing, above_zero);
  add("expected", "Of how many.", of.expected, above_zero);
  add("ranks", "Their ranks, up to 64; empty: unknown.", of.ranks, from_zero);
  add("local_ranks", "Their ranks among those of the host, up to 64; empty: unknown.",
      of.local_ranks, from_zero);
}

void fields(Record& add, const experiment::BrokenFile& of) {
  add("file", "File.", of.file);
  add("text", "Why it is not a valid result.", of.text);
}

/// A fleet, with these devices.
void add_fields(Record& add, const Fleet& of, const std::vector<DeviceRecord>& devices) {
  constexpr const char* schema = "overlap-fleet/1";
  add.raw("schema", "Name and version of this format.", schema, {{"const", schema}});
  add("files", "Files that were read.", of.files, from_zero);
  add("superseded", "Results with a newer one of the same device and deck.", of.superseded,
      from_zero);
  add("missing_hosts", "Expected hosts without a result.", of.missing);
  add("missing_devices", "Devices without a result of hosts that have some.", of.missing_devices);
  add("broken_files", "Files that are not valid results.", of.broken);
  add("left_out", "Other files of this program, which were skipped, in words.", of.left_out);
  add("groups", "Devices of one kind on one kind of link, with one deck and one build.",
      all_in(of, of.groups));
  add("history", "Figures of devices with several results.", all_in(of, of.histories));
  add("unsteady", "Devices that passed after they had failed.", all_in(of, of.unsteady));
  add("devices", "The newest result of each device and deck, by host.", devices);
  add("verdict", "The worst of all devices, missing hosts and devices, and broken files.",
      of.verdict());
  add.raw("exit_code", "Exit code.", static_cast<int>(of.exit_code()), exit_codes());
}

void fields(Record& add, const Fleet& of) { add_fields(add, of, of.devices); }

std::string fleet_json(const Fleet& fleet) {
  Record record(false);
  add_fields(record, fleet, {});
  const std::string rest = json_text(std::move(record).json(), 2) + "\n";
  if (fleet.devices.empty()) return rest;
  // Devices as text, one by one: all of them as objects would take ten times the memory.
  std::vector<std::string> devices(fleet.devices.size());
  const auto write = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      devices[i] = json_text(json_of(fleet.devices[i]));
    }
  };
  constexpr std::int64_t least_devices = 64;  // of a thread
  base::parallel_for(static_cast<std::int64_t>(devices.size()), write, least_devices);
  constexpr std::string_view none = "\n  \"devices\": []";  // no string has it: quotes are escaped
  const std::size_t at = rest.find(none) + none.size() - 1;
  std::size_t size = rest.size();
  for (const std::string& device : devices) size += device.size() + 8;
  std::string text;
  text.reserve(size);
  text.append(rest, 0, at);
  for (std::string& device : devices) {
    text.append(&device == &devices.front() ? "\n    " : ",\n    ").append(device);
    device = std::string();  // as many bytes less
  }
  return text.append("\n  ").append(rest, at);
}

std::string fleet_schema() {
  Json schema = schema_head("overlap-fleet/1", "What miniapp found about many devices.");
  schema.update(schema_of<Fleet>());
  return schema.dump(2) + "\n";
}

}  // namespace overlap::report
