#!/usr/bin/env python3
"""The files of ci/integrations with real output of the program, and with stand-ins for what they call. ReFrame runs in
harness_test.py."""

import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
import types
import unittest
import xml.etree.ElementTree
from unittest import mock

import yaml

from program import ENDLESS, MINIAPP, SMALL, SOURCE, TestCase, all_of, records, run

FILES = SOURCE / "ci/integrations"
PAGE = 66  # lines
SLOW = SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: throughput, order: by_engine, min: 1e6}")
LARGE = SMALL.replace("65536", "1 Ti")  # no machine has so much memory
EXIT_CODES = (0, 1, 2, 3, 4, 5, 6, 77, 130)
# What the stand-in below says of the check that failed, without its verdict.
FAILED = "metric=throughput order=by_engine value=47.2 limit=90"
STAND_IN = f"""\
#!/bin/sh
printf '%s\\n' "$*" >>"$0.arguments"
for file; do :; done  # the last argument
case $file in *.json) echo {{}} >"$file" ;; esac
echo 'OVERLAP_CHECK metric=speedup order=by_engine verdict=PASS value=1.9 limit=1.5'
echo 'OVERLAP_CHECK {FAILED.replace("value", "verdict=FAIL value")}'
read -r code error <"$0.code"
sed -i '1{{$!d}}' "$0.code"  # the last one stays
[ -z "$error" ] || echo "miniapp: error: $error" >&2
exit $code
"""


class Case(TestCase):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "bin"
        self.bin.mkdir()

    def command(self, name, text):
        """A program on the PATH of what is tested."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def real_miniapp(self):
        self.command("miniapp", f'#!/bin/sh\nexec "{MINIAPP}" "$@"\n')

    def ended(self, *codes):
        """A miniapp that ends with these codes, one after the other, and then always with the last. A code can be
        followed by an error."""
        self.command("miniapp", STAND_IN)
        (self.bin / "miniapp.code").write_text("".join(f"{code}\n" for code in codes))
        (self.bin / "miniapp.arguments").unlink(missing_ok=True)

    def runs(self):
        return len((self.bin / "miniapp.arguments").read_text().splitlines())

    def shell(self, *command, **environment):
        path = f"{self.bin}:/usr/local/bin:/usr/bin:/bin"
        return subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=300,
                              env={"PATH": path, "LANG": "C.UTF-8", **environment})


class All(unittest.TestCase):
    def test_each_file_has_a_test_and_is_at_most_a_page(self):
        tested = {"reframe/overlap.py", "ramble/application.py", "pavilion/overlap.yaml", "spack/package.py",
                  "nhc/overlap.nhc", "slurm/health.sh", "slurm/overlap.sbatch", "slurm/merge.sbatch", "slurm/nightly.sh",
                  "gitlab-ci.yml"}
        files = {str(path.relative_to(FILES)): path for path in FILES.rglob("*.*") if path.is_file() and path.suffix != ".pyc"}
        self.assertEqual(set(files), tested)
        for name, path in files.items():
            with self.subTest(name):
                self.assertLessEqual(len(path.read_text().splitlines()), PAGE)


def directives(*names):
    """Functions with these names, and the calls of them by name."""
    given = {}

    def directive(name):
        return lambda *words, **options: given.setdefault(name, []).append((words, options))

    return {name: directive(name) for name in names}, given


def recipe(path, modules):
    """The module of a recipe, for which these modules, with what is in them, stand for those of its harness."""
    names = {".".join(parts[:i]) for parts in (name.split(".") for name in modules) for i in range(1, len(parts) + 1)}
    stand_ins = {name: types.ModuleType(name) for name in names}
    for name, content in modules.items():
        vars(stand_ins[name]).update(content)
    spec = importlib.util.spec_from_file_location("recipe", FILES / path)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, stand_ins):
        spec.loader.exec_module(module)
    return module


class Ramble(Case):
    """As ramble/application.py of Ramble does it: each line is matched from its start, contexts first."""

    def application(self):
        """The directives of the class, by name."""
        kit, given = directives("tags", "software_spec", "required_package", "executable", "workload", "workload_variable",
                                "figure_of_merit_context", "figure_of_merit", "success_criteria")
        kit |= {"when": lambda condition: contextlib.nullcontext(), "ExecutableApplication": object}
        module = recipe("ramble/application.py", {"ramble.appkit": kit})
        self.assertEqual(module.Overlap.name, "overlap")
        return given

    def figures(self, given, output):
        contexts = {words[0]: options for words, options in given["figure_of_merit_context"]}
        found = {}
        active = {}
        for line in output.splitlines():
            for name, options in contexts.items():
                if match := re.match(options["regex"], line):
                    active[name] = options["output_format"].format(**match.groupdict())
            for words, options in given["figure_of_merit"]:
                if match := re.match(options["fom_regex"], line):
                    where = [active[context] for context in options.get("contexts", [])] or [""]
                    key = (where[0], words[0].format(**match.groupdict()))
                    self.assertNotIn(key, found)
                    found[key] = (match[options["group_name"]], options["units"])
        return found

    def test_every_figure_of_merit_is_found(self):
        given = self.application()
        output = run(self.deck(SLOW), "--quiet").stdout
        lines = records(output)
        figures = self.figures(given, output)
        for fom in lines["OVERLAP_FOM"]:
            key = (f"{fom['deck']} {fom['order']}", f"{fom['metric']} ({fom['unit']})")
            self.assertEqual(figures.pop(key), (fom["value"], fom["unit"]))
        self.assertEqual(figures, {("", "exit code"): ("5", "")})

    def test_only_a_pass_is_a_success(self):
        (_, criterion), = self.application()["success_criteria"]
        for text, passes in ((SMALL, True), (SLOW, False)):
            output = run(self.deck(text), "--quiet").stdout
            self.assertEqual(any(re.match(criterion["match"], line) for line in output.splitlines()), passes)

    def test_the_command_is_the_programs(self):
        (_, template), = [words for words, _ in self.application()["executable"]]
        self.real_miniapp()
        done = self.shell("sh", "-c", template.format(deck=self.deck(), options="--set title=other", experiment_run_dir=self.folder))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_valid(json.loads((self.folder / "result.json").read_text()))


class Pavilion(Case):
    # Of lib/pavilion/test_config/file_format.py, result/options.py and result_parsers/base_classes.py.
    KEYS = {"summary", "scheduler", "schedule", "variables", "run", "result_parse", "result_evaluate"}
    ACTIONS = {"store", "store_str", "store_true", "store_false", "count"}
    SELECT = {"first": lambda found: found[0], "last": lambda found: found[-1], "all": list}

    def setUp(self):
        super().setUp()
        (self.test,) = yaml.safe_load((FILES / "pavilion/overlap.yaml").read_text()).values()

    def results(self, output):
        """As Pavilion finds them: a search in each line, the group of the match as the value."""
        results = {}
        for key, options in self.test["result_parse"]["regex"].items():
            self.assertLessEqual(set(options), {"regex", "action", "match_select"})
            self.assertIn(options.get("action", "store"), self.ACTIONS)
            self.assertEqual(re.compile(options["regex"]).groups, 1)
            found = [match[1] for line in output.splitlines() if (match := re.search(options["regex"], line))]
            results[key] = self.SELECT[options.get("match_select", "first")](found) if found else None
        return results

    def test_keys_are_pavilions(self):
        self.assertEqual(set(self.test), self.KEYS)

    def test_results_are_those_of_the_result_file(self):
        for text, verdict in ((SMALL, "PASS"), (SLOW, "FAIL")):
            with self.subTest(verdict):
                target = self.folder / "out.json"
                results = self.results(run(self.deck(text), "--quiet", "--json", target).stdout)
                result = json.loads(target.read_text())
                by_engine = all_of(result, "runs")[-1]["throughput"]["median"]
                self.assertAlmostEqual(float(results["throughput"]) / by_engine, 1, 4)
                self.assertEqual(results["verdict"], verdict)
                self.assertEqual(int(results["exit_code"]), result["exit_code"])
                failed = [check for check in all_of(result, "checks") if check["verdict"] != "PASS"]
                self.assertEqual(len(results["failed"] or []), len(failed))
                passed = eval(self.test["result_evaluate"]["result"], {}, results)
                self.assertEqual(passed, verdict == "PASS")

    def test_rates_are_found(self):
        deck = self.deck(SMALL.replace("{metric: max_error, max: 1e-5}",
                                       "{metric: h2d_rate, min: 1e-6}, {metric: d2h_rate, min: 1e-6}"))
        results = self.results(run(deck, "--quiet").stdout)
        for metric in ("h2d_rate", "d2h_rate"):
            self.assertGreater(float(results[metric]), 0)

    def test_the_command_is_the_programs(self):
        self.real_miniapp()
        (command,) = self.test["run"]["cmds"]
        for name, value in (("sched.test_cmd", ""), ("deck", self.deck()), ("options", "--set title=other")):
            command = command.replace(f"{{{{{name}}}}}", str(value))
        done = self.shell("sh", "-c", command)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_valid(json.loads((self.folder / "result.json").read_text()))


class Spack(unittest.TestCase):
    # Packages of CMake that are not called so in Spack; None: part of another.
    NAMES = {"nlohmann_json": "nlohmann-json", "KokkosKernels": "kokkos-kernels", "GTest": "googletest",
             "Python3": "python", "Threads": None, "CUDAToolkit": None}
    # Variants of the packages in spack/spack-packages (2026-01), with the versions that have them.
    VARIANTS = {"kokkos": {"cuda": "", "cuda_arch": "", "rocm": "", "amdgpu_target": "", "cuda_lambda": "@:4"},
                "kokkos-kernels": {"cuda": "", "cuda_arch": "", "cublas": "", "rocblas": ""},
                "googletest": {"gmock": ""}}

    class Package:
        """What Spack's build systems give a package with these variants."""
        cuda_arch_values = ("80", "90")
        amdgpu_targets = ("gfx90a",)

        def __init__(self, *on):
            self.on = on
            self.spec = self

        def satisfies(self, variant):
            return (variant[1:] in self.on) == (variant[0] == "+")

        def __contains__(self, variant):
            return self.satisfies(variant)

        def __getitem__(self, package):
            return types.SimpleNamespace(kokkos_cxx=f"{package}'s kokkos_cxx", hipcc=f"{package}'s hipcc")

        def define(self, option, value):
            return option, value

        def define_from_variant(self, option, variant):
            return option, self.satisfies(f"+{variant}")

    def setUp(self):
        systems = ("CMakePackage", "CudaPackage", "ROCmPackage")
        package, self.given = directives("license", "version", "variant", "depends_on", "requires", "conflicts")
        self.package = recipe("spack/package.py", {"spack.package": package} | {
            f"spack_repo.builtin.build_systems.{name.removesuffix('Package').lower()}": {name: type(name, (self.Package,), {})}
            for name in systems}).Overlap
        self.assertEqual([base.__name__ for base in self.package.__bases__], [*systems])
        self.cmake = "".join((SOURCE / path).read_text() for path in ("CMakeLists.txt", "tests/CMakeLists.txt"))
        self.variants = {name for (name,), _ in self.given["variant"]} | {"cuda", "rocm"}

    def args(self, *variants):
        return dict(self.package(*variants).cmake_args())

    def test_sets_options_of_cmake_by_its_variants(self):
        options = {"OVERLAP_MPI": "mpi", "OVERLAP_TESTS": "tests", "OVERLAP_REQUIRE_CUDA": "cuda", "OVERLAP_REQUIRE_HIP": "rocm"}
        self.assertLessEqual(set(options), set(re.findall(r"^(?:option|set)\((OVERLAP_\w+)", self.cmake, re.MULTILINE)))
        self.assertLessEqual(set(options.values()), self.variants)
        for option, variant in options.items():
            self.assertEqual((self.args(variant)[option], self.args()[option]), (True, False))
        self.assertRegex(self.cmake, r"find_package\(KokkosKernels QUIET\)")
        for variants, disabled in ((("kernels",), False), ((), True)):
            self.assertIs(self.args(*variants)["CMAKE_DISABLE_FIND_PACKAGE_KokkosKernels"], disabled)

    def test_compiles_device_code_with_the_compiler_that_kokkos_or_hip_names(self):
        for variants, compiler in ((("cuda",), "kokkos's kokkos_cxx"), (("rocm",), "hip's hipcc"), ((), None)):
            self.assertEqual(self.args(*variants).get("CMAKE_CXX_COMPILER"), compiler)

    def test_depends_on_what_cmake_finds(self):
        found = dict(re.findall(r"find_package\(([\w-]+) ?([\d.]*)", self.cmake))
        needed = {name: version for package, version in found.items()
                  if (name := self.NAMES.get(package, package.lower())) is not None}
        given = {}
        for (spec,), options in self.given["depends_on"]:
            given.setdefault(re.match(r"[\w-]+", spec)[0], spec)
        self.assertEqual(set(needed) - set(given), set())
        self.assertEqual(set(given) - set(needed), {"cxx", "cmake", "hwloc"})
        self.assertIn(f"kokkos@{needed['kokkos']}:", given["kokkos"])
        required = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", self.cmake)[1]
        self.assertIn(f"cmake@{required}:", given["cmake"])

    def test_asks_for_variants_that_packages_have(self):
        """Kokkos of the same GPU, which compiles lambdas, and Kokkos Kernels with the vendor's library."""
        wanted = set()
        for (spec,), options in self.given["depends_on"] + self.given["requires"]:
            package = re.match(r"\^?([\w-]+)", spec)[1]
            for name in re.findall(r"[+~](\w+)|\b(\w+)=", spec):
                versions = self.VARIANTS[package]["".join(name)]
                self.assertIn(f"^{package}{versions}" if versions else "", options["when"])
            for name in re.findall(r"(?<!\S)[+~](\w+)", options.get("when", "")):
                self.assertIn(name, self.variants)
            wanted.add((spec, options.get("when")))
        self.assertLessEqual({
            ("kokkos +cuda cuda_arch=90", "+cuda cuda_arch=90"),
            ("^kokkos +cuda_lambda", "+cuda ^kokkos@:4"),
            ("kokkos-kernels +cuda +cublas cuda_arch=90", "+kernels +cuda cuda_arch=90"),
            ("kokkos +rocm amdgpu_target=gfx90a", "+rocm amdgpu_target=gfx90a"),
            ("kokkos-kernels +rocblas", "+kernels +rocm"),
        }, wanted)


class HealthCheck(Case):
    """What both health checks do: a fault of the node counts where a second run confirms it."""

    # What the program ends with, and what is then wrong with the node.
    GPU = "this build runs on NVIDIA GPUs and there is no GPU to use: "
    FAULTS = {
        "2": f"wrong data: {FAILED}",
        "5": f"performance: {FAILED}",
        "4 require.devices: found 1 (GPU-a); required: 2": "require.devices: found 1 (GPU-a); required: 2",
        "4 node: require.pcie: found gen5 x8; required: gen5 x16 (max); require.driver: found 560; required: >= 570":
            "require.pcie: found gen5 x8; required: gen5 x16 (max); require.driver: found 560; required: >= 570",
        f"4 {GPU}no CUDA-capable device is detected": "there is no GPU to use: no CUDA-capable device is detected",
        "124": "hang, exit code 124",
        "137": "hang, exit code 137",
    }
    OTHERS = (
        "1 node.json: cannot write: No space left on device",
        "3 deck.yaml: file not found",
        "4 require.driver: found 560; required: >= 570",
        "4 require.pcie: found unknown; required: gen5 x16 (max)",
        "4 require.pcie: found gen5 x16; required: max",
        "4 require.devices: found unknown; required: 2",
        "4 require.ecc: found off; required: on",
        f"4 {GPU}CUDA driver version is insufficient for CUDA runtime version",
        "6", "77", "126", "130",
    )

    def setUp(self):
        super().setUp()
        self.kept = self.folder / "kept"

    def results(self):
        """What is kept, without the host and the time."""
        names = (path.name for path in self.kept.glob("*") if path.name != "health.log")
        return sorted(name.rpartition("-")[2] for name in names)

    def said(self, end):
        """Of a run without a verdict."""
        code, _, error = end.partition(" ")
        line = f"miniapp: error: {error}" if error else f"OVERLAP_CHECK {FAILED}".replace("value", "verdict=FAIL value")
        return f"no verdict, exit code {code}: {line}"

    def cases(self):
        """The ends of two runs; checks how often the program runs and what is kept."""
        for first in ("0", *self.OTHERS, *self.FAULTS):
            seconds = ("0", "5", self.OTHERS[0], self.OTHERS[2], first) if first in self.FAULTS else ("2",)
            for second in seconds:
                with self.subTest(first=first, second=second):
                    self.ended(first, second)
                    yield first, second
                    self.assertEqual(self.runs(), 2 if first in self.FAULTS else 1)
                    kept = [] if first == "0" else ["1.json"]
                    if first in self.FAULTS:
                        kept = ["1.json" if second in self.FAULTS else "1.json.unconfirmed", "2.json"]
                    self.assertEqual(self.results(), kept)
                for path in self.kept.glob("*"):
                    path.unlink()

    def hangs(self):
        """Programs that hang: one that SIGTERM ends, one that only SIGKILL ends, and one that nothing ends, for which a
        `timeout` stands in that waits for it; each with what is then wrong with the node."""
        for text, code in (("exec sleep 60", 124), ("trap '' TERM\nwhile :; do sleep 0.1; done", 137)):
            self.command("miniapp", f"#!/bin/sh\n{text}\n")
            yield f"hang, exit code {code}"
        self.command("timeout", f"#!/bin/sh\n[ $1 = -k ] || exec {shutil.which('timeout')} \"$@\"\nexec sleep 30\n")
        began = time.monotonic()
        yield "hang, exit code 124"
        self.assertLess(time.monotonic() - began, 20)

    def test_texts_are_the_programs(self):
        """Of requirements: RequireTest of tests/unit."""
        self.assertIn('" and there is no GPU to use: " + problem', (SOURCE / "src/measure/platform_gpu.cpp").read_text())


class NodeHealthCheck(HealthCheck):
    # What NHC gives its checks.
    FUNCTIONS = 'die() { echo "die $*"; exit 99; }; log() { echo "log $*"; }; . "$0"; check_overlap "$@"'

    def check(self, deck="deck.yaml", seconds=11, functions=FUNCTIONS):
        done = self.shell("bash", "-c", functions, FILES / "nhc/overlap.nhc", str(deck), str(seconds), self.kept)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    @staticmethod
    def offline(why):
        return 99, f"die 1 check_overlap: {why}\n"

    def test_takes_a_node_offline_where_a_second_run_confirms_a_fault(self):
        for first, second in self.cases():
            why = self.FAULTS.get(first)
            if first == "0":
                expected = 0, ""
            elif why is None:
                expected = 0, f"log check_overlap: {self.said(first)}\n"
            elif second in self.FAULTS:
                expected = self.offline(self.FAULTS[second])
            elif second == "0":
                expected = 0, f"log check_overlap: unsteady: {why}; then PASS\n"
            else:
                expected = 0, f"log check_overlap: not confirmed: {why}; then {self.said(second)}\n"
            self.assertEqual(self.check(), expected)

    def test_does_not_go_on_where_die_returns(self):
        """As with NHC_CHECK_ALL=1."""
        self.ended(5)
        self.assertEqual(self.check(functions=self.FUNCTIONS.replace("exit 99", "return 1")),
                         (1, f"die 1 check_overlap: performance: {FAILED}\n"))

    def test_takes_a_node_offline_where_runs_hang(self):
        for why in self.hangs():
            self.assertEqual(self.check(seconds=1), self.offline(why))

    def test_with_the_program(self):
        self.real_miniapp()
        self.assertEqual(self.check(self.deck()), (0, ""))
        self.assertEqual(self.results(), [])
        code, said = self.check(self.deck(SLOW))
        self.assertEqual(code, 99)
        self.assertRegex(said, r"\Adie 1 check_overlap: performance: metric=throughput order=by_engine value=\S+ limit=1e\+06\n\Z")
        self.assertEqual(self.check(self.deck(ENDLESS), 1), self.offline("hang, exit code 124"))
        for file in self.kept.glob("*"):
            file.unlink()
        code, said = self.check(self.deck(LARGE))
        self.assertEqual(code, 0)
        self.assertRegex(said, r"\Alog check_overlap: no verdict, exit code 4: miniapp: error: .*memory")
        (file,) = self.kept.glob("*.json")
        self.assertEqual(json.loads(file.read_text())["exit_code"], 4)


class SlurmHealth(HealthCheck):
    def script(self, seconds=24):
        """As sites edit it: its PATH, its deck, its folder."""
        text = (FILES / "slurm/health.sh").read_text()
        for here, there in (("PATH=/usr/local/bin:", f"PATH={self.bin}:/usr/local/bin:"), ("results=/var/log/overlap", f"results={self.kept}"),
                            ("deck=/etc/slurm/overlap.yaml", f"deck={self.folder / 'small.yaml'}"), ("\nseconds=24 ", f"\nseconds={seconds} ")):
            self.assertEqual(text.count(here), 1)
            text = text.replace(here, there)
        self.command("scontrol", '#!/bin/sh\nprintf "%s\\n" "$SLURM_CONF" "$@" >>"$0.calls"\n')
        (self.bin / "scontrol.calls").unlink(missing_ok=True)
        return self.command("health.sh", text)

    def check(self, seconds=24, run_by=()):
        """Runs it as slurmd does, with almost no environment; returns the calls of scontrol."""
        done = subprocess.run([*run_by, self.script(seconds)], env={"SLURMD_NODENAME": "n7", "PWD": "/"}, cwd="/", text=True,
                              capture_output=True, timeout=60)
        if not run_by:
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        calls = self.bin / "scontrol.calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def logged(self):
        """What the log says of the node, without the times."""
        log = self.kept / "health.log"
        return [line.partition(" n7: ")[2] for line in log.read_text().splitlines()] if log.exists() else []

    @staticmethod
    def drained(why):
        return ["/etc/slurm/slurm.conf", "update", "NodeName=n7", "State=DRAIN", f"Reason=overlap: {why}"]

    def test_drains_where_a_second_run_confirms_a_fault(self):
        for first, second in self.cases():
            calls, why = self.check(), self.FAULTS.get(first)
            confirmed = why and second in self.FAULTS
            self.assertEqual(calls, self.drained(self.FAULTS[second]) if confirmed else [])
            if first == "0":
                self.assertEqual(self.logged(), [])
            elif why is None:
                self.assertEqual(self.logged(), [self.said(first)])
            elif confirmed:
                self.assertEqual(self.logged(), [f"drained: {self.FAULTS[second]}"])
            elif second == "0":
                self.assertEqual(self.logged(), [f"unsteady: {why}; then PASS"])
            else:
                self.assertEqual(self.logged(), [f"not confirmed: {why}; then {self.said(second)}"])

    def test_drains_where_runs_hang(self):
        for why in self.hangs():
            self.assertEqual(self.check(1), self.drained(why))

    def test_with_the_program(self):
        self.real_miniapp()
        self.deck()
        self.assertEqual(self.check(), [])
        self.assertEqual(self.results(), [])
        self.deck(SLOW)
        *_, reason = self.check()
        self.assertRegex(reason, r"\AReason=overlap: performance: metric=throughput order=by_engine value=\S+ limit=1e\+06\Z")
        for file in self.kept.glob("*.json"):
            self.assertEqual(json.loads(file.read_text())["exit_code"], 5)
            file.unlink()
        self.deck(LARGE)
        self.assertEqual(self.check(), [])
        self.assertRegex(self.logged()[-1], r"\Ano verdict, exit code 4: miniapp: error: .*memory")
        (file,) = self.kept.glob("*.json")
        self.assertEqual(json.loads(file.read_text())["exit_code"], 4)
        self.deck(ENDLESS)
        self.assertEqual(self.check(1), self.drained("hang, exit code 124"))

    def test_a_full_disk_drains_no_node(self):
        """Neither where results are written, nor where the script has no place for its own file."""
        namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
        if subprocess.run([*namespace, "true"], capture_output=True).returncode:
            self.skipTest("mounts are not allowed")
        self.command("miniapp", f'#!/bin/sh\n"{MINIAPP}" "$@"\ncode=$?\necho $code >>"$0.ended"\nexit $code\n')
        self.deck(SLOW)
        self.kept.mkdir()
        for options in ("size=64k", "size=64k,nr_inodes=2"):
            full = f'mount -t tmpfs -o {options} full {self.kept}; cat /dev/zero >{self.kept}/full; exec "$0"'
            self.assertEqual(self.check(run_by=[*namespace, "sh", "-c", full]), [])
        self.assertEqual((self.bin / "miniapp.ended").read_text(), "1\n")

    def test_merge_does_not_count_what_was_not_confirmed(self):
        """A run that fails, and one that passes, of one deck."""
        self.real_miniapp()
        slow, good = self.deck(SLOW, "slow.yaml"), self.deck(SLOW.replace("1e6", "1e-9"))
        self.command("miniapp", f"""#!/bin/sh
shift
if mkdir "$0.ran" 2>/dev/null; then deck={slow}; else deck={good}; fi
exec "{MINIAPP}" "$deck" "$@"
""")
        self.assertEqual(self.check(), [])
        self.assertEqual(self.results(), ["1.json.unconfirmed", "2.json"])
        (unconfirmed,) = self.kept.glob("*.unconfirmed")
        self.assertEqual(json.loads(unconfirmed.read_text())["exit_code"], 5)
        self.assertRegex(self.logged()[0], r"\Aunsteady: performance: metric=throughput .*; then PASS\Z")
        self.assertEqual(run("merge", self.kept).returncode, 0)

    def test_is_executable(self):
        self.assertTrue(os.access(FILES / "slurm/health.sh", os.X_OK))


class SlurmJob(Case):
    """Command lines; tests/slurm runs the scripts under Slurm."""

    def run_script(self, script, hosts="n7 n8", **environment):
        """Runs the script as Slurm does on the first node."""
        self.command("srun", '#!/bin/sh\nwhile [ "$1" != miniapp ]; do shift; done; exec "$@"\n')
        self.command("scontrol", f"#!/bin/sh\nprintf '%s\\n' {hosts}\n")
        return self.shell("bash", FILES / "slurm" / script, SLURM_JOB_ID="42", SLURM_JOB_NODELIST="n[7-8]", **environment)

    def submit(self, script, **environment):
        """Returns the arguments of the stand-in, too."""
        done = self.run_script(script, **environment)
        return done, (self.bin / "miniapp.arguments").read_text().splitlines()

    def test_the_fleets_exit_code_is_the_jobs(self):
        for code in EXIT_CODES:
            self.ended(code)
            done, _ = self.submit("overlap.sbatch")
            self.assertEqual((done.returncode, done.stderr), (code, ""))

    def test_a_fleet_writes_a_file_per_rank_and_its_own(self):
        self.ended(0)
        _, (first,) = self.submit("overlap.sbatch", OVERLAP_REFERENCE="/etc/h200 a.yaml", OVERLAP_RESULTS="out",
                                   OVERLAP_DEVICES="4")
        self.assertEqual(first, "--fleet acceptance/node --set fleet.devices=4 --reference /etc/h200 a.yaml --json out/42/{host}-{rank}.json "
                                "--json out/42/fleet.json --junit out/42/fleet.xml")
        _, (_, second) = self.submit("overlap.sbatch")
        self.assertIn("--set fleet.devices=any --json", second)

    def test_without_mpi_the_exit_code_is_that_of_merge(self):
        self.ended(0)
        self.command("miniapp", STAND_IN.replace("exit $", '[ "$1" = merge ] || exit 1; exit $'))
        for code in EXIT_CODES:
            (self.bin / "miniapp.code").write_text(str(code))
            done, _ = self.submit("merge.sbatch")
            self.assertEqual((done.returncode, done.stderr), (code, ""))

    def test_without_mpi_each_node_writes_a_file(self):
        self.ended(0)
        _, (first, second) = self.submit("merge.sbatch", OVERLAP_REFERENCE="/etc/h200 a.yaml", OVERLAP_RESULTS="out")
        self.assertEqual(first, "acceptance/gpu --quiet --reference /etc/h200 a.yaml --json out/42/nodes/{host}.json")
        self.assertEqual(second, "merge out/42/nodes --expect out/42/hosts.txt --json out/42/fleet.json --junit out/42/fleet.xml")
        self.assertEqual((self.folder / "out/42/hosts.txt").read_text(), "n7\nn8\n")

    def test_a_requeued_job_has_files_of_its_own(self):
        """It keeps its number; SLURM_RESTART_COUNT counts."""
        self.ended(0)
        for script in ("overlap.sbatch", "merge.sbatch"):
            _, lines = self.submit(script, OVERLAP_RESULTS="out", SLURM_RESTART_COUNT="2")
            for line in lines:
                self.assertEqual(re.findall(r"out/42[^/]*/", line), len(re.findall("out", line)) * ["out/42-restart2/"])

    def test_merge_takes_the_files_of_one_attempt(self):
        """Results of one attempt neither complete nor spoil those of the next: one fails, one passes, one has none."""
        self.real_miniapp()
        host = os.uname().nodename
        decks = [self.deck(name="good.yaml"), self.deck("workload: {}\n", "none.yaml"), self.deck(SLOW, "slow.yaml")]
        for deck, restarts in ((2, {}), (0, {"SLURM_RESTART_COUNT": "1"}), (1, {"SLURM_RESTART_COUNT": "2"})):
            done = self.run_script("merge.sbatch", OVERLAP_DECK=str(decks[deck]), hosts=host, **restarts)
            self.assertEqual(done.returncode, (0, 1, 5)[deck], done.stderr)
        for attempt, code in (("42", 5), ("42-restart1", 0)):
            for name in ("fleet.json", f"nodes/{host}.json"):
                self.assertEqual(json.loads((self.folder / "results" / attempt / name).read_text())["exit_code"], code)


class SlurmNight(Case):
    def test_a_job_per_idle_node_and_one_that_merges(self):
        host = os.uname().nodename
        self.real_miniapp()
        self.command("sinfo", f"#!/bin/sh\nprintf '%s\\n' n8 {host} n8\n")
        self.command("sbatch", """#!/bin/sh
printf '%s\n' "$@" >"$0.$(ls "$0".* 2>/dev/null | wc -l)"
case $* in *"/slurm/overlap.sbatch") [ "$OVERLAP_DEVICES" = 2 ] && [ -d "$OVERLAP_RESULTS" ] && echo "10${#SLURM_JOB_ID}" ;; esac
""")
        done = self.shell("sh", FILES / "slurm/nightly.sh", "2", OVERLAP_RESULTS=str(self.folder / "all nights"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        *jobs, merge = [path.read_text().splitlines() for path in sorted(self.bin.glob("sbatch.*"))]
        self.assertEqual([[word for word in job if re.search("nodelist|per-node", word)] for job in jobs],
                         [[f"--nodelist={node}", "--ntasks-per-node=2", "--gpus-per-node=2"] for node in sorted((host, "n8"))])
        self.assertIn("--dependency=afterany:100:100", merge)
        (night,) = (self.folder / "all nights").iterdir()
        self.assertEqual((night / "hosts.txt").read_text(), "".join(f"{node}:2\n" for node in sorted((host, "n8"))))
        command = "\n".join(merge).partition("--wrap=")[2]
        for rank in (0, 1):
            (night / "100").mkdir(exist_ok=True)
            run(self.deck(), "--json", night / f"100/{host}-{rank}.json")
        done = self.shell("sh", "-c", command)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^n8: no result of this host$")
        for name in ("fleet.json", "fleet.xml", "fleet.html"):
            self.assertTrue((night / name).is_file())

    def test_no_idle_node_is_an_error(self):
        self.command("sinfo", "#!/bin/sh\n")
        done = self.shell("sh", FILES / "slurm/nightly.sh", "2")
        self.assertEqual((done.returncode, done.stderr), (1, "overlap: no node is idle\n"))


class GitLab(Case):
    def test_shows_the_tests_that_the_script_writes(self):
        job = yaml.safe_load((FILES / "gitlab-ci.yml").read_text())["overlap"]
        self.real_miniapp()
        for text, code in ((SMALL, 0), (SLOW, 5)):
            variables = {**job["variables"], "DECK": str(self.deck(text)), "OPTIONS": "--set title=other"}
            done = self.shell("bash", "-ec", "\n".join(job["script"]), **variables)
            self.assertEqual(done.returncode, code, done.stderr)
            report = self.folder / job["artifacts"]["reports"]["junit"]
            suites = xml.etree.ElementTree.parse(report).getroot()
            self.assertEqual(len(suites.findall("testsuite/testcase/failure")), int(code == 5))
            for path in job["artifacts"]["paths"]:
                self.assertTrue((self.folder / path).is_file())
        self.assertEqual(job["artifacts"]["when"], "always")  # of jobs that fail, too
        self.assertEqual(job["allow_failure"]["exit_codes"], [6, 77])


class Junit(TestCase):
    """Files of the whole program; their text is tested in tests/unit."""

    def written(self, *arguments):
        target = self.folder / "out.xml"
        run(*arguments, "--quiet", "--junit", target)
        return xml.etree.ElementTree.parse(target).getroot()

    def outcomes(self, suites):
        """The tests of all suites by name, with what became of them; counts must be right."""
        found = {}
        for suite in suites:
            outcomes = {}
            for case in suite.findall("testcase"):
                key = (case.get("classname"), case.get("name"))
                self.assertNotIn(key, found)
                outcomes[case.get("name")] = found[key] = case[0].tag if len(case) else "passed"
            for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                self.assertEqual(int(suite.get(attribute)), list(outcomes.values()).count(tag))
            self.assertEqual(int(suite.get("tests")), len(outcomes))
        return {name: outcome for (_, name), outcome in found.items()}

    def test_has_each_check_of_each_deck(self):
        suites = self.written(self.deck(), self.deck(SLOW, "slow.yaml"), "limits/increment_16mib")
        orders = ("sequential", "depth_first", "by_engine")
        self.assertEqual(self.outcomes(suites), {
            "small/alone/-/data": "passed",
            **{f"small/alone/{order}/max_error": "passed" for order in orders},
            "slow/alone/-/data": "passed", "slow/alone/by_engine/throughput": "failure",
            "increment_16mib/alone/-/data": "skipped",
        })

    def test_has_each_point_of_a_sweep(self):
        deck = self.deck(SMALL + "sweep: {chunks.count: [1, 2], issue.lanes: [1, 2]}\n")
        points = [f"small[chunks.count={c},issue.lanes={l}]/alone/-/data" for c in (1, 2) for l in (1, 2)]
        outcomes = self.outcomes(self.written(deck))
        self.assertEqual([name for name in outcomes if name.endswith("data")], points)
        self.assertEqual(set(outcomes.values()), {"passed"})

    def test_says_what_a_run_lacks(self):
        too_large = self.deck("workload: {kind: rowsum, rows: 2 Ti}\n")
        (suite,) = self.written(too_large)
        self.assertEqual(self.outcomes([suite]), {"small/alone/-/data": "error"})
        self.assertRegex(suite.find("testcase/error").text, "memory")


if __name__ == "__main__":
    unittest.main()
