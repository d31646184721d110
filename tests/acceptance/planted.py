"""Result files of a fleet, made from a real one, with planted trouble."""

import copy
import json
import random

PER_HOST = 8
VARIANTS = 64  # of healthy devices; the rest of a file is text that is replaced
SLOW, MISSING, TRUNCATED, OTHER_DRIVER = 20, 5, 3, 2
DRIVERS = ("580.65.06", "570.124.06")
UUID, HOST, DRIVER, PCI = "GPU-planted-uuid", "planted-host", "planted-driver", "planted-pci"


def scaled(run, factor):
    """The run of a device that takes this many times as long."""
    run = copy.deepcopy(run)
    run["samples_s"] = [sample * factor for sample in run["samples_s"]]
    for metric, by in (("time_s", factor), ("throughput", 1 / factor)):
        run[metric] = {key: value if key == "n" else value * by for key, value in run[metric].items()}
    return run


def constant(value, n, spread=0):
    """A summary of samples of which the first and the last differ from all others by this part."""
    return {"median": value, "min": value * (1 - spread), "max": value * (1 + spread), "lo": value * (1 - spread), "hi": value * (1 + spread), "n": n}


def steady(result, factor=1.0, spread=0.0):
    """The result of a machine without noise that takes this many times as long, with samples that differ by this part."""
    result = copy.deepcopy(result)
    for point in result["points"]:
        rates = point["rates"] or {}
        for series in [run["samples_s"] for run in point["runs"]] + [rates[key] for key in rates if key.endswith("_s")]:
            time_s = factor * min(series)
            series[:] = [time_s] * len(series)
            series[0], series[-1] = time_s * (1 - spread), time_s * (1 + spread)
        baseline = next(run["samples_s"][1] for run in point["runs"] if run["order"] == "sequential")
        for run in point["runs"]:
            n, time_s = len(run["samples_s"]), run["samples_s"][1]
            run["time_s"] = constant(time_s, n, spread)
            run["throughput"] = constant(1e-9 * run["bytes"] / time_s, n)
            for key in ("lo", "hi"):
                run["throughput"][key] = 1e-9 * run["bytes"] / run["time_s"]["hi" if key == "lo" else "lo"]
            if run["speedup"]:
                run["speedup"] = constant(baseline / time_s, n)
            for metric in ("overlap_efficiency", "bound_fraction", "schedule_bound_fraction", "drift"):
                run[metric] = None
        for check in point["checks"]:
            if check["metric"] in ("h2d_rate", "d2h_rate"):
                check |= dict.fromkeys(("value", "lo", "hi"), 1e-9 * rates["bytes"] / rates[f"{check['metric'][:3]}_s"][0])
    return result


def template(result, factor):
    """A device that takes `factor` times as long, alone, and 1.6 times as long again together, as text."""
    result = copy.deepcopy(result)
    result["host"]["name"] = HOST
    result["build"]["backend"] = "Cuda"
    result["device"] = {"name": "NVIDIA H100", "uuid": UUID, "driver": DRIVER, "pci": PCI, "pcie_gen": 5, "pcie_width": 16}
    [alone] = result["points"]
    alone["runs"] = [scaled(run, factor) for run in alone["runs"]]
    together = copy.deepcopy(alone)
    together["phase"] = "together"
    together["runs"] = [scaled(run, 1.6) | {"timeline": None, "predicted_timeline": None, "contention": constant(1.6, 3)}
                        for run in alone["runs"]]
    result["points"].append(together)
    return json.dumps(result, indent=2)


def host_of(number):
    return f"n{number // PER_HOST + 1:04d}"


def uuid_of(number):
    return f"GPU-{number:08x}"


def plant(result, folder, files, seed=1):
    """Writes the files; returns what is wrong with them: UUIDs, hosts and files by kind of trouble, and all hosts."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    healthy = [template(result, rng.gauss(1, 0.002)) for _ in range(VARIANTS)]
    slow = template(result, 1 / 0.7)
    wrong = copy.deepcopy(result)
    wrong["points"][0]["runs"][0] |= {"wrong": {"chunk": 0, "array": "a", "index": 3, "expected": 1.0, "found": 2.0}, "verified": False}
    wrong |= {"verdict": "FAIL", "exit_code": 2}
    chosen = rng.sample(range(files), SLOW + TRUNCATED + OTHER_DRIVER + 1)
    slow_ones, truncated = set(chosen[:SLOW]), set(chosen[SLOW : SLOW + TRUNCATED])
    other_driver, wrong_one = set(chosen[SLOW + TRUNCATED : -1]), chosen[-1]
    for number in range(files):
        text = slow if number in slow_ones else healthy[number % VARIANTS]
        if number == wrong_one:
            text = template(wrong, 1)
        for word, value in ((UUID, uuid_of(number)), (HOST, host_of(number)), (DRIVER, DRIVERS[number in other_driver]),
                            (PCI, f"0000:{16 + number % PER_HOST:02x}:00.0")):
            text = text.replace(word, value, 1)
        if number in truncated:
            text = text[: rng.randrange(1, len(text) - 2)]
        (folder / f"{host_of(number)}-{uuid_of(number)}.json").write_text(text)
    hosts = sorted({host_of(number) for number in range(files)})
    missing = [f"gone{number}" for number in range(MISSING)]
    return {
        "slow": {uuid_of(number) for number in slow_ones},
        "wrong": {uuid_of(wrong_one)},
        "truncated": {f"{host_of(number)}-{uuid_of(number)}.json" for number in truncated},
        "driver": {uuid_of(number) for number in other_driver},
        "missing": missing,
        "hosts": hosts + missing,
    }
