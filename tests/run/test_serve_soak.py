# SPDX-License-Identifier: Apache-2.0
"""ebb serve for a long time (EBB_SOAK_SECONDS: 15; 300 with EBB_CI, 1800 with EBB_NIGHTLY) with writers, events, callers and faults at once: broken policies,
a full disk, a store that somebody holds, slow clients, kill -9. In the end nothing leaks, no live file is gone, nothing was started twice."""
import json
import os
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402
import test_serve_kill  # noqa: E402

SECONDS = float(os.environ.get("EBB_SOAK_SECONDS") or (1800 if os.environ.get("EBB_NIGHTLY") else 300 if os.environ.get("EBB_CI") else 15))
TABLES = 5
MIB = 1 << 20
GROWTH = 48 * MIB  # of the process, with the sanitizer's own books
POLICY = """return policy { api = 1, name = "sweep", doc = "%d", triggers = { on.event { "files.left" } },
guard = { overlap = "queue_one", deletes = { max_share = 1.0 }, backoff = { after_failures = 1000, first = "1s", max = "1s" } },
decide = function(t, ctx) return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 }) end }"""
PATHS = ("/api/status", "/api/tables", "/api/tables/lake.db.t0", "/api/policies", "/api/policies/sweep", "/api/decisions?limit=5", "/api/plans?limit=5",
         "/api/runs?limit=5", "/api/jobs?limit=5", "/api/events?limit=5", "/api/next", "/metrics", "/readyz", "/api/tables/lake.db.t1/whynot?policy=sweep",
         "/api/openapi.json", "/api/nothing", "/api/metalakes/default/jobs/runs", "/api/metalakes/default/catalogs/lake/schemas/db/tables/t2", "/api/decisions/d-none")


class Soak(test_serve.Base):
    check_store = test_serve_kill.Kill.check_store

    def setUp(self):
        super().setUp()
        self.random = random.Random(int(os.environ.get("EBB_SEED", "1")))
        self.write("policies/sweep.lua", POLICY % 0)
        self.bind("enforce", serve='poll = "2s", jobs = 3')
        self.folders = {"t%d" % i: self.table("t%d" % i) for i in range(TABLES)}
        self.live, self.counts, self.clients = {}, {}, []
        self.lock = threading.Lock()
        self.planted = self.told = 0
        self.remember()

    def note(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def remember(self):
        for folder in self.folders.values():
            self.live.update({p: v for p, v in program.tree(folder, without=(test_serve.QUARANTINE,)).items()
                              if not os.path.basename(p).startswith(("old", "version-hint"))})

    # ---- writers and callers ----

    def plant(self):
        name = self.random.choice(sorted(self.folders))
        for _ in range(self.random.randint(1, 20)):
            self.planted += 1
            self.write("wh/db/%s/data/old-p%06d.parquet" % (name, self.planted), "x" * self.planted, 10 * test_run.DAY)
        self.tell(name)

    def tell(self, name):
        self.told += 1
        event = {"source": "soak", "id": "e-%d" % self.told, "type": "files.left", "table": "lake.db." + name}
        for body in (event, [event] * 3):
            self.ask("/api/events", "POST", body)

    def commit(self):
        """A table gets one more live file, which is as old as an orphan."""
        name = self.random.choice(sorted(self.folders))
        folder = self.folders[name]
        with open(os.path.join(folder, "metadata", "version-hint.text"), encoding="ascii") as f:
            version = int(f.read())
        with open(os.path.join(folder, "metadata", "v%d.metadata.json" % version), encoding="utf-8") as f:
            metadata = json.load(f)
        path = self.write("wh/db/%s/data/live-%d.parquet" % (name, version), "live %d" % version)  # old only once it is live
        metadata["statistics"] = metadata["statistics"][:1] + metadata["statistics"][1:][-20:] + [dict(metadata["statistics"][0], **{"statistics-path": "file:" + path})]
        self.dropped(metadata)
        new = self.write("wh/db/%s/metadata/v%d.metadata.json" % (name, version + 1), json.dumps(metadata))
        self.write("wh/db/%s/metadata/version-hint.text" % name, str(version + 1))
        os.utime(path, (time.time() - 10 * test_run.DAY,) * 2)
        self.live.update({p: program.entry(p) for p in (path, new)})

    def dropped(self, metadata):
        """What a commit no longer names is live no more."""
        named = {s["statistics-path"][len("file:"):] for s in metadata["statistics"]}
        folder = metadata["location"][len("file:"):]
        for path in [p for p in self.live if p.startswith(folder + "/data/live-") and p not in named]:
            del self.live[path]
        for path in [p for p in self.live if p.startswith(folder + "/metadata/v")]:
            del self.live[path]

    def come_and_go(self):
        """A table that nobody needs appears, or vanishes."""
        path = os.path.join(self.top, "wh", "db", "guest")
        if os.path.exists(path):
            os.rename(path, os.path.join(self.top, "gone-%d" % self.planted))
        else:
            self.table("guest")

    def ask(self, path, method="GET", body=None):
        try:
            answer = self.daemon.ask(path, method, body, timeout=30)
            self.note("%dxx" % (answer.status // 100))
            return answer
        except OSError:
            self.note("no answer")
            return None

    def call(self):
        for _ in range(self.random.randint(1, 8)):
            self.ask(self.random.choice(PATHS))
        if self.random.random() < 0.2:
            self.ask("/api/simulate", "POST", {"until": "+1d", "tables": ["lake.db.t0"]})
            self.ask("/api/jobs", "POST", {"policy": "sweep", "table": "lake.db.t1", "dry_run": True})
        if self.random.random() < 0.1:
            self.ask("/api/pause", "POST", {"table": "lake.db.t3"})
            self.ask("/api/resume", "POST", {"table": "lake.db.t3"})

    # ---- faults ----

    def fault_policy(self):
        self.write("policies/sweep.lua", "return policy { broken")
        self.daemon.hup()
        time.sleep(self.random.uniform(0, 0.5))
        self.write("policies/sweep.lua", POLICY % self.random.randint(0, 9))
        self.daemon.hup()

    def limit(self, size):
        subprocess.run(["prlimit", "--pid", str(self.daemon.process.pid), "--fsize=%s:" % size], check=False, stderr=subprocess.DEVNULL)

    def fault_disk(self):
        log = os.path.join(self.state, "ebb.db-wal")
        self.limit(os.path.getsize(log) // 2 if os.path.exists(log) else 0)
        self.plant()
        time.sleep(self.random.uniform(0.1, 2))
        self.limit("unlimited")

    def fault_store(self):
        db = sqlite3.connect(os.path.join(self.state, "ebb.db"), timeout=1, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")
            time.sleep(self.random.uniform(0.1, 2 if SECONDS < 60 else 12))
            db.execute("ROLLBACK")
        except sqlite3.OperationalError:
            self.note("store was busy")
        finally:
            db.close()

    def fault_client(self):
        host, port = self.daemon.address.rsplit(":", 1)
        for text in (b"GET /api/sta", b"POST /api/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{",
                     b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50, b"\x16\x03\x01\x02"):
            try:
                s = socket.create_connection((host, int(port)), timeout=5)
                s.sendall(text)
                self.clients.append(s)
            except OSError:
                self.note("no connection")
        while len(self.clients) > 30:
            self.clients.pop(self.random.randrange(len(self.clients))).close()

    def fault_kill(self):
        self.daemon.kill()
        self.daemon = self.start_one()

    def fault_end(self):
        """In good order: whatever leaks is told now."""
        status = self.daemon.stop(120)
        self.assertEqual(0, status, self.daemon.said()[-4000:])
        self.daemon = self.start_one()

    # ---- the whole ----

    def start_one(self):
        options = "quarantine_size_mb=4:detect_leaks=1:" + os.environ.get("ASAN_OPTIONS", "")
        d = daemon.Daemon(self.config, self.state, env={"ASAN_OPTIONS": options}, log=os.path.join(self.top, "daemon.log"))
        self.addCleanup(lambda: d.__exit__())
        d.start()
        return d

    def step(self, weights):
        name = self.random.choices(list(weights), list(weights.values()))[0]
        self.note(name)
        getattr(self, name)()

    def calm(self):
        """Nothing is left to do, nobody asks: what the process holds then."""
        while self.clients:
            self.clients.pop().close()
        daemon.wait(self.daemon.is_ready, 120, 0.2, "readiness (%s)" % self.daemon.log)
        for name in self.folders:
            self.tell(name)

        def is_calm():
            s = self.daemon.status()
            return not (s["looks"]["waiting"] or s["looks"]["running"] or s["jobs"]["queued"] or s["jobs"]["started"] or s["is_reloading"]) and not self.left()

        daemon.wait(is_calm, 240, 0.2, "calm (%s)" % self.daemon.log)
        daemon.wait(lambda: self.daemon.total("ebb_http_connections") <= 1, 90, 0.5, "the end of all connections")
        fds = []
        while len(fds) < 20:  # what comes and goes does not count
            fds.append(self.daemon.fds())
            time.sleep(0.1)
        return min(fds), self.daemon.rss_bytes()

    def left(self):
        return [n for f in self.folders.values() for n in self.old(f)]

    def check_files(self):
        now = {p: program.entry(p) if os.path.exists(p) else None for p in self.live}
        self.assertEqual({}, {p: (v, now[p]) for p, v in self.live.items() if now[p] != v})

    def work(self, seconds, weights):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step(weights)
            self.check_files() if self.random.random() < 0.1 else None
            time.sleep(self.random.uniform(0, 0.1))

    def test_soak(self):
        usual = {"plant": 20, "commit": 10, "call": 30, "come_and_go": 3, "fault_policy": 2, "fault_disk": 1, "fault_store": 0.5, "fault_client": 3}
        self.daemon = self.start_one()
        self.work(SECONDS * 0.3, dict(usual, fault_kill=1, fault_end=0.5))
        self.fault_end()
        self.work(min(SECONDS * 0.2, 60), usual)
        fds, rss = self.calm()
        self.work(SECONDS * 0.5, usual)
        fds_now, rss_now = self.calm()
        self.check_files()
        status = self.daemon.stop(120)
        said = self.daemon.said()
        print("%s; open files %d, then %d; %.0f MiB, then %.0f MiB; %d occurrences" %
              (" ".join("%s %d" % kv for kv in sorted(self.counts.items())), fds, fds_now, rss / MIB, rss_now / MIB, self.check_store()), file=sys.stderr)
        self.assertEqual(0, status, said[-4000:])
        for bad in ("AddressSanitizer", "LeakSanitizer", "runtime error:"):
            self.assertNotIn(bad, said)
        self.assertLessEqual(fds_now, fds + 2)
        self.assertLess(rss_now - rss, GROWTH)


if __name__ == "__main__":
    unittest.main()
