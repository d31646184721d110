#!/usr/bin/env python3
"""Calls of the system that fail while files are written: whole files or the old ones, and one line that says which.

FAULTS is the library of tests/faults, which makes one call fail."""

import os
import re
import unittest

from program import TestCase, run
from whole import CHECKS

OUTPUTS = {"json": "a.json", "csv": "a.csv", "junit": "a.xml", "timeline": "a.svg", "trace": "t.json"}
PAGE = "a.html"
MOST = 100  # calls of a kind, by far
# What differs between two runs: times and free memory.
CHANGES = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?|"available_bytes": ?\d+')


class Faults(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.folder.resolve()
        self.out, self.reached = self.folder / "out", self.folder / "reached"
        self.out.mkdir()
        self.names = sorted([*OUTPUTS.values(), PAGE])
        pairs = [*OUTPUTS.items(), ("timeline", PAGE)]
        self.arguments = [self.deck(), "--predict=h200", "--quiet"]
        self.arguments += [word for option, name in pairs for word in (f"--{option}", self.out / name)]
        self.assert_clean(run(*self.arguments))
        self.whole = self.contents()
        self.assertEqual(sorted(self.whole), self.names)

    def contents(self):
        return {path.name: path.read_text() for path in self.out.iterdir()}

    def run_with(self, call, kind, n, old):
        """The run whose n-th call fails so, over files with the old text; None: there is no such call."""
        self.reached.unlink(missing_ok=True)
        for path in self.out.iterdir():
            path.unlink()
        for name in self.names if old else ():
            (self.out / name).write_text(old)
        done = run(*self.arguments, env={**os.environ, "LD_PRELOAD": os.environ["FAULTS"], "FAULTS_BELOW": str(self.out),
                                         "FAULTS_CALL": call, "FAULTS_KIND": kind, "FAULTS_N": str(n),
                                         "FAULTS_REACHED": str(self.reached)})
        return done if self.reached.exists() else None

    def assert_invisible(self, done):
        self.assert_clean(done)
        there = self.contents()
        self.assertEqual(sorted(there), self.names)
        for name, text in there.items():
            self.assertEqual(CHANGES.sub("", text), CHANGES.sub("", self.whole[name]), name)

    def assert_told(self, done, old):
        self.assert_error(done, 1, "/out/(?:" + "|".join(map(re.escape, self.names)) + "): cannot ")
        there = self.contents()
        self.assertEqual(set(there) - set(self.names), set())
        for name in self.names:
            if there.get(name) != old:
                CHECKS[name[name.index(".") :]](there[name])

    def each(self, call, kind, check, old=None):
        """Fails every call of this kind; returns how many there are."""
        for n in range(1, MOST):
            done = self.run_with(call, kind, n, old)
            if done is None:
                return n - 1
            with self.subTest(call=call, kind=kind, n=n):
                check(done)
        self.fail("it never ends")

    def test_invisible(self):
        self.assertGreater(self.each("write", "short", self.assert_invisible), 0)

    def test_told(self):
        for call, kind, old in (("write", "ENOSPC", None), ("write", "EIO", "old"), ("fsync", "EIO", "old"),
                                ("rename", "ENOSPC", "old"), ("open", "ENOSPC", "old"), ("open", "EIO", None)):
            self.assertGreaterEqual(self.each(call, kind, lambda done: self.assert_told(done, old), old), len(self.names))

    def test_a_sweep_where_files_have_no_locks(self):
        self.arguments = [self.deck(), "--quiet", "--set=sweep={chunks.count: [1, 2]}", "--json", self.out / "a.json"]
        done = self.run_with("flock", "ENOLCK", 1, None)
        self.assert_clean(done)
        self.assertEqual(list(self.contents()), ["a.json"])

    def test_a_planted_fault_is_found(self):
        done = self.run_with("write", "lost", len(self.names) + 2, None)  # after the look for room and the draft
        self.assertIsNotNone(done)
        with self.assertRaises(AssertionError):
            self.assert_invisible(done)
        with self.assertRaises(AssertionError):
            self.assert_told(done, None)


if __name__ == "__main__":
    unittest.main()
