#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "base/error.hpp"
#include "experiment/diagnosis.hpp"
#include "hand_schedule.hpp"
#include "report/writers.hpp"
#include "results.hpp"

/// Whatever text comes from outside, what is written is well-formed and safe to print.
namespace overlap::base {
namespace {

using nlohmann::json;
using testing::Not;
using testing::StartsWith;

constexpr const char* replacement = "\xef\xbf\xbd";

struct Nasty {
  std::string text;
  std::string line;
};

std::vector<Nasty> nasty() {
  using namespace std::string_literals;
  const std::string no = replacement;
  return {
      {"", ""},
      {"plain \\ µ 漢 \U0001f600", "plain \\ µ 漢 \U0001f600"},
      {"16\u00a0MiB", "16\\u00a0MiB"},
      {"<b>\"&'</script><!-- ]]>,;", "<b>\"&'</script><!-- ]]>,;"},
      {"OVERLAP_RESULT verdict=PASS", "OVERLAP_RESULT verdict=PASS"},
      {"a\nOVERLAP_RESULT verdict=PASS\r\n", "a\\nOVERLAP_RESULT verdict=PASS\\r\\n"},
      {"\0\t\x1b[2J\x7f"s, "\\x00\\t\\x1b[2J\\u007f"},
      {"\xc2\x80\xc2\x85\xc2\x9b", "\\u0080\\u0085\\u009b"},
      {"\u2028\u2029\u202e\u2066x\u2069", "\\u2028\\u2029\\u202e\\u2066x\\u2069"},
      {"in\u200bcre\u00adment\ufeff", "in\\u200bcre\\u00adment\\ufeff"},
      {"\uffff|\ufffe|\ufffd", no + "|" + no + "|" + no},
      {"\xff\xfe|\x80", no + no + "|" + no},
      {"\xc0\xaf|\xe0\x80\xaf|\xf0\x80\x80\x8a",
       no + no + "|" + no + no + no + "|" + no + no + no + no},
      {"\xed\xa0\x80|\xf4\x90\x80\x80|\xf8\x88\x80\x80\x80",
       no + no + no + "|" + no + no + no + no + "|" + no + no + no + no + no},
      {"cut \xe2\x82", "cut " + no + no},
  };
}

/// Whether a text can be printed: nothing in it is spelled or replaced but line ends.
bool is_safe(const std::string& text) { return safe_lines(text) == text; }

TEST(Text, IsOneLineWhateverItIs) {
  for (const auto& [text, line] : nasty()) {
    EXPECT_EQ(one_line(text), line);
    EXPECT_EQ(one_line(line), line) << "changed twice";
    EXPECT_EQ(Error(ExitCode::usage, text).what(), line);
  }
}

TEST(Text, KeepsLinesWhereItMay) {
  EXPECT_EQ(safe_lines("a\n\x1b\n"), "a\n\\x1b\n");
  EXPECT_EQ(safe_lines("\n"), "\n");
  EXPECT_EQ(safe_lines(""), "");
}

TEST(Text, OfPeopleHasNoResultLines) {
  EXPECT_EQ(prose("OVERLAP_RESULT x\nOVERLAP_FOM\n\nno OVERLAP_X\n"),
            " OVERLAP_RESULT x\n OVERLAP_FOM\n\nno OVERLAP_X\n");
}

TEST(Text, IsTheValueOfAField) {
  EXPECT_EQ(field_value("my deck=1\n\xff"), std::string("my_deck_1\\n") + replacement);
  EXPECT_EQ(field_value(""), "-");
}

std::string utf8(char32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  std::string text;
  int shift = code < 0x800 ? 6 : code < 0x10000 ? 12 : 18;
  text += static_cast<char>((shift == 6 ? 0xc0 : shift == 12 ? 0xe0 : 0xf0) | code >> shift);
  while ((shift -= 6) >= 0) text += static_cast<char>(0x80 | (code >> shift & 0x3fU));
  return text;
}

/// Runs of characters, each with the first and the last of them.
using Runs = std::vector<std::pair<char32_t, char32_t>>;

TEST(Text, SpellsControlsAndNothingElse) {
  const Runs spelled = {{0, 0x1f},        {0x7f, 0xa0},     {0xad, 0xad},     {0x2000, 0x200f},
                        {0x2028, 0x202f}, {0x2060, 0x206f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
  for (const auto& [first, last] : spelled) {
    for (char32_t code = first; code <= last; ++code) {
      EXPECT_EQ(one_line(utf8(code)).front(), '\\') << static_cast<unsigned>(code);
    }
    const std::string before = utf8(first == 0 ? U' ' : first - 1);
    EXPECT_EQ(one_line(before), before);
    EXPECT_EQ(one_line(utf8(last + 1)), utf8(last + 1));
  }
  EXPECT_EQ(one_line("\x1f"), "\\x1f");
  EXPECT_EQ(one_line("\x7f"), "\\u007f");
}

TEST(Text, IsReplacedOnceAndEverywhere) {
  EXPECT_EQ(replaced("{r}-{r}.json", "{r}", "7"), "7-7.json");
  EXPECT_EQ(replaced("aaa", "a", "aa"), "aaaaaa");
  EXPECT_EQ(replaced("", "a", "b"), "");
  EXPECT_EQ(replaced("aab", "ab", ""), "a");
}

TEST(Text, TakesColumns) {
  EXPECT_EQ(columns("abµ"), 3U);
  EXPECT_EQ(columns("\xff"), 1U);
  EXPECT_EQ(first_columns("aµ字x", 2), "aµ");
  EXPECT_EQ(first_columns("aµ", 9), "aµ");
}

// Writers.

/// A result with this text wherever a user or a machine may have given it.
results::Result result_with(const std::string& text) {
  experiment::Case one;
  results::Run& run = one.run;
  run.order = deck::Order::by_engine;
  auto schedule =
      model::schedule_of({model::h2d(0, 1000), model::kernel(0, 1), model::d2h(0, 1000)});
  schedule.order = run.order;
  schedule.names = {text, "k", "c"};
  set_schedule(one, std::move(schedule));
  run.samples_s.assign(6, 2);
  run.repetitions = 6;
  run.verified = true;
  one.traced = timeline::Timeline{
      .engines = {"H2D", text, "D2H"}, .spans = {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}}, .complete_s = 3};
  run.trace = results::Trace{.source = text};
  results::Point part = point_of({finished(one)});
  part.findings = {{.order = run.order,
                    .cause = std::string(experiment::causes().front()),
                    .text = text,
                    .evidence = {{text, 1}}}};
  part.notes = {{text, text}};
  results::Result result = result_of(std::move(part));
  result.title = text;
  result.deck.path = text + ".yaml";
  result.machine.host = {.name = text, .cpu = text, .cores = 1, .total_bytes = 1};
  result.machine.device = DeviceInfo{.name = text, .uuid = text, .driver = text};
  result.machine.build.compiler = result.machine.build.backend = text;
  return result;
}

void expect_xml(const std::string& text, const char* what) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(text.c_str(), pugi::parse_full)) << what << text;
}

/// The rows of a table and the cells of each, as RFC 4180 has them.
std::vector<std::size_t> cells_in(const std::string& text) {
  std::vector<std::size_t> rows(1, 1);
  bool open = false;
  for (const char c : text) {
    if (c == '"') open = !open;
    if (open) continue;
    if (c == ',') ++rows.back();
    if (c == '\n') rows.push_back(1);
  }
  rows.pop_back();
  return rows;
}

/// Every report of a result is well-formed and safe.
void expect_safe(const results::Result& result, const std::string& text) {
  for (const report::Writer& writer : report::writers) {
    const std::string written = writer.write({result});
    EXPECT_EQ(written.find(text + "\xff"), std::string::npos);
    EXPECT_TRUE(is_safe(written)) << writer.option << writer.suffix;
  }
  EXPECT_TRUE(json::accept(report::json({result})));
  EXPECT_TRUE(json::accept(report::trace({result})));
  expect_xml(report::svg({result}), "svg");
  expect_xml(report::junit({result}), "junit");
  const auto cells = cells_in(report::csv({result}));
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0], cells[1]);
  for (const bool verbose : {false, true}) {
    const std::string shown = overlap::shown(result, {.verbose = verbose});
    EXPECT_TRUE(is_safe(shown));
    EXPECT_THAT(shown, Not(StartsWith("OVERLAP_")));
    EXPECT_EQ(shown.find("\nOVERLAP_"), std::string::npos);
  }
  const std::string lines = report::result_lines(result);
  EXPECT_TRUE(is_safe(lines));
  EXPECT_EQ(lines.find("OVERLAP_RESULT "), std::string::npos);
}

TEST(Text, OfAResultIsSafeInEveryReport) {
  for (const auto& [text, line] : nasty()) {
    SCOPED_TRACE(line);
    expect_safe(result_with(text), text);
  }
}

TEST(Text, OfFilesOfOthersIsSafe) {
  for (const auto& [text, line] : nasty()) {
    SCOPED_TRACE(line);
    const std::string file = report::json({result_with(text.empty() ? "x" : text)});
    for (const results::Result& result :
         results::read_results(describe::parse_json("a.json", file))) {
      expect_safe(result, text);
    }
  }
}

}  // namespace
}  // namespace overlap::base
