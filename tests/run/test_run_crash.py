# SPDX-License-Identifier: Apache-2.0
"""`ebb run` is killed (SIGKILL) at every numbered step: the next one neither loses nor repeats the occurrence, whatever was written of it.

Needs a program built with EBB_FAILPOINTS."""

import contextlib
import os
import shutil
import sqlite3
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import program  # noqa: E402
from test_run import Base  # noqa: E402

DAY = 86400


class Killed(Base):
    def policy_at(self, seconds):
        """Due once a day, last half a day ago: no hour turns while the test runs."""
        minute = time.strftime("%H:%M", time.gmtime(seconds))
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { time.calendar { "%s" } },\n'
                   "decide = function(t, ctx) return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 }) end }" % minute)

    def setUp(self):
        super().setUp()
        self.policy_at(time.time() - DAY / 2)
        self.bind("enforce")
        self.folder = self.table("a")
        self.activate()
        self.kept = self.top + ".kept"
        shutil.copytree(self.top, self.kept, symlinks=True)
        self.addCleanup(shutil.rmtree, self.kept)

    def again(self):
        shutil.rmtree(self.top)
        shutil.copytree(self.kept, self.top, symlinks=True)

    def run_with(self, env):
        return program.run(["run", "--json"], config=self.config, state=self.state, env=env)

    def rows(self, sql):
        with contextlib.closing(sqlite3.connect(os.path.join(self.state, "ebb.db"))) as db:
            return db.execute(sql).fetchall()

    def steps(self, again=(0,)):
        trace = os.path.join(self.top, "trace")
        done = self.run_with({"EBB_FAILPOINT_TRACE": trace})
        self.assertIn(done.status, again, done.err)
        if not os.path.exists(trace):
            self.skipTest("the program has no failpoints (build it with EBB_FAILPOINTS)")
        with open(trace, encoding="ascii") as f:
            return [line.split(" ")[1].strip() for line in f]

    def check(self, name):
        data = os.listdir(os.path.join(self.folder, "data"))
        self.assertEqual({"live.parquet", "young.parquet"}, set(data), name)
        self.assertEqual([("succeeded",)], [(["queued", "started", "succeeded", "failed", "cancelling", "cancelled", "unknown"][s],)
                                            for s, in self.rows("SELECT state FROM job")], name)
        runs = self.rows("SELECT status FROM record WHERE kind = 1 AND json LIKE '%\"kind\":\"apply\"%'")
        self.assertEqual([("done",)], runs, name)
        self.assertEqual([("ok",)], self.rows("PRAGMA integrity_check"), name)

    def test_every_step(self):
        names = self.steps()
        for must in ("pass.release.before", "pass.release.after", "pass.job.started", "work.remove.before", "journal.claim.after", "pass.job.done", "pass.job.ended"):
            self.assertIn(must, names)
        self.check("undisturbed")
        for number, name in enumerate(names, 1):
            with self.subTest(step=number, name=name):
                self.again()
                done = self.run_with({"EBB_FAILPOINT": str(number)})
                self.assertEqual(-9, done.status, done.err)
                after = self.run_with({})
                self.assertEqual(0, after.status, after.err)
                self.check(name)
                last = self.run_with({})
                self.assertEqual(0, last.status, last.err)
                self.assertEqual(["not due"], [r["status"] for r in self.reports(last).values()])
                self.check(name)

    def test_killed_again_while_it_recovers(self):
        names = self.steps()
        for first in ("pass.release.after", "pass.job.started", "journal.claim.after", "pass.job.done"):
            for second in ("pass.job.started", "pass.job.done"):
                with self.subTest(first=first, second=second):
                    self.again()
                    self.assertEqual(-9, self.run_with({"EBB_FAILPOINT": str(names.index(first) + 1)}).status)
                    steps = self.steps(again=(0, 3))
                    self.again()
                    self.assertEqual(-9, self.run_with({"EBB_FAILPOINT": str(names.index(first) + 1)}).status)
                    if second in steps:
                        self.assertEqual(-9, self.run_with({"EBB_FAILPOINT": str(steps.index(second) + 1)}).status)
                    self.assertEqual(0, self.run_with({}).status)
                    self.check("%s, %s" % (first, second))


class Left(Killed):
    """A job that an earlier pass left, when the binding is another one by now."""

    def test_every_step(self):
        names = self.steps()
        for mode, state in (("observe", 5), ("approve", 5), ("enforce", 2)):
            with self.subTest(mode):
                self.again()
                self.run_with({"EBB_FAILPOINT": str(names.index("pass.release.after") + 1)})
                self.bind(mode)
                done = self.run_with({})
                self.assertEqual(0, done.status, done.err)
                self.assertEqual([(state,)], self.rows("SELECT state FROM job"))
                self.assertEqual(state == 5, os.path.exists(os.path.join(self.folder, "data", "old-1.parquet")))

    test_killed_again_while_it_recovers = None

    def test_while_another_works_here(self):
        """One that leads the store: nothing is looked at, nothing is done; a dry pass may look."""
        import fcntl
        with open(os.path.join(self.state, "ebb.serve.lock"), "a+", encoding="ascii") as f:
            fcntl.lockf(f, fcntl.LOCK_EX)
            done = self.ebb("run", "--json")
            self.assertEqual((2, "run.locked", ""), (done.status, done.error()["code"], done.out))
            self.assertIn("ebb serve", done.error()["hint"])
            self.assertEqual([], self.rows("SELECT id FROM job"))
            self.assertEqual("ready", self.reports(self.ebb("run", "--json", "--dry-run"))["lake.db.a"]["status"])
        self.assertEqual("done", self.reports(self.ebb("run", "--json"))["lake.db.a"]["status"])


if __name__ == "__main__":
    unittest.main()
