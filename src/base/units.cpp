#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace overlap::base {
namespace {

struct Quantity {
  double value = 0;
  bool whole = false;  ///< written without fraction or exponent, and `integer` holds it exactly
  std::int64_t integer = 0;
  std::string_view unit;
};

std::optional<Quantity> split(std::string_view text) {
  Quantity quantity;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, quantity.value);
  if (number.ec != std::errc{} || !std::isfinite(quantity.value)) return std::nullopt;
  const auto integer = std::from_chars(text.data(), end, quantity.integer);
  quantity.whole = integer.ec == std::errc{} && integer.ptr == number.ptr;
  quantity.unit = text.substr(static_cast<std::size_t>(number.ptr - text.data()));
  while (!quantity.unit.empty() && quantity.unit.front() == ' ') quantity.unit.remove_prefix(1);
  return quantity;
}

using Units = std::pair<std::string_view, double>;
constexpr std::array<Units, 5> count_units = {
    {{"", 1.0}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}}};
constexpr std::array<Units, 11> byte_units = {{{"", 1.0},
                                               {"B", 1.0},
                                               {"kB", 1e3},
                                               {"KB", 1e3},
                                               {"MB", 1e6},
                                               {"GB", 1e9},
                                               {"TB", 1e12},
                                               {"KiB", 0x1p10},
                                               {"MiB", 0x1p20},
                                               {"GiB", 0x1p30},
                                               {"TiB", 0x1p40}}};
constexpr std::array<Units, 6> time_units = {
    {{"", 1.0}, {"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}}};

std::optional<double> scale_of(std::string_view unit, const auto& units) {
  for (const auto& [name, scale] : units) {
    if (name == unit) return scale;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_integral(std::string_view text, const auto& units) {
  const auto quantity = split(text);
  if (!quantity) return std::nullopt;
  const auto scale = scale_of(quantity->unit, units);
  if (!scale) return std::nullopt;
  const double product = quantity->value * *scale;
  if (product != std::floor(product) || std::abs(product) >= 0x1p63) return std::nullopt;
  if (quantity->whole) return quantity->integer * static_cast<std::int64_t>(*scale);
  return static_cast<std::int64_t>(product);
}

/// With the largest unit that gives at least 1, else the smallest; `units` from large to small.
std::string spell(double value, const auto& units) {
  const auto fits = [&](const Units& unit) { return std::abs(value) >= unit.second; };
  auto unit = value == 0 ? units.begin() : std::find_if(units.begin(), units.end(), fits);
  if (unit == units.end()) --unit;
  return fmt::format("{:.7g} {}", value / unit->second, unit->first);
}

}  // namespace

std::optional<std::int64_t> parse_count(std::string_view text) {
  return parse_integral(text, count_units);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  return parse_integral(text, byte_units);
}

std::optional<double> parse_seconds(std::string_view text) {
  const auto quantity = split(text);
  if (!quantity) return std::nullopt;
  const auto scale = scale_of(quantity->unit, time_units);
  if (!scale) return std::nullopt;
  return quantity->value * *scale;
}

std::optional<double> parse_bandwidth(std::string_view text) {
  constexpr std::string_view per_second = "/s";
  const auto quantity = split(text);
  if (!quantity || !quantity->unit.ends_with(per_second)) return std::nullopt;
  const std::string_view unit = quantity->unit.substr(0, quantity->unit.size() - per_second.size());
  const auto scale = scale_of(unit, byte_units);
  if (!scale || unit.empty()) return std::nullopt;
  return quantity->value * *scale;
}

std::string spell_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

std::string spell_seconds(double seconds) {
  return spell(seconds,
               std::array<Units, 4>{{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}});
}

std::string spell_bandwidth(double bytes_per_s) {
  return spell(bytes_per_s,
               std::array<Units, 5>{
                   {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1.0}}});
}

std::string format_number(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (!std::isfinite(value) || size >= 1e7 || size < 1e-3) return fmt::format("{:.3e}", value);
  const int decimals = std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  if (value == std::floor(value)) return fmt::format("{:.0f} {}", value, units[unit]);
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string format_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1 || size == 0) return format_number(seconds) + " s";
  if (size >= 1e-3) return format_number(seconds * 1e3) + " ms";
  if (size >= 1e-6) return format_number(seconds * 1e6) + " us";
  return format_number(seconds * 1e9) + " ns";
}

}  // namespace overlap::base
