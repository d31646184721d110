#include "report/sweep.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/sha256.hpp"
#include "deck/deck.hpp"
#include "deck/fields.hpp"
#include "deck_file.hpp"
#include "experiment/run.hpp"
#include "generated.hpp"
#include "report/console.hpp"
#include "report/journal.hpp"
#include "report/json.hpp"
#include "report/lines.hpp"
#include "report/page.hpp"
#include "report/writers.hpp"
#include "schedule/build.hpp"
#include "studies.hpp"

/// Sweeps: the points of a deck, what came out of them, and their journal.
namespace overlap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<deck::Point> points_of(const std::string& sweep,
                                   const std::vector<std::string>& overrides = {}) {
  const DeckFile file("workload: {kind: increment, elements: 4096}\n" + sweep);
  return deck::load_points(file.path(), overrides);
}

std::vector<std::string> names(const std::vector<deck::Point>& points) {
  std::vector<std::string> names;
  for (const deck::Point& point : points) names.push_back(report::point_words(point.values));
  return names;
}

TEST(SweepFiles, AllButTraces) {
  const std::string options = report::sweep_options();
  for (const char* const option : {"--csv", "--json", "--junit", "--timeline"}) {
    EXPECT_THAT(options, testing::HasSubstr(option));
  }
  EXPECT_THAT(options, testing::Not(testing::HasSubstr("--trace")));
}

TEST(Sweep, IsTheProductWithTheLastKeyFastest) {
  const auto points =
      points_of("sweep: {chunks.count: [1, 2, 4], memory.host: [pinned, pageable]}\n");
  EXPECT_THAT(
      names(points),
      ElementsAre("chunks.count 1, memory.host pinned", "chunks.count 1, memory.host pageable",
                  "chunks.count 2, memory.host pinned", "chunks.count 2, memory.host pageable",
                  "chunks.count 4, memory.host pinned", "chunks.count 4, memory.host pageable"));
  EXPECT_EQ(points[3].deck.chunks.count, 2);
  EXPECT_EQ(points[3].deck.memory.host, deck::HostMemory::pageable);
  EXPECT_EQ(points[4].deck.chunks.count, 4);
  EXPECT_EQ(points[4].deck.memory.host, deck::HostMemory::pinned);
}

TEST(Sweep, OfNothingIsOnePoint) {
  for (const char* const sweep : {"", "sweep: {}\n"}) {
    const auto points = points_of(sweep);
    ASSERT_EQ(points.size(), 1u);
    EXPECT_TRUE(points[0].values.empty());
  }
}

TEST(Sweep, TakesThePlaceOfTheKeyItself) {
  const auto points = points_of(
      "chunks: {count: 7, profile: uniform}\nsweep:\n  chunks.count: [1, 2]\n  issue.lanes: [3]\n");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].deck.chunks.count, 2);
  EXPECT_EQ(points[1].deck.issue.lanes, 3);
}

TEST(Sweep, OptionsPinAndChangeIt) {
  const std::string sweep = "sweep: {chunks.count: [1, 2], issue.lanes: [1, 2]}\n";
  EXPECT_THAT(names(points_of(sweep, {"chunks.count=8"})),
              ElementsAre("issue.lanes 1", "issue.lanes 2"));
  EXPECT_EQ(points_of(sweep, {"chunks.count=8"})[0].deck.chunks.count, 8);
  EXPECT_THAT(names(points_of(sweep, {"chunks={count: 8}"})),
              ElementsAre("issue.lanes 1", "issue.lanes 2"));
  const auto bytes = points_of(sweep, {"sweep={issue.lanes: [1, 2]}", "chunks={bytes: 4096}"});
  EXPECT_EQ(bytes.at(1).deck.chunks.bytes, 4096);
  EXPECT_THAT(names(points_of("host_work: {per_chunk: 1 us}\n"
                              "sweep: {host_work.per_chunk: [1 us, 2 us]}\n",
                              {"host_work=none"})),
              ElementsAre(""));
  EXPECT_THAT(names(points_of(sweep, {"sweep.chunks.count=[3]", "issue.lanes=2"})),
              ElementsAre("chunks.count 3"));
  EXPECT_THAT(
      names(points_of(sweep, {"chunks.count=8", "sweep.chunks.count=[3]", "issue.lanes=2"})),
      ElementsAre("chunks.count 3"));
  EXPECT_THAT(names(points_of(sweep, {"sweep={}"})), ElementsAre(""));
  EXPECT_THAT(names(points_of("", {"sweep.issue.lanes=[2, 3]"})),
              ElementsAre("issue.lanes 2", "issue.lanes 3"));
}

/// Processor time that it takes to refuse a bad deck of a sweep, seconds.
double refused_in(const std::string& sweep, const std::string& message) {
  const std::clock_t start = std::clock();
  try {
    points_of(sweep);
    ADD_FAILURE() << "taken";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Sweep, HugeOnesAreRefusedAtOnce) {
  std::string values = "sweep: {chunks.count: [1";
  for (int i = 2; i < 12000; ++i) values += ", " + std::to_string(i);
  EXPECT_LT(refused_in(values + "]}\n", "found 11999 points or more; allowed: at most 10000"), 5);
  std::string keys = "sweep:\n";
  for (int i = 0; i < 500; ++i) keys += "  k" + std::to_string(i) + ": [1]\n";
  EXPECT_LT(refused_in(keys, "sweep: found 500 keys; allowed: at most 100"), 5);
  EXPECT_LT(refused_in("memory: {host: " + std::string(std::size_t{1} << 20, 'x') + "}\n",
                       "memory.host: found 'xxx"),
            5);
}

struct Bad {
  std::string sweep;
  std::vector<std::string> overrides;
  std::string message;  ///< '@' stands for the path of the deck
};

TEST(Sweep, ErrorsNameTheValueInTheList) {
  std::string many = "sweep: {chunks.count: [1";
  for (int i = 2; i <= 101; ++i) many += ", " + std::to_string(i);
  many += "], issue.lanes: [1";
  for (int i = 2; i <= 100; ++i) many += ", " + std::to_string(i);
  many += "]}\n";
  const std::vector<Bad> table = {
      {"sweep: {chunks.count: [1, x]}\n",
       {},
       "@:2:27: chunks.count: found 'x'; allowed: a whole number from 1 to 1048576"},
      {"sweep: {memory.host: [pinned, pagable]}\n",
       {},
       "@:2:31: memory.host: found 'pagable'; allowed: pinned, pageable, registered, "
       "pageable_staged; did you mean "
       "'pageable'?"},
      {"sweep: {chunks.cuont: [1]}\n",
       {},
       "@:2:24: chunks.cuont: unknown key; allowed: profile, count, bytes, growth, spread; did you "
       "mean 'count'?"},
      {"sweep: {chunk.count: [1]}\n",
       {},
       "@:2:23: chunk: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep; did you mean 'chunks'?"},
      {"chunks: {count: 4}\nsweep: {chunks.bytes: [1 KiB]}\n",
       {},
       "@:3:24: chunks.bytes: found with chunks.count (@:2:17); the two are mutually exclusive"},
      {"sweep: {workload.kind.x: [a]}\n",
       {},
       "@:2:27: workload.kind: found 'increment'; allowed: a map, which can hold the key 'x'"},
      {"sweep: {title: [a]}\n",
       {},
       "@:2:9: sweep.title: found 'title'; allowed: keys that change what runs, such as "
       "chunks.count"},
      {"sweep: {sweep.chunks.count: [1]}\n",
       {},
       "@:2:9: sweep.sweep.chunks.count: found 'sweep'; allowed: keys that change what runs, such "
       "as chunks.count"},
      {"sweep: {acceptance: [1]}\n",
       {},
       "@:2:9: sweep.acceptance: found a list or a part of one; allowed: keys that have a "
       "single value"},
      {"sweep: {'issue.orders[0]': [auto]}\n",
       {},
       "@:2:9: sweep.issue.orders[0]: found a list or a part of one; allowed: keys that have "
       "a single value"},
      {"sweep: {fleet.phases: [alone]}\n",
       {},
       "@:2:9: sweep.fleet.phases: found a list or a part of one; allowed: keys that have a "
       "single value"},
      {"sweep: {issue.orders: [[auto], [sequential]]}\n",
       {},
       "@:2:9: sweep.issue.orders: found a list or a part of one; allowed: keys that have a "
       "single value"},
      {"sweep: {chunks..count: [1]}\n",
       {},
       "@:2:9: sweep.chunks..count: found an empty part in the key; allowed: a dotted key, such as "
       "chunks.count"},
      {"sweep: {chunks.count: 4}\n",
       {},
       "@:2:23: sweep.chunks.count: found '4'; allowed: a list of at least one value, such as [1, "
       "2, 4]"},
      {"sweep: {chunks.count: []}\n",
       {},
       "@:2:23: sweep.chunks.count: found an empty list; allowed: a list of at least one value, "
       "such as [1, 2, 4]"},
      {"sweep: {chunks.count: [1, [2]]}\n",
       {},
       "@:2:27: sweep.chunks.count[1]: found a list; allowed: a single value; lists "
       "cannot be swept"},
      {"sweep: {chunks.count: [1, ~]}\n",
       {},
       "@:2:23: sweep.chunks.count[1]: found nothing; allowed: a single value; lists "
       "cannot be swept"},
      {"sweep: {chunks.bytes: [1 KiB, 2 KiB, 1024]}\n",
       {},
       "@:2:38: sweep.chunks.bytes[2]: found '1024' again, first at @:2:24; allowed: each value "
       "once"},
      {"sweep: {measure.budget: [1 min, 60 s]}\nmeasure: {precision: 1 %}\n",
       {},
       "@:2:33: sweep.measure.budget[1]: found '60 s' again, first at @:2:26; allowed: each value "
       "once"},
      {"sweep: {chunks.growth: [1.5, 1.50]}\nchunks: {count: 8, profile: ramp}\n",
       {},
       "@:2:30: sweep.chunks.growth[1]: found '1.50' again, first at @:2:25; allowed: each value "
       "once"},
      {"sweep: {chunks.count: [4, 4]}\n",
       {},
       "@:2:27: sweep.chunks.count[1]: found '4' again, first at @:2:24; allowed: each value once"},
      {"sweep: {issue.lanes: [1, 2], host_work.per_chunk: [0.0001, 1 ms, 100 us], chunks.count: "
       "[1, 2]}\n",
       {},
       "@:2:66: sweep.host_work.per_chunk[2]: found '100 us' again, first at @:2:52; allowed: each "
       "value once"},
      {"sweep: {chunks.count: [1], chunks.count: [2]}\n",
       {},
       "@:2:28: sweep.chunks.count: found twice, first at @:2:9; allowed: once"},
      {"sweep: [1]\n",
       {},
       "@:2:8: sweep: found a list; allowed: a map of dotted keys to lists, such as {chunks.count: "
       "[1, 2, 4]}"},
      {many, {}, "@:2:8: sweep: found 10100 points or more; allowed: at most 10000"},
      {"",
       {"sweep.chunks.count=[1, 0]"},
       "--set sweep.chunks.count=[1, 0]: chunks.count: found '0'; allowed: a whole number from 1 "
       "to 1048576"},
      {"sweep: {chunks.count: [1, 0]}\n",
       {"chunks={profile: ramp}"},
       "--set chunks={profile: ramp}: chunks: found no count, which is swept (@:2:9); allowed: "
       "with "
       "count, or after --set 'sweep={}'"},
      {"sweep: {chunks.count: [1, 0]}\n",
       {"chunks="},
       "--set chunks=: chunks: found no count, which is swept (@:2:9); allowed: with count, or "
       "after --set 'sweep={}'"},
      {"sweep: {chunks.count: [1, 0]}\n", {"sweep={}", "chunks={}"}, ""},
      {"sweep: {chunks.count: [1, 2]}\n",
       {"chunks.bytes=64 KiB"},
       "--set chunks.bytes=64 KiB: chunks.bytes: found with chunks.count (@:2:24); the two are "
       "mutually exclusive; replace both at once, as in --set 'sweep={}' --set 'chunks={bytes: 16 "
       "MiB}'"},
  };
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.sweep);
    const DeckFile file("workload: {kind: increment}\n" + bad.sweep);
    std::string expected = bad.message;
    for (auto at = expected.find('@'); at != std::string::npos;
         at = expected.find('@', at + file.path().size())) {
      expected.replace(at, 1, file.path());
    }
    std::string found;
    try {
      deck::load_points(file.path(), bad.overrides);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::usage);
      found = error.what();
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace

namespace report {
namespace {

/// A point's result: sequential takes 10 ms, depth_first what is given; a bound of 4 ms.
experiment::Outcome result_of(const deck::Point& point, double milliseconds) {
  experiment::Outcome result;
  result.deck = point.deck;
  result.values = point.values;
  const auto costs = schedule::costs(point.deck.workload, 1);
  const auto layout = schedule::layout(point.deck, costs, std::nullopt);
  for (const auto& [order, seconds] : {std::pair(deck::Order::sequential, 10e-3),
                                       std::pair(deck::Order::depth_first, 1e-3 * milliseconds)}) {
    result.runs.push_back(
        {{.order = order,
          .schedule = schedule::build(costs, layout, order, point.deck.issue.lanes)}});
    experiment::Run& run = result.runs.back();
    run.samples_s = {seconds, 2 * seconds, seconds / 2};
    run.verified = true;
    run.bounds =
        model::Bounds{.serial_s = 1, .bound_s = 4e-3, .schedule_bound_s = 5e-3, .limit = "H2D"};
  }
  return result;
}

/// A sweep with a time of depth_first for each point; negative: that point is not done.
Study sweep_of(const std::string& text, const std::vector<double>& milliseconds) {
  const std::vector<deck::Point> points = points_of(text);
  Study sweep = new_study({}, points);
  for (std::size_t i = 0; i < milliseconds.size(); ++i) {
    if (milliseconds[i] < 0) continue;
    add(sweep, i, result_of(points[i], milliseconds[i]));
  }
  return sweep;
}

/// A sweep of `chunks.count`, of these values, and of other keys: one order, without a bound, whose
/// times have no interval.
Study single(const std::vector<double>& values, const std::vector<double>& milliseconds,
             const std::string& others = "") {
  std::string list = "1";
  for (std::size_t i = 2; i <= values.size(); ++i) list += ", " + std::to_string(i);
  Study sweep = sweep_of("sweep: {chunks.count: [" + list + "]" + others + "}\n", milliseconds);
  for (std::size_t i = 0; i < values.size(); ++i) sweep.axes[0].values[i].number = values[i];
  for (PointResult& point : sweep.done) {
    point.rows.erase(point.rows.begin());
    Row& row = point.rows.front();
    row.time->lo = row.time->hi = row.time->median;
    row.bound_s.reset();
  }
  return sweep;
}

/// A number of a picture: what follows `key`, behind `what`.
double number_in(const std::string& picture, const std::string& what, const std::string& key) {
  const auto at = picture.find(what);
  EXPECT_NE(at, picture.npos) << what;
  return std::stod(picture.substr(picture.find(key, at) + key.size()));
}

const char* const counts = "sweep: {chunks.count: [1, 2, 4, 8, 16, 32]}\n";

TEST(SweepRecord, KeepsWhatIsShown) {
  const deck::Point point = points_of("sweep: {chunks.bytes: [4 KiB]}\n").front();
  experiment::Outcome result = result_of(point, 5);
  result.runs.push_back(result.runs[1]);
  result.runs[2].host_work = true;
  result.runs[1].wrong = experiment::WrongData{};
  result.checks.push_back({.metric = deck::Metric::time,
                           .order = deck::Order::sequential,
                           .verdict = experiment::Verdict::inconclusive});
  const PointResult found = read_record(record(result, point, 3));
  EXPECT_EQ(found.number, 3u);
  EXPECT_EQ(found.code, base::ExitCode::wrong_data);
  EXPECT_EQ(found.lines, point_lines(result));
  EXPECT_THAT(found.lines, HasSubstr(" n=3 point=chunks.bytes:4096\n"));
  EXPECT_EQ(found.record.find('\n'), std::string::npos);
  ASSERT_EQ(found.rows.size(), 3u);
  EXPECT_TRUE(found.rows[2].host_work);
  const Row& row = found.rows[1];
  EXPECT_EQ(row.order, "depth_first");
  EXPECT_FALSE(row.host_work);
  EXPECT_EQ(row.bytes, 2 * 4096 * 4);
  EXPECT_EQ(row.chunks, 4);
  EXPECT_EQ(row.tasks, 12);
  EXPECT_EQ(row.lanes, 4);
  EXPECT_EQ(row.time->n, 3);
  EXPECT_EQ(row.time->median, 5e-3);
  EXPECT_EQ(row.time->hi, 10e-3);
  EXPECT_EQ(row.median(deck::Metric::time), 5e-3);
  EXPECT_EQ(row.median(deck::Metric::speedup), 2);
  EXPECT_EQ(row.bound_s, 4e-3);
  EXPECT_EQ(row.schedule_bound_s, 5e-3);
  EXPECT_EQ(row.verdict, "WRONG DATA");
  EXPECT_FALSE(row.verified);
  EXPECT_FALSE(row.predicted_s);
  EXPECT_EQ(found.rows[0].verdict, "INCONCLUSIVE");
  ASSERT_EQ(found.checks.size(), 1u);
  EXPECT_EQ(found.checks[0].metric, "time");
  EXPECT_EQ(found.checks[0].order, "sequential");
  EXPECT_EQ(found.checks[0].verdict, experiment::Verdict::inconclusive);
  EXPECT_THROW(read_record("{}"), base::Error);
  const std::string runs = "\"runs\":[";
  std::string none = found.record;
  none.erase(none.find(runs) + runs.size(),
             none.find("],\"findings\"") - none.find(runs) - runs.size());
  EXPECT_THROW(read_record(none), base::Error);
  std::string odd = found.record;
  odd.replace(odd.find("\"exit_code\":2"), 13, "\"exit_code\":1e30");
  EXPECT_THROW(read_record(odd), base::Error);
  EXPECT_THROW(read_record(found.record.substr(1)), base::Error);
}

TEST(SweepRecord, FingerprintsTellDecksApart) {
  const auto points = points_of("sweep: {chunks.count: [1, 2], measure.repetitions: [5, 6]}\n");
  std::set<std::string> seen;
  for (const auto& point : points) seen.insert(fingerprint(point));
  EXPECT_EQ(seen.size(), 4u);
  const deck::Point whole = points_of("").front();
  EXPECT_EQ(fingerprint(whole),
            base::sha256("deck\n" + json_text(deck::resolved(whole.deck), -1)).substr(0, 16));
}

TEST(SweepBest, IsTheLeastTime) {
  const Study sweep = sweep_of(counts, {9, 7, 5, 6, 8, 9.5});
  const auto found = best(sweep);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->point->number, 2u);
  EXPECT_EQ(found->row->order, "depth_first");
  EXPECT_EQ(best(sweep_of(counts, {11, 12}))->row->order, "sequential");
  EXPECT_FALSE(best(sweep_of(counts, {})));
}

TEST(SweepBest, IsTheMostBytesInASecondWhereTheyDiffer) {
  const Study sweep = sweep_of("sweep: {workload.elements: [1024, 4096]}\n", {4, 8});
  EXPECT_FALSE(Yardstick(sweep).by_time());
  EXPECT_EQ(best(sweep)->point->number, 1u);
  EXPECT_FALSE(Yardstick(sweep).of({.bytes = 0}, 1));
  EXPECT_THAT(sweep_words(sweep).front(),
              HasSubstr(" GB/s, depth_first at workload.elements 4096"));
}

TEST(SweepBest, OfOneProductIsTheLeastTimeHoweverManyBytesItCopies) {
  Study sweep = sweep_of("sweep: {workload.elements: [1024, 4096]}\n", {4, 8});
  for (deck::Point& point : sweep.points) point.deck.workload.kind = deck::WorkloadKind::dgemm;
  EXPECT_EQ(best(sweep)->point->number, 0u);
  sweep.points[1].deck.workload.n /= 2;
  EXPECT_EQ(best(sweep)->point->number, 1u);
}

TEST(SweepBest, IsTheFirstOfEquals) {
  EXPECT_EQ(best(sweep_of(counts, {9, 5, 5}))->point->number, 1u);
  const Study bytes = sweep_of("sweep: {workload.elements: [1024, 4096]}\n", {2, 8});
  EXPECT_EQ(best(bytes)->point->number, 0u);
}

TEST(SweepKnee, IsTheSmallestValueNearTheBest) {
  const auto found = knee(sweep_of(counts, {9, 7, 5.2, 5, 5.25, 6}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 2u);
  EXPECT_EQ(found->last, 4u);  // 5.25 is 5 % above 5
  EXPECT_FALSE(found->least);
  EXPECT_EQ(knee(sweep_of(counts, {9, 7, 5.26, 5, 5.2, 6}))->value, 3u);
}

TEST(SweepKnee, TakesTheBestOfTheOtherKeysAndSortsValues) {
  const Study sweep =
      sweep_of("sweep: {chunks.count: [8, 2, 4], issue.lanes: [1, 2]}\n", {9, 5, 9, 9, 5.1, 9});
  const auto found = knee(sweep);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 2u);  // of 4
  EXPECT_EQ(found->last, 0u);   // of 8
  EXPECT_EQ(found->at.point->number, 4u);
}

TEST(SweepKnee, NeedsNumbers) {
  EXPECT_FALSE(knee(sweep_of("sweep: {memory.host: [pinned, pageable]}\n", {5, 6})));
  EXPECT_FALSE(knee(sweep_of("sweep: {chunks.count: [4]}\n", {5})));
  EXPECT_TRUE(knee(sweep_of(counts, {5, 6, 7}))->least);
}

/// Times that are certain up to 1 %.
Study certain(Study sweep) {
  for (PointResult& point : sweep.done) {
    for (Row& row : point.rows) {
      row.time->lo = 0.99 * row.time->median;
      row.time->hi = 1.01 * row.time->median;
    }
  }
  return sweep;
}

TEST(SweepTies, HaveIntervalsThatOverlapThatOfTheBest) {
  const auto numbers = [](const Study& sweep) {
    std::vector<std::size_t> found;
    for (const SweepEntry& entry : ties(sweep)) found.push_back(entry.point->number);
    return found;
  };
  // 5.05 and 4.95 / 0.99 touch.
  EXPECT_THAT(numbers(certain(sweep_of(counts, {9, 7, 5.1, 5, 5.11, 5.09}))), ElementsAre(2u, 5u));
  EXPECT_THAT(numbers(certain(sweep_of(counts, {9, 7, 5.2, 5, 5.2, 6}))), testing::IsEmpty());
  EXPECT_THAT(numbers(sweep_of(counts, {5, 9, 21})),
              ElementsAre(1u, 2u));  // sequential: 5 .. 20 ms
  const Study bytes = sweep_of("sweep: {workload.elements: [1024, 4096]}\n", {4, 8});
  EXPECT_THAT(numbers(certain(bytes)), testing::IsEmpty());
  EXPECT_THAT(numbers(bytes), ElementsAre(0u));
  // Without intervals only equal times tie.
  EXPECT_THAT(numbers(single({1, 2, 3}, {5, 5, 5.001})), ElementsAre(1u));
  EXPECT_THAT(ties(sweep_of(counts, {})), testing::IsEmpty());
}

TEST(SweepTies, AreMarkedAndListed) {
  const Study sweep = certain(sweep_of(counts, {9, 7, 5.09, 5, 5.08, 6}));
  const Rows rows = sweep_rows(sweep);
  std::vector<std::string> marks;
  for (std::size_t i = 1; i < rows.size(); ++i) marks.push_back(rows[i].back());
  EXPECT_THAT(marks, ElementsAre("", "", "tie", "best", "tie", ""));
  EXPECT_EQ(sweep_words(sweep)[1],
            "ties, whose intervals overlap the best one's: chunks.count 4; chunks.count 16");
  std::string list = "sweep: {chunks.count: [1";
  for (int i = 2; i <= 12; ++i) list += ", " + std::to_string(i);
  EXPECT_THAT(sweep_words(sweep_of(list + "]}\n", std::vector<double>(12, 5)))[1],
              testing::EndsWith("; chunks.count 9; 3 more"));
}

TEST(SweepNoise, HasALineForEachCause) {
  const auto points = points_of(counts);
  Study sweep = new_study({}, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    experiment::Outcome result = result_of(points[i], 5);
    if (i > 0) result.runs[1].findings = {{.cause = "unsteady", .text = "they differ"}};
    if (i == 3) result.runs[0].findings = {{.cause = "drifting", .text = "it drifts"}};
    result.runs[0].findings.push_back({.cause = "few_lanes", .text = "too few"});
    add(sweep, i, result);
  }
  // A point of an earlier process counts as well.
  sweep.done[1] = read_record(sweep.done[1].record);
  const std::vector<std::string> lines = sweep_words(sweep);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_THAT(
      (std::vector(lines.end() - 2, lines.end())),
      ElementsAre("unsteady (5 of 12 runs), first at chunks.count 2, depth_first: they differ",
                  "drifting (1 of 12 runs), first at chunks.count 8, sequential: it drifts"));
  EXPECT_THAT(sweep_table(sweep, 100), Not(HasSubstr("too few")));
}

TEST(SweepTable, LinesUpAndSaysWhatIsBest) {
  const Study sweep = certain(sweep_of(counts, {9, 7, 5.2, 5, 5.25, 6}));
  EXPECT_EQ(
      sweep_table(sweep, 100),
      "\nmedian times\n"
      "chunks.count  sequential  depth_first     bound      fastest\n"
      "1               10.00 ms     9.000 ms  4.000 ms  depth_first\n"
      "2               10.00 ms     7.000 ms  4.000 ms  depth_first\n"
      "4               10.00 ms     5.200 ms  4.000 ms  depth_first\n"
      "8               10.00 ms     5.000 ms  4.000 ms  depth_first  best\n"
      "16              10.00 ms     5.250 ms  4.000 ms  depth_first\n"
      "32              10.00 ms     6.000 ms  4.000 ms  depth_first\n"
      "\n"
      "best: 5.000 ms, depth_first at chunks.count 8\n"
      "knee: chunks.count 4 is the smallest value that comes within 5 % of the best time, with "
      "5.200 ms, depth_first; 4 to 16 are within 5 % of the best\n\n");
  EXPECT_EQ(sweep_table(sweep, 66), sweep_table(sweep, 100));
  EXPECT_THAT(sweep_table(sweep, 65), HasSubstr("chunks.count      time     bound      fastest\n"
                                                "1             9.000 ms  4.000 ms  depth_first\n"));
}

TEST(SweepTable, HasTheTimesOfEachSeriesBelowItsName) {
  for (const auto& [first, second] : {std::pair("a", "b"), {"b", "a"}}) {
    Study sweep = certain(sweep_of("sweep: {chunks.count: [1, 2]}\n", {9, 7}));
    for (PointResult& point : sweep.done) {
      point.rows[0].order = first;
      point.rows[1].order = second;
    }
    const auto rows = sweep_rows(sweep);
    EXPECT_THAT(rows[0], ElementsAre("chunks.count", first, second, "bound", "fastest", ""));
    EXPECT_THAT(rows[1], ElementsAre("1", "10.00 ms", "9.000 ms", "4.000 ms", second, ""));
  }
}

TEST(SweepTable, NamesDevicesWhereThereAreSeveral) {
  Study sweep = sweep_of("sweep: {chunks.count: [1, 2]}\n", {9, 7});
  for (PointResult& point : sweep.done) {
    for (Row& row : point.rows) row.device = "h200";
  }
  sweep.devices = {"h200"};
  EXPECT_THAT(series(sweep), ElementsAre("sequential", "depth_first"));
  sweep.devices = {"h200", "h100"};
  EXPECT_THAT(series(sweep), ElementsAre("sequential on h200", "depth_first on h200"));
}

TEST(SweepTable, HasABestAndAKneeOfEachDevice) {
  Study sweep = certain(sweep_of("sweep: {chunks.count: [1, 2, 4]}\n", {9, 7, 5}));
  sweep.devices = {"fast", "slow"};
  for (PointResult& point : sweep.done) {
    point.rows.erase(point.rows.begin());
    point.rows.front().device = "fast";
    point.rows.push_back(point.rows.front());
    Row& slow = point.rows.back();
    slow.device = "slow";
    const double seconds = 0.020 + 0.001 * static_cast<double>(point.number);
    slow.time = base::Summary{.n = 3, .median = seconds, .lo = seconds, .hi = seconds};
  }
  EXPECT_THAT(sweep_words(sweep),
              ElementsAre("best on fast: 5.000 ms, depth_first at chunks.count 4",
                          "knee on fast: chunks.count 4 is the smallest value that comes within 5 "
                          "% of the best time, with 5.000 ms, depth_first",
                          "best on slow: 20.00 ms, depth_first at chunks.count 1",
                          "knee on slow: chunks.count 1, the smallest tried, comes within 5 % of "
                          "the best time, with 20.00 ms, depth_first; 1 to 2 are within 5 % of the "
                          "best"));
  const Rows wide = sweep_rows(sweep);
  EXPECT_EQ(wide[1].back(), "best on slow");
  EXPECT_EQ(wide[3].back(), "best on fast");
  EXPECT_EQ(base::align(sweep_rows(sweep, true), true),
            "chunks.count  device      time     bound      fastest\n"
            "1               fast  9.000 ms  4.000 ms  depth_first\n"
            "1               slow  20.00 ms  4.000 ms  depth_first  best\n"
            "2               fast  7.000 ms  4.000 ms  depth_first\n"
            "2               slow  21.00 ms  4.000 ms  depth_first\n"
            "4               fast  5.000 ms  4.000 ms  depth_first  best\n"
            "4               slow  22.00 ms  4.000 ms  depth_first\n");
}

TEST(SweepSvg, HasThePanelOfTheBestPoint) {
  const std::string lanes =
      "sweep: {chunks.count: [1, 2], issue.lanes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]}";
  std::vector<double> milliseconds(28, 9);
  milliseconds[11] = 5;  // of the last panel that is shown anyway
  EXPECT_THAT(svg({sweep_of(lanes, milliseconds)}), HasSubstr(">the first 12 of 14 panels<"));
  milliseconds[12] = 4;
  const std::string picture = svg({sweep_of(lanes, milliseconds)});
  EXPECT_THAT(picture, HasSubstr(">the first 11 of 14 panels and the best<"));
  EXPECT_THAT(picture, HasSubstr(">issue.lanes 13</text>"));
  EXPECT_THAT(picture, HasSubstr(">best 4.000 ms</text>"));
  EXPECT_THAT(picture, Not(HasSubstr(">issue.lanes 12</text>")));
  milliseconds[13] = 3;
  EXPECT_THAT(svg({sweep_of(lanes, milliseconds)}), HasSubstr(">issue.lanes 14</text>"));
}

TEST(SweepSvg, HasManyPanelsWithoutABest) {
  Study sweep = sweep_of(
      "sweep: {chunks.count: [1], issue.lanes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]}",
      std::vector<double>(14, 9));
  for (PointResult& point : sweep.done) point.rows.clear();
  EXPECT_THAT(svg({sweep}), HasSubstr(">the first 12 of 14 panels<"));
}

TEST(SweepSvg, HasTheWordBestWhereNoMarkIs) {
  // The throughput of sequential is 10 % lower: a mark where the word is elsewhere.
  const std::string picture = svg({sweep_of("sweep: {workload.elements: [3072, 4096]}\n", {9, 9})});
  const auto y_of = [&](const std::string& what) {
    return std::stod(picture.substr(picture.find("y=\"", picture.find(what)) + 3));
  };
  EXPECT_NEAR(y_of("doubt halo mid"), y_of("class=\"best\""), 16.01);
  EXPECT_LT(y_of("doubt halo mid"), y_of("class=\"best\""));
}

/// How far below the best mark its word is.
double offset_of_best(const Study& sweep) {
  const std::string picture = svg({sweep});
  return number_in(picture, "doubt halo mid", "y=\"") -
         number_in(picture, "class=\"best\"", "cy=\"");
}

/// Milliseconds that are `pixels` above the bottom of a panel of 440, from 1 to 100 ms.
double log_ms(double pixels) { return std::pow(100, pixels / 440); }

TEST(SweepSvg, HasTheWordBestInItsPanel) {
  // Above the bottom by 5 pixels or more.
  EXPECT_NEAR(offset_of_best(single({1, 2}, {log_ms(30.5), 90})), 25, 0.02);
  EXPECT_NEAR(offset_of_best(single({1, 2}, {log_ms(29.5), 90})), -16, 0.02);
  // The word is 99.79 pixels wide, of 1080.
  const std::pair<std::vector<double>, double> ends[] = {{{5, 6}, 88 + 49.896},
                                                         {{6, 5}, 1168 - 49.896}};
  for (const auto& [milliseconds, middle] : ends) {
    EXPECT_NEAR(number_in(svg({single({1, 2}, milliseconds)}), "doubt halo mid", "x=\""), middle,
                0.01);
  }
  // Below the top by 10 or more: the best throughput, with a mark 20 pixels below it, where the
  // whisker reaches so far that the best is at so many pixels.
  for (const auto& [pixels, offset] : {std::pair(26.5, -16), {25.5, 42}}) {
    const double most = 1 / (1 - pixels / 440);  // of the scale, the best being 1
    Study sweep = single({1, 1.5, 1.501, 2}, {11, 10, 10 / (1 - 20 * most / 440), 11});
    sweep.done[1].rows[0].time->lo = 10e-3 / (most / 1.05);
    ++sweep.done[3].rows[0].bytes;
    EXPECT_NEAR(offset_of_best(sweep), offset, 0.02) << pixels;
  }
}

TEST(SweepSvg, HasTheWordBestAsideOfMarks) {
  struct Case {
    double above, aside;  ///< pixels from the best mark, which is near the bottom, to another
    double offset;
  };
  // The word is 99.79 pixels wide, 6 wider with its margins at each side, and covers 24.
  for (const auto& [above, aside, offset] : {Case{20, 1, -33},
                                             {20, 55.5, -33},
                                             {20, 56.3, -16},
                                             {20, -55.5, -33},
                                             {20, -56.3, -16},
                                             {7.5, 1, -16},
                                             {8.5, 1, -33},
                                             {31.5, 1, -50},
                                             {32.5, 1, -16}}) {
    const double other = 1.5 + aside / (0.94 * 1080);
    const std::vector<double> milliseconds = {90, log_ms(29.5), log_ms(29.5 + above), 90};
    EXPECT_NEAR(offset_of_best(single({1, 1.5, other, 2}, milliseconds)), offset, 0.02)
        << above << " " << aside;
  }
}

TEST(SweepSvg, HasTheWordKneeInItsPanel) {
  // Two panels of 498 pixels; the word and what is between it and the line: 32.28.
  for (const auto& [pixels, left] : {std::pair(31.8, true), {32.8, false}}) {
    const double before_last = (pixels / 498 - 0.03) / 0.94;
    const std::string picture =
        svg({single({1, 2 - before_last, 2}, {9, 9, 5, 5, 5, 5}, ", issue.lanes: [1, 2]")});
    EXPECT_THAT(picture, HasSubstr("\"knee\""));
    EXPECT_EQ(picture.find("tick halo end") != picture.npos, left) << pixels;
  }
}

TEST(SweepSvg, HasNamesOfPanelsWithoutSectionsWhereTheyNeedRoom) {
  const auto named = [](std::size_t letters) {
    Study sweep = single({1}, {9, 9, 9, 9, 9}, ", issue.lanes: [1, 2, 3, 4, 5]");
    for (deck::Point& point : sweep.points) {
      point.values[1].key = "s." + std::string(letters, 'a');
    }
    return svg({sweep});
  };
  // Panels of 304 pixels; bold letters of 13 pixels are 8.87 wide.
  EXPECT_THAT(named(30), HasSubstr(">s." + std::string(30, 'a') + " 1</text>"));
  EXPECT_THAT(named(32), HasSubstr(">" + std::string(32, 'a') + " 1</text>"));
  EXPECT_THAT(named(40), HasSubstr("a\u2026<title>" + std::string(40, 'a') + " 1</title>"));
  EXPECT_THAT(named(40), Not(HasSubstr("\"></text>")));  // one value has no second line
}

TEST(SweepSvg, SeriesStandCloserWhereValuesAreNarrow) {
  Study sweep =
      sweep_of("sweep: {chunks.count: [1, 2, 3, 4, 5, 6, 7, 8], issue.lanes: [1, 2, 3, 4, 5]}\n",
               std::vector<double>(40, 9));
  for (Axis::Value& value : sweep.axes[0].values) value.number.reset();
  // A value has 38 pixels, a series a third of it.
  EXPECT_THAT(svg({sweep}), HasSubstr("translate(100.667 "));
  EXPECT_THAT(svg({sweep}), HasSubstr("translate(113.333 "));
}

TEST(SweepSvg, HasAtMostSixSteps) {
  EXPECT_THAT(svg({single({1, 2}, {27, 27})}), HasSubstr(">15 ms<"));
  EXPECT_THAT(svg({single({1, 2}, {32, 32})}), Not(HasSubstr(">15 ms<")));
}

TEST(SweepSvg, HasTicksAroundItsTimes) {
  const auto ticks_of = [](double least, double most) {
    const std::string picture = svg({single({1, 2}, {least, most})});
    std::string ticks;
    for (const char* const tick : {"1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "1 s"}) {
      if (picture.find(fmt::format(">{}</text>", tick)) != picture.npos) {
        ticks += (ticks.empty() ? "" : ", ") + std::string(tick);
      }
    }
    return ticks;
  };
  EXPECT_EQ(ticks_of(2, 20), "2 ms, 5 ms, 10 ms, 20 ms");
  EXPECT_EQ(ticks_of(1.9, 20.1), "1 ms, 2 ms, 5 ms, 10 ms, 20 ms, 50 ms");
  EXPECT_EQ(ticks_of(1, 999), "1 ms, 2 ms, 5 ms, 10 ms, 20 ms, 50 ms, 1 s");
  EXPECT_EQ(ticks_of(1, 1000.5), "1 ms, 10 ms, 1 s");  // many decades have one each
}

TEST(SweepSvg, HasTitlesInTwoLinesWhereOneIsTooNarrow) {
  Study sweep = single({1, 2}, {9, 9});
  // Of 1136 pixels; bold letters of 20 pixels are 13.64 wide.
  std::string& title = sweep.points.front().deck.title =
      std::string(70, 'a') + " " + std::string(12, 'b');
  EXPECT_THAT(svg({sweep}), HasSubstr("a " + std::string(12, 'b') + "</text>\n"));
  title = std::string(70, 'a') + " " + std::string(13, 'b');
  EXPECT_THAT(svg({sweep}), HasSubstr("a</text>\n<text class=\"title\" x=\"32\" y=\"76\">bbb"));
}

TEST(SweepSvg, LongWordsTakeTwoLines) {
  Study sweep = certain(
      sweep_of("sweep: {chunks.count: [1, 2, 4, 8], issue.lanes: [1], memory.host: [pinned], "
               "measure.repetitions: [7], workload.intensity: [1]}\n",
               {9, 7, 5}));
  add(sweep, 3,
      experiment::failed(sweep.points[3], base::Error(base::ExitCode::skipped,
                                                      "the device has no room for so many chunks "
                                                      "of this size")));
  EXPECT_GT(sweep_words(sweep)[1].size(), 180);
  std::string& title = sweep.points.front().deck.title = "A long one:";
  for (int i = 0; i < 30; ++i) title += " word";
  const std::string picture = svg({sweep});
  EXPECT_THAT(picture, Not(HasSubstr("\u2026")));
  const auto places_of = [&](const std::string& kind) {
    const std::string begin = "<text class=\"" + kind + "\" x=\"32\" y=\"";
    std::vector<double> places;
    for (auto at = picture.find(begin); at != picture.npos; at = picture.find(begin, at + 1)) {
      places.push_back(std::stod(picture.substr(at + begin.size())));
    }
    return places;
  };
  EXPECT_THAT(places_of("title"), ElementsAre(50, 76));
  EXPECT_THAT(places_of(""), ElementsAre(120, 138, 156));
  EXPECT_THAT(places_of("doubt"), ElementsAre(174, 192));
}

TEST(SweepSvg, SeriesOfASingleNumberStandSideBySide) {
  Study sweep = sweep_of("sweep: {chunks.count: [4]}\n", {10});
  for (Row& row : sweep.done[0].rows) row.predicted_s = 9e-3;
  EXPECT_THAT(svg({sweep}), HasSubstr("translate(621 "));
  EXPECT_THAT(svg({sweep}), HasSubstr("translate(635 "));
  // Strokes at the predictions, where there are marks at the times.
  EXPECT_THAT(svg({sweep}), HasSubstr("m-7 0h14"));
  for (Row& row : sweep.done[0].rows) row.time.reset();
  EXPECT_THAT(svg({sweep}), Not(HasSubstr("m-7 0h14")));
}

TEST(SweepSvg, HasLogarithmsFromAFactorOfEight) {
  for (const int most : {7, 8}) {
    const std::string picture =
        svg({sweep_of(fmt::format("sweep: {{chunks.count: [1, {}]}}\n", most), {9, 9})});
    EXPECT_EQ(picture.find(">chunks.count (log)<") != picture.npos, most == 8) << most;
  }
}

TEST(SweepSvg, WordsStandInAsManyRowsAsTheyNeed) {
  const std::string words = "memory.host: [pinned, pageable, registered, pageable_staged]";
  const std::string wide = svg({sweep_of("sweep: {" + words + "}\n", {9, 9, 9, 9})});
  const std::string narrow = svg({sweep_of("sweep: {" + words + ", issue.lanes: [1, 2, 3, 4, 5]}\n",
                                           std::vector<double>(20, 9))});
  const auto y_of = [](const std::string& picture, const std::string& word) {
    const auto end = picture.find("\">" + word + "</text>");  // not cut
    EXPECT_NE(end, picture.npos);
    return std::stod(picture.substr(picture.rfind("y=\"", end) + 3));
  };
  EXPECT_EQ(y_of(wide, "pageable_staged"), y_of(wide, "pinned"));
  EXPECT_EQ(y_of(narrow, "pageable_staged"), y_of(narrow, "pinned") + 13);
  EXPECT_EQ(y_of(narrow, "registered"), y_of(narrow, "pinned"));
  EXPECT_EQ(y_of(narrow, "memory.host"), y_of(narrow, "pinned") + 19 + 13);
  EXPECT_EQ(y_of(narrow, "issue.lanes 4"), y_of(narrow, "issue.lanes 1") + 230 + 84 + 13);
  // Four words have 76 pixels each, 6 of them between words: this takes 69.74, and this 70.18.
  Study sweep = sweep_of("sweep: {" + words + ", issue.lanes: [1, 2, 3, 4, 5]}\n",
                         std::vector<double>(20, 9));
  for (Axis::Value& value : sweep.axes[0].values) value.text = "a";
  for (const auto& [text, rows] : {std::pair("aaaaaaa.....", 1), {"aaaaaaaaa..", 2}}) {
    sweep.axes[0].values[0].text = text;
    EXPECT_EQ(y_of(svg({sweep}), "memory.host"), y_of(svg({sweep}), text) + 19 + 13 * (rows - 1));
  }
  // Beyond three rows they are cut.
  sweep.axes[0].values[0].text = std::string(60, 'b');
  EXPECT_EQ(y_of(svg({sweep}), "memory.host"), y_of(svg({sweep}), "a") + 19 + 13);
  // Two have 152 each, and 32 at each side: this takes 215.82, and this 218.24.
  Study two = sweep_of("sweep: {memory.host: [pinned, pageable], issue.lanes: [1, 2, 3, 4, 5]}\n",
                       std::vector<double>(10, 9));
  std::string& wide_text = two.axes[0].values[0].text = std::string(31, 'a') + ".";
  EXPECT_THAT(svg({two}), HasSubstr(">" + wide_text + "</text>"));
  wide_text = std::string(32, 'a');
  EXPECT_THAT(svg({two}), HasSubstr("\u2026<title>" + wide_text + "</title>"));
  // One has all of 1080: this takes 1073.82, and this 1074.7.
  Study one = sweep_of("sweep: {memory.host: [pinned]}\n", {9});
  std::string& text = one.axes[0].values[0].text = std::string(151, 'a') + "..........";
  EXPECT_THAT(svg({one}), HasSubstr(">" + text + "</text>"));
  text = std::string(155, 'a') + "....";
  EXPECT_THAT(svg({one}), HasSubstr("\u2026<title>" + text + "</title>"));
}

TEST(SweepHtml, SaysWhyItDoesNotPass) {
  Study sweep = sweep_of(counts, {9, 9});
  EXPECT_THAT(html({sweep}), HasSubstr("verdict: PASS</p>\n<div class=\"wide picture\"><svg"));
  EXPECT_THAT(html({sweep}), HasSubstr("<p class=\"place\">median times</p>\n<div"));
  add(sweep, 2,
      experiment::failed(sweep.points[2], base::Error(base::ExitCode::skipped, "no room")));
  EXPECT_THAT(
      html({sweep}),
      HasSubstr(
          "verdict: SKIPPED</p>\n"
          "<p class=\"finding\">chunks.count 4: no room</p>\n<div class=\"wide picture\"><svg"));
}

TEST(Csv, HasARowForEachPointAndOrder) {
  const std::string text = csv({sweep_of("sweep: {chunks.bytes: [4 KiB, 8 KiB]}\n", {5, -1})});
  EXPECT_EQ(
      text,
      "deck,host,device,started,chunks.bytes,phase,order,disturb,host_work,lanes,chunks,tasks,"
      "bytes,n,median_s,"
      "min_s,"
      "max_s,lo_s,hi_s,throughput_gb_per_s,speedup,max_error,overlap_efficiency,bound_fraction,"
      "schedule_bound_fraction,host_work_hidden,drift,contention,bound_s,schedule_bound_s,"
      "predicted_s,"
      "verified,"
      "verdict\n"
      "deck,,,,4096,alone,sequential,,false,1,1,3,32768,3,0.01,0.005,0.02,0.005,0.02,"
      "0.0032768000000000003,1,0,,0.4,0.5,,,,0.004,0.005,,true,PASS\n"
      "deck,,,,4096,alone,depth_first,,false,4,4,12,32768,3,0.005,0.0025,0.01,0.0025,0.01,"
      "0.006553600000000001,2,0,0.8333333333333334,0.8,1,,,,0.004,0.005,,true,PASS\n");
}

TEST(Csv, QuotesWhatNeedsIt) {
  deck::Point point = points_of("").front();
  point.deck.path = "a \"b\", c.yaml";
  EXPECT_THAT(csv({study_of(result_of(point, 5))}),
              HasSubstr("\n\"a_\"\"b\"\",_c\",n1,CPU,2026-01-31T12:00:00Z,alone,sequential,"));
}

TEST(SweepJson, HasTheRunsOfAllPointsAndTheSweep) {
  const std::string text =
      to_json({sweep_of("sweep: {chunks.bytes: [4 KiB, 8 KiB]}\n", {5, 6})}, -1);
  EXPECT_THAT(text, HasSubstr("\"sweep\":{\"chunks.bytes\":[4096,8192]}"));
  EXPECT_THAT(text, HasSubstr("\"point\":{\"chunks.bytes\":8192}"));
  EXPECT_THAT(text, HasSubstr("\"predicted_timeline\":null"));
}

TEST(SweepJson, HasTheKeysThatAllPointsHave) {
  for (const auto& [deck, has_spread] :
       {std::pair("sweep: {chunks.profile: [uniform, ramp]}\n", false),
        {"sweep: {chunks.profile: [ramp, uniform]}\n", false},
        {"chunks: {profile: ramp}\nsweep: {chunks.count: [4, 8]}\n", true}}) {
    const auto file = nlohmann::json::parse(to_json({sweep_of(deck, {5, 6})}));
    EXPECT_EQ(file["deck"]["resolved"]["chunks"].contains("spread"), has_spread) << deck;
  }
  const auto file =
      nlohmann::json::parse(to_json({sweep_of("sweep: {chunks.count: [4, 8]}\n", {5, 6})}));
  EXPECT_EQ(file["deck"]["resolved"]["chunks"]["count"], 4);
}

TEST(SweepJson, OfSeveralDecksHasTheirResults) {
  const Study study = study_of(result_of(points_of("").front(), 5));
  EXPECT_EQ(json({study}), to_json({study}, 2));
  EXPECT_EQ(nlohmann::json::parse(to_json({study, study}))["results"].size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(to_json({study})).count("results"), 0U);
}

TEST(SweepJson, HasNumbersAsTheyAreAndWords) {
  const Study sweep = sweep_of(
      "chunks: {profile: ramp}\n"
      "sweep: {chunks.growth: [1.5, 2], chunks.count: [4], memory.host: [pinned, pageable]}\n",
      {1, 2, 3, 4});
  EXPECT_THAT(to_json({sweep}, -1),
              HasSubstr(R"("sweep":{"chunks.growth":[1.5,2],"chunks.count":[4],)"
                        R"("memory.host":["pinned","pageable"]})"));
}

TEST(JsonSchema, IsWhatTheTablesSay) {
  test::expect_generated(OVERLAP_SOURCE_DIR "/src/report/overlap-result-2.schema.json",
                         json_schema());
}

class JournalFile : public ::testing::Test {
 protected:
  std::string text() const {
    std::ifstream file(path_);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void append(const std::string& more) const { std::ofstream(path_, std::ios::app) << more; }
  std::string complaint(const Identity& identity, bool resume) const {
    try {
      const Journal journal(path_, identity, resume);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::usage);
      return error.what();
    }
    return "";
  }

  const DeckFile folder_{""};
  const std::string path_ = folder_.folder() + "/out.json.points";
  const Identity identity_ = {{"program", "1"}, {"host", "a \"b\""}};
};

TEST_F(JournalFile, KeepsPoints) {
  {
    Journal journal(path_, identity_, false);
    journal.add("{\"point\":0}");
    journal.add("{\"point\":1}");
  }
  EXPECT_THAT(text(), StartsWith(R"({"schema":"overlap-points/1","program":"1","host":"a \"b\""}
{"point":0,"sum":"8a7248f22d97cda2"}
)"));
  EXPECT_THAT(complaint(identity_, false), HasSubstr("found 2 points of an unfinished sweep"));
  {
    const Journal journal(path_, identity_, true);
    EXPECT_THAT(journal.records(), ElementsAre("{\"point\":0}", "{\"point\":1}"));
  }
  EXPECT_TRUE(std::filesystem::exists(path_));
  {
    Journal journal(path_, identity_, true);
    journal.add("{\"point\":2}");
    journal.remove();
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(JournalFile, IgnoresALineWithoutItsEnd) {
  {
    Journal(path_, identity_, false).add("{\"point\":0}");
  }
  const std::string whole = text();
  append("{\"point\":1");
  {
    Journal journal(path_, identity_, true);
    EXPECT_THAT(journal.records(), ElementsAre("{\"point\":0}"));
    EXPECT_EQ(text(), whole);
    journal.add("{\"point\":1}");
  }
  EXPECT_THAT(text(), StartsWith(whole + "{\"point\":1,\"sum\":\""));
}

TEST_F(JournalFile, WithoutPointsDoesNotStay) {
  {
    const Journal journal(path_, identity_, false);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  // What a process leaves behind that was killed before its first point.
  append("{\"schema\":\"overlap-po");
  EXPECT_EQ(complaint(identity_, false), "");
  // Another run's, killed later but still without a point.
  {
    const Journal journal(path_, {{"program", "2"}}, false);
    std::filesystem::copy(path_, path_ + ".kept");
  }
  std::filesystem::rename(path_ + ".kept", path_);
  EXPECT_EQ(complaint(identity_, true), "");
}

TEST_F(JournalFile, OfAnotherRunIsRefused) {
  {
    Journal(path_, identity_, false).add("{\"point\":0}");
  }
  const std::string before = text();
  EXPECT_EQ(complaint(identity_, false),
            path_ +
                ": found 1 point of an unfinished sweep; allowed: --resume to continue, or "
                "remove the file");
  for (const char* const other : {"0", "2"}) {
    EXPECT_EQ(complaint({{"program", other}, {"host", "a \"b\""}}, true),
              fmt::format("{}: program: found points with \"1\", here it is \"{}\"; allowed: "
                          "--resume where the points come from, or remove the file",
                          path_, other));
  }
  append("nonsense\n");
  EXPECT_EQ(complaint(identity_, true),
            path_ + ": line 3: found a damaged point; allowed: remove the line or the file");
  EXPECT_EQ(text(), before + "nonsense\n");
}

TEST_F(JournalFile, IsAsItWasWritten) {
  {
    Journal(path_, identity_, false).add("{\"point\":0,\"runs\":[]}");
  }
  const std::string whole = text();
  const std::size_t begin = whole.find('\n') + 1;
  for (std::size_t i = begin; i + 1 < whole.size(); ++i) {
    std::string other = whole;
    other[i] = other[i] == '1' ? '2' : '1';
    std::ofstream(path_) << other;
    EXPECT_THAT(complaint(identity_, true), HasSubstr("line 2: found a damaged point")) << other;
    EXPECT_EQ(text(), other);
  }
  std::ofstream(path_) << whole;
  EXPECT_EQ(complaint(identity_, true), "");
}

TEST_F(JournalFile, HasTheUsualMode) {
  for (const mode_t hidden : {mode_t(0), mode_t(027)}) {
    const mode_t mask = umask(hidden);
    const Journal journal(path_, identity_, false);
    umask(mask);
    EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0666 & ~hidden));
  }
}

TEST_F(JournalFile, KeepsLettersAsTheyAre) {
  {
    Journal(path_, {{"host", "m\u00e4x"}}, false).add("{\"point\":0}");
  }
  EXPECT_THAT(text(), HasSubstr("\"host\":\"m\u00e4x\"}\n"));
}

TEST_F(JournalFile, IsNoPipe) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(complaint(identity_, true), HasSubstr("found no regular file"));
}

TEST_F(JournalFile, NeverOverwritesOtherFiles) {
  for (const char* const other :
       {"precious", "precious\n", "{\"a\":1}\n", "{}\n{}\n", "{\"schema\":\"overlap-points/0\"}\n",
        "{\"schema\":\"overlap-points/2\"}\n"}) {
    std::ofstream(path_) << other;
    EXPECT_THAT(complaint(identity_, true), HasSubstr("found no points of a sweep")) << other;
    EXPECT_EQ(text(), other);
  }
}

}  // namespace
}  // namespace report
}  // namespace overlap
