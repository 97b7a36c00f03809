# SPDX-License-Identifier: Apache-2.0
"""ebb next: the case table, the worked cases, and random triggers against a walk over every minute."""

import json
import os
import random
import shutil
import sys
import tempfile
import unittest
import zoneinfo

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import fixtures  # noqa: E402
import program  # noqa: E402
import walk  # noqa: E402

CASE, TABLE = "c01-v1-basic", "c.db.t"

CASES = os.path.join(program.ROOT, "tests", "cases", "schedule.tsv")
FACTS = os.path.join(program.ROOT, "tests", "fixtures", "facts", "clicks.json")
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "Pacific/Apia", "Africa/Casablanca",
         "Antarctica/Troll", "Asia/Beirut", "America/St_Johns", "Europe/Dublin"]
CHANGES = ["2026-03-08T00:00Z", "2026-03-29T00:00Z", "2026-04-05T00:00Z", "2026-10-04T00:00Z", "2026-10-25T00:00Z", "2026-11-01T00:00Z", "2011-12-30T00:00Z",
           "2023-04-23T00:00Z", "2024-03-31T00:00Z", "2026-06-15T00:00Z"]


class Base(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)
        self.config = self.write("ebb.lua", "return {}")
        self.state = os.path.join(self.top, "state")

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def policy(self, triggers, guard="", more=""):
        return self.write("p.lua", 'return policy { api = 1, name = "p",\n triggers = { %s },\n guard = { %s },\n %s\n'
                          "decide = function() return skip(all {}) end }\n" % (triggers, guard, more))

    def run_next(self, *args):
        return program.run(["next", *args], config=self.config, state=self.state)

    def fires(self, policy, at, n, *args):
        done = self.run_next(policy, *args, "--at", at, "-n", str(n), "--json")
        self.assertEqual(done.status, 0, done.err)
        return done.json()


class Table(Base):
    def test_case_table(self):
        with open(CASES, encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t") for line in f]
        self.assertGreater(len(rows), 40)
        for case, trigger, guard, at, n, fires, note in rows[1:]:
            with self.subTest(case, note=note):
                policy = self.policy(trigger, "" if guard == "-" else guard)
                self.assertEqual([f["fires"] for f in self.fires(policy, at, n)], json.loads(fires))


class Worked(Base):
    def check(self, trigger, at, *want, guard=""):
        got = self.fires(self.policy(trigger, guard), at, len(want))
        self.assertEqual([(f["fires"], f["nominal"], f["local"], f["why"]) for f in got], list(want))

    def test_gap_and_overlap(self):
        berlin = 'time.calendar { "Sun 02:00", tz = "Europe/Berlin" }'
        self.check(berlin, "2026-03-28T00:00:00Z", ("2026-03-29T01:00:00Z", None, "2026-03-29 02:00 Europe/Berlin", ["gap"]),
                   ("2026-04-05T00:00:00Z", "2026-04-05T00:00:00Z", "2026-04-05 02:00 Europe/Berlin", []))
        self.check(berlin, "2026-10-24T00:00:00Z", ("2026-10-25T00:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25 02:00 Europe/Berlin", ["overlap"]),
                   ("2026-11-01T01:00:00Z", "2026-11-01T01:00:00Z", "2026-11-01 02:00 Europe/Berlin", []))

    def test_wildcard_hour(self):
        got = self.fires(self.policy('time.calendar { "*:30", tz = "Europe/Berlin" }'), "2026-10-25T00:00:00Z", 2)
        self.assertEqual([f["fires"] for f in got], ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"])
        self.assertEqual([f["local"] for f in got], ["2026-10-25 02:30 Europe/Berlin"] * 2)
        self.assertEqual([f["why"] for f in got], [[], []])

    def test_other_zones(self):
        self.check('time.calendar { "02:30", tz = "America/New_York" }', "2026-03-07T12:00:00Z",
                   ("2026-03-08T07:00:00Z", None, "2026-03-08 02:30 America/New_York", ["gap"]))
        self.check('time.calendar { "01:30", tz = "America/New_York" }', "2026-11-01T00:00:00Z",
                   ("2026-11-01T05:30:00Z", "2026-11-01T05:30:00Z", "2026-11-01 01:30 America/New_York", ["overlap"]),
                   ("2026-11-02T06:30:00Z", "2026-11-02T06:30:00Z", "2026-11-02 01:30 America/New_York", []))
        self.check('time.calendar { "02:15", tz = "Australia/Lord_Howe" }', "2026-10-03T00:00:00Z",
                   ("2026-10-03T15:30:00Z", None, "2026-10-04 02:15 Australia/Lord_Howe", ["gap"]))
        self.check('time.calendar { "01:45", tz = "Australia/Lord_Howe" }', "2026-04-04T12:00:00Z",
                   ("2026-04-04T14:45:00Z", "2026-04-04T14:45:00Z", "2026-04-05 01:45 Australia/Lord_Howe", ["overlap"]),
                   ("2026-04-05T15:15:00Z", "2026-04-05T15:15:00Z", "2026-04-06 01:45 Australia/Lord_Howe", []))

    def test_several_times_in_one_gap_are_one_fire(self):
        self.check('time.calendar { "02:00/15", tz = "Europe/Berlin" }', "2026-03-28T12:00:00Z",
                   ("2026-03-29T01:00:00Z", None, "2026-03-29 02:00 Europe/Berlin", ["gap"]),
                   ("2026-03-30T00:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30 02:00 Europe/Berlin", []))

    def test_strictly_after(self):
        daily = 'time.calendar { "02:00" }'
        self.assertEqual(self.fires(self.policy(daily), "2026-06-01T01:59:59.999Z", 1)[0]["fires"], "2026-06-01T02:00:00Z")
        self.assertEqual(self.fires(self.policy(daily), "2026-06-01T02:00:00Z", 1)[0]["fires"], "2026-06-02T02:00:00Z")

    def test_held_from_before_is_told(self):
        quiet = 'quiet = { { from = "22:00", to = "06:00", tz = "Europe/Berlin" } }'
        late = 'time.calendar { "22:30", tz = "Europe/Berlin" }'
        want = ("2026-03-29T04:00:00Z", "2026-03-28T21:30:00Z", "2026-03-28 22:30 Europe/Berlin", ["quiet"])
        self.check(late, "2026-03-28T12:00:00Z", want, guard=quiet)
        self.check(late, "2026-03-29T01:00:00Z", want, guard=quiet)
        self.check(late, "2026-03-29T04:00:00Z",
                   ("2026-03-30T04:00:00Z", "2026-03-29T20:30:00Z", "2026-03-29 22:30 Europe/Berlin", ["quiet"]), guard=quiet)

    def test_min_interval(self):
        self.check('time.calendar { "*:00/20" }', "2026-06-01T00:00:00Z",
                   ("2026-06-01T00:20:00Z", "2026-06-01T00:20:00Z", "2026-06-01 00:20 UTC", []),
                   ("2026-06-01T01:10:00Z", "2026-06-01T01:00:00Z", "2026-06-01 01:00 UTC", ["min_interval"]),
                   ("2026-06-01T02:00:00Z", "2026-06-01T02:00:00Z", "2026-06-01 02:00 UTC", []), guard='min_interval = "50m"')

    def test_the_first_of_two_triggers_counts(self):
        got = self.fires(self.policy('time.calendar { "02:00" }, time.calendar { "*:00" }'), "2026-06-01T00:30:00Z", 3)
        self.assertEqual([(f["fires"], f["trigger"]) for f in got],
                         [("2026-06-01T01:00:00Z", 2), ("2026-06-01T02:00:00Z", 1), ("2026-06-01T03:00:00Z", 2)])

    def test_all_dropped_comes_to_an_end(self):
        policy = self.policy('time.calendar { "01:00", late_by = "1m" }', 'quiet = { { from = "00:00", to = "02:00" } }')
        self.assertEqual(self.fires(policy, "2026-06-01T00:30:00Z", 3), [])

    def test_without_time_triggers(self):
        policy = self.policy('on.event { "commit.failed" }', 'min_interval = "1h"')
        self.assertEqual(self.fires(policy, "2026-06-01T00:00:00Z", 3), [])
        self.assertEqual(self.run_next(policy).out, "no time trigger fires\n")


class Tables(Base):
    SPREAD = 'time.calendar { "Sun 02:00", tz = "Europe/Berlin", spread = "3h" }'

    def test_spread_is_that_of_the_table(self):
        one = self.fires(self.policy(self.SPREAD), "2026-03-28T00:00:00Z", 3, FACTS)
        self.assertEqual({f["table"] for f in one}, {"prod.events.clicks"})
        offset = walk.minute(one[0]["fires"]) - walk.minute("2026-03-29T01:00:00Z")
        self.assertTrue(0 <= offset < 180)
        for f in one:
            self.assertTrue(f["why"][-1].startswith("spread +"), f)
        self.assertEqual(one[0]["why"][0], "gap")
        self.assertEqual(one, self.fires(self.policy(self.SPREAD), "2026-03-28T00:00:00Z", 3, FACTS))

    def test_without_a_table_there_is_no_spread(self):
        policy = self.policy(self.SPREAD)
        self.assertEqual(self.fires(policy, "2026-03-30T00:00:00Z", 1)[0],
                         {"policy": "p", "table": None, "trigger": 1, "nominal": "2026-04-05T00:00:00Z", "local": "2026-04-05 02:00 Europe/Berlin",
                          "fires": "2026-04-05T00:00:00Z", "why": []})
        self.assertIn("without spread", self.run_next(policy).out)
        self.assertFalse(os.path.exists(self.state))

    def test_the_last_run_counts(self):
        with open(FACTS, encoding="utf-8") as f:
            facts = json.load(f)
        facts["runs"] = [{"id": "r-1", "started": 1780268400000, "ended": 1780272000000, "outcome": "observed"}]  # to 2026-06-01T00:00Z
        table = self.write("t.json", json.dumps(facts))
        got = self.fires(self.policy('time.calendar { "*:00", late_by = "2h" }', 'min_interval = "90m"'), "2026-06-01T00:10:00Z", 2, table)
        self.assertEqual([(f["fires"], f["why"]) for f in got], [("2026-06-01T01:30:00Z", ["min_interval"]), ("2026-06-01T03:00:00Z", [])])

    def test_a_table_that_the_policy_does_not_take(self):
        policy = self.policy('time.calendar { "02:00" }', more='target = { tables = { "other.**" } },')
        done = self.run_next(policy, FACTS, "--json")
        self.assertEqual((done.status, done.out), (0, "[]\n"))
        self.assertIn("does not take", done.err)

    def test_flags_of_the_facts(self):
        with open(FACTS, encoding="utf-8") as f:
            facts = json.load(f)
        facts.pop("runs", None)
        policy = self.policy('time.calendar { "Sat 02:00" }', 'quiet = { { days = "Sat,Sun", from = "00:00", to = "00:00", only_if = "freeze" } }')
        for freeze, want in ((True, "2026-06-08T00:00:00Z"), (False, "2026-06-06T02:00:00Z")):
            facts["flags"] = {"freeze": freeze}
            self.assertEqual(self.fires(policy, "2026-06-01T00:00:00Z", 1, self.write("t.json", json.dumps(facts)))[0]["fires"], want)


    def test_flags_of_the_site(self):
        policy = self.policy('time.calendar { "Sat 02:00" }', 'quiet = { { days = "Sat,Sun", from = "00:00", to = "00:00", only_if = "freeze" } }')
        for freeze, want in (("true", "2026-06-08T00:00:00Z"), ("false", "2026-06-06T02:00:00Z")):
            self.write("ebb.lua", "return { flags = { freeze = %s } }" % freeze)
            self.assertEqual(self.fires(policy, "2026-06-01T00:00:00Z", 1)[0]["fires"], want)


class Bound(Base):
    """Bindings on real tables."""

    def setUp(self):
        super().setUp()
        next(case for case in fixtures.cases() if case.name == CASE).unpack(self.top)
        os.rename(self.policy('time.calendar { "Sun 02:30", tz = "Europe/Berlin", spread = "3h" }', 'min_interval = "1d"'),
                  self.write("pol/p.lua", ""))

    def bind(self, text):
        self.config = self.write("ebb.lua", """return { catalogs = { c = { type = "directory", path = "%s" } }, locations = { ["file:/ebb"] = "%s" },
            policies = "./pol", bind = { %s } }""" % (os.path.join(self.top, "wh", CASE), self.top, text))

    def test_each_bound_table(self):
        self.bind('{ policy = "p", tables = { "c.**" } }')
        got = self.run_next("--at", "2026-03-28T00:00:00Z", "-n", "2", "--json").json()
        self.assertEqual([(f["policy"], f["table"], f["trigger"], f["nominal"]) for f in got],
                         [("p", TABLE, 1, None), ("p", TABLE, 1, "2026-04-05T00:30:00Z")])
        self.assertEqual(got, self.run_next("p", "--at", "2026-03-28T00:00:00Z", "-n", "2", "--json").json())
        self.assertEqual(got, self.run_next("p", TABLE, "--at", "2026-03-28T00:00:00Z", "-n", "2", "--json").json())

    def test_what_the_binding_adds(self):
        self.bind('{ policy = "p", tables = { "c.**" }, guard = { min_interval = "8d" }, blackouts = { "2026-03-29..2026-03-30" }, blackout_tz = "Europe/Berlin" }')
        got = self.run_next("p", "--at", "2026-03-28T00:00:00Z", "-n", "2", "--json").json()
        self.assertEqual([(f["fires"], [w for w in f["why"] if not w.startswith("spread")]) for f in got],
                         [("2026-03-30T22:00:00Z", ["gap", "blackout"]), ("2026-04-07T22:00:00Z", ["min_interval"])])

    def test_a_binding_that_loosens_is_an_error(self):
        self.bind('{ policy = "p", tables = { "c.**" }, guard = { min_interval = "1h" } }')
        for args in (("next", "p"), ("decide", "p", TABLE), ("run",)):
            done = program.run([*args, "--json"], config=self.config, state=self.state)
            self.assertIn("bind.guard.min_interval", done.out + done.err, args)
            self.assertIn("looser", done.out + done.err, args)

    def test_a_blackout_holds_a_run_back(self):
        self.write("pol/p.lua", """return policy { api = 1, name = "p", triggers = { time.calendar { "*:00" } },
            decide = function(t, ctx) return run(all { check("yes", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - 864000000 }) end }""")
        self.bind('{ policy = "p", tables = { "c.**" }, mode = "observe", blackouts = { "2031-01-05" } }')
        for at, want in (("2031-01-04T23:30:00Z", "not due"), ("2031-01-05T12:00:00Z", "dropped: held back too long"), ("2031-01-06T00:00:00Z", "observed")):
            done = program.run(["run", "--at", at, "--json"], config=self.config, state=self.state)
            self.assertEqual(json.loads(done.out.splitlines()[0])["status"], want, done.out + done.err)


class Usage(Base):
    def test_bad_usage(self):
        policy = self.policy('time.calendar { "02:00" }')
        for args in ((policy, "-n", "0"), (policy, "-n", "x"), (policy, "-n", "100001"), (policy, FACTS, "more"), (policy, "--at", "noon"),
                     (policy, "--at", "2026-06-01T00:00"), (policy, "-n")):
            with self.subTest(args):
                self.assertEqual(self.run_next(*args).status, 64)

    def test_nothing_bound(self):
        done = self.run_next()
        self.assertEqual(done.status, 64)
        self.assertIn("no policy is bound", done.err)

    def test_bad_policy(self):
        done = self.run_next(self.policy('time.calendar { "25:00" }'), "--json")
        self.assertEqual((done.status, done.error().get("code")), (4, "policy.schema"))

    def test_no_such_table(self):
        self.assertNotEqual(self.run_next(self.policy('time.calendar { "02:00" }'), os.path.join(self.top, "none.json")).status, 0)


class Random(Base):
    """Small and seeded. What is random: zone, kind of trigger, windows, interval, lateness, where the walk starts."""

    DAYS = 24

    def window(self, rng):
        days = 0
        while not days:
            days = rng.choice([0x7f, 0x3e, rng.getrandbits(7)])
        start, end = rng.randrange(0, 1440, 15), rng.randrange(0, 1440, 15)
        if start == end:
            start = end = 0
        if days == 0x7f and start == end:
            end = 600
        text = 'days = "%s", from = "%02d:%02d", to = "%02d:%02d"' % (
            ",".join(walk.DAYS[d] for d in range(7) if days >> d & 1), start // 60, start % 60, end // 60, end % 60)
        return (days, start, end), text

    def calendar(self, rng):
        hours = sorted(rng.sample(range(24), rng.randint(1, 3)))
        minutes = sorted(rng.sample(range(60), rng.randint(1, 3)))
        days = rng.choice([0x7f, rng.getrandbits(7) or 1])
        named = rng.random() < 0.8

        def wanted(wall):
            _, day = walk.civil(wall)
            return days >> day & 1 and (not named or wall // 60 % 24 in hours) and wall % 60 in minutes
        names = "" if days == 0x7f else ",".join(walk.DAYS[d] for d in range(7) if days >> d & 1) + " "
        text = 'time.calendar { "%s%s:%s"' % (names, ",".join("%02d" % h for h in hours) if named else "*", ",".join("%02d" % m for m in minutes))
        if rng.random() < 0.5:
            cron_days = "*" if days == 0x7f else ",".join(str(d) for d in range(7) if days >> d & 1)
            text = 'time.cron { "%s %s * * %s"' % (",".join(map(str, minutes)), ",".join(map(str, hours)) if named else "*", cron_days)
        return text, wanted, named

    def one(self, seed):
        rng = random.Random(seed)
        name = rng.choice(ZONES)
        since = walk.minute(rng.choice(CHANGES)) + rng.randrange(-3000, 1500)
        start, end = since - 15 * 1440, since + self.DAYS * 1440
        walls = walk.Walls(zoneinfo.ZoneInfo(name), start, end)
        triggers, texts = [], []
        for _ in range(rng.randint(1, 2)):
            text, wanted, named = self.calendar(rng)
            late_by = rng.choice([None, None, rng.randrange(30, 3000)])
            texts.append(text + ', tz = "%s"%s }' % (name, "" if late_by is None else ', late_by = "%dm"' % late_by))
            triggers.append((walls.fires(wanted, named), late_by))
        windows, quiet = zip(*[self.window(rng) for _ in range(rng.randint(1, 2))]) if rng.random() < 0.7 else ((), ())
        zone_of_quiet = rng.choice([name, rng.choice(ZONES)])
        quiet_walls = walls if zone_of_quiet == name else walk.Walls(zoneinfo.ZoneInfo(zone_of_quiet), start, end)
        interval = rng.choice([0, 0, rng.randrange(10, 2000)])
        guard = ('min_interval = "%dm", ' % interval if interval else "") + (
            "quiet = { %s }" % ", ".join('{ %s, tz = "%s" }' % (q, zone_of_quiet) for q in quiet) if quiet else "")
        if all(walk.is_quiet(windows, wall) for wall in quiet_walls.wall[:8 * 1440]):
            return self.assertEqual(self.run_next(self.policy(", ".join(texts), guard)).status, 4)
        want = walk.walk(triggers, lambda at: walk.is_quiet(windows, quiet_walls.at(at)), interval, since, 6, end - 4 * 1440)
        got = self.fires(self.policy(", ".join(texts), guard), walk.iso(since), 6)
        got = [f["fires"] for f in got if walk.minute(f["fires"]) < end - 4 * 1440]
        self.assertEqual(got, [walk.iso(at) for at in want], "%s | %s | after %s" % (texts, guard, walk.iso(since)))

    def test_against_a_walk_over_every_minute(self):
        for seed in range(int(os.environ.get("EBB_NEXT_SEEDS", "60"))):
            with self.subTest(seed):
                self.one(seed)


if __name__ == "__main__":
    unittest.main()
