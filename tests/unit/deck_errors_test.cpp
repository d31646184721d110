#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "deck/deck.hpp"
#include "deck_file.hpp"

/// Every kind of bad deck with the exact line that the user reads.
namespace overlap::deck {
namespace {

struct Bad {
  std::string deck;
  std::vector<std::string> overrides;
  std::string message;  ///< '@' stands for the path of the deck
};

/// A deck with a workload on its first line and `rest` below.
std::string increment(const std::string& rest) { return "workload: {kind: increment}\n" + rest; }

std::string workload(const std::string& keys) { return "workload: {" + keys + "}\n"; }

/// A deck with two orders and criteria on its third line.
std::string criteria(const std::string& list) {
  return increment("issue: {orders: [sequential, depth_first]}\nacceptance: " + list + "\n");
}

const std::string good =
    "title: T\n"
    "workload: {kind: increment, elements: 4096}\n"
    "chunks: {count: 4}\n"
    "issue: {orders: [sequential, depth_first]}\n"
    "acceptance: [{metric: speedup, order: depth_first, min: 1}]\n";

/// What load() says of a bad deck: "" when it says nothing.
std::string complaint(const std::string& path, const std::vector<std::string>& overrides = {}) {
  try {
    load(path, overrides);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.what();
  }
  return "";
}

void expect_messages(const std::vector<Bad>& table) {
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.deck);
    const DeckFile file(bad.deck);
    std::string expected = bad.message;
    for (auto at = expected.find('@'); at != std::string::npos;
         at = expected.find('@', at + file.path().size())) {
      expected.replace(at, 1, file.path());
    }
    EXPECT_EQ(complaint(file.path(), bad.overrides), expected);
  }
}

TEST(DeckErrors, TheDeckThatOverridesSpoilIsGood) {
  EXPECT_EQ(complaint(DeckFile(good).path()), "");
}

TEST(DeckErrors, Requirements) {
  const auto require = [](const std::string& keys) {
    return increment("require: {" + keys + "}\n");
  };
  const std::string links = "any or max or a link, such as gen5 x16";
  const std::string from = "any or a minimum version, such as '>= 570'";
  expect_messages({
      {require("pci: max"),
       {},
       "@:2:11: require.pci: unknown key; allowed: pcie, ecc, mig, processes, power_limit, numa, "
       "driver, devices; did you mean 'pcie'?"},
      {require("pcie: gen5"), {}, "@:2:17: require.pcie: found 'gen5'; allowed: " + links},
      {require("pcie: gen5x16"), {}, "@:2:17: require.pcie: found 'gen5x16'; allowed: " + links},
      {require("pcie: gen0 x16"), {}, "@:2:17: require.pcie: found 'gen0 x16'; allowed: " + links},
      {require("pcie: maximum"), {}, "@:2:17: require.pcie: found 'maximum'; allowed: " + links},
      {require("ecc: yes"), {}, "@:2:16: require.ecc: found 'yes'; allowed: any or on, off"},
      {require("mig: offf"),
       {},
       "@:2:16: require.mig: found 'offf'; allowed: any or on, off; did you mean 'off'?"},
      {require("processes: 0"), {}, "@:2:22: require.processes: found '0'; allowed: none, any"},
      {require("power_limit: 700 W"),
       {},
       "@:2:24: require.power_limit: found '700 W'; allowed: default, any"},
      {require("numa: locl"),
       {},
       "@:2:17: require.numa: found 'locl'; allowed: local, any; did you mean 'local'?"},
      {require("driver: 570x"), {}, "@:2:19: require.driver: found '570x'; allowed: " + from},
      {require("driver: '>'"), {}, "@:2:19: require.driver: found '>'; allowed: " + from},
      {require("driver: '>= 570.'"),
       {},
       "@:2:19: require.driver: found '>= 570.'; allowed: " + from},
      {require("driver: '>= -1'"), {}, "@:2:19: require.driver: found '>= -1'; allowed: " + from},
      {increment("require: max\n"),
       {},
       "@:2:10: require: found 'max'; allowed: a map with the keys pcie, ecc, mig, processes, "
       "power_limit, numa, driver, devices"},
      {require("devices: 0"),
       {},
       "@:2:20: require.devices: found '0'; allowed: any or a whole number from 1 to 1024"},
  });
}

TEST(DeckErrors, UnknownKeys) {
  expect_messages({
      {"{title: \"äöü€\", chunk: 1, workload: {kind: increment}}\n",
       {},
       "@:1:17: chunk: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep; did you mean 'chunks'?"},
      {increment("wrkload: 1\n"),
       {},
       "@:2:1: wrkload: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep; did you mean 'workload'?"},
      {increment("chunk: {count: 4}\n"),
       {},
       "@:2:1: chunk: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep; did you mean 'chunks'?"},
      {increment("Chunks: {count: 4}\n"),
       {},
       "@:2:1: Chunks: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep; did you mean 'chunks'?"},
      {increment("zzz: 1\n"),
       {},
       "@:2:1: zzz: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep"},
      {increment("5: 3\n"),
       {},
       "@:2:1: 5: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep"},
      {increment("'': 3\n"),
       {},
       "@:2:1: '': unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep"},
      {increment("\"a\\nb\": 1\n"),
       {},
       "@:2:1: a\\nb: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep"},
      {workload("kind: increment, elments: 5"),
       {},
       "@:1:29: workload.elments: unknown key; allowed: kind, elements, type, intensity, box, "
       "array, origin, pitch; did you mean 'elements'?"},
      {workload("kind: increment, TYPE: float32"),
       {},
       "@:1:29: workload.TYPE: unknown key; allowed: kind, elements, type, intensity, box, array, "
       "origin, pitch; did you mean 'type'?"},
      {workload("kind: rowsum, cols: 5"),
       {},
       "@:1:26: workload.cols: unknown key; allowed: kind, rows, columns, type, sum_type, axis, "
       "kernel, pitch"},
      {workload("knid: increment"),
       {},
       "@:1:12: workload.knid: unknown key; allowed: kind, elements, rows, columns, m, n, k, "
       "tile_m, tile_n, alpha, beta, type, iterations, intensity, box, "
       "array, origin, sum_type, axis, kernel, pitch, host_share, tasks; did you mean 'kind'?"},
      {workload("kind:increment"),
       {},
       "@:1:12: workload.kind:increment: unknown key; allowed: kind, elements, rows, columns, m, "
       "n, k, tile_m, tile_n, alpha, beta, type, iterations, intensity, "
       "box, array, origin, sum_type, axis, kernel, pitch, host_share, tasks"},
      {increment("chunks: {cuont: 4}\n"),
       {},
       "@:2:10: chunks.cuont: unknown key; allowed: profile, count, bytes, growth, spread; did you "
       "mean 'count'?"},
      {increment("chunks: {size: 4}\n"),
       {},
       "@:2:10: chunks.size: unknown key; allowed: profile, count, bytes, growth, spread"},
      {increment("memory: {limit: 4}\n"),
       {},
       "@:2:10: memory.limit: unknown key; allowed: host, transfer, device_limit, numa, "
       "ring_slots, "
       "ring_bytes"},
      {increment("memory: {device-limit: 4}\n"),
       {},
       "@:2:10: memory.device-limit: unknown key; allowed: host, transfer, device_limit, numa, "
       "ring_slots, ring_bytes; did you mean "
       "'device_limit'?"},
      {increment("issue: {order: [sequential]}\n"),
       {},
       "@:2:9: issue.order: unknown key; allowed: orders, lanes, mechanism, sync, streams, "
       "threads; did you "
       "mean 'orders'?"},
      {increment("issue: {lane: 4}\n"),
       {},
       "@:2:9: issue.lane: unknown key; allowed: orders, lanes, mechanism, sync, streams, threads; "
       "did you "
       "mean 'lanes'?"},
      {increment("measure: {repetition: 4}\n"),
       {},
       "@:2:11: measure.repetition: unknown key; allowed: warmup, repetitions, precision, at_most, "
       "budget, duration, verify; did you "
       "mean 'repetitions'?"},
      {increment("measure: {wramup: 4}\n"),
       {},
       "@:2:11: measure.wramup: unknown key; allowed: warmup, repetitions, precision, at_most, "
       "budget, duration, verify; did you mean "
       "'warmup'?"},
      {criteria("[{metric: max_error, maximum: 1}]"),
       {},
       "@:3:34: acceptance[0].maximum: unknown key; allowed: metric, order, phase, min, max, "
       "reference, "
       "below, where"},
      {criteria("[{metrik: time, max: 1}]"),
       {},
       "@:3:15: acceptance[0].metrik: unknown key; allowed: metric, order, phase, min, max, "
       "reference, "
       "below, where; did you mean 'metric'?"},
      {criteria("[{metric: time, max: 1, where: [c2070, gppu]}]"),
       {},
       "@:3:52: acceptance[0].where[1]: found 'gppu'; allowed: gpu, c1060, c2050, c2070, fermi, "
       "h200, host, ideal_1copy, ideal_2copy, ideal_2copy_delayed_signal, ideal_hyperq, k20c, "
       "kepler, rtx5070ti; did you mean 'gpu'?"},
      {criteria("[{metric: time, max: 1, where: gpu}]"),
       {},
       "@:3:44: acceptance[0].where: found 'gpu'; allowed: a list of `gpu` and names of devices, "
       "such as [c2070, gpu]"},
      {criteria("[{metric: time, max: 1, where: []}]"),
       {},
       "@:3:44: acceptance[0].where: found an empty list; allowed: a list of `gpu` and names of "
       "devices, such as [c2070, gpu]"},
  });
}

TEST(DeckErrors, KeysOfAnotherWorkload) {
  expect_messages({
      {workload("kind: increment, rows: 5"),
       {},
       "@:1:29: workload.rows: found with kind increment (@:1:18); allowed: with kind rowsum"},
      {workload("kind: rowsum, elements: 5"),
       {},
       "@:1:26: workload.elements: found with kind rowsum (@:1:18); allowed: with kind increment, "
       "pipeline"},
      {good,
       {"workload.kind=rowsum"},
       "@:2:29: workload.elements: found with kind rowsum (--set workload.kind=rowsum); allowed: "
       "with kind increment, pipeline"},
      {good,
       {"workload.rows=5"},
       "--set workload.rows=5: workload.rows: found with kind increment (@:2:18); allowed: with "
       "kind rowsum"},
  });
}

TEST(DeckErrors, Pitch) {
  const std::string allowed =
      "; allowed: none or a multiple of 4 B from 24 B, the bytes of a line, to 17592186 B";
  const auto rowsum = [&](const std::string& pitch, const std::string& found) {
    return Bad{workload("kind: rowsum, pitch: " + pitch),
               {},
               "@:1:33: workload.pitch: found " + found + allowed};
  };
  expect_messages({
      rowsum("20", "'20'"),
      rowsum("26", "'26'"),
      rowsum("0", "'0'"),
      rowsum("-24", "'-24'"),
      rowsum("17592192", "'17592192'"),
      {workload("kind: rowsum, pitch: 24 rows"),
       {},
       "@:1:33: workload.pitch: found '24 rows'" + allowed +
           "; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB"},
      rowsum("[24]", "a list"),
      {workload("kind: rowsum, rows: 5, axis: columns, type: float64, pitch: 36"),
       {},
       "@:1:72: workload.pitch: found '36'; allowed: none or a multiple of 8 B from 40 B, the "
       "bytes of a line, to 23456248059221 B"},
      {workload("kind: pipeline, pitch: 64"),
       {},
       "@:1:28: workload.pitch: found with kind pipeline (@:1:18); allowed: with kind increment, "
       "rowsum"},
  });
}

TEST(DeckErrors, Boxes) {
  expect_messages({
      {workload("kind: increment, array: [4, 4]"),
       {},
       "@:1:36: workload.array: found a list; allowed: none, or any with workload.box"},
      {workload("kind: increment, box: none, origin: [4, 4]"),
       {},
       "@:1:48: workload.origin: found a list; allowed: none, or any with workload.box"},
      {workload("kind: increment, pitch: 4096"),
       {},
       "@:1:36: workload.pitch: found '4096'; allowed: none, or any with workload.box"},
      {workload("kind: increment, box: 5"),
       {},
       "@:1:34: workload.box: found '5'; allowed: none, [rows, columns] or [planes, rows, "
       "columns]"},
      {workload("kind: increment, box: [5]"),
       {},
       "@:1:34: workload.box: found a list; allowed: none, [rows, columns] or [planes, rows, "
       "columns]"},
      {workload("kind: increment, box: [2, 3, 4, 5]"),
       {},
       "@:1:34: workload.box: found a list; allowed: none, [rows, columns] or [planes, rows, "
       "columns]"},
      {workload("kind: increment, box: [2, 0, 4]"),
       {},
       "@:1:38: workload.box[1]: found '0'; allowed: a whole number from 1 to 17592186044416, such "
       "as 4096 or 16 Mi"},
      {workload("kind: increment, box: [2, 3, 4], array: [3, 4]"),
       {},
       "@:1:52: workload.array: found a list; allowed: 3 numbers, as workload.box has"},
      {workload("kind: increment, box: [2, 3, 4], array: [2, 2, 4]"),
       {},
       "@:1:52: workload.array: found a box from 0 to 3 in an array of 2; allowed: inside the "
       "array"},
      {workload("kind: increment, box: [2, 3, 4], array: [4, 4, 4], origin: [0, 2, 0]"),
       {},
       "@:1:71: workload.origin: found a box from 2 to 5 in an array of 4; allowed: inside the "
       "array"},
      {workload("kind: increment, box: [2, 3], origin: [0, 1]"),
       {},
       "@:1:50: workload.origin: found a box from 1 to 4 in an array of 3; allowed: inside the "
       "array"},
      {workload("kind: increment, box: [16 Mi, 16 Mi]"),
       {},
       "@:1:34: workload.box: found 16777216 x 16777216 elements; allowed: at most "
       "17592186044416"},
      {workload("kind: increment, box: [2, 2], array: [16 Ti, 2]"),
       {},
       "@:1:49: workload.array: found 17592186044416 x 2 elements; allowed: at most "
       "17592186044416"},
      {workload("kind: increment, box: [2, 3], elements: 7"),
       {},
       "@:1:52: workload.elements: found '7'; allowed: 6, those of workload.box, or no key"},
      {workload("kind: increment, box: [2, 3], array: [2, 4], pitch: 12"),
       {},
       "@:1:64: workload.pitch: found '12'; allowed: none or a multiple of 4 B from 16 B, the "
       "bytes "
       "of a line, to 70368744177664 B"},
  });
}

/// A custom deck whose tasks stand from line 4, column 8 on.
std::string tasks(const std::vector<std::string>& list, const std::string& rest = "") {
  std::string deck = "workload:\n  kind: custom\n  tasks:\n";
  for (const std::string& task : list) deck += "    - {" + task + "}\n";
  return deck + rest;
}

const std::string kernel = "name: K1, stage: kernel, lane: 1, duration: 1 ms";

TEST(DeckErrors, KeysOfTasks) {
  expect_messages({
      {tasks({"name: K1, stage: kernel, lane: 1, duration: 1 ms, sm: 1"}),
       {},
       "@:4:58: workload.tasks[0].sm: unknown key; allowed: name, stage, lane, duration, sms, "
       "after, chunk; did you mean 'sms'?"},
      {tasks({"name: K1, stage: kernel, lane: 1, bytes: 4 KiB"}),
       {},
       "@:4:42: workload.tasks[0].bytes: found with stage kernel (@:4:25); allowed: with stage "
       "h2d, d2h"},
      {tasks({"name: C, stage: host, lane: 1, duration: 1 ms"}),
       {},
       "@:4:30: workload.tasks[0].lane: found with stage host (@:4:24); allowed: with stage h2d, "
       "kernel, d2h, query"},
      {tasks({"name: Z, stage: default_stream, duration: 1 ms, after: [Z]"}),
       {},
       "@:4:56: workload.tasks[0].after: found with stage default_stream (@:4:24); allowed: with "
       "stage h2d, kernel, d2h, host"},
      {tasks({"name: K1, stag: kernel"}),
       {},
       "@:4:18: workload.tasks[0].stag: unknown key; allowed: name, stage, lane, bytes, duration, "
       "sms, after, chunk; did you mean 'stage'?"},
      {tasks({"name: K1"}),
       {},
       "@:4:7: workload.tasks[0].stage: found nothing; allowed: h2d, kernel, d2h, host, query, "
       "default_stream"},
      {tasks({"name: K1, stage: kernl, lane: 1"}),
       {},
       "@:4:25: workload.tasks[0].stage: found 'kernl'; allowed: h2d, kernel, d2h, host, query, "
       "default_stream; did you mean 'kernel'?"},
  });
}

TEST(DeckErrors, ValuesOfTasks) {
  expect_messages({
      {"workload: {kind: custom}\n",
       {},
       "@:1:11: workload.tasks: found nothing; allowed: a list of tasks, such as [{name: K1, "
       "stage: "
       "kernel, lane: 1, duration: 1 ms}]"},
      {"workload: {kind: custom, tasks: [{name: K, stage: kernel, lane: 1, duration: 1 ms}]}\n"
       "chunks: {profile: ramp}\n",
       {},
       "@:2:19: chunks.profile: found 'ramp'; allowed: uniform with workload.kind custom (@:1:18), "
       "whose tasks define the copies"},
      {"workload: {kind: custom, tasks: []}\n",
       {},
       "@:1:33: workload.tasks: found an empty list; allowed: a list of tasks, such as [{name: K1, "
       "stage: kernel, lane: 1, duration: 1 ms}]"},
      {tasks({"stage: kernel, lane: 1, duration: 1 ms"}),
       {},
       "@:4:7: workload.tasks[0].name: found nothing; allowed: letters, digits, '_', '-' and '.', "
       "at most 64"},
      {tasks({"name: K 1, stage: kernel, lane: 1, duration: 1 ms"}),
       {},
       "@:4:14: workload.tasks[0].name: found 'K 1'; allowed: letters, digits, '_', '-' and '.', "
       "at most 64"},
      {tasks({kernel, kernel}),
       {},
       "@:5:14: workload.tasks[1].name: found 'K1' again, first at @:4:14; allowed: a unique name "
       "for each task"},
      {tasks({"name: K1, stage: kernel, duration: 1 ms"}),
       {},
       "@:4:7: workload.tasks[0].lane: found nothing; allowed: a whole number from 1 to 1024"},
      {tasks({"name: K1, stage: kernel, lane: 0, duration: 1 ms"}),
       {},
       "@:4:39: workload.tasks[0].lane: found '0'; allowed: a whole number from 1 to 1024"},
      {tasks({"name: K1, stage: kernel, lane: 1"}),
       {},
       "@:4:7: workload.tasks[0].duration: found nothing; allowed: a time above 0 and up to 100 s, "
       "such as 0.005 (seconds), 5 ms or 50 us"},
      {tasks({"name: C, stage: host"}),
       {},
       "@:4:7: workload.tasks[0].duration: found nothing; allowed: a time above 0 and up to 100 s, "
       "such as 0.005 (seconds), 5 ms or 50 us"},
      {tasks({"name: K1, stage: kernel, lane: 1, duration: 0"}),
       {},
       "@:4:52: workload.tasks[0].duration: found '0'; allowed: a time above 0 and up to 100 s, "
       "such as 0.005 (seconds), 5 ms or 50 us"},
      {tasks({"name: K1, stage: kernel, lane: 1, duration: 1 ms, sms: 1.5"}),
       {},
       "@:4:63: workload.tasks[0].sms: found '1.5'; allowed: a fraction of the device, above 0 and "
       "up to 100 %"},
      {tasks({"name: HD, stage: h2d, lane: 1"}),
       {},
       "@:4:7: workload.tasks[0]: found neither bytes nor duration; allowed: one of them"},
      {tasks({"name: HD, stage: h2d, lane: 1, bytes: 4 KiB, duration: 1 ms"}),
       {},
       "@:4:63: workload.tasks[0].duration: found with workload.tasks[0].bytes (@:4:46); the two "
       "are mutually exclusive"},
      {tasks({"name: HD, stage: h2d, lane: 1, bytes: 6"}),
       {},
       "@:4:46: workload.tasks[0].bytes: found '6'; allowed: a multiple of 4 B, up to 1 TiB"},
      {tasks({"name: HD, stage: h2d, lane: 1, bytes: 4 KiB, chunk: 0"}),
       {},
       "@:4:60: workload.tasks[0].chunk: found '0'; allowed: a whole number from 1 to 1048576"},
  });
}

TEST(DeckErrors, DependenciesOfTasks) {
  const auto after = [](const std::string& list) {
    return tasks({"name: HDa1, stage: h2d, lane: 1, bytes: 4", "name: Q, stage: query, lane: 1",
                  kernel + ", after: " + list});
  };
  expect_messages({
      {after("[HDa]"),
       {},
       "@:6:66: workload.tasks[2].after[0]: found 'HDa'; allowed: the name of a task; did you mean "
       "'HDa1'?"},
      {after("[K1]"),
       {},
       "@:6:66: workload.tasks[2].after[0]: found 'K1'; allowed: other tasks, each once, and no "
       "query, which completes nothing"},
      {after("[HDa1, HDa1]"),
       {},
       "@:6:72: workload.tasks[2].after[1]: found 'HDa1'; allowed: other tasks, each once, and no "
       "query, which completes nothing"},
      {after("[Q]"),
       {},
       "@:6:66: workload.tasks[2].after[0]: found 'Q'; allowed: other tasks, each once, and no "
       "query, which completes nothing"},
      {after("HDa1"),
       {},
       "@:6:65: workload.tasks[2].after: found 'HDa1'; allowed: a list of names of tasks"},
  });
}

TEST(DeckErrors, TasksThatWaitForEachOther) {
  const auto task = [](const std::string& name, const std::string& after) {
    return "name: " + name + ", stage: kernel, lane: 1, duration: 1 ms, after: [" + after + "]";
  };
  expect_messages({
      {tasks({task("A", "B"), task("B", "A")}),
       {},
       "@:4:64: workload.tasks[0].after: found a cycle, for which A waits; allowed: tasks that do "
       "not wait for each other"},
      {tasks({task("A", "C"), task("D", "C"), task("C", "B"), task("B", "D")}),
       {},
       "@:4:64: workload.tasks[0].after: found a cycle, for which A waits; allowed: tasks that do "
       "not wait for each other"},
  });
}

TEST(DeckErrors, WhatACustomWorkloadDoesNotTake) {
  expect_messages({
      {tasks({kernel}, "chunks: {count: 4}\n"),
       {},
       "@:5:17: chunks.count: found '4'; allowed: 1 with workload.kind custom (@:2:9), whose tasks "
       "define the copies"},
      {tasks({kernel}, "chunks: {bytes: 4 KiB}\n"),
       {},
       "@:5:17: chunks.bytes: found '4 KiB'; allowed: no such key with workload.kind custom "
       "(@:2:9), "
       "whose tasks define the copies"},
      {tasks({kernel}, "memory: {device_limit: 4 GiB}\n"),
       {},
       "@:5:24: memory.device_limit: found '4 GiB'; allowed: none with workload.kind custom "
       "(@:2:9), whose data stay on the device"},
      {tasks({kernel}, "issue: {lanes: 4}\n"),
       {},
       "@:5:16: issue.lanes: found '4'; allowed: 1, the lanes that workload.tasks names, or "
       "no key"},
      {tasks({kernel}, "issue: {orders: [by_engine]}\n"),
       {},
       "@:5:18: issue.orders[0]: found 'by_engine'; allowed: sequential, depth_first, "
       "breadth_first, custom"},
      {increment("issue: {orders: [custom]}\n"),
       {},
       "@:2:18: issue.orders[0]: found 'custom'; allowed: sequential, depth_first, breadth_first, "
       "by_engine, auto"},
  });
}

TEST(DeckErrors, KeysThatAreNoWords) {
  const std::string message = "found a key that is not text; allowed: a word";
  expect_messages({
      {"? {a: b}\n: c\n", {}, "@:1:3: " + message},
      {"? [a]\n: c\n", {}, "@:1:3: " + message},
      {increment("null: 3\n"), {}, "@:2:1: " + message},
      {increment("sweep: {[chunks.count]: [1, 2]}\n"), {}, "@:2:9: " + message},
      {increment("sweep: {issue.lanes: [1, 2], ~: [1, 2]}\n"), {}, "@:2:30: " + message},
  });
}

TEST(DeckErrors, MissingWorkloadOrKind) {
  expect_messages({
      {"",
       {},
       "@: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"# nothing\n",
       {},
       "@: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"---\n",
       {},
       "@: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"null\n",
       {},
       "@: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"{}\n",
       {},
       "@:1:1: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"title: T\n",
       {},
       "@:1:1: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"workload:\n",
       {},
       "@:1:1: workload: found nothing; allowed: a map with the keys kind, elements, rows, "
       "columns, m, n, k, tile_m, tile_n, alpha, beta, type, iterations, "
       "intensity, box, array, origin, sum_type, axis, kernel, pitch, host_share, tasks"},
      {"workload: {}\n",
       {},
       "@:1:11: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"workload: {elements: 4}\n",
       {},
       "@:1:11: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"workload: {kind: }\n",
       {},
       "@:1:12: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"workload: {kind: null}\n",
       {},
       "@:1:12: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {"workload:\n  kind:\n  elements: 5\n",
       {},
       "@:2:3: workload.kind: found nothing; allowed: increment, rowsum, pipeline, dgemm, custom"},
  });
}

TEST(DeckErrors, WrongTypes) {
  expect_messages({
      {"hello\n",
       {},
       "@:1:1: deck: found 'hello'; allowed: a map with the keys title, workload, chunks, memory, "
       "issue, host_work, disturb, measure, require, fleet, acceptance, sweep"},
      {"[1, 2]\n",
       {},
       "@:1:1: deck: found a list; allowed: a map with the keys title, workload, chunks, memory, "
       "issue, host_work, disturb, measure, require, fleet, acceptance, sweep"},
      {"- a\n- b\n",
       {},
       "@:1:1: deck: found a list; allowed: a map with the keys title, workload, chunks, memory, "
       "issue, host_work, disturb, measure, require, fleet, acceptance, sweep"},
      {"workload: increment\n",
       {},
       "@:1:11: workload: found 'increment'; allowed: a map with the keys kind, elements, rows, "
       "columns, m, n, k, tile_m, tile_n, alpha, beta, type, iterations, "
       "intensity, box, array, origin, sum_type, axis, kernel, pitch, host_share, tasks"},
      {"workload: [increment]\n",
       {},
       "@:1:11: workload: found a list; allowed: a map with the keys kind, elements, rows, "
       "columns, m, n, k, tile_m, tile_n, alpha, beta, type, iterations, "
       "intensity, box, array, origin, sum_type, axis, kernel, pitch, host_share, tasks"},
      {"workload:\n  kind:increment\n",
       {},
       "@:2:3: workload: found 'kind:increment'; allowed: a map with the keys kind, elements, "
       "rows, columns, m, n, k, tile_m, tile_n, alpha, beta, type, "
       "iterations, intensity, box, array, origin, sum_type, axis, kernel, pitch, host_share, "
       "tasks"},
      {workload("kind: [increment]"),
       {},
       "@:1:18: workload.kind: found a list; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {workload("kind: {a: 1}"),
       {},
       "@:1:18: workload.kind: found a map; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {workload("kind: increment, elements: [1]"),
       {},
       "@:1:39: workload.elements: found a list; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: {a: 1}"),
       {},
       "@:1:39: workload.elements: found a map; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: "),
       {},
       "@:1:29: workload.elements: found nothing; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, intensity: [1]"),
       {},
       "@:1:40: workload.intensity: found a list; allowed: a whole number from 0 to 1000000, "
       "balanced, or 'Nx balanced' with N from 1 to 1000"},
      {workload("kind: rowsum, axis: [rows]"),
       {},
       "@:1:32: workload.axis: found a list; allowed: rows, columns"},
      {increment("title: [a]\n"), {}, "@:2:8: title: found a list; allowed: one line of text"},
      {increment("title: {a: b}\n"), {}, "@:2:8: title: found a map; allowed: one line of text"},
      {increment("title:\n"), {}, "@:2:1: title: found nothing; allowed: one line of text"},
      {increment("chunks:\n"),
       {},
       "@:2:1: chunks: found nothing; allowed: a map with the keys profile, count, bytes, growth, "
       "spread"},
      {increment("chunks: 4\n"),
       {},
       "@:2:9: chunks: found '4'; allowed: a map with the keys profile, count, bytes, growth, "
       "spread"},
      {increment("chunks: [4]\n"),
       {},
       "@:2:9: chunks: found a list; allowed: a map with the keys profile, count, bytes, growth, "
       "spread"},
      {increment("memory: pinned\n"),
       {},
       "@:2:9: memory: found 'pinned'; allowed: a map with the keys host, transfer, device_limit, "
       "numa, "
       "ring_slots, ring_bytes"},
      {increment("memory: {device_limit: [none]}\n"),
       {},
       "@:2:24: memory.device_limit: found a list; allowed: none or a size of at least 1 B, such "
       "as 65536, 16 MiB or 2 GB"},
      {increment("memory: {device_limit: ~}\n"),
       {},
       "@:2:10: memory.device_limit: found nothing; allowed: none or a size of at least 1 B, such "
       "as 65536, 16 MiB or 2 GB"},
      {increment("issue: {orders: sequential}\n"),
       {},
       "@:2:17: issue.orders: found 'sequential'; allowed: a list of at least one of sequential, "
       "depth_first, breadth_first, by_engine, auto"},
      {increment("issue: {orders: {sequential: 1}}\n"),
       {},
       "@:2:17: issue.orders: found a map; allowed: a list of at least one of sequential, "
       "depth_first, breadth_first, by_engine, auto"},
      {increment("issue: {orders: }\n"),
       {},
       "@:2:9: issue.orders: found nothing; allowed: a list of at least one of sequential, "
       "depth_first, breadth_first, by_engine, auto"},
      {increment("issue: {orders: [[sequential]]}\n"),
       {},
       "@:2:18: issue.orders[0]: found a list; allowed: sequential, depth_first, breadth_first, "
       "by_engine, auto"},
      {increment("issue: {orders: [null]}\n"),
       {},
       "@:2:17: issue.orders[0]: found nothing; allowed: sequential, depth_first, breadth_first, "
       "by_engine, auto"},
      {increment("issue: {lanes: [1]}\n"),
       {},
       "@:2:16: issue.lanes: found a list; allowed: a whole number from 1 to 1024"},
      {increment("measure: 5\n"),
       {},
       "@:2:10: measure: found '5'; allowed: a map with the keys warmup, repetitions, precision, "
       "at_most, budget, duration, verify"},
      {criteria("none"),
       {},
       "@:3:13: acceptance: found 'none'; allowed: a list of criteria, such as [{metric: speedup, "
       "min: 1.3}]"},
      {criteria("{metric: time, max: 1}"),
       {},
       "@:3:13: acceptance: found a map; allowed: a list of criteria, such as [{metric: speedup, "
       "min: 1.3}]"},
      {criteria(""),
       {},
       "@:3:1: acceptance: found nothing; allowed: a list of criteria, such as [{metric: speedup, "
       "min: 1.3}]"},
      {criteria("[time]"),
       {},
       "@:3:14: acceptance[0]: found 'time'; allowed: a map with the keys metric, order, phase, "
       "min, max, "
       "reference, below, where"},
      {criteria("[null]"),
       {},
       "@:3:13: acceptance[0]: found nothing; allowed: a map with the keys metric, order, phase, "
       "min, "
       "max, reference, below, where"},
      {criteria("[{metric: time, max: [1]}]"),
       {},
       "@:3:34: acceptance[0].max: found a list; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us"},
      {criteria("[{metric: time, max: }]"),
       {},
       "@:3:29: acceptance[0].max: found nothing; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us"},
      {criteria("[{metric: [time], max: 1}]"),
       {},
       "@:3:23: acceptance[0].metric: found a list; allowed: time, throughput, speedup, max_error, "
       "overlap_efficiency, bound_fraction, schedule_bound_fraction, host_work_hidden, drift, "
       "contention, "
       "h2d_rate, "
       "d2h_rate, duplex_rate, duplex_h2d_rate, duplex_d2h_rate, pcie_replays, ecc_errors, "
       "throttled"},
  });
}

TEST(DeckErrors, Titles) {
  expect_messages({
      {increment("title: \"a\\nb\"\n"),
       {},
       "@:2:8: title: found 'a\\nb'; allowed: one line of text"},
      {increment("title: \"a\\0b\"\n"),
       {},
       "@:2:8: title: found 'a\\x00b'; allowed: one line of text"},
      {increment("title: |\n  two\n  lines\n"),
       {},
       "@:2:8: title: found 'two\\nlines\\n'; allowed: one line of text"},
  });
}

TEST(DeckErrors, Products) {
  const auto product = [](const std::string& keys) { return workload("kind: dgemm, " + keys); };
  expect_messages({
      {product("m: 0"),
       {},
       "@:1:28: workload.m: found '0'; allowed: a whole number from 1 to 2147483647, such "
       "as 4096 or 16 Mi"},
      {product("m: 3 Gi"),
       {},
       "@:1:28: workload.m: found '3 Gi'; allowed: a whole number from 1 to 2147483647, "
       "such as 4096 or 16 Mi"},
      {product("m: 100, tile_m: 101"),
       {},
       "@:1:41: workload.tile_m: found '101'; allowed: a whole number from 1 to 100"},
      {product("m: 100000, n: 100000, tile_m: 10, tile_n: 100000"),
       {},
       "@:1:67: workload.tile_n: found 10000 x 1 tiles; allowed: at most 4096"},
      {product("m: 2000000000, n: 8, k: 2000000000"),
       {},
       "@:1:49: workload.k: found 2000000000 m times 2000000000 k; allowed: at most "
       "17592186044416 together"},
      {product("alpha: 0"),
       {},
       "@:1:32: workload.alpha: found '0'; allowed: a number of magnitude 1e-6 to 1e6"},
      {product("beta: 2e6"),
       {},
       "@:1:31: workload.beta: found '2e6'; allowed: 0 or a number of magnitude 1e-6 to 1e6"},
      {product("beta: one"),
       {},
       "@:1:31: workload.beta: found 'one'; allowed: 0 or a number of magnitude 1e-6 to 1e6"},
      {product("type: int32"),
       {},
       "@:1:31: workload.type: found 'int32'; allowed: float32, float64"},
      {product("type: float32, k: 300000"),
       {},
       "@:1:43: workload.k: found '300000'; allowed: at most 262144 with float32"},
      {product("host_share: 1.5"),
       {},
       "@:1:37: workload.host_share: found '1.5'; allowed: auto or a fraction of the tiles, from "
       "0 to 100 %"},
      {product("k: 3") + "chunks: {count: 4}\n",
       {},
       "@:2:17: chunks.count: found '4'; allowed: 1 with workload.kind dgemm (@:1:18), which "
       "is split by tile_m and tile_n"},
      {product("k: 3") + "chunks: {bytes: 1 MiB}\n",
       {},
       "@:2:17: chunks.bytes: found '1 MiB'; allowed: no such key with workload.kind dgemm "
       "(@:1:18), "
       "which is split by tile_m and tile_n"},
      {product("k: 3") + "chunks: {profile: ramp}\n",
       {},
       "@:2:19: chunks.profile: found 'ramp'; allowed: uniform with workload.kind dgemm (@:1:18), "
       "which is split by tile_m and tile_n"},
      {product("k: 3") + "memory: {transfer: zero_copy}\n",
       {},
       "@:2:20: memory.transfer: found 'zero_copy'; allowed: staged with workload.kind dgemm "
       "(@:1:18)"},
      {product("k: 3") + "memory: {host: pageable_staged}\n",
       {},
       "@:2:16: memory.host: found 'pageable_staged'; allowed: pinned, pageable, registered with "
       "workload.kind dgemm (@:1:18)"},
      {product("k: 3") + "issue: {orders: [by_engine]}\n",
       {},
       "@:2:18: issue.orders[0]: found 'by_engine'; allowed: sequential, depth_first, "
       "breadth_first, two_way, three_way, four_way, four_plus"},
      {increment("issue: {orders: [three_way]}\n"),
       {},
       "@:2:18: issue.orders[0]: found 'three_way'; allowed: sequential, depth_first, "
       "breadth_first, by_engine, auto"},
  });
}

TEST(DeckErrors, Words) {
  expect_messages({
      {workload("kind: incremnt"),
       {},
       "@:1:18: workload.kind: found 'incremnt'; allowed: increment, rowsum, pipeline, dgemm, "
       "custom; did "
       "you "
       "mean 'increment'?"},
      {workload("kind: INCREMENT"),
       {},
       "@:1:18: workload.kind: found 'INCREMENT'; allowed: increment, rowsum, pipeline, dgemm, "
       "custom; "
       "did you "
       "mean 'increment'?"},
      {workload("kind: 'increment '"),
       {},
       "@:1:18: workload.kind: found 'increment '; allowed: increment, rowsum, pipeline, dgemm, "
       "custom; "
       "did you "
       "mean 'increment'?"},
      {workload("kind: sgemv"),
       {},
       "@:1:18: workload.kind: found 'sgemv'; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {workload("kind: increment, type: int32"),
       {},
       "@:1:35: workload.type: found 'int32'; allowed: float32, float64"},
      {workload("kind: pipeline, type: int64"),
       {},
       "@:1:34: workload.type: found 'int64'; allowed: float32, float64"},
      {workload("kind: increment, type: float"),
       {},
       "@:1:35: workload.type: found 'float'; allowed: float32, float64; did you mean 'float32'?"},
      {workload("kind: rowsum, type: double"),
       {},
       "@:1:32: workload.type: found 'double'; allowed: int32, int64, float32, float64"},
      {workload("kind: rowsum, type: floot32"),
       {},
       "@:1:32: workload.type: found 'floot32'; allowed: int32, int64, float32, float64; did you "
       "mean 'float32'?"},
      {workload("kind: rowsum, sum_type: int32"),
       {},
       "@:1:36: workload.sum_type: found 'int32'; allowed: same, int64"},
      {workload("kind: rowsum, axis: row"),
       {},
       "@:1:32: workload.axis: found 'row'; allowed: rows, columns; did you mean 'rows'?"},
      {workload("kind: rowsum, kernel: team"),
       {},
       "@:1:34: workload.kernel: found 'team'; allowed: auto, thread_per_row, team_per_row"},
      {workload("kind: rowsum, kernel: thread_per_rows"),
       {},
       "@:1:34: workload.kernel: found 'thread_per_rows'; allowed: auto, thread_per_row, "
       "team_per_row; did you mean 'thread_per_row'?"},
      {increment("chunks: {profile: unifrom}\n"),
       {},
       "@:2:19: chunks.profile: found 'unifrom'; allowed: uniform, ramp; did you mean 'uniform'?"},
      {increment("chunks: {growth: 3}\n"),
       {},
       "@:2:10: chunks.growth: found with profile uniform (by default); allowed: with profile "
       "ramp"},
      {increment("chunks: {profile: uniform, spread: 3}\n"),
       {},
       "@:2:28: chunks.spread: found with profile uniform (@:2:19); allowed: with profile ramp"},
      {increment("chunks: {profile: ramp, growth: 1}\n"),
       {},
       "@:2:33: chunks.growth: found '1'; allowed: a number from 1.01 to 100"},
      {increment("chunks: {profile: ramp, spread: 0.5}\n"),
       {},
       "@:2:33: chunks.spread: found '0.5'; allowed: a number from 1 to 1000000"},
      {increment("memory: {host: pined}\n"),
       {},
       "@:2:16: memory.host: found 'pined'; allowed: pinned, pageable, registered, "
       "pageable_staged, managed; did you mean 'pinned'?"},
      {increment("memory: {host: managed, transfer: staged}\n"),
       {},
       "@:2:35: memory.transfer: found 'staged'; allowed: prefetch, on_demand with memory.host "
       "managed (@:2:16)"},
      {increment("memory: {transfer: prefetch}\n"),
       {},
       "@:2:20: memory.transfer: found 'prefetch'; allowed: staged, zero_copy with memory.host "
       "pinned (by default)"},
      {workload("kind: rowsum, pitch: 64") + "memory: {host: managed}\n",
       {},
       "@:2:16: memory.host: found 'managed'; allowed: pinned, pageable, registered with "
       "workload.pitch 64 (@:1:33)"},
      {increment("memory: {host: managed}\nissue: {mechanism: graph}\n"),
       {},
       "@:3:20: issue.mechanism: found 'graph'; allowed: streams with memory.host managed "
       "(@:2:16)"},
      {increment("memory: {host: managed}\nmeasure: {verify: ends}\n"),
       {},
       "@:3:19: measure.verify: found 'ends'; allowed: every with memory.host managed (@:2:16)"},
      {increment("memory: {host: managed}\nissue: {mechanism: portable}\n"),
       {},
       "@:2:16: memory.host: found 'managed'; allowed: pinned, pageable with issue.mechanism "
       "portable (@:3:20)"},
      {increment("memory: {transfer: zerocopy}\n"),
       {},
       "@:2:20: memory.transfer: found 'zerocopy'; allowed: staged, zero_copy, prefetch, "
       "on_demand; did you mean "
       "'zero_copy'?"},
      {increment("memory: {host: pageable, transfer: zero_copy}\n"),
       {},
       "@:2:36: memory.transfer: found 'zero_copy'; allowed: staged with memory.host pageable "
       "(@:2:16)"},
      {workload("kind: rowsum, pitch: 64") + "memory: {transfer: zero_copy}\n",
       {},
       "@:2:20: memory.transfer: found 'zero_copy'; allowed: staged with workload.pitch 64 "
       "(@:1:33)"},
      {workload("kind: rowsum, pitch: 64") + "memory: {host: pageable_staged}\n",
       {},
       "@:2:16: memory.host: found 'pageable_staged'; allowed: pinned, pageable, registered with "
       "workload.pitch 64 (@:1:33)"},
      {increment("memory: {ring_slots: 4}\n"),
       {},
       "@:2:10: memory.ring_slots: found with host pinned (by default); allowed: with host "
       "pageable_staged"},
      {increment("memory: {host: pageable_staged, ring_bytes: 1}\n"),
       {},
       "@:2:45: memory.ring_bytes: found '1'; allowed: a size of at least 4096 B and at most 64 "
       "GiB, such as 65536, 16 MiB or 2 GB"},
      {increment("memory: {host: pageable_staged, ring_bytes: 1 TiB}\n"),
       {},
       "@:2:45: memory.ring_bytes: found '1 TiB'; allowed: a size of at least 4096 B and at most "
       "64 "
       "GiB, such as 65536, 16 MiB or 2 GB"},
      {increment("memory: {host: pageable_staged}\nissue: {mechanism: graph}\n"),
       {},
       "@:3:20: issue.mechanism: found 'graph'; allowed: streams with memory.host pageable_staged "
       "(@:2:16)"},
      {increment("memory: {host: pageable}\nissue: {mechanism: graph}\n"),
       {},
       "@:3:20: issue.mechanism: found 'graph'; allowed: streams, portable with memory.host "
       "pageable (@:2:16)"},
      {increment("issue: {mechanism: portable, streams: blocking}\n"),
       {},
       "@:2:39: issue.streams: found 'blocking'; allowed: own with issue.mechanism portable "
       "(@:2:20)"},
      {increment("issue: {mechanism: portable, sync: event}\n"),
       {},
       "@:2:36: issue.sync: found 'event'; allowed: stream with issue.mechanism portable "
       "(@:2:20)"},
      {increment("memory: {host: registered}\nissue: {mechanism: portable}\n"),
       {},
       "@:2:16: memory.host: found 'registered'; allowed: pinned, pageable with issue.mechanism "
       "portable (@:3:20)"},
      {increment("disturb: {operation: malloc}\nissue: {mechanism: portable}\n"),
       {},
       "@:2:10: disturb: found a map; allowed: none with issue.mechanism portable (@:3:20), which "
       "makes no native calls"},
      {increment("issue: {mechanism: graph, streams: blocking}\n"),
       {},
       "@:2:36: issue.streams: found 'blocking'; allowed: own with issue.mechanism graph (@:2:20)"},
      {increment("issue: {threads: 5}\n"),
       {},
       "@:2:18: issue.threads: found '5'; allowed: at most 4 with issue.lanes 4 (by default)"},
      {increment("issue: {threads: 0}\n"),
       {},
       "@:2:18: issue.threads: found '0'; allowed: a whole number from 1 to 64"},
      {increment("issue: {threads: 2, mechanism: graph}\n"),
       {},
       "@:2:18: issue.threads: found '2'; allowed: 1 with issue.mechanism graph (@:2:32), issued "
       "as a whole"},
      {increment("issue: {threads: 2, streams: legacy_default}\n"),
       {},
       "@:2:18: issue.threads: found '2'; allowed: 1 with issue.streams legacy_default (@:2:30), "
       "the one stream of all threads"},
      {increment("issue: {threads: 2, orders: [auto]}\n"),
       {},
       "@:2:18: issue.threads: found '2'; allowed: 1 with issue.orders [auto] (@:2:29)"},
      {increment("memory: {host: pageable_staged}\nissue: {threads: 2}\n"),
       {},
       "@:3:18: issue.threads: found '2'; allowed: 1 with memory.host pageable_staged (@:2:16), "
       "whose ring one thread serves"},
      {increment("issue: {threads: 2}\ndisturb: {operation: malloc}\n"),
       {},
       "@:3:10: disturb: found a map; allowed: none with issue.threads 2 (@:2:18)"},
      {"workload: {kind: dgemm}\nissue: {threads: 2}\n",
       {},
       "@:2:18: issue.threads: found '2'; allowed: 1 with workload.kind dgemm (@:1:18), whose "
       "library is called by one thread"},
      {increment("memory: {numa: near}\n"),
       {},
       "@:2:16: memory.numa: found 'near'; allowed: any, local, remote or the number of a NUMA "
       "node"},
      {increment("memory: {numa: 1024}\n"),
       {},
       "@:2:16: memory.numa: found '1024'; allowed: any, local, remote or the number of a NUMA "
       "node"},
      {increment("memory: {host: managed, numa: 1}\n"),
       {},
       "@:2:31: memory.numa: found '1'; allowed: any with memory.host managed (@:2:16), whose "
       "pages move"},
      {increment("disturb: {at: 0.5}\n"),
       {},
       "@:2:10: disturb.operation: found nothing; allowed: default_stream, malloc, malloc_host, "
       "memset, blocking_copy, small_copy, device_copy, cache_config, timing_event, stream_query, "
       "synchronize"},
      {increment("disturb: {operation: free}\n"),
       {},
       "@:2:22: disturb.operation: found 'free'; allowed: default_stream, malloc, malloc_host, "
       "memset, blocking_copy, small_copy, device_copy, cache_config, timing_event, stream_query, "
       "synchronize"},
      {increment("disturb: {operation: malloc, at: 2}\n"),
       {},
       "@:2:34: disturb.at: found '2'; allowed: a fraction of the tasks, from 0 to 100 %"},
      {increment("host_work: {}\n"),
       {},
       "@:2:12: host_work.per_chunk: found nothing; allowed: a time above 0 and up to 100 s, such "
       "as 0.005 (seconds), 5 ms or 50 us"},
      {increment("host_work: {per_chunk: 4 MiB}\n"),
       {},
       "@:2:24: host_work.per_chunk: found '4 MiB'; allowed: a time above 0 and up to 100 s, such "
       "as 0.005 (seconds), 5 ms or 50 us; units: s, min, h, ms, us, µs, ns"},
      {increment("host_work: {per_chunks: 1 ms}\n"),
       {},
       "@:2:13: host_work.per_chunks: unknown key; allowed: per_chunk; did you mean 'per_chunk'?"},
      {increment("host_work: {per_chunk: 1 ms}\nissue: {orders: [auto]}\n"),
       {},
       "@:2:12: host_work: found a map; allowed: none with issue.orders [auto] (@:3:17): auto "
       "chooses the chunks"},
      {increment("acceptance: [{metric: h2d_rate, order: sequential, min: 1}]\n"),
       {},
       "@:2:40: acceptance[0].order: found 'sequential'; allowed: no order for 'h2d_rate', a "
       "metric of the device"},
      {increment("acceptance: [{metric: host_work_hidden, min: 1}]\n"),
       {},
       "@:2:23: acceptance[0].metric: found 'host_work_hidden'; allowed: with host_work"},
      {increment("issue: {sync: events}\n"),
       {},
       "@:2:15: issue.sync: found 'events'; allowed: device, stream, event, query, event_query; "
       "did you mean "
       "'event'?"},
      {increment("issue: {orders: [depth-first]}\n"),
       {},
       "@:2:18: issue.orders[0]: found 'depth-first'; allowed: sequential, depth_first, "
       "breadth_first, by_engine, auto; did you mean 'depth_first'?"},
      {increment("issue: {orders: [sequential, by_engin]}\n"),
       {},
       "@:2:30: issue.orders[1]: found 'by_engin'; allowed: sequential, depth_first, "
       "breadth_first, by_engine, auto; did you mean 'by_engine'?"},
      {increment("measure: {verify: evry}\n"),
       {},
       "@:2:19: measure.verify: found 'evry'; allowed: every, ends; did you mean 'every'?"},
      {increment("measure: {verify: no}\n"),
       {},
       "@:2:19: measure.verify: found 'no'; allowed: every, ends"},
      {criteria("[{metric: tim, max: 1}]"),
       {},
       "@:3:23: acceptance[0].metric: found 'tim'; allowed: time, throughput, speedup, max_error, "
       "overlap_efficiency, bound_fraction, schedule_bound_fraction, host_work_hidden, drift, "
       "contention, "
       "h2d_rate, "
       "d2h_rate, duplex_rate, duplex_h2d_rate, duplex_d2h_rate, pcie_replays, ecc_errors, "
       "throttled; did you mean 'time'?"},
      {criteria("[{metric: time, order: depthfirst, max: 1}]"),
       {},
       "@:3:36: acceptance[0].order: found 'depthfirst'; allowed: sequential, depth_first, "
       "breadth_first, by_engine, two_way, three_way, four_way, four_plus, custom, auto; did you "
       "mean 'depth_first'?"},
      {workload("kind: \"a\\nb\""),
       {},
       "@:1:18: workload.kind: found 'a\\nb'; allowed: increment, rowsum, pipeline, dgemm, custom"},
      {workload("kind: \"\\e[31mred\""),
       {},
       "@:1:18: workload.kind: found '\\x1b[31mred'; allowed: increment, rowsum, pipeline, dgemm, "
       "custom"},
      {workload("kind: " + std::string(150, 'x')),
       {},
       "@:1:18: workload.kind: found '" + std::string(100, 'x') +
           "...'; allowed: increment, rowsum, pipeline, dgemm, custom"},
  });
}

TEST(DeckErrors, Counts) {
  expect_messages({
      {workload("kind: increment, elements: 0"),
       {},
       "@:1:39: workload.elements: found '0'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: -1"),
       {},
       "@:1:39: workload.elements: found '-1'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 1.5"),
       {},
       "@:1:39: workload.elements: found '1.5'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: nan"),
       {},
       "@:1:39: workload.elements: found 'nan'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: .nan"),
       {},
       "@:1:39: workload.elements: found '.nan'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: inf"),
       {},
       "@:1:39: workload.elements: found 'inf'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 1e30"),
       {},
       "@:1:39: workload.elements: found '1e30'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 1e400"),
       {},
       "@:1:39: workload.elements: found '1e400'; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 99999999999999999999"),
       {},
       "@:1:39: workload.elements: found '99999999999999999999'; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 17592186044417"),
       {},
       "@:1:39: workload.elements: found '17592186044417'; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 9223372036854775807 Ti"),
       {},
       "@:1:39: workload.elements: found '9223372036854775807 Ti'; allowed: a whole number from 1 "
       "to 17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 0x10"),
       {},
       "@:1:39: workload.elements: found '0x10'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: +5"),
       {},
       "@:1:39: workload.elements: found '+5'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 1_000"),
       {},
       "@:1:39: workload.elements: found '1_000'; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: \"1,000\""),
       {},
       "@:1:39: workload.elements: found '1,000'; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: \" 5\""),
       {},
       "@:1:39: workload.elements: found ' 5'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: ''"),
       {},
       "@:1:39: workload.elements: found ''; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: true"),
       {},
       "@:1:39: workload.elements: found 'true'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 4 MiB"),
       {},
       "@:1:39: workload.elements: found '4 MiB'; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
      {workload("kind: increment, elements: 4 mi"),
       {},
       "@:1:39: workload.elements: found '4 mi'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: rowsum, rows: 0"),
       {},
       "@:1:32: workload.rows: found '0'; allowed: a whole number from 1 to 17592186044416, such "
       "as 4096 or 16 Mi"},
      {workload("kind: rowsum, columns: -6"),
       {},
       "@:1:35: workload.columns: found '-6'; allowed: a whole number from 1 to 17592186044416, "
       "such as 4096 or 16 Mi"},
      {workload("kind: pipeline, iterations: 0"),
       {},
       "@:1:40: workload.iterations: found '0'; allowed: a whole number from 1 to 1048576"},
      {workload("kind: pipeline, iterations: 1048577"),
       {},
       "@:1:40: workload.iterations: found '1048577'; allowed: a whole number from 1 to 1048576"},
      {increment("chunks: {count: 0}\n"),
       {},
       "@:2:17: chunks.count: found '0'; allowed: a whole number from 1 to 1048576"},
      {increment("chunks: {count: 1048577}\n"),
       {},
       "@:2:17: chunks.count: found '1048577'; allowed: a whole number from 1 to 1048576"},
      {increment("issue: {lanes: 0}\n"),
       {},
       "@:2:16: issue.lanes: found '0'; allowed: a whole number from 1 to 1024"},
      {increment("issue: {lanes: 1025}\n"),
       {},
       "@:2:16: issue.lanes: found '1025'; allowed: a whole number from 1 to 1024"},
      {increment("issue: {lanes: four}\n"),
       {},
       "@:2:16: issue.lanes: found 'four'; allowed: a whole number from 1 to 1024"},
      {increment("measure: {warmup: -1}\n"),
       {},
       "@:2:19: measure.warmup: found '-1'; allowed: a whole number from 0 to 1000000"},
      {increment("measure: {precision: 5 %, at_most: 19}\n"),
       {},
       "@:2:36: measure.at_most: found '19'; allowed: a whole number from 20 to 1000000"},
      {increment("measure: {warmup: 1000001}\n"),
       {},
       "@:2:19: measure.warmup: found '1000001'; allowed: a whole number from 0 to 1000000"},
      {increment("measure: {repetitions: 0}\n"),
       {},
       "@:2:24: measure.repetitions: found '0'; allowed: a whole number from 1 to 1000000"},
      {increment("measure: {repetitions: 1000001}\n"),
       {},
       "@:2:24: measure.repetitions: found '1000001'; allowed: a whole number from 1 to 1000000"},
  });
}

TEST(DeckErrors, Intensities) {
  expect_messages({
      {workload("kind: increment, intensity: -1"),
       {},
       "@:1:40: workload.intensity: found '-1'; allowed: a whole number from 0 to 1000000, "
       "balanced, or 'Nx balanced' with N from 1 to 1000"},
      {workload("kind: increment, intensity: 1.5"),
       {},
       "@:1:40: workload.intensity: found '1.5'; allowed: a whole number from 0 to 1000000, "
       "balanced, or 'Nx balanced' with N from 1 to 1000"},
      {workload("kind: increment, intensity: 1000001"),
       {},
       "@:1:40: workload.intensity: found '1000001'; allowed: a whole number from 0 to 1000000, "
       "balanced, or 'Nx balanced' with N from 1 to 1000"},
      {workload("kind: increment, intensity: balance"),
       {},
       "@:1:40: workload.intensity: found 'balance'; allowed: a whole number from 0 to 1000000, "
       "balanced, or 'Nx balanced' with N from 1 to 1000; did you mean 'balanced'?"},
      {workload("kind: increment, intensity: 0x balanced"),
       {},
       "@:1:40: workload.intensity: found '0x balanced'; allowed: a whole number from 0 to "
       "1000000, balanced, or 'Nx balanced' with N from 1 to 1000"},
      {workload("kind: increment, intensity: 1001x balanced"),
       {},
       "@:1:40: workload.intensity: found '1001x balanced'; allowed: a whole number from 0 to "
       "1000000, balanced, or 'Nx balanced' with N from 1 to 1000"},
      {workload("kind: increment, intensity: 1.5x balanced"),
       {},
       "@:1:40: workload.intensity: found '1.5x balanced'; allowed: a whole number from 0 to "
       "1000000, balanced, or 'Nx balanced' with N from 1 to 1000"},
  });
}

TEST(DeckErrors, PartsAndLongTimes) {
  const std::string parts =
      "; allowed: none or a fraction above 0 and up to 1, such as 1 % or 0.01";
  const std::string times =
      "; allowed: none or a time above 0 s and up to 240 h, such as 30 s or 30 min";
  expect_messages({
      {increment("measure: {precision: 0 %}\n"),
       {},
       "@:2:22: measure.precision: found '0 %'" + parts},
      {increment("measure: {precision: 101 %}\n"),
       {},
       "@:2:22: measure.precision: found '101 %'" + parts},
      {increment("measure: {precision: 1 s}\n"),
       {},
       "@:2:22: measure.precision: found '1 s'" + parts},
      {increment("measure: {duration: 0}\n"), {}, "@:2:21: measure.duration: found '0'" + times},
      {increment("measure: {duration: 241 h}\n"),
       {},
       "@:2:21: measure.duration: found '241 h'" + times},
      {increment("measure: {precision: 1 %, budget: 3 d}\n"),
       {},
       "@:2:35: measure.budget: found '3 d'" + times + "; units: s, min, h, ms, us, µs, ns"},
  });
}

TEST(DeckErrors, Sizes) {
  expect_messages({
      {increment("chunks: {bytes: 0}\n"),
       {},
       "@:2:17: chunks.bytes: found '0'; allowed: a size of at least 1 B, such as 65536, 16 MiB or "
       "2 GB"},
      {increment("chunks: {bytes: -16 MiB}\n"),
       {},
       "@:2:17: chunks.bytes: found '-16 MiB'; allowed: a size of at least 1 B, such as 65536, 16 "
       "MiB or 2 GB"},
      {increment("chunks: {bytes: 0.3 B}\n"),
       {},
       "@:2:17: chunks.bytes: found '0.3 B'; allowed: a size of at least 1 B, such as 65536, 16 "
       "MiB or 2 GB"},
      {increment("chunks: {bytes: 16 Mi}\n"),
       {},
       "@:2:17: chunks.bytes: found '16 Mi'; allowed: a size of at least 1 B, such as 65536, 16 "
       "MiB or 2 GB; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB"},
      {increment("chunks: {bytes: 16 mib}\n"),
       {},
       "@:2:17: chunks.bytes: found '16 mib'; allowed: a size of at least 1 B, such as 65536, 16 "
       "MiB or 2 GB; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB"},
      {increment("chunks: {bytes: MiB}\n"),
       {},
       "@:2:17: chunks.bytes: found 'MiB'; allowed: a size of at least 1 B, such as 65536, 16 MiB "
       "or 2 GB"},
      {increment("chunks: {bytes: none}\n"),
       {},
       "@:2:17: chunks.bytes: found 'none'; allowed: a size of at least 1 B, such as 65536, 16 MiB "
       "or 2 GB"},
      {increment("chunks: {bytes: nan}\n"),
       {},
       "@:2:17: chunks.bytes: found 'nan'; allowed: a size of at least 1 B, such as 65536, 16 MiB "
       "or 2 GB"},
      {increment("chunks: {bytes: 1e30}\n"),
       {},
       "@:2:17: chunks.bytes: found '1e30'; allowed: a size of at least 1 B, such as 65536, 16 MiB "
       "or 2 GB"},
      {increment("chunks: {bytes: 99999999999999999999 GiB}\n"),
       {},
       "@:2:17: chunks.bytes: found '99999999999999999999 GiB'; allowed: a size of at least 1 B, "
       "such as 65536, 16 MiB or 2 GB"},
      {increment("memory: {device_limit: 0}\n"),
       {},
       "@:2:24: memory.device_limit: found '0'; allowed: none or a size of at least 1 B, such as "
       "65536, 16 MiB or 2 GB"},
      {increment("memory: {device_limit: None}\n"),
       {},
       "@:2:24: memory.device_limit: found 'None'; allowed: none or a size of at least 1 B, such "
       "as 65536, 16 MiB or 2 GB; did you mean 'none'?"},
      {increment("memory: {device_limit: 1 EB}\n"),
       {},
       "@:2:24: memory.device_limit: found '1 EB'; allowed: none or a size of at least 1 B, such "
       "as 65536, 16 MiB or 2 GB; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB"},
  });
}

TEST(DeckErrors, ClashesOfKeys) {
  expect_messages({
      {increment("chunks: {count: 4, bytes: 1 MiB}\n"),
       {},
       "@:2:27: chunks.bytes: found with chunks.count (@:2:17); the two are mutually exclusive"},
      {increment("chunks: {bytes: 1 MiB, count: 4}\n"),
       {},
       "@:2:17: chunks.bytes: found with chunks.count (@:2:31); the two are mutually exclusive"},
      {increment("measure: {repetitions: 5, duration: 30 min}\n"),
       {},
       "@:2:37: measure.duration: found with measure.repetitions (@:2:24); the two are mutually "
       "exclusive"},
      {increment("measure: {repetitions: 5}\n"),
       {"measure.duration=30 min"},
       "--set measure.duration=30 min: measure.duration: found with measure.repetitions (@:2:24); "
       "the two are mutually exclusive; replace both, as in --set 'measure={duration: ...}'"},
      {increment("measure: {duration: 1 h, precision: 1 %}\n"),
       {},
       "@:2:37: measure.precision: found '1 %'; allowed: none with measure.duration 3600 "
       "(@:2:21)"},
      {increment("measure: {duration: 1 h, verify: ends}\n"),
       {},
       "@:2:34: measure.verify: found 'ends'; allowed: every with measure.duration 3600 (@:2:21)"},
      {increment("measure: {at_most: 30}\n"),
       {},
       "@:2:20: measure.at_most: found '30'; allowed: 200 with measure.precision none (by "
       "default)"},
      {increment("measure: {budget: 30 s}\n"),
       {},
       "@:2:19: measure.budget: found '30 s'; allowed: none with measure.precision none "
       "(by default)"},
      {increment("measure: {precision: 1 %, repetitions: 300}\n"),
       {},
       "@:2:40: measure.repetitions: found '300'; allowed: at most 200 with measure.at_most 200 "
       "(by default)"},
      {workload("kind: rowsum, rows: 17592186044416"),
       {},
       "@:1:32: workload.rows: found 17592186044416 rows times 6 columns; allowed: at most "
       "17592186044416 together"},
      {workload("kind: rowsum, rows: 5 Ti, columns: 4"),
       {},
       "@:1:47: workload.columns: found 5497558138880 rows times 4 columns; allowed: at most "
       "17592186044416 together"},
      {workload("kind: pipeline, elements: 17592186044416, iterations: 2"),
       {},
       "@:1:66: workload.iterations: found 17592186044416 elements times 2 iterations; allowed: at "
       "most 17592186044416 together"},
      {workload("kind: rowsum, sum_type: int64, type: float32"),
       {},
       "@:1:36: workload.sum_type: found 'int64'; allowed: same with type float32 (@:1:49)"},
      {workload("kind: rowsum, type: float32, sum_type: int64"),
       {},
       "@:1:51: workload.sum_type: found 'int64'; allowed: same with type float32 (@:1:32)"},
  });
}

TEST(DeckErrors, DuplicateKeys) {
  expect_messages({
      {"workload: {kind: increment}\nworkload: {kind: increment}\n",
       {},
       "@:2:1: workload: found twice, first at @:1:1; allowed: once"},
      {workload("kind: increment, kind: rowsum"),
       {},
       "@:1:29: workload.kind: found twice, first at @:1:12; allowed: once"},
      {increment("chunks: {count: 4, count: 5}\n"),
       {},
       "@:2:20: chunks.count: found twice, first at @:2:10; allowed: once"},
      {criteria("[{metric: time, min: 1, min: 2}]"),
       {},
       "@:3:37: acceptance[0].min: found twice, first at @:3:29; allowed: once"},
      {increment("issue: {orders: [sequential, sequential]}\n"),
       {},
       "@:2:30: issue.orders[1]: found 'sequential' again; allowed: each order once"},
  });
}

TEST(DeckErrors, EmptyLists) {
  expect_messages({
      {increment("issue: {orders: []}\n"),
       {},
       "@:2:17: issue.orders: found an empty list; allowed: a list of at least one of sequential, "
       "depth_first, breadth_first, by_engine, auto"},
  });
}

TEST(DeckErrors, Criteria) {
  expect_messages({
      {criteria("[{metric: drift, reference: given}]"),
       {},
       "@:3:41: acceptance[0].reference: found 'given'; allowed: min or max for 'drift'"},
      {criteria("[{metric: throttled, reference: h200}]"),
       {},
       "@:3:45: acceptance[0].reference: found 'h200'; allowed: min or max for 'throttled'"},
      {criteria("[{metric: h2d_rate, reference: given}, {metric: time, reference: given}]"),
       {},
       ""},
      {criteria("[{}]"),
       {},
       "@:3:14: acceptance[0].metric: found nothing; allowed: time, throughput, speedup, "
       "max_error, overlap_efficiency, bound_fraction, schedule_bound_fraction, host_work_hidden, "
       "drift, contention, h2d_rate, d2h_rate, duplex_rate, duplex_h2d_rate, duplex_d2h_rate, "
       "pcie_replays, ecc_errors, throttled"},
      {criteria("[{max: 1}]"),
       {},
       "@:3:14: acceptance[0].metric: found nothing; allowed: time, throughput, speedup, "
       "max_error, overlap_efficiency, bound_fraction, schedule_bound_fraction, host_work_hidden, "
       "drift, contention, h2d_rate, d2h_rate, duplex_rate, duplex_h2d_rate, duplex_d2h_rate, "
       "pcie_replays, ecc_errors, throttled"},
      {criteria("[{metric: time}]"),
       {},
       "@:3:14: acceptance[0]: found no limit; allowed: min, max or both, or reference"},
      {criteria("[{metric: time, order: sequential}]"),
       {},
       "@:3:14: acceptance[0]: found no limit; allowed: min, max or both, or reference"},
      {criteria("[{metric: time, max: 1}, {metric: time, order: by_engine, max: 1}]"),
       {},
       "@:3:60: acceptance[1].order: found 'by_engine'; allowed: sequential, depth_first, those in "
       "issue.orders (@:2:17)"},
      {increment("acceptance: [{metric: time, order: by_engine, max: 1}]\n"),
       {},
       "@:2:36: acceptance[0].order: found 'by_engine'; allowed: sequential, depth_first, "
       "breadth_first, those in issue.orders (by default)"},
      {criteria("[{metric: contention, phase: alone, max: 2}]"),
       {},
       "@:3:23: acceptance[0].metric: found 'contention'; allowed: with phase together, or none, "
       "and fleet.phases [alone, together]"},
      {criteria("[{metric: contention, max: 2}]\nfleet: {phases: [together]}"),
       {},
       "@:3:23: acceptance[0].metric: found 'contention'; allowed: with phase together, or none, "
       "and fleet.phases [alone, together]"},
      {criteria("[{metric: time, phase: together, max: 2}]\nfleet: {phases: [alone]}"),
       {},
       "@:3:36: acceptance[0].phase: found 'together'; allowed: alone, as in fleet.phases"},
      {criteria("[{metric: time, max: 2}]\nfleet: {phases: [alone, alone]}"),
       {},
       "@:4:17: fleet.phases: found a list; allowed: each of alone, together once"},
      {criteria("[{metric: time, max: 1, reference: given}]"),
       {},
       "@:3:48: acceptance[0].reference: found with acceptance[0].max (@:3:34); the two are "
       "mutually exclusive"},
      {criteria("[{metric: throughput, reference: h200.yaml, min: 1}]"),
       {},
       "@:3:46: acceptance[0].reference: found with acceptance[0].min (@:3:62); the two are "
       "mutually exclusive"},
      {criteria("[{metric: time, max: 1, below: 3 %}]"),
       {},
       "@:3:44: acceptance[0].below: found '3 %'; allowed: next to reference"},
      {criteria("[{metric: time, reference: given, below: -3 %}]"),
       {},
       "@:3:54: acceptance[0].below: found '-3 %'; allowed: a fraction from 0 to 100 %, such as 3 "
       "%"},
      {criteria("[{metric: time, min: 2 s, max: 1 s}]"),
       {},
       "@:3:34: acceptance[0].min: found '2 s'; allowed: at most max"},
      {criteria("[{metric: speedup, min: 2, max: 1.5}]"),
       {},
       "@:3:37: acceptance[0].min: found '2'; allowed: at most max"},
      {"workload: {kind: increment}\n"
       "issue: {orders: [depth_first]}\nacceptance: [{metric: speedup, min: 1}]\n",
       {},
       "@:3:23: acceptance[0].metric: found 'speedup'; allowed: with the baseline 'sequential' "
       "among issue.orders (@:2:17)"},
      {"workload: {kind: increment}\n"
       "issue: {orders: [sequential]}\nacceptance: [{metric: speedup, min: 1}]\n",
       {},
       "@:3:23: acceptance[0].metric: found 'speedup'; allowed: with an order other than "
       "'sequential' among issue.orders (@:2:17)"},
      {criteria("[{metric: speedup, order: sequential, min: 1}]"),
       {},
       "@:3:39: acceptance[0].order: found 'sequential'; allowed: the orders that are compared "
       "with it"},
  });
}

TEST(DeckErrors, Limits) {
  expect_messages({
      {criteria("[{metric: time, max: 5 hours}]"),
       {},
       "@:3:34: acceptance[0].max: found '5 hours'; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us; units: s, min, h, ms, us, µs, ns"},
      {criteria("[{metric: time, max: -1}]"),
       {},
       "@:3:34: acceptance[0].max: found '-1'; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us"},
      {criteria("[{metric: time, max: -5 ms}]"),
       {},
       "@:3:34: acceptance[0].max: found '-5 ms'; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us"},
      {criteria("[{metric: time, max: nan}]"),
       {},
       "@:3:34: acceptance[0].max: found 'nan'; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us"},
      {criteria("[{metric: time, max: 1e999}]"),
       {},
       "@:3:34: acceptance[0].max: found '1e999'; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us"},
      {criteria("[{metric: time, max: fast}]"),
       {},
       "@:3:34: acceptance[0].max: found 'fast'; allowed: a non-negative time, such as 0.005 "
       "(seconds), 5 ms or 50 us"},
      {criteria("[{metric: speedup, min: 1.3x}]"),
       {},
       "@:3:37: acceptance[0].min: found '1.3x'; allowed: a non-negative number or percentage"},
      {criteria("[{metric: speedup, min: inf}]"),
       {},
       "@:3:37: acceptance[0].min: found 'inf'; allowed: a non-negative number or percentage"},
      {criteria("[{metric: speedup, min: .inf}]"),
       {},
       "@:3:37: acceptance[0].min: found '.inf'; allowed: a non-negative number or percentage"},
      {criteria("[{metric: speedup, min: -1}]"),
       {},
       "@:3:37: acceptance[0].min: found '-1'; allowed: a non-negative number or percentage"},
      {criteria("[{metric: throughput, min: 50 Gbit/s}]"),
       {},
       "@:3:40: acceptance[0].min: found '50 Gbit/s'; allowed: a non-negative rate, such as 90 "
       "(GB/s), 90 GB/s or 300 MB/s; units: TB/s, GB/s, MB/s, kB/s, B/s"},
      {criteria("[{metric: throughput, min: 50 ms}]"),
       {},
       "@:3:40: acceptance[0].min: found '50 ms'; allowed: a non-negative rate, such as 90 "
       "(GB/s), 90 GB/s or 300 MB/s; units: TB/s, GB/s, MB/s, kB/s, B/s"},
      {criteria("[{metric: max_error, max: 1e-6 s}]"),
       {},
       "@:3:39: acceptance[0].max: found '1e-6 s'; allowed: a non-negative number or percentage"},
  });
}

TEST(DeckErrors, NotYaml) {
  expect_messages({
      {"workload: {kind: increment\n",
       {},
       "@:2:1: not YAML: end of map flow not found (text with ': ' or other signs needs quotes; "
       "keys of a map share a column)"},
      {"workload: {kind: increment}}\n",
       {},
       "@:1:28: not YAML: illegal flow end (text with ': ' or other signs needs quotes; keys of a "
       "map share a column)"},
      {"title: a: b\nworkload: {kind: increment}\n",
       {},
       "@:1:9: not YAML: illegal map value (text with ': ' or other signs needs quotes; keys of a "
       "map share a column)"},
      {"workload:\n kind: increment\n  elements: 5\n",
       {},
       "@:3:11: not YAML: illegal map value (text with ': ' or other signs needs quotes; keys of a "
       "map share a column)"},
      {"workload:\n\tkind: increment\n",
       {},
       "@:2:1: not YAML: found a tab; allowed: spaces to indent"},
      {"workload:\n  kind: increment\n\tx: 1\n",
       {},
       "@:3:1: not YAML: found a tab; allowed: spaces to indent"},
      {increment("sweep:\n"),
       {},
       "@:2:1: sweep: found nothing; allowed: a map of dotted keys to lists, such as "
       "{chunks.count: [1, 2, 4]}"},
      {increment("chunks: {bytes: 16 Mib}\n"),
       {},
       "@:2:17: chunks.bytes: found '16 Mib'; allowed: a size of at least 1 B, such as 65536, 16 "
       "MiB or 2 GB; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB"},
      {criteria("[{metric: bound_fraction, min: 90}]"),
       {},
       "@:3:44: acceptance[0].min: found '90'; allowed: at most 100 % for 'bound_fraction', a part "
       "of a whole"},
      {std::string(2000, '['), {}, "@: not YAML: nested too deeply"},
  });
}

TEST(DeckErrors, Tags) {
  const std::string allowed = "; allowed: values without tags";
  expect_messages({
      {"workload: {kind: !!str increment}\n",
       {},
       "@:1:18: found the tag 'tag:yaml.org,2002:str'" + allowed},
      {"workload: !mine {kind: increment}\n", {}, "@:1:11: found the tag '!mine'" + allowed},
      {"issue: {orders: !!seq [depth_first]}\n",
       {},
       "@:1:17: found the tag 'tag:yaml.org,2002:seq'" + allowed},
  });
}

TEST(DeckErrors, SeveralDocuments) {
  expect_messages({
      {"workload: {kind: increment}\n---\nworkload: {kind: increment}\n",
       {},
       "@:2:1: found a second YAML document; allowed: one"},
      {"---\n---\nworkload: {kind: increment}\n",
       {},
       "@:2:1: found a second YAML document; allowed: one"},
      {"workload: {kind: increment}\n---\n---\ntitle: T\n",
       {},
       "@:2:1: found a second YAML document; allowed: one"},
  });
}

TEST(DeckErrors, ACommaAfterTheDocumentEndsTheReading) {
  for (const char* const text :
       {"{workload: {kind: increment}},\n", "[],", ",", "a,\n---\n,", ",,"}) {
    const std::string message = complaint(DeckFile(text).path());
    EXPECT_NE(message, "") << text;
  }
  expect_messages({{"{workload: {kind: increment}},\n",
                    {},
                    "@:1:30: found a second YAML document; allowed: one"}});
}

TEST(DeckErrors, AnchorsAndMergeKeys) {
  expect_messages({
      {"base: &b {kind: increment}\nworkload: *b\n",
       {},
       "@:1:1: base: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep"},
      {"workload: {<<: {kind: increment}}\n",
       {},
       "@:1:12: workload.<<: found a merge key; YAML merge keys are not supported"},
      {increment("chunks: &c [*c]\n"), {}, "@:2:9: not YAML: found an alias inside its own anchor"},
      {increment("chunks: &c {count: 4}\nmemory: *c\n"),
       {},
       "@:2:13: memory.count: unknown key; allowed: host, transfer, device_limit, numa, "
       "ring_slots, "
       "ring_bytes"},
  });
}

TEST(DeckErrors, NotText) {
  expect_messages({
      {"title: \377\376\n",
       {},
       "@:1:8: not YAML: found the byte 0xff; allowed: UTF-8 text without control characters"},
      {"workload: {kind: incr\351ment}\n",
       {},
       "@:1:22: not YAML: found the byte 0xe9; allowed: UTF-8 text without control characters"},
      {"\303\251: 1\ntitle: \351x\n",
       {},
       "@:2:8: not YAML: found the byte 0xe9; allowed: UTF-8 text without control characters"},
      {"title: \303",
       {},
       "@:1:8: not YAML: found the byte 0xc3; allowed: UTF-8 text without control characters"},
      {"\177ELF\002\001",
       {},
       "@:1:1: not YAML: found the byte 0x7f; allowed: UTF-8 text without control characters"},
      {"workload: {kind: increment}\n\033",
       {},
       "@:2:1: not YAML: found the byte 0x1b; allowed: UTF-8 text without control characters"},
      {std::string("workload: {kind: increment}\0\n", 29),
       {},
       "@:1:28: not YAML: found the byte 0x00; allowed: UTF-8 text without control characters"},
  });
}

TEST(DeckErrors, CharactersThatAreNone) {
  const auto refused = [](const std::string& bytes, const std::string& first) {
    expect_messages({{"title: " + bytes + "\n",
                      {},
                      "@:1:8: not YAML: found the byte " + first +
                          "; allowed: UTF-8 text without control characters"}});
  };
  refused("\300\257", "0xc0");          // overlong '/'
  refused("\340\200\257", "0xe0");      // of three bytes
  refused("\360\200\200\257", "0xf0");  // of four
  refused("\355\240\200", "0xed");      // the surrogate U+D800
  refused("\355\277\277", "0xed");      // U+DFFF
  refused("\357\277\276", "0xef");      // U+FFFE
  refused("\357\277\277", "0xef");      // U+FFFF
  refused("\364\220\200\200", "0xf4");  // beyond U+10FFFF
  refused("\370\210\200\200\200", "0xf8");
  refused("\302\233", "0xc2");  // C1: a terminal may take it for ESC [
  for (const char* const taken : {"\302\205", "\302\240", "\355\237\277", "\356\200\200",
                                  "\357\277\275", "\360\220\200\200", "\364\217\277\277"}) {
    EXPECT_EQ(complaint(DeckFile(increment(std::string("# ") + taken + "\n")).path()), "") << taken;
  }
}

TEST(DeckErrors, OverridesThatAreNone) {
  expect_messages({
      {good, {""}, "--set '': found no '='; allowed: key.path=VALUE, such as chunks.count=8"},
      {good,
       {"chunks"},
       "--set chunks: found no '='; allowed: key.path=VALUE, such as chunks.count=8"},
      {good,
       {"a.b.c.d.e.f.g.h.i=5"},
       "--set a.b.c.d.e.f.g.h.i=5: a.b.c.d.e.f.g.h.i: found no key of a deck; allowed: key.path, "
       "such as chunks.count"},
      {good, {"=5"}, "--set =5: found no key; allowed: key.path=VALUE, such as chunks.count=8"},
      {good, {"="}, "--set =: found no key; allowed: key.path=VALUE, such as chunks.count=8"},
      {good,
       {".count=8"},
       "--set .count=8: .count: found no key of a deck; allowed: key.path, such as chunks.count"},
      {good,
       {"chunks.=8"},
       "--set chunks.=8: chunks.: found no key of a deck; allowed: key.path, such as chunks.count"},
      {good,
       {"chunks..count=8"},
       "--set chunks..count=8: chunks..count: found no key of a deck; allowed: key.path, such as "
       "chunks.count"},
      {good,
       {".=1"},
       "--set .=1: .: found no key of a deck; allowed: key.path, such as chunks.count"},
      {good,
       {"chunks.count=["},
       "--set chunks.count=[: the value is not YAML: end of sequence flow not found"},
      {good,
       {"chunks={count: "},
       "--set chunks={count: : the value is not YAML: end of map flow not found"},
      {good, {"title=a: b: c"}, "--set title=a: b: c: the value is not YAML: illegal map value"},
  });
}

TEST(DeckErrors, OverridesThroughWhatIsNoMap) {
  expect_messages({
      {good,
       {"title.x=5"},
       "--set title.x=5: title: found 'T'; allowed: a map, which can hold the key 'x'"},
      {good,
       {"workload.kind.x=1"},
       "--set workload.kind.x=1: workload.kind: found 'increment'; allowed: a map, which can hold "
       "the key 'x'"},
      {good,
       {"chunks.count.x.y=1"},
       "--set chunks.count.x.y=1: chunks.count: found '4'; allowed: a map, which can hold the key "
       "'x'"},
      {good,
       {"issue.orders.0=sequential"},
       "--set issue.orders.0=sequential: issue.orders: found a list; allowed: a map, which can "
       "hold the key '0'"},
      {good,
       {"issue.orders[0]=depth_first"},
       "--set issue.orders[0]=depth_first: issue.orders[0]: unknown key; allowed: orders, lanes, "
       "mechanism, sync, streams, threads"},
      {good,
       {"acceptance[0].min=2"},
       "--set acceptance[0].min=2: acceptance[0]: unknown key; allowed: title, workload, chunks, "
       "memory, issue, host_work, disturb, measure, require, fleet, acceptance, sweep; did you "
       "mean 'acceptance'?"},
      {good,
       {"chunks.count=8", "chunks.count.x=1"},
       "--set chunks.count.x=1: chunks.count: found '8'; allowed: a map, which can hold the key "
       "'x'"},
  });
}

TEST(DeckErrors, OverridesThatMakeTheDeckBad) {
  expect_messages({
      {good,
       {"chunks.count=0"},
       "--set chunks.count=0: chunks.count: found '0'; allowed: a whole number from 1 to 1048576"},
      {good,
       {"chunks.count="},
       "--set chunks.count=: chunks.count: found nothing; allowed: a whole number from 1 to "
       "1048576"},
      {good,
       {"chunks.cuont=8"},
       "--set chunks.cuont=8: chunks.cuont: unknown key; allowed: profile, count, bytes, growth, "
       "spread; did you mean 'count'?"},
      {good,
       {"chunk.count=8"},
       "--set chunk.count=8: chunk: unknown key; allowed: title, workload, chunks, memory, issue, "
       "host_work, disturb, measure, require, fleet, acceptance, sweep; did you mean 'chunks'?"},
      {good,
       {"a.b.c=1"},
       "--set a.b.c=1: a: unknown key; allowed: title, workload, chunks, memory, issue, host_work, "
       "disturb, measure, require, fleet, acceptance, sweep"},
      {good,
       {"chunks.count =8"},
       "--set chunks.count =8: chunks.count : unknown key; allowed: profile, count, bytes, growth, "
       "spread; did you mean 'count'?"},
      {good,
       {"workload.elements=99999999999999999999"},
       "--set workload.elements=99999999999999999999: workload.elements: found "
       "'99999999999999999999'; allowed: a whole number from 1 to 17592186044416, such as 4096 or "
       "16 Mi"},
      {good,
       {"workload.type=int32"},
       "--set workload.type=int32: workload.type: found 'int32'; allowed: float32, float64"},
      {good,
       {"workload.kind=incremnt"},
       "--set workload.kind=incremnt: workload.kind: found 'incremnt'; allowed: increment, rowsum, "
       "pipeline, dgemm, custom; did you mean 'increment'?"},
      {good,
       {"measure=5"},
       "--set measure=5: measure: found '5'; allowed: a map with the keys warmup, repetitions, "
       "precision, at_most, budget, duration, verify"},
      {good,
       {"measure="},
       "--set measure=: measure: found nothing; allowed: a map with the keys warmup, repetitions, "
       "precision, at_most, budget, duration, verify"},
      {good,
       {"measure={warmup: x}"},
       "--set measure={warmup: x}: measure.warmup: found 'x'; allowed: a whole number from 0 to "
       "1000000"},
      {good,
       {"workload={}"},
       "--set workload={}: workload.kind: found nothing; allowed: increment, rowsum, pipeline, "
       "dgemm, custom"},
      {good,
       {"workload=null"},
       "--set workload=null: workload: found nothing; allowed: a map with the keys kind, elements, "
       "rows, columns, m, n, k, tile_m, tile_n, alpha, beta, type, "
       "iterations, intensity, box, array, origin, sum_type, axis, kernel, pitch, host_share, "
       "tasks"},
      {good, {"title=[1]"}, "--set title=[1]: title: found a list; allowed: one line of text"},
      {good,
       {"issue.orders=depth_first"},
       "--set issue.orders=depth_first: issue.orders: found 'depth_first'; allowed: a list of at "
       "least one of sequential, depth_first, breadth_first, by_engine, auto"},
      {good,
       {"issue.orders=[sequential, depthfirst]"},
       "--set issue.orders=[sequential, depthfirst]: issue.orders[1]: found 'depthfirst'; allowed: "
       "sequential, depth_first, breadth_first, by_engine, auto; did you mean 'depth_first'?"},
      {good,
       {"acceptance=[{metric: speedup}]"},
       "--set acceptance=[{metric: speedup}]: acceptance[0]: found no limit; allowed: min, max "
       "or both, or reference"},
      {good,
       {"memory.device_limit=much"},
       "--set memory.device_limit=much: memory.device_limit: found 'much'; allowed: none or a size "
       "of at least 1 B, such as 65536, 16 MiB or 2 GB"},
      {good,
       {"measure.warmup=1\n2"},
       "--set measure.warmup=1\\n2: measure.warmup: found '1 2'; allowed: a whole number from 0 to "
       "1000000"},
      {good,
       {"workload.x={a: 1}"},
       "--set workload.x={a: 1}: workload.x: unknown key; allowed: kind, elements, type, "
       "intensity, box, array, origin, pitch"},
  });
}

TEST(DeckErrors, OverridesThatClashWithTheDeck) {
  expect_messages({
      {good,
       {"issue.orders=[depth_first]"},
       "@:5:23: acceptance[0].metric: found 'speedup'; allowed: with the baseline 'sequential' "
       "among issue.orders (--set issue.orders=[depth_first])"},
      {good,
       {"issue.orders=[sequential, by_engine]"},
       "@:5:39: acceptance[0].order: found 'depth_first'; allowed: sequential, by_engine, those in "
       "issue.orders (--set issue.orders=[sequential, by_engine])"},
      {good,
       {"chunks.bytes=1 MiB"},
       "--set chunks.bytes=1 MiB: chunks.bytes: found with chunks.count (@:3:17); the two are "
       "mutually exclusive; replace both, as in --set 'chunks={bytes: ...}'"},
      {good,
       {"chunks={bytes: 1 MiB}", "chunks.count=3"},
       "--set chunks.count=3: chunks.count: found with chunks.bytes (--set chunks={bytes: 1 MiB}); "
       "the two are mutually exclusive; replace both, as in --set 'chunks={count: ...}'"},
      {workload("kind: rowsum, sum_type: int64"),
       {"workload.type=float32"},
       "@:1:36: workload.sum_type: found 'int64'; allowed: same with type float32 (--set "
       "workload.type=float32)"},
      {workload("kind: rowsum, columns: 4"),
       {"workload.rows=5 Ti"},
       "@:1:35: workload.columns: found 5497558138880 rows times 4 columns; allowed: at most "
       "17592186044416 together"},
  });
}

TEST(DeckErrors, TheLastOverrideIsNamed) {
  expect_messages({
      {good,
       {"chunks.count=8", "chunks.count=0"},
       "--set chunks.count=0: chunks.count: found '0'; allowed: a whole number from 1 to 1048576"},
      {good,
       {"chunks.count=8", "chunks={count: 0}"},
       "--set chunks={count: 0}: chunks.count: found '0'; allowed: a whole number from 1 to "
       "1048576"},
      {good,
       {"chunks={count: 8}", "chunks.count=0"},
       "--set chunks.count=0: chunks.count: found '0'; allowed: a whole number from 1 to 1048576"},
      {good,
       {"workload={kind: rowsum}", "workload.rows=0"},
       "--set workload.rows=0: workload.rows: found '0'; allowed: a whole number from 1 to "
       "17592186044416, such as 4096 or 16 Mi"},
  });
}

TEST(DeckErrors, FilesThatAreNoDecks) {
  const DeckFile file(good);
  EXPECT_EQ(complaint(""),
            "'': no such deck; allowed: the name of a shipped deck, or the path of a deck file");
  EXPECT_EQ(complaint("rowsom"),
            "'rowsom': no such deck; allowed: the name of a shipped deck, or the path of a deck "
            "file; did you mean 'rowsum'?");
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
