#pragma once

#include <cstdint>

#include "deck/deck.hpp"
#include "model/device.hpp"

namespace overlap::model {

/// Number of repeats with which the kernel of one chunk takes closest to `balance` times its H2D
/// copies. Throws base::Error{usage} if the rates of the device do not determine one.
std::int64_t balanced_repeats(const deck::Deck& deck, const Device& device);

}  // namespace overlap::model
