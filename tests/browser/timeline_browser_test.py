#!/usr/bin/env python3
"""The page of --timeline in a browser: what a reader sees, points at, zooms and switches.

timeline_browser_test.py FOLDER: with the page small.html and its result file small.json of a real run, gpu.html, which
predicts one for a GPU, and large.html, of ten thousand tasks. Screenshots go to FOLDER. Needs chromium, chromedriver and selenium.
"""

import json
import re
import unittest

from page import FOLDER, PageTest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


class Page(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.result = json.loads((FOLDER / "small.json").read_text())

    def setUp(self):
        self.open("small")

    def view(self):
        view = self.do("return overlap.view")
        return view["from"], view["to"]

    def kinds(self, run):
        keys = {"measured": "timeline", "predicted": "predicted_timeline"}
        return {kind: run[key] for kind, key in keys.items() if run[key] is not None}

    def point_at(self, run, kind, task):
        """Moves the pointer to a task and returns what the page says of it, name to value."""
        self.do("document.querySelectorAll('canvas')[arguments[0]].scrollIntoView({block: 'center'})", run)
        self.frame()
        place = self.do("return overlap.place(...arguments)", run, kind, task)
        actions = ActionChains(self.browser, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(round(place["x"]), round(place["y"]))
        actions.perform()
        self.frame()
        names = [item.text for item in self.browser.find_elements(By.CSS_SELECTOR, "#details dt")]
        values = [item.text for item in self.browser.find_elements(By.CSS_SELECTOR, "#details dd")]
        return {"title": self.find("#details strong").text, **dict(zip(names, values))}

    def assert_says(self, said, run, kind, task):
        entries = self.kinds(self.result["runs"][run])[kind]
        entry, drawing = entries[task], self.drawing()["runs"][run]
        name = entry["name"] or f"{entry['stage']} {entry['chunk']}"
        self.assertEqual(said["title"], f"{name}, task {task}, {kind}")
        for key in ("stage", "chunk", "engine"):
            self.assertEqual(said[key], str(entry[key]))
        if "lane" in said:
            self.assertEqual(said["lane"], str(entry["lane"]))
        duration = entry["stop_s"] - entry["start_s"]
        for key, value in (("duration", duration), ("from", entry["start_s"]), ("to", entry["stop_s"])):
            self.assertAlmostEqual(seconds(said[key]), value, delta=1e-3 * abs(value))
        size = drawing["bytes"][task]
        if size:
            self.assertEqual(int(re.search(r"\(([\d,]+)\)", said["bytes"])[1].replace(",", "")), size)
            self.assertAlmostEqual(float(said["rate"].split()[0]) * 1e9 * duration / size, 1, delta=1e-3)
        other = drawing[kind]["waited_for"][task]
        if other is None:
            self.assertEqual(said["waited for"], "nothing")
        else:
            before = entries[other]
            words, _, until = said["waited for"].rpartition(", until ")
            self.assertEqual(words, before["name"] or f"{before['stage']} {before['chunk']}")
            self.assertAlmostEqual(seconds(until), before["stop_s"], delta=1e-3 * before["stop_s"])

    def drawing(self):
        return json.loads(self.do("return document.getElementById('drawing').textContent"))[0]

    def wheel(self, canvas, amount, x=0):
        origin = ScrollOrigin.from_element(canvas, x, 0)
        ActionChains(self.browser).scroll_from_origin(origin, 0, amount).perform()
        self.frame()

    def test_table(self):
        rows = self.browser.find_elements(By.CSS_SELECTOR, "section > .wide tbody tr")
        self.assertEqual(len(rows), len(self.result["runs"]))
        heads = [cell.text for cell in self.browser.find_elements(By.CSS_SELECTOR, "section > .wide thead th")]
        for row, run in zip(rows, self.result["runs"]):
            cells = dict(zip(heads, (cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td"))))
            self.assertEqual(cells["order"], run["order"])
            self.assertEqual(int(cells["tasks"]), run["tasks"])
            self.assertAlmostEqual(seconds(cells["median"]), run["time_s"]["median"], delta=1e-3 * run["time_s"]["median"])
            self.assertAlmostEqual(float(cells["speed-up"]), run["speedup"], delta=0.006)
        bounds = self.browser.find_elements(By.CSS_SELECTOR, "details table")[1]
        for row, run in zip(bounds.find_elements(By.CSS_SELECTOR, "tbody tr"), self.result["runs"]):
            bound = row.find_elements(By.CSS_SELECTOR, "td")[0].get_attribute("textContent")
            self.assertAlmostEqual(seconds(bound), run["bound_s"], delta=1e-3 * run["bound_s"])

    def test_needs_nothing_from_outside(self):
        self.assertEqual(self.do("return performance.getEntriesByType('resource').length"), 0)

    def test_pointing_at_tasks(self):
        for run, measured in enumerate(self.result["runs"]):
            for kind, entries in self.kinds(measured).items():
                longest = max(range(len(entries)), key=lambda i: entries[i]["stop_s"] - entries[i]["start_s"])
                for task in {longest, len(entries) - 1}:
                    with self.subTest(run=run, kind=kind, task=task):
                        self.assert_says(self.point_at(run, kind, task), run, kind, task)
        self.shot("hover-light")
        self.open("small", dark=True)
        self.point_at(len(self.result["runs"]) - 1, "predicted", 1)
        self.shot("hover-dark")

    def test_details_go_with_the_pointer(self):
        self.point_at(0, "predicted", 0)
        self.assertTrue(self.find("#details").is_displayed())
        ActionChains(self.browser, duration=0).move_to_element(self.find("nav")).perform()
        self.frame()
        self.assertFalse(self.find("#details").is_displayed())

    def test_lanes(self):
        self.find("input[value=lanes] + span").click()
        self.frame()
        self.assert_says(self.point_at(1, "predicted", 1), 1, "predicted", 1)

    def test_lanes_are_other_rows_than_engines(self):
        self.open("gpu")
        before = self.do("return overlap.place(1, 'predicted', 1).y")
        self.find("input[value=lanes] + span").click()
        self.frame()
        self.assertNotEqual(self.do("return overlap.place(1, 'predicted', 1).y"), before)
        self.shot("lanes-light")
        self.find("input[value=engines] + span").click()
        self.frame()
        self.assertEqual(self.do("scrollTo(0, 0); return overlap.place(1, 'predicted', 1).y"), before)

    def test_buttons_and_keys_zoom(self):
        self.assertEqual(self.view(), (0, 1))
        self.assertFalse(self.find("#reset").is_enabled())
        self.find("#in").click()
        self.assertEqual(self.view(), (0.25, 0.75))
        self.find("#out").click()
        self.assertEqual(self.view(), (0, 1))
        body = self.find("body")
        body.send_keys("++")
        self.assertEqual(self.view(), (0.375, 0.625))
        self.find("#reset").click()
        self.assertEqual(self.view(), (0, 1))
        body.send_keys("+")
        body.send_keys("0")
        self.assertEqual(self.view(), (0, 1))

    def test_the_wheel_zooms_about_the_pointer(self):
        canvas = self.browser.find_elements(By.CSS_SELECTOR, "canvas")[1]
        self.do("arguments[0].scrollIntoView({block: 'center'})", canvas)
        self.browser.execute_async_script("setTimeout(arguments[0], 500)")  # the page has come to rest
        self.wheel(canvas, -200, x=200)
        begin, end = self.view()
        self.assertLess(end - begin, 0.8)
        box = canvas.rect
        part = (box["width"] / 2 + 200 - 92) / (box["width"] - 92 - 16)
        self.assertAlmostEqual(begin + part * (end - begin), part, delta=2e-3)
        self.shot("zoomed-light")
        for _ in range(9):
            self.wheel(canvas, 200)
        self.assertEqual(self.view(), (0, 1))

    def test_dragging_pans(self):
        self.find("#in").click()
        canvas = self.find("canvas")
        ActionChains(self.browser, duration=0).move_to_element(canvas).click_and_hold().move_by_offset(-100, 0).release().perform()
        self.frame()
        begin, end = self.view()
        self.assertAlmostEqual(begin, 0.25 + 0.5 * 100 / (canvas.rect["width"] - 108), delta=1e-3)
        self.assertAlmostEqual(end - begin, 0.5)

    def test_keys_go_from_task_to_task(self):
        canvas = self.browser.find_elements(By.CSS_SELECTOR, "canvas")[1]
        canvas.send_keys(Keys.ARROW_RIGHT)
        first = self.find("#details strong").text
        canvas.send_keys(Keys.ARROW_RIGHT)
        second = self.find("#details strong").text
        canvas.send_keys(Keys.ARROW_LEFT)
        self.assertEqual(self.find("#details strong").text, first)
        self.assertNotEqual(first, second)
        canvas.send_keys(Keys.ARROW_DOWN)
        self.assertNotEqual(self.find("#details strong").text, first)
        canvas.send_keys(Keys.ESCAPE)
        self.assertFalse(self.find("#details").is_displayed())

    def test_light_and_dark(self):
        grounds = []
        for dark in (False, True):
            self.open("small", dark)
            self.shot("dark" if dark else "light")
            grounds.append(self.do("return getComputedStyle(document.body).backgroundColor"))
            colour = self.do(
                "const c = document.querySelector('canvas'), p = overlap.place(0, 'predicted', 0),"
                "  b = c.getBoundingClientRect(), d = devicePixelRatio;"
                "return [...c.getContext('2d').getImageData((p.x - b.left) * d, (p.y - 7 - b.top) * d, 1, 1).data]"
            )
            self.assertEqual(colour[:3], [0x56, 0xB4, 0xE9] if dark else [0x00, 0x72, 0xB2])
        self.assertNotEqual(*grounds)

    def test_on_paper(self):
        self.open("small", dark=True)
        self.on_paper()
        self.assertFalse(self.find(".tools").is_displayed())
        self.assertEqual(self.do("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.shot("print")

    def test_narrow_window(self):
        self.assert_fits_narrow("narrow")
        self.assert_words_apart("draw(pictures[1])")
        self.do("for (const head of pictures[1].heads) Object.assign(head, "
                "{ complete: longest[0] / 20, doubt: 'doubtful: +50.9 % against the median' })")
        self.assert_words_apart("draw(pictures[1])")

    def test_a_taller_window_shows_more(self):
        self.size(1440, 300)
        self.open("small")
        last = self.find_all("canvas")[-1]
        self.assertEqual(last.get_property("width"), 300)  # as it is before it is drawn
        self.size(1440, 4000)
        self.assertGreater(last.get_property("width"), 1000)

    def test_keys_scroll(self):
        self.size(1440, 300)
        y = self.do("step(pictures.at(-1), 'ArrowDown'); return place(chosen.picture, chosen.kind, chosen.task).y")
        self.assertTrue(0 < y < 300, y)

    def test_ten_thousand_tasks(self):
        self.open("large")
        self.do("document.querySelectorAll('canvas')[1].scrollIntoView()")
        frame_ms = self.browser.execute_async_script(
            "const done = arguments[0]; let n = 0, begin = performance.now();"
            "const step = () => { document.getElementById(n % 2 ? 'out' : 'in').click();"
            "  if (++n < 30) requestAnimationFrame(step); else done((performance.now() - begin) / n); };"
            "requestAnimationFrame(step)"
        )
        print(f"\n{frame_ms:.1f} ms a frame with {self.do('return document.title')}")
        self.assertLess(frame_ms, 250)  # on a busy machine without a GPU
        self.shot("large")


if __name__ == "__main__":
    unittest.main()
