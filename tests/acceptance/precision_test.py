#!/usr/bin/env python3
"""Repetitions until times are precise, and soaks: why they end, what they keep."""

import json
import os
import pathlib
import re
import signal
import statistics
import time
import unittest
import unittest.mock

from program import SMALL, TestCase, all_of, run, start


def with_measure(keys):
    return SMALL.replace("repetitions: 3", keys)


def resident_kb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class Precision(TestCase):
    def result(self, keys, *arguments):
        target = self.folder / "out.json"
        done = run(self.deck(with_measure(keys)), "--json", target, *arguments)
        self.assert_clean(done)
        result = json.loads(target.read_text())
        self.assert_valid(result)
        return result, done.stdout

    def test_it_is_reached(self):
        result, text = self.result("precision: 100 %, at_most: 10000")
        stopped = re.search(r"(?m)^stopped: precision \d[\d.e+]* % reached after (\d+) repetitions$", text)
        self.assertTrue(stopped, text)
        repetitions = int(stopped[1])
        self.assertGreaterEqual(repetitions, 30)  # the second look; a busy machine needs more of them
        for each in all_of(result, "runs"):
            self.assertEqual(each["stopped"]["reason"], "precision")
            self.assertLessEqual(each["stopped"]["width"], 1)
            self.assertEqual((each["repetitions"], len(each["samples_s"])), (repetitions, repetitions))

    def test_it_says_where_it_did_not_get_there(self):
        result, text = self.result("precision: 0.0001 %, at_most: 25")
        self.assertRegex(text, r"(?m)^stopped: precision not reached: \S+ % after 25 repetitions \(at_most\)$")
        for each in all_of(result, "runs"):
            self.assertEqual(each["stopped"]["reason"], "at_most")
            self.assertEqual(each["repetitions"], 25)

    def test_the_budget_ends_it(self):
        begin = time.monotonic()
        result, text = self.result("precision: 0.0001 %, at_most: 1000000, budget: 1 s")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertRegex(text, r"precision not reached: .*\(budget\)")
        self.assertGreaterEqual(all_of(result, "runs")[0]["stopped"]["elapsed_s"], 1)

    def test_a_judged_bound_is_that_of_every_round(self):
        criterion = '[{metric: bound_fraction, order: depth_first, min: 0}]'
        result, _ = self.result("repetitions: 12", "--set", f"acceptance={criterion}")
        for each in all_of(result, "runs"):
            bounds, times = each["bound_samples_s"], each["samples_s"]
            self.assertEqual(len(bounds), 12)
            self.assertGreater(len(set(bounds)), 6)
            by_round = statistics.median(bound / time for bound, time in zip(bounds, times))
            self.assertAlmostEqual(each["bound_fraction"]["median"], by_round, delta=1e-6 * by_round)
        self.assertRegex(result["points"][0]["choices"]["bounds"], r"^measured after every round, which took [\d.]+ m?s$")
        result, _ = self.result("repetitions: 12")
        self.assertEqual([each["bound_samples_s"] for each in all_of(result, "runs")], [[]] * len(all_of(result, "runs")))
        self.assertNotIn("bounds", result["points"][0]["choices"])

    def test_counted_repetitions_need_no_words(self):
        result, text = self.result("repetitions: 3")
        self.assertNotIn("stopped: ", text)
        self.assertEqual(all_of(result, "runs")[0]["stopped"]["reason"], "repetitions")


class Soak(TestCase):
    def test_it_lasts_and_verifies_everything(self):
        target, page = self.folder / "out.json", self.folder / "out.html"
        done = run(self.deck(with_measure("duration: 3 s")), "--json", target, "--timeline", page)
        self.assert_clean(done)
        self.assertRegex(done.stdout, r"(?m)^stopped: after \d+ repetitions, which took 3\.\d+ s$")
        result = json.loads(target.read_text())
        self.assert_valid(result)
        repetitions = all_of(result, "runs")[0]["stopped"]["repetitions"]
        self.assertEqual(result["points"][0]["verified_runs"], repetitions * len(all_of(result, "runs")))
        for each in all_of(result, "runs"):
            self.assertTrue(each["verified"])
            self.assertEqual(each["repetitions"], repetitions)
            self.assertLessEqual(len(each["samples_s"]), 4096)
        self.assertNotIn("repetitions", result["deck"]["resolved"]["measure"])
        self.assertIn("throughput during the soak", page.read_text())

    def soaking(self, keys="duration: 10 min"):
        deck = self.deck(with_measure(keys).replace("65536", "1024"))
        process = start(deck, "--json", self.folder / "out.json")
        for line in process.stdout:
            if line.startswith("host memory"):
                return process
        self.fail("it did not start")

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        return stdout

    def test_ctrl_c_keeps_what_there_is(self):
        process = self.soaking()
        time.sleep(2)
        self.stop(process)
        result = json.loads((self.folder / "out.json").read_text())
        self.assert_valid(result)
        self.assertEqual((result["verdict"], result["exit_code"]), ("INTERRUPTED", 130))
        self.assertEqual(len({each["repetitions"] for each in all_of(result, "runs")}), 1)
        for each in all_of(result, "runs"):
            self.assertIsNone(each["stopped"])
            self.assertGreater(each["repetitions"], 0)

    def test_pauses_do_not_count(self):
        """Wherever they fall: in a sample, in its verification, or between two."""
        process = self.soaking("duration: 5 s")
        time.sleep(1.5)
        for _ in range(2):
            process.send_signal(signal.SIGSTOP)
            time.sleep(3)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.5)
        stdout, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(stdout, r"(?m)^stopped: after \d+ repetitions, which took 5\.\d+ s$")
        self.assertRegex(stdout, r"the machine was not steady:[a-z_,\s]*\bpaused")
        result = json.loads((self.folder / "out.json").read_text())
        self.assert_valid(result)
        paused = [finding for finding in all_of(result, "findings") if finding["cause"] == "paused"]
        self.assertEqual(len(paused), 1)
        self.assertAlmostEqual(paused[0]["evidence"]["paused_s"], 6, delta=0.5)

    def test_memory_stays_the_same(self):
        # Under the address sanitizer, what was freed is kept for a while: up to 256 MB by default.
        with unittest.mock.patch.dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=0"):
            process = self.soaking()
        time.sleep(3)
        before = resident_kb(process)
        time.sleep(5)
        grown = resident_kb(process) - before
        self.stop(process)
        self.assertLess(grown, 2048, f"{grown} KiB in 5 s")


if __name__ == "__main__":
    unittest.main()
