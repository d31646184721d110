#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/study.hpp"

namespace overlap::report {

/// Name and version of the result file format.
inline constexpr const char* result_schema = "overlap-result/2";

/// The result file, schema overlap-result/2: an object for one study, {"results": [...]} for
/// several. `indent` -1: on one line.
std::string to_json(const std::vector<Study>& studies, int indent = 2);

/// The JSON Schema of result files, from the same tables.
std::string json_schema();

/// The record of a point, one line of JSON, and its reader. read_record() throws base::Error{usage}
/// for an invalid line.
std::string record(const experiment::Outcome& outcome, const deck::Point& point,
                   std::size_t number);
PointResult read_record(const std::string& line);

/// The orders of a point as table rows.
std::vector<Row> rows_of(const experiment::Outcome& outcome);

/// The findings and the checks of a point as table rows.
std::vector<FindingRow> findings_of(const experiment::Outcome& outcome);
std::vector<CheckRow> checks_of(const experiment::Outcome& outcome);

/// Short hash of all keys of the deck of a point and of its swept keys.
std::string fingerprint(const deck::Point& point);

/// The numeric value of a dotted key of the deck (sizes in bytes, defaults filled in); empty if not
/// a number.
std::optional<double> number_at(const deck::Deck& deck, const std::string& key);

}  // namespace overlap::report
