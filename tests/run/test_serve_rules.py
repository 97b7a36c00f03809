# SPDX-License-Identifier: Apache-2.0
"""ebb serve and the rules of its schedule: nothing due is lost, nothing is done that is not decided any more, and what was stopped does not stand in the way."""

import json
import os
import sqlite3
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402

NEVER = 1 << 52  # an instant far ahead


class Base(test_serve.Base):
    def sql(self, text, *values):
        with sqlite3.connect(os.path.join(self.state, "ebb.db"), timeout=60) as db:
            rows = db.execute(text, values).fetchall()
        db.close()
        return rows

    def due(self, lines="", body=test_run.RUN, tables="a", mode="enforce"):
        """A policy that is due once now, and its tables; their folders."""
        self.policy(body=body, lines=lines)
        self.bind(mode)
        folders = [self.table(n) for n in tables]
        self.activate()
        return folders

    def again(self):
        """What was done is due once more: the schedule forgets what fired today."""
        self.sql("DELETE FROM value WHERE scope = 'answer'")
        self.sql("UPDATE job SET occurrence = ''")
        for key, value in self.sql("SELECT key, json FROM value WHERE scope = 'schedule'"):
            state = json.loads(value)
            state["fired"] = [0] * len(state["fired"])
            self.sql("UPDATE value SET json = ? WHERE scope = 'schedule' AND key = ?", json.dumps(state), key)

    def waiting(self, old=True):
        """The id of a job that was decided and waits, left by a daemon that ended; its table has an old file."""
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual(0, self.daemon.stop())
        (job,), = self.sql("SELECT id FROM job")
        self.sql("UPDATE job SET state = 0, not_before_ms = ?, ended_ms = 0, attempt = 0, plan = '', run = ''", NEVER)
        self.sql("DELETE FROM record WHERE kind IN (0, 1)")
        if old:
            self.write("wh/db/a/data/old-9.parquet", "x", 10 * test_run.DAY)
        return job

    def state_of(self, job):
        return {j[0]: j[3] for j in self.jobs()}.get(job)


class Slots(Base):
    def test_who_waits_for_a_slot_runs_when_it_is_free(self):
        folders = self.due('guard = { fleet = { slot = "one", max_running = 1 } },', tables="abc")
        self.ready(self.serve())
        self.ended(3)
        self.assertEqual([[], [], []], [self.old(f) for f in folders])
        self.assertEqual(0, self.daemon.stop())


class Stopped(Base):
    """A run that was stopped is not under way: the policy goes on to be judged on its table."""

    def stopped(self):
        folder, = self.due("guard = { deletes = { max_share = 1.0 } },")
        for i in range(3000):
            self.write("wh/db/a/data/old-%05d.parquet" % i, "x%d" % i, 10 * test_run.DAY)
        d = self.serve()
        return folder, d

    def test_cancelled_while_it_moves_files(self):
        folder, d = self.stopped()
        daemon.wait(lambda: "started" in self.states() and len(self.old(folder)) < 3002, step=0.002, what="the run")
        job = self.jobs()[0][0]
        self.assertEqual(202, d.ask("/api/jobs/%s/cancel" % job, "POST").status)
        daemon.wait(lambda: self.state_of(job) in ("cancelled", "succeeded"), what="the end of the job")
        if self.state_of(job) == "succeeded":
            self.skipTest("it was faster")
        self.assertEqual(0, d.stop())
        self.again()
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual([], self.old(folder))

    def test_cancelled_and_killed(self):
        folder, d = self.stopped()
        daemon.wait(lambda: "started" in self.states() and len(self.old(folder)) < 3002, step=0.002, what="the run")
        d.kill()
        if "started" not in self.states():
            self.skipTest("it was faster")
        self.sql("UPDATE job SET state = 4")
        self.ready(self.serve())
        daemon.wait(lambda: self.states() == ["cancelled"], what="the end of the job")
        left = len(self.old(folder))
        self.assertGreater(left, 0)
        self.assertEqual(0, self.daemon.stop())
        self.again()
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual([], self.old(folder))


class Restart(Base):
    """What is queued when the policies changed while no daemon was there."""

    def setUp(self):
        super().setUp()
        self.folder, = self.due()

    def test_the_same_policy(self):
        job = self.waiting()
        self.sql("UPDATE job SET not_before_ms = 0")
        self.ready(self.serve())
        daemon.wait(lambda: self.state_of(job) == "succeeded", what="the job")
        self.assertEqual([], self.old(self.folder))
        self.assertEqual(1, len(self.jobs()))

    def test_a_policy_that_changed(self):
        job = self.waiting()
        self.sql("UPDATE job SET not_before_ms = 0")
        self.policy(body='return skip(all { check("no", 1, ">", 2) })')
        self.ready(self.serve())
        daemon.wait(lambda: self.state_of(job) != "queued", what="the end of the job")
        self.assertEqual("cancelled", self.state_of(job))
        daemon.wait(lambda: self.sql("SELECT 1 FROM record WHERE kind = 2 AND status = 'skip'"), what="another decision")
        self.assertEqual(["old-9.parquet"], self.old(self.folder))

    def test_a_binding_that_changed(self):
        job = self.waiting()
        self.sql("UPDATE job SET not_before_ms = 0")
        self.bind("observe")
        self.ready(self.serve())
        daemon.wait(lambda: self.state_of(job) != "queued", what="the end of the job")
        self.assertEqual("cancelled", self.state_of(job))
        daemon.wait(lambda: self.sql("SELECT 1 FROM record WHERE kind = 1 AND status = 'observed'"), what="another decision")
        self.assertEqual(["old-9.parquet"], self.old(self.folder))

    def test_a_policy_that_is_gone(self):
        job = self.waiting()
        self.sql("UPDATE job SET not_before_ms = 0")
        os.unlink(os.path.join(self.top, "policies", "sweep.lua"))
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies" }')
        self.ready(self.serve())
        daemon.wait(lambda: self.state_of(job) != "queued", what="the end of the job")
        self.assertEqual("cancelled", self.state_of(job))
        self.assertEqual(["old-9.parquet"], self.old(self.folder))


class Tables(Base):
    def test_another_table_of_the_same_name(self):
        folder, = self.due()
        job = self.waiting()
        self.sql("UPDATE job SET not_before_ms = 0")
        path = "wh/db/a/metadata/v1.metadata.json"
        with open(os.path.join(self.top, path), encoding="utf-8") as f:
            metadata = json.load(f)
        metadata["table-uuid"] = "0000000f-2222-4333-8444-555555555555"
        self.write(path, json.dumps(metadata), 10 * test_run.DAY)
        self.ready(self.serve())
        daemon.wait(lambda: self.state_of(job) not in ("queued", "started"), what="the end of the job")
        self.assertEqual("failed", self.state_of(job))
        self.assertEqual(["old-9.parquet"], self.old(folder))


class Renamed(Base):
    def test_a_job_that_waits(self):
        folder, = self.due()
        job = self.waiting()
        self.ready(self.serve())
        daemon.wait(lambda: self.daemon.status()["jobs"]["queued"] == 1)
        os.unlink(os.path.join(self.top, "policies", "sweep.lua"))
        self.policy(name="broom", lines='was = "sweep",')
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'bind = { { policy = "broom", tables = { "lake.**" }, mode = "enforce" } } }')
        self.assertEqual(0, self.ebb("reload", "--wait", "--force").status)
        daemon.wait(lambda: self.state_of(job) == "cancelled", what="the end of the job")
        self.ended(1)
        self.assertEqual([], self.old(folder))
        self.assertEqual({"sweep", "broom"}, {j[1] for j in self.jobs()})

    def test_a_pause(self):
        folder, = self.due()
        d = self.ready(self.serve())
        self.ended(1)
        self.assertEqual(202, d.ask("/api/pause", "POST", {"policy": "sweep"}).status)
        daemon.wait(lambda: d.status()["paused"] == ["policy sweep"])
        self.write("wh/db/a/data/old-9.parquet", "x", 10 * test_run.DAY)
        os.unlink(os.path.join(self.top, "policies", "sweep.lua"))
        self.policy(name="broom", lines='was = "sweep",')
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'bind = { { policy = "broom", tables = { "lake.**" }, mode = "enforce" } } }')
        self.assertEqual(0, self.ebb("reload", "--wait", "--force").status)
        self.again()
        looks = d.total("ebb_table_looks_total")
        self.policy(name="broom", lines='was = "sweep", doc = "another",')
        self.assertEqual(0, self.ebb("reload", "--wait", "--force").status)
        daemon.wait(lambda: d.total("ebb_table_looks_total") > looks)
        self.assertEqual(0, d.stop())
        self.assertEqual(["old-9.parquet"], self.old(folder))
        self.assertEqual(1, len(self.jobs()))


class ByHand(Base):
    def test_an_apply_is_not_withdrawn(self):
        """What a person approved is not the policy's to take back."""
        folder, = self.due(mode="approve")
        d = self.ready(self.serve())
        self.ended(1)
        plan = self.sql("SELECT id FROM record WHERE kind = 0")[0][0]
        self.assertEqual(0, d.stop())
        self.sql("UPDATE job SET kind = 'apply', parent = '', state = 0, not_before_ms = ?, ended_ms = 0, attempt = 0, occurrence = '', json = ?", NEVER,
                 json.dumps({"plan": plan}))
        job = self.jobs()[0][0]
        self.ready(self.serve())
        daemon.wait(lambda: self.daemon.status()["jobs"]["queued"] == 1)
        self.policy(lines='doc = "another",')
        self.assertEqual(0, self.ebb("reload", "--wait").status)
        self.assertEqual("queued", self.state_of(job))
        self.assertEqual(0, self.daemon.stop())
        self.sql("UPDATE job SET not_before_ms = 0")
        self.ready(self.serve())
        daemon.wait(lambda: self.state_of(job) == "succeeded", what="the apply")
        self.assertEqual([], self.old(folder))


class Withdrawn(Base):
    def test_a_run_that_is_open_is_ended_first(self):
        folder, = self.due("guard = { deletes = { max_share = 1.0 } },")
        for i in range(3000):
            self.write("wh/db/a/data/old-%05d.parquet" % i, "x%d" % i, 10 * test_run.DAY)
        d = self.serve()
        daemon.wait(lambda: "started" in self.states() and len(self.old(folder)) < 3002, step=0.002, what="the run")
        d.kill()
        if "started" not in self.states():
            self.skipTest("it was faster")
        self.sql("UPDATE job SET state = 0, not_before_ms = ?", NEVER)
        self.ready(self.serve())
        daemon.wait(lambda: self.daemon.status()["jobs"]["queued"] == 1)
        self.policy(lines='doc = "another", guard = { deletes = { max_share = 1.0 } },')
        self.assertEqual(0, self.ebb("reload", "--wait").status)
        self.assertEqual(0, self.daemon.stop())
        self.sql("UPDATE job SET not_before_ms = 0")
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual([], self.old(folder))
        self.assertEqual([], self.sql("SELECT id FROM record WHERE kind = 1 AND status IN ('started', 'interrupted')"))


class Purge(Base):
    """Nothing is deleted for good while everything is paused."""

    def test_paused(self):
        folder, = self.due()
        self.bind("enforce", serve='poll = "1s", purge = true')
        d = self.ready(self.serve())
        self.ended(1)
        self.assertEqual(202, d.ask("/api/pause", "POST", {}).status)
        daemon.wait(lambda: d.status()["paused"] == ["all"])
        self.assertEqual(0, d.stop())
        back = 8 * test_run.DAY * 1000
        self.sql("UPDATE record SET at_ms = at_ms - ?, end_ms = end_ms - ? WHERE kind = 1", back, back)
        d = self.ready(self.serve())
        daemon.wait(lambda: len(self.jobs()) == 2, what="the job that empties the quarantine")
        purge = self.jobs()[1][0]
        looks = d.total("ebb_table_looks_total")
        self.assertEqual(0, self.ebb("reload", "--wait").status)
        daemon.wait(lambda: d.total("ebb_table_looks_total") >= looks)
        self.assertEqual("queued", self.state_of(purge))
        kept = [n for _, _, names in os.walk(os.path.join(folder, test_serve.QUARANTINE)) for n in names if n.endswith(".parquet")]
        self.assertEqual(2, len(kept))
        self.assertEqual(202, d.ask("/api/resume", "POST", {}).status)
        daemon.wait(lambda: self.state_of(purge) != "queued", what="the job")


class ByHandPaused(Base):
    def test_a_removal_waits_and_a_restore_does_not(self):
        folder, = self.due()
        d = self.ready(self.serve())
        self.ended(1)
        run = self.sql("SELECT id FROM record WHERE kind = 1")[0][0]
        self.assertEqual(202, d.ask("/api/pause", "POST", {}).status)
        daemon.wait(lambda: d.status()["paused"] == ["all"])
        asked = d.ask("/api/metalakes/default/jobs/runs", "POST",
                      {"jobTemplateName": "builtin-iceberg-remove-orphan-files", "jobConf": {"catalog_name": "lake", "table_identifier": "db.a"}})
        self.assertEqual(200, asked.status, asked.text)
        restored = d.ask("/api/runs/%s/restore" % run, "POST", {})
        self.assertEqual(202, restored.status, restored.text)
        daemon.wait(lambda: self.state_of(restored.json()["id"]) == "succeeded", what="the restore")
        self.assertEqual(2, len(self.old(folder)))
        self.assertEqual(["queued"], [j[3] for j in self.jobs() if j[1] == "" and j[0] != restored.json()["id"]])
        self.assertEqual(202, d.ask("/api/resume", "POST", {}).status)
        self.ended(3)
        self.assertEqual([], self.old(folder))


class Passes(Base):
    """What an earlier `ebb run` left."""

    def left(self):
        folder, = self.due()
        self.assertEqual(0, self.ebb("run").status)
        (job,), = self.sql("SELECT id FROM job")
        self.sql("UPDATE job SET state = 1, ended_ms = 0, plan = '', run = ''")
        self.sql("DELETE FROM record WHERE kind IN (0, 1)")
        self.write("wh/db/a/data/old-9.parquet", "x", 10 * test_run.DAY)
        return folder, job

    def test_the_same_policy(self):
        folder, job = self.left()
        self.assertEqual(0, self.ebb("run").status)
        self.assertEqual([(job, "succeeded")], [(j[0], j[3]) for j in self.jobs()])
        self.assertEqual([], self.old(folder))

    def test_a_policy_that_changed(self):
        folder, job = self.left()
        self.policy(body='return skip(all { check("no", 1, ">", 2) })')
        self.assertEqual(0, self.ebb("run").status)
        self.assertEqual([(job, "cancelled")], [(j[0], j[3]) for j in self.jobs()])
        self.assertEqual(["old-9.parquet"], self.old(folder))
        self.assertEqual([("skip",)], self.sql("SELECT status FROM record WHERE kind = 2 ORDER BY at_ms DESC LIMIT 1"))

    def test_a_run_whose_process_was_killed(self):
        """Its job was taken back: it is not in the way of the next."""
        folder, job = self.left()
        self.sql("UPDATE job SET state = 5, ended_ms = started_ms + 10")
        self.sql("INSERT INTO record (kind, id, tbl, uuid, policy, status, at_ms, end_ms, parent, json)"
                 " SELECT 1, 'r-01', tbl, uuid, policy, 'started', started_ms + 1, 0, '', '{}' FROM job")
        self.again()
        self.assertEqual(0, self.ebb("run").status)
        self.assertEqual([("interrupted",)], self.sql("SELECT status FROM record WHERE id = 'r-01'"))
        self.assertEqual([], self.old(folder))


class Late(Base):
    def test_what_waited_too_long_is_pending_again(self):
        folder, = self.due()
        job = self.waiting()
        self.sql("UPDATE job SET not_before_ms = 0, deadline_ms = 1")
        self.ready(self.serve())
        daemon.wait(lambda: self.state_of(job) != "queued", what="the end of the job")
        self.assertEqual("cancelled", self.state_of(job))
        self.ended(1)
        self.assertEqual([], self.old(folder))
        self.assertEqual(2, len(self.jobs()))


class Cancelled(Base):
    def test_what_waited_for_it_goes_on(self):
        folder, = self.due('guard = { overlap = "queue_one" },')
        job = self.waiting()
        self.again()
        d = self.ready(self.serve())
        daemon.wait(lambda: self.sql("SELECT 1 FROM record WHERE kind = 2 AND status = 'defer'"), what="the next occurrence")
        self.assertEqual(202, d.ask("/api/jobs/%s/cancel" % job, "POST").status)
        self.ended(1)
        self.assertEqual([], self.old(folder))


if __name__ == "__main__":
    unittest.main()
