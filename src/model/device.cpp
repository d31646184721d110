#include "model/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace overlap::model {
namespace {

/// Value at x of the line through two points.
double on_line(double x, double x0, double y0, double x1, double y1) {
  return y0 + (x - x0) * (y1 - y0) / (x1 - x0);
}

/// Value of `to` where `from` is x: on the line through the neighbouring points or, beyond the
/// last, the last two; `least` up to the first. Precondition: there are points.
double on_curve(const std::vector<Curve::Point>& points, double x, double Curve::Point::* from,
                double Curve::Point::* to, double least) {
  const Curve::Point& first = points.front();
  if (points.size() == 1) return x * first.*to / first.*from;
  if (x <= first.*from) return least;
  auto next = std::upper_bound(points.begin(), points.end(), x,
                               [&](double v, const Curve::Point& p) { return v < p.*from; });
  if (next == points.end()) --next;
  const Curve::Point& a = *(next - 1);
  return on_line(x, a.*from, a.*to, (*next).*from, (*next).*to);
}

}  // namespace

Curve Curve::line(double latency_s, double bytes_per_s) {
  if (latency_s == 0) return Curve({{bytes_per_s, 1}});
  return Curve({{0, latency_s}, {bytes_per_s, latency_s + 1}});
}

double Curve::seconds(double bytes) const {
  if (points_.empty()) return 0;
  return on_curve(points_, bytes, &Point::bytes, &Point::seconds, points_.front().seconds);
}

double Curve::seconds_per_byte() const {
  if (points_.empty()) return 0;
  const Point& last = points_.back();
  if (points_.size() == 1) return last.seconds / last.bytes;
  const Point& before = points_[points_.size() - 2];
  return (last.seconds - before.seconds) / (last.bytes - before.bytes);
}

double Curve::bytes(double seconds) const {
  if (points_.empty()) return 0;
  return on_curve(points_, seconds, &Point::seconds, &Point::bytes, 0);
}

Curve slower(const Curve& curve, double factor) {
  std::vector<Curve::Point> points = curve.points();
  for (Curve::Point& point : points) point.seconds *= factor;
  return Curve(std::move(points));
}

Curve increasing(std::vector<Curve::Point> points) {
  for (std::size_t i = points.size(); i-- > 1;) {
    points[i - 1].seconds = std::min(points[i - 1].seconds, points[i].seconds * (1 - 1e-6));
  }
  return Curve(std::move(points));
}

const Curve& Copies::alone(deck::HostMemory memory) const {
  const bool staged = memory == deck::HostMemory::pageable && !pageable.points().empty();
  return staged ? pageable : pinned;
}

double Copies::slowed(double bytes) const {
  const double alone = pinned.seconds(bytes);
  if (duplex.points().empty() || alone <= 0) return 1;
  return std::max(1.0, duplex.seconds(bytes) / alone);
}

double Kernel::seconds(double bytes, double flops) const {
  const double intensity = bytes > 0 ? flops / bytes : 0;
  const auto next =
      std::upper_bound(roofs.begin(), roofs.end(), intensity,
                       [](double i, const Roof& roof) { return i < roof.flop_per_byte; });
  if (next == roofs.begin()) return next->time.seconds(bytes);
  const Roof& a = *(next - 1);
  const double at_a = a.time.seconds(bytes);
  if (next == roofs.end()) {
    return a.flop_per_byte > 0 ? at_a * intensity / a.flop_per_byte : at_a;
  }
  return on_line(intensity, a.flop_per_byte, at_a, next->flop_per_byte, next->time.seconds(bytes));
}

double Kernel::share(double bytes, double flops) const {
  const double alone = seconds(bytes, flops);
  if (alone <= 0) return 1;
  const auto share_of = [&](double times) {
    return seconds(bytes * times, flops * times) / times / alone;
  };
  // The throughput of the device shows in the time of the largest measured kernel, and in what the
  // curve says of still larger ones.
  double largest = std::numeric_limits<double>::infinity();
  for (const Roof& roof : roofs) largest = std::min(largest, roof.time.points().back().bytes);
  constexpr double many_times = 1e6;
  const double measured = largest > bytes ? share_of(largest / bytes) : 0;
  return std::clamp(std::max(measured, share_of(many_times)), 1e-6, 1.0);
}

std::string Device::place() const { return path.empty() ? "device " + name : path; }

bool Device::lacks_latencies() const {
  const double known_s = host.copy_s + host.kernel_s + latency.start_s + latency.lane_s +
                         latency.event_s + h2d.pinned.seconds(0) + d2h.pinned.seconds(0);
  return unit_s == 0 && known_s == 0;
}

int Device::cores_per_lane(int lanes) const {
  return lanes_divide ? std::max(1, cores / std::max(1, lanes)) : 1;
}

bool Device::predicts(const std::string& workload) const {
  return unit_s > 0 || std::ranges::any_of(kernels, [&](const auto& entry) {
           return entry.first.substr(0, entry.first.find('/')) == workload;
         });
}

const Kernel* Device::kernel(const std::string& key) const {
  auto found = kernels.find(key);
  if (found == kernels.end()) found = kernels.find(key.substr(0, key.find('/')));
  return found == kernels.end() ? nullptr : &found->second;
}

const Kernel& Device::required_kernel(const std::string& key) const {
  if (const Kernel* found = kernel(key)) return *found;
  std::vector<std::string> keys;
  for (const auto& [other_key, rates] : kernels) keys.push_back(other_key);
  throw base::Error(base::ExitCode::usage,
                    fmt::format("{}: kernels.rates: no rate for the kernel {}; it has: {}", place(),
                                key, fmt::join(keys, ", ")));
}

}  // namespace overlap::model
