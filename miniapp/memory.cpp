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

extern "C" void end_without_memory(int) {
  constexpr std::string_view line = "miniapp: error: out of memory\n";
  const auto written = write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);
  std::_Exit(static_cast<int>(base::ExitCode::precondition));
}

[[noreturn]] void fail_to_allocate() {
  std::free(reserve.exchange(nullptr));
  // Libraries abort or worse where an exception cannot pass: libstdc++ in the iterators of folders,
  // nlohmann-json in destructors.
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, end_without_memory);
  throw std::bad_alloc();
}

[[noreturn]] void terminate() {
  if (reserve == nullptr) end_without_memory(SIGABRT);
  otherwise();
  std::abort();
}

}  // namespace

void prepare_for_lack_of_memory() {
  reserve = std::malloc(reserve_bytes);
  otherwise = std::set_terminate(terminate);
  std::set_new_handler(fail_to_allocate);
}

}  // namespace overlap
