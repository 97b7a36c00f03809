# SPDX-License-Identifier: Apache-2.0
"""The daemon is killed (SIGKILL) right before and after what jobs do to tables: the next one brings each job to its end, once.

Needs a program built with EBB_FAILPOINTS."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import daemon  # noqa: E402
import program  # noqa: E402
import test_api  # noqa: E402

ALL = ["live.parquet", "old-1.parquet", "old-2.parquet", "young.parquet"]
LEFT = ["live.parquet", "young.parquet"]
killed_at = set()


class Crash(test_api.Base):
    def files(self):
        return sorted(os.listdir(os.path.join(self.folder, "data")))

    def dies_at(self, name, begin):
        """Start a daemon that dies at a step, let begin(daemon) ask for the job; then start one that does not die. (daemon, job's end)"""
        d = daemon.Daemon(self.config, self.state, env={"EBB_FAILPOINT": name})
        self.addCleanup(d.__exit__)
        d.start()
        daemon.wait(d.is_ready)
        job = begin(d)["id"]
        daemon.wait(lambda: d.process.poll() is not None, what="the death at " + name)
        self.assertEqual(-9, d.process.returncode, name)
        killed_at.add(name)
        d = self.start()
        return d, self.job(d, job)

    def has_failpoints(self):
        with open(program.path(), "rb") as f:
            if b"EBB_FAILPOINT_TRACE" not in f.read():
                self.skipTest("the program has no failpoints (build it with EBB_FAILPOINTS)")

    def applied(self, d):
        plan, _ = self.plan(d)
        return self.job(d, self.post(d, "/api/plans/%s/apply" % plan, None, 202)["id"])["run"]

    def round(self, when):
        self.configure()
        d = self.start()
        plan, _ = self.plan(d)
        d.kill()
        d, done = self.dies_at("work.apply." + when, lambda d: self.post(d, "/api/plans/%s/apply" % plan, None, 202))
        self.assertEqual(("succeeded", LEFT), (done["state"], self.files()), done)
        run = done["run"]
        self.assertEqual(["done"], [r["status"] for r in self.get(d, "/api/runs")["items"] if r["kind"] == "apply"])
        d.kill()
        d, done = self.dies_at("work.restore." + when, lambda d: self.post(d, "/api/runs/%s/restore" % run, {}, 202))
        self.assertEqual(("succeeded", ALL), (done["state"], self.files()), done)
        run = self.applied(d)
        d.kill()
        d, done = self.dies_at("work.purge." + when, lambda d: self.post(d, "/api/runs/%s/purge" % run, {"older_than": "0s"}, 202))
        self.assertEqual(("succeeded", LEFT), (done["state"], self.files()), done)
        self.assertEqual("purged", self.get(d, "/api/runs/" + run)["status"])

    def test_before(self):
        self.has_failpoints()
        self.round("before")

    def test_after(self):
        self.has_failpoints()
        self.round("after")


class Zz(unittest.TestCase):
    """Last, by its name."""

    def test_every_point_of_what_people_ask_for_was_passed(self):
        if not killed_at:
            self.skipTest("no other test ran")
        with open(os.path.join(program.ROOT, "core", "service", "work_apply.c"), encoding="utf-8") as f:
            self.assertEqual(set(), set(re.findall(r'EBB_FAILPOINT\("([^"]+)"\)', f.read())) - killed_at)


if __name__ == "__main__":
    unittest.main(verbosity=2)
