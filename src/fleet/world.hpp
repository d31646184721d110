#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// MPI point-to-point messages between the ranks of one launch. No rank blocks inside MPI, so that
/// a dead process cannot block others.
namespace overlap::fleet {

enum class Tag { sign, result, verdict };  ///< kinds of messages

struct Message {
  int from = 0;
  Tag tag = Tag::sign;
  std::string text;
};

class World {
 public:
  /// Starts MPI. Throws base::Error{skipped} in a build without MPI, and base::Error{usage} if the
  /// launcher started several processes that this MPI considers independent.
  World();
  /// Finalizes MPI if ended_in_order(); otherwise it would wait forever for a lost rank.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Returns the texts of all ranks, by rank. Throws base::Error{runtime_error} if not all ranks
  /// have started within `deadline_s`.
  std::vector<std::string> exchange(const std::string& text, double deadline_s);

  /// Does not block; receive() and sent() progress the transfer. Throws base::Error{runtime_error}
  /// for more than 2 GiB.
  void send(int to, Tag tag, std::string text = "");
  /// The next completely received message, if any.
  std::optional<Message> receive();
  bool sent();  ///< whether all messages have been sent

  /// Finalizes MPI at the end, if all ranks call this and still answer within seconds.
  void end_in_order();
  bool ended_in_order() const { return ended_in_order_; }  ///< whether that is so

 private:
  struct Transfer;
  std::vector<std::unique_ptr<Transfer>> outgoing_, incoming_;
  int rank_ = 0;
  int size_ = 1;
  bool ended_in_order_ = false;
};

}  // namespace overlap::fleet
