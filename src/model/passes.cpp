#include "model/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/statistics.hpp"
#include "base/units.hpp"

namespace overlap::model {
namespace {

constexpr double agreeing = 0.05;   ///< relative difference of two passes that agree
constexpr double noise_s = 0.5e-6;  ///< the same for short times
constexpr double physical = 0.03;   ///< relative, of physical limits

/// Relative spreads of a group of figures.
struct Spreads {
  std::vector<double> relative;
  double range_s = 0;
  double sum_s = 0;

  double median() const { return relative.empty() ? 0 : base::median(relative); }
  double of_sum() const { return sum_s > 0 ? range_s / sum_s : 0; }
};

class Combination {
 public:
  explicit Combination(const std::vector<Device>& passes)
      : passes_(passes), result_(passes.front()) {}

  Device run() {
    for (auto [name, copies] : {std::pair("h2d", &Device::h2d), std::pair("d2h", &Device::d2h)}) {
      for (auto [key, curve] :
           {std::pair("times", &Copies::pinned), std::pair("duplex", &Copies::duplex),
            std::pair("pageable", &Copies::pageable), std::pair("lines", &Copies::lines)}) {
        combine(fmt::format("{}.{}", name, key), copies_,
                [=](auto& device) -> auto& { return device.*copies.*curve; });
      }
    }
    combine("kernels.zero_copy", copies_, [](auto& device) -> auto& { return device.zero_copy; });
    for (auto& [name, kernel] : result_.kernels) combine(name, kernel);
    for (const auto cost : host_costs) {
      result_.host.*cost = figure("host", calls_, [=](const Device& d) { return d.host.*cost; });
    }
    for (const auto delay : latencies) {
      result_.latency.*delay =
          figure("latency", calls_, [=](const Device& d) { return d.latency.*delay; });
    }
    Spreads slow_downs;
    result_.kernels_slowed =
        figure("kernels.slowed", slow_downs, [](const Device& d) { return d.kernels_slowed; });
    result_.connections = middle(&Device::connections);
    result_.copy_connections = middle(&Device::copy_connections);
    if (result_.queues != Queues::worker) check_copies();
    result_.spread = Spread{std::min(1.0, copies_.median()), std::min(1.0, kernels_.median()),
                            std::min(1.0, calls_.of_sum())};
    return std::move(result_);
  }

 private:
  void doubt(const std::string& name) {
    if (std::ranges::find(result_.doubtful, name) == result_.doubtful.end()) {
      result_.doubtful.push_back(name);
    }
  }

  double figure(const std::string& name, Spreads& spreads, std::vector<double> values) {
    std::ranges::sort(values);  // two at least
    const double least = values[0];
    const double chosen = values[1];
    const double third = values[std::min<std::size_t>(2, values.size() - 1)];
    if (chosen > 0) spreads.relative.push_back((third - least) / 2 / chosen);
    spreads.range_s += (third - least) / 2;
    spreads.sum_s += chosen;
    const double tolerated = std::max(agreeing * chosen, std::min(noise_s, chosen));
    if (std::min(chosen - least, values.size() > 2 ? third - chosen : chosen) > tolerated) {
      doubt(name);
    }
    return chosen;
  }

  template <class Of>
    requires std::is_invocable_r_v<double, Of, const Device&>
  double figure(const std::string& name, Spreads& spreads, const Of& of) {
    std::vector<double> values;
    for (const Device& pass : passes_) values.push_back(of(pass));
    return figure(name, spreads, std::move(values));
  }

  /// Combines the curve at the sizes that more than half of the passes have.
  template <class Of>
  void combine(const std::string& name, Spreads& spreads, const Of& of) {
    std::map<double, std::vector<double>> times;
    for (const Device& pass : passes_) {
      for (const auto& [bytes, seconds] : of(pass).points()) times[bytes].push_back(seconds);
    }
    std::vector<Curve::Point> points;
    for (auto& [bytes, seconds] : times) {
      if (2 * seconds.size() <= passes_.size()) continue;
      points.push_back({bytes, figure(at(name, bytes), spreads, std::move(seconds))});
    }
    of(result_) = increasing(std::move(points));
  }

  void combine(const std::string& name, const Kernel& kernel) {
    for (std::size_t i = 0; i < kernel.roofs.size(); ++i) {
      combine("kernels.rates." + name, kernels_,
              [&](auto& device) -> auto& { return device.kernels.at(name).roofs[i].time; });
    }
  }

  int middle(int Device::* count) const {
    std::vector<int> counts;
    for (const Device& pass : passes_) counts.push_back(pass.*count);
    std::ranges::sort(counts);
    return counts[counts.size() / 2];
  }

  static std::string at(const std::string& name, double bytes) {
    return fmt::format("{} at {}", name, base::spell_bytes(std::llround(bytes)));
  }

  void check_copies() {
    for (auto [name, copies] : {std::pair("h2d", &result_.h2d), std::pair("d2h", &result_.d2h)}) {
      for (auto [key, curve] : {std::pair("times", &copies->pinned), {"duplex", &copies->duplex}}) {
        const auto& points = curve->points();
        for (std::size_t i = 1; i < points.size(); ++i) {
          const double before = points[i - 1].seconds / points[i - 1].bytes;
          if (points[i].seconds / points[i].bytes > (1 + physical) * before) {
            doubt(at(fmt::format("{}.{}", name, key), points[i].bytes));
          }
        }
      }
      for (const auto& [bytes, seconds] : copies->duplex.points()) {
        const double up_s = result_.h2d.pinned.seconds(bytes);
        const double down_s = result_.d2h.pinned.seconds(bytes);
        if (seconds < (1 - physical) * std::max(up_s, down_s) ||
            seconds > (1 + physical) * (up_s + down_s)) {
          doubt(at(fmt::format("{}.duplex", name), bytes));
        }
      }
    }
  }

  const std::vector<Device>& passes_;
  Device result_;
  Spreads copies_, kernels_, calls_;
};

/// A copy during copies in the other direction takes at least its time alone.
void limit_duplex(Copies& copies) {
  std::vector<Curve::Point> points = copies.duplex.points();
  for (auto& [bytes, seconds] : points) seconds = std::max(seconds, copies.pinned.seconds(bytes));
  copies.duplex = increasing(std::move(points));
}

}  // namespace

Device combine(const std::vector<Device>& passes) {
  Device device = passes.size() == 1 ? passes.front() : Combination(passes).run();
  limit_duplex(device.h2d);
  limit_duplex(device.d2h);
  return device;
}

}  // namespace overlap::model
