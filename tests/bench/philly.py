#!/usr/bin/python3
"""Philly at a part of its nodes, each virtual cluster alone: philly.py COX TRACES.

TRACES is the folder with philly/philly_jobs_sia.csv and philly/philly_vc_nodes.csv. For each virtual cluster: mean
JCT under the site file (default: the built-in site without a starvation bound) and under strict
FIFO, and their ratio. The last line is over all jobs.
"""
import argparse
import csv
import json
import math
import pathlib
import resource
import subprocess
import sys
import tempfile

SITE = """
region: here
cluster: philly
pools: [{name: main}]
scheduling: {starvationBoundSeconds: %d}
plugins:
  - {path: quota_tree.so, config: {missing_quota: {reserved: allow}}}
  - {path: priority_multifactor.so}
  - {path: node_policy.so}
  - {path: fault_tolerance.so}
"""


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cox")
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("--part", type=int, default=4)
    parser.add_argument("--bound", type=int, default=0, help="starvationBoundSeconds")
    parser.add_argument("--only")
    options = parser.parse_args()
    if not options.traces.is_dir():
        print(f"skipped: no traces at {options.traces}")
        return 77
    with open(options.traces / "philly" / "philly_vc_nodes.csv", encoding="utf-8") as file:
        nodes = {row["vc"]: int(row["node num"]) for row in csv.DictReader(file)}
    jobs, ours, fifo = 0, 0.0, 0.0
    print("vc      nodes  jobs   JCT h  FIFO h  ratio  alloc queued  FIFO  starved  CPU s")
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder) / "site.yaml"
        site.write_text(SITE % options.bound, encoding="utf-8")
        for vc, count in nodes.items():
            if options.only and vc != options.only:
                continue
            count = max(1, math.ceil(count / options.part))
            begun = cpu_seconds()
            done = subprocess.run(
                [options.cox, "simulate", options.traces / "philly" / "philly_jobs_sia.csv", "--tenant", vc, "--nodes",
                 f"{count}x8", "--config", site, "--baseline", "-o", "json"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
            mine, base = json.loads(done.stdout)["configurations"]
            n = mine["all"]["ended"]
            a, b = mine["all"]["jctSeconds"]["mean"], base["all"]["jctSeconds"]["mean"]
            jobs, ours, fifo = jobs + n, ours + n * a, fifo + n * b
            print(f"{vc}  {count:5} {n:6} {a / 3600:7.1f} {b / 3600:7.1f}  {a / b:5.3f}  {mine['allocationWhileQueued']:12.3f}"
                  f" {base['allocationWhileQueued']:5.3f} {mine['all']['starved']:8} {cpu_seconds() - begun:5.1f}",
                  flush=True)
            for c in (mine, base):
                if c["all"]["neverStarted"]:
                    print(f"        {c['name']}: {c['all']['neverStarted']} jobs never started")
    if jobs:
        print(f"all           {jobs:6} {ours / jobs / 3600:7.1f} {fifo / jobs / 3600:7.1f}  {ours / fifo:5.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
