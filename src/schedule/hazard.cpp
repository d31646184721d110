#include "schedule/hazard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace overlap::schedule {
namespace {

/// For each lane, how many of its tasks are certain to be complete.
using Clock = std::vector<std::uint32_t>;

void merge(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
}

/// The users of a range of bytes since its last write.
struct Use {
  std::size_t end = 0;
  std::optional<TaskId> writer;
  std::vector<TaskId> readers;
};
/// Disjoint ranges by their first byte.
using Ranges = std::map<std::size_t, Use>;

/// Makes `at` a border between ranges.
void split(Ranges& ranges, std::size_t at) {
  auto next = ranges.upper_bound(at);
  if (next == ranges.begin()) return;
  const auto range = std::prev(next);
  if (range->first == at || range->second.end <= at) return;
  Use tail = range->second;
  range->second.end = at;
  ranges.emplace_hint(next, at, std::move(tail));
}

class Checker {
 public:
  Checker(const Schedule& schedule, std::size_t most)
      : schedule_(schedule),
        most_(most),
        lane_clocks_(static_cast<std::size_t>(schedule.lanes)),
        host_clock_(static_cast<std::size_t>(schedule.lanes)),
        positions_(schedule.tasks.size()) {
    for (Clock& clock : lane_clocks_) clock.resize(static_cast<std::size_t>(schedule.lanes));
    for (const Task& task : schedule.tasks) {
      for (const TaskId other : task.after) waited_for_.emplace(other, Clock());
    }
  }

  std::vector<Hazard> run() {
    for (TaskId id = 0; id < schedule_.tasks.size() && hazards_.size() < most_; ++id) {
      if (!well_formed(id)) break;  // nothing after it can be trusted
      advance(id);
      for (const Access& access : accesses(schedule_, task(id))) check(id, access);
    }
    if (hazards_.empty() && schedule_.names.empty()) require_outputs();
    return std::move(hazards_);
  }

 private:
  const Task& task(TaskId id) const { return schedule_.tasks[id]; }
  std::size_t lane(TaskId id) const { return static_cast<std::size_t>(task(id).lane); }

  void report(Hazard::Kind kind, TaskId id, const std::string& message) {
    if (hazards_.size() < most_) {
      hazards_.push_back(
          {kind, id, fmt::format("{}: {} {}", to_string(kind), describe(schedule_, id), message)});
    }
  }

  bool well_formed(TaskId id) {
    const Task& t = task(id);
    const auto in = [](int index, std::size_t size) {
      return index >= 0 && static_cast<std::size_t>(index) < size;
    };
    if (!in(t.lane, static_cast<std::size_t>(schedule_.lanes)) ||
        !in(t.chunk, schedule_.chunks.size()) ||
        (is_copy(t.stage) && !in(t.array, schedule_.arrays.size()))) {
      hazards_.push_back({Hazard::Kind::malformed, id,
                          fmt::format("malformed: task {} has an index out of range", id)});
      return false;
    }
    for (const TaskId other : t.after) {
      if (other >= id) {
        report(Hazard::Kind::malformed, id,
               fmt::format("waits for task {}, which is issued later", other));
        return false;
      }
    }
    const Chunk& chunk = schedule_.chunks[static_cast<std::size_t>(t.chunk)];
    if (chunk.begin < 0 || chunk.end > schedule_.host_units || chunk.size() <= 0 ||
        chunk.device_begin < 0 || chunk.device_begin + chunk.size() > schedule_.device_units) {
      report(Hazard::Kind::malformed, id, "reaches beyond its arrays");
      return false;
    }
    if (!t.places.empty()) return well_placed(id);
    if (t.stage != Stage::kernel && !is_copy(t.stage)) return true;
    const auto touched = accesses(schedule_, t);
    if (t.stage == Stage::kernel ? touched.empty()
                                 : t.bytes != touched.back().end - touched.back().begin) {
      report(Hazard::Kind::malformed, id,
             t.stage == Stage::kernel
                 ? "has no array of its operation"
                 : fmt::format("copies {} bytes, which is not its chunk", t.bytes));
      return false;
    }
    return true;
  }

  /// Whether a task names pieces and slots that there are, and a copy the bytes of its piece.
  bool well_placed(TaskId id) {
    const Task& t = task(id);
    for (const Place& place : t.places) {
      const bool known =
          place.array >= 0 && static_cast<std::size_t>(place.array) < schedule_.arrays.size();
      const auto& pieces =
          schedule_.arrays[known ? static_cast<std::size_t>(place.array) : 0].pieces;
      if (!known || place.piece < 0 || static_cast<std::size_t>(place.piece) >= pieces.size() ||
          place.slot < 0 ||
          place.slot >= schedule_.arrays[static_cast<std::size_t>(place.array)].slots) {
        report(Hazard::Kind::malformed, id, "names a piece or a slot that there is not");
        return false;
      }
      if (is_copy(t.stage) && (t.places.size() != 1 || place.array != t.array ||
                               t.bytes != pieces[static_cast<std::size_t>(place.piece)].bytes())) {
        report(Hazard::Kind::malformed, id,
               fmt::format("copies {} bytes, which is not its piece", t.bytes));
        return false;
      }
    }
    return true;
  }

  /// The piece that a task has in a slot, if it works on that.
  std::optional<int> piece_in(TaskId id, const Access& access) const {
    for (const Place& place : task(id).places) {
      if (place.array == access.array && static_cast<std::size_t>(place.slot) == access.begin) {
        return place.piece;
      }
    }
    return std::nullopt;
  }

  /// Moves the task's lane to the moment when the task runs.
  void advance(TaskId id) {
    if (on_host(task(id).stage)) {
      // A query waits for nothing; host work for all that was issued to the lanes it comes after.
      if (task(id).stage == Stage::query) return;
      for (const TaskId other : task(id).after) merge(host_clock_, lane_clocks_[lane(other)]);
      return;
    }
    Clock& clock = lane_clocks_[lane(id)];
    merge(clock, host_clock_);
    for (const TaskId other : task(id).after) merge(clock, waited_for_.at(other));
    positions_[id] = ++clock[lane(id)];
    if (task(id).blocking) merge(host_clock_, clock);
    if (const auto entry = waited_for_.find(id); entry != waited_for_.end()) entry->second = clock;
  }

  bool complete_before(TaskId other, TaskId id) const {
    const Clock& clock = on_host(task(id).stage) ? host_clock_ : lane_clocks_[lane(id)];
    return clock[lane(other)] >= positions_[other];
  }

  void check(TaskId id, const Access& access) {
    if (access.begin == access.end) return;
    Ranges& ranges = ranges_[{static_cast<int>(access.side), access.array}];
    split(ranges, access.begin);
    split(ranges, access.end);
    std::size_t at = access.begin;
    auto range = ranges.lower_bound(access.begin);
    while (at < access.end) {
      // A gap is a range that nobody has touched.
      if (range == ranges.end() || range->first > at) {
        const std::size_t end =
            range == ranges.end() ? access.end : std::min(range->first, access.end);
        range = ranges.emplace(at, Use{.end = end, .writer = {}, .readers = {}}).first;
      }
      if (!touch(id, access, range->second)) return;  // one report for an access is enough
      at = range->second.end;
      ++range;
    }
  }

  bool touch(TaskId id, const Access& access, Use& use) {
    const auto conflict = [&](Hazard::Kind kind, const char* what, TaskId other) {
      report(kind, id,
             fmt::format("{} array {} {} {}", what, name(access),
                         kind == Hazard::Kind::raw ? "without waiting for its writer"
                                                   : "without waiting for",
                         describe(schedule_, other)));
      return false;
    };
    if (access.reads) {
      if (use.writer && !complete_before(*use.writer, id)) {
        return conflict(Hazard::Kind::raw, "reads", *use.writer);
      }
      if (access.side == Access::Side::device && !fresh(id, access, use)) return false;
    }
    if (access.writes) {
      for (const TaskId reader : use.readers) {
        if (!complete_before(reader, id)) return conflict(Hazard::Kind::war, "overwrites", reader);
      }
      if (use.writer && !complete_before(*use.writer, id)) {
        return conflict(Hazard::Kind::waw, "overwrites", *use.writer);
      }
      use.writer = id;
      use.readers.clear();
    } else {
      use.readers.push_back(id);
    }
    return true;
  }

  /// Whether what the task finds on the device is what the stage before it left there for its
  /// chunk: a kernel's inputs come from copies, and what is copied back comes from a kernel.
  bool fresh(TaskId id, const Access& access, const Use& use) {
    const Stage source = task(id).stage == Stage::kernel ? Stage::h2d : Stage::kernel;
    if (!use.writer) {
      if (schedule_.arrays[static_cast<std::size_t>(access.array)].resident) return true;
      report(Hazard::Kind::stale, id,
             fmt::format("reads array {}, which nothing has written", name(access)));
      return false;
    }
    const Task& writer = task(*use.writer);
    const bool same = task(id).places.empty()
                          ? writer.chunk == task(id).chunk
                          : piece_in(*use.writer, access) == piece_in(id, access);
    if (same && writer.stage == source) return true;
    report(Hazard::Kind::stale, id,
           fmt::format("finds in array {} what {} left", name(access),
                       describe(schedule_, *use.writer)));
    return false;
  }

  /// Every output is copied to the host as a whole. (What a deck lists by hand is its own affair.)
  void require_outputs() {
    for (std::size_t array = 0; array < schedule_.arrays.size(); ++array) {
      const Array& output = schedule_.arrays[array];
      if (!output.to_host) continue;
      const Ranges& ranges =
          ranges_[{static_cast<int>(Access::Side::host), static_cast<int>(array)}];
      const bool tiled = !output.pieces.empty();
      const std::size_t begin = tiled ? 0 : host_begin(output, 0);
      const std::size_t unit = tiled ? 1 : host_begin(output, 1) - begin;
      const std::size_t end =
          tiled ? output.pieces.size() : host_begin(output, schedule_.host_units);
      std::size_t at = begin;
      for (auto range = ranges.begin(); at < end; ++range) {
        if (range == ranges.end() || range->first > at || !range->second.writer) {
          hazards_.push_back({Hazard::Kind::missing,
                              static_cast<TaskId>(schedule_.tasks.size() - 1),
                              fmt::format("missing: no task copies array {} to the host from "
                                          "element {} on",
                                          output.name, (at - begin) / unit)});
          return;
        }
        at = range->second.end;
      }
    }
  }

  std::string name(const Access& access) const {
    return fmt::format("{} on the {}",
                       schedule_.arrays[static_cast<std::size_t>(access.array)].name,
                       access.side == Access::Side::host ? "host" : "device");
  }

  const Schedule& schedule_;
  std::size_t most_;
  std::vector<Clock> lane_clocks_;
  Clock host_clock_;                      ///< what the host has waited for
  std::vector<std::uint32_t> positions_;  ///< of each task in its lane, from 1
  std::map<TaskId, Clock> waited_for_;    ///< when each task that others wait for is complete
  std::map<std::pair<int, int>, Ranges> ranges_;
  std::vector<Hazard> hazards_;
};

}  // namespace

const char* to_string(Hazard::Kind kind) {
  switch (kind) {
    case Hazard::Kind::raw:
      return "RAW";
    case Hazard::Kind::war:
      return "WAR";
    case Hazard::Kind::waw:
      return "WAW";
    case Hazard::Kind::stale:
      return "stale";
    case Hazard::Kind::missing:
      return "missing";
    case Hazard::Kind::malformed:
      return "malformed";
  }
  return "?";
}

std::vector<Hazard> find_hazards(const Schedule& schedule, std::size_t most) {
  return Checker(schedule, most).run();
}

std::string describe(const Schedule& schedule, TaskId id) {
  const Task& task = schedule.tasks[id];
  if (id < schedule.names.size()) {
    return fmt::format("task {} ({}, {})", id, schedule.names[id], to_string(task.stage));
  }
  return fmt::format("task {} ({} of chunk {} on lane {})", id, to_string(task.stage), task.chunk,
                     task.lane);
}

}  // namespace overlap::schedule
