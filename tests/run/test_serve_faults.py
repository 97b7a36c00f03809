# SPDX-License-Identifier: Apache-2.0
"""ebb serve while memory runs out or its disk is full: it goes on or ends in order, nothing live goes, and the next start ends what was begun."""

import os
import random
import shutil
import sqlite3
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "fault"))

import daemon  # noqa: E402
import preload  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402

ENOMEM, ENOSPC = 12, 28
TIMES = 30 if os.environ.get("EBB_CI") else 8
LOOK_S = 1.5  # how long a daemon with a fault is watched


class Faults(test_serve.Base):
    def setUp(self):
        super().setUp()
        self.library = preload.build(self.top)
        self.random = random.Random(int(os.environ.get("EBB_SEED", "1")))
        self.policy()
        self.bind("enforce")
        self.folders = [self.table(name) for name in "abcd"]
        self.live = self.tree()

    def tree(self):
        found = {p: v for f in self.folders for p, v in program.tree(f, without=(test_serve.QUARANTINE,)).items()}
        return {p: v for p, v in found.items() if not os.path.basename(p).startswith("old")}

    def renew(self):
        """All as before the first run: old files that are due, an empty state."""
        shutil.rmtree(self.state, ignore_errors=True)
        for folder, name in zip(self.folders, "abcd"):
            shutil.rmtree(os.path.join(folder, test_serve.QUARANTINE), ignore_errors=True)
            for file in ("old-1", "old-2"):
                self.write("wh/db/%s/data/%s.parquet" % (name, file), file, 10 * test_run.DAY)
        self.activate()

    def calls(self, what, kind):
        self.renew()
        counts = os.path.join(self.top, "counts")
        d = self.ready(self.serve(env=preload.fault(self.library, what, count=counts)))
        self.ended(4)
        self.assertEqual(0, d.stop())
        return preload.read_counts(counts)[kind]

    def is_over(self, d):
        try:
            return d.process.poll() is not None or (d.is_serving() and not d.status()["store"]["ok"]) or self.states().count("succeeded") >= 4
        except (AssertionError, OSError, ValueError, sqlite3.Error):
            return False

    def try_one(self, what, number, error, mode):
        self.renew()
        d = daemon.Daemon(self.config, self.state, env=preload.fault(self.library, what, number, error, mode))
        d.spawn()
        try:
            until = time.monotonic() + LOOK_S
            while time.monotonic() < until and not self.is_over(d):
                time.sleep(0.02)
            status = d.process.poll()
            if status is None:
                status = d.stop()
        finally:
            d.__exit__()
        if "CHECK failed: sanitizer_" in d.said():  # the sanitizer's own allocation, when a thread starts
            return
        at = "%s:%d:%s: %s" % (what, number, mode, d.said()[-2000:])
        self.assertIn(status, (0, 3, 4, 64), at)
        self.assertEqual(self.live, self.tree(), at)

    def go_on(self):
        """Without faults: the store is whole, no job is left over."""
        d = self.ready(self.serve())
        daemon.wait(lambda: not {"queued", "started", "unknown", "cancelling"} & set(self.states()) or d.status()["jobs"]["queued"], what="the end of all jobs")
        self.assertEqual(0, d.stop())
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            self.assertEqual([("ok",)], db.execute("PRAGMA integrity_check").fetchall())
        db.close()
        occurrences = [j[4] for j in self.jobs()]
        self.assertEqual(len(occurrences), len(set(occurrences)))
        self.assertEqual(self.live, self.tree())

    def faults(self, what, kind, error, modes):
        most = self.calls(what, kind)
        for _ in range(TIMES):
            self.try_one(what, self.random.randint(1, most), error, self.random.choice(modes))
            self.go_on()

    def test_memory(self):
        self.faults("alloc", "alloc", ENOMEM, ("once",))

    def test_full_disk(self):
        self.faults("pwrite", "io", ENOSPC, ("once", "on"))

    def test_disk_that_fails_to_sync(self):
        self.faults("fsync", "io", 5, ("once", "on"))


if __name__ == "__main__":
    unittest.main()
