"""What the tests on a real Slurm share: a private bed with our plug-ins, and a daemon to play.

The bed is scripts/slurm-bed. A test class that needs one derives from BedTest; the bed lives as
long as the class. The played daemon stands at the far end of the submit socket and answers what
the test tells it to, so that a test sees exactly what the plug-in asked and did with the answer.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("COX_BUILD_DIR", ROOT / "build/dev")).resolve()
SPANK = BUILD / "adapters/slurm/spank/spank_cox.so"
JOB_SUBMIT = BUILD / "adapters/slurm/job_submit/job_submit_cox.so"
API_SUBMIT = BUILD / "tests/slurm/api_submit"
NOBODY = "nobody"


def end_with_the_test(bed, directory):
    """Whatever ends this process: the bed ends, too, and its directory goes."""
    subprocess.run([sys.executable, ROOT / "tests/slurm/keeper.py", str(os.getpid()), bed, directory], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def die_with_the_test():
    """To run in a child before its program: what a killed test would leave behind dies with it."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def accept(request, **more):
    """The plainest good answer."""
    return {"v": 1, "verdict": "accept", "admin_comment": f"cox:{request['job']['uuid']} queued", **more}


class PlayedDaemon:
    """Answers with what `reply` returns: a dict as one JSON line, bytes as they are, None never."""

    def __init__(self, path):
        self.path = path
        self.reply = accept
        self.change = None  # request -> answer to hold and release
        self.requests = []
        self.kept = []  # connections that never get an answer must stay open
        self.listener = None

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self.serve, args=(self.listener,), daemon=True).start()

    def stop(self):
        if self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            os.unlink(self.path)
        self.listener = None

    def serve(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection.makefile("rb") as file:
                request = json.loads(file.readline())
            if request["op"] != "submit":  # hold, release: no answer, unless a test has one
                if self.change:
                    connection.sendall(json.dumps(self.change(request)).encode() + b"\n")
                connection.close()
                continue
            self.requests.append(request)
            answer = self.reply(request)
            if answer is None:
                self.kept.append(connection)
                continue
            line = answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n"
            try:
                connection.sendall(line)
            except OSError:
                pass  # the plug-in had enough
            connection.close()


class Run:
    """A finished command."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        found = re.search(r"Submitted batch job (\d+)", self.out)
        self.job = int(found[1]) if found else None


class BedTest(unittest.TestCase):
    nodes = 3
    slurm_conf = ()  # more lines for slurm.conf
    bed_options = ()

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="cox-bed-", dir="/tmp")
        end_with_the_test(f"{cls.dir}/bed", cls.dir)
        os.chmod(cls.dir, 0o755)
        cls.cwd = f"{cls.dir}/out"
        os.mkdir(cls.cwd)
        os.chmod(cls.cwd, 0o1777)
        # Why copies: all users' commands read the folders of both, and a clone below /root is private.
        for plugin in (SPANK, JOB_SUBMIT):
            shutil.copy(plugin, cls.dir)
        cls.daemon = PlayedDaemon(f"{cls.dir}/submit.sock")
        cls.cox_conf = f"{cls.dir}/bed/etc/cox.conf"
        conf = pathlib.Path(cls.dir, "cox.conf")
        # Why a second: on a busy machine the played daemon needs more than the plug-in's own 100 ms.
        conf.write_text(f"Socket={cls.daemon.path}\nPartitions=train  # foreign is not ours\nTimeoutMs=1000\n")
        command = [ROOT / "scripts/slurm-bed", "up", f"{cls.dir}/bed", "--nodes", str(cls.nodes),
                   "--job-submit", f"{cls.dir}/{JOB_SUBMIT.name}", "--spank", f"{cls.dir}/{SPANK.name}", "--etc", conf,
                   *cls.bed_options]
        for line in cls.slurm_conf:
            command += ["--conf", line]
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.addClassCleanup(subprocess.run, [ROOT / "scripts/slurm-bed", "down", f"{cls.dir}/bed", "--purge"],
                            check=True)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, preexec_fn=die_with_the_test)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.stop)

    def setUp(self):
        self.daemon.reply = accept
        self.daemon.change = None
        self.daemon.requests.clear()
        if not self.daemon.listener:
            self.daemon.start()

    # --- commands ---

    def run_as(self, user, *command, env=None):
        prefix = ["runuser", "-u", user, "--"] if user and os.geteuid() == 0 else []
        environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "HOME": "/tmp",
                       "SLURM_CONF": f"{self.dir}/bed/etc/slurm.conf", **(env or {})}
        return Run(subprocess.run([*prefix, *map(str, command)], env=environment, cwd=self.cwd, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False))

    def root(self, *command, env=None):
        return self.run_as(None, *command, env=env)

    def user(self, *command, env=None):
        return self.run_as(NOBODY, *command, env=env)

    def sbatch(self, *arguments, script="true", user=NOBODY, env=None):
        return self.run_as(user, "sbatch", *arguments, "--wrap", script, env=env)

    # --- looking ---

    def job(self, job_id):
        """The job as scontrol shows it: {"Priority": "0", ...}."""
        shown = self.root("scontrol", "show", "job", job_id).out
        fields = {}
        for line in shown.splitlines():
            key, _, value = line.strip().partition("=")
            fields[key] = value if key in ("AdminComment", "Comment", "Command") else value.split(" ")[0]
            for more in line.strip().split(" ")[1:]:
                key, equals, value = more.partition("=")
                if equals:
                    fields.setdefault(key, value)
        return fields

    def controller_log(self):
        return pathlib.Path(self.dir, "bed/log/slurmctld.log").read_text()

    def until(self, seen, what, patience_s=60):
        """Waits for an outcome of Slurm's own threads; there is no event to wait for."""
        deadline = time.monotonic() + patience_s
        while not seen():
            if time.monotonic() > deadline:
                self.fail(f"not within {patience_s} s: {what}")
            time.sleep(0.02)

    def output_of(self, job_id):
        """Releases the job as the daemon would, and returns what its script wrote."""
        self.root("scontrol", "release", job_id)
        self.until(lambda: self.job(job_id).get("JobState") in ("COMPLETED", "FAILED", "CANCELLED"),
                   f"job {job_id} ends")
        return pathlib.Path(self.cwd, f"slurm-{job_id}.out").read_text()

    def assert_held_and_marked(self, job_id, word="queued"):
        job = self.job(job_id)
        self.assertEqual((job["JobState"], job["Priority"], job["Requeue"]), ("PENDING", "0", "1"))
        self.assertRegex(job["AdminComment"], rf"^cox:[0-9a-f-]{{36}} {word}")
        return job


def environment(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def percent(value):
    return urllib.parse.quote(value, safe="-_.")
