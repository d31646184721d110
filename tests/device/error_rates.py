#!/usr/bin/env python3
"""How often acceptance/gpu fails a healthy GPU, and how often it passes one that lost a part of its rates.

usage: error_rates.py MINIAPP [--runs 40] [--loss 0.06] [--reference-runs 5] [--seconds N] [miniapp options]

Makes a reference on this GPU, then runs the deck as often as asked. Limits do not influence what a run measures, so each
run is judged twice: against the reference, by the run itself (healthy), and against a copy of it whose rates are higher,
by `miniapp merge` (lossy: the loss is planted). With --seconds, the run that reaches N seconds since the start is the
last. Prints one line per run, then the number of each verdict and of the criteria that were not met. Exit code 1 unless
at least 95 % of the runs pass as healthy, none fails, and 95 % fail as lossy."""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

JUDGED = ("h2d_rate", "d2h_rate", "duplex_rate", "throughput", "schedule_bound_fraction")
VERDICTS = {0: "PASS", 5: "FAIL", 6: "INCONCLUSIVE"}  # of merge, by exit code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("miniapp")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--loss", type=float, default=0.06)
    parser.add_argument("--reference-runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given, options = parser.parse_known_args()  # the others are miniapp's
    start = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp())

    def run(name, *more):
        file = folder / f"{name}.json"
        subprocess.run([given.miniapp, "acceptance/gpu", "--quiet", "--json", file, *more, *options],
                       stdout=subprocess.DEVNULL, check=False)
        return file

    def merged(file, reference):
        code = subprocess.run([given.miniapp, "merge", file, "--reference", reference, "--quiet"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        return VERDICTS.get(code, f"exit code {code}")

    results = [run(f"reference-{number}") for number in range(given.reference_runs)]
    reference = folder / "reference.yaml"
    subprocess.run([given.miniapp, "baseline", "-o", reference, *results], check=True)
    better = folder / "better.yaml"
    higher, rates = re.subn(
        r"value: (\S+)\n(    unit: \"?GB/s)",
        lambda found: f"value: {float(found[1]) * (1 + given.loss):.7g}\n{found[2]}", reference.read_text())
    if rates == 0:
        sys.exit(f"{reference} has no rates")
    better.write_text(higher)

    counts = {"healthy": collections.Counter(), "lossy": collections.Counter()}
    unmet = collections.Counter()
    runs = 0
    while runs < given.runs and time.monotonic() - start < given.seconds:
        began = time.monotonic()
        file = run(f"run-{runs}", "--reference", reference)
        took = time.monotonic() - began
        result = json.loads(file.read_text())
        verdicts = {"healthy": result["verdict"], "lossy": merged(file, better)}
        for name, verdict in verdicts.items():
            counts[name][verdict] += 1
        unmet.update(f"{check['metric']} {check['verdict']}" for check in result["points"][0]["checks"] if check["verdict"] != "PASS")
        judged = "  ".join(check["text"].partition(", limit")[0] for check in result["points"][0]["checks"] if check["metric"] in JUDGED)
        print(f"{runs}: healthy {verdicts['healthy']}, lossy {verdicts['lossy']}, at {began - start:.0f} s for {took:.1f} s, "
              f"{len(result['points'][0]['runs'][0]['samples_s'])} repetitions  {judged}", flush=True)
        runs += 1
    for name, verdicts in counts.items():
        print(f"{name}: {dict(verdicts)}")
    print(f"criteria not met as healthy: {dict(unmet)}")
    healthy, lossy = counts["healthy"], counts["lossy"]
    good = runs > 0 and healthy["FAIL"] == 0 and healthy["PASS"] >= 0.95 * runs and lossy["FAIL"] >= 0.95 * runs
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
