#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overlap::base {

/// Parses a finite number without a unit. Empty if the text is not one.
std::optional<double> parse_number(std::string_view text);

/// Parses an integer with an optional binary suffix Ki, Mi, Gi or Ti ("16 Mi" = 16 * 2^20, "1.5 Ki"
/// = 1536). Empty if the value is not an integer of 64 bits.
std::optional<std::int64_t> parse_count(std::string_view text);

/// Parses a size in bytes: a number and an optional unit, B, kB, MB, GB, TB (powers of 1000) or
/// KiB, MiB, GiB, TiB (powers of 1024). Empty if the value is not an integer number of bytes within
/// 64 bits.
std::optional<std::int64_t> parse_bytes(std::string_view text);

/// Parses a time into seconds: a number and an optional unit, ns, us, ms, s (default), min or h.
/// Empty if the text is not a time.
std::optional<double> parse_seconds(std::string_view text);

/// Parses a fraction: a number, optionally in percent ("3 %" = 0.03). Empty if the text is not one.
std::optional<double> parse_part(std::string_view text);

/// Parses a bandwidth into bytes per second: a number and a unit, B/s, kB/s, MB/s, GB/s or TB/s
/// (powers of 1000) or KiB/s, MiB/s, GiB/s, TiB/s. Empty if the text is not one; the unit is
/// required.
std::optional<double> parse_bandwidth(std::string_view text);

/// Parses a rate of floating-point operations: a number and a unit, flop/s to Tflop/s. Empty if the
/// text is not one; the unit is required.
std::optional<double> parse_flop_rate(std::string_view text);

/// Parses a version: numbers separated by dots ("570.86.15"). Empty if the text is not one.
std::vector<int> parse_version(std::string_view text);

/// Formats quantities for files, readable by the parsers above: "64 KiB", "2.7 us", "5.04097 GB/s".
/// Sizes and versions are exact, times and bandwidths have up to seven significant digits,
/// fractions up to four.
std::string spell_bytes(std::int64_t bytes);
std::string spell_seconds(double seconds);
std::string spell_bandwidth(double bytes_per_s);
std::string spell_flop_rate(double flops_per_s);
std::string spell_version(const std::vector<int>& version);
std::string spell_part(double part);  ///< "1.5 %"
/// The units of sizes ("B"), times ("s"), bandwidths ("B/s") or rates ("flop/s"); others: none.
std::vector<std::string> unit_names(std::string_view unit);

/// "1 chunk", "2 chunks"; `singular` has a regular plural.
template <std::integral T>
std::string counted(T number, std::string_view singular) {
  return std::to_string(number).append(" ").append(singular).append(number == 1 ? "" : "s");
}
/// "1 core", "0.4 cores".
std::string cores_text(double cores);
/// "gen5 x16"; empty: one of them is unknown.
std::optional<std::string> spell_link(std::optional<int> generation, std::optional<int> width);

/// "16 MiB", "1.5 GiB": in the largest binary unit with a value of at least 1, integers exactly,
/// others with one decimal.
std::string format_bytes(std::uint64_t bytes);
template <std::signed_integral T>
std::string format_bytes(T bytes) {
  return format_bytes(static_cast<std::uint64_t>(bytes));
}

/// A time with four significant digits and its unit: "5.670 ms".
std::string format_seconds(double seconds);

/// A number for tables: four significant digits, but all digits before the point, and an exponent
/// only below 1e-3 and from 1e7 on.
std::string format_number(double value);

/// A fraction as "12.3 %", and a relative change as "+12.3 %".
std::string format_percent(double part);
std::string format_change(double part);

}  // namespace overlap::base
