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

constexpr double agreeing = 0.05;   ///< relative deviation of passes that agree
constexpr double noise_s = 0.5e-6;  ///< the same for short times

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
    result_.kernels_slowed =
        figure("kernels.slowed", kernels_, [](const Device& d) { return d.kernels_slowed; });
    result_.connections = middle(&Device::connections);
    result_.copy_connections = middle(&Device::copy_connections);
    result_.spread = Spread{spread(copies_), spread(kernels_), spread(calls_)};
    return std::move(result_);
  }

 private:
  static double spread(std::vector<double> deviations) {
    return deviations.empty() ? 0 : std::min(1.0, base::median(std::move(deviations)));
  }

  double figure(const std::string& name, std::vector<double>& deviations,
                std::vector<double> values) {
    std::ranges::sort(values);
    const double median = values[(values.size() - 1) / 2];
    const double deviation = base::median_deviation(std::move(values), median);
    if (median > 0) deviations.push_back(deviation / median);
    const bool agree = deviation <= std::max(agreeing * median, std::min(noise_s, median));
    auto& doubtful = result_.doubtful;
    if (!agree && std::ranges::find(doubtful, name) == doubtful.end()) doubtful.push_back(name);
    return median;
  }

  template <class Of>
    requires std::is_invocable_r_v<double, Of, const Device&>
  double figure(const std::string& name, std::vector<double>& deviations, const Of& of) {
    std::vector<double> values;
    for (const Device& pass : passes_) values.push_back(of(pass));
    return figure(name, deviations, std::move(values));
  }

  /// Combines the curve at the sizes that more than half of the passes have.
  template <class Of>
  void combine(const std::string& name, std::vector<double>& deviations, const Of& of) {
    std::map<double, std::vector<double>> times;
    for (const Device& pass : passes_) {
      for (const auto& [bytes, seconds] : of(pass).points()) times[bytes].push_back(seconds);
    }
    std::vector<Curve::Point> points;
    for (auto& [bytes, seconds] : times) {
      if (2 * seconds.size() <= passes_.size()) continue;
      points.push_back({bytes, figure(name + " at " + base::spell_bytes(std::llround(bytes)),
                                      deviations, std::move(seconds))});
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

  const std::vector<Device>& passes_;
  Device result_;
  std::vector<double> copies_, kernels_, calls_;  ///< relative deviations
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
