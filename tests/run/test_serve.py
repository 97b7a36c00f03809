# SPDX-License-Identifier: Apache-2.0
"""ebb serve as a process: it starts, judges and runs what is due, reloads, pauses, drains, waits for another one, and goes on after its death."""

import http.client
import json
import os
import signal
import sqlite3
import stat
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402

QUARANTINE = ".ebb-quarantine"
STATES = ("queued", "started", "succeeded", "failed", "cancelling", "cancelled", "unknown")


class Base(test_run.Base):
    def setUp(self):
        super().setUp()
        self.daemon = None

    def bind(self, mode="observe", more="", tables="lake.**", serve='poll = "1s"'):
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'bind = { { policy = "sweep", tables = { "%s" }, mode = "%s" }, %s }, serve = { %s } }' % (tables, mode, more, serve))

    def serve(self, *args, **kwargs):
        d = daemon.Daemon(self.config, self.state, *args, **kwargs)
        self.addCleanup(lambda: d.__exit__())
        d.start()
        self.daemon = d
        return d

    def ready(self, d=None):
        d = d or self.daemon
        daemon.wait(d.is_ready, what="readiness (%s)" % d.log)
        return d

    def place(self):
        with open(os.path.join(self.state, "daemon.json"), encoding="utf-8") as f:
            return json.load(f)

    def jobs(self):
        """(id, policy, table, state, occurrence, attempt) of all jobs in the store."""
        with sqlite3.connect("file:%s/ebb.db?mode=ro" % self.state, uri=True) as db:
            found = db.execute("SELECT id, policy, tbl, state, occurrence, attempt FROM job ORDER BY id").fetchall()
        db.close()
        return [(*j[:3], STATES[j[3]], *j[4:]) for j in found]

    def states(self):
        return sorted(j[3] for j in self.jobs())

    def ended(self, count, state="succeeded"):
        daemon.wait(lambda: self.states().count(state) >= count, what="%d jobs that %s" % (count, state))

    def old(self, folder):
        return [n for n in os.listdir(os.path.join(folder, "data")) if n.startswith("old")]

    def many(self, name, count):
        """A table with many old files."""
        folder = self.table(name)
        for i in range(count):
            self.write("wh/db/%s/data/old-%05d.parquet" % (name, i), "x%d" % i, 10 * test_run.DAY)
        return folder


class Life(Base):
    def test_start_status_end(self):
        self.policy()
        self.bind()
        for name in "ab":
            self.table(name)
        d = self.ready(self.serve())
        place = os.path.join(self.state, "daemon.json")
        self.assertEqual(0o600, stat.S_IMODE(os.stat(place).st_mode))
        s = d.status()
        self.assertEqual((d.process.pid, "serving", True, 2, 1, 1), (s["pid"], s["state"], s["ready"], s["tables"], s["policies"], s["bindings"]))
        self.assertTrue(s["leader"]["is_leader"])
        self.assertTrue(s["generation"]["hash"].startswith("sha256:"))
        self.assertIsNone(s["generation"]["error"])
        self.assertTrue(s["store"]["ok"])
        self.assertEqual({"at", "table"}, set(s["due"]))
        said = self.ebb("status")
        self.assertEqual(0, said.status, said.err)
        self.assertIn("serving", said.out)
        self.assertIn("  generation      %s…, loaded " % s["generation"]["hash"][:19], said.out)
        self.assertLessEqual(max(len(line) for line in said.out.splitlines()), 80)
        self.assertEqual(s["pid"], json.loads(self.ebb("status", "--json").out)["pid"])
        self.assertEqual(0, d.stop())
        self.assertFalse(os.path.exists(place))
        gone = self.ebb("status", "--json")
        self.assertEqual("record.not_found", gone.error()["code"])

    def test_nothing_configured(self):
        self.write("ebb.lua", "return {}")
        d = self.ready(self.serve())
        self.assertEqual((0, 0), (d.status()["tables"], d.status()["policies"]))
        self.assertEqual(0, d.stop())

    def test_what_cannot_be_loaded_does_not_start(self):
        self.policy(body="this is no Lua")
        self.bind()
        done = self.ebb("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(4, done.status, done.err)
        self.assertIn("sweep.lua", done.err)
        self.policy()
        self.bind(more='{ policy = "nobody", tables = { "lake.**" } }')
        done = self.ebb("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(64, done.status, done.err)
        self.assertIn("nobody", done.err)

    def test_no_address(self):
        """Judged before anything is opened, and named as it was given."""
        for text in ("nope", "127.0.0.1", "127.0.0.1:99999", "localhost:8490", ":1", ""):
            done = self.ebb("serve", "--listen", text, "--json")
            self.assertEqual(64, done.status, done.err)
            self.assertIn("--listen", done.error()["message"])
            self.assertIn("127.0.0.1:8490", done.error()["hint"])
            self.assertFalse(os.path.exists(os.path.join(self.state, "ebb.db")), text)

    def test_an_address_in_use(self):
        self.policy()
        self.bind()
        d = self.ready(self.serve())
        other = program.run(["serve", "--listen", d.address], config=self.config, state=self.state + "2")
        self.assertEqual(3, other.status, other.err)

    def test_beyond_loopback_needs_more(self):
        self.policy()
        self.bind()
        done = self.ebb("serve", "--listen", "0.0.0.0:0")
        self.assertEqual(64, done.status, done.err)

    def test_a_state_folder_that_is_open(self):
        self.policy()
        self.bind()
        for mode, warns in ((0o700, False), (0o750, False), (0o777, True), (0o770, True)):
            os.makedirs(self.state, exist_ok=True)
            os.chmod(self.state, mode)
            log = os.path.join(self.top, "log-%o" % mode)
            d = self.serve(log=log)
            self.assertEqual(warns, ("%s: others may write there (mode %04o)" % (self.state, mode)) in d.said(), d.said())
            for name in os.listdir(self.state):
                self.assertEqual(0o600, os.stat(os.path.join(self.state, name)).st_mode & 0o777, name)
            self.assertEqual(0, d.stop())

    def test_token(self):
        self.policy()
        self.bind(serve='auth = "token"')
        d = self.serve()
        self.assertEqual(401, d.ask("/api/status").status)
        self.assertEqual(0, self.ebb("status").status)
        token = self.place()["token"]
        self.assertEqual(200, d.ask("/api/status", headers={"Authorization": "Bearer " + token}).status)
        self.assertEqual(0, d.stop())
        self.assertNotIn(token, d.said())
        d = self.serve()
        self.assertEqual(401, d.ask("/api/status", headers={"Authorization": "Bearer " + token}).status)
        self.assertNotEqual(token, self.place()["token"])
        d.kill()
        d = self.serve()
        self.assertEqual(0, self.ebb("reload", "--wait").status)
        self.assertEqual(0, d.stop())

    def test_log_as_json(self):
        self.policy()
        self.bind("enforce")
        self.table("a")
        self.activate()
        self.ready(self.serve("--log-format", "json"))
        self.ended(1)
        self.assertEqual(0, self.daemon.stop())
        lines = [json.loads(line) for line in self.daemon.said().splitlines()]
        self.assertTrue(all({"ts", "level", "msg"} <= set(line) for line in lines))
        about = [line for line in lines if line["msg"].startswith("job ")]
        self.assertEqual(2, len(about), lines)
        self.assertEqual({("sweep", "lake.db.a")}, {(line["policy"], line["table"]) for line in about})
        self.assertEqual(1, len({line["job"] for line in about}))
        self.assertTrue(about[-1]["run"].startswith("r-"))


class Work(Base):
    def test_due_runs_once(self):
        self.policy()
        self.bind("enforce")
        folders = [self.table(n) for n in "abc"]
        live = {f: program.tree(f, without=(QUARANTINE,)) for f in folders}
        self.activate()
        d = self.ready(self.serve())
        self.ended(3)
        for folder in folders:
            after = program.tree(folder, without=(QUARANTINE,))
            self.assertEqual({"old-1.parquet", "old-2.parquet"}, {os.path.basename(p) for p in set(live[folder]) - set(after)})
            self.assertEqual({}, {p: after[p] for p in after if live[folder].get(p) != after[p]})
        jobs = self.jobs()
        self.assertEqual(3, len({j[4] for j in jobs}))
        self.assertEqual(0, d.stop())
        self.ready(self.serve())
        self.assertEqual(0, self.daemon.stop())
        self.assertEqual(jobs, self.jobs())

    def test_observe_starts_nothing(self):
        self.policy()
        self.bind("observe")
        folder = self.table("a")
        self.activate()
        before = program.tree(folder)
        d = self.ready(self.serve())
        daemon.wait(lambda: d.total("ebb_decisions_total") >= 1, what="a decision")
        self.assertEqual(0, d.stop())
        self.assertEqual([], self.jobs())
        self.assertEqual(before, program.tree(folder))

    def test_new_and_dropped_tables_are_found(self):
        self.policy()
        self.bind()
        self.table("a")
        d = self.ready(self.serve())
        folder = self.table("b")
        daemon.wait(lambda: d.status()["tables"] == 2, what="the new table")
        os.rename(folder, os.path.join(self.top, "elsewhere"))
        daemon.wait(lambda: d.status()["tables"] == 1, what="that the table is gone")

    def test_a_commit_is_noticed(self):
        self.policy()
        self.bind(serve='poll = "1h"')
        folder = self.table("a")
        d = self.ready(self.serve())
        daemon.wait(lambda: d.total("ebb_table_looks_total") >= 1)
        looks = d.total("ebb_table_looks_total")
        os.utime(folder)
        with open(os.path.join(folder, "metadata", "v1.metadata.json"), encoding="utf-8") as f:
            text = f.read()
        self.write("wh/db/a/metadata/v2.metadata.json", text)
        self.write("wh/db/a/metadata/version-hint.text", "2")
        daemon.wait(lambda: d.total("ebb_table_looks_total") > looks, what="a look after the commit")

    def test_an_event_is_heard(self):
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { on.event { "thing.happened" } },\n'
                                         'decide = function(t, ctx) %s end }' % test_run.RUN)
        self.bind("enforce", serve='poll = "1h"')
        folder = self.table("a")
        d = self.ready(self.serve())
        daemon.wait(lambda: d.total("ebb_table_looks_total") >= 1)
        answer = d.ask("/api/events", "POST", {"source": "test", "id": "e-1", "type": "thing.happened", "table": "lake.db.a"})
        self.assertEqual(202, answer.status, answer.text)
        self.ended(1)
        self.assertEqual([], self.old(folder))
        d.ask("/api/events", "POST", {"source": "test", "id": "e-1", "type": "thing.happened", "table": "lake.db.a"})
        self.assertEqual(0, d.stop())
        self.assertEqual(1, len(self.jobs()))

    def test_overlapping_tables_are_not_touched(self):
        self.policy()
        self.bind("enforce")
        outer = self.table("a")
        inner = os.path.join(outer, "data", "inner")
        os.makedirs(os.path.join(inner, "metadata"))
        with open(os.path.join(outer, "metadata", "v1.metadata.json"), encoding="utf-8") as f:
            metadata = json.load(f)
        metadata.update({"location": "file:" + inner, "table-uuid": "00000009-2222-4333-8444-555555555555", "statistics": []})
        self.write("wh/db/a/data/inner/metadata/v1.metadata.json", json.dumps(metadata), 10 * test_run.DAY)
        self.write("wh/db/a/data/inner/metadata/version-hint.text", "1", 10 * test_run.DAY)
        self.activate()
        before = program.tree(outer)
        d = self.ready(self.serve())
        daemon.wait(lambda: d.total("ebb_table_looks_total") >= 2)
        daemon.wait(lambda: not d.status()["jobs"]["queued"] and not d.status()["jobs"]["started"])
        self.assertEqual(0, d.stop())
        self.assertEqual(before, program.tree(outer))


class Reload(Base):
    def setUp(self):
        super().setUp()
        self.policy()
        self.bind()
        self.table("a")
        self.ready(self.serve())
        self.hash = self.daemon.status()["generation"]["hash"]

    def now(self):
        return self.daemon.status()["generation"]

    def test_good(self):
        self.policy(lines='doc = "another",')
        done = self.ebb("reload", "--wait", "--json")
        self.assertEqual(0, done.status, done.err)
        now = self.now()
        self.assertNotEqual(self.hash, now["hash"])
        self.assertEqual(now["hash"], json.loads(done.out)["hash"])
        self.assertEqual({now["hash"]}, {w["hash"] for w in self.daemon.status()["workers"]})

    def test_files_are_watched(self):
        self.policy(lines='doc = "another",')
        daemon.wait(lambda: self.now()["hash"] != self.hash, what="the new policies")
        self.policy(body="this is no Lua")
        daemon.wait(lambda: self.now()["error"], what="the error")
        self.policy()
        daemon.wait(lambda: self.now()["hash"] == self.hash and not self.now()["error"], what="the old policies again")

    def test_hup(self):
        before = self.daemon.status()["reloads"]
        self.daemon.hup()
        daemon.wait(lambda: self.daemon.status()["reloads"] > before, what="the reload")
        self.assertEqual(self.hash, self.now()["hash"])

    def test_nothing_changed_is_told(self):
        """Whoever asked, or touched a file, hears that it was looked at, and that all is as before."""
        self.assertEqual(0, self.ebb("reload", "--wait").status)
        daemon.wait(lambda: "reload: nothing changed" in self.daemon.said(), what="the line in the log")
        news = http.client.HTTPConnection(self.daemon.address, timeout=60)
        self.addCleanup(news.close)
        news.request("GET", "/api/stream", headers={"Last-Event-ID": "1"})
        answer = news.getresponse()
        lines = iter(lambda: answer.readline().decode().strip(), None)
        self.assertIn("event: reload", lines)
        self.assertEqual({"result": "unchanged", "hash": self.hash}, json.loads(next(lines).partition(": ")[2]))

    def test_what_is_wrong_is_told_once(self):
        def said():
            line, = [x for x in self.ebb("status").out.splitlines() if x.startswith("  not loaded")]
            return line
        good = {}
        for name in ("ebb.lua", "policies/sweep.lua"):
            with open(os.path.join(self.top, name), encoding="utf-8") as f:
                good[name] = f.read()
        for name, text, line in (("ebb.lua", "return {\n  nope = 1 }", ""), ("ebb.lua", "return {\nx = ", ":2: "), ("policies/sweep.lua", "return policy {\n  api = 1, name = ", ":2")):
            self.write(name, text)
            self.assertNotEqual(0, self.ebb("reload", "--wait").status)
            self.assertEqual(1, said().count(name), said())
            self.assertNotIn(":0:", said())
            self.assertIn(name + line, said())
            self.write(name, good[name])
        self.assertEqual(0, self.ebb("reload", "--wait").status)

    def test_bad_changes_nothing(self):
        for text, code in (("return policy { api = 1, name = ", 4), ('return policy { api = 1, name = "other", triggers = {} }', 4)):
            self.write("policies/sweep.lua", text)
            done = self.ebb("reload", "--wait", "--json")
            self.assertEqual(code, done.status, done.err)
            now = self.now()
            self.assertEqual(self.hash, now["hash"])
            self.assertTrue(now["error"]["file"].endswith("policies/sweep.lua"), now)
            self.assertGreaterEqual(now["error"]["line"], 1)
            self.assertTrue(now["error"]["since"])
            self.assertTrue(self.daemon.is_ready())
        self.policy()
        self.assertEqual(0, self.ebb("reload", "--wait").status)
        self.assertIsNone(self.now()["error"])

    def test_folder_emptied(self):
        os.unlink(os.path.join(self.top, "policies", "sweep.lua"))
        daemon.wait(lambda: self.now()["error"], what="the error")
        self.assertEqual((self.hash, 1), (self.now()["hash"], self.daemon.status()["policies"]))
        self.assertTrue(self.daemon.is_ready())

    def test_folder_replaced(self):
        os.rename(os.path.join(self.top, "policies"), os.path.join(self.top, "policies-before"))
        os.makedirs(os.path.join(self.top, "policies-next"))
        with open(os.path.join(self.top, "policies-before", "sweep.lua"), encoding="utf-8") as f:
            self.write("policies-next/sweep.lua", f.read() + "-- another\n")
        os.rename(os.path.join(self.top, "policies-next"), os.path.join(self.top, "policies"))
        daemon.wait(lambda: self.now()["hash"] != self.hash and not self.now()["error"], what="the policies of the other folder")

    def test_emptied_needs_force(self):
        os.unlink(os.path.join(self.top, "policies", "sweep.lua"))
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies" }')
        done = self.ebb("reload", "--wait", "--json")
        self.assertEqual(2, done.status, done.err)
        self.assertIn("vanished", done.error()["message"])
        self.assertEqual((self.hash, 1), (self.now()["hash"], self.daemon.status()["policies"]))
        self.assertEqual(0, self.ebb("reload", "--wait", "--force").status)
        self.assertEqual(0, self.daemon.status()["policies"])


class Again(Base):
    """What is queued when its policy changes."""

    def setUp(self):
        super().setUp()
        self.policy()
        self.bind("enforce")
        self.folder = self.table("a")
        self.activate()
        with open(os.path.join(self.folder, "keep"), "w", encoding="ascii"):
            pass

    def queued(self):
        """A daemon whose job waits, since everything is paused right after its decision."""
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual(0, self.daemon.stop())
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            row = db.execute("SELECT id FROM job").fetchone()
            db.execute("UPDATE job SET state = 0, not_before_ms = ?, ended_ms = 0, attempt = 0 WHERE id = ?", (1 << 52, row[0]))
        db.close()
        self.write("wh/db/a/data/old-9.parquet", "x", 10 * test_run.DAY)
        return row[0]

    def test_changed_policy_decides_again(self):
        first = self.queued()
        self.ready(self.serve())
        daemon.wait(lambda: self.daemon.status()["jobs"]["queued"] == 1)
        self.policy(lines='doc = "another",')
        self.assertEqual(0, self.ebb("reload", "--wait").status)
        self.ended(1)
        jobs = {j[0]: j for j in self.jobs()}
        self.assertEqual("cancelled", jobs[first][3])
        self.assertEqual(2, len(jobs))
        self.assertEqual(["succeeded"], [j[3] for j in jobs.values() if j[0] != first])
        self.assertEqual([], self.old(self.folder))

    def test_removed_policy_cancels(self):
        first = self.queued()
        self.ready(self.serve())
        daemon.wait(lambda: self.daemon.status()["jobs"]["queued"] == 1)
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "other", triggers = { time.every { "1h", anchor = "epoch" } },\n'
                                         "decide = function(t, ctx) return skip(all {}) end }")
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies" }')
        self.assertEqual(0, self.ebb("reload", "--wait", "--force").status)
        daemon.wait(lambda: self.states() == ["cancelled"], what="the end of the job")
        self.assertEqual(first, self.jobs()[0][0])
        self.assertIn("removed", self.daemon.said())


class Pause(Base):
    def test_pause_is_kept_and_resumed(self):
        self.policy()
        self.bind("enforce")
        folder = self.table("a")
        d = self.ready(self.serve())
        for body in ({}, {"policy": "sweep"}, {"table": "lake.db.a"}):
            self.assertEqual(202, d.ask("/api/pause", "POST", body).status)
        daemon.wait(lambda: len(d.status()["paused"]) == 3)
        self.assertEqual(0, d.stop())
        self.activate()
        d = self.ready(self.serve())
        self.assertEqual(["all", "policy sweep", "table lake.db.a"], sorted(d.status()["paused"]))
        daemon.wait(lambda: d.total("ebb_table_looks_total") >= 1)
        self.assertEqual(2, len(self.old(folder)))
        for body in ({}, {"policy": "sweep"}):
            self.assertEqual(202, d.ask("/api/resume", "POST", body).status)
        daemon.wait(lambda: d.status()["paused"] == ["table lake.db.a"])
        self.assertEqual([], self.jobs())
        self.assertEqual(202, d.ask("/api/resume", "POST", {"table": "lake.db.a"}).status)
        self.ended(1)
        self.assertEqual([], self.old(folder))
        self.assertEqual(0, d.stop())
        self.assertEqual(1, len(self.jobs()))


class End(Base):
    def test_a_run_is_gone_on_with(self):
        self.policy(lines="guard = { deletes = { max_share = 1.0 } },")
        self.bind("enforce")
        folder = self.many("a", 3000)
        live = program.tree(folder, without=(QUARANTINE,))
        self.activate()
        d = self.serve()
        daemon.wait(lambda: "started" in self.states() and len(self.old(folder)) < 3002, step=0.005, what="the run")
        self.assertEqual(0, d.stop())
        left = self.states()
        self.assertIn(left, (["unknown"], ["succeeded"]))
        if left == ["unknown"]:
            self.assertGreater(len(self.old(folder)), 0)
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual([], self.old(folder))
        after = program.tree(folder, without=(QUARANTINE,))
        self.assertEqual({}, {p: after[p] for p in after if live.get(p) != after[p]})
        self.assertEqual(1, len(self.jobs()))
        self.assertEqual(0, self.daemon.stop())

    def test_reload_and_end_at_once(self):
        self.policy()
        self.bind("enforce")
        self.table("a")
        for i in range(8):
            d = self.serve()
            self.policy(lines='doc = "revision %d",' % i)
            d.hup()
            if i % 2:
                daemon.wait(lambda d=d: "reload: asked for" in d.said(), step=0.001)
            self.assertEqual(0, d.stop(), d.said()[-3000:])
            os.unlink(d.log)

    def test_a_second_signal_ends_at_once(self):
        self.policy(lines="guard = { deletes = { max_share = 1.0 } },")
        self.bind("enforce")
        folder = self.many("a", 3000)
        self.activate()
        d = self.serve()
        daemon.wait(lambda: "started" in self.states(), step=0.005, what="the run")
        d.process.send_signal(signal.SIGTERM)
        d.process.send_signal(signal.SIGINT)
        self.assertIn(d.process.wait(60), (0, -signal.SIGINT, -signal.SIGTERM))
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual([], self.old(folder))
        self.assertEqual(0, self.daemon.stop())

    def test_while_it_starts(self):
        self.policy()
        self.bind("enforce")
        for i in range(20):
            self.table("t%d" % i)
        self.activate()
        for _ in range(5):
            d = daemon.Daemon(self.config, self.state)
            d.spawn()
            self.addCleanup(lambda d=d: d.__exit__())
            daemon.wait(lambda: os.path.exists(os.path.join(self.state, "daemon.json")) or d.process.poll() is not None, step=0.001)
            d.process.send_signal(signal.SIGTERM)
            self.assertEqual(0, d.process.wait(60), d.said()[-2000:])
        self.ready(self.serve())
        self.ended(20)
        self.assertEqual(20, len({j[4] for j in self.jobs()}))
        self.assertEqual(20, len(self.jobs()))

    def test_interrupt_and_cancel_of_a_job(self):
        self.policy(lines="guard = { deletes = { max_share = 1.0 } },")
        self.bind("enforce")
        folder = self.many("a", 3000)
        self.activate()
        d = self.serve()
        daemon.wait(lambda: "started" in self.states() and len(self.old(folder)) < 3002, step=0.005, what="the run")
        job = self.jobs()[0][0]
        answer = d.ask("/api/jobs/%s/cancel" % job, "POST")
        self.assertIn(answer.status, (200, 202, 409), answer.text)
        daemon.wait(lambda: self.states() in (["cancelled"], ["succeeded"]), what="the end of the job")
        self.assertEqual(0, d.stop())


class Standby(Base):
    def is_kept(self, scope):
        with sqlite3.connect("file:%s/ebb.db?mode=ro" % self.state, uri=True) as db:
            found = db.execute("SELECT count(*) FROM value WHERE scope = ?", (scope,)).fetchone()[0]
        db.close()
        return found

    def test_the_other_takes_over(self):
        self.policy()
        self.bind("enforce")
        self.table("a")
        first = self.ready(self.serve(log=os.path.join(self.top, "first.log")))
        epoch = first.status()["leader"]["epoch"]
        second = daemon.Daemon(self.config, self.state, log=os.path.join(self.top, "second.log"))
        second.spawn()
        self.addCleanup(lambda: second.__exit__())
        daemon.wait(lambda: "waits" in second.said(), what="the standby")
        self.assertTrue(first.is_ready())
        self.assertEqual(first.process.pid, self.place()["pid"])
        before = first.status()["generation"]["hash"]
        self.policy(lines='doc = "another",')
        daemon.wait(lambda: first.status()["generation"]["hash"] != before, what="the new policies")
        self.assertEqual(202, first.ask("/api/pause", "POST", {}).status)
        daemon.wait(lambda: first.status()["paused"])
        now = first.status()["generation"]["hash"]
        daemon.wait(lambda: self.is_kept("pause"), what="that the pause is kept")
        first.kill()
        daemon.wait(second.is_serving, what="the takeover")
        self.ready(second)
        self.assertEqual((now, ["all"]), (second.status()["generation"]["hash"], second.status()["paused"]))
        self.assertEqual(epoch + 1, second.status()["leader"]["epoch"])
        self.assertEqual(1, second.said().count("waits, since"))
        self.assertEqual(0, second.stop())

    def test_a_standby_ends(self):
        self.policy()
        self.bind()
        self.ready(self.serve(log=os.path.join(self.top, "first.log")))
        second = daemon.Daemon(self.config, self.state, log=os.path.join(self.top, "second.log"))
        second.spawn()
        self.addCleanup(lambda: second.__exit__())
        daemon.wait(lambda: "waits" in second.said(), what="the standby")
        self.assertEqual(0, second.stop())
        self.assertTrue(self.daemon.is_ready())


if __name__ == "__main__":
    unittest.main()
