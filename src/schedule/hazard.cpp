#include "schedule/hazard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/interrupt.hpp"

namespace overlap::schedule {
namespace {

/// Vector clock: for each lane, one past the last task that is certain to be complete.
using VectorClock = std::vector<TaskId>;

void merge(VectorClock& into, const VectorClock& other) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
}

/// A piece of an array on the host, or a slot on the device.
struct Place {
  int array;
  bool on_host;
  int number;
  auto operator<=>(const Place&) const = default;
};

/// Where a place lies: bytes [band, band_end) of each line, and of these lines, or without bands of
/// all bytes, [begin, end). (The pieces of a matrix interleave on the host.)
struct ByteRange {
  std::size_t band = 0, band_end = 0, begin = 0, end = 0;
  auto operator<=>(const ByteRange&) const = default;
};

/// What is known of a place: accesses since the last write, which `writer` made.
struct Users {
  ByteRange extent;
  TaskId first;       ///< task that uses it
  std::size_t bytes;  ///< without padding
  std::optional<TaskId> writer = {};
  std::vector<TaskId> readers = {};
};

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
    for (TaskId id = 0; id < schedule_.tasks.size() && hazards_.size() < most_; ++id) {
      base::check_interrupt();
      if (const std::string flaw = flaw_of(id); !flaw.empty()) {
        report(Hazard::Kind::malformed, id, flaw);
        break;  // later tasks cannot be checked
      }
      advance(id);
      check(id);
    }
    if (hazards_.empty()) require_separate_places();
    if (hazards_.empty() && schedule_.names.empty()) require_outputs();
    return std::move(hazards_);
  }

 private:
  const Task& task(TaskId id) const { return schedule_.tasks[id]; }
  std::size_t lane(TaskId id) const { return static_cast<std::size_t>(task(id).lane); }
  const Array& array_of(int array) const {
    return schedule_.arrays[static_cast<std::size_t>(array)];
  }

  /// Records a hazard. Returns false, for checks that return whether they succeeded.
  bool report(Hazard::Kind kind, TaskId id, const std::string& message) {
    if (hazards_.size() < most_) {
      hazards_.push_back(
          {kind, id, fmt::format("{}: {} {}", to_string(kind), describe(schedule_, id), message)});
    }
    return false;
  }

  /// What is malformed about a task; empty if nothing.
  std::string flaw_of(TaskId id) const {
    const Task& t = task(id);
    if (t.lane < 0 || t.lane >= schedule_.lanes || t.chunk < 0 || t.chunk >= schedule_.chunks) {
      return "has an index out of range";
    }
    for (const TaskId other : t.after) {
      if (other >= id) return fmt::format("waits for task {}, which is issued later", other);
    }
    if (schedule_.threads > 1 && (t.blocking || (t.stage == Stage::host && !t.after.empty()))) {
      return "orders tasks by a wait of the host, but several threads issue";
    }
    if (!std::ranges::all_of(t.operands, [&](const auto& operand) { return fits(operand); })) {
      return "reaches beyond its arrays";
    }
    if (is_copy(t.stage) && (t.operands.size() != 1 || t.operands[0].slot < 0 ||
                             t.bytes != t.operands[0].host.bytes())) {
      return fmt::format("copies {} bytes, which is not the size of its piece", t.bytes);
    }
    if (t.stage != Stage::kernel) return "";
    const auto arrays = arrays_of_op_.find(t.op);
    if (arrays == arrays_of_op_.end() ||
        !std::ranges::equal(arrays->second, t.operands, {}, {}, &Operand::array)) {
      return "does not use the arrays of its operation";
    }
    // The three matrices of a product number their pieces apart.
    const bool one_chunk = std::ranges::all_of(t.operands, [&](const Operand& operand) {
      return operand.piece == t.operands[0].piece && operand.slot == t.operands[0].slot;
    });
    return one_chunk || schedule_.tiling ? "" : "uses pieces of several chunks";
  }

  /// Whether a piece lies within its array and its slot.
  bool fits(const Operand& operand) const {
    if (operand.array < 0 || operand.array >= std::ssize(schedule_.arrays)) return false;
    const Array& array = array_of(operand.array);
    if (operand.host.begin < array.host.begin || operand.device_begin < 0) return false;
    const ByteRange host = host_extent(operand);
    return host.begin == static_cast<std::size_t>(operand.begin) && host.begin < host.end &&
           host.end <= array.host.planes && host.band_end <= array.host.line_bytes &&
           (operand.slot < 0 ||
            slot_extent(operand).end <=
                static_cast<std::size_t>(array.device_units) * array.unit_bytes);
  }

  /// The units of an operand on the host, and its part of their lines.
  ByteRange host_extent(const Operand& operand) const {
    const Region& host = operand.host;
    const std::size_t from = host.begin - array_of(operand.array).host.begin;
    const std::size_t band = from % host.plane_pitch, unit = from / host.plane_pitch;
    return {band, band + host.line_bytes, unit, unit + host.planes};
  }
  ByteRange slot_extent(const Operand& operand) const {
    const std::size_t begin = device_offset(schedule_, operand);
    return {.begin = begin, .end = begin + operand.host.bytes()};
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
    for (const Operand& operand : task(id).operands) {
      const Array& array = array_of(operand.array);
      if (!is_copy(stage)) {
        check(id, operand, operand.slot < 0, array.to_device, array.to_host);
        continue;
      }
      for (const bool host_side : {true, false}) {
        const bool source = host_side == (stage == Stage::h2d);
        check(id, operand, host_side, source, !source);
      }
    }
  }

  void check(TaskId id, const Operand& operand, bool host_side, bool reads, bool writes) {
    const ByteRange extent = host_side ? host_extent(operand) : slot_extent(operand);
    const Place place{operand.array, host_side, host_side ? operand.piece : operand.slot};
    Users& users =
        places_.try_emplace(place, Users{extent, id, operand.host.bytes()}).first->second;
    const std::string name =
        array_of(operand.array).name + (host_side ? " on the host" : " on the device");
    // Slots hold pieces of different sizes.
    if (!host_side) users.extent.end = std::max(users.extent.end, extent.end);
    if (extent.begin != users.extent.begin || (host_side && extent != users.extent)) {
      report(Hazard::Kind::malformed, id,
             fmt::format("uses another place of array {} than {}", name,
                         describe(schedule_, users.first)));
      return;
    }
    const auto conflict = [&](Hazard::Kind kind, const char* verb, TaskId other) {
      report(
          kind, id,
          fmt::format("{} array {} without waiting for {}{}", verb, name,
                      kind == Hazard::Kind::raw ? "its writer " : "", describe(schedule_, other)));
    };
    const bool written = !users.writer || complete_before(*users.writer, id);
    if (reads) {
      if (!written) return conflict(Hazard::Kind::raw, "reads", *users.writer);
      if (!host_side && !is_fresh(id, operand, users.writer, name)) return;
    }
    if (!writes) {
      users.readers.push_back(id);
      return;
    }
    for (const TaskId reader : users.readers) {
      if (!complete_before(reader, id)) return conflict(Hazard::Kind::war, "overwrites", reader);
    }
    if (!written) return conflict(Hazard::Kind::waw, "overwrites", *users.writer);
    users.writer = id;
    users.readers.clear();
  }

  /// Whether the device data that a task reads come from the previous stage of the same chunk:
  /// inputs of a kernel from copies, data copied back from a kernel.
  bool is_fresh(TaskId id, const Operand& read, const std::optional<TaskId>& writer,
                const std::string& name) {
    if (!writer) {
      if (array_of(read.array).resident) return true;
      return report(Hazard::Kind::stale, id,
                    fmt::format("reads array {}, which nothing has written", name));
    }
    const Stage source = task(id).stage == Stage::kernel ? Stage::h2d : Stage::kernel;
    const bool same = std::ranges::any_of(task(*writer).operands, [&](const Operand& written) {
      return written.array == read.array && written.piece == read.piece &&
             written.host == read.host;  // all of it
    });
    if (same && task(*writer).stage == source) return true;
    return report(Hazard::Kind::stale, id,
                  fmt::format("reads stale data of array {}, last written by {}", name,
                              describe(schedule_, *writer)));
  }

  /// Requires that different places of an array share no byte: their bands are equal or separate,
  /// and those of one band follow each other.
  void require_separate_places() {
    using Key = std::tuple<int, bool, ByteRange>;
    std::vector<std::pair<Key, TaskId>> all;
    for (const auto& [place, users] : places_) {
      all.push_back({{place.array, place.on_host, users.extent}, users.first});
    }
    std::ranges::sort(all);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const auto& [array, on_host, a] = all[i - 1].first;
      const auto& [next_array, next_on_host, b] = all[i].first;
      if (array != next_array || on_host != next_on_host) continue;
      const bool one_band = a.band == b.band && a.band_end == b.band_end;
      if (one_band ? a.end <= b.begin : a.band_end <= b.band) continue;
      report(Hazard::Kind::malformed, all[i].second,
             fmt::format("shares bytes of array {} with {}", array_of(array).name,
                         describe(schedule_, all[i - 1].second)));
      return;
    }
  }

  /// Requires that every output is copied to the host completely. (Custom workloads may omit
  /// copies.)
  void require_outputs() {
    std::vector<std::size_t> written(schedule_.arrays.size());
    for (const auto& [place, users] : places_) {
      if (place.on_host && users.writer) {
        written[static_cast<std::size_t>(place.array)] += users.bytes;
      }
    }
    for (std::size_t i = 0; i < written.size(); ++i) {
      const Array& output = schedule_.arrays[i];
      if (!output.to_host || written[i] == output.host.bytes()) continue;
      hazards_.push_back({Hazard::Kind::missing, static_cast<TaskId>(schedule_.tasks.size() - 1),
                          fmt::format("missing: tasks copy {} of {} bytes of array {} to the host",
                                      written[i], output.host.bytes(), output.name)});
      return;
    }
  }

  const Schedule& schedule_;
  std::size_t most_;
  VectorClock host_clock_;  ///< what the host has waited for
  std::vector<VectorClock> lane_clocks_;
  std::map<TaskId, VectorClock> waited_for_;  ///< clock at completion of each task in some `after`
  std::map<int, std::vector<int>> arrays_of_op_;
  std::map<Place, Users> places_;
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
