#include "report/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iterator>

#include "deck_file.hpp"
#include "generated.hpp"

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

TEST_F(OutputFile, HasTheUsualModeOrKeepsItsOwn) {
  const mode_t mask = umask(027);
  write_file(path("a.json"), "first");
  umask(mask);
  EXPECT_EQ(fs::status(path("a.json")).permissions(), fs::perms(0640));
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
}

TEST_F(OutputFile, MayBeADevice) {
  EXPECT_TRUE(is_stream("/dev/null"));
  EXPECT_FALSE(is_stream(path("a.json")));
  write_file("/dev/null", "text");
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
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

}  // namespace
}  // namespace overlap::report
