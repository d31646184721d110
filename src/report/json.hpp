#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/sweep.hpp"

namespace overlap::report {

/// The result file, schema overlap-result/1 (overlap-result-1.schema.json beside this file): one
/// object for one deck, {"results": [...]} for several. `indent` -1: all on one line.
std::string to_json(const std::vector<Result>& results, int indent = 2);

/// The same of a sweep: a run for each point that is done, and order.
std::string sweep_json(const Sweep& sweep, int indent = 2);

/// All that is kept of a point, one line of JSON; and what it says. read_record() throws
/// base::Error{usage} for a line that is none.
std::string record(const Result& result, std::size_t number);
PointResult read_record(const std::string& line);

/// What a point is, in a few characters: the same for two only if all keys of their decks are, and
/// the keys that are swept.
std::string fingerprint(const deck::Point& point);

/// The number that a dotted key of the deck has, sizes in bytes, with the defaults filled in; empty
/// where it is a word.
std::optional<double> number_at(const deck::Deck& deck, const std::string& key);

}  // namespace overlap::report
