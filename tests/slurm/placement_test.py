"""Where and when a job of a real Slurm starts, and what its owner reads meanwhile, rule by rule.

Each node has an address of its own here, as on a real cluster.
"""
import unittest

import bed
import live

# Rank 0 listens at MASTER_ADDR:MASTER_PORT; every rank, also the 0th, must reach it there.
MEET = r"""meet="$SLURM_SUBMIT_DIR/meet-$SLURM_JOB_ID.py"
cat > "$meet" <<'end'
import os, socket, sys, threading, time
address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
def listen():
    server = socket.create_server(address)
    for _ in range(size):
        server.accept()[0].sendall(b"met")
if rank == 0:
    threading.Thread(target=listen).start()
for attempt in range(200):
    try:
        with socket.create_connection(address, timeout=20) as line:
            print(f"{os.environ['SLURMD_NODENAME']} rank {rank} of {size} {line.recv(3).decode()} at {address[0]}")
            sys.exit()
    except ConnectionRefusedError:
        time.sleep(0.1)
end
srun --ntasks-per-node=1 /usr/bin/python3 "$meet"
"""


class Placement(live.LiveTest):
    bed_options = ("--own-addresses",)

    def nodes_of(self, job):
        self.wait_state(job, "RUNNING")
        return self.job(job)["NodeList"]

    # --- S60: MASTER_ADDR ---

    def test_every_rank_reaches_rank_0_at_master_addr(self):
        for first, nodes in ((1, "n1,n2"), (2, "n2,n3")):
            with self.subTest(nodes):
                job = self.submit(MEET, "-N2", "--cox-flavors=cpu.2c:1", f"--cox-node-in={nodes}", user=bed.NOBODY)
                self.wait_task(job, "Succeeded")
                self.assertEqual(live.lines(self.output(job), "rank"), [
                    f"n{first + rank} rank {rank} of 2 met at 127.0.0.{first}" for rank in (0, 1)])

    # --- S31: idle jobs ---

    def test_an_idle_job_may_ask_for_neither_priority_nor_guarantee(self):
        for option in ("--cox-guarantee", "--cox-priority=high"):
            done = self.try_submit("true", "--gres=gpu:h100:1", "--cox-capacity-type=idle", option)
            self.assertNotEqual(done.code, 0)
            self.assertIn("S31", done.err)
        done = self.try_submit("true", "--gres=gpu:h100:1", "--cox-capacity-type=idle")
        self.assertEqual(done.code, 0, done.err)

    # --- S38: the order of flavors ---

    def test_the_first_flavor_is_taken_even_where_another_is_emptier(self):
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:4")
        for flavors, nodes in (("h100.1g:4,a100.1g:4", "n[1-2]"), ("a100.1g:4,h100.1g:4", "n[3-4]")):
            job = self.submit("sleep 600", "-N2", f"--cox-flavors={flavors}")
            self.assertEqual(self.nodes_of(job), nodes)
            self.root("scancel", job)
            self.wait_task(job, "Stopped")

    def test_a_gang_is_never_of_two_flavors(self):
        self.foreign("-w", "n1", "--gres=gpu:8")  # one of the first choice is left, and both of the second
        job = self.submit("sleep 600", "-N2", "--cox-flavors=h100.1g:8,a100.1g:8")
        self.assertEqual(self.nodes_of(job), "n[3-4]")

    # --- S71, S73: pinned to nodes ---

    def test_a_pinned_job_waits_for_its_node_and_lands_only_there(self):
        holder = self.foreign("-w", "n1", "--gres=gpu:8")
        job = self.submit("sleep 600", "--gres=gpu:h100:8", "--cox-node-in=n1")
        self.wait_comment(job, "among its own NodeIn n1; best n1: ")  # n2 is free, but not asked for
        self.root("scancel", holder)
        self.assertEqual(self.nodes_of(job), "n1")

    # --- S80: blocked ---

    def test_only_a_job_that_a_block_alone_holds_back_says_so(self):
        blocked = "quota check failed due to node blacklist: n1,n2"
        job = self.submit("true", "--gres=gpu:h100:1", "--cox-node-not-in=n1,n2", "--cox-node-ttl=600")
        self.wait_comment(job, blocked)
        self.assertIn(blocked, self.root("squeue", "-h", "-j", job, "-O", "admin_comment:400").out)
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        full = self.submit("true", "--gres=gpu:h100:1", "--cox-node-not-in=n1", "--cox-node-ttl=600")
        self.wait_comment(full, "Pending InsufficientResources")
        self.assertNotIn("blacklist", self.job(full)["AdminComment"])

    # --- S47: why it waits, and how many are before it ---

    def test_a_waiting_job_says_why_in_squeue_and_its_rank_in_describe(self):
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        low = self.submit("true", "--gres=gpu:h100:1", "--cox-priority=low")
        self.wait_comment(low, "Pending")
        high = self.submit("true", "--gres=gpu:h100:1", "--cox-priority=high")
        for job in (low, high):
            self.wait_comment(job, "Pending InsufficientResources: ")
            self.assertIn("Pending InsufficientResources: ",
                          self.root("squeue", "-h", "-j", job, "-O", "admin_comment:400").out)

        def queue(job):
            return self.task(job)["explanation"].get("queue") or {}
        self.until(lambda: queue(low).get("ahead_in_pool") == {"high": 1, "medium": 0, "low": 0}, "one is before it")
        self.assertEqual([queue(job)["rank_in_pool"] for job in (high, low)], [0, 1])


if __name__ == "__main__":
    unittest.main()
