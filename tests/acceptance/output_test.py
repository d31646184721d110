#!/usr/bin/env python3
"""What the program writes: the result file whole or not at all, its schema, the result lines."""

import copy
import csv
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

from planted import steady
from program import ENDLESS, FOM, MINIAPP, NOT_BEGUN, SCHEMA, SMALL, SOURCE, TestCase, all_of, is_listening, problems, records, run, start

SLOW = SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: throughput, min: 1e6}")
TOO_LARGE = "workload: {kind: rowsum, rows: 2 Ti}\n"


class ResultFile(TestCase):
    def setUp(self):
        super().setUp()
        self.target = self.folder / "out.json"

    def written(self, *arguments, code=0):
        self.assert_clean(run(*arguments, "--json", self.target), code)
        return json.loads(self.target.read_text())

    def test_appears_alone(self):
        self.assert_valid(self.written(self.deck()))
        self.assertEqual(self.files(), ["out.json", "small.yaml"])

    def test_is_written_for_a_failed_criterion(self):
        result = self.written(self.deck(SLOW), code=5)
        self.assert_valid(result)
        self.assertEqual((result["verdict"], result["exit_code"]), ("FAIL", 5))
        self.assertEqual({check["verdict"] for check in all_of(result, "checks")}, {"FAIL"})

    def test_is_written_for_an_error_above_its_limit(self):
        deck = self.deck(SMALL.replace("65536", "65536, intensity: 20").replace("1e-5", "0"))
        result = self.written(deck, code=2)
        self.assert_valid(result)
        self.assertEqual(result["exit_code"], 2)

    def assert_kept(self, done, code):
        self.assert_error(done, code)
        self.assertEqual(self.target.read_text(), "old")
        self.assertEqual([name for name in self.files() if name.startswith("out")], ["out.json"])

    def test_an_old_file_survives_a_bad_deck(self):
        self.target.write_text("old")
        self.assert_kept(run(self.deck("workload: {}\n"), "--json", self.target), 3)

    def assert_failed(self, result):
        self.assert_valid(result)
        self.assertEqual((result["verdict"], result["exit_code"], all_of(result, "runs")), ("ERROR", 4, []))
        self.assertRegex(result["error"], "memory")

    def test_a_run_that_fails_says_why(self):
        self.assert_error(run(self.deck(TOO_LARGE), "--json", self.target), 4)
        self.assert_failed(json.loads(self.target.read_text()))

    def test_a_build_without_a_gpu_back_end_skips_what_requires_a_gpu(self):
        """Nothing is timed, and the file says what is missing."""
        wanted = {"pcie": "max", "ecc": "on", "mig": "off", "processes": "none", "power_limit": "default",
                  "numa": "local", "driver": ">= 570"}
        for key, value in wanted.items():
            with self.subTest(key=key):
                done = run(self.deck(), "--json", self.target, f"--set=require.{key}={json.dumps(value)}")
                line = f"require.{key} needs a GPU; this build (Serial) has no GPU back end"
                self.assert_error(done, 77, re.escape(line))
                result = json.loads(self.target.read_text())
                self.assert_valid(result)
                self.assertEqual((result["verdict"], result["exit_code"], all_of(result, "runs")), ("SKIPPED", 77, []))
                self.assertTrue(result["error"].endswith(line), result["error"])
        self.assert_clean(run(self.deck(), *(f"--set=require.{key}=any" for key in (*wanted, "devices"))))
        self.assert_error(run(self.deck(), "--set=require.devices=2"), 77, "require.devices needs a GPU")

    def test_health_that_cannot_be_read_passes_nothing(self):
        for metric in ("pcie_replays", "ecc_errors", "throttled"):
            done = run(self.deck(), "--json", self.target, f"--set=acceptance=[{{metric: {metric}, max: 0}}]")
            self.assert_clean(done, 6)
            result = json.loads(self.target.read_text())
            self.assert_valid(result)
            self.assertIsNone(result["points"][0]["health"])
            self.assertEqual(all_of(result, "checks")[0]["verdict"], "INCONCLUSIVE")

    def test_one_deck_of_two_that_fails_says_why(self):
        decks = (self.deck(), self.deck(TOO_LARGE, "large.yaml"))
        self.assert_error(run(*decks, "--json", self.target), 4)
        first, second = json.loads(self.target.read_text())["results"]
        self.assertEqual((first["verdict"], first["error"]), ("PASS", None))
        self.assert_failed(second)

    def test_one_file_cannot_be_two(self):
        same = self.folder / "." / "out.json"
        self.assert_error(run(self.deck(), "--json", self.target, "--csv", same), 3, "which is also --(json|csv)")
        done = run(self.deck(), "--json", "same", "--csv", "./same", cwd=self.folder)
        self.assert_error(done, 3, "which is also --(json|csv)")
        deck = self.deck()
        self.assert_error(run(deck, "--json", deck), 3, "which is also the deck")
        self.assertEqual(deck.read_text(), SMALL)

    def test_what_is_read_is_not_written(self):
        device = self.folder / "my.yaml"
        shutil.copy(SOURCE / "input/devices/ideal_1copy.yaml", device)
        result = self.folder / "result.json"
        self.assert_clean(run(self.deck(), "--json", result))
        result.write_text(json.dumps(steady(json.loads(result.read_text()))))
        reference = self.folder / "reference.yaml"
        self.assert_clean(run("baseline", result, "-o", reference))
        judged = self.deck(SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: time, reference: given}"), "judged.yaml")
        results = self.folder / "results"
        results.mkdir()
        shutil.copy(result, results / "a.json")
        before = {path: path.read_bytes() for path in (device, result, reference, results / "a.json")}
        for done, words in ((run(self.deck(), "--device", device, "--json", device), "--json: found .*, which is also the device file"),
                            (run(self.deck(), "--predict", device, "--csv", device), "--csv: found .*, which is also a device file"),
                            (run(judged, "--reference", reference, "--json", reference), "--json: found .*, which is also a reference"),
                            (run("baseline", result, "-o", result), "-o: found .*, which is also an input"),
                            (run("baseline", results, "-o", results / "a.json"), "-o: found .*, which is also an input"),
                            (run("compare", result, results, "--json", results / "a.json"), "--json: found .*, which is also an input")):
            self.assert_error(done, 3, words + ".*; allowed: one file for each")
        self.assertEqual({path: path.read_bytes() for path in before}, before)

    def test_quiet_comparisons_print_the_result_line_alone(self):
        result = self.folder / "result.json"
        self.assert_clean(run(self.deck(), "--json", result))
        done = run("compare", "--quiet", result, result)
        self.assertEqual((done.stdout, done.stderr), ("OVERLAP_RESULT verdict=PASS data=OK exit=0\n", ""))
        result.write_text(json.dumps(steady(json.loads(result.read_text()))))
        done = run("baseline", "--quiet", result, "-o", self.folder / "reference.yaml")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))
        for words in (("compare", result, result, "--json"), ("baseline", result, "-o"), ("merge", result, "--junit")):
            self.assert_error(run(*words, self.folder / "{host}.json"), 3, "found {host} in a file name; allowed: no words")

    def test_the_limit_on_files_is_an_error_like_others(self):
        """SIGXFSZ would end the program and leave what it has of the file."""
        limited = ["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', MINIAPP, self.deck(), "--json", self.target]
        done = subprocess.run(list(map(str, limited)), capture_output=True, text=True, timeout=60)
        self.assert_error(done, 1, "out.json: cannot write: File too large")
        self.assertEqual(self.files(), ["small.yaml"])

    def test_a_full_disk_is_found_before_anything_runs(self):
        namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
        if subprocess.run([*namespace, "true"], capture_output=True).returncode:
            self.skipTest("mounts are not allowed")
        full = f'mount -t tmpfs -o size=64k full {self.folder}/full; cat /dev/zero >{self.folder}/full/a 2>&-; exec "$0" "$@"'
        (self.folder / "full").mkdir()
        for option in ("--json", "--csv", "--report"):
            words = [*namespace, "sh", "-c", full, MINIAPP, self.deck(), option, self.folder / "full/out"]
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
            self.assert_error(done, 1, "full/out: cannot write: No space left")
            self.assertTrue(NOT_BEGUN.fullmatch(done.stdout), done.stdout)

    def test_a_file_that_cannot_be_written_is_the_verdict(self):
        done = run(self.deck(), "--quiet", "--json", "/dev/full")
        self.assert_error(done, 1, "/dev/full: cannot write")
        self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=ERROR data=OK exit=1\n"), done.stdout)

    def test_the_files_that_can_be_written_say_which_cannot(self):
        for broken, message in (("/dev/full", "No space left"), (self.folder / "missing/a.csv", "No such file")):
            for first in (("--json", self.target, "--csv", broken), ("--csv", broken, "--json", self.target)):
                self.target.write_text("of the night before")
                junit = self.folder / "a.xml"
                done = run(self.deck(), "--junit", junit, *first)
                self.assert_error(done, 1, f"{broken}: cannot write: {message}")
                self.assertEqual(done.stderr.count("cannot write"), 1)
                result = json.loads(self.target.read_text())
                self.assertEqual((result["verdict"], result["exit_code"]), ("ERROR", 1))
                self.assertIn(f"{broken}: cannot write: {message}", result["error"])
                self.assertIn('<error type="ERROR">', junit.read_text())
                self.assertIn(message, junit.read_text())

    def test_what_hinders_the_runs_is_the_error_of_every_deck(self):
        decks = self.deck(), self.deck(SMALL.replace("65536", "4096"), "other.yaml")
        done = run(*decks, "--json", self.target, "--csv", self.folder / "missing/a.csv")
        self.assertEqual((done.returncode, done.stderr.count("cannot write: No such file")), (1, 2))
        for deck, result in zip(decks, json.loads(self.target.read_text())["results"], strict=True):
            self.assertEqual((result["deck"]["path"], result["exit_code"]), (str(deck), 1))
            self.assertIn("missing/a.csv: cannot write", result["error"])

    def test_a_sweep_that_cannot_run_writes_its_other_files(self):
        missing = self.folder / "missing/a.json"
        files = [self.folder / name for name in ("a.csv", "a.xml", "a.html", "b.html")]
        for more in ((), ("--predict", "h200")):
            done = run(self.deck(), "--set=sweep.chunks.count=[1, 2, 4]", "--json", missing, "--csv", files[0],
                       "--junit", files[1], "--timeline", files[2], "--report", files[3], *more)
            self.assert_error(done, 1, f"{missing}: cannot write: No such file")
            self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=ERROR data=NONE exit=1\n"), done.stdout)
            self.assertEqual(done.stdout.count("3 points"), 1)
            self.assertEqual(files[0].read_text().count("\n"), 1)
            self.assertEqual(files[1].read_text().count("<testcase"), 3)
            for page in files[2:]:
                self.assertTrue(page.read_text().rstrip().endswith("</html>"))
            self.assertNotIn("median times", done.stdout)
            for file in files:
                file.unlink()

    def test_files_of_commands_do_not_wait_for_each_other(self):
        self.assert_clean(run(self.deck(), "--quiet", "--json", self.target))
        page, report = self.folder / "page.html", self.folder / "suite.xml"
        done = run("merge", self.target, "--json", "/dev/full", "--junit", report, "--report", page)
        self.assert_error(done, 1, "/dev/full: cannot write: No space left")
        self.assertIn("/dev/full: cannot write: No space left", done.stdout)
        self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=ERROR data=OK exit=1\n"), done.stdout)
        self.assertIn("/dev/full: cannot write", report.read_text())
        self.assertIn("/dev/full: cannot write", page.read_text())
        page.unlink()
        done = run("compare", self.target, self.target, "--json", "/dev/full", "--report", page)
        self.assert_error(done, 1, "/dev/full: cannot write: No space left")
        self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=ERROR data=OK exit=1\n"), done.stdout)
        self.assertTrue(page.exists())
        wrong = self.folder / "wrong.json"
        limit = "--set=acceptance=[{metric: max_error, max: 0}]"
        self.assertEqual(run(self.deck(), limit, "--quiet", "--json", wrong).returncode, 2)
        done = run("compare", wrong, wrong, "--quiet", "--json", "/dev/full")
        self.assert_error(done, 2, "/dev/full: cannot write: No space left")
        self.assertEqual(done.stdout, "OVERLAP_RESULT verdict=FAIL data=WRONG exit=2\n")

    def test_errors_have_a_result_line_too(self):
        for words in (("merge", self.folder / "none.json"), ("compare", self.folder / "none.json", self.target)):
            done = run(*words)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=ERROR data=NONE exit=1\n"), done.stdout)

    def test_standard_output_is_a_dash(self):
        done = run(self.deck(), "--quiet", "--json", "-")
        self.assert_clean(done)
        result, end = json.JSONDecoder().raw_decode(done.stdout)
        self.assertEqual(result["verdict"], "PASS")
        self.assertTrue(done.stdout[end:].strip().startswith("OVERLAP_"))
        self.assertEqual(self.files(), ["small.yaml"])

    def test_to_a_named_pipe(self):
        pipe = self.folder / "out.json"
        os.mkfifo(pipe)
        process = start(self.deck(), "--quiet", "--json", pipe)
        with pipe.open() as reader:
            self.assertEqual(json.load(reader)["verdict"], "PASS")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_unknown_placeholders(self):
        for option in ("--json", "--calibrate", "--trace"):
            done = run(self.deck(), option, self.folder / "{hostname}.json")
            self.assert_error(done, 3, f"{option}: found {{hostname}} in a file name; allowed: .*{{host}}, {{rank}}, ")

    def assert_interrupted(self, path):
        result = json.loads(path.read_text())
        self.assert_valid(result)
        self.assertEqual((result["verdict"], result["exit_code"], result["error"]), ("INTERRUPTED", 130, None))
        self.assertEqual([run["samples_s"] for run in all_of(result, "runs") if run["samples_s"]], [])

    def test_an_interrupt_before_the_first_repetition_leaves_the_files(self):
        junit = self.folder / "out.xml"
        warming = ("--set=measure.warmup=1000000",)
        for number in (signal.SIGINT, signal.SIGTERM):
            for options, seconds in (((), 0), (warming, 0.4)):  # it starts; warms up
                with self.subTest(number.name, options=options, seconds=seconds):
                    self.target.write_text("old")
                    process = start(self.deck(ENDLESS), *options, "--json", self.target, "--junit", junit)
                    while not is_listening(process):
                        time.sleep(0.001)
                    time.sleep(seconds)
                    process.send_signal(number)
                    stdout, stderr = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, 130, stderr)
                    self.assertTrue(stdout.endswith("OVERLAP_RESULT verdict=INTERRUPTED data=NONE exit=130\n"), stdout)
                    self.assert_interrupted(self.target)
                    self.assertIn("INTERRUPTED", junit.read_text())
                    junit.unlink()

    def test_files_of_decks_that_did_not_begin_say_so(self):
        first, second, third = self.deck(name="a.yaml"), self.deck(ENDLESS, "b.yaml"), self.deck(name="c.yaml")
        for name in "abc":
            (self.folder / f"{name}.json").write_text("old")
        process = start(first, second, third, "--json", self.folder / "{deck}.json",
                        "--set=measure.warmup=1")
        seen = 0
        for line in process.stdout:
            seen += line.startswith("host memory")
            if seen == 2:
                break
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(json.loads((self.folder / "a.json").read_text())["verdict"], "PASS")
        self.assert_interrupted(self.folder / "c.json")

    def assert_unfinished(self, result):
        self.assert_valid(result)
        self.assertEqual((result["verdict"], result["exit_code"], result["error"]), ("ERROR", 1, "did not finish"))

    def test_settings_on_which_kokkos_aborts(self):
        """As `export KOKKOS_NUM_THREADS=$SLURM_CPUS_PER_TASK` outside of a job."""
        decks = (self.deck(), self.deck(name="other.yaml"))
        each, table = self.folder / "{rank}-{deck}.json", self.folder / "out.csv"
        for bad in ({"KOKKOS_NUM_THREADS": ""}, {"KOKKOS_NUM_THREADS": "0"}, {"KOKKOS_NUM_THREADS": "abc"},
                    {"KOKKOS_DISABLE_WARNINGS": "banana"}, "--kokkos-num-threads=abc"):
            with self.subTest(bad):
                for file in (self.target, table):
                    file.write_text("old")
                words, env = ([bad], {}) if isinstance(bad, str) else ([], bad)
                done = run(*decks, *words, "--json", self.target, "--json", each, "--csv", table, env={**os.environ, **env})
                self.assertEqual((done.returncode, done.stdout), (1, "OVERLAP_RESULT verdict=ERROR data=NONE exit=1\n"))
                self.assertTrue(done.stderr.endswith("\nminiapp: error: a library ended the run, for the reason above\n"), done.stderr)
                for result in json.loads(self.target.read_text())["results"]:
                    self.assert_unfinished(result)
                for name in ("0-small.json", "0-other.json"):
                    self.assert_unfinished(json.loads((self.folder / name).read_text()))
                    (self.folder / name).unlink()
                self.assertEqual(table.read_text(), "old")
                shown = run("show", self.target)
                self.assertEqual((shown.returncode, shown.stderr.count("did not finish")), (1, 2), shown.stdout)
                self.assertIn("did not finish", run("merge", self.target).stdout)

    def in_the_second_deck(self, *options):
        """A process that runs the second of two decks."""
        process = start(self.deck(name="a.yaml"), self.deck(ENDLESS, "b.yaml"), *options)
        seen = 0
        for line in process.stdout:
            seen += line.startswith("host memory")
            if seen == 2:
                return process
        self.fail("it did not start")

    def test_the_end_of_the_second_deck_leaves_the_first(self):
        for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV):
            with self.subTest(number.name):
                names = [self.folder / name for name in ("{deck}.json", "{deck}.csv", "both.xml", "both.html")]
                process = self.in_the_second_deck("--json", names[0], "--csv", names[1], "--junit", names[2], "--report", names[3],
                                                  "--json", self.target, "--json", "/dev/null")
                process.send_signal(number)
                stdout, stderr = process.communicate(timeout=60)
                aborts = number == signal.SIGABRT
                self.assertEqual(process.returncode, 1 if aborts else -number)
                self.assertEqual(stdout.count("OVERLAP_RESULT verdict=ERROR data=NONE exit=1\n"), aborts)
                self.assertEqual(stderr, "miniapp: error: a library ended the run, for the reason above\n" if aborts else "")
                both = json.loads(self.target.read_text())["results"]
                first, second = (json.loads((self.folder / name).read_text()) for name in ("a.json", "b.json"))
                self.assertEqual([result["verdict"] for result in (first, both[0])], ["PASS"] * 2)
                self.assert_unfinished(second)
                self.assert_unfinished(both[1])
                self.assertEqual(len((self.folder / "a.csv").read_text().splitlines()), 4)
                self.assertIn("did not finish", (self.folder / "both.xml").read_text())
                page = (self.folder / "both.html").read_text()
                self.assertIn("<li>did not finish</li>", page)
                self.assertFalse((self.folder / "b.csv").exists())
                for path in self.folder.iterdir():
                    path.unlink()

    def test_a_sweep_is_written_after_each_point(self):
        sweep = self.deck(ENDLESS + "sweep: {measure.repetitions: [1, 2, 1000000]}\n")
        process = start(sweep, "--json", self.target, "--csv", self.folder / "out.csv")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            result = json.loads(self.target.read_text()) if self.target.exists() else {"points": []}
            if len(all_of(result, "runs")) == 6:
                break
            time.sleep(0.01)
        process.kill()
        process.communicate()
        self.assert_unfinished(result)
        self.assertEqual([point["outcome"] and point["outcome"]["exit_code"] for point in result["points"]], [0, 0, None])
        self.assertFalse((self.folder / "out.csv").exists())

    def test_what_ends_with_3_leaves_the_former_files(self):
        """Here when it turns out that there is an unfinished sweep."""
        table, other = self.folder / "out.csv", self.folder / "other.json"
        sweep = self.deck(ENDLESS + "sweep: {measure.repetitions: [1, 2, 1000000]}\n", "sweep.yaml")
        process = start(sweep, "--json", self.target)
        while not self.target.exists() or len(all_of(json.loads(self.target.read_text()), "runs")) < 6:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.kill()
        process.communicate()
        unfinished = self.target.read_text()
        table.write_text("old")
        done = run(sweep, "--json", self.target, "--csv", table, "--json", other)
        self.assert_error(done, 3, "found 2 of 3 points of an unfinished sweep; allowed: --resume")
        self.assertEqual((self.target.read_text(), table.read_text(), other.exists()), (unfinished, "old", False))

    def assert_file_then_lines(self, text):
        """What is written is written before the lines say that all is well."""
        result, end = json.JSONDecoder().raw_decode(text)
        self.assert_valid(result)
        self.assertTrue(text[end:].startswith("\nOVERLAP_FOM"), text[end:][:40])
        self.assertTrue(text.endswith("OVERLAP_RESULT verdict=PASS data=OK exit=0\n"))

    def test_to_a_pipe(self):
        done = run(self.deck(), "--quiet", "--json", "/dev/stdout")
        self.assert_clean(done)
        self.assert_file_then_lines(done.stdout)

    def test_to_a_standard_stream_that_is_a_file(self):
        for name in ("-", "/dev/stdout"):
            with self.target.open("w") as stdout:
                self.assert_clean(run(self.deck(), "--quiet", "--json", name, stdout=stdout))
            self.assert_file_then_lines(self.target.read_text())

    def test_several_decks(self):
        document = self.written(self.deck(SLOW, "slow.yaml"), self.deck(), code=5)
        self.assert_valid(document)
        self.assertEqual(list(document), ["results"])
        self.assertEqual([result["exit_code"] for result in document["results"]], [5, 0])
        self.assertEqual(
            [os.path.basename(result["deck"]["path"]) for result in document["results"]],
            ["slow.yaml", "small.yaml"],
        )

    def test_provenance(self):
        deck = self.deck()
        result = self.written(deck, "--set", "measure.repetitions=2")
        self.assertEqual(result["deck"]["sha256"], hashlib.sha256(deck.read_bytes()).hexdigest())
        self.assertEqual(result["deck"]["path"], str(deck))
        self.assertEqual(result["host"]["name"], os.uname().nodename)
        self.assertEqual(result["host"]["cores"], len(os.sched_getaffinity(0)))
        self.assertIn(result["build"]["version"], run("--version").stdout)
        self.assertEqual(result["deck"]["resolved"]["measure"]["repetitions"], 2)
        self.assertEqual(result["host"]["kernel"], os.uname().release)

    def test_the_job_is_that_of_the_launcher(self):
        """Variables of a launcher, and what the file has of them."""
        nothing = dict.fromkeys(("id", "step", "launch", "rank", "ranks"))
        slurm = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4"}
        pals = {"PALS_APID": "a1", "PALS_RANKID": "1", "PALS_LOCAL_RANKID": "1", "PMIX_RANK": "1"}
        openmpi = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "p1"}
        launchers = re.compile("SLURM|OMPI|PMI|PBS|LSB|PALS|FLUX|MV2|JSM")
        alone = {name: value for name, value in os.environ.items() if not launchers.match(name)}
        for variables, job in (
            ({}, None),
            (slurm, {"id": "77", "step": "0", "launch": "77/0/0", "rank": 3, "ranks": 4}),
            (slurm | {"SLURM_RESTART_COUNT": "2"}, {"id": "77", "step": "0", "launch": "77/2/0", "rank": 3, "ranks": 4}),
            (openmpi, nothing | {"launch": "-/0/p1", "rank": 1, "ranks": 2}),
            (slurm | openmpi, {"id": "77", "step": "0", "launch": "77/0/p1", "rank": 1, "ranks": 2}),
            ({"PMI_RANK": "5", "PMI_SIZE": "6"}, nothing | {"rank": 5, "ranks": 6}),
            (pals, nothing | {"launch": "-/0/a1", "rank": 1}),
            ({"FLUX_JOB_ID": "f1", "FLUX_TASK_RANK": "2", "FLUX_JOB_SIZE": "3"},
             nothing | {"id": "f1", "launch": "f1/0/f1", "rank": 2, "ranks": 3}),
        ):
            with self.subTest(**variables):
                own = self.folder / "{rank}.json"
                self.assert_clean(run(self.deck(), "--json", own, env=alone | variables))
                result = json.loads((self.folder / f"{(job or {}).get('rank') or 0}.json").read_text())
                self.assert_valid(result)
                self.assertEqual(result["job"], job)

    def test_text_from_outside_is_escaped(self):
        title = 'A "quoted" \\ title, µ and <b>'
        deck = self.deck(SMALL.replace("Small increment", f"'{title}'"), 'my "deck"=1.yaml')
        done = run(deck, "--json", self.target)
        self.assert_clean(done)
        result = json.loads(self.target.read_text())
        self.assert_valid(result)
        self.assertEqual(result["title"], title)
        self.assertEqual(result["deck"]["path"], str(deck))
        self.assertTrue(done.stdout.startswith(title + "\n"))
        for line in done.stdout.splitlines():
            if line.startswith("OVERLAP_FOM"):
                self.assertRegex(line, FOM)

    def test_unverified_data_are_null(self):
        """A run without a baseline has no speed-up; nothing else is null that was measured."""
        result = self.written(self.deck(), "--set", "issue.orders=[depth_first]")
        self.assert_valid(result)
        self.assertIsNone(all_of(result, "runs")[0]["speedup"])
        self.assertIsNotNone(all_of(result, "runs")[0]["max_error"])

    def test_choices_are_written(self):
        deck = self.deck("workload: {kind: rowsum, rows: 1000}\nmeasure: {repetitions: 2}\n")
        self.assertIn(self.written(deck)["points"][0]["choices"]["kernel"], ("thread_per_row", "team_per_row"))

    def test_samples_are_in_the_order_of_time(self):
        result = self.written(self.deck(), "--set", "measure.repetitions=11")
        for measured in all_of(result, "runs"):
            samples = sorted(measured["samples_s"])
            self.assertEqual(len(samples), 11)
            summary = measured["time_s"]
            self.assertEqual(summary["median"], samples[5])
            # 95 % by order statistics: of 11 samples the second and the tenth.
            self.assertEqual((summary["lo"], summary["hi"]), (samples[1], samples[9]))


def replace(node, change):
    """Puts new values at keys of a map or at places of a list."""
    for key, value in change.items():
        node[key] = value


class Cores(TestCase):
    """An order that lacks cores is not to blame if it does not overlap."""

    DECK = """\
title: Two lanes
workload: {kind: increment, elements: 1 Mi, intensity: 8}
chunks: {count: 8}
issue: {orders: [sequential, depth_first], lanes: 2}
measure: {warmup: 1, repetitions: 5}
acceptance: [{metric: speedup, order: depth_first, min: 1.9}]
"""

    def measured(self, cpus):
        """The result on these cores, and the causes found of the order that overlaps."""
        done = run(self.deck(self.DECK), "--json", self.folder / "a.json",
                   preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.assert_clean(done, 6)
        self.result = json.loads((self.folder / "a.json").read_text())
        self.assertEqual(problems(self.result), [])
        self.assertEqual(self.result["host"]["cores"], len(cpus))
        self.found = [finding for finding in all_of(self.result, "findings") if finding["order"] == "depth_first"]
        return done, [finding["cause"] for finding in self.found]

    def test_fewer_than_lanes(self):
        done, causes = self.measured({min(os.sched_getaffinity(0))})
        self.assertEqual([cause for cause in causes if cause != "busy_cores"][0], "few_cores", causes)
        few = next(finding for finding in self.found if finding["cause"] == "few_cores")
        self.assertRegex(few["text"], "^few cores: [0-9.]+ cores? for 2 workers; ")
        self.assertRegex(all_of(self.result, "checks")[0]["reason"], "^(few|busy) cores: ")
        self.assertRegex(done.stdout, "inconclusive: (few|busy) cores: ")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two processors")
    def test_that_others_use(self):
        cpus = sorted(os.sched_getaffinity(0))[:2]
        for _ in range(2):  # more than half of one core is theirs
            burner = subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                      preexec_fn=lambda: os.sched_setaffinity(0, cpus[1:]))
            self.addCleanup(burner.wait)
            self.addCleanup(burner.kill)
        done, causes = self.measured(set(cpus))
        self.assertEqual(causes[0], "busy_cores", causes)
        self.assertRegex(self.found[0]["text"], r"^busy cores: the workers got [01]\.\d of 2 cores")
        self.assertLess(self.found[0]["evidence"]["got"], 1.8)
        self.assertIn("inconclusive: busy cores: ", done.stdout)
        self.assertRegex(done.stdout, "the machine was not steady: busy_cores")


class Schema(TestCase):
    """The schema must see what is wrong, or its approval means nothing."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory(prefix="overlap-") as folder:
            deck, target = pathlib.Path(folder, "small.yaml"), pathlib.Path(folder, "out.json")
            deck.write_text(SMALL + "memory: {device_limit: 1 MiB}\n")
            criterion = "{metric: time, order: depth_first, max: 9 s}"
            # Everything that can be none is something.
            box = ("--set=workload.box=[64, 1024]", "--set=workload.pitch=8192")
            done = run(deck, *box, f"--set=acceptance=[{criterion}]", "--json", target)
            cls.result = cls.first(json.loads(target.read_text())) if done.returncode == 0 else None

    @classmethod
    def first(cls, node):
        """The result with the first object of each list, for which the schema has one row."""
        if isinstance(node, dict):
            return {key: cls.first(value) for key, value in node.items()}
        return [cls.first(item) for item in node[:1]] if isinstance(node, list) and node and isinstance(node[0], dict) else node

    def mutated(self, path, change):
        result = copy.deepcopy(self.result)
        node = result
        for key in path:
            node = node[key]
        change(node)
        return result

    def nodes(self, node, path=()):
        yield path, node
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items if isinstance(node, (dict, list)) else ():
            if isinstance(value, (dict, list)):
                yield from self.nodes(value, (*path, key))

    def assert_rejected(self, path, change, why):
        self.assertNotEqual(problems(self.mutated(path, change)), [], f"{path}: {why}")

    def test_accepts_the_original(self):
        self.assert_valid(self.result)
        self.assert_valid({"results": [self.result, self.result]})

    def test_rejects_a_missing_key(self):
        tried = 0
        for path, node in self.nodes(self.result):
            if not isinstance(node, dict):
                continue
            for key in node:
                if (key == "order" and "acceptance" in path) or path[-1:] in (("choices",), ("evidence",), ("inputs",), ("text",)):
                    continue
                self.assert_rejected(path, lambda n, k=key: n.pop(k), f"without {key}")
                tried += 1
        self.assertGreater(tried, 100)

    def test_takes_fields_of_later_programs(self):
        """Fields may be added within a version: only the deck's keys are all known."""
        for path, node in self.nodes(self.result):
            if isinstance(node, dict) and "resolved" not in path and path[-1:] not in (("choices",), ("inputs",), ("text",)):
                self.assert_valid(self.mutated(path, lambda n: n.update(surprise=1)))
        resolved = ("deck", "resolved", "issue")
        self.assert_rejected(resolved, lambda n: n.update(surprise=1), "with an unknown key")

    def test_rejects_values_of_another_type(self):
        tried = 0
        for path, node in self.nodes(self.result):
            if path[-1:] == ("evidence",):
                continue  # its names are free
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                if isinstance(value, (str, list, dict)):
                    wrong = -5  # where `none` stands a number may be right
                elif isinstance(value, bool) or value is None:
                    wrong = {"no": 1}
                else:
                    wrong = str(value)
                change = {key: wrong}
                self.assert_rejected(path, lambda n, c=change: replace(n, c), str(change))
                tried += 1
        self.assertGreater(tried, 100)

    def test_rejects_values_out_of_range(self):
        for path, key, value in (
            ((), "schema", "overlap-result/1"),
            ((), "exit_code", 3),
            ((), "verdict", "pass"),
            (("deck",), "sha256", "0"),
            (("host",), "cores", 0),
            (("points", 0, "runs", 0), "lanes", 0),
            (("points", 0, "runs", 0), "tasks", 1.5),
            (("points", 0, "runs", 0), "samples_s", [0.1, 0]),
            (("points", 0, "runs", 0), "samples_s", [-0.1]),
            (("points", 0, "runs", 0), "samples_s", None),
            (("points", 0, "runs", 0), "throughput", 0),
            (("points", 0), "phase", "apart"),
            (("points", 0, "runs", 0), "verified", None),
            (("points", 0, "runs", 0), "order", "Sequential order"),
            (("points", 0, "runs", 0, "time_s"), "median", None),
            (("points", 0, "checks", 0), "verdict", "WRONG"),
            (("points", 0, "checks", 0), "limit", -1),
            (("deck", "resolved", "issue"), "orders", []),
            (("deck", "resolved", "chunks"), "bytes", 4096),
            (("deck", "resolved", "memory"), "device_limit", "some"),
            (("deck", "resolved", "workload"), "intensity", "much"),
        ):
            change = {key: value}
            self.assert_rejected(path, lambda n, c=change: replace(n, c), str(change))

    def test_rejects_several_decks_in_another_shape(self):
        for document in ([], [self.result], {"results": []}, {"results": [{}]}, {}, None):
            self.assertNotEqual(problems(document), [], document)

    def test_takes_what_later_versions_measure(self):
        entry = dict(task=0, name=None, stage="h2d", chunk=0, lane=0, engine="h2d", start_s=0.0, stop_s=1e-4,
                     bytes=4096, array="x", after=[], blocking=False)
        measured = {
            "bound_s": 0.1,
            "schedule_bound_s": 0.11,
            "overlap_efficiency": dict(median=-0.2, min=-0.3, max=0.1, lo=-0.3, hi=0.1, n=3),
            "trace": {"source": "a clock", "perturbation": -0.01, "doubtful": False},
            "timeline": [entry, entry],
        }
        predicted = {
            "device": "NVIDIA H200",
            "samples_s": [],
            "issue_s": None,
            "graph": None,
            "time_s": None,
            "speedup": None,
            "throughput": None,
            "predicted_s": 0.1,
            "max_error": None,
            "verified": False,
            "predicted_timeline": [entry],
        }
        for change in (measured, predicted):
            result = self.mutated(("points", 0, "runs", 0), lambda n, c=change: replace(n, c))
            self.assert_valid(result)
        for change in ({"start_s": -1}, {"engine": 1}, {"lane": None}, {"stage": "copy"}):
            bad = {"timeline": [{**entry, **change}]}
            self.assert_rejected(("points", 0, "runs", 0), lambda n, b=bad: replace(n, b), str(change))

    def test_takes_a_device(self):
        """A device of which nothing but its name can be read."""
        known = next(kind for kind in SCHEMA["$defs"]["result"]["properties"]["device"]["anyOf"] if "properties" in kind)["properties"]
        device = {**dict.fromkeys(known), "name": "NVIDIA H200"}
        self.assert_valid(self.mutated((), lambda n: replace(n, {"device": device})))
        reading = dict.fromkeys(("pcie_gen", "pcie_width", "replays", "remapped_rows", "temperature_c", "power_w",
                                 "sm_clock_mhz", "memory_clock_mhz", "throttle_reasons"))
        reading["ecc"] = {"corrected": 0, "uncorrected": None}
        health = {"before": reading, "after": {**reading, "throttle_reasons": ["idle", "sw_thermal"]},
                  "throttled": None, "pcie_replays": None, "ecc_errors": None, "throttled_s": None}
        self.assert_valid(self.mutated(("points", 0), lambda n: replace(n, {"health": health})))
        for bad in ({"after": None}, {"throttled": {}}, {"before": {**reading, "throttle_reasons": ["hot"]}}):
            self.assert_rejected(("points", 0), lambda n, b=bad: replace(n, {"health": {**health, **b}}), str(bad))
        device.pop("name")
        self.assert_rejected((), lambda n: replace(n, {"device": device}), "without a name")


class ResultLines(TestCase):
    def test_figures_of_merit_exactly(self):
        done = run(self.deck(), "--quiet", "--device=host")
        self.assert_clean(done)
        lines = done.stdout.splitlines()
        metrics = ("predicted_time", "time", "throughput", "speedup", "max_error", "overlap_efficiency",
                   "bound_fraction", "schedule_bound_fraction")
        orders = ("sequential", "depth_first", "by_engine")
        expected = [("small", order, metric) for order in orders for metric in metrics]
        expected.remove(("small", "sequential", "overlap_efficiency"))
        found = [FOM.fullmatch(line) for line in lines[: len(expected)]]
        self.assertTrue(all(found), lines)
        self.assertEqual([(m["deck"], m["order"], m["metric"]) for m in found], expected)
        units = dict(zip(metrics, ("s", "s", "GB/s", "1", "1", "1", "1", "1")))
        samples = dict(zip(metrics, "03331333"))
        for match in found:
            self.assertEqual(match["unit"], units[match["metric"]])
            self.assertEqual(match["n"], samples[match["metric"]])
            if match["metric"] == "predicted_time":
                self.assertEqual((match["lo"], match["hi"]), ("nan", "nan"))
                continue
            self.assertLessEqual(float(match["lo"]), float(match["value"]))
            self.assertLessEqual(float(match["value"]), float(match["hi"]))

    def test_one_result_line_and_it_is_the_last(self):
        done = run(self.deck(), self.deck(name="again.yaml"), "--quiet")
        self.assert_clean(done)
        lines = done.stdout.splitlines()
        places = [i for i, line in enumerate(lines) if line.startswith("OVERLAP_RESULT ")]
        self.assertEqual(places, [len(lines) - 1])
        decks = [line["deck"] for line in records(done.stdout)["OVERLAP_FOM"]]
        self.assertEqual(decks, ["small"] * 20 + ["again"] * 20)

    def test_a_file_name_cannot_break_a_line(self):
        done = run(self.deck(name="my deck=1.yaml"), "--quiet")
        self.assert_clean(done)
        for line in done.stdout.splitlines():
            if line.startswith("OVERLAP_FOM"):
                self.assertEqual(FOM.fullmatch(line)["deck"], "my_deck_1")

    def test_output_that_nobody_reads_costs_no_result(self):
        process = subprocess.Popen([MINIAPP, self.deck(), "--json", self.folder / "out.json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.close()
        self.assertIn("standard output: cannot write", process.stderr.read())
        process.stderr.close()
        self.assertEqual(process.wait(60), 1)
        self.assertEqual(json.loads((self.folder / "out.json").read_text())["verdict"], "PASS")

    def test_lost_output_is_an_error(self):
        with open("/dev/full", "w") as full:
            self.assert_error(run(self.deck(), stdout=full), 1, "cannot write")


class NastyText(TestCase):
    """Titles and file names of any bytes: what is printed and written is safe."""

    NAME = b"na\xffsty\nOVERLAP_RESULT verdict=PASS\x1b[31m\xc2\x85.yaml"

    def nasty(self, name=NAME):
        return os.fsencode(self.folder) + b"/" + name

    def run_raw(self, *arguments):
        done = subprocess.run([MINIAPP, *arguments], capture_output=True, timeout=300)
        for stream in (done.stdout, done.stderr):
            text = stream.decode("utf-8")  # fails unless it is valid
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")
        return done

    def assert_one_error(self, code, *arguments):
        done = self.run_raw(*arguments)
        self.assertRegex(done.stderr.decode(), r"\Aminiapp: error: [^\n]+\n\Z")
        self.assertEqual(done.returncode, code, done.stderr)
        out = done.stdout.decode()
        self.assertTrue(out == "" or NOT_BEGUN.fullmatch(out), out)

    def written(self, suffix):
        return self.nasty(b"out\xff\n" + suffix)

    def test_in_every_output(self):
        deck = self.nasty()
        title = "OVERLAP_RESULT verdict=PASS data=OK exit=0"
        with open(deck, "w", encoding="utf-8") as file:
            file.write(SMALL.replace("Small increment", title))
        outputs = {"--json": [b".json"], "--csv": [b".csv"], "--junit": [b".xml"], "--timeline": [b".svg", b".html"],
                   "--trace": [b".trace.json"]}
        words = [word for option, suffixes in outputs.items() for suffix in suffixes for word in (option, self.written(suffix))]
        done = self.run_raw(deck, *words)
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        results = [line for line in done.stdout.decode().split("\n") if line.startswith("OVERLAP_RESULT")]
        self.assertEqual(len(results), 1, results)
        self.assertRegex(done.stdout.decode().split("\n")[-2], r"\AOVERLAP_RESULT verdict=PASS data=OK exit=0\Z")
        for suffixes in outputs.values():
            for suffix in suffixes:
                with open(self.written(suffix), "rb") as file:
                    text = file.read().decode("utf-8")
                self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
        for suffix in (b".json", b".trace.json"):
            json.loads(pathlib.Path(os.fsdecode(self.written(suffix))).read_text())
        for suffix in (b".xml", b".svg"):
            xml.etree.ElementTree.parse(os.fsdecode(self.written(suffix)))
        with open(self.written(b".csv"), newline="", encoding="utf-8") as file:
            self.assertEqual(len(list(csv.reader(file, strict=True))), 4)
        result = pathlib.Path(os.fsdecode(self.written(b".json")))
        result.write_text(json.dumps(steady(json.loads(result.read_text()))))
        for words in (["merge", self.written(b".json")], ["compare", self.written(b".json"), self.written(b".json")],
                      ["compare", "--side-by-side", self.written(b".json"), self.written(b".json")],
                      ["baseline", self.written(b".json"), "-o", self.written(b".yaml")]):
            with self.subTest(command=words[0]):
                done = self.run_raw(*words)
                self.assertEqual(done.stderr, b"")
                lines = [line for line in done.stdout.split(b"\n") if line.startswith(b"OVERLAP_RESULT")]
                self.assertEqual(len(lines), 0 if words[0] == "baseline" else 1)

    def test_in_errors(self):
        good = os.fsencode(self.deck())
        deck = self.nasty()
        for code, words in (
            (3, [deck]),
            (3, [self.NAME[:-5]]),
            (1, [good, "--json", deck + b"/no/folder.json"]),
            (3, [good, b"--" + self.NAME]),
            (3, [good, "--timeline", deck]),
            (3, [good, "--set", self.NAME]),
            (3, [good, "--set", b"chunks.count=" + self.NAME]),
            (3, [good, "--predict", deck]),
            (3, [good, "--reference", deck]),
            (1, ["compare", deck, deck]),
            (3, ["compare", good, good, "--below", self.NAME]),
        ):
            with self.subTest(words=words):
                self.assert_one_error(code, *words)
        self.assertEqual(self.run_raw("merge", deck).returncode, 1)
        with open(deck, "w", encoding="utf-8") as file:  # too many chunks, which the data's units tell
            file.write(SMALL.replace("count: 4", "count: 100000"))
        self.assert_one_error(3, deck)
        self.assertEqual(self.run_raw(deck).stderr.count(b"verdict=PASS"), 1)



if __name__ == "__main__":
    unittest.main()
