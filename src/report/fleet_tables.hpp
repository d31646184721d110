#pragma once

#include "report/fleet.hpp"

/// Tables of a fleet, for terminal and page. The first row contains the headings; a table without
/// data is empty. After `most` rows a last row shows how many were omitted.
namespace overlap::report {

using base::Rows;

inline constexpr std::size_t all_rows = 1000;

/// The host of missing devices; "unknown host".
std::string host_words(const experiment::MissingDevices& missing);

/// "PASS", ...: the worst of all phases.
std::string device_verdict(const experiment::DeviceRecord& device);

/// Whether texts must say which deck they are about.
bool several_decks(const experiment::Fleet& fleet);

/// "9980 devices of 1250 hosts: NVIDIA H100, gen5 x16, Cuda, deck node, program 0.1.0".
std::string group_words(const experiment::Fleet& fleet, const experiment::Group& group);

/// Numbers of files, devices and problems in one line.
std::string summary_words(const experiment::Fleet& fleet);

/// Medians of the compared figures, alone / together; throughput in GB/s by order.
Rows device_rows(const experiment::Fleet& fleet, const experiment::Group& group);
Rows distribution_rows(const experiment::Fleet& fleet, const experiment::Group& group);
/// Medians of the compared figures alone and together; empty without both phases.
Rows phase_rows(const experiment::Group& group);
Rows slowest_rows(const experiment::Fleet& fleet, const experiment::Group& group);
/// One row per outlying device, with its most deviating figure.
Rows outlier_rows(const experiment::Fleet& fleet, const experiment::Group& group, std::size_t most,
                  bool fast_only);
Rows node_rows(const experiment::Group& group, std::size_t most);
Rows driver_rows(const experiment::Fleet& fleet, const experiment::Group& group, std::size_t most);
Rows trouble_rows(const experiment::Fleet& fleet, std::size_t most);
Rows missing_rows(const experiment::Fleet& fleet, std::size_t most);
Rows missing_device_rows(const experiment::Fleet& fleet, std::size_t most);
Rows broken_rows(const experiment::Fleet& fleet, std::size_t most);
Rows unsteady_rows(const experiment::Fleet& fleet, std::size_t most);
Rows history_rows(const experiment::Fleet& fleet, std::size_t most);

/// Text histogram of the compared figure with the largest spread; empty if there is none.
std::string histogram(const experiment::Fleet& fleet, const experiment::Group& group);

}  // namespace overlap::report
