#include "schedule/hazard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

/// Who used a range of bytes since its last write.
struct Users {
  std::size_t end = 0;
  std::optional<TaskId> writer;
  std::vector<TaskId> readers;
};
/// Disjoint ranges by their first byte.
using Ranges = std::map<std::size_t, Users>;

/// Makes `at` a border between ranges.
void split(Ranges& ranges, std::size_t at) {
  auto next = ranges.upper_bound(at);
  if (next == ranges.begin()) return;
  const auto range = std::prev(next);
  if (range->first == at || range->second.end <= at) return;
  Users tail = range->second;
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
    if (!well_cut()) {
      return {{Hazard::Kind::malformed, 0, "malformed: the pieces of an array overlap"}};
    }
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

  bool malformed(TaskId id, const std::string& message) {
    report(Hazard::Kind::malformed, id, message);
    return false;
  }

  /// Whether pieces of each array have bytes of their own: their bands are the same or disjoint.
  bool well_cut() const {
    for (const Cut& cut : schedule_.cuts) {
      std::map<std::size_t, std::size_t> bands;  // the end of each by its begin
      for (const Piece& piece : cut.pieces) {
        const std::size_t end = piece.from + piece.length;
        if (bands.emplace(piece.from, end).first->second != end) return false;
      }
      std::size_t before = 0;
      for (const auto& [begin, end] : bands) {
        if (begin < before) return false;
        before = end;
      }
    }
    return true;
  }

  /// Whether a task's indices are of things that there are.
  bool is_known(const Task& t) const {
    const auto in = [](auto index, std::size_t size) {
      return index >= 0 && static_cast<std::size_t>(index) < size;
    };
    if (!in(t.lane, lane_clocks_.size()) || t.chunk < 0 || t.chunk >= schedule_.chunks ||
        t.uses.begin + std::size_t{t.uses.count} > schedule_.uses.size()) {
      return false;
    }
    const auto used = uses(schedule_, t);
    return std::all_of(used.begin(), used.end(), [&](const Use& use) {
      if (!in(use.array, schedule_.arrays.size())) return false;
      const int number = array_of(schedule_, use).cut;
      if (!in(number, schedule_.cuts.size())) return false;
      const Cut& cut = schedule_.cuts[static_cast<std::size_t>(number)];
      return in(use.piece, cut.pieces.size()) && (use.slot == -1 || in(use.slot, cut.slots.size()));
    });
  }

  bool well_formed(TaskId id) {
    const Task& t = task(id);
    if (!is_known(t)) return malformed(id, "has an index out of range");
    for (const TaskId other : t.after) {
      if (other < id) continue;
      return malformed(id, fmt::format("waits for task {}, which is issued later", other));
    }
    if (!fits(t)) return malformed(id, "reaches beyond its arrays");
    if (t.stage == Stage::kernel) return works_on_its_operation(id);
    if (!is_copy(t.stage)) return true;
    const auto moved = uses(schedule_, t);
    if (moved.size() == 1 && moved[0].slot >= 0 &&
        t.bytes == host_region(schedule_, moved[0]).bytes()) {
      return true;
    }
    return malformed(id, fmt::format("copies {} bytes, which is not its piece", t.bytes));
  }

  /// Whether pieces lie within their arrays and slots.
  bool fits(const Task& t) const {
    const auto used = uses(schedule_, t);
    return std::all_of(used.begin(), used.end(), [&](const Use& use) {
      const Array& array = array_of(schedule_, use);
      const Piece& piece = piece_of(schedule_, use);
      const Cut& cut = schedule_.cuts[static_cast<std::size_t>(array.cut)];
      const std::size_t line = array.section ? array.section->line_bytes : array.unit_bytes;
      const std::size_t slot_end =
          use.slot < 0 ? 0 : device_begin(schedule_, use) + host_region(schedule_, use).bytes();
      return piece.begin >= 0 && piece.begin < piece.end && piece.end <= array.units &&
             piece.from + piece.length <= line &&
             slot_end <= static_cast<std::size_t>(cut.device_units) * array.unit_bytes;
    });
  }

  /// Whether a kernel names all arrays of its operation, and of those cut alike the same piece.
  bool works_on_its_operation(TaskId id) {
    const auto used = uses(schedule_, task(id));
    std::size_t next = 0;
    for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
      if (schedule_.arrays[i].op != task(id).op) continue;
      if (next == used.size() || used[next].array != static_cast<int>(i)) {
        return malformed(
            id, fmt::format("does not use array {} of its operation", schedule_.arrays[i].name));
      }
      ++next;
    }
    if (next == 0) return malformed(id, "has no array of its operation");
    if (next < used.size()) return malformed(id, "uses an array of another operation");
    for (const Use& use : used) {
      if (array_of(schedule_, use).cut == array_of(schedule_, used[0]).cut &&
          (use.piece != used[0].piece || use.slot != used[0].slot)) {
        return malformed(id, "uses pieces of several chunks");
      }
    }
    return true;
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
        range = ranges.emplace(at, Users{.end = end, .writer = {}, .readers = {}}).first;
      }
      if (!touch(id, access, range->second)) return;  // one report for an access is enough
      at = range->second.end;
      ++range;
    }
  }

  bool touch(TaskId id, const Access& access, Users& use) {
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
  bool fresh(TaskId id, const Access& access, const Users& use) {
    const Stage source = task(id).stage == Stage::kernel ? Stage::h2d : Stage::kernel;
    if (!use.writer) {
      if (schedule_.arrays[static_cast<std::size_t>(access.array)].resident) return true;
      report(Hazard::Kind::stale, id,
             fmt::format("reads array {}, which nothing has written", name(access)));
      return false;
    }
    const Task& writer = task(*use.writer);
    const auto left = uses(schedule_, writer);
    const bool same = std::any_of(left.begin(), left.end(), [&](const Use& of) {
      return of.array == access.array && of.piece == access.piece;
    });
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
      const std::size_t begin = host_begin(output, 0);
      const std::size_t unit = host_begin(output, 1) - begin;
      const std::size_t end = host_begin(output, output.units);
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
  constexpr std::array names = {"RAW", "WAR", "WAW", "stale", "missing", "malformed"};
  return names[static_cast<std::size_t>(kind)];
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
