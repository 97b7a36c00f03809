# SPDX-License-Identifier: Apache-2.0
"""ebb serve and what it lives in: systemd's notices and socket, a store that can't be written, quarantines whose time is over."""

import fcntl
import os
import shlex
import socket
import sqlite3
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_serve  # noqa: E402


class Systemd(test_serve.Base):
    def setUp(self):
        super().setUp()
        self.policy()
        self.bind()
        self.table("a")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.bind(os.path.join(self.top, "notify"))
        self.socket.settimeout(60)
        self.told = []

    def until(self, text):
        while not any(text in told for told in self.told):
            self.told.append(self.socket.recv(65536).decode())

    def test_what_is_told(self):
        d = self.ready(self.serve(env={"NOTIFY_SOCKET": os.path.join(self.top, "notify"), "WATCHDOG_USEC": "20000000"}))
        self.until("READY=1")
        self.until("WATCHDOG=1")
        d.hup()
        self.until("RELOADING=1")
        self.assertTrue(any("MONOTONIC_USEC=" in told for told in self.told if "RELOADING" in told))
        del self.told[:]
        self.until("READY=1")
        self.assertEqual(0, d.stop())
        self.until("STOPPING=1")

    def test_standby_is_ready_for_systemd(self):
        self.ready(self.serve(log=os.path.join(self.top, "first.log")))
        second = daemon.Daemon(self.config, self.state, log=os.path.join(self.top, "second.log"), env={"NOTIFY_SOCKET": os.path.join(self.top, "notify")})
        second.spawn()
        self.addCleanup(lambda: second.__exit__())
        self.until("STATUS=standby")
        self.assertEqual(0, second.stop())

    def has_v6(self):
        with socket.socket(socket.AF_INET6) as s:
            try:
                s.bind(("::1", 0))
            except OSError:
                return False
        return True

    def hand_over(self, address, config, family=socket.AF_INET):
        """The daemon with a socket that listens on an address; the process, the port."""
        self.bind(serve=config)
        listening = socket.socket(family)
        self.addCleanup(listening.close)
        listening.bind((address, 0))
        listening.listen(16)
        words = [program.path(), "serve", "--config", self.config, "--state", self.state]
        with open(os.path.join(self.top, "daemon.log"), "wb") as log, open(os.devnull, "rb") as null:
            spare = fcntl.fcntl(listening, fcntl.F_DUPFD, 10)  # never the number that it gets there
            process = subprocess.Popen(["sh", "-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec " + " ".join(map(shlex.quote, words))], stdin=null, stdout=log, stderr=log,
                                       close_fds=False, preexec_fn=lambda: os.dup2(spare, 3))
            os.close(spare)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, listening.getsockname()[1]

    def test_socket_that_is_handed_over(self):
        for address, shown, family in (("127.0.0.1", "127.0.0.1", socket.AF_INET), ("::1", "[::1]", socket.AF_INET6)):
            if family == socket.AF_INET6 and not self.has_v6():
                continue
            # It counts instead of serve.listen, also for whether it may be listened on.
            process, port = self.hand_over(address, 'listen = "0.0.0.0:8490"', family)
            place = os.path.join(self.state, "daemon.json")
            daemon.wait(lambda: os.path.exists(place) or process.poll() is not None, what="the daemon")
            self.assertEqual("%s:%d" % (shown, port), self.place()["address"])
            self.assertEqual(0, self.ebb("status").status)
            process.terminate()
            self.assertEqual(0, process.wait(60))

    def test_socket_beyond_this_host(self):
        """A socket that others reach is no way around what serve.listen would have to have."""
        for address, family, config in (("0.0.0.0", socket.AF_INET, ""), ("::", socket.AF_INET6, ""), ("0.0.0.0", socket.AF_INET, 'auth = "token"'),
                                        ("0.0.0.0", socket.AF_INET, "insecure = true"), ("0.0.0.0", socket.AF_INET, 'auth = "token", insecure = true')):
            if family == socket.AF_INET6 and not self.has_v6():
                continue
            process, port = self.hand_over(address, config, family)
            self.assertEqual(64, process.wait(60), (address, config))
            self.assertFalse(os.path.exists(os.path.join(self.state, "daemon.json")))
        self.assertEqual(0, self.ebb("token", "create", "boss", "--role", "admin").status)
        process, port = self.hand_over("0.0.0.0", 'auth = "token", insecure = true')
        daemon.wait(lambda: os.path.exists(os.path.join(self.state, "daemon.json")) or process.poll() is not None, what="the daemon")
        self.assertEqual("0.0.0.0:%d" % port, self.place()["address"])


class Store(test_serve.Base):
    def test_a_store_that_cannot_be_written(self):
        """Another program keeps it locked: nothing starts, that is told, and work goes on afterwards."""
        self.policy()
        self.bind("enforce")
        d = self.ready(self.serve())
        db = sqlite3.connect(os.path.join(self.state, "ebb.db"), isolation_level=None)
        self.addCleanup(db.close)
        db.execute("BEGIN IMMEDIATE")
        try:
            folder = self.table("a")
            daemon.wait(lambda: not d.status()["store"]["ok"], 90, what="that the store is found wanting")
            s = d.status()
            self.assertFalse(s["ready"])
            self.assertTrue(s["why"])
            self.assertTrue(s["store"]["since"])
            self.assertEqual(503, d.ask("/readyz").status)
            self.assertEqual(200, d.ask("/healthz").status)
            self.assertEqual([], self.jobs())
        finally:
            db.execute("ROLLBACK")
        daemon.wait(lambda: d.status()["store"]["ok"], 90, what="that the store can be written again")
        self.ready(d)
        self.assertEqual(2, len(self.old(folder)))
        self.assertEqual(0, d.stop())

    def test_a_corrupted_store_does_not_start(self):
        self.policy()
        self.bind()
        d = self.ready(self.serve())
        self.assertEqual(0, d.stop())
        with open(os.path.join(self.state, "ebb.db"), "r+b") as f:
            f.write(b"no database")
        done = self.ebb("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(3, done.status, done.err)


class Quarantine(test_serve.Base):
    def old_run(self, days):
        """A run whose files lie in quarantine for so many days."""
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            db.execute("UPDATE record SET at_ms = at_ms - ?, end_ms = end_ms - ? WHERE kind = 1", (days * 86400000, days * 86400000))
            rows = db.execute("SELECT id FROM record WHERE kind = 1").fetchall()
        db.close()
        return rows[0][0]

    def text(self, path):
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as f:
            return f.read()

    def quarantined(self, folder):
        return sum(len(files) for _, _, files in os.walk(os.path.join(folder, test_serve.QUARANTINE)))

    def prepare(self, days):
        self.policy()
        self.bind("enforce")
        folder = self.table("a")
        self.activate()
        self.ready(self.serve())
        self.ended(1)
        self.assertEqual(0, self.daemon.stop())
        self.assertGreaterEqual(self.quarantined(folder), 2)
        return folder, self.old_run(days)

    def test_is_told_a_day_before(self):
        folder, run = self.prepare(6.5)
        said = os.path.join(self.top, "said")
        script = self.write("tell.sh", "#!/bin/sh\ncat >> %s; echo >> %s\n" % (said, said))
        os.chmod(script, 0o700)
        self.bind("enforce", serve='notify = { { command = { "%s" } } }' % script)
        self.ready(self.serve())
        daemon.wait(lambda: run in self.text(said), what="the notice")
        self.assertIn("purge-due", self.text(said))
        self.assertGreaterEqual(self.quarantined(folder), 2)

    def test_stays_unless_that_is_configured(self):
        folder, _ = self.prepare(9)
        d = self.ready(self.serve())
        daemon.wait(lambda: d.total("ebb_store_size_bytes") > 0, what="housekeeping")
        self.assertEqual(0, d.stop())
        self.assertGreaterEqual(self.quarantined(folder), 2)

    def test_is_emptied_when_that_is_configured(self):
        folder, run = self.prepare(9)
        before = self.quarantined(folder)
        self.bind("enforce", serve="purge = true")
        self.ready(self.serve())
        self.ended(2)
        self.assertLess(self.quarantined(folder), before)
        self.assertEqual(0, self.daemon.stop())


if __name__ == "__main__":
    unittest.main()
