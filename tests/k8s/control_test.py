#!/usr/bin/python3
"""The bed itself: a real API server with nodes that kwok plays comes up, works, and leaves nothing."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BED = pathlib.Path(__file__).resolve().parent / "bed"
sys.path.insert(0, str(BED))

import keeper
from api import Api, Refused


def run(program, *arguments):
    return subprocess.run([BED / program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "coxswain", "containers": [{"name": "main", "image": "none"}], **spec}}


def processes_of(directory):
    """Whose command line or working folder names it."""
    found = []
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (proc / "cmdline").read_bytes().decode(errors="replace")
            if directory in words or os.readlink(proc / "cwd").startswith(directory):
                found.append(words.replace("\0", " "))
        except OSError:
            pass  # it has just ended
    return found


def wait_until(what, ready, patience_s=30):
    deadline = time.monotonic() + patience_s
    while not ready():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {patience_s} s")
        time.sleep(0.05)


class Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = os.path.realpath(tempfile.mkdtemp(prefix="cox-k8s-"))
        done = run("up", "--control", "--nodes=3", f"--owner={os.getpid()}", cls.dir)
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.api = Api(f"{cls.dir}/pki", cls.dir)

    @classmethod
    def tearDownClass(cls):
        cls.api.close()
        run("down", cls.dir)

    def phase(self, name):
        return self.api.get(f"/api/v1/namespaces/default/pods/{name}")["status"]["phase"]

    def make(self, name):
        self.api.post("/api/v1/namespaces/default/pods", pod(name))

    def bind(self, name, node):
        self.api.post(f"/api/v1/namespaces/default/pods/{name}/binding",
                      {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                       "target": {"apiVersion": "v1", "kind": "Node", "name": node}})

    def test_its_nodes_are_ready_and_have_gpus(self):
        nodes = {n["metadata"]["name"]: n["status"]["allocatable"] for n in self.api.get("/api/v1/nodes")["items"]}
        self.assertEqual(sorted(nodes), ["n1", "n2", "n3"])
        self.assertEqual({has["nvidia.com/gpu"] for has in nodes.values()}, {"8"})

    def test_a_pod_of_our_scheduler_waits_until_it_is_bound(self):
        self.make("waits")
        self.assertEqual(self.phase("waits"), "Pending")
        self.bind("waits", "n2")
        wait_until("Running", lambda: self.phase("waits") == "Running")

    def test_a_second_binding_is_a_conflict(self):
        self.make("twice")
        self.bind("twice", "n1")
        with self.assertRaises(Refused) as refused:
            self.bind("twice", "n2")
        self.assertEqual(refused.exception.code, 409)

    def test_kubectl_of_the_same_version_sees_it(self):
        done = run("enter", self.dir, "kubectl", "version", "-o", "json")
        self.assertEqual(done.stdout.count('"gitVersion": "v1.34.4"'), 2, done.stdout + done.stderr)

    def test_a_folder_where_one_runs_is_refused_with_the_remedy(self):
        done = run("up", self.dir)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"end it with: tests/k8s/bed/down {self.dir}", done.stderr)


class End(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="cox-k8s-"))

    def expect_nothing_left(self):
        self.assertFalse(os.path.exists(self.dir))
        self.assertEqual(processes_of(self.dir), [])
        self.assertNotIn(self.dir, pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8"))

    def test_down_leaves_nothing(self):
        self.assertEqual(run("up", "--nodes=1", self.dir).returncode, 0)
        self.assertEqual(run("down", self.dir).returncode, 0)
        self.expect_nothing_left()
        self.assertEqual(run("down", self.dir).returncode, 0)

    def test_it_ends_with_its_owner(self):
        owner = subprocess.Popen(["sleep", "infinity"])
        self.assertEqual(run("up", "--nodes=1", f"--owner={owner.pid}", self.dir).returncode, 0)
        owner.kill()
        owner.wait()
        wait_until("the bed's end", lambda: not processes_of(self.dir))
        self.expect_nothing_left()

    def test_no_process_survives_a_killed_keeper_and_the_folder_serves_again(self):
        self.assertEqual(run("up", "--nodes=1", self.dir).returncode, 0)
        os.kill(keeper.holder(self.dir), signal.SIGKILL)
        wait_until("the end of its processes", lambda: not processes_of(self.dir))
        self.assertEqual(run("up", "--nodes=1", self.dir).returncode, 0)
        self.assertEqual(run("down", self.dir).returncode, 0)
        self.expect_nothing_left()


if __name__ == "__main__":
    unittest.main()
