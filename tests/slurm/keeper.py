#!/usr/bin/python3
"""keeper.py PID BED DIR: when process PID is gone, ends the bed in BED and removes DIR around it.

A test that ends by itself has done both by then; one that was killed has not. Returns at once and
goes on in the background, out of reach of whoever kills the test with all its children.
"""
import os
import pathlib
import select
import shutil
import subprocess
import sys

BED = pathlib.Path(__file__).resolve().parents[2] / "scripts/slurm-bed"


def main():
    _, pid, bed, directory = sys.argv
    test = os.pidfd_open(int(pid))  # before the first return: the number is still that of the test
    if os.fork():
        os._exit(0)
    os.setsid()
    select.select([test], [], [])
    if os.path.isdir(bed):
        subprocess.run([BED, "down", bed], check=False)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
