"""The --cox-* options in sbatch, srun and salloc, and what the plug-in asks the daemon."""
import pathlib
import unittest

import bed

ALLOWED = {
    "--cox-type=mpi": "one of: pytorch, ray",
    "--cox-visibility=all": "one of: private, project",
    "--cox-project=a/b": "a name of letters, digits, '.', '_' and '-'",
    "--cox-label=team": "a list KEY=VALUE[,KEY=VALUE...]",
    "--cox-time-zone=+8": "an IANA time zone such as Asia/Shanghai",
    "--cox-image=a b": "an image reference without blanks",
    "--cox-image-retries=-2": "a whole number, 0 or more, or -1 for no limit",
    "--cox-metrics-port=65536": "a port from 1 to 65535",
    "--cox-metrics-path=metrics": "an absolute path such as /metrics",
    "--cox-capacity-type=free": "one of: reserved, on-demand, spot, idle",
    "--cox-flavors=h100.1g:0": "a list NAME[:COUNT][,NAME[:COUNT]...], COUNT from 1 to 99999",
    "--cox-flavors=h100.1g:8,": "a list NAME[:COUNT][,NAME[:COUNT]...], COUNT from 1 to 99999",
    "--cox-workers=-1": "a whole number, 0 or more",
    "--cox-workers=3x": "a whole number, 0 or more",
    "--cox-gang-min=0": "auto or a whole number, 1 or more",
    "--cox-idle-stability=good": "one of: high, medium, low",
    "--cox-priority=hig": "one of: high, medium, low",
    "--cox-grace=": "a whole number, 0 or more",
    "--cox-node-in=n 1": "a Slurm node list such as n[1-4],n9",
    "--cox-topology-required=a/b": "a name of letters, digits, '.', '_' and '-'",
    "--cox-failure-policy=always": "one of: on-failure, on-infra-failure, exit-code-and-log, never",
}

EVERY_OPTION = {
    "type": "pytorch", "project": "nlp", "region": "cn-shanghai", "cluster": "auriga",
    "visibility": "project", "label": "team=nlp,stage=sft", "time-zone": "Asia/Shanghai",
    "image": "registry/x:1", "image-retries": "-1", "metrics-port": "9100", "metrics-path": "/metrics",
    "capacity-type": "on-demand", "queue": "team-shared", "flavors": "h200.1g:8,h100.1g", "workers": "1",
    "gang-min": "auto", "idle-stability": "low", "priority": "high", "grace": "30", "node-in": "n[1-3]",
    "node-not-in": "n4,n5", "node-ttl": "3600", "max-retries": "3", "failure-policy": "on-infra-failure",
    "max-preemption-retries": "-1", "hang-silence": "1800",
    "topology-required": "rack", "topology-preferred": "block", "spread": "true",
    "accept-idle": "true", "prefer-idle": "true", "guarantee": "true",
}
FLAGS = ("accept-idle", "prefer-idle", "guarantee", "spread")


class Options(bed.BedTest):
    nodes = 1

    def asked(self):
        self.assertEqual(len(self.daemon.requests), 1)
        return self.daemon.requests[0]["job"]

    def script(self, *lines):
        path = pathlib.Path(self.cwd, "job.sh")
        path.write_text("\n".join(["#!/bin/bash", *lines, "true"]) + "\n")
        return path

    def test_help_lists_every_option_in_each_command(self):
        for command in ("sbatch", "srun", "salloc"):
            shown = self.user(command, "--help").out
            for option in EVERY_OPTION:
                self.assertIn(f"--cox-{option}", shown)

    def test_every_option_reaches_the_daemon_from_the_command_line(self):
        arguments = [f"--cox-{key}" if key in FLAGS else f"--cox-{key}={value}"
                     for key, value in EVERY_OPTION.items()]
        self.assertEqual(self.sbatch(*arguments).code, 0)
        self.assertEqual(self.asked()["options"], EVERY_OPTION)

    def test_every_option_reaches_the_daemon_from_sbatch_lines(self):
        lines = [f"#SBATCH --cox-{key}" if key in FLAGS else f"#SBATCH --cox-{key}={value}"
                 for key, value in EVERY_OPTION.items()]
        self.assertEqual(self.user("sbatch", self.script(*lines)).code, 0)
        self.assertEqual(self.asked()["options"], EVERY_OPTION)

    def test_the_command_line_wins_over_the_script(self):
        script = self.script("#SBATCH --cox-queue=from-script", "#SBATCH --cox-type=ray")
        self.assertEqual(self.user("sbatch", "--cox-queue=from-line", script).code, 0)
        self.assertEqual(self.asked()["options"], {"queue": "from-line", "type": "ray"})

    def test_srun_and_salloc_send_their_options_too(self):
        self.daemon.reply = lambda request: {"v": 1, "verdict": "reject", "text": "seen"}
        for command in ("srun", "salloc"):
            self.daemon.requests.clear()
            done = self.user(command, "--cox-type=ray", "--cox-guarantee", "true")
            self.assertNotEqual(done.code, 0)
            self.assertEqual(self.asked()["options"], {"type": "ray", "guarantee": "true"})
            self.assertEqual(self.asked()["kind"], "interactive")

    def test_a_bad_value_is_answered_with_what_is_allowed(self):
        for argument, allowed in ALLOWED.items():
            done = self.sbatch(argument)
            self.assertNotEqual(done.code, 0)
            self.assertIn(f"sbatch: error: cox: {argument}: must be {allowed}\n", done.err)
        self.assertEqual(self.daemon.requests, [])

    def test_a_bad_value_is_answered_by_srun_salloc_and_in_a_script(self):
        text = "cox: --cox-type=mpi: must be one of: pytorch, ray\n"
        for command in (("srun", "--cox-type=mpi", "true"), ("salloc", "--cox-type=mpi", "true"),
                        ("sbatch", self.script("#SBATCH --cox-type=mpi"))):
            done = self.user(*command)
            self.assertNotEqual(done.code, 0)
            self.assertIn(f"{command[0]}: error: {text}", done.err)

    def test_an_unknown_option_is_refused(self):
        done = self.sbatch("--cox-tpye=pytorch")
        self.assertNotEqual(done.code, 0)
        self.assertIn("unrecognized option '--cox-tpye=pytorch'", done.err)

    def test_native_fields_are_asked_along(self):
        done = self.sbatch("-N2", "-t", "90", "-A", "nlp", "-J", "llama", "--gres=gpu:h100:8", "-c4",
                           "--mem=2G", "-x", "n1", "-d", "after:1", "-p", "train", "--exclusive")
        self.assertEqual(done.code, 0, done.err)
        request = self.daemon.requests[0]
        job = request["job"]
        self.assertEqual((request["v"], request["op"], request["uid"]), (1, "submit", 65534))
        self.assertEqual({key: job[key] for key in ("name", "partition", "account", "nodes", "time_limit_s", "kind",
                                                    "options")},
                         {"name": "llama", "partition": "train", "account": "nlp", "nodes": 2,
                          "time_limit_s": 5400, "kind": "batch", "options": {}})
        self.assertEqual(job["slurm"], {"tres_per_node": "gres:gpu:h100:8", "cpus_per_task": 4,
                                        "max_nodes": 2, "mem_mib_per_node": 2048, "exclude": "n1", "min_cpus": 8,
                                        "dependency": "after:1", "exclusive": 1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
