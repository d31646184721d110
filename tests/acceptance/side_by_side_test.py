#!/usr/bin/env python3
"""`compare --side-by-side`: every number of text, CSV and page of five machines, against what the result files say."""

import csv
import io
import itertools
import json
import math
import re
import unittest
import xml.etree.ElementTree as ET

from machines import NOT_BUILT, machines
from program import TestCase, all_of, run

DECKS = ("studies/increment", "studies/rowsum")
SMALL = ("--set=chunks.count=4", "--set=issue.lanes=2")
SIZES = {"studies/increment": "--set=workload.elements=65536", "studies/rowsum": "--set=workload.rows=512"}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "": 1}
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"


def ratio(a, b):
    """Hodges and Lehmann's estimate of a / b with the interval of Mann and Whitney's test."""
    ratios = sorted(x / y for x in a for y in b)
    ways = {(0, 0): [1]}  # by sizes: how many arrangements have each number of pairs
    for m, n in itertools.product(range(len(a) + 1), range(len(b) + 1)):
        if (m, n) != (0, 0):
            counts = [0] * (m * n + 1)
            for size, moved in (((m - 1, n), n), ((m, n - 1), 0)):
                for pairs, count in enumerate(ways.get(size, [])):
                    counts[pairs + moved] += count
            ways[m, n] = counts
    total, tail, k = math.comb(len(a) + len(b), len(a)), 0, 0
    counts = ways[len(a), len(b)]
    while (tail := tail + counts[k] / total) <= 0.025:
        k += 1
    k = max(0, k - 1)
    middle = len(ratios) // 2
    value = ratios[middle] if len(ratios) % 2 else math.sqrt(ratios[middle - 1] * ratios[middle])
    return value, ratios[k], ratios[-1 - k]


def entries_of(documents):
    """Runs by title of the deck, order and column."""
    return {(result["title"], entry["order"], column): entry for column, document in enumerate(documents)
            for result in document["results"] for entry in all_of(result, "runs")}


def numbers(cell):
    """The numbers of a cell in s; a unit holds for those before it, too."""
    found = [(float(number), unit) for number, unit in re.findall(rf"({NUMBER})(?: (s|ms|us|ns)(?!\w))?", cell)]
    return [number * UNITS[unit or found[-1][1]] for number, unit in found]


def tables(html):
    """Of a page: texts by row and column, the headings first."""
    found = (ET.fromstring(table) for table in re.findall("<table>.*?</table>", html, re.DOTALL))
    return [[["".join(cell.itertext()) for cell in row] for row in table.iter("tr")] for table in found]


class SideBySide(TestCase):
    def setUp(self):
        super().setUp()
        files = []
        for option in (("--device=host",), ("--predict=h200",)):
            results = []
            for deck in DECKS:  # one by one: each needs its own size
                out = self.folder / "one.json"
                self.assert_clean(run(deck, *SMALL, SIZES[deck], *option, "--json", out))
                results.append(json.loads(out.read_text()))
            files.append(self.folder / f"{len(files)}.json")
            files[-1].write_text(json.dumps({"results": results}))
        self.paths = machines(*files, self.folder / "machines")
        self.documents = [json.loads(path.read_text()) for path in self.paths]
        self.entries = entries_of(self.documents)

    def compare(self, *options):
        table, page = self.folder / "out.csv", self.folder / "out.html"
        done = run("compare", "--side-by-side", *self.paths, *options, "--csv", table, "--report", page)
        self.assert_clean(done)
        return done.stdout, list(csv.DictReader(io.StringIO(table.read_text()))), page.read_text()

    def check_csv(self, rows, to):
        """Returns the rows by title, order, metric and column."""
        wanted = {(title, order, "time" if key == "time_s" else key, column): value
                  for (title, order, column), entry in self.entries.items() for key, value in entry.items()
                  if isinstance(value, dict) and "median" in value and key != "issue_s"
                  and (order, key) != ("sequential", "speedup")}
        found = {(row["deck"], row["order"], row["metric"], int(row["column"]) - 1): row for row in rows}
        self.assertEqual(len(rows), len(found))
        self.assertEqual({key for key in found if key[1] != "-"}, set(wanted))
        for key, value in wanted.items():
            for name, number in value.items():
                self.assertEqual(float(found[key][name]), number, (key, name))
        for (title, order, column), entry in self.entries.items():
            row, other = found[title, order, "time", column], self.entries.get((title, order, to))
            self.assertEqual((row["file"], row["to"]), (str(self.paths[column]), str(to + 1)))
            of_ratio = [row[name] for name in ("ratio", "ratio_lo", "ratio_hi")]
            if other is None:
                self.assertEqual(of_ratio, [""] * 3)
                continue
            wanted_ratio = (1, 1, 1) if column == to else ratio(entry["samples_s"], other["samples_s"])
            for words, number in zip(of_ratio, wanted_ratio):
                self.assertAlmostEqual(float(words) / number, 1, 9, (title, order, column))
        return found

    def check_table(self, table, title, found, to):
        """The rows of a deck, each with its numbers as the CSV has them, rounded."""
        self.assertEqual(table[0], ["order", *map(str, range(1, len(self.paths) + 1))])
        seen = set()
        for name, *cells in table[1:]:
            if not name.startswith("  "):
                order = name.replace("device", "-")
                continue
            name = name.strip()
            metric = "time" if name in ("95 % interval", f"time / column {to + 1}") else name
            for column, cell in enumerate(cells):
                row = found.get((title, order, metric, column))
                names = {"95 % interval": ("lo", "hi"), f"time / column {to + 1}": ("ratio", "ratio_lo", "ratio_hi")}.get(name, ("median",))
                wanted = [float(row[key]) for key in names if row[key]] if row else []
                where = (title, order, name, column + 1, cell)
                if name == "overlap_efficiency" and cell == "-" and wanted:
                    baseline, bound = self.entries[title, "sequential", column]["time_s"]["median"], self.entries[title, order, column]["bound_s"]
                    self.assertLess(1 - bound / baseline, 0.1, where)  # overlap could save too little
                    wanted = []
                if wanted == [1, 1, 1]:
                    wanted = [1]
                seen.add((title, order, metric, column))
                self.assertEqual(len(numbers(cell)), len(wanted), where)
                for number, value in zip(numbers(cell), wanted):
                    self.assertLessEqual(abs(number - value), 5.1e-4 * abs(value), where)
        self.assertLessEqual({key for key in found if key[0] == title}, seen)

    def test_every_number_is_what_the_files_say(self):
        for to, options in ((0, ()), (3, ("--to=4",))):
            text, rows, page = self.compare(*options)
            found = self.check_csv(rows, to)
            for deck in page.split("<h2>")[1:]:
                title = deck.partition("</h2>")[0]
                table = next(table for table in tables(deck) if table[0][0] == "order")
                self.check_table(table, title, found, to)
                lines = text[text.index(f"\n{title}\n"):].splitlines()
                first = next(number for number, line in enumerate(lines) if re.match("order  ", line))
                for row, line in zip(table, lines[first:]):
                    self.assertEqual(re.split(r" {2,}", line.strip()), [cell.strip() for cell in row if cell])
                captions = re.findall(r"<figcaption><b>(\d+) [^<]*</b><span>([^<;]*)", deck)
                wanted = [(str(key[2] + 1), entry) for key, entry in sorted(self.entries.items(), key=lambda item: item[0][2])
                          if key[0] == title]
                self.assertEqual(sorted((column, ", no timeline" in words) for column, words in captions),
                                 sorted((column, entry["timeline"] is None) for column, entry in wanted))
                for number, (column, words) in enumerate(captions):
                    medians = [entry["time_s"]["median"] for other, entry in wanted if other == column]
                    self.assertTrue(any(abs(numbers(words)[0] - median) <= 5.1e-4 * median for median in medians), words)
            self.assertTrue(text.endswith("\nOVERLAP_RESULT verdict=PASS data=OK exit=0\n"))

    def test_what_is_missing_is_empty(self):
        text, rows, page = self.compare()
        self.assertIn(f"column 4: {NOT_BUILT}\n", text)
        self.assertIn(f"<p>column 4: {NOT_BUILT}</p>", page)
        self.assertRegex(text, r"(?m)^issue.mechanism +streams +graph +streams +streams +streams$")
        self.assertIn(["issue.mechanism", "streams", "graph", "streams", "streams", "streams"], itertools.chain(*tables(page)))
        self.assertEqual({(row["column"], row["issue.mechanism"]) for row in rows},
                         {("1", "streams"), ("2", "graph"), ("3", "streams"), ("4", "streams"), ("5", "streams")})
        self.assertEqual({row["host.name"] for row in rows if row["column"] == "3"}, {"node-rtx"})
        self.assertIn("doubtful: +7.0 % against the median", page)
        self.assertNotIn("http", page.replace("http://www.w3.org/2000/svg", ""))

    def test_usage(self):
        paths = self.paths[:2]
        for to in ("0", "3", "graph"):
            self.assert_error(run("compare", "--side-by-side", *paths, f"--to={to}"), 3, f"--to: found '{to}'; allowed: 1 to 2")
        for option in (["--to=1"], ["--csv", self.folder / "x.csv"]):
            self.assert_error(run("compare", *paths, *option), 3, "--side-by-side")
        for option in ("--below=3%", f"--json={self.folder / 'x.json'}"):
            self.assert_error(run("compare", "--side-by-side", *paths, option), 3, f"(?=.*--side-by-side).*{option.partition('=')[0]}")
        self.assert_error(run("compare", "--side-by-side", *paths, "--csv", paths[0]), 3, "which is also an input")
        again = self.folder / "folder"
        again.mkdir()
        for name in ("a", "b"):
            (again / f"{name}.json").write_text(paths[0].read_text())
        self.assert_error(run("compare", "--side-by-side", again, paths[0]), 1, "found a second result of 'Study: increment")


if __name__ == "__main__":
    unittest.main()
