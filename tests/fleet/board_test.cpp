// The board of a node with real processes: who waits for whom, and for whom nobody waits.

#include "fleet/board.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/error.hpp"

namespace overlap::fleet {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

void nap() { std::this_thread::sleep_for(1ms); }

/// What processes tell the test: a list of numbers in the sequence of time.
class Notes {
 public:
  Notes()
      : all_(static_cast<All*>(mmap(nullptr, sizeof(All), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Notes() { munmap(all_, sizeof(All)); }
  void add(int number) { all_->list.at(static_cast<std::size_t>(all_->count++)) = number; }
  std::vector<int> list() const {
    return {all_->list.begin(), all_->list.begin() + all_->count.load()};
  }
  int count() const { return all_->count; }

 private:
  struct All {
    std::atomic<int> count;
    std::array<std::atomic<int>, 64> list;
  };
  All* all_;
};

/// Processes with a slot each. The test's own has none: they end by themselves.
class Node {
 public:
  using Body = std::function<void(Board&, int slot)>;

  /// `absent`: slots without a process.
  Node(int slots, double deadline_s, const Body& body, int absent = 0) {
    const std::string name = fmt::format("/overlap-test-{}-{}", getpid(), ++made_);
    for (int slot = 0; slot < slots; ++slot) {
      const pid_t pid = fork();
      if (pid == 0) {
        int code = 0;
        try {
          Board board(name, slot, slots + absent, deadline_s);
          body(board, slot);
        } catch (const base::Error& error) {
          code = static_cast<int>(error.code());
        }
        _exit(code);
      }
      pids_.push_back(pid);
    }
  }
  ~Node() {
    for (const pid_t pid : pids_) {
      if (pid > 0) kill(pid, SIGKILL);
    }
    codes();
  }

  void send(int number, int slot) { kill(pids_.at(static_cast<std::size_t>(slot)), number); }
  /// Of the process, -1: a signal ended it.
  int code(int slot) {
    pid_t& pid = pids_.at(static_cast<std::size_t>(slot));
    if (pid == 0) return 0;
    int status = 0;
    waitpid(pid, &status, 0);
    pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::vector<int> codes() {
    std::vector<int> all;
    for (int slot = 0; slot < static_cast<int>(pids_.size()); ++slot) all.push_back(code(slot));
    return all;
  }

 private:
  static inline int made_ = 0;
  std::vector<pid_t> pids_;
};

void wait_until(const std::function<bool()>& done) {
  const auto end = Clock::now() + 20s;
  while (!done()) {
    ASSERT_LT(Clock::now(), end);
    nap();
  }
}

TEST(Board, GivesTurnsBySlots) {
  Notes notes;
  Node node(3, 20, [&](Board& board, int slot) {
    board.begin_phase();
    board.wait_for_turn(nap);
    notes.add(slot);
    std::this_thread::sleep_for(20ms);
    notes.add(slot);
    board.end_phase();
    board.wait_for_all(nap);
    notes.add(10);
  });
  EXPECT_THAT(node.codes(), ElementsAre(0, 0, 0));
  EXPECT_THAT(notes.list(), ElementsAre(0, 0, 1, 1, 2, 2, 10, 10, 10));
}

TEST(Board, AllMustCome) {
  Node node(2, 0.2, [](Board&, int) {}, 1);
  const int failed = static_cast<int>(base::ExitCode::runtime_error);
  EXPECT_THAT(node.codes(), ElementsAre(failed, failed));
}

TEST(Board, NobodyLeavesAMeetingBeforeAllHaveCome) {
  Notes notes;
  Node node(3, 20, [&](Board& board, int slot) {
    board.begin_phase();
    for (int meeting = 1; meeting <= 3; ++meeting) {
      std::this_thread::sleep_for(slot * 5ms);
      notes.add(0);
      board.meet(nap);
      if (notes.count() < 3 * meeting) notes.add(-1);
      board.meet_at_once();
    }
  });
  EXPECT_THAT(node.codes(), ElementsAre(0, 0, 0));
  EXPECT_EQ(notes.list(), std::vector<int>(9, 0));
}

TEST(Board, MeetingsDoNotWaitForWhoHasEndedThePhase) {
  Node node(2, 20, [&](Board& board, int slot) {
    board.begin_phase();
    board.meet(nap);
    if (slot == 1) {
      board.meet(nap);
      board.meet(nap);
    }
    board.end_phase();
    board.wait_for_all(nap);
    board.begin_phase();  // and meet again in the next
    board.meet(nap);
  });
  EXPECT_THAT(node.codes(), ElementsAre(0, 0));
}

TEST(Board, AgreesWhereNobodyInThePhaseVotesAgainst) {
  Notes notes;
  Node node(4, 30, [&](Board& board, int slot) {
    board.begin_phase();
    if (slot < 3) {
      int round = 0;
      while (!board.agree(round >= 5 * slot, nap)) ++round;
      notes.add(round);
    }
    board.end_phase();
  });
  EXPECT_THAT(node.codes(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(notes.list(), ElementsAre(10, 10, 10));
}

TEST(Board, MeasuresWhatSamplesShare) {
  Node node(2, 20, [&](Board& board, int slot) {
    board.begin_phase();
    board.meet_at_once();
    std::this_thread::sleep_for(slot * 40ms);
    board.start_sample();
    std::this_thread::sleep_for(100ms);
    board.stop_sample();
    board.meet(nap);
    const Board::Shared shared = board.shared();
    const bool right = shared.skew_s > 0.03 && shared.skew_s < 5 && shared.shared_s > 0.09;
    if (!right) throw base::Error(base::ExitCode::wrong_data, "");
  });
  EXPECT_THAT(node.codes(), ElementsAre(0, 0));
}

TEST(Board, ADeadRankIsLostAtOnce) {
  Notes notes;
  Node node(3, 1000, [&](Board& board, int slot) {
    board.begin_phase();
    notes.add(slot);
    if (slot == 1) pause();
    board.meet(nap);
    if (board.lost() != std::vector<int>{1}) throw base::Error(base::ExitCode::wrong_data, "");
  });
  wait_until([&] { return notes.count() == 3; });
  node.send(SIGKILL, 1);
  node.code(1);  // a process that nobody has waited for still counts as one
  EXPECT_EQ(node.code(0), 0);
  EXPECT_EQ(node.code(2), 0);
}

TEST(Board, ASilentRankIsLostAfterTheDeadlineAndHearsOfIt) {
  Notes notes;
  Node node(2, 0.3, [&](Board& board, int slot) {
    board.begin_phase();
    notes.add(slot);
    if (slot == 0) {
      board.wait_for_all(nap);
      notes.add(10);
    } else {
      while (notes.count() < 3) nap();  // alive, but it shows it nowhere
      board.sign();
    }
  });
  EXPECT_EQ(node.code(0), 0);
  EXPECT_EQ(node.code(1), static_cast<int>(base::ExitCode::runtime_error));
}

TEST(Board, ARankThatShowsItsLifeMayTakeLong) {
  Node node(2, 0.3, [&](Board& board, int slot) {
    board.begin_phase();
    if (slot == 1) {
      for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(50ms);
        board.sign();
      }
    }
    board.meet(nap);
    if (!board.lost().empty()) throw base::Error(base::ExitCode::wrong_data, "");
  });
  EXPECT_THAT(node.codes(), ElementsAre(0, 0));
}

TEST(Board, NobodyWaitsForARankThatLeft) {
  Node node(2, 1000, [&](Board& board, int slot) {
    board.begin_phase();
    if (slot == 0) return;  // the board goes, and with it the slot
    board.meet(nap);
    board.wait_for_all(nap);
    if (!board.lost().empty()) throw base::Error(base::ExitCode::wrong_data, "");
  });
  EXPECT_THAT(node.codes(), ElementsAre(0, 0));
}

TEST(Board, TellsWhoIsAliveAndHasNotLeft) {
  Notes notes;
  Node node(3, 1000, [&](Board& board, int slot) {
    notes.add(slot);
    if (slot == 1) pause();
    if (slot == 0) {
      if (board.alive() != std::vector{1, 2}) throw base::Error(base::ExitCode::wrong_data, "");
      notes.add(10);
      while (!board.alive().empty()) nap();
      if (board.lost() != std::vector{1}) throw base::Error(base::ExitCode::wrong_data, "");
    } else {
      while (notes.count() < 4) nap();  // and leaves
    }
  });
  wait_until([&] { return notes.count() == 4; });
  node.send(SIGKILL, 1);
  node.code(1);  // a process that nobody has waited for still counts as one
  EXPECT_EQ(node.code(0), 0);
  EXPECT_EQ(node.code(2), 0);
}

}  // namespace
}  // namespace overlap::fleet
