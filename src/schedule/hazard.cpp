#include "schedule/hazard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/interrupt.hpp"

namespace overlap::schedule {
namespace {

/// Vector clock: for each lane, one past the last task that is certain to be complete.
using VectorClock = std::vector<TaskId>;

void merge(VectorClock& into, const VectorClock& other) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
}

/// Accesses to a byte range since its last write.
struct Users {
  std::optional<TaskId> writer = {};
  std::vector<TaskId> readers = {};
};
/// All bytes as ranges by first byte; each range ends where the next begins.
using Ranges = std::map<std::size_t, Users>;

template <class T>
bool is_index(int i, const std::vector<T>& list) {
  return i >= 0 && static_cast<std::size_t>(i) < list.size();
}

/// The range that begins at a byte; splits the range that contains it.
Ranges::iterator begin_at(Ranges& ranges, std::size_t byte) {
  const auto next = ranges.upper_bound(byte);
  const auto holder = std::prev(next);
  return holder->first == byte ? holder : ranges.emplace_hint(next, byte, holder->second);
}

/// A byte range on one side that a task reads, writes or both. On the host it includes the padding
/// between and behind the lines of a unit. The pieces of a matrix interleave on the host; their
/// bytes are renumbered as if each band of lines were stored contiguously.
struct Access {
  const Use& use;
  bool on_host;
  std::size_t begin;
  std::size_t end;
  bool reads;
  bool writes;
};

/// Start of a unit of a piece on the host, in the numbering of Access.
std::size_t host_place(const Array& array, const Piece& piece, std::int64_t unit) {
  const auto units = static_cast<std::size_t>(unit);
  if (piece.length > 0) return piece.from * array.host.planes + piece.length * units;
  return array.host.begin + array.host.plane_pitch * units;
}

constexpr const char* bad_index = "has an index out of range";

class Checker {
 public:
  Checker(const Schedule& schedule, std::size_t most)
      : schedule_(schedule),
        most_(most),
        host_clock_(static_cast<std::size_t>(schedule.lanes)),
        lane_clocks_(host_clock_.size(), host_clock_) {
    for (const Task& task : schedule.tasks) {
      for (const TaskId other : task.after) waited_for_.emplace(other, VectorClock());
    }
    for (std::size_t i = 0; i < schedule.arrays.size(); ++i) {
      arrays_of_op_[schedule.arrays[i].op].push_back(static_cast<int>(i));
    }
  }

  std::vector<Hazard> run() {
    if (!well_cut()) {
      return {{Hazard::Kind::malformed, 0, "malformed: the pieces of an array overlap"}};
    }
    for (TaskId id = 0; id < schedule_.tasks.size() && hazards_.size() < most_; ++id) {
      base::check_interrupt();
      if (const std::string flaw = flaw_of(id); !flaw.empty()) {
        report(Hazard::Kind::malformed, id, flaw);
        break;  // later tasks cannot be checked
      }
      advance(id);
      check(id);
    }
    if (hazards_.empty() && schedule_.names.empty()) require_outputs();
    return std::move(hazards_);
  }

 private:
  const Task& task(TaskId id) const { return schedule_.tasks[id]; }
  std::size_t lane(TaskId id) const { return static_cast<std::size_t>(task(id).lane); }
  Ranges& ranges(bool on_host, int array) {
    return ranges_.try_emplace({on_host, array}, Ranges{{0, {}}}).first->second;
  }

  /// Records a hazard. Returns false, for checks that return whether they succeeded.
  bool report(Hazard::Kind kind, TaskId id, const std::string& message) {
    if (hazards_.size() < most_) {
      hazards_.push_back(
          {kind, id, fmt::format("{}: {} {}", to_string(kind), describe(schedule_, id), message)});
    }
    return false;
  }

  /// Whether the bands of the pieces of each array are equal or disjoint, as host_place() needs.
  bool well_cut() const {
    return std::ranges::all_of(schedule_.cuts, [](const Cut& cut) {
      std::map<std::size_t, std::size_t> bands;  // end of each band by its begin
      for (const Piece& piece : cut.pieces) {
        const std::size_t end = piece.from + piece.length;
        if (bands.emplace(piece.from, end).first->second != end) return false;
      }
      return std::ranges::adjacent_find(bands, [](const auto& a, const auto& b) {
               return a.second > b.first;
             }) == bands.end();
    });
  }

  /// What is malformed about a task; empty if nothing.
  std::string flaw_of(TaskId id) const {
    const Task& t = task(id);
    if (!is_index(t.lane, lane_clocks_) || t.chunk < 0 || t.chunk >= schedule_.chunks ||
        t.uses.begin + std::size_t{t.uses.count} > schedule_.uses.size()) {
      return bad_index;
    }
    const auto later = std::ranges::find_if(t.after, [&](TaskId other) { return other >= id; });
    if (later != t.after.end()) {
      return fmt::format("waits for task {}, which is issued later", *later);
    }
    if (schedule_.threads > 1 && (t.blocking || (t.stage == Stage::host && !t.after.empty()))) {
      return "orders tasks by a wait of the host, but several threads issue";
    }
    const auto used = uses(schedule_, t);
    for (const Use& use : used) {
      if (std::string flaw = flaw_of(use); !flaw.empty()) return flaw;
    }
    if (t.stage == Stage::kernel) return flaw_of_kernel(t);
    if (is_copy(t.stage) && (used.size() != 1 || used[0].slot < 0 ||
                             t.bytes != host_region(schedule_, used[0]).bytes())) {
      return fmt::format("copies {} bytes, which is not the size of its piece", t.bytes);
    }
    return "";
  }

  /// Indices are valid, and the piece lies within its array and its slot.
  std::string flaw_of(const Use& use) const {
    if (!is_index(use.array, schedule_.arrays) ||
        !is_index(array_of(schedule_, use).cut, schedule_.cuts)) {
      return bad_index;
    }
    const Array& array = array_of(schedule_, use);
    const Cut& cut = cut_of(schedule_, array);
    if (!is_index(use.piece, cut.pieces) || (use.slot != -1 && !is_index(use.slot, cut.slots))) {
      return bad_index;
    }
    const Piece& piece = piece_of(schedule_, use);
    const std::size_t slot_end =
        use.slot < 0 ? 0 : device_offset(schedule_, use) + host_region(schedule_, use).bytes();
    const bool fits = piece.begin >= 0 && piece.begin < piece.end &&
                      static_cast<std::size_t>(piece.end) <= array.host.planes &&
                      piece.from + piece.length <= array.host.line_bytes &&
                      slot_end <= static_cast<std::size_t>(cut.device_units) * array.unit_bytes;
    return fits ? "" : "reaches beyond its arrays";
  }

  /// Uses all arrays of its operation, and the same piece of all arrays with the same cut.
  std::string flaw_of_kernel(const Task& t) const {
    const auto arrays = arrays_of_op_.find(t.op);
    if (arrays == arrays_of_op_.end()) return "has no array of its operation";
    const auto used = uses(schedule_, t);
    const auto [lacked, other] = std::ranges::mismatch(arrays->second, used, {}, {}, &Use::array);
    if (lacked != arrays->second.end()) {
      return fmt::format("does not use array {} of its operation",
                         schedule_.arrays[static_cast<std::size_t>(*lacked)].name);
    }
    if (other != used.end()) return "uses an array of another operation";
    const bool one_chunk = std::ranges::all_of(used, [&](const Use& use) {
      return array_of(schedule_, use).cut != array_of(schedule_, used[0]).cut ||
             (use.piece == used[0].piece && use.slot == used[0].slot);
    });
    return one_chunk ? "" : "uses pieces of several chunks";
  }

  /// Advances the clock of the lane of a task to its execution.
  void advance(TaskId id) {
    if (on_host(task(id).stage)) {
      if (task(id).stage != Stage::host) return;
      for (const TaskId other : task(id).after) merge(host_clock_, lane_clocks_[lane(other)]);
      return;
    }
    VectorClock& clock = lane_clocks_[lane(id)];
    merge(clock, host_clock_);
    for (const TaskId other : task(id).after) merge(clock, waited_for_.at(other));
    clock[lane(id)] = id + 1;
    if (task(id).blocking) merge(host_clock_, clock);
    if (const auto entry = waited_for_.find(id); entry != waited_for_.end()) entry->second = clock;
  }

  bool complete_before(TaskId other, TaskId id) const {
    if (on_host(task(other).stage)) return true;  // complete before anything later is issued
    const VectorClock& clock = on_host(task(id).stage) ? host_clock_ : lane_clocks_[lane(id)];
    return clock[lane(other)] > other;
  }

  /// Checks all accesses of a task.
  void check(TaskId id) {
    const Stage stage = task(id).stage;
    const bool copies = is_copy(stage);
    for (const Use& use : uses(schedule_, task(id))) {
      const Array& array = array_of(schedule_, use);
      const Piece& piece = piece_of(schedule_, use);
      const auto check_side = [&](bool on_host, std::size_t begin, std::size_t end) {
        const bool source = on_host == (stage == Stage::h2d);  // of a copy
        check(id, {use, on_host, begin, end, copies ? source : array.to_device,
                   copies ? !source : array.to_host});
      };
      if (copies || use.slot < 0) {
        check_side(true, host_place(array, piece, piece.begin),
                   host_place(array, piece, piece.end));
      }
      if (use.slot < 0) continue;
      const std::size_t begin = device_offset(schedule_, use);
      check_side(false, begin, begin + host_region(schedule_, use).bytes());
    }
  }

  void check(TaskId id, const Access& access) {
    Ranges& array_ranges = ranges(access.on_host, access.use.array);
    auto range = begin_at(array_ranges, access.begin);
    const auto end = begin_at(array_ranges, access.end);
    // One report per access is enough.
    while (range != end && touch(id, access, range->second)) ++range;
  }

  bool touch(TaskId id, const Access& access, Users& users) {
    const auto conflict = [&](Hazard::Kind kind, const char* verb, TaskId other) {
      return report(
          kind, id,
          fmt::format("{} array {} without waiting for {}{}", verb, name(access),
                      kind == Hazard::Kind::raw ? "its writer " : "", describe(schedule_, other)));
    };
    const bool written = !users.writer || complete_before(*users.writer, id);
    if (access.reads) {
      if (!written) return conflict(Hazard::Kind::raw, "reads", *users.writer);
      if (!access.on_host && !fresh(id, access, users.writer)) return false;
    }
    if (!access.writes) {
      users.readers.push_back(id);
      return true;
    }
    for (const TaskId reader : users.readers) {
      if (!complete_before(reader, id)) return conflict(Hazard::Kind::war, "overwrites", reader);
    }
    if (!written) return conflict(Hazard::Kind::waw, "overwrites", *users.writer);
    users = {.writer = id};
    return true;
  }

  /// Whether the device data that a task reads come from the previous stage of the same chunk:
  /// inputs of a kernel from copies, data copied back from a kernel.
  bool fresh(TaskId id, const Access& access, const std::optional<TaskId>& writer) {
    if (!writer) {
      if (array_of(schedule_, access.use).resident) return true;
      return report(Hazard::Kind::stale, id,
                    fmt::format("reads array {}, which nothing has written", name(access)));
    }
    const Stage source = task(id).stage == Stage::kernel ? Stage::h2d : Stage::kernel;
    const bool same = std::ranges::any_of(uses(schedule_, task(*writer)), [&](const Use& use) {
      return use.array == access.use.array && use.piece == access.use.piece;
    });
    if (same && task(*writer).stage == source) return true;
    return report(Hazard::Kind::stale, id,
                  fmt::format("reads stale data of array {}, last written by {}", name(access),
                              describe(schedule_, *writer)));
  }

  /// Requires that every output is copied to the host completely. (Custom workloads may omit
  /// copies.)
  void require_outputs() {
    for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
      const Array& output = schedule_.arrays[i];
      if (!output.to_host) continue;
      const Region& host = output.host;
      Ranges& array_ranges = ranges(true, static_cast<int>(i));
      const auto end = begin_at(array_ranges, host.begin + host.planes * host.plane_pitch);
      const auto gap = std::find_if(begin_at(array_ranges, host.begin), end,
                                    [](const auto& range) { return !range.second.writer; });
      if (gap == end) continue;
      hazards_.push_back(
          {Hazard::Kind::missing, static_cast<TaskId>(schedule_.tasks.size() - 1),
           fmt::format("missing: no task copies array {} to the host from unit {} on", output.name,
                       (gap->first - host.begin) / host.plane_pitch)});
      return;
    }
  }

  std::string name(const Access& access) const {
    return array_of(schedule_, access.use).name +
           (access.on_host ? " on the host" : " on the device");
  }

  const Schedule& schedule_;
  std::size_t most_;
  VectorClock host_clock_;  ///< what the host has waited for
  std::vector<VectorClock> lane_clocks_;
  std::map<TaskId, VectorClock> waited_for_;  ///< clock at completion of each task in some `after`
  std::map<int, std::vector<int>> arrays_of_op_;
  std::map<std::pair<bool, int>, Ranges> ranges_;  ///< by (on host, array)
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
