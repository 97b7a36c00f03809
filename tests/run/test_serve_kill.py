# SPDX-License-Identifier: Apache-2.0
"""ebb serve killed again and again while events come and jobs run: nothing is started twice, nothing is lost, no live file goes."""

import collections
import os
import random
import shutil
import sqlite3
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402

SECONDS = float(os.environ.get("EBB_SERVE_SECONDS", "120" if os.environ.get("EBB_CI") else "20"))
TABLES = 6
MIB = 1 << 20


class Kill(test_serve.Base):
    def setUp(self):
        super().setUp()
        self.random = random.Random(int(os.environ.get("EBB_SEED", "1")))
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { on.event { "files.left" } },\n'
                                         'guard = { overlap = "queue_one", deletes = { max_share = 1.0 }, backoff = { after_failures = 1000, first = "1s", max = "1s" } },\n'
                                         "decide = function(t, ctx) %s end }" % test_run.RUN)
        self.bind("enforce", serve='poll = "5s", jobs = 3')
        self.folders = {"t%d" % i: self.table("t%d" % i) for i in range(TABLES)}
        self.live = {p: v for f in self.folders.values() for p, v in program.tree(f).items() if not os.path.basename(p).startswith("old")}
        self.planted = self.told = self.kills = 0

    def plant(self, name):
        """Files that an event then tells of; the event is told until it is taken."""
        for _ in range(self.random.randint(1, 40)):
            self.planted += 1
            self.write("wh/db/%s/data/old-p%06d.parquet" % (name, self.planted), "x" * self.random.randint(0, 99), 10 * test_run.DAY)

    def tell(self, d, name):
        self.told += 1
        body = {"source": "test", "id": "e-%d" % self.told, "type": "files.left", "table": "lake.db." + name}
        try:
            return d.ask("/api/events", "POST", body, timeout=20).status == 202
        except OSError:
            return False

    def left(self):
        return [n for f in self.folders.values() for n in self.old(f)]

    def check_store(self):
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            self.assertEqual([("ok",)], db.execute("PRAGMA integrity_check").fetchall())
            occurrences = collections.Counter(row[0] for row in db.execute("SELECT occurrence FROM job WHERE occurrence <> ''"))
            runs = collections.Counter(row[0] for row in db.execute(
                "SELECT p.parent FROM record r JOIN record p ON p.id = r.parent WHERE r.kind = 1 AND p.kind = 0 AND p.parent <> ''"))
            bad = db.execute("SELECT r.tbl, m.path, count(*) FROM move m JOIN record r ON r.id = m.run AND r.kind = 1 WHERE m.state = 1 GROUP BY r.tbl, m.path HAVING count(*) > 1").fetchall()
        db.close()
        self.assertEqual({}, {k: n for k, n in occurrences.items() if n > 1})
        self.assertEqual({}, {k: n for k, n in runs.items() if n > 1})
        self.assertEqual([], bad)
        return len(occurrences)

    def check_files(self):
        now = {p: v for f in self.folders.values() for p, v in program.tree(f, without=(test_serve.QUARANTINE,)).items()}
        self.assertEqual({}, {p: (v, now.get(p)) for p, v in self.live.items() if now.get(p) != v})

    def round(self, waiting, end=None):
        d = daemon.Daemon(self.config, self.state)
        d.spawn()
        try:
            daemon.wait(d.is_serving)
            until = time.monotonic() + self.random.uniform(0, 2.5)
            while time.monotonic() < until:
                name = self.random.choice(sorted(self.folders))
                self.plant(name)
                waiting.add(name)
                for told in sorted(waiting):
                    if self.tell(d, told):
                        waiting.discard(told)
            if end:
                end(d)
        finally:
            d.kill()
        self.kills += 1
        self.check_files()

    def finish(self, waiting):
        d = self.ready(self.serve())
        for name in sorted(waiting):
            self.assertTrue(self.tell(d, name))
        daemon.wait(lambda: not self.left(), 180, 0.2, "the end of all files that were told of")
        daemon.wait(lambda: not {"queued", "started", "unknown"} & set(self.states()), 60, 0.2, "the end of all jobs")
        return d

    def test_kill_in_a_loop(self):
        waiting = set()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.round(waiting)
        d = self.finish(waiting)
        self.assertEqual(0, d.stop())
        self.check_files()
        count = self.check_store()
        self.assertGreaterEqual(self.kills, 2)
        program.measured("kill -9 %d times in %g s, %d files and %d events, %d occurrences: none twice, none lost" % (self.kills, SECONDS, self.planted, self.told, count))

    def test_terminate_in_a_loop(self):
        def stop(d):
            self.assertEqual(0, d.stop(), d.said()[-2000:])

        waiting = set()
        end = time.monotonic() + SECONDS / 2
        while time.monotonic() < end:
            self.round(waiting, stop)
        d = self.finish(waiting)
        self.assertEqual(0, d.stop())
        self.check_files()
        self.check_store()

    def cycle(self, d, times):
        for i in range(times):
            name = "t%d" % (i % TABLES)
            self.plant(name)
            self.assertTrue(self.tell(d, name))
            daemon.wait(lambda: not self.left(), 60, 0.02)
        daemon.wait(lambda: not d.status()["jobs"]["started"])
        daemon.wait(lambda: not d.status()["looks"]["running"])

    def test_level_of_memory_and_handles(self):
        d = self.ready(self.serve(env={"ASAN_OPTIONS": "quarantine_size_mb=1:" + os.environ.get("ASAN_OPTIONS", "")}))
        for name in self.folders:
            self.assertTrue(self.tell(d, name))
        self.cycle(d, 2 * TABLES)
        fds, rss = d.fds(), d.rss_bytes()
        self.cycle(d, 6 * TABLES)
        self.assertLessEqual(d.fds(), fds + 4)
        self.assertLess(d.rss_bytes(), rss * 1.3 + 16 * MIB)
        program.measured("fds %d then %d, memory %.1f then %.1f MiB after %d more jobs" % (fds, d.fds(), rss / MIB, d.rss_bytes() / MIB, 6 * TABLES))
        self.assertEqual(0, d.stop())
        self.check_files()
        self.check_store()

    def test_a_copy_of_the_state_is_whole(self):
        """The store as it stood when the process died is opened by another one."""
        d = self.ready(self.serve())
        self.plant("t1")
        self.assertTrue(self.tell(d, "t1"))
        d.kill()
        shutil.copytree(self.state, self.state + "2")
        self.state += "2"
        for name in self.folders:
            self.plant(name)
        d = self.finish(set(self.folders))
        self.assertEqual(0, d.stop())
        self.check_files()
        self.check_store()


if __name__ == "__main__":
    unittest.main()
