# SPDX-License-Identifier: Apache-2.0
"""The n-th allocation of `ebb run` fails: no live file goes, the store is whole, and after one more pass the occurrence has one job, which is over.

EBB_FAULT_POINTS: how many numbers are tried (default 60), spread over all."""

import errno
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "fault"))

import preload  # noqa: E402
import test_run_crash  # noqa: E402

POINTS = int(os.environ.get("EBB_FAULT_POINTS", "60"))


class MemoryRunsOut(test_run_crash.Killed):
    test_every_step = test_killed_again_while_it_recovers = None  # they have a file of their own

    def setUp(self):
        super().setUp()
        self.library = preload.build(self.top + ".kept")

    def look_over(self, n, first):
        data = set(os.listdir(os.path.join(self.folder, "data")))
        self.assertLessEqual({"live.parquet", "young.parquet"}, data, n)
        self.assertEqual([("ok",)], self.rows("PRAGMA integrity_check"), n)
        states = [s for (s,) in self.rows("SELECT state FROM job")]
        self.assertEqual(1, len(states), (n, states, first.err[-500:]))
        self.assertIn(states[0], (2, 3), (n, first.err[-500:]))  # succeeded or failed
        if states[0] == 2:
            self.assertEqual({"live.parquet", "young.parquet"}, data, n)
        self.assertLessEqual(len(self.rows("SELECT id FROM record WHERE kind = 1 AND json LIKE '%\"kind\":\"apply\"%'")), 1, n)

    def test_allocations(self):
        counts = os.path.join(self.kept, "counts")
        done = self.run_with(preload.fault(self.library, "alloc", count=counts))
        self.assertEqual(0, done.status, done.err)
        total = preload.read_counts(counts)["alloc"]
        for n in sorted({1 + i * total // POINTS for i in range(POINTS)}):
            self.again()
            first = self.run_with(preload.fault(self.library, "alloc", n, errno.ENOMEM))
            if "CHECK failed: sanitizer_" in first.err:
                continue
            self.assertGreaterEqual(first.status, 0, (n, first.err[-2000:]))
            self.assertNotIn("Sanitizer", first.err, n)
            self.assertNotIn("runtime error", first.err, n)
            second = self.run_with({})
            self.assertGreaterEqual(second.status, 0, (n, second.err[-2000:]))
            self.look_over(n, first)
        print("ebb run: %d allocations, %d tried" % (total, POINTS), flush=True)


if __name__ == "__main__":
    unittest.main()
