#include <algorithm>
#include <string>

#include "base/version.hpp"
#include "report/json.hpp"
#include "report/writers.hpp"
#include "studies.hpp"

namespace overlap::report {
namespace {

using experiment::Verdict;

experiment::Run run_of(deck::Order order) {
  experiment::Run run;
  run.order = run.schedule.order = order;
  run.samples_s.assign(6, 0.5);
  run.repetitions = 12;  // a soak keeps some of the samples
  return run;
}

experiment::Check check_of(Verdict verdict) {
  return {.metric = deck::Metric::throughput,
          .order = deck::Order::by_engine,
          .value = {.median = 2, .lo = 1, .hi = 3},
          .at_least = true,
          .limit = 4,
          .verdict = verdict};
}

std::string written(experiment::Outcome outcome) { return junit({study_of(std::move(outcome))}); }

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Junit, IsASuitePerDeckWithATestForItsDataAndOnePerCheck) {
  experiment::Outcome outcome = outcome_of({run_of(deck::Order::by_engine)});
  outcome.deck.sha256 = "abc";
  outcome.checks = {check_of(Verdict::fail)};
  outcome.runs.front().findings = {{"few_lanes", "1 lane & 4 chunks", {}}};
  Study study = study_of(std::move(outcome));
  study.machine.host = {.name = "node7"};
  study.machine.device = base::DeviceInfo{.name = "GPU <7", .uuid = "GPU-5ad8"};
  study.machine.build.backend = "Cuda";
  const std::string text = junit({study});
  const auto lines = text.find("<system-out>");
  const std::string version = base::version().version;
  EXPECT_EQ(
      text.substr(0, lines),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"hand\" package=\"overlap\" id=\"0\" hostname=\"node7\" "
      "timestamp=\"2026-01-31T12:00:00\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" "
      "time=\"6.000000\">\n"
      "    <properties>\n"
      "      <property name=\"version\" value=\"" +
          version +
          "\" />\n"
          "      <property name=\"backend\" value=\"Cuda\" />\n"
          "      <property name=\"device\" value=\"GPU &lt;7\" />\n"
          "      <property name=\"deck\" value=\"hand.yaml\" />\n"
          "      <property name=\"sha256\" value=\"abc\" />\n"
          "    </properties>\n"
          "    <testcase classname=\"node7.GPU-5ad8\" name=\"hand/alone/-/data\" time=\"6.000000\" "
          "/>\n"
          "    <testcase classname=\"node7.GPU-5ad8\" name=\"hand/alone/by_engine/throughput\" "
          "time=\"0.000000\">\n"
          "      <failure type=\"FAIL\">throughput of by_engine: 2.000 (1.000 .. 3.000), limit "
          "&gt;= "
          "4.000\n"
          "1 lane &amp; 4 chunks</failure>\n"
          "    </testcase>\n"
          "    ");
  EXPECT_NE(text.find("OVERLAP_RESULT verdict=FAIL data=OK exit=5</system-out>"),
            std::string::npos);
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
  };
  for (const auto& row : rows) {
    experiment::Outcome outcome = outcome_of({run_of(deck::Order::by_engine)});
    outcome.checks = {check_of(row.verdict)};
    const std::string text = written(std::move(outcome));
    EXPECT_NE(text.find(row.counts), std::string::npos) << text;
    EXPECT_NE(text.find(row.element), std::string::npos) << text;
    EXPECT_EQ(count(text, "</testcase>"), row.verdict == Verdict::pass ? 0 : 1);
  }
}

TEST(Junit, FindingsOfADisturbedRunAreNotThoseOfItsOrder) {
  experiment::Outcome outcome =
      outcome_of({run_of(deck::Order::by_engine), run_of(deck::Order::by_engine)});
  outcome.runs[1].disturbance = deck::Disturbance::malloc;
  outcome.runs[1].findings = {{"waits", "engines wait", {}}};
  outcome.checks = {check_of(Verdict::fail)};
  EXPECT_EQ(count(written(std::move(outcome)), "engines wait"), 0);
}

TEST(Junit, SaysWhatCouldNotBeWritten) {
  Study study = study_of(outcome_of({run_of(deck::Order::by_engine)}));
  study.unwritten =
      base::Error(base::ExitCode::runtime_error, "a.json: cannot write: No space left on device");
  const std::string text = junit({study});
  EXPECT_EQ(count(text, "<error type=\"ERROR\">a.json: cannot write"), 1) << text;
}

TEST(Junit, SaysWhatBecameOfTheData) {
  const deck::Point point{.values = {}, .deck = outcome_of({}).deck};
  const auto failed = [&](base::ExitCode code) {
    return experiment::failed(point, base::Error(code, "no <GPU>"));
  };
  experiment::Outcome wrong = outcome_of({run_of(deck::Order::by_engine)});
  wrong.runs.front().wrong = experiment::WrongData{};
  experiment::Outcome interrupted = outcome_of({run_of(deck::Order::by_engine)});
  interrupted.interrupted = true;
  experiment::Run unmeasured;
  const struct {
    experiment::Outcome outcome;
    const char* element;
  } rows[] = {
      {outcome_of({run_of(deck::Order::by_engine)}), "/data\" time=\"6.000000\" />"},
      {wrong, "<failure type=\"FAIL\">by_engine left wrong data</failure>"},
      {failed(base::ExitCode::precondition), "<error type=\"ERROR\">no &lt;GPU&gt;</error>"},
      {failed(base::ExitCode::skipped), "<skipped type=\"SKIPPED\">no &lt;GPU&gt;</skipped>"},
      {interrupted, "<error type=\"INTERRUPTED\">interrupted</error>"},
      {outcome_of({unmeasured}), "<skipped type=\"SKIPPED\">predicted, not run</skipped>"},
  };
  for (const auto& row : rows) {
    EXPECT_NE(written(row.outcome).find(row.element), std::string::npos) << row.element;
  }
}

TEST(Junit, NamesAreUnique) {
  experiment::Outcome outcome = outcome_of({run_of(deck::Order::by_engine)});
  outcome.checks = {check_of(Verdict::pass), check_of(Verdict::fail)};
  const Study study = study_of(std::move(outcome));
  const std::string text = junit({study, study});
  for (const char* name : {"/throughput\"", "/throughput#2\"", "/throughput#3\"", "/throughput#4\"",
                           "/data\"", "/data#2\""}) {
    EXPECT_EQ(count(text, name), 1) << name;
  }
}

TEST(Junit, HoldsTextThatIsNoXml) {
  experiment::Outcome outcome = outcome_of({run_of(deck::Order::by_engine)});
  outcome.deck.path = "a\x01\"\xff&.yaml";
  outcome.checks = {check_of(Verdict::inconclusive)};
  outcome.checks.front().reason = "\x1b[1m<it>";
  const std::string text = written(std::move(outcome));
  EXPECT_NE(text.find("name=\"a\\x01&quot;\xef\xbf\xbd&amp;/alone/-/data\""), std::string::npos)
      << text;
  EXPECT_NE(text.find("inconclusive: \\x1b[1m&lt;it&gt;</error>"), std::string::npos) << text;
}

/// Two points of a sweep of three.
Study swept() {
  deck::Point point{.values = {{"chunks.count", "2"}, {"memory.host", "pinned"}},
                    .deck = outcome_of({}).deck};
  std::vector<deck::Point> points(3, point);
  points[1].values.front().text = "4";
  points[2].values.front().text = "8";
  Study study = new_study({}, points);
  for (const std::size_t number : {0U, 2U}) {
    experiment::Outcome outcome = outcome_of({run_of(deck::Order::by_engine)});
    outcome.values = points[number].values;
    outcome.checks = {check_of(number == 0 ? Verdict::pass : Verdict::fail)};
    outcome.checks.push_back({.metric = deck::Metric::h2d_rate});
    add(study, number, std::move(outcome));
  }
  return study;
}

TEST(Junit, NamesThePointsOfASweep) {
  const std::string text = junit({swept()});
  EXPECT_NE(text.find("\"hand[chunks.count=2,memory.host=pinned]/alone/by_engine/throughput\""),
            std::string::npos);
  EXPECT_NE(text.find("\"hand[chunks.count=8,memory.host=pinned]/alone/-/h2d_rate\""),
            std::string::npos);
  // The point that nobody ran is no success.
  EXPECT_NE(
      text.find("\"hand[chunks.count=4,memory.host=pinned]/alone/-/data\" time=\"0.000000\">\n"
                "      <error type=\"ERROR\">not run</error>"),
      std::string::npos);
  EXPECT_NE(text.find(R"(tests="7" failures="1" errors="1")"), std::string::npos);
}

TEST(Junit, IsTheSameOfAPointFromTheJournal) {
  Study study = swept();
  const std::string text = junit({study});
  for (PointResult& point : study.done) point = read_record(point.record);
  EXPECT_EQ(junit({study}), text);
}

}  // namespace
}  // namespace overlap::report
