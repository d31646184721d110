#pragma once

#include <string>

#include "experiment/run.hpp"

namespace overlap::report {

/// The timeline as text: a row an engine (more where its tasks overlap), a column a slice of time,
/// each task by the number of its chunk (or its name) at its left end. `width` columns in all.
std::string ascii_timeline(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                           int width);

}  // namespace overlap::report
