#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "deck/deck.hpp"
#include "deck/words.hpp"  // orders have words in every file of a unity build
#include "error_cases.hpp"

/// Every kind of bad deck with the exact line that the user reads.
namespace overlap::deck {
namespace {

const std::string increment = "workload: {kind: increment}\n";
const std::string orders = "issue: {orders: [sequential, depth_first]}\n";
const std::string good =
    "title: T\nworkload: {kind: increment, elements: 4096}\n"
    "chunks: {count: 4}\n" +
    orders + "acceptance: [{metric: speedup, order: depth_first, min: 1}]\n";

std::string complaint(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return test::complaint([&] { load_points(path, overrides); });
}
std::string complaint_about(const std::string& deck) { return complaint(DeckFile(deck).path()); }

TEST(DeckErrors, EachAsItIsWritten) {
  test::expect_errors("deck_errors.txt",
                      {{"(empty)", ""},
                       {"(increment) ", increment},
                       {"(criteria) ", increment + orders + "acceptance: "},
                       {"(tasks) ", "workload:\n  kind: custom\n  tasks:\n    "},
                       {"(good)", good}},
                      load_points);
}

TEST(DeckErrors, DecksThatAreGood) {
  for (const std::string& deck :
       {good, increment + "acceptance: [{metric: h2d_rate, reference: given}]\n"}) {
    EXPECT_EQ(complaint_about(deck), "");
  }
}

TEST(DeckErrors, WhatNoLineOfCasesHolds) {
  EXPECT_THAT(complaint_about(std::string(2000, '[')), testing::HasSubstr(":1:1: not YAML: "));
  std::string many = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    many += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_THAT(complaint_about(many), testing::HasSubstr("found aliases of too many values"));
  EXPECT_EQ(complaint(DeckFile(good).path(), {""}),
            "--set '': found no '='; allowed: key.path=VALUE, such as chunks.count=8");
}

TEST(DeckErrors, ACommaAfterTheDocumentEndsTheReading) {
  for (const char* const text : {"[],", ",", "a,\n---\n,", ",,"}) {
    EXPECT_NE(complaint_about(text), "") << text;
  }
}

TEST(DeckErrors, FilesThatAreNoDecks) {
  const DeckFile file(good);
  EXPECT_EQ(complaint(""),
            "'': no such deck; allowed: the name of a shipped deck, or the path of a deck file");
  EXPECT_EQ(
      complaint("rowsom"),
      "'rowsom': no such deck; did you mean 'rowsum'? allowed: the name of a shipped deck, or "
      "the path of a deck file");
  EXPECT_EQ(complaint(file.folder() + "/other.yaml"), file.folder() + "/other.yaml: no such deck");
  EXPECT_EQ(complaint(file.path() + "/x"), file.path() + "/x: no such deck");
  EXPECT_EQ(complaint(file.folder()), file.folder() + ": is a folder; allowed: a deck in YAML");
  std::filesystem::create_symlink("loop", file.folder() + "/loop");
  EXPECT_EQ(complaint(file.folder() + "/loop"),
            file.folder() + "/loop: cannot be read: Too many levels of symbolic links");
  EXPECT_EQ(complaint(DeckFile(std::string(std::size_t{17} << 20, '#'), "big.yaml").path())
                .substr(file.folder().size()),
            "/big.yaml: found more than 16 MiB; allowed: a deck in YAML");
}

TEST(DeckErrors, UnreadableFile) {
  // Permissions stop everybody but root; the first page of a process stops root, too.
  const std::string unreadable = "/proc/self/mem";
  if (!std::filesystem::exists(unreadable)) GTEST_SKIP() << "no " << unreadable << " here";
  EXPECT_EQ(complaint(unreadable), unreadable + ": cannot be read: Input/output error");
}

}  // namespace
}  // namespace overlap::deck
