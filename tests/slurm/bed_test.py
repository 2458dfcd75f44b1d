#!/usr/bin/python3
"""Private Slurm beds: they run jobs, run side by side, come back after a crash, and leave nothing."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from bed import end_with_the_test

TESTS = pathlib.Path(__file__).resolve().parent
BED = TESTS.parents[1] / "scripts/slurm-bed"
ONE_BED = """
import sys, bed
class One(bed.BedTest): nodes = 1
One.setUpClass()
print(One.dir, flush=True)
sys.stdin.read()
"""
BOTH_NODES = ["srun", "-N2", "-n2", "--gres=gpu:8", "bash", "-c", "echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES"]


def bed(*arguments, check=True):
    done = subprocess.run([BED, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"slurm-bed {' '.join(arguments)}: {done.stderr}")
    return done


class Bed(unittest.TestCase):
    def setUp(self):
        self.dirs = []

    def tearDown(self):
        for directory in self.dirs:
            bed("down", directory, "--purge")

    def up(self, *options, directory=None):
        if directory is None:
            directory = tempfile.mkdtemp(prefix="bed-", dir="/tmp")
            self.dirs.append(directory)
            end_with_the_test(directory, directory)
        self.conf = bed("up", directory, *options).stdout.strip()
        return directory

    def slurm(self, *command, directory=None):
        env = {**os.environ, "SLURM_CONF": f"{directory or self.dirs[-1]}/etc/slurm.conf"}
        return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, check=False).stdout.strip()

    def processes(self, directory):
        """[(pid, program, node)]"""
        lines = bed("processes", directory).stdout.splitlines()
        return [(int(pid), program, node) for pid, program, node in (line.split(" ") for line in lines)]

    def wait_for(self, what, directory, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}: {self.slurm('squeue', directory=directory)}")
            time.sleep(0.05)

    def submit_sleepers(self, directory, nodes):
        self.slurm("sbatch", f"-N{nodes}", f"-n{nodes}", "-o", "/dev/null", "--wrap", "srun sleep 1000",
                   directory=directory)
        self.wait_for("both tasks run", directory, lambda: sum(
            b"sleep\0001000" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            for pid, program, _ in self.processes(directory) if program == "job" and os.path.exists(f"/proc/{pid}"))
            >= nodes)

    def test_two_beds_run_jobs_side_by_side_and_leave_nothing(self):
        first, second = self.up("--nodes", "2"), self.up("--nodes", "2", "--gpu-types", "h100")
        expected = ["n1 0,1,2,3,4,5,6,7", "n2 0,1,2,3,4,5,6,7"]
        for directory in (first, second):
            self.assertEqual(sorted(self.slurm(*BOTH_NODES, directory=directory).splitlines()), expected)
            self.submit_sleepers(directory, 2)
        pids = [pid for directory in (first, second) for pid, _, _ in self.processes(directory)]
        bed("down", first, "--purge")
        self.assertEqual(sorted(self.slurm("sinfo", "-h", "-o", "%P", directory=second).split()), ["foreign", "train*"])
        bed("down", second, "--purge")
        for directory in (first, second):
            self.assertFalse(os.path.exists(directory))
            self.assertEqual(self.processes(directory), [])
        self.assertEqual([pid for pid in pids if self.alive(pid)], [])

    def test_a_killed_test_takes_its_bed_along(self):
        with subprocess.Popen([sys.executable, "-c", ONE_BED], cwd=TESTS, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as test:
            directory = test.stdout.readline().strip()
            pids = [pid for pid, _, _ in self.processes(f"{directory}/bed")]
            self.assertGreater(len(pids), 2)
            test.kill()
        deadline = time.monotonic() + 60
        while os.path.exists(directory):
            self.assertLess(time.monotonic(), deadline, f"{directory} stays")
            time.sleep(0.05)
        self.assertEqual([pid for pid in pids if self.alive(pid)], [])

    def alive(self, pid):
        try:
            return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return False

    def test_nodes_have_gpus_of_the_types_asked_for(self):
        self.up("--nodes", "3", "--gpu-types", "h100,h100,l40s")
        listed = self.slurm("sinfo", "-h", "-N", "-p", "train", "-o", "%N %G").splitlines()
        self.assertEqual(listed, ["n1 gpu:h100:8", "n2 gpu:h100:8", "n3 gpu:l40s:8"])

    def test_a_crashed_bed_comes_up_again_with_its_jobs(self):
        directory = self.up("--nodes", "2")
        self.slurm("sbatch", "-H", "-o", "/dev/null", "--job-name=kept", "--wrap", "true")
        bed("restart-ctld", directory)  # a clean stop saves the state
        for pid, program, node in self.processes(directory):
            if program in ("munged", "slurmctld") or node == "n1":
                os.kill(pid, signal.SIGKILL)
        self.up("--nodes", "2", directory=directory)
        self.assertEqual(self.slurm("squeue", "-h", "-o", "%j %r"), "kept JobHeldUser")
        self.assertEqual(len(self.slurm(*BOTH_NODES).splitlines()), 2)

    def test_the_controller_restarts_and_takes_jobs_at_once(self):
        directory = self.up("--nodes", "2")
        # Why the crash first: with it Slurm forgets what it did in its last seconds, and would take
        # a job that has just ended for a running one.
        for how in (["--crash"], []):
            bed("restart-ctld", directory, *how)
            self.assertEqual(len(self.slurm(*BOTH_NODES).splitlines()), 2)

    def test_a_power_cut_ends_the_node_with_its_jobs_and_no_other(self):
        directory = self.up("--nodes", "2")
        self.submit_sleepers(directory, 2)
        bed("kill-slurmd", directory, "n2", "--power-cut")
        nodes = {node for _, _, node in self.processes(directory)}
        self.assertEqual(nodes, {"", "n1"})
        bed("start-slurmd", directory, "n2")
        self.assertIn("n2", {node for _, _, node in self.processes(directory)})

    def test_without_a_power_cut_the_jobs_of_a_killed_slurmd_go_on(self):
        directory = self.up("--nodes", "2")
        self.submit_sleepers(directory, 2)
        bed("kill-slurmd", directory, "n2")
        programs = {program for _, program, node in self.processes(directory) if node == "n2"}
        self.assertEqual(programs, {"slurmstepd", "job"})

    def test_lines_for_slurm_conf_replace_the_beds_own(self):
        self.up("--nodes", "1", "--conf", "KillWait=7", "--conf", "PartitionName=extra Nodes=n1")
        self.assertIn("KillWait                = 7 sec", self.slurm("scontrol", "show", "config"))
        self.assertIn("extra", self.slurm("sinfo", "-h", "-o", "%P"))

    def test_what_cannot_work_is_refused_with_the_value_and_the_remedy(self):
        for arguments, said in ((("up", "/tmp/" + "x" * 80), "at most 64"),
                                (("up", "/tmp/no bed"), "use letters"),
                                (("kill-slurmd", "/tmp/no-bed", "n1"), "slurm-bed up /tmp/no-bed")):
            with self.subTest(arguments):
                done = bed(*arguments, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)
        directory = tempfile.mkdtemp(prefix="bed-", dir="/tmp")
        self.dirs.append(directory)
        done = bed("up", directory, "--spank", "/nowhere/spank.so", check=False)
        self.assertIn("--spank /nowhere/spank.so: there is no such file", done.stderr)
        os.makedirs(f"{directory}/etc", exist_ok=True)
        pathlib.Path(f"{directory}/etc/slurm.conf").touch()

    def test_a_directory_that_is_no_bed_is_not_purged(self):
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, "precious").touch()
            self.assertEqual(bed("down", directory, "--purge", check=False).returncode, 1)
            self.assertTrue(os.path.exists(f"{directory}/precious"))


if __name__ == "__main__":
    unittest.main()
