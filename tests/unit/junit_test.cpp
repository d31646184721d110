#include <gtest/gtest.h>

#include <string>

#include "report/writers.hpp"
#include "results.hpp"

namespace overlap::report {
namespace {

using deck::Order;
using results::Verdict;

/// A soak keeps some of its samples.
results::Run soaked() {
  results::Run run = run_of(Order::by_engine, std::vector<double>(6, 0.5));
  run.repetitions = 12;
  return run;
}

results::Check check_of(Verdict verdict, std::string reason = "") {
  return {.key = {.order = Order::by_engine, .metric = deck::Metric::throughput},
          .value = {.median = 2, .lo = 1, .hi = 3},
          .at_least = true,
          .limit = 4,
          .verdict = verdict,
          .reason = std::move(reason)};
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Junit, IsASuitePerDeckWithATestForItsDataAndOnePerCheck) {
  results::Point part = point_of({soaked()}, {check_of(Verdict::fail)});
  part.findings = {{.order = Order::by_engine, .cause = "few_lanes", .text = "1 lane & 4 chunks"}};
  results::Result result = result_of(std::move(part));
  result.deck.sha256 = "abc";
  result.machine.host.name = "node7";
  result.machine.device = base::DeviceInfo{.name = "GPU <7", .uuid = "GPU-5ad8"};
  result.machine.build.backend = "Cuda";
  const std::string text = junit({result});
  EXPECT_EQ(
      text.substr(0, text.find("<system-out>")),
      "<?xml version=\"1.0\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"hand\" package=\"overlap\" id=\"0\" hostname=\"node7\" "
      "timestamp=\"2026-01-31T12:00:00\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" "
      "time=\"6.000000\">\n"
      "    <properties>\n"
      "      <property name=\"version\" value=\"1.2\" />\n"
      "      <property name=\"backend\" value=\"Cuda\" />\n"
      "      <property name=\"device\" value=\"GPU &lt;7\" />\n"
      "      <property name=\"deck\" value=\"hand.yaml\" />\n"
      "      <property name=\"sha256\" value=\"abc\" />\n"
      "    </properties>\n"
      "    <testcase classname=\"node7.GPU-5ad8\" name=\"hand/alone/-/data\" time=\"6.000000\" "
      "/>\n"
      "    <testcase classname=\"node7.GPU-5ad8\" name=\"hand/alone/by_engine/throughput\" "
      "time=\"0.000000\">\n"
      "      <failure type=\"FAIL\">throughput of by_engine: 2.000 (1.000 .. 3.000), limit &gt;= "
      "4.000\n"
      "1 lane &amp; 4 chunks</failure>\n"
      "    </testcase>\n"
      "    ");
  EXPECT_EQ(count(text, "OVERLAP_RESULT verdict=FAIL data=OK exit=5</system-out>"), 1);
}

TEST(Junit, SaysWhatBecameOfACheck) {
  const struct {
    Verdict verdict;
    const char* element;
    const char* counts;
  } rows[] = {
      {Verdict::pass, "", R"(failures="0" errors="0" skipped="0")"},
      {Verdict::fail, "<failure type=\"FAIL\">", R"(failures="1" errors="0" skipped="0")"},
      {Verdict::inconclusive, "<error type=\"INCONCLUSIVE\">",
       R"(failures="0" errors="1" skipped="0")"},
      {Verdict::skipped, "<skipped type=\"SKIPPED\">", R"(failures="0" errors="0" skipped="1")"},
  };
  for (const auto& row : rows) {
    const std::string text = junit({result_of(point_of({soaked()}, {check_of(row.verdict)}))});
    EXPECT_NE(text.find(row.counts), std::string::npos) << text;
    EXPECT_NE(text.find(row.element), std::string::npos) << text;
    EXPECT_EQ(count(text, "</testcase>"), row.verdict == Verdict::pass ? 0 : 1);
  }
}

TEST(Junit, FindingsOfADisturbedRunAreNotThoseOfItsOrder) {
  results::Point part = point_of({soaked()}, {check_of(Verdict::fail)});
  part.findings = {{.order = Order::by_engine,
                    .disturbance = deck::Disturbance::malloc,
                    .cause = "waits",
                    .text = "engines wait"}};
  EXPECT_EQ(count(junit({result_of(std::move(part))}), "engines wait"), 0);
}

TEST(Junit, SaysWhatCouldNotBeWritten) {
  results::Result result = result_of(point_of({soaked()}));
  results::fail(result, base::ExitCode::runtime_error, "a.json: cannot write: No space left");
  EXPECT_EQ(count(junit({result}), "<error type=\"ERROR\">a.json: cannot write"), 1);
}

TEST(Junit, SaysWhatBecameOfTheData) {
  const auto failed = [&](base::ExitCode code) {
    return experiment::failed_point(deck::DeckPoint(), base::Error(code, "no <GPU>"));
  };
  results::Point wrong = point_of({soaked()});
  wrong.runs.front().wrong = results::WrongData{};
  results::Point interrupted = point_of({soaked()});
  interrupted.outcome = results::Outcome{.interrupted = true};
  const std::pair<results::Point, const char*> rows[] = {
      {point_of({soaked()}), "/data\" time=\"6.000000\" />"},
      {wrong, "<failure type=\"FAIL\">by_engine left wrong data</failure>"},
      {failed(base::ExitCode::precondition), "<error type=\"ERROR\">no &lt;GPU&gt;</error>"},
      {failed(base::ExitCode::skipped), "<skipped type=\"SKIPPED\">no &lt;GPU&gt;</skipped>"},
      {interrupted, "<error type=\"INTERRUPTED\">interrupted</error>"},
      {point_of({run_of(Order::by_engine, {})}),
       "<skipped type=\"SKIPPED\">predicted, not run</skipped>"},
  };
  for (const auto& [part, element] : rows) {
    const std::string text = junit({result_of(part)});
    EXPECT_NE(text.find(element), std::string::npos) << element << text;
  }
}

TEST(Junit, NamesAreUnique) {
  const results::Result result =
      result_of(point_of({soaked()}, {check_of(Verdict::pass), check_of(Verdict::fail)}));
  const std::string text = junit({result, result});
  for (const char* name : {"/throughput\"", "/throughput#2\"", "/throughput#3\"", "/throughput#4\"",
                           "/data\"", "/data#2\""}) {
    EXPECT_EQ(count(text, name), 1) << name;
  }
}

TEST(Junit, HoldsTextThatIsNoXml) {
  results::Result result =
      result_of(point_of({soaked()}, {check_of(Verdict::inconclusive, "\x1b[1m<it>")}));
  result.deck.path = "a\x01\"\xff&.yaml";
  const std::string text = junit({result});
  EXPECT_EQ(count(text, "name=\"a\\x01&quot;\xef\xbf\xbd&amp;/alone/-/data\""), 1) << text;
  EXPECT_EQ(count(text, "inconclusive: \\x1b[1m&lt;it&gt;</error>"), 1) << text;
}

TEST(Junit, NamesThePointsOfASweep) {
  std::vector<deck::DeckPoint> points;
  for (const int count : {2, 4, 8}) {
    deck::DeckPoint& point = points.emplace_back();
    point.values = {{"chunks.count", std::to_string(count)}, {"memory.host", "pinned"}};
    point.deck.chunks.count = count;
  }
  results::Result result = result_of(points);
  result.deck.path = "hand.yaml";
  for (const std::size_t number : {0U, 2U}) {
    add_point(result, number,
              point_of({soaked()}, {check_of(number == 0 ? Verdict::pass : Verdict::fail),
                                    {.key = {.metric = deck::Metric::h2d_rate}}}));
  }
  const std::string text = junit({result});
  EXPECT_EQ(count(text, "\"hand[chunks.count=2,memory.host=pinned]/alone/by_engine/throughput\""),
            1);
  EXPECT_EQ(count(text, "\"hand[chunks.count=8,memory.host=pinned]/alone/-/h2d_rate\""), 1);
  // The point that nobody ran is no success.
  EXPECT_EQ(count(text,
                  "\"hand[chunks.count=4,memory.host=pinned]/alone/-/data\" time=\"0.000000\">\n"
                  "      <error type=\"ERROR\">not run</error>"),
            1);
  EXPECT_EQ(count(text, R"(tests="7" failures="1" errors="1")"), 1);
}

}  // namespace
}  // namespace overlap::report
