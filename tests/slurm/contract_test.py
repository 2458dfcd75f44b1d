"""The environment contract S60..S65, seen by real tasks on a Slurm of three nodes."""
import os
import pathlib
import re
import socket
import subprocess
import unittest
import uuid

import bed

CONTEXT = {"X_USER_NAME": "ann", "X_ORG_NAME": "Acme & Söhne, Ltd", "X_TENANT_ID": "t-1", "X_REGION": "cn-shanghai",
           "X_CLUSTER": "auriga"}
PRINT = ("/usr/bin/python3 -c 'import os; print(\" \".join(k + \"=\" + os.environ.get(k, \"-\") for k in (\"SLURMD_NODENAME\","
         "\"RANK\", \"WORLD_SIZE\", \"MASTER_ADDR\", \"MASTER_PORT\", \"TASK_UUID\", \"RETRY_INDEX\", \"X_REGION\")))'")


def with_context(request):
    """As the daemon answers: in the environment of a batch job, in the record for srun and salloc."""
    words = " ".join(f"{name}={bed.percent(value)}" for name, value in CONTEXT.items())
    return bed.accept(request, admin_comment=f"cox:{request['job']['uuid']} queued {words}",
                      environment=CONTEXT)


def tasks(text):
    """PRINT's lines as dicts, without the order in which tasks happened to print."""
    lines = [dict(re.findall(r"(\w+)=(\S+)", line)) for line in text.splitlines() if "SLURMD_NODENAME=" in line]
    return sorted(lines, key=lambda task: (task["SLURMD_NODENAME"], task["RANK"]))


class Contract(bed.BedTest):
    nodes = 3

    def setUp(self):
        super().setUp()
        self.daemon.reply = with_context

    def root_uuid(self):
        return self.daemon.requests[-1]["job"]["uuid"]

    def port(self, job):
        return str(20000 + job % 12000)

    def interactive(self, *command, env=None):
        """Starts srun or salloc, releases its job as the daemon would, returns what it wrote."""
        before = {line for line in self.root("squeue", "-h", "-o", "%i").out.split()}
        environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "SLURM_CONF": f"{self.dir}/bed/etc/slurm.conf", **(env or {})}
        prefix = ["runuser", "-u", bed.NOBODY, "--"] if os.geteuid() == 0 else []
        with subprocess.Popen([*prefix, *command], env=environment, cwd=self.cwd, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            new = lambda: {line for line in self.root("squeue", "-h", "-o", "%i").out.split()} - before
            self.until(new, f"{command[0]} has a job")
            job = int(new().pop())
            self.root("scontrol", "release", job)
            return job, process.communicate(timeout=60)[0]

    def expected(self, job, node, rank, size):
        return {"SLURMD_NODENAME": node, "RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": self.port(job), "TASK_UUID": self.root_uuid(), "RETRY_INDEX": "0",
                "X_REGION": "cn-shanghai"}

    # --- sbatch ---

    def test_the_batch_script_and_each_task_of_a_step_see_the_contract(self):
        job = self.sbatch("-N3", script=f"{PRINT}; echo; srun {PRINT}").job
        script, steps = self.output_of(job).split("\n\n")
        self.assertEqual(tasks(script), [self.expected(job, "n1", 0, 3)])
        self.assertEqual(tasks(steps), [self.expected(job, f"n{rank + 1}", rank, 3) for rank in range(3)])

    def test_rank_is_of_the_node_not_of_the_task(self):
        job = self.sbatch("-N2", "--ntasks-per-node=2", script=f"srun {PRINT}").job
        seen = [(task["SLURMD_NODENAME"], task["RANK"], task["WORLD_SIZE"]) for task in tasks(self.output_of(job))]
        self.assertEqual(seen, [("n1", "0", "2"), ("n1", "0", "2"), ("n2", "1", "2"), ("n2", "1", "2")])

    def test_a_step_on_some_nodes_keeps_the_ranks_of_the_job(self):
        job = self.sbatch("-N3", script=f"srun -N1 -n1 -w n2 {PRINT}; srun -N2 -n2 -x n1 {PRINT}").job
        seen = [(task["SLURMD_NODENAME"], task["RANK"], task["WORLD_SIZE"]) for task in tasks(self.output_of(job))]
        self.assertEqual(seen, [("n2", "1", "3"), ("n2", "1", "3"), ("n3", "2", "3")])

    def test_the_user_and_organisation_arrive_as_they_are(self):
        seen = bed.environment(self.output_of(self.sbatch(script="env").job))
        self.assertEqual({name: seen.get(name) for name in CONTEXT}, CONTEXT)

    def test_export_none_hides_nothing_of_the_contract(self):
        job = self.sbatch("-N2", "--export=NONE", script=f"srun {PRINT}").job
        self.assertEqual(tasks(self.output_of(job)),
                         [self.expected(job, f"n{rank + 1}", rank, 2) for rank in range(2)])

    def test_what_the_submitter_had_in_his_shell_does_not_count(self):
        shell = {"MASTER_ADDR": "old", "MASTER_PORT": "1", "RANK": "9", "WORLD_SIZE": "9", "X_REGION": "moon",
                 "TASK_UUID": "x", "SLURM_COX_ROOT_UUID": "y", "SLURM_COX_MASTER_PORT": "2",
                 "SLURM_JOB_NODELIST": "n[1-900000]", "SLURM_RESTART_COUNT": "4"}
        job = self.sbatch(script=f"{PRINT}; srun {PRINT}", env=shell).job
        self.assertEqual(tasks(self.output_of(job)), [self.expected(job, "n1", 0, 1)] * 2)

    def test_what_the_script_exports_stays(self):
        job = self.sbatch("-N2", script=f"export MASTER_PORT=1234; srun {PRINT}").job
        self.assertEqual([task["MASTER_PORT"] for task in tasks(self.output_of(job))], ["1234"] * 2)

    def test_environment_defaults_yield_to_the_user(self):
        self.daemon.reply = lambda request: bed.accept(request, environment={"LEVEL": "daemon"},
                                                       environment_defaults={"LR": "1", "SEED": "7"})
        job = self.sbatch(script="env", env={"LR": "2", "LEVEL": "user"}).job
        seen = bed.environment(self.output_of(job))
        self.assertEqual((seen["LEVEL"], seen["LR"], seen["SEED"]), ("daemon", "2", "7"))

    def test_a_job_judged_late_finds_its_context_in_its_record(self):
        self.daemon.stop()
        job = self.sbatch("--cox-image=X_REGION=forged", script=PRINT).job
        task = self.job(job)["AdminComment"].split(" ")[0]
        self.root("scontrol", "update", f"JobId={job}",
                  f'AdminComment={task} queued X_REGION=cn%2Dbeijing {{"image":" X_REGION=forged "}}')
        seen = tasks(self.output_of(job))[0]
        self.assertEqual((seen["X_REGION"], seen["TASK_UUID"]), ("cn-beijing", task[4:]))

    # --- ports ---

    def test_two_jobs_of_one_host_at_once_have_different_free_ports(self):
        with socket.socket() as taken:
            first = self.sbatch(script=f"{PRINT}; sleep 1").job
            second = self.sbatch(script=f"{PRINT}; sleep 1").job
            taken.bind(("127.0.0.1", 20000 + first % 12000))
            taken.listen()
            self.root("scontrol", "release", second)
            seen = [tasks(self.output_of(job))[0]["MASTER_PORT"] for job in (first, second)]
        self.assertEqual(seen, [str(20000 + (first + 4099) % 12000), self.port(second)])

    def test_the_port_of_a_batch_job_is_that_of_its_steps(self):
        job_script = f"{PRINT}; srun {PRINT}"
        job = self.sbatch("-N2", script=job_script).job
        with socket.socket() as taken:
            taken.bind(("0.0.0.0", 20000 + job % 12000))
            taken.listen()
            ports = {task["MASTER_PORT"] for task in tasks(self.output_of(job))}
        self.assertEqual(ports, {str(20000 + (job + 4099) % 12000)})

    # --- attempts ---

    def test_a_retry_has_its_own_uuid_and_index(self):
        job = self.sbatch("-N2", "--open-mode=append", script=f"{PRINT}; srun {PRINT}; sleep 0.2").job
        root = self.root_uuid()
        self.output_of(job)
        self.until(lambda: self.root("scontrol", "requeuehold", job).code == 0, "taken back")

        def ran_again():
            shown = self.job(job)
            if shown["Reason"] == "job_requeued_in_held_state":
                self.root("scontrol", "release", job)
            elif shown["Reason"] == "BeginTime":  # Slurm puts a requeued job off by two minutes
                self.root("scontrol", "update", f"JobId={job}", "StartTime=now")
            return (shown["Restarts"], shown["JobState"]) == ("1", "COMPLETED")

        self.until(ran_again, "the second attempt ends")
        seen = {(task["TASK_UUID"], task["RETRY_INDEX"])
                for task in tasks(pathlib.Path(self.cwd, f"slurm-{job}.out").read_text())}
        self.assertEqual(seen, {(root, "0"), (str(uuid.uuid5(uuid.UUID(root), "1")), "1")})

    # --- srun and salloc ---

    def test_srun_alone(self):
        job, text = self.interactive("srun", "-N2", "--ntasks-per-node=2", "bash", "-c", PRINT)
        one, two = self.expected(job, "n1", 0, 2), self.expected(job, "n2", 1, 2)
        self.assertEqual(tasks(text), [one, one, two, two], text)

    def test_salloc_and_srun(self):
        job, text = self.interactive("salloc", "-N2", "bash", "-c",
                                     f"srun {PRINT}; srun -N1 -n1 -w n2 {PRINT}; srun --export=NONE -N1 -n1 -w n1 {PRINT}")
        one, two = self.expected(job, "n1", 0, 2), self.expected(job, "n2", 1, 2)
        self.assertEqual(tasks(text), [one, one, two, two], text)

    def test_srun_alone_passes_the_whole_context(self):
        _, text = self.interactive("srun", "env")
        seen = bed.environment(text)
        self.assertEqual({name: seen.get(name) for name in CONTEXT}, CONTEXT)

    def test_a_look_into_a_running_job_sees_its_contract(self):
        job = self.sbatch("-N2", script="sleep 600").job
        self.root("scontrol", "release", job)
        self.until(lambda: self.job(job)["JobState"] == "RUNNING", "running")
        seen = tasks(self.user("srun", f"--jobid={job}", "--overlap", "-N2", "bash", "-c", PRINT).out)
        self.assertEqual(seen, [self.expected(job, "n1", 0, 2), self.expected(job, "n2", 1, 2)])
        self.root("scancel", job)

    # --- not ours ---

    def test_foreign_jobs_see_nothing(self):
        words = re.compile(r"COX|MASTER_|^RANK|WORLD_SIZE|TASK_UUID|RETRY_INDEX|^X_", re.MULTILINE)
        done = self.user("sbatch", "-p", "foreign", "--wrap", "env; srun env")
        self.assertNotRegex(self.output_of(done.job), words)
        for command in (("srun", "-p", "foreign", "env"), ("salloc", "-p", "foreign", "srun", "env")):
            self.assertNotRegex(self.user(*command).out, words)

    def test_a_job_submitted_from_within_a_managed_one_does_not_inherit_its_contract(self):
        inner = "; ".join([f"sbatch -o inner.foreign -p foreign --wrap env", f"sbatch -o inner.managed --wrap \"{'env'}\"",
                           "salloc -p foreign env > inner.salloc"])
        job = self.sbatch("-N2", "--cox-type=ray", script=inner).job
        outer = self.root_uuid()
        self.output_of(job)
        managed = int(re.findall(r"batch job (\d+)", pathlib.Path(self.cwd, f"slurm-{job}.out").read_text())[-1])
        self.assertEqual(self.daemon.requests[-1]["job"]["options"], {})
        self.root("scontrol", "release", managed)
        self.until(lambda: self.job(managed)["JobState"] == "COMPLETED", "the inner job ends")
        inner = pathlib.Path(self.cwd, "inner.managed").read_text()
        seen = bed.environment(inner)
        self.assertEqual((seen["WORLD_SIZE"], seen["MASTER_PORT"]), ("1", self.port(managed)))
        self.assertNotIn(outer, inner)
        for name in ("inner.foreign", "inner.salloc"):
            self.assertNotRegex(pathlib.Path(self.cwd, name).read_text(), r"_COX_|MASTER_|(?m:^RANK)|TASK_UUID|(?m:^X_)")


class Surroundings(bed.BedTest):
    """Where users may not look at nodes, and root's scripts run before their jobs."""

    nodes = 2
    slurm_conf = ("PrivateData=nodes,jobs", f"Prolog={bed.ROOT}/tests/slurm/print_environment", "PrologFlags=Alloc")

    def test_the_address_is_found_where_nodes_are_hidden(self):
        job = self.sbatch("-N2", script=f"srun {PRINT}").job
        self.assertEqual([task["MASTER_ADDR"] for task in tasks(self.output_of(job))], ["127.0.0.1"] * 2)

    def test_nothing_of_the_users_environment_reaches_roots_scripts(self):
        done = self.sbatch("--cox-type=ray", "--cox-queue=team", env={
            "LD_PRELOAD": "/no/such.so", "BASH_ENV": "/tmp/x", "SLURM_SPANK_LD_PRELOAD": "/x", "SPANK_PATH": "/x",
            "COX_TASK_UUID": "forged", "PATH": "/usr/bin:/bin:/usr/sbin:/mine"})
        self.output_of(done.job)
        seen = bed.environment(pathlib.Path(self.cwd, f"prolog.{done.job}").read_text())
        self.assertEqual({name: value for name, value in seen.items() if name.startswith("SPANK_")}, {
            "SPANK_COX_TASK_UUID": self.daemon.requests[-1]["job"]["uuid"],
            "SPANK__SLURM_SPANK_OPTION_cox_cox_type": "ray",
            "SPANK__SLURM_SPANK_OPTION_cox_cox_queue": "team"})
        self.assertFalse([name for name in seen if name.startswith("LD_") or name == "BASH_ENV"])
        self.assertNotIn("/mine", seen.get("PATH", ""))


class NodeWithoutShim(bed.BedTest):
    """A node where the plug-in is missing must not run a managed job; adapters/slurm/prolog sees to it."""

    nodes = 1
    slurm_conf = (f"Prolog={bed.ROOT}/adapters/slurm/prolog/cox-prolog", "PrologFlags=Alloc")

    def test_the_job_fails_before_the_users_code(self):
        plugstack = pathlib.Path(self.dir, "bed/etc/plugstack.conf")
        job = self.sbatch("--cox-type=ray", script="touch ran").job
        foreign = self.sbatch("-p", "foreign").job
        self.until(lambda: self.job(foreign)["JobState"] == "COMPLETED", "the foreign job is let through")
        plugstack.write_text("# required spank_cox.so\n")
        self.root("scontrol", "release", job)
        self.until(lambda: self.job(job)["Reason"] == "launch_failed_requeued_held", "taken back")
        self.assertFalse(pathlib.Path(self.cwd, "ran").exists())
        self.assertIn("DRAIN", self.root("sinfo", "-h", "-N", "-o", "%T").out.upper())


if __name__ == "__main__":
    unittest.main(verbosity=2)
