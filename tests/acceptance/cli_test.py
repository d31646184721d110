#!/usr/bin/env python3
"""The command line as a user meets it: options, exit codes, errors, interrupts."""

import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from program import (
    CHECK,
    ENDLESS,
    FOM,
    MINIAPP,
    NOT_BEGUN,
    RESULT,
    SANITIZED,
    SMALL,
    SOURCE,
    TestCase,
    all_of,
    records,
    run,
    start,
)


def workloads():
    """Names of the workloads."""
    return re.findall(r"(?:\{|value = )WorkloadKind::(\w+),", (SOURCE / "src/deck/workloads.hpp").read_text())


def orders():
    """Names of the issue orders."""
    return re.findall(r'\{Order::\w+, "(\w+)"', (SOURCE / "src/deck/orders.hpp").read_text())


class Information(TestCase):
    def test_help_names_every_option_and_exit_code(self):
        done = run("--help")
        self.assert_clean(done)
        options = "set json predict device calibrate list dry-run quiet version help"
        for option in options.split():
            self.assertRegex(done.stdout, rf"--{option}\b")
        for code in (0, 1, 2, 3, 4, 5, 6, 77, 130):
            self.assertRegex(done.stdout, rf"\b{code}\b")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_version(self):
        done = run("--version")
        self.assert_clean(done)
        self.assertRegex(
            done.stdout,
            r"\Aminiapp \d+\.\d+\.\d+( \([0-9a-f]{40,64}(, modified)?\))?\n"
            r"Kokkos \d+\.\d+\.\d+, back end \w+\ncompiler \S.*\nCUDA \S.*\n"
            r"Kokkos Kernels \S.*\n\Z",
        )

    def test_list(self):
        done = run("--list")
        self.assert_clean(done)
        sections = re.split(r"^(?=\w)", done.stdout, flags=re.MULTILINE)
        listed = {section.split("\n")[0]: section for section in sections if section}
        for workload in workloads():
            self.assertRegex(listed["workloads"], rf"(?m)^  {workload} +\S")
        for order in orders():
            self.assertRegex(listed["issue orders"], rf"(?m)^  {order} +\S")
        devices = {path.stem for path in (SOURCE / "input/devices").glob("*.yaml") if "ideal" not in path.stem}
        self.assertEqual(set(re.findall(r"(?m)^  (\w+) +\S", listed["model devices"])), devices)
        self.assertIn("Tesla C2050", listed["model devices"])
        for device, note in (("c1060", "; described, not measured; only increment, custom"), ("h200", "H200, measured"),
                             ("rtx4090", "x16; described, not measured")):
            self.assertRegex(listed["model devices"], rf"(?m)^  {device} .*{note}$")
        self.assertRegex(listed["model devices"], r"(?m)^  ideal_\* +for teaching: miniapp --list --verbose$")
        self.assertRegex(run("--list", "--verbose").stdout, r"(?m)^  ideal_1copy +\S")
        self.assertRegex(listed["back end"], r"Kokkos \d+\.\d+")
        self.assertRegex(done.stdout, r"(?m)^  health  (not )?read")

    def test_an_installed_program_has_its_own_model_devices(self):
        program = self.folder / "bin/miniapp"
        devices = self.folder / "share/overlap/input/devices"
        program.parent.mkdir()
        devices.mkdir(parents=True)
        shutil.copy(MINIAPP, program)
        (devices / "mine.yaml").write_text("title: My device\nunit: 1 ms\n")
        done = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nmodel devices\n  mine  My device; described, not measured\n\n", done.stdout)


class DryRun(TestCase):
    def test_a_reader_that_has_seen_enough_is_no_error(self):
        command = [MINIAPP, "--dry-run", "increment", "--set=chunks.count=4096", "--set=issue.lanes=64"]
        writer = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        writer.stdout.readline()
        writer.stdout.close()
        self.assertEqual(writer.stderr.read(), "")
        writer.stderr.close()
        self.assertEqual(writer.wait(timeout=60), -signal.SIGPIPE)

    def schedules(self, *arguments):
        """Order, number of tasks that the heading gives, and the rows."""
        done = run("--dry-run", *arguments)
        self.assert_clean(done)
        self.assertNotIn("OVERLAP_", done.stdout)
        found = []
        for line in done.stdout.splitlines():
            heading = re.match(r"(\w+): (\d+) tasks?, (\d+) chunks?, (\d+) lanes?, (\d+) slots?,", line)
            if heading:
                found.append((heading[1], int(heading[2]), []))
            elif re.match(r"\s*\d", line):
                found[-1][2].append(line.split())
        return found

    def test_a_row_for_every_task(self):
        schedules = self.schedules(self.deck())
        orders = [order for order, _, _ in schedules]
        self.assertEqual(orders, ["sequential", "depth_first", "by_engine"])
        for order, tasks, rows in schedules:
            self.assertEqual(len(rows), tasks, order)
            self.assertEqual([row[0] for row in rows], [str(i) for i in range(tasks)])
        self.assertEqual([tasks for _, tasks, _ in schedules], [3, 12, 12])
        stages = [row[1] for row in schedules[1][2]]
        self.assertEqual(stages, ["h2d", "kernel", "d2h"] * 4)

    def test_set_changes_the_schedule(self):
        schedules = self.schedules(self.deck(), "--set", "chunks.count=7", "--set=issue.lanes=1")
        self.assertEqual([tasks for _, tasks, _ in schedules], [3, 21, 21])

    def test_needs_no_memory_for_the_data(self):
        schedules = self.schedules(SOURCE / "input/rowsum_out_of_core_seed.yaml")
        self.assertEqual(schedules[1][1], 6 * 3)


CUSTOM = """\
workload:
  kind: custom
  tasks:
    - {name: HD, stage: h2d, lane: 2, bytes: 4 KiB}
    - {name: K, stage: kernel, lane: 2, duration: 1 us}
    - {name: DH, stage: d2h, lane: 1, bytes: 4 KiB, chunk: 2, after: [K]}
measure: {repetitions: 2}
"""


class Custom(TestCase):
    def test_dry_run_names_the_tasks(self):
        done = run("--dry-run", self.deck(CUSTOM))
        self.assert_clean(done)
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertIn(["2", "DH", "d2h", "0", "4096", "-", "-", "K"], rows)
        self.assertIn(["2", "DH", "d2h", "0", "4096", "-", "-", "(blocks", "the", "host)"], rows)

    def test_says_what_the_steps_take(self):
        done = run(self.deck(CUSTOM))
        self.assert_clean(done)
        self.assertRegex(done.stdout, r"(?m)^busy +a step of the busy loop takes \S+ ns in a kernel, \S+ ns on the host$")
        self.assertNotRegex(done.stdout, "(?m)^copy rates")

    def test_says_what_copies_by_duration_move_at(self):
        done = run(self.deck(CUSTOM.replace("bytes: 4 KiB", "duration: 10 us")))
        self.assert_clean(done)
        self.assertRegex(done.stdout, r"(?m)^copy rates +to the device \S+ GB/s, back \S+ GB/s$")

    def test_kernels_alone_have_no_throughput(self):
        tasks = '[{"name": "K", "stage": "kernel", "lane": 1, "duration": "1 us"}]'
        done = run(self.deck(CUSTOM), f"--set=workload.tasks={tasks}")
        self.assert_clean(done)
        metrics = {line["metric"] for line in records(done.stdout)["OVERLAP_FOM"]}
        self.assertEqual(metrics, {"time", "speedup", "max_error", "overlap_efficiency",
                                   "bound_fraction", "schedule_bound_fraction"})

    def test_a_list_that_is_not_safe(self):
        for options in ((), ("--dry-run",)):
            done = run(self.deck(CUSTOM.replace(", after: [K]", "")), *options)
            self.assert_error(
                done,
                3,
                r"small\.yaml:6:7: workload\.tasks\[2\]: order custom is not safe to run: RAW: "
                r"task 2 \(DH, d2h\) reads array DH on the device without waiting for its writer "
                r"task 1 \(K, kernel\)",
            )

    def test_an_order_that_breaks_a_dependency(self):
        deck = self.deck(CUSTOM + "issue: {orders: [custom, depth_first]}\n")
        self.assert_error(
            run(deck),
            3,
            r"small\.yaml:8:26: issue\.orders\[1\]: found 'depth_first', which issues task DH before "
            r"task K, on which it depends",
        )



class Usage(TestCase):
    def test_no_deck(self):
        self.assert_error(run(), 3, "no deck given")

    def test_missing_deck(self):
        self.assert_error(run("nowhere.yaml"), 3, r"nowhere\.yaml: no such deck")
        for words, message in (
            (("comapre", "a", "b"), "found 'comapre'; allowed: .*; did you mean 'compare'"),
            (("basline", "-o", "x", "y"), "found 'basline'; allowed: .*; did you mean 'baseline'"),
            (("rowsum", "--predcit", "h200"), "found '--predcit'; allowed: .* --help; did you mean '--predict'"),
            (("rowsum", "--jsno=x.json"), "found '--jsno'; .*; did you mean '--json'"),
            (("--bogus", "merge", "a.json"), "found '--bogus'; allowed: the options in miniapp --help"),
            (("compare", "--blow", "3", "a", "b"), "found '--blow'; .* compare --help; did you mean '--below'"),
        ):
            self.assert_error(run(*words), 3, message)

    def test_options_without_their_value(self):
        for option in ("--set", "--json"):
            self.assert_error(run(self.deck(), option), 3, option)

    def test_options_before_a_command(self):
        for words in (["--json", self.folder / "x.json"], ["--quiet"], ["--device", "h200"]):
            self.assert_error(run(*words, "merge", self.folder), 3, f"found {words[0]} before a command|{words[0]} requires DECK")
        self.assertEqual(self.files(), [])

    def test_empty_file_name(self):
        self.assert_error(run(self.deck(), "--json", ""), 3, "--json")

    def test_bad_deck(self):
        done = run(self.deck(SMALL.replace("elements", "elments")))
        place = r"small\.yaml:2:29: workload\.elments"
        self.assert_error(done, 3, f"{place}: unknown key; .*; did you mean 'elements'\\?")
        self.assertEqual(done.stdout, "")

    def test_nothing_runs_when_one_deck_of_several_is_bad(self):
        for text, message in (
            ("workload: {}\n", r"bad\.yaml:1:11: workload\.kind: found nothing"),
            (SMALL.replace("count: 4", "count: 65537"), r"bad\.yaml:3:17: chunks\.count: found 65537; allowed: at most"),
            (CUSTOM.replace(", after: [K]", ""), r"bad\.yaml:6:7"),
        ):
            done = run(self.deck(), self.deck(text, "bad.yaml"))
            self.assert_error(done, 3, message)
            self.assertEqual(done.stdout, "")

    def test_more_chunks_than_data(self):
        self.assert_error(
            run(self.deck(), "--set", "workload.elements=3"),
            3,
            r"small\.yaml:3:17: chunks\.count: found 4; allowed: at most 3",
        )

    def test_more_chunks_than_any_schedule_can_hold(self):
        settings = ("--set", "workload.elements=16 Ti", "--set", "chunks={bytes: 16 MiB}")
        self.assert_error(
            run(self.deck(), *settings, "--dry-run"),
            3,
            r"chunks\.bytes: found 16 MiB, .* 4194304 chunks; allowed: at most 1048576",
        )

    def test_more_tasks_than_fit_into_memory(self):
        pipeline = ("pipeline", "--set", "workload={kind: pipeline, elements: 16}")
        for command in ("--dry-run", "--predict=h200"):
            for arguments, said in (
                (
                    (*pipeline, "--set", "workload.iterations=1 Mi"),
                    r"workload\.iterations: found 1048576 iterations, which make \d+ tasks in all orders; ",
                ),
                (
                    ("increment", "--set", "workload.elements=1 Mi", "--set", "chunks.count=1 Mi"),
                    r"chunks\.count: found 1048576 chunks, which make \d+ tasks in all orders; ",
                ),
                (
                    ("increment", "--set", "workload.elements=1 Mi", "--set", "chunks={bytes: 4 B}"),
                    r"chunks\.bytes: found 1048576 chunks, which make \d+ tasks in all orders; ",
                ),
            ):
                self.assert_error(run(*arguments, command), 3, said + "allowed: at most 524288")

    def test_device_limit_below_one_chunk(self):
        self.assert_error(
            run(self.deck(), "--set", "memory.device_limit=1 KiB"),
            3,
            r"--set memory\.device_limit=1 KiB: memory\.device_limit: found 1 KiB",
        )


class ExitCodes(TestCase):
    def outcome(self, *arguments):
        done = run(self.deck(), *arguments)
        self.assertEqual(done.stderr, "")
        self.assertEqual(records(done.stdout)["OVERLAP_RESULT"][0]["exit"], str(done.returncode))
        return done

    def test_pass(self):
        done = self.outcome()
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=PASS data=OK exit=0\n"))

    def test_too_little_memory(self):
        deck = self.deck("workload: {kind: rowsum}\nissue: {orders: [depth_first]}\n")
        done = run(deck, "--set", "workload.rows=2 Ti")
        self.assert_error(done, 4, "GiB|TiB")
        self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=ERROR data=NONE exit=4\n"), done.stdout)

    def limited(self, *arguments, kib=300000):
        """The program with little memory for data."""
        shell = ["sh", "-c", f'ulimit -d {kib}; exec "$0" "$@"', MINIAPP, *map(str, arguments)]
        return subprocess.Popen(shell, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})

    @unittest.skipIf(SANITIZED, "sanitizers need far more memory")
    def test_memory_that_a_deck_lacks(self):
        large = self.limited(self.deck(), "--set=workload.elements=64 Mi")
        _, stderr = large.communicate(timeout=60)
        self.assertEqual(large.returncode, 4)
        self.assertRegex(stderr, r"small\.yaml: not enough memory for array a, 256 MiB on the host and ")

    def test_memory_that_the_system_does_not_tell(self):
        """As in some sandboxes."""
        hidden = ["unshare", "--mount", "--map-root-user", "sh", "-c", 'mount --bind /dev/null /proc/meminfo && exec "$0" "$@"']
        if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
            self.skipTest("this user cannot mount")
        done = subprocess.run([*hidden, MINIAPP, self.deck(), "--json", self.folder / "out.json"],
                              capture_output=True, text=True, timeout=60)
        self.assert_clean(done)
        self.assertIn("unknown available of unknown", done.stdout)
        result = json.loads((self.folder / "out.json").read_text())
        self.assert_valid(result)
        self.assertEqual((result["host"]["total_bytes"], result["host"]["available_bytes"]), (None, None))
        self.assert_clean(run("show", self.folder / "out.json"))

    @unittest.skipIf(os.geteuid() != 0, "a limit on threads of another user needs root rights")
    def test_threads_that_the_system_refuses(self):
        """As pids.max of a container."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (8, 8))
            os.setuid(54321)
        self.folder.chmod(0o755)
        done = run(self.deck(), "--set=issue.lanes=64", "--set=chunks.count=64", preexec_fn=limit)
        self.assert_error(done, 4, "small.yaml: cannot create 64 lanes: Resource temporarily unavailable")

    @unittest.skipIf(SANITIZED, "sanitizers need far more memory")
    def test_a_crash_stays_a_crash(self):
        """Also after an allocation has failed, here that of the first point of a sweep."""
        sweep = self.deck(ENDLESS[: ENDLESS.index("acceptance")] + "sweep: {workload.elements: [64 Mi, 4096]}\n")
        process = self.limited(sweep)
        self.addCleanup(process.communicate)
        for line in process.stderr:
            if "skipped workload.elements 64 Mi: " in line:
                break
        self.assertIn("not enough memory for array a", line)
        process.send_signal(signal.SIGSEGV)
        self.assertEqual(process.wait(60), -signal.SIGSEGV)

    def test_impossible_performance(self):
        done = self.outcome("--set", "acceptance=[{metric: throughput, order: depth_first, min: 1e6}]")
        self.assertEqual(done.returncode, 5)
        self.assertIn("OVERLAP_CHECK metric=throughput order=depth_first verdict=FAIL", done.stdout)

    def test_limit_inside_the_interval(self):
        """The median of one run is the limit of the next; a drifting machine takes a few tries."""
        limit = 0.001
        for _ in range(30):
            criterion = f"acceptance=[{{metric: time, order: depth_first, max: {limit} s}}]"
            done = self.outcome("--set", "measure.repetitions=5", "--set", criterion)
            figures = records(done.stdout)
            time_s = next(
                figure
                for figure in figures["OVERLAP_FOM"]
                if (figure["order"], figure["metric"]) == ("depth_first", "time")
            )
            lo, hi = float(time_s["lo"]), float(time_s["hi"])
            if not (abs(lo / limit - 1) < 1e-4 or abs(hi / limit - 1) < 1e-4):  # printed rounded
                expected = 0 if hi <= limit else 5 if lo > limit else 6
                self.assertEqual(done.returncode, expected)
            if done.returncode == 6:
                self.assertEqual(figures["OVERLAP_CHECK"][0]["verdict"], "INCONCLUSIVE")
                self.assertIn("OVERLAP_RESULT verdict=INCONCLUSIVE data=OK exit=6", done.stdout)
                return
            limit = float(time_s["value"])
        self.fail("no run in 30 straddled the median of the run before")

    def test_the_worst_of_several_decks(self):
        criterion = "{metric: throughput, min: 1e6}"
        slow = self.deck(SMALL.replace("{metric: max_error, max: 1e-5}", criterion), "slow.yaml")
        done = run(slow, self.deck())
        self.assert_clean(done, 5)
        self.assertEqual([r["exit"] for r in records(done.stdout)["OVERLAP_RESULT"]], ["5"])
        self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=FAIL data=OK exit=5\n"))


class Errors(TestCase):
    def test_a_terminal_shows_them_once(self):
        large = "--set=workload.elements=1000000000000"
        done = run(self.deck(), large)
        self.assert_error(done, 4, "available host memory; required: ")
        self.assertNotIn("required: ", done.stdout)
        done = run(self.deck(), large, "--set=sweep.chunks.count=[1, 2]")
        self.assertEqual((done.stdout + done.stderr).count("chunks.count 1: "), 1, done.stdout)


class UnwritableOutput(TestCase):
    def assert_refused(self, target):
        done = run(self.deck(), "--json", target)
        self.assert_error(done, 1, f"{re.escape(str(target))}: cannot write: ")
        self.assertTrue(NOT_BEGUN.fullmatch(done.stdout), done.stdout)

    def test_folder_as_target(self):
        self.assert_refused(self.folder)

    def test_file_as_folder(self):
        self.assert_refused(self.deck() / "out.json")

    def test_nothing_is_left_behind(self):
        self.assert_refused(self.folder / "missing" / "out.json")
        self.assertEqual(self.files(), ["small.yaml"])



class Streams(TestCase):
    def test_quiet_prints_result_lines_alone(self):
        done = run(self.deck(), "--quiet")
        self.assert_clean(done)
        lines = done.stdout.splitlines()
        for line in lines:
            self.assertTrue(any(form.fullmatch(line) for form in (FOM, CHECK, RESULT)), line)
        self.assertEqual(len(lines), 3 * 6 + 2 + 3 + 1)

    def test_without_quiet_the_same_lines_come_last(self):
        done = run(self.deck())
        self.assert_clean(done)
        lines = [line.split("=")[0] for line in done.stdout.splitlines()]
        quiet = [line.split("=")[0] for line in run(self.deck(), "--quiet").stdout.splitlines()]
        self.assertEqual(lines[-len(quiet) :], quiet)
        self.assertGreater(len(lines), len(quiet))

    def test_the_heading_and_the_table(self):
        done = run(self.deck())
        self.assert_clean(done)
        self.assertTrue(done.stdout.startswith("Small increment\n"))
        for name in ("device", "host", "back end", "deck", "workload", "chunks", "host memory"):
            self.assertRegex(done.stdout, rf"(?m)^{name}  +\S")
        for order in ("sequential", "depth_first", "by_engine"):
            self.assertRegex(done.stdout, rf"(?m)^{order} .* PASS$")

    def test_no_progress_in_a_pipe(self):
        done = run(self.deck(), "--set", "measure.repetitions=20")
        self.assert_clean(done)
        self.assertNotRegex(done.stdout, "\r|\033| left")

    def on_terminal(self, kind):
        """What the program writes to a terminal of this kind as standard error."""
        ours, theirs = pty.openpty()
        try:
            process = subprocess.Popen(
                [MINIAPP, str(self.deck())], stdout=subprocess.DEVNULL, stderr=theirs,
                env={**os.environ, "TERM": kind},
            )
            os.close(theirs)
            seen = b""
            while True:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # the other side is closed
                    break
                if not piece:
                    break
                seen += piece
            self.assertEqual(process.wait(timeout=60), 0)
        finally:
            os.close(ours)
        return seen

    def test_progress_on_a_terminal_is_wiped_at_the_end(self):
        seen = self.on_terminal("xterm")
        self.assertRegex(seen, rb"\d+ %  (sequential|depth_first|by_engine)")
        self.assertTrue(seen.endswith(b"\r\033[K"), seen)
        self.assertNotIn(b"\n", seen)

    def test_kokkos_options_pass_through(self):
        self.assert_clean(run(self.deck(), "--kokkos-disable-warnings", "--quiet"))

    def test_options_that_kokkos_does_not_know(self):
        """Without them it would measure another device than the one that was meant."""
        target = self.folder / "out.json"
        for option in ("--kokkos-device=1", "--kokkos-num-thread=2", "--kokkos-tools-nothing"):
            target.write_text("old")
            done = run(self.deck(), option, "--json", target, "--kokkos-disable-warnings")
            self.assertEqual((done.returncode, done.stdout, target.read_text()), (3, "", "old"), done.stderr)
            self.assertIn(f"\nminiapp: error: Kokkos: found {option}; allowed: the options in miniapp --kokkos-help\n", "\n" + done.stderr)
        self.assertEqual(self.files(), ["out.json", "small.yaml"])

    def test_the_options_of_kokkos(self):
        done = run("--kokkos-help")
        self.assert_clean(done)
        self.assertIn("--kokkos-num-threads=INT", done.stdout)
        self.assert_error(run("--kokkos-disable-warnings"), 3, "no deck given")

    def test_an_option_is_no_value_of_another(self):
        deck = self.deck()
        for option, kind in (("--json", "FILE"), ("--report", "FILE.html"), ("--device", "DEVICE"), ("--set", "KEY.PATH=VALUE")):
            for words in ((option, "--csv"), (f"{option}=--csv",)):
                done = run(*words, deck, cwd=self.folder)
                self.assert_error(done, 3, f"{option}: found --csv, which is an option; allowed: {kind}$")
        self.assert_error(run("merge", deck, "--json", "--quiet"), 3, "--json: found --quiet, which is an option; allowed: FILE$")
        self.assertEqual(self.files(), ["small.yaml"])

    def test_a_report_is_the_page_of_the_timelines(self):
        page, timeline = self.folder / "a.html", self.folder / "b.html"
        self.assert_clean(run(self.deck(), "--predict=h200", "--report", page, "--timeline", timeline))
        self.assertEqual(page.read_text(), timeline.read_text())
        self.assertIn("by_engine", page.read_text())

    def test_decks_of_one_name(self):
        paths = [self.folder / name / "d.yaml" for name in ("one", "two")]
        for path, count in zip(paths, (2, 4)):
            path.parent.mkdir()
            path.write_text(f"workload: {{kind: increment, elements: 4096}}\nchunks: {{count: {count}}}\n")
        done = run(*paths, "--quiet")
        self.assert_clean(done)
        names = {record["deck"] for record in records(done.stdout)["OVERLAP_FOM"]}
        self.assertEqual({re.sub("[0-9a-f]{7}$", "", name) for name in names}, {"d@"})
        self.assertEqual(len(names), 2)
        dry = run(*paths, "--dry-run").stdout
        self.assertEqual(set(re.findall("(?m)^deck (.*)$", dry)), names)
        self.assert_error(run(paths[0], paths[0]), 3, "d.yaml: found the name of .*d.yaml, which runs the same; allowed: each deck once")
        paths[1].write_text("title: other\n" + paths[0].read_text())
        self.assert_error(run(*paths), 3, "two/d.yaml: found the name of .*one/d.yaml, which runs the same; allowed: each deck once")

    def test_a_shipped_deck_with_its_suffix(self):
        done = run("rowsum.yaml", "--dry-run", cwd=self.folder)
        self.assert_error(done, 3, "'rowsum.yaml': no such deck; .*did you mean 'rowsum'")

    def test_a_dumb_terminal_gets_no_escapes(self):
        self.assertEqual(self.on_terminal("dumb"), b"")

    def test_bindings_that_put_all_lanes_on_one_core(self):
        openmp = "OpenMP" in run("--version").stdout
        for bad in ({"OMP_PROC_BIND": "spread"}, {"OMP_PLACES": "cores"}, {"GOMP_CPU_AFFINITY": "0"}):
            (name, value), = bad.items()
            done = run(self.deck(), "--quiet", env={**os.environ, **bad})
            if openmp:
                self.assert_error(done, 3, f"{name}: found '{value}'; allowed: .*false")
                bad["OMP_PROC_BIND"] = "false"
                done = run(self.deck(), "--quiet", env={**os.environ, **bad})
            self.assert_clean(done)

    def test_devices_that_do_not_exist(self):
        option, variable = "--kokkos-device-id", "KOKKOS_DEVICE_ID"
        for value in ("abc", "-1", "99999999999", ""):
            with self.subTest(value):
                rest = f": found '{value}'; allowed: the number of a device, counted from 0\n"
                self.assert_error(run(self.deck(), f"{option}={value}"), 3, f"error: {option}{rest}")
                done = run(self.deck(), env={**os.environ, variable: value})
                self.assert_error(done, 3, f"error: {variable}{rest}")
        self.assert_clean(run(self.deck(), f"{option}=0", "--quiet"))


class Interrupts(TestCase):
    def interrupted(self, *arguments, signals=(signal.SIGINT,)):
        """Runs for ever, until the signals."""
        target = self.folder / "out.json"
        process = start(self.deck(ENDLESS), *arguments, "--json", target)
        for line in process.stdout:
            if line.startswith("host memory"):
                break
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "it ended by itself")
        for number in signals:
            process.send_signal(number)
        try:
            stdout, stderr = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail("it goes on after the signal")
        return subprocess.CompletedProcess([], process.returncode, stdout, stderr)

    def test_the_end_of_the_terminal(self):
        """It stops the run unless nohup started it, whatever libraries of MPI do with the signal."""
        for ignored in (False, True):
            action = signal.SIG_IGN if ignored else signal.SIG_DFL  # nohup may run this test
            process = subprocess.Popen([MINIAPP, self.deck(ENDLESS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True, preexec_fn=lambda: signal.signal(signal.SIGHUP, action))  # noqa: B023
            for line in process.stdout:
                if line.startswith("host memory"):
                    break
            process.send_signal(signal.SIGHUP)
            if ignored:
                time.sleep(0.5)
                self.assertIsNone(process.poll())
                process.terminate()
            stdout, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130)
            self.assertRegex(stdout, r"OVERLAP_RESULT verdict=INTERRUPTED data=(OK|NONE) exit=130\n\Z")

    def assert_kept(self, others=0):
        """The result file has the complete repetitions, the same number of each order; and other decks, which did not
        run."""
        result = json.loads((self.folder / "out.json").read_text())
        self.assert_valid(result)
        if others:
            result, *rest = result["results"]
            self.assertEqual([(deck["verdict"], deck["exit_code"], all_of(deck, "runs")) for deck in rest],
                             [("INTERRUPTED", 130, [])] * others)
        self.assertEqual((result["verdict"], result["exit_code"]), ("INTERRUPTED", 130))
        samples = {len(run["samples_s"]) for run in all_of(result, "runs")}
        self.assertEqual(len(samples), 1)
        self.assertGreater(samples.pop(), 0)

    def test_ctrl_c(self):
        done = self.interrupted()
        self.assert_error(done, 130, "interrupted")
        self.assertTrue(done.stdout.endswith("OVERLAP_RESULT verdict=INTERRUPTED data=OK exit=130\n"), done.stdout)
        self.assert_kept()

    def test_before_the_first_repetition(self):
        done = self.interrupted("--set=measure.warmup=1000000")
        self.assert_error(done, 130, "interrupted before a repetition was complete")
        result = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((result["verdict"], result["exit_code"], all_of(result, "runs")), ("INTERRUPTED", 130, []))

    def test_twice_at_once(self):
        """As from timeout, which signals the process and its group. Two of one kind may arrive as one."""
        done = self.interrupted(signals=(signal.SIGTERM, signal.SIGINT))
        self.assert_error(done, 130, "interrupted")
        self.assert_kept()

    def test_signals_of_batch_systems(self):
        """They stop the run as SIGTERM does, however often they come before the end of a repetition."""
        text = ("workload: {kind: custom, tasks: [{name: K, stage: kernel, lane: 1, duration: 2 s}]}\n"
                "issue: {orders: [custom]}\nmeasure: {warmup: 0, repetitions: 1000}\n")
        for number in (signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU, signal.SIGHUP):
            with self.subTest(number.name):
                process = subprocess.Popen([MINIAPP, self.deck(text), "--json", self.folder / "out.json"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # nohup may run this
                for line in process.stdout:
                    if line.startswith("host memory"):
                        break
                time.sleep(2.5)  # until the second repetition
                for _ in range(3):
                    process.send_signal(number)
                    time.sleep(0.25)
                process.send_signal(signal.SIGTERM)  # the first of its kind
                stdout, stderr = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, stderr)
                self.assertTrue(stdout.endswith("OVERLAP_RESULT verdict=INTERRUPTED data=OK exit=130\n"), stdout)
                self.assert_kept()

    def test_again(self):
        """Ends it while a kernel of minutes runs."""
        text = "workload: {kind: increment, intensity: 100000, elements: 16 Mi}\n"
        process = start(self.deck(text), "--json", self.folder / "out.json")
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        for line in process.stdout:  # the heading ends when all is prepared
            if line.startswith("host memory"):
                break
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        self.assertIsNone(process.poll(), "no kernel ran")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 130)
        result = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((result["verdict"], result["error"]), ("ERROR", "did not finish"))

    def test_after_the_last_repetition(self):
        """While rates and timelines are measured; if the machine is slow, earlier."""
        text = ("workload: {kind: custom, tasks: [{name: K, stage: kernel, lane: 1, duration: 300 ms}]}\n"
                "measure: {warmup: 0, duration: 1 s}\n")
        process = start(self.deck(text), "--json", self.folder / "out.json")
        for line in process.stdout:
            if line.startswith("host memory"):
                break
        time.sleep(1.9)
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.wait(60), process.stdout.read().count("OVERLAP_RESULT")), (130, 1))
        self.assert_kept()

    def test_no_deck_runs_after_it(self):
        done = self.interrupted(self.deck(name="next.yaml"))
        self.assert_error(done, 130, "interrupted")
        self.assertEqual(done.stdout.count("OVERLAP_RESULT"), 1)
        self.assert_kept(others=1)


if __name__ == "__main__":
    unittest.main()
