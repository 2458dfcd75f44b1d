"""The smallest distributed training job: every process adds its rank + 1, all must see the sum.

Started by torchrun, which sets RANK, WORLD_SIZE (of processes), LOCAL_RANK, MASTER_ADDR and
MASTER_PORT for each process. Needs no GPU: the gloo backend runs over TCP.
"""

import os
import socket

import torch
import torch.distributed as dist


def main():
    # gloo names itself after the host's interface; a laptop's host name may resolve to nothing.
    if os.environ["MASTER_ADDR"] in ("127.0.0.1", "localhost"):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()

    total = torch.tensor([rank + 1])
    dist.all_reduce(total)
    expected = size * (size + 1) // 2
    verdict = "correct" if total.item() == expected else f"WRONG, expected {expected}"
    line = f"rank {rank} of {size} on {socket.gethostname()}: all_reduce sum {total.item()} ({verdict})"
    print(line + "\n", end="", flush=True)  # in one piece: all processes write into one file
    dist.destroy_process_group()
    raise SystemExit(total.item() != expected)


if __name__ == "__main__":
    main()
