"""cox-slurm --record writes what its cycles saw and decided; cox-replay decides the same again."""
import json
import os
import pathlib
import subprocess
import unittest

import bed
import live

COX_REPLAY = bed.BUILD / "bin/cox-replay"


class Record(live.LiveTest):
    @classmethod
    def start_daemon(cls):
        cls.recording = pathlib.Path(cls.dir, "cycles.jsonl")
        cls.daemon_options = ("--record", cls.recording)
        super().start_daemon()

    def replay(self):
        return subprocess.run([COX_REPLAY, self.recording, bed.BUILD / "plugins"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def test_each_cycle_of_a_jobs_life_is_decided_again_to_the_same_bytes(self):
        holder = self.foreign("-w", "n1", "--gres=gpu:8")
        waits = self.submit("true", "--gres=gpu:h100:8", "--cox-node-in=n1", user=bed.NOBODY)
        self.wait_comment(waits, "Pending InsufficientResources")
        gang = self.submit("srun true", "-N2", "--cox-flavors=a100.1g:8,h100.1g:8")
        self.wait_task(gang, "Succeeded")
        self.root("scancel", holder)
        self.wait_task(waits, "Succeeded")
        self.stop_daemon()

        done = self.replay()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"^\d+ cycles, 0 different$")
        lines = [json.loads(line) for line in self.recording.read_text().splitlines()]
        self.assertEqual(lines[0]["kind"], "site")
        starts = [start for line in lines[1:] for start in line["decision"]["starts"]]
        self.assertEqual(len(starts), 2)
        self.assertEqual(os.stat(self.recording).st_mode & 0o777, 0o600)

        # It could have differed: on nodes that are not ready nothing would have started.
        for line in lines[1:]:
            for node in line["snapshot"]["nodes"]:
                node["ready"] = False
        self.recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = self.replay()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("/starts/0", done.stdout)


if __name__ == "__main__":
    unittest.main()
