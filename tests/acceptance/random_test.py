#!/usr/bin/env python3
"""Random decks, run from end to end: right data, a valid result file, or one line that says why not.

DECKS says how many must run (default 8), SEED which. The decks are small; all but the workload's few needs is drawn freely, so that
some are refused."""

import json
import os
import random
import unittest

import yaml

from program import TestCase, run

DECKS = int(os.environ.get("DECKS", 8))
SEED = int(os.environ.get("SEED", 1))

ORDERS = {
    "increment": ["sequential", "depth_first", "breadth_first", "by_engine"],
    "dgemm": ["sequential", "two_way", "three_way", "four_way", "four_plus"],
    "custom": ["sequential", "custom"],
}
ORDERS["rowsum"] = ORDERS["pipeline"] = ORDERS["increment"]


class Draw:
    """A deck by its seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def size(self, most):
        """Small as often as large, and seldom round."""
        return max(1, int(most ** self.random.random()))

    def maybe(self, chance, section, **keys):
        for key, value in keys.items():
            if self.random.random() < chance:
                section[key] = value() if callable(value) else value

    def increment(self):
        workload = {}
        if self.random.random() < 0.3:  # a box in an array
            box = [self.size(12) for _ in range(self.random.choice((2, 3)))]
            array = [length + self.random.randrange(4) for length in box]
            workload = {"box": box, "array": array,
                        "origin": [self.random.randrange(outer - inner + 1) for inner, outer in zip(box, array)]}
        else:
            workload["elements"] = self.size(40000)
        self.maybe(0.5, workload, type=lambda: self.random.choice(("float32", "float64")))
        self.maybe(0.3, workload, intensity=lambda: self.random.choice((0, 1, 3, "balanced")))
        return workload

    def rowsum(self):
        workload = {"rows": self.size(3000), "columns": self.size(300)}
        self.maybe(0.5, workload, type=lambda: self.random.choice(("int32", "int64", "float32", "float64")),
                   axis=lambda: self.random.choice(("rows", "columns")),
                   kernel=lambda: self.random.choice(("auto", "thread_per_row", "team_per_row")))
        self.maybe(0.1, workload, sum_type="int64", pitch=lambda: 8 * self.size(4000))
        return workload

    def pipeline(self):
        workload = {"elements": self.size(20000), "iterations": self.size(8)}
        self.maybe(0.5, workload, type=lambda: self.random.choice(("float32", "float64")), intensity=lambda: self.size(4))
        return workload

    def dgemm(self):
        m, n = self.size(200), self.size(200)
        workload = {"m": m, "n": n, "k": self.size(60), "tile_m": self.size(m), "tile_n": self.size(n)}
        self.maybe(0.4, workload, type=lambda: self.random.choice(("float32", "float64")),
                   beta=lambda: self.random.choice((0, 1)))
        workload["host_share"] = self.random.choice((0, 0.5, 1))
        return workload

    def custom(self):
        tasks, lanes = [], self.size(4)
        filled = set()  # lanes whose data are on the device
        for i in range(self.size(12)):
            lane = self.random.randint(1, lanes)
            stage = self.random.choice(("h2d", "kernel", "d2h", "host") if lane in filled else ("h2d", "host"))
            task = {"name": f"t{i}", "stage": stage}
            if stage != "host":
                task["lane"] = lane
                filled.add(lane)
            if stage in ("h2d", "d2h"):
                task["bytes"] = 4 * self.size(10000)
            else:
                task["duration"] = f"{self.size(300)} us"
            if tasks and self.random.random() < 0.4:
                task["after"] = [self.random.choice(tasks)["name"]]
            tasks.append(task)
        return {"tasks": tasks}

    def deck(self):
        kind = self.random.choice(sorted(ORDERS))
        deck = {"workload": {"kind": kind, **getattr(self, kind)()}}
        if kind not in ("custom", "dgemm"):
            deck["chunks"] = self.random.choice(({"count": self.size(40)}, {"bytes": 8 * self.size(20000)}))
        orders = self.random.sample(ORDERS[kind], self.random.randint(1, len(ORDERS[kind])))
        issue = deck["issue"] = {"orders": sorted({"sequential", *orders}, key=ORDERS[kind].index)}
        if kind != "custom":
            self.maybe(0.7, issue, lanes=lambda: self.size(12))
        self.maybe(0.2, issue, mechanism="portable", sync=lambda: self.random.choice(("stream", "device")))
        memory = deck["memory"] = {}
        self.maybe(0.2, memory, host="pageable")
        if kind != "custom":
            self.maybe(0.1, memory, transfer="zero_copy", device_limit=lambda: 64 * self.size(10000))
        self.maybe(0.1, deck, host_work=lambda: {"per_chunk": f"{self.size(50)} us"})
        deck["measure"] = {"warmup": self.random.randint(0, 1), "repetitions": self.random.randint(1, 3)}
        self.maybe(0.2, deck["measure"], verify="ends")
        self.maybe(0.5, deck, acceptance=lambda: [{"metric": "max_error", "max": 1e-4}])
        if kind != "custom":
            self.maybe(0.15, deck, sweep=lambda: {"issue.lanes": sorted({self.size(6), self.size(6)})})
        return deck


class Random(TestCase):
    def test_decks(self):
        target, ran, number = self.folder / "out.json", 0, 0
        while ran < DECKS:
            self.assertLess(number, 4 * DECKS, "too many decks are refused")
            draw = Draw(SEED * 100000 + number)
            number += 1
            text = yaml.safe_dump(draw.deck(), sort_keys=False)
            with self.subTest(seed=SEED, number=number, deck=text):
                target.unlink(missing_ok=True)
                done = run(self.deck(text), "--quiet", "--json", target)
                if done.returncode == 77:  # products in a program that cannot multiply
                    continue
                if done.returncode:  # a combination that there is not, said before anything runs
                    self.assertIn(done.returncode, (3, 4), done.stdout + done.stderr)
                    self.assertRegex(done.stderr, r"\A[^\n]*error: [^\n]+\n\Z")
                    continue
                ran += 1
                self.assertEqual(done.stderr, "")
                result = json.loads(target.read_text())
                self.assert_valid(result)
                self.assertRegex(done.stdout, r"(?m)^OVERLAP_RESULT verdict=PASS data=OK exit=0$")
        print(f"random decks of seed {SEED}: {ran} ran, {number - ran} were refused or skipped")


if __name__ == "__main__":
    unittest.main()
