#!/usr/bin/env python3
"""Adds an example of each thing in the table "To add something" of docs/developing.md, builds them all and runs their tests.

recipes.py [--jobs 2]    applies the patches of this folder, one after the other, to a copy of the project
recipes.py --self-test   plants patches that break the table's promise and sees each caught

The first line of a patch names its row: "To add an issue order: ...". Under src and miniapp the patch must touch exactly
the files that the row names, where NAME stands for any name. The copy must keep the rules of format, includes and sizes,
the generated files must follow, and the unit tests and those of workloads must pass, the patches' own among them. Exit 1
when something fails.
The build lies in build/recipes; the sources stay untouched. It runs in the quick start's root unless --here is given.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mutants"))
from mutants import PROJECT, configure, copy_tree, enter_root  # noqa: E402

PAGE = PROJECT / "docs/developing.md"
GENERATED = "*.AreOnThePage:*AsItIsWritten"
WORKLOADS = "Saxpy.*:FaultsTest.*:LanesTest.*Workload*"  # these try all that have chunks


class Failed(Exception):
    pass


def promises(page):
    """For each row of the table the files that it names."""
    rows = re.findall(r"^\| (an? [^|]+) \| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE)
    return {thing: re.findall(r"`((?:src|miniapp)/[^` ]+\.\w+)`", files) for thing, files in rows}


def check(name, patch, rows):
    """Throws Failed unless the patch touches the files that its row promises and adds a test."""
    thing = re.match(r"To add (an? [^:]+): ", patch)
    if not thing or not rows.get(thing[1]):
        raise Failed(f"{name}: its first line names no row of the table; allowed: To add {', '.join(rows)}: ...")
    promised = {path: re.compile(re.escape(path).replace("NAME", r"\w+")) for path in rows[thing[1]]}
    pairs = re.findall(r"^diff --git a/(\S+) b/(\S+)$", patch, re.MULTILINE)
    touched = {path for pair in pairs for path in pair if path.startswith(("src/", "miniapp/"))}
    for path in sorted(touched):
        if not any(pattern.fullmatch(path) for pattern in promised.values()):
            raise Failed(f"{name}: touches {path}; the table promises for {thing[1]}: {', '.join(promised)}")
    for path, pattern in promised.items():
        matching = [other for other in touched if pattern.fullmatch(other)]
        if len(matching) != 1:
            raise Failed(f"{name}: touches {len(matching)} files {path}; the table promises one for {thing[1]}")
    if not re.search(r"^\+TEST\(", patch, re.MULTILINE):
        raise Failed(f"{name}: adds no test")


def must(what, log, command, **options):
    """Runs a command; throws Failed with the first line that tells why."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False, **options)
    with log.open("ab") as file:
        file.write(f"$ {' '.join(map(str, command))}\n".encode() + done.stdout)
    if done.returncode != 0:
        lines = done.stdout.decode(errors="replace").splitlines()
        why = next((line for line in lines if re.search(r"\berror:|CMake Error|: Failure$", line)), (lines or ["no output"])[0])
        raise Failed(f"{what}: {why.strip()} (log: {log})")


def run(folder, jobs):
    source, build, log = folder / "source", folder / "build", folder / "log"
    patches = {file.name: file.read_text(encoding="utf-8") for file in sorted(HERE.glob("*.patch"))}
    page = PAGE.read_text(encoding="utf-8")
    if named := set(re.findall(r"`(\w+\.patch)`", page)) ^ set(patches):
        raise Failed(f"{', '.join(sorted(named))}: not both in this folder and on the page {PAGE.name}")
    rows = promises(page)
    for name, patch in patches.items():
        check(name, patch, rows)
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    copy_tree(PROJECT, source)
    alone = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder)}  # git apply skips what lies in a folder of a repository
    for name in patches:
        must(f"{name}: does not apply", log, ["git", "apply", str(HERE / name)], cwd=source, env=alone)
    must("format", log, ["bash", "-euc", 'clang-format --dry-run -Werror "$@"', "format",
                         *sorted({path for patch in patches.values() for path in re.findall(r"^\+\+\+ b/(\S+pp)$", patch, re.MULTILINE)})], cwd=source)  # fmt: skip
    must("includes", log, ["ci/check_includes.py"], cwd=source)
    must("sizes", log, ["ci/check_sizes.sh"], cwd=source)
    must("configuring", log, [*configure(source, build), "-DOVERLAP_KOKKOS=ON", "-DOVERLAP_WERROR=ON"])
    must("building", log, ["cmake", "--build", str(build), "--target", "overlap_unit", "overlap_exec", "-j", str(jobs)])
    unit = [str(build / "tests/overlap_unit"), "--gtest_brief=1"]
    subprocess.run([*unit, f"--gtest_filter={GENERATED}"], env=os.environ | {"OVERLAP_REGENERATE": "1"}, capture_output=True, check=False)
    must("unit tests", log, unit)  # those of the generated files among them
    must("workloads", log, [str(build / "tests/overlap_exec"), "--gtest_brief=1", f"--gtest_filter={WORKLOADS}"])
    for name, patch in patches.items():
        print(f"{name}: {patch.splitlines()[0]}")
    print(f"recipes: all {len(patches)} apply, build and pass")


def self_test():
    def touching(*paths):
        return "".join(f"diff --git a/{path} b/{path}\n" for path in paths)

    rows = {"an issue order": ["src/schedule/NAME.cpp", "src/deck/orders.hpp"]}
    test = "diff --git a/tests/unit/x_test.cpp b/tests/unit/x_test.cpp\n+TEST(X, Y) {\n"
    head, files = "To add an issue order: x.\n", ("src/schedule/x.cpp", "src/deck/orders.hpp")
    planted = {
        "": head + touching(*files, "docs/decks.md") + test,  # none
        "touches src/deck/words.hpp; the table promises": head + touching(*files, "src/deck/words.hpp") + test,
        "touches miniapp/main.cpp; the table promises": head + touching(*files, "miniapp/main.cpp") + test,
        "touches src/schedule/a/x.cpp; the table promises": head + touching(*files, "src/schedule/a/x.cpp") + test,
        "touches 2 files src/schedule/NAME.cpp": head + touching(*files, "src/schedule/y.cpp") + test,
        "touches 0 files src/deck/orders.hpp": head + touching(files[0]) + test,
        "names no row": "To add a dish: x.\n" + touching(*files) + test,
        "adds no test": head + touching(*files),
    }
    wrong = [f"the table has no files for: {thing}" for thing, files in promises(PAGE.read_text(encoding="utf-8")).items() if not files]
    for expected, patch in planted.items():
        found = ""
        try:
            check("x.patch", patch, rows)
        except Failed as failed:
            found = str(failed)
        if (expected not in found) if expected else found:
            wrong.append(f"found '{found}'; expected: '{expected}'")
    print("\n".join(f"self-test: {line}" for line in wrong) if wrong else f"self-test: all {len(planted) - 1} planted breaks caught")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--here", action="store_true", help="with this machine's compiler, not in the quick start's root")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.here:
        enter_root(__file__)
    try:
        run(PROJECT / "build/recipes", options.jobs)
    except Failed as failed:
        print(f"recipes: error: {failed}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
