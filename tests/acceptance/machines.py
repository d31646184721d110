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


def measured(run, times, bound_s):
    """A prediction as if it had been measured: no two machines and orders have the same spread."""
    spread = 1 + len(run["order"]) % 5
    samples = [times * (1 + 1e-3 * spread * ((i * 7 + spread) % 13) / 13) for i in range(REPETITIONS)]
    timeline = [{**entry, "start_s": entry["start_s"] * times / run["predicted_s"],
                 "stop_s": entry["stop_s"] * times / run["predicted_s"]} for entry in run["predicted_timeline"]]
    return {**run, "device": None, "samples_s": samples, "repetitions": REPETITIONS, "verified": True, "max_error": 0,
            "bound_s": bound_s, "schedule_bound_s": bound_s, "timeline": timeline,
            "trace": {"source": "CUPTI", "perturbation": 0.07, "doubtful": run["order"] == "by_engine"}}


def result_of(result, machine):
    """The result of one deck on a machine."""
    name, device, backend, mechanism, kokkos, compiler, factor = machine
    made = json.loads(json.dumps(result))
    runs = made["runs"]
    bound_s = 0.9 * factor * min(run["predicted_s"] for run in runs)
    made["runs"] = [measured(run, factor * run["predicted_s"], bound_s) for run in runs]
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
    last[0]["runs"] = [run for run in last[0]["runs"] if run["order"] != "breadth_first"]
    last[1] |= {"runs": [], "error": NOT_BUILT, "verdict": "SKIPPED", "exit_code": 77}
    documents["rtx"]["results"][0]["runs"][0] |= {"timeline": None, "trace": None}
    documents["serial"] = json.loads(pathlib.Path(measured_file).read_text())
    paths = []
    for name, document in documents.items():
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(document))
    return paths
