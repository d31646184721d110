#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <limits>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/launcher.hpp"
#include "fleet/world.hpp"

namespace overlap::fleet {
namespace {

constexpr int most_bytes = std::numeric_limits<int>::max();  // of a message

/// Whether a request is complete within `deadline_s`. `step` is called while it is not.
bool completes(MPI_Request request, double deadline_s, void (*step)() = [] {}) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;) {
    if (done != 0) return true;
    step();
    if (std::chrono::duration<double>(Clock::now() - start).count() > deadline_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

/// A message in transfer.
struct World::Transfer {
  Message message;
  MPI_Request request = MPI_REQUEST_NULL;
  bool failed = false;

  bool done() {
    int flag = 0;
    failed = MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return failed || flag != 0;
  }
};

World::World() {
  int thread_level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &thread_level);
  base::catch_interrupts();       // MPI installs its own handlers
  std::signal(SIGUSR1, SIG_IGN);  // MPICH's launcher reports the death of a rank with it
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  const base::Launch launch = base::launch();
  if (size_ == 1 && launch.several()) {
    MPI_Finalize();
    throw base::Error(base::ExitCode::usage,
                      fmt::format("--fleet: found {}, but each is alone in its "
                                  "MPI_COMM_WORLD; allowed: the launcher of the MPI that this "
                                  "program was built with",
                                  launch.label()));
  }
}

World::~World() {
  if (ended_in_order_) MPI_Finalize();
}

std::vector<std::string> World::exchange(const std::string& text, double deadline_s) {
  const auto wait = [&](MPI_Request request) {
    if (completes(request, deadline_s, base::check_interrupt)) return;
    throw base::Error(base::ExitCode::runtime_error,
                      fmt::format("not all of the {} ranks started within {} s (fleet.deadline)",
                                  size_, deadline_s));
  };
  const auto ranks = static_cast<std::size_t>(size_);
  const auto length = static_cast<int>(text.size());
  std::vector<int> lengths(ranks), starts(ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD, &request);
  wait(request);
  std::size_t total = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    starts[i] = static_cast<int>(total);
    total += static_cast<std::size_t>(lengths[i]);
  }
  std::string joined(total, '\0');
  MPI_Iallgatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), starts.data(),
                  MPI_CHAR, MPI_COMM_WORLD, &request);
  wait(request);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < ranks; ++i) {
    texts.push_back(
        joined.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

void World::send(int to, Tag tag, std::string text) {
  if (text.size() > most_bytes) {
    throw base::Error(base::ExitCode::runtime_error, "the result of this rank exceeds 2 GiB");
  }
  auto& [message, request, failed] = *outgoing_.emplace_back(
      std::make_unique<Transfer>(Message{.from = rank_, .tag = tag, .text = std::move(text)}));
  MPI_Isend(message.text.data(), static_cast<int>(message.text.size()), MPI_CHAR, to,
            static_cast<int>(tag), MPI_COMM_WORLD, &request);
}

std::optional<Message> World::receive() {
  sent();
  int pending = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status{};
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pending, &handle, &status);
  if (pending != 0) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    auto& [message, request, failed] = *incoming_.emplace_back(std::make_unique<Transfer>(
        Message{.from = status.MPI_SOURCE,
                .tag = static_cast<Tag>(status.MPI_TAG),
                .text = std::string(static_cast<std::size_t>(bytes), '\0')}));
    // Non-blocking: the sender may die during the transfer.
    MPI_Imrecv(message.text.data(), bytes, MPI_CHAR, &handle, &request);
  }
  const auto complete =
      std::ranges::find_if(incoming_, [](auto& transfer) { return transfer->done(); });
  if (complete == incoming_.end()) return std::nullopt;
  const std::unique_ptr<Transfer> transfer = std::move(*complete);
  incoming_.erase(complete);
  return transfer->failed ? std::nullopt : std::optional(std::move(transfer->message));
}

bool World::sent() {
  std::erase_if(outgoing_, [](const auto& message) { return message->done(); });
  return outgoing_.empty();
}

void World::end_in_order() {
  // A rank that gave up at the first barrier does not come to the second, so that all give up.
  for (int barrier = 0; barrier < 2; ++barrier) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS || !completes(request, 5)) return;
  }
  ended_in_order_ = true;
}

}  // namespace overlap::fleet
