#!/usr/bin/env python3
"""Checks that folders keep to their order, and that what belongs to one place stays there: Kokkos, vendors' interfaces,
MPI, printing and exiting; and that no file has a path of the machine where it was made.

check_includes.py [FOLDER]      checks src, miniapp and tests below FOLDER (default: this repository); exit 1 on a break
check_includes.py --self-test   plants one break of each kind and sees each caught
"""

import re
import sys
import tempfile
from pathlib import Path

# A folder may include itself and the folders before it.
ORDER = [
    "base", "describe", "deck", "schedule", "timeline", "model", "results", "experiment", "report",
    "workload", "lanes", "measure", "fleet", "miniapp",
]  # fmt: skip
KOKKOS_MAY = ("src/workload/", "src/lanes/", "src/measure/", "src/fleet/", "miniapp/", "tests/")
VENDORS_MAY = ("src/lanes/", "src/measure/platform", "src/workload/space.hpp", "tests/")  # the space's type
FLEETS_MAY = ("src/fleet/", "tests/")
ENDS_MAY = ("miniapp/", "src/base/interrupt.cpp", "tests/")  # a second Ctrl-C ends the program at once

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITION = re.compile(
    r"\s*#\s*(?:if|ifdef|ifndef|elif|elifdef|elifndef)\b.*?"
    r"\b(KOKKOS_ENABLE_(?:CUDA|OPENMP|SERIAL|HIP|SYCL|THREADS)\w*|__CUDACC__|__CUDA_ARCH__|__NVCC__|__HIPCC__"
    r"|__HIP_\w+|OVERLAP_(?:CUDA|HIP|NVML|CUPTI|NVTX|ROCM)\w*)"
)
# (what the header's name begins with, the files that may include it, how they are called)
HEADERS = [
    (re.compile(r"Kokkos\w*\.hpp"), KOKKOS_MAY, "workload, lanes, measure, fleet, miniapp and tests"),
    (re.compile(r"(?:cuda|cupti|cublas|nvml|nvtx|hip/|hip_|rocm|roc(?:blas|tracer|profiler)|hsa/|amd_smi)"), VENDORS_MAY,
     "src/lanes, src/measure/platform* and tests"),
    (re.compile(r"(?:mpi\.h|hwloc)"), FLEETS_MAY, "src/fleet and tests"),
]
# (what code outside miniapp must not have, what it does)
ENDS = [
    (re.compile(r"\bstd::(?:cout|cerr|clog)\b|\b(?:stdout|stderr)\b|(?<!\w)(?:v?f?printf|puts|perror)\s*\(|\bfmt::print\w*\s*\("),
     "prints"),
    (re.compile(r"(?<![\w.>])(?:_exit|_Exit|exit|quick_exit)\s*\("), "exits"),
]
# What a compiler does not see as code, and directives, which keep their quotes.
TOKEN = re.compile(
    r"""
    (?P<blank> //(?:\\\n|[^\n])* | /\*.*?\*/
      | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
  | ^[ \t]*\#(?:\\\n|//[^\n]*|/\*.*?\*/|[^\n])*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# What the headers of Kokkos bring along.
VENDOR = re.compile(r"\bKokkos::(?:Cuda|HIP|SYCL)\w*|\b(?:cuda|cu|hip)[A-Z]\w*")
MACHINE = re.compile(rb"/(?:home|root|work|Users)/\w")


def code_of(text):
    """The text with comments and literals blanked, directives whole, every line where it was."""
    return TOKEN.sub(lambda token: " " + "\n" * token[0].count("\n") if token["blank"] else token[0], text)


def folder_of(path):
    """The folder of ORDER that a path below the repository belongs to; None for tests."""
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else "miniapp" if parts[0] == "miniapp" else None


def breaks_in_line(path, line):
    condition = CONDITION.match(line)
    if condition and not path.startswith(VENDORS_MAY):
        yield f"condition on {condition[1]} outside src/lanes, src/measure/platform* and tests"
    include = INCLUDE.match(line)
    if not include:
        if not path.startswith(VENDORS_MAY) and (found := VENDOR.search(line)):
            yield f"{found[0]} outside src/lanes, src/measure/platform* and tests"
        for pattern, does in ENDS:
            if not path.startswith(ENDS_MAY) and (found := pattern.search(line)):
                yield f"{found[0].rstrip('( ')} {does} outside miniapp and tests"
        return
    header, target = include[2], include[2].split("/")[0]
    for pattern, may, places in HEADERS:
        if pattern.match(header) and not path.startswith(may):
            yield f"{header} outside {places}"
    folder = folder_of(path)
    if folder is None or (include[1] == "<" and target not in ORDER):
        return
    if "/" not in header and folder == "miniapp":
        return  # miniapp's own files lie next to each other
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
        for line in re.split(r"(?<!\\)\n", code_of(file.read_text(encoding="utf-8"))):  # continued lines in one piece
            for message in breaks_in_line(path, line.replace("\\\n", " ")):
                yield f"{path}:{number}: {message}"
            number += 1 + line.count("\n")


def machines(root):
    """Files with paths that mean something on one machine alone: names of result files, made ones most of all."""
    for top in ("src", "miniapp", "tests", "input", "docs", "ci"):
        for file in sorted((root / top).rglob("*")):
            if "__pycache__" not in file.parts and file.is_file() and (found := MACHINE.search(file.read_bytes())):
                number = file.read_bytes()[: found.start()].count(b"\n") + 1
                yield f"{file.relative_to(root).as_posix()}:{number}: a path of one machine"


def self_test():
    good = {
        "src/base/error.hpp": '#include <string>\n#ifdef NDEBUG\n#endif\n',
        "src/base/text.cpp": '// printf(x), exit(1)\nauto s = "std::cout /dev/stdout"; std::snprintf(s); at_exit(1); x.exit(2);\n',
        "src/describe/deck.cpp": '#include "describe/document.hpp"\n#include <yaml-cpp/yaml.h>\n',
        "src/report/json.cpp": '#include "report/json.hpp"\n#include "experiment/study.hpp"\n',
        "src/lanes/cuda_api.hpp": '#include <cuda_runtime.h>\n#if defined(KOKKOS_ENABLE_CUDA)\n#endif\n',
        "src/lanes/hip_api.hpp": '#include <hip/hip_runtime.h>\n#ifdef __HIPCC__\n#endif\n',
        "src/measure/platform_cuda.cpp": '#include <nvml.h>\n#ifdef OVERLAP_CUPTI\n#endif\n',
        "src/workload/rowsum.hpp": '#include <Kokkos_Core.hpp>\n#ifdef KOKKOS_ENABLE_ATOMICS_BYPASS\n#endif\n',
        "src/fleet/ranks.cpp": '#include <mpi.h>\n#include <hwloc.h>\n#include "measure/session.hpp"\n',
        "miniapp/main.cpp": '#include "options.hpp"\n#include "report/json.hpp"\nstd::cout << x; std::_Exit(1);\n',
        "tests/exec/lanes.cpp": '#include <nvml.h>\n#include "miniapp/x.hpp"\n#if defined(__CUDACC__)\n#endif\nexit(1);\n',
    }
    bad = {  # each file breaks one rule, in line 2
        "src/other/error.cpp": '\n#include <string>\n',  # a folder that is not in the order
        "src/base/a.hpp": '\n#include "deck/deck.hpp"\n',
        "src/describe/a.hpp": '\n#include "deck/deck.hpp"\n',
        "src/model/a.hpp": '\n#include "experiment/plan.hpp"\n',
        "src/experiment/a.hpp": '\n#include "report/json.hpp"\n',
        "src/lanes/b.hpp": '\n  # include "measure/session.hpp"\n',
        "src/measure/b.hpp": '\n#include "fleet/ranks.hpp"\n',
        "src/report/c.cpp": '\n#include "json.hpp"\n',
        "src/report/d.cpp": '\n#include "../deck/deck.hpp"\n',
        "src/report/e.cpp": '\n#include "miniapp/options.hpp"\n',
        "src/schedule/f.cpp": '\n#include <Kokkos_Core.hpp>\n',
        "src/report/g.cpp": '\n#include <KokkosBlas3_gemm.hpp>\n',
        "src/measure/h.cpp": '\n#include <cuda_runtime.h>\n',
        "src/workload/i.cpp": '\n#include <nvml.h>\n',
        "src/fleet/i.cpp": '\n#include <rocm_smi/rocm_smi.h>\n',
        "src/measure/j.cpp": '\n#include <hip/hip_runtime.h>\n',
        "miniapp/j.cpp": '\n#include <cupti.h>\n',
        "src/workload/k.cpp": '\n#if defined(X) || \\\n  defined(KOKKOS_ENABLE_CUDA)\n#endif\n',
        "src/workload/l.hpp": '\n#ifdef __CUDACC__\n#endif\n',
        "src/measure/l.hpp": '\n#ifdef OVERLAP_NVTX\n#endif\n',
        "miniapp/m.cpp": '\n#elif defined(KOKKOS_ENABLE_OPENMP)\n#endif\n',
        "src/model/n.cpp": '\n#include <workload/workload.hpp>\n',
        "src/measure/o.cpp": '\n#include <mpi.h>\n',
        "src/lanes/o.cpp": '\n#include <hwloc/cudart.h>\n',
        "src/report/p.cpp": '\nvoid f() { std::cerr << 1; }\n',
        "src/report/q.cpp": '\nvoid f() { std::printf("x"); }\n',
        "src/measure/r.cpp": '\nvoid f() { fmt::print("x"); }\n',
        "src/measure/s.cpp": '\nvoid f() { std::fputs("x", stderr); }\n',
        "src/base/t.cpp": '\nvoid f() { std::_Exit(1); }\n',
        "src/fleet/u.cpp": '\nvoid f() { exit(1); }\n',
        "src/workload/v.cpp": '\nusing Space = Kokkos::HIP;\n',
        "src/measure/w.cpp": '\nvoid f() { hipDeviceSynchronize(); }\n',
        "miniapp/x.cpp": '\nvoid f() { cudaDeviceReset(); }\n',
        "tests/fuzz/corpus/y": '\n"file": "/' + 'home/me/rowsum.json"\n',
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in (good | bad).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        found = sorted(message.split(": ")[0] for message in [*breaks(root), *machines(root)])
    expected = sorted(f"{path}:{1 if 'other' in path else 2}" for path in bad)
    for place in sorted(set(expected) ^ set(found)):
        print(f"self-test: {place}: {'not caught' if place in expected else 'caught by mistake'}")
    if found != expected:
        return 1
    print(f"self-test: all {len(expected)} planted violations caught")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = [*breaks(root), *machines(root)]
    print("\n".join(found) if found else "includes: no violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
