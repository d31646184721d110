#pragma once

#include <fwd/Kokkos_Fwd_SERIAL.hpp>
// (the host's back end first: CUDA's refers to it)
#include <fwd/Kokkos_Fwd_CUDA.hpp>
