#!/usr/bin/env python3
"""References, baseline and compare, from a run to the verdict of another one."""

import json
import unittest

import jsonschema
import yaml
from planted import scaled, steady
from program import SCHEMAS, SMALL, TestCase, records, run

COMPARISON = json.loads((SCHEMAS / "overlap-comparison-1.schema.json").read_text())
CRITERIA = "acceptance: [{metric: throughput, order: by_engine, reference: given%s}]\n"
DECK = SMALL[: SMALL.index("acceptance")].replace("repetitions: 3", "repetitions: 8")
SMALLER = ("--set=workload.elements=65536", "--set=measure.repetitions=3")


class Results(TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.deck(DECK + CRITERIA % ", below: 99 %")
        self.first, self.second = self.folder / "a.json", self.folder / "b.json"
        self.assert_clean(run(self.path, "--json", self.first), 6)  # no reference yet
        self.result = steady(json.loads(self.first.read_text()))
        self.reference = self.folder / "reference.yaml"
        done = self.baseline(1, 1.001, below="3%")
        self.assert_clean(done)
        self.assertNotIn("raised", done.stdout)

    def baseline(self, *factors, spread=0, below=None):
        """The baseline of results that take so many times as long."""
        files = [self.folder / f"{chr(97 + i)}.json" for i in range(len(factors))]
        for file, factor in zip(files, factors):
            file.write_text(json.dumps(steady(self.result, factor, spread)))
        return run("baseline", "-o", self.reference, *files, *([f"--below={below}"] if below else []))

    def judged(self, *options):
        return run(self.path, "--reference", self.reference, *options)

    def change(self, **values):
        """Changes every entry of the reference file."""
        document = yaml.safe_load(self.reference.read_text())
        for entry in document["entries"]:
            entry.update(values)
        self.reference.write_text(yaml.safe_dump(document))

    def test_a_run_is_judged_by_its_own_baseline(self):
        entries = yaml.safe_load(self.reference.read_text())["entries"]
        self.assertIn(("by_engine", "throughput"), [(e["order"], e["metric"]) for e in entries])
        done = self.judged("--json", self.folder / "c.json")
        self.assert_clean(done)
        check = json.loads((self.folder / "c.json").read_text())["points"][0]["checks"][0]
        self.assertEqual(check["reference"]["file"], str(self.reference))
        self.assertAlmostEqual(check["limit"], check["reference"]["value"] * 0.01)
        self.change(value=1e9)
        self.assert_clean(self.judged(), 5)

    def tolerance(self):
        """Of throughput of by_engine."""
        entries = yaml.safe_load(self.reference.read_text())["entries"]
        [found] = [e["tolerance"] for e in entries if (e["order"], e["metric"]) == ("by_engine", "throughput")]
        return found

    def test_a_tolerance_is_at_least_the_interval_of_the_results(self):
        raised = r"; [0-9]+ tolerances? raised to the interval of the results, at most to 20.01 % \(time of "
        for spread, check, tolerance in ((0, self.assertNotRegex, "3 %"), (0.2, self.assertRegex, "16.67 %")):
            done = self.baseline(1, spread=spread, below="3%")
            self.assert_clean(done)
            check(done.stdout, raised)
            self.assertEqual(self.tolerance(), tolerance)

    def test_every_source_passes_by_the_new_reference(self):
        """Those that are slower than the tolerance for few devices, too."""
        for spread in (0, 0.01, 0.0734):
            done = self.baseline(1, 1.003, 1.0789, 1.001, spread=spread)
            self.assert_clean(done)
            self.assertIn(" tolerances raised ", done.stdout)
            for name in "abcd":
                self.assert_clean(run("merge", self.folder / f"{name}.json", "--reference", self.reference))

    def test_runs_of_one_device_spread_like_devices(self):
        self.assert_clean(self.baseline(1, 1.03, 1.06))
        self.assertEqual(self.tolerance(), "12.59 %")  # 3 * 1.4826 * MAD / median

    def test_results_that_do_not_agree_make_no_reference(self):
        self.reference.unlink()
        for factors in ((1, 1.95, 1.9), (1, 1.9, 1), (1, 2)):
            self.assert_error(self.baseline(*factors), 6, r"these results do not agree: (?:time|throughput) of \w+, alone of deck small would need a "
                              r"tolerance of [0-9.]+ % \(\S+[ab]\.json\); allowed: at most 25 %$")
        self.assert_error(self.baseline(1, spread=0.3, below="3%"), 6, "do not agree: time of .* 30.0 %")
        self.assertFalse(self.reference.exists())
        self.assert_clean(self.baseline(1, spread=0.3, below="40%"))

    def test_another_deck_or_machine_is_inconclusive(self):
        done = self.judged("--set=chunks.count=5")
        self.assert_clean(done, 6)
        self.assertEqual(records(done.stdout)["OVERLAP_CHECK"][0]["limit"], "nan")
        self.assertRegex(done.stdout, r"(?s)reference.yaml\s+was\s+made\s+for\s+deck\s+small@[0-9a-f]{7},\s+not\s+small;\s+to\s+make\s+one")
        self.assert_clean(self.judged("--set=measure.repetitions=9", "--set=title=Other"))
        self.change(device="Another GPU")
        done = self.judged()
        self.assert_clean(done, 6)
        self.assertRegex(done.stdout, r"(?s)reference.yaml\s+has\s+no\s+entry\s+for\s.*;\s+the\s+nearest\s+is\s+for\s+device")

    def test_references_are_read_before_anything_runs(self):
        for change, message in (
            ({"tolerance": "-3 %"}, r"entries\[0\]\.tolerance: found '-3 %'; allowed: "),
            ({"tolerance": "3 %", "order": "by_engine", "metric": "time", "unit": "s"}, r"entries\[1\]: found a second entry for the subject of entries\[0\]"),
        ):
            self.change(**change)
            self.assert_error(self.judged(), 3, message)
        self.reference.write_text("schema: overlap-reference/2\nentries: []\n")
        self.assert_error(self.judged(), 3, ":1:9: schema: found 'overlap-reference/2'; allowed: overlap-reference/1")
        self.reference.unlink()
        self.assert_error(self.judged(), 3, "no such reference file")
        self.path.write_text(DECK)
        self.assert_error(run(self.path, "--reference=x.yaml"), 3, "--reference: found no criterion")

    def test_baseline_refuses_what_is_no_measured_result(self):
        prediction, note = self.folder / "p.json", self.folder / "note.json"
        self.assert_clean(run(self.path, "--predict=host", "--json", prediction))
        note.write_text("{}")
        for file, message in ((prediction, "found a prediction"), (note, "schema: found nothing"), (self.path, "no valid JSON")):
            self.assert_error(run("baseline", "-o", self.folder / "new.yaml", self.first, file), 1, message)
        wrong = self.folder / "wrong.json"
        limit = "--set=acceptance=[{metric: max_error, max: 0}]"
        self.assertEqual(run("increment", limit, *SMALLER, "--quiet", "--json", wrong).returncode, 2)
        done = run("baseline", "-o", self.folder / "new.yaml", wrong)
        self.assert_error(done, 1, "wrong.json: found wrong data; allowed: results with correct data")
        self.assertEqual(run("compare", "--quiet", wrong, wrong).stdout, "OVERLAP_RESULT verdict=FAIL data=WRONG exit=2\n")
        self.assertFalse((self.folder / "new.yaml").exists())

    def test_baseline_refuses_results_that_did_not_pass(self):
        slow, new = self.folder / "slow.json", self.folder / "new.yaml"
        limit = "--set=acceptance=[{metric: time, max: 1 ns}]"
        self.assertEqual(run("increment", limit, *SMALLER, "--quiet", "--json", slow).returncode, 5)
        done = run("baseline", "-o", new, self.first, slow)
        self.assert_error(done, 1, r"error: found \S+/slow.json \(FAIL\); allowed: results that passed or lack only a reference$")
        self.assertFalse(new.exists())

    def test_what_is_no_result_file_is_refused(self):
        result = self.first.read_text()
        other = self.folder / "other.json"
        for text, message in (
            ('{"results": []}', "other.json: results: found no result; allowed: one per deck"),
            (result.replace('"acceptance": [', f'"acceptance": [{"[" * 200000}{"]" * 200000},', 1), "no valid JSON"),
            (result.replace('"doubtful": false', '"doubtful": 0').replace('"doubtful": true', '"doubtful": 0'),
             r"points\[0\]\.runs\[0\]\.trace\.doubtful: found 0; allowed: true, false"),
        ):
            other.write_text(text)
            with self.subTest(message):
                self.assert_error(run("compare", "--side-by-side", self.first, other), 1, message)
                if "doubtful" not in message:
                    self.assert_error(run("compare", other, self.first), 1, message)
                    self.assertIn(message, run("merge", other).stdout)

    def test_compare_finds_what_became_slower(self):
        out, page = self.folder / "comparison.json", self.folder / "comparison.html"
        result = json.loads(self.first.read_text())
        result["points"][0]["runs"] = [scaled(entry, 10) for entry in result["points"][0]["runs"]]
        self.second.write_text(json.dumps(result))
        done = run("compare", self.first, self.second, "--json", out, "--report", page)
        self.assert_clean(done, 5)
        comparison = json.loads(out.read_text())
        jsonschema.Draft202012Validator(COMPARISON).validate(comparison)
        self.assertEqual({change["trend"] for change in comparison["comparisons"][0]["changes"]}, {"slower"})
        self.assertIn("Comparison: FAIL", page.read_text())
        self.assert_error(run("show", out, "--csv", self.folder / "x.csv"), 3, "which is no result file; allowed: --json, --report")
        self.assert_clean(run("compare", self.second, self.first))
        before = self.first.read_text()
        self.assert_error(run("compare", self.first, self.second, "--json", self.first), 3, "found .*, which is also an input")
        self.assertEqual(self.first.read_text(), before)
        self.assert_error(run("compare", self.first), 3)
        for option in ("--json", "--report"):
            self.assert_error(run("compare", self.first, self.second, option, ""), 3, f"{option}: found ''; allowed: ")
        self.assert_error(run("compare", self.first, self.folder / "none.json"), 1, "cannot be read")

    def test_swept_keys_are_no_difference_between_sweeps(self):
        for name, counts in (("a.json", "[1, 2]"), ("b.json", "[2, 1]")):
            self.assert_clean(run(self.deck(), f"--set=sweep.chunks.count={counts}", "--quiet", "--json", self.folder / name))
        done = run("compare", self.first, self.second)
        self.assertRegex(done.stdout, r"sweep\.chunks\.count +\[1, 2\] +\[2, 1\]")
        self.assertNotRegex(done.stdout, r"(?m)^(differs:?)? *chunks\.count")

    def test_a_sweep_is_compared_with_one_of_its_points(self):
        self.assert_clean(run(self.deck(), "--set=sweep.chunks.count=[1, 2]", "--quiet", "--json", self.first))
        self.assert_clean(run(self.deck(), "--set=chunks.count=2", "--quiet", "--json", self.second))
        for a, b, missing in ((self.first, self.second, "b"), (self.second, self.first, "a")):
            self.assert_clean(run("compare", a, b), 6)
            out = self.folder / "comparison.json"
            self.assert_clean(run("compare", "--common", a, b, "--json", out))
            comparison = json.loads(out.read_text())
            jsonschema.Draft202012Validator(COMPARISON).validate(comparison)
            for change in comparison["comparisons"][0]["changes"]:
                common = change["point"] == "chunks.count 2"
                self.assertEqual(change[missing] is not None, common)
                self.assertEqual(change["verdict"], "PASS" if common and change["metric"] == "max_error" else None)
        self.assert_clean(run(self.deck(), "--set=chunks.count=4", "--quiet", "--json", self.second))
        self.assert_clean(run("compare", "--common", self.first, self.second), 6)
        self.assert_error(run("compare", "--common", "--side-by-side", self.first, self.second), 3, "--common")

    def test_compare_with_wrong_data_is_wrong_data(self):
        result = json.loads(self.first.read_text())
        result["points"][0]["runs"][0]["verified"] = False
        self.second.write_text(json.dumps(result))
        done = run("compare", self.first, self.second)
        self.assert_error(done, 2, r"b.json: points\[0\].runs\[0\].verified: found wrong data; allowed: true")
        self.assertIn("OVERLAP_RESULT verdict=FAIL data=WRONG exit=2\n", done.stdout)

    def test_a_comparison_says_that_another_file_could_not_be_written(self):
        out = self.folder / "comparison.json"
        done = run("compare", self.first, self.first, "--json", out, "--report", "/dev/full")
        self.assertEqual(done.returncode, 1)
        comparison = json.loads(out.read_text())
        self.assertEqual((comparison["verdict"], comparison["exit_code"]), ("ERROR", 1))
        jsonschema.Draft202012Validator(COMPARISON).validate(comparison)


if __name__ == "__main__":
    unittest.main()
