#!/usr/bin/env python3
"""The model on the command line: predictions without and beside runs, device files."""

import json
import os
import re
import shutil
import subprocess
import unittest

import yaml

from program import FOM, MINIAPP, NOT_BEGUN, RESULT, SMALL, SOURCE, TestCase, all_of, records, run

FOUR = """\
title: Four chunks
workload: {kind: increment, elements: 65536}
chunks: {count: 4}
issue: {orders: [sequential, depth_first, breadth_first], lanes: 4}
"""
UNKNOWN_RATE = """\
h2d: {bandwidth: 5 GB/s}
d2h: {bandwidth: 5 GB/s}
kernels: {rates: {rowsum: {bandwidth: 8 GB/s}}}
"""


class Predict(TestCase):
    def predicted(self, *arguments):
        done = run(*arguments)
        self.assert_clean(done)
        return done.stdout

    def test_one_device(self):
        stdout = self.predicted(self.deck(FOUR), "--predict", "ideal_1copy")
        self.assertTrue(stdout.startswith("Four chunks\n"))
        self.assertRegex(stdout, r"(?m)^order +ideal_1copy +speed-up$")
        self.assertRegex(stdout, r"(?m)^sequential +12\.00 ms +1\.00$")
        self.assertRegex(stdout, r"(?m)^depth_first +12\.00 ms +1\.00$")
        self.assertRegex(stdout, r"(?m)^breadth_first +8\.000 ms +1\.50$")
        self.assertEqual(len(re.findall(r"(?m)^\w+ on ideal_1copy\ncopy  \S", stdout)), 3)

    def test_a_column_for_each_device(self):
        stdout = self.predicted(
            self.deck(FOUR), "--predict=ideal_1copy", "--predict", "ideal_2copy_delayed_signal"
        )
        self.assertRegex(
            stdout, r"(?m)^order +ideal_1copy +speed-up +ideal_2copy_delayed_signal +speed-up$"
        )
        self.assertRegex(stdout, r"(?m)^depth_first +12\.00 ms +1\.00 +6\.000 ms +2\.00$")
        self.assertRegex(stdout, r"(?m)^breadth_first +8\.000 ms +1\.50 +9\.000 ms +1\.33$")

    def test_devices_of_the_same_name(self):
        mine = self.folder / "ideal_1copy.yaml"
        mine.write_text("unit: 2 ms\n")
        stdout = self.predicted(self.deck(FOUR), "--predict=ideal_1copy", "--predict", mine)
        self.assertRegex(stdout, r"(?m)^order +ideal_1copy +speed-up +ideal_1copy 2 +speed-up$")
        self.assertRegex(stdout, r"(?m)^breadth_first +8\.000 ms +1\.50 +\S+ ms +\d\.\d\d$")
        self.assertRegex(stdout, r"(?m)^sequential +12\.00 ms +1\.00 +24\.00 ms +1\.00$")

    def test_without_a_baseline_there_is_no_speed_up(self):
        deck = self.deck(FOUR.replace("sequential, ", ""))
        self.assertRegex(
            self.predicted(deck, "--predict=ideal_1copy"), r"(?m)^depth_first +12\.00 ms$"
        )

    def test_the_timeline_is_as_wide_as_asked(self):
        arguments = [MINIAPP, self.deck(FOUR), "--predict", "ideal_hyperq"]
        for columns in (50, 132):
            done = subprocess.run(
                arguments,
                capture_output=True,
                text=True,
                timeout=60,
                env={**os.environ, "COLUMNS": str(columns)},
            )
            rows = re.findall(r"(?m)^(?:H2D|SM|D2H)? +0.*$", done.stdout)
            self.assertEqual(max(map(len, rows)), columns)

    def test_result_lines(self):
        deck = self.deck(FOUR, "four.yaml")
        stdout = self.predicted(deck, "--quiet", "--predict=ideal_1copy", "--predict=ideal_2copy")
        *figures, result = stdout.splitlines()
        found = [FOM.fullmatch(line) for line in figures]
        self.assertTrue(all(found), figures)
        orders = ("sequential", "depth_first", "breadth_first")
        self.assertEqual(
            [(m["device"], m["order"], float(m["value"]), m["n"]) for m in found],
            [("ideal_1copy", o, t, "0") for o, t in zip(orders, (0.012, 0.012, 0.008))]
            + [("ideal_2copy", o, t, "0") for o, t in zip(orders, (0.012, 0.006, 0.006))],
        )
        self.assertEqual({m["metric"] for m in found}, {"predicted_time"})
        self.assertEqual(RESULT.fullmatch(result)["data"], "NONE")

    def test_a_file_name_cannot_break_a_line(self):
        device = self.folder / "my device=1.yaml"
        device.write_text("unit: 1 ms\n")
        stdout = self.predicted(self.deck(FOUR), "--quiet", "--predict", device)
        self.assertEqual(FOM.fullmatch(stdout.splitlines()[0])["device"], "my_device_1")

    def test_result_file(self):
        target = self.folder / "out.json"
        devices = ("ideal_1copy", "h200", "host")
        self.predicted(self.deck(FOUR), *(f"--predict={d}" for d in devices), "--json", target)
        result = json.loads(target.read_text())
        self.assert_valid(result)
        orders = ["sequential", "depth_first", "breadth_first"]
        self.assertEqual(
            [(run["device"], run["order"]) for run in all_of(result, "runs")],
            [(device, order) for device in devices for order in orders],
        )
        self.assertEqual((result["device"], all_of(result, "checks"), result["exit_code"]), (None, [], 0))
        for measured in all_of(result, "runs"):
            self.assertEqual(measured["samples_s"], [])
            for key in ("time_s", "speedup", "throughput", "max_error", "timeline"):
                self.assertIsNone(measured[key], key)
            self.assertFalse(measured["verified"])
            entries = measured["predicted_timeline"]
            self.assertEqual([entry["task"] for entry in entries], list(range(measured["tasks"])))
            self.assertGreaterEqual(
                measured["predicted_s"], max(entry["stop_s"] for entry in entries)
            )
        engines = {entry["engine"] for entry in all_of(result, "runs")[0]["predicted_timeline"]}
        self.assertEqual(engines, {"copy", "SM"})

    def test_devices_of_one_name_keep_their_choices(self):
        target = self.folder / "out.json"
        mine = self.folder / "h200.yaml"
        mine.write_text("unit: 1 ms\n")
        deck = self.deck(FOUR.replace("65536", "64 Mi, intensity: balanced"))
        self.predicted(deck, "--predict=h200", "--predict", mine, "--json", target)
        choices = json.loads(target.read_text())["points"][0]["choices"]
        self.assertNotEqual(choices["intensity on h200"], choices["intensity on h200 2"])

    def test_copies_by_duration_take_about_as_long(self):
        tasks = "[{name: A, stage: h2d, lane: 1, duration: 1 ms}, {name: B, stage: d2h, lane: 1, duration: 3 ms}]"
        text = f"workload: {{kind: custom, tasks: {tasks}}}\nissue: {{orders: [custom]}}\n"
        for memory in ("pinned", "pageable"):
            for device in ("h200", "rtx5070ti", "host", "ideal_hyperq"):
                with self.subTest(memory=memory, device=device):
                    stdout = self.predicted(self.deck(text), f"--predict={device}", "--quiet",
                                            f"--set=memory.host={memory}")
                    value = float(FOM.fullmatch(stdout.splitlines()[0])["value"])
                    self.assertAlmostEqual(value, 4e-3, delta=0.1e-3)

    def test_several_decks(self):
        target = self.folder / "out.json"
        decks = (self.deck(FOUR), self.deck(SMALL, "more.yaml"))
        self.predicted(*decks, "--predict=k20c", "--json", target)
        document = json.loads(target.read_text())
        self.assert_valid(document)
        self.assertEqual([len(all_of(result, "runs")) for result in document["results"]], [3, 3])

    def test_the_default_stream_overlaps_nothing(self):
        for kind in ("legacy_default", "per_thread_default"):
            lines = self.predicted("increment_large", "--quiet", "--predict=h200", f"--set=issue.streams={kind}")
            times = {line["order"]: float(line["value"]) for line in records(lines)["OVERLAP_FOM"]}
            self.assertAlmostEqual(times["depth_first"], 11.36e-3, delta=0.3e-3)  # as measured
            self.assertGreater(min(times.values()), 10e-3)

    def test_every_deck_on_every_device_that_knows_its_kernel(self):
        for path in sorted((SOURCE / "input").glob("*.yaml")):
            for device in ("ideal_hyperq", "h200"):
                with self.subTest(deck=path.stem, device=device):
                    self.predicted(path, "--quiet", "--predict", device)

    def test_a_balanced_intensity(self):
        deck = self.deck(FOUR.replace("65536", "64 Mi, intensity: balanced"))
        stdout = self.predicted(deck, "--predict=h200", "--predict=ideal_1copy")
        self.assertRegex(stdout, r"(?m)^intensity on h200 +\d+ repeats, balanced by the model$")
        self.assertRegex(stdout, r"(?m)^intensity on ideal_1copy +1 repeats, balanced")

    def test_a_device_without_latencies_does_not_know_how_many_chunks(self):
        said = r"(?m)^no latencies +of k20c: small chunks are predicted too fast$"
        self.assertRegex(self.predicted(self.deck(FOUR), "--predict=k20c", "--predict=h200"), said)
        self.assertNotIn("no latencies", self.predicted(self.deck(FOUR), "--predict=h200", "--predict=ideal_1copy"))
        stdout = self.predicted(self.deck(FOUR.replace("65536", "16 Mi")), "--predict=k20c",
                                "--set=sweep.chunks.count=[1, 8, 4096]")
        self.assertRegex(stdout, said)
        self.assertNotRegex(stdout, r"(?m)^(best|knee|ties)| best$")
        self.assertIn("no best: the device file has no latencies, so more chunks never cost time", stdout)
        stdout = self.predicted(self.deck(FOUR), "--predict=k20c", "--set=sweep.issue.lanes=[1, 4]")
        self.assertRegex(stdout, "(?m)^best: ")

    def test_described_devices_are_marked(self):
        marked = r"(?m)^described, not measured +"
        self.assertRegex(self.predicted(self.deck(FOUR), "--predict=a100", "--predict=h200", "--predict=v100"), marked + "a100, v100$")
        self.assertRegex(self.predicted(self.deck(FOUR), "--predict=a100", "--set=sweep.chunks.count=[1, 8]"), marked + "a100$")
        self.assertRegex(self.predicted(self.deck(), "--device=a100"), marked + "a100$")
        self.assertNotRegex(self.predicted(self.deck(FOUR), "--predict=h200"), marked)

    def test_needs_neither_memory_nor_kokkos(self):
        """64 TiB are no obstacle; the settings of a runtime that never starts do not matter."""
        deck = self.deck(FOUR.replace("65536", "16 Ti"))
        stdout = self.predicted(deck, "--predict=host", "--kokkos-num-threads=1000000")
        self.assertIn("breadth_first on host", stdout)
        done = run(deck, "--predict=h200")
        self.assert_error(done, 4, "the device has 139.0 GiB free and a chunk needs 16 TiB on the device; use more chunks")


class PredictErrors(TestCase):
    def test_unknown_device(self):
        done = run(self.deck(FOUR), "--predict", "h20")
        first, *lines = done.stderr.splitlines()
        self.assertRegex(first, r"\Aminiapp: error: 'h20': no such device; allowed: a100, .* or the path of a device file; "
                                r"did you mean 'h200'")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        mine = self.folder / "my-gpu.yaml"
        mine.write_text("\n".join(lines[lines.index("# my-gpu.yaml"):]))
        self.assert_clean(run(self.deck(FOUR), "--predict", mine))

    def test_missing_file(self):
        self.assert_error(run(self.deck(FOUR), "--predict", "no/where.yaml"), 3, "no/where.yaml")

    def test_bad_file(self):
        device = self.folder / "bad.yaml"
        device.write_text("unit: 1 ms\nqueus: {}\n")
        for option in ("--predict", "--device"):
            done = run(self.deck(FOUR), option, device)
            self.assert_error(done, 3, r"bad\.yaml:2:1: queus: unknown key; .* 'queues'\?")
            self.assertEqual(done.stdout, "")

    def test_contradicting_options(self):
        options = {
            "--predict": "h200",
            "--device": "h200",
            "--calibrate": str(self.folder / "new.yaml"),
        }
        for a, b in (("--predict", "--device"), ("--predict", "--calibrate"), ("--device", "--calibrate")):
            done = run(self.deck(FOUR), a, options[a], b, options[b])
            self.assert_error(done, 3, f"{a} excludes {b}")
        done = run(self.deck(FOUR), "--predict=h200", "--dry-run")
        self.assert_error(done, 3, "--predict excludes --dry-run")
        done = run(self.deck(FOUR), "--calibrate", options["--calibrate"], "--dry-run")
        self.assert_error(done, 3, "--calibrate excludes --dry-run")
        done = run(self.deck(FOUR), "--resume", "--json", self.folder / "a.json", "--calibrate", options["--calibrate"])
        self.assert_error(done, 3, "--calibrate excludes --resume")
        for alone in ("--list", "--version"):
            done = run("--calibrate", options["--calibrate"], alone)
            self.assert_error(done, 3, f"--calibrate excludes {alone}")
            self.assert_error(run(alone, self.deck(FOUR)), 3, f"DECK excludes {alone}")
        self.assertNotIn("new.yaml", self.files())

    def test_bad_devices_come_before_an_unwritable_file(self):
        for option in ("--predict", "--device"):
            done = run(self.deck(FOUR), option, "no/such.yaml", "--json", self.folder / "no" / "out.json")
            self.assert_error(done, 3, "no/such.yaml: no such device")

    def test_a_rate_that_nothing_balances(self):
        device = self.folder / "flat.yaml"
        device.write_text(UNKNOWN_RATE.replace("rowsum", "increment"))
        done = run(self.deck(FOUR.replace("65536", "65536, intensity: 4x balanced")), "--predict", device)
        self.assert_error(done, 3, r"flat\.yaml: kernels\.rates: the time of the kernel increment/float32")

    def test_no_deck(self):
        self.assert_error(run("--calibrate", self.folder / "a.yaml", "--json", self.folder / "b.json"),
                          3, "--json requires DECK")
        self.assert_error(run("--predict", "h200"), 3, "no deck given")

    def test_a_device_without_the_kernels_rate(self):
        device = self.folder / "rows.yaml"
        device.write_text(UNKNOWN_RATE)
        message = (
            r"four\.yaml: \S*rows\.yaml: kernels\.rates: no rate for the kernel "
            "increment/float32; it has: rowsum"
        )
        deck = self.deck(FOUR, "four.yaml")
        for option in ("--predict", "--device"):
            done = run(deck, option, device)
            self.assert_error(done, 3, message)
            self.assertNotIn("OVERLAP_", done.stdout)

    def test_an_unwritable_result_file_is_found_before(self):
        done = run(self.deck(FOUR), "--predict=h200", "--json", self.folder / "no" / "out.json")
        self.assert_error(done, 1, "cannot write")
        self.assertTrue(NOT_BEGUN.fullmatch(done.stdout), done.stdout)

    def test_nothing_is_predicted_when_one_deck_of_several_is_bad(self):
        target = self.folder / "out.json"
        decks = (self.deck(FOUR), self.deck("workload: {}\n", "bad.yaml"))
        done = run(*decks, "--predict=h200", "--json", target)
        self.assert_error(done, 3, r"bad\.yaml:1:11")
        self.assertEqual(done.stdout, "")
        self.assertFalse(target.exists())


class RealRuns(TestCase):
    def test_predictions_beside_measurements(self):
        done = run(self.deck(), "--device=host")
        self.assert_clean(done)
        self.assertRegex(done.stdout, r"(?m)^predicted by +host$")
        self.assertRegex(done.stdout, r"(?m)^order .* predicted +error +max error +verdict$")
        for order in ("sequential", "depth_first", "by_engine"):
            self.assertRegex(done.stdout, rf"(?m)^{order} .* \d\S* [num]?s +[+-]\d+\.\d % +\S+ +PASS$")

    def installed(self, *arguments, match):
        """Runs a program whose only shipped device was measured there."""
        program, devices = self.folder / "bin/miniapp", self.folder / "share/overlap/input/devices"
        if not program.exists():
            program.parent.mkdir()
            devices.mkdir(parents=True)
            shutil.copy(MINIAPP, program)
        device = yaml.safe_load((SOURCE / "input/devices/host.yaml").read_text())
        (devices / "mine.yaml").write_text(yaml.safe_dump({**device, "match": match}))
        done = subprocess.run([program, self.deck(), *arguments], capture_output=True, text=True, timeout=60)
        self.assert_clean(done)
        return done.stdout

    def test_a_shipped_device_predicts_where_it_was_measured(self):
        machine = self.folder / "machine.yaml"
        self.assert_clean(run("--calibrate", machine))
        here = yaml.safe_load(machine.read_text())["match"]
        self.assertRegex(self.installed(match=here), r"(?m)^predicted by +mine$")
        self.assertNotIn("predicted", self.installed("--device=none", match=here))
        self.assertNotIn("predicted", self.installed(match={**here, "device": "Another processor"}))

    def test_predictions_come_first_of_each_order(self):
        found = records(run(self.deck(), "--quiet", "--device=host").stdout)["OVERLAP_FOM"]
        seen = {}
        for line in found:
            seen.setdefault(line["order"], []).append(line["metric"])
            self.assertNotIn("device", line)
        self.assertEqual({metrics[0] for metrics in seen.values()}, {"predicted_time"})

    def test_a_product_of_which_all_is_the_hosts(self):
        product = "workload: {kind: dgemm, m: 45, n: 106, k: 9, tile_m: 8, tile_n: 16, host_share: 1}\n"
        deck = self.deck(product + "issue: {orders: [four_way]}\nmeasure: {warmup: 0, repetitions: 1}\n")
        self.assert_clean(run(deck))

    def test_a_device_of_choice(self):
        done = run(self.deck(FOUR), "--device", "ideal_1copy")
        self.assert_clean(done)
        self.assertRegex(done.stdout, r"(?m)^predicted by +ideal_1copy$")
        figures = records(done.stdout)["OVERLAP_FOM"]
        predicted = [f["value"] for f in figures if f["metric"] == "predicted_time"]
        self.assertEqual(predicted, ["0.012", "0.012", "0.008"])


class Calibrate(TestCase):
    def test_writes_a_device_that_predict_and_device_take(self):
        mine = self.folder / "mine.yaml"
        done = run(self.deck(), "--calibrate", mine)
        self.assert_clean(done)
        self.assertTrue(done.stdout.startswith(f"wrote {mine}\n"), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^predicted by +mine$")
        self.assertRegex(done.stdout, "(?m)^OVERLAP_RESULT")
        self.assertTrue(mine.read_text().startswith("# Measured by `miniapp --calibrate` on 20"))
        listed = re.search(r"(?m)^workloads\n((?:  .*\n)+)", run("--list").stdout)[1]
        kinds = set(re.findall(r"(?m)^  (\w+) (?!.*unavailable)", listed)) - {"custom"}
        self.assertEqual({kernel.partition("/")[0] for kernel in yaml.safe_load(mine.read_text())["kernels"]["rates"]}, kinds)
        decks = [path for path in sorted((SOURCE / "input").glob("*.yaml"))]
        self.assert_clean(run(*decks, "--quiet", "--predict", mine))
        done = run(self.deck(), "--device", mine)
        self.assert_clean(done)
        self.assertRegex(done.stdout, r"(?m)^predicted by +mine$")
        self.assertEqual(self.files(), ["mine.yaml", "small.yaml"])

    def test_an_unwritable_file_is_found_before(self):
        done = run("--calibrate", self.folder / "no" / "mine.yaml")
        self.assert_error(done, 1, "cannot write")
        self.assertEqual(done.stdout, "OVERLAP_RESULT verdict=ERROR data=NONE exit=1\n")

    def test_empty_file_name(self):
        for option in ("--calibrate", "--device"):
            self.assert_error(run(self.deck(), option, ""), 3, f"{option}: found ''; allowed: ")


if __name__ == "__main__":
    unittest.main()
