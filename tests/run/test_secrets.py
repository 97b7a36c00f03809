# SPDX-License-Identifier: Apache-2.0
"""Distinctive secrets are put everywhere a person could put one; then every file of the state folder, everything that was said, every answer and the
metrics are searched for them. What is documented as no place for secrets (values of a jobConf, environments of templates) may stand in the store and in
answers that show it, and nowhere else."""
import base64
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402

MARK = "pLanTed"  # in every secret
LAKE = "/api/metalakes/default"


def secret(name):
    return "%s-%s-9f27c1" % (MARK, name)


class Hook(http.server.BaseHTTPRequestHandler):
    """Takes notices; answers with what it was sent, as a careless server does."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((dict(self.headers), body))
        answer = ("no, not with %s at %s" % (self.headers["Authorization"], self.path)).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Secrets(test_serve.Base):
    def setUp(self):
        super().setUp()
        self.said = []  # (where, bytes)
        self.hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        self.hook.seen, self.hook.status = [], 401
        threading.Thread(target=self.hook.serve_forever, daemon=True).start()
        self.addCleanup(self.hook.server_close)
        self.addCleanup(self.hook.shutdown)
        self.env = {"EBB_T_HOOK": secret("env-header"), "EBB_T_ARG": secret("env-argument"), "EBB_T_PARAM": secret("env-parameter"),
                    "EBB_T_USER": secret("env-user"), "EBB_UNUSED": secret("env-not-used")}
        notifier = self.write("bin/notify", "#!/bin/sh\ncat >/dev/null\necho \"failed with $1\" >&2\nexit 3\n")
        os.chmod(notifier, 0o755)
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { on.event { "thing.happened" } },\n'
                                         'params = { api_token = { type = "string", default = "x" } }, guard = { deletes = { max_files = 1 } },\n'
                                         'decide = function(t, ctx) local v = all { check("has", t.properties["s3.secret-access-key"], "~=", ctx.params.api_token) }\n'
                                         "return run(v, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 }) end }")
        self.write("ebb.lua", """return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",
          bind = { { policy = "sweep", tables = { "lake.**" }, mode = "enforce", params = { api_token = env "EBB_T_PARAM" } } },
          serve = { auth = "token", poll = "1s", executables = { "%s" }, notify = {
            { url = "http://" .. env "EBB_T_USER" .. ":%s@127.0.0.1:%d/%s?key=%s", headers = { Authorization = "Bearer " .. env "EBB_T_HOOK" } },
            { command = { "./bin/notify", env "EBB_T_ARG" } } } } }""" %
                   (notifier, secret("url-password"), self.hook.server_address[1], secret("url-path"), secret("url-query")))
        self.table("a", {"s3.secret-access-key": secret("property"), "owner": "me"})

    def told(self, where, text):
        self.said.append((where, text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")))

    def command(self, *args):
        done = program.run(args, config=self.config, state=self.state, env=self.env)
        self.told("stdout of " + " ".join(args[:2]), done.out)
        self.told("stderr of " + " ".join(args[:2]), done.err)
        return done

    def ask(self, path, method="GET", body=None, token=True, **headers):
        sent = {k.replace("_", "-"): v for k, v in headers.items()}
        if token:
            sent.setdefault("Authorization", "Bearer " + self.token)
        answer = self.daemon.ask(path, method, body, sent)
        self.told("%s %s: %d" % (method, path.split("?")[0], answer.status), json.dumps(dict(answer.headers)).encode() + answer.body)
        return answer

    def make_token(self):
        done = program.run(["token", "create", "admin", "--role", "admin"], config=self.config, state=self.state, env=self.env)
        self.assertEqual(0, done.status, done.err)
        self.token = done.out.strip()
        self.assertRegex(self.token, r"^ebb_[A-Za-z0-9_-]{43}$")

    def raw(self, data):
        host, port = self.daemon.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=20) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            got = b""
            try:
                while piece := s.recv(65536):
                    got += piece
            except ConnectionResetError:
                pass
        self.told("raw answer", got)

    def plant_in_requests(self):
        basic = base64.b64encode(("me:" + secret("basic")).encode()).decode()
        for path in ("/api/status", "/api/tables", "/api/nothing", "/metrics", LAKE + "/policies", "/healthz"):
            self.ask(path, token=False, Authorization="Bearer " + secret("bearer"))
            self.ask(path, token=False, Authorization="Bearer ebb_" + secret("bearer-form").ljust(43, "x"))
            self.ask(path, token=False, Authorization="Basic " + basic)
            self.ask(path, token=False, Authorization=secret("scheme") + " x")
            self.ask(path, Cookie="session=" + secret("cookie"), X_Api_Key=secret("header"))
            self.ask(path + "?token=" + secret("query"))
            self.ask(path + "?access_token=" + secret("query-anonymous"), token=False)
        self.told("base64", b"")  # what was sent as Basic is looked for as it stood there, too
        self.more = [basic.encode(), self.token.encode()]
        self.ask("/api/pause?key=" + secret("query-post"), "POST", {})
        self.ask("/api/jobs", "POST", {"policy": "sweep", "table": "lake.db.a", "password": secret("body-unknown")})
        self.ask("/api/jobs", "POST", '{"policy": "%s' % secret("body-cut"), Content_Type="application/json")
        self.ask("/api/jobs", "POST", "x=%s" % secret("body-form"), Content_Type="application/x-www-form-urlencoded")
        self.raw(b"GET /api/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + secret("raw").encode() + b"\r\nContent-Length: x\r\n\r\n")
        self.raw(b"GET /" + secret("raw-target").encode() + b" HTTP/9.9\r\n\r\n")
        self.raw(b"POST /api/events HTTP/1.1\r\nHost: evil.example\r\nX-Key: " + secret("raw-host").encode() + b"\r\n\r\n")

    def plant_in_templates(self):
        """What may be kept, but not told elsewhere."""
        template = {"jobType": "shell", "name": "t", "comment": "", "executable": os.path.join(self.top, "bin", "notify"), "arguments": ["{{password}}"],
                    "environments": {"API_KEY": secret("kept-environment")}, "customFields": {"k": secret("kept-field")}, "scripts": []}
        self.assertEqual(200, self.ask(LAKE + "/jobs/templates", "POST", {"jobTemplate": template}).status)
        answer = self.ask(LAKE + "/jobs/runs", "POST", {"jobTemplateName": "t", "jobConf": {"password": secret("kept-conf")}})
        self.assertEqual(200, answer.status, answer.text)
        run = answer.json()["job"]["jobId"]
        daemon.wait(lambda: self.ask(LAKE + "/jobs/runs/" + run).json()["job"]["status"] not in ("queued", "started"), what="the end of the job")
        builtin = {"catalog_name": "lake", "table_identifier": "db.a", "older_than": "", "location": "", "dry_run": "false",
                   "spark_conf": json.dumps({"spark.password": secret("kept-spark")})}
        self.ask(LAKE + "/jobs/runs", "POST", {"jobTemplateName": "builtin-iceberg-remove-orphan-files", "jobConf": builtin})
        self.ask(LAKE + "/jobs/runs", "POST", {"jobTemplateName": "builtin-iceberg-remove-orphan-files", "jobConf": dict(builtin, password=secret("kept-other"))})
        self.ask(LAKE + "/jobs/runs", "POST", {"jobTemplateName": "t", "jobConf": {"password": "$" + secret("kept-dollar")}})

    def read_all(self):
        """Every answer that a list or a record gives."""
        paths = [p for p, ops in self.ask("/api/openapi.json").json()["paths"].items() if "get" in ops and "{" not in p and p != "/api/stream"]
        for path in paths + [LAKE + p for p in ("", "/catalogs?details=true", "/policies?details=true", "/catalogs/lake/schemas/db/tables/a")]:
            answer = self.ask(path)
            if answer.status != 200 or "json" not in answer.headers["Content-Type"]:
                continue
            for item in answer.json().get("items", []) if isinstance(answer.json(), dict) else []:
                name = item.get("id") or item.get("name") or item.get("table")
                if name and path + "/{" in "".join(self.ask("/api/openapi.json").json()["paths"]):
                    self.ask("%s/%s" % (path, name))
        self.ask("/api/tables/lake.db.a/whynot?policy=sweep")
        self.kept = [self.ask(LAKE + p) for p in ("/jobs/templates?details=true", "/jobs/templates/t", "/jobs/runs?details=true")]

    def events(self):
        for i in range(3):
            self.ask("/api/events", "POST", {"source": "s", "id": "e%d" % i, "type": "thing.happened", "table": "lake.db.a", "data": {"n": i}})
        self.ask("/api/events", "POST", {"source": "s", "id": "e9"})
        daemon.wait(lambda: "held" in self.ask("/api/plans").text or self.ask("/api/plans").json()["items"], what="a plan")
        daemon.wait(lambda: self.hook.seen, what="a notice")
        daemon.wait(lambda: self.daemon.ask("/metrics", headers={"Authorization": "Bearer " + self.token}).text.count("ebb_notices_total{") >= 1, what="its end")

    def search(self):
        for folder, _, files in os.walk(self.state):
            for name in files:
                with open(os.path.join(folder, name), "rb") as f:
                    self.told(os.path.relpath(os.path.join(folder, name), self.top), f.read())
        self.told("log", self.daemon.said())
        found = set()
        for where, text in self.said:
            for what in self.more:
                if what in text and where != "state/daemon.json":
                    found.add((where, what.decode()))
            at = text.find(MARK.encode())
            while at >= 0:
                word = text[at:at + 40].decode("utf-8", "replace").split("-9f27c1")[0]
                if not (word.startswith(MARK + "-kept-") and self.may_be_kept(where)):
                    found.add((where, word))
                at = text.find(MARK.encode(), at + 1)
        return found

    def may_be_kept(self, where):
        return where.startswith("state/ebb.db") or "/jobs/templates" in where or "/jobs/runs" in where or where.startswith("state/jobs/")

    def test_nothing_is_told(self):
        self.make_token()
        d = daemon.Daemon(self.config, self.state, "--log-level", "debug", env=self.env)
        self.addCleanup(lambda: d.__exit__())
        d.start()
        self.daemon = d
        daemon.wait(lambda: self.ask("/readyz").status == 200, what="readiness")
        self.plant_in_requests()
        self.assertEqual(202, self.ask("/api/resume", "POST", {}).status)
        self.events()
        self.plant_in_templates()
        self.read_all()
        self.hook.status = 200
        self.ask("/api/reload", "POST", {})
        for args in (("status", "--json"), ("doctor", "--json"), ("doctor", "--effective"), ("decisions", "--json"), ("plans", "--json"), ("runs",), ("events", "--json"),
                     ("tables",), ("whynot", "sweep", "lake.db.a"), ("capture", "lake.db.a"), ("token", "list"), ("reload", "--wait"), ("decide", "sweep", "lake.db.a", "--json")):
            self.command(*args)
        self.check_crash(d)
        found = self.search()
        self.assertEqual(set(), found)
        self.assertTrue([1 for headers, _ in self.hook.seen if headers.get("Authorization") == "Bearer " + secret("env-header")], "the notice had its header")

    def check_crash(self, d):
        """What it says when it is told to end in the worst way that it can still speak."""
        self.write("policies/sweep.lua", "return policy { name = 5 }")
        d.hup()
        daemon.wait(lambda: self.ask("/api/status").json()["generation"]["error"], what="the error of the load")
        self.command("serve", "--listen", "127.0.0.1:1")
        self.write("ebb.lua", 'error("broken with " .. env "EBB_T_HOOK")')
        d.hup()
        daemon.wait(lambda: "ebb.lua" in json.dumps(self.ask("/api/status").json()["generation"]["error"]), what="the error of the configuration")
        self.command("check")
        self.assertEqual(0, d.stop())


if __name__ == "__main__":
    unittest.main()
