#!/usr/bin/env python3
"""Sweeps as a user meets them: all points exactly once, whatever ends the program in between."""

import collections
import csv
import json
import os
import pty
import re
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

import yaml

from program import CHECK, FOM, MINIAPP, RESULT, SOURCE, TestCase, all_of, overrides, records, run, start

SMALL = """\
title: Small sweep
workload: {kind: increment, elements: 4096}
issue: {orders: [sequential, depth_first], lanes: 2}
measure: {warmup: 0, repetitions: 1}
acceptance: [{metric: max_error, max: 1e-5}]
sweep:
  chunks.count: [1, 2, 4]
  issue.lanes: [1, 2]
"""
# 20 x 10 points.
LARGE = SMALL.replace("[1, 2, 4]", str(list(range(1, 21)))).replace("[1, 2]", str(list(range(1, 11))))
POINTS = 200
ORDERS = ["sequential", "depth_first"]


class Case(TestCase):
    def setUp(self):
        super().setUp()
        self.target = self.folder / "out.json"

    def sweep(self, text=SMALL):
        return self.deck(text, "sweep.yaml")

    def written(self):
        result = json.loads(self.target.read_text())
        self.assert_valid(result)
        return result

    def kept(self):
        """The finished points on disk."""
        if not self.target.exists():
            return []
        return [point for point in json.loads(self.target.read_text())["points"] if is_finished(point)]


def is_finished(point):
    outcome = point["outcome"]
    return outcome is not None and outcome["error"] is None and not outcome["interrupted"]


def points_of(result, kind="runs"):
    return [(tuple(point["values"].items()), entry["order"]) for point in result["points"] for entry in point[kind]]


class Sweep(Case):
    def test_every_point_and_order_once(self):
        done = run(self.sweep(), "--json", self.target)
        self.assert_clean(done)
        result = self.written()
        expected = [
            ((("chunks.count", count), ("issue.lanes", lanes)), order)
            for count in (1, 2, 4) for lanes in (1, 2) for order in ORDERS
        ]
        self.assertEqual(points_of(result), expected)
        for point, measured in ((point, run) for point in result["points"] for run in point["runs"]):
            self.assertEqual(measured["chunks"], 1 if measured["order"] == "sequential" else point["values"]["chunks.count"])
            self.assertTrue(measured["verified"])
            self.assertGreater(measured["bound_s"], 0)
            self.assertIsNone(measured["predicted_s"])
            self.assertIsNone(measured["timeline"])
        self.assertEqual(points_of(result, "checks"), expected)
        self.assertEqual(result["deck"]["resolved"]["sweep"], {"chunks.count": [1, 2, 4], "issue.lanes": [1, 2]})
        self.assertEqual(self.files(), ["out.json", "sweep.yaml"])

    def test_result_lines(self):
        done = run(self.sweep(), "--quiet", "--set=sweep.chunks.count=[1]")
        self.assert_clean(done)
        lines = done.stdout.splitlines()
        for line in lines[:-1]:
            head, _, point = line.rpartition(" point=")
            self.assertTrue(FOM.fullmatch(head) or CHECK.fullmatch(head), line)
            self.assertIn(point, ("chunks.count:1,issue.lanes:1", "chunks.count:1,issue.lanes:2"))
        self.assertTrue(RESULT.fullmatch(lines[-1]), lines[-1])
        self.assertEqual(len(records(done.stdout)["OVERLAP_CHECK"]), 4)

    def test_table(self):
        done = run(self.sweep())
        self.assert_clean(done)
        rows = [line.split() for line in done.stdout.splitlines() if not line.startswith("OVERLAP_")]
        found = [row[:2] for row in rows if len(row) >= 8 and row[0].isdigit()]
        self.assertEqual(found, [[count, lanes] for count in "124" for lanes in "12"])
        self.assertRegex(done.stdout, r"(?m)^  chunks\.count +1, 2, 4$")
        self.assertRegex(done.stdout, r"(?m)^best: \S+ [mun]s, \w+ at chunks\.count \d, issue\.lanes \d$")
        self.assertRegex(done.stdout, r"(?m)^knee: chunks\.count \d")
        self.assertRegex(done.stdout, r"OVERLAP_RESULT verdict=PASS data=OK exit=0\n\Z")

    def test_resolved_is_the_same_sweep(self):
        self.assert_clean(run(self.sweep(), "--json", self.target))
        resolved = self.deck(json.dumps(self.written()["deck"]["resolved"]), "resolved.yaml")
        self.assertEqual(run(resolved, "--dry-run").stdout, run(self.sweep(), "--dry-run").stdout)

    def test_a_criterion_that_one_point_breaks(self):
        done = run(self.sweep(), "--set=acceptance=[{metric: time, max: 0}]", "--json", self.target)
        self.assert_clean(done, 5)
        self.assertEqual(self.written()["verdict"], "FAIL")

    def test_a_point_that_does_not_fit_is_left_out(self):
        deck = self.sweep(SMALL.replace("chunks.count: [1, 2, 4]", "workload.elements: [4096, 1 Ti]"))
        done = run(deck, "--json", self.target)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"(?m)^miniapp: skipped workload\.elements 1 Ti, issue\.lanes 1: .*memory")
        result = self.written()
        self.assertEqual((len(all_of(result, "runs")), result["verdict"], result["exit_code"]), (4, "ERROR", 4))
        self.assertRegex(result["error"], "memory")
        self.assertIn("OVERLAP_RESULT verdict=ERROR data=OK exit=4", done.stdout)
        # Nothing is left to resume: the next night's run is the same.
        self.assertEqual(run(deck, "--json", self.target).returncode, 4)

    def test_dry_run_lists_the_points(self):
        done = run(self.sweep(), "--dry-run")
        self.assert_clean(done)
        self.assertIn("6 points", done.stdout)
        self.assertIn("\n  chunks.count=4  issue.lanes=2\n", done.stdout)

    def test_predictions(self):
        table = self.folder / "out.csv"
        done = run(self.sweep(), "--predict", "h200", "--predict", "c2050", "--json", self.target, "--csv", table)
        self.assert_clean(done)
        result = self.written()
        self.assertEqual(len(all_of(result, "runs")), 6 * 2 * 2)
        for predicted in all_of(result, "runs"):
            self.assertGreater(predicted["predicted_s"], 0)
            self.assertEqual(predicted["samples_s"], [])
        rows = list(csv.DictReader(table.read_text().splitlines()))
        self.assertEqual(collections.Counter(row["device"] for row in rows), {"h200": 12, "c2050": 12})
        self.assertRegex(done.stdout, "(?m)^best on h200: ")
        self.assertRegex(done.stdout, "(?m)^knee on h200: ")
        self.assertNotRegex(done.stdout, "(?m)^(best|ties|knee) on c2050")
        self.assertIn("\nno best on c2050: the device file has no latencies, so more chunks never cost time\n", done.stdout)
        self.assertEqual(len(re.findall(r"(?m) best$", done.stdout)), 1)
        for device in ("h200", "c2050"):
            self.assertRegex(done.stdout, rf"(?m)^predicted times on {device}\n.*\n( +[124] +[12] .*\n){{6}}")
        self.assertIn("OVERLAP_RESULT verdict=PASS data=NONE exit=0", done.stdout)

    def test_an_option_pins_a_key(self):
        self.assert_clean(run(self.sweep(), "--set", "chunks.count=8", "--json", self.target))
        self.assertEqual({measured["chunks"] for measured in all_of(self.written(), "runs")}, {1, 8})
        self.assertEqual([tuple(point["values"]) for point in self.written()["points"]], [("issue.lanes",)] * 2)
        self.assert_clean(run(self.sweep(), "--set=sweep={}", "--json", self.target))
        self.assertEqual(len(all_of(self.written(), "runs")), 2)

    def test_usage(self):
        deck = self.sweep()
        for arguments, message in (
            ((deck, deck), "sweep.yaml: found a sweep and other decks"),
            ((deck, "--trace", self.folder / "trace.json"), "found --trace with a sweep.*: --csv, --json, --junit, --report, --timeline FILE.html, or"),
            ((deck, "--resume"), "--resume without a result file; allowed: with --json FILE"),
            ((deck, "--set=sweep={}", "--resume", "--json", self.target), "--resume without a sweep"),
            ((deck, "--set=sweep.chunks.count=[1, 5000]"), r"small\.yaml|chunks"),
        ):
            self.assert_error(run(*arguments), 3, message)
        self.assertEqual(self.files(), ["sweep.yaml"])


class Table(Case):
    def rows(self, *arguments):
        table = self.folder / "out.csv"
        self.assert_clean(run(*arguments, "--csv", table))
        return list(csv.DictReader(table.read_text().splitlines()))

    def test_of_a_sweep(self):
        rows = self.rows(self.sweep(), "--device=host", "--json", self.target)
        runs = all_of(self.written(), "runs")
        self.assertEqual(len(rows), len(runs))
        for row, measured, (values, _) in zip(rows, runs, points_of(self.written())):
            self.assertEqual([row["chunks.count"], row["issue.lanes"]], [str(value) for _, value in values])
            self.assertEqual((row["order"], row["n"], row["verified"], row["verdict"]), (measured["order"], "1", "true", "PASS"))
            for key in ("lanes", "chunks", "tasks", "bytes", "bound_s", "schedule_bound_s", "predicted_s"):
                self.assertEqual(float(row[key]), measured[key], key)
            self.assertEqual(float(row["speedup"]), measured["speedup"]["median"])
            for key in ("median", "min", "max", "lo", "hi"):
                self.assertEqual(float(row[key + "_s"]), measured["time_s"][key])

    def test_of_ordinary_decks(self):
        deck = self.sweep(SMALL.partition("sweep:")[0])
        rows = self.rows(deck, self.deck(deck.read_text(), 'a,"b".yaml'))
        self.assertEqual([(row["deck"], row["order"]) for row in rows],
                         [(name, order) for name in ("sweep", 'a,"b"') for order in ORDERS])


class Page(Case):
    def charts(self, *arguments):
        page = self.folder / "out.html"
        self.assert_clean(run(*arguments, "--report", page, "--json", self.target))
        return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page.read_text())]

    def points(self, charts, muted):
        return [len(series["points"]) for chart in charts for series in chart["series"] if series["muted"] == muted]

    def test_has_a_mark_for_every_point_and_order(self):
        charts = self.charts(self.sweep())
        self.assertEqual(len(charts), 2)
        self.assertEqual(sum(self.points(charts, False)), 6 * len(ORDERS))
        self.assertEqual(sum(self.points(charts, True)), 6)

    def test_of_predictions(self):
        charts = self.charts(self.sweep(), "--predict", "h200")
        self.assertEqual(sum(self.points(charts, False)), 6 * len(ORDERS))
        self.assertEqual(self.points(charts, True), [])

    def test_of_words_and_of_many_panels(self):
        charts = self.charts(self.sweep(), "--set=sweep={memory.host: [pinned, pageable], issue.lanes: "
                             "[1,2,3,4,5,6,7,8,9,10,11,12,13]}", "--predict=c2050")
        self.assertEqual(len(charts), 13)
        self.assertEqual(charts[0]["x"]["categories"], ["pinned", "pageable"])

    def test_of_queries_alone(self):
        deck = self.deck("workload: {kind: custom, tasks: [{name: Q, stage: query, lane: 1}]}\n"
                         "measure: {repetitions: 2}\nsweep: {measure.warmup: [1, 2]}\n")
        for how in ("--predict=h200", "--device=host"):
            self.charts(deck, how)
            self.assert_valid(json.loads(self.target.read_text()))

class Resume(Case):
    def stopped(self, number, deck=LARGE, points=30, options=()):
        """A sweep that a signal ended after some points; its exit code and stderr."""
        process = start(self.sweep(deck), "--json", self.target, "--quiet", *options)
        deadline = time.monotonic() + 60
        while len(self.kept()) < points and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        self.assertIsNone(process.poll(), "it ended by itself")
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, stderr

    def goes_on(self, kept, *before):
        """The rest runs, and only the rest; then every point and order is there once."""
        done = run(self.sweep(LARGE), *before, "--json", self.target, "--resume", "--quiet")
        self.assert_clean(done)
        result = self.written()
        counted = collections.Counter(points_of(result))
        self.assertEqual(len(counted), POINTS * len(ORDERS))
        self.assertEqual(set(counted.values()), {1})
        self.assertEqual(len(records(done.stdout)["OVERLAP_CHECK"]), POINTS * len(ORDERS))
        # What had run did not run again: its times are the same to the last digit.
        for before in kept:
            [after] = [point for point in result["points"] if point["values"] == before["values"]]
            self.assertEqual(after, before)

    def assert_in_the_middle(self, kept):
        self.assertGreaterEqual(len(kept), 30)
        self.assertLess(len(kept), POINTS)

    def test_after_ctrl_c(self):
        code, stderr = self.stopped(signal.SIGINT)
        kept = self.kept()
        self.assertEqual(code, 130)
        self.assertEqual(
            stderr,
            f"miniapp: error: interrupted; {len(kept)} of {POINTS} points are kept in {self.target}; "
            "continue with --resume\n",
        )
        self.assert_in_the_middle(kept)
        result = self.written()
        self.assertEqual((result["verdict"], result["exit_code"]), ("INTERRUPTED", 130))
        self.assertGreaterEqual(len(all_of(result, "runs")), len(kept) * len(ORDERS))
        # Without --resume nothing is lost.
        done = run(self.sweep(LARGE), "--json", self.target)
        self.assert_error(done, 3, rf"out\.json: found {len(kept)} of {POINTS} points of an unfinished sweep; "
                                   "allowed: --resume to continue, or another name for the result file")
        done = run("increment", "--json", self.target)  # nor to another deck
        self.assert_error(done, 3, rf"out\.json: found {len(kept)} of {POINTS} points of an unfinished sweep; ")
        self.assertEqual(self.kept(), kept)
        # Nor with a file that cannot be written.
        done = run(self.sweep(LARGE), "--json", self.target, "--resume", "--csv", self.folder / "missing/a.csv")
        self.assert_error(done, 1, "missing/a.csv: cannot write")
        self.assertEqual(self.kept(), kept)
        self.goes_on(kept)

    def test_after_a_kill(self):
        code, _ = self.stopped(signal.SIGKILL)
        kept = self.kept()
        self.assertEqual(code, -signal.SIGKILL)
        self.assert_in_the_middle(kept)
        self.assertEqual(json.loads(self.target.read_text())["error"], "did not finish")
        self.goes_on(kept)

    def test_twice(self):
        """A sweep that is resumed may be interrupted again."""
        self.stopped(signal.SIGKILL)
        result = json.loads(self.target.read_text())
        for point in result["points"][10:]:
            point["outcome"] = None
        self.target.write_text(json.dumps(result))
        first = self.kept()
        self.assertEqual(len(first), 10)
        process = subprocess.Popen(
            [MINIAPP, self.sweep(LARGE), "--json", self.target, "--quiet", "--resume"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        while len(self.kept()) < 40 and process.poll() is None:
            time.sleep(0.002)
        process.kill()
        process.communicate(timeout=60)
        self.assertEqual(self.kept()[:10], first)
        self.goes_on(self.kept())

    def leave_points(self, options=()):
        """A file with two points, of a sweep that is interrupted in its third."""
        endless = SMALL.replace("chunks.count: [1, 2, 4]", "measure.repetitions: [1, 1000000]")
        self.assertEqual(self.stopped(signal.SIGTERM, endless, 2, options)[0], 130)
        self.assertEqual(len(self.kept()), 2)
        return self.sweep(endless)

    def test_points_of_another_deck(self):
        deck = self.leave_points()
        done = run(deck, "--json", self.target, "--resume", "--set=measure.warmup=1")
        self.assert_error(done, 3, r"out\.json: found points of another deck or --set option; allowed: --resume with the same")
        self.assertEqual(len(self.kept()), 2)

    def test_a_folder_beside_a_result_file(self):
        done = run(self.sweep(), "--csv", self.folder, "--json", self.target, "--quiet")
        self.assert_error(done, 1, "cannot write: is a folder")
        self.assertIn("is a folder", self.written()["error"])
        self.assert_clean(run(self.sweep(), "--json", self.target))
        done = run(self.sweep(), "--json", self.target, "--resume", "--csv", self.folder)  # nothing is left to run
        self.assert_error(done, 1, "cannot write: is a folder")

    def test_the_resolved_deck_is_a_deck(self):
        text = SMALL.replace("chunks.count: [1, 2, 4]", "measure.duration: [none, 50 ms]").replace(", repetitions: 1", "")
        self.assert_clean(run(self.sweep(text), "--json", self.target))
        resolved = self.deck(yaml.safe_dump(self.written()["deck"]["resolved"], sort_keys=False), "resolved.yaml")
        self.assert_clean(run(resolved, "--dry-run"))

    def test_points_of_another_model(self):
        deck = self.leave_points()
        done = run(deck, "--json", self.target, "--resume", "--device=h200")
        self.assert_error(done, 3, r"out\.json: found points of another reference or device file; ")

    def test_points_judged_by_another_reference(self):
        criterion = "--set=acceptance=[{metric: time, reference: given, below: 100 %}]"
        reference = self.folder / "reference.yaml"
        text = (SOURCE / "input/references/h200.yaml").read_text()
        reference.write_text(text)
        deck = self.leave_points(options=(criterion, "--reference", reference))
        reference.write_text(re.sub(r"value: [0-9.e-]+", "value: 1", text))
        done = run(deck, "--json", self.target, "--resume", criterion, "--reference", reference)
        self.assert_error(done, 3, r"out\.json: found points of another reference or device file; ")

    def test_points_of_another_device_file_of_the_same_name(self):
        model = self.folder / "model.yaml"
        text = (SOURCE / "input/devices/host.yaml").read_text()
        model.write_text(text)
        deck = self.leave_points(["--device", model])
        model.write_text(re.sub(r"(?m)^title: .*", "title: another", text, count=1))
        done = run(deck, "--json", self.target, "--resume", "--device", model)
        self.assert_error(done, 3, r"out\.json: found points of another reference or device file; ")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two processors")
    def test_points_of_other_processors(self):
        deck = self.leave_points()
        one = {min(os.sched_getaffinity(0))}
        done = run(deck, "--json", self.target, "--resume", preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assert_error(done, 3, r"out\.json: found points of another set of CPUs; ")
        self.assertEqual(len(self.kept()), 2)

    def test_no_points(self):
        done = run(self.sweep(), "--json", self.target, "--resume")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, f"miniapp: {self.target}: no finished points; starting from scratch\n")

    def test_a_file_that_is_no_result(self):
        self.target.write_text("precious")
        self.assert_error(run(self.sweep(), "--json", self.target, "--resume"), 3, "out.json:1:1: found no valid JSON")
        self.assertEqual(self.target.read_text(), "precious")
        self.assert_clean(run(self.deck(SMALL.partition("sweep:")[0]), "--json", self.target))
        self.assert_error(run(self.sweep(), "--json", self.target, "--resume"), 3, "out.json: found no result of a sweep")
        self.assert_clean(run(self.sweep(), "--json", self.target))

    def test_a_whole_sweep_is_complete(self):
        self.assert_clean(run(self.sweep(), "--json", self.target))
        before = self.written()["points"]
        self.assert_clean(run(self.sweep(), "--json", self.target, "--resume"))
        self.assertEqual(self.written()["points"], before)
        self.assert_clean(run(self.sweep(), "--json", self.target))

    def test_a_closed_stdout_is_no_result_file(self):
        command = f'exec "$0" "$@" >&-'
        done = subprocess.run(["sh", "-c", command, MINIAPP, self.sweep(), "--json", self.target],
                              stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output: cannot write", done.stderr)
        self.assertEqual(len(all_of(self.written(), "runs")), 6 * 2)

    def test_predictions_can_be_stopped(self):
        deck = self.sweep(LARGE)
        options = ("--predict=h200", "--set=workload.elements=64 Mi",
                   "--set=sweep.chunks.count=[" + ", ".join(map(str, range(200, 1200))) + "]")
        process = subprocess.Popen([MINIAPP, deck, *options, "--json", self.target],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual([name for name in self.files() if "json." in name], [])
        self.assert_clean(run(deck, *options, "--quiet", "--json", self.target))

    def test_a_pipe_keeps_no_points(self):
        done = run(self.sweep(), "--quiet", "--json", "/dev/stdout")
        self.assert_clean(done)
        self.assert_valid(json.JSONDecoder().raw_decode(done.stdout)[0])

    def test_calibrations_do_not_lose_points(self):
        deck = self.leave_points()
        device = self.folder / "device.yaml"
        device.write_text("old")
        done = run(deck, "--json", self.target, "--calibrate", device)
        self.assert_error(done, 3, r"out\.json: found 2 of 4 points of an unfinished sweep; ")
        self.assertEqual(device.read_text(), "old")

    def test_nothing_to_resume_from(self):
        done = run(self.sweep(), "--quiet", "--resume", "--json", "/dev/stdout")
        self.assert_error(done, 3, "--resume without a result file; ")


class Progress(Case):
    def test_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([MINIAPP, self.sweep(LARGE)], env={**os.environ, "TERM": "xterm"},
                                   stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertRegex(seen, rb"\d+ %  about \d+ s left  point \d+ of 200: chunks\.count \d+, issue\.lanes \d+")
        self.assertTrue(seen.endswith(b"\r\033[K"), seen[-200:])
        self.assertNotIn(b"\n", seen)
        self.assertLess(max(map(len, seen.split(b"\r\033[K"))), 80)

    def test_not_in_a_pipe(self):
        done = run(self.sweep())
        self.assert_clean(done)
        self.assertNotRegex(done.stdout, "\r|\033| left")


class Decks(Case):
    def test_shipped_sweeps_run(self):
        decks = sorted((SOURCE / "input/sweeps").glob("*.yaml"))
        self.assertTrue(decks)
        small = {
            "increment": {"workload.elements": 4096, "issue.streams": "own"},
            "dgemm": {"workload.m": 64, "workload.n": 64, "workload.tile_m": 64, "workload.tile_n": 16},
        }
        for deck in decks:
            with self.subTest(deck=deck.name):
                kind = yaml.safe_load(deck.read_text())["workload"]["kind"]
                settings = overrides(small[kind] | {"measure.repetitions": 2})
                done = run(deck, *settings, "--json", self.target)
                if not self.is_skipped(kind, done):
                    self.assert_clean(done)
                    self.written()
                self.assert_clean(run(deck, "--predict", "h200", "--quiet"))


if __name__ == "__main__":
    unittest.main()
