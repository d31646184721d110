#!/usr/bin/env python3
"""README and docs hold: every command runs or is listed below with the reason why not, links lead somewhere, example
decks load, printed predictions are what the program prints, and every shipped deck is described."""

import contextlib
import functools
import json
import re
import shlex
import shutil
import subprocess
import unittest

import yaml
from planted import steady
from program import CHECK, DEVICE, FOM, MINIAPP, RESULT, SLOWEST, SOURCE, TestCase, run

PAGES = [*(SOURCE / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
         *sorted((SOURCE / "docs").glob("*.md"))]
README_LINES = 150

# Commands that no test of this file runs, and why.
BUILDS = "builds for minutes; ci/check.sh builds with the same presets"
CUDA = "needs a GPU and a CUDA-enabled Kokkos"
HIP = "needs a HIP-enabled Kokkos"
LAUNCHERS = {"--bind-to", "--continuous", "--gpus-per-node", "--gpus-per-task", "--gres", "--oversubscribe",
             "--runtime-options"}  # options of srun and mpirun that pages name
SLURM = "needs Slurm; tests/slurm runs the script"
NOT_RUN = {
    "ci/quickstart.sh --test": "builds and runs all tests, this one among them; ci/check.sh runs it",
    "ci/quickstart.sh --build schedule_test -- tests/schedule_test --gtest_filter='*Order*'": BUILDS,
    "ci/quickstart.sh --test -E 'acceptance|exec'": BUILDS,
    "env OVERLAP_REGENERATE=1 ci/quickstart.sh --test -R 'OnThePage|AsItIsWritten'": "writes into the checkout",
    "ci/quickstart.sh --kokkos 5 rowsum": BUILDS,
    "ci/check.sh": "runs all tests, this one among them",
    "ci/check.sh --full": "runs all tests, this one among them",
    "sbatch --nodes=8 --ntasks-per-node=4 --gpus-per-node=4 ci/integrations/slurm/overlap.sbatch": SLURM,
    "sbatch --nodes=8 ci/integrations/slurm/merge.sbatch": SLURM,
    "mpirun -n 4 miniapp --fleet acceptance/node --json 'out/{host}-{rank}.json' --json fleet.json --report fleet.html":
        "needs four GPUs; tests/fleet runs mpirun",
    "mpirun -n 4 miniapp --fleet acceptance/node --reference reference.yaml --json fleet.json --report fleet.html":
        "needs four GPUs; tests/fleet runs mpirun",
    "miniapp baseline -o reference.yaml out": "needs the results of four GPUs",
    "reframe -c ci/integrations/reframe/overlap.py -r -S overlap.deck=acceptance/gpu "
    "-S overlap.options=--reference,h200 | grep 'Ran 1/1 test case.* (0 failure'":
        "needs ReFrame and a GPU; harness_test.py runs ReFrame with other decks",
    "ci/check.sh hip": "needs another root; ci/check.sh runs it",
    "ci/check.sh slurm": "needs another root; ci/check.sh --full runs it",
    "ci/check.sh recipes": "builds for minutes; ci/check.sh --full runs it",
    "cmake --preset default -DCMAKE_PREFIX_PATH=/path/to/kokkos": BUILDS,
    "cmake --build --preset default": BUILDS,
    "ctest --preset default": BUILDS,
    "cmake --install build/default --prefix ~/overlap": "ci/quickstart_test.sh installs, too",
    "apt-get install g++ make cmake libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libpugixml-dev": "needs root rights",
    "cmake --preset without-kokkos -DOVERLAP_TESTS=OFF && cmake --build --preset without-kokkos --parallel 2": BUILDS,
    "build/without-kokkos/miniapp/miniapp increment --predict rtx4090": "without_kokkos_test.py predicts with such a build",
    "cmake --preset without-kokkos": BUILDS,
    "cmake --build --preset without-kokkos": BUILDS,
    "ctest --preset without-kokkos": BUILDS,
    "cmake --preset cuda -DCMAKE_PREFIX_PATH=/path/to/kokkos-with-cuda": CUDA,
    "cmake --build --preset cuda": CUDA,
    "ctest --preset cuda": CUDA,
    "build/cuda/miniapp/miniapp increment": CUDA,
    "ci/compare_peer --peer build/cuda/tests/peer/overlap_peer --miniapp build/cuda/miniapp/miniapp": CUDA,
    "cmake --preset hip -DCMAKE_PREFIX_PATH=/path/to/kokkos-with-hip": HIP,
    "cmake --build --preset hip": HIP,
    "cmake --preset asan -DCMAKE_PREFIX_PATH=/path/to/kokkos": BUILDS,
    "cmake --build --preset asan": BUILDS,
    "ctest --preset asan": BUILDS,
    "compute-sanitizer --tool memcheck build/cuda/miniapp/miniapp increment --set workload.elements=65536": CUDA,
    "compute-sanitizer --tool racecheck build/cuda/miniapp/miniapp increment --set workload.elements=65536": CUDA,
    "cmake --preset fuzz": BUILDS,
    "cmake --build build/fuzz --target overlap_fuzzers": BUILDS,
    "miniapp --calibrate here.yaml": "takes half a minute; model_test.py calibrates",
    "tests/mutants/mutants.py --count 60 --seed 1 --jobs 2": "an hour; ci/check.sh runs its self-test",
    "tests/fuzz/fuzz.py build/fuzz/tests/fuzz --seconds 3600 --jobs 8": "an hour; ci/check.sh --full runs it for a minute",
}

# What makes runs of a workload quick, unless the command sets or the deck sweeps the key.
SMALL = {
    "increment": {"workload.elements": 65536},
    "pipeline": {"workload.elements": 65536},
    "rowsum": {"workload.rows": 20000},
    "dgemm": {"workload.m": 256, "workload.n": 256, "workload.tile_m": 128, "workload.tile_n": 128},
    "custom": {},
}
# Command lines that run no deck.
IDLE = re.compile(r"^miniapp (baseline|compare|merge|show) |--(predict|dry-run|calibrate|list|version|help)")
FEW = {"measure.warmup": 1, "measure.repetitions": 2}

# Stands for miniapp and ci/quickstart.sh on the pages: adds the settings above and notes how it ended.
WRAPPER = """\
#!/bin/sh
"{miniapp}" "$@" $EXTRA 2>>"{folder}/stderr" >"{folder}/stdout"
code=$?
cat "{folder}/stdout"
printf '%s %s\\n' "$code" "$(tail -n 1 "{folder}/stdout")" >>"{folder}/codes"
exit $code
"""


def blocks(text):
    """Code blocks of a page: language and content."""
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def without_blocks(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def without_comment(line):
    """The command without a comment of the shell, and with single spaces."""
    words = shlex.split(line, comments=True)
    return line if words == shlex.split(line) else re.sub(r"\s+#.*", "", line)


def commands(text):
    """Commands of a page in their order: all lines of `sh` blocks, lines of other blocks that begin with a prompt, and
    code in the text that begins with a program and an argument."""
    found = []
    for part in re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE):
        for language, content in blocks(part):
            lines = re.sub(r" *\\\n *", " ", content).splitlines()
            if language == "sh":
                found += [without_comment(line).strip() for line in lines if line.strip() and not line.startswith("#")]
            else:
                found += [line[2:].strip() for line in lines if line.startswith("$ ")]
        if not part.startswith("```"):
            found += re.findall(r"`((?:miniapp|ci/[\w.]+|cmake|ctest) [^`\n]+)`", part)
    return [command for command in found if not is_pattern(command)]


def is_pattern(command):
    """Whether words of capitals stand for something: `ci/check.sh STEP`."""
    return any(re.fullmatch(r"[A-Z]{3,}", word) for word in shlex.split(command))


@functools.cache
def help_text():
    return "".join(run(*command, "--help").stdout for command in ([], ["baseline"], ["compare"], ["merge"], ["show"]))


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page, text):
    """Links of a page to files and headings that are not there."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not re.match(r"\w+:", link) and not (target.is_file() and (not anchor or anchor in anchors(target))):
            broken.append(link)
    return broken


def files_of(words, folder):
    """The decks and other YAML files that a command names, as their paths."""
    files = []
    for word in words:
        paths = [] if word.startswith("-") else (folder / word, SOURCE / "input" / f"{word}.yaml")
        files += [path for path in paths if path.is_file() and path.suffix == ".yaml"][:1]
    return files


def shrunk(command, folder):
    """The command with small copies of its decks where they are of different workloads, which have no key in common."""
    names = {word: SOURCE / f"input/{word}.yaml" for word in shlex.split(command) if (SOURCE / f"input/{word}.yaml").is_file()}
    decks = {word: yaml.safe_load(path.read_text()) for word, path in names.items()}
    if IDLE.search(command) or len({deck.get("workload", {}).get("kind") for deck in decks.values()}) < 2:
        return command
    (folder / "small").mkdir(exist_ok=True)
    for word, deck in decks.items():
        deck["workload"] |= {key.split(".")[1]: value for key, value in SMALL[deck["workload"]["kind"]].items()}
        copy = f"small/{names[word].name}"
        (folder / copy).write_text(yaml.safe_dump(deck, sort_keys=False))
        command = re.sub(rf"(?<= ){word}(?= |$)", copy, command)
    return command


def settings(words, folder):
    """--set options that make a command's run quick."""
    if IDLE.search(" ".join(words)):
        return []
    paths = files_of([word for word, before in zip(words[1:], words) if before not in ("--device", "--set")], folder)
    decks = [deck for path in paths if "workload" in (deck := yaml.safe_load(path.read_text()))]
    if not decks:
        return []
    kinds = {deck["workload"]["kind"] for deck in decks}
    small = {**(SMALL[kinds.pop()] if len(kinds) == 1 else {}), **FEW}
    if any("box" in deck["workload"] for deck in decks):
        small.pop("workload.elements", None)
    given = {word.removeprefix("sweep.").split("=")[0] for word in words} | {key for deck in decks for key in deck.get("sweep", {})}
    return [f"--set={key}={value}" for key, value in small.items() if key not in given]


class Pages(TestCase):
    @contextlib.contextmanager
    def page(self, path):
        """The page's text, in a subtest of its own."""
        with self.subTest(page=str(path.relative_to(SOURCE))):
            yield path.read_text()

    def test_readme_is_short(self):
        self.assertLessEqual(len((SOURCE / "README.md").read_text().splitlines()), README_LINES)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            with self.page(page) as text:
                self.assertEqual(broken_links(page, text), [])

    def test_finds_broken_links(self):
        text = "[a](no-such-page.md) [b](glossary.md#no-such-term) [c](glossary.md#lane) [d](https://kokkos.org)"
        self.assertEqual(broken_links(SOURCE / "docs/reading.md", text), ["no-such-page.md", "glossary.md#no-such-term"])

    def test_every_page_can_be_reached(self):
        readme = (SOURCE / "README.md").read_text()
        for page in PAGES[1:]:
            self.assertIn(f"]({page.relative_to(SOURCE)})", readme)

    def test_nothing_is_left_to_fill_in(self):
        for page in PAGES:
            with self.page(page) as text:
                self.assertEqual(re.findall(r"@[\w:, -]+@", text), [])

    def test_files_exist(self):
        """Files and folders of the repository that the text names."""
        folders = "|".join(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name not in {".git", "build"})
        for page in PAGES:
            with self.page(page) as text:
                if page.name == "CHANGELOG.md":
                    continue
                for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", text):
                    if "NAME" not in name:
                        self.assertTrue((SOURCE / name).exists(), name)

    def test_options_exist(self):
        for page in PAGES:
            with self.page(page) as text:
                for option in set(re.findall(r"`(?:miniapp )?(--[a-z][a-z-]+)", text)) - self.others_options():
                    known = ["--kokkos-", "--kokkos-device-id", "--kokkos-help"] if option.startswith("--kokkos-") else help_text()
                    self.assertIn(option, known, option)

    def others_options(self):
        """Options of scripts in ci/ and of launchers."""
        scripts = "".join(path.read_text() for path in (SOURCE / "ci").iterdir() if path.suffix == ".sh")
        return LAUNCHERS | set(re.findall(r"^ *(--[a-z]+)\)", scripts, re.MULTILINE))

    def test_presets_exist(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())
        kinds = {"cmake": "configurePresets", "cmake --build": "buildPresets", "ctest": "testPresets"}
        for page in PAGES:
            with self.page(page) as text:
                for command in commands(text):
                    used = re.match(r"(cmake --build|cmake|ctest) --preset ([\w-]+)", command)
                    if used:
                        self.assertIn(used[2], [preset["name"] for preset in presets[kinds[used[1]]]], command)

    def test_scripts_exist(self):
        for page in PAGES:
            with self.page(page) as text:
                for script in re.findall(r"\b(?:ci|tests)/[\w/]+\.(?:sh|py)\b", text):
                    self.assertTrue((SOURCE / script).is_file(), script)

    def test_recipes_apply(self):
        # ci/check.sh recipes also builds them.
        patches = sorted((SOURCE / "tests/recipes").glob("*.patch"))
        self.assertGreaterEqual(len(patches), 8)
        for patch in patches:
            with self.subTest(patch.name):
                done = subprocess.run(["git", "apply", "--check", patch], cwd=SOURCE, capture_output=True, text=True, check=False)
                self.assertEqual(done.stderr, "")

    def test_list_of_commands_that_are_not_run_is_not_stale(self):
        shown = {command for page in PAGES for command in commands(page.read_text())}
        self.assertEqual(set(NOT_RUN) - shown, set())

    def test_decks_load(self):
        """Examples in YAML: decks, device files, or parts of decks."""
        for page in PAGES:
            with self.page(page) as text:
                for language, content in blocks(text):
                    if language != "yaml":
                        continue
                    with self.subTest(content=content):
                        example = self.folder / "example.yaml"
                        document = yaml.safe_load(content)
                        example.write_text(content if "workload" in document or "h2d" in document else
                                           "workload: {kind: increment}\n" + content)
                        if "h2d" in document:
                            self.assert_clean(run(SOURCE / "input/increment.yaml", "--predict", example))
                        else:
                            self.assert_clean(run(example, "--dry-run"))

    def test_result_lines_are_as_the_program_prints_them(self):
        shown = 0
        for page in PAGES:
            with self.page(page) as text:
                for _, content in blocks(text):
                    for line in re.findall(r"^OVERLAP_\w+ .*$", content, re.MULTILINE):
                        self.assertTrue(any(kind.fullmatch(line) for kind in (FOM, CHECK, DEVICE, SLOWEST, RESULT)), line)
                        shown += 1
        self.assertGreater(shown, 3)


class Examples(TestCase):
    def test_every_shipped_deck_is_described_and_no_other(self):
        text = (SOURCE / "docs/examples.md").read_text()
        table = re.findall(r"^\| `([\w/]+\.yaml)`", text, re.MULTILINE)
        decks = {str(path.relative_to(SOURCE / "input")) for path in (SOURCE / "input").rglob("*.yaml")}
        self.assertEqual(len(table), len(set(table)))
        self.assertEqual(set(table), {deck for deck in decks if not deck.startswith(("devices/", "references/"))})

    def test_the_example_spells_out_the_defaults(self):
        """The first deck of writing-decks.md is the deck that a bare `kind` means."""
        page = blocks((SOURCE / "docs/writing-decks.md").read_text())
        example = next(content for language, content in page if language == "yaml")
        spelled_out = self.deck(example, "a.yaml")
        bare = self.deck("title: my experiment\nworkload: {kind: increment}\n", "b.yaml")
        decks = []
        for deck in (spelled_out, bare):
            target = self.folder / "out.json"
            small = ["--set", "workload.elements=4096", "--set", "measure.repetitions=1"]
            self.assert_clean(run(deck, *small, "--json", target))
            decks.append(json.loads(target.read_text())["deck"]["resolved"])
        self.assertEqual(*decks)

    def test_a_number_of_keys_swept_is_the_product(self):
        """docs/sweeps.md says how many points its example has."""
        page = blocks((SOURCE / "docs/sweeps.md").read_text())
        deck = self.deck(next(content for language, content in page if language == "yaml"), "sweep.yaml")
        self.assertIn("10 points", run(deck, "--dry-run").stdout)


class Commands(TestCase):
    """Each page's commands, one after the other in a folder of its own, where `input` is as in the repository."""

    def setUp(self):
        super().setUp()
        (self.folder / "work/ci").mkdir(parents=True)
        for name in ("docs", "input", "tests"):
            (self.folder / "work" / name).symlink_to(SOURCE / name)
        shutil.copy(SOURCE / "input/devices/host.yaml", self.folder / "work/here.yaml")
        for name in ("miniapp", "work/ci/quickstart.sh"):
            wrapper = self.folder / name
            wrapper.write_text(WRAPPER.format(miniapp=MINIAPP, folder=self.folder))
            wrapper.chmod(0o755)

    def run_command(self, command):
        """Runs it as the page shows it; returns its output."""
        work = self.folder / "work"
        command = shrunk(command, work)
        words = shlex.split(command)
        if command.startswith("miniapp baseline"):  # runs so small do not agree with themselves
            for path in (work / "healthy").iterdir():
                path.write_text(json.dumps(steady(json.loads(path.read_text()))))
        extra = settings(words, work)
        for name in ("codes", "stderr"):
            (self.folder / name).write_text("")
        path = f"{self.folder}:/usr/local/bin:/usr/bin:/bin"
        done = subprocess.run(["bash", "-c", command], cwd=work, text=True, capture_output=True, timeout=300,
                              env={"PATH": path, "HOME": str(self.folder), "EXTRA": " ".join(extra)})
        self.assertEqual(done.stderr, "")
        ends = (self.folder / "codes").read_text().splitlines()
        complaints = (self.folder / "stderr").read_text()
        self.assertEqual(len(ends), len(re.findall(r"(?:^|; |\| )(?:miniapp|ci/quickstart\.sh) ", command)), command)
        for end in ends:
            code, _, last = end.partition(" ")
            if code in ("4", "77"):  # this machine or build lacks a GPU or Kokkos Kernels, and says so
                self.assertRegex(complaints, r"\Aminiapp: error: [^\n]+(needs|cannot run|require\.)[^\n]+\n\Z")
                continue
            self.assertEqual(re.sub(r"(?m)^miniapp: \S+: no (saved )?points.*\n", "", complaints), "")
            self.assertIn(code, ("0", "5", "6"), f"{command}: {complaints}")  # criteria are not for runs so small
            if last.startswith("OVERLAP_RESULT"):
                self.assertRegex(last, "data=(OK|NONE)")
        if not ends:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    PREDICTED = {}  # what predictions print, which pages repeat

    def output_of(self, command):
        if "--predict" not in command or re.search("--(json|csv|junit|report|timeline|trace)", command):
            return self.run_command(command)
        if command not in self.PREDICTED:
            self.PREDICTED[command] = self.run_command(command)
        return self.PREDICTED[command]

    def check_page(self, page):
        text = page.read_text()
        for language, content in blocks(text):
            name = re.match(r"# ([\w-]+\.yaml)\n", content)
            if language == "yaml" and name:
                (self.folder / "work" / name[1]).write_text(content)
        for command in commands(text):
            if command not in NOT_RUN:
                with self.subTest(command=command):
                    self.check_shown(text, command, self.output_of(command))

    def check_shown(self, text, command, printed):
        """What a page shows below a prediction is what the program prints; pictures depend on the width."""
        if "--predict" not in command:
            return
        shown = [content for _, content in blocks(text) if content.startswith(f"$ {command}\n")]
        printed = {" ".join(line.split()) for line in printed.splitlines()}
        for line in "".join(shown).splitlines():
            if not line.startswith("$ ") and not re.search(r"\d=|^ +0 ", line):
                self.assertIn(" ".join(line.split()), printed | {""})

    def test_finds_every_command_of_a_page(self):
        """And complains where a command or what is shown of a prediction is wrong."""
        prediction = "miniapp --predict ideal_1copy input/increment.yaml"
        page = ("Call `miniapp --list`, `--quiet` or `ci/check.sh STEP`.\n"
                "```sh\n# no command\nminiapp a.yaml \\\n  --quiet   # why\necho '# no comment'\n```\n"
                f"```text\n$ {prediction}\nsequential  12.00 ms  1.00\n```\n")
        self.assertEqual(commands(page),
                         ["miniapp --list", "miniapp a.yaml --quiet", "echo '# no comment'", prediction])
        self.check_shown(page, prediction, self.run_command(prediction))
        for wrong in ("miniapp --no-such-option", "miniapp no-such-deck", "echo fault >&2", "false"):
            with self.assertRaises(AssertionError, msg=wrong):
                self.run_command(wrong)
        with self.assertRaises(AssertionError):
            self.check_shown(page.replace("12.00", "12.01"), prediction, self.run_command(prediction))


for page in PAGES:
    setattr(Commands, f"test_{re.sub(r'[^a-z]', '_', page.stem.lower())}",
            lambda self, page=page: self.check_page(page))

if __name__ == "__main__":
    unittest.main()
