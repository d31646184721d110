#include "model/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "model/predict.hpp"

namespace overlap::model {
namespace {

constexpr double agreeing = 0.05;   ///< relative deviation of passes that agree
constexpr double noise_s = 0.5e-6;  ///< the same for short times

/// A figure that is measured: a curve, or a time or factor.
struct Figure {
  std::string name;         ///< as in Device::doubtful
  double Spread::* spread;  ///< of its kind
  std::variant<Curve*, double*> value;
};

/// All measured figures of a device but its numbers of queues, in an order that depends only on its
/// kernels and roofs.
std::vector<Figure> figures(Device& device) {
  std::vector<Figure> list;
  for (const auto& [key, copies] : {std::pair("h2d", &device.h2d), std::pair("d2h", &device.d2h)}) {
    const std::string prefix = std::string(key) + ".";
    list.push_back({prefix + "times", &Spread::copies, &copies->pinned});
    list.push_back({prefix + "duplex", &Spread::copies, &copies->duplex});
    list.push_back({prefix + "pageable", &Spread::copies, &copies->pageable});
    list.push_back({prefix + "lines", &Spread::copies, &copies->lines});
  }
  list.push_back({"kernels.slowed", &Spread::kernels, &device.kernels_slowed});
  for (auto& [name, kernel] : device.kernels) {
    for (Roof& roof : kernel.roofs) {
      list.push_back({"kernels.rates." + name, &Spread::kernels, &roof.time});
    }
  }
  for (const auto cost : host_costs) list.push_back({"host", &Spread::calls, &(device.host.*cost)});
  for (double* const delay :
       {&device.latency.start_s, &device.latency.lane_s, &device.latency.event_s,
        &device.latency.notice_s, &device.latency.handover_s}) {
    list.push_back({"latency", &Spread::calls, delay});
  }
  return list;
}

/// The values of a figure by size; of a number at 0.
std::vector<Curve::Point> points_of(const Figure& figure) {
  if (double* const* number = std::get_if<double*>(&figure.value)) return {{0, **number}};
  return std::get<Curve*>(figure.value)->points();
}

double lower_median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

/// The device with all figures at one end of their spread: -1 or 1.
Device at_end(Device device, int end) {
  const double slowed = device.kernels_slowed;
  for (const Figure& figure : figures(device)) {
    const double factor = std::max(1e-9, 1 + end * ((*device.spread).*figure.spread));
    if (double* const* number = std::get_if<double*>(&figure.value)) {
      **number *= factor;
    } else {
      Curve& curve = *std::get<Curve*>(figure.value);
      curve = slower(curve, factor);
    }
  }
  device.kernels_slowed = slowed;  // a factor, not a time
  return device;
}

}  // namespace

Device combine(std::vector<Device> passes) {
  Device result = passes.front();
  if (passes.size() == 1) return result;
  std::vector<std::vector<Figure>> measured;
  for (Device& pass : passes) measured.push_back(figures(pass));
  std::map<double*, std::vector<double>> deviations;  // by kind
  Spread& spread = result.spread.emplace();
  const std::vector<Figure> combined = figures(result);
  for (std::size_t i = 0; i < combined.size(); ++i) {
    const Figure& figure = combined[i];
    std::map<double, std::vector<double>> by_size;
    for (const std::vector<Figure>& pass : measured) {
      for (const auto& [bytes, value] : points_of(pass[i])) by_size[bytes].push_back(value);
    }
    std::vector<Curve::Point> points;
    for (const auto& [bytes, values] : by_size) {
      if (2 * values.size() <= passes.size()) continue;  // a size that few passes have
      const double value = lower_median(values);
      const double deviation = base::median_deviation(values, value);
      if (value > 0) deviations[&(spread.*figure.spread)].push_back(deviation / value);
      points.push_back({bytes, value});
      if (deviation <= std::max(agreeing * value, std::min(noise_s, value))) continue;
      const std::string name =
          bytes == 0 ? figure.name : figure.name + " at " + base::spell_bytes(std::llround(bytes));
      if (std::ranges::find(result.doubtful, name) == result.doubtful.end()) {
        result.doubtful.push_back(name);
      }
    }
    if (double* const* number = std::get_if<double*>(&figure.value)) {
      **number = points.front().seconds;
    } else {
      *std::get<Curve*>(figure.value) = increasing(std::move(points));
    }
  }
  for (auto& [kind, values] : deviations) *kind = std::min(1.0, base::median(std::move(values)));
  for (const auto count : {&Device::connections, &Device::copy_connections}) {
    std::ranges::sort(passes, {}, count);
    result.*count = passes[passes.size() / 2].*count;
  }
  return result;
}

std::optional<Interval> expected(const schedule::Schedule& schedule, const Device& device,
                                 const std::function<void()>& step) {
  if (!device.spread) return std::nullopt;
  const auto end_s = [&](int end) {
    return predict(schedule, at_end(device, end), step).complete_s;
  };
  const double low_s = end_s(-1), high_s = end_s(1);
  const double error = model_error(device);
  return Interval{(1 - error) * std::min(low_s, high_s), (1 + error) * std::max(low_s, high_s)};
}

}  // namespace overlap::model
