#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/study.hpp"

namespace overlap::report {

/// Name and version of the format of result files.
inline constexpr const char* result_schema = "overlap-result/2";

/// The result file, schema overlap-result/2: one object for one study, {"results": [...]} for
/// several. `indent` -1: all on one line.
std::string to_json(const std::vector<Study>& studies, int indent = 2);

/// The JSON Schema of result files, made from the tables that write them.
std::string json_schema();

/// All that is kept of a point, one line of JSON; and what it says. read_record() throws
/// base::Error{usage} for a line that is none.
std::string record(const experiment::Outcome& outcome, const deck::Point& point,
                   std::size_t number);
PointResult read_record(const std::string& line);

/// The orders of a point, as tables show them.
std::vector<Row> rows_of(const experiment::Outcome& outcome);

/// The checks of a point, as tables show them.
std::vector<CheckRow> checks_of(const experiment::Outcome& outcome);

/// What a point is, in a few characters: the same for two only if all keys of their decks are, and
/// the keys that are swept.
std::string fingerprint(const deck::Point& point);

/// The number that a dotted key of the deck has, sizes in bytes, with the defaults filled in; empty
/// where it is a word.
std::optional<double> number_at(const deck::Deck& deck, const std::string& key);

}  // namespace overlap::report
