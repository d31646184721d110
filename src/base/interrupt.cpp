#include "base/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "base/error.hpp"

namespace overlap::base {
namespace {

// A signal handler can reach nothing but globals.
std::atomic<bool> asked = false;                ///< whether a stop was requested
std::atomic<std::int64_t> interrupt_at_ms = 0;  ///< first SIGINT or SIGTERM; 0: none
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // may be called by a signal handler
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000 + 1;
}

extern "C" void on_request(int) { asked = true; }

extern "C" void on_interrupt(int) {
  // Programs such as timeout send one request twice, to the process and to its group.
  constexpr std::int64_t one_request_ms = 200;
  const std::int64_t now = now_ms();
  std::int64_t first = 0;
  asked = true;
  if (interrupt_at_ms.compare_exchange_strong(first, now)) return;
  if (now - first > one_request_ms) _exit(static_cast<int>(ExitCode::interrupted));
}

/// Whether SIGHUP is ignored, as nohup asks. Looked up before the constructors of MPI libraries,
/// which catch it to print debug output.
bool ignores_hangup = false;
void look_at_hangup(int, char**, char**) {
  struct sigaction now = {};
  ignores_hangup = sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const at_start)(int, char**,
                                                                     char**) = look_at_hangup;

}  // namespace

void catch_interrupts() {
  for (const int number : {SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU}) std::signal(number, on_request);
  std::signal(SIGHUP, ignores_hangup ? SIG_IGN : on_request);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // A write beyond the file size limit or to a closed pipe then fails with an error.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return asked; }

void check_interrupt() {
  if (interrupted()) throw Error(ExitCode::interrupted, "interrupted; no result was written");
}

}  // namespace overlap::base
