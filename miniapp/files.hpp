#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "names.hpp"
#include "study.hpp"

/// The files of a call: taken before anything runs, written as results come, continued by --resume.
namespace overlap {

/// The options with placeholders replaced in the names of the result files of this process. With
/// --fleet without the files about all ranks.
Options with_files_of_rank(const Options& options, const Inputs& inputs, const FileNames& names);

/// Registers the files that the command reads.
void register_inputs(const Inputs& inputs, report::Files& files);

/// An attempt of something without which nothing can run: `attempt(action)` returns whether it
/// succeeded.
struct Attempt {
  bool with_decks;                        ///< which keep errors; without decks all are thrown
  std::optional<base::Error> error = {};  ///< of all attempts, but base::Error{usage}

  bool operator()(const std::function<void()>& action);
};

/// Locks the files whose names are known by now, and writes the first drafts of JSON files. Those
/// that cannot be written are removed from the options. With --resume the finished points of a
/// sweep in such a file become those of the first study. Throws base::Error{usage} if a file would
/// overwrite another one of the command or, without --resume, finished points, and if those are of
/// another program, host or deck. `common`: the files about all ranks.
void take_files(Options& options, const FileNames& names, const std::vector<Output>& common,
                std::vector<Study>& studies, report::Files& files, Attempt& attempt);

/// Says what --resume took over. Throws base::Error{usage} where that is of another device.
/// `knows_device`: whether this process has one.
void begin_resumed(const Study& study, bool knows_device, Terminal& terminal);

/// Where finished points wait for --resume; empty if there are none.
std::string resume_hint(const Study& study);

/// Writes the files with this deck, as far as it is known: of one that goes on, the JSON files.
/// What cannot be written is left to the last time, which reports it.
void save(const Options& options, const std::vector<Study>& studies, std::size_t deck,
          report::Files& files);

/// Writes a file; returns whether it could.
bool write_output(const Output& output, std::vector<Study>& studies, Terminal& terminal);

}  // namespace overlap
