#!/usr/bin/env python3
"""Changes one token of the libraries without Kokkos at a time and sees whether a unit test fails.

mutants.py --count 60 --seed 1 --jobs 2 [--paths src/schedule src/model/bounds.cpp ...]
mutants.py --self-test   mutates a small program of its own, whose mutants' fates are known

The mutants are drawn at random among: relational, arithmetic, logical and compound operators, constants plus and minus
one, removed negations, min and max, true and false. Each is built at -O1 and must fail overlap_unit within the time
limit. A mutant that does not compile, or compiles to the same objects, does not count. Prints one line for each, then
the survivors; exit 1 when fewer than --at-least percent die. Builds lie in build/mutants; the sources stay untouched.
It runs in the quick start's root unless --here is given.
"""

import argparse
import concurrent.futures
import hashlib
import os
import queue
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
KOKKOS = {"workload", "lanes", "measure", "fleet"}  # folders of src whose code overlap_unit does not run
MEMORY_BYTES = 4 << 30  # of a test run: a mutated loop may allocate without end

# Comments, literals and directives have no tokens to change. Binary operators are those that clang-format puts between
# blanks, which brackets of templates, references and pointers are not.
TOKEN = re.compile(
    r"""
    (?P<skip> //[^\n]* | /\*.*?\*/ | R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+' | ^[ \t]*\#(?:\\\n|[^\n])* | \bstatic_assert\b[^;]*; )
  | (?P<binary> (?<=\s)(?:<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|<|>|\+|-|\*|/|%)(?=\s) )
  | (?P<negation> !(?!=) )
  | (?P<extreme> (?<=::)(?:min|max)(?=\() )
  | (?P<truth> \b(?:true|false)\b )
  | (?P<number> (?<![\w.])(?:0[xX][0-9a-fA-F']+|\d[\d']*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)[uUlLfFzZ]*(?![\w.]) )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
RELATIONS = ["<", "<=", ">", ">=", "==", "!="]
SWAPS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "min": ["max"], "max": ["min"], "true": ["false"], "false": ["true"], "!": [""],
}  # fmt: skip


@dataclass
class Mutant:
    path: str
    at: int  # offset of the token
    old: str
    new: str
    line: int
    text: str  # the changed line
    fate: str = ""
    seconds: float = 0

    def __str__(self):
        return f"{self.path}:{self.line}: {self.old} -> {self.new or '(nothing)'}: {self.text}"


def replacements(token):
    word = token[0]
    if token["number"]:
        if re.fullmatch(r"0|[1-9]\d*", word):
            return [str(int(word) + 1), f"({int(word) - 1})" if word == "0" else str(int(word) - 1)]
        return [f"({word} + 1)", f"({word} - 1)"]
    return [other for other in RELATIONS if other != word] if word in RELATIONS else SWAPS[word]


def mutants_of(root, path):
    """All mutants of a file, each token's in a row."""
    text = (root / path).read_text(encoding="utf-8")
    for token in TOKEN.finditer(text):
        if token["skip"]:
            continue
        begin, end = text.rfind("\n", 0, token.start()) + 1, text.find("\n", token.end())
        yield [
            Mutant(path, token.start(), token[0], new, text.count("\n", 0, begin) + 1,
                   (text[begin : token.start()] + new + text[token.end() : end]).strip())
            for new in replacements(token)
        ]  # fmt: skip


def sources(root, paths):
    files = []
    for path in paths or [f"src/{folder.name}" for folder in sorted((root / "src").iterdir()) if folder.name not in KOKKOS]:
        place = root / path
        if not place.exists():
            sys.exit(f"mutants: error: found no {path} in {root}")
        files += sorted(place.rglob("*")) if place.is_dir() else [place]
    return [file.relative_to(root).as_posix() for file in files if file.suffix in (".cpp", ".hpp")]


def copy_tree(root, target):
    """The project's files as git knows them; one that is the same is left alone, so that builds stay incremental."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, capture_output=True, check=True)
    names = {name for name in os.fsdecode(listed.stdout).split("\0") if name and (root / name).is_file()}
    for old in [file for file in target.rglob("*") if file.is_file() and file.relative_to(target).as_posix() not in names]:
        old.unlink()
    for name in names:
        new = target / name
        if not new.exists() or new.read_bytes() != (root / name).read_bytes():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, new)


def configure(source, build):
    """The command for a quick build of the libraries without Kokkos and their tests."""
    settings = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g0", "-DOVERLAP_KOKKOS=OFF", "-DOVERLAP_TESTS=ON"]
    return ["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", *settings]


def enter_root(script):
    """Runs the script again in the quick start's root, unless it already does."""
    if not Path("/etc/overlap-root").exists():
        shell = 'source "$0"; use_root 4; exec "${inside[@]}" "${clean[@]}" "$@"'
        os.execvp("bash", ["bash", "-euc", shell, str(PROJECT / "ci/root.sh"), str(Path(script).resolve()), *sys.argv[1:]])


class Worker:
    """One copy of the project and its build."""

    def __init__(self, root, folder, jobs):
        self.source, self.build, self.log = folder / "source", folder / "build", folder / "log"
        copy_tree(root, self.source)
        self.must("configured", configure(self.source, self.build))
        self.must("built", self.ninja(jobs))
        self.objects = self.hashes(".o")
        self.kept = folder / "kept"
        for file in self.outputs(".o", ".a", "overlap_unit"):
            kept = self.kept / file.relative_to(self.build)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, kept)
        began = time.monotonic()
        if (fate := self.test(None)) != "survived":
            sys.exit(f"mutants: error: the tests fail without a mutant ({fate}); log: {self.log}")
        self.seconds = time.monotonic() - began

    def ninja(self, jobs):
        return ["ninja", "-C", str(self.build), "-j", str(jobs), "overlap_unit"]

    def run(self, command, **options):
        with self.log.open("w", encoding="utf-8") as log:
            return subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=False, **options).returncode

    def must(self, what, command):
        if self.run(command) != 0:
            sys.exit(f"mutants: error: the project could not be {what}; log: {self.log}")

    def outputs(self, *ends):
        return [file for file in self.build.rglob("*") if file.name.endswith(ends) and file.is_file()]

    def hashes(self, *ends):
        return {file: hashlib.sha256(file.read_bytes()).digest() for file in self.outputs(*ends)}

    def restore(self, file, text, times):
        """The file and what was built of it, each as old as it was: ninja compiles nothing twice."""
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=times)
        for kept in [kept for kept in self.kept.rglob("*") if kept.is_file()]:
            built = self.build / kept.relative_to(self.kept)
            if not built.exists() or built.stat().st_mtime_ns != kept.stat().st_mtime_ns:
                fresh = built.with_name(built.name + ".fresh")
                shutil.copy2(kept, fresh)
                fresh.replace(built)  # not written over: a process that a test left may still run it

    def test(self, limit_s):
        unit = next(file for file in self.build.rglob("overlap_unit") if file.is_file())
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))  # noqa: E731
        with tempfile.TemporaryDirectory() as folder:
            try:
                code = self.run([str(unit), "--gtest_fail_fast", "--gtest_brief=1"], cwd=folder, timeout=limit_s, preexec_fn=limit)
            except subprocess.TimeoutExpired:
                return "killed by the time limit"
        return "survived" if code == 0 else "killed" if code == 1 else f"killed by exit code {code}"

    def judge(self, mutant, limit_s):
        file = self.source / mutant.path
        text, state = file.read_text(encoding="utf-8"), file.stat()
        file.write_text(text[: mutant.at] + mutant.new + text[mutant.at + len(mutant.old) :], encoding="utf-8")
        try:
            if self.run(self.ninja(1)) != 0:
                return "does not compile"
            if self.hashes(".o") == self.objects:
                return "same objects"
            return self.test(limit_s)
        finally:
            self.restore(file, text, (state.st_atime_ns, state.st_mtime_ns))


def judge_all(root, folder, drawn, count, jobs, limit_s):
    """Judges mutants in the order drawn until count of them count; returns those judged."""
    workers = [Worker(root, folder / str(number), jobs) for number in range(jobs)]
    limit = limit_s or max(10.0, 5 * max(worker.seconds for worker in workers))
    print(f"unit tests take {workers[0].seconds:.1f} s without a mutant; time limit: {limit:.0f} s", flush=True)
    todo, judged, lock = queue.SimpleQueue(), [], threading.Lock()
    for mutant in drawn:
        todo.put(mutant)
    counted = lambda: sum("k" in mutant.fate[:1] or mutant.fate == "survived" for mutant in judged)  # noqa: E731
    under_way = 0

    def work(worker):
        nonlocal under_way
        while True:
            with lock:
                if todo.empty() or counted() + under_way >= count:
                    return
                mutant = todo.get()
                under_way += 1
            began = time.monotonic()
            fate = worker.judge(mutant, limit)
            with lock:
                under_way -= 1
                mutant.fate, mutant.seconds = fate, time.monotonic() - began
                judged.append(mutant)
                print(f"{counted():4} {mutant.fate} ({mutant.seconds:.0f} s): {mutant}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        while not todo.empty() and counted() < count:  # one that did not count is made up for
            list(pool.map(work, workers))
    return judged


def report(judged, at_least):
    survivors = [mutant for mutant in judged if mutant.fate == "survived"]
    killed = sum(mutant.fate.startswith("killed") for mutant in judged)
    total = killed + len(survivors)
    print(f"\n{total} mutants, {killed} killed ({100 * killed / max(total, 1):.1f} %); not counted: "
          f"{sum(m.fate == 'does not compile' for m in judged)} that do not compile, "
          f"{sum(m.fate == 'same objects' for m in judged)} with the same objects")  # fmt: skip
    for mutant in sorted(survivors, key=lambda mutant: (mutant.path, mutant.line)):
        print(f"survived: {mutant}")
    return 0 if 100 * killed >= at_least * total else 1


SAMPLE = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(sample LANGUAGES CXX)\n"
    "set(CMAKE_CXX_STANDARD 20)\nadd_executable(overlap_unit src/base/sample.cpp)\n",
    "src/base/sample.cpp": """\
#include <algorithm>
int bits[3 + 1];  // 1 + 1
int larger(int a, int b) { return a >= b ? a : b; }
int least(int a, int b) { return std::min(a, b); }
bool odd(int a) { return !(a % 2 == 0); }
int count(int to) {
  int steps = 0;
  for (unsigned i = 0; i < unsigned(to); i += 1) steps += 1;
  for (unsigned i = 8; i != 1; i /= 2) steps += 0;
  return steps;
}
constexpr bool inside = true;
int none() { return 0 * 7; }
int main() {
  static_assert(inside);
  return larger(2, 1) == 2 && least(2, 1) == 1 && odd(3) && count(4) == 4 ? 0 : 1;
}
""",
}
# Line and change of mutants whose fate is known.
FATES = {
    (2, "+", "-"): "survived",  # nothing looks at the array
    (2, "3", "4"): "survived",
    (3, ">=", ">"): "same objects",  # an equivalent: of two equal numbers either is the larger
    (3, ">=", "<"): "killed",
    (4, "min", "max"): "killed",
    (5, "!", ""): "killed",
    (5, "==", "!="): "killed",
    (8, "+=", "-="): "killed",
    (9, "/=", "*="): "killed by the time limit",
    (12, "true", "false"): "does not compile",
    (13, "7", "8"): "same objects",
    (16, "&&", "||"): "survived",
}


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "sample"
        for path, text in SAMPLE.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        every = [mutant for row in mutants_of(root, "src/base/sample.cpp") for mutant in row]
        drawn, seen = [], set()
        for mutant in every:
            key = (mutant.line, mutant.old, mutant.new)
            if key in FATES and key not in seen:
                seen.add(key)
                drawn.append(mutant)
        judged = judge_all(root, Path(name) / "build", drawn, len(drawn), 2, 5)
    wrong = [key for key in FATES if key not in seen]
    wrong += [(m.line, m.old, m.new, m.fate) for m in judged if not m.fate.startswith(FATES[m.line, m.old, m.new])]
    wrong += ["more tokens"] * any(mutant.line in (1, 15) for mutant in every)
    print(f"self-test: wrong: {wrong}" if wrong else f"self-test: all {len(judged)} fates as expected")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--paths", nargs="+", default=[])
    parser.add_argument("--time-limit", type=float, help="seconds of a test run (five times the run without a mutant)")
    parser.add_argument("--at-least", type=float, default=90, help="percent that must die (90)")
    parser.add_argument("--here", action="store_true", help="with this machine's compiler, not in the quick start's root")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if not options.here:
        enter_root(__file__)
    if options.self_test:
        return self_test()
    rows = [row for path in sources(PROJECT, options.paths) for row in mutants_of(PROJECT, path)]
    draw = random.Random(options.seed)
    draw.shuffle(rows)
    drawn = [draw.choice(row) for row in rows]
    print(f"seed {options.seed}: {len(rows)} tokens can be changed ({shlex.join(options.paths) or 'all libraries without Kokkos'})", flush=True)
    folder = PROJECT / "build/mutants"
    return report(judge_all(PROJECT, folder, drawn, options.count, options.jobs, options.time_limit), options.at_least)


if __name__ == "__main__":
    sys.exit(main())
