#include "base/input_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "deck_file.hpp"

namespace overlap::base {
namespace {

std::string complaint(const std::string& path) {
  try {
    read_file(path, std::size_t{2} << 20, "a file of words", ExitCode::runtime_error);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::runtime_error);
    return error.what();
  }
  return "";
}

TEST(InputFile, IsReadAsAWhole) {
  const std::string text(100'000, 'x');
  const DeckFile file(text);
  EXPECT_EQ(read_file(file.path(), text.size(), "", ExitCode::usage), text);
}

TEST(InputFile, IsNoFolderAndNotTooLarge) {
  const DeckFile file(std::string((std::size_t{2} << 20) + 1, 'x'));
  EXPECT_EQ(complaint(file.path()),
            file.path() + ": found more than 2 MiB; allowed: a file of words");
  EXPECT_EQ(complaint("/dev/zero"), "/dev/zero: found more than 2 MiB; allowed: a file of words");
  EXPECT_EQ(complaint(file.folder()), file.folder() + ": is a folder; allowed: a file of words");
  EXPECT_EQ(complaint(file.path() + "/x"), file.path() + "/x: cannot be read: Not a directory");
  EXPECT_EQ(complaint(""), "'': cannot be read: No such file or directory");
}

TEST(InputFile, MayBeAPipe) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "words", 5), 5);
  close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 5, "", ExitCode::usage), "words");
  close(ends[0]);
}

}  // namespace
}  // namespace overlap::base
