/// The whole program with a heap of our own that fails: at one allocation, or from a number of
/// bytes on. However it fails, the program ends in order.
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

extern "C" int __real_main(int argc, char** argv);  // NOLINT: the linker's name for the program's

namespace {

/// What the heap has given and what it will.
struct Heap {
  std::atomic<std::size_t> calls = 0;
  std::atomic<std::size_t> bytes = 0;
  std::size_t most_bytes = 0;                  ///< roughly: threads allocate, too
  std::size_t fails_at = 0;                    ///< this call; 0: none
  std::size_t limit = 0;                       ///< of bytes at once; 0: none
  std::size_t reserve = std::size_t{1} << 20;  ///< what the program gives back when it fails first
};
Heap heap;

}  // namespace

#ifndef __CUDA_ARCH__  // nvcc compiles replaced operators for the device, too
void* operator new(std::size_t size) {
  while (++heap.calls == heap.fails_at || (heap.limit > 0 && heap.bytes + size > heap.limit)) {
    const auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    if (heap.limit > 0) heap.limit += std::exchange(heap.reserve, 0);
    handler();
  }
  void* const made = std::malloc(size);
  if (made == nullptr) std::abort();
  heap.bytes += malloc_usable_size(made);
  heap.most_bytes = std::max<std::size_t>(heap.most_bytes, heap.bytes);
  return made;
}
void operator delete(void* made) noexcept {
  if (made == nullptr) return;
  heap.bytes -= malloc_usable_size(made);
  std::free(made);
}
void operator delete(void* made, std::size_t) noexcept { operator delete(made); }
#endif

namespace {

namespace fs = std::filesystem;

struct Ending {
  int status = 0;
  std::string out, err;
  std::map<std::string, std::string> files;  ///< by name, with what they end in
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Runs the program in a child, in an empty folder.
Ending run(const fs::path& folder, std::vector<char*> argv, const Heap& with) {
  fs::remove_all(folder);
  fs::create_directories(folder / "files");
  const pid_t child = fork();
  if (child == 0) {
    const auto redirect = [&](const char* name, int to) {
      dup2(open((folder / name).c_str(), O_WRONLY | O_CREAT, 0600), to);
    };
    redirect("out", STDOUT_FILENO);
    redirect("err", STDERR_FILENO);
    fs::current_path(folder / "files");
    argv.push_back(nullptr);
    const int argc = static_cast<int>(argv.size()) - 1;
    heap.calls = 0;
    heap.fails_at = with.fails_at;
    heap.limit = with.limit > 0 ? heap.bytes + with.limit : 0;
    heap.most_bytes = heap.bytes;
    const std::size_t before = heap.bytes;
    const int code = __real_main(argc, argv.data());
    heap.limit = heap.fails_at = 0;
    std::ofstream(folder / "heap") << heap.calls << ' ' << heap.most_bytes - before << '\n';
    std::exit(code);
  }
  Ending ending;
  waitpid(child, &ending.status, 0);
  ending.out = text_of(folder / "out");
  std::istringstream lines(text_of(folder / "err"));
  for (std::string line; std::getline(lines, line);) {
    // Libraries and assertions may say more on the way out.
    if (line.starts_with("miniapp: ")) ending.err += line + '\n';
  }
  for (const auto& entry : fs::directory_iterator(folder / "files")) {
    const std::string text = text_of(entry.path());
    ending.files[entry.path().filename()] =
        text.substr(text.size() - std::min<std::size_t>(text.size(), 1));
  }
  return ending;
}

/// Whether it crashed. A crash stays one, whatever failed before, and g++ makes some: where an
/// element of an initializer list cannot be made, it may destroy others that were not made yet.
bool crashed(const Ending& ending) {
  return !WIFEXITED(ending.status) ||
         ending.err.find("a library ended the run") != std::string::npos;
}

/// The result line; without one all of the text.
std::string result_of(const std::string& text) {
  const std::size_t at = text.rfind("OVERLAP_RESULT");
  return at == std::string::npos ? text : text.substr(at);
}

/// What is wrong with how it ended; empty: nothing.
std::string wrong(const Ending& ending, const Ending& whole) {
  const int code = WEXITSTATUS(ending.status);
  for (const auto& [name, end] : ending.files) {
    const auto same = whole.files.find(name);
    // A sweep goes on from its points; a lock is void when its process ends.
    if (name.ends_with(".points") || name.ends_with(".lock")) continue;
    if (same == whole.files.end()) return name + " is left behind";
    if (same->second != end) return name + " is not whole";
  }
  if (code == WEXITSTATUS(whole.status) && ending.err == whole.err) {
    if (result_of(ending.out) != result_of(whole.out)) return "says something else";
    return ending.files == whole.files ? "" : "lacks files";
  }
  const bool one_line = std::ranges::count(ending.err, '\n') == 1;
  const bool says = ending.err.find("out of memory") != std::string::npos ||
                    ending.err.find("not enough memory") != std::string::npos;
  return (code == 1 || code == 4) && one_line && says ? "" : fmt::format("exit code {}", code);
}

}  // namespace

/// COUNT ARGUMENTS...: runs the program COUNT times in each of both ways, failing at places that
/// are spread over the whole run.
extern "C" int __wrap_main(int argc, char** argv) {  // NOLINT: as above
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (count == 0) {
    std::cerr << "usage: miniapp_short_of_memory COUNT ARGUMENTS...\n";
    return 2;
  }
  std::vector<char*> arguments = {argv[0]};
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  const fs::path folder =
      fs::temp_directory_path() / ("overlap-memory-" + std::to_string(getpid()));
  const Ending whole = run(folder, arguments, {});
  std::istringstream counted(text_of(folder / "heap"));
  std::size_t calls = 0, bytes = 0;
  if (!(counted >> calls >> bytes)) {
    std::cerr << "the program does not run to its end: " << whole.err;
    return 1;
  }
  int bad = 0, crashes = 0;
  std::map<int, int> codes;
  const auto attempt = [&](const std::string& how, const Heap& with) {
    const Ending ending = run(folder, arguments, with);
    ++codes[WIFEXITED(ending.status) ? WEXITSTATUS(ending.status) : -1];
    if (crashed(ending)) {
      ++crashes;
      std::cerr << how << ": crashed\n";
      return;
    }
    const std::string trouble = wrong(ending, whole);
    if (trouble.empty()) return;
    ++bad;
    std::cerr << how << ": " << trouble << ": " << ending.err << '\n';
  };
  for (std::size_t i = 0; i < std::min(count, calls); ++i) {
    const std::size_t at = 1 + calls * i / std::min(count, calls);
    attempt(fmt::format("allocation {} of {}", at, calls), {.fails_at = at});
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t limit = bytes * (i + 1) / (count + 1);
    attempt(fmt::format("{} of {} bytes", limit, bytes), {.limit = limit});
  }
  fs::remove_all(folder);
  std::cout << calls << " allocations, " << bytes << " bytes; exit codes:";
  for (const auto& [code, times] : codes) std::cout << ' ' << code << " (" << times << ")";
  std::cout << "; " << bad << " bad endings, " << crashes << " crashes\n";
  constexpr double most_crashes = 0.02;
  return bad == 0 && crashes <= most_crashes * 2 * static_cast<double>(count) ? 0 : 1;
}
