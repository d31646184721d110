#!/usr/bin/env python3
"""What README says still holds: its decks, scripts and presets exist, and its example deck loads."""

import json
import re
import unittest

from program import SOURCE, TestCase, run

README = (SOURCE / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


class Readme(TestCase):
    def test_names_every_deck_and_no_other(self):
        table = set(re.findall(r"^\| `([\w/]+\.yaml)`", README, re.MULTILINE))
        decks = [*(SOURCE / "input").glob("*.yaml"), *(SOURCE / "input/rennich").glob("*.yaml")]
        self.assertEqual(table, {str(path.relative_to(SOURCE / "input")) for path in decks})

    def test_scripts_exist(self):
        scripts = set(re.findall(r"\bci/\w+(?:\.sh)?", README))
        self.assertIn("ci/quickstart.sh", scripts)
        for script in scripts:
            self.assertTrue((SOURCE / script).is_file(), script)

    def test_presets_exist(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())
        for command, kind in (("cmake", "configurePresets"), ("cmake --build", "buildPresets"),
                              ("ctest", "testPresets")):
            names = {preset["name"] for preset in presets[kind]}
            used = re.findall(rf"^{command} --preset (\w+)", README, re.MULTILINE)
            self.assertTrue(used, command)
            self.assertLessEqual(set(used), names)

    def test_example_deck_loads(self):
        for example in blocks("yaml"):
            deck = self.folder / "example.yaml"
            deck.write_text(example)
            done = run(deck, "--dry-run")
            self.assert_clean(done)

    def test_example_gives_the_defaults(self):
        """The deck that README spells out is the deck that a bare `kind` means."""
        spelled_out, bare = self.folder / "a.yaml", self.folder / "b.yaml"
        spelled_out.write_text(blocks("yaml")[0])
        bare.write_text("title: my experiment\nworkload: {kind: increment}\n")
        decks = []
        for deck in (spelled_out, bare):
            target = self.folder / "out.json"
            settings = ["--set", "workload.elements=4096", "--set", "measure.repetitions=1"]
            self.assert_clean(run(deck, *settings, "--json", target))
            decks.append(json.loads(target.read_text())["deck"]["resolved"])
        self.assertEqual(*decks)

    def test_options_exist(self):
        text = run("--help").stdout
        for option in set(re.findall(r"`(?:miniapp )?(--[a-z-]+)", README)):
            self.assertIn(option, text)


if __name__ == "__main__":
    unittest.main()
