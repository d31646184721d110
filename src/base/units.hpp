#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overlap::base {

/// Parses a number without a unit. Empty when it is none or not finite.
std::optional<double> parse_number(std::string_view text);

/// Parses a count: digits with an optional binary suffix ("16 Mi" = 16 * 2^20). Empty when the
/// text is no count or exceeds 64 bits.
std::optional<std::int64_t> parse_count(std::string_view text);

/// Parses a size in bytes: digits (a fraction is fine) and a unit, B, kB, MB, GB, TB (powers of
/// 1000) or KiB, MiB, GiB, TiB (powers of 1024); without a unit, bytes. Empty when it is no size or
/// no whole number of bytes.
std::optional<std::int64_t> parse_bytes(std::string_view text);

/// Parses a time in seconds: a number and a unit, ns, us, ms, s, min or h; without a unit, seconds.
/// Empty when it is no time.
std::optional<double> parse_seconds(std::string_view text);

/// Parses a part of something: a number, or a number and "%" ("3 %" = 0.03). Empty when it is none.
std::optional<double> parse_part(std::string_view text);

/// Parses a bandwidth in bytes per second: a number and a unit, B/s, kB/s, MB/s, GB/s or TB/s
/// (powers of 1000) or KiB/s, MiB/s, GiB/s, TiB/s. Empty when it is none or has no unit.
std::optional<double> parse_bandwidth(std::string_view text);

/// Parses a version: numbers with points between them ("570.86.15"). Empty when it is none.
std::vector<int> parse_version(std::string_view text);

/// Quantities as files spell them, for the parsers above: sizes exactly, the others with up to
/// seven significant digits. "64 KiB", "2.7 us", "5.04097 GB/s".
std::string spell_bytes(std::int64_t bytes);
std::string spell_seconds(double seconds);
std::string spell_bandwidth(double bytes_per_s);
std::string spell_version(const std::vector<int>& version);
std::string spell_part(double part);  ///< "1.5 %"

/// "16 MiB", "1.5 GiB": the largest binary unit that gives at least 1, rounded to one decimal.
std::string format_bytes(std::uint64_t bytes);

/// A time with four significant digits and its unit: "5.670 ms".
std::string format_seconds(double seconds);

/// Numbers for tables: four significant digits without an exponent where that is readable.
std::string format_number(double value);

/// A part of 1 as "12.3 %", a change by such a part as "+12.3 %".
std::string format_percent(double part);
std::string format_change(double part);

}  // namespace overlap::base
