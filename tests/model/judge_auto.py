#!/usr/bin/env python3
"""Compares what `auto` chooses with the best of a sweep over orders, chunk counts and lanes, on this machine.

judge_auto.py MINIAPP DEVICE.yaml [PROBLEM...]

At each point of the sweep `auto` and the orders take turns, so their ratio does not depend on what disturbs the machine
for longer than a run. The largest of 42 ratios is large by chance, too: those above the limit are measured again with
more samples, which decide. Exit code 1 when the median time of auto is more than 2 % above that of any point.
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


LIMIT = 1.02
AGAIN = 5  # points that are measured again, the worst ones; also how many times the samples


def ratios(miniapp, device, workload, repetitions, keys, orders):
    """How much longer auto takes than each other order at each point, worst first, with both runs."""
    with tempfile.TemporaryDirectory() as folder:
        deck, result = Path(folder) / "deck.yaml", Path(folder) / "result.json"
        deck.write_text(f"workload: {workload}\n{keys}\nmeasure: {{warmup: 2, repetitions: {repetitions}, verify: ends}}\n",
                        encoding="utf-8")
        subprocess.run([miniapp, "--device", device, "--json", result, "--quiet", "--set",
                        f"issue.orders=[auto, {', '.join(orders)}]", deck], check=True, stdout=subprocess.DEVNULL)
        measured = json.loads(result.read_text(encoding="utf-8"))
    found = []
    for run in measured["runs"]:
        if run["order"] == "auto":  # the first order of each point
            auto = run
        else:
            found.append((auto["time_s"]["median"] / run["time_s"]["median"], auto, run))
    return sorted(found, key=lambda one: -one[0])


def spell(run):
    return f"{run['time_s']['median'] * 1e3:.4f} ms ({run['order']}, {run['chunks']} chunks, {run['lanes']} lanes)"


def main():
    miniapp, device, *names = sys.argv[1:]
    if unknown := set(names) - set(PROBLEMS):
        sys.exit(f"found {', '.join(sorted(unknown))}; allowed: {', '.join(PROBLEMS)}")
    failed = False
    for name in names or PROBLEMS:
        workload, repetitions = PROBLEMS[name]
        found = ratios(miniapp, device, workload, repetitions,
                       f"sweep: {{chunks.count: {CHUNKS}, issue.lanes: {LANES}}}",
                       ["depth_first", "breadth_first", "by_engine"])
        print(f"{name}: {found[0][0]:.4f} at worst of {len(found)} points", flush=True)
        doubtful = [(run["order"], run["point"]) for ratio, _, run in found if ratio > LIMIT][:AGAIN]
        if doubtful:
            found = []
        for order, point in doubtful:
            keys = f"chunks: {{count: {point['chunks.count']}}}\nissue: {{lanes: {point['issue.lanes']}}}"
            found += ratios(miniapp, device, workload, AGAIN * repetitions, keys, [order])
        ratio, auto, run = max(found, key=lambda one: one[0])
        failed |= ratio > LIMIT
        print(f"{name}: ratio {ratio:.4f}: {spell(auto)} : {spell(run)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
