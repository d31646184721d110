#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The processes that one launcher started: MPI, and nothing but messages. Nobody waits in MPI
/// itself, so that a dead process holds up nobody.
namespace overlap::fleet {

enum class Tag { sign, result, verdict };  ///< of messages: a sign of life, ...

struct Message {
  int from = 0;
  Tag tag = Tag::sign;
  std::string text;
};

class World {
 public:
  /// Starts MPI. Throws base::Error{skipped} in a build without MPI, base::Error{usage} where the
  /// launcher started several processes that this MPI takes for worlds of their own.
  World();
  /// Ends MPI, if all ranks do: it would wait for a lost one for ever.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Every rank's text, by ranks. Throws base::Error{runtime_error} when not all of them have
  /// started within `deadline_s`.
  std::vector<std::string> exchange(const std::string& text, double deadline_s);

  /// Returns at once; the message goes out while receive() or sent() are called.
  void send(int to, Tag tag, std::string text = "");
  /// The next message, if a whole one is there.
  std::optional<Message> receive();
  bool sent();  ///< whether all messages are out

  void end_in_order() { whole_ = true; }  ///< all ranks do so
  bool whole() const { return whole_; }

 private:
  struct Transfer;
  std::vector<std::unique_ptr<Transfer>> outgoing_, incoming_;
  int rank_ = 0;
  int size_ = 1;
  bool whole_ = false;
};

}  // namespace overlap::fleet
