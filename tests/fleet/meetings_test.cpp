// Meetings of real processes: three ranks, which mpirun starts, run all of these tests at once.

#include "fleet/meetings.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "base/error.hpp"

namespace overlap::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

Meetings* ranks = nullptr;
constexpr double deadline_s = 20;
Meeting at = begin_of(1);  ///< the next meeting

void meet_all(const std::string& word = "") {
  ranks->tell(ranks->others(), at, word);
  ranks->hear(ranks->others(), at);
  ++at;
}

TEST(Meetings, ExchangeWordsByRank) {
  for (const Meeting meeting : {inputs, introduction}) {
    EXPECT_THAT(ranks->exchange(meeting, std::to_string(10 * ranks->rank()), deadline_s),
                ElementsAre("0", "10", "20"));
  }
}

TEST(Meetings, NobodyLeavesBeforeAllHaveCome) {
  for (int late = 0; late < 3; ++late) {
    const auto begin = std::chrono::steady_clock::now();
    if (ranks->rank() == late) std::this_thread::sleep_for(300ms);
    meet_all();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
  }
}

TEST(Meetings, LargeWordsKeepTheirPlace) {
  const std::string large(8 << 20, 'x');
  ranks->tell(ranks->others(), at, large);
  ranks->tell(ranks->others(), at + 1, "small");
  for (const std::string& expected : {large, std::string("small")}) {
    ranks->hear(ranks->others(), at);
    for (const int other : ranks->others()) {
      const std::string* const word = ranks->word(other, at);
      EXPECT_TRUE(word != nullptr && *word == expected);
    }
    ++at;
  }
}

TEST(Meetings, DoNotWaitForWhoIsAtALaterOne) {
  if (ranks->rank() != 1) {
    ranks->hear({1}, at);
    EXPECT_EQ(ranks->word(1, at), nullptr);
  }
  at += 2;
  meet_all("later");
  for (const int other : ranks->others()) EXPECT_EQ(*ranks->word(other, at - 1), "later");
}

TEST(Meetings, WhoTakesLongAndShowsItsLifeIsNotLost) {
  ranks->exchange(at++, "", 1);  // the deadline
  if (ranks->rank() == 1) {
    for (int i = 0; i < 30; ++i) {
      std::this_thread::sleep_for(100ms);
      ranks->keep_in_touch();
    }
  }
  meet_all("here");
  for (const int other : ranks->others()) EXPECT_NE(ranks->word(other, at - 1), nullptr);
}

TEST(Meetings, WhoIsSilentIsLostAndHearsOfIt) {  // comes last
  std::vector<int> lost;
  ranks->when_lost = [&](int rank) { lost.push_back(rank); };
  ranks->show("at work");
  meet_all();
  ranks->exchange(at++, "", 2);
  if (ranks->rank() == 2) {
    std::this_thread::sleep_for(6s);
    for (int i = 0; i < 1000 && !ranks->expelled(); ++i) {
      ranks->keep_in_touch();
      nap();
    }
    EXPECT_TRUE(ranks->expelled());
  } else {
    ranks->hear({2}, at);
    EXPECT_EQ(ranks->word(2, at), nullptr);
    EXPECT_FALSE(ranks->expelled());
    if (ranks->rank() == 0) {
      EXPECT_THAT(lost, ElementsAre(2));
      EXPECT_EQ(ranks->activity_of(2), "at work");
    }
    EXPECT_THROW(ranks->exchange(verdict, "", 2), base::Error);
  }
}

}  // namespace
}  // namespace overlap::fleet

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  overlap::fleet::Meetings meetings;
  overlap::fleet::ranks = &meetings;
  meetings.peers = meetings.others();
  const int failed = RUN_ALL_TESTS();
  std::this_thread::sleep_for(std::chrono::seconds(5));  // until the silent one has ended, too
  std::_Exit(failed);
}
