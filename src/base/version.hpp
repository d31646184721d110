#pragma once

namespace overlap::base {

/// What this program was built from; strings are empty where git was not at hand.
struct Version {
  const char* version;
  const char* git_sha;
  bool dirty;
};

/// Written by the build (version.cmake), so that a rebuild after a commit shows it.
Version version();

}  // namespace overlap::base
