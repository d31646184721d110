#!/usr/bin/env python3
"""Every shipped deck, shrunk: runs, passes, and says the same on the console and in its file."""

import json
import math
import os
import subprocess
import unittest

import yaml

from program import CHECK, FOM, MINIAPP, RESULT, SOURCE, TestCase, all_of, keys_in, overrides, records, run

# Of the decks with copies by duration, those with every kind of task.
LIKE_OTHERS = {f"concurrency_{lanes}way" for lanes in (1, 2, 3)} | {"three_streams"}
DECKS = sorted(
    path for folder in ("input", "input/rennich", "input/seeds", "input/studies") for path in (SOURCE / folder).glob("*.yaml")
    if path.stem not in LIKE_OTHERS
)
ELEMENTS = {"increment": 65536, "pipeline": 16384}
ROWS = 12000
REPETITIONS = 4


def shortened(task):
    """The same task with microseconds for milliseconds and KiB for MiB."""
    short = dict(task)
    if "duration" in task:
        short["duration"] = task["duration"].replace("ms", "us")
    if "bytes" in task:
        short["bytes"] = int(float(task["bytes"].split()[0]) * 1024)
    return short


def shrunk(deck):
    """Settings that make a deck run in a blink with the same chunks, lanes, orders and slots."""
    settings = {"measure.warmup": 1, "measure.repetitions": REPETITIONS}
    workload = deck["workload"]
    factor = None
    if workload["kind"] == "rowsum":
        settings["workload.rows"] = ROWS
        factor = ROWS / workload["rows"]
    elif workload["kind"] == "custom":
        settings["workload.tasks"] = [shortened(task) for task in workload["tasks"]]
    elif workload["kind"] == "dgemm":
        settings |= {"workload.m": 96, "workload.n": 80, "workload.k": 32}
        settings |= {"workload.tile_m": 96 * workload["tile_m"] // workload["m"], "workload.tile_n": 20}
    elif "box" in workload:
        box, array = workload["box"], workload["array"]
        settings["workload.box"] = [size // 4 for size in box]
        settings["workload.array"] = [a - b + b // 4 for a, b in zip(array, box)]
    else:
        settings["workload.elements"] = ELEMENTS[workload["kind"]]
    limit = deck.get("memory", {}).get("device_limit")
    if limit is not None:
        number, unit = limit.split()
        bytes_of = {"MB": 1e6, "GB": 1e9}[unit]
        settings["memory.device_limit"] = int(float(number) * bytes_of * factor)
    return settings


class Hazards(TestCase):
    def test_what_breaks_concurrency_on_cuda_is_skipped_elsewhere(self):
        decks = sorted((SOURCE / "input/hazards").glob("*.yaml"))
        self.assertGreater(len(decks), 10)
        for deck in decks:
            with self.subTest(deck.stem):
                given = yaml.safe_load(deck.read_text())
                if "disturb" not in given:
                    self.assert_clean(run(deck))
                    continue
                word = given["disturb"]["operation"]
                self.assertEqual(word, deck.stem)
                small = ("--set=workload.elements=65536", "--set=issue.streams=own")
                self.assert_error(run(deck, *small), 77, rf"disturb\.operation: {word} needs streams of a GPU")


class Limits(TestCase):
    def test_what_only_cuda_can_is_skipped_elsewhere(self):
        everywhere = {"increment_256mib_zero_copy"}
        decks = [deck for deck in sorted((SOURCE / "input/limits").glob("*.yaml")) if deck.stem not in everywhere]
        self.assertEqual(len(decks), 5)
        for deck in decks:
            with self.subTest(deck.stem):
                kind = yaml.safe_load(deck.read_text())["workload"]["kind"]
                small = {"increment": "elements=65536", "rowsum": "rows=4096"}[kind]
                done = run(deck, f"--set=workload.{small}", "--set=chunks={count: 2}")
                self.assert_error(done, 77, r"(issue\.mechanism: graph|memory\.host: managed) needs streams of a GPU; "
                                            r"this build \(\w+\) has no GPU back end")


class Claims(TestCase):
    DECK = SOURCE / "input/rennich/kernel_sizes.yaml"

    def test_predictions_for_their_cards_are_judged(self):
        lines = run(self.DECK, "--quiet", "--predict=c2070", "--predict=h200").stdout
        verdicts = {(line["device"], line["order"], line["verdict"]) for line in records(lines)["OVERLAP_CHECK"]}
        orders = ("depth_first", "breadth_first", "custom")
        expected = (("c2070", "PASS"), ("h200", "SKIPPED"))
        self.assertEqual(verdicts, {(device, order, verdict) for device, verdict in expected for order in orders})

    def test_a_prediction_that_contradicts_a_claim_fails(self):
        criterion = {"metric": "speedup", "order": "breadth_first", "max": 1.55, "where": ["k20c"]}
        target = self.folder / "out.json"
        done = run(self.DECK, "--predict=k20c", f"--set=acceptance={json.dumps([criterion])}", "--json", target)
        self.assert_clean(done, 5)
        self.assertRegex(done.stdout, r"(?m)^speedup <= 1\.550 +breadth_first on k20c +2\.000 +FAIL$")
        self.assertRegex(done.stdout, r"(?m)^  speedup of breadth_first on k20c: 2\.000, limit <= 1\.550$")
        result = json.loads(target.read_text())
        self.assert_valid(result)
        self.assertEqual([(check["device"], check["verdict"]) for check in all_of(result, "checks")], [("k20c", "FAIL")])


    def test_results_of_hosts_skip_the_claims(self):
        targets = [self.folder / name for name in ("a.json", "b.json")]
        for target in targets:
            short = overrides(shrunk(yaml.safe_load(self.DECK.read_text())))
            done = run(self.DECK, *short, "--json", target)
            self.assert_clean(done)
            result = json.loads(target.read_text())
            if result["device"] is not None:
                self.skipTest("about host back ends, and this build runs on a GPU")
            skipped = [check for check in all_of(result, "checks") if check["verdict"] == "SKIPPED"]
            self.assertEqual({check["metric"] for check in skipped}, {"speedup"})
            self.assertEqual(skipped[0]["reason"], "judged only for --predict c2070")
        self.assert_clean(run("merge", targets[0]))
        self.assertNotIn("speedup", run("compare", *targets).stdout.split("OVERLAP")[0].replace("speed-up", ""))
        done = run(self.DECK, "--predict=c2070", "--json", targets[0])
        self.assertIn("a prediction", run("merge", targets[0]).stdout)


class Portable(TestCase):
    def test_kokkos_alone_runs_decks_that_ask_for_no_native_call(self):
        passed = 0
        others = ("rennich/three_streams", "hazards/malloc", "limits/increment_256mib_managed")
        for deck in (*sorted((SOURCE / "input").glob("*.yaml")), *(SOURCE / f"input/{name}.yaml" for name in others)):
            with self.subTest(str(deck.relative_to(SOURCE))):
                given = yaml.safe_load(deck.read_text())
                small = {"issue.mechanism": "portable", "measure": {"warmup": 0, "repetitions": 1}}
                small |= {"require": {}, "acceptance": [{"metric": "max_error", "max": 1e-5}]}
                target = self.folder / "out.json"
                done = run(deck, *overrides(self.smaller(given) | small), "--json", target)
                if "disturb" in given:
                    self.assert_error(done, 3, r"(disturb|issue\.streams): found .*; allowed: (none|own) with issue\.mechanism portable")
                elif given.get("memory", {}).get("host") == "managed":
                    self.assert_error(done, 3, r"memory\.host: found .*; allowed: pinned, pageable with issue\.mechanism portable")
                elif not self.is_skipped(given["workload"]["kind"], done):
                    self.assert_clean(done)
                    result = json.loads(target.read_text())
                    self.assert_valid(result)
                    for measured in all_of(result, "runs"):
                        self.assertEqual((measured["mechanism"], measured["verified"]), ("portable", True))
                    passed += 1
        self.assertGreater(passed, 10)

    def smaller(self, given):
        if "GiB" in given.get("memory", {}).get("device_limit", ""):
            return {"workload.rows": 4096, "workload.columns": 64, "chunks": {"count": 16}, "memory.device_limit": "300 KB"}
        return {key: value for key, value in shrunk(given).items() if not key.startswith("measure")}


class Acceptance(TestCase):
    def test_decks_for_gpus_say_what_is_missing(self):
        decks = sorted((SOURCE / "input/acceptance").glob("*.yaml"))
        self.assertEqual(len(decks), 5)
        for deck in decks:
            with self.subTest(deck.stem):
                target = self.folder / f"{deck.stem}.json"
                done = run(deck, "--json", target)
                if deck.stem == "node":  # --fleet is a test of fleet_test.py
                    self.assert_error(done, 3, "metric contention without --fleet; allowed: with --fleet")
                    continue
                self.assert_error(done, 77, r"this build \(\w+\) has no GPU back end")
                result = json.loads(target.read_text())
                self.assert_valid(result)
                self.assertEqual((result["verdict"], result["exit_code"], all_of(result, "runs")), ("SKIPPED", 77, []))
                self.assertIn("has no GPU back end", result["error"])


class Products(TestCase):
    DECK = SOURCE / "input/dgemm_small.yaml"
    ORDERS = "issue.orders=[three_way, four_way]"

    def test_the_host_computes_its_share(self):
        small = overrides(shrunk(yaml.safe_load(self.DECK.read_text())))
        target = self.folder / "out.json"
        for share in (0, 0.5, 1):
            with self.subTest(share=share):
                deck = (self.DECK, *small, "--set", self.ORDERS, f"--set=workload.host_share={share}")
                done = run(*deck, "--json", target)
                if self.is_skipped("dgemm", done):
                    return
                self.assert_clean(done)
                result = json.loads(target.read_text())
                self.assert_valid(result)
                three, four = all_of(result, "runs")
                tiles = three["chunks"]
                moved = [three[f"{way}_bytes"] for way in ("h2d", "d2h")]
                self.assertEqual(three["product"]["host_tiles"], 0)
                self.assertEqual(four["product"]["host_tiles"], share * tiles)
                self.assertEqual(four["d2h_bytes"], (1 - share) * moved[1])
                self.assertGreaterEqual(moved[0], four["h2d_bytes"])
                host = [entry for entry in four["timeline"] if entry["stage"] == "host"]
                self.assertEqual(len(host), share * tiles)

    def test_lanes_of_serial_use_one_thread_of_the_blas(self):
        target = self.folder / "out.json"
        done = run(self.DECK, *overrides(shrunk(yaml.safe_load(self.DECK.read_text()))), "--json", target)
        if self.is_skipped("dgemm", done):
            return
        result = json.loads(target.read_text())
        libraries = subprocess.run(["ldd", MINIAPP], capture_output=True, text=True, check=True).stdout
        limited = result["build"]["backend"] == "Serial" and ("openblas" in libraries or "mkl" in libraries)
        library, *limit = result["points"][0]["choices"]["BLAS"].split(", one thread")
        self.assertEqual(library, "cuBLAS" if result["build"]["backend"] == "Cuda" else "the host's")
        self.assertEqual(limit, [" per lane"] if limited else [])

    def test_a_share_is_predicted_where_the_device_file_knows_the_host(self):
        half = (self.DECK, "--set", self.ORDERS, "--set=workload.host_share=0.5")
        done = run(*half, "--predict=ideal_hyperq")
        self.assert_clean(done)
        self.assertRegex(done.stdout, "(?m)^not predicted +four_way: ideal_hyperq has no host.products$")
        self.assertEqual([line["order"] for line in records(done.stdout)["OVERLAP_FOM"]], ["three_way"])
        done = run(*half, "--predict=c2070")
        self.assert_clean(done)
        three, four = (float(line["value"]) for line in records(done.stdout)["OVERLAP_FOM"])
        self.assertGreater(four, 2 * three)  # the host is slower


class Decks(TestCase):
    def check_deck(self, path):
        given = yaml.safe_load(path.read_text())
        settings = shrunk(given)
        target = self.folder / "out.json"
        done = run(path, *overrides(settings), "--device=host", "--json", target)
        if self.is_skipped(given["workload"]["kind"], done):
            return
        self.assert_clean(done)
        result = json.loads(target.read_text())
        self.assert_valid(result)
        self.check_settings(path, given, settings, result)
        self.check_runs(result)
        self.check_lines(path, done.stdout, result)
        self.check_resolved(path, settings, result)

    def check_settings(self, path, given, settings, result):
        resolved = dict(keys_in(result["deck"]["resolved"]))
        self.assertEqual(result["title"], given["title"])
        self.assertEqual(result["deck"]["path"], str(path))
        for key, value in settings.items():
            if key == "workload.tasks":
                self.check_tasks(resolved[key], value)
            else:
                self.assertEqual(resolved[key], value, key)
        for key, value in keys_in(given):
            same = isinstance(value, int) or key in ("title", "workload.kind", "issue.orders")
            if same and key not in settings:
                self.assertEqual(resolved[key], value, key)

    def check_tasks(self, resolved, given):
        """As given, with durations in seconds and the defaults."""
        self.assertEqual(len(resolved), len(given))
        for task, asked in zip(resolved, given):
            wanted = {key: value for key, value in asked.items() if key != "duration"}
            self.assertEqual({key: task[key] for key in wanted}, wanted)
            if "duration" in asked:
                self.assertAlmostEqual(task["duration"], float(asked["duration"].split()[0]) * 1e-6)
            if task["stage"] in ("h2d", "kernel", "d2h"):
                self.assertEqual(task["chunk"], asked.get("chunk", asked["lane"]))

    def check_runs(self, result):
        deck = result["deck"]["resolved"]
        runs = {run["order"]: run for run in all_of(result, "runs")}
        self.assertEqual(list(runs), deck["issue"]["orders"])
        self.assertEqual((result["verdict"], result["exit_code"]), ("PASS", 0))
        iterations = deck["workload"].get("iterations", 1)
        for order, measured in runs.items():
            with self.subTest(order=order):
                self.assertTrue(measured["verified"])
                self.assertEqual(len(measured["samples_s"]), REPETITIONS)
                self.assertGreater(min(measured["samples_s"]), 0)
                self.assertGreater(measured["predicted_s"], 0)
                self.assertEqual(len(measured["predicted_timeline"]), measured["tasks"])
                self.check_trace(measured)
                self.check_bounds(measured)
                time = measured["time_s"]
                self.assertEqual(time["min"], min(measured["samples_s"]))
                self.assertEqual(time["max"], max(measured["samples_s"]))
                self.assertLessEqual(time["lo"], time["median"])
                self.assertLessEqual(time["median"], time["hi"])
                self.assertGreaterEqual(measured["tasks"], 3 * measured["chunks"])
                self.assertLessEqual(measured["lanes"], max(deck["issue"]["lanes"], 6))
                if order != "sequential":
                    self.assertEqual(measured["chunks"], self.chunks(deck) * iterations)
                if deck["memory"]["device_limit"] != "none":
                    self.assertLess(measured["slots"], measured["chunks"], "not out of core")
        self.assertEqual(runs["sequential"]["speedup"]["median"], 1)
        on_gpu = result["device"] is not None
        for check in all_of(result, "checks"):
            where = self.places(deck, check)
            holds = not where or (on_gpu and "gpu" in where)
            self.assertEqual(check["verdict"], "PASS" if holds else "SKIPPED", check["text"])
        self.assertEqual({check["order"] for check in all_of(result, "checks") if check["verdict"] == "PASS"}, set(runs))

    def places(self, deck, check):
        """`where` of the criterion of a check."""
        return next(
            criterion.get("where")
            for criterion in deck["acceptance"]
            if criterion["metric"] == check["metric"] and criterion.get(check["bound"]) == check["limit"]
            and criterion.get("order", check["order"]) == check["order"]
        )

    def chunks(self, deck):
        workload = deck["workload"]
        if workload["kind"] != "dgemm":
            return deck["chunks"]["count"]
        return math.prod(-(-workload[a] // workload[f"tile_{a}"]) for a in "mn")

    def check_trace(self, measured):
        """Every task has its time; on workers, which run one at a time, they do not overlap."""
        entries = measured["timeline"]
        self.assertEqual([entry["task"] for entry in entries], list(range(measured["tasks"])))
        trace = measured["trace"]
        self.assertEqual(trace["source"], "the workers' clocks")
        time = measured["time_s"]
        spread = (time["hi"] - time["lo"]) / 2 / time["median"]
        self.assertEqual(trace["doubtful"], abs(trace["perturbation"]) > max(0.02, spread))
        until = {}
        for entry in sorted(entries, key=lambda entry: entry["start_s"]):
            self.assertGreaterEqual(entry["start_s"], 0)
            self.assertLessEqual(entry["start_s"], entry["stop_s"])
            if entry["engine"].startswith("worker"):
                self.assertEqual(entry["engine"], f"worker {entry['lane']}")
                self.assertGreaterEqual(entry["start_s"], until.get(entry["engine"], 0))
                until[entry["engine"]] = entry["stop_s"]

    def check_bounds(self, measured):
        serial, bound = measured["bounds"]["serial_s"], measured["bound_s"]
        workers = min(measured["lanes"], len(os.sched_getaffinity(0)))
        workers += any(entry["stage"] == "host" for entry in measured["timeline"])  # the issuing thread
        self.assertLessEqual(bound, serial * 1.001)
        self.assertGreaterEqual(bound, serial / workers * 0.999)
        if measured["order"] == "sequential":
            self.assertIsNone(measured["overlap_efficiency"])

    def check_lines(self, path, stdout, result):
        lines = [line for line in stdout.splitlines() if line.startswith("OVERLAP_")]
        for line in lines:
            self.assertTrue(any(form.fullmatch(line) for form in (FOM, CHECK, RESULT)), line)
        found = records(stdout)

        expected = []
        for measured in all_of(result, "runs"):
            first = len(expected)
            order, n = measured["order"], len(measured["samples_s"])
            expected.append((order, "predicted_time", measured["predicted_s"], "s", 0))
            expected.append((order, "time", measured["time_s"]["median"], "s", n))
            for metric in ("throughput", "speedup", "max_error", "overlap_efficiency", "bound_fraction", "schedule_bound_fraction",
                           "host_work_hidden"):
                if (figure := measured[metric]) is not None:
                    expected.append((order, metric, figure["median"], "GB/s" if metric == "throughput" else "1", figure["n"]))
            expected[first:] = [(*figure, measured) for figure in expected[first:]]
        self.assertEqual(len(found["OVERLAP_FOM"]), len(expected))
        for line, (order, metric, value, unit, n, measured) in zip(found["OVERLAP_FOM"], expected):
            self.assertEqual(
                [line[key] for key in ("deck", "order", "metric", "unit", "n")],
                [path.stem, order, metric, unit, str(n)],
            )
            self.assert_close(line["value"], value)
            self.assertEqual("host_work" in line, measured["host_work"] is not None)
            if metric == "time":
                self.assert_close(line["lo"], measured["time_s"]["lo"])
                self.assert_close(line["hi"], measured["time_s"]["hi"])

        self.assertEqual(len(found["OVERLAP_CHECK"]), len(all_of(result, "checks")))
        for line, check in zip(found["OVERLAP_CHECK"], all_of(result, "checks")):
            for key in ("metric", "order", "verdict"):
                self.assertEqual(line[key], check[key])
            self.assert_close(line["value"], check["value"])
            self.assert_close(line["limit"], check["limit"])
        self.assertEqual(
            found["OVERLAP_RESULT"],
            [{"verdict": result["verdict"], "data": "OK", "exit": str(result["exit_code"])}],
        )

    def check_resolved(self, path, settings, result):
        """The resolved deck is a deck itself, and the same one."""
        resolved = self.folder / "resolved.yaml"
        resolved.write_text(json.dumps(result["deck"]["resolved"]))
        wanted = run(path, *overrides(settings), "--dry-run")
        self.assert_clean(wanted)
        done = run(resolved, "--dry-run")
        self.assert_clean(done)
        self.assertEqual(done.stdout, wanted.stdout)

    def assert_close(self, text, value):
        """Result lines print six digits."""
        self.assertLessEqual(abs(float(text) - value), 1e-5 * abs(value), (text, value))


def test_of(path):
    return lambda self: self.check_deck(path)


for deck in DECKS:
    setattr(Decks, f"test_{deck.parent.stem}_{deck.stem}", test_of(deck))


class Coverage(TestCase):
    def test_decks_were_found(self):
        self.assertGreaterEqual(len(DECKS), 20)


if __name__ == "__main__":
    unittest.main()
