#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "describe/describe.hpp"

/// Timelines, measured or predicted, as result files hold them.
namespace overlap::results {

/// One task of a run: what it did and when.
struct Task {
  std::int64_t task = 0;            ///< place in the issue order, from 0
  std::optional<std::string> name;  ///< in the deck's list; empty: chunks
  deck::Stage stage = deck::Stage::kernel;
  std::int64_t chunk = 0;
  std::int64_t lane = 0;
  std::string engine;  ///< what executed it
  double start_s = 0;  ///< since the start of the first issue
  double stop_s = 0;
  std::int64_t bytes = 0;            ///< copied
  std::optional<std::string> array;  ///< that is copied
  std::vector<std::int64_t> after;   ///< tasks that it waits for, beside those of its lane
  bool blocking = false;             ///< whether the host waits for it
};

/// All tasks of one repetition in the order of issue.
using Timeline = std::vector<Task>;

void describe(describe::Visitor& v, Task& task);

/// When the last task stopped, seconds.
double end_s(const Timeline& timeline);

/// For each task the place in `tasks` of the one that it waited for: the last to finish among those
/// that had to be complete before it could start (the one before it on its lane, `after`, blocking
/// tasks).
std::vector<std::optional<std::size_t>> waited_for(const Timeline& tasks);

}  // namespace overlap::results
