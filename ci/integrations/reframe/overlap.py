"""ReFrame: runs a deck of miniapp and names the device, order and metric that miss a reference.

    reframe -c ci/integrations/reframe/overlap.py -r -S overlap.deck=acceptance/gpu \\
        -S overlap.options=--reference,h200 \\
        -S overlap.expected=GPU-5ad8.../by_engine/throughput:96.1,GPU-5ad8.../-/h2d_rate:57.0

The deck's own criteria must hold, too; acceptance/gpu needs a reference for them. ReFrame prints PASSED when it loads no
test at all, so a job that calls it must also count the tests that ran ("Ran 1/1 test case(s)").
"""

import json
import pathlib

import reframe as rfm
import reframe.core.exceptions
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class overlap(rfm.RunOnlyRegressionTest):
    descr = "Overlap of host-device copies and kernels"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "miniapp"
    deck = variable(str, value="acceptance/gpu", loggable=True)
    options = variable(typ.List[str], value=[])  # more options for miniapp
    expected = variable(typ.Dict[str, float], value={})  # DEVICE/ORDER/METRIC: value
    below = variable(float, value=0.05)  # the part by which a figure may fall short of it

    @run_before("run")
    def set_command(self):
        self.executable_opts = [self.deck, "--quiet", "--json", "result.json", *self.options]

    @sanity_function
    def data_are_right_and_verdict_is_clear(self):
        """Exit code 77 skips the test; 5 is for the performance stage; any other but 0 fails here."""
        code = self.job.exitcode
        self.skip_if(code == 77, "this build of miniapp lacks what the deck needs")
        return sn.assert_in(code, (0, 5), msg="miniapp ended with exit code {0}: see its output for the reason")

    @run_before("performance")
    def set_figures(self):
        result = json.loads((pathlib.Path(self.stagedir) / "result.json").read_text())
        device = result["device"]["uuid"] if result["device"] else result["build"]["backend"]
        point = result["points"][0]
        alone = [run for run in point["runs"] if not run["disturb"] and not run["host_work"] and run["throughput"]]
        figures = {f"{device}/{run['order']}/throughput": run["throughput"]["median"] for run in alone}
        for metric, value in (point["rates"] or {}).items():
            if isinstance(value, dict):
                figures[f"{device}/-/{metric}"] = value["median"]
        passed = {}
        for check in point["checks"]:
            name = f"{device}/{check['order'] or '-'}/{check['metric']} passed"
            passed[name] = min(passed.get(name, 1), int(check["verdict"] == "PASS"))
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit)
            for values, unit in ((figures, "GB/s"), (passed, "1"))
            for name, value in values.items()
        }
        missing = set(self.expected) - set(figures)
        if missing:  # fail closed
            raise reframe.core.exceptions.PerformanceError(f"not measured: {', '.join(sorted(missing))}")
        limits = {name: (value, -self.below, None, "GB/s") for name, value in self.expected.items()}
        self.reference = {"*": {**limits, **{name: (1, 0, 0, "1") for name in passed}}}
