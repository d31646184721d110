#!/usr/bin/env python3
"""A build without Kokkos does all that needs no device, and says why it runs no deck."""

import json
import unittest

from program import SOURCE, TestCase, run

MEASURED = SOURCE / "tests/fuzz/corpus/result/host.json"


class WithoutKokkos(TestCase):
    def test_a_deck_is_skipped_with_the_reason(self):
        for options in ([], ["--fleet"], ["--set", "sweep.chunks.count=[2, 4]", "--quiet"]):
            with self.subTest(options=options):
                file = self.folder / f"{len(options)}.json"
                done = run("rowsum", *options, "--json", file)
                self.assert_error(done, 77, "rowsum.yaml: .*allowed: ")
                self.assertEqual(done.stdout.splitlines()[-1], "OVERLAP_RESULT verdict=SKIPPED data=NONE exit=77")
                result = json.loads(file.read_text())
                self.assert_valid(result)
                self.assertEqual((result["verdict"], result["exit_code"]), ("SKIPPED", 77))
                self.assertIn(result["error"], done.stderr)
        self.assert_error(run("--calibrate", self.folder / "here.yaml"), 77, "without Kokkos")

    def test_decks_are_predicted(self):
        file, page = self.folder / "predicted.json", self.folder / "page.html"
        done = run("increment", "--predict", "h200", "--json", file, "--report", page)
        self.assert_clean(done)
        self.assertIn("predicted", done.stdout)
        self.assertIn("<svg", page.read_text())
        result = json.loads(file.read_text())
        self.assert_valid(result)
        self.assertEqual(result["build"]["kokkos_version"], "none")
        self.assert_clean(run("show", file))

    def test_information(self):
        done = run("increment", "--dry-run")
        self.assert_clean(done)
        self.assertIn("depth_first: 12 tasks", done.stdout)
        done = run("--list")
        self.assert_clean(done)
        self.assertIn("none  Kokkos none", done.stdout)
        self.assertIn("Kokkos none, back end none", run("--version").stdout)

    def test_results_are_merged_compared_and_shown(self):
        reference = self.folder / "reference.yaml"
        self.assert_clean(run("baseline", "-o", reference, MEASURED))
        for command in (["merge", "--reference", reference, MEASURED], ["compare", MEASURED, MEASURED],
                        ["show", MEASURED]):
            with self.subTest(command=command[0]):
                page = self.folder / f"{command[0]}.html"
                done = run(*command, "--report", page)
                self.assert_clean(done)
                self.assertIn("OVERLAP_RESULT verdict=PASS", done.stdout)
                self.assertIn("PASS", page.read_text())


if __name__ == "__main__":
    unittest.main()
