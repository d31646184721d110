#!/usr/bin/env python3
"""merge names what was planted among many result files, and nothing else.

MERGE_FILES: how many (default 1000). With 10000 the limits hold: 10 s on two processors, 500 MB.
"""

import json
import os
import re
import resource
import shutil
import time
import unittest
import xml.etree.ElementTree as ElementTree

import jsonschema
from planted import DRIVERS, plant, scaled, steady
from program import MINIAPP, SCHEMAS, SMALL, SOURCE, TestCase, all_of, records, run

FILES = int(os.environ.get("MERGE_FILES", "1000"))
SCHEMA = json.loads((SCHEMAS / "overlap-fleet-1.schema.json").read_text())
BYTES = 500e6
SECONDS = 10 * 2  # of processor time
SANITIZED = any(name in open(MINIAPP, "rb").read().decode("latin-1") for name in ("__asan_init", "__tsan_init"))


def grows_linearly(costs):
    """Whether a file costs about the same among many: seconds per file by their number."""
    return max(costs.values()) < 2 * costs[min(costs)] + 1e-4


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Merge(TestCase):
    def setUp(self):
        super().setUp()
        result = self.folder / "real.json"
        self.assert_clean(run(self.deck(), "--json", result))
        self.result = steady(json.loads(result.read_text()))
        self.results = self.folder / "results"

    def plant(self, files):
        planted = plant(self.result, self.results, files)
        self.hosts = self.folder / "hosts.txt"
        self.hosts.write_text("# of the machine\n" + "\n".join(planted["hosts"]) + "\n")
        return planted

    def write(self, name, **changes):
        """The real result with dotted keys changed."""
        result = json.loads(json.dumps(self.result))
        for key, value in changes.items():
            *path, last = key.split("__")
            part = result
            for step in path:
                part = part[step]
            part[last] = value
        self.results.mkdir(exist_ok=True)
        (self.results / name).write_text(json.dumps(result))
        return self.results / name

    def scaled(self, factor):
        """The points of a device that takes so many times as long."""
        points = json.loads(json.dumps(self.result["points"]))
        for point in points:
            point["runs"] = [scaled(run, factor) for run in point["runs"]]
        return points

    def points(self, **changes):
        """The points of the real result with keys changed."""
        return [point | changes for point in self.result["points"]]

    def test_names_exactly_what_was_planted(self):
        planted = self.plant(FILES)
        names = {option: self.folder / f"fleet.{option}" for option in ("json", "junit", "report")}
        before, start = used(), time.monotonic()
        done = run("merge", self.results, "--expect", self.hosts, *(f"--{name}={file}" for name, file in names.items()))
        seconds, processor_s = time.monotonic() - start, used() - before
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f"\n{FILES} files: {seconds:.2f} s, {processor_s:.2f} s of processors, {peak / 1e6:.0f} MB, "
              f"{FILES / seconds:.0f} files/s")
        if not SANITIZED:
            self.assertLess(peak, BYTES)
            if FILES <= 10000 and "MERGE_FILES" in os.environ:
                self.assertLess(processor_s, SECONDS)
        self.assert_clean(done, 2)
        self.check_lines(planted, records(done.stdout))
        for name in (*planted["missing"], *planted["truncated"]):
            self.assertRegex(done.stdout, rf"(?m)^\S*{name}\b")
        self.check_json(planted, json.loads(names["json"].read_text()))
        self.check_junit(planted, ElementTree.parse(names["junit"]).getroot())

    def check_lines(self, planted, lines):
        failing = {line["uuid"] for line in lines["OVERLAP_DEVICE"] if line["verdict"] != "PASS"}
        self.assertEqual(failing, planted["slow"] | planted["wrong"])
        self.assertEqual(len(lines["OVERLAP_DEVICE"]), 2 * (FILES - len(planted["truncated"])))
        slowest = [line for line in lines["OVERLAP_SLOWEST"] if line["metric"] != "contention"]  # 1.6 for all
        self.assertEqual({(line["metric"], line["phase"]) for line in slowest},
                         {("throughput", "alone"), ("throughput", "together")})
        for line in slowest:
            self.assertIn(line["uuid"], planted["slow"])
            self.assertAlmostEqual(float(line["value"]) / float(line["median"]), 0.7, delta=0.01)
        self.assertEqual(lines["OVERLAP_RESULT"], [{"verdict": "FAIL", "data": "WRONG", "exit": "2"}])

    def check_json(self, planted, fleet):
        verdicts = {device["uuid"]: device["exit_code"] for device in fleet["devices"]}
        self.assertEqual({uuid for uuid, code in verdicts.items() if code == 5}, planted["slow"])
        self.assertEqual({uuid for uuid, code in verdicts.items() if code == 2}, planted["wrong"])
        self.assertEqual(set(verdicts.values()), {0, 2, 5})
        self.assertEqual({missing["host"] for missing in fleet["missing"]}, set(planted["missing"]))
        self.assertEqual({os.path.basename(file["file"]) for file in fleet["broken_files"]}, planted["truncated"])
        [group] = fleet["groups"]
        drivers = {device["uuid"]: device["driver"] for device in fleet["devices"]}
        self.assertEqual({uuid for uuid, driver in drivers.items() if driver == DRIVERS[1]}, planted["driver"])
        for of in group["distributions"]:
            self.assertEqual({one["uuid"] for one in of["outliers"]}, planted["slow"] if of["metric"] == "throughput" else set())
        self.assertEqual(len(group["nodes"]), len(all_of(self.result, "runs")) * (len(planted["hosts"]) - len(planted["missing"])))
        fleet["devices"] = [device for device in fleet["devices"] if device["exit_code"]] + fleet["devices"][:3]
        jsonschema.Draft202012Validator(SCHEMA).validate(fleet)

    def check_junit(self, planted, root):
        [suite] = root
        self.assertEqual(int(suite.get("tests")), FILES + len(planted["missing"]))
        failed = {test.get("classname").partition(".")[2] or test.get("classname") for test in suite.iter("testcase")
                  if test.find("failure") is not None}
        self.assertEqual(failed, planted["slow"] | planted["wrong"] | set(planted["missing"]))
        broken = {os.path.basename(test.get("name")) for test in suite.iter("testcase") if test.find("error") is not None}
        self.assertEqual(broken, planted["truncated"])

    def test_cost_grows_linearly(self):
        costs = {}
        for files in sorted({100, 1000, FILES}):
            self.results = self.folder / str(files)
            self.plant(files)
            least = None
            for _ in range(3 if files <= 1000 else 1):
                before = used()
                run("merge", self.results, "--quiet")
                least = min(filter(None, (least, used() - before)))
            costs[files] = least / files
        print("\n" + ", ".join(f"{files} files: {1e3 * cost:.2f} ms each" for files, cost in costs.items()))
        self.assertTrue(grows_linearly(costs), costs)
        self.assertFalse(grows_linearly({files: files * 1e-5 for files in costs}))  # a quadratic one

    def test_one_healthy_device_passes(self):
        done = run("merge", self.write("a.json"))
        self.assert_clean(done)
        name = self.result["host"]["name"]
        self.assertIn(f"OVERLAP_DEVICE host={name} uuid=- phase=alone verdict=PASS\n", done.stdout)
        self.assertEqual(run("merge", "--quiet", self.results).stdout,
                         "".join(line for line in done.stdout.splitlines(True) if line.startswith("OVERLAP_")))

    def test_hosts_are_compared_with_hosts_of_as_many_cores(self):
        slow = self.scaled(4)
        for number in range(8):
            self.write(f"{number}.json", host__name=f"n{number}", host__cores=16, host__cpu_quota=None)
        self.write("slow.json", host__name="slow", host__cores=16, host__cpu_quota=0.5, points=slow)
        done = run("merge", self.results)
        self.assert_clean(done)
        self.assertRegex(done.stdout, "8 devices on 8 hosts: .*, 16 cores, ")
        self.assertRegex(done.stdout, "1 device on 1 host: .*, 0.5 cores, ")
        self.write("slow.json", host__name="slow", host__cores=16, host__cpu_quota=None, points=slow)
        self.assert_clean(run("merge", self.results), 5)
        gpu = {"name": "GPU", "pcie_gen": 5, "pcie_width": 16}
        for number in range(8):
            self.write(f"{number}.json", host__name=f"n{number}", host__cores=16, host__cpu_quota=None, device=gpu)
        self.write("slow.json", host__name="slow", host__cores=1, host__cpu_quota=None, device=gpu, points=slow)
        self.assert_clean(run("merge", self.results), 5)

    def test_errors_and_interruptions_count(self):
        self.write("a.json", host__name="n1")
        self.write("b.json", host__name="n2", error="no GPU", exit_code=4, verdict="ERROR", points=self.points(runs=[], checks=[]))
        done = run("merge", self.results)
        self.assert_clean(done, 4)
        self.assertIn("OVERLAP_DEVICE host=n2 uuid=- phase=alone verdict=ERROR\n", done.stdout)
        self.write("c.json", host__name="n3", exit_code=130, verdict="INTERRUPTED",
                   points=self.points(outcome={"exit_code": 130, "reasons": [], "error": None, "interrupted": True}))
        self.assert_clean(run("merge", self.results), 130)

    def test_no_clock_decides(self):
        """Of several results of one device the worst counts, and all are named."""
        bad = {"error": "it broke", "exit_code": 1, "verdict": "ERROR"}
        for good_date, bad_date in (("2099-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
                                    ("2026-02-01T00:00:00Z", "1970-01-01T00:00:00Z")):
            for good, other in (("a.json", "b.json"), ("b.json", "a.json")):
                with self.subTest(good=good, of=good_date):
                    self.write(good, started=good_date)
                    self.write(other, started=bad_date, **bad)
                    done = run("merge", self.results, "--json", self.folder / "fleet.json")
                    self.assert_clean(done, 1)
                    self.assertIn("2 files: 1 device, 1 not passed, 1 device with several results", done.stdout)
                    self.assertRegex(done.stdout, rf"{good_date} +PASS +\S*/{good}\n")
                    self.assertRegex(done.stdout, rf"{bad_date} +ERROR +\S*/{other}\n")
                    [device] = json.loads((self.folder / "fleet.json").read_text())["devices"]
                    self.assertEqual([result["exit_code"] for result in device["results"]], [0, 1] if good < other else [1, 0])
                    self.assert_clean(run("merge", self.results / good))  # whoever wants one to count

    def attempts(self, *environments, text=SMALL):
        """Runs of rank 0 and 1 of 2, each with these variables of Slurm."""
        self.results.mkdir(exist_ok=True)
        for rank, environment in enumerate(environments):
            done = run(self.deck(text), "--quiet", "--json", self.results / "{rank}.json",
                       env={**os.environ, "SLURM_JOB_ID": "77", "SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "2",
                            "SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "1(x2)", "SLURM_STEP_ID": "0", **environment})
            self.assert_clean(done)
            environment["launch"] = json.loads((self.results / f"{rank}.json").read_text())["job"]["launch"]

    def test_launches_do_not_complete_each_other(self):
        """Real processes: a job that was requeued keeps its id, and so do the steps of one allocation."""
        pmix = {"PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.77.0"}
        for first, second in (({}, {"SLURM_RESTART_COUNT": "1"}),
                              ({}, {"SLURM_STEP_ID": "1"}),
                              (pmix, {**pmix, "PMIX_RANK": "1", "SLURM_RESTART_COUNT": "1"})):
            with self.subTest(second):
                first = dict(first)
                self.attempts(first, second)
                self.assertNotEqual(first["launch"], second["launch"])
                done = run("merge", self.results)
                self.assert_clean(done, 5)
                for rank, launch in ((1, first["launch"]), (0, second["launch"])):
                    self.assertIn(f"unknown host: 1 of 2 devices of launch {launch} without a result: rank {rank}\n", done.stdout)
        for both in ({}, {"SLURM_RESTART_COUNT": "1"}):
            self.attempts(dict(both), dict(both))
            done = run("merge", self.results)
            self.assertIn(done.returncode, (0, 6))  # two runs on a busy machine may differ by more than 25 %
            self.assertNotIn("without a result", done.stdout)

    def test_ranks_that_do_not_fit_are_inconclusive(self):
        self.attempts({}, {})
        again = json.loads((self.results / "0.json").read_text())
        again["device"] = {"name": "GPU", "uuid": "GPU-1"}
        (self.results / "again.json").write_text(json.dumps(again))
        done = run("merge", self.results)
        self.assert_clean(done, 6)
        self.assertRegex(done.stdout, r"INCONCLUSIVE +launch 77/0/0: found rank 0 in \S+/0\.json and in \S+/again\.json")
        (self.results / "again.json").unlink()
        for rank in (0, 1):  # of a launcher that says nothing that tells two launches apart
            self.assert_clean(run(self.deck(), "--quiet", "--json", self.results / "{rank}.json",
                                  env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": "2"}))
        done = run("merge", self.results)
        self.assert_clean(done, 6)
        self.assertRegex(done.stdout, "INCONCLUSIVE +unknown launch: ")

    def test_nodes_with_one_name(self):
        """Two results of `localhost` without UUID are those of one device, unless one launch has two such nodes."""
        bad = {"error": "it broke", "exit_code": 1, "verdict": "ERROR"}
        self.write("0.json", host__name="localhost", **bad)
        self.write("1.json", host__name="localhost")
        self.assert_clean(run("merge", self.results), 1)
        for rank, boot_id in enumerate(("one", "two")):
            self.write(f"{rank}.json", host__name="localhost", host__boot_id=boot_id,
                       device={"name": "GPU", "uuid": None, "pci": "0000:01:00.0"},
                       job={"id": "77", "step": "0", "launch": "77/0/0", "rank": rank, "ranks": 2}, **(bad if rank == 0 else {}))
        done = run("merge", self.results)
        self.assert_clean(done, 1)
        self.assertIn("2 files: 2 devices, 1 not passed\n", done.stdout)
        self.assertIn("OVERLAP_DEVICE host=localhost#2 uuid=0000:01:00.0 phase=alone verdict=PASS\n", done.stdout)
        self.assertIn("localhost#2 is another node named localhost: their boot ids differ\n", done.stdout)
        self.assertTrue(self.result["host"]["boot_id"])

    def test_folders_are_read_with_their_subfolders(self):
        good = self.write("a.json")
        self.results /= "101"
        bad = self.write("b.json", host__name="n2", error="it broke", exit_code=1, verdict="ERROR", points=self.points(runs=[], checks=[]))
        self.results = self.results.parent
        for name in ("c.json.gz", "101/d.json.tmp", "101/e.json.unconfirmed"):
            (self.results / name).write_text("no result")
        left_out = (rf"skipped 3 files, no result: {self.results}/101/d\.json\.tmp, {self.results}/101/e\.json\.unconfirmed, "
                    rf"{self.results}/c\.json\.gz\n")
        done = run("merge", self.results)
        self.assert_clean(done, 1)
        self.assertIn("2 files: 2 devices, 1 not passed, 3 files skipped\n", done.stdout)
        self.assertRegex(done.stdout, left_out)
        self.assertIn("error: found 'it broke'", run("compare", self.results, good).stderr)
        bad.unlink()
        for command in (("compare", self.results, good), ("baseline", self.results, "-o", self.folder / "reference.yaml")):
            done = run(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, left_out)

    def test_a_broken_file_hides_no_bad_node(self):
        """5 outranks 1, both are named, and a file that is cut short with its host."""
        text = json.dumps(self.result)
        self.ranks("n1", 2)
        for name, length in (("n2-0.json", len(text) - 9), ("x.json", text.index('"cpu"')), ("n3.json", 5)):
            (self.results / name).write_text(text[:length])
        hosts = self.folder / "hosts"
        hosts.write_text("n1:3\nn3\n")
        done = run("merge", self.results, "--expect", hosts)
        self.assert_clean(done, 5)
        name = re.escape(self.result["host"]["name"])
        self.assertIn("n1: 1 of 3 devices without a result\n", done.stdout)
        for file, host in (("n2-0", rf" \(host {name}\)"), ("x", rf" \(host {name}\)"), ("n3", "")):
            self.assertRegex(done.stdout, rf"(?m)^\S+/{file}\.json:\S+ found no valid JSON; allowed: a result file{host}$")
        for file in ("n2-0", "x", "n3"):
            (self.results / f"{file}.json").unlink()
        self.assert_clean(run("merge", self.results), 0)

    def test_decks_of_one_name_are_told_apart(self):
        files = [self.folder / f"{count}.json" for count in (2, 4)]
        for count, file in zip((2, 4), files):
            self.assert_clean(run(self.deck(), f"--set=chunks.count={count}", "--quiet", "--json", file))
        done = run("merge", *files)
        decks = re.findall(r"deck=(small@[0-9a-f]{7})$", done.stdout, re.MULTILINE)
        self.assertEqual(len(set(decks)), 2, done.stdout)
        for deck in decks:
            self.assertIn(f", deck {deck}, program", done.stdout)

    def test_a_reference_decides(self):
        path = self.deck(SMALL[: SMALL.index("acceptance")].replace("repetitions: 3", "repetitions: 8") +
                         "acceptance: [{metric: throughput, order: by_engine, reference: given}]\n")
        one, reference = self.folder / "one.json", self.folder / "reference.yaml"
        self.assert_clean(run(path, "--json", one), 6)
        self.assert_clean(run("merge", one), 6)
        one.write_text(json.dumps(steady(json.loads(one.read_text()))))
        self.assert_clean(run("baseline", "-o", reference, one))
        self.assert_clean(run("merge", one, "--reference", reference))
        reference.write_text(reference.read_text().replace("value: ", "value: 9999"))
        done = run("merge", one, "--reference", reference)
        self.assert_clean(done, 5)
        self.assertRegex(done.stdout, "FAIL +throughput of by_engine, alone: .*reference.yaml")

    def at_speeds(self, *factors):
        """A result file per device, which takes so many times as long; merges them."""
        shutil.rmtree(self.results, ignore_errors=True)
        for number, factor in enumerate(factors, 1):
            self.write(f"node{number}.json", host__name=f"node{number}", points=self.scaled(factor))
        done = run("merge", self.results)
        verdicts = [line["verdict"] for line in records(done.stdout)["OVERLAP_DEVICE"]]
        self.assertEqual(done.stderr, "")
        return done.returncode, verdicts, done.stdout

    def test_a_lost_node_makes_no_night_greener(self):
        """One node at a quarter of the speed, and ever fewer healthy ones."""
        for healthy in range(9, 1, -1):
            code, verdicts, text = self.at_speeds(*(1 + 0.002 * i for i in range(healthy)), 4)
            self.assertEqual((code, verdicts), (5, healthy * ["PASS"] + ["FAIL"]), text)
            self.assertEqual("coarse limit 25 %" in text, healthy < 7)
            note = f"\n{healthy + 1} devices: outliers below 25 % are not judged; give --reference\n"
            self.assertEqual(note in text, healthy < 7)
        code, verdicts, text = self.at_speeds(1, 4)
        self.assertEqual((code, verdicts), (6, ["INCONCLUSIVE", "INCONCLUSIVE"]), text)
        self.assertIn("more than 25 % apart; too few to say which is right", text)
        self.assertEqual(self.at_speeds(1, 1.1, 1.2)[:2], (0, 3 * ["PASS"]))
        code, verdicts, text = self.at_speeds(4)
        self.assertEqual((code, verdicts), (0, ["PASS"]))
        self.assertIn("\n1 device: compared with no other; give --reference\n", text)

    def test_a_reference_judges_few_devices(self):
        self.at_speeds(1, 1.2)
        reference = self.folder / "reference.yaml"
        self.assert_clean(run("baseline", self.results / "node1.json", "-o", reference, "--below=20%"))
        done = run("merge", self.results, "--reference", reference)
        self.assert_clean(done)
        self.assertNotIn("not judged", done.stdout)

    def test_what_was_not_judged_is_in_the_fleet_file(self):
        self.at_speeds(1, 1.1, 4)
        fleet = self.folder / "fleet.json"
        done = run("merge", self.results, "--json", fleet)
        self.assertEqual(run("show", fleet).stdout, done.stdout)
        document = json.loads(fleet.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        self.assertIn("3 devices: ", document["groups"][0]["not_judged"])

    def test_a_reference_of_another_deck(self):
        one, other, reference = self.write("a.json"), self.folder / "other.json", self.folder / "reference.yaml"
        path = self.deck(SMALL, "rowsum_like.yaml")
        self.assert_clean(run(path, "--set=chunks.count=2", "--json", other))
        other.write_text(json.dumps(steady(json.loads(other.read_text()))))
        self.assert_clean(run("baseline", other, "-o", reference))
        done = run("merge", one, "--reference", reference)
        self.assert_clean(done, 6)
        self.assertIn("reference.yaml was made for deck rowsum_like, not small; to make one from results of small: "
                      "miniapp baseline -o small.yaml FOLDER", done.stdout)

    def test_what_is_written_is_no_input(self):
        result, fleet = self.write("a.json"), self.results / "fleet.json"
        before = result.read_text()
        for option in ("--json", "--junit", "--report"):
            self.assert_error(run("merge", self.results, option, result), 3, f"{option}: found .*, which is also an input")
            self.assert_error(run("merge", self.results, option, ""), 3, f"{option}: found ''; allowed: ")
            self.assert_error(run("merge", self.results, option, self.folder / "no/such.file"), 1, "cannot write")
        self.assertEqual(result.read_text(), before)
        self.assert_error(run("merge", result, "--json=x", "--junit=x"), 3, "--junit: found x, which is also --json")
        self.assert_clean(run("merge", self.results, "--json", fleet))
        for folder in (self.results, f"{self.results}/../results"):
            done = run("merge", folder, "--json", fleet)  # again: a fleet file is no result
            self.assert_clean(done)
            self.assertRegex(done.stdout, r"skipped 1 file, no result: \S+/fleet\.json\n")
        for _ in range(2):  # so does a comparison lie among what it compares
            done = run("compare", self.results, self.results, "--json", self.results / "comparison.json")
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"\Aminiapp: skipped [12] files?, no result: (\S+/comparison\.json, )?\S+/fleet\.json\n\Z")
        self.assert_clean(run("merge", fleet), 1)

    def ranks(self, host, count, without=(), start=0, **changes):
        """The result files of the ranks of a node, as --fleet writes them."""
        for rank in range(count):
            if rank in without:
                continue
            job = {"id": None, "step": None, "launch": host, "rank": start + rank, "ranks": changes.pop("ranks", count)}
            placement = {"local_rank": rank, "local_ranks": count, "nodes": 1, "device": rank, "cpus": None, "memory": None,
                         "note": None}
            device = {"name": "GPU", "uuid": f"GPU-{host}-{rank}", "pci": None, "pcie_gen": 5, "pcie_width": 16}
            self.write(f"{host}-{rank}.json", host__name=host, job=job, placement=placement, device=device, **changes)

    def test_a_rank_without_a_file_fails(self):
        """7 files of 8 ranks prove that one is missing."""
        self.ranks("n1", 8)
        self.assert_clean(run("merge", self.results))
        self.ranks("n2", 8, without=(3,))
        fleet, junit = self.folder / "fleet.json", self.folder / "fleet.xml"
        done = run("merge", self.results, "--json", fleet, "--junit", junit)
        self.assert_clean(done, 5)
        self.assertRegex(done.stdout, r"(?m)^n2: 1 of 8 devices without a result: rank 3$")
        self.assertIn("15 files: 15 devices, 0 not passed, 1 device missing\n", done.stdout)
        [missing] = json.loads(fleet.read_text())["missing"]
        self.assertEqual(missing, {"host": "n2", "launch": None, "missing": 1, "expected": 8, "ranks": [3]})
        self.assertIn('classname="n2" name="devices"', junit.read_text())
        done = run("merge", self.results, "--quiet")
        self.assertEqual((done.returncode, done.stderr),
                         (5, "miniapp: error: n2: 1 of 8 devices without a result: rank 3\n"))
        self.ranks("n2", 8)
        self.assert_clean(run("merge", self.results, "--json", fleet))
        self.assertEqual(json.loads(fleet.read_text())["missing"], [])

    def test_hosts_have_as_many_devices_as_expected(self):
        self.ranks("n1", 2)
        hosts = self.folder / "hosts"
        hosts.write_text("n1:2\n")
        self.assert_clean(run("merge", self.results, "--expect", hosts))
        hosts.write_text("n1:3\nN2:3\n")
        done = run("merge", self.results, "--expect", hosts)
        self.assert_clean(done, 5)
        self.assertRegex(done.stdout, r"(?m)^n1: 1 of 3 devices without a result$")
        self.assertRegex(done.stdout, r"(?m)^N2: no result of this host$")

    def test_a_list_that_is_malformed_is_no_failed_node(self):
        result, hosts = self.write("a.json"), self.folder / "hosts"
        name = self.result["host"]["name"]
        for text in (f"- {name}", f"hosts:\n- {name}", f"'{name}'", f'"{name}"', ".", f"host={name}", f"{name}\0", f"{name},n2",
                     f"{name}: 8", f"{name}:0", f"{name} 2", f"2*{name}", f"{name} n2", "n[1-4]", b"\xff\xfe" + name.encode("utf-16-le"), f"{name} \xb7", "x" * 5_000_000):
            with self.subTest(text[:40]):
                hosts.write_bytes(b"# two lines\n" + (text if isinstance(text, bytes) else text.encode()))
                done = run("merge", result, "--expect", hosts)
                self.assert_error(done, 3, r"hosts:[23]: found '.*'; allowed: one host per line, ")
                self.assertLess(len(done.stderr), 700)

    def test_quiet_names_what_is_missing_or_broken(self):
        self.write("a.json")
        broken, hosts = self.results / "b.json", self.folder / "hosts"
        broken.write_text("{")
        hosts.write_text("node9\n")
        done = run("merge", self.results, "--expect", hosts, "--quiet")
        self.assertEqual(done.returncode, 5)
        self.assertIn("miniapp: error: node9: no result of this host\n", done.stderr)
        self.assertRegex(done.stderr, f"(?m)^miniapp: error: {re.escape(str(broken))}:")

    def test_says_what_is_wrong_with_its_inputs(self):
        self.assert_error(run("merge"), 3)
        self.assert_error(run("merge", "a.json", "--nodecheck", "nodes.txt"), 3, "found '--nodecheck'; allowed: the options")
        self.assert_clean(run("merge", self.folder / "none.json"), 1)
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_error(run("merge", empty), 1, r"found no file \*\.json")
        result, hosts = self.write("a.json"), self.folder / "hosts"
        self.assert_error(run("merge", result, "--expect", empty / "no"), 3, "cannot be read")
        self.assert_error(run("merge", result, "--reference", empty / "no"), 3, "no such reference")

    def test_what_no_result_can_say_is_refused(self):
        for changes, message in (
            ({"started": "yesterday"}, "started: found 'yesterday'; allowed: a time such as 2026-01-31T12:00:00Z"),
            ({"started": "2026-1-31T12:00:00Z"}, "started: found '2026-1-31T12:00:00Z'; allowed: a time"),
            ({"started": "2026-13-31T12:00:00Z"}, "started: found '2026-13-31T12:00:00Z'; allowed: a time"),
            ({"host__name": ""}, "host.name: found ''; allowed: a name"),
            ({"verdict": "MAYBE"}, "verdict: found 'MAYBE'; allowed: PASS, FAIL"),
            ({"points": []}, "points: found an empty list; allowed: a list of points, at least one"),
        ):
            path = self.write("a.json", **changes)
            for command in (("merge", path), ("compare", path, path), ("compare", "--side-by-side", path, path),
                            ("baseline", path, "-o", self.folder / "reference.yaml")):
                with self.subTest(command[0], **changes):
                    done = run(*command, "--quiet")
                    self.assertEqual(done.returncode, 1, done.stdout)
                    self.assertIn(f"{path}: {message}", done.stderr)

    def test_inputs_that_are_no_files(self):
        self.write("a.json")
        os.mkfifo(self.folder / "pipe.json")  # lies among the results
        self.assert_clean(run("merge", self.folder, timeout=60))
        with open(os.devnull) as nothing:
            self.assert_error(run("/dev/stdin", "--dry-run", stdin=nothing), 3, "workload")
        deck = self.deck()
        with open(deck) as stdin:
            self.assert_clean(run("/dev/stdin", "--dry-run", stdin=stdin))

    def test_results_with_odd_numbers(self):
        for number in (1e300, -1, 0.5):
            for key, change in (("bytes", "runs"), ("bytes", "rates"), ("pcie_gen", "device")):
                odd = json.loads(json.dumps(self.result))
                changed = odd["device"] if change == "device" else odd["points"][0][change]
                if changed is None:
                    continue
                (changed[0] if change == "runs" else changed)[key] = number
                path = self.folder / "odd.json"
                path.write_text(json.dumps(odd))
                if key == "pcie_gen" or (number == -1 and change == "rates"):
                    continue
                with self.subTest(key, number=number, of=change):
                    self.assert_error(run("compare", path, path), 1, r"bytes: found .*; allowed: a (whole )?number")


if __name__ == "__main__":
    unittest.main()
