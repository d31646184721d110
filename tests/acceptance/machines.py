"""Result files of five machines, for tests of `compare --side-by-side`: one measured here, the others made from predictions,
whose timelines stand for measured ones. Both files have two decks, the predicted one for one device."""

import json
import pathlib

# File, device, back end, mechanism, Kokkos, compiler, how often as long as the prediction.
MACHINES = (
    ("h200-streams", "NVIDIA H200", "Cuda", "streams", "4.6.99", "NVIDIA 13.0.48", 1.0),
    ("h200-graph", "NVIDIA H200", "Cuda", "graph", "4.6.99", "NVIDIA 13.0.48", 0.97),
    ("rtx", "NVIDIA GeForce RTX 5070 Ti", "Cuda", "streams", "5.2.0", "NVIDIA 12.9.86", 1.8),
    ("mi250x", "AMD Instinct MI250X", "HIP", "streams", "4.5.1", "Clang 18.0.0", 2.3),
)
REPETITIONS = 12
NOT_BUILT = "workload.kind: rowsum cannot run in this program: planted"


def summary(samples):
    """Median, extremes and 95 % interval of twelve samples."""
    in_turn = sorted(samples)
    return {"median": (in_turn[5] + in_turn[6]) / 2, "min": in_turn[0], "max": in_turn[-1], "lo": in_turn[2], "hi": in_turn[9], "n": len(samples)}


def samples_of(run, times):
    """No two machines and orders have the same spread."""
    spread = 1 + len(run["order"]) % 5
    return [times * (1 + 1e-3 * spread * ((i * 7 + spread) % 13) / 13) for i in range(REPETITIONS)]


def measured(run, factor, baseline, bound_s):
    """A prediction as if it had been measured; `baseline`: the samples of its sequential order."""
    times = factor * run["predicted_s"]
    samples = samples_of(run, times)
    timeline = [{**entry, "start_s": entry["start_s"] * factor, "stop_s": entry["stop_s"] * factor}
                for entry in run["predicted_timeline"]]
    order = run["order"] != "sequential"
    return {**run, "device": None, "samples_s": samples, "repetitions": REPETITIONS, "verified": True,
            "time_s": summary(samples), "bound_fraction": summary([bound_s / time for time in samples]),
            "speedup": baseline and summary([b / time for b, time in zip(baseline, samples)]),
            "overlap_efficiency": summary([(b - time) / (b - bound_s) for b, time in zip(baseline, samples)]) if baseline and order else None,
            "bounds": {"serial_s": bound_s, "one_engine_s": 0, "two_engines_s": 0, "bound_s": bound_s, "schedule_bound_s": bound_s, "limit": "H2D"},
            "bound_s": bound_s, "schedule_bound_s": bound_s, "timeline": timeline,
            "trace": {"source": "CUPTI", "perturbation": 0.07, "doubtful": run["order"] == "by_engine"}}


def result_of(result, machine):
    """The result of one deck on a machine."""
    name, device, backend, mechanism, kokkos, compiler, factor = machine
    made = json.loads(json.dumps(result))
    [point] = made["points"]
    bound_s = 0.9 * factor * min(run["predicted_s"] for run in point["runs"])
    baseline = next((samples_of(run, factor * run["predicted_s"]) for run in point["runs"] if run["order"] == "sequential"), None)
    point["runs"] = [measured(run, factor, baseline, bound_s) for run in point["runs"]]
    made["predicted_for"] = []
    made["build"] |= {"backend": backend, "kokkos_version": kokkos, "compiler": compiler}
    made["host"]["name"] = f"node-{name}"
    made["device"] = {"name": device, "uuid": f"GPU-{name}", "driver": "580.1", "pcie_gen": 5, "pcie_width": 16}
    made["deck"]["resolved"]["issue"]["mechanism"] = mechanism
    made["deck"]["resolved"]["acceptance"] = []  # predictions have no checks
    made["deck"]["identity"] = name  # another machine's deck need not be the same in all
    return made


def machines(measured_file, predicted_file, folder):
    """Writes the files and returns their paths, the measured one last. One has an order less, one a deck that did not run,
    one an order without a timeline."""
    predicted = json.loads(pathlib.Path(predicted_file).read_text())["results"]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    documents = {machine[0]: {"results": [result_of(result, machine) for result in predicted]} for machine in MACHINES}
    last = documents["mi250x"]["results"]
    last[0]["points"][0]["runs"] = [run for run in last[0]["points"][0]["runs"] if run["order"] != "breadth_first"]
    last[1]["points"][0]["runs"] = []
    last[1] |= {"error": NOT_BUILT, "verdict": "SKIPPED", "exit_code": 77}
    documents["rtx"]["results"][0]["points"][0]["runs"][0] |= {"timeline": None, "trace": None}
    documents["serial"] = json.loads(pathlib.Path(measured_file).read_text())
    paths = []
    for name, document in documents.items():
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(document))
    return paths
