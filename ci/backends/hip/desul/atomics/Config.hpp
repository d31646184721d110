#pragma once

#include_next <desul/atomics/Config.hpp>

#define DESUL_ATOMICS_ENABLE_HIP
