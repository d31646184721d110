#pragma once

#include "report/fleet.hpp"

/// Tables of a fleet, for the terminal and the page. Each begins with its headings and is empty
/// where there is nothing to show; at most `most` rows, then one that says how many more there are.
namespace overlap::report {

using base::Rows;

inline constexpr std::size_t all_rows = 1000;

/// "9980 devices of 1250 hosts: NVIDIA H100, gen5 x16, Cuda, deck node, program 0.1.0".
std::string group_words(const experiment::Fleet& fleet, const experiment::Group& group);

/// How many files, devices, and what is wrong with them, in one line.
std::string summary_words(const experiment::Fleet& fleet);

/// "throughput of by_engine, GB/s", "h2d_rate, GB/s".
std::string figure_words(const experiment::FigureKey& key);

/// Medians of the compared figures, alone / together; throughput in GB/s under its order.
Rows device_rows(const experiment::Fleet& fleet, const experiment::Group& group);
Rows distribution_rows(const experiment::Fleet& fleet, const experiment::Group& group);
/// Medians of the compared figures alone beside those together; empty without both phases.
Rows phase_rows(const experiment::Group& group);
Rows slowest_rows(const experiment::Fleet& fleet, const experiment::Group& group);
/// Each outlying device once, by the figure that is farthest off.
Rows outlier_rows(const experiment::Fleet& fleet, const experiment::Group& group, std::size_t most,
                  bool fast_only);
Rows node_rows(const experiment::Group& group, std::size_t most);
Rows driver_rows(const experiment::Fleet& fleet, const experiment::Group& group, std::size_t most);
Rows trouble_rows(const experiment::Fleet& fleet, std::size_t most);
Rows missing_rows(const experiment::Fleet& fleet, std::size_t most);
Rows broken_rows(const experiment::Fleet& fleet, std::size_t most);
Rows history_rows(const experiment::Fleet& fleet, std::size_t most);

/// The compared figure whose devices differ most, drawn with characters; empty where there is none.
std::string histogram(const experiment::Fleet& fleet, const experiment::Group& group);

}  // namespace overlap::report
