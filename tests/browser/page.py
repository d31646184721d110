"""What the tests in a browser share: headless Chromium and how to look at a page. The first argument of each test is the
folder with its pages; screenshots go there, too."""

import pathlib
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.common.by import By

FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()
WINDOW = (1440, 1100)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        profile = tempfile.TemporaryDirectory(prefix="overlap-browser-", ignore_cleanup_errors=True)
        cls.addClassCleanup(profile.cleanup)
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                     "--window-size={},{}".format(*WINDOW), f"--user-data-dir={profile.name}"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        cls.addClassCleanup(cls.browser.quit)

    def tearDown(self):
        self.assertEqual(self.browser.get_log("browser"), [], "the page complains")

    def open(self, name, dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.browser.get((FOLDER / f"{name}.html").as_uri())
        self.frame()

    def on_paper(self):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.frame()

    def do(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def frame(self):
        """Waits until what was asked for is drawn."""
        self.browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    def shot(self, name):
        self.browser.save_screenshot(str(FOLDER / f"{name}.png"))

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def assert_fits(self):
        """The page does not scroll sideways."""
        self.assertLessEqual(self.do("return document.documentElement.scrollWidth"), self.do("return innerWidth"))

    def size(self, width, height):
        """A window of that size, for this test."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.frame()
