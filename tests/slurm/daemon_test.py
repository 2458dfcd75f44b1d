"""A job's whole way on a real Slurm with the real daemon: from sbatch to its end."""
import contextlib
import re
import signal
import socket
import unittest
import urllib.request

import bed
import live

REPORT = """srun --ntasks-per-node=1 bash -c 'echo "$SLURMD_NODENAME RANK=$RANK WORLD_SIZE=$WORLD_SIZE \
TASK_UUID=$TASK_UUID X_USER_NAME=$X_USER_NAME X_REGION=$X_REGION GPUS=$CUDA_VISIBLE_DEVICES"'
"""
TRAP = """trap 'echo saved; exit 0' TERM
echo up
sleep 600 & wait
"""


ONE = """
apiVersion: coxswain.io/v1alpha1
kind: TrainingJob
metadata: {{generateName: one-}}
spec:
  type: PyTorchJob
  command: "{command}"
  {more}
  scheduling:
    queue: train
    flavors: [{{name: h100.1g, count: 1}}]
  replicas: {{workers: 1}}
"""


class Daemon(live.LiveTest):

    # --- the thin thread ---

    def test_a_job_goes_through_every_layer(self):
        wait, let_go = self.gate()
        job = self.submit(REPORT + wait, "-N2", "--gres=gpu:h100:2", user=bed.NOBODY)
        self.wait_comment(job, "Running Started")
        shown = self.job(job)
        let_go()
        self.assertEqual(shown["NodeList"], "n[1-2]")
        self.assertEqual(shown["TRES"], "cpu=16,mem=64G,node=2,billing=16")  # 2 x 2 units of h100.1g
        task = self.wait_task(job, "Succeeded")
        uuid = re.match(r"cox:(\S+)", shown["AdminComment"])[1]
        self.assertEqual(live.lines(self.output(job), "RANK"), [
            f"n1 RANK=0 WORLD_SIZE=2 TASK_UUID={uuid} X_USER_NAME=nobody X_REGION=lab-region GPUS=0,1",
            f"n2 RANK=1 WORLD_SIZE=2 TASK_UUID={uuid} X_USER_NAME=nobody X_REGION=lab-region GPUS=0,1"])
        reasons = [event["reason"] for event in task["events"]]
        if "Ending" in reasons:  # only when the daemon looks while Slurm completes it
            reasons.remove("Ending")
        self.assertEqual(reasons, ["Queued", "Admitted", "Started", "Completed"])

    def test_the_submission_is_judged_in_the_users_words(self):
        for arguments, text in [
                (("--gres=gpu:b200:8",), "cox: no flavor of pool train makes up gpu:b200:8"),
                (("--gres=gpu:1", "--cox-flavors=h900.1g"), "\"h900.1g\" is not a flavor"),
                (("--gres=gpu:1", "--dependency=singleton"), "cox: --dependency=singleton"),
                (("--gres=gpu:1", "--exclusive"), "cox: --exclusive: cannot be used"),
                (("--gres=gpu:1", "-C", "gpu"), "cox: --constraint=gpu: cannot be used"),
                (("--gpus=2",), "cox: gres:gpu:2: GPUs are given per node"),
                (("--cox-flavors=h100.1g", "-c", "8"), "cox: --cpus-per-task=8 for 1 tasks a node: more than"),
                (("--cox-flavors=h100.1g", "--mem=32G"), "cox: --mem=32768M a node: more than"),
                (("--gres=gpu:1", "-N2", "-n3"), "cox: --ntasks=3: 2 nodes cannot have"),
                (("--gres=gpu:1", "--cox-capacity-type=idle", "--cox-priority=high"), "S31")]:
            done = self.try_submit("true", *arguments)
            self.assertNotEqual(done.code, 0)
            self.assertIn(text, done.err)

    def test_what_is_not_built_for_slurm_yet_is_refused_at_both_doors(self):
        yet = "is not supported by this Coxswain on Slurm yet"
        for option, field in (("--cox-type=ray", "spec.type: RayJob"), ("--cox-image=reg/x:1", "spec.image.ref"),
                              ("--cox-image-retries=2", "spec.image.pullPolicy.maxRetries"),
                              ("--cox-hang-silence=900", "spec.failurePolicy.hangDetection")):
            done = self.try_submit("true", "--gres=gpu:h100:1", option)
            self.assertNotEqual(done.code, 0, option)
            self.assertIn(f"cox: {field} (--cox-", done.err)
            self.assertIn(yet, done.err)
        for more in ("image: {ref: reg/x:1}", "ssh: {enabled: true}", "notifications: [{on: [Failed], email: a@b.c}]"):
            reply = self.ask("submit", text=ONE.format(command="true", more=more), file="job.yaml")
            self.assertFalse(reply["ok"], more)
            self.assertIn(yet, reply["text"])
            self.assertIn("spec." + more.split(":")[0], reply["text"])
        self.assertEqual(self.root("squeue", "-h").out, "")

    # --- when and where ---

    def test_a_gang_waits_until_all_of_it_fits(self):
        holder = self.foreign("-w", "n1", "--gres=gpu:1")
        job = self.submit(REPORT, "-N2", "--gres=gpu:h100:8")
        self.wait_comment(job, "Pending InsufficientResources")
        self.assertEqual(self.job(job)["JobState"], "PENDING")
        self.root("scancel", holder)
        self.wait_task(job, "Succeeded")
        self.assertEqual(len(live.lines(self.output(job), "RANK")), 2)

    def test_quota_refuses_what_can_never_be_and_queues_the_rest(self):
        done = self.try_submit("true", "-N2", "--gres=gpu:h100:8", user=bed.NOBODY)
        self.assertIn("cox: ", done.err)
        self.assertNotEqual(done.code, 0)
        first = self.submit(TRAP, "--gres=gpu:h100:8", user=bed.NOBODY)
        self.wait_task(first, "Running")
        second = self.submit("true", "--gres=gpu:h100:1", user=bed.NOBODY)
        self.wait_comment(second, "Pending InsufficientQuota")
        self.root("scancel", first)
        self.wait_task(second, "Succeeded")

    def test_the_next_flavor_is_taken_when_the_first_is_not_free(self):
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        job = self.submit("sleep 1", "-N2", "--cox-flavors=h100.1g:8,a100.1g:8")
        self.wait_state(job, "RUNNING", "COMPLETED")
        self.assertEqual(self.job(job)["NodeList"], "n[3-4]")
        self.assertEqual(self.wait_task(job, "Succeeded")["state"], "Succeeded")

    def test_blocked_nodes_are_avoided(self):
        job = self.submit("sleep 1", "--gres=gpu:h100:1", "--cox-node-not-in=n1", "--cox-node-ttl=600")
        self.wait_state(job, "RUNNING", "COMPLETED")
        self.assertEqual(self.job(job)["NodeList"], "n2")

    def test_foreign_jobs_are_seen_and_never_touched(self):
        foreign = self.foreign("-w", "n1", "--gres=gpu:6", "--mem=1000")
        before = self.job(foreign)
        job = self.submit("sleep 1", "--gres=gpu:h100:4", "--cox-node-in=n1")
        self.wait_comment(job, "Pending")
        node = [one for one in self.ask("nodes")["result"]["nodes"] if one["name"] == "n1"][0]
        self.assertIn("6000", str(node))
        after = self.job(foreign)
        for key in ("Priority", "Comment", "AdminComment", "JobState", "Reason"):
            self.assertEqual(before.get(key), after.get(key))

    def test_a_reload_is_seen_at_once_though_slurm_has_not_changed(self):
        def pools(node):
            return [one["pools"] for one in self.ask("nodes")["result"]["nodes"] if one["name"] == node][0]
        text = self.site.read_text()
        self.assertEqual(pools("n2"), ["train"])
        try:
            self.site.write_text(text.replace("{name: train, partition: train}",
                                              "{name: train, partition: train, nodes: [n1]}"))
            self.process.send_signal(signal.SIGHUP)
            self.until(lambda: pools("n2") == [], "n2 has left the pool", patience_s=10)
            self.assertEqual(pools("n1"), ["train"])
        finally:
            self.site.write_text(text)
            self.assertTrue(self.ask("reload")["ok"])
        self.until(lambda: pools("n2") == ["train"], "n2 is back in the pool", patience_s=10)

    # --- the end ---

    def test_preemption_lets_the_victim_save_and_names_the_preemptor(self):
        victim = self.submit(TRAP, "--cox-capacity-type=idle", "-N2", "--gres=gpu:h100:8")
        self.wait_output(victim, "up")
        self.wait_task(victim, "Running")
        job = self.submit("sleep 1", "-N2", "--gres=gpu:h100:8", "--cox-priority=high")
        self.wait_task(job, "Succeeded")
        self.assertIn("saved", self.output(victim))
        self.assertIn("was preempted by another task", self.job(victim)["AdminComment"])
        self.assertEqual(self.wait_task(victim, "Failed")["reason"], "Preempted")

    def test_sigterm_reaches_steps_shell_and_plain_children(self):
        scripts = {
            "step": "srun bash -c 'trap \"echo step saved; exit 0\" TERM; echo up; sleep 600 & wait'\n",
            "child": "bash -c 'trap \"echo child saved; exit 0\" TERM; echo up; sleep 600 & wait'\n",
            "shell": TRAP}
        for name, script in scripts.items():
            with self.subTest(name):
                job = self.submit(script, "--gres=gpu:h100:1")
                self.wait_output(job, "up")
                self.wait_task(job, "Running")
                self.assertTrue(self.ask("stop", job=str(job))["ok"])
                self.wait_output(job, "saved")
                events = self.wait_task(job, "Stopped")["events"]
                self.assertEqual([event["reason"] for event in events][-2:], ["StopRequested", "StoppedBy"])

    def test_a_failure_is_retried_and_127_is_not(self):
        script = 'echo "retry $RETRY_INDEX $TASK_UUID"; exit 1\n'
        job = self.submit(script, "--gres=gpu:h100:1", "--open-mode=append", "--cox-max-retries=1",
                          "--cox-failure-policy=on-failure")
        task = self.wait_task(job, "Failed")
        self.assertEqual(self.job(job)["Restarts"], "1")
        runs = live.lines(self.output(job), "^retry")
        self.assertEqual([line.split()[1] for line in runs], ["0", "1"])
        self.assertEqual(len({line.split()[2] for line in runs}), 2)  # each attempt its own uuid
        self.assertEqual(len(task["attempts"]), 2)
        job = self.submit("exit 127\n", "--gres=gpu:h100:1", "--cox-max-retries=3")
        self.wait_task(job, "Failed")
        self.assertEqual(self.job(job)["Restarts"], "0")

    def test_the_log_of_an_earlier_attempt_is_refused_in_words(self):
        job = self.submit("exit 1\n", "--gres=gpu:h100:1", "--cox-max-retries=1")
        self.wait_task(job, "Failed")
        self.assertEqual(self.ask("logs", job=str(job))["result"]["path"], f"{self.cwd}/{job}.out")
        self.assertEqual(self.ask("logs", job=str(job), attempt=1)["result"]["path"], f"{self.cwd}/{job}.out")
        self.assertIn("Slurm keeps one output file a job", self.ask("logs", job=str(job), attempt=0)["text"])
        self.assertIn("has no attempt 2; its last one is 1", self.ask("logs", job=str(job), attempt=2)["text"])

    def test_an_output_that_cannot_be_written_is_told_in_words(self):
        job = self.submit("true", "--gres=gpu:h100:1", "--cox-max-retries=3", "-o", "/root/none/x.out", user=bed.NOBODY)
        task = self.wait_task(job, "Failed")
        self.assertIn("its output file /root/none/x.out cannot be opened there by nobody", task["message"])
        self.assertNotIn("signal", task["message"])
        self.assertEqual(len(task["attempts"]), 1)  # a retry cannot cure it

    def test_metrics_go_on_after_a_reload(self):
        def metrics():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
                return dict(line.rsplit(" ", 1) for line in page.read().decode().splitlines() if line[0] != "#")

        def serves():
            with contextlib.suppress(OSError):
                return metrics()

        def reload_with(more):
            self.site.write_text(before.replace("slurm:\n", more + "slurm:\n"))
            reply = self.ask("reload")
            self.assertTrue(reply["ok"], reply)

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        before = self.site.read_text()
        self.addCleanup(lambda: (self.site.write_text(before), self.ask("reload")))
        reload_with(f"- {{path: monitor_prometheus.so, config: {{address: 127.0.0.1, port: {port}}}}}\n")
        self.until(serves, "the port is open")
        first = metrics()
        reload_with(f"- {{path: monitor_prometheus.so, config: {{address: 127.0.0.1, port: {port}}}}}\n# again\n")
        reloads = int(first["cox_reloads_total"]) + 1
        now = lambda name: int((serves() or {name: 0})[name])  # the port is closed while it changes hands
        self.until(lambda: now("cox_reloads_total") == reloads, "the reload is counted")
        turns = now("cox_turns_total")
        self.until(lambda: now("cox_turns_total") > turns, "the picture goes on")

    def test_squeue_tells_why_a_job_waits_in_the_format_of_the_manual(self):
        manual = (bed.ROOT / "docs/slurm.md").read_text()
        form = re.search(r'SQUEUE_FORMAT="(.*)"', manual)[1]
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        job = self.submit("true", "--gres=gpu:h100:1", user=bed.NOBODY)
        own = self.submit("true", "--gres=gpu:h100:1", "--comment=mine", user=bed.NOBODY)
        for one in (job, own):
            self.wait_comment(one, "Pending InsufficientResources")
        shown = self.user("squeue", env={"SQUEUE_FORMAT": form}).out.splitlines()
        line = [one for one in shown if one.split()[0] == str(job)][0]
        self.assertRegex(line, r" PD .* cox: Pending InsufficientResources: \S+")
        self.assertIn("cox: Pending", self.job(job)["Comment"])
        self.assertEqual(self.job(own)["Comment"], "mine")

    def test_scancel_stops_the_task(self):
        job = self.submit(TRAP, "--gres=gpu:h100:1", user=bed.NOBODY)
        self.wait_task(job, "Running")
        self.user("scancel", job)
        self.wait_task(job, "Stopped")
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        waiting = self.submit("true", "--gres=gpu:h100:1", user=bed.NOBODY)
        self.wait_task(waiting, "Pending")
        self.user("scancel", waiting)
        self.wait_task(waiting, "Stopped")

    def test_nobody_but_the_daemon_starts_a_managed_job(self):
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        job = self.submit("true", "--gres=gpu:h100:1", user=bed.NOBODY)
        self.wait_comment(job, "Pending")
        for user in (bed.NOBODY, None):  # it is held by nobody, so there is nothing to release
            self.assertEqual(self.run_as(user, "scontrol", "release", job).code, 0)
            self.assertEqual((self.job(job)["Priority"], self.job(job)["JobState"]), ("0", "PENDING"))

    def test_a_held_job_waits_for_its_release_and_says_so(self):
        reason = lambda job: self.user("squeue", "-h", "-j", job, "-o", "%r").out.strip()
        held = "Pending Held: held by its user; `scontrol release {}` lets it wait its turn"
        job = self.submit("sleep 600", "--gres=gpu:h100:1", "--hold", user=bed.NOBODY)
        self.wait_comment(job, held.format(job))
        self.assertEqual(reason(job), "JobHeldUser")
        self.assertIn("held by its user", str(self.ask("explain", job=str(job))["result"]))
        self.assertEqual(self.root("runuser", "-u", "daemon", "--", "scontrol", "release", job).code, 1)
        self.assertEqual(self.user("scontrol", "release", job).code, 0)
        self.wait_task(job, "Running")
        done = self.user("scontrol", "hold", job)
        self.assertIn("Job is no longer pending execution", done.err)
        self.user("scancel", job)
        self.wait_task(job, "Stopped")
        # One that waits already; the room that comes is not for it.
        blocker = self.submit("sleep 600", "--cox-node-in=n1", "--gres=gpu:h100:8")
        self.wait_task(blocker, "Running")
        for hold, user in (("hold", bed.NOBODY), ("uhold", bed.NOBODY), ("hold", None), ("uhold", None)):
            with self.subTest(hold=hold, user=user):
                job = self.submit("true", "--cox-node-in=n1", "--gres=gpu:h100:1", user=bed.NOBODY)
                self.wait_comment(job, "Pending InsufficientResources")
                self.assertEqual(reason(job), "JobHeldAdmin")
                self.assertEqual(self.run_as(user, "scontrol", hold, job).code, 0)
                self.wait_comment(job, held.format(job))
                self.assertEqual(reason(job), "JobHeldUser")
                self.assertEqual(self.run_as(user, "scontrol", "release", job).code, 0)
                self.wait_comment(job, "Pending InsufficientResources")
                self.assertEqual(reason(job), "JobHeldAdmin")
                self.assertEqual(self.user("scontrol", "hold", job).code, 0)
                self.wait_comment(job, held.format(job))
        # Kept over a restart of the daemon; the room that comes is for others.
        self.stop_daemon(signal.SIGKILL)
        self.assertIn("Requested operation is presently disabled", self.user("scontrol", "release", job).err)
        self.start_daemon()
        self.root("scancel", blocker)
        self.wait_task(self.submit("true", "--cox-node-in=n1", "--gres=gpu:h100:1"), "Succeeded")
        self.assertEqual(self.task(job)["state"], "Pending")
        self.user("scontrol", "release", job)
        self.wait_task(job, "Succeeded")

    def test_a_requeue_by_its_user_runs_it_again_and_is_no_failure(self):
        job = self.submit("echo up; sleep 600", "--gres=gpu:h100:1", "--open-mode=append", user=bed.NOBODY)

        def runs(times):  # slurmd loses a requeue of what it is about to start
            self.wait_task(job, "Running")
            self.until(lambda: self.output(job).count("up\n") == times, f"it runs for the time {times}")

        for restarts in (1, 2):
            runs(restarts)
            self.assertEqual(self.user("scontrol", "requeue", job).code, 0)
            self.until(lambda: self.task(job).get("attempt") == restarts, f"attempt {restarts}: {self.task(job)}")
        runs(3)
        task = self.task(job)
        self.assertEqual([one["reason"] for one in task["attempts"]], ["Requeued", "Requeued"])
        self.assertEqual((task["retries_used"], task["infra_failures"]), (0, 0))
        self.user("scontrol", "requeuehold", job)
        self.wait_comment(job, "Pending Held")
        self.user("scontrol", "release", job)
        self.wait_task(job, "Running")

    def test_srun_and_salloc_wait_their_turn_and_get_the_same_environment(self):
        for command in (("srun",), ("salloc", "srun")):
            done = self.user(*command[:1], "-p", "train", "-N2", "--gres=gpu:h100:2", *command[1:],
                             "bash", "-c", 'echo "$RANK/$WORLD_SIZE $X_USER_NAME $TASK_UUID"')
            self.assertEqual(done.code, 0, done.err)
            seen = sorted(line.split() for line in done.out.splitlines())
            self.assertEqual([line[:2] for line in seen], [["0/2", "nobody"], ["1/2", "nobody"]])
            self.assertEqual(len({line[2] for line in seen}), 1)

    def test_many_jobs_are_taken_up_at_once(self):
        self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        jobs = [self.submit("true", "--gres=gpu:h100:1") for _ in range(20)]
        for job in jobs:
            self.wait_comment(job, "Pending")

    # --- cox submit ---

    def test_a_job_of_cox_submit_runs_its_command_as_one_string(self):
        command = r"""echo \"rank $RANK of $WORLD_SIZE\" 'it''s' > {}/one.$RANK\nexit 0"""
        text = ONE.format(command=command.format(self.cwd), more="")
        reply = self.ask("submit", text=text, file="job.yaml")
        self.assertTrue(reply["ok"], reply)
        name = reply["result"]["name"]
        self.until(lambda: self.ask("describe", job=name)["result"]["state"] == "Succeeded",
                   f"{name} succeeds")
        for rank in (0, 1):
            with open(f"{self.cwd}/one.{rank}", encoding="utf-8") as file:
                self.assertEqual(file.read(), f"rank {rank} of 2 its\n")


if __name__ == "__main__":
    unittest.main()
