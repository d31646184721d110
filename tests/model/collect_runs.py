#!/usr/bin/env python3
"""Measures runs at random points, compares them with the model's predictions and writes them as a data file.

collect_runs.py MINIAPP DEVICE.yaml SEED RUNS.json [POINTS]

The device file comes from `miniapp --calibrate DEVICE.yaml` on the same machine just before. Points whose runs were
looked at while the model was made judge nothing: draw others with another seed.
"""

import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MI = 1 << 20
TYPES = {"increment": ["float32", "float64"], "pipeline": ["float32", "float64"],
         "rowsum": ["int32", "int64", "float32", "float64"]}
ORDERS = ["depth_first", "breadth_first", "by_engine"]


def log_uniform(draw, low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def point(draw):
    """A deck with one order."""
    workload = draw.choice(["increment", "increment", "rowsum", "pipeline"])
    size = log_uniform(draw, 2 * MI, (256 if workload == "pipeline" else 700) * MI)
    element_type = draw.choice(TYPES[workload])
    elements = int(size / (8 if element_type.endswith("64") else 4))
    chunks = round(log_uniform(draw, 1, min(90, size / (MI / 4))))  # smaller ones wait for the host
    lanes = round(log_uniform(draw, 1, 32))
    order = "sequential" if draw.random() < 0.1 else draw.choice(ORDERS)
    if workload == "rowsum":
        columns = draw.choice([6, 6, 256])
        shape = f"rows: {max(chunks, elements // columns)}, columns: {columns}"
    else:
        intensity = draw.choice(["1", "balanced", "4x balanced", str(round(log_uniform(draw, 1, 100)))])
        shape = f"elements: {elements}, intensity: {intensity}"
    if workload == "pipeline":
        shape += f", iterations: {draw.choice([1, 1, 1, 3])}"
    memory = ""
    if workload != "pipeline" and chunks >= 8 and draw.random() < 0.25:
        memory = f"memory: {{device_limit: {int(size * draw.uniform(0.3, 0.7))}}}\n"
    repetitions = 101 if size <= 4 * MI else 31 if size <= 64 * MI else 11
    return (f"workload: {{kind: {workload}, type: {element_type}, {shape}}}\n"
            f"chunks: {{count: {chunks}}}\n{memory}"
            f"issue: {{orders: [{order}], lanes: {lanes}}}\n"
            f"measure: {{warmup: 2, repetitions: {repetitions}, verify: ends}}\n")


def measure(miniapp, device, points):
    """The results of the decks, run by one process."""
    with tempfile.TemporaryDirectory() as folder:
        decks = []
        for number, text in enumerate(points):
            decks.append(Path(folder) / f"{number:03}.yaml")
            decks[-1].write_text(text, encoding="utf-8")
        result = Path(folder) / "result.json"
        subprocess.run([miniapp, "--device", device, "--json", result, "--quiet", *decks], check=True,
                       stdout=subprocess.DEVNULL)
        read = json.loads(result.read_text(encoding="utf-8"))
        return read.get("results", [read])


def compared(text, result):
    """What is kept of a result, and its relative error."""
    balance = result["points"][0]["balance"]
    run = next(run for run in result["points"][0]["runs"] if f"[{run['order']}]" in text)
    time = run["time_s"]
    error = run["predicted_s"] / time["median"] - 1
    print(f"{time['median'] * 1e3:9.4f} ms ({time['lo'] * 1e3:.4f} to {time['hi'] * 1e3:.4f}) "
          f"predicted {100 * error:+6.1f} % {' '.join(text.split())}", flush=True)
    kept = {"deck": text, "repeats": balance and balance["repeats"], **{key: time[key] for key in ("median", "lo", "hi")}}
    return kept, abs(error)


def main():
    miniapp, device, seed, output = sys.argv[1:5]
    draw = random.Random(int(seed))
    points = [point(draw) for _ in range(int(sys.argv[5]) if len(sys.argv) > 5 else 96)]
    calibration = Path(device).read_text(encoding="utf-8")
    batch = 8  # the file is written after each: what was measured is kept if the rest takes too long
    rows = []
    for begin in range(0, len(points), batch):
        some = points[begin : begin + batch]
        results = measure(miniapp, device, some)
        rows += [compared(text, result) for text, result in zip(some, results)]
        name = results[0]["device"]["name"] if results[0]["device"] else "host"
        runs = ",\n".join(json.dumps(kept) for kept, _ in rows)
        Path(output).write_text(f'{{"name": {json.dumps(name)}, "seed": {seed}, "device": {json.dumps(calibration)}, '
                                f'"runs": [\n{runs}\n]}}\n', encoding="utf-8")
    errors = sorted(error for _, error in rows)
    print(f"{len(rows)} runs: median error {100 * statistics.median(errors):.1f} %, "
          f"95th percentile {100 * errors[int(0.95 * len(errors))]:.1f} %, largest {100 * errors[-1]:.1f} %")


if __name__ == "__main__":
    main()
