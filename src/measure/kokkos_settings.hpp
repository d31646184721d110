#pragma once

#include <string>
#include <vector>

#include "base/machine.hpp"

namespace overlap::measure {

/// Kokkos aborts, with a stack trace, on values that it cannot take. Throws base::Error{usage} for
/// such a value of one of `arguments` (--kokkos-...) or of an environment variable of Kokkos or
/// OpenMP.
void require_kokkos_settings(const std::vector<std::string>& arguments);

/// Throws base::Error{usage} if the arguments or the environment select a GPU, which all ranks
/// would then share.
void require_free_choice(const std::vector<std::string>& arguments);

/// The visible GPUs as Kokkos numbers them: those of KOKKOS_VISIBLE_DEVICES in its order, otherwise
/// all.
std::vector<base::DeviceInfo> kokkos_devices();

}  // namespace overlap::measure
