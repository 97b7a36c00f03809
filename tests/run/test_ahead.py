# SPDX-License-Identifier: Apache-2.0
"""Looking ahead and back: ebb simulate, backtest, whynot, replay, explain, by the real program."""

import contextlib
import json
import os
import sqlite3
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import program  # noqa: E402
from test_run import Base, RUN  # noqa: E402

FACTS = os.path.join(program.ROOT, "tests", "fixtures", "facts", "clicks.json")
EXAMPLES = os.path.join(program.ROOT, "policies", "examples")
NIGHT = "2026-03-29T00:00:00Z"
DAY_MS = 86400000


class Story(Base):
    """Facts of one table, and one policy in a file."""

    def setUp(self):
        super().setUp()
        self.config = None
        self.facts = {"table": {"catalog": "prod", "namespace": "db", "name": "t", "uuid": "11111111-2222-4333-8444-555555555555",
                                "location": "s3://lake/prod/db/t", "properties": {}, "stats": {}}, "events": []}

    def fixture(self):
        return self.write("t.json", json.dumps(self.facts))

    def file(self, triggers, body=RUN, lines="", name="test"):
        return self.write("p/%s.lua" % name, 'return policy { api = 1, name = "%s", triggers = { %s }, %s\ndecide = function(t, ctx) %s end }' %
                          (name, triggers, lines, body))

    def lines(self, *args):
        done = self.ebb(*args, "--json")
        self.assertEqual(0, done.status, done.err)
        return [json.loads(line) for line in done.out.splitlines()]

    def simulate(self, policy, until, at, *args):
        """Decisions, and the totals."""
        rows = self.lines("simulate", "--until", until, "--policy", policy, "--table", self.fixture(), "--at", at, *args)
        for row in rows:
            self.assertIs(True, row["estimate"], row)
        return [r for r in rows if r.get("kind") != "total"], [r for r in rows if r.get("kind") == "total"]


class Simulate(Story):
    def test_clock_change(self):
        policy = self.file('time.calendar { "Sun 02:00", tz = "Europe/Berlin" }')
        rows, totals = self.simulate(policy, "+14d", "2026-03-23T00:00:00Z")
        self.assertEqual([("2026-03-29T01:00:00Z", "run"), ("2026-04-05T00:00:00Z", "run")], [(r["at"], r["verdict"]) for r in rows])
        self.assertEqual(["remove_orphan_files"] * 2, [r["action"]["type"] for r in rows])
        self.assertEqual([("test", "prod.db.t", 2)], [(t["policy"], t["table"], t["runs"]) for t in totals])
        self.assertIn("guard.min_interval", {g["n"] for g in rows[0]["guards"]})

    def test_spread_is_told(self):
        policy = self.file('time.calendar { "02:00", spread = "3h" }')
        rows, _ = self.simulate(policy, "+3d", "2026-03-23T00:00:00Z")
        self.assertEqual(["2026-03-2%dT02:00:00Z" % d for d in (3, 4, 5)], [r["nominal"] for r in rows])
        self.assertEqual([r["splayed"] for r in rows], [r["at"] for r in rows])
        offsets = {r["splayed"][11:] for r in rows}
        self.assertEqual(1, len(offsets), offsets)  # the same every day
        self.assertTrue("02:00:00" <= offsets.pop() < "05:00:00")

    def test_asleep_over_the_night(self):
        policy = self.file('time.every { "2h", anchor = "start_of_day", tz = "UTC" }')
        rows, _ = self.simulate(policy, "2026-03-23T13:00:00Z", "2026-03-23T01:00:00Z", "--asleep", "2026-03-23T03:30:00Z/2026-03-23T12:30:00Z")
        self.assertEqual([("2026-03-23T02:00:00Z", 0), ("2026-03-23T12:30:00Z", 4)], [(r["at"], r["missed"]) for r in rows])

    def test_late_is_dropped(self):
        policy = self.file('time.calendar { "02:00", late_by = "1h" }')
        rows, _ = self.simulate(policy, "+1d", "2026-03-23T00:00:00Z", "--asleep", "2026-03-23T01:00:00Z/2026-03-23T12:00:00Z")
        self.assertEqual([("2026-03-23T12:00:00Z", "dropped", "late", "2026-03-23T02:00:00Z")],
                         [(r["at"], r["verdict"], r["dropped"], r["nominal"]) for r in rows])

    def test_quiet_defers(self):
        policy = self.file('time.calendar { "09:00" }', lines='guard = { quiet = { { from = "08:00", to = "19:00", tz = "UTC" } } },')
        rows, _ = self.simulate(policy, "+1d", "2026-03-23T00:00:00Z")
        self.assertEqual([("2026-03-23T09:00:00Z", "defer", "guard.quiet"), ("2026-03-23T19:00:00Z", "run", "policy")],
                         [(r["at"], r["verdict"], r["by"]) for r in rows])
        self.assertEqual(("2026-03-23T19:00:00Z", "deferred"), (rows[0]["until"], rows[1]["trigger"]))

    def test_loop_is_closed(self):
        """Compaction leaves nothing to do, until writers have made it worth a job again."""
        self.facts["table"]["partitions"] = [{"key": "p", "files": 10, "bytes": 1000, "last_write": 0}]
        self.facts["table"]["stats"] = {"data_files": 10, "small_files": 10, "bytes": 1000}
        base = 1773014400000  # 2026-03-09, a Monday
        self.facts["table"]["snapshots"] = [{"id": i + 1, "at": base + i * DAY_MS, "operation": "append", "summary": {"added-data-files": "2", "added-files-size": "200"}}
                                            for i in range(14)]
        policy = self.file('time.calendar { "12:00" }', """
            local files = 0
            for _, p in ipairs(t.partitions {}) do files = files + p.files end
            local v = all { check("files", files, ">=", 10) }
            if not v.ok then return skip(v) end
            return run(v, action.rewrite_data_files { target_file_size = 1000000 })""")
        rows, totals = self.simulate(policy, "+9d", "2026-03-22T00:30:00Z")
        # 10 files become one; 2 more come each day at midnight: 3, 5, 7, 9, 11
        self.assertEqual(["run", "skip", "skip", "skip", "skip", "run", "skip", "skip", "skip"], [r["verdict"] for r in rows])
        self.assertEqual((2, 9), (totals[0]["runs"], totals[0]["commits"]))
        self.assertEqual(10 + 11, totals[0]["files_rewritten"])
        self.assertEqual(1000 + 1000 + 5 * 200, totals[0]["bytes_rewritten"])

    def test_orphans_are_gone_after_a_run(self):
        self.facts["table"]["stats"]["orphans"] = {"files": 212, "bytes": 5000, "age": 1000}
        policy = self.file('time.calendar { "12:00" }', 'local v = check("waste", t.stats.orphans.bytes, ">", 0)\n if not v.ok then return skip(v) end\n' + RUN.replace("all {}", "v"))
        rows, totals = self.simulate(policy, "+3d", "2026-03-22T00:00:00Z")
        self.assertEqual(["run", "skip", "skip"], [r["verdict"] for r in rows])
        self.assertEqual((212, 5000), (totals[0]["files_deleted"], totals[0]["bytes_deleted"]))

    def test_errors_of_a_policy(self):
        rows, totals = self.simulate(self.file('time.calendar { "12:00" }', "error('no')"), "+2d", "2026-03-22T00:00:00Z")
        self.assertEqual({"error"}, {r["verdict"] for r in rows})
        self.assertEqual("policy.error", rows[0]["error"]["code"])
        self.assertEqual(0, totals[0]["runs"])

    def test_people(self):
        done = self.ebb("simulate", "--until", "+2d", "--policy", os.path.join(EXAMPLES, "compact_scored.lua"), "--table", FACTS, "--at", NIGHT)
        self.assertEqual(0, done.status, done.err)
        lines = done.out.splitlines()
        self.assertIn("estimated", lines[0])
        self.assertRegex(lines[1], r"^ at +nominal +with spread$")
        self.assertRegex(lines[2], r"compact-scored on prod\.events\.clicks  RUN rewrite_data_files")
        self.assertRegex(done.out, r"… and \d+ more like it, the last 2026-03-30T")
        self.assertRegex(lines[-1], r"^estimate for compact-scored on prod\.events\.clicks: \d+ runs?, rewrites 260 files, ")

    def test_same_again(self):
        args = ("simulate", "--until", "+30d", "--policy", os.path.join(EXAMPLES, "compact_scored.lua"), "--table", FACTS, "--at", NIGHT, "--json")
        self.assertEqual(self.ebb(*args).out, self.ebb(*args).out)

    def test_usage(self):
        policy = self.file('time.calendar { "12:00" }')
        for args in (["--until", "14d"], ["--until", "+6000d"], ["--until", "2020-01-01T00:00:00Z"], [], ["--until", "+x"],
                     ["--until", "+1d", "--asleep", "soon"], ["--until", "+1d", "--asleep", "2026-03-23T12:00:00Z/2026-03-23T12:00:00Z"],
                     ["--until", "+9d", "--asleep", "2026-03-23T12:00:00Z/2026-03-25T12:00:00Z", "--asleep", "2026-03-24T12:00:00Z/2026-03-26T12:00:00Z"]):
            with self.subTest(args=args):
                done = self.ebb("simulate", "--policy", policy, "--table", self.fixture(), "--at", "2026-03-22T00:00:00Z", *args)
                self.assertEqual(64, done.status, done.out + done.err)
        other = self.file('time.calendar { "12:00" }', lines='target = { tables = { "other.**" } },', name="other")
        self.assertEqual(64, self.ebb("simulate", "--until", "+1d", "--policy", other, "--table", self.fixture()).status)
        self.assertEqual(64, self.ebb("simulate", "--until", "+1d").status)


class Bound(Base):
    """Over a real warehouse with a configuration."""

    def test_simulate_all_that_is_bound(self):
        self.policy(lines='target = { tables = { "lake.db.*" } },')
        self.policy(name="other")
        self.bind("observe", more='{ policy = "other", tables = { "lake.db.b" } }')
        for name in ("a", "b"):
            self.table(name)
        before = program.tree(os.path.join(self.top, "wh"))
        done = self.ebb("simulate", "--until", "+90m", "--json")
        self.assertEqual(0, done.status, done.err)
        rows = [json.loads(line) for line in done.out.splitlines()]
        runs = sorted((r["policy"], r["table"]) for r in rows if r.get("kind") != "total")
        self.assertIn(len(runs), (3, 6), runs)  # one or two full hours lie ahead
        self.assertEqual([("other", "lake.db.b"), ("sweep", "lake.db.a"), ("sweep", "lake.db.b")], sorted(set(runs)))
        self.assertEqual(before, program.tree(os.path.join(self.top, "wh")))
        self.assertEqual("", self.ebb("decisions", "--json").out.strip().strip("[]"))  # nothing is recorded

    def test_what_passes_left_is_taken_over(self):
        """A run of a pass holds the next one back in a simulation."""
        self.policy(lines='guard = { min_interval = "20h" },')
        self.bind("observe")
        self.table("a")
        self.activate()
        self.assertEqual("observed", self.reports(self.ebb("run", "--json"))["lake.db.a"]["status"])
        rows = [json.loads(line) for line in self.ebb("simulate", "--until", "+30h", "--json").out.splitlines()]
        first = next(r for r in rows if r["verdict"] == "run")
        held = [r for r in rows if r.get("by") == "guard.min_interval"]
        self.assertTrue(held)
        self.assertEqual(first["at"], max(r["until"] for r in held if r["at"] < first["at"]))

    def test_replay_of_passes(self):
        self.policy()
        self.bind("observe")
        self.table("a")
        self.activate()
        self.ebb("run", "--json")
        ids = [json.loads(line)["id"] for line in self.ebb("decisions", "--json").out.splitlines()]
        self.assertTrue(ids)
        self.policy(body="return skip(all {})")  # the file is another one by now
        for i in ids:
            done = self.ebb("replay", i)
            self.assertEqual((0, ""), (done.status, done.err), done.out)
            self.assertIn("comes out the same", done.out)

    def test_whynot_knows_the_runs(self):
        self.policy(lines='guard = { min_interval = "20h", quiet = { { from = "00:00", to = "00:00", only_if = "freeze" } } },')
        self.bind("observe")
        self.table("a")
        self.activate()
        self.ebb("run")
        done = self.ebb("whynot", "sweep", "lake.db.a", "--json")
        self.assertEqual(0, done.status, done.err)
        told = done.json()
        self.assertEqual("defer", told["record"]["verdict"])  # as if a trigger had fired: the pass made a run just now
        held = [g for g in told["guards"] if g["r"] != "true"]
        self.assertEqual(["guard.min_interval"], [g["n"] for g in held])
        ends = time.time() * 1000 + 20 * 3600000
        self.assertTrue(ends - 60000 <= held[0]["until"] <= ends, held)
        self.assertEqual(held[0]["until"], told["earliest"])


class Back(Story):
    def decide(self, policy, at, *events):
        args = [a for e in events for a in ("--event", e)]
        done = self.ebb("decide", policy, self.fixture(), "--at", at, "--json", *args)
        self.assertEqual(0, done.status, done.err)
        return done.json()["id"]

    def alter(self, i, change):
        """Change a stored record."""
        with contextlib.closing(sqlite3.connect(os.path.join(self.state, "ebb.db"))) as db:
            tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            table = next(t for t in tables if "decision" in t or t == "record")
            text = db.execute("SELECT json FROM %s WHERE id = ?" % table, (i,)).fetchone()[0]
            record = json.loads(text)
            change(record)
            db.execute("UPDATE %s SET json = ? WHERE id = ?" % table, (json.dumps(record), i))
            db.commit()

    def test_replay_tells_differences(self):
        policy = self.file("", 'local v = check("few", ctx.events.count { "x" }, "<", 3)\n if not v.ok then return skip(v) end\n' + RUN.replace("all {}", "v"))
        i = self.decide(policy, NIGHT, "x", "x")
        self.assertEqual(0, self.ebb("replay", i).status)
        self.alter(i, lambda r: r.update(verdict="skip"))
        done = self.ebb("replay", i, "--json")
        self.assertEqual(1, done.status, done.err)
        self.assertFalse(done.json()["equal"])
        self.assertTrue(any("verdict" in d for d in done.json()["differences"]), done.out)
        self.assertIn("comes out differently", self.ebb("replay", i).out)

    def test_replay_without_what_it_needs(self):
        i = self.decide(self.file(""), NIGHT)
        self.alter(i, lambda r: r.pop("inputs"))
        done = self.ebb("replay", i, "--json")
        self.assertNotIn(done.status, (0, 1))
        self.assertIn("inputs", done.error()["message"])
        self.alter(i, lambda r: r.update(bundle="sha256:" + "0" * 64))
        done = self.ebb("replay", i, "--json")
        self.assertNotIn(done.status, (0, 1))
        self.assertIn("is not in the store", done.error()["message"])
        self.assertEqual(64, self.ebb("replay", "p-1").status)
        self.assertNotIn(self.ebb("replay", "d-none").status, (0, 1))

    def backtest(self, new, *args):
        rows = self.lines("backtest", new, "--since", "2026-01-01T00:00:00Z", *args)
        return [r for r in rows if r["kind"] in ("changed", "not comparable")], next(r for r in rows if r["kind"] == "open loop")

    def test_backtest(self):
        self.facts["table"]["stats"] = {"bytes": 100, "data_files": 5}
        body = 'local v = check("big", t.stats.bytes, ">=", %d)\n if not v.ok then return skip(v) end\n' + RUN.replace("all {}", "v")
        old = self.file("", body % 50)
        ids = []
        for size, at in ((40, "2026-03-01T00:00:00Z"), (60, "2026-03-02T00:00:00Z"), (100, "2026-03-03T00:00:00Z")):
            self.facts["table"]["stats"]["bytes"] = size
            ids.append(self.decide(old, at))
        new = self.write("new/test.lua", 'return policy { api = 1, name = "test", decide = function(t, ctx) %s end }' % (body % 80))
        rows, total = self.backtest(os.path.dirname(new))
        self.assertEqual([(ids[1], "changed", "verdict", "run", "skip")],
                         [(r["decision"], r["kind"], r["changed"], r["before"]["verdict"], r["after"]["verdict"]) for r in rows])
        self.assertEqual((3, 3, 1, 0, "2026-03-02T00:00:00Z"),
                         tuple(total[k] for k in ("decisions", "compared", "changed", "not_comparable", "inputs_hold_until")))
        text = self.ebb("backtest", new, "--since", "2026-01-01T00:00:00Z").out
        self.assertIn("RUN remove_orphan_files  →  SKIP", text)
        self.assertIn("big: true, now false", text)
        self.assertIn("the recorded inputs are no longer what would have happened", text)
        self.assertEqual(0, self.backtest(new, "--table", "lake.*")[1]["decisions"])
        rows = self.lines("backtest", new, "--since", "2026-03-02T12:00:00Z")
        self.assertEqual(1, rows[-1]["decisions"])

    def test_not_comparable(self):
        """What the old policy did not look at is not in the record, whatever it was."""
        self.facts["table"]["stats"] = {"bytes": 100, "data_files": 5}
        i = self.decide(self.file("", 'return skip(check("big", t.stats.bytes, ">=", 500))'), NIGHT)
        for name, lines, body, what in (
                ("reads", "", 'return skip(check("many", t.stats.data_files, ">=", 1))', "t.stats.data_files"),
                ("events", "", 'return skip(check("many", ctx.events.count { "x" }, ">=", 1))', "ctx.events(x)"),
                ("property", 'params = { tz = { type = "timezone", default = "UTC", property = "owner.tz" } },',
                 'return skip(check("big", t.stats.bytes, ">=", 500))', "property owner.tz"),
                ("flag", 'guard = { quiet = { { from = "00:00", to = "00:00", only_if = "freeze" } } },',
                 'return skip(check("big", t.stats.bytes, ">=", 500))', "flag freeze")):
            with self.subTest(name):
                new = self.write("%s/test.lua" % name, 'return policy { api = 1, name = "test", %s decide = function(t, ctx) %s end }' % (lines, body))
                rows, total = self.backtest(new)
                self.assertEqual([(i, "not comparable")], [(r["decision"], r["kind"]) for r in rows])
                self.assertIn(what, rows[0]["why"])
                self.assertEqual((0, 0, 1), (total["compared"], total["changed"], total["not_comparable"]))
        new = self.write("same/test.lua", 'return policy { api = 1, name = "test", decide = function(t, ctx) return skip(check("huge", t.stats.bytes, ">=", 900)) end }')
        self.assertEqual((1, 0, 0), tuple(self.backtest(new)[1][k] for k in ("compared", "changed", "not_comparable")))

    def test_renamed_and_others(self):
        self.decide(self.file("", "return skip(all {})"), NIGHT)
        self.decide(self.file("", "return skip(all {})", name="another"), NIGHT)
        new = self.write("new/next.lua", 'return policy { api = 1, name = "next", was = "test", decide = function(t, ctx) %s end }' % RUN)
        rows, total = self.backtest(new)
        self.assertEqual([("test", "verdict")], [(r["policy"], r["changed"]) for r in rows if r["kind"] == "changed"] or
                         [(r["policy"], r.get("changed", "verdict")) for r in rows])
        self.assertEqual((1, 1), (total["decisions"], total["without_policy"]))

    def test_closed_loop(self):
        self.facts["table"]["stats"]["orphans"] = {"files": 10, "bytes": 500, "age": 1}
        os.mkdir(os.path.join(self.top, "policies-old"))
        self.write("policies/test.lua", 'return policy { api = 1, name = "test", triggers = { time.calendar { "12:00" } }, decide = function(t, ctx) %s end }' % RUN)
        new = self.write("new/test.lua", 'return policy { api = 1, name = "test", triggers = { time.calendar { "Sun 12:00" } }, decide = function(t, ctx) %s end }' % RUN)
        self.config = self.write("ebb.lua", 'return { policies = "./policies" }')
        rows = self.lines("backtest", new, "--until", "+7d", "--table", self.fixture(), "--at", "2026-03-23T00:00:00Z")
        sides = {r["side"]: r for r in rows if r["kind"] == "closed loop"}
        self.assertEqual((7, 1), (sides["old"]["runs"], sides["new"]["runs"]))
        self.assertEqual((10, 10), (sides["old"]["files_deleted"], sides["new"]["files_deleted"]))
        self.assertTrue(all(s["estimate"] for s in sides.values()))

    def test_bad_policies(self):
        self.assertEqual(64, self.ebb("backtest", os.path.join(self.top, "policies")).status)  # an empty folder
        self.assertNotIn(self.ebb("backtest", os.path.join(self.top, "nowhere")).status, (0, 1))
        broken = self.write("broken/a.lua", "return policy {")
        self.assertNotIn(self.ebb("backtest", broken).status, (0, 1))
        self.assertEqual(64, self.ebb("backtest", self.file(""), "--policy", "nobody").status)


class Whynot(Story):
    def test_transcript(self):
        done = self.ebb("whynot", os.path.join(EXAMPLES, "orphans_on_event.lua"), FACTS, "--at", NIGHT)
        self.assertEqual(0, done.status, done.err)
        lines = done.out.splitlines()
        # the failed commit of the fixture happened at 2026-03-28T22:05Z and ripens three days later
        self.assertRegex(lines[0], r"^orphans-on-event on prod\.events\.clicks: not now\. DEFER until 2026-03-31T22:05:00Z .*\(in 70h 5m\)")
        self.assertEqual(" any                          false", lines[1])
        self.assertRegex(lines[2], r"^   many_new_snapshots         false    2 >= 500 +needs 498 more")
        self.assertEqual("   all                        false", lines[3])
        self.assertEqual("     failed_commits           true     1 > 0", lines[4])
        self.assertRegex(lines[5], r"^     leftovers_are_ripe       false    2026-03-31T22:05:00Z <= now +true in 70h 5m$")
        self.assertRegex(lines[6], r"^ guards                       all pass")
        self.assertEqual(" earliest possible            2026-03-31T22:05:00Z (Wed 00:05 Europe/Berlin)", lines[7])
        self.assertRegex(lines[8], r"^ read                         events\(commit\.failed\), events\(snapshot\.committed\), now, ")

    def test_quiet(self):
        done = self.ebb("whynot", os.path.join(EXAMPLES, "orphans_on_event.lua"), FACTS, "--at", "2026-04-01T08:00:00Z")
        self.assertRegex(done.out, r"\n   quiet +false +.*until 2026-04-01T17:00:00Z \(in 9h, Wed 19:00 Europe/Berlin\)\n")
        self.assertIn(" earliest possible            2026-04-01T17:00:00Z (Wed 19:00 Europe/Berlin)", done.out)

    def test_json_and_errors(self):
        told = self.ebb("whynot", self.file(""), self.fixture(), "--json").json()
        self.assertEqual({"record", "checks", "guards", "earliest", "reads"}, set(told))
        self.assertEqual(4, self.ebb("whynot", self.file("", "error('no')"), self.fixture()).status)
        self.assertNotIn(self.ebb("whynot", "nobody", self.fixture()).status, (0, 1))
        self.assertEqual("", self.ebb("decisions", "--json").out.strip().strip("[]"))  # nothing is recorded


class Explain(Story):
    def test_one_list_and_the_ranking(self):
        done = self.ebb("decide", os.path.join(EXAMPLES, "compact_scored.lua"), FACTS, "--at", NIGHT, "--json")
        text = self.ebb("explain", done.json()["id"]).out
        self.assertRegex(text, r"\n all +true\n   worth_a_job +true +1 >= 1\n   no_conflict_storm +true +0 < 3\n")
        self.assertRegex(text, r"\n settled +each +2 true, 1 false\n")
        self.assertRegex(text, r"\n guard\.overlap +true\n")
        self.assertRegex(text, r"\n key +score +deletes +skew +small  taken\n ds=2026-03-26 +47\.2 +0\.00 +0\.10 +0\.84  yes\n")
        self.assertRegex(text, r"\n ds=2026-03-28 +–  no   settled: 40m >= 45m is false\n")
        self.assertRegex(text, r"inputs +recorded; to make the decision again: .*replay d-")

    def test_notes(self):
        done = self.ebb("decide", self.file("", "note('one') note('two') return skip(all {})"), self.fixture(), "--json")
        self.assertRegex(self.ebb("explain", done.json()["id"]).out, r"\n  notes +one\n +two\n")


if __name__ == "__main__":
    unittest.main()
