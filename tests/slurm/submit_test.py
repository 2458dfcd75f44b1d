"""job_submit/cox in a real slurmctld: verdicts, a daemon that is away or mad, foreign jobs."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import bed

AWAY = ("sbatch: cox: accepted and held: Coxswain's daemon did not answer within 1000 ms; "
        "the job is judged when it is back\n")


# What is typed, and how the refusal shows it.
NOT_HONOURED = {
    "--nice=10": "--nice=10", "--nice=-10": "--nice=-10", "--priority=5": "--priority=5",
    "--oversubscribe": "--oversubscribe", "--overcommit": "--overcommit=1", "--no-kill": "--no-kill", "--mem=0": "--mem=0",
    "--mem-per-cpu=0": "--mem=0", "--mincpus=2": "--mincpus=2", "--ntasks-per-socket=1": "--ntasks-per-socket=1",
    "--ntasks-per-core=1": "--ntasks-per-core=1", "--sockets-per-node=1": "--sockets-per-node=1",
    "--cores-per-socket=2": "--cores-per-socket=2", "--threads-per-core=1": "--threads-per-core=1",
    "--cpus-per-gpu=2": "--cpus-per-gpu=gres:gpu:2", "--mem-per-gpu=1G --gres=gpu:1": "--mem-per-gpu=gres:gpu:1024",
    "--tmp=1G": "--tmp=1024", "--prefer=gpu": "--prefer=gpu", "--batch=gpu": "--batch=gpu",
    "--contiguous": "--contiguous=1", "--switches=1": "--switches=1", "--spread-job": "--spread-job",
    "--use-min-nodes": "--use-min-nodes", "--bb=x": "--bb=x",
}


class Submit(bed.BedTest):
    nodes = 2

    # --- verdicts ---

    def test_an_accepted_job_is_held_and_marked(self):
        done = self.sbatch()
        self.assertEqual((done.code, done.err), (0, ""))
        job = self.assert_held_and_marked(done.job)
        self.assertEqual(job["AdminComment"], f"cox:{self.daemon.requests[0]['job']['uuid']} queued")

    def test_the_reply_shapes_the_job(self):
        self.daemon.reply = lambda request: bed.accept(
            request, nodes=2, tres_per_node="gres:gpu:h100:8", cpus_per_node=32, mem_mib_per_node=4096)
        job = self.job(self.sbatch("-N1", "--mem=1G").job)
        self.assertEqual((job["NumNodes"], job["TresPerNode"]), ("2-2", "gres:gpu:h100:8"))
        self.assertEqual((job["MinCPUsNode"], job["MinMemoryNode"], job["NumCPUs"]), ("32", "4G", "64"))

    def test_a_reply_may_speak_to_the_user(self):
        self.daemon.reply = lambda request: bed.accept(request, text="cox: third in queue team")
        done = self.sbatch()
        self.assertEqual((done.code, done.err), (0, "sbatch: cox: third in queue team\n"))

    def test_a_refusal_is_read_by_the_user_of_each_command(self):
        text = "cox: flavor h900.1g: no such flavor, there are a100.1g, h100.1g"
        self.daemon.reply = lambda request: {"v": 1, "verdict": "reject", "text": text}
        for command in (("sbatch", "--wrap", "true"), ("srun", "true"), ("salloc", "true")):
            done = self.user(*command)
            self.assertNotEqual(done.code, 0)
            self.assertIn(f"{command[0]}: error: {text}\n", done.err)
        self.assertEqual(self.root("squeue", "-h").out.count("h900"), 0)

    def test_arrays_het_jobs_and_mixed_partitions_are_refused_in_words(self):
        array = self.sbatch("-a", "1-3")
        self.assertIn("cox: job arrays are not supported in a managed partition", array.err)
        het = self.user("salloc", "-N1", ":", "-N1", "true")
        self.assertIn("cox: heterogeneous jobs are not supported in a managed partition", het.err)
        mixed = self.sbatch("-p", "train,foreign")
        self.assertIn("cox: a job may not name partitions of Coxswain together with others", mixed.err)
        self.assertTrue(array.code and het.code and mixed.code)
        self.assertEqual(self.daemon.requests, [])

    def test_what_nobody_would_honour_is_refused_by_name(self):
        for option, shown in NOT_HONOURED.items():
            with self.subTest(option):
                done = self.sbatch(*option.split(), user=None)
                self.assertNotEqual(done.code, 0)
                self.assertIn(f"cox: {shown}: is not honoured in a managed partition; ", done.err)
                self.assertNotIn("cox: ", self.sbatch("-p", "foreign", *option.split()).err)
        self.assertEqual(self.daemon.requests, [])
        done = self.user("srun", "--nice=3", "--contiguous", "true")
        self.assertRegex(done.err, r"(?s)cox: --nice=3: is not.*\n.*cox: --contiguous=1: is not")

    def test_what_slurm_honours_itself_passes(self):
        for option in ("--time=5", "--chdir=/tmp", "--export=NONE", "--mail-type=END", "--comment=x", "--signal=USR1@60",
                       "--gpu-bind=closest", "--mem-bind=local", "-mblock", "--open-mode=append", "--no-requeue",
                       "--cpu-freq=high", "-n2", "--ntasks-per-node=2", "-c2", "--mem=100", "--mem-per-cpu=100",
                       "--gres=gpu:1", "--gpus-per-node=1", "-wn1", "-xn2", "--delay-boot=1", "--input=/dev/null",
                       "--nice=0", "--hold"):
            self.assertEqual(self.sbatch(option).err, "", option)

    def test_a_hold_is_accepted_and_marked(self):
        done = self.sbatch("--hold")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertRegex(self.assert_held_and_marked(done.job)["AdminComment"], " queued held$")
        self.daemon.stop()
        done = self.sbatch("--hold", "--cox-workers=3")
        self.assertRegex(self.job(done.job)["AdminComment"], r' wait held {"workers":"3"}$')

    def test_dependencies_and_begin_times_pass(self):
        first = self.sbatch()
        self.assertEqual(self.sbatch("-d", f"afterok:{first.job}", "-b", "now+1hour").code, 0)
        self.assertIn("begin_unix_s", self.daemon.requests[1]["job"]["slurm"])

    def test_the_daemons_own_submission_passes_held_and_unasked(self):
        uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
        done = self.root(bed.API_SUBMIT, "train", f"cox:{uuid} queued")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(self.assert_held_and_marked(int(done.out))["AdminComment"], f"cox:{uuid} queued")
        self.assertEqual(self.daemon.requests, [])

    # --- foreign partitions ---

    def test_a_foreign_job_is_not_touched(self):
        done = self.sbatch("-p", "foreign", "--no-requeue", script="env")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertNotIn("COX", self.output_of(done.job))
        job = self.job(done.job)
        self.assertEqual((job["JobState"], job["Requeue"]), ("COMPLETED", "0"))
        self.assertNotIn("AdminComment", job)
        self.assertEqual(self.daemon.requests, [])

    def test_our_options_in_a_foreign_partition_are_refused(self):
        for command in (("sbatch", "--wrap", "true"), ("srun", "true"), ("salloc", "true")):
            done = self.user(command[0], "-p", "foreign", "--cox-type=ray", *command[1:])
            self.assertNotEqual(done.code, 0)
            self.assertIn(f"{command[0]}: error: cox: partition foreign is not managed by Coxswain; "
                          "its partitions are: train\n", done.err)

    # --- a daemon that does not answer well: held, marked, with the options for later ---

    def assert_accepted_and_held(self, done, options, text=AWAY):
        self.assertEqual((done.code, done.err), (0, text))
        comment = self.assert_held_and_marked(done.job, "wait")["AdminComment"]
        self.assertEqual(json.loads(comment.split(" ", 2)[2]), options)

    def test_no_daemon(self):
        self.daemon.stop()
        self.assert_accepted_and_held(self.sbatch("--cox-type=ray", "--cox-guarantee"),
                                      {"type": "ray", "guarantee": "true"})

    def test_a_socket_that_nobody_listens_to(self):
        self.daemon.stop()
        pathlib.Path(self.daemon.path).touch()
        self.assert_accepted_and_held(self.sbatch(), {})

    def test_replies_that_are_no_replies(self):
        good = lambda request: json.dumps(bed.accept(request)).encode()
        replies = {
            "garbage": lambda request: b"\x00\xff{{{\n",
            "an empty line": lambda request: b"\n",
            "half a reply": lambda request: good(request)[:40],
            "a reply without an end": good,
            "a list": lambda request: b"[]\n",
            "deep nesting": lambda request: b"[" * 500000 + b"\n",
            "no verdict": lambda request: b'{"v":1}\n',
            "an unknown verdict": lambda request: {"verdict": "maybe"},
            "a refusal without words": lambda request: {"verdict": "reject"},
            "another task's uuid": lambda request: bed.accept(request, admin_comment="cox:someone queued"),
            "no uuid": lambda request: bed.accept(request, admin_comment=""),
            "no nodes": lambda request: bed.accept(request, nodes=0),
            "nodes that are Slurm's NO_VAL": lambda request: bed.accept(request, nodes=0xfffffffe),
            "nodes as text": lambda request: bed.accept(request, nodes="2"),
            "LD_PRELOAD": lambda request: bed.accept(request, environment={"LD_PRELOAD": "/tmp/x.so"}),
            "a bad name": lambda request: bed.accept(request, environment={"A-B": "1"}),
        }
        for name, reply in replies.items():
            with self.subTest(name):
                self.daemon.reply = reply
                self.assert_accepted_and_held(self.sbatch("--cox-workers=3"), {"workers": "3"})

    def test_a_reply_of_ten_megabytes(self):
        self.daemon.reply = lambda request: b'{"text":"' + b"x" * 10_000_000 + b'"}\n'
        self.assert_accepted_and_held(self.sbatch(), {})
        self.assertIn("replied with more than 1048576 bytes", self.controller_log())

    def test_a_stopped_daemon_delays_one_submission_in_ten_time_outs(self):
        self.daemon.stop()
        conf = pathlib.Path(self.cox_conf)
        slow = conf.read_text()
        conf.write_text(slow.replace("TimeoutMs=1000", "TimeoutMs=100"))
        listen = ("import socket,sys,time; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(200);"
                  "print('up',flush=True); time.sleep(600)")
        with subprocess.Popen([sys.executable, "-c", listen, self.daemon.path], stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                process.send_signal(signal.SIGSTOP)
                begin = len(self.controller_log()), time.monotonic()
                done = self.user("bash", "-c", "for i in {1..100}; do sbatch --wrap true || exit 1; done")
                took_s = time.monotonic() - begin[1]
            finally:
                process.kill()
        self.assertEqual((done.code, done.err), (0, AWAY.replace("1000", "100") * 100))
        held = re.findall(r"held after (\d+) us: (.*)", self.controller_log()[begin[0]:])
        self.assertEqual(len(held), 100)
        asked = [int(us) for us, why in held if why.endswith("no reply in time")]
        self.assertTrue(asked)
        self.assertLessEqual(len(asked), took_s / 1.0 + 1)  # ten time-outs are a second
        self.assertTrue(all(us >= 100_000 for us in asked))
        for job in re.findall(r"batch job (\d+)", done.out)[::25]:
            self.assert_held_and_marked(int(job), "wait")
        self.daemon.start()
        self.until(lambda: self.sbatch().err == "", "the daemon is asked again")
        conf.write_text(slow)

    def test_srun_is_told_that_it_waits(self):
        self.daemon.stop()
        done = self.user("timeout", "-s", "INT", "1", "srun", "true")
        self.assertIn(AWAY.replace("sbatch", "srun"), done.err)

    # --- configuration ---

    def test_a_broken_configuration_holds_what_it_managed_and_says_why(self):
        good = pathlib.Path(self.cox_conf).read_text()
        try:
            for text in (good + "TimeOut=5\n", "Socket=/x\n", good.replace("train", "")):
                pathlib.Path(self.cox_conf).write_text(text)
                self.assert_accepted_and_held(
                    self.sbatch(), {}, "sbatch: cox: accepted and held: cox.conf is wrong, see slurmctld's log; "
                    "the job is judged when an administrator has corrected it\n")
                self.assertEqual(self.sbatch("-p", "foreign").err, "")
            self.assertEqual(self.daemon.requests, [])
            self.assertIn(f"{self.cox_conf}:4: TimeOut=5: is no key of this file, they are Socket, TimeoutMs "
                          "and Partitions; jobs of managed partitions are held until it is right",
                          self.controller_log())
        finally:
            pathlib.Path(self.cox_conf).write_text(good)
        self.assertEqual(self.sbatch().err, "")
        self.assertEqual(len(self.daemon.requests), 1)


@unittest.skipUnless(os.geteuid() == 0, "needs a second user")
class Modify(bed.BedTest):
    """What a user may change: everything of a foreign job, little of a managed one."""

    nodes = 2

    REFUSED = ("Priority=100", "Nice=10", "Partition=foreign", "NumNodes=1", "NumNodes=1-2",
               "ReqNodeList=n1", "ExcNodeList=n1", "Features=gpu", "Requeue=0", "NumCPUs=1", "MinCPUsNode=2",
               "MinMemoryNode=100", "TresPerNode=gres:gpu:1", "Account=other", "QOS=high", "OverSubscribe=yes",
               "Contiguous=1", "StartTime=now+1hour", "Dependency=singleton", "Licenses=a", "Reservation=r", "AdminComment=cox:mine")
    ALLOWED = ("Comment=hello", "TimeLimit=5", "JobName=other", "MailUser=me")

    def setUp(self):
        super().setUp()
        self.managed = self.sbatch("-t", "10", "-N2").job
        self.foreign = self.sbatch("-t", "10", "-N2", "-H", "-p", "foreign").job

    def update(self, job, change):
        return self.user("scontrol", "update", f"JobId={job}", change)

    def test_a_hold_is_asked_about_and_left_to_the_daemon(self):
        asked = []
        before = self.job(self.managed)
        uuid = before["AdminComment"].split()[0].removeprefix("cox:")
        uid = int(self.user("id", "-u").out)

        def answer(request, code=None):
            asked.append((request["op"], request["uuid"], request["uid"]))
            return {"v": 1, "verdict": "refused", "code": code} if code else {"v": 1, "verdict": "done"}

        self.daemon.change = answer
        for verb, op in (("hold", "hold"), ("uhold", "hold"), ("release", "release")):
            self.assertEqual(self.user("scontrol", verb, self.managed).code, 0)
            self.assertEqual(asked.pop(), (op, uuid, uid))
        for verb in ("hold", "release"):  # root's, too, except uhold, which says whose hold is meant
            self.assertEqual(self.root("scontrol", verb, self.managed).code, 0)
            self.assertEqual(asked.pop(), (verb, uuid, 0))
        self.assertEqual(self.job(self.managed), before)
        for code, text in (("started", "Job is no longer pending execution"), ("not_his", "Access/permission denied"),
                           ("later", "Job can not be altered now, try again later")):
            self.daemon.change = lambda request, code=code: answer(request, code)
            done = self.user("scontrol", "hold", self.managed)
            self.assertNotEqual(done.code, 0)
            self.assertIn(text, done.err)
        for reply in ({}, {"verdict": "maybe"}, [], {"verdict": "refused"}):
            self.daemon.change = lambda request, reply=reply: reply
            self.assertIn("Requested operation is presently disabled",
                          self.user("scontrol", "hold", self.managed).err)

    def test_a_user_cannot_release_hold_or_reprioritise_past_the_daemon(self):
        before = self.job(self.managed)
        for verb in ("release", "hold", "uhold"):
            done = self.user("scontrol", verb, self.managed)
            self.assertNotEqual(done.code, 0, verb)
            self.assertIn("Requested operation is presently disabled", done.out + done.err)
        done = self.user("scontrol", "top", self.managed)
        self.assertNotEqual(done.code, 0)
        self.assertIn("Access/permission denied", done.out + done.err)
        self.assertIn("Requested operation is presently disabled", self.update(self.managed, "Priority=0").err)
        for change in self.REFUSED:
            done = self.update(self.managed, change)
            self.assertNotEqual(done.code, 0, change)
            self.assertIn("Access/permission denied", done.out + done.err, change)
        self.assertEqual(self.job(self.managed), before)

    def test_a_user_may_change_what_decides_nothing(self):
        for change in self.ALLOWED:
            done = self.update(self.managed, change)
            self.assertEqual(done.code, 0, change + done.err)
        job = self.job(self.managed)
        self.assertEqual((job["Comment"], job["TimeLimit"], job["Priority"]), ("hello", "00:05:00", "0"))

    def test_a_user_keeps_his_foreign_jobs(self):
        self.assertEqual(self.user("scontrol", "release", self.foreign).code, 0)
        self.assertEqual(self.sbatch("-p", "foreign", "-H").code, 0)
        held = self.sbatch("-p", "foreign", "-b", "now+1hour", "-N2").job
        for change in ("NumNodes=1", "Nice=10", "Features=gpu", "ExcNodeList=n2"):
            self.assertEqual(self.update(held, change).code, 0, change)
        self.assertEqual(self.user("scontrol", "hold", held).code, 0)
        self.assertEqual(self.user("scontrol", "release", held).code, 0)

    def test_a_user_cannot_move_a_foreign_job_into_a_managed_partition(self):
        done = self.update(self.foreign, "Partition=train")
        self.assertNotEqual(done.code, 0)
        self.assertEqual(self.job(self.foreign)["Partition"], "foreign")

    def test_root_may_do_all(self):
        for change in ("ReqNodeList=n[1-2]", "ExcNodeList=", "AdminComment=cox:x placed", "Priority=0"):
            done = self.root("scontrol", "update", f"JobId={self.managed}", change)
            self.assertEqual(done.code, 0, change + done.err)
        self.assertEqual(self.root("scontrol", "release", self.managed).code, 0)

    def test_many_updates_leave_the_controller_well(self):
        loop = f"for i in {{1..200}}; do scontrol release {self.managed}; done; true"
        self.user("bash", "-c", loop)
        self.assertEqual(self.job(self.managed)["Priority"], "0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
