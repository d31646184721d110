#!/usr/bin/env python3
"""Compares what `auto` chooses with the best of a sweep over orders, chunk counts and lanes, on this machine.

judge_auto.py MINIAPP DEVICE.yaml [PROBLEM...]

At each point of the sweep `auto` and the orders take turns, so their ratio does not depend on what disturbs the machine
for longer than a run. Exit code 1 when the median time of auto is more than 2 % above that of any point.
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
            deck, result = Path(folder) / "deck.yaml", Path(folder) / "result.json"
            deck.write_text(f"workload: {workload}\nsweep: {{chunks.count: {CHUNKS}, issue.lanes: {LANES}}}\n"
                            f"issue: {{orders: [auto, depth_first, breadth_first, by_engine]}}\n"
                            f"measure: {{warmup: 2, repetitions: {repetitions}, verify: ends}}\n", encoding="utf-8")
            subprocess.run([miniapp, "--device", device, "--json", result, "--quiet", deck], check=True,
                           stdout=subprocess.DEVNULL)
            measured = json.loads(result.read_text(encoding="utf-8"))
        points = []
        for run in measured["runs"]:
            time = run["time_s"]["median"]
            if run["order"] == "auto":  # the first order of each point
                auto, chosen = time, run
            else:
                points.append((auto / time, auto, time, chosen, run))
        ratio, auto, time, chosen, run = max(points, key=lambda point: point[0])
        failed |= ratio > 1.02
        print(f"{name}: ratio {ratio:.4f}: auto {auto * 1e3:.4f} ms ({chosen['chunks']} chunks, {chosen['lanes']} lanes), "
              f"best of {len(points)} points {time * 1e3:.4f} ms ({run['order']}, {run['chunks']} chunks, {run['lanes']} lanes)",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
