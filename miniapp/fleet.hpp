#pragma once

#include "fleet/member.hpp"
#include "names.hpp"
#include "print.hpp"
#include "study.hpp"

/// Additional steps of main for --fleet.
namespace overlap {

/// The longest fleet.deadline of all decks, seconds.
double deadline_s(const Inputs& inputs);

/// Starts MPI and then reads the inputs: the start of MPI waits for all ranks. If some ranks cannot
/// read theirs, rank 0 prints the first error, and no rank has inputs. `error`: why the ranks
/// cannot meet. Throws base::Error{usage}.
std::optional<Inputs> read_together(const Options& options, Machinery& machinery,
                                    std::optional<base::Error>& error, Terminal& terminal);

/// Whether a result file of --fleet is about all ranks, not one per rank.
bool is_common_file(const Output& output);

/// The files about all ranks; rank 0 writes them, the others have none. Throws base::Error{usage}
/// for files that cannot be about all ranks.
std::vector<Output> common_files(const Options& options, const FileNames& names);

/// Gathers the results of all ranks; rank 0 prints and writes the fleet. Returns its exit code on
/// all ranks.
base::ExitCode finish_fleet(const Options& options, const FileNames& names,
                            const std::vector<Study>& studies, Machinery& machinery,
                            Terminal& terminal);

}  // namespace overlap
