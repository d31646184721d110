#include "model/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "deck/document.hpp"
#include "model/words.hpp"

namespace overlap::model {
namespace {

using deck::Reader;
using Keys = std::vector<std::string>;

constexpr const char* curve_keys = "bandwidth (and latency) or times";
constexpr double most_intensity = 1e9;
constexpr int most_parallel = 1024;
constexpr int most_operations = 1 << 20;

/// A cost or a latency.
double read_seconds(const Reader& reader) {
  return reader.seconds("a time from 0 to 1000 s, such as 2.2 us", 0, 1000);
}

/// Sets `value` if the key is there.
void read_seconds(const Reader& reader, const std::string& key, double& value) {
  if (reader.has(key)) value = read_seconds(reader.at(key));
}

void read_count(const Reader& reader, const std::string& key, int least, int most, int& value) {
  if (reader.has(key)) value = static_cast<int>(reader.at(key).count(least, most));
}

void read_flag(const Reader& reader, const std::string& key, bool& value) {
  if (reader.has(key)) value = reader.at(key).flag();
}

/// The factor of a time beside something else; 1 where it is not given.
double read_slowed(const Reader& reader) {
  if (!reader.has("slowed")) return 1;
  const Reader slowed = reader.at("slowed");
  const std::string allowed = "a number from 1 to 100";
  const double value = slowed.number(allowed);
  if (value < 1 || value > 100) slowed.fail_allowed(allowed);
  return value;
}

/// An error for a key that contradicts another one.
void expect_without(const Reader& reader, const std::string& key, const Reader& other) {
  if (!reader.has(key)) return;
  reader.at_key(key).fail(fmt::format("found beside {} ({}); allowed: one of the two", other.path(),
                                      base::to_string(other.place())));
}

Curve read_times(const Reader& reader) {
  const std::string allowed =
      "a list of points [size, time], such as [[64 KiB, 3.9 us], [1 MiB, 21 us]]";
  const std::vector<Reader> items = reader.items(allowed);
  if (items.empty()) reader.fail("found an empty list; allowed: " + allowed);
  std::vector<Curve::Point> points;
  for (const Reader& item : items) {
    const std::string point = "a point [size, time], such as [64 KiB, 3.9 us]";
    const std::vector<Reader> pair = item.items(point);
    if (pair.size() != 2) {
      item.fail(fmt::format("found a list of {}; allowed: {}", pair.size(), point));
    }
    const Curve::Point read = {static_cast<double>(pair[0].bytes(0)), read_seconds(pair[1])};
    const auto expect_more = [&](const Reader& found, bool more) {
      if (more) return;
      found.fail(fmt::format("found {}; allowed: more than at the point before",
                             deck::quoted(found.text())));
    };
    if (!points.empty()) {
      expect_more(pair[0], read.bytes > points.back().bytes);
      expect_more(pair[1], read.seconds > points.back().seconds);
    }
    points.push_back(read);
  }
  if (points.size() == 1 && (points[0].bytes <= 0 || points[0].seconds <= 0)) {
    items[0].fail("found 0 in the only point; allowed: a size and a time above 0");
  }
  return Curve(std::move(points));
}

/// The curve that a map describes, among other things.
Curve read_curve(const Reader& reader) {
  if (reader.has("times")) {
    expect_without(reader, "latency", reader.at("times"));
    expect_without(reader, "bandwidth", reader.at("times"));
    return read_times(reader.at("times"));
  }
  if (!reader.has("bandwidth")) {
    reader.fail(fmt::format("found neither bandwidth nor times; allowed: {}", curve_keys));
  }
  double latency_s = 0;
  read_seconds(reader, "latency", latency_s);
  return Curve::line(latency_s, reader.at("bandwidth").bandwidth());
}

Copies read_copies(const Reader& reader) {
  reader.expect_keys(
      Keys{"latency", "bandwidth", "times", "slowed", "duplex", "pageable", "lines", "unblocked"});
  Copies copies;
  copies.pinned = copies.duplex = copies.pageable = read_curve(reader);
  if (reader.has("duplex")) {
    expect_without(reader, "slowed", reader.at("duplex"));
  } else {
    copies.duplex = slower(copies.pinned, read_slowed(reader));
  }
  for (auto [key, curve] : {std::pair{"duplex", &copies.duplex},
                            {"pageable", &copies.pageable},
                            {"lines", &copies.lines}}) {
    if (!reader.has(key)) continue;
    const Reader found = reader.at(key);
    found.expect_keys(Keys{"latency", "bandwidth", "times"});
    *curve = read_curve(found);
  }
  if (reader.has("unblocked")) {
    copies.unblocked_bytes = static_cast<double>(reader.at("unblocked").bytes(0));
  }
  return copies;
}

Kernel read_kernel(const Reader& reader) {
  Kernel kernel;
  if (!reader.is_list()) {
    reader.expect_keys(Keys{"latency", "bandwidth", "times"});
    kernel.roofs.push_back({.flop_per_byte = 0, .time = read_curve(reader)});
    return kernel;
  }
  for (const Reader& item : reader.items("")) {
    item.expect_keys(Keys{"intensity", "latency", "bandwidth", "times"});
    const Reader intensity = item.at("intensity");
    const std::string allowed = "a number from 0 to 1e9 of flop/byte";
    const double value = intensity.number(allowed);
    if (value > most_intensity) intensity.fail_allowed(allowed);
    if (!kernel.roofs.empty() && value <= kernel.roofs.back().flop_per_byte) {
      intensity.fail(fmt::format("found {}; allowed: more than in the entry before",
                                 deck::quoted(intensity.text())));
    }
    kernel.roofs.push_back({.flop_per_byte = value, .time = read_curve(item)});
  }
  if (kernel.roofs.empty()) {
    reader.fail("found an empty list; allowed: rates by increasing intensity");
  }
  return kernel;
}

/// A rate's key is a workload or a workload with a type.
void check_kernel_name(const Reader& reader, const std::string& name) {
  const auto expect_word = [&](const std::string& found, const Keys& allowed, const char* what) {
    if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return;
    reader.fail(fmt::format("unknown {}; allowed: {}{}", what, fmt::join(allowed, ", "),
                            deck::suggestion(found, allowed)));
  };
  const Keys workloads = deck::spellings<deck::WorkloadKind>();
  const auto slash = name.find('/');
  expect_word(name.substr(0, slash), workloads, "workload");
  if (slash != std::string::npos) {
    expect_word(name.substr(slash + 1), deck::spellings<deck::Type>(), "type");
  }
}

std::map<std::string, Kernel> read_rates(const Reader& reader) {
  const Keys names = reader.keys();
  if (names.empty()) {
    reader.fail_allowed("a rate for a workload, such as {increment: {bandwidth: 7.8 GB/s}}");
  }
  reader.expect_keys(names);  // each once
  std::map<std::string, Kernel> kernels;
  for (const std::string& name : names) {
    check_kernel_name(reader.at_key(name), name);
    kernels[name] = read_kernel(reader.at(name));
  }
  return kernels;
}

void read_queues(const Reader& reader, Device& device) {
  reader.expect_keys(Keys{"kind", "connections", "copy_connections", "delayed_signal",
                          "query_releases", "window"});
  if (reader.has("kind")) device.queues = reader.at("kind").word<Queues>();
  const auto only = [&](const char* key, std::initializer_list<Queues> kinds) {
    if (!reader.has(key) || std::find(kinds.begin(), kinds.end(), device.queues) != kinds.end()) {
      return;
    }
    Keys names;
    for (const Queues kind : kinds) names.emplace_back(deck::to_string(kind));
    reader.at_key(key).fail(
        fmt::format("found with the kind {} ({}); allowed: with {}", deck::to_string(device.queues),
                    reader.has("kind") ? base::to_string(reader.at("kind").place()) : "by default",
                    fmt::join(names, " and ")));
  };
  only("connections", {Queues::connection});
  only("copy_connections", {Queues::connection});
  for (const char* key : {"delayed_signal", "query_releases", "window"}) {
    only(key, {Queues::engine, Queues::connection});
  }
  read_count(reader, "connections", 1, most_parallel, device.connections);
  device.copy_connections = device.connections;
  read_count(reader, "copy_connections", 1, most_parallel, device.copy_connections);
  read_flag(reader, "delayed_signal", device.delayed_signal);
  read_flag(reader, "query_releases", device.query_releases);
  read_count(reader, "window", 0, most_operations, device.window);
}

/// What only workers have, and what they lack.
void read_engines(const Reader& reader, Device& device) {
  const bool workers = device.queues == Queues::worker;
  const char* const strange = workers ? "copy_engines" : "workers";
  if (reader.has(strange)) {
    reader.at_key(strange).fail(
        fmt::format("found with queues of the kind {}; allowed: {}", deck::to_string(device.queues),
                    workers ? "with engine and connection" : "with worker"));
  }
  read_count(reader, "copy_engines", 1, 2, device.copy_engines);
  const Reader own = reader.at("workers");
  own.expect_keys(Keys{"cores", "lanes_divide"});
  read_count(own, "cores", 1, most_parallel, device.cores);
  read_flag(own, "lanes_divide", device.lanes_divide);
}

/// Costs of the host and latencies.
void read_costs(const Reader& reader, Device& device) {
  const Reader host = reader.at("host");
  host.expect_keys(Keys{"copy", "kernel", "record", "wait", "query", "synchronize"});
  read_seconds(host, "copy", device.host.copy_s);
  read_seconds(host, "kernel", device.host.kernel_s);
  read_seconds(host, "record", device.host.record_s);
  read_seconds(host, "wait", device.host.wait_s);
  read_seconds(host, "query", device.host.query_s);
  read_seconds(host, "synchronize", device.host.synchronize_s);
  const Reader latency = reader.at("latency");
  latency.expect_keys(Keys{"start", "lane", "event", "notice", "handover"});
  read_seconds(latency, "start", device.latency.start_s);
  read_seconds(latency, "lane", device.latency.lane_s);
  read_seconds(latency, "event", device.latency.event_s);
  read_seconds(latency, "notice", device.latency.notice_s);
  read_seconds(latency, "handover", device.latency.handover_s);
}

Device read_device(const Reader& reader) {
  reader.expect_keys(Keys{"title", "unit", "copy_engines", "h2d", "d2h", "queues", "kernels",
                          "host", "latency", "workers"});
  Device device;
  if (reader.has("title")) device.title = reader.at("title").line();
  read_queues(reader.at("queues"), device);
  read_engines(reader, device);
  const Reader kernels = reader.at("kernels");
  kernels.expect_keys(Keys{"concurrent", "slowed", "cache", "rates"});
  read_count(kernels, "concurrent", 1, most_parallel, device.concurrent_kernels);
  device.kernels_slowed = read_slowed(kernels);
  if (kernels.has("cache")) device.cache_bytes = static_cast<double>(kernels.at("cache").bytes(0));
  read_costs(reader, device);
  if (reader.has("unit")) {
    const Reader unit = reader.at("unit");
    device.unit_s = unit.seconds("a time from 1 ns to 1000 s, such as 1 ms", 1e-9, 1000);
    for (const char* key : {"h2d", "d2h"}) expect_without(reader, key, unit);
    expect_without(kernels, "rates", unit);
    return device;
  }
  for (auto [key, copies] : {std::pair{"h2d", &device.h2d}, std::pair{"d2h", &device.d2h}}) {
    if (!reader.has(key)) {
      reader.at(key).fail_allowed(fmt::format("{}; a device without rates has a unit", curve_keys));
    }
    *copies = read_copies(reader.at(key));
  }
  device.kernels = read_rates(kernels.at("rates"));
  return device;
}

/// The folder of input/devices: beside the installed program, else in the sources.
std::filesystem::path devices_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto installed = program.parent_path() / OVERLAP_INSTALLED_INPUT "/devices";
  if (!error && std::filesystem::is_directory(installed, error)) return installed;
  return OVERLAP_SOURCE_INPUT "/devices";
}

/// The path of a device file; the name alone is enough for those in input/devices.
std::string path_of(const std::string& name_or_path) {
  const bool path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".yaml");
  if (path) return name_or_path;
  const Keys names = device_names();
  if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
    throw base::Error(
        base::ExitCode::usage,
        fmt::format("{}: no such device; allowed: {}{}the path of a device file{}",
                    deck::quoted(name_or_path), fmt::join(names, ", "),
                    names.empty() ? "" : ", or ", deck::suggestion(name_or_path, names)));
  }
  return devices_folder() / (name_or_path + ".yaml");
}

}  // namespace

Device load_device(const std::string& name_or_path) {
  const std::string path = path_of(name_or_path);
  deck::Document document = deck::read_document(path, "device file");
  Device device = read_device(document.reader());
  device.path = path;
  device.name = deck::name_of(path);
  if (device.title.empty()) device.title = device.name;
  return device;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(devices_folder(), error)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace overlap::model
