#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "golden.hpp"
#include "report/fleet.hpp"
#include "report/fleet_tables.hpp"
#include "report/json.hpp"
#include "report/read_files.hpp"
#include "report/read_value.hpp"
#include "report/skim.hpp"
#include "studies.hpp"

namespace overlap::report {
namespace {

using base::ExitCode;
using deck::Phase;
using experiment::DeviceRecord;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr auto names = std::to_array<std::string_view>({"timeline", "series"});

std::string skimmed(const std::string& text) { return without(text, names); }

TEST(Skim, TakesListsAndObjectsOut) {
  EXPECT_EQ(skimmed(R"({"a": 1, "timeline": [{"b": "]"}, [2]], "c": 3})"),
            R"({"a": 1, "timeline": null             , "c": 3})");
  EXPECT_EQ(skimmed(R"({"series" :{"timeline":[1]},"timeline":[],"x":"timeline"})"),
            R"({"series" :null            ,"timeline":[],"x":"timeline"})");
  EXPECT_EQ(skimmed(R"({"a\\": "x\\\\", "timeline": [12]})"),
            R"({"a\\": "x\\\\", "timeline": null})");
  EXPECT_EQ(skimmed(R"({"": "a\"", "timeline": [12]})"), R"({"": "a\"", "timeline": null})");
}

TEST(Skim, LeavesTheRestInItsPlace) {
  EXPECT_EQ(skimmed("{\"timeline\": [\n  1,\n  2\n ], \"a\": 1\n}"),
            "{\"timeline\": null\n\n\n  , \"a\": 1\n}");
}

TEST(Skim, LeavesEverythingElse) {
  for (const char* const text :
       {R"({"timeline": null, "series": 3})", R"({"x": "\"timeline\": [1]"})",
        R"(["timeline", [1]])", R"({"x": "a\\", "y": [1]})", "", "{", R"("timeline)",
        R"({"timeline":)", R"({"timeline"})", R"({"timeline": null, "x": [1]})",
        R"({"timeline": 3, "x": [1]})", R"([{"timeline":}, [[1]]])"}) {
    EXPECT_EQ(skimmed(text), text);
  }
}

TEST(Skim, CountsNestedBracketsOutsideOfStrings) {
  EXPECT_EQ(report::nesting(R"({"a": [1, [2]], "b\"": "[[[[", "c": {}, "d": [[]]})"), 3);
  EXPECT_EQ(report::nesting("1"), 0);
}

TEST(Skim, WhatIsCutShortStaysSo) {
  const std::string whole = R"({"a": [1], "timeline": [{"b": "x\"]"}, {"c": [2]}], "d": {"e": 1}})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(json::parse(skimmed(whole.substr(0, size)), nullptr, false).is_discarded()) << size;
  }
  EXPECT_FALSE(json::parse(skimmed(whole), nullptr, false).is_discarded());
}

/// A result file of two orders, as the program writes it.
json result() {
  experiment::Run sequential;
  sequential.order = sequential.schedule.order = deck::Order::sequential;
  sequential.schedule.tasks = {{.stage = schedule::Stage::h2d, .bytes = 1000000000}};
  sequential.samples_s = {1.9, 2, 2.1, 2, 2, 2};
  sequential.repetitions = 6;
  sequential.verified = true;
  experiment::Run by_engine = sequential;
  by_engine.order = by_engine.schedule.order = deck::Order::by_engine;
  by_engine.samples_s = {1, 1, 1, 1.25, 1, 0.8};
  Study study = study_of(outcome_of({sequential, by_engine}));
  study.machine.host = {.name = "n1", .cpu = "CPU"};
  study.machine.build.backend = "Cuda";
  study.machine.device = base::DeviceInfo{.name = "GPU",
                                          .uuid = "GPU-1",
                                          .pci_bus_id = "0000:1a:00.0",
                                          .pcie_gen = 5,
                                          .pcie_width = 16,
                                          .driver = "580.1"};
  return json::parse(to_json({study}));
}

DeviceRecord read(const json& file) { return devices_of("a.json", file.dump()).at(0); }

std::string error_of(const std::string& text) {
  try {
    devices_of("a.json", text);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "none";
}

constexpr experiment::FigureKey throughput{deck::Phase::alone, deck::Order::by_engine,
                                           deck::Metric::throughput};

TEST(Devices, AreReducedToTheirFigures) {
  const DeviceRecord one = read(result());
  EXPECT_EQ(one.host, "n1");
  EXPECT_EQ(one.unit, "GPU-1");
  EXPECT_TRUE(one.unique);
  EXPECT_EQ(one.slot, "0000:1a:00.0");
  EXPECT_EQ(one.machine.device, "GPU");
  EXPECT_EQ(one.machine.link, "gen5 x16");
  EXPECT_EQ(one.driver, "580.1");
  EXPECT_EQ(one.deck_name, "hand");
  EXPECT_EQ(exit_code_of(one), ExitCode::pass);
  const experiment::Figure* const figure = find(one, throughput);
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->value.n, 6);
  EXPECT_DOUBLE_EQ(figure->value.median, 1);
  EXPECT_DOUBLE_EQ(figure->value.lo, 0.8);  // from the samples: the file has the median alone
  EXPECT_DOUBLE_EQ(figure->value.hi, 1.25);
  const experiment::Figure* const time =
      find(one, {deck::Phase::alone, deck::Order::by_engine, deck::Metric::time});
  ASSERT_NE(time, nullptr);
  EXPECT_DOUBLE_EQ(time->value.max, 1.25);
  EXPECT_EQ(find(one, {deck::Phase::together, deck::Order::by_engine, deck::Metric::time}),
            nullptr);
}

TEST(Devices, HaveTheirErrors) {
  json file = result();
  file["runs"][1]["max_error"] = 1e-3;
  const DeviceRecord one = read(file);
  const experiment::Figure* const error =
      find(one, {Phase::alone, deck::Order::by_engine, deck::Metric::max_error});
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->value.median, 1e-3);
}

TEST(Devices, KnowWhatTheyWereBuiltFrom) {
  json file = result();
  file["build"]["version"] = "1.2";
  file["build"]["git_sha"] = "0123456789abcdef";
  EXPECT_EQ(read(file).build, "1.2 0123456789ab");
  file["build"]["git_sha"] = nullptr;
  EXPECT_EQ(read(file).build, "1.2");
}

TEST(Devices, WithoutUuidHaveTheirRankOrHost) {
  json file = result();
  file["device"] = nullptr;
  EXPECT_EQ(read(file).unit, "n1");
  EXPECT_EQ(read(file).machine.device, "CPU");
  EXPECT_FALSE(read(file).unique);
  file["job"] = {{"id", "7"}, {"step", nullptr}, {"rank", 3}, {"ranks", 4}};
  EXPECT_EQ(read(file).unit, "rank3");
  EXPECT_EQ(read(file).slot, "3");
  json gpu = result();
  gpu["device"]["uuid"] = nullptr;  // the place stands for it, on its host only
  EXPECT_EQ(read(gpu).unit, "0000:1a:00.0");
  EXPECT_FALSE(read(gpu).unique);
}

TEST(Devices, HaveTheLinkOfTheAwakeDeviceInEitherPhase) {
  json file = result();
  file["device"]["pcie_gen"] = 1;  // asleep at the start
  EXPECT_EQ(read(file).machine.link, "gen1 x16");
  const json awake = {{"after", {{"pcie_gen", 4}, {"pcie_width", 16}}}};
  for (const char* const place : {"/health", "/together/health"}) {
    json other = file;
    if (place[1] == 't') {
      other["together"] = {{"rates", nullptr}, {"health", nullptr}, {"window", nullptr}};
    }
    other[json::json_pointer(place)] = awake;
    EXPECT_EQ(origin_of("a.json", Value(other, "a.json")).machine.link, "gen4 x16") << place;
  }
}

TEST(Devices, HaveFiguresOfBothPhases) {
  json file = result();
  for (std::size_t i = 0; i < 2; ++i) {
    json together = file["runs"][i];
    together["phase"] = "together";
    for (json& sample : together["samples_s"]) sample = 2 * sample.get<double>();
    file["runs"][i]["phase"] = "alone";
    file["runs"].push_back(together);
  }
  const json rate = {{"median", 60}, {"min", 59}, {"max", 61}, {"lo", 59}, {"hi", 61}};
  file["runs"][3]["contention"] = 2;
  file["together"] = {{"rates", {{"bytes", 1}, {"duplex_rate", rate}, {"h2d_s", {1, 1, 1}}}},
                      {"health", {{"pcie_replays", 2}}}};
  const DeviceRecord one = read(file);
  EXPECT_DOUBLE_EQ(find(one, throughput)->value.lo, 0.8);
  EXPECT_DOUBLE_EQ(
      find(one, {deck::Phase::together, deck::Order::by_engine, deck::Metric::throughput})
          ->value.lo,
      0.4);
  const auto* const contention =
      find(one, {deck::Phase::together, deck::Order::by_engine, deck::Metric::contention});
  ASSERT_NE(contention, nullptr);
  EXPECT_LT(contention->value.lo, contention->value.hi);
  // Against the baseline of its own phase.
  EXPECT_DOUBLE_EQ(find(one, {deck::Phase::together, deck::Order::by_engine, deck::Metric::speedup})
                       ->value.median,
                   2);
  const auto* const duplex = find(one, {deck::Phase::together, {}, deck::Metric::duplex_rate});
  ASSERT_NE(duplex, nullptr);
  EXPECT_DOUBLE_EQ(duplex->value.lo, 59);
  EXPECT_EQ(duplex->value.n, 3);
  EXPECT_DOUBLE_EQ(find(one, {deck::Phase::together, {}, deck::Metric::pcie_replays})->value.median,
                   2);
}

TEST(Devices, SayWhyTheyDoNotPass) {
  json file = result();
  file["checks"] = {{{"metric", "throughput"},
                     {"order", "by_engine"},
                     {"value", 1},
                     {"bound", "min"},
                     {"verdict", "FAIL"},
                     {"text", "throughput of by_engine: too slow"},
                     {"limit", 3},
                     {"phase", "together"}},
                    {{"metric", "h2d_rate"},
                     {"order", nullptr},
                     {"value", nullptr},
                     {"verdict", "INCONCLUSIVE"},
                     {"text", "h2d_rate: no reference"},
                     {"limit", nullptr}},
                    {{"metric", "time"},
                     {"order", "by_engine"},
                     {"value", 1},
                     {"bound", "max"},
                     {"verdict", "PASS"},
                     {"limit", 1},
                     {"text", ""}}};
  file["runs"][1]["phase"] = "together";
  file["checks"][2]["phase"] = "together";
  file["exit_code"] = 5;
  file["verdict"] = "FAIL";
  const DeviceRecord one = read(file);
  ASSERT_EQ(one.troubles.size(), 2U);
  EXPECT_EQ(one.troubles[0].text, "throughput of by_engine, together: too slow");
  EXPECT_EQ(one.troubles[1].text, "h2d_rate: no reference");
  EXPECT_EQ(one.troubles[0].phase, deck::Phase::together);
  EXPECT_FALSE(one.troubles[0].undecided);
  EXPECT_EQ(one.troubles[1].code, ExitCode::inconclusive);
  EXPECT_TRUE(one.troubles[1].undecided);
  EXPECT_EQ(exit_code_of(one), ExitCode::performance);
}

TEST(Devices, WrongDataErrorsAndInterruptionsAreResults) {
  json wrong = result();
  wrong["runs"][1]["wrong"] = {{"chunk", 0}, {"array", "a"}, {"index", 3}};
  wrong["runs"][1]["verified"] = false;
  wrong["verdict"] = "FAIL";
  wrong["exit_code"] = 2;
  EXPECT_EQ(exit_code_of(read(wrong)), ExitCode::wrong_data);
  EXPECT_EQ(read(wrong).troubles[0].text, "by_engine left wrong data");
  json error = result();
  error["error"] = "no GPU";
  error["exit_code"] = 4;
  error["verdict"] = "ERROR";
  error["runs"] = error["checks"] = json::array();
  error["device"] = nullptr;
  EXPECT_EQ(exit_code_of(read(error)), ExitCode::precondition);
  EXPECT_EQ(read(error).troubles[0].text, "no GPU");
  json interrupted = result();
  interrupted["interrupted"] = true;
  interrupted["exit_code"] = 130;
  interrupted["verdict"] = "INTERRUPTED";
  EXPECT_EQ(exit_code_of(read(interrupted)), ExitCode::interrupted);
}

TEST(Devices, KnowWhichCriteriaHaveAReference) {
  json file = result();
  file["deck"]["resolved"]["acceptance"] = {{{"metric", "drift"}, {"phase", "together"}},
                                            {{"metric", "throughput"},
                                             {"order", "by_engine"},
                                             {"phase", "together"},
                                             {"reference", "given"},
                                             {"below", 0.1}}};
  EXPECT_NE(read(file).criteria, read(result()).criteria);
  const auto criteria = read(file).referenced;
  ASSERT_EQ(criteria.size(), 1U);
  EXPECT_EQ(criteria[0].below, 0.1);
  EXPECT_TRUE(criteria[0].covers(deck::Order::by_engine, deck::Phase::together));
  EXPECT_FALSE(criteria[0].covers(deck::Order::by_engine, deck::Phase::alone));
  EXPECT_FALSE(criteria[0].covers(deck::Order::sequential, deck::Phase::together));
}

/// The result with a criterion that it meets.
json judged() {
  json file = result();
  file["deck"]["resolved"]["acceptance"] = {
      {{"metric", "throughput"}, {"order", "by_engine"}, {"min", 0.5}}};
  file["checks"] = {{{"metric", "throughput"},
                     {"order", "by_engine"},
                     {"phase", "alone"},
                     {"point", json::object()},
                     {"value", 1},
                     {"bound", "min"},
                     {"limit", 0.5},
                     {"verdict", "PASS"},
                     {"text", "throughput"}}};
  return file;
}

TEST(Contradictions, MakeAFileBrokenForEveryCommand) {
  EXPECT_EQ(exit_code_of(read(judged())), ExitCode::pass);
  EXPECT_EQ(results_of("a.json", judged().dump()).size(), 1U);
  using Change = std::pair<const char*, json>;
  const std::vector<std::pair<std::vector<Change>, std::string>> cases = {
      {{{"/error", "no GPU"}}, "error: found 'no GPU'; allowed: null, where the verdict is PASS"},
      {{{"/verdict", "MAYBE"}}, "verdict: found 'MAYBE'; allowed: PASS, FAIL, "},
      {{{"/exit_code", 5}}, "verdict: found \"PASS\"; allowed: that of exit code 5"},
      {{{"/exit_code", 5}, {"/verdict", "FAIL"}},
       "exit_code: found 5; allowed: 0, which follows from runs and checks"},
      {{{"/interrupted", true}}, "exit_code: found 0; allowed: 130"},
      {{{"/runs/1/wrong", {{"chunk", 0}}}}, "exit_code: found 0; allowed: 2"},
      {{{"/runs/1/verified", false}},
       "runs[1].verified: found false; allowed: true, where the verdict is PASS"},
      {{{"/checks", json::array()}},
       "checks: found none of throughput of by_engine; allowed: one for each criterion of the "
       "deck"},
      {{{"/checks", nullptr}}, "checks: found no list"},
      {{{"/checks/0/verdict", "FAIL"}},
       "checks[0].verdict: found \"FAIL\"; allowed: that of 1 with limit 0.5"},
      {{{"/checks/0/limit", 2}},
       "checks[0].verdict: found \"PASS\"; allowed: that of 1 with limit 2"},
      {{{"/checks/0/bound", "max"}}, "checks[0].verdict: found \"PASS\""},
      {{{"/checks/0/limit", nullptr}},
       "checks[0].verdict: found \"PASS\"; allowed: INCONCLUSIVE, without value or limit"},
      {{{"/checks/0/verdict", "INCONCLUSIVE"}}, "exit_code: found 0; allowed: 6"},
      {{{"/checks/0/value", 1.1}}, "checks[0].value: found 1.1; allowed: 1.0, as the run has it"},
      {{{"/checks/0/value", nullptr}}, "checks[0].value: found null; allowed: 1.0"},
      {{{"/runs/1/throughput", 7}}, "checks[0].value: found 1; allowed: 7"},
      {{{"/runs/1/throughput", nullptr}}, "checks[0].value: found 1; allowed: null"},
      {{{"/checks/0/order", "depth_first"}},
       "checks[0].order: found 'depth_first'; allowed: an order that was measured"},
      {{{"/checks/0/phase", "together"}}, "checks[0].order: found 'by_engine'"},
  };
  for (const auto& [changes, message] : cases) {
    SCOPED_TRACE(message);
    json file = judged();
    for (const auto& [pointer, value] : changes) file[json::json_pointer(pointer)] = value;
    EXPECT_THAT(error_of(file.dump()), HasSubstr("a.json: " + message));
    try {
      results_of("a.json", file.dump());
      ADD_FAILURE();
    } catch (const base::Error& error) {
      EXPECT_EQ(error.what(), error_of(file.dump()));
      EXPECT_EQ(error.code(), ExitCode::runtime_error);
    }
  }
}

TEST(Contradictions, BetweenDeviceAndChecks) {
  json file = judged();
  file["rates"] = {{"h2d_rate", {{"median", 55}, {"min", 55}, {"max", 55}, {"lo", 55}, {"hi", 55}}},
                   {"bytes", 1000},
                   {"h2d_s", {1e-6}},
                   {"d2h_s", {1e-6}},
                   {"duplex_s", {1e-6}}};
  file["deck"]["resolved"]["acceptance"].push_back({{"metric", "h2d_rate"}, {"min", 50}});
  EXPECT_THAT(error_of(file.dump()), HasSubstr("checks: found none of h2d_rate; allowed"));
  json check = file["checks"][0];
  check.update({{"metric", "h2d_rate"}, {"order", nullptr}, {"value", 55}, {"limit", 50}});
  file["checks"].push_back(check);
  EXPECT_EQ(exit_code_of(read(file)), ExitCode::pass);
  file["rates"]["h2d_rate"]["median"] = 45;
  EXPECT_THAT(error_of(file.dump()), HasSubstr("checks[1].value: found 55; allowed: 45"));
}

TEST(Devices, SeveralDecksAreSeveralRecords) {
  EXPECT_EQ(devices_of("a.json", json{{"results", {result(), result()}}}.dump()).size(), 2U);
}

TEST(Devices, WhatIsNoResultSaysSo) {
  const std::string text = result().dump();
  EXPECT_THAT(error_of(text.substr(0, text.size() / 2)),
              HasSubstr(fmt::format("a.json:1:{}: found no valid JSON", text.size() / 2 + 1)));
  EXPECT_THAT(error_of("{\n  \"timeline\": [\n    1\n  ], x\n}"), HasSubstr("a.json:4:6: found"));
  EXPECT_THAT(error_of(""), HasSubstr("a.json:1:1: found"));
  EXPECT_THAT(error_of("{\"max_error\": 1e400}"), HasSubstr("a.json: found a number with more"));
  EXPECT_THAT(error_of("{}"), HasSubstr("found no schema"));
  EXPECT_THAT(error_of(R"({"results": []})"), HasSubstr("found no result"));
  const auto changed = [](const char* pointer, const json& value) {
    json file = result();
    file[json::json_pointer(pointer)] = value;
    return error_of(file.dump());
  };
  EXPECT_EQ(changed("/runs/0/point", {{"chunks.count", 4}}),
            "a.json: runs[0].point: found a sweep; allowed: a deck without a sweep");
  EXPECT_THAT(changed("/runs", json::array()), HasSubstr("runs: found no run"));
  EXPECT_THAT(changed("/runs/1/phase", "apart"), HasSubstr("allowed: alone, together"));
  EXPECT_EQ(changed("/exit_code", 9),
            "a.json: exit_code: found 9; allowed: an exit code of miniapp");
  EXPECT_THAT(changed("/host/name", 3), HasSubstr("host.name: found 3; allowed: text"));
  EXPECT_THAT(changed("/deck/identity", ""), HasSubstr("identity: found ''; allowed: a name"));
  EXPECT_THAT(changed("/exit_code", 9), HasSubstr("exit code"));
  EXPECT_EQ(changed("/verdict", "FAIL"),
            "a.json: verdict: found \"FAIL\"; allowed: that of exit code 0");
  EXPECT_EQ(changed("/exit_code", 5),
            "a.json: verdict: found \"PASS\"; allowed: that of exit code 5");
  EXPECT_EQ(changed("/runs/1/order", "sequential"),
            "a.json: runs[1].order: found a second run of sequential; allowed: one");
  EXPECT_EQ(changed("/runs/1/samples_s", json::array()),
            "a.json: runs: found a prediction; allowed: measured runs");
  EXPECT_THAT(changed("/runs/1/time_s/median", -1), HasSubstr("allowed: a number from lo to hi"));
  EXPECT_EQ(changed("/runs/1/verified", false),
            "a.json: runs[1].verified: found false; allowed: true, where the verdict is PASS");
  for (const char* const time : {"2026-01-31", "2026-1-31T12:00:00Z", "2026-1-31T12:00:00Zx",
                                 "2026-1-1T12:00:00Z\u00e9", "2026-01-31T12:00:00Zx"}) {
    EXPECT_THAT(changed("/started", time),
                HasSubstr("allowed: a time such as 2026-01-31T12:00:00Z"))
        << time;
  }
  const auto lists = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_THAT(error_of(lists(most_nested)), HasSubstr("found no schema"));
  EXPECT_EQ(error_of(lists(most_nested + 1)),
            "a.json: found lists and objects more than 100 deep; allowed: a result file");
  json prediction = result();
  for (json& run : prediction["runs"]) run["samples_s"] = json::array();
  EXPECT_THAT(error_of(prediction.dump()), HasSubstr("found a prediction"));
}

/// A folder that goes with the test.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "overlap-fleet-test";
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

TEST(Devices, OfAFolderAreReadOnceAndNoFileIsSkippedInSilence) {
  const Folder folder;
  const std::string good = folder.write("a.json", result().dump());
  folder.write("b.json", "{\"schema\"");
  const std::string fleet = folder.write("c.json", R"({"schema": "overlap-fleet/1"})");
  folder.write("d.txt", "no");
  folder.write("e.json", "{}");
  folder.write("f.json", "[]");
  const auto input = read_devices(source_files({folder.path.string(), good}));
  EXPECT_EQ(input.files, 5U);
  EXPECT_EQ(input.records.size(), 1U);
  ASSERT_EQ(input.broken.size(), 3U);
  EXPECT_THAT(input.broken[0].text, HasSubstr("b.json:1:10: found no valid JSON"));
  EXPECT_THAT(input.broken[1].text, HasSubstr("e.json: found no schema"));
  EXPECT_THAT(input.broken[2].text, HasSubstr("f.json: found"));
  ASSERT_EQ(input.left_out.size(), 1U);
  EXPECT_THAT(input.left_out[0], HasSubstr("c.json: overlap-fleet/1, not a result file; skipped"));
  EXPECT_EQ(read_devices(source_files({fleet})).broken.size(), 1U);  // by its own name
  EXPECT_EQ(read_devices(source_files({(folder.path / "none.json").string()})).broken.size(), 1U);
}

TEST(Results, OfAFolderAreReadOnceAndWithoutOtherFilesOfTheProgram) {
  const Folder folder;
  const std::string good = folder.write("a.json", result().dump());
  const std::string fleet = folder.write("c.json", R"({"schema": "overlap-fleet/1"})");
  EXPECT_EQ(read_results({folder.path.string(), good}).size(), 1U);
  EXPECT_THROW(read_results({fleet}), base::Error);  // by its own name
  std::filesystem::remove(good);
  EXPECT_THROW(read_results({folder.path.string()}), base::Error);
}

TEST(Devices, DifferInCriteriaIfTheirDecksRequireMore) {
  json file = result();
  const std::string before = read(file).criteria;
  file["deck"]["resolved"]["require"] = {{"pcie", "max"}};
  EXPECT_NE(read(file).criteria, before);
}

TEST(Hosts, AreReadFromAFile) {
  const Folder folder;
  const auto hosts = [&](const char* text) { return read_hosts(folder.write("hosts", text)); };
  const std::vector<experiment::ExpectedHost> found =
      hosts("n1 n2\r\n# none\n\nn3:8 # last\n0-a.b--c.9:1024");
  std::vector<std::pair<std::string, int>> all;
  for (const auto& [host, devices] : found) all.emplace_back(host, devices);
  EXPECT_THAT(all, ElementsAre(std::pair("n1", 1), std::pair("n2", 1), std::pair("n3", 8),
                               std::pair("0-a.b--c.9", 1024)));
  EXPECT_THROW(hosts("# none\n"), base::Error);
  EXPECT_THROW(read_hosts((folder.path / "no").string()), base::Error);
}

TEST(Hosts, WhatIsNoneIsRefusedWithItsLine) {
  const Folder folder;
  const auto error = [&](const std::string& text) -> std::string {
    try {
      read_hosts(folder.write("hosts", text));
    } catch (const base::Error& found) {
      EXPECT_EQ(found.code(), ExitCode::usage);
      return found.what();
    }
    return "none";
  };
  const std::string long_label(64, 'a');
  for (const std::string& word : {std::string("-"),
                                  std::string("n[1-4]"),
                                  std::string("n1,n2"),
                                  std::string("\"n1\""),
                                  std::string("."),
                                  std::string("n1."),
                                  std::string("a..b"),
                                  std::string("host=vm"),
                                  std::string("n\0001", 3),
                                  std::string("n\xff"),
                                  std::string("n_1"),
                                  std::string("-n1"),
                                  std::string("n1-"),
                                  std::string("n1:"),
                                  std::string("n1:0"),
                                  std::string("n1:-1"),
                                  std::string("n1:x"),
                                  std::string("n1:8:8"),
                                  std::string("n1:1025"),
                                  std::string(":8"),
                                  long_label,
                                  long_label.substr(1) + "." + long_label.substr(1) + "." +
                                      long_label.substr(1) + "." + long_label.substr(1)}) {
    const std::string text = error("n1\n# two\n  " + word + " n2\n");
    EXPECT_THAT(text, testing::ContainsRegex("hosts:3: found '.*'; allowed: host names, ")) << word;
    EXPECT_EQ(base::one_line(text), text);
  }
  EXPECT_LT(error(std::string(5000000, 'x')).size(), 400U);
  EXPECT_THAT(error("\n" + std::string(5000000, 'x')), HasSubstr(":2: found 'xxxxx"));
}

/// Nine devices on three hosts; one is slow, one host missing, one file broken.
experiment::Fleet planted(int devices = 9) {
  experiment::FleetInput input{.files = 10};
  for (int i = 0; i < devices; ++i) {
    DeviceRecord one = read(result());
    one.host = "n" + std::to_string(i / 3 + 1);
    one.unit = "GPU-" + std::to_string(i);
    one.file = one.unit + ".json";
    one.build = "1.2.3";
    const double factor = i == 4 ? 0.7 : 1;
    for (experiment::Figure& figure : one.figures) {
      if (figure.key.metric == deck::Metric::throughput) figure.value.median *= factor;
    }
    if (i == 5) one.driver = "570.2";
    input.records.push_back(one);
  }
  input.broken = {{"x.json", "x.json: found <nothing>"}};
  input.left_out = {"y.json: overlap-fleet/1, not a result file; skipped"};
  return experiment::fleet_of(std::move(input), {{"n1"}, {"n2"}, {"n3", 5}, {"n4"}});
}

TEST(FleetText, NamesEveryTrouble) {
  const std::string text = fleet_text(planted());
  EXPECT_THAT(text, HasSubstr("9 devices on 3 hosts: GPU, gen5 x16, Cuda, deck hand"));
  EXPECT_THAT(
      text, testing::ContainsRegex("n2 +0000:1a:00.0 +GPU-4 +FAIL +throughput of sequential, "
                                   "alone: 0.3500 GB/s, 30.0 % below the median 0.5000 GB/s of 9"));
  EXPECT_THAT(text, HasSubstr("missing host\nn4\n"));
  EXPECT_THAT(text, HasSubstr("\nn3               2 of 5 devices without a result\n"));
  EXPECT_THAT(text, HasSubstr("x.json: found <nothing>"));
  EXPECT_THAT(text, HasSubstr("y.json: overlap-fleet/1"));
  EXPECT_THAT(text, HasSubstr("n2 GPU-5"));  // its driver
  EXPECT_THAT(text, HasSubstr("10 files: 9 devices, 1 not passed, 1 expected host missing, 2 "
                              "devices missing, 1 file broken, 1 file skipped"));
}

TEST(FleetText, CountsADeviceOnceForAllItsDecks) {
  experiment::FleetInput input{.files = 1};
  for (const char* deck : {"a", "b"}) {
    DeviceRecord one = read(result());
    one.deck_name = one.machine.deck = deck;
    one.troubles = {
        {.code = base::ExitCode::performance, .text = "slow", .phase = deck::Phase::alone}};
    input.records.push_back(one);
  }
  EXPECT_THAT(fleet_text(experiment::fleet_of(std::move(input), {})),
              HasSubstr("1 file: 1 device, 1 not passed"));
}

TEST(FleetText, OfManyDevicesHasTheSpread) {
  const std::string text = fleet_text(planted(30));
  EXPECT_THAT(text,
              testing::ContainsRegex("by_engine, GB/s +alone +30 +1.000 +0.00 % +0.7000 +1.000 "
                                     "+n2 GPU-4 \\(-30.0 %\\)"));
  EXPECT_THAT(text,
              testing::ContainsRegex("29 +##################################################\n"));
  EXPECT_THAT(text, Not(HasSubstr("GPU-29")));
}

TEST(FleetLines, AreForHarnesses) {
  const std::string lines = fleet_lines(planted(), true);
  EXPECT_THAT(lines, HasSubstr("OVERLAP_DEVICE host=n1 uuid=GPU-0 phase=alone verdict=PASS\n"));
  EXPECT_THAT(lines, HasSubstr("OVERLAP_DEVICE host=n2 uuid=GPU-4 phase=alone verdict=FAIL\n"));
  EXPECT_THAT(lines, HasSubstr("OVERLAP_SLOWEST host=n2 uuid=GPU-4 metric=throughput value=0.7 "
                               "median=1 phase=alone order=by_engine\n"));
  EXPECT_THAT(lines, testing::EndsWith("OVERLAP_RESULT verdict=ERROR data=OK exit=1\n"));
  const std::string few = fleet_lines(planted(30), false);
  EXPECT_THAT(few, Not(HasSubstr("GPU-0 ")));
  EXPECT_THAT(few, HasSubstr("uuid=GPU-4 phase=alone verdict=FAIL\n"));
}

TEST(FleetJson, HasOneRecordPerDevice) {
  const json file = json::parse(fleet_json(planted()));
  EXPECT_EQ(file["schema"], "overlap-fleet/1");
  ASSERT_EQ(file["devices"].size(), 9U);
  EXPECT_EQ(file["devices"][4]["uuid"], "GPU-4");
  EXPECT_EQ(file["devices"][4]["verdict"], "FAIL");
  EXPECT_EQ(file["devices"][4]["phases"][0]["phase"], "alone");
  EXPECT_EQ(file["missing_hosts"], json({"n4"}));
  EXPECT_EQ(file["missing_devices"][0]["host"], "n3");
  EXPECT_EQ(file["missing_devices"][0]["missing"], 2);
  EXPECT_EQ(file["broken_files"][0]["file"], "x.json");
  EXPECT_EQ(file["groups"][0]["drivers"][1]["uuids"], json({"GPU-5"}));
  EXPECT_EQ(file["exit_code"], 1);
  for (const json& of : file["groups"][0]["distributions"]) {
    const bool compared = of["metric"] == "throughput";
    ASSERT_EQ(of["outliers"].size(), compared ? 1U : 0U) << of;
    if (compared) {
      EXPECT_EQ(of["outliers"][0]["uuid"], "GPU-4");
    }
  }
  EXPECT_EQ(json::parse(fleet_json({}))["devices"], json::array());
}

TEST(FleetSchema, IsWhatTheTablesSay) {
  test::expect_generated(OVERLAP_SOURCE_DIR "/src/report/overlap-fleet-1.schema.json",
                         fleet_schema());
}

TEST(FleetJunit, HasATestPerDeviceHostAndFile) {
  const std::string text = fleet_junit(planted());
  EXPECT_THAT(text, HasSubstr("tests=\"12\" failures=\"3\" errors=\"1\" skipped=\"0\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"n1.GPU-0\" name=\"hand/device\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"n4\" name=\"host\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"n3\" name=\"devices\""));
  EXPECT_THAT(text, HasSubstr("x.json: found &lt;nothing&gt;</error>"));
}

TEST(FleetPage, IsCompleteInItself) {
  const std::string page = fleet_html(planted(), "fleet.html");
  EXPECT_THAT(page, HasSubstr("<title>Fleet: ERROR</title>"));
  EXPECT_THAT(page, HasSubstr("x.json: found &lt;nothing&gt;"));
  const std::string start = "<script type=\"application/json\" id=\"fleet\">";
  const std::size_t from = page.find(start) + start.size();
  const json data = json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(data["unit"].size(), 9U);
  EXPECT_EQ(data["verdict"][4], "FAIL");
  EXPECT_EQ(data["groups"][0]["figures"][0]["values"].size(), 9U);
  EXPECT_EQ(data["missing"], json({"n4"}));
  EXPECT_THAT(fleet_html({}, "fleet.html"), Not(HasSubstr("<canvas")));
}

TEST(FleetPage, ADeviceLeadsToItsPageOrFile) {
  const Folder folder;
  experiment::Fleet fleet = planted();
  fleet.devices[0].file = folder.write("az AZ09{`@[:.json", "");
  fleet.devices[1].file = folder.write("c.json", "");
  folder.write("c.html", "");
  std::filesystem::create_directories(folder.path / "out");
  for (const char* const path : {"out/fleet.html", "out/../out/fleet.html"}) {
    const std::string page = fleet_html(fleet, (folder.path / path).string());
    EXPECT_THAT(page, HasSubstr(R"("link":["../az%20AZ09%7B%60%40%5B%3A.json","../c.html","",)"));
  }
}

/// Seventy devices of which no two are alike: with old drivers, without any, and with troubles.
experiment::Fleet motley() {
  experiment::FleetInput input{.files = 75};
  for (int i = 0; i < 70; ++i) {
    DeviceRecord one = read(result());
    one.host = "n" + std::to_string(10 + i / 3);
    one.unit = i % 7 == 0 ? one.host : "GPU-" + std::to_string(i);
    one.slot = i % 5 == 0 ? "" : "0000:" + std::to_string(10 + i % 3) + ":00.0";
    one.file = "files/" + std::to_string(i) + ".json";
    one.build = "1.2.3";
    one.driver = i % 3 == 0 ? "570.2" : i % 13 == 1 ? "" : one.driver;
    for (std::size_t j = 0; j < one.figures.size(); ++j) {
      const double slow = i % 11 == 4 ? 0.8 : i == 6 ? 1.3 : 1;
      one.figures[j].value.median *= slow * (1 + 1e-4 * ((i * 17 + 5 * static_cast<int>(j)) % 29));
    }
    for (int trouble = 0; trouble < (i % 4 == 2 ? i % 3 + 1 : 0); ++trouble) {
      one.troubles.push_back({.code = trouble == 1 ? ExitCode::wrong_data : ExitCode::performance,
                              .text = "trouble " + std::to_string(trouble),
                              .phase = {}});
    }
    input.records.push_back(one);
  }
  std::vector<experiment::ExpectedHost> hosts;
  for (int i = 10; i < 60; ++i) hosts.push_back({"n" + std::to_string(i)});
  input.broken = {{"x.json", "x.json: cut short"}};
  input.left_out = {"y.json: not a result file; skipped", "z.json: not a result file; skipped"};
  return experiment::fleet_of(std::move(input), hosts);
}

/// Devices that worked alone and together, half of them with two older results, and one that ran
/// another deck.
experiment::Fleet both_phases(int devices) {
  json file = result();
  for (std::size_t i = 0; i < 2; ++i) {
    json together = file["runs"][i];
    together["phase"] = "together";
    for (json& sample : together["samples_s"]) sample = 1.6 * sample.get<double>();
    file["runs"].push_back(together);
  }
  const json rate = {{"median", 1}, {"min", 0.9}, {"max", 1.2}, {"lo", 0.97}, {"hi", 1.1}};
  file["rates"] = {{"bytes", 1}, {"duplex_rate", rate}, {"h2d_s", {1, 1, 1}}};
  file["together"] = {{"rates", file["rates"]}, {"health", {{"pcie_replays", 2}}}};
  experiment::FleetInput input{.files = 20};
  for (int i = 0; i < devices; ++i) {
    DeviceRecord one = read(file);
    one.host = "n" + std::to_string(i / 4 + 1);
    one.unit = "GPU-" + std::to_string(i);
    one.build = "1.2.3";
    one.started = "2026-02-03T04:05:06Z";
    for (std::size_t j = 0; j < one.figures.size(); ++j) {
      const bool slow = i == 5 && one.figures[j].key.phase == Phase::together;
      one.figures[j].value.median *=
          (slow ? 0.4 : 1) * (1 + 3e-2 * ((i * 7 + 3 * static_cast<int>(j)) % 11));
    }
    for (int older = 0; older < (i % 2 == 0 ? 2 : 0); ++older) {
      DeviceRecord before = one;
      before.started = older == 0 ? "2025-12-31T23:59:58Z" : "2026-01-02T03:04:05Z";
      for (std::size_t j = 0; j < before.figures.size(); ++j) {
        before.figures[j].value.median *=
            1 + 1e-2 * (older + 1) * (i - 2) + 1e-3 * static_cast<double>(j);
      }
      input.records.push_back(before);
    }
    if (i == 7) {
      one.machine.deck = "other";
      one.deck_name = "other";
      one.machine.link.reset();
    }
    input.records.push_back(one);
  }
  return experiment::fleet_of(std::move(input), {});
}

TEST(FleetText, NamesThePhaseOfItsFigures) {
  EXPECT_THAT(fleet_text(planted(3)), HasSubstr("\nMedians; throughput"));
  DeviceRecord one = read(result());
  for (experiment::Figure& figure : one.figures) figure.key.phase = Phase::together;
  experiment::FleetInput input{.records = {one}, .broken = {}, .left_out = {}, .files = 1};
  EXPECT_THAT(fleet_text(experiment::fleet_of(std::move(input))),
              HasSubstr("\nMedians, together; throughput"));
}

TEST(FleetText, HasALineForEachDeviceUpToSixteen) {
  EXPECT_THAT(fleet_text(planted(16)), HasSubstr("\nn6    0000:1a:00.0  GPU-15 "));
  EXPECT_THAT(fleet_text(planted(17)), Not(HasSubstr("GPU-15")));
  EXPECT_THAT(fleet_lines(planted(16), false), HasSubstr("uuid=GPU-15 phase=alone verdict=PASS"));
  EXPECT_THAT(fleet_lines(planted(17), false), Not(HasSubstr("uuid=GPU-15 ")));
}

TEST(FleetText, CutsTablesThatAreLonger) {
  const experiment::Fleet fleet{.missing = {"n1", "n2", "n3"}};
  EXPECT_EQ(missing_rows(fleet, 3), (Rows{{"missing host"}, {"n1"}, {"n2"}, {"n3"}}));
  EXPECT_EQ(missing_rows(fleet, 2), (Rows{{"missing host"}, {"n1"}, {"n2"}, {"and 1 more"}}));
  EXPECT_EQ(missing_rows({}, 2), Rows());
}

TEST(FleetText, HasTheFigureOfAnOutlierThatDeviatesMost) {
  const experiment::Fleet fleet = planted();
  for (const auto& [off, figure] : {std::pair(-0.2, "throughput of sequential, GB/s"),
                                    {-0.3, "throughput of sequential, GB/s"},
                                    {-0.4, "throughput of by_engine, GB/s"}}) {
    experiment::Group group = fleet.groups.at(0);
    for (experiment::Distribution& of : group.distributions) {
      for (experiment::Standing& outlier : of.outliers) {
        outlier.off = of.key == throughput ? off : -0.3;
      }
    }
    const Rows rows = outlier_rows(fleet, group, 9, false);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[1][4], figure);
    EXPECT_EQ(rows[1].back(), "2");
  }
  EXPECT_EQ(outlier_rows(fleet, fleet.groups.at(0), 9, true), Rows());
}

TEST(FleetText, HasTheHistogramOfTheFigureThatDiffersMost) {
  experiment::FleetInput input;
  for (const auto& [sequential, by_engine] : {std::pair(1.0, 0.5), {1.0, 1.0}, {1.2, 1.0}}) {
    DeviceRecord one = read(result());
    one.unit = "GPU-" + std::to_string(input.records.size());
    for (experiment::Figure& figure : one.figures) {
      if (figure.key.metric != deck::Metric::throughput) continue;
      figure.value.median = figure.key == throughput ? by_engine : sequential;
    }
    input.records.push_back(one);
  }
  const experiment::Fleet fleet = experiment::fleet_of(std::move(input));
  EXPECT_THAT(histogram(fleet, fleet.groups.at(0)),
              testing::StartsWith("throughput of by_engine, GB/s, alone: number of devices"));
  const experiment::Fleet alike = planted(3);
  EXPECT_EQ(histogram(alike, alike.groups.at(0)), "");
}

TEST(FleetText, HasBarsOfAtLeastTheirLength) {
  experiment::FleetInput input;
  for (int i = 0; i < 8; ++i) {
    DeviceRecord one = read(result());
    one.unit = "GPU-" + std::to_string(i);
    for (experiment::Figure& figure : one.figures) {
      if (figure.key == throughput) figure.value.median = i == 0 ? 0.5 : 1;
    }
    input.records.push_back(one);
  }
  const experiment::Fleet fleet = experiment::fleet_of(std::move(input));
  // A seventh of 50 is 7.14.
  EXPECT_THAT(histogram(fleet, fleet.groups.at(0)),
              testing::ContainsRegex("\n0\\.5000 +1 +########\n"));
}

TEST(Golden, FleetsAsItIsWritten) {
  const experiment::Fleet few = planted(), many = motley(), both = both_phases(9);
  const auto page = [](const experiment::Fleet& fleet) {
    return overlap::without(without_style(fleet_html(fleet, "out/fleet.html")), "<script>",
                            "</script>");
  };
  expect_golden({{"fleet.txt", fleet_text(few) + fleet_lines(few, true)},
                 {"fleet_phases.txt", fleet_text(both) + fleet_lines(both, false)},
                 {"fleet_phases.html", page(both)},
                 {"fleet_phases.json", fleet_json(both)},
                 {"fleet_many.txt", fleet_text(many) + fleet_lines(many, false)},
                 {"fleet_many.html", page(many)},
                 {"fleet_junit.xml", fleet_junit(many)}});
}

}  // namespace
}  // namespace overlap::report
