#pragma once

#include "deck/words.hpp"
#include "model/device.hpp"

namespace overlap::deck {

template <>
inline constexpr auto words<model::Queues> =
    std::to_array<Word<model::Queues>>({{model::Queues::engine, "engine"},
                                        {model::Queues::connection, "connection"},
                                        {model::Queues::worker, "worker"}});

}  // namespace overlap::deck
