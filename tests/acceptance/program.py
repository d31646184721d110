"""What the tests of the whole program share: how to run it and how to read what it says."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import jsonschema

MINIAPP = os.environ["MINIAPP"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
BUILD = pathlib.Path(os.environ.get("BUILD", pathlib.Path(MINIAPP).resolve().parent.parent))
SCHEMAS = BUILD / "src/schemas"
PROGRAM = pathlib.Path(MINIAPP).read_bytes()
SANITIZED = any(name in PROGRAM for name in (b"__asan_init", b"__tsan_init"))
# In builds with sanitizers: Open MPI writes its hooks over functions that they have replaced.
os.environ.setdefault("OMPI_MCA_memory", "^patcher")
SCHEMA = json.loads((SCHEMAS / "overlap-result-3.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[+-]\d+)?|inf|nan)"
WORD = r"[a-z][a-z0-9_]*"
FOM = re.compile(
    rf"OVERLAP_FOM deck=(?P<deck>[^\s=]+) order=(?P<order>{WORD}) "
    rf"metric=(?P<metric>{WORD}) "
    rf"value=(?P<value>{NUMBER}) unit=(?P<unit>s|GB/s|1) lo=(?P<lo>{NUMBER}) hi=(?P<hi>{NUMBER}) "
    rf"n=(?P<n>\d+)(?P<host_work> host_work=on)?(?: device=(?P<device>[^\s=]+))?"
)
CHECK = re.compile(
    rf"OVERLAP_CHECK metric=(?P<metric>{WORD}) order=(?P<order>{WORD}) "
    rf"verdict=(?P<verdict>PASS|FAIL|INCONCLUSIVE|SKIPPED) value=(?P<value>{NUMBER}) "
    rf"limit=(?P<limit>{NUMBER})(?: device=(?P<device>[^\s=]+))?"
)
DEVICE = re.compile(
    rf"OVERLAP_DEVICE host=\S+ uuid=\S+ phase=(?:alone|together) verdict=[A-Z]+(?: deck=\S+)?"
)
SLOWEST = re.compile(
    rf"OVERLAP_SLOWEST host=\S+ uuid=\S+ metric={WORD} value={NUMBER} median={NUMBER} "
    rf"phase=(?:alone|together) order=(?:-|{WORD})(?: deck=\S+)?"
)
RESULT = re.compile(
    r"OVERLAP_RESULT verdict=(?P<verdict>PASS|FAIL|INCONCLUSIVE) data=(?P<data>OK|WRONG|NONE) "
    r"exit=(?P<exit>\d+)"
)

# What is printed of a run that could not begin.
NOT_BEGUN = re.compile(r"(?:verdict: ERROR\n)?OVERLAP_RESULT verdict=ERROR data=NONE exit=1\n")

# Small enough for a slow machine and a thread sanitizer.
SMALL = """\
title: Small increment
workload: {kind: increment, elements: 65536}
chunks: {count: 4}
issue: {orders: [sequential, depth_first, by_engine], lanes: 2}
measure: {warmup: 1, repetitions: 3}
acceptance: [{metric: max_error, max: 1e-5}]
"""
# Runs until somebody stops it.
ENDLESS = SMALL.replace("repetitions: 3", "repetitions: 1000000")


def run(*arguments, timeout=300, **options):
    """Runs the program to its end; its streams are text."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    options.setdefault("env", {**os.environ, "COLUMNS": "1000"})  # nothing is wrapped or left out
    return subprocess.run(
        [MINIAPP, *map(str, arguments)], text=True, errors="replace", timeout=timeout, **options
    )


def start(*arguments):
    return subprocess.Popen(
        [MINIAPP, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def is_listening(process):
    """Whether it has ended or catches SIGINT; before, while it is loaded, a signal ends any program."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return True
    caught = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt")]
    return not caught or caught[0] >> (signal.SIGTERM - 1) & 1 or process.poll() is not None


def records(stdout):
    """The result lines by kind, each a dictionary of key=value as text."""
    found = {f"OVERLAP_{kind}": [] for kind in ("FOM", "CHECK", "DEVICE", "SLOWEST", "RESULT")}
    for line in stdout.splitlines():
        if line.startswith("OVERLAP_"):
            name, *fields = line.split(" ")
            found[name].append(dict(field.split("=") for field in fields))
    return found


def problems(document):
    """What the schema has against a result file; empty: nothing."""
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]


def all_of(result, kind):
    """The runs, findings or checks of all points of a result."""
    return [entry for point in result["points"] for entry in point[kind]]


def keys_in(deck, prefix=""):
    """Dotted keys of a deck with their values, lists as a whole."""
    for key, value in deck.items():
        if isinstance(value, dict):
            yield from keys_in(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def overrides(settings):
    """--set options that a dictionary of dotted keys asks for."""
    return [f"--set={key}={json.dumps(value)}" for key, value in settings.items()]


class TestCase(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="overlap-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def deck(self, text=SMALL, name="small.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def assert_clean(self, done, code=0):
        """The program ended with this code and complained about nothing."""
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, code, done.stdout)

    def assert_error(self, done, code, message="."):
        """The program ended with this code and one line that matches."""
        self.assertRegex(done.stderr, r"\Aminiapp: error: [^\n]+\n\Z")
        self.assertRegex(done.stderr, message)
        self.assertEqual(done.returncode, code)

    def is_skipped(self, kind, done):
        """Whether this program lacks the workload; then it has said so."""
        missing = re.search(rf"(?m)^  {kind} .*\(unavailable: (.*)\)$", run("--list").stdout)
        if missing:
            self.assert_error(done, 77, rf"workload\.kind: {kind} cannot run in this program: {missing[1]}")
        return missing is not None

    def assert_valid(self, document):
        self.assertEqual(problems(document), [])
