"""A bed's own world: process, network and mount namespaces, and the process that ends them.

The keeper stands outside and holds a lock on DIR/lock; its grandchild is process 1 of the bed. When
that one ends, the kernel ends every process of the bed, its network and its mounts: nothing has to
be found. The keeper then removes DIR. It ends the bed on SIGTERM, and when its owner ends.

    keeper.py keep DIR OWNER   (OWNER: a process id, or 0; up starts it)
    keeper.py first            (process 1)
"""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

ADDRESS = "10.99.0.1"  # the API server does not take loopback for its own address
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
GONE_S = 20
FLOCK = "hhqqi4x"  # struct flock of fcntl(2)
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


class BedError(Exception):
    """The caller can act on it; printed without a traceback."""


# --- looking from outside ------------------------------------------------------------------------


def holder(directory):
    """The process id of the bed's keeper; 0 when none runs. The kernel says it, no file has to be
    believed."""
    try:
        with open(f"{directory}/lock", "r+", encoding="ascii") as lock:
            asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(lock, fcntl.F_GETLK, asked))
            return pid if kind != fcntl.F_UNLCK else 0
    except FileNotFoundError:
        return 0


def child(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])
    except (OSError, IndexError):
        return 0


def first(directory):
    """The process id, out here, of the bed's process 1."""
    keeper = holder(directory)
    found = child(child(keeper)) if keeper else 0
    if not found:
        raise BedError(f"{directory}: no bed runs here, start one with: tests/k8s/bed/up {directory}")
    return found


@contextlib.contextmanager
def inside_network(directory):
    """A socket that this thread opens meanwhile belongs to the bed's network, and stays there."""
    with open("/proc/thread-self/ns/net", "rb") as own, open(f"/proc/{first(directory)}/ns/net", "rb") as bed:
        enter(bed)
        try:
            yield
        finally:
            enter(own)


def enter(namespace):
    if LIBC.setns(namespace.fileno(), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {namespace.name}")


def command_inside(directory, *command):
    """The command as a process of the bed: it ends with it."""
    # Why not `ip netns exec`: it remounts /sys, and the control groups are gone.
    return ["nsenter", f"--target={first(directory)}", "--net", "--mount", "--pid", "--", *command]


# --- starting and ending -------------------------------------------------------------------------


def start(directory, owner):
    os.makedirs(f"{directory}/log", exist_ok=True)
    with open(f"{directory}/log/keeper.log", "ab") as log:
        process = subprocess.Popen([sys.executable, "-B", __file__, "keep", directory, str(owner)], cwd="/",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                   start_new_session=True)
    if process.stdout.readline() != b"ready\n":  # or nothing, when it ended
        raise BedError(f"{directory}: no namespaces for the bed, see log/keeper.log; it needs root")


def end(directory):
    """Ends the bed, and removes DIR, whoever was killed before."""
    if pid := holder(directory):
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            # Why again: before the handle was there the number may have passed to another process.
            if holder(directory) == pid:
                signal.pidfd_send_signal(handle, signal.SIGTERM)
                if not select.select([handle], [], [], GONE_S)[0]:
                    raise BedError(f"{directory}: keeper {pid} does not end, see log/keeper.log")
    clean(directory)


def clean(directory):
    """Only called when no process of the bed lives; its mounts went with them."""
    if not os.path.exists(f"{directory}/lock"):
        return
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    if f" {directory}/" in mounts:
        raise BedError(f"{directory}: something is mounted in it, it stays: see /proc/self/mountinfo")
    shutil.rmtree(directory, ignore_errors=True)


# --- the two processes ---------------------------------------------------------------------------


def keep(directory, owner):
    watched = [os.pidfd_open(int(owner))] if int(owner) else []
    lock = open(f"{directory}/lock", "w", encoding="ascii")
    fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    ends_r, ends_w = os.pipe()
    os.set_blocking(ends_w, False)
    signal.set_wakeup_fd(ends_w)
    signal.signal(signal.SIGTERM, lambda *_: None)
    world = subprocess.Popen(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                              sys.executable, "-B", __file__, "first"], preexec_fn=die_with_parent)
    sys.stdout.close()
    os.close(1)  # no reader of "ready" waits for what never comes
    world_fd = os.pidfd_open(world.pid)
    select.select([world_fd, ends_r, *watched], [], [])
    one = child(world.pid)
    if one:
        handle = os.pidfd_open(one)
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [])  # process 1 is gone after all the others
    world.wait()
    clean(directory)


def die_with_parent():
    pr_set_pdeathsig = 1
    LIBC.prctl(pr_set_pdeathsig, signal.SIGKILL)


def be_first():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for command in (["mount", "--make-rshared", "/"], ["ip", "link", "set", "lo", "up"],
                    ["ip", "address", "add", f"{ADDRESS}/32", "dev", "lo"]):
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    os.write(1, b"ready\n")
    os.close(1)
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        signal.sigwait({signal.SIGCHLD})


if __name__ == "__main__":
    os.environ["PATH"] = SYSTEM_PATH
    if sys.argv[1] == "keep":
        keep(*sys.argv[2:])
    else:
        be_first()
