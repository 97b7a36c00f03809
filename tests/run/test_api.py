# SPDX-License-Identifier: Apache-2.0
"""The daemon's own HTTP interface: every route, who may do what, plans approved, applied and put back, lists that grow while they are read, news."""

import base64
import concurrent.futures
import http.client
import json
import os
import socket
import sys
import threading
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402

PROBLEM = "application/problem+json"
ROLES = ("", "view", "operate", "admin")

# Every route, its role, a request that is well formed: from docs/rest-api.md.
ROUTES = [
    ("GET", "/healthz", ""),
    ("GET", "/readyz", ""),
    ("GET", "/api/openapi.json", ""),
    ("GET", "/metrics", "view"),
    ("GET", "/api/status", "view"),
    ("GET", "/api/stream", "view"),
    ("GET", "/api/tables", "view"),
    ("GET", "/api/tables/{table}", "view"),
    ("POST", "/api/tables/{table}/look", "operate"),
    ("GET", "/api/tables/{table}/whynot", "view"),
    ("GET", "/api/policies", "view"),
    ("GET", "/api/policies/{name}", "view"),
    ("GET", "/api/next", "view"),
    ("POST", "/api/simulate", "view"),
    ("GET", "/api/decisions", "view"),
    ("GET", "/api/decisions/{id}", "view"),
    ("GET", "/api/decisions/{id}/explanation", "view"),
    ("GET", "/api/plans", "view"),
    ("GET", "/api/plans/{id}", "view"),
    ("GET", "/api/plans/{id}/candidates", "view"),
    ("POST", "/api/plans/{id}/approve", "operate"),
    ("POST", "/api/plans/{id}/reject", "operate"),
    ("POST", "/api/plans/{id}/apply", "operate"),
    ("GET", "/api/runs", "view"),
    ("GET", "/api/runs/{id}", "view"),
    ("POST", "/api/runs/{id}/cancel", "operate"),
    ("POST", "/api/runs/{id}/restore", "operate"),
    ("POST", "/api/runs/{id}/purge", "admin"),
    ("GET", "/api/jobs", "view"),
    ("POST", "/api/jobs", "operate"),
    ("GET", "/api/jobs/{id}", "view"),
    ("POST", "/api/jobs/{id}/cancel", "operate"),
    ("GET", "/api/events", "view"),
    ("POST", "/api/events", "operate"),
    ("POST", "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics", "operate"),
    ("POST", "/api/pause", "operate"),
    ("POST", "/api/resume", "operate"),
    ("POST", "/api/reload", "admin"),
    ("GET", "/api/tokens", "admin"),
    ("POST", "/api/tokens", "admin"),
    ("DELETE", "/api/tokens/{name}", "admin"),
]
BODIES = {
    "/api/simulate": {"until": "+1d"},
    "/api/jobs": {"policy": "sweep", "table": "lake.db.none"},
    "/api/events": {"source": "t", "type": "nothing", "id": "1"},
    "/api/tokens": {"name": "more", "role": "view"},
    "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics": {
        "report-type": "scan-report", "table-name": "t", "snapshot-id": 1, "metrics": {}},
}


class Base(test_run.Base):
    serve = ""

    def setUp(self):
        super().setUp()
        self.policy()
        self.folder = self.table("a")
        self.table("b")

    def configure(self, mode="approve", serve=None, more="", tables="lake.**"):
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'bind = { { policy = "sweep", tables = { "%s" }, mode = "%s" }, %s }, serve = { %s } }' % (tables, mode, more, serve or self.serve))

    def start(self, **more):
        d = daemon.Daemon(self.config, self.state, **more)
        d.start()
        self.addCleanup(d.__exit__)
        daemon.wait(d.is_ready)
        return d

    def get(self, d, path, status=200, **more):
        a = d.ask(path, **more)
        self.assertEqual(status, a.status, (path, a.text))
        if status >= 400:
            self.assert_problem(a, status)
        return a.json() if a.body else None

    def post(self, d, path, body=None, status=200, headers=None, method="POST"):
        a = d.ask(path, method, body, headers)
        self.assertEqual(status, a.status, (path, a.text))
        if status >= 400:
            self.assert_problem(a, status)
        return a.json() if a.body else None

    def assert_problem(self, a, status):
        self.assertEqual(PROBLEM, a.headers["Content-Type"])
        p = a.json()
        self.assertEqual(status, p["status"])
        self.assertEqual("about:blank", p["type"])
        for key in ("title", "detail", "code", "retryable"):
            self.assertIn(key, p)
        return p

    def job(self, d, job, states=("succeeded", "failed", "cancelled")):
        return daemon.wait(lambda: next((j for j in [self.get(d, "/api/jobs/" + job)] if j["state"] in states), None), what="the end of " + job)

    def plan(self, d, table="lake.db.a"):
        """A plan that waits, made by hand."""
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": table}, 202)
        self.assertEqual("run", v["verdict"])
        done = self.job(d, v["job"])
        self.assertEqual("succeeded", done["state"], done)
        return done["plan"], v


class Routes(Base):
    def test_what_is_there(self):
        self.configure()
        d = self.start()
        self.assertEqual([{"table": "lake.db.a", "policies": ["sweep"]}, {"table": "lake.db.b", "policies": ["sweep"]}], self.get(d, "/api/tables")["items"])
        self.assertEqual(["lake.db.b"], [t["table"] for t in self.get(d, "/api/tables?table=*.*.b")["items"]])
        t = self.get(d, "/api/tables/lake.db.a")
        self.assertEqual(("lake.db.a", 2, 0, "file:" + self.folder), (t["table"], t["format_version"], t["snapshots"], t["location"]))
        self.assertEqual([("sweep", "approve")], [(p["policy"], p["mode"]) for p in t["policies"]])
        self.assertTrue(t["policies"][0]["next"]["fires"].endswith(":00:00Z"))
        self.assertEqual(["sweep"], [p["policy"] for p in self.get(d, "/api/policies")["items"]])
        p = self.get(d, "/api/policies/sweep")
        self.assertEqual("sweep", p["manifest"]["name"])
        self.assertIn("remove_orphan_files", p["source"])
        self.assertEqual(["lake.db.a", "lake.db.b"], p["bound"][0]["covered"])
        self.assertEqual(2, p["bound"][0]["covers"])
        self.assertEqual({"lake.db.a", "lake.db.b"}, {f["table"] for f in self.get(d, "/api/next")["items"]})
        self.assertEqual(3, len(self.get(d, "/api/next?policy=sweep&table=lake.db.a&limit=3")["items"]))
        w = self.get(d, "/api/tables/lake.db.a/whynot?policy=sweep")
        self.assertIn("guard.floor", [g["n"] for g in w["guards"]])
        s = self.post(d, "/api/simulate", {"until": "+3h", "policy": "sweep", "tables": ["lake.db.a"]})
        self.assertEqual({"run"}, {x["verdict"] for x in s["decisions"]})
        self.assertEqual(["lake.db.a"], [x["table"] for x in s["totals"]])
        self.assertEqual(3, s["totals"][0]["runs"])
        self.assertTrue(self.get(d, "/api/status")["ready"])
        self.assertEqual(0, d.stop())

    def test_what_is_not_there(self):
        self.configure()
        d = self.start()
        ids = ("p-01K5Z9ABCDEFGHJKMNPQRSTVWX", "x", "..", "%2e%2e%2fetc%2fpasswd", "a%20b", "p-", "%F0%9F%92%A9")
        for one in ids:
            for path in ("plans", "runs", "decisions", "jobs", "policies", "tables"):
                self.get(d, "/api/%s/%s" % (path, one), 404)
            for path in ("plans/%s/candidates", "decisions/%s/explanation"):
                self.get(d, "/api/" + path % one, 404)
            for path in ("plans/%s/approve", "plans/%s/reject", "plans/%s/apply", "runs/%s/restore", "runs/%s/purge", "runs/%s/cancel", "jobs/%s/cancel", "tables/%s/look"):
                self.post(d, "/api/" + path % one, None, 404)
        for path in ("/", "/api", "/api/", "/api/plans/", "/api//plans", "/API/plans", "/api/plans/a/b/c", "/healthz/", "/api/plans%2fx", "/etc/passwd"):
            self.get(d, path, 404)
        for name in ("/etc/passwd", self.folder, "file:" + self.folder, "lake", "lake.", ".a", "lake.db.a.b", "other.db.a", "lake.db.c", "lake.../db.a"):
            self.get(d, "/api/tables/" + urllib.parse.quote(name, safe=""), 404)
        self.get(d, "/api/tables/lake.db.a/whynot?policy=" + urllib.parse.quote(os.path.join(self.top, "policies/sweep.lua"), safe=""), 404)
        self.get(d, "/api/next?policy=./policies/sweep.lua", 404)
        self.post(d, "/api/simulate", {"until": "+1d", "tables": [self.folder]}, 404)
        self.post(d, "/api/jobs", {"policy": "none", "table": "lake.db.a"}, 404)
        self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.c"}, 404)

    def test_what_is_wrong(self):
        self.configure()
        d = self.start()
        for query in ("limit=0", "limit=1001", "limit=x", "limit=-1", "limit=1e2", "limit=", "order=up", "cursor=x", "cursor=%00", "cursor=QUJD", "since=yesterday", "odd=1",
                      "table=%ff", "cursor=" + base64.b64encode(b"d x y").decode(), "&".join("a%d=1" % i for i in range(100))):
            for path in ("plans", "runs", "decisions", "jobs", "events"):
                if (path, query) not in (("jobs", "cursor=QUJD"), ("jobs", "cursor=" + base64.b64encode(b"d x y").decode())):
                    self.get(d, "/api/%s?%s" % (path, query), 400)
        for body in ("", "{", "[]", "null", "1", '{"until":1}', '{"until":"+1d","odd":1}', '{"until":"+1d","tables":"x"}', '{"until":null}', '{"until":"+1d","until":"+1d"}',
                     '{"until":"+32d"}', '{"until":"-1d"}', '{"until":"+0d"}', '{"until":"2000-01-01T00:00:00Z"}', '{"until":"+99999999999999d"}', '{"until":"x"}', b"\xff", "[" * 10000):
            a = d.ask("/api/simulate", "POST", body, {"Content-Type": "application/json"})
            self.assertEqual(400, a.status, (body, a.text))
            self.assert_problem(a, 400)
        self.get(d, "/api/tables/lake.db.a/whynot", 400)
        self.get(d, "/api/next?table=lake.db.a", 400)
        self.post(d, "/api/pause", {"policy": "sweep", "table": "lake.db.a"}, 400)
        self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"}, 400, {"Idempotency-Key": "x" * 256})
        self.assertEqual(413, d.ask("/api/simulate", "POST", b" " * (2 << 20), {"Content-Type": "application/json"}).status)
        self.assertEqual([], self.get(d, "/api/jobs")["items"])

    def test_document_is_whole_for_generators(self):
        """What makers of clients trip over: lists without items, calls without a name of their own."""
        self.configure()
        document = self.start().ask("/api/openapi.json").json()

        def walk(node, where):
            if isinstance(node, dict):
                if node.get("type") == "array":
                    self.assertIn("items", node, where)
                for key, value in node.items():
                    walk(value, where + "/" + key)
            elif isinstance(node, list):
                for value in node:
                    walk(value, where)
        walk(document, "")
        names = [call["operationId"] for path in document["paths"].values() for call in path.values() if isinstance(call, dict)]
        self.assertEqual(len(names), len(set(names)))

    def test_document_knows_the_status(self):
        self.configure()
        d = self.start()

        def walk(value, schema, where):
            if isinstance(value, dict):
                self.assertLessEqual(set(value), set(schema["properties"]), where)
                for key in value:
                    walk(value[key], schema["properties"][key], where + "." + key)
            elif isinstance(value, list):
                for one in value:
                    walk(one, schema["items"], where)
        schema = d.ask("/api/openapi.json").json()["components"]["schemas"]["Status"]
        walk(self.get(d, "/api/status"), schema, "status")
        self.post(d, "/api/pause", {"table": "lake.db.a"}, 202)
        self.write("ebb.lua", "return {")
        self.assertNotEqual(0, self.ebb("reload", "--wait").status)
        status = self.get(d, "/api/status")
        self.assertTrue(status["generation"]["error"])
        walk(status, schema, "status")

    def test_refusals_tell_what_to_do(self):
        self.configure()
        d = self.start()

        def hint(method, path, body, status, *words):
            a = d.ask(path, method, body and json.dumps(body), {"Content-Type": "application/json"} if body else {})
            self.assertEqual(status, a.status, a.text)
            self.assertIn("hint", a.json(), a.text)
            for word in words:
                self.assertIn(word, a.json()["hint"])
        hint("GET", "/api/odd", None, 404, "/api/openapi.json")
        hint("GET", "/api/plans/p-1", None, 404, "/api/plans")
        hint("GET", "/api/runs/r-1", None, 404, "/api/runs")
        hint("GET", "/api/decisions/d-1", None, 404, "/api/decisions")
        hint("GET", "/api/jobs/job-1", None, 404, "/api/jobs")
        hint("GET", "/api/policies/none", None, 404, "/api/policies")
        hint("POST", "/api/jobs", {"policy": "none", "table": "lake.db.a"}, 404, "/api/policies")
        self.post(d, "/api/tokens", {"name": "one", "role": "view"}, 201)
        hint("POST", "/api/tokens", {"name": "one", "role": "view"}, 409, "revoke")
        hint("DELETE", "/api/tokens/two", None, 404, "/api/tokens")
        for when in ("tomorrow", "2026-12-01", "2026-12-01T00:00:00"):
            hint("POST", "/api/events", {"source": "s", "type": "a", "at": when}, 400, "Z")
        a = d.ask("/api/runs/r-1/purge", "POST", {"older_than": "soon"})
        self.assertEqual((400, "usage"), (a.status, a.json()["code"]))
        self.assertTrue(a.json()["detail"].startswith("older_than: "), a.text)
        plan, _ = self.plan(d)
        self.post(d, "/api/plans/%s/reject" % plan)
        for what in ("approve", "reject", "apply"):
            hint("POST", "/api/plans/%s/%s" % (plan, what), None, 409, "ebb plan")

    def test_jobs_that_can_do_nothing_tell_why(self):
        """A name that the run did not move, a run that is too young: what it was and from when on it may go stand in the job."""
        self.configure()
        d = self.start()
        plan, _ = self.plan(d)
        run = self.job(d, self.post(d, "/api/plans/%s/apply" % plan, None, 202)["id"])["run"]
        ended = self.get(d, "/api/runs/" + run)["ended"]
        job = self.job(d, self.post(d, "/api/runs/%s/restore" % run, {"paths": ["data/nowhere.parquet"]}, 202)["id"])
        self.assertEqual(("failed", "run.partial"), (job["state"], job["code"]))
        self.assertIn("data/nowhere.parquet: this run did not move it", job["message"])
        job = self.job(d, self.post(d, "/api/runs/%s/purge" % run, None, 202)["id"])
        self.assertEqual(("failed", "run.wrong_state"), (job["state"], job["code"]))
        self.assertIn(ended, job["message"])

    def test_methods_and_types(self):
        self.configure()
        d = self.start()
        for method in ("PUT", "PATCH", "DELETE", "POST", "OPTIONS", "QUERY"):
            a = d.ask("/api/plans", method)
            if a.status != 501:
                self.assertEqual((405, "GET, HEAD"), (a.status, a.headers["Allow"]), method)
        a = d.ask("/api/tokens", "PUT")
        self.assertEqual({"GET", "HEAD", "POST"}, set(a.headers["Allow"].split(", ")))
        a = d.ask("/api/status", "HEAD")
        self.assertEqual((200, b""), (a.status, a.body))
        for accept, status in (("text/html", 406), ("application/json;q=0", 406), ("*/*", 200), ("text/html, */*;q=0.1", 200), ("application/problem+json", 200)):
            self.assertEqual(status, d.ask("/api/status", headers={"Accept": accept}).status, accept)
        self.assertEqual(406, d.ask("/api/stream", headers={"Accept": "application/json"}).status)
        self.assertEqual(406, d.ask("/metrics", headers={"Accept": "application/json"}).status)
        for kind in (None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"):
            self.assertEqual(415, d.ask("/api/simulate", "POST", b'{"until":"+1d"}', {"Content-Type": kind} if kind else {}).status, kind)
        self.assertEqual(200, d.ask("/api/simulate", "POST", b'{"until":"+1d"}', {"Content-Type": "Application/JSON; charset=utf-8"}).status)

    def test_heads(self):
        self.configure()
        d = self.start()
        plan, _ = self.plan(d)
        for path, kind in (("/api/stream", "text/event-stream"), ("/api/plans/%s/candidates" % plan, "application/x-ndjson"), ("/api/plans", "application/json"),
                           ("/healthz", "application/json"), ("/api/plans/none", PROBLEM)):
            a = d.ask(path, "HEAD")
            self.assertEqual((404 if "none" in path else 200, kind, b""), (a.status, a.headers["Content-Type"], a.body), path)
        self.assertEqual(405, d.ask("/api/reload", "HEAD").status)

    def test_clients_that_go(self):
        self.configure()
        d = self.start()
        plan, _ = self.plan(d)
        host = urllib.parse.urlsplit("http://" + d.address)

        def sockets():
            count = 0
            for f in os.listdir("/proc/%d/fd" % d.process.pid):
                try:
                    count += os.readlink("/proc/%d/fd/%s" % (d.process.pid, f)).startswith("socket:")
                except OSError:
                    pass
            return count

        d.ask("/api/status")
        before = sockets()
        for i in range(60):
            for head in (b"GET /api/stream HTTP/1.1", b"GET /api/plans/%s/candidates HTTP/1.1" % plan.encode(), b"POST /api/simulate HTTP/1.1", b"GET /api/next HTTP/1.1"):
                with socket.create_connection((host.hostname, host.port), 60) as s:
                    body = b'{"until":"+1d"}' if head.startswith(b"POST") else b""
                    s.sendall(head + b"\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                    if i % 2:
                        s.recv(1)
        daemon.wait(lambda: sockets() <= before + 1, what="closed connections")
        self.assertTrue(d.is_ready())
        self.assertEqual(0, d.stop())

    def test_questions_are_not_in_the_way_of_who_steers(self):
        """Whoever may only look can ask what takes long, as often as they like: there is a thread for who pauses, cancels, approves."""
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { time.every { "1m", anchor = "epoch" } },\n'
                                         "decide = function(t, ctx) local n = 0 for i = 1, 50000 do n = n + i end %s end }" % test_run.RUN)
        self.configure(serve='poll = "10m", auth = "token"')
        token = {role: {"Authorization": "Bearer " + program.run(["token", "create", role, "--role", role], config=self.config, state=self.state).out.strip()}
                 for role in ("view", "operate")}
        d = daemon.Daemon(self.config, self.state)
        d.start()
        self.addCleanup(d.__exit__)
        daemon.wait(d.is_ready)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(d.ask, "/api/simulate", "POST", {"until": "+31d"}, token["view"], 300) for _ in range(6)]
            for _ in range(20):  # among them some when all six are there
                self.assertEqual(202, d.ask("/api/pause", "POST", {}, token["operate"]).status)
                threading.Event().wait(0.05)
            self.assertFalse(any(f.done() for f in asked))
            d.kill()

    def test_what_looks_like_a_token_is_not_shown(self):
        self.configure()
        d = self.start()
        token = "ebb_" + "aB3-_" * 8 + "xyz"
        for method, path in (("DELETE", "/api/tokens/" + token), ("GET", "/api/plans/" + token), ("GET", "/" + token), ("POST", "/api/plans/x/reject?y=" + token)):
            d.ask(path, method, None, {"Referer": token, "User-Agent": token, "Idempotency-Key": token})
        encoded = token.replace("_", "%5f").replace("e", "%65")
        d.ask("/api/tokens/" + encoded, "DELETE")
        d.ask("/api/metalakes/%65bb_short/jobs/runs", "POST")  # what is too short for one is shown as it came
        self.assertEqual(0, d.stop())
        self.assertNotIn(token[:30], d.said())
        self.assertNotIn(encoded[10:50], d.said())
        self.assertIn("/%65bb_short/", d.said())
        with open(os.path.join(self.state, "audit.jsonl"), encoding="utf-8") as f:
            audit = f.read()
        self.assertNotIn(token[:30], audit)
        self.assertNotIn(encoded[10:50], audit)

    def test_the_document_has_every_route(self):
        self.configure()
        d = self.start()
        document = self.get(d, "/api/openapi.json")
        self.assertTrue(document["openapi"].startswith("3.1"))
        own = {(m.upper(), p) for p, ops in document["paths"].items() for m, op in ops.items() if op["tags"] == ["ebb"]}
        self.assertEqual({(m, p) for m, p, _ in ROUTES}, own)
        for path, ops in document["paths"].items():
            for operation in ops.values():
                for status in ("400", "405", "406", "429", "503"):
                    self.assertIn(status, operation["responses"], path)


class Roles(Base):
    serve = 'auth = "token"'

    def token(self, name, role, *more):
        done = program.run(["token", "create", name, "--role", role, *more], config=self.config, state=self.state)
        self.assertEqual(0, done.status, done.err)
        return done.out.strip()

    def test_who_may_do_what(self):
        self.configure()
        tokens = {role: self.token("t-" + role, role) for role in ROLES[1:]}
        d = self.start()
        for method, pattern, needed in ROUTES:
            path = pattern.replace("{table}", "lake.db.none").replace("{name}", "none").replace("{id}", "none").replace("{prefix}", "lake").replace("{namespace}", "db")
            if path == "/api/stream":
                path += "?odd=1"  # not opened: refused later than for its role
            for role in ROLES:
                headers = {"Authorization": "Bearer " + tokens[role]} if role else {}
                body = BODIES.get(pattern)
                if role == "admin" and pattern == "/api/tokens" and method == "POST":
                    body = {"name": "by-admin", "role": "view"}
                a = d.ask(path, method, body if method == "POST" else None, headers)
                if ROLES.index(role) >= ROLES.index(needed):
                    self.assertNotIn(a.status, (401, 403, 500, 503), (method, path, role, a.text))
                elif not role:
                    self.assertEqual((401, "Bearer"), (a.status, a.headers["WWW-Authenticate"]), (method, path))
                    self.assert_problem(a, 401)
                else:
                    self.assertEqual(403, a.status, (method, path, role))
                    self.assert_problem(a, 403)

    def test_tokens_that_are_no_good(self):
        self.configure()
        good = self.token("good", "view", "--expires", "1d")
        self.token("gone", "admin")
        d = self.start()
        base = base64.b64encode
        bad = ["Bearer", "Bearer ", "Bearer x", "Bearer " + good[:-1], "Bearer " + good + "x", "Bearer " + good.upper(), "bearer  ", good, "Token " + good, "Basic x", "Basic",
               "Basic " + base(b"user").decode(), "Basic " + base(b"user:").decode(), "Basic " + base(b"user:wrong").decode(), "Negotiate " + good, "Bearer " + "a" * 4000]
        for value in bad:
            a = d.ask("/api/status", headers={"Authorization": value})
            self.assertEqual(401, a.status, value)
            self.assertNotIn(good, a.text)
        for value in ("Bearer " + good, "bearer " + good, "Basic " + base(b"anyone:" + good.encode()).decode()):
            self.assertEqual(200, d.ask("/api/status", headers={"Authorization": value}).status, value)
        # Revoked while it serves: from the next request on.
        self.assertEqual(0, program.run(["token", "revoke", "good"], config=self.config, state=self.state).status)
        self.assertEqual(401, d.ask("/api/status", headers={"Authorization": "Bearer " + good}).status)

    def test_an_expired_token(self):
        self.configure()
        token = self.token("short", "view", "--expires", "1s")
        d = self.start()
        daemon.wait(lambda: d.ask("/api/status", headers={"Authorization": "Bearer " + token}).status == 401)

    def test_tokens_over_the_interface(self):
        self.configure()
        admin = {"Authorization": "Bearer " + self.token("boss", "admin")}
        d = self.start()
        made = self.post(d, "/api/tokens", {"name": "new.one", "role": "operate", "expires": "90d"}, 201, admin)
        self.assertRegex(made["token"], r"^ebb_[A-Za-z0-9_-]{43}$")
        self.post(d, "/api/tokens", {"name": "new.one", "role": "view"}, 409, admin)
        for name in ("a b", "", "x" * 65, "a/b", "ä"):
            self.post(d, "/api/tokens", {"name": name, "role": "view"}, 400, admin)
        self.post(d, "/api/tokens", {"name": "z", "role": "root"}, 400, admin)
        self.post(d, "/api/tokens", {"name": "z", "role": "view", "expires": "0s"}, 400, admin)
        listed = self.get(d, "/api/tokens", headers=admin)["items"]
        self.assertEqual(("operate", "boss"), next((t["role"], t["creator"]) for t in listed if t["name"] == "new.one"))
        self.assertNotIn("hash", json.dumps(listed))
        self.get(d, "/api/status", headers={"Authorization": "Bearer " + made["token"]})
        self.post(d, "/api/tokens/new.one", None, 204, admin, method="DELETE")
        self.post(d, "/api/tokens/new.one", None, 404, admin, method="DELETE")
        self.get(d, "/api/status", 401, headers={"Authorization": "Bearer " + made["token"]})
        self.assertEqual(0, d.stop())
        # No token stands anywhere but in what was answered.
        for folder, _, names in os.walk(self.state):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    self.assertNotIn(made["token"].encode(), f.read(), name)
        self.assertNotIn(made["token"], d.said())
        self.assertNotIn(admin["Authorization"][7:], d.said())

    def test_deleting_for_good_is_for_admins(self):
        self.configure()
        headers = {role: {"Authorization": "Bearer " + self.token("d-" + role, role)} for role in ROLES[1:]}
        d = self.start()
        self.post(d, "/api/plans/p-none/apply", {"delete": True}, 403, headers["operate"])
        self.post(d, "/api/plans/p-none/apply", {"delete": True}, 404, headers["admin"])
        self.post(d, "/api/plans/p-none/apply", {"delete": False}, 404, headers["operate"])

    def test_the_command(self):
        self.configure()
        run = lambda *words: program.run(["token", *words], config=self.config, state=self.state)  # noqa: E731
        for words in (("create",), ("create", "a"), ("create", "a", "--role", "root"), ("create", "a b", "--role", "view"), ("create", "a", "--role", "view", "--expires", "0s"),
                      ("create", "a", "--role", "view", "--expires", "x"), ("revoke",), ("revoke", "a"), ("list", "x")):
            self.assertEqual(64, run(*words).status, words)
        self.assertEqual("no tokens\n", run("list").out)
        made = json.loads(run("create", "a", "--role", "view", "--json").out)
        self.assertEqual(("a", "view"), (made["name"], made["role"]))
        self.assertEqual(3, run("create", "a", "--role", "admin").status)
        self.assertEqual(["a"], [json.loads(line)["name"] for line in run("list", "--json").out.splitlines()])
        self.assertNotIn(made["token"], run("list", "--json").out)
        self.assertEqual(0, run("revoke", "a").status)
        self.assertEqual("", run("list", "--json").out)


class Plans(Base):
    def files(self):
        return sorted(f for f in os.listdir(os.path.join(self.folder, "data")))

    def test_approved_applied_and_put_back(self):
        self.configure()
        d = self.start()
        before = self.files()
        plan, verdict = self.plan(d)
        p = self.get(d, "/api/plans/" + plan)
        self.assertEqual(("ready", 2, "lake.db.a", "sweep", verdict["decision"]), (p["status"], p["candidates"], p["table"], p["policy"], p["decision"]))
        lines = [json.loads(line) for line in d.ask("/api/plans/%s/candidates" % plan).text.splitlines()]
        self.assertEqual(["old-1.parquet", "old-2.parquet"], sorted(os.path.basename(c["path"]) for c in lines))
        self.assertEqual("application/x-ndjson", d.ask("/api/plans/%s/candidates" % plan).headers["Content-Type"])
        said = self.post(d, "/api/plans/%s/approve" % plan, {"reason": "looked at"})
        self.assertEqual(("approved", "anonymous", "looked at"), tuple(said["answer"][k] for k in ("answer", "by", "reason")))
        self.assertEqual(before, self.files())
        job = self.post(d, "/api/plans/%s/apply" % plan, None, 202)
        self.assertEqual(("apply", "lake.db.a", plan), (job["kind"], job["table"], job["parent"]))
        done = self.job(d, job["id"])
        self.assertEqual("succeeded", done["state"], done)
        self.assertEqual(["live.parquet", "young.parquet"], self.files())
        run = self.get(d, "/api/runs/" + done["run"])
        self.assertEqual(("done", plan, 2), (run["status"], run["plan"], run["moved"]))
        self.assertEqual("applied", self.get(d, "/api/plans/" + plan)["status"])
        self.assertEqual([plan], [x["id"] for x in self.get(d, "/api/plans?status=applied")["items"]])
        e = self.get(d, "/api/decisions/%s/explanation" % verdict["decision"])
        self.assertEqual(("run", [plan]), (e["decision"]["verdict"], [x["id"] for x in e["plans"]]))
        for what in ("approve", "reject", "apply"):
            self.post(d, "/api/plans/%s/%s" % (plan, what), None, 409)
        self.post(d, "/api/runs/%s/cancel" % done["run"], None, 409)
        self.post(d, "/api/jobs/%s/cancel" % done["id"], None, 409)
        back = self.job(d, self.post(d, "/api/runs/%s/restore" % done["run"], {}, 202)["id"])
        self.assertEqual("succeeded", back["state"], back)
        self.assertEqual(before, self.files())
        self.assertEqual("restored", self.get(d, "/api/runs/" + done["run"])["status"])
        self.assertEqual(0, d.stop())

    def test_what_was_done_stands_in_the_audit_log(self):
        self.configure()
        d = self.start()
        plan, _ = self.plan(d)
        secret = "ebb_" + "S" * 43
        d.ask("/api/plans/%s/reject?x=%s" % (plan, secret), "POST", None, {"Authorization": "Bearer " + secret})
        self.post(d, "/api/plans/%s/reject" % plan, {"reason": "not now"})
        with open(os.path.join(self.state, "audit.jsonl"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        asked = [x for x in lines if x["event"] == "api.asked" and x["path"].endswith("/reject")]
        answered = [x for x in lines if x["event"] == "api.answered" and x["path"].endswith("/reject")]
        self.assertEqual([("anonymous", "127.0.0.1", "POST", "/api/plans/%s/reject" % plan)], [(x["who"], x["from"], x["method"], x["path"]) for x in asked])
        self.assertEqual([200], [x["status"] for x in answered])
        self.assertNotIn(secret, d.said())
        self.assertNotIn(secret, json.dumps(lines))

    def test_a_rejected_plan_is_never_applied(self):
        self.configure()
        d = self.start()
        before = self.files()
        plan, _ = self.plan(d)
        said = self.post(d, "/api/plans/%s/reject" % plan)
        self.assertEqual(("rejected", "rejected"), (said["status"], said["answer"]["answer"]))
        for what in ("approve", "reject", "apply"):
            self.post(d, "/api/plans/%s/%s" % (plan, what), None, 409)
        self.post(d, "/api/plans/%s/apply" % plan, None, 409, {"Idempotency-Key": "k"})
        done = program.run(["apply", plan, "--yes"], config=self.config, state=self.state)
        self.assertEqual(2, done.status, done.err)
        self.assertIn("rejected", done.err)
        self.assertEqual(before, self.files())

    def test_a_held_plan_wants_its_fuses_named(self):
        self.policy(lines='guard = { deletes = { max_files = 1 } },')
        self.configure()
        d = self.start()
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"}, 202)
        plan = self.job(d, v["job"])["plan"]
        p = self.get(d, "/api/plans/" + plan)
        self.assertEqual(("held", ["max_files"]), (p["status"], p["held_by"]))
        for body in (None, {}, {"overrides": []}, {"overrides": ["max_bytes"]}):
            for what in ("approve", "apply"):
                a = self.post(d, "/api/plans/%s/%s" % (plan, what), body, 422)
                self.assertEqual("plan.held", a["code"])
        self.post(d, "/api/plans/%s/approve" % plan, {"overrides": ["max_files"]})
        done = self.job(d, self.post(d, "/api/plans/%s/apply" % plan, {}, 202)["id"])
        self.assertEqual("succeeded", done["state"], done)
        self.assertEqual(["live.parquet", "young.parquet"], self.files())

    def test_the_same_key_is_the_same_job(self):
        self.configure()
        d = self.start()
        plan, _ = self.plan(d)
        key = {"Idempotency-Key": "once"}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: d.ask("/api/plans/%s/apply" % plan, "POST", {}, key), range(16)))
        ids = {a.json()["id"] for a in answers if a.status == 202}
        self.assertEqual(1, len(ids), [a.text for a in answers])
        self.assertTrue({a.status for a in answers} <= {202, 409})
        self.job(d, ids.pop())
        again = self.post(d, "/api/plans/%s/apply" % plan, {}, 202, key)
        self.assertEqual("succeeded", again["state"])
        self.post(d, "/api/plans/%s/apply" % plan, {"verify": "none"}, 409, key)
        self.assertEqual(1, len([j for j in self.get(d, "/api/jobs")["items"] if j["kind"] == "apply"]))
        # A policy by hand: the same.
        first = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.b"}, 202, {"Idempotency-Key": "hand"})
        second = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.b"}, 202, {"Idempotency-Key": "hand"})
        self.assertEqual(first["job"], second["job"])
        self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"}, 409, {"Idempotency-Key": "hand"})

    def test_a_purge(self):
        self.configure()
        d = self.start()
        plan, _ = self.plan(d)
        run = self.job(d, self.post(d, "/api/plans/%s/apply" % plan, None, 202)["id"])["run"]
        self.post(d, "/api/runs/%s/purge" % run, {"older_than": "x"}, 400)
        early = self.job(d, self.post(d, "/api/runs/%s/purge" % run, {}, 202)["id"])
        self.assertNotEqual("purged", self.get(d, "/api/runs/" + run)["status"], early)
        done = self.job(d, self.post(d, "/api/runs/%s/purge" % run, {"older_than": "0s"}, 202)["id"])
        self.assertEqual("succeeded", done["state"], done)
        self.assertEqual("purged", self.get(d, "/api/runs/" + run)["status"])
        self.job(d, self.post(d, "/api/runs/%s/restore" % run, {}, 202)["id"])
        self.assertEqual(["live.parquet", "young.parquet"], self.files())


class Hand(Base):
    def test_modes(self):
        self.configure("observe")
        d = self.start()
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"})
        self.assertEqual(("run", "observed"), (v["verdict"], v["status"]))
        self.assertNotIn("job", v)
        self.assertEqual("run", self.get(d, "/api/decisions/" + v["decision"])["verdict"])
        self.assertEqual(0, d.stop())
        self.configure("enforce")
        d = self.start()
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a", "dry_run": True}, 202)
        done = self.job(d, v["job"])
        self.assertEqual("ready", self.get(d, "/api/plans/" + done["plan"])["status"])
        self.assertIn("old-1.parquet", os.listdir(os.path.join(self.folder, "data")))
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"}, 202)
        done = self.job(d, v["job"])
        self.assertEqual("succeeded", done["state"], done)
        self.assertNotIn("old-1.parquet", os.listdir(os.path.join(self.folder, "data")))

    def test_verdicts(self):
        self.policy("return skip(all {})")
        self.configure("enforce")
        d = self.start()
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"})
        self.assertEqual("skip", v["verdict"])
        self.policy("return nil + 1")
        self.post(d, "/api/reload", None, 202)
        daemon.wait(lambda: self.get(d, "/api/policies/sweep")["source"].find("nil + 1") > 0)
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"})
        self.assertEqual("error", v["verdict"])
        self.assertTrue(v["message"])

    def test_paused(self):
        self.configure("enforce")
        d = self.start()
        self.post(d, "/api/pause", {"table": "lake.db.c"}, 404)
        self.post(d, "/api/pause", {"policy": "none"}, 404)
        self.post(d, "/api/pause", {"table": "lake.db.a"}, 202)
        daemon.wait(lambda: "table lake.db.a" in d.status()["paused"])
        v = self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"})
        self.assertEqual("paused", v["status"])
        self.assertNotIn("job", v)
        self.post(d, "/api/resume", {"table": "lake.db.a"}, 202)
        daemon.wait(lambda: not d.status()["paused"])
        self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"}, 202)

    def test_a_table_that_is_not_bound(self):
        self.configure("enforce", tables="lake.db.b")
        d = self.start()
        self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db.a"}, 422)


class Lists(Base):
    def walk(self, d, path, limit, between=lambda: None):
        found, cursor = [], None
        while True:
            page = self.get(d, "%s%slimit=%d%s" % (path, "&" if "?" in path else "?", limit, "&cursor=" + urllib.parse.quote(cursor, safe="") if cursor else ""))
            self.assertLessEqual(len(page["items"]), limit)
            found += page["items"]
            cursor = page.get("cursor")
            if not cursor:
                return found
            between()

    def test_lists_that_grow_while_they_are_read(self):
        self.policy("return skip(all {})")
        self.configure("enforce")
        d = self.start()
        count = [0]

        def more(n=1):
            for _ in range(n):
                count[0] += 1
                self.post(d, "/api/jobs", {"policy": "sweep", "table": "lake.db." + "ab"[count[0] % 2]})
                self.post(d, "/api/events", {"source": "t", "id": str(count[0]), "type": "nothing", "table": "lake.db.a"}, 202)

        more(12)
        first = {x["id"] for x in self.get(d, "/api/decisions?limit=1000")["items"]}
        self.assertEqual(12, len(first))
        for path in ("/api/decisions?order=asc", "/api/decisions?order=desc", "/api/decisions"):
            known = {x["id"] for x in self.get(d, "/api/decisions?limit=1000")["items"]}
            found = [x["id"] for x in self.walk(d, path, 5, more)]
            self.assertEqual(len(found), len(set(found)), path)
            self.assertTrue(known <= set(found), path)
            if "asc" not in path:
                self.assertEqual(known, set(found))
        at = [x["at"] for x in self.get(d, "/api/decisions?order=asc&limit=1000")["items"]]
        self.assertEqual(sorted(at), at)
        self.assertEqual(at[::-1], [x["at"] for x in self.get(d, "/api/decisions?limit=1000")["items"]])
        self.assertEqual({"lake.db.a"}, {x["table"] for x in self.walk(d, "/api/decisions?table=*.a&policy=sweep&verdict=skip", 2)})
        self.assertEqual([], self.get(d, "/api/decisions?verdict=run")["items"])
        self.assertEqual([], self.get(d, "/api/decisions?since=2999-01-01T00:00:00Z")["items"])
        seq = [x["seq"] for x in self.walk(d, "/api/events?order=asc", 3)]
        self.assertEqual(sorted(set(seq)), seq)
        self.assertEqual(count[0], len(seq))
        self.assertEqual(["lake.db.a", "lake.db.b"], [x["table"] for x in self.walk(d, "/api/tables", 1)])
        # A cursor of the other order.
        cursor = self.get(d, "/api/decisions?limit=1&order=asc")["cursor"]
        self.get(d, "/api/decisions?limit=1&order=desc&cursor=" + urllib.parse.quote(cursor, safe=""), 400)


class Events(Base):
    def test_events(self):
        self.configure()
        d = self.start()
        one = {"source": "w", "id": "1", "type": "commit.failed", "table": "lake.db.a", "reason": "x"}
        self.assertEqual({"accepted": 1, "duplicates": 0}, self.post(d, "/api/events", one, 202))
        self.assertEqual({"accepted": 1, "duplicates": 1}, self.post(d, "/api/events", [one, {**one, "id": "2"}], 202))
        cloud = {"specversion": "1.0", "id": "3", "source": "w", "type": "commit.failed", "subject": "lake.db.a", "data": {"a": 1}}
        self.assertEqual(1, self.post(d, "/api/events", json.dumps(cloud), 202, {"Content-Type": "application/cloudevents+json"})["accepted"])
        self.assertEqual(1, self.post(d, "/api/events", json.dumps([{**cloud, "id": "4"}]), 202, {"Content-Type": "application/cloudevents-batch+json"})["accepted"])
        binary = {"ce-specversion": "1.0", "ce-id": "5", "ce-source": "w", "ce-type": "commit.failed", "ce-subject": "lake.db.a", "Content-Type": "application/json"}
        self.assertEqual(1, self.post(d, "/api/events", b'{"a":1}', 202, binary)["accepted"])
        report = {"report-type": "commit-report", "table-name": "a", "snapshot-id": 1, "sequence-number": 2, "operation": "append", "metrics": {}}
        self.post(d, "/iceberg/v1/lake/namespaces/db/tables/a/metrics", report, 204)
        listed = self.get(d, "/api/events?order=asc")["items"]
        self.assertEqual(["1", "2", "3", "4", "5"], [e["id"] for e in listed[:5]])
        self.assertEqual({"lake.db.a"}, {e["table"] for e in listed})
        self.assertEqual("x", listed[0]["data"]["reason"])
        for body in ({}, [], {"source": "w"}, [1], {"source": "w", "type": "X"}, {"source": "", "type": "x"}, {**one, "table": "x"}, {**one, "at": "2999-01-01T00:00:00Z"}):
            if body != []:
                self.post(d, "/api/events", body, 400)
        for body in ({}, {"report-type": "other"}, {**report, "snapshot-id": "x"}):
            self.post(d, "/iceberg/v1/lake/namespaces/db/tables/a/metrics", body, 400)
        self.assertEqual(6, len(self.get(d, "/api/events")["items"]))

    def test_news(self):
        self.configure()
        d = self.start()
        host = urllib.parse.urlsplit("http://" + d.address)
        heard, ready = [], threading.Event()

        def listen(headers, until):
            c = http.client.HTTPConnection(host.hostname, host.port, timeout=60)
            c.request("GET", "/api/stream", headers={"Accept": "text/event-stream", **headers})
            a = c.getresponse()
            self.assertEqual((200, "text/event-stream"), (a.status, a.headers["Content-Type"]))
            ready.set()
            entry = {}
            while True:
                line = a.readline().decode().rstrip("\n")
                if line:
                    key, _, value = line.partition(": ")
                    entry[key] = value
                    continue
                if "data" in entry:
                    heard.append((int(entry["id"]), entry["event"], json.loads(entry["data"])))
                    if until(heard[-1]):
                        c.close()
                        return
                entry = {}

        t = threading.Thread(target=listen, args=({}, lambda h: h[1] == "plan" and h[2].get("status") == "rejected"), daemon=True)
        t.start()
        self.assertTrue(ready.wait(60))
        plan, _ = self.plan(d)
        self.post(d, "/api/plans/%s/reject" % plan)
        t.join(60)
        self.assertFalse(t.is_alive(), heard)
        ids = [h[0] for h in heard]
        self.assertEqual(sorted(set(ids)), ids)
        self.assertIn("job", {h[1] for h in heard})
        self.assertNotIn("", [value for h in heard for value in h[2].values()])
        # Whoever comes back gets what was missed, and nothing twice.
        before, heard = list(heard), []
        listen({"Last-Event-ID": str(before[0][0])}, lambda h: h[0] == before[-1][0])
        self.assertEqual(before[1:], heard)
        self.assertEqual(400, d.ask("/api/stream", headers={"Last-Event-ID": "x"}).status)
        self.assertEqual(0, d.stop())

    def test_many_streams_and_an_end(self):
        self.configure()
        d = self.start()
        host = urllib.parse.urlsplit("http://" + d.address)
        open_ = []
        for _ in range(40):
            c = http.client.HTTPConnection(host.hostname, host.port, timeout=60)
            c.request("GET", "/api/stream")
            a = c.getresponse()
            self.assertEqual(200, a.status)
            open_.append((c, a))
        for c, a in open_[:20]:
            a.close()
            c.close()
        self.assertTrue(d.is_ready())
        self.assertEqual(0, d.stop())
        for c, a in open_[20:]:
            a.close()
            c.close()


if __name__ == "__main__":
    unittest.main()
