"""kill -9 of the daemon and of slurmctld, nodes that die: nothing is lost, nothing starts twice."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import bed
import daemon_test
import live

ONCE = 'echo "$SLURM_JOB_ID $SLURM_RESTART_COUNT" >> {file}\n'


class Crash(live.LiveTest):
    slurm_conf = ("ReturnToService=1",)  # with 2, a node that is set down is back after 40 ms

    def kill_daemon(self):
        self.stop_daemon(signal.SIGKILL)

    def slurm_bed(self, *arguments):
        subprocess.run([bed.ROOT / "scripts/slurm-bed", arguments[0], f"{self.dir}/bed", *arguments[1:]],
                       check=True, stdout=subprocess.DEVNULL)

    def wait_saved(self, job_id, text):
        """slurmctld saves its state every five seconds; what is younger is lost when it is killed."""
        comment = self.job(job_id)["AdminComment"]
        self.assertIn(text, comment)
        state = pathlib.Path(self.dir, "bed/state/job_state")
        self.until(lambda: state.exists() and comment.encode() in state.read_bytes(), f"{comment!r} is saved")

    def preemption(self):
        """A victim that has been told to go and takes its time, the job that it goes for, and what lets it go."""
        wait, let_go = self.gate()
        victim = self.submit(f"leave() {{ echo saved; {wait.strip()}; exit 0; }}\ntrap leave TERM\n"
                             "echo up\nsleep 600 & wait", "--cox-capacity-type=idle", "-N2",
                             "--gres=gpu:h100:8", "--cox-grace=120")
        self.wait_output(victim, "up")
        self.wait_task(victim, "Running")
        job = self.submit("sleep 1", "-N2", "--gres=gpu:h100:8")
        self.wait_output(victim, "saved")
        return victim, job, let_go

    def assert_preempted_once(self, victim, job):
        task = self.wait_task(job, "Succeeded")
        self.assertEqual(len(task["attempts"]), 1)
        gone = self.wait_task(victim, "Failed")
        self.assertEqual(gone["reason"], "Preempted")
        self.assertEqual(len(gone["attempts"]), 1)
        self.assertTrue(self.ask("ledger_check")["result"]["consistent"])

    def test_slurmctld_killed_in_a_preemption(self):
        victim, job, let_go = self.preemption()
        self.wait_comment(victim, "Preempting")
        self.wait_saved(victim, "Preempting")
        self.wait_saved(job, "Pending")
        self.slurm_bed("restart-ctld", "--crash")
        let_go()
        self.assert_preempted_once(victim, job)

    def test_a_slurmd_killed_in_a_preemption(self):
        victim, job, let_go = self.preemption()
        self.slurm_bed("kill-slurmd", "n2")
        let_go()
        self.slurm_bed("start-slurmd", "n2")
        self.assert_preempted_once(victim, job)

    def test_a_node_drained_while_a_gang_starts_leaves_no_half_of_it(self):
        holder = self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        job = self.submit("srun -N2 true", "-N2", "--gres=gpu:h100:8")
        self.wait_comment(job, "Pending")
        self.addCleanup(self.root, "scontrol", "update", "nodename=n2", "state=resume")
        self.root("scancel", holder)
        self.until(lambda: "Pending" not in self.job(job)["AdminComment"], "it is placed")
        self.root("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
        # Either it had started, then it runs on, or all of it waits for the node.
        self.until(lambda: self.task(job)["state"] == "Succeeded" or "Pending" in self.job(job)["AdminComment"],
                   f"it has started or waits: {self.task(job)}")
        if self.task(job)["state"] == "Pending":
            self.assertEqual(self.job(job)["JobState"], "PENDING")
        self.assertTrue(self.ask("ledger_check")["result"]["consistent"])
        self.root("scontrol", "update", "nodename=n2", "state=resume")
        self.assertEqual(len(self.wait_task(job, "Succeeded")["attempts"]), 1)

    def test_a_plugin_replaced_on_disk_is_taken_over_by_the_next_reload(self):
        plugins = pathlib.Path(self.dir, "plugins")
        shutil.copytree(bed.BUILD / "plugins", plugins, ignore=shutil.ignore_patterns("CMake*", "*.cmake", "*_test"))
        before = self.site.read_text()
        self.addCleanup(lambda: (self.site.write_text(before), self.ask("reload")))
        self.site.write_text(before.replace(f"pluginDir: {bed.BUILD}/plugins", f"pluginDir: {plugins}"))
        self.assertTrue(self.ask("reload")["ok"])
        for name in ("quota_tree.so", "node_policy.so"):  # as an installer does it: beside it, and then in its place
            shutil.copy(bed.BUILD / "plugins" / name, plugins / "new")
            os.rename(plugins / "new", plugins / name)
        self.wait_task(self.submit("true", "--gres=gpu:h100:1"), "Succeeded")  # with the one that is loaded
        reply = self.ask("reload")
        self.assertTrue(reply["ok"], reply)
        self.wait_task(self.submit("true", "--gres=gpu:h100:1"), "Succeeded")
        (plugins / "new").write_bytes(b"half a file")
        os.rename(plugins / "new", plugins / "quota_tree.so")
        self.assertIn("quota_tree.so", self.ask("reload")["text"])
        self.wait_task(self.submit("true", "--gres=gpu:h100:1"), "Succeeded")

    def test_a_pending_job_survives_the_daemon(self):
        holder = self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        job = self.submit("true", "--gres=gpu:h100:1")
        self.wait_task(job, "Pending")
        self.kill_daemon()
        self.root("scancel", holder)
        self.start_daemon()
        self.wait_task(job, "Succeeded")
        self.assertEqual(self.job(job)["Restarts"], "0")

    def test_a_lost_store_loses_no_job(self):
        wait, let_go = self.gate()
        running = self.submit(wait, "--gres=gpu:h100:8", "--cox-node-in=n1",
                              "--cox-priority=high", user=bed.NOBODY)
        self.wait_task(running, "Running")
        waiting = self.submit("true", "--gres=gpu:h100:8", "--cox-node-in=n1", "--cox-priority=low", "--cox-max-retries=7")
        self.wait_comment(waiting, "Pending")
        text = daemon_test.ONE.format(command="true", more="").replace("workers: 1", "workers: 0") + \
            "  failurePolicy: {enabled: true, maxRetries: 6}\n"
        self.foreign("-w", "n2", "--gres=gpu:8")
        made = self.ask("submit", text=text, file="job.yaml")["result"]["name"]
        native = lambda: self.ask("describe", job=made)["result"].get("native_id")
        self.until(native, "it is made")
        made_job = native()
        self.wait_comment(made_job, "Pending")
        self.kill_daemon()
        for file in pathlib.Path(self.dir, "state").glob("cox.db*"):
            file.unlink()
        self.start_daemon()
        self.wait_task(running, "Running")
        self.wait_comment(waiting, "Pending")
        spec = self.task(waiting)["job"]["spec"]
        self.assertEqual(spec["scheduling"]["priorityClassName"], "low")
        self.assertEqual(spec["failurePolicy"]["maxRetries"], 7)
        self.assertEqual(spec["scheduling"]["nodePolicy"]["nodeNames"], ["n1"])
        self.assertEqual(self.task(running)["owner"]["user"], bed.NOBODY)
        self.assertEqual(self.task(made_job)["job"]["spec"]["failurePolicy"]["maxRetries"], 6)
        self.assertTrue(self.ask("ledger_check")["result"]["consistent"])
        let_go()
        self.wait_task(running, "Succeeded")
        self.wait_task(waiting, "Succeeded")

    def test_a_running_job_survives_the_daemon_and_its_end_is_seen_later(self):
        wait, let_go = self.gate()
        job = self.submit(wait + "exit 3", "--gres=gpu:h100:1")
        self.wait_task(job, "Running")
        self.kill_daemon()
        let_go()
        self.wait_state(job, "FAILED")
        self.start_daemon()
        task = self.wait_task(job, "Failed")
        self.assertIn("exit code 3", task["message"])

    def test_a_job_that_comes_while_the_daemon_is_away_is_judged_later(self):
        self.kill_daemon()
        job = self.submit('echo "user=$X_USER_NAME"\n', "--gres=gpu:h100:1", user=bed.NOBODY)
        refused = self.submit("true", "-N2", "--gres=gpu:h100:8", user=bed.NOBODY)
        self.assertIn(" wait ", self.job(job)["AdminComment"])
        self.start_daemon()
        self.wait_task(job, "Succeeded")
        self.assertEqual(self.output(job), "user=nobody\n")
        self.wait_state(refused, "CANCELLED")
        self.assertIn("Rejected", self.job(refused)["AdminComment"])

    def test_a_daemon_killed_in_a_preemption_finishes_it(self):
        victim = self.submit("trap 'echo saved; sleep 2; exit 0' TERM\necho up\nsleep 600 & wait",
                             "--cox-capacity-type=idle", "-N2", "--gres=gpu:h100:8")
        self.wait_output(victim, "up")
        self.wait_task(victim, "Running")
        job = self.submit("sleep 1", "-N2", "--gres=gpu:h100:8")
        self.wait_output(victim, "saved")
        self.kill_daemon()
        self.start_daemon()
        self.wait_task(job, "Succeeded")
        self.assertEqual(self.wait_task(victim, "Failed")["reason"], "Preempted")

    def test_a_daemon_killed_in_a_retry_repeats_it_once(self):
        job = self.submit("exit 1\n", "--gres=gpu:h100:1", "--cox-max-retries=1")
        self.until(lambda: self.task(job).get("attempts") or self.task(job).get("attempt"), "it fails once")
        self.kill_daemon()
        self.start_daemon()
        task = self.wait_task(job, "Failed")
        self.assertEqual(len(task["attempts"]), 2)
        self.assertEqual(self.job(job)["Restarts"], "1")

    def test_thirty_jobs_in_flight_run_once_each(self):
        file = f"{self.cwd}/once"
        jobs = [self.submit(ONCE.format(file=file) + "sleep 0.2\n", "--gres=gpu:1") for _ in range(30)]
        def runs():
            return pathlib.Path(file).read_text().count("\n") if os.path.exists(file) else 0
        for round_ in range(1, 4):  # somewhere in the middle of it
            self.until(lambda: runs() >= 6 * round_, f"{6 * round_} jobs have begun")
            self.kill_daemon()
            self.start_daemon()
        for job in jobs:
            self.wait_task(job, "Succeeded")
        with open(file, encoding="utf-8") as ran:
            ids = [int(line.split()[0]) for line in ran]
        self.assertEqual(sorted(ids), sorted(jobs))
        self.assertTrue(self.ask("ledger_check")["result"]["consistent"])

    def test_slurmctld_killed_under_running_and_waiting_jobs_loses_none(self):
        wait, let_go = self.gate()
        running = self.submit(wait, "-N2", "--gres=gpu:h100:8")
        self.wait_task(running, "Running")
        waiting = self.submit("true", "--gres=gpu:h100:8")
        self.wait_comment(waiting, "Pending")
        self.wait_saved(running, "Running Started")
        self.wait_saved(waiting, "Pending")
        self.slurm_bed("restart-ctld", "--crash")
        let_go()
        self.wait_task(running, "Succeeded")
        self.wait_task(waiting, "Succeeded")
        self.assertEqual(self.job(waiting)["Restarts"], "0")

    def test_a_start_that_slurmctld_lost_is_given_again(self):
        self.kill_daemon()
        wait, let_go = self.gate()
        job = self.submit(wait, "--gres=gpu:h100:1")
        self.wait_saved(job, " wait ")  # the submission is, what follows is not yet
        self.start_daemon()
        self.wait_state(job, "RUNNING")
        self.slurm_bed("restart-ctld", "--crash")
        let_go()
        attempts = self.wait_task(job, "Succeeded")["attempts"]
        self.assertEqual([attempt["reason"] for attempt in attempts], ["Completed"])

    def test_a_job_on_a_dead_node_is_ended_and_retried_elsewhere(self):
        wait, let_go = self.gate()
        job = self.submit(wait, "--gres=gpu:h100:1", "--cox-max-retries=2")
        self.wait_task(job, "Running")
        node = self.job(job)["NodeList"]
        self.addCleanup(self.root, "scontrol", "update", f"nodename={node}", "state=resume")
        self.root("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        let_go()
        task = self.wait_task(job, "Succeeded")
        self.assertEqual(task["attempts"][0]["failure_class"], "Infra")
        self.assertNotEqual(self.job(job)["NodeList"], node)

    def test_a_requeue_that_nobody_ordered_starts_nothing(self):
        job = self.submit("sleep 600", "--gres=gpu:h100:1", user=bed.NOBODY)
        self.wait_task(job, "Running")
        self.until(lambda: self.job(job)["Priority"] == "0", "it is held while it runs")
        self.kill_daemon()
        self.user("scontrol", "requeue", job)
        self.wait_state(job, "PENDING")
        self.assertEqual(self.job(job)["Priority"], "0")
        self.start_daemon()
        self.wait_task(job, "Failed")  # fault tolerance is off

    def test_reload_and_stop_by_signal(self):
        self.site.write_text(self.site.read_text().replace("units: 256", "units: 128"))
        self.process.send_signal(signal.SIGHUP)
        self.until(lambda: "configuration reloaded" in self.daemon_log(), "the reload")
        good = self.site.read_text()
        self.site.write_text("region: [")
        self.process.send_signal(signal.SIGHUP)
        self.until(lambda: "reload refused" in self.daemon_log(), "the refusal")
        self.site.write_text(good)
        self.assertEqual(self.stop_daemon(), 0)
        self.assertIn("stopped; jobs go on", self.daemon_log())


if __name__ == "__main__":
    unittest.main()
