# SPDX-License-Identifier: Apache-2.0
"""Policies that a Gravitino server keeps: what ebb makes of each, and that nothing doubtful runs."""
import json
import os
import sqlite3
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]
import daemon  # noqa: E402
import gravitino_lake as lake  # noqa: E402
import program  # noqa: E402
from gravitino_lake import LAKE, content  # noqa: E402

RUNS = "runs"
ORPHANS = ["old-1.parquet", "old-2.parquet"]


class Reading(lake.Base):
    def policies(self):
        done = self.ebb("gravitino", "status", "--json")
        self.assertIn(done.status, (0, 1), done.err)
        return {one["name"]: one for one in done.json()["policies"]}

    def verdict(self, given, kind="custom", tied=("catalog lakehouse",), **more):
        self.policy_there("p", given, tied, kind=kind, **more)
        self.addCleanup(lambda: None)
        found = self.policies()["p"]
        self.call("DELETE", "/policies/p")
        return found

    def test_what_runs(self):
        for rules in ({}, {"olderThanDays": 3}, {"olderThanDays": 7, "dryRun": True, "location": "file:/x/y"}, {"interval-hours": 168}, {"interval-hours": 120}):
            found = self.verdict(content(rules))
            self.assertEqual((RUNS, "native", ["catalog grav"]), (found["verdict"], found["engine"], found["ties"]), found)
        self.assertEqual("gravitino", self.verdict(content(template=lake.TEMPLATE))["engine"])

    def test_what_is_not_understood_does_not_run(self):
        for rules, word in (({"olderThanDay": 3}, "olderThanDay"), ({"olderThanDays": "3"}, "olderThanDays"), ({"olderThanDays": -1}, "olderThanDays"), ({"olderThanDays": 0}, "olderThanDays"),
                            ({"olderThanDays": 2.5}, "olderThanDays"), ({"dryRun": "true"}, "dryRun"), ({"location": "not a uri"}, "location"), ({"location": "s3://b"}, ""),
                            ({"interval-hours": 1}, "interval-hours"), ({"interval-hours": "168"}, "interval-hours"), ({"trigger-expr": "custom-n > 1"}, "trigger-expr"),
                            ({"max-files": 5}, "max-files")):
            with self.subTest(rules):
                found = self.verdict(content(rules))
                self.assertEqual("not understood", found["verdict"], found)
                self.assertIn(word, found["problem"])
        found = self.verdict(content(template="builtin-iceberg-rewrite-data-files"))
        self.assertEqual("not understood", found["verdict"])
        self.assertIn("job.template-name", found["problem"])

    def test_what_is_for_others(self):
        self.assertEqual("not for ebb", self.verdict(content(strategy="iceberg-data-compaction"))["verdict"])
        self.assertEqual("not for ebb", self.verdict({"customRules": {}, "supportedObjectTypes": ["TABLE"]}, tied=())["verdict"])
        self.assertEqual("not for ebb", self.verdict({"minDeleteFileNumber": 5}, kind="system_iceberg_compaction")["verdict"])

    def test_disabled_and_tied_to_nothing(self):
        self.assertEqual("disabled", self.verdict(content(), enabled=False)["verdict"])
        self.assertEqual("attached to nothing here", self.verdict(content(), tied=())["verdict"])

    def test_ties(self):
        self.server.add_catalog("ml", "lakehouse2")
        found = self.verdict(content(), tied=("table lakehouse.db.orders", "schema lakehouse.db", "catalog lakehouse2"))
        self.assertEqual((RUNS, ["schema grav.db", "table grav.db.orders"]), (found["verdict"], found["ties"]))

    def test_types_that_the_policy_does_not_support(self):
        """The server attaches it all the same."""
        found = self.verdict(content(types=("TABLE",)), tied=("catalog lakehouse", "table lakehouse.db.orders"))
        self.assertEqual((RUNS, ["table grav.db.orders"]), (found["verdict"], found["ties"]))
        self.assertIn("supportedObjectTypes", found["ignored"][0])
        self.assertEqual("attached to nothing here", self.verdict(content(types=("TABLE",)))["verdict"])

    def test_a_name_with_an_asterisk_is_no_pattern(self):
        self.show("ord*", self.orders)
        found = self.verdict(content(), tied=("table lakehouse.db.ord*",))
        self.assertEqual("attached to nothing here", found["verdict"])
        self.assertIn("pattern", found["ignored"][0])

    def test_odd_names(self):
        for name in ("with blank", "a/b=c", "caf\u00e9!", "x" * 200, "%2F", "a\u001bb"):
            self.policy_there(name, content(), ("catalog lakehouse",))
        self.register()
        self.good("gravitino", "sync")
        self.assertEqual({RUNS}, {one["verdict"] for one in self.policies().values()})
        self.good("gravitino", "status")  # what a terminal gets is looked at by every test: no control characters

    def test_sync_is_told_what_changed(self):
        def sync():
            return json.loads(self.good("gravitino", "sync", "--json").out)
        self.assertEqual({"catalog": "grav", "policies": 0, "running": 0, "changed": False}, sync())
        self.policy_there("p", content(), ("catalog lakehouse",))
        self.policy_there("q", content(), enabled=False)
        self.assertEqual(1, self.ebb("gravitino", "status").status)  # not in step
        self.assertEqual({"catalog": "grav", "policies": 2, "running": 1, "changed": True}, sync())
        self.assertFalse(sync()["changed"])
        self.call("PATCH", "/policies/p", {"enable": False})
        self.assertEqual({"catalog": "grav", "policies": 2, "running": 0, "changed": True}, sync())
        self.call("DELETE", "/policies/p")
        self.assertEqual({"catalog": "grav", "policies": 1, "running": 0, "changed": True}, sync())
        self.register()
        self.assertEqual(0, self.ebb("gravitino", "status").status)

    def test_a_server_that_fails_changes_nothing(self):
        self.policy_there("p", content(), ("catalog lakehouse",))
        self.good("gravitino", "sync")
        kept = self.kept()
        for pattern, status, body in ((r"/policies\?details=true$", 503, None), (r"/policies\?details=true$", 200, b"{"), (r"/policies\?details=true$", 200, b'{"code":0}'),
                                      (r"/policies\?details=true$", 200, b'{"code":0,"policies":[{"name":"","policyType":"custom"}]}'), (r"/policies/p/objects$", 500, b"<html>"),
                                      (r"/policies/p/objects$", 200, b'{"code":0}'), (r"/policies/p/objects$", 200, b'{"code":0,"metadataObjects":[{"type":"table"}]}')):
            self.server.heal()
            self.server.fail("GET", pattern, status, times=100, body=body)
            self.assertEqual(3, self.ebb("gravitino", "sync").status)
            self.assertEqual(kept, self.kept())

    def kept(self):
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            found = db.execute("SELECT name, json FROM object WHERE kind = 3 ORDER BY name").fetchall()
            ties = db.execute("SELECT type, full_name FROM tie ORDER BY 1, 2").fetchall()
        db.close()
        return found, ties

    def test_one_that_is_dropped_between_two_questions(self):
        self.policy_there("p", content(), ("catalog lakehouse",))
        self.server.fail("GET", r"/policies/p/objects$", 404, body=b'{"code":1003,"type":"NoSuchPolicyException","message":"x"}')
        self.assertEqual(0, json.loads(self.good("gravitino", "sync", "--json").out)["running"])

    def test_no_such_catalog_here(self):
        self.refused(64, "is not configured", "gravitino", "sync", "--catalog", "nope")
        self.refused(64, "is of type directory", "gravitino", "sync", "--catalog", "lake")
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } } }')
        self.refused(64, "no catalog of type gravitino", "gravitino", "status")


class Newer(Reading):
    """A later server, which knows a type of its own."""

    server_options = {"pull_interval": 0.2, "newer": True}

    def test_the_system_type(self):
        found = self.verdict({"olderThanDays": 3, "dryRun": False}, kind="system_iceberg_orphan_file_removal")
        self.assertEqual((RUNS, "native", ["catalog grav"]), (found["verdict"], found["engine"], found["ties"]), found)


class Running(lake.Base):
    """From a policy there to files in quarantine, decided by the daemon."""

    def setUp(self):
        super().setUp()
        self.daemon = daemon.Daemon(self.config, self.state)
        self.addCleanup(lambda: self.daemon.__exit__())

    def jobs(self, policy="gravitino:grav.weekly"):
        return self.daemon.ask("/api/jobs?policy=" + policy).json()["items"]

    def bound(self, count):
        daemon.wait(lambda: self.daemon.status()["bindings"] == count, what="%d bindings" % count)

    def ask_for(self, table="grav.db.orders", policy="gravitino:grav.weekly"):
        answer = self.daemon.ask("/api/jobs", "POST", {"policy": policy, "table": table})
        return answer.json().get("job"), answer

    def ended(self, job):
        return daemon.wait(lambda: (lambda j: j if j["state"] in lake.FINAL else None)(self.daemon.ask("/api/jobs/" + job).json()), what="the end of the job")

    def test_inherited_scheduled_and_run_there(self):
        self.register()
        self.policy_there("weekly", content(template=lake.TEMPLATE), ("catalog lakehouse",))
        self.daemon.start()
        self.bound(1)
        daemon.wait(lambda: self.scheduled("gravitino:grav.weekly"), what="a schedule")
        self.assertEqual([], self.jobs())
        self.daemon.stop()
        self.age(8)
        self.daemon.start()
        job, = daemon.wait(lambda: [j for j in self.jobs() if j["state"] in lake.FINAL], what="a job", seconds=120)
        self.assertEqual("succeeded", job["state"], job)
        self.assertEqual(ORPHANS, self.moved())
        run, = self.server.all_runs()
        self.assertEqual("succeeded", self.status_there(run.id))
        ours = [json.loads(line) for line in self.good("runs", "--json").out.splitlines()]
        engine, = [r for r in ours if r["kind"] == "engine"]
        self.assertEqual(("gravitino", "run " + run.id, 2, "done"), (engine["engine"], engine["handle"], engine["moved"], engine["status"]))
        native, = [r for r in ours if r["kind"] == "apply"]
        self.good("restore", native["id"])
        self.assertEqual([], self.moved())

    def test_run_natively_where_no_template_is_named(self):
        self.policy_there("weekly", content(), ("table lakehouse.db.orders",))
        self.daemon.start()
        self.bound(1)
        job, answer = self.ask_for()
        self.assertTrue(job, answer.text)
        self.assertEqual("succeeded", self.ended(job)["state"])
        self.assertEqual(ORPHANS, self.moved())
        self.assertEqual([], self.server.all_runs())

    def test_what_happens_there_arrives_here(self):
        self.daemon.start()
        self.bound(0)
        self.policy_there("weekly", content(), ("schema lakehouse.db",))
        self.bound(1)
        self.call("PATCH", "/policies/weekly", {"enable": False})
        self.bound(0)
        self.call("PATCH", "/policies/weekly", {"enable": True})
        self.bound(1)
        self.call("POST", "/objects/schema/lakehouse.db/policies", {"policiesToRemove": ["weekly"]})
        self.bound(0)

    def test_sync_by_hand_reaches_the_daemon(self):
        self.daemon.start()
        self.bound(0)
        self.policy_there("weekly", content(), ("schema lakehouse.db",))
        self.good("gravitino", "sync")
        self.bound(1)

    def frozen(self):
        """The daemon knows the policy, and from now on can't read any again."""
        self.policy_there("weekly", content(), ("table lakehouse.db.orders",))
        self.daemon.start()
        self.bound(1)
        self.server.fail("GET", r"/policies\?details=true$", 503, times=10**6)

    def check_refused(self, word):
        before = program.tree(self.orders)
        job, answer = self.ask_for()
        self.assertTrue(job, answer.text)
        ended = self.ended(job)
        if ended["state"] == "cancelled":  # a listing that was under way told it after all
            self.assertIn("withdrawn", ended["message"])
        else:
            self.assertEqual("failed", ended["state"], ended)
            self.assertIn(word, json.dumps(ended))
        self.assertEqual(before, program.tree(self.orders))

    def test_disabled_there_since_it_was_read(self):
        self.frozen()
        self.call("PATCH", "/policies/weekly", {"enable": False})
        self.check_refused("was disabled")

    def test_detached_there_since_it_was_read(self):
        self.frozen()
        self.call("POST", "/objects/table/lakehouse.db.orders/policies", {"policiesToRemove": ["weekly"]})
        self.check_refused("detached")

    def test_only_passed_on_from_where_it_does_not_count(self):
        """Tied to the table and to the catalog, for tables only; then the first goes."""
        self.policy_there("weekly", content(types=("TABLE",)), ("catalog lakehouse", "table lakehouse.db.orders"))
        self.daemon.start()
        self.bound(1)
        self.server.fail("GET", r"/policies\?details=true$", 503, times=10**6)
        self.call("POST", "/objects/table/lakehouse.db.orders/policies", {"policiesToRemove": ["weekly"]})
        self.check_refused("detached")

    def test_changed_there_since_it_was_read(self):
        self.frozen()
        self.call("PUT", "/policies/weekly", {"updates": [{"@type": "updateContent", "policyType": "custom", "newContent": content({"dryRun": True})}]})
        self.check_refused("was changed")

    def change(self, rules):
        self.call("PUT", "/policies/weekly", {"updates": [{"@type": "updateContent", "policyType": "custom", "newContent": content(rules)}]})

    def stored(self):
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            found = db.execute("SELECT json FROM object WHERE kind = 3").fetchone()
        db.close()
        return json.loads(found[0]) if found else None

    def check_changed_without_reload(self, rules):
        """What is stored is new, what is in force is not: that must not run as if it were."""
        self.policy_there("weekly", content(), ("table lakehouse.db.orders",))
        self.daemon.start()
        self.bound(1)
        self.write("ebb.lua", "return {")
        self.change(rules)
        daemon.wait(lambda: rules.items() <= self.stored()["content"].items(), what="the new content in the store")
        before = program.tree(self.orders)
        job, answer = self.ask_for()
        self.assertTrue(job, answer.text)
        told = daemon.wait(lambda: (lambda j: j if "was changed" in json.dumps(j) or j["state"] in lake.FINAL else None)(self.daemon.ask("/api/jobs/" + job).json()), what="an error")
        self.assertNotEqual("succeeded", told["state"], told)
        self.assertEqual(before, program.tree(self.orders))

    def test_changed_there_and_the_reload_failed(self):
        self.check_changed_without_reload({"olderThanDays": 30})

    def test_made_dry_there_and_the_reload_failed(self):
        self.check_changed_without_reload({"dryRun": True})

    def test_another_server_that_is_down(self):
        """What the one says is in force all the same."""
        down = self.catalog(uri='"http://127.0.0.1:1"')
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" }, aaa = %s, grav = %s, zzz = %s }, serve = { poll = "1s" } }' % (down, self.catalog(), down))
        self.daemon.start()
        self.bound(0)
        self.policy_there("weekly", content(), ("table lakehouse.db.orders",))
        self.bound(1)
        self.change({"dryRun": True})
        daemon.wait(lambda: "approve" in self.daemon.ask("/api/tables/grav.db.orders").text, what="the new mode")

    def test_no_reload_without_a_change(self):
        self.policy_there("weekly", content({"a": 1, "b": 2}), ("table lakehouse.db.orders",))
        self.policy_there("other", content(), ("table lakehouse.db.orders", "schema lakehouse.db"))
        self.daemon.start()
        self.bound(1)
        time.sleep(1)
        before = self.daemon.said().count("reload")
        seen = self.server.count("GET", "/policies")
        daemon.wait(lambda: self.server.count("GET", "/policies") > seen + 12, what="more readings")
        self.assertEqual(before, self.daemon.said().count("reload"), self.daemon.said())

    def test_the_catalog_is_none_of_a_server_any_more(self):
        self.policy_there("weekly", content(), ("catalog lakehouse",))
        self.good("gravitino", "sync")
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" }, grav = { type = "directory", path = "./wh" } }, serve = { poll = "1s" } }')
        self.daemon.start()
        self.bound(0)

    def test_nobody_can_be_asked(self):
        self.frozen()
        self.server.fail("GET", r"/objects/table/.*/policies/weekly$", 503, times=10**6)
        before = program.tree(self.orders)
        job, _ = self.ask_for()
        if job:
            told = daemon.wait(lambda: (lambda j: j if "503" in json.dumps(j) else None)(self.daemon.ask("/api/jobs/" + job).json()), what="an error", seconds=150)
            self.assertNotEqual("succeeded", told["state"])
        self.assertEqual(before, program.tree(self.orders))

    def test_a_dry_policy_only_plans(self):
        self.policy_there("weekly", content({"dryRun": True}, template=lake.TEMPLATE), ("catalog lakehouse",))
        self.register()
        self.daemon.start()
        self.bound(1)
        job, _ = self.ask_for()
        ended = self.ended(job)
        self.assertEqual("succeeded", ended["state"], ended)
        self.assertTrue(ended["plan"].startswith("p-"), ended)
        self.assertEqual([], self.moved())
        self.assertEqual([], self.server.all_runs())

    def test_the_local_interface_does_not_show_them(self):
        self.policy_there("weekly", content(), ("catalog lakehouse",))
        self.daemon.start()
        self.bound(1)
        self.assertEqual([], self.daemon.ask("/api/metalakes/default/policies").json()["names"])
        self.assertIn("gravitino:grav.weekly", self.daemon.ask("/api/policies").text)
        self.refused(64, "/api/tables/TABLE/whynot?policy=gravitino:grav.weekly", "whynot", "gravitino:grav.weekly", "grav.db.orders")
        self.assertEqual(200, self.daemon.ask("/api/tables/grav.db.orders/whynot?policy=gravitino:grav.weekly").status)


if __name__ == "__main__":
    unittest.main()
