#include "report/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <thread>

#include "deck_file.hpp"
#include "generated.hpp"

/// What fsync does in a test; empty: what it is for.
static std::function<int()> instead_of_fsync;

/// Takes the place of that of the C library.
extern "C" int fsync(int descriptor) {
  return instead_of_fsync ? instead_of_fsync() : static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace overlap::report {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using base::ExitCode;
using test::content;

std::string error_of(const std::function<void()>& write, ExitCode code = ExitCode::runtime_error) {
  try {
    write();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "none";
}

class OutputFile : public testing::Test {
 protected:
  void TearDown() override { instead_of_fsync = nullptr; }

  std::string path(const std::string& name) const { return folder_.folder() + "/" + name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.folder()), {}));
  }

  const DeckFile folder_{""};
};

TEST_F(OutputFile, IsReplacedAsAWhole) {
  write_file(path("a.json"), "first, which is longer");
  write_file(path("a.json"), "second");
  EXPECT_EQ(content(path("a.json")), "second");
  EXPECT_EQ(files(), 2U);  // the deck's and this one
}

TEST_F(OutputFile, IsPutBackAfterDrafts) {
  Files files;
  write_file(path("old"), "of yesterday");
  for (const char* const name : {"old", "new"}) {
    files.writes(path(name), "--json");
    files.draft(path(name), "first");
    files.draft(path(name), "second");
    EXPECT_EQ(content(path(name)), "second");
  }
  files.restore();
  EXPECT_EQ(content(path("old")), "of yesterday");
  EXPECT_FALSE(fs::exists(path("new")));
}

TEST_F(OutputFile, IsTriedAgainAfterASignal) {
  int calls = 0;
  instead_of_fsync = [&] {
    errno = ++calls < 3 ? EINTR : 0;  // success need not change it
    return calls == 1 ? -1 : 0;
  };
  write_file(path("a.json"), "text");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(content(path("a.json")), "text");
}

TEST_F(OutputFile, StaysAsItWasUntilTheNextIsWhole) {
  write_file(path("a.json"), "first");
  instead_of_fsync = [] {
    errno = EIO;
    return -1;
  };
  EXPECT_EQ(error_of([&] { write_file(path("a.json"), "second"); }),
            path("a.json") + ": cannot write: Input/output error");
  EXPECT_EQ(content(path("a.json")), "first");
  EXPECT_EQ(files(), 2U);  // nothing is left of the attempt
}

TEST_F(OutputFile, IsKeptUnderAnotherNameIfItsOwnIsTaken) {
  instead_of_fsync = [&] { return fs::create_directory(path("a.json")) ? 0 : -1; };
  const std::string error = error_of([&] { write_file(path("a.json"), "text"); });
  const std::string before = path("a.json") + ": cannot write: Is a directory; the result is in ";
  ASSERT_EQ(error.substr(0, before.size()), before);
  EXPECT_EQ(content(error.substr(before.size())), "text");
}

TEST_F(OutputFile, ClosesWhatItOpensAndNothingElse) {
  const int input = dup(STDIN_FILENO);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);  // others may have closed it
  const auto opened = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto before = opened();
  write_file(path("a.json"), "text");
  EXPECT_EQ(opened(), before);
  close(STDIN_FILENO);  // now its number is the first that is free
  for (const std::string& name : {path("b.json"), std::string("/dev/null")}) {
    require_writable(name);
    write_file(name, "text");
    EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1) << name;
  }
  close(null);
  dup2(input, STDIN_FILENO);
  close(input);
  EXPECT_EQ(content(path("b.json")), "text");
}

TEST_F(OutputFile, IsWholeThoughASignalInterruptsItsWriting) {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i);
  const auto read_all = [&, writer = pthread_self()] {
    const int room = fcntl(ends[0], F_GETPIPE_SZ);
    for (int waiting = 0; waiting < room;) ioctl(ends[0], FIONREAD, &waiting);
    for (int i = 0; i < 20; ++i) {  // after the first a part is written, after others nothing
      pthread_kill(writer, SIGUSR1);
      std::this_thread::sleep_for(2ms);
    }
    std::string all;
    char part[4096];
    for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;) {
      all.append(part, static_cast<std::size_t>(n));
    }
    return all;
  };
  auto reader = std::async(std::launch::async, read_all);
  EXPECT_NO_THROW(write_all(ends[1], "pipe", text));
  close(ends[1]);
  EXPECT_TRUE(reader.get() == text);
  close(ends[0]);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(OutputFile, HasTheUsualModeOrKeepsItsOwn) {
  for (const mode_t hidden : {mode_t(0), mode_t(027)}) {
    fs::remove(path("a.json"));
    const mode_t mask = umask(hidden);
    write_file(path("a.json"), "first");
    umask(mask);
    EXPECT_EQ(fs::status(path("a.json")).permissions(), fs::perms(0666 & ~hidden));
  }
  fs::permissions(path("a.json"), fs::perms(0751));
  write_file(path("a.json"), "second");
  EXPECT_EQ(fs::status(path("a.json")).permissions(), fs::perms(0751));
}

TEST_F(OutputFile, IsWhereLinksLead) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink(path("c"), path("b"));
  write_file(path("a"), "text");
  EXPECT_TRUE(fs::is_symlink(path("a")));
  EXPECT_TRUE(fs::is_symlink(path("b")));
  EXPECT_EQ(content(path("c")), "text");
  fs::create_symlink("loop", path("loop"));
  EXPECT_EQ(error_of([&] { write_file(path("loop"), "text"); }),
            path("loop") + ": cannot write: Too many levels of symbolic links");
  fs::create_symlink("c", path("1"));
  for (int i = 2; i <= 40; ++i) fs::create_symlink(std::to_string(i - 1), path(std::to_string(i)));
  write_file(path("39"), "through 39 links");
  EXPECT_EQ(content(path("c")), "through 39 links");
  EXPECT_EQ(error_of([&] { write_file(path("40"), "text"); }),
            path("40") + ": cannot write: Too many levels of symbolic links");
}

TEST_F(OutputFile, MayBeADevice) {
  EXPECT_TRUE(is_stream("/dev/null"));
  EXPECT_FALSE(is_stream(path("a.json")));
  EXPECT_FALSE(is_stream(folder_.folder()));
  write_file("/dev/null", "text");
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
}

TEST_F(OutputFile, MayBeAPipeThatIsReadLater) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(100ms);
    return open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  });
  EXPECT_NO_THROW(write_file(path("pipe"), "text"));
  const int descriptor = reader.get();
  char text[16] = {};
  EXPECT_EQ(read(descriptor, text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  close(descriptor);
}

TEST_F(OutputFile, MayBeAnOpenDescriptor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto name = [](int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); };
  EXPECT_TRUE(is_stream(name(ends[1])));
  require_writable(name(ends[1]));
  write_file(name(ends[1]), "text");
  char text[16] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  close(ends[1]);
  for (const int descriptor : {ends[0], ends[1]}) {  // one to read from, and a closed one
    EXPECT_EQ(error_of([&] { require_writable(name(descriptor)); }),
              name(descriptor) + ": cannot write: Bad file descriptor");
  }
  close(ends[0]);
}

TEST_F(OutputFile, SaysWhyItCannotBeWritten) {
  EXPECT_EQ(error_of([] { write_all(-1, "out.json", "text"); }),
            "out.json: cannot write: Bad file descriptor");
  EXPECT_EQ(error_of([] { require_writable(""); }), "'': cannot write: the file name is empty");
  EXPECT_EQ(error_of([] { require_writable("/"); }), "/: cannot write: is a folder");
  EXPECT_EQ(error_of([] { require_writable("/no/such/folder/file"); }),
            "/no/such/folder/file: cannot write: No such file or directory");
  EXPECT_EQ(error_of([&] { require_writable(path("deck.yaml/file")); }),
            path("deck.yaml/file") + ": cannot write: Not a directory");
  require_writable(path("a.json"));
  EXPECT_EQ(files(), 1U);  // nothing is left of the attempt
}

TEST_F(OutputFile, IsWrittenAgainWithTheErrorsOfOthersOrRemoved) {
  struct Output {
    std::string path;
    std::string content;  // of the first time; empty: there is no room
    std::string again;
  };
  const std::vector<Output> outputs = {{path("full"), "", "never"},
                                       {path("whole"), "PASS", "ERROR"},
                                       {path("stale"), "PASS", ""},
                                       {"/dev/null", "PASS", ""}};
  std::map<std::string, int> times;
  const auto write = [&](const Output& output) {
    const std::string& content = ++times[output.path] == 1 ? output.content : output.again;
    if (content.empty()) return false;
    write_file(output.path, content);
    return true;
  };
  write_each(outputs, &Output::path, write);
  EXPECT_EQ(content(path("whole")), "ERROR");
  EXPECT_FALSE(fs::exists(path("stale")));
  EXPECT_FALSE(fs::exists(path("full")));
  EXPECT_TRUE(fs::exists("/dev/null"));
  EXPECT_EQ(times,
            (std::map<std::string, int>{
                {path("full"), 1}, {path("whole"), 2}, {path("stale"), 2}, {"/dev/null", 1}}));
}

TEST_F(OutputFile, IsOneForEachOption) {
  Files all;
  all.reads("", "the deck");
  all.reads(path("deck.yaml"), "the deck");
  all.writes(path("a.json"), "--json");
  all.writes("/dev/null", "--svg");
  all.writes("/dev/null", "--csv");
  fs::create_symlink("a.json", path("link"));
  EXPECT_EQ(error_of([&] { all.writes(path("link"), "--csv"); }, ExitCode::usage),
            "--csv: found " + path("link") + ", which is also --json; allowed: one file for each");
  EXPECT_EQ(
      error_of([&] { all.writes(path("deck.yaml"), "--csv"); }, ExitCode::usage),
      "--csv: found " + path("deck.yaml") + ", which is also the deck; allowed: one file for each");
}

TEST_F(OutputFile, IsOfOneProcessAtATime) {
  const auto take = [&] { Files().writes(path("a.json"), "--json"); };
  {
    Files files;
    files.writes(path("a.json"), "--json");
    fs::create_symlink("a.json", path("link"));
    for (const char* const name : {"a.json", "link"}) {  // locks are of descriptors: as others
      EXPECT_EQ(
          error_of([&] { Files().writes(path(name), "--csv"); }, ExitCode::usage),
          "--csv: found " + path(name) +
              ", which another process is going to write; allowed: one file for each process");
    }
    Files().writes(path("b.json"), "--json");
    const Files later = std::move(files);
    EXPECT_NE(error_of(take, ExitCode::usage), "none");
  }
  EXPECT_EQ(error_of(take), "none");
  EXPECT_EQ(files(), 2U);  // the deck and the link
}

TEST_F(OutputFile, IsNotLockedByWhatIsLeft) {
  const std::string lock = path("a.json.lock");
  std::ofstream(lock).close();  // of a process that was killed
  Files().writes(path("a.json"), "--json");
  EXPECT_FALSE(fs::exists(lock));
  std::ofstream(lock) << "of somebody else";
  Files().writes(path("a.json"), "--json");
  EXPECT_EQ(content(lock), "of somebody else");
}

TEST_F(OutputFile, IsLockedByTheFileThatItsLockNames) {
  // Two runs that begin and end all the time: each removes the file that the other may have opened.
  const auto run = [&] {
    int lost = 0;
    for (int i = 0; i < 3000; ++i) {
      try {
        Files files;
        files.writes(path("a.json"), "--json");
        lost += fs::exists(path("a.json.lock")) ? 0 : 1;
      } catch (const base::Error&) {
        continue;  // the other has it
      }
    }
    return lost;
  };
  auto other = std::async(std::launch::async, run);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(other.get(), 0);
}

}  // namespace
}  // namespace overlap::report
