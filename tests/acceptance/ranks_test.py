#!/usr/bin/env python3
"""What a rank does without MPI: names of result files, and several ranks that know nothing of each other."""

import json
import os
import re
import socket
import subprocess
import unittest

from program import ENDLESS, MINIAPP, SMALL, SOURCE, TestCase, run, start

SHORT = SMALL.replace("sequential, depth_first, by_engine", "sequential")


def ranks(count, **more):
    return {**os.environ, "OMPI_COMM_WORLD_SIZE": str(count), "OMPI_COMM_WORLD_RANK": "1", **more}


# Rows of the table of launchers in docs/fleet.md: a name, and variables for rank, size, both on the node and the launch.
LAUNCHERS = [[cell.strip(" `") for cell in line.strip("|").split("|")]
             for line in re.search(r"(?m)^\| launcher \|.*\n.*\n((?:\|.*\n)+)", (SOURCE / "docs/fleet.md").read_text())[1].splitlines()]
VARIABLES = {variable for row in LAUNCHERS for variable in row[1:] if variable}
ALONE = {name: value for name, value in os.environ.items() if name not in VARIABLES}
LONG = SHORT.replace("repetitions: 3", "duration: 2 s")


class Launchers(TestCase):
    """Two real processes with the variables of each launcher, or of none."""

    def pair(self, row, *options, text=SHORT):
        """Exit codes and stderr of both ranks, which run at once."""
        deck = self.deck(text)
        processes = [
            subprocess.Popen([MINIAPP, deck, "--quiet", *map(str, options)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True,
                             env=ALONE | {name: value for name, value in zip(row, (str(rank), "2", str(rank), "2", "78")) if name})
            for rank in (0, 1)
        ]
        errors = [process.communicate(timeout=60)[1] for process in processes]
        return [process.returncode for process in processes], errors

    def test_each_rank_has_its_file(self):
        self.assertGreater(len(LAUNCHERS), 8)
        for name, *row in LAUNCHERS:
            with self.subTest(name):
                self.assertEqual(self.pair(row, "--json", self.folder / "p-{rank}.json"), ([0, 0], ["", ""]))
                for rank in (0, 1):
                    result = json.loads((self.folder / f"p-{rank}.json").read_text())
                    self.assertEqual((result["job"]["rank"], result["job"]["ranks"]), (rank, 2 if row[1] else None))
                    self.assertEqual((result["job"]["launch"] or "").endswith("/0/78"), row[4] != "")
                self.assertEqual(self.files(), ["p-0.json", "p-1.json", "small.yaml"])

    def test_one_file_is_written_by_one_rank_at_most(self):
        for name, *row in LAUNCHERS:
            with self.subTest(name):
                target = self.folder / "p.json"
                codes, errors = self.pair(row, "--json", target, text=LONG)
                self.assertEqual(codes[1], 3)
                self.assertRegex(errors[1], "p.json with (2|several) ranks, all of which would write this file; allowed: --fleet")
                if row[1] or row[3]:  # rank 0 knows, too
                    self.assertEqual((codes[0], target.exists()), (3, False))
                else:
                    self.assertEqual((codes[0], json.loads(target.read_text())["verdict"]), (0, "PASS"))
                    target.unlink()

    def test_one_file_without_a_launcher(self):
        target = self.folder / "p.json"
        codes, errors = self.pair([], "--json", target, text=LONG)
        self.assertEqual(sorted(codes), [0, 3])
        self.assertRegex("".join(errors), r"\Aminiapp: error: --json: found \S+p\.json, which another process is going to write; "
                                          r"allowed: one file for each process\n\Z")
        self.assertEqual(json.loads(target.read_text())["verdict"], "PASS")
        self.assertEqual(self.files(), ["p.json", "small.yaml"])

    def test_a_killed_process_blocks_nobody(self):
        target, deck = self.folder / "p.json", self.deck(ENDLESS)
        process = start(deck, "--json", target)
        self.addCleanup(process.communicate)
        for line in process.stdout:
            if line.startswith("host memory"):
                break
        done = run(self.deck(SHORT, "other.yaml"), "--quiet", "--json", target, env=ALONE)
        self.assert_error(done, 3, "p.json, which another process is going to write")
        self.assert_error(run("merge", self.folder / "small.yaml", "--json", target, env=ALONE), 3, "p.json, which another process is going to write")
        process.kill()
        process.wait()
        self.assertEqual(json.loads(target.read_text())["error"], "did not finish")
        self.assert_clean(run(self.deck(SHORT, "other.yaml"), "--quiet", "--json", target, env=ALONE))
        self.assertEqual(self.files(), ["other.yaml", "p.json", "small.yaml"])


class Names(TestCase):
    def test_they_tell_deck_host_and_rank(self):
        done = run(self.deck(SHORT), "--quiet", "--json", self.folder / "{deck}-{host}-{rank}-{uuid}.json", env=ranks(2))
        self.assert_clean(done)
        path = self.folder / f"small-{socket.gethostname()}-1-rank1.json"
        result = json.loads(path.read_text())
        self.assert_valid(result)
        self.assertEqual((result["job"]["rank"], result["job"]["ranks"], result["placement"]), (1, 2, None))

    def test_each_deck_has_its_file(self):
        other = self.folder / "other.yaml"
        other.write_text(SHORT)
        done = run(self.deck(SHORT), other, "--quiet", "--json", self.folder / "{deck}.json", "--csv", self.folder / "all.csv")
        self.assert_clean(done)
        for deck in ("small", "other"):
            result = json.loads((self.folder / f"{deck}.json").read_text())
            self.assertTrue(result["deck"]["path"].endswith(f"{deck}.yaml"))
        self.assertEqual(len((self.folder / "all.csv").read_text().splitlines()), 3)


class Refused(TestCase):
    def refused(self, done, pattern):
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, rf"\Aminiapp: error: [^\n]*{pattern}[^\n]*\n\Z")

    def test_several_ranks_and_one_file(self):
        deck = self.deck(SHORT)
        for name in ("one.json", "{host}.json", "{deck}.json"):
            done = run(deck, "--json", self.folder / name, env=ranks(4))
            self.refused(done, r"found \S+ with 4 ranks, all of which would write this file; allowed: --fleet")
        done = run("--calibrate", self.folder / "device.yaml", env=ranks(4))
        self.refused(done, r"--calibrate: found \S+ with 4 ranks, all of which would write this file; allowed: one rank")
        # mpirun in an interactive step of one task
        done = run(deck, "--json", self.folder / "{host}.json",
                   env=ranks(4, OMPI_COMM_WORLD_LOCAL_SIZE="4", SLURM_STEP_TASKS_PER_NODE="1"))
        self.refused(done, r"found \S+ with 4 ranks, all of which would write this file; allowed: --fleet")
        self.assertEqual(self.files(), ["small.yaml"])

    def test_not_where_each_has_its_own(self):
        deck = self.deck(SHORT)
        self.assert_clean(run(deck, "--quiet", env=ranks(4)))
        self.assert_clean(run(deck, "--quiet", "--json", "/dev/null", env=ranks(4)))
        self.assert_clean(run(deck, "--quiet", "--json", self.folder / "{host}.json",
                              env=ranks(4, OMPI_COMM_WORLD_LOCAL_SIZE="1")))
        # A batch job's size is not a step's.
        self.assert_clean(run(deck, "--quiet", "--json", self.folder / "one.json",
                              env={**os.environ, "SLURM_JOB_ID": "1", "SLURM_NTASKS": "4"}))

    def test_a_rank_that_is_not_known(self):
        done = run(self.deck(SHORT), "--json", self.folder / "p-{rank}.json", env={**ALONE, "MV2_COMM_WORLD_SIZE": "2"})
        self.refused(done, r"found \S+ with 2 ranks, but no variable with the number of this rank; allowed: one of .*PALS_RANKID")
        self.assertEqual(self.files(), ["small.yaml"])

    def test_a_name_without_its_closing_brace(self):
        for name in ("p-{rank.json", "{hos", "p-{rank-{rank}.json"):
            self.refused(run(self.deck(SHORT), "--json", self.folder / name), r"--json: found \{\w+ in a file name; allowed: .*\{rank\}")

    def test_phase_together_without_a_fleet(self):
        for criterion in ("{metric: contention, max: 2}", "{metric: time, phase: together, max: 1}"):
            deck = self.deck(SMALL.replace("{metric: max_error, max: 1e-5}", criterion))
            self.refused(run(deck), r"small\.yaml:6:\d+: acceptance\[0\]: found .* without --fleet; allowed: with --fleet")
            self.assert_clean(run(deck, "--dry-run"))

    def test_options_of_fleets(self):
        deck = self.deck(SHORT)
        self.refused(run(deck, "--fleet", "--dry-run"), "--fleet excludes --dry-run")
        self.refused(run(deck, "--fleet", "--set", "sweep.chunks.count=[1, 2]"), "a sweep with --fleet")


if __name__ == "__main__":
    unittest.main()
