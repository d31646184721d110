#include "fleet/board.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace overlap::fleet {
namespace {

enum State : int { absent, present, departed, missing, never_came };  // missing: lost

/// Time of a clock that all processes of a machine share.
std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Process ids are comparable only within one PID namespace.
std::int64_t pid_namespace() {
  struct stat status = {};
  return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::int64_t>(status.st_ino) : 0;
}

constexpr std::int64_t meetings_of_a_phase = std::int64_t{1} << 40;

}  // namespace

/// Zero-initialized shared memory means a rank that has not come yet. Aligned to avoid false
/// sharing.
struct alignas(128) Board::Slot {
  std::atomic<int> state;
  std::atomic<std::int64_t> pid, pid_namespace;
  std::atomic<std::int64_t> alive_ns;      ///< last sign of life
  std::atomic<std::int64_t> ended;         ///< number of phases ended
  std::atomic<std::int64_t> met;           ///< phase and number of meetings in it
  std::array<std::atomic<bool>, 2> votes;  ///< at the last meetings, by the parity of their number
  std::atomic<std::int64_t> sampled;       ///< `met` at its last sample
  std::atomic<std::int64_t> start_ns, stop_ns;
};

Board::Board(const std::string& name, int slot, int slots, double deadline_s)
    : own_slot_(slot),
      slots_(slots),
      deadline_ns_(static_cast<std::int64_t>(1e9 * deadline_s)),
      begin_ns_(now_ns()) {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  const auto fail = [&](const char* action) {
    throw base::Error(base::ExitCode::runtime_error,
                      std::string("cannot ") + action +
                          " the shared memory of this node's ranks: " + std::strerror(errno));
  };
  const struct Unlink {  // in any case, so that nothing is left behind
    const std::string& name;
    ~Unlink() { shm_unlink(name.c_str()); }
  } unlink{name};
  const std::size_t bytes = sizeof(Slot) * static_cast<std::size_t>(slots);
  const int file = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) fail("create");
  errno = posix_fallocate(file, 0, static_cast<off_t>(bytes));  // a write to a full /dev/shm kills
  if (errno == 0) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  if (memory_ == nullptr || memory_ == MAP_FAILED) fail("map");
  Slot& own = this->slot(own_slot_);
  own.pid = getpid();
  own.pid_namespace = pid_namespace();
  int state = absent;
  own.state.compare_exchange_strong(state, present);  // fails if the others stopped waiting
  try {
    sign();
    wait([](const Slot& other) { return other.state != absent; },
         [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    for (int index = 0; index < slots; ++index) {
      if (this->slot(index).state != never_came) continue;
      throw base::Error(
          base::ExitCode::runtime_error,
          "not all ranks of this node came to its shared memory within fleet.deadline; allowed: "
          "ranks that see the same /dev/shm, such as those of one container");
    }
  } catch (...) {
    leave();
    munmap(memory_, bytes);
    throw;
  }
}

Board::~Board() {
  leave();
  munmap(memory_, sizeof(Slot) * static_cast<std::size_t>(slots_));
}

Board::Slot& Board::slot(int index) const { return static_cast<Slot*>(memory_)[index]; }

void Board::sign() {
  slot(own_slot_).alive_ns = now_ns();
  if (const int state = slot(own_slot_).state; state == missing || state == never_came) {
    throw base::Error(base::ExitCode::runtime_error,
                      "the other ranks continued without this one, which gave no sign of life "
                      "within fleet.deadline");
  }
}

/// Whether the rank left or is lost, so that nobody has to wait for it.
bool Board::is_gone(Slot& other) {
  int state = other.state;
  const auto is_gone_already = [&] { return state != absent && state != present; };
  if (is_gone_already()) return true;
  const std::int64_t silent_ns = now_ns() - std::max(begin_ns_, other.alive_ns.load());
  const bool visible =
      state == present && other.pid_namespace == slot(own_slot_).pid_namespace.load();
  const bool dead = visible && kill(static_cast<pid_t>(other.pid), 0) != 0 && errno == ESRCH;
  if (!dead && silent_ns <= deadline_ns_) return false;
  return other.state.compare_exchange_strong(state, state == absent ? never_came : missing) ||
         is_gone_already();
}

/// Waits until done(slot) for all other slots; waiting is a sign of life.
template <class Done>
void Board::wait(const Done& done, const Poll& poll) {
  constexpr std::int64_t look_ns = 1000000;  // system calls are too slow for every poll
  std::int64_t looked_ns = 0;
  for (int index = 0; index < slots_; ++index) {
    Slot& other = slot(index);
    while (index != own_slot_ && !done(other)) {
      if (const std::int64_t now = now_ns(); now - looked_ns > look_ns) {
        looked_ns = now;
        sign();
        base::check_interrupt();
        if (is_gone(other)) break;
      }
      poll();
    }
  }
}

void Board::begin_phase() {
  ++phase_;
  meetings_ = 0;
}

void Board::wait_for_turn(const Poll& poll) {
  wait([&](const Slot& other) { return &other > &slot(own_slot_) || other.ended >= phase_; }, poll);
}

void Board::end_phase() { slot(own_slot_).ended = phase_; }

void Board::wait_for_all(const Poll& poll) {
  wait([&](const Slot& other) { return other.ended >= phase_; }, poll);
}

void Board::meet(const Poll& poll) {
  const std::int64_t number = phase_ * meetings_of_a_phase + ++meetings_;
  slot(own_slot_).met = number;
  wait([&](const Slot& other) { return other.met >= number || other.ended >= phase_; }, poll);
}

void Board::meet_at_once() {
  // If ranks share cores, the last one may need the core of a waiting one.
  int polls = 0;
  meet([&] {
    if (++polls > 200) sched_yield();
  });
}

bool Board::agree(bool vote, const Poll& poll) {
  const auto turn = static_cast<std::size_t>(meetings_ % 2);  // a rank may be one meeting ahead
  slot(own_slot_).votes[turn] = vote;
  meet(poll);
  for (int index = 0; index < slots_; ++index) {
    const Slot& other = slot(index);
    if (other.state == present && other.ended < phase_ && !other.votes[turn]) return false;
  }
  return true;
}

void Board::start_sample() {
  Slot& own = slot(own_slot_);
  own.sampled = own.met.load();
  own.start_ns = now_ns();
}

void Board::stop_sample() { slot(own_slot_).stop_ns = now_ns(); }

Board::Shared Board::shared() const {
  std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_start = 0, last_stop = 0;
  const std::int64_t sampled = slot(own_slot_).sampled;
  for (int index = 0; index < slots_; ++index) {
    const Slot& other = slot(index);
    if (other.sampled != sampled || other.state == missing) continue;
    first_start = std::min(first_start, other.start_ns.load());
    last_start = std::max(last_start, other.start_ns.load());
    last_stop = std::max(last_stop, other.stop_ns.load());
  }
  return {1e-9 * static_cast<double>(last_start - first_start),
          1e-9 * static_cast<double>(last_stop - last_start)};
}

void Board::leave() {
  int state = present;
  slot(own_slot_).state.compare_exchange_strong(state, departed);
}

std::vector<int> Board::lost() const {
  std::vector<int> indices;
  for (int index = 0; index < slots_; ++index) {
    if (slot(index).state == missing) indices.push_back(index);
  }
  return indices;
}

std::vector<int> Board::alive() {
  std::vector<int> indices;
  for (int index = 0; index < slots_; ++index) {
    if (index != own_slot_ && !is_gone(slot(index))) indices.push_back(index);
  }
  return indices;
}

}  // namespace overlap::fleet
