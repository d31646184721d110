#pragma once

#include <string>
#include <vector>

/// Shipped files, which can be referred to by name.
namespace overlap::deck {

/// Names of the YAML files in a folder of input/, recursively: relative paths without ".yaml",
/// sorted. "" means input/ itself without devices/ and references/.
std::vector<std::string> shipped_names(const std::string& folder);

/// The path of a file given by path, or by name if it is shipped in the folder. `kind`: its name in
/// messages. Throws base::Error{usage} with the nearest name if it is neither a shipped name nor a
/// path.
std::string shipped_path(const std::string& name_or_path, const std::string& folder,
                         const std::string& kind);

}  // namespace overlap::deck
