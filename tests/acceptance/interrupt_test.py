#!/usr/bin/env python3
"""Signals at random times: whole files or none, no point of a sweep lost, a quick end with the right exit code.

TIMES says how often each signal is sent in each case (default 3), SEED when; it is printed."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

from planted import plant, steady
from program import SMALL, TestCase, is_listening, run, start
from whole import CHECKS

TIMES = int(os.environ.get("TIMES", 3))
SEED = int(os.environ.get("SEED", random.randrange(10**6)))
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
WITHIN_S = 5  # of the signal
RUN = SMALL.replace("repetitions: 3", "repetitions: 10")
SWEEP = SMALL[: SMALL.index("acceptance")] + "sweep:\n  chunks.count: [1, 2, 4, 8, 16]\n  issue.lanes: [1, 2, 3, 4]\n"
SWEEP = SWEEP.replace("65536", "4096")
POINTS = 20
LARGE = ("--predict=h200", "--set=workload.elements=64 Mi", "--set=chunks.count=400")


class Interrupts(TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"SEED={SEED} TIMES={TIMES}", flush=True)

    def setUp(self):
        super().setUp()
        self.random = random.Random(f"{SEED} {self.id()}")
        self.out = self.folder / "out"

    def outputs(self, **options):
        """Options that name files: {"json": "a.json"}, several names in a list."""
        pairs = [(option, name) for option, names in options.items() for name in ([names] if isinstance(names, str) else names)]
        self.names = {name for _, name in pairs}
        return [word for option, name in pairs for word in (f"-{option}" if len(option) == 1 else f"--{option}", self.out / name)]

    def reference(self, *arguments):
        """The exit code and the seconds of a run that nothing disturbs."""
        self.out.mkdir()
        begin = time.monotonic()
        done = run(*arguments)
        seconds = time.monotonic() - begin
        self.assertEqual(done.stderr, "")
        self.assertEqual({path.name for path in self.out.iterdir()}, self.names)
        self.assert_whole()
        return done.returncode, seconds

    def stop(self, number, seconds, arguments):
        """Sends the signal that many seconds after the program listens; its exit code and stderr."""
        process = start(*arguments)
        while not is_listening(process):
            time.sleep(0.001)
        try:
            try:
                process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                pass
            process.send_signal(number)
            _, stderr = process.communicate(timeout=WITHIN_S)
        except subprocess.TimeoutExpired:
            self.fail(f"it goes on {WITHIN_S} s after the signal")
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        return process.returncode, stderr or ""

    def assert_whole(self):
        for path in self.out.iterdir():
            if path.name in self.names:
                with self.subTest(file=path.name):
                    CHECKS[path.suffix](path.read_text())

    def each(self, arguments, after=lambda number: None, leaves_files=False):
        """`leaves_files`: also if it is interrupted."""
        code, length = self.reference(*arguments)
        self.assertEqual(self.stop(signal.SIGINT, 0, arguments)[0], 130, "it goes on to its end")
        for number in SIGNALS:
            for _ in range(TIMES):
                seconds = self.random.uniform(0, 1.1 * length)
                with self.subTest(signal=number.name, seconds=round(seconds, 4)):
                    shutil.rmtree(self.out)
                    self.out.mkdir()
                    found, stderr = self.stop(number, seconds, arguments)
                    there = {path.name for path in self.out.iterdir()}
                    self.assert_whole()
                    self.assertIn(found, (code, -number if number == signal.SIGKILL else 130), stderr)
                    self.assertRegex(stderr, r"\A(?:miniapp: error: [^\n]+\n)?\Z")
                    self.assertEqual(stderr.count("error:"), found == 130, stderr)
                    if found == code or (leaves_files and found == 130):
                        self.assertEqual(there, self.names)
                    strangers = there - self.names
                    if number == signal.SIGKILL:
                        # Names by which no command takes them for results.
                        self.assertEqual([name for name in strangers if pathlib.Path(name).suffix in CHECKS], [])
                    else:
                        self.assertEqual(strangers, set())
                    after(found)

    def all_files(self):
        return self.outputs(json="a.json", csv="a.csv", junit="a.xml", timeline=["a.svg", "a.html"], trace="trace.json")

    def test_run(self):
        self.each([self.deck(RUN), *self.all_files()], leaves_files=True)

    def test_prediction(self):
        self.each([self.deck(), *LARGE, *self.all_files()], leaves_files=True)

    def test_dry_run(self):
        self.each([self.deck(), "--dry-run", "--set=workload.elements=64 Mi", "--set=chunks.count=400", *self.outputs()])

    def test_sweep(self):
        sweep = [self.deck(SWEEP, "sweep.yaml"), *self.outputs(json="a.json", csv="a.csv")]
        target = self.out / "a.json"

        def resume(_):
            before = json.loads(target.read_text()) if target.exists() else None
            if before is None or not before["error"]:
                return  # it had not begun, or had finished
            done = run(*sweep, "--resume")
            self.assertIn(done.returncode, (0, 6), done.stderr)
            points = json.loads(target.read_text())["points"]
            self.assertEqual([len(point["runs"]) for point in points], [3] * POINTS)
            for i, point in enumerate(before["points"]):
                outcome = point["outcome"]
                if outcome and not outcome["error"] and not outcome["interrupted"]:
                    self.assertEqual(points[i], point)

        self.each(sweep, resume)

    def results(self, files):
        """A folder of that many result files, and one of them that is real."""
        real = self.folder / "real.json"
        self.assert_clean(run(self.deck(), "--json", real))
        plant(json.loads(real.read_text()), self.folder / "results", files)
        return self.folder / "results", real

    def test_merge(self):
        results, _ = self.results(50)
        self.each(["merge", results,
                   *self.outputs(json="a.json", junit="a.xml", report="a.html")])

    def copies(self, files):
        _, real = self.results(40)
        real.write_text(json.dumps(steady(json.loads(real.read_text()))))
        for number in range(files):
            shutil.copy(real, self.folder / f"copy{number}.json")
        return [self.folder / f"copy{number}.json" for number in range(files)]

    def test_baseline(self):
        self.each(["baseline", *self.copies(50), *self.outputs(o="a.yaml")])

    def test_compare(self):
        self.each(["compare", *self.copies(20), *self.outputs(json="a.json", report="a.html")])

    def test_side_by_side(self):
        self.each(["compare", "--side-by-side", *self.copies(20), *self.outputs(report="a.html", csv="a.csv")])


if __name__ == "__main__":
    unittest.main()
