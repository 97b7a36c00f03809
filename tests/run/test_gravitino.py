# SPDX-License-Identifier: Apache-2.0
"""The interface that is compatible with Gravitino's: what a real server answered, and a policy object from its creation to the restored file."""

import base64
import concurrent.futures
import datetime
import json
import os
import random
import sqlite3
import sys
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import exchanges  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402

LAKE = "/api/metalakes/ml"
TABLE = LAKE + "/objects/table/lake.db.orders"
WEEKLY = {"name": "remove_orphans_weekly", "comment": "orphans, once a week", "policyType": "system_iceberg_orphan_file_removal", "content": {"olderThanDays": 3}}
JOB = "builtin-iceberg-remove-orphan-files"
FINAL = ("succeeded", "failed", "cancelled")


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Base(test_run.Base):
    def setUp(self):
        super().setUp()
        self.folder = self.table("orders")
        self.nap = self.write("bin/nap", '#!/bin/sh\nexec sleep "$1"\n')
        os.chmod(self.nap, 0o755)
        self.configure()
        self.daemon = daemon.Daemon(self.config, self.state)
        self.addCleanup(self.end)

    def end(self):
        self.daemon.__exit__()

    def configure(self, more=""):
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'serve = { metalake = "ml", poll = "1s", executables = { "%s" } }, %s }' % (self.nap, more))

    def ask(self, method, path, body=None, status=200, user="anna"):
        headers = {"Authorization": "Basic " + base64.b64encode((user + ":x").encode()).decode()}
        answer = self.daemon.ask(path, method, body, headers)
        self.assertEqual(status, answer.status, answer.text)
        return answer.json()

    def job(self, job_id):
        return self.ask("GET", LAKE + "/jobs/runs/" + job_id)["job"]

    def until(self, job_id, *states):
        """The job when it has one of the states; all that were seen on the way."""
        seen = []

        def look():
            job = self.job(job_id)
            if job["status"] not in seen:
                seen.append(job["status"])
            return job if job["status"] in states else None

        job = daemon.wait(look, what="%s of %s" % (states, job_id))
        return job, seen

    def jobs_of(self, policy):
        return [j for j in self.daemon.ask("/api/jobs?policy=" + policy).json()["items"]]


class Exchanges(exchanges.Comparison, Base):
    def test_what_a_real_server_answered(self):
        self.daemon.start()
        for exchange in exchanges.all_of_them():
            with self.subTest(exchange["name"]):
                self.check(exchange, self.daemon.ask, self.nap)


class Hostile(Base):
    """Requests that no client sends."""

    def mangle(self, text, draw):
        """One of many ways in which a body goes wrong."""
        at, kind = draw.randrange(len(text)), draw.randrange(6)
        junk = draw.choice(['"', "{", "]", "\\u0000", "null", "-1", "1e999", "\ud800", "x" * 5000, "[" * 100, "99999999999999999999"])
        if kind == 0:
            return text[:at]
        if kind == 1:
            return text[:at] + junk + text[at:]
        if kind == 2:
            return text[:at] + junk + text[at + 1 :]
        tree = json.loads(text)
        value = draw.choice([None, 1, -1, 1.5, True, "", "x", [], {}, [None], {"a": None}, "\u0000", "\u202e", 2**63, -(2**63) - 1])
        keys = []

        def collect(node):
            for key in node if isinstance(node, dict) else range(len(node)):
                keys.append((node, key))
                if isinstance(node[key], (dict, list)):
                    collect(node[key])

        collect(tree)
        if not keys:
            return json.dumps(value)
        node, key = draw.choice(keys)
        node[key] = value
        return json.dumps(tree)

    def test_bodies_that_are_mangled(self):
        self.daemon.start()
        draw = random.Random(20261201)
        bodies = [x for x in exchanges.all_of_them() if x.get("body")]
        before = program.tree(self.folder)
        for _ in range(600):
            x = draw.choice(bodies)
            body = self.mangle(json.dumps(x["body"]), draw)
            answer = self.daemon.ask(x["path"], x["method"], body.encode("utf-8", "surrogatepass"), {"Content-Type": "application/json"})
            if answer.status not in (200, 400, 403, 404, 405, 409):
                got = answer.json()
                self.assertEqual((500, 1002, "RuntimeException"), (answer.status, got["code"], got["type"]), (body, answer.text))
                self.assertRegex(got["message"], r"null value in entry|already exists")
        self.assertEqual(before, program.tree(self.folder))
        self.assertEqual(0, self.daemon.stop())

    def test_many_at_once(self):
        self.daemon.start()
        self.ask("POST", LAKE + "/policies", WEEKLY)
        path = LAKE + "/policies/remove_orphans_weekly"

        def alter(number):
            change = {"updates": [{"@type": "updateComment", "newComment": "n%d" % number}]}
            return self.daemon.ask(path, "PUT", change).status

        def attach(_):
            return self.daemon.ask(LAKE + "/objects/catalog/lake/policies", "POST", {"policiesToAdd": ["remove_orphans_weekly"]}).status

        def create(_):
            return self.daemon.ask(LAKE + "/policies", "POST", {**WEEKLY, "name": "once"}).status

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual([200] * 40, list(pool.map(alter, range(40))))
            self.assertEqual([200] + [409] * 15, sorted(pool.map(attach, range(16))))
            self.assertEqual([200] + [409] * 15, sorted(pool.map(create, range(16))))
        self.assertRegex(self.ask("GET", path)["policy"]["comment"], r"^n[0-9]+$")

    def test_names_that_are_odd(self):
        self.daemon.start()
        for name in ("a/b=c", "ü!", "..", "a b", "%2F", "a?b#c", '"', "\\", "object:x", "x" * 256, "\u202e\n\t"):
            path = LAKE + "/policies/" + urllib.parse.quote(name, safe="")
            self.ask("POST", LAKE + "/policies", {**WEEKLY, "name": name})
            self.assertEqual(name, self.ask("GET", path)["policy"]["name"])
            self.ask("POST", LAKE + "/objects/catalog/lake/policies", {"policiesToAdd": [name]})
            self.assertEqual([name], self.ask("GET", TABLE + "/policies")["names"])
            daemon.wait(lambda: self.daemon.status()["bindings"] == 1, what="a binding of " + repr(name))
            self.assertIs(True, self.ask("DELETE", path)["dropped"])
            daemon.wait(lambda: self.daemon.status()["bindings"] == 0, what="no binding of " + repr(name))
        self.ask("POST", LAKE + "/policies", {**WEEKLY, "name": "x" * 257}, status=400)

    def test_tokens_and_roles(self):
        with open(self.config, encoding="utf-8") as f:
            text = f.read()
        self.write("ebb.lua", text.replace('metalake = "ml"', 'metalake = "ml", auth = "token"'))
        tokens = {}
        for role in ("view", "operate", "admin"):
            done = self.ebb("token", "create", role, "--role", role, "--json")
            self.assertEqual(0, done.status, done.err)
            tokens[role] = done.json()["token"]
        self.daemon.start()

        def ask(method, path, body, authorization):
            return self.daemon.ask(path, method, body, {"Authorization": authorization} if authorization else {})

        def basic(token):
            return "Basic " + base64.b64encode(("anna:" + token).encode()).decode()

        for wrong in (None, "Bearer x", "Basic YW5uYTp4", "Bearer " + tokens["admin"][:-1]):
            answer = ask("GET", LAKE + "/policies", None, wrong)
            self.assertEqual((401, 1011, "UnauthorizedException"), (answer.status, answer.json()["code"], answer.json()["type"]))
        self.assertEqual(200, ask("GET", "/api/version", None, None).status)
        self.assertEqual([200, 404], [ask("GET", path, None, None).status for path in ("/health/ready", "/health/other")])
        run = {"jobTemplateName": JOB, "jobConf": {"catalog_name": "lake", "table_identifier": "db.orders", "dry_run": "true"}}
        for role, may_run, may_make in (("view", False, False), ("operate", True, False), ("admin", True, True)):
            for authorization in ("Bearer " + tokens[role], basic(tokens[role])):
                self.assertEqual(200, ask("GET", LAKE + "/policies", None, authorization).status)
                self.assertEqual(200 if may_run else 403, ask("POST", LAKE + "/jobs/runs", run, authorization).status)
                answer = ask("POST", LAKE + "/policies", {**WEEKLY, "name": authorization[:6]}, authorization)
                self.assertEqual(200 if may_make else 403, answer.status)
                if not may_make:
                    self.assertEqual((1008, "ForbiddenException"), (answer.json()["code"], answer.json()["type"]))
                else:
                    self.assertEqual("admin", answer.json()["policy"]["audit"]["creator"])


class Flow(Base):
    def attach(self):
        self.ask("POST", LAKE + "/policies", WEEKLY)
        self.assertEqual(["remove_orphans_weekly"], self.ask("POST", LAKE + "/objects/catalog/lake/policies", {"policiesToAdd": ["remove_orphans_weekly"]})["names"])

    def wait_bound(self, count):
        daemon.wait(lambda: self.daemon.status()["bindings"] == count, what="%d bindings" % count)

    def quarantined(self):
        found = []
        for folder, _, files in os.walk(os.path.join(self.folder, ".ebb-quarantine")):
            found += [name for name in files if name.endswith(".parquet")]
        return sorted(found)

    def run_job(self, **more):
        conf = {"catalog_name": "lake", "table_identifier": "db.orders", "older_than": "", "location": "", "dry_run": "false", "spark_conf": "", **more}
        return self.ask("POST", LAKE + "/jobs/runs", {"jobTemplateName": JOB, "jobConf": conf})["job"]["jobId"]

    def test_from_the_policy_to_the_restored_file(self):
        self.daemon.start()
        before = program.tree(self.folder, without=(".ebb-quarantine",))
        self.attach()
        policy, = self.ask("GET", TABLE + "/policies?details=true")["policies"]
        self.assertEqual((True, True, {"olderThanDays": 3, "dryRun": False}, "anna"), (policy["inherited"], policy["enabled"], policy["content"], policy["audit"]["creator"]))
        self.wait_bound(1)
        job, seen = self.until(self.run_job(), *FINAL)
        self.assertEqual("succeeded", job["status"])
        self.assertEqual(seen, [s for s in ("queued", "started", "succeeded") if s in seen])
        self.assertEqual(["old-1.parquet", "old-2.parquet"], self.quarantined())
        run = self.daemon.ask("/api/jobs/" + job["jobId"]).json()["run"]
        done = self.ebb("restore", run)
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(before.keys(), program.tree(self.folder, without=(".ebb-quarantine",)).keys())

    def test_questions_know_it(self):
        """What comes next, why not now, what would be: of a policy object as of one in the folder, with what its binding says."""
        self.daemon.start()
        self.attach()
        self.ask("PUT", LAKE + "/policies/remove_orphans_weekly",
                 {"updates": [{"@type": "updateContent", "policyType": WEEKLY["policyType"], "newContent": {"olderThanDays": 9}}]})
        name = "object:remove_orphans_weekly"

        def get(path, status=200):
            answer = self.daemon.ask(path)
            self.assertEqual(status, answer.status, answer.text)
            return answer.json()

        def bound():
            answer = self.daemon.ask("/api/tables/lake.db.orders/whynot?policy=" + name)  # 404 until it is loaded
            return answer.status == 200 and answer.json()["record"]["params"]["olderThanDays"] == 9
        daemon.wait(bound, what="the new content")
        why = get("/api/tables/lake.db.orders/whynot?policy=" + name)
        self.assertEqual("enforce", why["record"]["mode"])
        fires = get("/api/next?policy=%s&table=lake.db.orders&limit=2" % name)["items"]
        self.assertEqual([(name, "lake.db.orders")] * 2, [(f["policy"], f["table"]) for f in fires])
        self.assertTrue(all(f["nominal"].endswith("T03:00:00Z") for f in fires))
        self.assertEqual(fires, get("/api/next?policy=%s&limit=2" % name)["items"])
        self.assertEqual(fires, get("/api/next?limit=2")["items"])
        for args in ((), (name,), (name, "lake.db.orders")):
            done = self.ebb("next", *args, "-n", "2", "--json")
            self.assertEqual(0, done.status, done.err)
            self.assertEqual([{"trigger": 1, **f} for f in fires], done.json())
        bare = self.write("bare.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } } }')
        done = program.run(["next", "-n", "1", "--json"], config=bare, state=self.state)  # no folder of policies
        self.assertEqual([fires[0]["fires"]], [f["fires"] for f in done.json()], done.err)
        self.assertEqual(64, self.ebb("run").status)  # it runs none of them: nothing else is bound
        self.assertEqual([fires[0]], [p["next"] for p in get("/api/tables/lake.db.orders")["policies"]])
        for body in ({"until": "+8d", "policy": name}, {"until": "+8d"}):
            answer = self.daemon.ask("/api/simulate", "POST", json.dumps(body), {"Content-Type": "application/json"})
            self.assertEqual(200, answer.status, answer.text)
            self.assertIn((name, "lake.db.orders", fires[0]["fires"]), [(x["policy"], x["table"], x["at"]) for x in answer.json()["decisions"]])
        self.assertEqual(404, self.daemon.ask("/api/next?policy=object:other").status)

    def test_policies_see_statistics(self):
        self.daemon.start()
        policy = self.write("policies/hot.lua", 'return policy { api = 1, name = "hot", decide = function(t)\n'
                            'return run(all { check("hot", t.stats.custom["custom-heat"], ">", 5) }, action.remove_orphan_files { older_than = 0 }) end }\n')
        for put, result in ((None, "unknown"), (5, "false"), (7, "true")):
            if put is not None:
                self.ask("PUT", LAKE + "/objects/table/lake.db.orders/statistics", {"updates": {"custom-heat": put}})
            done = self.ebb("decide", policy, "lake.db.orders", "--json")
            hot, = [c for c in done.json()["checks"] if c["n"] == "hot"]
            self.assertEqual((result, put), (hot["r"], hot.get("a")))

    def test_a_dry_run_removes_nothing(self):
        self.daemon.start()
        before = program.tree(self.folder)
        job, _ = self.until(self.run_job(dry_run="true"), *FINAL)
        self.assertEqual("succeeded", job["status"])
        self.assertEqual(before, program.tree(self.folder))
        plan = self.daemon.ask("/api/jobs/" + job["jobId"]).json()["plan"]
        self.assertTrue(plan.startswith("p-"), plan)

    def test_a_location_elsewhere_fails(self):
        other = self.table("other")
        self.daemon.start()
        before = program.tree(self.top + "/wh")
        for location in ("file:" + other, "file:/", "file:" + self.folder + "/../other"):
            job, _ = self.until(self.run_job(location=location), *FINAL)
            self.assertEqual("failed", job["status"], location)
        self.assertEqual(before, program.tree(self.top + "/wh"))

    def seen_by_schedule(self):
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            keys = [key for key, in db.execute("SELECT key FROM value WHERE scope = 'schedule'")]
        db.close()
        return [key for key in keys if key.startswith("object:remove_orphans_weekly")]

    def test_the_scheduler_runs_it(self):
        self.daemon.start()
        self.attach()
        daemon.wait(self.seen_by_schedule, what="a schedule")
        due = datetime.datetime.fromisoformat(daemon.wait(lambda: self.daemon.status()["due"], what="a wake time")["at"].replace("Z", "+00:00"))
        self.assertEqual(6, due.weekday(), due)
        self.assertTrue(3 <= due.hour < 7, due)
        self.assertEqual([], self.jobs_of("object:remove_orphans_weekly"))
        self.assertEqual(0, self.daemon.stop())
        self.age(8)
        self.daemon.start()
        job, = daemon.wait(lambda: [j for j in self.jobs_of("object:remove_orphans_weekly") if j["state"] in FINAL], what="a job")
        self.assertEqual("succeeded", job["state"], job)
        self.assertEqual(["old-1.parquet", "old-2.parquet"], self.quarantined())
        listed, = self.ask("GET", LAKE + "/jobs/runs?jobTemplateName=" + JOB)["jobs"]
        self.assertEqual((job["id"], "succeeded"), (listed["jobId"], listed["status"]))
        decision = self.ebb("decisions", "--json", "--policy", "object:remove_orphans_weekly")
        first = json.loads(decision.out.splitlines()[0])
        replayed = self.ebb("replay", first["id"])
        self.assertEqual(0, replayed.status, replayed.err)

    def after_a_week(self, *requests):
        """The jobs that came of the policy, which was changed before a missed Sunday was looked at."""
        self.daemon.start()
        self.attach()
        daemon.wait(self.seen_by_schedule, what="a schedule")
        for method, path, body in requests:
            self.ask(method, path, body)
        self.daemon.stop()
        self.age(8)
        self.daemon.start()
        daemon.wait(self.daemon.is_ready)
        looked = daemon.wait(lambda: self.daemon.status()["listing"]["at"], what="a listing")
        daemon.wait(lambda: self.daemon.status()["listing"]["at"] != looked, what="another listing")
        return self.jobs_of("object:remove_orphans_weekly")

    def test_disabled_never_runs(self):
        before = program.tree(self.folder)
        self.assertEqual([], self.after_a_week(("PATCH", LAKE + "/policies/remove_orphans_weekly", {"enable": False})))
        self.assertEqual(before, program.tree(self.folder))
        policy, = self.ask("GET", TABLE + "/policies?details=true")["policies"]
        self.assertFalse(policy["enabled"])

    def test_detached_never_runs(self):
        before = program.tree(self.folder)
        self.assertEqual([], self.after_a_week(("POST", LAKE + "/objects/catalog/lake/policies", {"policiesToRemove": ["remove_orphans_weekly"]})))
        self.assertEqual(before, program.tree(self.folder))

    def test_a_policy_that_is_dry_only_plans(self):
        before = program.tree(self.folder)
        change = {"updates": [{"@type": "updateContent", "policyType": WEEKLY["policyType"], "newContent": {"dryRun": True}}]}
        self.after_a_week(("PUT", LAKE + "/policies/remove_orphans_weekly", change))
        job, = daemon.wait(lambda: [j for j in self.jobs_of("object:remove_orphans_weekly") if j["state"] in FINAL], what="a job")
        self.assertEqual("succeeded", job["state"])
        self.assertTrue(job["plan"].startswith("p-"), job)
        self.assertEqual(before, program.tree(self.folder))

    def test_a_renamed_policy_goes_on(self):
        self.after_a_week(("PUT", LAKE + "/policies/remove_orphans_weekly", {"updates": [{"@type": "rename", "newName": "weekly/2"}]}))
        job, = daemon.wait(lambda: [j for j in self.jobs_of("object:weekly%252F2") if j["state"] in FINAL], what="a job")
        self.assertEqual("succeeded", job["state"])

    def test_disabled_while_nothing_can_be_reloaded(self):
        """The policies in use stay when others are broken, but what is disabled does not run."""
        self.daemon.start()
        self.attach()
        self.wait_bound(1)
        before = program.tree(self.folder)
        self.write("policies/broken.lua", "return policy {")
        self.daemon.hup()
        daemon.wait(lambda: self.daemon.status()["generation"]["error"], what="an error of the reload")
        self.ask("PATCH", LAKE + "/policies/remove_orphans_weekly", {"enable": False})
        answer = self.daemon.ask("/api/jobs", "POST", {"policy": "object:remove_orphans_weekly", "table": "lake.db.orders"})
        job_id = answer.json().get("job")
        if job_id:
            self.assertEqual("failed", self.until(job_id, *FINAL)[0]["status"])
        self.assertEqual(before, program.tree(self.folder))

    def test_types_that_do_not_run_are_kept(self):
        self.daemon.start()
        for name, policy_type, content in (("s", "system_iceberg_snapshot_expiration", {}), ("c", "system_iceberg_compaction", {}), ("x", "custom", {"supportedObjectTypes": ["TABLE"]})):
            self.ask("POST", LAKE + "/policies", {"name": name, "policyType": policy_type, "content": content})
        self.ask("POST", TABLE + "/policies", {"policiesToAdd": ["s", "c", "x"]})
        self.assertEqual({"s", "c", "x"}, set(self.ask("GET", TABLE + "/policies")["names"]))
        self.assertEqual(0, self.daemon.status()["bindings"])


class Shell(Base):
    def register(self, executable, **more):
        self.ask("POST", LAKE + "/jobs/templates", {"jobTemplate": {"name": "nap", "jobType": "shell", "executable": executable, "arguments": ["{{s}}"], **more}})

    def start(self, seconds):
        return self.ask("POST", LAKE + "/jobs/runs", {"jobTemplateName": "nap", "jobConf": {"s": seconds}})["job"]["jobId"]

    def test_only_what_is_on_the_list(self):
        other = self.write("bin/other", "#!/bin/sh\ntouch %s/ran\n" % self.top)
        os.chmod(other, 0o755)
        self.daemon.start()
        self.register(other)
        self.ask("POST", LAKE + "/jobs/runs", {"jobTemplateName": "nap"}, status=403)
        self.ask("PUT", LAKE + "/jobs/templates/nap", {"updates": [{"@type": "updateTemplate", "newTemplate": {"@type": "shell", "newExecutable": "{{what}}"}}]})
        for what in (other, "/bin/sh", "nap", self.nap + "/../other"):
            self.ask("POST", LAKE + "/jobs/runs", {"jobTemplateName": "nap", "jobConf": {"what": what}}, status=403)
        os.chmod(self.nap, 0o777)
        self.ask("POST", LAKE + "/jobs/runs", {"jobTemplateName": "nap", "jobConf": {"what": self.nap}}, status=403)
        self.assertFalse(os.path.exists(self.top + "/ran"))
        self.assertEqual([], self.ask("GET", LAKE + "/jobs/runs")["jobs"])

    def test_states(self):
        self.daemon.start()
        self.register(self.nap)
        self.assertEqual("succeeded", self.until(self.start("0"), *FINAL)[0]["status"])
        self.assertEqual("failed", self.until(self.start("nonsense"), *FINAL)[0]["status"])
        first, second = self.start("1000"), None
        self.until(first, "started")
        second = self.start("1000")
        self.ask("DELETE", LAKE + "/jobs/templates/nap", status=409)
        for job_id in (second, first):
            self.assertEqual("cancelling", self.ask("POST", LAKE + "/jobs/runs/" + job_id)["job"]["status"])
        for job_id in (second, first):
            self.assertEqual("cancelled", self.until(job_id, *FINAL)[0]["status"])
        self.assertEqual("cancelled", self.ask("POST", LAKE + "/jobs/runs/" + first)["job"]["status"])
        self.ask("PUT", LAKE + "/jobs/templates/nap", {"updates": [{"@type": "rename", "newName": "siesta"}]})
        self.assertEqual(4, len(self.ask("GET", LAKE + "/jobs/runs?jobTemplateName=siesta")["jobs"]))

    def test_what_waits_is_bounded(self):
        """Jobs that wait are kept in memory: 32 MiB of them. Others are still looked at, and there is room again when they are gone."""
        self.daemon.start()
        self.register(self.nap)
        jobs = [self.start("1000") for _ in range(2)]
        for job_id in jobs:
            self.until(job_id, "started")
        large = {"jobTemplateName": "nap", "jobConf": {"s": "9" * 1000000}}
        for _ in range(33):
            jobs.append(self.ask("POST", LAKE + "/jobs/runs", large)["job"]["jobId"])
        answer = self.daemon.ask(LAKE + "/jobs/runs", "POST", large)
        self.assertEqual((503, "1"), (answer.status, answer.headers["Retry-After"]), answer.text)
        self.assertEqual(35, len(self.ask("GET", LAKE + "/jobs/runs")["jobs"]))
        self.assertEqual(200, self.daemon.ask("/readyz").status)
        for job_id in jobs:
            self.ask("POST", LAKE + "/jobs/runs/" + job_id)
        daemon.wait(lambda: self.daemon.ask(LAKE + "/jobs/runs", "POST", large).status == 200, what="room")

    def test_what_is_kept_is_bounded(self):
        self.daemon.start()
        path = LAKE + "/objects/table/lake.db.orders/statistics"
        for number, status in ((0, 200), (1, 200), (2, 400), (1, 200)):
            self.ask("PUT", path, {"updates": {"custom-%d" % number: "x" * 7000000}}, status)
        self.assertEqual(2, len(self.ask("GET", path)["statistics"]))
        for number, status in ((0, 200), (1, 400)):
            self.ask("POST", LAKE + "/jobs/templates", {"jobTemplate": {"name": "t%d" % number, "jobType": "shell", "executable": self.nap, "arguments": ["x" * 1000000] * 6}}, status)
        self.assertEqual(2, len(self.ask("GET", LAKE + "/jobs/templates")["names"]))

    def test_an_orderly_end_ends_it(self):
        self.daemon.start()
        self.register(self.nap)
        job_id = self.start("1000")
        self.until(job_id, "started")
        self.assertEqual(0, self.daemon.stop())
        self.daemon.start()
        self.assertEqual("failed", self.until(job_id, *FINAL)[0]["status"])

    def test_what_a_crash_leaves_is_ended(self):
        self.daemon.start()
        self.register(self.nap)
        job_id = self.start("1000")
        mark = os.path.join(self.state, "jobs", job_id + ".pid")
        daemon.wait(lambda: os.path.exists(mark), what="the mark of a process")
        with open(mark, encoding="ascii") as f:
            pid = int(f.read().split()[0])
        self.daemon.kill()
        os.kill(pid, 0)
        self.daemon.start()
        self.assertEqual("failed", self.until(job_id, *FINAL)[0]["status"])
        daemon.wait(lambda: not is_alive(pid), what="the end of the process")


if __name__ == "__main__":
    unittest.main(verbosity=2)
