#include "model/load.hpp"

#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "yaml/fields.hpp"
#include "yaml/shipped.hpp"

namespace overlap::model {

constexpr auto words_of(Queues) { return yaml::in_order<Queues>("engine", "connection", "worker"); }

namespace {

using namespace yaml;

using Keys = std::vector<std::string>;

constexpr const char* curve_keys = "bandwidth (and latency) or times";

/// A kind whose values are written with a unit.
template <class T>
Kind<T> spelled(Kind<T> kind, std::string (*spell)(T)) {
  kind.write = [spell](const T& value) { return Json(spell(value)); };
  return kind;
}

/// A cost or a latency.
Kind<double> time() {
  return spelled(seconds("a time from 0 to 1000 s, such as 2.2 us", 0, 1000), base::spell_seconds);
}

Kind<std::int64_t> size() { return spelled(bytes(0), base::spell_bytes); }

Kind<double> bandwidth() {
  return spelled(ranged("a bandwidth from 1 B/s to 1000 TB/s, such as 5.04 GB/s", 1.0, 1e15, "B/s",
                        base::parse_bandwidth),
                 base::spell_bandwidth);
}

Kind<double> flop_rate() {
  return spelled(ranged("a rate from 1 flop/s to 1000 Tflop/s, such as 43 Gflop/s", 1.0, 1e15,
                        "flop/s", base::parse_flop_rate),
                 base::spell_flop_rate);
}

Kind<double> factor(const std::string& values, double least, double most) {
  return spelled<double>(number(values, least, most),
                         [](double value) { return fmt::format("{:.7g}", value); });
}

/// How many there are side by side.
Kind<std::int64_t> parallel() { return count(1, 1024); }

Kind<double> slowed() { return factor("a number from 1 to 100", 1, 100); }

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
    points.push_back({static_cast<double>(size().read(pair[0])), time().read(pair[1])});
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
  const double latency_s = map.has("latency") ? time().read(map.at("latency")) : 0;
  return Curve::line(latency_s, bandwidth().read(map.at("bandwidth")));
}

/// Whether latency and bandwidth describe it completely.
bool is_line(const Curve& curve) {
  const auto& points = curve.points();
  return points.size() == 1 || (points.size() == 2 && points[0].bytes == 0);
}

/// The keys of a curve; the row of one of them reads all.
const Table<Curve>& curve_table() {
  static const Table<Curve> table = {{
      {.key = {.name = "latency"},
       .write = [](const Curve& curve) -> Json {
         if (!is_line(curve)) return {};
         return time().write(curve.points().size() == 2 ? curve.points()[0].seconds : 0);
       }},
      {.key = {.name = "bandwidth"},
       .read = [](const Reader& map, Curve& curve) { curve = read_curve(map); },
       .write =
           [](const Curve& curve) {
             return is_line(curve) ? bandwidth().write(1 / curve.seconds_per_byte()) : Json();
           }},
      {.key = {.name = "times"},
       .write = [](const Curve& curve) -> Json {
         if (is_line(curve) || curve.points().empty()) return {};
         Json list;
         for (const auto& [bytes, seconds] : curve.points()) {
           list.push_back(Json::array({size().write(std::llround(bytes)), time().write(seconds)}));
         }
         return list;
       }},
  }};
  return table;
}

/// An empty curve is not written.
Kind<Curve> curve() {
  Kind<Curve> kind = map_of(curve_table());
  kind.write = [write = kind.write](const Curve& curve) {
    return curve.points().empty() ? Json() : write(curve);
  };
  return kind;
}

const Table<Copies>& copies_table() {
  static const Table<Copies> table = [] {
    auto rows = rows_of(&Copies::pinned, curve_table(), "measured");
    rows.push_back({.key = {.name = "slowed"}, .read = [](const Reader& map, Copies& copies) {
                      copies.pageable = copies.pinned;
                      map.expect_one("slowed", "duplex");
                      const bool given = map.has("slowed");
                      const double factor = given ? slowed().read(map.at("slowed")) : 1;
                      copies.duplex = slower(copies.pinned, factor);
                    }});
    rows.push_back(field("duplex", &Copies::duplex, curve(), "measured"));
    rows.push_back(field("pageable", &Copies::pageable, curve(), "measured"));
    rows.push_back(field("lines", &Copies::lines, curve(),
                         "measured: a line that starts 64 KiB or more after another"));
    rows.push_back(field("unblocked", &Copies::unblocked_bytes, nonzero(size()),
                         "definition: as CUDA documents it"));
    return Table<Copies>{rows};
  }();
  return table;
}

// Kernels.

const Table<Roof>& roof_table() {
  static const Table<Roof> table = [] {
    auto rows = rows_of(&Roof::time, curve_table(), "");
    const auto intensity = factor("a number from 0 to 1e9 of flop/byte", 0, 1e9);
    rows.insert(rows.begin(), field("intensity", &Roof::flop_per_byte, intensity, "").required());
    return Table<Roof>{rows};
  }();
  return table;
}

Kernel read_kernel(const Reader& reader) {
  Kernel kernel;
  if (!reader.is(Node::Kind::list)) {
    kernel.roofs.push_back({.flop_per_byte = 0, .time = curve().read(reader)});
    return kernel;
  }
  for (const Reader& item : reader.items("rates by increasing intensity", 1)) {
    Roof roof;
    read(roof_table(), item, roof);
    if (!kernel.roofs.empty() && roof.flop_per_byte <= kernel.roofs.back().flop_per_byte) {
      item.at("intensity").fail_allowed("more than in the entry before");
    }
    kernel.roofs.push_back(std::move(roof));
  }
  return kernel;
}

/// Checks the key of a rate: a workload, or workload/type.
void check_kernel_name(const Reader& reader, const std::string& name) {
  const auto expect_word = [&](const std::string& found, const Keys& allowed, const char* what) {
    if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return;
    reader.fail(fmt::format("unknown {}; allowed: {}{}", what, fmt::join(allowed, ", "),
                            suggestion(found, allowed)));
  };
  const auto slash = name.find('/');
  expect_word(name.substr(0, slash), deck::spellings<deck::WorkloadKind>(), "workload");
  if (slash != std::string::npos) {
    expect_word(name.substr(slash + 1), deck::spellings<deck::ElementType>(), "type");
  }
}

void read_rates(const Reader& map, Device& device) {
  if (device.unit_s > 0) return;
  const Reader rates = map.at("rates");
  const Keys names = rates.keys();
  if (names.empty()) {
    rates.fail_allowed("a rate for a workload, such as {increment: {bandwidth: 7.8 GB/s}}");
  }
  rates.expect_keys(names);  // rejects duplicates
  for (const std::string& name : names) {
    check_kernel_name(rates.at_key(name), name);
    device.kernels[name] = read_kernel(rates.at(name));
  }
}

std::string rates_block(const Device& device, const std::string& indent) {
  std::string text;
  for (const auto& [name, kernel] : device.kernels) {
    if (kernel.roofs.size() == 1 && kernel.roofs[0].flop_per_byte == 0) {
      text += fmt::format("{}{}: {}  # measured\n", indent, name,
                          spell(curve().write(kernel.roofs[0].time)));
      continue;
    }
    text += fmt::format("{}{}:  # intensity in flop/byte\n", indent, name);
    for (const Roof& roof : kernel.roofs) {
      text += fmt::format("{}  - {}  # measured\n", indent, spell(write(roof_table(), roof)));
    }
  }
  return text;
}

const Table<Device>& kernels_table() {
  static const Table<Device> table = {{
      field("concurrent", &Device::concurrent_kernels, parallel(),
            "definition: kernels that run together, at most"),
      field("slowed", &Device::kernels_slowed, slowed(),
            "measured: time factor for each active copy direction"),
      field("cache", &Device::cache_bytes, nonzero(size()),
            "definition: larger kernels slow down copies of lines"),
      field("zero_copy", &Device::zero_copy, curve(),
            "measured: kernels on host memory, by the bytes of each direction"),
      {.key = {.name = "rates", .help = "by the device memory that a kernel reads and writes"},
       .read = read_rates,
       .write = [](const Device& device) { return device.kernels.empty() ? Json() : Json(true); },
       .block = rates_block},
  }};
  return table;
}

// The device.

const Table<Device>& queues_table() {
  using enum Queues;
  using D = Device;
  static const Table<D> table = {{
      field("kind", &D::queues, word<Queues>(), "").decides(&D::queues),
      field("connections", &D::connections, parallel(), "measured: of the SMs").with({connection}),
      field("copy_connections", &D::copy_connections, parallel(), "measured: of each copy engine")
          .reads([](const Reader& map, D& device) {
            device.copy_connections = device.connections;
            if (!map.has("copy_connections")) return;
            const auto own = parallel().read(map.at("copy_connections"));
            device.copy_connections = static_cast<int>(own);
          })
          .with({connection}),
      field("delayed_signal", &D::delayed_signal, either("true", "false"), "")
          .with({engine, connection}),
      field("query_releases", &D::query_releases, either("true", "false"), "")
          .with({engine, connection}),
      field("window", &D::window, count(0, 1 << 20),
            "definition: operations between two that still run together; 0: any number")
          .with({engine, connection}),
  }};
  return table;
}

const Table<Device>& workers_table() {
  static const Table<Device> table = {{
      field("cores", &Device::cores, parallel(),
            "measured: cores; at most as many workers run at once"),
      field("lanes_divide", &Device::lanes_divide, either("true", "false"),
            "whether each lane gets its part of the cores"),
  }};
  return table;
}

const Table<HostCosts>& host_table() {
  using H = HostCosts;
  static const Table<H> table = {{
      field("copy", &H::copy_s, time(), "measured: issue a copy"),
      field("kernel", &H::kernel_s, time(), "measured: issue a kernel"),
      field("record", &H::record_s, time(), "measured: make a task's end known to other lanes"),
      field("wait", &H::wait_s, time(), "measured: make a lane wait for a task of another"),
      field("query", &H::query_s, time(), "definition: too short to matter"),
      field("synchronize", &H::synchronize_s, time(),
            "measured: wait for a lane that is complete already"),
      field("products", &H::flops_per_s, nonzero(flop_rate()),
            "measured: tiles of a matrix product, four_way"),
  }};
  return table;
}

const Table<Latencies>& latency_table() {
  using L = Latencies;
  static const Table<L> table = {{
      field("start", &L::start_s, time(), "measured: from an issue until an idle engine starts"),
      field("lane", &L::lane_s, time(),
            "measured: from a task's end until its lane's next task starts on another engine"),
      field("event", &L::event_s, time(),
            "measured: until a task of another lane that waits for it starts"),
      field("small_lane", &L::small_lane_s, nonzero(time()),
            "measured: lane, beside copies up to 64 KiB"),
      field("small_event", &L::small_event_s, nonzero(time()),
            "measured: event, beside copies up to 64 KiB"),
      field("notice", &L::notice_s, time(), "measured: until the host that waits for it continues"),
      field("handover", &L::handover_s, time(),
            "measured: of a copy engine after a copy, while two other lanes or more wait for it"),
      field("small_handover", &L::small_handover_s, nonzero(time()),
            "measured: handover, after copies up to 512 KiB"),
  }};
  return table;
}

const Table<Spread>& spread_table() {
  using S = Spread;
  const auto part = factor("a number from 0 to 1", 0, 1);
  static const Table<S> table = {{
      field("copies", &S::copies, part, "").required(),
      field("kernels", &S::kernels, part, "").required(),
      field("calls", &S::calls, part, "").required(),
  }};
  return table;
}

Field<Device> copies(const std::string& key, Copies Device::* member, const std::string& help) {
  Field<Device> row = section<Device>(key, member, copies_table(), help);
  row.read = [=, read = row.read](const Reader& map, Device& device) {
    map.expect_one("unit", key);
    if (device.unit_s > 0) return;
    if (!map.has(key)) {
      map.at(key).fail_allowed(fmt::format("{}; a device without rates has a unit", curve_keys));
    }
    read(map, device);
  };
  row.write = [=, write = row.write](const Device& device) {
    return device.unit_s > 0 ? Json() : write(device);
  };
  return row;
}

const Table<Device>& device_table() {
  static const Table<Device> table = [] {
    Field<Device> title = field("title", &Device::title, line(), "");
    title.write = [](const Device& device) {
      return Json(Json(base::one_line(device.title)).dump());  // a YAML string in quotes
    };
    return Table<Device>{{
        title,
        field("unit", &Device::unit_s,
              nonzero(spelled(seconds("a time from 1 ns to 1000 s, such as 1 ms", 1e-9, 1000),
                              base::spell_seconds)),
              "definition: of any copy or kernel of one chunk"),
        field("memory", &Device::memory_bytes, nonzero(spelled(bytes(1), base::spell_bytes)),
              "measured: for arrays; data that do not fit are predicted out of core")
            .with({Queues::engine, Queues::connection}),
        field("copy_engines", &Device::copy_engines, count(1, 2),
              "measured; 1: both directions share it")
            .with({Queues::engine, Queues::connection}),
        section<Device>("queues", std::identity(), queues_table(),
                        "Where operations wait: one FIFO per engine, connections that streams "
                        "share (Hyper-Q), or\n# workers of the host with one engine each.")
            .decides(&Device::queues),
        section<Device>("workers", std::identity(), workers_table(), "The workers.")
            .with({Queues::worker}),
        copies("h2d", &Device::h2d,
               "Copies: time by size, alone, and duplex: while the other direction is active.\n"
               "# Pageable copies occupy the host as well, except up to the size `unblocked`."),
        copies("d2h", &Device::d2h, "Copies to the host."),
        section<Device>("kernels", std::identity(), kernels_table(), "Kernels."),
        section<Device>("host", &Device::host, host_table(), "What the host spends on each call."),
        section<Device>("latency", &Device::latency, latency_table(),
                        "What passes between operations."),
        field("spread", &Device::spread, optional(map_of(spread_table())),
              "measured: how far figures differed, relative"),
        field("doubtful", &Device::doubtful,
              nonzero(list_of(line(), "a list of names of figures, such as [host]")),
              "figures that were probably disturbed"),
    }};
  }();
  return table;
}

/// Rejects times that are shorter during copies in the other direction than alone. `--calibrate`
/// raises such times; the margin is for files written before it did.
void check_duplex(const Reader& reader, const Copies& copies) {
  constexpr double margin = 0.03;
  for (const auto& [bytes, seconds] : copies.duplex.points()) {
    const double alone_s = copies.pinned.seconds(bytes);
    if (seconds >= (1 - margin) * alone_s) continue;
    reader.at("duplex").fail(
        fmt::format("found {} for {}; allowed: at least the time of the copy alone, {}",
                    base::spell_seconds(seconds), base::spell_bytes(std::llround(bytes)),
                    base::spell_seconds(alone_s)));
  }
}

/// Rejects names that are not those of the device's figures, with or without a size.
void check_doubtful(const Reader& reader, const Device& device) {
  Keys names = {"host", "latency", "kernels.slowed", "kernels.zero_copy"};
  for (const char* const copies : {"h2d", "d2h"}) {
    for (const char* const curve : {"times", "duplex", "pageable", "lines"}) {
      names.push_back(fmt::format("{}.{}", copies, curve));
    }
  }
  for (const auto& [name, kernel] : device.kernels) names.push_back("kernels.rates." + name);
  for (std::size_t i = 0; i < device.doubtful.size(); ++i) {
    const std::string& figure = device.doubtful[i];
    const std::size_t at = figure.find(" at ");
    const bool sized = at != figure.npos && base::parse_bytes(figure.substr(at + 4));
    const std::string name = sized ? figure.substr(0, at) : figure;
    if (std::ranges::find(names, name) != names.end()) continue;
    reader.at_path(fmt::format("doubtful[{}]", i))
        .fail_allowed(fmt::format("{}, each with or without a size, such as h2d.times at 64 KiB{}",
                                  fmt::join(names, ", "), suggestion(name, names)));
  }
}

}  // namespace

Device load_device(const std::string& name_or_path) {
  const std::string path = path_of(name_or_path, "devices", "device");
  const Document document = read_document(path, "device file");
  const Reader reader(*document.root, "device file");
  Device device;
  read(device_table(), reader, device);
  if (device.unit_s > 0 && reader.at("kernels").has("rates")) {
    reader.at("kernels").at_key("rates").fail(fmt::format(
        "found with unit ({}); the two are mutually exclusive", reader.at("unit").origin()));
  }
  check_duplex(reader.at("h2d"), device.h2d);
  check_duplex(reader.at("d2h"), device.d2h);
  check_doubtful(reader, device);
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
    const int same = ++seen[device.name];
    if (same > 1) device.name += fmt::format(" {}", same);
  }
  return devices;
}

std::vector<std::string> device_names() { return shipped_names("devices"); }

std::string to_yaml(const Device& device, const std::string& how) {
  return as_comment(how) + to_yaml(device_table(), device);
}

}  // namespace overlap::model
