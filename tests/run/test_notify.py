# SPDX-License-Identifier: Apache-2.0
"""ebb serve tells people: by webhook and by command, once, again when it was not heard, also after its end; and gives no secret away."""

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
import test_run  # noqa: E402

CLOCK = os.path.join(HERE, "..", "fault", "clock.c")
SECRET = "s3cr3t-of-the-hook"
MEMBERS = {"kind", "policy", "table", "id", "message", "hint", "at", "host", "key"}


class Hook:
    """Answers POSTs with the statuses given, the last one for ever; keeps what came."""

    def __init__(self, *statuses):
        self.statuses, self.calls, self.lock = list(statuses), [], threading.Lock()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with hook.lock:
                    status = hook.statuses.pop(0) if len(hook.statuses) > 1 else hook.statuses[0]
                    hook.calls.append((status, self.path, dict(self.headers), json.loads(body)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.url = "http://127.0.0.1:%d/%s?k=%s" % (self.server.server_address[1], SECRET, SECRET)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def told(self):
        with self.lock:
            return [c for c in self.calls if 200 <= c[0] < 300]


class Notices(test_run.Base):
    def config_of(self, notify, mode="approve"):
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'bind = { { policy = "sweep", tables = { "lake.**" }, mode = "%s" } },\n'
                              'serve = { poll = "1s", notify = { %s } } }' % (mode, notify))

    def hook(self, *statuses):
        hook = Hook(*statuses)
        self.addCleanup(hook.close)
        return hook

    def webhook(self, hook, more=""):
        return '{ url = "%s", headers = { ["Authorization"] = "Bearer %s" }, %s }' % (hook.url, SECRET, more)

    def serve(self, env=None):
        d = daemon.Daemon(self.config, self.state, env=env)
        self.addCleanup(lambda: d.__exit__())
        d.start()
        return d

    def held_world(self, notify):
        """A table on which a pass a day later makes a plan that waits for a person."""
        self.policy()
        self.config_of(notify)
        self.table("a")
        self.activate()

    def expect_no_secret(self, d):
        self.assertNotIn(SECRET, d.said())
        for here, _, names in os.walk(self.state):
            for name in names:
                with open(os.path.join(here, name), "rb") as f:
                    self.assertNotIn(SECRET.encode(), f.read(), name)

    def notices(self, d, result):
        return d.metrics().get('ebb_notices_total{result="%s"}' % result, 0)

    def test_a_held_plan_is_told_once(self):
        hook = self.hook(204)
        self.held_world(self.webhook(hook))
        d = self.serve()
        daemon.wait(hook.told, what="a notice (%s)" % d.log)
        daemon.wait(lambda: self.notices(d, "told") == 1, what="the metric")
        self.assertEqual(0, d.stop(), d.said())
        d = self.serve()
        daemon.wait(d.is_ready, what="readiness")
        daemon.wait(lambda: d.total("ebb_table_looks_total") > 0, what="a look at the table")
        self.assertEqual(0, d.stop(), d.said())
        self.assertEqual(1, len(hook.calls))
        _, path, headers, notice = hook.calls[0]
        self.assertEqual("/%s?k=%s" % (SECRET, SECRET), path)
        self.assertEqual(("application/json", "Bearer " + SECRET), (headers["Content-Type"], headers["Authorization"]))
        self.assertRegex(headers["Idempotency-Key"], r"\A[0-9a-f]{32}\Z")
        self.assertEqual(MEMBERS, set(notice))
        self.assertEqual(("held", "sweep", "lake.db.a", socket.gethostname()), tuple(notice[k] for k in ("kind", "policy", "table", "host")))
        self.assertRegex(notice["at"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z\Z")
        self.assertIn(notice["id"], self.ebb("plans").out)
        self.expect_no_secret(d)

    def test_a_busy_hook_is_asked_again(self):
        hook = self.hook(503, 503, 503, 200)
        self.held_world(self.webhook(hook))
        d = self.serve()
        daemon.wait(hook.told, what="a notice (%s)" % d.log)
        daemon.wait(lambda: self.notices(d, "told") == 1, what="the metric")
        self.assertEqual(0, d.stop(), d.said())
        self.assertEqual([503, 503, 503, 200], [c[0] for c in hook.calls])
        self.assertEqual(1, len({c[2]["Idempotency-Key"] for c in hook.calls}))
        self.expect_no_secret(d)

    def test_what_was_not_told_is_told_after_a_restart(self):
        hook = self.hook(403)
        self.held_world(self.webhook(hook))
        d = self.serve()
        daemon.wait(lambda: self.notices(d, "failed") == 1, what="a failed notice (%s)" % d.log)
        self.assertIn("status 403", d.said())
        d.process.kill()
        d.process.wait()
        hook.statuses[:] = [200]
        d = self.serve()
        daemon.wait(hook.told, what="the notice (%s)" % d.log)
        daemon.wait(lambda: self.notices(d, "told") == 1, what="the metric")
        self.assertEqual(0, d.stop(), d.said())
        self.assertEqual(1, len({c[2]["Idempotency-Key"] for c in hook.calls}))
        self.expect_no_secret(d)

    def test_command(self):
        got = os.path.join(self.top, "got")
        path = self.write("tell", '#!/bin/sh\nenv > "$1.env"\ncat >> "$1"\necho %s\n' % SECRET)
        os.chmod(path, 0o700)
        self.held_world('{ command = { "%s", "%s" }, on = { "held" } }' % (path, got))
        d = self.serve()
        daemon.wait(lambda: os.path.exists(got) and self.notices(d, "told") == 1, what="the command (%s)" % d.log)
        self.assertEqual(0, d.stop(), d.said())
        with open(got, encoding="utf-8") as f:
            notice = json.load(f)
        self.assertEqual(MEMBERS, set(notice))
        self.assertEqual(("held", "lake.db.a"), (notice["kind"], notice["table"]))
        with open(got + ".env", encoding="utf-8") as f:
            self.assertLessEqual({line.split("=")[0] for line in f}, {"PATH", "HOME", "USER", "LANG", "TZ", "PWD", "OLDPWD", "SHLVL", "_"})
        self.expect_no_secret(d)

    def test_a_policy_that_fails_is_paused(self):
        """Its first job fails; when the clock has gone on, it is not run again, and people hear why."""
        hook = self.hook(200)
        library, shift = os.path.join(self.top, "clock.so"), os.path.join(self.top, "shift")
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library, CLOCK, "-ldl"], check=True)
        self.policy(lines="guard = { pause_after = 1 },")
        self.config_of(self.webhook(hook, 'on = { "failed", "paused" }'), "enforce")
        self.table("a", {"gc.enabled": "false"})
        self.activate()
        d = self.serve({"LD_PRELOAD": library, "EBB_CLOCK_FILE": shift, "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")})
        kinds = lambda: [c[3]["kind"] for c in hook.told()]  # noqa: E731
        daemon.wait(lambda: "failed" in kinds(), what="the failure (%s)" % d.log)
        for hours in (3, 6):
            decided = d.total("ebb_decisions_total") + d.total("ebb_decisions_unchanged_total")
            with open(shift, "w", encoding="ascii") as f:
                f.write(str(hours * 3600))
            daemon.wait(lambda: d.total("ebb_decisions_total") + d.total("ebb_decisions_unchanged_total") > decided, what="a decision (%s)" % d.log)
        daemon.wait(lambda: "paused" in kinds(), what="the pause (%s)" % d.log)
        self.assertEqual(0, d.stop(), d.said())
        self.assertEqual(1, kinds().count("paused"))
        paused = next(c[3] for c in hook.calls if c[3]["kind"] == "paused")
        self.assertEqual(("sweep", "lake.db.a"), (paused["policy"], paused["table"]))

    def test_only_the_kinds_that_were_asked_for(self):
        held, rest = self.hook(200), self.hook(200)
        self.held_world(self.webhook(held, 'on = { "held" }') + ", " + self.webhook(rest, 'on = { "failed", "refused", "purge-due", "paused" }'))
        d = self.serve()
        daemon.wait(held.told, what="a notice (%s)" % d.log)
        self.assertEqual(0, d.stop(), d.said())
        self.assertEqual([], rest.calls)


if __name__ == "__main__":
    unittest.main()
