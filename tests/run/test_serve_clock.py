# SPDX-License-Identifier: Apache-2.0
"""ebb serve while the clock is set: a day back, a month forward. Nothing runs twice, what was missed runs as catch_up says."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402

SOURCE = os.path.join(os.path.dirname(HERE), "fault", "clock.c")
DAY = test_run.DAY
NOTHING_OLD = "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 4000 * 86400000 })"


class Clock(test_serve.Base):
    def setUp(self):
        super().setUp()
        library = os.path.join(self.top, "clock.so")
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library, SOURCE, "-ldl"], check=True)
        self.shift = os.path.join(self.top, "shift")
        self.env = {"LD_PRELOAD": library, "EBB_CLOCK_FILE": self.shift, "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
        self.table("a")

    def start(self, catch_up):
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { time.every { "6h", anchor = "epoch", catch_up = %s } },\n'
                                         "decide = function(t, ctx) %s end }" % (catch_up, NOTHING_OLD))
        self.bind("enforce", serve='poll = "1h"')
        self.activate()
        return self.ready(self.serve(env=self.env))

    def set(self, seconds, d, steps):
        looks = d.total("ebb_table_looks_total")
        with open(self.shift + ".new", "w", encoding="ascii") as f:
            f.write("%d" % seconds)
        os.rename(self.shift + ".new", self.shift)
        daemon.wait(lambda: d.status()["clock"]["steps"] >= steps, what="that the step is noticed")
        daemon.wait(lambda: d.total("ebb_table_looks_total") > looks, what="a look after the step")
        daemon.wait(lambda: not any(d.status()["looks"].values()) and not d.status()["jobs"]["started"], what="rest")

    def started(self):
        jobs = self.jobs()
        self.assertEqual(len(jobs), len({j[4] for j in jobs}))
        return len(jobs)

    def test_a_month_forward_and_back(self):
        d = self.start('"one"')
        self.ended(1)
        self.set(31 * DAY, d, 1)
        self.ended(2)
        self.assertEqual(2, self.started())
        self.set(0, d, 2)
        self.set(-DAY, d, 3)
        self.set(31 * DAY, d, 4)
        self.assertEqual(2, self.started())
        self.assertEqual(4, d.said().count("clock.stepped"))
        self.assertEqual(4, d.total("ebb_clock_steps_total"))
        self.set(32 * DAY, d, 5)
        self.ended(3)
        self.assertEqual(3, self.started())
        self.assertEqual(0, d.stop())

    def test_a_day_back_at_the_start(self):
        d = self.start('"one"')
        self.ended(1)
        self.set(-DAY, d, 1)
        self.assertEqual(1, self.started())
        self.assertEqual(0, d.stop())
        d = self.ready(self.serve(env=self.env))
        self.assertEqual(0, d.stop())
        self.assertEqual(1, self.started())

    def test_nothing_is_caught_up_when_that_is_said(self):
        d = self.start('"none", late_by = "1m"')
        daemon.wait(lambda: d.total("ebb_table_looks_total") >= 1)
        before = self.started()
        self.set(31 * DAY + 3 * 3600, d, 1)
        self.assertLessEqual(self.started() - before, 1)
        self.assertEqual(0, d.stop())

    def test_the_latest_are_caught_up(self):
        d = self.start('"all", max = 3')
        daemon.wait(lambda: self.started() >= 1)
        self.ended(3)
        before = self.started()
        self.set(31 * DAY, d, 1)
        self.ended(before + 3)
        self.set(31 * DAY + 60, d, 2)
        self.assertEqual(before + 3, self.started())
        self.assertEqual(0, d.stop())


if __name__ == "__main__":
    unittest.main()
