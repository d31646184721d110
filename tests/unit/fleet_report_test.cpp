#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "deck_file.hpp"
#include "report/writers.hpp"
#include "results.hpp"
#include "results/read_files.hpp"

/// From result files to the reports of a fleet.
namespace overlap::results {
namespace {

using base::ExitCode;
using deck::Metric;
using deck::Order;
using deck::Phase;
using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr FigureKey throughput{Phase::alone, Order::by_engine, Metric::throughput};

/// A result file of two orders, as the program writes it.
std::string file_text() {
  Result result = result_of(point_of({run_of(Order::sequential, {1.9, 2, 2.1, 2, 2, 2}),
                                      run_of(Order::by_engine, {1, 1, 1, 1.25, 1, 0.8})}));
  result.deck.identity = "abc";
  result.machine.build.backend = "Cuda";
  result.machine.device = base::DeviceInfo{.name = "GPU",
                                           .uuid = "GPU-1",
                                           .pci_bus_id = "0000:1a:00.0",
                                           .pcie_gen = 5,
                                           .pcie_width = 16,
                                           .driver = "580.1"};
  return to_json(std::vector{result});
}

json file() { return json::parse(file_text()); }

FleetDevice device(const json& found = file()) { return devices_of("a.json", found.dump()).at(0); }

std::string error_of(const std::string& text) {
  try {
    devices_of("a.json", text);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "none";
}

/// The error of the file with other values at these places.
std::string error_of(const std::vector<std::pair<const char*, json>>& changes) {
  json changed = file();
  for (const auto& [pointer, value] : changes) changed[json::json_pointer(pointer)] = value;
  return error_of(changed.dump());
}

TEST(Devices, AreReducedToTheirFigures) {
  const FleetDevice one = device();
  EXPECT_EQ(one.host, "n1");
  EXPECT_EQ(one.unit, "GPU-1");
  EXPECT_TRUE(one.unique);
  EXPECT_EQ(one.slot, "0000:1a:00.0");
  EXPECT_EQ(one.subject.device, "GPU");
  EXPECT_EQ(one.subject.link, "gen5 x16");
  EXPECT_EQ(one.driver, "580.1");
  EXPECT_EQ(exit_code_of(one), ExitCode::pass);
  const DeviceFigure* const figure = find(one, throughput);
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->value.n, 6);
  EXPECT_DOUBLE_EQ(figure->value.median, 1);
  EXPECT_DOUBLE_EQ(figure->value.lo, 0.8);
  EXPECT_DOUBLE_EQ(figure->value.hi, 1.25);
}

TEST(Devices, WithoutUuidHaveTheirPlaceOrHost) {
  json changed = file();
  changed["device"]["uuid"] = nullptr;
  EXPECT_EQ(device(changed).unit, "0000:1a:00.0");
  EXPECT_FALSE(device(changed).unique);
  changed["device"] = nullptr;
  EXPECT_EQ(device(changed).unit, "n1");
  EXPECT_EQ(device(changed).subject.device, "CPU");
}

TEST(Devices, ErrorsAndInterruptionsAreResults) {
  json error = file();
  error.update({{"error", "no GPU"}, {"exit_code", 4}, {"verdict", "ERROR"}});
  error["points"][0]["runs"] = error["points"][0]["checks"] = json::array();
  EXPECT_EQ(exit_code_of(device(error)), ExitCode::precondition);
  EXPECT_EQ(device(error).reasons.at(0).text, "no GPU");
  json interrupted = file();
  interrupted.update({{"exit_code", 130}, {"verdict", "INTERRUPTED"}});
  interrupted["points"][0]["outcome"]["interrupted"] = true;
  EXPECT_EQ(exit_code_of(device(interrupted)), ExitCode::interrupted);
}

TEST(Devices, WhatIsNoResultSaysSo) {
  const std::string text = file().dump();
  EXPECT_THAT(error_of(text.substr(0, text.size() / 2)), HasSubstr("found no valid JSON"));
  EXPECT_THAT(error_of("{\n  \"timeline\": [\n    1\n  ], x\n}"), HasSubstr("a.json:4:6: found"));
  EXPECT_THAT(error_of("{}"), HasSubstr("a.json: "));
  EXPECT_THAT(error_of(R"({"results": []})"), HasSubstr("found no result"));
  const auto lists = std::string(102, '[') + std::string(102, ']');
  EXPECT_THAT(error_of(lists), HasSubstr("a.json: found no valid JSON"));
  EXPECT_THAT(error_of({{"/exit_code", 9}}), HasSubstr("a.json: exit_code: found 9; allowed: "));
  EXPECT_THAT(error_of({{"/host/name", 3}}), HasSubstr("host.name: found 3; allowed: a name"));
  EXPECT_THAT(error_of({{"/points/0/phase", "apart"}}), HasSubstr("allowed: alone, together"));
  EXPECT_THAT(error_of({{"/predicted_for", {"h200"}}}), HasSubstr("found a prediction"));
  EXPECT_THAT(error_of({{"/points/0/runs", json::array()}}), HasSubstr("found no run"));
  EXPECT_THAT(error_of({{"/started", "2026-01-31"}}), HasSubstr("2026-01-31T12:00:00Z"));
}

TEST(Devices, OfAFolderAreReadOnceAndNoFileIsSkippedInSilence) {
  const Folder folder;
  const std::string good = folder.write("a.json", file().dump());
  folder.write("b.json", "{\"schema\"");
  const std::string fleet = folder.write("c.json", R"({"schema": "overlap-fleet/1"})");
  folder.write("d.txt", "no");
  folder.write("e.json", "{}");
  std::filesystem::create_directories(folder.path() + "/101/again");
  std::filesystem::create_directory_symlink(folder.path(), folder.path() + "/101/above");
  folder.write("101/again/f.json", file().dump());
  folder.write("101/g.json.gz", "no");
  folder.write("101/h.json.lock", "");
  const Fleet input = read_devices(source_files({folder.path(), good}));
  EXPECT_EQ(input.files, 4U);
  EXPECT_EQ(input.devices.size(), 2U);
  ASSERT_EQ(input.broken.size(), 2U);
  EXPECT_THAT(input.broken[0].text, HasSubstr("b.json:1:10: found no valid JSON; allowed: "));
  EXPECT_THAT(input.left_out,
              ElementsAre(EndsWith("/101/g.json.gz"), EndsWith("/c.json"), EndsWith("/d.txt")));
  EXPECT_THAT(text_of_left_out({"a", "b"}), "skipped 2 files, no result: a, b");
  EXPECT_THAT(text_of_left_out(std::vector<std::string>(12, "a")), EndsWith(", a and 4 more"));
  EXPECT_EQ(read_devices(source_files({fleet})).broken.size(), 1U);  // by its own name
  EXPECT_EQ(read_measured({folder.path() + "/a.json", good}).size(), 1U);
  EXPECT_EQ(read_measured({folder.path() + "/101"}).size(), 1U);
}

TEST(Hosts, AreReadFromAFile) {
  const Folder folder;
  const auto hosts = [&](const std::string& text) {
    std::vector<std::pair<std::string, int>> all;
    for (const auto& [host, devices] : read_hosts(folder.write("hosts", text))) {
      all.emplace_back(host, devices);
    }
    return all;
  };
  EXPECT_THAT(hosts("n1\n n2\r\n# none\n\nn3:8 # last\n0-a.b--c.9:1024\n_GPU_node_01\n"),
              ElementsAre(std::pair("n1", 1), std::pair("n2", 1), std::pair("n3", 8),
                          std::pair("0-a.b--c.9", 1024), std::pair("_GPU_node_01", 1)));
  EXPECT_THROW(hosts("# none\n"), base::Error);
  for (const char* const word :
       {"-n1", "n1:", "n1:0", "n1:x", "n1:1025", ":8", "n1 n2", "n1 2", "2*n1", "n[1-4]"}) {
    EXPECT_THROW(hosts(std::string("n1\n") + word), base::Error) << word;
  }
}

/// Devices on hosts of three; one is slow, one host missing, one file broken.
Fleet planted(int devices = 9) {
  Fleet input{.files = 10};
  for (int i = 0; i < devices; ++i) {
    FleetDevice& one = input.devices.emplace_back(device());
    one.host = "n" + std::to_string(i / 3 + 1);
    one.unit = "GPU-" + std::to_string(i);
    one.file = one.unit + ".json";
    if (i == 5) one.driver = "570.2";
    for (DeviceFigure& figure : one.figures) {
      if (figure.key.metric == Metric::throughput) figure.value.median *= i == 4 ? 0.7 : 1;
    }
  }
  input.broken = {{"x.json", "x.json: found <nothing>"}};
  input.left_out = {"y.json"};
  return fleet_of(std::move(input), {{"n1"}, {"n2"}, {"n3", 5}, {"n4"}});
}

std::string text_of(const Fleet& fleet) {
  return report::terminal(report::fleet_report(fleet), {.width = 400});
}

TEST(FleetReport, NamesEveryTrouble) {
  const std::string text = text_of(planted());
  EXPECT_THAT(text, HasSubstr("9 devices on 3 hosts: GPU, gen5 x16, Cuda, deck hand"));
  EXPECT_THAT(
      text, testing::ContainsRegex("n2 GPU-4 .slot 0000:1a:00.0. +FAIL +throughput of sequential, "
                                   "alone: 0.3500 GB/s, 30.0 % below the median 0.5000 GB/s of 9"));
  EXPECT_THAT(text, HasSubstr("missing or broken\nn3: 2 of 5 devices without a result\n"
                              "n4: no result of this host\nx.json: found <nothing>\n"));
  EXPECT_THAT(text, HasSubstr("\nskipped 1 file, no result: y.json\n"));
  EXPECT_THAT(text, testing::ContainsRegex("GPU-5 .* 570.2 +PASS"));
  EXPECT_THAT(text, HasSubstr("10 files: 9 devices, 1 not passed, 1 expected host missing, 2 "
                              "devices missing, 1 file broken, 1 file skipped"));
}

TEST(FleetReport, OfManyDevicesShowsTheSpreadAndThoseThatDiffer) {
  EXPECT_THAT(text_of(planted(16)), HasSubstr("GPU-15 "));
  const std::string text = text_of(planted(30));
  EXPECT_THAT(text, HasSubstr("GPU-4 "));
  EXPECT_THAT(text, Not(HasSubstr("GPU-29")));
  EXPECT_THAT(report::page(report::fleet_report(planted(30))), HasSubstr("GPU-29"));
}

TEST(FleetReport, EqualReasonsShareARow) {
  Fleet input{.files = 12};
  for (int i = 0; i < 12; ++i) {
    FleetDevice& one = input.devices.emplace_back(device());
    one.unit = "GPU-" + std::to_string(i);
    if (i < 10) one.reasons = {{.code = ExitCode::precondition, .text = "no GPU", .phase = {}}};
    if (i == 11) one.reasons = {{.code = ExitCode::performance, .text = "slow", .phase = {}}};
  }
  const std::string text = text_of(fleet_of(std::move(input)));
  EXPECT_EQ(text.find("no GPU"), text.rfind("no GPU"));
  EXPECT_THAT(text,
              testing::ContainsRegex("10 devices +n1 GPU-0, .*n1 GPU-7 and 2 more +ERROR +no GPU"));
  EXPECT_THAT(text, testing::ContainsRegex("1 device +n1 GPU-11 .slot 0000:1a:00.0. +FAIL +slow"));
}

TEST(FleetReport, OneReasonOfSeveralFiguresAndDevicesIsOneRow) {
  Fleet input{.files = 3};
  for (const char* const unit : {"GPU-0", "GPU-1", "GPU-2"}) {
    FleetDevice& one = input.devices.emplace_back(device());
    one.unit = unit;
    one.referenced = true;
    if (one.unit == "GPU-2") continue;
    for (const char* const figure : {"h2d_rate, alone", "d2h_rate, alone", "h2d_rate, together"}) {
      one.reasons.push_back({ExitCode::inconclusive, "no --reference was given", {}, figure});
    }
  }
  input.devices[1].reasons.push_back({ExitCode::performance, "too slow", {}, "h2d_rate, alone"});
  input.devices[2].reasons = {{ExitCode::runtime_error, "rank 2 on n1 is lost"}};
  FleetDevice other_deck = input.devices[2];
  other_deck.deck_name = other_deck.subject.deck = "other";
  input.devices.push_back(other_deck);
  const Fleet made = fleet_of(std::move(input));
  const std::string text = text_of(made);
  EXPECT_THAT(text, testing::ContainsRegex("2 devices +n1 GPU-0, n1 GPU-1 +INCONCLUSIVE +hand: 3 "
                                           "metrics: no --reference was given\n"));
  EXPECT_THAT(text, testing::ContainsRegex("1 device +n1 GPU-1 .slot 0000:1a:00.0. +FAIL +hand: "
                                           "h2d_rate, alone: too slow\n"));
  EXPECT_THAT(text, testing::ContainsRegex("1 device +n1 GPU-2 .slot 0000:1a:00.0. +ERROR +rank 2 "
                                           "on n1 is lost\n"));
  EXPECT_THAT(report::junit(made), HasSubstr(">3 metrics: no --reference was given</error>"));
}

TEST(FleetReport, ChartsNameHostsAndSlowDevices) {
  const report::Report made = report::fleet_report(planted());
  const auto found = std::ranges::find_if(made.blocks, [](const report::Block& block) {
    return std::holds_alternative<report::Chart>(block.content);
  });
  ASSERT_NE(found, made.blocks.end());
  const auto& chart = std::get<report::Chart>(found->content);
  EXPECT_THAT(chart.x.ticks,
              ElementsAre(std::pair(2.0, "n1"), std::pair(5.0, "n2"), std::pair(8.0, "n3")));
  std::vector<std::string> names;
  for (const report::Chart::Point& point : chart.series.at(0).points) {
    if (!point.name.empty()) names.push_back(point.name);
  }
  EXPECT_THAT(names, ElementsAre("n2 GPU-4"));
}

TEST(FleetReport, NamesAllResultsOfADevice) {
  Fleet input{.files = 2, .devices = {device(), device()}};
  input.devices[0].started = "2099-01-01T00:00:00Z";
  input.devices[1].file = "b.json";
  input.devices[1].reasons = {{.code = ExitCode::performance, .text = "slow", .phase = {}}};
  const std::string text = text_of(fleet_of(std::move(input)));
  EXPECT_THAT(text, testing::ContainsRegex("GPU-1 +2099-01-01T00:00:00Z +PASS +a.json"));
  EXPECT_THAT(text, testing::ContainsRegex("GPU-1 +[^ ]+ +FAIL +b.json"));
  EXPECT_THAT(text, HasSubstr("\nOf several results of one device the worst counts.\n"));
  EXPECT_THAT(text, HasSubstr("2 files: 1 device, 1 not passed, 1 device with several results\n"));
}

TEST(FleetReport, NamesTheHostOfAFileThatIsCutShort) {
  const Folder folder;
  const std::string text = file_text();
  folder.write("x.json", text.substr(0, text.size() - 2));
  folder.write("n3.json", "");
  const Fleet made = fleet_of(read_devices(source_files({folder.path()})), {{"n3"}});
  const std::string report = text_of(made);
  EXPECT_THAT(report, testing::ContainsRegex("x.json:.* found no valid JSON; .* .host n1."));
  EXPECT_THAT(report, HasSubstr("n3.json:1:1: found no valid JSON; "));
  EXPECT_EQ(made.exit_code(), ExitCode::performance);  // of the missing host
}

TEST(FleetLines, AreForHarnesses) {
  constexpr const char* slowest =
      "OVERLAP_SLOWEST host=n2 uuid=GPU-4 metric=throughput value=0.35 median=0.5 phase=alone "
      "order=sequential\n"
      "OVERLAP_SLOWEST host=n2 uuid=GPU-4 metric=throughput value=0.7 median=1 phase=alone "
      "order=by_engine\n"
      "OVERLAP_RESULT verdict=FAIL data=OK exit=5\n";
  const std::string lines = report::fleet_lines(planted(), true);
  EXPECT_THAT(lines, HasSubstr("OVERLAP_DEVICE host=n1 uuid=GPU-0 phase=alone verdict=PASS\n"));
  EXPECT_THAT(lines, HasSubstr("OVERLAP_DEVICE host=n2 uuid=GPU-4 phase=alone verdict=FAIL\n"));
  EXPECT_THAT(lines, testing::EndsWith(slowest));
  EXPECT_EQ(report::fleet_lines(planted(30), false),
            std::string("OVERLAP_DEVICE host=n2 uuid=GPU-4 phase=alone verdict=FAIL\n") + slowest);
}

TEST(FleetJunit, HasATestPerDeviceHostAndFile) {
  const std::string text = report::junit(planted());
  EXPECT_THAT(text, HasSubstr("tests=\"12\" failures=\"3\" errors=\"1\" skipped=\"0\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"n1.GPU-0\" name=\"hand/device\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"n4\" name=\"devices\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"n3\" name=\"devices\""));
  EXPECT_THAT(text, HasSubstr("x.json: found &lt;nothing&gt;</error>"));
}

TEST(FleetFile, IsReadAsItWasWritten) {
  for (const Fleet& fleet : {planted(), planted(30), Fleet()}) {
    const std::string text = to_json(fleet);
    Fleet read;
    describe::read(describe::Reader(describe::parse_json("fleet.json", text)), read);
    EXPECT_EQ(to_json(read), text);
    EXPECT_EQ(json(describe::write(fleet)), json::parse(text));
    EXPECT_EQ(text_of(read), text_of(fleet));
    EXPECT_EQ(report::fleet_lines(read, true), report::fleet_lines(fleet, true));
  }
  const json written = json::parse(to_json(planted()));
  EXPECT_EQ(written["schema"], "overlap-fleet/1");
  EXPECT_EQ(written["devices"][4]["verdict"], "FAIL");
  EXPECT_EQ(written["missing"][0]["missing"], 2);
  EXPECT_EQ(written["missing"][1]["host"], "n4");
  EXPECT_EQ(written["devices"][5]["driver"], "570.2");
  EXPECT_EQ(written["exit_code"], 5);
}

TEST(FleetReport, OddTextIsShownHarmlessly) {
  json odd = file();
  odd["host"]["name"] = "n<1> \x1b[31m\n";
  odd["device"]["uuid"] = "\"&' =";
  const FleetDevice one = device(odd);
  const Fleet fleet =
      fleet_of({.files = 3, .devices = {one}, .broken = {{"y", "<y>"}}, .left_out = {"<z>"}});
  const std::string text = text_of(fleet), lines = report::fleet_lines(fleet, true);
  EXPECT_THAT(text + lines, Not(HasSubstr("\x1b")));
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2);  // of the device and of the verdict
  const std::string page = report::page(report::fleet_report(fleet));
  for (const char* const raw : {"<1>", "<y>", "<z>", "\x1b"})
    EXPECT_THAT(page, Not(HasSubstr(raw)));
  EXPECT_THAT(report::junit(fleet), Not(HasSubstr("<1>")));
}

}  // namespace
}  // namespace overlap::results
