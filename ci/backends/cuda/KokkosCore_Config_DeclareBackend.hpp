#pragma once

#include <decl/Kokkos_Declare_SERIAL.hpp>
// (the host's back end first: CUDA's refers to it)
#include <decl/Kokkos_Declare_CUDA.hpp>
