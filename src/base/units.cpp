#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace overlap::base {
namespace {

struct Unit {
  std::string_view name;
  double size;
  int power = 0;  ///< of ten, of a unit below 1
};
using Units = std::span<const Unit>;

// unit_of() takes the first unit that fits: large units come before small ones, and units that are
// never written after those that hide them.
constexpr Unit count_units[] = {
    {"Ti", 0x1p40}, {"Gi", 0x1p30}, {"Mi", 0x1p20}, {"Ki", 0x1p10}, {"", 1}};
constexpr Unit byte_units[] = {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10},
                               {"B", 1},        {"", 1},         {"TB", 1e12},    {"GB", 1e9},
                               {"MB", 1e6},     {"KB", 1e3},     {"kB", 1e3}};
constexpr Unit rate_units[] = {
    {"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}};
constexpr Unit flop_units[] = {
    {"Tflop/s", 1e12}, {"Gflop/s", 1e9}, {"Mflop/s", 1e6}, {"kflop/s", 1e3}, {"flop/s", 1}};
constexpr Unit time_units[] = {{"s", 1},         {"", 1},          {"min", 60},
                               {"h", 3600},      {"ms", 1e-3, -3}, {"us", 1e-6, -6},
                               {"µs", 1e-6, -6}, {"ns", 1e-9, -9}};
constexpr Unit part_units[] = {{"", 1}, {"%", 1e-2, -2}};
constexpr Unit no_units[] = {{"", 1}};
constexpr Units binary_units = Units(byte_units).first(5);

struct Quantity {
  double scaled = 0;
  std::optional<std::int64_t> integer;  ///< the number where it has no fraction and no exponent
  double unit = 1;
};

/// A number times a power of ten, rounded once: 100 us and 0.1 ms are the same.
double shifted(std::string_view number, int power) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  int exponent = 0;
  if (e < number.size()) {
    const std::size_t begin = e + (number[e + 1] == '+' ? 2 : 1);
    std::from_chars(number.data() + begin, number.data() + number.size(), exponent);
  }
  const std::string text = fmt::format("{}e{}", number.substr(0, e), exponent + power);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<Quantity> parse(std::string_view text, Units units) {
  if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') return {};  // octal?
  Quantity quantity;
  std::int64_t integer = 0;
  double value = 0;
  const auto number = std::from_chars(text.begin(), text.end(), value);
  if (number.ec != std::errc{} || !std::isfinite(value)) return std::nullopt;
  const auto integer_end = std::from_chars(text.begin(), text.end(), integer);
  if (integer_end.ec == std::errc{} && integer_end.ptr == number.ptr) quantity.integer = integer;
  const std::string_view digits =
      text.substr(0, static_cast<std::size_t>(number.ptr - text.data()));
  text.remove_prefix(digits.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto unit = std::ranges::find(units, text, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  quantity.unit = unit->size;
  quantity.scaled =
      unit->power == 0 || value == 0 ? value * unit->size : shifted(digits, unit->power);
  return quantity;
}

std::optional<double> parse_real(std::string_view text, Units units) {
  const auto quantity = parse(text, units);
  return quantity ? std::optional(quantity->scaled) : std::nullopt;
}

std::optional<std::int64_t> parse_integral(std::string_view text, Units units) {
  const auto quantity = parse(text, units);
  if (!quantity) return std::nullopt;
  const double scaled = quantity->scaled;
  if (scaled != std::floor(scaled) || std::abs(scaled) >= 0x1p63) return std::nullopt;
  if (quantity->integer) return *quantity->integer * static_cast<std::int64_t>(quantity->unit);
  return static_cast<std::int64_t>(scaled);
}

/// The largest unit that gives at least 1, else the smallest.
const Unit& unit_of(double value, Units units) {
  const auto fits = [&](const Unit& unit) { return value == 0 || std::abs(value) >= unit.size; };
  const auto unit = std::ranges::find_if(units, fits);
  return unit == units.end() ? units.back() : *unit;
}

std::string spell(double value, Units units) {
  const Unit& unit = unit_of(value, units);
  return fmt::format("{:.7g} {}", value / unit.size, unit.name);
}

}  // namespace

std::vector<std::string> unit_names(std::string_view unit) {
  const Units units = unit == "B"        ? Units(byte_units)
                      : unit == "s"      ? Units(time_units)
                      : unit == "B/s"    ? Units(rate_units)
                      : unit == "flop/s" ? Units(flop_units)
                                         : Units();
  std::vector<std::string> names;
  for (const auto& row : units) {
    if (!row.name.empty()) names.emplace_back(row.name);
  }
  return names;
}

std::optional<double> parse_number(std::string_view text) { return parse_real(text, no_units); }

std::optional<std::int64_t> parse_count(std::string_view text) {
  return parse_integral(text, count_units);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  return parse_integral(text, byte_units);
}

std::optional<double> parse_seconds(std::string_view text) { return parse_real(text, time_units); }

std::optional<double> parse_part(std::string_view text) { return parse_real(text, part_units); }

std::optional<double> parse_bandwidth(std::string_view text) {
  if (!text.ends_with("B/s")) return std::nullopt;
  return parse_real(text.substr(0, text.size() - 2), byte_units);
}

std::optional<double> parse_flop_rate(std::string_view text) {
  return parse_real(text, flop_units);
}

std::vector<int> parse_version(std::string_view text) {
  std::vector<int> version;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return {};
    version.push_back(number);
    if (next == end) return version;
    if (*next != '.') return {};
    at = next + 1;
  }
}

std::string spell_bytes(std::int64_t bytes) {
  const auto divides = [&](const Unit& unit) {
    return unit.size == 1 || (bytes != 0 && bytes % static_cast<std::int64_t>(unit.size) == 0);
  };
  const Unit& unit = *std::ranges::find_if(binary_units, divides);
  return fmt::format("{} {}", bytes / static_cast<std::int64_t>(unit.size), unit.name);
}

std::string spell_seconds(double seconds) { return spell(seconds, time_units); }

std::string spell_bandwidth(double bytes_per_s) { return spell(bytes_per_s, rate_units); }

std::string spell_flop_rate(double flops_per_s) { return spell(flops_per_s, flop_units); }

std::string spell_part(double part) { return fmt::format("{:.4g} %", 100 * part); }

std::string format_number(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (!std::isfinite(value) || size >= 1e7 || size < 1e-3) return fmt::format("{:.3e}", value);
  const int decimals = std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_percent(double part) { return fmt::format("{:.1f} %", 100 * part); }
std::string format_change(double part) { return fmt::format("{:+.1f} %", 100 * part); }

std::string spell_version(const std::vector<int>& version) {
  return fmt::format("{}", fmt::join(version, "."));
}

std::string cores_text(double cores) {
  return fmt::format("{:.4g} {}", cores, cores == 1 ? "core" : "cores");
}

std::optional<std::string> spell_link(std::optional<int> generation, std::optional<int> width) {
  if (!generation || !width) return std::nullopt;
  return fmt::format("gen{} x{}", *generation, *width);
}

std::string format_bytes(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  const Unit& unit = bytes == 0 ? binary_units.back() : unit_of(value, binary_units);
  const double scaled = value / unit.size;
  return fmt::format("{:.{}f} {}", scaled, scaled == std::floor(scaled) ? 0 : 1, unit.name);
}

std::string format_seconds(double seconds) {
  const Unit& unit = unit_of(seconds, time_units);
  return fmt::format("{} {}", format_number(seconds / unit.size), unit.name);
}

}  // namespace overlap::base
