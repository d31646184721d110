#!/usr/bin/env python3
"""What README and docs say still holds: decks, scripts and presets exist, the example deck loads, and predictions run."""

import json
import re
import shlex
import unittest

from program import SOURCE, TestCase, run

README = (SOURCE / "README.md").read_text()
DOCS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


class Readme(TestCase):
    def test_names_every_deck_and_no_other(self):
        table = set(re.findall(r"^\| `([\w/]+\.yaml)`", README, re.MULTILINE))
        decks = {str(path.relative_to(SOURCE / "input")) for path in (SOURCE / "input").rglob("*.yaml")}
        self.assertEqual(table, {deck for deck in decks if not deck.startswith("devices/")})

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

    def test_predictions_run(self):
        """Every `miniapp --predict ...` with a deck, in a block of commands or in the text."""
        text = "\n".join(path.read_text() for path in DOCS)
        commands = set(re.findall(r"(?:^|`)miniapp (--predict [^\n`]*\.yaml)", text, re.MULTILINE))
        self.assertGreater(len(commands), 2)
        for command in sorted(commands):
            with self.subTest(command=command):
                self.assert_clean(run(*shlex.split(command), cwd=SOURCE))

    def test_pictures_are_drawn(self):
        (command,) = re.findall(r"^miniapp (--timeline .*)$", README, re.MULTILINE)
        words = [str(SOURCE / word) if word.startswith("input/") else word for word in shlex.split(command)]
        self.assert_clean(run(*words, "--set", "workload.elements=65536", cwd=self.folder))
        for name in ("run.svg", "run.html", "run.json"):
            self.assertTrue((self.folder / name).stat().st_size > 1000, name)

    def test_decks_and_links_exist(self):
        for path in DOCS:
            text = path.read_text()
            for deck in re.findall(r"\binput/[\w/]+\.yaml", text):
                self.assertTrue((SOURCE / deck).is_file(), deck)
            for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]*)?\)", text):
                self.assertTrue((path.parent / link).is_file(), link)


if __name__ == "__main__":
    unittest.main()
