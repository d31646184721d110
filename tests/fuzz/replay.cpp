/// Gives a target every file of some folders, each under a time limit. Needs no fuzzer.
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

constexpr unsigned limit_s = 20;  // of one input; sanitizers and busy machines take their time
const char* input_name = "";      // that is under way

extern "C" void too_long(int) {
  const auto say = [](const char* text) { return write(STDERR_FILENO, text, std::strlen(text)); };
  if (say("too long: ") >= 0 && say(input_name) >= 0 && say("\n") >= 0) std::_Exit(1);
  std::_Exit(1);
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
  std::signal(SIGALRM, too_long);
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      std::cerr << "cannot read " << file << '\n';
      return 1;
    }
    const std::string input((std::istreambuf_iterator<char>(stream)), {});
    input_name = file.c_str();
    alarm(limit_s);
    try {
      target->run(input);
    } catch (const std::exception& error) {
      std::cerr << file << ": an exception that no user can read: " << error.what() << '\n';
      return 1;
    }
    alarm(0);
  }
  std::cout << target->name << ": " << files.size() << " inputs\n";
  return files.empty() ? 1 : 0;
}
