#!/usr/bin/env python3
"""The page of `merge --report` in a browser, with ten thousand devices: it opens at once, and what a reader points at,
chooses and finds is what the fleet file has.

fleet_browser_test.py FOLDER: with the page fleet.html and its file fleet.json. Screenshots go to FOLDER. Needs chromium,
chromedriver and selenium.
"""

import json
import pathlib
import re
import time
import unittest

from page import FOLDER, PageTest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

OPEN_S = 2
# What the page's function of that name writes on a canvas, and the colours of what it fills.
DRAWN = """
  const words = [], colours = new Set(), drawing = CanvasRenderingContext2D.prototype, { fillText, fillRect } = drawing;
  Object.assign(drawing, { fillText: (text) => words.push(text), fillRect() { colours.add(this.fillStyle); } });
  window[arguments[0]]();
  Object.assign(drawing, { fillText, fillRect });
  return [words, [...colours]];
"""


class Page(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fleet = json.loads((FOLDER / "fleet.json").read_text())

    def setUp(self):
        self.open("fleet")

    def move_to(self, number):
        self.do("document.getElementById('map').scrollIntoView({block: 'center'})")
        self.frame()
        place = self.do("return placeOf(arguments[0])", number)
        actions = ActionChains(self.browser, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(round(place["x"]), round(place["y"]))
        return actions

    def slow(self):
        return next(i for i, device in enumerate(self.fleet["devices"]) if device["exit_code"] == 5)

    def figure(self, device, phase, order, metric):
        return next(one["median"] for one in device["figures"]
                    if (one["phase"], one["order"], one["metric"]) == (phase, order, metric))

    def open_changed(self, name, change):
        """Opens a page with other data: `change` gets those of the script."""
        before, data, after = re.split(r'(?<= id="fleet">)(.*?)(?=</script>)', (FOLDER / "fleet.html").read_text(), maxsplit=1)
        data = json.loads(data)
        change(data)
        (FOLDER / f"{name}.html").write_text(before + json.dumps(data).replace("<", "\\u003c") + after)
        self.open(name)

    def open_few(self, name, change=lambda data: None, devices=16):
        """The same with a few devices."""
        def cut(data):
            for key in ("host", "slot", "unit", "verdict", "link", "reasons"):
                del data[key][devices:]
            for group in data["groups"]:
                for part in (group, *group["figures"]):
                    part.update({key: part[key][:devices] for key in ("devices", "values") if key in part})
            change(data)

        self.open_changed(name, cut)

    def opened_in(self, name):
        start = time.monotonic()
        self.open(name)
        return time.monotonic() - start

    def test_a_slow_page_is_found(self):
        text = (FOLDER / "fleet.html").read_text()
        busy = "<script>for (const end = Date.now() + 2100; Date.now() < end;);</script>"
        (FOLDER / "slow.html").write_text(text.replace("</body>", busy + "</body>"))
        self.assertGreater(self.opened_in("slow"), OPEN_S)

    def test_opens_at_once(self):
        wall = self.opened_in("fleet")
        loaded = self.do("return performance.getEntriesByType('navigation')[0].loadEventEnd") / 1e3
        print(f"\n{len(self.fleet['devices'])} devices: loaded in {loaded:.2f} s, drawn after {wall:.2f} s")
        self.assertLess(wall, OPEN_S)

    def test_needs_nothing_from_outside(self):
        self.assertEqual(self.do("return performance.getEntriesByType('resource').length"), 0)

    def test_every_device_has_its_place(self):
        places = self.do("return map.places.map((place) => [place.device, place.x, place.y])")
        self.assertEqual(len({tuple(place[1:]) for place in places}), len(places))
        self.assertEqual(sorted(place[0] for place in places if place[0] is not None), list(range(len(self.fleet["devices"]))))
        self.assertGreater(min(min(place[1:]) for place in places), 1)  # the ring of the chosen device is not cut
        self.assertEqual(sum(place[0] is None for place in places), len(self.fleet["missing_hosts"]))
        self.assertLessEqual(self.do("return Math.max(...map.places.map((place) => place.x)) + map.size"),
                             self.find("#map").rect["width"])

    def test_columns_are_slots(self):
        def lose(data):
            data["slot"][2:8] = [*data["slot"][3:8], "0000:18:00.0"]

        self.open_few("lost", lose)
        places = self.do("return map.places.filter((place) => place.device !== null).map(({ x, host, device }) => "
                         "[fleet.slot[device], x - map.names.find(({ name }) => name === host).x])")
        self.assertEqual(len(places), 16)
        self.assertEqual(len(set(map(tuple, places))), 9)
        self.assertEqual(self.find("#by").text, "Devices by host and slot")
        self.open_few("ranks", lambda data: data.update(slot=[str(rank) for rank in range(16)]))
        self.assertEqual(self.find("#by").text, "Devices by host")

    def test_long_names(self):
        def rename(data):
            data["host"] = [f"compute-cluster-rack12-chassis3-blade7-{host}.cluster.supercomputing.example.org" for host in data["host"]]

        self.size(420, 1000)
        self.open_few("long", rename)
        self.assert_words_apart("drawMap()")
        self.assertLess(self.do("return Math.max(...map.places.map((place) => place.x + place.wide))"), self.find("#map").rect["width"])

    def test_one_device(self):
        self.open_few("one", devices=1)
        self.assertFalse(self.find("#legend").is_displayed())
        self.find("#map").send_keys(Keys.ARROW_RIGHT)
        self.assertTrue(self.find("#device h2").text)

    def test_the_panel_moves_nothing(self):
        self.open_few("few")
        before = self.find("#spread").rect
        self.do("choose(0)")
        self.assertEqual(self.find("#spread").rect, before)
        self.assertLessEqual(self.do("const table = document.querySelector('#device .wide'); return table.scrollWidth - table.clientWidth"), 0)

    def test_pointing_and_choosing(self):
        number = self.slow()
        device = self.fleet["devices"][number]
        self.move_to(number).perform()
        self.frame()
        details = self.find("#details").text
        self.assertIn(f"{device['host']} {device['uuid']}", details)
        self.assertIn("FAIL", details)
        self.move_to(number).click().perform()
        self.frame()
        panel = self.find("#device").text
        for words in (device["host"], device["uuid"], "FAIL", device["slot"], device["reasons"][0]["text"]):
            self.assertIn(words, panel)
        value = self.figure(device, "alone", "by_engine", "throughput")
        self.assertRegex(panel, rf"throughput of by_engine, GB/s\s+{value:#.4g} ")
        self.assertTrue(self.find("#own").get_attribute("href").endswith(pathlib.Path(device["file"]).name))
        self.shot("fleet-light")
        self.open("fleet", dark=True)
        self.move_to(number).click().perform()
        self.shot("fleet-dark")

    def test_keys_go_from_device_to_device(self):
        for _ in range(2):
            self.find("#map").send_keys(Keys.ARROW_RIGHT)
        self.assertIn(self.fleet["devices"][1]["uuid"], self.find("#device h2").text)
        self.find("#map").send_keys(Keys.ARROW_LEFT)
        self.assertIn(self.fleet["devices"][0]["uuid"], self.find("#device h2").text)

    def test_finds_a_device(self):
        device = self.fleet["devices"][-1]
        self.find("#find").send_keys(device["uuid"])
        self.assertIn(device["uuid"], self.find("#device h2").text)
        for words, said in (("nowhere", "nothing matches"), (self.fleet["missing_hosts"][0], "is missing"), ("n0001", "")):
            self.find("#find").clear()
            self.find("#find").send_keys(words)
            self.assertIn(said, self.find("#found").text)
            self.assertEqual(bool(self.find("#found").text), bool(said))
        self.assertIn("n0001", self.find("#device h2").text)

    def test_numbers_are_those_of_the_tables(self):
        words = self.do("return [0, 5.96e-8, 0.5, 1, 12345, 99999999].map(number)")
        self.assertEqual(words, ["0", "5.960e-08", "0.5000", "1.000", "12345", "1.000e+08"])

    def test_figures_and_phases(self):
        def scale():
            return self.find("#scale").text

        before = scale()
        Select(self.find("#figure")).select_by_visible_text("throughput of by_engine")
        self.assertEqual(scale(), "throughput of by_engine, alone")
        self.assertNotEqual(before, scale())
        self.find("input[value=together] + span").click()
        self.assertEqual(scale(), "throughput of by_engine, together")
        median = next(of["median"] for of in self.fleet["groups"][0]["distributions"]
                      if (of["phase"], of["order"], of["metric"]) == ("together", "by_engine", "throughput"))
        self.assertAlmostEqual(self.do("return view.figure.median"), median, delta=1e-4 * median)

    def test_figures_that_are_zero(self):
        def throttle(data):
            group = data["groups"][0]
            group["figures"].append({"phase": "alone", "name": "throttled", "unit": "s", "more": False, "compared": False,
                                     "median": 0, "mad": 0, "values": [0] * len(group["devices"])})

        self.open_changed("zero", throttle)
        Select(self.find("#figure")).select_by_visible_text("throttled")
        self.find("#map").send_keys(Keys.ARROW_RIGHT)
        self.assertRegex(self.find("#device").text, r"throttled 0 s\b")
        usual, slow = "#c9d4dd", "#d55e00"
        self.assertEqual(self.do(DRAWN, "drawLegend"), [["median 0 s", "above"], [usual, slow]])
        words, colours = self.do(DRAWN, "drawSpread")
        self.assertEqual(words[0], "0 s")
        self.assertIn("median 0 s", words)
        self.assertEqual([word for word in words if word.startswith("-") or word.endswith("ns")], [])
        self.assertIn(usual, colours)
        self.assertNotIn(slow, colours)
        self.assertEqual(self.do("return [0, 1e-3].map((value) => offOf(value))"), [0, -1])
        self.do("draw()")
        self.shot("fleet-zero")

    def test_colours_reach_below_zero_only_where_figures_do(self):
        reach = self.do("return [[1, 0.5], [-1e-3, 2e-3]].map(([median, mad]) => spanOf({ median, mad }))")
        self.assertEqual(reach[0], 1)
        self.assertAlmostEqual(reach[1], 5 * 1.4826 * 2e-3)

    def test_another_group_has_other_figures(self):
        def split(data):
            one = data["groups"][0]
            data["groups"] = [{"words": words, "devices": one["devices"][part],
                               "figures": [figure | {"values": figure["values"][part]} for figure in one["figures"]]}
                              for words, part in (("even", slice(0, None, 2)), ("odd", slice(1, None, 2)))]

        self.open_changed("groups", split)
        self.find("#map").send_keys(Keys.ARROW_RIGHT)
        heading, table = self.find("#device h2").text, self.find("#device table").text
        Select(self.find("#group")).select_by_visible_text("odd")
        self.assertEqual(self.find("#device h2").text, heading)
        self.assertEqual(self.find_all("#device table"), [])
        self.find("#map").send_keys(Keys.ARROW_RIGHT)
        self.assertNotEqual(self.find("#device table").text, table)
        Select(self.find("#group")).select_by_visible_text("even")
        self.assertEqual(self.find_all("#device table"), [])
        self.find("#map").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.find("#device table").text, table)

    def test_figure_and_phase_lie_side_by_side(self):
        figure, phases = self.find("#figure").rect, self.find("#phases").rect
        self.assertGreater(phases["x"], figure["x"] + figure["width"])

    def test_a_verdict_is_no_colour_alone(self):
        marks = self.find("#marks").text
        self.assertIn("FAIL", marks)
        self.assertIn("missing host", marks)

    def test_tables(self):
        text = self.find("main").text
        for host in self.fleet["missing_hosts"]:
            self.assertIn(host, text)
        for file in self.fleet["broken_files"]:
            self.assertIn(file["text"], text)
        for device in self.fleet["devices"]:
            if device["exit_code"]:
                self.assertIn(device["uuid"], text)

    def test_narrow_window(self):
        self.assert_fits_narrow("fleet-narrow")
        self.assert_words_apart("drawSpread()")
        self.assert_words_apart("for (const one of Object.values(phases())) one.values = [0.5, 1]; drawSpread()")


if __name__ == "__main__":
    unittest.main()
