#pragma once

#include "fleet/member.hpp"
#include "names.hpp"
#include "print.hpp"
#include "run.hpp"

/// What main does for --fleet beside what it does for every run.
namespace overlap {

/// The longest fleet.deadline of the decks, seconds.
double deadline_s(const Inputs& inputs);

/// Makes each deck's phases its points. Throws base::Error{usage} for a sweep.
void split_phases(Inputs& inputs);

/// Throws base::Error{usage} for a deck that only a fleet can judge.
void require_no_phases(const Inputs& inputs);

/// The outputs of this rank; the others are rank 0's and about all ranks, which it checks. Throws
/// base::Error{usage} for one that is neither.
std::vector<Output> rank_outputs(const Options& options, const FileNames& names);

/// Brings the ranks' results together: rank 0 prints and writes the fleet. Returns its exit code,
/// on all ranks.
base::ExitCode finish_fleet(const Options& options, const FileNames& names,
                            const std::vector<report::Study>& studies, fleet::Member& member,
                            Terminal& terminal);

}  // namespace overlap
