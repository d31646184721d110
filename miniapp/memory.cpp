#include "memory.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "base/error.hpp"

namespace overlap {
namespace {

/// Enough to unwind and to report the error of an ordinary deck.
constexpr std::size_t reserve_bytes = std::size_t{4} << 20;
std::atomic<void*> reserve = nullptr;  // handlers take no arguments
std::terminate_handler otherwise = nullptr;

[[noreturn]] void end(std::string_view line, base::ExitCode code) {
  const auto written = write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);
  std::_Exit(static_cast<int>(code));
}

extern "C" void end_of_abort(int) {
  end("miniapp: error: a library ended the run, for the reason above\n",
      base::ExitCode::runtime_error);
}

[[noreturn]] void fail_to_allocate() {
  std::free(reserve.exchange(nullptr));
  throw std::bad_alloc();
}

/// Also the end of an exception that may not pass, as in a destructor of a JSON value.
[[noreturn]] void terminate() {
  try {
    if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    end("miniapp: error: out of memory\n", base::ExitCode::precondition);
  } catch (...) {
  }
  otherwise();
  std::abort();
}

}  // namespace

void prepare_for_ends() {
  std::signal(SIGABRT, end_of_abort);
  reserve = std::malloc(reserve_bytes);
  otherwise = std::set_terminate(terminate);
  std::set_new_handler(fail_to_allocate);
}

}  // namespace overlap
