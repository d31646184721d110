#pragma once

#include <string>
#include <vector>

/// Files that come with the program, which can be called by name.
namespace overlap::yaml {

/// Names of the YAML files below a folder of input/: paths from there on without ".yaml", sorted.
/// Of input/ itself ("") without those in devices/ and references/.
std::vector<std::string> shipped_names(const std::string& folder);

/// The path of a file; its name is enough for those below the folder. `kind` is what messages call
/// it. Throws base::Error{usage}, with the nearest name, for what is neither a name nor like a
/// path.
std::string path_of(const std::string& name_or_path, const std::string& folder,
                    const std::string& kind);

}  // namespace overlap::yaml
