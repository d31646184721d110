#include "base/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/error.hpp"

namespace overlap::base {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  if (stop_asked.exchange(true)) _exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void catch_interrupts() {
  // MPI libraries catch SIGHUP to print debug output. Unless nohup ignores it, it ends the program.
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // A write beyond the file size limit or to a closed pipe then fails with an error.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return stop_asked; }

void check_interrupt() {
  if (interrupted()) throw Error(ExitCode::interrupted, "interrupted; no result was written");
}

}  // namespace overlap::base
