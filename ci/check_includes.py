#!/usr/bin/env python3
"""Checks that the folders keep to their order and that back ends stay where they belong.

check_includes.py [FOLDER]      checks src, miniapp and tests below FOLDER (default: this repository); exit 1 on a break
check_includes.py --self-test   plants one break of each kind and sees each caught
"""

import re
import sys
import tempfile
from pathlib import Path

# A folder may include itself and the folders before it.
ORDER = ["base", "yaml", "deck", "schedule", "timeline", "model", "workload", "executor", "verdict", "report", "miniapp"]
KOKKOS_MAY = ("src/workload/", "src/executor/", "miniapp/", "tests/")
BACK_END_MAY = ("src/executor/detail/", "tests/")
LIST_OF_BACK_ENDS = "src/workload/spaces.def"

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITION = re.compile(
    r"\s*#\s*(?:if|ifdef|ifndef|elif|elifdef|elifndef)\b.*?"
    r"\b(KOKKOS_ENABLE_(?:CUDA|OPENMP|SERIAL|HIP|SYCL|THREADS)\w*|__CUDACC__|__CUDA_ARCH__|__HIPCC__)"
)
KOKKOS_HEADER = re.compile(r"Kokkos\w*\.hpp")
CUDA_HEADER = re.compile(r"(?:cuda|nvml|cupti)")


def folder_of(path):
    """The folder of ORDER that a path below the repository belongs to; None for tests."""
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else "miniapp" if parts[0] == "miniapp" else None


def breaks_in_line(path, line):
    condition = CONDITION.match(line)
    if condition and not path.startswith(BACK_END_MAY) and path != LIST_OF_BACK_ENDS:
        yield f"condition on {condition[1]} outside src/executor/detail and tests"
    include = INCLUDE.match(line)
    if not include:
        return
    header, target = include[2], include[2].split("/")[0]
    if KOKKOS_HEADER.match(header) and not path.startswith(KOKKOS_MAY):
        yield f"{header} outside workload, executor, miniapp and tests"
    if CUDA_HEADER.match(header) and not path.startswith(BACK_END_MAY):
        yield f"{header} outside src/executor/detail and tests"
    folder = folder_of(path)
    if folder is None or (include[1] == "<" and target not in ORDER):
        return
    if "/" not in header and folder == "miniapp":
        return  # miniapp's own files lie beside each other
    if "/" not in header or target not in ORDER:
        yield f'"{header}" is not written from src/ on: "<folder>/<file>"'
    elif ORDER.index(target) > ORDER.index(folder):
        yield f"{folder} includes {target}, which comes after it"


def breaks(root):
    files = [file for top in ("src", "miniapp", "tests") for file in sorted((root / top).rglob("*"))]
    for file in files:
        if file.suffix not in (".hpp", ".cpp", ".cu", ".cuh", ".h", ".def"):
            continue
        path = file.relative_to(root).as_posix()
        if path.startswith("src/") and folder_of(path) not in ORDER[:-1]:
            yield f"{path}:1: is in none of the folders {', '.join(ORDER[:-1])}"
            continue
        number = 1
        for line in re.split(r"(?<!\\)\n", file.read_text(encoding="utf-8")):  # continued lines in one piece
            for message in breaks_in_line(path, line.replace("\\\n", " ")):
                yield f"{path}:{number}: {message}"
            number += 1 + line.count("\n")


def self_test():
    good = {
        "src/base/error.hpp": '#include <string>\n#ifdef NDEBUG\n#endif\n',
        "src/report/json.cpp": '#include "report/json.hpp"\n#include "deck/deck.hpp"\n',
        LIST_OF_BACK_ENDS: "#if defined(KOKKOS_ENABLE_CUDA)\n#endif\n",
        "src/executor/detail/lanes.cpp": '#include <cuda_runtime.h>\n#if defined(KOKKOS_ENABLE_CUDA)\n#endif\n',
        "src/workload/rowsum.cpp": '#include <Kokkos_Core.hpp>\n#ifdef KOKKOS_ENABLE_ATOMICS_BYPASS\n#endif\n',
        "miniapp/main.cpp": '#include "experiment.hpp"\n#include "report/json.hpp"\n',
        "tests/exec/lanes.cpp": '#include <nvml.h>\n#include "miniapp/x.hpp"\n#if defined(__CUDACC__)\n#endif\n',
    }
    bad = {  # each file breaks one rule, in line 2
        "src/other/error.cpp": '\n#include <string>\n',  # a folder that is not in the order
        "src/base/a.hpp": '\n#include "deck/deck.hpp"\n',
        "src/executor/b.hpp": '\n  # include "verdict/verdict.hpp"\n',
        "src/report/c.cpp": '\n#include "json.hpp"\n',
        "src/report/d.cpp": '\n#include "../deck/deck.hpp"\n',
        "src/report/e.cpp": '\n#include "miniapp/experiment.hpp"\n',
        "src/schedule/f.cpp": '\n#include <Kokkos_Core.hpp>\n',
        "src/report/g.cpp": '\n#include <KokkosBlas3_gemm.hpp>\n',
        "src/executor/h.cpp": '\n#include <cuda_runtime.h>\n',
        "src/workload/i.cpp": '\n#include <nvml.h>\n',
        "miniapp/j.cpp": '\n#include <cupti.h>\n',
        "src/executor/k.cpp": '\n#if defined(X) || \\\n  defined(KOKKOS_ENABLE_CUDA)\n#endif\n',
        "src/workload/l.hpp": '\n#ifdef __CUDACC__\n#endif\n',
        "miniapp/m.cpp": '\n#elif defined(KOKKOS_ENABLE_OPENMP)\n#endif\n',
        "src/model/n.cpp": '\n#include <workload/workload.hpp>\n',
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in (good | bad).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        found = sorted(message.split(": ")[0] for message in breaks(root))
    expected = sorted(f"{path}:{1 if 'other' in path else 2}" for path in bad)
    for place in sorted(set(expected) ^ set(found)):
        print(f"self-test: {place}: {'not caught' if place in expected else 'caught by mistake'}")
    if found != expected:
        return 1
    print(f"self-test: all {len(expected)} planted breaks caught")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(breaks(root))
    print("\n".join(found) if found else "include directions: no breaks")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
