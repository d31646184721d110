#!/usr/bin/env python3
"""`compare --side-by-side`: every number of text, CSV, JSON and page of five machines, against what the result files say."""

import copy
import csv
import io
import itertools
import json
import math
import re
import statistics
import unittest
import xml.etree.ElementTree as ET

import jsonschema
from machines import NOT_BUILT, machines
from program import SCHEMAS, TestCase, all_of, run

SCHEMA = json.loads((SCHEMAS / "overlap-comparison-1.schema.json").read_text())
DECKS = ("studies/increment", "studies/rowsum")
SMALL = ("--set=chunks.count=4", "--set=issue.lanes=2")
SIZES = {"studies/increment": "--set=workload.elements=65536", "studies/rowsum": "--set=workload.rows=512"}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "%": 0.01, "": 1}
TITLES = ["NVIDIA H200, Cuda, streams", "NVIDIA H200, Cuda, graph", "NVIDIA GeForce RTX 5070 Ti, Cuda, streams",
          "AMD Instinct MI250X, HIP, streams"]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


# What the files say, without a line of the program.


def interval_of_median(samples):
    """Order statistics: the widest tail of a binomial distribution of at most 2.5 %; minimum and maximum without one."""
    samples, n, k, tail = sorted(samples), len(samples), 0, 0
    while (tail := tail + math.comb(n, k) / 2**n) <= 0.025:
        k += 1
    k = max(0, k - 1)
    return samples[k], samples[n - 1 - k]


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


def figures(entry, entries, chosen):
    """All figures of one of a result's runs; None: there is none."""
    samples, bound = entry["samples_s"], entry["bound_s"]
    baseline = next((other["samples_s"] for other in entries if other["order"] == "sequential"), None)
    found = {"time": statistics.median(samples), "interval": interval_of_median(samples), "bound": bound, "n": len(samples),
             "range": (min(samples), max(samples)), "speedup": None, "efficiency": None, "fraction": None, "ratio": None}
    if bound is not None:
        found["fraction"] = statistics.median(bound / time for time in samples)
    if baseline:
        found["speedup"] = statistics.median(b / t for b, t in zip(baseline, samples))
        hideable = bound is not None and 1 - bound / statistics.median(baseline) >= 0.1
        if hideable and entry["order"] != "sequential":
            found["efficiency"] = statistics.median((b - t) / (b - bound) for b, t in zip(baseline, samples))
    if chosen is entry:
        found["ratio"] = (1, 1, 1)
    elif chosen:
        found["ratio"] = ratio(samples, chosen["samples_s"])
    return found


def expected_of(documents, to=0):
    """By deck's title, then order: one set of figures per column; None: the column does not have the order."""
    decks = {}
    for column, document in enumerate(documents):
        for result in document["results"]:
            orders = decks.setdefault(result["title"], {})
            for entry in all_of(result, "runs"):
                orders.setdefault(entry["order"], [None] * len(documents))[column] = (entry, all_of(result, "runs"))
    return {title: {order: [cell and {**figures(*cell, (cells[to] or [None])[0]), "entry": cell[0]} for cell in cells]
                    for order, cells in orders.items()} for title, orders in decks.items()}


# What text and page print.

ROWS = {  # of tables: what the numbers of a cell are, and the digits behind the point; None: four significant ones
    "time": (lambda of: [of["time"]], None),
    "95 % interval": (lambda of: of["interval"], None),
    "speed-up": (lambda of: of["speedup"] and [of["speedup"]], 2),
    "overlap efficiency": (lambda of: of["efficiency"] and [of["efficiency"]], 3),
    "bound": (lambda of: of["bound"] and [of["bound"]], None),
    "bound / time": (lambda of: of["fraction"] and [of["fraction"]], 3),
    "time / column": (lambda of: of["ratio"] and (of["ratio"] if of["ratio"][1] != of["ratio"][2] else [1]), None),
}


def numbers(cell):
    """The numbers of a cell in s; a unit holds for those before it, too."""
    found = [(float(number), unit) for number, unit in re.findall(rf"({NUMBER.pattern})(?: (s|ms|us|ns|%)(?!\w))?", cell)]
    return [number * UNITS[unit or found[-1][1]] for number, unit in found]


class Checker(unittest.TestCase):
    """Raises AssertionError where something printed is not what the files say."""

    def cell(self, printed, wanted, digits, where):
        if wanted is None:
            self.assertEqual(printed, "-", where)
            return
        found = numbers(printed)
        self.assertEqual(len(found), len(wanted), f"{where}: {printed}")
        for number, value in zip(found, wanted):
            rounding = 0.51 * 10**-digits if digits is not None else 5.1e-4 * abs(value)
            self.assertLessEqual(abs(number - value), rounding, f"{where}: {printed}, not {value}")

    def table(self, rows, cells, to, where):
        """The rows of one order, name first."""
        wanted = {}
        for name, (of, digits) in ROWS.items():
            values = [of(cell) if cell else None for cell in cells]
            if any(value is not None for value in values):
                wanted[name if name != "time / column" else f"{name} {to + 1}"] = (values, digits)
        self.assertEqual([row[0] for row in rows], list(wanted), where)
        for name, *printed in rows:
            values, digits = wanted[name]
            self.assertEqual(len(printed), len(values), where)
            for column, (words, value) in enumerate(zip(printed, values)):
                self.cell(words, value, digits, (where, name, column + 1))

    def text(self, text, expected, to=0):
        for title, orders in expected.items():
            block = text[text.index(f"\n{title}\n"):]
            lines = iter(block.splitlines())
            for order, cells in orders.items():
                self.assertIn(order, lines, title)  # skips to its line
                rows = []
                for line in lines:
                    if not line.startswith("  "):
                        lines = itertools.chain([line], lines)
                        break
                    rows.append(re.split(r" {2,}", line.strip()))
                self.table(rows, cells, to, (title, order))

    def csv(self, text, expected, to=0):
        rows = list(csv.DictReader(io.StringIO(text)))
        place = iter(rows)
        for title, orders in expected.items():
            for order, cells in orders.items():
                for column, cell in enumerate(cells):
                    if cell is None:
                        continue
                    row = next(place)
                    where = (title, order, column + 1)
                    self.assertEqual((row["deck"], row["order"], row["column"], row["to"]),
                                     (title, order, str(column + 1), str(to + 1)))
                    of_ratio = cell["ratio"] or (None,) * 3
                    for key, value in (("n", cell["n"]), ("median_s", cell["time"]), ("lo_s", cell["interval"][0]),
                                       ("hi_s", cell["interval"][1]), ("min_s", cell["range"][0]), ("max_s", cell["range"][1]),
                                       ("speedup", cell["speedup"]), ("overlap_efficiency", cell["efficiency"]),
                                       ("bound_s", cell["bound"]), ("bound_fraction", cell["fraction"]),
                                       ("ratio", of_ratio[0]), ("ratio_lo", of_ratio[1]), ("ratio_hi", of_ratio[2])):
                        self.exact(float(row[key]) if row[key] else None, value, (where, key))
        self.assertIsNone(next(place, None))

    def exact(self, found, value, where):
        if value is None or found is None:
            self.assertEqual(found, value, where)
        else:
            self.assertLessEqual(abs(found - value), 1e-9 * abs(value), where)

    def json(self, document, expected, to=0):
        found = document["side_by_side"]
        self.assertEqual(found["to"], to + 1)
        self.assertEqual([deck["title"] for deck in found["decks"]], list(expected))
        for deck, orders in zip(found["decks"], expected.values()):
            self.assertEqual([order["order"] for order in deck["orders"]], list(orders))
            for order, cells in zip(deck["orders"], orders.values()):
                for column, cell in zip(order["columns"], cells, strict=True):
                    where = (deck["title"], order["order"])
                    self.assertEqual(column is None, cell is None, where)
                    if cell is None:
                        continue
                    times, of_ratio = column["time_s"], column["ratio"]
                    self.assertEqual(of_ratio is None, cell["ratio"] is None, where)
                    pairs = [(times["median"], cell["time"]), (times["lo"], cell["interval"][0]), (times["hi"], cell["interval"][1]),
                             (times["min"], cell["range"][0]), (times["max"], cell["range"][1]), (column["n"], cell["n"]),
                             (column["speedup"], cell["speedup"]), (column["overlap_efficiency"], cell["efficiency"]),
                             (column["bound_s"], cell["bound"]), (column["bound_fraction"], cell["fraction"])]
                    if of_ratio:
                        pairs += zip((of_ratio["value"], of_ratio["lo"], of_ratio["hi"]), cell["ratio"])
                    for number, value in pairs:
                        self.exact(number, value, where)

    def page(self, html, expected, to=0):
        """The tables of all orders and the captions of their timelines."""
        decks = html.split("<h2>")[1:]
        self.assertEqual([deck.partition("</h2>")[0] for deck in decks], list(expected))
        for deck, (title, orders) in zip(decks, expected.items()):
            table = next(table for table in tables(deck) if table[0][0] == "order")
            self.assertEqual(table[0][1:], [str(column + 1) for column in range(len(table[0]) - 1)])
            groups = {}
            for name, *cells in table[1:]:
                if name.startswith("  "):
                    groups[order].append([name.strip(), *cells])
                else:
                    order = name
                    groups[order] = []
            self.assertEqual(list(groups), list(orders), title)
            for order, cells in orders.items():
                self.table(groups[order], cells, to, (title, order))
            captions = re.findall(r"<figcaption><b>(\d+) [^<]*</b><span>([^<;]*)", deck)
            shown = [(order, column, cell) for order, cells in orders.items() for column, cell in enumerate(cells) if cell]
            self.assertEqual([int(column) - 1 for column, _ in captions], [column for _, column, _ in shown], title)
            for (_, words), (order, column, cell) in zip(captions, shown):
                where = (title, order, column + 1)
                self.assertEqual(words.endswith(", no timeline"), cell["entry"]["timeline"] is None, where)
                self.cell(words.removesuffix(", no timeline"), [cell["time"]], None, where)


def tables(html):
    """Of a page: texts by row and column, the headings first."""
    found = (ET.fromstring(table) for table in re.findall("<table>.*?</table>", html, re.DOTALL))
    return [[["".join(cell.itertext()) for cell in row] for row in table.iter("tr")] for table in found]


def altered(text, numbers_in):
    """The text with one number changed in a digit that counts, for each of its numbers there."""
    for number in numbers_in:
        old = number[0]
        digit = next(i for i, c in enumerate(old) if c in "123456789") if re.search("[1-9]", old) else len(old) - 1
        new = old[:digit] + str((int(old[digit]) + 1) % 10) + old[digit + 1:]
        yield old, text[: number.start()] + new + text[number.end():]


class SideBySide(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.checker = Checker()

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
        self.cpu = self.documents[-1]["results"][0]["host"]["cpu"]
        self.titles = [*TITLES, f"{self.cpu}, {self.documents[-1]['results'][0]['build']['backend']}, streams"]

    def compare(self, *options):
        out, table, page = (self.folder / f"out.{suffix}" for suffix in ("json", "csv", "html"))
        done = run("compare", "--side-by-side", *self.paths, *options, "--json", out, "--csv", table, "--report", page)
        self.assert_clean(done)
        document = json.loads(out.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        return done.stdout, table.read_text(), document, page.read_text()

    def test_every_number_is_what_the_files_say(self):
        for to, options in ((0, ()), (1, ("--to=2",)), (3, ("--to", TITLES[3]))):
            expected = expected_of(self.documents, to)
            text, table, document, page = self.compare(*options)
            self.checker.text(text, expected, to)
            self.checker.csv(table, expected, to)
            self.checker.json(document, expected, to)
            self.checker.page(page, expected, to)
            self.assertEqual([column["title"] for column in document["side_by_side"]["columns"]], self.titles)
            self.assertEqual((document["comparisons"], document["verdict"], document["exit_code"]), ([], "PASS", 0))
            self.assertTrue(text.endswith("\nOVERLAP_RESULT verdict=PASS data=OK exit=0\n"))

    def test_the_figures_are_those_of_the_measured_file(self):
        """The program wrote these itself: so the formulas above are right."""
        for result in self.documents[-1]["results"]:
            for entry in all_of(result, "runs"):
                found = figures(entry, all_of(result, "runs"), None)
                self.assertAlmostEqual(found["time"], entry["time_s"]["median"])
                self.assertEqual(found["interval"], (entry["time_s"]["lo"], entry["time_s"]["hi"]))
                for mine, key in (("speedup", "speedup"), ("efficiency", "overlap_efficiency"), ("fraction", "bound_fraction")):
                    if found[mine] is not None:
                        self.assertAlmostEqual(found[mine], entry[key]["median"])

    def test_the_checker_sees_every_wrong_number(self):
        expected = expected_of(self.documents)
        text, table, document, page = self.compare()
        begin = text.index("\nsequential\n")
        in_text = [n for line in re.finditer(r"^  (?!95 %|  ).*$|^  95 % interval.*$", text[begin:], re.MULTILINE)
                   for n in NUMBER.finditer(text, begin + line.start() + 22, begin + line.end())]
        in_page = [n for table in re.finditer(r"<table>\n<thead><tr><th[^>]*>order<.*?</table>", page, re.DOTALL)
                   for cell in re.finditer(r"<td>[^<]*</td>", table[0])
                   for n in NUMBER.finditer(page, table.start() + cell.start(), table.start() + cell.end())]
        captions = [n for words in re.finditer(r"</b><span>([^<;]*)", page) for n in NUMBER.finditer(page, *words.span(1))]
        in_csv = [n for line in re.finditer(r'(?<=json,)[\d.,e+-]+$', table, re.MULTILINE) for n in NUMBER.finditer(table, *line.span())]
        for check, whole, found, least in (
            (lambda changed: self.checker.text(changed, expected), text, in_text, 200),
            (lambda changed: self.checker.page(changed, expected), page, in_page[::7] + captions[::5], 20),
            (lambda changed: self.checker.csv(changed, expected), table, in_csv, 400),
        ):
            check(whole)
            self.assertGreater(len(found), least)
            for old, changed in altered(whole, found):
                with self.subTest(number=old), self.assertRaises((AssertionError, KeyError)):
                    check(changed)
        changed = copy.deepcopy(document)
        changed["side_by_side"]["decks"][0]["orders"][1]["columns"][2]["ratio"]["hi"] *= 1.001
        self.assertRaises(AssertionError, self.checker.json, changed, expected)

    def test_what_is_missing_is_empty(self):
        text, table, document, page = self.compare()
        first, second = document["side_by_side"]["decks"]
        self.assertIsNone(next(order for order in first["orders"] if order["order"] == "breadth_first")["columns"][3])
        self.assertEqual(second["errors"], ["", "", "", NOT_BUILT, ""])
        self.assertIn(f"column 4: {NOT_BUILT}\n", text)
        self.assertIn(f"<p>column 4: {NOT_BUILT}</p>", page)
        self.assertEqual(first["differences"], [{"key": "issue.mechanism", "values": ["streams", "graph", "streams", "streams", "streams"]}])
        self.assertRegex(text, r"(?m)^issue.mechanism +streams +graph +streams +streams +streams$")
        self.assertEqual(next(table for table in tables(page) if table[0][0] == "differs")[1],
                         ["issue.mechanism", "streams", "graph", "streams", "streams", "streams"])
        self.assertIn("doubtful: +7.0 % against the median", page)
        self.assertNotIn("http", page.replace("http://www.w3.org/2000/svg", ""))

    def test_usage(self):
        paths = self.paths[:2]
        self.assert_error(run("compare", "--side-by-side", *paths, "--to=3"), 3,
                          "--to: found '3'; allowed: 1 to 2, or the title of a column: streams; graph$")
        self.assert_error(run("compare", "--side-by-side", *paths, "--to=grahp"), 3, "did you mean 'graph'")
        for option in (["--to=1"], ["--csv", self.folder / "x.csv"]):
            self.assert_error(run("compare", *paths, *option), 3, "--side-by-side")
        self.assert_error(run("compare", "--side-by-side", *paths, "--below=3%"), 3, "--below")
        self.assert_error(run("compare", "--side-by-side", *paths, "--csv", paths[0]), 3, "which is also an input")
        again = self.folder / "folder"
        again.mkdir()
        for name in ("a", "b"):
            (again / f"{name}.json").write_text(paths[0].read_text())
        self.assert_error(run("compare", "--side-by-side", again, paths[0]), 1, "found a second result of 'Study: increment")


if __name__ == "__main__":
    unittest.main()
