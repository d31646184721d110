#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <sstream>

#include "base/units.hpp"
#include "model/load.hpp"
#include "model/words.hpp"

namespace overlap::model {
namespace {

/// A YAML string on one line.
std::string quoted(const std::string& text) {
  std::string line = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') line += '\\';
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return line + '"';
}

/// Latency and bandwidth with `between` between them, or points.
std::string keys_of(const Curve& curve, const char* between = ", ") {
  const auto& points = curve.points();
  const bool line = points.size() == 2 && points[0].bytes == 0;
  if (line || points.size() == 1) {
    return fmt::format("latency: {}{}bandwidth: {}",
                       base::spell_seconds(line ? points[0].seconds : 0), between,
                       base::spell_bandwidth(1 / curve.seconds_per_byte()));
  }
  std::vector<std::string> pairs;
  for (const Curve::Point& point : points) {
    pairs.push_back(fmt::format("[{}, {}]", base::spell_bytes(std::llround(point.bytes)),
                                base::spell_seconds(point.seconds)));
  }
  return fmt::format("times: [{}]", fmt::join(pairs, ", "));
}

std::string copies_of(const Copies& copies) {
  const std::string lines =
      copies.lines.points().empty()
          ? ""
          : fmt::format(
                "  lines: {{{}}}  # measured: one that begins 64 KiB and more behind another\n",
                keys_of(copies.lines));
  return fmt::format(
      "  {}  # measured\n"
      "  duplex: {{{}}}  # measured\n"
      "  pageable: {{{}}}  # measured\n"
      "{}"
      "  unblocked: {}  # definition: as CUDA documents it\n",
      keys_of(copies.pinned, "  # measured\n  "), keys_of(copies.duplex), keys_of(copies.pageable),
      lines, base::spell_bytes(std::llround(copies.unblocked_bytes)));
}

std::string queues_of(const Device& device) {
  std::string text = fmt::format("queues:\n  kind: {}\n", deck::to_string(device.queues));
  if (device.queues == Queues::worker) return text;
  if (device.queues == Queues::connection) {
    text += fmt::format(
        "  connections: {}  # measured: of the SMs\n"
        "  copy_connections: {}  # measured: of each copy engine\n",
        device.connections, device.copy_connections);
  }
  return text + fmt::format(
                    "  delayed_signal: {}\n  query_releases: {}\n"
                    "  window: {}  # definition: operations between two that still run "
                    "together; 0: any number\n",
                    device.delayed_signal, device.query_releases, device.window);
}

std::string kernels_of(const Device& device) {
  std::string text = fmt::format(
      "kernels:\n"
      "  concurrent: {}  # definition: that run together at most\n"
      "  slowed: {:.7g}  # measured: time factor for each active copy direction\n",
      device.concurrent_kernels, device.kernels_slowed);
  if (device.cache_bytes > 0) {
    text += fmt::format("  cache: {}  # definition: larger kernels slow copies of lines down\n",
                        base::spell_bytes(std::llround(device.cache_bytes)));
  }
  if (device.kernels.empty()) return text;
  text += "  rates:  # by the device memory that a kernel reads and writes\n";
  for (const auto& [name, kernel] : device.kernels) {
    text += fmt::format("    {}:", name);
    if (kernel.roofs.size() == 1 && kernel.roofs[0].flop_per_byte == 0) {
      text += fmt::format(" {{{}}}  # measured\n", keys_of(kernel.roofs[0].time));
      continue;
    }
    text += "  # intensity in flop/byte\n";
    for (const Roof& roof : kernel.roofs) {
      text += fmt::format("      - {{intensity: {:.7g}, {}}}  # measured\n", roof.flop_per_byte,
                          keys_of(roof.time));
    }
  }
  return text;
}

}  // namespace

std::string to_yaml(const Device& device, const std::string& how) {
  std::string text;
  std::istringstream lines(how);
  for (std::string line; std::getline(lines, line);) text += fmt::format("# {}\n", line);
  text += fmt::format("title: {}\n", quoted(device.title));
  if (device.unit_s > 0) {
    text += fmt::format("unit: {}  # definition: of any copy or kernel of one chunk\n",
                        base::spell_seconds(device.unit_s));
  }
  text +=
      "\n# Where operations wait: a FIFO an engine, connections that streams share (Hyper-Q), or\n"
      "# workers of the host, an engine each.\n" +
      queues_of(device);
  if (device.queues == Queues::worker) {
    text += fmt::format(
        "workers:\n"
        "  cores: {}  # measured: that the workers share when they are more\n"
        "  lanes_divide: {}  # whether each lane gets its part of the cores\n",
        device.cores, device.lanes_divide);
  } else {
    text += fmt::format("copy_engines: {}  # measured; 1: both directions share it\n",
                        device.copy_engines);
  }
  if (device.unit_s == 0) {
    text +=
        "\n# Copies: time by size, alone, and duplex: while the other direction is active.\n"
        "# Pageable copies occupy the host as well, but for those up to the size `unblocked`.\n"
        "h2d:\n" +
        copies_of(device.h2d) + "d2h:\n" + copies_of(device.d2h);
  }
  text += "\n# Kernels.\n" + kernels_of(device);
  const auto seconds = [](double value) { return base::spell_seconds(value); };
  const HostCosts& host = device.host;
  const Latencies& latency = device.latency;
  text += fmt::format(
      "\n# What the host spends on each call.\n"
      "host:\n"
      "  copy: {}  # measured: issue a copy\n"
      "  kernel: {}  # measured: issue a kernel\n"
      "  record: {}  # measured: make a task's end known to other lanes\n"
      "  wait: {}  # measured: make a lane wait for a task of another\n"
      "  query: {}  # definition: too short to matter\n"
      "  synchronize: {}  # measured: wait for a lane that is complete already\n",
      seconds(host.copy_s), seconds(host.kernel_s), seconds(host.record_s), seconds(host.wait_s),
      seconds(host.query_s), seconds(host.synchronize_s));
  return text +
         fmt::format(
             "\n# What passes between operations.\n"
             "latency:\n"
             "  start: {}  # measured: from an issue until an idle engine starts\n"
             "  lane: {}  # measured: from a task's end until its lane's next starts elsewhere\n"
             "  event: {}  # measured: until a task of another lane starts that waits for it\n"
             "  notice: {}  # measured: until the host goes on that waits for it\n"
             "  handover: {}  # measured: of an engine after a copy for a kernel\n",
             seconds(latency.start_s), seconds(latency.lane_s), seconds(latency.event_s),
             seconds(latency.notice_s), seconds(latency.handover_s));
}

}  // namespace overlap::model
