#!/usr/bin/env python3
"""--fleet under a real mpirun, ranks sharing the cores of this machine: Open MPI or MPICH, whichever the program was built
with. ctest sets MPIEXEC, MINIAPP and SOURCE."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "acceptance"))
from program import ENDLESS, MINIAPP, SMALL, TestCase, run

MPIEXEC = os.environ["MPIEXEC"]
VERSION = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, timeout=60).stdout
OPEN_MPI = int(found[1]) if (found := re.search(r"\(Open MPI\) (\d+)\.", VERSION)) else None
# The other ranks live on when one ends. By default a death ends all, and so does the first exit code other than 0.
if OPEN_MPI is None:
    OPTIONS = ["-disable-auto-cleanup"]  # when a rank exits; Hydra still ends all when one dies by a signal
elif OPEN_MPI < 5:
    OPTIONS = ["--oversubscribe", "--bind-to", "none", "--continuous"]
else:
    OPTIONS = ["--oversubscribe", "--bind-to", "none", "--runtime-options", "continuous"]
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANK = re.compile(r"\0(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)\0")

HOST = socket.gethostname()
RANKS = 4
DEADLINE = int(os.environ.get("DEADLINE", 3))  # seconds
FLEET = "fleet: {{phases: [{}], deadline: %d s}}\n" % DEADLINE
HEALTHY = "fleet: {{phases: [{}]}}\n"  # where no rank is lost: with the deadline of 60 s, also on a busy machine
PHASES = ("alone", "together")
# Passes on a busy machine, too: few devices that differ by more than 25 % alone do not.
STEADY = SMALL + HEALTHY.format("together")
SLOW = SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: throughput, order: by_engine, min: 1e6}")
LONG_TO_READ = "workload:\n  kind: custom\n  tasks:\n" + "".join(
    f"    - {{name: T{i}, stage: kernel, lane: {i % 4 + 1}, duration: 1 ms}}\n" for i in range(30000)
) + "issue: {orders: [custom]}\n" + FLEET.format("alone")
# Seconds that a phase takes each rank: time enough to be found at work on a busy machine.
DURATIONS = {"alone": 2, "together": 6}


def long(phase):
    return SMALL.replace("repetitions: 3", f"duration: {DURATIONS[phase]} s") + FLEET.format(phase)


others_live_on = unittest.skipIf(OPEN_MPI is None, "MPICH's mpirun ends all ranks when one dies")


class Ranks:
    """Processes that mpirun starts."""

    def __init__(self, folder, words, ranks=RANKS):
        self.token = uuid.uuid4().hex  # of all processes of this run, and of no others
        self.folder = folder
        self.stderr = tempfile.TemporaryFile()
        self.launcher = subprocess.Popen(
            [MPIEXEC, *OPTIONS, "-n", str(ranks), *map(str, words)], cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=self.stderr, env={**os.environ, **ENVIRONMENT, "TOKEN": self.token})

    def pids(self):
        """Of the ranks that live."""
        found = {}
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                environment = f"\0{(path / 'environ').read_text()}"
                if self.token in environment and (rank := RANK.search(environment)):
                    found[int(rank[1])] = int(path.name)
            except OSError:
                pass  # it has ended
        return found

    def wait_for(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}")
            time.sleep(0.05)

    def started(self):
        """Waits until all ranks measure, or wait for their turn."""
        self.wait_for("ranks", lambda: len([*self.folder.glob("rank-*.json")]) == RANKS)  # just before
        time.sleep(1)

    def send(self, number, rank):
        os.kill(self.pids()[rank], number)

    def errors(self):
        """What all ranks have printed so far."""
        return os.pread(self.stderr.fileno(), 1 << 24, 0).decode()

    def end(self, seconds=60):
        """Waits for the launcher; its exit code, and the output of all ranks."""
        try:
            output, _ = self.launcher.communicate(timeout=seconds)
        finally:
            self.kill()
        return self.launcher.returncode, output, self.errors()

    def kill(self):
        """What still lives."""
        for pid in [*self.pids().values(), self.launcher.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.launcher.wait()
        self.launcher.stdout.close()


class Case(TestCase):
    def mpirun(self, *words, ranks=RANKS):
        started = Ranks(self.folder, words, ranks)
        self.addCleanup(self.assert_none_left, started)
        return started

    def fleet(self, text, *options, ranks=RANKS):
        """Starts --fleet with a result file per rank and the fleet file."""
        return self.mpirun(MINIAPP, "--fleet", self.deck(text), "--quiet", "--json=rank-{rank}.json",
                           "--json=fleet.json", *options, ranks=ranks)

    def assert_none_left(self, started):
        left = started.pids()
        started.kill()
        started.stderr.close()
        self.assertEqual(left, {})

    def assert_ends(self, started, verdict, code, seconds=60):
        """All processes end in time, the launcher with the exit code of the ranks; returns what they print."""
        result, output, errors = started.end(seconds)
        text = output + errors
        lines = re.findall(r"^OVERLAP_RESULT .*", output, re.MULTILINE)
        self.assertEqual(len(lines), 1, text)
        self.assertRegex(lines[0], rf" verdict={verdict} data=\w+ exit={code}$", text)
        if OPEN_MPI is None or OPEN_MPI >= 5:  # Open MPI 4 always ends with 0 where ranks may outlive each other
            self.assertRegex(str(result), rf"^{code}$", text)
        return text

    def result(self, rank):
        return json.loads((self.folder / f"rank-{rank}.json").read_text())

    def fleet_file(self):
        return json.loads((self.folder / "fleet.json").read_text())

    def assert_results(self, ranks, verdict, code):
        """These ranks, and no others, left whole result files."""
        self.assertEqual(self.files(), sorted([*(f"rank-{rank}.json" for rank in ranks), "fleet.json", "small.yaml"]))
        for rank in ranks:
            result = self.result(rank)
            self.assert_valid(result)
            self.assertEqual((result["verdict"], result["exit_code"]), (verdict, code))
            self.assertEqual((result["job"]["rank"], result["job"]["ranks"]), (rank, RANKS))

    def assert_missing(self, text, rank):
        """The output and the fleet file name the rank and its host."""
        self.assertRegex(text, rf"(?m)^OVERLAP_DEVICE host={re.escape(HOST)} uuid=rank{rank} .*verdict=ERROR")
        self.assertIn(HOST, json.dumps(self.fleet_file()))


@others_live_on
class Launcher(Case):
    """What the tests below rely on."""

    def test_a_rank_that_is_killed_leaves_the_others_alive(self):
        started = self.mpirun("sh", "-c", "exec sleep 3")
        started.wait_for("ranks", lambda: len(started.pids()) == RANKS)
        started.send(signal.SIGKILL, 2)
        time.sleep(1)
        self.assertEqual(set(started.pids()), {0, 1, 3})
        started.end()


class Meetings(Case):
    def test_between_processes(self):
        code, output, errors = self.mpirun(os.environ["MEETINGS"], ranks=3).end()
        self.assertEqual(output.count("[  PASSED  ]"), 3, output + errors)


class Verdict(Case):
    def test_all_ranks_end_with_it(self):
        for text, verdict, code in ((STEADY, "PASS", 0), (SLOW, "FAIL", 5)):
            for ranks in (2, RANKS):
                with self.subTest(verdict, ranks=ranks):
                    self.assert_ends(self.fleet(text, ranks=ranks), verdict, code)
                    fleet = self.fleet_file()
                    self.assertEqual((fleet["schema"], fleet["verdict"], fleet["exit_code"]), ("overlap-fleet/1", verdict, code))
                    for rank in range(ranks):
                        self.assertEqual(self.result(rank)["verdict"], verdict)

    def test_both_phases_are_measured(self):
        self.fleet(SMALL + HEALTHY.format("alone, together")).end()
        self.assert_results(range(RANKS), "PASS", 0)
        self.assertEqual(len({self.result(rank)["job"]["launch"] for rank in range(RANKS)}), 1)
        for rank in range(RANKS):
            points = self.result(rank)["points"]
            self.assertEqual([point["phase"] for point in points if point["runs"]], list(PHASES))
            self.assertIsNone(points[0]["window"])
            window = points[1]["window"]
            self.assertEqual((window["skew_s"]["n"], window["shared_s"]["n"]), (9, 9))  # 3 orders, 3 repetitions
            self.assertGreater(window["shared_s"]["max"], 0)

    def test_ranks_take_turns_alone(self):
        """Each uses its processor time in its turn."""
        started = self.fleet(long("alone"))
        started.started()
        pids, used = started.pids(), {rank: [] for rank in range(RANKS)}
        while len(started.pids()) == RANKS:
            for rank, pid in pids.items():
                with contextlib.suppress(OSError):
                    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                    used[rank].append((time.monotonic(), int(fields[11]) + int(fields[12])))
            time.sleep(0.05)
        started.end()
        middle = [next(at for at, ticks in used[rank] if 2 * ticks > used[rank][0][1] + used[rank][-1][1]) for rank in range(RANKS)]
        for one, next_one in zip(middle, middle[1:]):
            self.assertGreater(next_one - one, DURATIONS["alone"] / 2, middle)

    @unittest.skipIf(subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode, "needs mount namespaces")
    def test_nodes_with_one_name(self):
        """They are told apart by their boot ids."""
        boot_id = "/proc/sys/kernel/random/boot_id"
        script = self.folder / "node.sh"
        script.write_text(f"""#!/bin/sh
rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}
echo "boot-$((rank / 2))" >boot-$rank
exec unshare -m sh -c 'mount --bind boot-'$rank' {boot_id} && exec "$0" "$@"' '{MINIAPP}' "$@"
""")
        started = self.mpirun("sh", script, "--fleet", self.deck(STEADY), "--quiet",
                              "--json=rank-{rank}.json", "--json=fleet.json")
        self.assert_ends(started, "PASS", 0)
        for rank in range(RANKS):
            result = self.result(rank)
            self.assertEqual(result["host"]["boot_id"], f"boot-{rank // 2}")
            placement = result["placement"]
            self.assertEqual((placement["nodes"], placement["local_ranks"], placement["local_rank"]), (2, 2, rank % 2))
        hosts = {device["uuid"]: device["host"] for device in self.fleet_file()["devices"]}
        self.assertEqual(hosts, {f"rank{rank}": f"{HOST}#2" if rank > 1 else HOST for rank in range(RANKS)})
        self.assertEqual(len(self.fleet_file()["notes"]), 1)
        files = [self.folder / f"rank-{rank}.json" for rank in range(RANKS)]
        self.assert_clean(run("merge", *files))
        done = run("merge", *files[:-1])
        self.assert_clean(done, 5)
        self.assertRegex(done.stdout, rf"(?m)^{HOST}#2: 1 of 2 devices without a result: rank 3$")

    def test_each_deck_has_its_file(self):
        other = self.folder / "other.yaml"
        other.write_text(STEADY)
        started = self.mpirun(MINIAPP, "--fleet", self.deck(STEADY), other, "--quiet",
                              "--json={rank}-{deck}.json", "--json=fleet.json", ranks=2)
        self.assert_ends(started, "PASS", 0)
        files = sorted(f"{rank}-{deck}.json" for rank in range(2) for deck in ("small", "other"))
        self.assertEqual(sorted(device["file"] for device in self.fleet_file()["devices"]), files)
        self.assertEqual(self.files(), sorted([*files, "fleet.json", "other.yaml", "small.yaml"]))

    def test_decks_of_one_name_have_files_of_their_own(self):
        (self.folder / "other").mkdir()
        other = self.deck(STEADY.replace("65536", "32768"), "other/small.yaml")
        started = self.mpirun(MINIAPP, "--fleet", self.deck(STEADY), other, "--quiet", "--json={rank}-{deck}.json",
                              "--json=fleet.json", ranks=2)
        self.assert_ends(started, "PASS", 0)
        files = [device["file"] for device in self.fleet_file()["devices"]]
        self.assertEqual(len(set(files)), 4)
        self.assertEqual(self.files(), sorted([*files, "fleet.json", "other", "small.yaml"]))

    def test_ranks_that_measure_together_stop_together(self):
        deck = SMALL.replace("repetitions: 3", "repetitions: 3, precision: 2 %, budget: 5 s")
        self.assert_ends(self.fleet(deck + HEALTHY.format("together")), "PASS", 0)
        results = [self.result(rank) for rank in range(RANKS)]
        self.assertEqual(len({run["repetitions"] for result in results for run in result["points"][0]["runs"]}), 1)


class Trouble(Case):
    def test_a_file_about_all_decks_has_none_of_them_in_its_name(self):
        for option in ("--json={deck}.json", "--report={deck}.html"):
            _, output, errors = self.mpirun(MINIAPP, "--fleet", self.deck(), option, ranks=2).end()
            self.assertRegex(output + errors, r"found \{deck\} in the name of a file about all ranks")
            self.assertEqual(self.files(), ["small.yaml"])

    def test_a_file_about_all_ranks_overwrites_nothing(self):
        deck = self.deck()
        text = deck.read_text()
        for options, other in (([f"--json={deck}"], "the deck"), (["--json=one.json", "--report=one.json"], "--json"),
                               (["--json=rank-{rank}.json", "--report=rank-0.json"], "--report")):
            _, output, errors = self.mpirun(MINIAPP, "--fleet", deck, *options, ranks=2).end()
            self.assertRegex(output + errors, f"which is also {other}; allowed: one file for each")
            self.assertEqual(deck.read_text(), text)
            self.assertEqual(set(self.files()) - {"rank-1.json"}, {"small.yaml"})

    def test_a_rank_without_the_deck(self):
        """The others do not wait for it, and the error appears once."""
        self.deck()
        (self.folder / "other").mkdir()
        started = self.mpirun("sh", "-c", f"[ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} != 1 ] || cd other; exec '{MINIAPP}' --fleet "
                              "small.yaml --quiet --json=fleet.json", ranks=3)
        code, output, errors = started.end(30)
        self.assertRegex(output + errors, rf"\Aminiapp: error: rank 1 on {re.escape(HOST)}: small\.yaml: [^\n]*\n")
        self.assertEqual((output + errors).count("small.yaml"), 1)
        self.assertEqual(self.files(), ["other", "small.yaml"])
        if OPEN_MPI is None or OPEN_MPI >= 5:
            self.assertEqual(code, 3)

    def test_no_rank_has_the_deck(self):
        _, output, errors = self.fleet(SMALL, "none.yaml", ranks=3).end(30)
        self.assertRegex(output + errors, r"\Aminiapp: error: rank 0 on \S+: none\.yaml: [^\n]* \(and 2 more ranks\)\n")
        self.assertEqual((output + errors).count("none.yaml"), 1)

    def test_a_machine_that_is_not_what_the_deck_requires(self):
        started = self.mpirun(MINIAPP, "--fleet", "acceptance/node", "--quiet", "--json=rank-{rank}.json",
                              "--json=fleet.json", ranks=2)
        text = self.assert_ends(started, "SKIPPED", 77)
        self.assertRegex(text, r"rank 1 on \S+: error: .*require\.pcie needs a GPU; this build \(\w+\) has no GPU back end")
        self.assertEqual([device["verdict"] for device in self.fleet_file()["devices"]], ["SKIPPED", "SKIPPED"])

    def test_a_node_with_another_number_of_devices(self):
        """On a host each rank stands for one."""
        fleet = SMALL + HEALTHY.format("together").replace("}", ", devices: 2}")
        self.assert_ends(self.fleet(fleet, ranks=2), "PASS", 0)
        text = self.assert_ends(self.fleet(fleet.replace("devices: 2", "devices: 3"), ranks=2), "ERROR", 4)
        message = f"fleet.devices: found 2 (rank 0, rank 1) with a rank on {HOST}; required: 3 on each node"
        self.assertIn(message, text)
        for rank in range(2):
            result = self.result(rank)
            self.assertTrue(result["error"].endswith(message), result["error"])
            self.assertEqual((result["exit_code"], result["points"][0]["runs"]), (4, []))

    def remove_files(self):
        for name in {"small.yaml"} ^ set(self.files()):
            (self.folder / name).unlink(missing_ok=True)

    def assert_merge_misses(self, rank):
        """The files of the other ranks say that it was there."""
        files = [self.folder / f"rank-{other}.json" for other in range(RANKS) if other != rank]
        done = run("merge", *files)
        self.assert_clean(done, 5)
        self.assertRegex(done.stdout, rf"(?m)^{HOST}: 1 of {RANKS} devices without a result: rank {rank}$")

    def assert_names_lost(self, started, phase, rank):
        """While the others measure."""
        lost = (f"miniapp: error: rank {rank} on {HOST} is lost: it ended early or gave no sign of life within {DEADLINE} s "
                f"(fleet.deadline); its last one came in phase {phase}\n")
        started.wait_for(lost, lambda: lost in started.errors(), DEADLINE + 10)

    @others_live_on
    def test_a_rank_that_is_killed_or_stopped(self):
        for phase in PHASES:
            for number in (signal.SIGKILL, signal.SIGSTOP):
                with self.subTest(phase, signal=number.name):
                    self.remove_files()
                    started = self.fleet(long(phase))
                    started.started()
                    started.send(number, 2)
                    self.assert_names_lost(started, phase, 2)
                    limit = RANKS * max(DURATIONS.values()) + DEADLINE + 30
                    if number == signal.SIGSTOP:
                        started.wait_for("end of the others", lambda: set(started.pids()) <= {2}, limit)
                        started.send(signal.SIGCONT, 2)
                    # Alone the others, which share a busy machine, may differ by more than 25 %.
                    verdict, code = ("(ERROR|FAIL)", "[15]") if phase == "alone" else ("ERROR", 1)
                    text = self.assert_ends(started, verdict, code, limit)
                    self.assert_missing(text, 2)
                    for other in (0, 1, 3):
                        self.assert_valid(self.result(other))
                    if number == signal.SIGKILL:
                        self.assert_merge_misses(2)
                    else:
                        self.assertIn("the other ranks continued without this one", self.result(2)["error"])

    @others_live_on
    def test_rank_0_is_killed(self):
        """Nobody writes the fleet file; the files of the others stay."""
        for phase in PHASES:
            with self.subTest(phase):
                self.remove_files()
                started = self.fleet(long(phase))
                started.started()
                started.send(signal.SIGKILL, 0)
                _, _, errors = started.end(RANKS * max(DURATIONS.values()) + DEADLINE + 30)
                self.assertIn(f"rank 0 on {HOST}, which gathers the results, is lost", errors)
                self.assert_merge_misses(0)

    @others_live_on
    def test_a_rank_that_is_killed_is_lost_with_each_deck(self):
        more = self.folder / "more.yaml"
        more.write_text(long("together").replace("65536", "32768"))
        started = self.fleet(long("together"), more)
        started.started()
        started.send(signal.SIGKILL, 2)
        self.assert_ends(started, "ERROR", 1, 2 * (RANKS * max(DURATIONS.values()) + DEADLINE) + 30)
        lost = [device["deck_name"] for device in self.fleet_file()["devices"] if device["uuid"] == "rank2"]
        self.assertEqual(sorted(lost), ["more", "small"])

    def test_a_rank_that_ends_after_it_gave_its_results(self):
        """They count, but MPI cannot be finalized without it."""
        pipe = self.folder / "fleet.json"
        os.mkfifo(pipe)  # where rank 0 waits, because nobody reads what it writes
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        started = self.fleet(STEADY)
        started.wait_for("results", lambda: {f"rank-{rank}.json" for rank in range(RANKS)} <= set(self.files()))
        time.sleep(1)
        for _ in range(2):
            started.send(signal.SIGTERM, 2)
            time.sleep(0.5)
        self.assertEqual(set(started.pids()), {0, 1, 3})
        with pipe.open() as stream:
            os.close(reader)
            self.assertEqual(json.load(stream)["verdict"], "PASS")
        started.wait_for("end", lambda: not started.pids(), 20)
        _, output, errors = started.end()
        self.assertIn("verdict=PASS data=OK exit=0", output + errors)

    def test_a_rank_without_memory(self):
        large = SMALL.replace("65536", "4 Mi").replace("depth_first, ", "")
        large = large.replace("repetitions: 3", "duration: 2 s")
        started = self.fleet(large + "fleet: {phases: [alone]}\n")  # a sample may take longer than the others' deadline
        started.started()  # and rank 2 waits for its turn, which is when it allocates
        pid = started.pids()[2]
        pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + (16 << 20)
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
        text = self.assert_ends(started, "(ERROR|FAIL)", "[45]", 120)  # the others may differ by more than 25 %
        self.assertRegex(text, "rank 2 on .*memory")
        self.assertEqual(self.result(2)["exit_code"], 4)
        for other in (0, 1, 3):
            self.assertEqual(self.result(other)["exit_code"], 0)

    def test_a_rank_that_cannot_write(self):
        (self.folder / "rank-2.json").mkdir()
        text = self.assert_ends(self.fleet(STEADY), "ERROR", 1)
        self.assertIn("rank-2.json", text)
        for other in (0, 1, 3):
            self.assertEqual(self.result(other)["exit_code"], 0)

    def test_sigterm_to_all(self):
        """Or what a batch system sends before a time limit."""
        started = self.fleet(ENDLESS + FLEET.format("together"))
        started.started()
        time.sleep(4)  # until all have samples of every order
        for rank in range(RANKS):
            started.send(signal.SIGTERM if rank % 2 else signal.SIGUSR2, rank)
        self.assert_ends(started, "INTERRUPTED", 130, DEADLINE + 10)
        self.assert_results(range(RANKS), "INTERRUPTED", 130)
        for rank in range(RANKS):
            self.assertTrue(self.result(rank)["points"][0]["outcome"]["interrupted"])

    @unittest.skipIf(OPEN_MPI is None, "MPICH catches it")
    def test_sigusr1_is_left_to_the_launcher(self):
        """MPICH's reports a dead rank with it."""
        started = self.fleet(ENDLESS + FLEET.format("together"))
        started.started()
        caught = [int(re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1], 16)
                  for pid in started.pids().values()]
        self.assertEqual([(signals >> (signal.SIGUSR1 - 1) & 1, signals >> (signal.SIGUSR2 - 1) & 1) for signals in caught], [(0, 1)] * RANKS)
        for rank in range(RANKS):
            started.send(signal.SIGTERM, rank)
        self.assert_ends(started, "INTERRUPTED", 130, DEADLINE + 10)

    def test_a_launch_that_is_killed_leaves_its_files(self):
        started = self.fleet(ENDLESS + FLEET.format("together"))
        started.started()
        for pid in started.pids().values():
            os.kill(pid, signal.SIGKILL)
        started.end()
        for rank in range(RANKS):
            result = self.result(rank)
            self.assertEqual((result["verdict"], result["error"], result["job"]["rank"]), ("ERROR", "did not finish", rank))
        fleet = json.loads((self.folder / "fleet.json").read_text())
        self.assertEqual((fleet["verdict"], fleet["broken_files"]), ("ERROR", [{"file": "fleet.json", "text": "did not finish"}]))

    def test_sigterm_while_the_decks_are_read(self):
        started = self.fleet(LONG_TO_READ, ranks=2)
        started.wait_for("ranks", lambda: len(started.pids()) == 2)
        time.sleep(1.5)
        for rank in range(2):
            started.send(signal.SIGTERM, rank)
        self.assert_ends(started, "INTERRUPTED", 130)

    def test_sigterm_while_a_rank_takes_long(self):
        """The others wait for it up to fleet.deadline, also when it has given no sign for more than 10 s."""
        for slow in (0, 2):
            with self.subTest(slow=slow):
                started = self.fleet(ENDLESS + "fleet: {phases: [together]}\n")
                started.started()
                time.sleep(4)  # until all have samples of every order
                started.send(signal.SIGSTOP, slow)
                for rank in range(RANKS):
                    started.send(signal.SIGTERM, rank)
                time.sleep(12)
                started.send(signal.SIGCONT, slow)
                text = self.assert_ends(started, "INTERRUPTED", 130)
                self.assertNotIn("is lost", text)
                self.assert_results(range(RANKS), "INTERRUPTED", 130)


class Usage(Case):
    def test_ranks_without_fleet_and_with_one_file_are_refused(self):
        started = self.mpirun(MINIAPP, self.deck(), "--quiet", "--json=one.json", ranks=2)
        code, _, errors = started.end()
        self.assertRegex(errors, r"(?m)^miniapp: error: [^\n]*\{rank\}[^\n]*$")
        if OPEN_MPI is None or OPEN_MPI >= 5:
            self.assertEqual(code, 3, errors)
        self.assertEqual(self.files(), ["small.yaml"])

    def test_ranks_without_fleet_each_have_their_file(self):
        self.mpirun(MINIAPP, self.deck(), "--quiet", "--json=p-{rank}.json", ranks=2).end()
        self.assertEqual([json.loads((self.folder / f"p-{rank}.json").read_text())["job"]["rank"] for rank in (0, 1)], [0, 1])

    def test_ranks_that_know_nothing_of_each_other_and_have_one_file(self):
        """As under a launcher whose variables are not known."""
        deck = self.deck(SMALL.replace("repetitions: 3", "duration: 3 s"))
        started = self.mpirun("env", "-i", MINIAPP, deck, "--quiet", "--json=one.json", ranks=2)
        _, output, errors = started.end()
        self.assertEqual(output.count("OVERLAP_RESULT verdict=PASS"), 1)
        self.assertRegex(errors, r"(?m)^miniapp: error: --json: found one\.json, which another process is going to write; ")
        self.assertEqual(json.loads((self.folder / "one.json").read_text())["verdict"], "PASS")
        self.assertEqual(self.files(), ["one.json", "small.yaml"])

    def test_ranks_that_the_launcher_did_not_connect(self):
        """As with srun and an MPI that does not know its PMI: each rank would take itself for the only one."""
        done = subprocess.run([MINIAPP, "--fleet", self.deck(), "--quiet"], cwd=self.folder, text=True, capture_output=True,
                              timeout=60, env={**os.environ, **ENVIRONMENT, "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_ID": "0",
                                               "SLURM_JOB_ID": "1", "SLURM_PROCID": "0"})
        self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    unittest.main()
