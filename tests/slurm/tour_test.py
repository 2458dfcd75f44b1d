"""`make demo` as a test: every step of the tour, played by the build under test."""
import os
import subprocess
import tempfile
import unittest

import bed


class Tour(unittest.TestCase):
    @unittest.skipIf(os.geteuid() != 0, "the tour submits as three users, so it needs root")
    def test_every_step_passes(self):
        with tempfile.TemporaryDirectory(prefix="cox-tour-") as state:
            done = subprocess.run([bed.ROOT / "scripts" / "demo", "tour", state], check=False, text=True,
                                  env=dict(os.environ, COX_PRESET=bed.BUILD.name),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
