"""Ramble: runs a deck of miniapp; the result lines become figures of merit, one context per deck and order."""

from ramble.appkit import *


class Overlap(ExecutableApplication):
    """Overlap of host-device copies and kernels"""

    name = "overlap"

    tags("gpu", "acceptance", "synthetic-benchmarks")

    with when("package_manager_family=spack"):
        software_spec("overlap", pkg_spec="overlap")
        required_package("overlap")

    executable("run", "miniapp {deck} {options} --quiet --json {experiment_run_dir}/result.json", use_mpi=False)
    workload("acceptance", executable="run")
    workload_variable("deck", default="acceptance/gpu", description="Name or path of a deck", workload="acceptance")
    workload_variable(
        "options",
        default="--reference h200",
        description="More options; a reference is a name from input/references or a file about your devices",
        workload="acceptance",
    )

    figure_of_merit_context(
        "order",
        regex=r"OVERLAP_FOM deck=(?P<deck>\S+) order=(?P<order>\S+)",
        output_format="{deck} {order}",
    )
    for unit in ("s", "GB/s", "1"):
        figure_of_merit(
            f"{{metric}} ({unit})",
            fom_regex=rf"OVERLAP_FOM .*metric=(?P<metric>\w+) value=(?P<value>\S+) unit={unit} ",
            group_name="value",
            units=unit,
            contexts=["order"],
        )
    figure_of_merit(
        "exit code", fom_regex=r"OVERLAP_RESULT verdict=\w+ data=\w+ exit=(?P<code>\d+)", group_name="code", units=""
    )
    success_criteria("verdict", mode="string", match=r"OVERLAP_RESULT verdict=PASS data=OK exit=0", file="{log_file}")
