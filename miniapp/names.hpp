#pragma once

#include <string>
#include <vector>

#include "base/machine.hpp"
#include "options.hpp"
#include "report/study.hpp"

/// Names of result files: {deck}, {host}, {rank} and {uuid} stand for what they say.
namespace overlap {

/// What this process puts into them.
struct FileNames {
  std::string host;
  int rank = 0;
  std::string uuid;  ///< of the device; on host back ends "rank0"
  std::string of(std::string name) const;
};

FileNames names_of(const base::Machine& machine);

bool names_deck(const std::string& name);
std::string with_deck(std::string name, const std::string& deck);
/// Whether each rank has a file of its own by this name.
bool names_rank(const std::string& name);

/// Throws base::Error{usage} when the launcher started several ranks that would write the same
/// file.
void require_own_files(const Options& options);

}  // namespace overlap
