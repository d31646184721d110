#!/usr/bin/env python3
"""The files of ci/integrations with real output of the program, and with stand-ins for what they call. ReFrame runs in
harness_test.py."""

import ast
import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import types
import unittest
import xml.etree.ElementTree
from unittest import mock

import yaml

from program import MINIAPP, SMALL, SOURCE, TestCase, records, run

FILES = SOURCE / "ci/integrations"
PAGE = 66  # lines
SLOW = SMALL.replace("{metric: max_error, max: 1e-5}", "{metric: throughput, order: by_engine, min: 1e6}")
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
code=$(head -n 1 "$0.code")
sed -i '1{{$!d}}' "$0.code"  # the last one stays
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
        self.command("miniapp", f'#!/bin/sh\nexec "{MINIAPP}" "$@" --device=host\n')

    def ended(self, *codes):
        """A miniapp that ends with these codes, one after the other, and then always with the last."""
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
                  "nhc/overlap.nhc", "slurm/health.sh", "slurm/overlap.sbatch", "slurm/merge.sbatch", "gitlab-ci.yml"}
        files = {str(path.relative_to(FILES)): path for path in FILES.rglob("*.*") if path.is_file() and path.suffix != ".pyc"}
        self.assertEqual(set(files), tested)
        for name, path in files.items():
            with self.subTest(name):
                self.assertLessEqual(len(path.read_text().splitlines()), PAGE)


class Ramble(Case):
    """As ramble/application.py of Ramble does it: each line is matched from its start, contexts first."""

    def application(self):
        """The directives of the class, by name."""
        given = {}

        def directive(name):
            return lambda *words, **options: given.setdefault(name, []).append((words, options))

        kit = types.ModuleType("ramble.appkit")
        for name in ("tags", "software_spec", "required_package", "executable", "workload", "workload_variable",
                     "figure_of_merit_context", "figure_of_merit", "success_criteria"):
            setattr(kit, name, directive(name))
        kit.when = lambda condition: contextlib.nullcontext()
        kit.ExecutableApplication = object
        spec = importlib.util.spec_from_file_location("application", FILES / "ramble/application.py")
        module = importlib.util.module_from_spec(spec)
        with mock.patch.dict(sys.modules, {"ramble": types.ModuleType("ramble"), "ramble.appkit": kit}):
            spec.loader.exec_module(module)
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
                by_engine = result["runs"][-1]["throughput"]
                self.assertAlmostEqual(float(results["throughput"]) / by_engine, 1, 4)
                self.assertEqual(results["verdict"], verdict)
                self.assertEqual(int(results["exit_code"]), result["exit_code"])
                failed = [check for check in result["checks"] if check["verdict"] != "PASS"]
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

    def setUp(self):
        text = (FILES / "spack/package.py").read_text()
        (self.package,) = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
        self.cmake = "".join((SOURCE / path).read_text() for path in ("CMakeLists.txt", "tests/CMakeLists.txt"))

    def calls(self, name):
        """The arguments of all calls of a function or method; what is no literal is None."""
        for node in ast.walk(self.package):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None)) == name:
                yield [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]

    def test_is_a_package_for_both_vendors(self):
        self.assertEqual([base.id for base in self.package.bases], ["CMakePackage", "CudaPackage", "ROCmPackage"])

    def test_sets_options_of_cmake_by_its_variants(self):
        options = set(re.findall(r"^(?:option|set)\((OVERLAP_\w+)", self.cmake, re.MULTILINE))
        variants = {arguments[0] for arguments in self.calls("variant")} | {"cuda", "rocm"}
        used = list(self.calls("define_from_variant"))
        self.assertEqual({option for option, _ in used}, {"OVERLAP_MPI", "OVERLAP_TESTS", "OVERLAP_REQUIRE_CUDA", "OVERLAP_REQUIRE_HIP"})
        for option, variant in used:
            self.assertIn(option, options)
            self.assertIn(variant, variants)
        (disabled,) = [arguments[0] for arguments in self.calls("define")]
        package = disabled.removeprefix("CMAKE_DISABLE_FIND_PACKAGE_")
        self.assertRegex(self.cmake, rf"find_package\({package} QUIET\)")

    def test_depends_on_what_cmake_finds(self):
        found = dict(re.findall(r"find_package\(([\w-]+) ?([\d.]*)", self.cmake))
        needed = {name: version for package, version in found.items()
                  if (name := self.NAMES.get(package, package.lower())) is not None}
        given = {re.match(r"[\w-]+", spec)[0]: spec for spec, *_ in self.calls("depends_on") if spec is not None}
        self.assertEqual(set(needed) - set(given), set())
        self.assertEqual(set(given) - set(needed), {"cxx", "cmake", "hwloc"})
        self.assertIn(f"kokkos@{needed['kokkos']}:", given["kokkos"])
        required = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", self.cmake)[1]
        self.assertIn(f"cmake@{required}:", given["cmake"])


class HealthCheck(Case):
    """What both health checks do: a failure counts where a second run confirms it."""

    REASONS = {2: "wrong data", 5: "performance"}

    def setUp(self):
        super().setUp()
        self.kept = self.folder / "kept"

    def results(self):
        return sorted(path.name.rpartition("-")[2] for path in self.kept.glob("*.json"))

    def cases(self):
        """Codes of two runs, with how often the program runs and which results are kept."""
        for first in EXIT_CODES:
            for second in EXIT_CODES if first in self.REASONS else (0,):
                with self.subTest(first=first, second=second):
                    self.ended(first, second)
                    yield first, second
                    failed = first in self.REASONS
                    self.assertEqual(self.runs(), 2 if failed else 1)
                    self.assertEqual(self.results(), ["1.json", "2.json"] if failed else [])
                for path in self.kept.glob("*"):
                    path.unlink()


class NodeHealthCheck(HealthCheck):
    # What NHC gives its checks.
    FUNCTIONS = 'die() { echo "die $*"; exit 99; }; log() { echo "log $*"; }; . "$0"; check_overlap "$@"'

    def check(self, deck, seconds=12):
        return self.shell("bash", "-c", self.FUNCTIONS, FILES / "nhc/overlap.nhc", str(deck), str(seconds), self.kept)

    def test_takes_a_node_offline_where_a_second_run_fails(self):
        for first, second in self.cases():
            done = self.check("deck.yaml")
            self.assertEqual(done.stderr, "")
            why = f"{self.REASONS.get(first)}: {FAILED}"
            if first == 0:
                self.assertEqual(done.stdout, "")
            elif first not in self.REASONS:
                self.assertRegex(done.stdout, rf"\Alog check_overlap: no verdict, exit code {first}: ")
            elif second in self.REASONS:
                self.assertEqual(done.stdout, f"die 1 check_overlap: {self.REASONS[second]}: {FAILED}\n")
            elif second == 0:
                self.assertEqual(done.stdout, f"log check_overlap: unsteady: {why}; then PASS\n")
            else:
                self.assertRegex(done.stdout, rf"\Alog check_overlap: not confirmed: {why}; then no verdict, exit code {second}: ")
            self.assertEqual(done.returncode, 99 if first in self.REASONS and second in self.REASONS else 0)

    def test_does_not_go_on_where_die_returns(self):
        """As with NHC_CHECK_ALL=1."""
        self.ended(5)
        done = self.shell("bash", "-c", self.FUNCTIONS.replace("exit 99", "return 1"), FILES / "nhc/overlap.nhc", "deck.yaml", "12",
                          self.kept)
        self.assertEqual((done.returncode, done.stdout), (1, f"die 1 check_overlap: performance: {FAILED}\n"))

    def test_ends_a_run_that_takes_too_long(self):
        self.command("miniapp", "#!/bin/sh\nexec sleep 60\n")
        done = self.check("deck.yaml", 1)
        self.assertEqual(done.returncode, 0)
        self.assertIn("exit code 124", done.stdout)

    def test_with_the_program(self):
        self.real_miniapp()
        self.assertEqual(self.check(self.deck()).stdout, "")
        self.assertRegex(self.check(self.deck(SLOW)).stdout,
                         r"\Adie 1 check_overlap: performance: metric=throughput order=by_engine value=\S+ limit=1e\+06\n\Z")


class SlurmHealth(HealthCheck):
    def check(self):
        """Runs it as slurmd does, with almost no environment; sites edit its PATH, its deck and its folder."""
        text = (FILES / "slurm/health.sh").read_text()
        for here, there in (("PATH=/usr/local/bin:", f"PATH={self.bin}:/usr/local/bin:"), ("results=/var/log/overlap", f"results={self.kept}"),
                            ("deck=/etc/slurm/overlap.yaml", f"deck={self.folder / 'small.yaml'}")):
            self.assertEqual(text.count(here), 1)
            text = text.replace(here, there)
        script = self.command("health.sh", text)
        self.command("scontrol", '#!/bin/sh\nprintf "%s\\n" "$SLURM_CONF" "$@" >>"$0.calls"\n')
        calls = self.bin / "scontrol.calls"
        calls.unlink(missing_ok=True)
        done = subprocess.run([script], env={"SLURMD_NODENAME": "n7", "PWD": "/"}, cwd="/", text=True,
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return calls.read_text().splitlines() if calls.exists() else []

    def logged(self):
        """What the log says of the node, without the times."""
        log = self.kept / "health.log"
        return [line.partition(" n7: ")[2] for line in log.read_text().splitlines()] if log.exists() else []

    def drained(self, why):
        return ["/etc/slurm/slurm.conf", "update", "NodeName=n7", "State=DRAIN", f"Reason=overlap: {why}: {FAILED}"]

    def test_drains_where_a_second_run_fails(self):
        for first, second in self.cases():
            calls, why = self.check(), f"{self.REASONS.get(first)}: {FAILED}"
            confirmed = first in self.REASONS and second in self.REASONS
            self.assertEqual(calls, self.drained(self.REASONS[second]) if confirmed else [])
            if first not in self.REASONS:
                self.assertEqual(self.logged(), [])
            elif confirmed:
                self.assertEqual(self.logged(), [f"drained: {self.REASONS[second]}: {FAILED}"])
            elif second == 0:
                self.assertEqual(self.logged(), [f"unsteady: {why}; then PASS"])
            else:
                [line] = self.logged()
                self.assertTrue(line.startswith(f"not confirmed: {why}; then exit code {second}: OVERLAP_CHECK"), line)

    def test_with_the_program(self):
        self.real_miniapp()
        self.deck()
        self.assertEqual(self.check(), [])
        self.deck(SLOW)
        *_, reason = self.check()
        self.assertRegex(reason, r"\AReason=overlap: performance: metric=throughput order=by_engine value=\S+ limit=1e\+06\Z")
        for file in self.kept.glob("*.json"):
            self.assertEqual(json.loads(file.read_text())["exit_code"], 5)

    def test_merge_counts_what_was_unsteady(self):
        """A run that fails, and one that passes, of one deck."""
        self.deck(SLOW.replace("1e6", "1e-9"))
        self.real_miniapp()
        self.check()
        self.assertEqual(self.results(), [])
        # The first run has a stand-in for a slow moment.
        self.command("miniapp", f"""#!/bin/sh
case $4 in *-1.json) ;; *) exec "{MINIAPP}" "$@" --device=host ;; esac
"{MINIAPP}" "$@" --device=host >"$0.lines"
python3 - "$4" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
for check in result["checks"]:
    check.update(limit=1e6, verdict="FAIL")
result.update(verdict="FAIL", exit_code=5)
json.dump(result, open(sys.argv[1], "w"))
END
sed 's/ verdict=PASS/ verdict=FAIL/' "$0.lines"
exit 5
""")
        self.assertEqual(self.check(), [])
        self.assertEqual(self.results(), ["1.json", "2.json"])
        self.assertRegex(self.logged()[0], r"\Aunsteady: performance: metric=throughput .*; then PASS\Z")
        done = run("merge", self.kept)
        self.assert_clean(done)
        self.assertRegex(done.stdout, r"(?m)^unsteady .*\n\S+ .* 1 +2 +\S+$")

    def test_is_executable(self):
        self.assertTrue(os.access(FILES / "slurm/health.sh", os.X_OK))


class SlurmJob(Case):
    """Command lines; tests/slurm runs the scripts under Slurm."""

    def submit(self, script, **environment):
        """Runs the script as Slurm does on the first node."""
        self.command("srun", '#!/bin/sh\nwhile [ "$1" != miniapp ]; do shift; done; exec "$@"\n')
        self.command("scontrol", "#!/bin/sh\nprintf 'n7\\nn8\\n'\n")
        done = self.shell("bash", FILES / "slurm" / script, SLURM_JOB_ID="42", SLURM_JOB_NODELIST="n[7-8]", **environment)
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
