#!/usr/bin/env python3
"""Compares what `auto` chooses with the best of a sweep over orders, chunk counts and lanes, on this machine.

judge_auto.py MINIAPP DEVICE.yaml [PROBLEM...]

For each problem every point of the sweep runs next to `auto` in one deck; exit code 1 when the median time of auto is
more than 2 % above the best of all points.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

MI = 1 << 20
# Repetitions by size; bytes to the device, of the pipeline in each of two iterations with two inputs.
SIZES = {"16 MiB": (16 * MI, 31), "256 MiB": (256 * MI, 15), "1 GiB": (1024 * MI, 9)}
SHAPES = {
    "increment": lambda size: f"elements: {size // 4}",
    "rowsum": lambda size: f"rows: {size // 24}, columns: 6",
    "pipeline": lambda size: f"elements: {size // 16}, iterations: 2",
}
PROBLEMS = {
    f"{kind} of {words}": (f"{{kind: {kind}, {shape(size)}}}", repetitions)
    for words, (size, repetitions) in SIZES.items()
    for kind, shape in SHAPES.items()
}
CHUNKS = [2, 4, 8, 12, 16, 32, 64]
LANES = [4, 16]


def main():
    miniapp, device, *names = sys.argv[1:]
    failed = False
    for name in names or PROBLEMS:
        workload, repetitions = PROBLEMS[name]
        with tempfile.TemporaryDirectory() as folder:
            decks = []
            for chunks in CHUNKS:
                for lanes in LANES:
                    decks.append(Path(folder) / f"{chunks}_{lanes}.yaml")
                    decks[-1].write_text(
                        f"workload: {workload}\nchunks: {{count: {chunks}}}\n"
                        f"issue: {{orders: [auto, depth_first, breadth_first, by_engine], lanes: {lanes}}}\n"
                        f"measure: {{warmup: 2, repetitions: {repetitions}, verify: ends}}\n", encoding="utf-8")
            result = Path(folder) / "result.json"
            subprocess.run([miniapp, "--device", device, "--json", result, "--quiet", *decks], check=True,
                           stdout=subprocess.DEVNULL)
            results = json.loads(result.read_text(encoding="utf-8"))["results"]
        times = sorted((run["time_s"]["median"], run["order"], run["chunks"], run["lanes"])
                       for one in results for run in one["runs"] if run["order"] != "auto")
        automatic = sorted(run["time_s"]["median"] for one in results for run in one["runs"] if run["order"] == "auto")
        median = automatic[len(automatic) // 2]
        ratio = median / times[0][0]
        failed |= ratio > 1.02
        print(f"{name}: auto {median * 1e3:.4f} ms, best of {len(times)} points {times[0][0] * 1e3:.4f} ms "
              f"({times[0][1]}, {times[0][2]} chunks, {times[0][3]} lanes): ratio {ratio:.4f}\n"
              f"  {results[0]['choices']['auto']}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
