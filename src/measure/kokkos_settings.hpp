#pragma once

#include <string>
#include <vector>

namespace overlap::measure {

/// Kokkos aborts, with a stack trace, on values that it cannot take. Throws base::Error{usage} for
/// such a value of one of `arguments` (--kokkos-...) or of an environment variable of Kokkos or
/// OpenMP.
void require_kokkos_settings(const std::vector<std::string>& arguments);

}  // namespace overlap::measure
