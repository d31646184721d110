#!/usr/bin/env python3
"""Measures the set of runs that the model is judged by, and writes them as a data file.

collect_runs.py MINIAPP DEVICE.yaml RUNS.json

The model was made while looking at the runs of TUNING; those of HELD_OUT only judge it. The device file comes from
`miniapp --calibrate DEVICE.yaml` on the same machine; with - instead every deck measures the device itself, briefly.
Short runs are measured three times, far apart: what else happens on the host makes them slower for seconds at a time.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MI = 1 << 20
# workload, MiB of each of its large arrays, chunks, lanes, intensity
TUNING = [
    ("increment", 1, 1, 1, "1"), ("increment", 1, 4, 4, "1"), ("increment", 1, 2, 2, "balanced"),
    ("increment", 1, 16, 4, "1"), ("increment", 4, 8, 3, "4x balanced"), ("increment", 4, 4, 2, "1"),
    ("increment", 16, 1, 1, "balanced"), ("increment", 16, 4, 4, "1"), ("increment", 16, 64, 16, "1"),
    ("increment", 16, 16, 8, "balanced"), ("increment", 64, 8, 8, "1"), ("increment", 64, 32, 4, "4x balanced"),
    ("increment", 64, 64, 3, "1"), ("increment", 256, 32, 16, "1"), ("increment", 256, 8, 2, "balanced"),
    ("increment", 256, 4, 4, "4x balanced"), ("increment", 1024, 16, 8, "1"), ("increment", 1024, 64, 16, "balanced"),
    ("increment", 2048, 2, 2, "1"), ("increment", 2048, 32, 16, "1"),
    ("rowsum", 1, 4, 4, None), ("rowsum", 8, 8, 2, None), ("rowsum", 16, 2, 2, None), ("rowsum", 32, 16, 16, None),
    ("rowsum", 128, 64, 8, None), ("rowsum", 256, 4, 4, None), ("rowsum", 1024, 32, 4, None),
    ("rowsum", 2048, 16, 16, None),
    ("pipeline", 1, 1, 6, "1"), ("pipeline", 2, 4, 2, "balanced"), ("pipeline", 4, 2, 4, "4x balanced"),
    ("pipeline", 16, 1, 6, "balanced"), ("pipeline", 16, 8, 8, "1"), ("pipeline", 64, 4, 2, "4x balanced"),
    ("pipeline", 64, 16, 16, "balanced"), ("pipeline", 128, 2, 6, "1"),
]
HELD_OUT = [
    ("increment", 1, 2, 3, "1"), ("increment", 2, 4, 4, "balanced"), ("increment", 2, 8, 2, "1"),
    ("increment", 4, 16, 4, "1"), ("increment", 8, 4, 8, "4x balanced"), ("increment", 8, 32, 8, "1"),
    ("increment", 12, 6, 3, "1"), ("increment", 16, 8, 16, "1"), ("increment", 24, 12, 4, "balanced"),
    ("increment", 32, 64, 4, "1"), ("increment", 32, 2, 2, "4x balanced"), ("increment", 48, 24, 6, "1"),
    ("increment", 96, 16, 4, "balanced"), ("increment", 128, 64, 16, "4x balanced"), ("increment", 128, 4, 2, "1"),
    ("increment", 192, 48, 8, "1"), ("increment", 384, 12, 3, "balanced"), ("increment", 512, 64, 5, "1"),
    ("increment", 768, 8, 8, "4x balanced"), ("increment", 1536, 24, 12, "1"),
    ("rowsum", 2, 2, 2, None), ("rowsum", 4, 8, 4, None), ("rowsum", 12, 3, 3, None), ("rowsum", 24, 32, 8, None),
    ("rowsum", 64, 8, 16, None), ("rowsum", 192, 24, 2, None), ("rowsum", 512, 64, 12, None),
    ("rowsum", 1536, 6, 4, None),
    ("pipeline", 1, 2, 2, "balanced"), ("pipeline", 3, 1, 6, "1"), ("pipeline", 8, 4, 3, "1"),
    ("pipeline", 8, 2, 2, "balanced"), ("pipeline", 24, 6, 4, "4x balanced"), ("pipeline", 32, 1, 6, "balanced"),
    ("pipeline", 48, 12, 16, "1"), ("pipeline", 96, 3, 2, "balanced"),
]
SHORT = [point for point in TUNING + HELD_OUT if point[1] <= 64]
LONG = [point for point in TUNING + HELD_OUT if point[1] > 64]
POINTS = SHORT + LONG[::2] + SHORT + LONG[1::2] + SHORT
ORDERS = ["sequential", "depth_first", "breadth_first", "by_engine"]


def deck(workload, mebibytes, chunks, lanes, intensity):
    size = {"rowsum": f"rows: {mebibytes * MI // 24}, columns: 6"}.get(workload, f"elements: {mebibytes * MI // 4}")
    work = f", intensity: {intensity}" if intensity else ""
    repetitions = 101 if mebibytes <= 4 else 31 if mebibytes <= 64 else 11
    return (
        f"workload: {{kind: {workload}, {size}{work}}}\nchunks: {{count: {chunks}}}\n"
        f"issue: {{orders: [{', '.join(ORDERS)}], lanes: {lanes}}}\n"
        f"measure: {{warmup: 2, repetitions: {repetitions}, verify: ends}}\n"
    )


def main():
    miniapp, device, output = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        decks = []
        for number, point in enumerate(POINTS):
            decks.append(Path(folder) / f"{number:02}_{point[0]}.yaml")
            decks[-1].write_text(deck(*point), encoding="utf-8")
        result = Path(folder) / "result.json"
        model = [] if device == "-" else ["--device", device]
        subprocess.run([miniapp, *model, "--json", result, "--quiet", *decks], check=True,
                       stdout=subprocess.DEVNULL)
        results = json.loads(result.read_text(encoding="utf-8"))["results"]
    measured = {}
    for point, one in zip(POINTS, results):
        for run in one["runs"]:
            run["repeats"] = one["balance"]["repeats"] if one["balance"] else 1
            measured.setdefault((point, run["order"]), []).append(run)
    runs, errors = [], []
    for (point, order), passes in measured.items():
        workload, mebibytes, chunks, lanes, _ = point
        run = sorted(passes, key=lambda run: run["time_s"]["median"])[len(passes) // 2]
        error = run["predicted_s"] / run["time_s"]["median"] - 1
        errors.append((point in TUNING, abs(error)))
        runs.append({"workload": workload, "mebibytes": mebibytes, "chunks": chunks, "lanes": lanes,
                     "repeats": run["repeats"], "order": order, "tuning": point in TUNING,
                     **{key: run["time_s"][key] for key in ("median", "lo", "hi")}})
        print(f"{workload:10} {mebibytes:5} MiB {chunks:3} chunks {lanes:3} lanes {run['repeats']:4} repeats "
              f"{order:14} {run['time_s']['median'] * 1e3:10.4f} ms  predicted {100 * error:+6.1f} %")
    for name, kept in (("tuning", True), ("held out", False)):
        some = sorted(error for tuning, error in errors if tuning == kept)
        print(f"{name}: {len(some)} runs: median error {100 * statistics.median(some):.1f} %, "
              f"95th percentile {100 * some[int(0.95 * len(some))]:.1f} %, largest {100 * some[-1]:.1f} %")
    text = ",\n".join(json.dumps(run) for run in runs)
    Path(output).write_text(f'{{"device": {json.dumps(one["device"]["name"] if one["device"] else "host")}, '
                            f'"runs": [\n{text}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
