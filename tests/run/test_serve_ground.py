# SPDX-License-Identifier: Apache-2.0
"""The daemon when what it stands on gives way: a full disk, a store that may only be read or is damaged, policies that are gone. Nothing is done that
can't be recorded, what is wrong is told, and it goes on by itself when the place is mended."""
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402

EVENT = {"source": "test", "type": "thing.happened", "table": "lake.db.a"}


class Base(test_serve.Base):
    def setUp(self):
        super().setUp()
        self.policy_of_events()
        self.bind("enforce", serve='poll = "1h"')
        self.folder = self.table("a")
        self.before = program.tree(self.folder, without=(test_serve.QUARANTINE,))

    def policy_of_events(self):
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { on.event { "thing.happened" } },\n'
                                         "decide = function(t, ctx) return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 }) end }")

    def event(self, d, number):
        return d.ask("/api/events", "POST", dict(EVENT, id="e-%d" % number))

    def untouched(self):
        self.assertEqual(self.before, program.tree(self.folder, without=(test_serve.QUARANTINE,)))

    def live(self):
        after = program.tree(self.folder, without=(test_serve.QUARANTINE,))
        gone = {os.path.basename(p) for p in set(self.before) - set(after)}
        self.assertLessEqual(gone, {"old-1.parquet", "old-2.parquet"})
        self.assertEqual({}, {p: after[p] for p in after if self.before.get(p) != after[p]})

    def sound(self):
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            self.assertEqual("ok", db.execute("PRAGMA integrity_check").fetchone()[0])
        db.close()

    def mounted(self):
        """A state folder of 4 MiB."""
        os.makedirs(self.state)
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", self.state], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.state], check=True)

    def remount(self, *how):
        subprocess.run(["mount", "-o", "remount," + ",".join(how), self.state], check=True)

    def refuses_then_goes_on(self, d, mend):
        """The store can't be written now: it is told, nothing is begun; then it is mended."""
        daemon.wait(lambda: self.event(d, 1).status >= 500, what="an event that is not taken")
        answer = self.event(d, 2)
        self.assertIn(answer.status, (503, 507), answer.text)
        daemon.wait(lambda: d.ask("/readyz").status == 503, what="that it is not ready")
        status = d.status()
        self.assertFalse(status["store"]["ok"])
        self.assertTrue(status["store"]["error"] and status["store"]["since"], status["store"])
        self.assertFalse(status["ready"])
        self.assertTrue(status["why"])
        self.assertEqual(200, d.ask("/healthz").status)
        self.assertGreaterEqual(d.total("ebb_store_errors_total"), 1)
        self.untouched()
        mend()
        daemon.wait(lambda: self.event(d, 3).status == 202, what="an event that is taken again")
        daemon.wait(d.is_ready, what="readiness again")
        self.ended(1)
        self.live()
        self.assertEqual([], self.old(self.folder))
        self.assertEqual(0, d.stop())
        self.sound()


class Space(Base):
    def test_a_full_disk(self):
        self.mounted()
        d = self.ready(self.serve())
        filler = os.path.join(self.state, "filler")
        with open(filler, "wb") as f:
            try:
                while f.write(bytes(65536)) and f.flush() is None:
                    pass
            except OSError:
                pass
        self.refuses_then_goes_on(d, lambda: os.unlink(filler))

    def test_a_file_may_not_grow(self):
        d = self.ready(self.serve())
        size = os.path.getsize(os.path.join(self.state, "ebb.db-wal"))
        subprocess.run(["prlimit", "--pid", str(d.process.pid), "--fsize=%d:%d" % (size, resource.RLIM_INFINITY)], check=True)
        self.refuses_then_goes_on(d, lambda: subprocess.run(["prlimit", "--pid", str(d.process.pid), "--fsize=unlimited:unlimited"], check=True))

    def test_a_store_that_may_only_be_read(self):
        self.mounted()
        d = self.ready(self.serve())
        # Open files keep a file system writable: the store is taken away from SQLite instead by having no room for one page more.
        free = os.statvfs(self.state)
        used = (free.f_blocks - free.f_bavail) * free.f_bsize
        self.remount("size=%d" % max(used, free.f_bsize))
        self.refuses_then_goes_on(d, lambda: self.remount("size=8m"))


class Run(Base):
    def runs(self):
        with sqlite3.connect("file:%s/ebb.db?mode=ro" % self.state, uri=True) as db:
            found = [r[0] for r in db.execute("SELECT status FROM record WHERE kind = 1 ORDER BY id")]
        db.close()
        return found

    def test_a_run_that_can_not_be_recorded_is_gone_on_with(self):
        for i in range(4000):
            self.write("wh/db/a/data/old-p%05d.parquet" % i, "x", 10 * test_run.DAY)
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { on.event { "thing.happened" } }, guard = { deletes = { max_share = 1.0 } },\n'
                                         "decide = function(t, ctx) %s end }" % test_run.RUN)
        d = self.ready(self.serve())
        self.assertEqual(202, self.event(d, 1).status)
        daemon.wait(lambda: len(self.old(self.folder)) < 4002, 60, 0.002, "the first batch")
        subprocess.run(["prlimit", "--pid", str(d.process.pid), "--fsize=4096:%d" % resource.RLIM_INFINITY], check=True)
        daemon.wait(lambda: d.ask("/readyz").status == 503, what="that it is not ready")
        self.assertNotIn("failed", self.states())
        subprocess.run(["prlimit", "--pid", str(d.process.pid), "--fsize=unlimited:unlimited"], check=True)
        daemon.wait(lambda: self.runs() in (["done"], ["partial"]), 300, 0.2, "the end of the run (%s)" % d.log)
        daemon.wait(lambda: set(self.states()) <= {"succeeded", "failed"}, what="the end of the job")
        self.assertEqual(1, len(self.jobs()))
        self.assertEqual(202, self.event(d, 2).status)  # a batch that was put back is for the next one
        daemon.wait(lambda: not self.old(self.folder), 60, 0.2, "the next run (%s)" % d.log)
        self.ended(1)
        self.assertEqual(0, d.stop())
        self.assertNotIn("started", self.runs())
        self.sound()


class Start(Base):
    def refused(self, status, text):
        done = self.ebb("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(status, done.status, done.err)
        self.assertIn(text, done.err)
        self.untouched()
        return done

    def test_a_folder_that_may_not_be_written(self):
        self.mounted()
        self.remount("ro")
        self.refused(3, self.state)

    def test_a_damaged_store(self):
        d = self.ready(self.serve())
        self.assertEqual(202, self.event(d, 1).status)
        self.ended(1)
        d.kill()
        self.before = program.tree(self.folder, without=(test_serve.QUARANTINE,))
        path = os.path.join(self.state, "ebb.db")
        for name in ("-wal", "-shm"):
            if os.path.exists(path + name):
                shutil.copy(path + name, path + name + ".kept")
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        with open(path, "r+b") as f:
            size = f.seek(0, os.SEEK_END)
            for page in range(1, size // 4096, 2):
                f.seek(page * 4096)
                f.write(b"\xa5" * 4096)
        with open(path + "-wal", "wb") as f:
            f.write(b"\x00" * 64)  # it was not closed
        self.refused(3, "ebb.db")

    def test_no_store_at_all_but_its_name(self):
        os.makedirs(self.state)
        for make in (lambda p: os.mkdir(p), lambda p: os.symlink("/dev/full", p), lambda p: os.mkfifo(p)):
            path = os.path.join(self.state, "ebb.db")
            make(path)
            self.refused(3, "ebb.db")
            os.rmdir(path) if os.path.isdir(path) else os.unlink(path)

    def test_a_store_of_another_program(self):
        os.makedirs(self.state)
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            db.execute("CREATE TABLE theirs (x)")
        db.close()
        self.refused(3, "another program")

    def test_a_store_of_a_newer_program(self):
        self.assertEqual(0, self.ebb("runs").status)
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            db.execute("PRAGMA user_version = 999")
        db.close()
        self.refused(3, "schema version 999")


class Vanished(Base):
    """What is there while it runs is taken away."""

    def test_policies(self):
        d = self.ready(self.serve())
        before = d.status()["generation"]["hash"]
        os.unlink(os.path.join(self.top, "policies", "sweep.lua"))
        daemon.wait(lambda: d.status()["generation"]["error"], what="the error")
        self.assertEqual((before, 1), (d.status()["generation"]["hash"], d.status()["policies"]))
        self.assertEqual(202, self.event(d, 1).status)  # the policy that was loaded is the one that counts
        self.ended(1)
        self.live()
        shutil.rmtree(os.path.join(self.top, "policies"))
        self.assertNotEqual(0, self.ebb("reload", "--wait").status)
        self.assertEqual(before, d.status()["generation"]["hash"])
        self.assertEqual(0, d.stop())

    def test_the_configuration(self):
        d = self.ready(self.serve())
        before = d.status()["generation"]["hash"]
        os.unlink(self.config)
        d.hup()
        daemon.wait(lambda: d.status()["generation"]["error"], what="the error")
        self.assertEqual(before, d.status()["generation"]["hash"])
        self.bind("enforce", serve='poll = "1h"')
        d.hup()
        daemon.wait(lambda: not d.status()["generation"]["error"], what="that it is mended")
        self.assertEqual(0, d.stop())

    def test_the_warehouse(self):
        self.bind("enforce", serve='poll = "1s"')
        d = self.ready(self.serve())
        os.rename(os.path.join(self.top, "wh"), os.path.join(self.top, "elsewhere"))
        daemon.wait(lambda: d.status()["listing"]["error"], what="the error of the listing")
        self.assertEqual(1, d.status()["tables"])  # what can't be listed is not gone
        os.rename(os.path.join(self.top, "elsewhere"), os.path.join(self.top, "wh"))
        daemon.wait(lambda: not d.status()["listing"]["error"], what="that it is mended")
        self.untouched()
        self.assertEqual(0, d.stop())


if __name__ == "__main__":
    unittest.main()
