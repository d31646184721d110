#!/usr/bin/env python3
"""What needs packages from PyPI (reframe-hpc, junitparser, lxml): ReFrame runs its check of ci/integrations, and others
read the JUnit file. `ci/check.sh integrations` runs it in an environment that has them; a package that is missing fails."""

import copy
import json
import pathlib
import re
import subprocess
import sys
import unittest

import junitparser
from lxml import etree

from program import MINIAPP, SMALL, SOURCE, TestCase, all_of, run

CHECK = SOURCE / "ci/integrations/reframe/overlap.py"
SLOW = SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: throughput, order: by_engine, min: 1e6}")
SUMMARY = re.compile(r"Ran (\d+)/(\d+) test case\(s\) from (\d+) check\(s\) \((\d+) failure\(s\), .* (\d+) skipped")


class ReFrame(TestCase):
    def reframe(self, deck, expected=None, code=None, check=CHECK, options=None):
        """Runs the check; returns its exit code, its counts (ran, of, checks, failures, skipped) and its output. `code`:
        what the program ends with, whatever it found. `options`: for the program, in ReFrame's notation."""
        program = self.folder / "miniapp"
        program.write_text(f'#!/bin/sh\n"{MINIAPP}" "$@"\nexit {"$?" if code is None else code}\n')
        program.chmod(0o755)
        settings = [f"overlap.executable={program}", f"overlap.deck={deck}"]
        if expected:
            settings.append(f"overlap.expected={expected}")
        if options:
            settings.append(f"overlap.options={options}")
        done = subprocess.run(
            [pathlib.Path(sys.executable).parent / "reframe", "-c", check, "-r", "--nocolor", "--prefix", self.folder / "rfm",
             *(word for setting in settings for word in ("-S", setting))],
            cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        summary = SUMMARY.search(done.stdout)
        return done.returncode, tuple(map(int, summary.groups())) if summary else None, done.stdout

    def assert_fails(self, reason, *arguments, **options):
        result, counts, output = self.reframe(*arguments, **options)
        self.assertEqual((result, counts), (1, (1, 1, 1, 1, 0)), output)
        self.assertRegex(output, rf"(?m)^  \* Reason: {reason}")

    def test_passes(self):
        result, counts, output = self.reframe(self.deck(), "Serial/by_engine/throughput:1e-6")
        self.assertEqual((result, counts), (0, (1, 1, 1, 0, 0)), output)
        for figure in ("sequential/throughput", "depth_first/throughput", "by_engine/throughput"):
            self.assertRegex(output, rf"(?m)^P: Serial/{figure}: [\d.e+-]+ GB/s")

    def test_names_the_figure_that_misses_its_reference(self):
        self.assert_fails(r"performance error: failed to meet reference\(s\): Serial/by_engine/throughput=[\d.]+ GB/s, expected "
                          r"10000\.0 \(l=9500\.0, u=inf\)", self.deck(), "Serial/by_engine/throughput:10000")

    def test_fails_where_a_figure_was_not_measured(self):
        self.assert_fails("performance error: not measured: GPU-0/by_engine/throughput", self.deck(),
                          "GPU-0/by_engine/throughput:1")

    def test_names_the_criterion_that_fails(self):
        self.assert_fails(r"performance error: failed to meet reference\(s\): Serial/by_engine/throughput passed=0 1, expected 1 ",
                          self.deck(SLOW))

    def test_gives_the_program_its_options(self):
        deck = self.deck(SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: h2d_rate, reference: given}"))
        self.assert_fails("sanity error: miniapp ended with exit code 6:", deck, options="--reference,h200")

    def test_skips_what_this_build_lacks(self):
        result, counts, output = self.reframe("limits/increment_16mib")
        self.assertEqual((result, counts), (0, (0, 1, 1, 0, 1)), output)

    def test_other_exit_codes_fail_its_sanity(self):
        for code in (1, 2, 3, 4, 6, 130):
            with self.subTest(code=code):
                self.assert_fails(f"sanity error: miniapp ended with exit code {code}:", self.deck(), code=code)

    def test_a_check_that_does_not_load_shows_in_the_counts_alone(self):
        """Why its users must count."""
        broken = self.folder / "broken.py"
        broken.write_text("raise RuntimeError\n")
        result, counts, output = self.reframe(self.deck(), check=broken)
        self.assertNotEqual(counts, (1, 1, 1, 0, 0))
        self.assertNotIn("FAILED", output)


class Junit(TestCase):
    XSD = etree.XMLSchema(etree.parse(SOURCE / "tests/data/junit.xsd"))

    def setUp(self):
        super().setUp()
        self.target = self.folder / "out.xml"

    def written(self, *arguments):
        run(*arguments, "--quiet", "--junit", self.target)
        return etree.parse(self.target)

    def decks(self):
        sweep = SMALL + "sweep: {chunks.count: [1, 2]}\n"
        lacking = "workload: {kind: rowsum, rows: 2 Ti}\n"
        return ([self.deck(), self.deck(SLOW, "slow & slower.yaml"), "limits/increment_16mib"], [self.deck(sweep, "sweep.yaml")],
                [self.deck(lacking, "lacking.yaml")], [self.deck(SMALL, "predicted.yaml"), "--predict=h200"])

    def test_is_valid(self):
        for arguments in self.decks():
            document = self.written(*arguments)
            self.assertTrue(self.XSD.validate(document), self.XSD.error_log)

    def test_of_a_fleet_is_valid(self):
        results, hosts = [self.folder / "a.json", self.folder / "b.json"], self.folder / "hosts"
        hosts.write_text("gone\n")
        run(self.deck(SLOW), "--json", results[0])
        results[1].write_text("{")
        document = self.written("merge", *results, "--expect", hosts)
        self.assertTrue(self.XSD.validate(document), self.XSD.error_log)
        self.assertEqual([len(document.findall(f".//{kind}")) for kind in ("testcase", "failure", "error")], [3, 2, 1])

    def test_the_schema_finds_faults(self):
        """Each change makes a valid file an invalid one."""
        def change(path, action):
            document = copy.deepcopy(valid)
            action(document.find(path))
            return document
        valid = self.written(self.deck(SLOW))
        faults = {
            "no time": change("testsuite", lambda node: node.attrib.pop("time")),
            "a time zone": change("testsuite", lambda node: node.set("timestamp", "2026-01-31T12:00:00Z")),
            "a name twice": change("testsuite", lambda node: node[2].set("name", node[1].get("name"))),
            "no class": change("testsuite/testcase", lambda node: node.attrib.pop("classname")),
            "no type": change("testsuite/testcase/failure", lambda node: node.attrib.pop("type")),
            "another element": change("testsuite/testcase/failure", lambda node: setattr(node, "tag", "flop")),
            "no text": change("testsuite/testcase/failure", lambda node: setattr(node, "text", "")),
        }
        self.assertTrue(self.XSD.validate(valid), self.XSD.error_log)
        for fault, document in faults.items():
            self.assertFalse(self.XSD.validate(document), fault)

    def test_junitparser_reads_it(self):
        self.written(self.deck(), self.deck(SLOW, "slow.yaml"), "limits/increment_16mib")
        suites = junitparser.JUnitXml.fromfile(str(self.target))
        counts = {suite.name: (suite.tests, suite.failures, suite.errors, suite.skipped) for suite in suites}
        self.assertEqual(counts, {"small": (4, 0, 0, 0), "slow": (2, 1, 0, 0), "increment_16mib": (1, 0, 0, 1)})
        (failed,) = [case for suite in suites for case in suite if any(isinstance(r, junitparser.Failure) for r in case.result)]
        self.assertEqual(failed.name, "slow/alone/by_engine/throughput")
        self.assertRegex(failed.result[0].text, r"\Athroughput of by_engine: .* limit >= 1000000")

    def test_says_the_same_as_the_result_file(self):
        other = self.folder / "out.json"
        self.written(self.deck(SLOW), "--json", other)
        result = json.loads(other.read_text())
        (suite,) = junitparser.JUnitXml.fromfile(str(self.target))
        self.assertEqual([case.classname for case in suite], 2 * [f"{result['host']['name']}.{result['build']['backend']}"])
        (check,) = all_of(result, "checks")
        self.assertEqual([entry.text.split("\n")[0] for case in suite for entry in case.result], [check["text"]])


if __name__ == "__main__":
    unittest.main()
