# SPDX-License-Identifier: Apache-2.0
"""What an operator finds at night: the daemon says what is wrong and what to do, nothing is lost by it, and it goes on by itself when the cause is gone."""
import json
import os
import shutil
import socket
import sqlite3
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_serve  # noqa: E402
import test_serve_ground  # noqa: E402


class Base(test_serve_ground.Base):
    def check(self, name):
        """(level, message, hint) of the lines that the doctor has on one matter."""
        return [(c["level"], c["message"], c.get("hint", "")) for c in json.loads(self.ebb("doctor", "--json").out)["checks"] if c["check"] == name]


class Audit(Base):
    """audit.jsonl: what can't be recorded there is not done either."""

    def setUp(self):
        super().setUp()
        self.other = self.table("b")
        self.log = os.path.join(self.state, "audit.jsonl")

    def lines(self):
        with open(self.log, encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def begun(self):
        d = self.ready(self.serve())
        self.assertEqual(202, self.event(d, 1).status)
        self.ended(1)
        return d

    def ask_b(self, d, number):
        return d.ask("/api/events", "POST", dict(test_serve_ground.EVENT, table="lake.db.b", id="b-%d" % number))

    def goes_on(self, d, mend):
        """It can't be written now: no job begins or fails for it, and it is told; then it is mended, and the job that waited runs."""
        is_taken = self.ask_b(d, 1).status == 202
        daemon.wait(lambda: d.ask("/readyz").status == 503, what="that it is not ready")
        self.assertIn("audit.jsonl", d.ask("/readyz").text)
        self.assertIn("audit.jsonl", d.status()["store"]["error"])
        self.assertEqual([("fail", True)], [(level, "audit.jsonl" in text) for level, text, _ in self.check("audit")])
        self.assertNotIn("failed", self.states())
        self.assertEqual(2, len(self.old(self.other)))
        mend()
        daemon.wait(d.is_ready, what="readiness again")
        if not is_taken:
            self.assertEqual(202, self.ask_b(d, 1).status)
        self.ended(2)
        self.assertEqual([], self.old(self.other))
        self.assertEqual(["succeeded"] * 2, self.states())
        self.assertEqual("ok", self.check("audit")[0][0])
        self.assertEqual(0, d.stop())

    def test_something_else_has_its_name(self):
        d = self.begun()
        os.rename(self.log, self.log + ".kept")
        os.mkdir(self.log)
        self.goes_on(d, lambda: os.rmdir(self.log))
        self.assertEqual(1, self.lines()[0]["seq"])

    def test_twice_within_seconds(self):
        """What was found sound a moment ago is looked at again when somebody can't write."""
        d = self.begun()
        for _ in range(2):
            os.rename(self.log, self.log + ".kept")
            os.mkdir(self.log)
            self.assertEqual(503, d.ask("/api/pause", "POST", {"table": "lake.db.b"}).status)
            daemon.wait(lambda: d.ask("/readyz").status == 503, 20, what="that it is not ready")
            os.rmdir(self.log)
            os.rename(self.log + ".kept", self.log)
            daemon.wait(d.is_ready, what="readiness again")
        self.assertEqual(0, d.stop())

    def test_its_end_is_another(self):
        d = self.begun()
        with open(self.log, "a", encoding="utf-8") as f:
            f.write('{"seq":1000,"prev":"%s","at":"2026-01-01T00:00:00Z","event":"moved"}\n' % ("0" * 64))
        self.goes_on(d, lambda: os.rename(self.log, self.log + ".kept"))
        self.assertEqual(1, self.lines()[0]["seq"])

    def test_moved_away_while_it_runs(self):
        d = self.begun()
        os.rename(self.log, self.log + ".1")
        self.assertEqual(202, self.ask_b(d, 1).status)
        self.ended(2)
        self.assertEqual(["succeeded"] * 2, self.states())
        self.assertEqual([], self.old(self.other))
        self.assertIn("the audit log was moved or replaced", d.said())
        self.assertTrue(any(line["event"] == "moved" for line in self.lines()))
        self.assertEqual(202, d.ask("/api/pause", "POST", {"table": "lake.db.b"}).status)  # threads that answer have the new one, too
        self.assertEqual(0, d.stop())

    def test_torn(self):
        d = self.begun()
        before = len(self.lines())
        with open(self.log, "a", encoding="utf-8") as f:
            f.write('{"seq":')
        self.assertEqual(202, self.ask_b(d, 1).status)
        self.ended(2)
        self.assertEqual("torn", self.lines()[before]["event"])
        self.assertEqual("ok", self.check("audit")[0][0])
        self.assertEqual(0, d.stop())


class Log(Base):
    def run_of_job(self):
        with sqlite3.connect("file:%s/ebb.db?mode=ro" % self.state, uri=True) as db:
            found = db.execute("SELECT run FROM job").fetchone()[0]
        db.close()
        return found

    def test_a_run_is_named_as_soon_as_it_is_known(self):
        d = self.ready(self.serve("--log-format", "json"))
        self.assertEqual(202, self.event(d, 1).status)
        self.ended(1)
        run = self.run_of_job()
        self.assertEqual(0, d.stop())
        job = self.jobs()[0][0]
        lines = [line for line in map(json.loads, d.said().splitlines()) if line.get("job") == job]
        said = [(line["msg"].split(":")[0], line.get("run")) for line in lines]
        at = said.index(("run begun", run))
        self.assertEqual([run] * len(said[at:]), [r for _, r in said[at:]])
        self.assertIn("job ended", [m for m, _ in said[at:]])

    def test_a_run_that_is_undone_is_named(self):
        d = self.ready(self.serve())
        self.assertEqual(202, self.event(d, 1).status)
        self.ended(1)
        run = self.run_of_job()
        self.assertEqual(202, d.ask("/api/runs/%s/restore" % run, "POST", {}).status)
        self.ended(2)
        self.assertEqual(0, d.stop())
        self.assertEqual(2, len([line for line in d.said().splitlines() if " run begun " in line and run in line]), d.said())


class Program(Base):
    def test_without_its_scripts(self):
        alone = os.path.join(self.top, "alone", "bin", "ebb")
        os.makedirs(os.path.dirname(alone))
        shutil.copy(program.path(), alone)
        os.environ["EBB"], before = alone, os.environ.get("EBB")
        try:
            if os.path.exists("/usr/local/share/ebb/scripts"):
                self.skipTest("ebb is installed here")
            done = self.ebb("serve", "--listen", "127.0.0.1:0")
            self.assertNotEqual(0, done.status)
            self.assertIn("scripts folder", done.err)
            self.assertIn("install", done.err)
            self.assertEqual(["fail"], [level for level, _, _ in self.check("program")])
        finally:
            os.environ.pop("EBB") if before is None else os.environ.update(EBB=before)


class End(Base):
    def stream(self, d):
        host, port = d.address.rsplit(":", 1)
        s = socket.create_connection((host, int(port)), timeout=60)
        self.addCleanup(s.close)
        s.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return s

    def test_who_listens_is_told_the_end(self):
        d = self.ready(self.serve())
        listeners = [self.stream(d) for _ in range(3)]
        for s in listeners:
            said = b""
            while b"retry:" not in said:
                said += s.recv(4096)
        self.assertEqual(0, d.stop())
        for s in listeners:
            said = b""
            while True:
                piece = s.recv(4096)
                if not piece:
                    break
                said += piece
            self.assertTrue(said.endswith(b"0\r\n\r\n"), said)  # the last chunk: ended, not cut


if __name__ == "__main__":
    unittest.main()
