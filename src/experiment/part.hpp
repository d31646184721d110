#pragma once

#include <string>
#include <vector>

#include "experiment/plan.hpp"

/// What results say of a deck, its points and their ends.
namespace overlap::experiment {

using results::Part;

/// A result of a deck of which nothing ran yet.
results::Result new_result(const std::vector<deck::Point>& points, base::Machine machine);

/// What a result says of a plan before anything runs: point, choices, balance, layout.
Part planned(const Plan& plan);

/// The part of a point that an error ended.
Part failed(const deck::Point& point, const base::Error& error);

/// Marks a part as interrupted after what it has was measured.
void interrupt(Part& part);

/// Sets exit code and reasons of a part; `code`: that of an error that ended it.
void conclude(Part& part, base::ExitCode code = base::ExitCode::pass);

/// Short hash of all keys of the deck of a point and of its swept keys.
std::string fingerprint(const deck::Point& point);

}  // namespace overlap::experiment
