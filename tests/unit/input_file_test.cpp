#include "base/input_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
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

TEST(InputFile, IsNoPipeNoDeviceAndNotTooLarge) {
  const DeckFile file(std::string((std::size_t{2} << 20) + 1, 'x'));
  EXPECT_EQ(complaint(file.path()),
            file.path() + ": found more than 2 MiB; allowed: a file of words");
  const std::string pipe = file.folder() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(complaint(pipe), pipe + ": is a pipe or a device; allowed: a file of words");
  EXPECT_EQ(complaint("/dev/zero"), "/dev/zero: is a pipe or a device; allowed: a file of words");
  EXPECT_EQ(complaint(file.folder()), file.folder() + ": is a folder; allowed: a file of words");
  EXPECT_EQ(complaint(pipe + "/x"), pipe + "/x: cannot be read: Not a directory");
  EXPECT_EQ(complaint(""), "'': cannot be read: No such file or directory");
}

TEST(InputFile, MayBeAPipeThatIsOpen) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "words", 5), 5);
  close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 5, "", ExitCode::usage), "words");
  close(ends[0]);
}

}  // namespace
}  // namespace overlap::base
