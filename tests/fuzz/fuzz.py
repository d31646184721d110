#!/usr/bin/env python3
"""Runs the fuzzers of a build (preset fuzz) from the committed inputs on.

fuzz.py BUILD/tests/fuzz [--seconds 60] [--jobs 2] [--targets deck ...]

Each target runs for that long. A crash is a defect, and so is an input that takes over 2 s or more
than 1 GB. New inputs that reach new code are kept in the build, so that hours add up; those that break a target lie next
to them. Exit code 1 if anything breaks.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUT = HERE.parent.parent / "input"
MORE = {"deck": [INPUT], "device": [INPUT / "devices"], "pipeline": [INPUT], "reference": [INPUT / "references"]}
MOST_BYTES = {"result": 1 << 16}


def write_dictionary(path):
    """The words of the shipped files, as libFuzzer takes them."""
    files = [file.read_text(encoding="utf-8") for file in sorted(INPUT.rglob("*.yaml"))]
    words = {word for text in files for word in re.findall(r"[a-z][a-z0-9_.]+|[^\s\w]", re.sub("#.*", "", text))}
    path.write_text("".join('"{}"\n'.format(word.replace("\\", "\\\\").replace('"', '\\"')) for word in sorted(words)))


def start(build, target, seconds):
    found, grown = build / "found" / target, build / "grown" / target
    for folder in (found, grown):
        folder.mkdir(parents=True, exist_ok=True)
    log = (build / f"{target}.log").open("w", encoding="utf-8")
    command = [build / f"overlap_fuzz_{target}", f"-max_total_time={seconds}", "-timeout=2", "-rss_limit_mb=1024",
               f"-max_len={MOST_BYTES.get(target, 4096)}", f"-dict={build}/words", "-print_final_stats=1", f"-artifact_prefix={found}/", grown, HERE / "corpus" / target, *MORE.get(target, [])]  # fmt: skip
    return subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def words(build, target, process):
    """What came of a target, in a line; and where it broke, the sanitizer's words."""
    log = (build / f"{target}.log").read_text(encoding="utf-8", errors="replace")
    inputs = re.search(r"stat::number_of_executed_units: (\d+)", log)
    said = f"{target}: {inputs[1] if inputs else 'an unknown number of'} inputs"
    if process.returncode == 0:
        return f"{said}, nothing broke"
    written = re.search(r"Test unit written to (\S+)", log)
    reason = re.search(r"^.*(?:ERROR:|runtime error:|terminate called|SUMMARY:).*$", log, re.MULTILINE)
    return f"{said}, BROKEN by {written[1] if written else 'an input of the corpus'}: {reason[0].strip() if reason else 'see the log'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--targets", nargs="+")
    options = parser.parse_args()
    build = options.build.resolve()
    write_dictionary(build / "words")
    todo = options.targets or sorted(file.name.removeprefix("overlap_fuzz_") for file in build.glob("overlap_fuzz_*"))
    if not todo:
        sys.exit(f"fuzz: error: found no fuzzers in {build}; allowed: the folder tests/fuzz of a build with the preset fuzz")
    running, failed = {}, 0
    while todo or running:
        while todo and len(running) < options.jobs:
            target = todo.pop(0)
            running[target] = start(build, target, options.seconds)
        for target, process in list(running.items()):
            if process.poll() is not None:
                print(words(build, target, process), flush=True)
                failed += process.returncode != 0
                del running[target]
        time.sleep(0.2)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
