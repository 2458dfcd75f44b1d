#!/usr/bin/python3
"""What job_submit/cox costs slurmctld, beside a Slurm without it.

Two beds, submissions of three kinds in turn, so that what else the machine does meets all alike:
  plain    a Slurm without our plug-ins
  foreign  ours, a partition that is not managed
  managed  ours, a managed partition: the plug-in asks cox-slurm, which judges the job
The figure is slurmctld's own: sdiag's mean time of REQUEST_SUBMIT_BATCH_JOB over a batch, the
median over the rounds, and its ratio to plain. All jobs are submitted held; none runs.

usage: job_submit.py [ROUNDS [JOBS_A_BATCH]]     (COX_BUILD_DIR: the build to measure)
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "slurm"))
import bed  # noqa: E402
import live  # noqa: E402


class Ours(live.LiveTest):
    """The bed of the live tests, used without its tests."""


def mean_submit_us(run, partition, jobs):
    run("sdiag", "--reset")
    for _ in range(jobs):
        done = run("sbatch", "--hold", "-p", partition, "-n1", "--gres=gpu:h100:1", "-o", "/dev/null", "--wrap", "true")
        assert done.returncode == 0 and not done.stderr, done.stderr  # also: the daemon has answered in time
    shown = run("sdiag").stdout
    found = re.search(r"REQUEST_SUBMIT_BATCH_JOB.*count:(\d+)\s+ave_time:(\d+)", shown)
    assert found and int(found[1]) == jobs, shown
    return int(found[2])


def runner(conf):
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "HOME": "/tmp", "SLURM_CONF": conf}
    return lambda *command: subprocess.run(command, env=environment, cwd="/tmp", text=True, check=False,
                                           stdin=subprocess.DEVNULL, capture_output=True)


def main():
    rounds, jobs = (int(word) for word in (sys.argv[1:] + ["7", "40"][len(sys.argv) - 1:]))
    scratch = tempfile.mkdtemp(prefix="cox-bench-")
    os.chmod(scratch, 0o755)  # munged is another user
    subprocess.run([bed.ROOT / "scripts/slurm-bed", "up", f"{scratch}/bed", "--nodes", "4"], check=True,
                   stdout=subprocess.DEVNULL)
    try:
        Ours.setUpClass()
        plain = runner(f"{scratch}/bed/etc/slurm.conf")
        ours = runner(f"{Ours.dir}/bed/etc/slurm.conf")
        kinds = {"plain": (plain, "train"), "foreign": (ours, "foreign"), "managed": (ours, "train")}
        seen = {kind: [] for kind in kinds}
        for number in range(rounds):
            for kind, (run, partition) in kinds.items():
                seen[kind].append(mean_submit_us(run, partition, jobs))
            print(f"round {number + 1} of {rounds}: " + ", ".join(f"{k} {v[-1]} us" for k, v in seen.items()),
                  file=sys.stderr)
        base = statistics.median(seen["plain"])
        for kind, values in seen.items():
            median = statistics.median(values)
            print(f"{kind:8} median {median:7.0f} us  min {min(values):6} max {max(values):6}  "
                  f"ratio to plain {median / base:.2f}")
        waits = re.findall(r"accepted after (\d+) us", pathlib.Path(Ours.dir, "bed/log/slurmctld.log").read_text())
        print(f"of managed, waiting for the daemon's answer: median {statistics.median(map(int, waits)):.0f} us")
    finally:
        subprocess.run([bed.ROOT / "scripts/slurm-bed", "down", f"{scratch}/bed", "--purge"], check=False)
        Ours.doClassCleanups()


if __name__ == "__main__":
    main()
