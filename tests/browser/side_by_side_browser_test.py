#!/usr/bin/env python3
"""The page of `compare --side-by-side` in a browser: light, dark, on paper, in a narrow window.

side_by_side_browser_test.py FOLDER: with the page side_by_side.html and its file side_by_side.json, of the machines that
machines.py makes. Needs chromium, chromedriver and selenium.
"""

import base64
import json
import unittest

from page import FOLDER, PageTest

PAGE = "side_by_side"


class Page(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.all = json.loads((FOLDER / f"{PAGE}.json").read_text())["side_by_side"]

    def setUp(self):
        self.open(PAGE)

    def colour(self, selector, of="color"):
        return self.do("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, of)

    def shot_of_all(self, name):
        """A screenshot of the whole page."""
        height = self.do("return document.documentElement.scrollHeight")
        self.browser.set_window_size(1440, height + 200)
        self.frame()
        self.shot(name)
        self.browser.set_window_size(1440, 1100)

    def test_every_order_of_every_column_is_drawn(self):
        there = [[column for column in order["columns"] if column] for deck in self.all["decks"] for order in deck["orders"]]
        self.assertEqual([len(svg.find_elements("css selector", "g.column")) for svg in self.find_all("article svg")],
                         [len(columns) for columns in there])
        self.assertEqual(len(self.find_all("table.sides tbody")), len(there))
        heads = [head.text for head in self.find_all("table.sides")[0].find_elements("css selector", "thead th")[2:]]
        self.assertEqual([" ".join(head.split()) for head in heads],
                         [f"{i + 1} {column['title']}" for i, column in enumerate(self.all["columns"])])

    def test_bars_are_wide_enough(self):
        widths = self.do("return [...document.querySelectorAll('article g.column')].map((column) => Math.max("
                         "0, ...[...column.querySelectorAll(':scope > g rect')].map((bar) => bar.x.baseVal.value + bar.width.baseVal.value - 84)))")
        self.assertGreater(min(width for width in widths if width > 0), 1092 / 16)
        self.assertEqual(self.colour("path.median", "stroke"), self.colour("body"))

    def overlaps(self):
        """Pairs of texts of one picture that cover each other."""
        return self.do("""
            const found = [];
            for (const svg of document.querySelectorAll('article svg')) {
              const texts = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
              for (const [i, [a, p]] of texts.entries()) for (const [b, q] of texts.slice(i + 1)) {
                const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (x > 1 && y > 4) found.push([a, b]);
              }
            }
            return found""")

    def test_words_do_not_overlap(self):
        self.assertEqual(self.overlaps(), [])
        self.do("const [a, b] = document.querySelectorAll('article svg .name'); b.setAttribute('y', a.getAttribute('y'))")
        self.assertEqual(len(self.overlaps()), 1)

    def test_needs_nothing_from_outside(self):
        self.assertEqual(self.do("return performance.getEntriesByType('resource').length"), 0)

    def test_light_and_dark(self):
        seen = []
        for dark in (False, True):
            self.open(PAGE, dark)
            self.assert_fits()
            self.shot_of_all(f"side_by_side-{'dark' if dark else 'light'}")
            seen.append([self.colour("body", "backgroundColor"), self.colour("table.sides td"), self.colour("svg rect.h2d", "fill"),
                         self.colour("svg text.name", "fill")])
        light, dark = seen
        self.assertEqual(light[2], "rgb(0, 114, 178)")
        self.assertEqual(dark[2], "rgb(86, 180, 233)")
        for of_light, of_dark in zip(light, dark):
            self.assertNotEqual(of_light, of_dark)

    def test_on_paper(self):
        self.open(PAGE, dark=True)
        self.on_paper()
        self.assertEqual(self.colour("body", "backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(self.colour("svg rect.h2d", "fill"), "rgb(0, 114, 178)")
        self.assertEqual(self.colour("article", "breakInside"), "avoid")
        self.shot("side_by_side-print")
        paper = self.browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        (FOLDER / "side_by_side.pdf").write_bytes(base64.b64decode(paper["data"]))

    def test_narrow_window(self):
        self.assert_fits_narrow("side_by_side-narrow")


if __name__ == "__main__":
    unittest.main()
