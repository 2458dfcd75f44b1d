"""kill -9 of the daemon and of slurmctld, nodes that die: nothing is lost, nothing starts twice."""
import signal
import subprocess
import time
import unittest

import bed
import live

ONCE = 'echo "$SLURM_JOB_ID $SLURM_RESTART_COUNT" >> {file}\n'


class Crash(live.LiveTest):
    slurm_conf = ("ReturnToService=1",)  # with 2, a node that is set down is back after 40 ms

    def kill_daemon(self):
        self.stop_daemon(signal.SIGKILL)

    def slurm_bed(self, *arguments):
        subprocess.run([bed.ROOT / "scripts/slurm-bed", arguments[0], f"{self.dir}/bed", *arguments[1:]],
                       check=True, stdout=subprocess.DEVNULL)

    def test_a_pending_job_survives_the_daemon(self):
        holder = self.foreign("-N2", "-w", "n1,n2", "--gres=gpu:8")
        job = self.submit("true", "--gres=gpu:h100:1")
        self.wait_task(job, "Pending")
        self.kill_daemon()
        self.root("scancel", holder)
        self.start_daemon()
        self.wait_task(job, "Succeeded")
        self.assertEqual(self.job(job)["Restarts"], "0")

    def test_a_running_job_survives_the_daemon_and_its_end_is_seen_later(self):
        job = self.submit("sleep 1; exit 3", "--gres=gpu:h100:1")
        self.wait_task(job, "Running")
        self.kill_daemon()
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
        for _ in range(3):
            time.sleep(0.7)  # somewhere in the middle of it: what else could be waited for?
            self.kill_daemon()
            self.start_daemon()
        for job in jobs:
            self.wait_task(job, "Succeeded")
        with open(file, encoding="utf-8") as ran:
            ids = [int(line.split()[0]) for line in ran]
        self.assertEqual(sorted(ids), sorted(jobs))
        self.assertTrue(self.ask("ledger_check")["result"]["consistent"])

    def test_slurmctld_killed_under_running_and_waiting_jobs_loses_none(self):
        running = self.submit("sleep 4", "-N2", "--gres=gpu:h100:8")
        self.wait_task(running, "Running")
        waiting = self.submit("true", "--gres=gpu:h100:8")
        self.wait_comment(waiting, "Pending")
        time.sleep(5.5)  # slurmctld saves its state every five seconds; what is younger may be lost
        self.slurm_bed("restart-ctld", "--crash")
        self.wait_task(running, "Succeeded")
        self.wait_task(waiting, "Succeeded")
        self.assertEqual(self.job(waiting)["Restarts"], "0")

    def test_a_start_that_slurmctld_lost_is_given_again(self):
        self.kill_daemon()
        job = self.submit("sleep 2", "--gres=gpu:h100:1")
        time.sleep(5.5)  # the submission is saved, what follows is not yet
        self.start_daemon()
        self.wait_state(job, "RUNNING")
        self.slurm_bed("restart-ctld", "--crash")
        attempts = self.wait_task(job, "Succeeded")["attempts"]
        self.assertEqual([attempt["reason"] for attempt in attempts], ["Completed"])

    def test_a_job_on_a_dead_node_is_ended_and_retried_elsewhere(self):
        job = self.submit("sleep 2", "--gres=gpu:h100:1", "--cox-max-retries=2")
        self.wait_task(job, "Running")
        node = self.job(job)["NodeList"]
        self.addCleanup(self.root, "scontrol", "update", f"nodename={node}", "state=resume")
        self.root("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
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
