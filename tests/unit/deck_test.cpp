#include "deck/deck.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <utility>

#include "base/sha256.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "deck_file.hpp"
#include "generated.hpp"

namespace overlap::deck {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Pair;

Deck loaded(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const DeckFile file(text);
  return load(file.path(), overrides);
}

/// A deck of one workload, its other keys after a comma.
Workload workload(const std::string& keys) { return loaded("workload: {" + keys + "}\n").workload; }

/// A deck with a section besides its workload.
Deck with(const std::string& section) { return loaded("workload: {kind: increment}\n" + section); }

Criterion criterion(const std::string& keys) {
  const Deck deck = with("acceptance: [{" + keys + "}]");
  EXPECT_EQ(deck.acceptance.size(), 1U);
  return deck.acceptance.at(0);
}

/// A workload or a whole deck as it resolves, with all defaults, as YAML.
std::string resolved_workload(const std::string& keys) {
  return describe::spell(resolved(loaded("workload: {" + keys + "}\n"))["workload"]);
}
std::string resolved_deck(const std::string& sections) {
  return describe::spell(resolved(with(sections)));
}

TEST(Deck, EmptySectionsMeanDefaults) {
  const std::string title = "title: T\n";
  EXPECT_EQ(resolved_deck(title + "chunks: {}\nmemory: {}\nissue: {}\nmeasure: {}\nrequire: {}\n"
                                  "fleet: {}\nacceptance: []\n"),
            resolved_deck(title));
  EXPECT_EQ(loaded("workload: {kind: pipeline}\n").chunks.count, 1);
  EXPECT_EQ(load(DeckFile("workload: {kind: increment}\n", "first try.yaml").path()).title,
            "first_try");
}

TEST(Deck, Title) {
  EXPECT_EQ(with("title: Row sums, at night").title, "Row sums, at night");
  EXPECT_EQ(with("title: 5").title, "5");
  EXPECT_EQ(with("title: ''").title, "");
  EXPECT_EQ(with("title: Größe in µs").title, "Größe in µs");
  EXPECT_EQ(with("title: >\n  folded\n  lines\n").title, "folded lines");
}

TEST(Deck, Pitch) {
  EXPECT_EQ(workload("kind: rowsum, pitch: 24").pitch, 24);  // 6 int32
  EXPECT_EQ(workload("kind: rowsum, pitch: 1 KiB").pitch, 1024);
  EXPECT_EQ(workload("kind: rowsum, rows: 5, axis: columns, type: int64, pitch: 48").pitch, 48);
}

TEST(Deck, Intensity) {
  const auto intensity = [](const std::string& value) {
    return workload("kind: increment, intensity: " + value).intensity;
  };
  EXPECT_EQ(intensity("0").repeats, 0);
  EXPECT_EQ(intensity("1000000").repeats, 1000000);
  EXPECT_EQ(intensity("2 Ki").repeats, 2048);
  EXPECT_EQ(intensity("2 Ki").balance, 0);
  EXPECT_EQ(intensity("balanced").balance, 1);
  EXPECT_EQ(intensity("4x balanced").balance, 4);
  EXPECT_EQ(intensity("1000x balanced").balance, 1000);
  EXPECT_EQ(intensity("'4x balanced'").repeats, 1);
}

TEST(Deck, CountsAndSizesUpToTheirLimits) {
  EXPECT_EQ(workload("kind: increment, elements: 16 Ti").elements, std::int64_t{1} << 44);
  EXPECT_EQ(with("chunks: {bytes: 1 B}").chunks.bytes, 1);
  EXPECT_EQ(with("chunks: {count: 1048576}").chunks.count, 1048576);
  EXPECT_EQ(with("issue: {lanes: 1024}").issue.lanes, 1024);
  EXPECT_EQ(with("measure: {warmup: 0}").measure.warmup, 0);
  EXPECT_EQ(with("measure: {precision: 1 %, at_most: 20}").measure.at_most, 20);
  EXPECT_FALSE(with("measure: {repetitions: 5, duration: none}").measure.duration_s);
}

TEST(Deck, Require) {
  EXPECT_EQ(with("").require, Require());
  EXPECT_EQ(with("require: {pcie: any, ecc: any, mig: any, processes: any, power_limit: any, "
                 "numa: any, driver: any, devices: any}")
                .require,
            Require());
  const Require all = with(
                          "require: {pcie: gen5 x16, ecc: on, mig: off, processes: none, "
                          "power_limit: default, numa: local, driver: '>= 570.86', devices: 8}")
                          .require;
  EXPECT_EQ(all, (Require{.pcie = Require::Link{5, 16},
                          .ecc = true,
                          .mig = false,
                          .no_processes = true,
                          .default_power_limit = true,
                          .local_numa = true,
                          .driver = {570, 86},
                          .devices = 8}));
  // References and histories from before the key hold.
  EXPECT_FALSE(resolved(with("")).at("require").contains("devices"));
  EXPECT_FALSE(resolved(with("")).at("fleet").contains("devices"));
  const auto written = resolved(with("require: {devices: 2}\nfleet: {devices: 4}"));
  EXPECT_EQ(written.at("require").at("devices"), 2);
  EXPECT_EQ(written.at("fleet").at("devices"), 4);
  EXPECT_EQ(with("require: {pcie: max}").require.pcie, Require::Link());
  for (const char* const spelling : {"570", "'>=570'", "'>=  570'"}) {
    EXPECT_EQ(with(std::string("require: {driver: ") + spelling + "}").require.driver,
              std::vector{570});
  }
}

TEST(Deck, LimitsAreInTheUnitOfTheMetric) {
  EXPECT_EQ(criterion("metric: bound_fraction, min: 90 %").min, 0.9);
  EXPECT_EQ(criterion("metric: h2d_rate, min: 20 GB/s").min, 20);
  EXPECT_EQ(criterion("metric: duplex_rate, min: 300 MB/s").min, 0.3);
  EXPECT_EQ(criterion("metric: throughput, min: 0").min, 0);
  EXPECT_EQ(criterion("metric: throttled, max: 500 ms").max, 0.5);
  EXPECT_EQ(criterion("metric: max_error, max: 1e-6").max, 1e-6);
  EXPECT_EQ(criterion("metric: time, max: 0.005").max, 5e-3);
  EXPECT_EQ(criterion("metric: time, reference: h200.yaml, below: 3 %").below, 0.03);
}

TEST(Deck, YamlMayBeWrittenInAnyOfItsWays) {
  const Deck deck = loaded(
      "%YAML 1.2\n--- # comment\nworkload:\r\n  kind: \"rowsum\"\r\n  ? rows\n  : 12\n"
      "memory: &m {host: 'pageable'}\nissue:\n  orders:\n  - sequential\n  - &o depth_first\n"
      "acceptance: [{metric: speedup, order: *o, min: 1}]\n...\n");
  EXPECT_EQ(deck.workload.kind, WorkloadKind::rowsum);
  EXPECT_EQ(deck.workload.rows, 12);
  EXPECT_EQ(deck.memory.host, HostMemory::pageable);
  EXPECT_EQ(deck.issue.orders.size(), 2U);
  EXPECT_EQ(deck.acceptance.at(0).order, Order::depth_first);
  EXPECT_EQ(loaded("\xef\xbb\xbfworkload: {kind: pipeline}").workload.kind, WorkloadKind::pipeline);
}

constexpr const char* small = "workload: {kind: increment, elements: 64}\nchunks: {count: 2}\n";

TEST(DeckOverrides, SeveralAndTheLastOneWins) {
  const Deck deck =
      loaded(small, {"chunks.count=8", "workload.elements=1 Ki", "title=T", "chunks.count=16"});
  EXPECT_EQ(deck.chunks.count, 16);
  EXPECT_EQ(deck.workload.elements, 1024);
  EXPECT_EQ(deck.title, "T");
}

TEST(DeckOverrides, WholeMaps) {
  const Deck deck = loaded(small, {"chunks={bytes: 16 MiB}", "workload={kind: rowsum, rows: 9}"});
  EXPECT_EQ(deck.chunks.bytes, 16 << 20);
  EXPECT_EQ(deck.chunks.count, std::nullopt);
  EXPECT_EQ(deck.workload.kind, WorkloadKind::rowsum);
  EXPECT_EQ(deck.workload.rows, 9);
}

TEST(DeckOverrides, BelowAMapThatWasSetBefore) {
  const Deck deck = loaded(small, {"workload={kind: rowsum, rows: 9}", "workload.columns=3"});
  EXPECT_EQ(deck.workload.rows, 9);
  EXPECT_EQ(deck.workload.columns, 3);
}

TEST(DeckOverrides, Lists) {
  const Deck deck = loaded(
      small, {"issue.orders=[sequential, by_engine]", "acceptance=[{metric: speedup, min: 1.1}]"});
  EXPECT_THAT(deck.issue.orders, ElementsAre(Order::sequential, Order::by_engine));
  ASSERT_EQ(deck.acceptance.size(), 1U);
  EXPECT_EQ(deck.acceptance[0].min, 1.1);
}

TEST(DeckOverrides, SectionsThatTheFileLacks) {
  const Deck deck =
      loaded("", {"workload.kind=pipeline", "measure.repetitions=2", "memory.device_limit=1 MiB"});
  EXPECT_EQ(deck.workload.kind, WorkloadKind::pipeline);
  EXPECT_EQ(deck.measure.repetitions, 2);
  EXPECT_EQ(deck.measure.warmup, 3);
  EXPECT_EQ(deck.memory.device_limit, 1 << 20);
  EXPECT_EQ(loaded("workload: {kind: increment}\nchunks:\n", {"chunks.count=3"}).chunks.count, 3);
}

TEST(DeckOverrides, RepairABadDeck) {
  EXPECT_EQ(loaded(small, {"chunks.count=0", "chunks.count=4"}).chunks.count, 4);
  EXPECT_EQ(loaded("workload: {kind: incremnt}\n", {"workload.kind=increment"}).workload.kind,
            WorkloadKind::increment);
}

TEST(DeckOverrides, ValuesMayHoldEqualSigns) {
  EXPECT_EQ(loaded(small, {"title=a=b"}).title, "a=b");
  EXPECT_EQ(loaded(small, {"title='a: b'"}).title, "a: b");
}

TEST(DeckOverrides, LeaveAliasesAlone) {
  const std::string text =
      "workload: {kind: increment}\nchunks: {count: &n 4}\nissue: {lanes: *n}\n";
  EXPECT_EQ(loaded(text).issue.lanes, 4);
  const Deck one = loaded(text, {"chunks.count=8"});
  EXPECT_EQ(one.chunks.count, 8);
  EXPECT_EQ(one.issue.lanes, 4);
  const Deck both = loaded(text, {"chunks.count=2", "issue.lanes=3"});
  EXPECT_EQ(both.chunks.count, 2);
  EXPECT_EQ(both.issue.lanes, 3);
  const DeckFile maps(
      "workload: {kind: increment}\nhost_work: &w {per_chunk: 1 ms}\ndisturb: none\n"
      "measure: &m {warmup: 1}\nsweep: {measure.warmup: [7, 8], chunks.count: [&v 1, 2], "
      "issue.lanes: [*v, 5]}\n");
  const std::vector<DeckPoint> points = load_points(maps.path());
  ASSERT_EQ(points.size(), 8U);
  EXPECT_EQ(points[0].deck.measure.warmup, 7);
  EXPECT_EQ(points[7].deck.measure.warmup, 8);
  EXPECT_EQ(points[2].deck.chunks.count, 2);
  EXPECT_EQ(points[2].deck.issue.lanes, 1);
  EXPECT_EQ(points[5].deck.issue.lanes, 5);
  EXPECT_EQ(points[5].deck.chunks.count, 1);
}

TEST(DeckPlaces, OfKeysInTheFile) {
  const DeckFile file(
      "title: T\nworkload:\n  kind: increment\nissue:\n  orders: [sequential, by_engine]\n"
      "acceptance:\n- {metric: time, max: 1}\n");
  const Deck deck = load(file.path());
  const auto place = [&](const std::string& key) { return base::to_string(place_of(deck, key)); };
  EXPECT_EQ(place("title"), file.path() + ":1:8");
  EXPECT_EQ(place("workload"), file.path() + ":3:3");
  EXPECT_EQ(place("workload.kind"), file.path() + ":3:9");
  EXPECT_EQ(place("issue.orders"), file.path() + ":5:11");
  EXPECT_EQ(place("issue.orders[1]"), file.path() + ":5:24");
  EXPECT_EQ(place("acceptance[0]"), file.path() + ":7:3");
  EXPECT_EQ(place("acceptance[0].max"), file.path() + ":7:23");
}

TEST(DeckPlaces, OfKeysThatAreNotThere) {
  const DeckFile file("workload: {kind: increment}\nacceptance: [{metric: time, max: 1}]\n");
  const Deck deck = load(file.path());
  const auto place = [&](const std::string& key) { return base::to_string(place_of(deck, key)); };
  EXPECT_EQ(place("workload.elements"), file.path() + ":1:11");
  EXPECT_EQ(place("chunks.count"), file.path());
  EXPECT_EQ(place("acceptance[0].order"), file.path() + ":2:14");
  EXPECT_EQ(place("acceptance[7]"), file.path() + ":2:13");
  EXPECT_EQ(place(""), file.path());
}

TEST(DeckPlaces, OfOverrides) {
  const DeckFile file("workload: {kind: increment}\nchunks: {count: 2}\n");
  const Deck deck = load(file.path(), {"chunks.count=8", "measure.warmup=1",
                                       "memory={host: pageable}", "memory.device_limit=1 MiB"});
  const auto place = [&](const std::string& key) { return base::to_string(place_of(deck, key)); };
  EXPECT_EQ(place("chunks"), file.path() + ":2:9");
  EXPECT_EQ(place("chunks.count"), "--set chunks.count=8");
  EXPECT_EQ(place("measure"), "--set measure.warmup=1");
  EXPECT_EQ(place("measure.warmup"), "--set measure.warmup=1");
  EXPECT_EQ(place("memory.host"), "--set memory={host: pageable}");
  EXPECT_EQ(place("memory.device_limit"), "--set memory.device_limit=1 MiB");
}

TEST(DeckPlaces, ErrorAt) {
  const DeckFile file("workload: {kind: increment, elements: 2}\nchunks: {count: 3}\n");
  const base::Error error =
      error_at(load(file.path()), base::ExitCode::precondition, "chunks.count", "too many");
  EXPECT_EQ(error.what(), file.path() + ":2:17: chunks.count: too many");
  EXPECT_EQ(error.code(), base::ExitCode::precondition);
}

TEST(Deck, Sha256IsTheFilesAlone) {
  // As sha256sum(1) prints it.
  const std::string digest = "09e45e8dcf6b6779ee36996ccdacb175455604e33a768dfbbd3f690fe71ddff4";
  const std::string text = "workload: {kind: increment}\n";
  EXPECT_EQ(loaded(text).sha256, digest);
  EXPECT_EQ(loaded(text, {"chunks.count=8"}).sha256, digest);
  EXPECT_NE(loaded(text + "# more\n").sha256, digest);
}

TEST(Deck, NameFitsIntoAResultLine) {
  const auto name = [](const std::string& path) {
    Deck deck;
    deck.path = path;
    return deck.name();
  };
  EXPECT_EQ(name("input/rowsum.yaml"), "rowsum");
  EXPECT_EQ(name("rowsum"), "rowsum");
  EXPECT_EQ(name("/dev/stdin"), "stdin");
  EXPECT_EQ(name("a.b.yaml"), "a.b");
  EXPECT_EQ(name("/x/my deck=1\t.yaml"), "my_deck_1\\t");
}

TEST(Deck, Boxes) {
  using Sizes = std::array<std::int64_t, 3>;
  EXPECT_FALSE(workload("kind: increment, box: none, array: none, origin: none, pitch: none").box);
  const Workload flat = workload("kind: increment, box: [4, 8], array: [5, 1 Ki], origin: [1, 9]");
  EXPECT_EQ(flat.elements, 32);
  EXPECT_EQ(flat.box->extent, (Sizes{1, 4, 8}));
  EXPECT_EQ(flat.box->array, (Sizes{1, 5, 1024}));
  EXPECT_EQ(flat.box->origin, (Sizes{0, 1, 9}));
  const Workload deep = workload("kind: increment, box: [2, 3, 4], elements: 24, pitch: 20");
  EXPECT_EQ(deep.elements, 24);
  EXPECT_EQ(deep.box->extent, (Sizes{2, 3, 4}));
  EXPECT_EQ(deep.box->array, (Sizes{2, 3, 4}));
  EXPECT_EQ(deep.box->origin, (Sizes{0, 0, 0}));
  EXPECT_EQ(deep.pitch, 20);
}

TEST(DeckFields, OfWorkloads) {
  EXPECT_EQ(resolved_workload("kind: rowsum"),
            "{kind: rowsum, rows: 8000000, columns: 6, type: int32, sum_type: same, axis: rows, "
            "kernel: auto, pitch: none}");
  EXPECT_EQ(resolved_workload("kind: rowsum, rows: 5, axis: columns, sum_type: int64"),
            "{kind: rowsum, rows: 5, columns: 6, type: int32, sum_type: int64, axis: columns, "
            "kernel: auto, pitch: none}");
  EXPECT_EQ(resolved_workload("kind: pipeline, elements: 1 Ki, intensity: 4x balanced"),
            "{kind: pipeline, elements: 1024, type: float32, iterations: 5, "
            "intensity: 4x balanced}");
  EXPECT_EQ(resolved_workload("kind: increment, intensity: balanced"),
            "{kind: increment, elements: 4194304, type: float32, intensity: balanced, box: none, "
            "array: none, origin: none, pitch: none}");
  EXPECT_EQ(resolved_workload("kind: dgemm, type: float32, tile_m: 8, host_share: 0.25"),
            "{kind: dgemm, m: 8192, n: 8192, k: 288, tile_m: 8, tile_n: 2048, beta: 1, "
            "type: float32, host_share: 0.25}");
  EXPECT_EQ(resolved_workload("kind: increment, box: [4, 8], origin: [0, 0], intensity: 3"),
            "{kind: increment, elements: 32, type: float32, intensity: 3, box: [4, 8], "
            "array: [4, 8], origin: [0, 0], pitch: none}");
  EXPECT_EQ(resolved_workload("kind: increment, box: [1, 4, 8], array: [2, 5, 8], "
                              "origin: [1, 0, 0], pitch: 64"),
            "{kind: increment, elements: 32, type: float32, intensity: 1, box: [1, 4, 8], "
            "array: [2, 5, 8], origin: [1, 0, 0], pitch: 64}");
}

TEST(DeckFields, OfADeck) {
  const describe::Json deck =
      resolved(with("title: T\nacceptance: [{metric: time, order: sequential, max: 1}]\n"
                    "host_work: {per_chunk: 1 ms}\n"));
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"title", "T"},
           {"workload.elements", "4194304"},
           {"chunks.count", "4"},
           {"issue.orders", "[sequential, depth_first, breadth_first]"},
           {"host_work", "{per_chunk: 0.001}"},
           {"disturb", "none"},
           {"measure.verify", "every"},
           {"require.driver", "any"},
           {"fleet.deadline", "60"},
           {"acceptance", "[{metric: time, order: sequential, max: 1}]"}}) {
    EXPECT_EQ(describe::spell(describe::value_at(deck, key)), value) << key;
  }
  const describe::Json other =
      resolved(with("chunks: {bytes: 1 KiB}\n"
                    "memory: {host: registered, device_limit: 4 B}\n"
                    "disturb: {operation: malloc}\n"));
  EXPECT_EQ(describe::spell(other["chunks"]), "{bytes: 1024}");
  EXPECT_EQ(describe::spell(other["memory"]),
            "{host: registered, transfer: staged, device_limit: 4}");
  const std::string required =
      "{pcie: gen4 x8, ecc: off, mig: on, processes: none, power_limit: default, numa: local, "
      "driver: >= 570.86.15}";
  EXPECT_EQ(describe::spell(resolved(with("require: {pcie: gen4 x8, ecc: off, mig: on, processes: "
                                          "none, power_limit: default, numa: local, "
                                          "driver: '>= 570.86.15'}"))["require"]),
            required);
  EXPECT_EQ(describe::spell(other["disturb"]), "{operation: malloc, at: 0.5, times: 1}");
  EXPECT_EQ(describe::value_at(other, "disturb.at"), 0.5);
  EXPECT_EQ(describe::value_at(other, "memory.device_limit"), 4);
  EXPECT_EQ(describe::value_at(other, "chunks.count"), nullptr);
  EXPECT_EQ(describe::value_at(other, "disturb.at.x"), nullptr);
}

TEST(DeckFields, WhatADeckResolvesToIsTheSameDeck) {
  for (const char* measure : {"{precision: 1 %, budget: 1 min}", "{duration: 30 min}"}) {
    const Deck deck = with(fmt::format("title: T\nmeasure: {}\n", measure));
    EXPECT_EQ(resolved(loaded(describe::spell(resolved(deck)))), resolved(deck)) << measure;
  }
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(OVERLAP_SOURCE_DIR "/input")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".yaml" || path.find("/devices/") != std::string::npos ||
        path.find("/references/") != std::string::npos) {
      continue;
    }
    Deck deck = load_points(path).front().deck;
    deck.title = "T";
    EXPECT_EQ(resolved(loaded(describe::spell(resolved(deck)))), resolved(deck)) << path;
  }
}

/// Whether a value obeys a JSON Schema, of which it knows what resolved_schema() uses.
bool valid(const describe::Json& value, const describe::Json& schema) {
  const auto obeys = [&](const describe::Json& other) { return valid(value, other); };
  const auto of = [&](const describe::Json& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) ||
           (type == "integer" && value.is_number_integer()) ||
           (type == "number" && value.is_number());
  };
  for (const auto& [key, rule] : schema.items()) {
    if (key == "type" && !of(rule)) return false;
    if (key == "enum" && std::ranges::find(rule, value) == rule.end()) return false;
    if (key == "const" && value != rule) return false;
    if (key == "pattern" &&
        !std::regex_search(std::string(value), std::regex(rule.get<std::string>())))
      return false;
    if (key == "minimum" && value < rule) return false;
    if (key == "maximum" && value > rule) return false;
    if (key == "exclusiveMinimum" && value <= rule) return false;
    if (key == "minItems" && value.size() < rule) return false;
    if (key == "maxItems" && value.size() > rule) return false;
    if (key == "oneOf" && std::ranges::count_if(rule, obeys) != 1) return false;
    if (key == "anyOf" && !std::ranges::any_of(rule, obeys)) return false;
    if (key == "items" && value.is_array()) {
      for (const describe::Json& item : value) {
        if (!valid(item, rule)) return false;
      }
    }
    if (key == "required") {
      for (const std::string name : rule) {
        if (value.is_object() && !value.contains(name)) return false;
      }
    }
    if (key == "properties" && value.is_object()) {
      for (const auto& [name, member] : value.items()) {
        const bool known = rule.contains(name);
        if (known ? !valid(member, rule[name]) : schema.contains("additionalProperties"))
          return false;
      }
    }
    if (key == "allOf") {
      for (const describe::Json& one : rule) {
        if (valid(value, one["if"]) && !valid(value, one["then"])) return false;
      }
    }
  }
  return true;
}

TEST(DeckFields, ResolvedDecksObeyTheSchema) {
  const describe::Json schema = resolved_schema();
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(OVERLAP_SOURCE_DIR "/input")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".yaml" || path.find("/devices/") != std::string::npos ||
        path.find("/references/") != std::string::npos) {
      continue;
    }
    const describe::Json deck = resolved(load_points(path).front().deck);
    EXPECT_TRUE(valid(deck, schema)) << path << "\n" << deck;
    // With a key misspelled or a value of another type no longer.
    for (const auto& [key, value] : deck.items()) {
      describe::Json copy = deck;
      copy[key] = true;
      EXPECT_FALSE(valid(copy, schema)) << key;
      copy.erase(key);
      copy["y" + key] = value;
      EXPECT_FALSE(valid(copy, schema)) << key;
    }
  }
}

TEST(Identity, IsOfWhatRuns) {
  const std::string text = "workload: {kind: increment, elements: 4096}\nchunks: {count: 4}\n";
  const std::string same = identity(loaded(text));
  EXPECT_EQ(same.size(), 64U);
  for (const char* more :
       {"# a comment\n", "title: Another\n", "measure: {repetitions: 99}\n", "issue: {lanes: 4}\n",
        "acceptance: [{metric: time, max: 1}]\n", "memory: {host: pinned}\n"}) {
    EXPECT_EQ(identity(loaded(text + more)), same) << more;
  }
  EXPECT_EQ(identity(loaded("chunks: {count: 4}\nworkload: {elements: 4 Ki, kind: increment}\n")),
            same);
  std::set<std::string> others = {same};
  for (const char* option : {"workload.elements=4097", "chunks.count=5", "memory.host=pageable",
                             "issue.lanes=3", "issue.orders=[sequential]", "issue.threads=2",
                             "host_work={per_chunk: 1 ms}", "disturb={operation: malloc}"}) {
    EXPECT_TRUE(others.insert(identity(loaded(text, {option}))).second) << option;
  }
}

/// Identities leave defaults out, so a default that changes changes what they mean: these stay.
/// Keys that come later need not be in the file.
TEST(Identity, RestsOnDefaultsThatStay) {
  std::ifstream lines(OVERLAP_SOURCE_DIR "/tests/data/defaults.txt");
  int tried = 0;
  for (std::string kind, section, keys; lines >> kind >> section && std::getline(lines, keys);) {
    Deck deck;
    deck.workload.kind = std::ranges::find(workloads, kind, &WorkloadRow::name)->value;
    const describe::Json found = resolved(deck).at(section);
    const describe::Json expected = describe::Json::parse(keys);
    for (const auto& [key, value] : expected.items()) {
      EXPECT_EQ(found.at(key), value) << kind << " " << section << "." << key;
      ++tried;
    }
  }
  EXPECT_GT(tried, 30);
}

/// A reference is found by the identity of its deck, so a new version of the program must not
/// change it. Of a sweep: the hash of the identities of its points.
TEST(Identity, OfEveryShippedDeckStays) {
  std::string found;
  for (const std::string& name : deck::shipped_names("")) {
    std::string identities;
    const std::vector<DeckPoint> points = load_points(name);
    for (const DeckPoint& point : points) identities += identity(point.deck);
    found += (points.size() == 1 ? identities : base::sha256(identities)) + "  " + name + "\n";
  }
  EXPECT_EQ(found, test::content(OVERLAP_SOURCE_DIR "/tests/data/identities.txt"));
}

TEST(Identity, FindsTheShippedReferenceOfItsDeck) {
  const std::string reference = test::content(OVERLAP_SOURCE_DIR "/input/references/h200.yaml");
  for (const char* name : {"acceptance/gpu", "acceptance/node", "acceptance/dgemm"}) {
    const std::string own = identity(load_points(name).front().deck);
    EXPECT_NE(reference.find("    deck: " + own + "\n"), std::string::npos) << name;
  }
}

TEST(DeckFields, AreOnThePage) {
  const std::string path = OVERLAP_SOURCE_DIR "/docs/decks.md";
  const std::string page = test::content(path);
  const std::string marker = "<!-- generated -->\n";
  const auto end = page.find(marker);
  ASSERT_NE(end, std::string::npos);
  test::expect_generated(path, page.substr(0, end + marker.size()) + reference_markdown());
}

TEST(DeckWords, EveryEnumeratorHasASpellingOfItsOwn) {
  const auto check = []<class Enum>(Enum) {
    std::set<std::string> seen;
    for (const auto& word : words<Enum>) {
      EXPECT_EQ(to_string(word.value), word.name);
      EXPECT_TRUE(seen.insert(std::string(word.name)).second) << word.name;
    }
    EXPECT_EQ(spellings<Enum>().size(), seen.size());
    EXPECT_FALSE(seen.empty());
  };
  check(WorkloadKind{});
  check(Order{});
  check(ElementType{});
  check(SumType{});
  check(SumAxis{});
  check(RowsumKernel{});
  check(HostMemory{});
  check(Verify{});
  check(Metric{});
}

Deck shipped(const std::string& name) {
  return load(OVERLAP_SOURCE_DIR "/input/" + name + ".yaml");
}

TEST(ShippedDecks, AllLoadAndJudgeTheirData) {
  int decks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(OVERLAP_SOURCE_DIR "/input")) {
    if (!entry.is_regular_file() || entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().string());
    const Deck deck = load(entry.path().string());
    EXPECT_NE(deck.title, deck.name());
    EXPECT_GE(deck.issue.orders.size(), 2U);
    EXPECT_EQ(deck.issue.orders.front(), Order::sequential);
    EXPECT_FALSE(deck.acceptance.empty());
    ++decks;
  }
  EXPECT_GE(decks, 7);
}

TEST(ShippedDecks, HaveNamesThatOtherFilesDoNot) {
  const std::vector<std::string> names = deck::shipped_names("");
  EXPECT_THAT(names, IsSupersetOf({"increment", "acceptance/gpu", "hazards/blocking_copy",
                                   "studies/increment"}));
  for (const std::string& name : names) {
    EXPECT_FALSE(name.starts_with("devices") || name.starts_with("references")) << name;
  }
  EXPECT_THAT(deck::shipped_names("devices"), IsSupersetOf({"h200"}));
}

TEST(ShippedDecks, RowsumSeedsHaveTheirPublishedSizes) {
  const Deck in_core = shipped("rowsum_seed");
  EXPECT_EQ(in_core.workload.rows * in_core.workload.columns, 3000000000);
  EXPECT_EQ(in_core.workload.columns, 6);
  EXPECT_EQ(in_core.memory.device_limit, std::nullopt);

  const Deck out_of_core = shipped("rowsum_out_of_core_seed");
  EXPECT_EQ(out_of_core.workload.rows * out_of_core.workload.columns, 4500000000);
  EXPECT_EQ(out_of_core.chunks.count, 6);
  EXPECT_TRUE(out_of_core.memory.device_limit.has_value());
  EXPECT_TRUE(shipped("rowsum_out_of_core").memory.device_limit.has_value());
}

}  // namespace
}  // namespace overlap::deck
