#include "report/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <map>

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

TEST_F(OutputFile, HasTheUsualMode) {
  for (const mode_t hidden : {mode_t(0), mode_t(027)}) {
    const mode_t mask = umask(hidden);
    write_file(path("a.json"), "first");
    umask(mask);
    EXPECT_EQ(fs::status(path("a.json")).permissions(), fs::perms(0666 & ~hidden));
  }
}

TEST_F(OutputFile, IsWhereLinksLead) {
  write_file(path("c"), "first");
  fs::create_symlink("b", path("a"));
  fs::create_symlink(path("c"), path("b"));
  write_file(path("a"), "text");
  EXPECT_TRUE(fs::is_symlink(path("a")));
  EXPECT_TRUE(fs::is_symlink(path("b")));
  EXPECT_EQ(content(path("c")), "text");
}

TEST_F(OutputFile, MayBeADevice) {
  for (const char* const name : {"/dev/null", "-", "/dev/stdout", "/dev/stderr", "/dev/fd/2"})
    EXPECT_TRUE(is_stream(name));
  EXPECT_FALSE(is_stream(path("a.json")));
  EXPECT_FALSE(is_stream(folder_.folder()));
  write_file("/dev/null", "text");
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
}

TEST_F(OutputFile, MayBeAPipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  auto reader =
      std::async(std::launch::async, [&] { return open(path("pipe").c_str(), O_RDONLY); });
  EXPECT_NO_THROW(write_file(path("pipe"), "text"));
  const int descriptor = reader.get();
  char text[16] = {};
  EXPECT_EQ(read(descriptor, text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  close(descriptor);
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
  write_file(path("a.json"), "of yesterday");
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
  write_file(path("a.json"), "of yesterday");
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
  EXPECT_EQ(files(), 3U);  // the deck, the file and the link
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

}  // namespace
}  // namespace overlap::report
