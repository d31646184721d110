#include "fleet/meetings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.hpp"

namespace overlap::fleet {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

void Meetings::tell(const Ranks& ranks, Meeting meeting, const std::string& word) {
  const auto text = std::make_shared<const std::string>(fmt::format("{} {}", meeting, word));
  for (const int rank : ranks) {
    const Rank& other = of(rank);
    const bool is_past = !other.words.empty() && other.words.back().meeting > meeting;
    if (!other.lost && !is_past) send(rank, Tag::word, text);
  }
}

bool Meetings::has_come(int rank, Meeting meeting) {
  std::deque<Word>& words = of(rank).words;
  while (!words.empty() && words.front().meeting < meeting) words.pop_front();
  return !words.empty();
}

void Meetings::hear(const Ranks& ranks, Meeting meeting, const Poll& poll) {
  for (const int rank : ranks) {
    for (keep_in_touch(); !has_come(rank, meeting) && !of(rank).lost; keep_in_touch()) poll();
  }
}

std::string* Meetings::word(int rank, Meeting meeting) {
  if (!has_come(rank, meeting)) return nullptr;
  Word& word = of(rank).words.front();
  return word.meeting == meeting ? &word.text : nullptr;
}

std::vector<std::string> Meetings::exchange(Meeting meeting, const std::string& own,
                                            double deadline_s) {
  using nlohmann::json;
  deadline_s_ = deadline_s;
  json words = json::array();  // collected by rank 0; null: the rank did not come
  if (rank_ > 0) {
    tell({0}, meeting, own);
    hear({0}, meeting);
    if (const std::string* const all = word(0, meeting)) words = json::parse(*all);
  } else {
    hear(others_, meeting);
    words.push_back(own);
    for (const int other : others_) {
      const std::string* const text = word(other, meeting);
      words.push_back(text != nullptr ? json(*text) : json());
    }
    tell(others_, meeting, words.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  words.push_back(nullptr);
  const auto missing = std::ranges::find(words, nullptr) - words.begin();
  if (missing < size()) {
    throw base::Error(base::ExitCode::runtime_error,
                      fmt::format("nothing was heard from rank {} of {} within {} s "
                                  "(fleet.deadline)",
                                  missing, size(), deadline_s));
  }
  words.erase(words.end() - 1);
  return words;
}

void Meetings::show(const std::string& activity) {
  activity_ = activity;
  looked_ = {};  // now
}

void Meetings::keep_in_touch() {
  while (auto message = receive()) {
    Rank& from = of(message->from);
    from.silent = 0;
    if (message->tag == Tag::sign) {
      from.activity = message->text;
    } else if (message->tag == Tag::word) {
      const std::size_t space = message->text.find(' ');
      from.words.push_back({std::stoll(message->text), message->text.substr(space + 1)});
    } else {
      expelled_ = true;
      from.lost = message->from == 0;  // it will not give its verdict
    }
  }
  const Seconds period(std::min(deadline_s_, 10.0) / 4);
  if (Clock::now() - looked_ < period) return;
  looked_ = Clock::now();
  for (const int rank : peers) {
    Rank& peer = of(rank);
    if (peer.lost) continue;
    peer.lost = ++peer.silent * period.count() > deadline_s_;
    send(rank, peer.lost ? Tag::lost : Tag::sign, std::make_shared<const std::string>(activity_));
    if (peer.lost && when_lost) when_lost(rank);
  }
}

void Meetings::end_all(bool can_end) {
  constexpr Seconds limit(5);
  try {
    const auto answers = exchange(ending, can_end ? "can" : "", limit.count());
    ended_in_order_ = std::ranges::find(answers, "") == answers.end();
  } catch (const base::Error&) {  // a rank is lost
  }
  for (const auto start = Clock::now(); !sent() && Clock::now() - start < limit;) nap();
}

}  // namespace overlap::fleet
