#pragma once

#include <fwd/Kokkos_Fwd_SERIAL.hpp>
// (the host's back end first: HIP's refers to it)
#include <fwd/Kokkos_Fwd_HIP.hpp>
