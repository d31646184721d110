/// Gives a target every file of some folders, each under limits on time and memory. Needs no
/// fuzzer.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "targets.hpp"

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // g++ says so
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif
#ifdef NDEBUG
constexpr bool debugged = false;
#else
constexpr bool debugged = true;
#endif
constexpr int limit_s = sanitized ? 40 : debugged ? 10 : 2;  // of processor time, for one input
constexpr rlim_t most_bytes = rlim_t{1} << 30;               // sanitizers reserve far more
const char* input_name = "";                                 // that is under way

extern "C" void too_long(int) {
  const auto say = [](const char* text) { return write(STDERR_FILENO, text, std::strlen(text)); };
  if (say("too long: ") >= 0 && say(input_name) >= 0 && say("\n") >= 0) std::_Exit(1);
  std::_Exit(1);
}

/// From now on `seconds` of processor time are too long; 0: they are not.
void limit_time(int seconds) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const auto targets = overlap::fuzz::targets();
  const auto target = std::ranges::find(targets, std::string_view(argc > 1 ? argv[1] : ""),
                                        &overlap::fuzz::Target::name);
  if (argc < 3 || target == targets.end()) {
    std::cerr << "usage: overlap_replay TARGET FILE|FOLDER...; targets:";
    for (const auto& known : targets) std::cerr << ' ' << known.name;
    std::cerr << '\n';
    return 2;
  }
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (int i = 2; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  std::signal(SIGPROF, too_long);
  const rlimit memory{.rlim_cur = most_bytes, .rlim_max = most_bytes};
  if (!sanitized) setrlimit(RLIMIT_AS, &memory);
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      std::cerr << "cannot read " << file << '\n';
      return 1;
    }
    const std::string input((std::istreambuf_iterator<char>(stream)), {});
    input_name = file.c_str();
    limit_time(limit_s);
    try {
      target->run(input);
    } catch (const std::exception& error) {
      std::cerr << file << ": an exception that no user can read: " << error.what() << '\n';
      return 1;
    }
    limit_time(0);
  }
  std::cout << target->name << ": " << files.size() << " inputs\n";
  return files.empty() ? 1 : 0;
}
