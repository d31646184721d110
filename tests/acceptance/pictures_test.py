#!/usr/bin/env python3
"""The pictures of timelines: SVG, page and trace of real runs and of predictions."""

import collections
import json
import os
import re
import shlex
import unittest
import xml.etree.ElementTree

from program import NOT_BEGUN, SMALL, SOURCE, TestCase, all_of, run

SVG = "{http://www.w3.org/2000/svg}"
STAGES = {"h2d", "kernel", "d2h", "host", "default_stream", "query"}
PREDICT = ("--predict", "h200")
RUNS = ((), PREDICT)  # --timeline and --trace work the same in both
ODD = """title: '<b>"&</script><!-- µ'\n""" + """\
workload:
  kind: custom
  tasks:
    - {name: HD, stage: h2d, lane: 1, bytes: 64 KiB}
    - {name: K, stage: kernel, lane: 1, duration: 100 us}
    - {name: Q, stage: query, lane: 1}
    - {name: D, stage: d2h, lane: 2, bytes: 64 KiB, chunk: 1, after: [K]}
    - {name: C, stage: host, duration: 100 us, after: [D]}
issue: {orders: [sequential, custom]}
measure: {warmup: 1, repetitions: 3}
"""


def embedded(html, name):
    """What the page carries in a script."""
    return json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', html, re.S)[1])


def timelines(result):
    """(process, entries) for every timeline of a result, in order."""
    for entry in all_of(result, "runs"):
        for key, words in (("timeline", "measured"), ("predicted_timeline", "predicted")):
            if entry[key] is not None:
                yield entry, words, entry[key]


class Pictures(TestCase):
    def drawn(self, *arguments, code=0):
        """Runs the program with all pictures; SVG, page and trace as text, and the result file."""
        names = [self.folder / name for name in ("t.svg", "t.html", "trace.json", "result.json")]
        options = zip(("--timeline", "--timeline", "--trace", "--json"), names)
        self.assert_clean(run(*arguments, "--quiet", *(word for pair in options for word in pair)), code)
        svg, html, trace, result = (name.read_text(encoding="utf-8") for name in names)
        return svg, html, json.loads(trace), json.loads(result)

    def assert_bars(self, picture, entries):
        """Every task is a bar within its picture."""
        tasks = 0
        for plot in (plot for plot in picture.iter(f"{SVG}svg") if plot.get("class", "").startswith("plot")):
            for bar in plot.iter(f"{SVG}rect"):
                self.assertIn(bar.get("class").split()[0], STAGES)
                x, width = float(bar.get("x")), float(bar.get("width"))
                self.assertGreaterEqual(x, 0)
                self.assertGreater(width, 0)
                self.assertLessEqual(x + width, float(plot.get("width")) + 0.01)
                tasks += 1
        self.assertEqual(tasks, entries)

    def assert_svg(self, svg, results):
        root = xml.etree.ElementTree.fromstring(svg)
        self.assert_bars(root, sum(len(entries) for result in results for _, _, entries in timelines(result)))
        words = "".join(root.itertext())
        for entry in (entry for result in results for entry in all_of(result, "runs")):
            self.assertIn(entry["order"], words)

    def assert_page(self, html, document):
        self.assertEqual(embedded(html, "result"), document)
        results = document.get("results", [document])
        expected = [entries for result in results for _, _, entries in timelines(result)]
        pictures = re.findall(r'<svg [^>]*class="timeline".*?</svg>\s*</div>', html, re.DOTALL)
        self.assertEqual(len(pictures), len(expected))
        for picture, entries in zip(pictures, expected):
            self.assert_bars(xml.etree.ElementTree.fromstring(picture.removesuffix("</div>").rstrip()), len(entries))
        without = html.replace("http://www.w3.org/2000/svg", "")
        self.assertIsNone(re.search(r"<[^>]+\s(?:src|href)=|https?:|@import", without), "needs nothing from outside")

    def assert_trace(self, trace, results):
        events = trace["traceEvents"]
        slices = collections.defaultdict(list)
        names, processes = {}, {}
        for event in events:
            key = event.get("pid"), event.get("tid")
            if event["ph"] == "X":
                slices[key].append(event)
            elif event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                names[key] = event["args"]["name"]
        self.assertLessEqual(set(slices), set(names))
        for track in slices.values():  # one after the other, nothing half inside another
            for before, after in zip(track, track[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1e-6)
        expected = [timeline for result in results for timeline in timelines(result)]
        self.assertEqual(len(processes), len(expected))
        for pid, (entry, words, entries) in zip(sorted(processes), expected):
            self.assertIn(entry["order"], processes[pid])
            self.assertIn(words, processes[pid])
            for lanes in (True, False):  # every task once among the lanes, once among the engines
                found = {
                    slice["args"]["task"]: slice
                    for key, track in slices.items()
                    for slice in track
                    if key[0] == pid and names[key].startswith("engine ") != lanes
                }
                self.assertEqual(sorted(found), list(range(len(entries))))
                for task, slice in found.items():
                    self.assertAlmostEqual(slice["ts"], 1e6 * entries[task]["start_s"], delta=2e-3)
                    self.assertEqual(slice["cat"], entries[task]["stage"])

    def assert_all(self, drawn):
        svg, html, trace, document = drawn
        results = document.get("results", [document])
        self.assert_svg(svg, results)
        self.assert_page(html, document)
        self.assert_trace(trace, results)

    def test_of_one_deck(self):
        for arguments in RUNS:
            with self.subTest(arguments=arguments):
                self.assert_all(self.drawn(self.deck(), *arguments))

    def test_of_several_decks_and_odd_titles(self):
        decks = self.deck(ODD, "odd & <odd>.yaml"), self.deck()
        for arguments in RUNS:
            with self.subTest(arguments=arguments):
                self.assert_all(self.drawn(*decks, *arguments))

    def test_of_several_devices(self):
        drawn = self.drawn(self.deck(), *PREDICT, "--predict", "c2050")
        self.assert_all(drawn)
        self.assertIn("depth_first on c2050, predicted", json.dumps(drawn[2]))

    def test_the_picture_of_the_readme_is_what_its_command_draws(self):
        [command] = re.findall(r"^miniapp (.*--timeline order[.]svg.*?)$", SOURCE.joinpath("README.md").read_text().replace("\\\n", ""), re.M)
        self.assert_clean(run(*shlex.split(command), "--quiet", cwd=self.folder))
        drawn, shown = ((folder / "order.svg").read_text().split("</style>")[1] for folder in (self.folder, SOURCE / "docs"))
        self.assertEqual(drawn, shown)

    def test_svg_of_a_large_deck_is_small(self):
        settings = "--set=chunks.count=32", "--set=issue.lanes=32"
        orders = "--set=issue.orders=[depth_first, breadth_first, by_engine]"
        self.assert_clean(
            run(self.deck(), *PREDICT, *settings, orders, "--quiet", "--timeline", self.folder / "t.svg")
        )
        self.assertLess((self.folder / "t.svg").stat().st_size, 100_000)

    def test_bad_usage(self):
        for name in ("t.png", "t", "svg", "", "t.svg.gz"):
            self.assert_error(run(self.deck(), "--timeline", name), 3, "--timeline.*allowed: .*[.]svg")
        self.assert_error(run(self.deck(), "--trace", ""), 3, "--trace: found ''; allowed: FILE")
        for option, name in (("--timeline", "t.svg"), ("--trace", "t.json")):
            self.assert_error(run(option, name), 3, "requires DECK")
            self.assert_error(run("--list", option, name), 3, "requires DECK|excludes")

    def test_what_cannot_be_written_is_found_first(self):
        missing = self.folder / "missing"
        for arguments in RUNS:
            for option in (("--timeline", missing / "t.svg"), ("--trace", missing / "t.json")):
                done = run(self.deck(), *arguments, *option)
                self.assert_error(done, 1, "missing/t.*cannot write")
                self.assertTrue(NOT_BEGUN.fullmatch(done.stdout), done.stdout)

    def test_files_appear_whole_or_not_at_all(self):
        old = [self.folder / name for name in ("t.svg", "t.html", "t.json")]
        for file in old:
            file.write_text("old")
        bad = self.deck("workload: {}\n", "bad.yaml")
        done = run(bad, "--timeline", old[0], "--timeline", old[1], "--trace", old[2])
        self.assert_error(done, 3)
        self.assertEqual([file.read_text() for file in old], ["old"] * 3)
        self.assertEqual(self.files(), ["bad.yaml", "t.html", "t.json", "t.svg"])

    def test_shipped_decks(self):
        decks = sorted((SOURCE / "input/rennich").glob("*.yaml"))
        self.assert_all(self.drawn(*decks, "--predict", "c2050"))



if __name__ == "__main__":
    unittest.main()
