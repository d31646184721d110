#!/usr/bin/env python3
"""cluster.sh gives back the exit code of its command and leaves nothing behind, however it ends."""

import os
import pathlib
import signal
import subprocess
import time
import unittest
import uuid

CLUSTER = pathlib.Path(__file__).with_name("cluster.sh")
# Where Slurm and MPI put files.
FOLDERS = [pathlib.Path(path) for path in ("/etc/slurm", "/run", "/dev/shm", "/usr/local/bin", "/tmp", "/var/log", "/var/spool")]


def names(folder):
    return set(os.listdir(folder)) if folder.is_dir() else set()


class Cluster(unittest.TestCase):
    def setUp(self):
        self.token = uuid.uuid4().hex  # of all processes of this test, and of no others
        self.before = self.state()
        self.addCleanup(self.assert_nothing_left)

    def state(self):
        mounts = pathlib.Path("/proc/self/mounts").read_text()
        return mounts, {folder: names(folder) for folder in FOLDERS}

    def processes(self):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.token in (path / "environ").read_text():
                    found.append((path / "cmdline").read_text().replace("\0", " "))
            except OSError:
                pass  # it has ended
        return found

    def assert_nothing_left(self):
        end = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(left, [])
        mounts, files = self.state()
        self.assertEqual(mounts, self.before[0])
        for folder in FOLDERS:  # others may use the machine, too
            ours = {name for name in files[folder] - self.before[1][folder] if "overlap" in name or "slurm" in name}
            self.assertEqual(ours, set(), folder)

    def start(self, command, **options):
        return subprocess.Popen([CLUSTER, "bash", "-euc", command], text=True, stdout=subprocess.PIPE,
                                env={**os.environ, "TOKEN": self.token, "MINIAPP": "/bin/true"}, **options)

    def test_gives_back_the_exit_code(self):
        cluster = self.start("srun --nodes=2 --ntasks=4 --gpus-per-task=1 sh -c 'echo $(hostname) $SLURM_LOCALID $SLURM_STEP_GPUS'"
                             "; exit 7", stderr=subprocess.PIPE)
        output, _ = cluster.communicate(timeout=60)
        self.assertEqual(cluster.returncode, 7)
        self.assertEqual(sorted(output.splitlines()), ["n1 0 0", "n1 1 1", "n2 0 0", "n2 1 1"])

    def test_can_be_killed(self):
        cluster = self.start("srun --nodes=2 sh -c 'echo started; sleep 1000'")
        self.assertEqual(cluster.stdout.readline(), "started\n")
        self.assertGreater(len(self.processes()), 5)  # else the search itself is broken
        cluster.send_signal(signal.SIGKILL)
        cluster.wait(timeout=10)
        cluster.stdout.close()


if __name__ == "__main__":
    unittest.main()
