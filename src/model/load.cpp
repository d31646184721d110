#include "model/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.hpp"
#include "deck/words.hpp"
#include "describe/describe.hpp"

namespace overlap::model {

constexpr auto words_of(Queues) {
  return describe::in_order<Queues>("engine", "connection", "worker");
}
constexpr auto words_of(Waits) {
  return describe::in_order<Waits>("nothing", "blocking_lanes", "all_lanes");
}

namespace {

using namespace describe;

using Names = std::vector<std::string>;

constexpr const char* curve_keys = "bandwidth (and latency) or times";

/// A cost or a latency.
Real time() {
  return spelled(seconds("a time from 0 to 1000 s, such as 2.2 us", 0, 1000), base::spell_seconds);
}

Count size() { return spelled(bytes(0), base::spell_bytes); }

Real bandwidth() {
  return {.allowed = "a bandwidth from 1 B/s to 1000 TB/s, such as 5.04 GB/s",
          .least = 1,
          .most = 1e15,
          .unit = "B/s",
          .parser = base::parse_bandwidth,
          .spell = base::spell_bandwidth};
}

Real flop_rate() {
  return {.allowed = "a rate from 1 flop/s to 1000 Tflop/s, such as 43 Gflop/s",
          .least = 1,
          .most = 1e15,
          .unit = "flop/s",
          .parser = base::parse_flop_rate,
          .spell = base::spell_flop_rate};
}

Real factor(std::string_view allowed, double least, double most) {
  return spelled(number(allowed, least, most),
                 [](double value) { return fmt::format("{:.7g}", value); });
}

/// How many there are side by side.
Count parallel() { return count(1, 1024); }

Real slowed() { return factor("a number from 1 to 100", 1, 100); }

/// A value that is not written where it is 0.
template <class T>
auto nonzero(T value, const auto& codec) {
  return unless(value == 0, codec);
}

// Curves: time by size.

Curve read_times(const Reader& reader) {
  const std::string point = "a point [size, time], such as [64 KiB, 3.9 us]";
  const std::string allowed =
      "a list of points [size, time], such as [[64 KiB, 3.9 us], [1 MiB, 21 us]]";
  const std::vector<Reader> items = reader.items(allowed, 1);
  std::vector<Curve::Point> points;
  for (const Reader& item : items) {
    const std::vector<Reader> pair = item.items(point);
    if (pair.size() != 2) {
      item.fail(fmt::format("found a list of {}; allowed: {}", pair.size(), point));
    }
    points.push_back({static_cast<double>(parse(size(), pair[0])), parse(time(), pair[1])});
    if (points.size() == 1) continue;
    const Curve::Point& before = points[points.size() - 2];
    const char* const more = "more than at the point before";
    if (points.back().bytes <= before.bytes) pair[0].fail_allowed(more);
    if (points.back().seconds <= before.seconds) pair[1].fail_allowed(more);
  }
  if (points.size() == 1 && (points[0].bytes <= 0 || points[0].seconds <= 0)) {
    items[0].fail("found 0 in the only point; allowed: a size and a time above 0");
  }
  return Curve(std::move(points));
}

/// The curve described by some keys of a map.
Curve read_curve(const Reader& map) {
  map.expect_one("times", "latency");
  map.expect_one("times", "bandwidth");
  if (map.has("times")) return read_times(map.at("times"));
  if (!map.has("bandwidth")) {
    map.fail(fmt::format("found neither bandwidth nor times; allowed: {}", curve_keys));
  }
  const double latency_s = map.has("latency") ? parse(time(), map.at("latency")) : 0;
  return Curve::line(latency_s, parse(bandwidth(), map.at("bandwidth")));
}

/// Whether latency and bandwidth describe it completely.
bool is_line(const Curve& curve) {
  const auto& points = curve.points();
  return points.size() == 1 || (points.size() == 2 && points[0].bytes == 0);
}

Json times_of(const Curve& curve) {
  Json list;
  for (const auto& [bytes, seconds] : curve.points()) {
    list.push_back(Json::array({size().write(std::llround(bytes)), time().write(seconds)}));
  }
  return list;
}

/// The keys of a curve, also next to others.
void describe_curve(Visitor& v, Curve& c, std::string_view help) {
  v("latency", c, help, written<Curve>([](const Curve& curve) {
      const bool starts = curve.points().size() == 2;
      return is_line(curve) ? time().write(starts ? curve.points()[0].seconds : 0) : Json();
    }));
  v("bandwidth", c, help, written<Curve>([](const Curve& curve) {
      return is_line(curve) ? bandwidth().write(1 / curve.seconds_per_byte()) : Json();
    }));
  v("times", c, help,
    written<Curve>([](const Curve& curve) { return is_line(curve) ? Json() : times_of(curve); }));
  if (v.reader() != nullptr) c = read_curve(*v.reader());
}

}  // namespace

void describe(Visitor& v, Curve& c) { describe_curve(v, c, ""); }

void describe(Visitor& v, Copies& c) {
  const char* const measured = "measured";
  const auto curve = [&](const char* key, Curve& member, const char* help) {
    v(key, member, help, unless(member.points().empty(), Map<Curve>()));
  };
  describe_curve(v, c.pinned, measured);
  double factor = 1;
  v("slowed", factor, "", unless(true, slowed()));
  if (const Reader* const map = v.reader()) {
    map->expect_one("slowed", "duplex");
    c.pageable = c.pinned;
    c.duplex = slower(c.pinned, factor);
  }
  curve("duplex", c.duplex, measured);
  curve("pageable", c.pageable, measured);
  v("unblocked", c.unblocked_bytes, "definition: as CUDA documents it",
    nonzero(c.unblocked_bytes, size()));
}

void describe(Visitor& v, Roof& r) {
  v("intensity", r.flop_per_byte, "", factor("a number from 0 to 1e9 of flop/byte", 0, 1e9),
    required);
  describe(v, r.time);
}

void describe(Visitor& v, HostCosts& h) {
  v("copy", h.copy_s, "measured: issue a copy", time());
  v("kernel", h.kernel_s, "measured: issue a kernel", time());
  v("record", h.record_s, "measured: make a task's end known to other lanes", time());
  v("wait", h.wait_s, "measured: make a lane wait for a task of another", time());
  v("query", h.query_s, "definition: too short to matter", time());
  v("synchronize", h.synchronize_s, "measured: wait for a lane that is complete already", time());
  v("products", h.flops_per_s, "measured: tiles of a matrix product, four_way",
    nonzero(h.flops_per_s, flop_rate()));
}

void describe(Visitor& v, Latencies& l) {
  v("start", l.start_s, "measured: from an issue until an idle engine starts", time());
  v("lane", l.lane_s,
    "measured: from a task's end until its lane's next task starts on another engine", time());
  v("event", l.event_s, "measured: until a task of another lane that waits for it starts", time());
  v("notice", l.notice_s, "measured: until the host that waits for it continues", time());
}

void describe(Visitor& v, CallEffect& c) {
  v("waits_for", c.waits_for, "");
  v("host_waits", c.host_waits, "");
  v("cost", c.cost_s, "", time());
}

void describe(Visitor& v, Match& m) {
  v("device", m.device, "", line(), required);
  v("link", m.link, "", optional(line()));
}

namespace {

// Kernels.

/// One curve for any intensity, or one for each.
struct Roofs {
  using Type = Kernel;

  void read(const Reader& reader, Kernel& kernel) const {
    if (!reader.is_list()) {
      describe::read(Map<Curve>(), reader, kernel.roofs.emplace_back().time);
      return;
    }
    for (const Reader& item : reader.items("rates by increasing intensity", 1)) {
      Roof roof;
      describe::read(Map<Roof>(), item, roof);
      if (!kernel.roofs.empty() && roof.flop_per_byte <= kernel.roofs.back().flop_per_byte) {
        item.at("intensity").fail_allowed("more than in the entry before");
      }
      kernel.roofs.push_back(std::move(roof));
    }
  }
  Json write(const Kernel& kernel) const {
    const bool one_curve = kernel.roofs.size() == 1 && kernel.roofs[0].flop_per_byte == 0;
    if (one_curve) return describe::write(kernel.roofs[0].time);
    return list_of(Map<Roof>(), "").write(kernel.roofs);
  }
  Values values() const { return {}; }
};

/// Checks the keys of rates: each a workload, or workload/type.
void check_rates(const Reader& kernels, const Device& device) {
  const Reader rates = kernels.at("rates");
  if (device.unit_s > 0 && rates.exists()) {
    kernels.fail_at_key("rates", fmt::format("found with unit ({}); the two are mutually exclusive",
                                             kernels.root().at("unit").origin()));
  }
  if (device.unit_s > 0) return;
  if (rates.keys().empty()) {
    rates.fail_allowed("a rate for a workload, such as {increment: {bandwidth: 7.8 GB/s}}");
  }
  const Names kinds = spellings<deck::WorkloadKind>(), types = spellings<deck::ElementType>();
  Names allowed = kinds;
  for (const std::string& kind : kinds) {
    for (const std::string& type : types) allowed.push_back(kind + "/" + type);
  }
  for (const std::string& name : rates.keys()) {
    if (std::ranges::find(allowed, name) != allowed.end()) continue;
    rates.fail_at_key(
        name,
        fmt::format("unknown kernel; allowed: a workload ({}), or with its type "
                    "({}), such as rowsum/int32{}",
                    fmt::join(kinds, ", "), fmt::join(types, ", "), suggestion(name, allowed)));
  }
}

void describe_kernels(Visitor& v, Device& d) {
  v("concurrent", d.concurrent_kernels, "definition: kernels that run together, at most",
    parallel());
  v("slowed", d.kernels_slowed, "measured: time factor for each active copy direction", slowed());
  if (v.reader() != nullptr) check_rates(*v.reader(), d);
  v("rates", d.kernels,
    "measured: by the device memory that a kernel reads and writes; intensity in flop/byte",
    unless(d.kernels.empty(), Named{Roofs()}));
}

// The device.

void describe_queues(Visitor& v, Device& d) {
  v.selector("kind", d.queues, "");
  if (d.queues == Queues::connection) {
    v("connections", d.connections, "definition: of the SMs", parallel());
    if (v.reader() != nullptr) d.copy_connections = d.connections;
    v("copy_connections", d.copy_connections, "definition: of each copy engine", parallel());
  }
  if (d.queues == Queues::worker) return;
  v("delayed_signal", d.delayed_signal, "");
  v("query_releases", d.query_releases, "");
  v("window", d.window, "definition: operations between two that still run together; 0: any number",
    count(0, 1 << 20));
}

/// Only those that differ from the usual ones are written.
void describe_calls(Visitor& v, Device& d) {
  const auto usual = usual_calls();
  for (auto& [operation, call] : d.calls) {
    v(deck::to_string(operation), call, "", unless(call == usual.at(operation), Map<CallEffect>()));
  }
}

void describe_workers(Visitor& v, Device& d) {
  v("cores", d.cores, "measured: cores, which busy workers share", parallel());
  v("lanes_divide", d.lanes_divide, "whether each lane gets its part of the cores");
}

void describe_copies(Visitor& v, const char* key, Copies& copies, const Device& d,
                     const char* help) {
  if (const Reader* const map = v.reader()) {
    map->expect_one("unit", key);
    if (d.unit_s == 0 && !map->has(key)) {
      map->at(key).fail_allowed(fmt::format("{}; a device without rates has a unit", curve_keys));
    }
  }
  v(key, copies, help, unless(d.unit_s > 0, Map<Copies>()));
}

}  // namespace

void describe(Visitor& v, Device& d) {
  v.selector_in_part("queues.kind", d.queues);
  v("title", d.title, "", line());
  v("match", d.match, "measured here: predicts runs on such a device", optional(Map<Match>()));
  v("unit", d.unit_s, "definition: of any copy or kernel of one chunk",
    nonzero(d.unit_s, spelled(seconds("a time from 1 ns to 1000 s, such as 1 ms", 1e-9, 1000),
                              base::spell_seconds)));
  const bool on_gpu = d.queues != Queues::worker;
  if (on_gpu) {
    v("memory", d.memory_bytes,
      "measured: for arrays; data that do not fit are predicted out of core",
      nonzero(d.memory_bytes, spelled(bytes(1), base::spell_bytes)));
    v("copy_engines", d.copy_engines, "measured; 1: both directions share it", count(1, 2));
  }
  v("queues", d,
    "Where operations wait: one FIFO per engine, connections that streams share (Hyper-Q), or\n"
    "workers of the host with one engine each.",
    map_of<Device>(describe_queues));
  if (!on_gpu) v("workers", d, "The workers.", map_of<Device>(describe_workers));
  describe_copies(v, "h2d", d.h2d, d,
                  "Copies: time by size, alone, and duplex: while the other direction is active.\n"
                  "Pageable copies occupy the host as well, except up to the size `unblocked`.");
  describe_copies(v, "d2h", d.d2h, d, "Copies to the host.");
  v("kernels", d, "Kernels.", map_of<Device>(describe_kernels));
  v("host", d.host, "What the host spends on each call.");
  v("latency", d.latency, "What passes between operations.");
  if (on_gpu) {
    v("calls", d, "Calls that drain lanes or hold the host, where they differ from the usual.",
      unless(d.calls == usual_calls(), map_of<Device>(describe_calls)));
  }
}

// The latencies are those of the H200 in input/devices/h200.yaml.
const std::string_view first_device_file = R"(# my-gpu.yaml
h2d: {latency: 2.5 us, bandwidth: 25 GB/s, slowed: 1.1}  # slowed: while both directions copy
d2h: {latency: 1.7 us, bandwidth: 25 GB/s, slowed: 1.1}
kernels:
  concurrent: 128
  rates:  # of device memory; above an intensity in flop/byte, arithmetic is the limit
    {increment: &r [{intensity: 0.3, bandwidth: 1.3 TB/s}], pipeline: *r, rowsum: *r,
     dgemm: [{intensity: 10, bandwidth: 1.3 TB/s}]}
host: {copy: 2 us, kernel: 5.4 us, record: 0.2 us, synchronize: 1.3 us}
latency: {start: 1.5 us, lane: 5.5 us, event: 3.7 us, notice: 1.5 us}
)";

namespace {

std::string path_of(const std::string& name_or_path) {
  try {
    return deck::shipped_path(name_or_path, "devices", "device");
  } catch (const base::Error& error) {
    throw UnknownDevice(error.code(), error.what());
  }
}

}  // namespace

Device load_device(const std::string& name_or_path) {
  const std::string path = path_of(name_or_path);
  const Document document = read_yaml(path, "device file");
  Device device;
  read(Reader(document), device);
  device.path = path;
  device.name = name_of(path);
  if (device.title.empty()) device.title = device.name;
  return device;
}

std::vector<Device> load_devices(const std::vector<std::string>& names_or_paths) {
  std::vector<Device> devices;
  std::map<std::string, int> seen;
  for (const std::string& name_or_path : names_or_paths) {
    Device& device = devices.emplace_back(load_device(name_or_path));
    const int number = ++seen[device.name];
    if (number > 1) device.name += fmt::format(" {}", number);
  }
  return devices;
}

std::optional<Device> shipped_device(const Match& match) {
  for (const std::string& name : device_names()) {
    Device device = load_device(name);
    if (device.match == match) return device;
  }
  return std::nullopt;
}

std::vector<std::string> device_names() { return deck::shipped_names("devices"); }

std::string to_yaml(const Device& device, const std::string& heading) {
  return describe::to_yaml(device, heading);
}

}  // namespace overlap::model
