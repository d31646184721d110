#!/usr/bin/env python3
"""Bad inputs through the whole program, with limits on time and memory: it ends in order, and soon."""

import os
import resource
import subprocess
import unittest

from program import MINIAPP, PROGRAM, SANITIZED, SMALL, SOURCE, TestCase

CORPUS = SOURCE / "tests/fuzz/corpus"
SLOW = SANITIZED or b"assert_invariant" in PROGRAM  # built for debugging
SECONDS = 40 if SANITIZED else 15 if SLOW else 2  # of processor time, starting included
BYTES = 1 << 30
CODES = (0, 1, 2, 3, 4, 5, 6, 77)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    if not SANITIZED:  # they reserve far more
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


class Guards(TestCase):
    def check(self, *arguments):
        with self.subTest(arguments=arguments):
            done = subprocess.run(
                [MINIAPP, *map(str, arguments)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=300,
                preexec_fn=limit,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
            self.assertIn(done.returncode, CODES, done.stderr[-300:])
            if done.returncode == 3:
                self.assert_error(done, 3)

    def inputs(self, target):
        found = sorted(path for path in (CORPUS / target).iterdir() if path.is_file())
        self.assertTrue(found)
        return found

    def test_decks(self):
        for path in [*self.inputs("deck"), *self.inputs("pipeline")]:
            self.check(path, "--dry-run")
            self.check(path, "--predict=h200", "--json", self.folder / "a.json")

    def test_devices(self):
        deck = self.deck(SMALL)
        for path in self.inputs("device"):
            self.check(deck, "--predict", path)

    def test_results(self):
        for path in self.inputs("result"):
            self.check("merge", path, "--json", self.folder / "a.json")
            self.check("compare", path, path)
            self.check("compare", "--side-by-side", path, path)
            self.check("baseline", path, "-o", self.folder / "a.yaml")

    def test_overrides(self):
        deck = self.deck(SMALL)
        for path in self.inputs("overrides"):
            lines = [line for line in path.read_text(errors="replace").split("\n") if line and "\0" not in line]
            self.check(deck, "--dry-run", *(word for line in lines for word in ("--set", line)))


if __name__ == "__main__":
    unittest.main()
