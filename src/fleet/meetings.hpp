#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Meetings of the ranks of one launch. They are made of messages between two ranks, because the
/// collective operations of MPI do not survive a lost rank. No rank blocks inside MPI.
namespace overlap::fleet {

/// Number of a meeting. All ranks come to their meetings in this order; each may leave some out.
using Meeting = std::int64_t;
/// At which the ranks of a node begin a phase, from 1, and have ended the one before. Its further
/// meetings follow.
constexpr Meeting begin_of(std::int64_t phase) { return phase << 32; }
enum : Meeting {
  inputs = 1,
  introduction,
  after_phases = begin_of(1 << 28),
  gathering,
  verdict,
  ending,
  gone  ///< of a rank that an error ends
};

using Ranks = std::vector<int>;
/// Called repeatedly while a rank waits.
using Poll = std::function<void()>;
void nap();  ///< a millisecond

/// A rank comes to a meeting by a word to the others and waits for theirs, except for ranks that
/// are at a later one already. Ranks that wait or work send signs of life. A rank from which
/// nothing is heard for the deadline is lost, and nobody waits for it any more.
class Meetings {
 public:
  /// Starts MPI. Throws base::Error{skipped} in a build without MPI, and base::Error{usage} if the
  /// launcher started several processes that this MPI considers independent.
  Meetings();
  /// Finalizes MPI if ended_in_order(); otherwise it would wait forever for a lost rank.
  ~Meetings();
  Meetings(const Meetings&) = delete;
  Meetings& operator=(const Meetings&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  const Ranks& others() const { return others_; }  ///< all other ranks

  /// Sends a word to these ranks. Throws base::Error{runtime_error} for more than 2 GiB.
  void tell(const Ranks& ranks, Meeting meeting, const std::string& word = "");
  /// Waits until each of these ranks has come to this meeting or a later one, or is lost.
  void hear(const Ranks& ranks, Meeting meeting, const Poll& poll = nap);
  /// What the rank said at this meeting; null: it did not come, or is at a later one.
  std::string* word(int rank, Meeting meeting);
  /// Meets all ranks: returns their words, by rank. Throws base::Error{runtime_error} on all ranks
  /// if one has not come within the deadline.
  std::vector<std::string> exchange(Meeting meeting, const std::string& word, double deadline_s);

  /// Receives messages; periodically sends signs of life to the peers and looks who is silent.
  void keep_in_touch();
  Ranks peers;                         ///< that look at each other; at first all with rank 0
  std::function<void(int)> when_lost;  ///< called with a peer that has just been lost
  /// Says with the signs of life what this rank does: "in phase alone".
  void show(const std::string& activity);
  const std::string& activity_of(int rank) const { return of(rank).activity; }
  /// Whether others continue without this rank, from which they heard nothing.
  bool expelled() const { return expelled_; }

  /// Ends MPI in order if all ranks come here, still answer within seconds, and can end.
  void end_all(bool can_end = true);
  bool ended_in_order() const { return ended_in_order_; }

 private:
  enum class Tag { sign, word, lost };  ///< kinds of messages
  struct Message {
    int from;
    Tag tag;
    std::string text;
  };
  using Text = std::shared_ptr<const std::string>;  // one for all receivers
  struct Word {
    Meeting meeting;
    std::string text;
  };
  struct Rank {
    std::deque<Word> words;
    std::string activity = "before the first phase";
    int silent = 0;  ///< looks since its last message: time in which this rank itself works or is
                     ///< stopped is one look
    bool lost = false;
  };
  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  bool has_come(int rank, Meeting meeting);

  /// Does not block; receive() and sent() progress the transfer.
  void send(int to, Tag tag, Text text);
  /// The next completely received message, if any: of each rank in the order in which it sent them.
  std::optional<Message> receive();
  bool sent();  ///< whether all messages have been sent

  struct Transfer;
  std::vector<std::unique_ptr<Transfer>> outgoing_, incoming_;
  int rank_ = 0;
  std::vector<Rank> ranks_;
  Ranks others_;
  double deadline_s_ = 60;
  std::string activity_;
  std::chrono::steady_clock::time_point looked_;
  bool expelled_ = false, ended_in_order_ = false;
};

}  // namespace overlap::fleet
