#!/usr/bin/env python3
"""How often acceptance/gpu fails a healthy GPU, and how often it passes one that lost a part of its rates.

usage: error_rates.py MINIAPP [--runs 40] [--loss 0.06] [--reference-runs 5] [miniapp options]

Makes a reference on this GPU, then runs the deck as often as asked against it (healthy), and in turn against a
copy of it whose rates are higher (the loss is planted). Prints one line per run, then the number of each verdict. Exit code 1
unless at most 5 % of the healthy runs are inconclusive and none fails, and 95 % of the others fail."""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

JUDGED = ("h2d_rate", "d2h_rate", "duplex_rate", "throughput", "schedule_bound_fraction")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("miniapp")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--loss", type=float, default=0.06)
    parser.add_argument("--reference-runs", type=int, default=5)
    given, options = parser.parse_known_args()  # the others are miniapp's
    folder = pathlib.Path(tempfile.mkdtemp())

    def run(name, *more):
        file = folder / f"{name}.json"
        code = subprocess.run(
            [given.miniapp, "acceptance/gpu", "--quiet", "--json", file, *more, *options],
            stdout=subprocess.DEVNULL, check=False).returncode
        return code, json.loads(file.read_text())

    results = []
    for number in range(given.reference_runs):
        run(f"reference-{number}")
        results.append(folder / f"reference-{number}.json")
    reference = folder / "reference.yaml"
    subprocess.run([given.miniapp, "baseline", "-o", reference, *results], check=True)
    better = folder / "better.yaml"
    better.write_text(re.sub(
        r"value: (\S+)\n(    unit: \"?GB/s)",
        lambda found: f"value: {float(found[1]) * (1 + given.loss):.7g}\n{found[2]}", reference.read_text()))

    counts = {"healthy": collections.Counter(), "lossy": collections.Counter()}
    for number in range(given.runs):
        for name, file in (("healthy", reference), ("lossy", better)):  # in turn: both see the same minutes
            code, result = run(f"{name}-{number}", "--reference", file)
            counts[name][result["verdict"]] += 1
            judged = "  ".join(
                check["text"].partition(", limit")[0] + " " + check["verdict"]
                for check in result["checks"] if check["metric"] in JUDGED)
            print(f"{name} {number}: {result['verdict']} ({code})  n {len(result['runs'][0]['samples_s'])}  {judged}", flush=True)
    for name, verdicts in counts.items():
        print(f"{name}: {dict(verdicts)}")
    healthy, lossy = counts["healthy"], counts["lossy"]
    good = healthy["FAIL"] == 0 and healthy["PASS"] >= 0.95 * given.runs and lossy["FAIL"] >= 0.95 * given.runs
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
