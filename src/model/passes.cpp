#include "model/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "model/figures.hpp"

namespace overlap::model {
namespace {

constexpr double agreeing = 0.05;   ///< relative deviation of passes that agree
constexpr double noise_s = 0.5e-6;  ///< the same for short times

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

/// What the passes found of one figure; of a curve by size, of a number at 0.
std::map<double, std::vector<double>> values_of(const std::vector<std::vector<Figure>>& passes,
                                                std::size_t figure) {
  std::map<double, std::vector<double>> values;
  for (const std::vector<Figure>& pass : passes) {
    if (double* const* number = std::get_if<double*>(&pass[figure].value)) {
      values[0].push_back(**number);
      continue;
    }
    for (const auto& [bytes, seconds] : std::get<Curve*>(pass[figure].value)->points()) {
      values[bytes].push_back(seconds);
    }
  }
  return values;
}

/// A copy during copies in the other direction takes at least its time alone.
void limit_duplex(Copies& copies) {
  std::vector<Curve::Point> points = copies.duplex.points();
  for (auto& [bytes, seconds] : points) seconds = std::max(seconds, copies.pinned.seconds(bytes));
  copies.duplex = increasing(std::move(points));
}

}  // namespace

Device combine(std::vector<Device> passes) {
  Device result = passes.front();
  if (passes.size() == 1) {
    limit_duplex(result.h2d);
    limit_duplex(result.d2h);
    return result;
  }
  std::vector<std::vector<Figure>> measured;
  for (Device& pass : passes) measured.push_back(figures(pass));
  Spread spread;
  const std::array kinds = {&spread.copies, &spread.kernels, &spread.calls};
  std::map<double*, std::vector<double>> deviations;  // by kind
  const std::vector<Figure> combined = figures(result);
  for (std::size_t i = 0; i < combined.size(); ++i) {
    const Figure& figure = combined[i];
    Curve* const* const curve = std::get_if<Curve*>(&figure.value);
    std::vector<Curve::Point> points;
    for (const auto& [bytes, values] : values_of(measured, i)) {
      if (2 * values.size() <= passes.size()) continue;  // a size that few passes have
      const double value = middle(values);
      const double deviation = base::median_deviation(values, value);
      if (value > 0)
        deviations[kinds[static_cast<std::size_t>(figure.kind)]].push_back(deviation / value);
      points.push_back({bytes, value});
      if (deviation <= std::max(agreeing * value, std::min(noise_s, value))) continue;
      const std::string name = curve == nullptr
                                   ? figure.name
                                   : figure.name + " at " + base::spell_bytes(std::llround(bytes));
      if (std::ranges::find(result.doubtful, name) == result.doubtful.end()) {
        result.doubtful.push_back(name);
      }
    }
    if (curve == nullptr) {
      *std::get<double*>(figure.value) = points.front().seconds;
    } else {
      **curve = increasing(std::move(points));
    }
  }
  for (auto& [kind, all] : deviations) *kind = std::min(1.0, base::median(std::move(all)));
  result.spread = spread;
  limit_duplex(result.h2d);
  limit_duplex(result.d2h);
  for (const auto count : {&Device::connections, &Device::copy_connections}) {
    std::ranges::sort(passes, {}, count);
    result.*count = passes[passes.size() / 2].*count;
  }
  return result;
}

}  // namespace overlap::model
