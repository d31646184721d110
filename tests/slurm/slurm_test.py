#!/usr/bin/env python3
"""The program and the files of ci/integrations/slurm under a real Slurm, which cluster.sh starts: two nodes on this
machine. Run by `ci/check.sh slurm`."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "acceptance"))
from program import ENDLESS, MINIAPP, SMALL, SOURCE, TestCase, records

CLUSTER = pathlib.Path(os.environ["CLUSTER"])
FILES = SOURCE / "ci/integrations/slurm"
SLURM = pathlib.Path("/etc/slurm")
NODES = ("n1", "n2")
SLOW = SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: throughput, order: by_engine, min: 1e6}")
STEADY = """\
title: A kernel without copies, whose time on nodes that share a busy machine is not judged
workload: {kind: custom, tasks: [{name: K, stage: kernel, lane: 1, duration: 1 ms}]}
issue: {orders: [custom]}
measure: {warmup: 1, repetitions: 3}
"""
TOGETHER = "fleet: {phases: [together]}\n"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}


def command(*words, timeout=60, **options):
    return subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, **options)


def ask(*words):
    """What a command of Slurm prints; it must succeed."""
    done = command(*words)
    if done.returncode:
        raise AssertionError(f"{words}: exit code {done.returncode}: {done.stderr}")
    return done.stdout.strip()


def wait_for(what, condition, seconds=30):
    """Waits until the condition holds and returns its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}; {processes()}")
        time.sleep(0.1)
    return value


def fields(kind, name):
    """What Slurm knows of a job or a node."""
    return dict(field.split("=", 1) for field in ask("scontrol", "--oneliner", "show", kind, name).split(" ") if "=" in field)


def ranks():
    """The processes of the program by their ranks."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (path / "exe").readlink().name == "miniapp":
                rank = re.search("\0SLURM_PROCID=([0-9]+)\0", (path / "environ").read_text())
                found[int(rank[1]) if rank else None] = int(path.name)
        except OSError:
            pass  # it has ended
    return found


def cpu_s(pid):
    """Seconds that a process has computed."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return sum(map(int, text.rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def processes():
    """What the ranks do, for messages."""
    found = []
    for rank, pid in sorted(ranks().items()):
        waits = [f"{task.name}: {(task / 'wchan').read_text()}" for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
        found.append(f"rank {rank}: {cpu_s(pid)} s computed, threads wait in {waits}")
    return found


class Case(TestCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.end_jobs)
        pathlib.Path("/usr/local/bin/miniapp").write_text(
            f'#!/bin/sh\nexec "{MINIAPP}" "$@"\n')

    def end_jobs(self):
        """No job and no process of one outlives its test."""
        running = ask("squeue", "--noheader", "--format=%i", "--states=PENDING,RUNNING,SUSPENDED").split()
        if running:
            command("scancel", "--signal=KILL", "--full", *running)
            command("scancel", *running)
        wait_for("no jobs", lambda: not ask("squeue", "--noheader"))
        wait_for("no processes", lambda: not ranks())
        self.assertEqual(running, [])

    def submit(self, script, *options, **environment):
        """Returns the number of the job."""
        return ask("env", *(f"{key}={value}" for key, value in environment.items()), "sbatch", "--parsable",
                   f"--chdir={self.folder}", *options, FILES / script)

    def ended(self, job, seconds=60):
        """Waits for the job; returns its state, its exit code or signal, and its output."""
        # sbatch --wait looks every few seconds only.
        found = wait_for(f"end of job {job}", lambda: (found := fields("job", job))["JobState"] in ENDED and found, seconds)
        return found["JobState"], found["ExitCode"], (self.folder / f"overlap-{job}.out").read_text()

    def results(self, job, where="*"):
        """The JSON files of a job, by name."""
        paths = (self.folder / "results" / job).glob(f"{where}.json")
        return {path.name: json.loads(path.read_text()) for path in paths}

    def assert_ended(self, job, state, code):
        *found, output = self.ended(job)
        self.assertEqual(found[0], state, output)
        self.assertRegex(found[1], rf"\A{code}\Z", output)
        return output

    def assert_result(self, output, verdict, code):
        """The one OVERLAP_RESULT line of the output."""
        found = re.findall(r"^OVERLAP_RESULT .*", output, re.MULTILINE)
        self.assertEqual(len(found), 1, output)
        self.assertRegex(found[0], rf" verdict={verdict} data=\w+ exit={code}$")


class Fleet(Case):
    RANKS = {"n1-0.json": ("n1", 0), "n1-1.json": ("n1", 1), "n2-2.json": ("n2", 2), "n2-3.json": ("n2", 3)}

    def run_deck(self, text):
        return self.submit("overlap.sbatch", OVERLAP_DECK=self.deck(text))

    def assert_files(self, job, verdict, code):
        """A whole result file per rank and the fleet's."""
        results = self.results(job)
        fleet = results.pop("fleet.json")
        self.assertEqual((fleet["schema"], fleet["verdict"], fleet["exit_code"]), ("overlap-fleet/1", verdict, code))
        self.assertEqual(set(results), set(self.RANKS))
        for name, (host, rank) in self.RANKS.items():
            with self.subTest(name):
                result = results[name]
                self.assert_valid(result)
                self.assertEqual((result["verdict"], result["exit_code"]), (verdict, code))
                self.assertEqual((result["host"]["name"], result["job"]["rank"], result["job"]["ranks"]), (host, rank, 4))
                self.assertEqual(str(result["job"]["id"]), job)
        self.assertEqual(sorted(path.name for path in (self.folder / "results" / job).iterdir()),
                         sorted([*self.RANKS, "fleet.json", "fleet.xml"]))  # nothing half written
        return results

    def test_two_nodes_with_two_ranks_each(self):
        for text, state, ended, verdict, code in ((SMALL + TOGETHER, "COMPLETED", "0:0", "PASS", 0), (SLOW, "FAILED", "5:0", "FAIL", 5)):
            with self.subTest(verdict):
                job = self.run_deck(text)
                output = self.assert_ended(job, state, ended)
                self.assert_result(output, verdict, code)
                devices = re.findall(r"^OVERLAP_DEVICE host=(\S+) ", output, re.MULTILINE)
                self.assertEqual(set(devices), set(NODES), output)
                self.assert_files(job, verdict, code)
                suites = xml.etree.ElementTree.parse(self.folder / "results" / job / "fleet.xml").getroot()
                hosts = {case.get("classname").split(".")[0] for case in suites.iter("testcase")}
                self.assertEqual(hosts, set(NODES))

    def running(self, text):
        """A job whose ranks measure."""
        job = self.run_deck(text)
        files = self.folder / "results" / job
        wait_for("ranks", lambda: len([*files.glob("n*.json")]) == 4, 90)  # before they measure
        time.sleep(1)
        return job

    def endless(self):
        """A job whose ranks measure until they are told to stop, and have samples of every order."""
        job = self.running(ENDLESS + TOGETHER)
        wait_for("samples", lambda: all(cpu_s(pid) > 1 for pid in ranks().values()), 90)  # MPI starts within 0.4 s
        return job

    def test_a_job_that_is_told_to_stop(self):
        """As `--signal=TERM` in the batch script does before the time limit."""
        job = self.endless()
        ask("scancel", "--signal=TERM", job)
        self.assert_result(self.assert_ended(job, "FAILED", "130:0"), "INTERRUPTED", 130)
        for result in self.assert_files(job, "INTERRUPTED", 130).values():
            self.assertTrue(result["points"][0]["outcome"]["interrupted"])

    def test_a_job_that_is_cancelled(self):
        """Ranks have until KillWait to write their files."""
        job = self.endless()
        ask("scancel", job)
        self.assert_ended(job, "CANCELLED", "(0:9|130:0)")  # of the script, which Slurm kills
        self.assert_files(job, "INTERRUPTED", 130)

    def test_a_rank_that_is_killed(self):
        """srun's exit code is that of the signal; the fleet file names who is missing."""
        job = self.running(SMALL.replace("repetitions: 3", "duration: 10 s") +
                           "fleet: {phases: [together], deadline: 3 s}\n")
        os.kill(ranks()[3], signal.SIGKILL)
        output = self.assert_ended(job, "FAILED", "137:0")
        self.assert_result(output, "ERROR", 1)
        results = self.results(job)
        self.assertEqual(set(results), {*self.RANKS, "fleet.json"})
        self.assertEqual(results["n2-3.json"]["error"], "did not finish")
        self.assertIn("n2", json.dumps(results["fleet.json"]))
        self.assertRegex(output, r"rank 3.*n2|n2.*rank 3")


class SeveralTasks(Case):
    """srun with several tasks and a program that was not told so."""

    def srun(self, tasks, *arguments):
        return command("srun", "--nodes=2", f"--ntasks-per-node={tasks // 2}", "miniapp", self.deck(), "--quiet", *arguments,
                       cwd=self.folder)

    def test_one_result_file_is_refused(self):
        done = self.srun(4, "--json", "one.json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^miniapp: error: [^\n]*\{rank\}[^\n]*$")
        self.assertEqual(self.files(), ["small.yaml"])

    def test_a_file_per_host_is_refused_with_two_tasks_per_node(self):
        self.assertEqual(self.srun(4, "--json", "{host}.json").returncode, 3)
        self.assertEqual(self.files(), ["small.yaml"])

    def test_a_file_per_rank(self):
        done = self.srun(4, "--json", "{host}-{rank}.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["n1-0.json", "n1-1.json", "n2-2.json", "n2-3.json", "small.yaml"])

    def test_a_file_per_host_with_one_task_per_node(self):
        done = self.srun(2, "--json", "{host}.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["n1.json", "n2.json", "small.yaml"])

    def test_no_file(self):
        done = self.srun(4)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([record["verdict"] for record in records(done.stdout)["OVERLAP_RESULT"]], 4 * ["PASS"])


class NodePrivate(Case):
    """/etc/slurm/overlap.yaml is another file on each node."""

    def setUp(self):
        super().setUp()
        self.decks(n1=STEADY, n2=STEADY)

    @staticmethod
    def decks(**texts):
        for node, text in texts.items():
            (CLUSTER / node / "overlap.yaml").write_text(text)


class Merge(NodePrivate):
    def run_deck(self):
        return self.submit("merge.sbatch", OVERLAP_DECK=SLURM / "overlap.yaml")

    def fleet(self, job):
        (fleet,) = self.results(job).values()
        self.assertEqual(fleet["schema"], "overlap-fleet/1")
        return fleet

    def test_two_nodes(self):
        job = self.run_deck()
        self.assert_result(self.assert_ended(job, "COMPLETED", "0:0"), "PASS", 0)
        self.assertEqual(set(self.results(job, "nodes/*")), {"n1.json", "n2.json"})
        self.assertEqual(self.fleet(job)["verdict"], "PASS")

    def test_a_node_that_fails(self):
        self.decks(n2=SLOW)
        job = self.run_deck()
        self.assert_ended(job, "FAILED", "5:0")
        self.assertEqual(self.fleet(job)["verdict"], "FAIL")

    def test_a_node_without_a_file(self):
        self.decks(n2="workload: {}\n")
        job = self.run_deck()
        output = self.assert_ended(job, "FAILED", "5:0")
        self.assertEqual(set(self.results(job, "nodes/*")), {"n1.json"})
        self.assertRegex(output, r"(?m)^n2: no result of this host$")

    def test_a_job_that_is_requeued(self):
        """While n2 is at work; n1 has failed by then. The second attempt, in which both pass, keeps the job's number."""
        self.decks(n1=SLOW, n2=ENDLESS)
        job = self.run_deck()
        first = self.folder / "results" / job / "nodes/n1.json"
        wait_for("the result of n1", lambda: first.exists() and json.loads(first.read_text())["exit_code"] == 5)
        self.decks(n1=STEADY, n2=STEADY)
        ask("scontrol", "requeue", job)
        wait_for("the end of the first attempt", lambda: fields("job", job)["JobState"] == "PENDING" and not ranks())
        ask("scontrol", "update", f"JobId={job}", "StartTime=now")  # else two minutes later
        self.assert_result(self.assert_ended(job, "COMPLETED", "0:0"), "PASS", 0)
        self.assertEqual(json.loads(first.read_text())["exit_code"], 5)
        second = f"{job}-restart1"
        self.assertEqual(set(self.results(second, "nodes/*")), {"n1.json", "n2.json"})
        self.assertEqual(self.fleet(second)["verdict"], "PASS")


class Night(NodePrivate):
    def test_all_idle_nodes_and_one_verdict(self):
        """n2 fails; the merging job says so."""
        self.decks(n2=SLOW)
        environment = {"OVERLAP_RESULTS": self.folder, "OVERLAP_DECK": SLURM / "overlap.yaml"}
        ask("env", *(f"{key}={value}" for key, value in environment.items()), FILES / "nightly.sh", "1")
        (job,) = ask("squeue", "--noheader", "--format=%i", "--name=overlap-merge").split()
        wait_for("the merging job", lambda: fields("job", job)["JobState"] in ENDED, 90)
        self.assertEqual(fields("job", job)["ExitCode"], "5:0")
        (night,) = (path for path in self.folder.iterdir() if path.is_dir())
        self.assertEqual((night / "hosts.txt").read_text(), "n1:1\nn2:1\n")
        self.assertEqual({path.name for path in night.glob("*/n?-0.json")}, {"n1-0.json", "n2-0.json"})
        self.assertEqual(json.loads((night / "fleet.json").read_text())["exit_code"], 5)
        self.assertRegex((night / "merge.out").read_text(), r"(?m)^OVERLAP_DEVICE host=n2 .* verdict=FAIL")


class HealthCheck(NodePrivate):
    def setUp(self):
        super().setUp()
        # slurmd runs it with this PATH and without an environment.
        self.kept = CLUSTER / "kept"
        shutil.rmtree(self.kept, ignore_errors=True)
        text = (FILES / "health.sh").read_text()
        for here, there in (("results=/var/log/overlap", f"results={self.kept}"), ("\nseconds=24 ", "\nseconds=5 ")):
            self.assertEqual(text.count(here), 1)
            text = text.replace(here, there)
        script = SLURM / "health.sh"
        script.write_text(text)
        script.chmod(0o755)
        conf = SLURM / "slurm.conf"
        text = conf.read_text()
        self.addCleanup(wait_for, "idle nodes", lambda: all(self.state(node) == ("IDLE", None) for node in NODES))
        self.addCleanup(ask, "scontrol", "reconfigure")
        self.addCleanup(conf.write_text, text)
        conf.write_text(f"{text}HealthCheckProgram={SLURM / 'health.sh'}\nHealthCheckInterval=4\n")

    @staticmethod
    def state(node):
        found = fields("node", node)
        reason = re.search(r"(?m)^ *Reason=(.*) \[", ask("scontrol", "show", "node", node))
        return found["State"], reason and reason[1]

    def kept_of(self, node):
        """The exit codes of what is kept, in the order of the runs. Results that pass are there for a moment."""
        codes = []
        for path in sorted(self.kept.glob(f"{node}-*.json*")):
            with contextlib.suppress(FileNotFoundError):
                codes.append(json.loads(path.read_text())["exit_code"])
        return codes

    def test_a_failure_that_is_not_confirmed_drains_no_node(self):
        """The first run on n1 is slow."""
        once = CLUSTER / "slow-once"
        once.mkdir(exist_ok=True)
        slow = once / "slow.yaml"
        slow.write_text(SLOW)
        pathlib.Path("/usr/local/bin/miniapp").write_text(f"""#!/bin/sh
deck=$1
shift
if [ "$(hostname)" = n1 ] && mkdir {once}/ran 2>/dev/null; then deck={slow}; fi
exec "{MINIAPP}" "$deck" "$@"
""")
        ask("scontrol", "reconfigure")
        log = self.kept / "health.log"
        wait_for("a line in the log", log.exists)
        self.assertRegex(log.read_text(), r"\A\S+ n1: unsteady: performance: metric=throughput order=by_engine .*; then PASS\n\Z")
        self.assertEqual(self.kept_of("n1")[:2], [5, 0])
        self.assertEqual(len(list(self.kept.glob("n1-*-1.json.unconfirmed"))), 1)
        self.assertNotIn(5, self.kept_of("n2"))
        time.sleep(5)  # both run it again
        self.assertEqual([self.state(node) for node in NODES], 2 * [("IDLE", None)])
        self.assertEqual(len(log.read_text().splitlines()), 1)

    def test_drains_the_node_that_fails_and_no_other(self):
        ask("scontrol", "reconfigure")
        for bad, good in (NODES, NODES[::-1]):
            with self.subTest(bad):
                failed = self.kept_of(good).count(5)  # of the round before
                self.decks(**{bad: SLOW, good: SMALL})
                wait_for(f"{bad} is drained", lambda: "DRAIN" in self.state(bad)[0])
                state, reason = self.state(bad)
                self.assertEqual(state, "IDLE+DRAIN")
                self.assertEqual(self.kept_of(bad)[:2], [5, 5])  # only after the second failure
                self.assertEqual(self.kept_of(good).count(5), failed)
                self.assertRegex(reason, r"\Aoverlap: performance: metric=throughput order=by_engine value=\S+ limit=1e\+06\Z")
                time.sleep(5)  # both run it again
                self.assertEqual(self.state(good), ("IDLE", None))
                self.decks(**{bad: SMALL})
                time.sleep(3)  # a check that read the old deck has ended
                ask("scontrol", "update", f"NodeName={bad}", "State=RESUME")
                wait_for(f"{bad} is idle", lambda: self.state(bad) == ("IDLE", None))

    def test_drains_a_node_without_its_gpus_and_one_that_hangs(self):
        """n1 says what the program says with one GPU of two; n2 has a run without an end."""
        lost = CLUSTER / "lost"
        lost.touch()
        unmet = "require.devices: found 1 (GPU-a); required: 2"
        pathlib.Path("/usr/local/bin/miniapp").write_text(f"""#!/bin/sh
if [ "$(hostname)" = n1 ] && [ -e {lost} ]; then
  echo 'miniapp: error: {unmet}' >&2
  exit 4
fi
exec "{MINIAPP}" "$@"
""")
        self.decks(n2=ENDLESS)
        ask("scontrol", "reconfigure")
        for node, reason in zip(NODES, (unmet, "hang, exit code 124")):
            wait_for(f"{node} is drained", lambda: "DRAIN" in self.state(node)[0], 60)
            self.assertEqual(self.state(node), ("IDLE+DRAIN", f"overlap: {reason}"))
        lost.unlink()
        self.decks(n2=SMALL)
        wait_for("the end of checks of before", lambda: not list(self.kept.glob("*.lines")), 60)
        for node in NODES:
            ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
        time.sleep(5)  # both run it again
        self.assertEqual([self.state(node) for node in NODES], 2 * [("IDLE", None)])


if __name__ == "__main__":
    unittest.main()
