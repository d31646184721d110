#!/usr/bin/env python3
"""What a rank does without MPI: names of result files, and several ranks that know nothing of each other."""

import json
import os
import socket
import unittest

from program import SMALL, TestCase, run

SHORT = SMALL.replace("sequential, depth_first, by_engine", "sequential")


def ranks(count, **more):
    return {**os.environ, "OMPI_COMM_WORLD_SIZE": str(count), "OMPI_COMM_WORLD_RANK": "1", **more}


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

    def test_phase_together_without_a_fleet(self):
        for criterion in ("{metric: contention, max: 2}", "{metric: time, phase: together, max: 1}"):
            deck = self.deck(SMALL.replace("{metric: max_error, max: 1e-5}", criterion))
            self.refused(run(deck), r"small\.yaml:6:\d+: acceptance\[0\]: found .* without --fleet; allowed: with --fleet")
            self.assert_clean(run(deck, "--dry-run"))

    def test_options_of_fleets(self):
        deck = self.deck(SHORT)
        self.refused(run(deck, "--report", self.folder / "page.html"), "--report without --fleet")
        self.refused(run(deck, "--fleet", "--dry-run"), "--fleet and --dry-run are mutually exclusive")
        self.refused(run(deck, "--fleet", "--set", "sweep.chunks.count=[1, 2]"), "a sweep with --fleet")


if __name__ == "__main__":
    unittest.main()
