"""A bed with everything real: slurmctld, slurmd, both plug-ins, and cox-slurm with its own plugins.

Nodes n1 and n2 have eight H100 each, n3 and n4 eight A100 each. Root is of project nlp, nobody of
project vision, which may use eight H100.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import bed

COX_SLURM = bed.BUILD / "bin/cox-slurm"
SITE = """
region: lab-region
cluster: lab
org: example
flavors:
- {{name: h100.1g, gpuType: h100, gpus: 1, cpus: 4, memory: 16Gi}}
- {{name: a100.1g, gpuType: a100, gpus: 1, cpus: 4, memory: 16Gi}}
- {{name: cpu.2c, class: CPU, cpus: 2, memory: 2Gi}}
pools:
- {{name: train, partition: train}}
quotas:
- {{tenant: lab, pool: train, flavor: h100.1g, units: 16}}
- {{tenant: lab, pool: train, flavor: a100.1g, units: 16}}
- {{tenant: lab, pool: train, flavor: cpu.2c, units: 256}}
- {{user: nobody, pool: train, flavor: h100.1g, units: 8}}
users:
- {{name: root, tenant: lab, projects: [nlp], admin: true}}
- {{name: nobody, tenant: lab, projects: [vision]}}
defaults:
  startTimeoutSeconds: 60
plugins:
- {{path: quota_tree.so}}
- {{path: priority_multifactor.so}}
- {{path: node_policy.so}}
- {{path: fault_tolerance.so, config: {{backoff_base_s: 1}}}}
slurm:
  slurmConf: {dir}/bed/etc/slurm.conf
  submitSocket: {dir}/submit.sock
  controlSocket: {dir}/cox.sock
  stateDir: {dir}/state
  pluginDir: {plugins}
  pollMs: 100
  verifyMs: 6000
"""


class LiveTest(bed.BedTest):
    nodes = 4
    daemon_options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon.stop()
        cls.site = pathlib.Path(cls.dir, "site.yaml")
        cls.site.write_text(SITE.format(dir=cls.dir, plugins=bed.BUILD / "plugins"))
        cls.process = None
        cls.start_daemon()
        cls.addClassCleanup(cls.stop_daemon)

    def setUp(self):  # not the played daemon's
        if self.process.poll() is not None:
            self.start_daemon()

    def tearDown(self):
        if self.process.poll() is not None:
            self.start_daemon()
        for user in ("root", bed.NOBODY):
            self.root("scancel", "--user", user)
        self.until(lambda: self.root("squeue", "-h").out == "", "the queue is empty")
        # Its ledger, too: the next test must find all quota free.
        self.until(lambda: not self.live_tasks(), "no task is left")

    @classmethod
    def start_daemon(cls):
        log = open(f"{cls.dir}/cox-slurm.log", "a", encoding="utf-8")
        cls.process = subprocess.Popen([COX_SLURM, "--config", cls.site, "--foreground", *cls.daemon_options], stderr=log,
                                       stdout=log, stdin=subprocess.DEVNULL,
                                       preexec_fn=bed.die_with_the_test)
        log.close()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):
                health = cls.ask("health")
                if health["ok"] and not health["result"]["not_ready"]:
                    return
            if cls.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError("cox-slurm does not serve:\n" + cls.daemon_log())

    @classmethod
    def stop_daemon(cls, number=signal.SIGTERM):
        cls.process.send_signal(number)
        return cls.process.wait(30)

    @classmethod
    def daemon_log(cls):
        return pathlib.Path(cls.dir, "cox-slurm.log").read_text()

    @classmethod
    def ask(cls, verb, **args):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(f"{cls.dir}/cox.sock")
            client.sendall(json.dumps({"verb": verb, "args": args}).encode() + b"\n")
            with client.makefile("rb") as file:
                return json.loads(file.readline())

    def task(self, job_id):
        """The framework's record of the job; {} until it has taken it up."""
        reply = self.ask("describe", job=str(job_id))
        return reply["result"] if reply["ok"] else {}

    def live_tasks(self):
        ended = ("Succeeded", "Failed", "Stopped")
        return [job for job in self.ask("list")["result"]["jobs"] if job["state"] not in ended]

    def until(self, seen, what, patience_s=90):
        try:
            super().until(seen, what, patience_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\ncox-slurm says:\n{self.daemon_log()[-3000:]}") from None

    # --- jobs ---

    def gate(self):
        """A line of script that waits, and what lets it go on: a job lives until it has been looked at, however
        slow the machine is."""
        file = pathlib.Path(self.cwd, f"gate-{time.monotonic_ns()}")
        return f"while [ ! -e {file} ]; do sleep 0.1; done\n", file.touch

    def submit(self, script, *arguments, user=None):
        """A batch script of its own text; its output is CWD/<job>.out. Returns the job's id."""
        done = self.try_submit(script, *arguments, user=user)
        self.assertIsNotNone(done.job, done.err)
        return done.job

    def try_submit(self, script, *arguments, user=None):
        file = pathlib.Path(self.cwd, f"script-{time.monotonic_ns()}.sh")
        file.write_text("#!/bin/bash\n" + script)
        file.chmod(0o755)
        return self.run_as(user, "sbatch", "-p", "train", "-o", f"{self.cwd}/%j.out", *arguments, file)

    def foreign(self, *arguments, script="sleep 600"):
        done = self.sbatch("-p", "foreign", "-o", "/dev/null", *arguments, script=script, user=None)
        self.assertIsNotNone(done.job, done.err)
        self.wait_state(done.job, "RUNNING")
        return done.job

    def output(self, job_id):
        file = pathlib.Path(self.cwd, f"{job_id}.out")
        return file.read_text() if file.exists() else ""

    def wait_state(self, job_id, *states):
        self.until(lambda: self.job(job_id).get("JobState") in states,
                   f"job {job_id} becomes {' or '.join(states)}; it is {self.job(job_id)}")

    def wait_task(self, job_id, *states):
        self.until(lambda: self.task(job_id).get("state") in states,
                   f"task of job {job_id} becomes {' or '.join(states)}; it is {self.task(job_id)}")
        return self.task(job_id)

    def wait_comment(self, job_id, text):
        self.until(lambda: text in self.job(job_id).get("AdminComment", ""),
                   f"{text!r} in the comment of job {job_id}: {self.job(job_id)}")

    def wait_output(self, job_id, text):
        self.until(lambda: text in self.output(job_id), f"{text!r} in {self.output(job_id)!r}")


def lines(text, pattern):
    return sorted(line for line in text.splitlines() if re.search(pattern, line))
