# SPDX-License-Identifier: Apache-2.0
"""What is shared between threads is shared rightly: the units on it, built with the thread sanitizer."""

import os
import shutil
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "tsan")
UNITS = ("unit_engine_threads", "unit_service_host_decide", "unit_service_hub", "unit_service_metrics", "unit_service_notify", "unit_io_pool",
         "unit_io_http_client")


class Threads(unittest.TestCase):
    def do(self, *words, **more):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False, **more)
        self.assertEqual(0, done.returncode, done.stdout[-3000:] + done.stderr[-3000:])

    def test_evaluators_share_policies(self):
        if not shutil.which("cmake") or not shutil.which("ninja"):
            self.skipTest("cmake or ninja is not installed")
        self.do("cmake", "--preset", "tsan")
        self.do("cmake", "--build", BUILD, "--target", *UNITS)
        for unit in UNITS:
            with self.subTest(unit):
                self.do(os.path.join(BUILD, unit), env=dict(os.environ, TSAN_OPTIONS="halt_on_error=1:exitcode=66"))


if __name__ == "__main__":
    unittest.main()
