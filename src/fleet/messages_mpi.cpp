#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <csignal>
#include <limits>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/launcher.hpp"
#include "fleet/meetings.hpp"

namespace overlap::fleet {

/// A message in transfer.
struct Meetings::Transfer {
  Message message;  ///< that comes in
  Text text;        ///< of one that goes out
  MPI_Request request = MPI_REQUEST_NULL;
  bool failed = false;

  bool done() {
    int flag = 0;
    failed = MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return failed || flag != 0;
  }
};

Meetings::Meetings() {
  int thread_level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &thread_level);
  base::catch_interrupts();       // MPI installs its own handlers
  std::signal(SIGUSR1, SIG_IGN);  // MPICH's launcher reports the death of a rank with it
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const base::Launch launch = base::launch();
  if (size == 1 && launch.several()) {
    MPI_Finalize();
    throw base::Error(base::ExitCode::usage,
                      fmt::format("--fleet: found {}, but each is alone in its "
                                  "MPI_COMM_WORLD; allowed: the launcher of the MPI that this "
                                  "program was built with",
                                  launch.label()));
  }
  ranks_.resize(static_cast<std::size_t>(size));
  for (int other = 0; other < size; ++other) {
    if (other != rank_) others_.push_back(other);
  }
  peers = rank_ == 0 ? others_ : Ranks{0};
}

Meetings::~Meetings() {
  if (ended_in_order_) MPI_Finalize();
}

void Meetings::send(int to, Tag tag, Text text) {
  constexpr int most_bytes = std::numeric_limits<int>::max();
  if (text->size() > most_bytes) {
    throw base::Error(base::ExitCode::runtime_error, "the result of this rank exceeds 2 GiB");
  }
  MPI_Request& request =
      outgoing_.emplace_back(std::make_unique<Transfer>(Message{}, text))->request;
  MPI_Isend(text->data(), static_cast<int>(text->size()), MPI_CHAR, to, static_cast<int>(tag),
            MPI_COMM_WORLD, &request);
}

std::optional<Meetings::Message> Meetings::receive() {
  sent();
  int pending = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status{};
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pending, &handle, &status);
  if (pending != 0) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    auto& [message, text, request, failed] = *incoming_.emplace_back(
        std::make_unique<Transfer>(Message{status.MPI_SOURCE, static_cast<Tag>(status.MPI_TAG),
                                           std::string(static_cast<std::size_t>(bytes), '\0')}));
    // Non-blocking: the sender may die during the transfer.
    MPI_Imrecv(message.text.data(), bytes, MPI_CHAR, &handle, &request);
  }
  const auto complete = std::ranges::find_if(incoming_, [&](const auto& transfer) {
    const auto sender = [](const auto& other) { return other->message.from; };
    const bool first = *std::ranges::find(incoming_, transfer->message.from, sender) == transfer;
    return first && transfer->done();
  });
  if (complete == incoming_.end()) return std::nullopt;
  const std::unique_ptr<Transfer> transfer = std::move(*complete);
  incoming_.erase(complete);
  return transfer->failed ? std::nullopt : std::optional(std::move(transfer->message));
}

bool Meetings::sent() {
  std::erase_if(outgoing_, [](const auto& message) { return message->done(); });
  return outgoing_.empty();
}

}  // namespace overlap::fleet
