# SPDX-License-Identifier: Apache-2.0
"""ebb run and ebb decide: passes of the real program over a small warehouse."""

import concurrent.futures
import datetime
import json
import os
import re
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import program  # noqa: E402

DAY = 86400
RUN = "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def has_sanitizer():
    with open(program.path(), "rb") as f:
        return b"__asan_init" in f.read()


SLOW = 10 if has_sanitizer() else 1


def instant(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Base(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)
        self.state = os.path.join(self.top, "state")
        self.config = os.path.join(self.top, "ebb.lua")
        self.count = 0
        os.makedirs(os.path.join(self.top, "policies"))

    def write(self, name, text, age=0):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        if age:
            os.utime(path, (time.time() - age, time.time() - age))
        return path

    def policy(self, body=RUN, name="sweep", lines=""):
        self.write("policies/%s.lua" % name, 'return policy { api = 1, name = "%s", triggers = { time.every { "1h", anchor = "epoch" } }, %s\n'
                                             "decide = function(t, ctx) %s end }" % (name, lines, body))

    def bind(self, mode="observe", more="", tables="lake.**"):
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'bind = { { policy = "sweep", tables = { "%s" }, mode = "%s" }, %s } }' % (tables, mode, more))

    def table(self, name, properties=None, snapshots=()):
        """A table with one live file, two old ones and a young one; its folder."""
        self.count += 1
        folder = os.path.join(self.top, "wh", "db", name)
        for file, age in (("live", 10), ("old-1", 10), ("old-2", 10), ("young", 0.5)):
            self.write("wh/db/%s/data/%s.parquet" % (name, file), file, age * DAY)
        metadata = {
            "format-version": 2, "table-uuid": "0000000%d-2222-4333-8444-555555555555" % self.count, "location": "file:" + folder, "last-sequence-number": 0,
            "last-updated-ms": 1767225600000, "last-column-id": 1, "current-schema-id": 0,
            "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "int"}]}], "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999, "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}], "properties": properties or {}, "current-snapshot-id": snapshots[-1]["snapshot-id"] if snapshots else -1,
            "snapshots": list(snapshots), "metadata-log": [],
            "statistics": [{"snapshot-id": 1, "statistics-path": "file:%s/data/live.parquet" % folder, "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1,
                            "blob-metadata": []}]}
        self.write("wh/db/%s/metadata/v1.metadata.json" % name, json.dumps(metadata), 10 * DAY)
        self.write("wh/db/%s/metadata/version-hint.text" % name, "1", 10 * DAY)
        return folder

    def ebb(self, *args):
        done = program.run(args, config=self.config, state=self.state)
        self.assertGreaterEqual(done.status, 0, done.err)
        self.assertIsNone(CONTROL.search(done.out.replace("\n", "")), done.out)
        self.assertIsNone(CONTROL.search(done.err.replace("\n", "")), done.err)
        return done

    def reports(self, done):
        return {r["table"]: r for r in map(json.loads, done.out.splitlines())}

    def age(self, days):
        """The schedules are in force for some days more than they were."""
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            for key, text in db.execute("SELECT key, json FROM value WHERE scope = 'schedule'").fetchall():
                state = json.loads(text)
                state["active_since"] -= days * 86400 * 1000
                db.execute("UPDATE value SET json = ? WHERE scope = 'schedule' AND key = ?", (json.dumps(state), key))
        db.close()

    def activate(self):
        """A first pass a day ago: from then on occurrences count."""
        with open(self.config, encoding="utf-8") as f:
            before = f.read()
        self.bind("observe")
        done = self.ebb("run", "--json", "--at", instant(time.time() - DAY))
        self.assertEqual(0, done.status, done.err)
        self.write("ebb.lua", before)


class Passes(Base):
    def test_enforce(self):
        self.policy()
        self.bind("enforce")
        folder = self.table("a")
        self.activate()
        live = program.tree(folder, without=(".ebb-quarantine",))
        done = self.ebb("run", "--json")
        self.assertEqual(0, done.status, done.err)
        report = self.reports(done)["lake.db.a"]
        self.assertEqual(("done", "run", 2, 2), (report["status"], report["verdict"], report["candidates"], report["moved"]))
        after = program.tree(folder, without=(".ebb-quarantine",))
        self.assertEqual({"old-1.parquet", "old-2.parquet"}, {os.path.basename(p) for p in set(live) - set(after)})
        self.assertEqual({}, {p: after[p] for p in after if live.get(p) != after[p]})
        self.assertIn("mode", self.ebb("explain", report["decision"]).out)
        self.assertEqual(0, self.ebb("restore", report["run"]).status)
        self.assertEqual(live, program.tree(folder, without=(".ebb-quarantine",)))
        again = self.reports(self.ebb("run", "--json"))["lake.db.a"]
        self.assertIn(again["status"], ("not due", "done"))  # the hour may have turned

    def test_two_passes_at_once(self):
        self.policy()
        self.bind("enforce")
        folders = [self.table("t%d" % i) for i in range(3)]
        self.activate()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            passes = [done.result() for done in [pool.submit(self.ebb, "run", "--json") for _ in range(3)]]
        moved = sum(r.get("moved", 0) for done in passes for r in self.reports(done).values())
        self.assertEqual(6, moved, [p.err for p in passes])  # each old file once
        for done in passes:
            self.assertIn(done.status, (0, 2, 3), done.err)
        for folder in folders:
            self.assertEqual({"live.parquet", "young.parquet"}, set(os.listdir(os.path.join(folder, "data"))))

    def test_at_and_enforce_do_not_go_together(self):
        self.policy()
        self.bind("enforce")
        folder = self.table("a")
        before = program.tree(folder)
        done = self.ebb("run", "--json", "--at", instant(time.time()))
        self.assertEqual((64, "usage"), (done.status, done.error()["code"]))
        self.assertIn("--at", done.error()["message"])
        self.assertIn("--dry-run", done.error()["hint"])
        self.assertEqual("", done.out)
        self.assertEqual(0, self.ebb("run", "--at", instant(time.time() - DAY), "--dry-run").status)
        done = self.ebb("run", "--json", "--at", instant(time.time()), "--dry-run")
        self.assertEqual((0, "ready"), (done.status, self.reports(done)["lake.db.a"]["status"]), done.err)
        self.assertEqual(before, program.tree(folder))
        self.policy("return skip(all {})", "watch")
        self.bind("observe", '{ policy = "watch", tables = { "**" }, mode = "enforce" }')
        self.assertEqual(64, self.ebb("run", "--at", instant(time.time())).status)
        self.assertEqual(0, self.ebb("run", "--at", instant(time.time()), "--policy", "sweep").status)
        self.assertEqual(64, self.ebb("run", "--at", instant(time.time()), "--policy", "watch").status)

    def test_a_skip_that_still_holds_is_not_decided_again(self):
        self.policy('return skip(all { check("name", t.name, "==", "other") })')
        self.bind()
        self.table("a")
        told = []
        for hour in range(5):
            done = program.run(["run", "--json", "--at", instant(time.time() + 3600 * hour)], self.config, self.state)
            self.assertEqual(done.status, 0, done.err)
            told.append(json.loads(done.out))
        self.assertEqual([t["status"] for t in told], ["not due", "skipped", "unchanged", "unchanged", "unchanged"])
        self.assertEqual([t.get("unchanged") for t in told[2:]], [1, 2, 3])
        self.assertEqual({t["decision"] for t in told[1:]}, {told[1]["decision"]})
        self.policy('return skip(all { check("name", t.name, "==", "another") })')
        done = program.run(["run", "--json", "--at", instant(time.time() + 3600 * 5)], self.config, self.state)
        self.assertEqual(done.json()["status"], "skipped")

    def test_a_dry_pass_takes_nothing(self):
        self.policy()
        self.bind("enforce")
        folder = self.table("a")
        self.activate()
        before = program.tree(folder)
        for _ in range(2):
            self.assertEqual("ready", self.reports(self.ebb("run", "--json", "--dry-run"))["lake.db.a"]["status"])
        self.assertEqual(before, program.tree(folder))
        self.assertEqual("", self.ebb("runs", "--json").out)
        self.assertEqual("done", self.reports(self.ebb("run", "--json"))["lake.db.a"]["status"])

    def test_exit_statuses(self):
        self.table("a")
        self.table("b")
        for body, status, code in (("return run(all {}, action.remove_orphan_files { older_than = ctx.now })", 2, "policy.refused"),
                                   ("error('no')", 4, "policy.error"), ("while true do end", 4, "policy.gas"), ("return 5", 4, "policy.result")):
            with self.subTest(body):
                shutil.rmtree(self.state, ignore_errors=True)
                self.policy("if t.name == 'b' then return skip(all {}) end " + body)
                self.bind("enforce")
                self.activate()
                done = self.ebb("run", "--json")
                self.assertEqual((status, code), (done.status, done.error()["code"]))
                reports = self.reports(done)
                self.assertEqual(code, reports["lake.db.a"]["error"]["code"])
                self.assertEqual("skipped", reports["lake.db.b"]["status"])
                self.assertEqual(4 if code.startswith("policy.") and status == 4 else 2, self.ebb("decide", "sweep", "lake.db.a").status)

    def test_nothing_to_go_by(self):
        self.table("a")
        self.policy()
        for text, words in (("return {}", "no policy is bound"), ("return { bind = { { policy = 'sweep', tables = { '**' } } } }", "names no folder"),
                            ("return { policies = './none', bind = { { policy = 'sweep', tables = { '**' } } } }", "none"),
                            ("return { policies = './policies', bind = { { policy = 'sweap', tables = { '**' } } } }", "sweap"),
                            ("return { policies = './policies', bind = { { policy = 'sweep', tables = {} } } }", "bind.tables")):
            with self.subTest(text):
                self.write("ebb.lua", text)
                done = self.ebb("run")
                self.assertEqual((64, ""), (done.status, done.out), done.err)
                self.assertIn(words, done.err)
        self.bind()
        done = self.ebb("run", "--policy", "none")
        self.assertEqual(64, done.status)
        self.assertIn("none", done.err)

    def test_folders_of_policies(self):
        self.table("a")
        self.policy()
        self.bind()
        os.mkfifo(os.path.join(self.top, "policies", "fifo.lua"))
        os.symlink("/dev/zero", os.path.join(self.top, "policies", "zero.lua"))
        self.write("policies/x_spec.lua", "no policy")
        self.write("policies/notes.txt", "no policy")
        done = self.ebb("run", "--json")
        self.assertEqual((4, "policy.schema"), (done.status, done.error()["code"]))
        self.assertEqual("not due", self.reports(done)["lake.db.a"]["status"])
        os.unlink(os.path.join(self.top, "policies", "fifo.lua"))
        os.unlink(os.path.join(self.top, "policies", "zero.lua"))
        self.assertEqual(0, self.ebb("run").status)
        self.policy(name="other")
        shutil.copy(os.path.join(self.top, "policies", "sweep.lua"), os.path.join(self.top, "policies", "copy.lua"))
        done = self.ebb("run", "--json")
        self.assertEqual((4, ""), (done.status, done.out))
        self.assertIn("name sweep is that of", done.error()["message"])

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_an_unreadable_folder(self):
        self.policy()
        self.bind()
        os.chmod(os.path.join(self.top, "policies"), 0)
        self.addCleanup(os.chmod, os.path.join(self.top, "policies"), 0o700)
        self.assertEqual(64, self.ebb("run").status)

    def test_odd_names(self):
        self.policy()
        self.bind("observe")
        for name in ("new\nline", "esc\x1b[31m", "ta\tb", "quote\"'", "dollar$(x)"):
            self.table(name)
        self.activate()
        done = self.ebb("run", "--json")
        self.assertIn("lake.db.new\nline", self.reports(done))
        self.ebb("run")
        self.ebb("runs")
        self.ebb("decisions")

    def test_two_thousand_snapshots(self):
        self.policy("return skip(all { check('n', ctx.events.count { 'snapshot.committed' }, '>=', 1) })")
        self.bind("observe")
        snapshots = [{"snapshot-id": i, "sequence-number": i, "timestamp-ms": 1767225600000 + i * 1000, "manifest-list": "file:/x/%d" % i,
                      "summary": dict({"operation": "append"}, **{"key-%d" % k: "value" for k in range(25)})} for i in range(1, 2001)]
        self.table("a", snapshots=snapshots)
        self.activate()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.ebb("run", "--json")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual("skipped", self.reports(done)["lake.db.a"]["status"], done.err)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, SLOW)


class RealTables(Base):
    """The tables of the demo, written by Spark."""

    def test_decisions(self):
        demo = os.path.join(self.top, "demo")
        self.assertEqual(0, self.ebb("demo", demo).status)
        self.config = os.path.join(demo, "ebb.lua")
        for table in ("hadoop.db.st", "lake.db.side", "lake.db.child"):
            with self.subTest(table):
                done = self.ebb("decide", "iceberg-orphan-file-removal", table, "--json")
                self.assertEqual(0, done.status, done.err)
                record = done.json()
                self.assertEqual(("iceberg-orphan-file-removal", table, "run"), (record["policy"], record["table"], record["verdict"]))
                self.assertEqual("remove_orphan_files", record["action"]["type"])
        tool = self.write("facts.lua", 'return policy { api = 1, name = "facts", decide = function(t, ctx) return skip(all { check("files", t.stats.data_files, ">", 0),'
                          'check("bytes", t.stats.bytes, ">", 0), check("op", t.current_snapshot.operation, "exists"), check("n", t.stats.snapshots, ">=", 2),'
                          'check("commits", ctx.events.count { "snapshot.committed" }, ">=", 2), check("main", t.refs.main.snapshot_id, "==", t.current_snapshot.id) }) end }')
        record = self.ebb("decide", tool, "hadoop.db.st", "--json").json()
        self.assertEqual({"true"}, {c["r"] for c in record["checks"]}, record["checks"])


class Installed(Base):
    """Where the program finds its scripts."""

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.top, "prefix", "bin", "ebb")
        os.makedirs(os.path.dirname(self.program))
        shutil.copy(program.path(), self.program)
        self.policy()
        self.bind("approve")
        self.table("a")
        old = os.environ.get("EBB")
        os.environ["EBB"] = self.program
        self.addCleanup(lambda: os.environ.update(EBB=old) if old else os.environ.pop("EBB"))

    def check_broken(self, words="boot.lua"):
        done = self.ebb("run", "--json")
        self.assertEqual((64, "config.invalid", ""), (done.status, done.error()["code"], done.out), done.err)
        self.assertIn(words, done.error()["message"])

    def test_missing_and_damaged(self):
        if os.path.exists("/usr/local/share/ebb/scripts"):
            self.skipTest("ebb is installed on this machine")
        self.check_broken("scripts")
        share = os.path.join(self.top, "prefix", "share", "ebb")
        shutil.copytree(os.path.join(program.ROOT, "scripts"), os.path.join(share, "scripts"))
        self.assertEqual(0, self.ebb("run").status)
        for text in ("return {", "error 'x'", "return 5", "return {}", "return nil", ""):
            with self.subTest(text):
                self.write("prefix/share/ebb/scripts/boot.lua", text)
                self.check_broken()
        shutil.copy(os.path.join(program.ROOT, "scripts", "boot.lua"), os.path.join(share, "scripts", "boot.lua"))
        shutil.move(os.path.join(share, "scripts", "adapters"), os.path.join(share, "scripts", "adopters"))
        self.check_broken("remove_orphan_files")
        os.unlink(os.path.join(share, "scripts", "boot.lua"))
        os.mkfifo(os.path.join(share, "scripts", "boot.lua"))
        self.check_broken()


if __name__ == "__main__":
    unittest.main()
