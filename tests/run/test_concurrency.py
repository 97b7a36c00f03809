# SPDX-License-Identifier: Apache-2.0
"""Two real writers (PyIceberg) work on a table while the program plans, applies, restores and purges on it without a pause. Every row that was
committed must be there afterwards, with its value.

The worst that life has is played all the time: files with old times lie in the table's folder and become live (add_files) between plan and apply,
snapshots are expired, commits collide, old metadata files vanish. The writers run in the second reader's environment (second_reader.py);
EBB_CONCURRENCY_SECONDS: how long (default 300 with EBB_CI, else 20); EBB_CONCURRENCY_SEED."""

import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))

import fixtures  # noqa: E402
import program  # noqa: E402
import second_reader  # noqa: E402
from small_table import audit_errors  # noqa: E402

PYTHON = second_reader.python()
SECONDS = float(os.environ.get("EBB_CONCURRENCY_SECONDS") or (300 if os.environ.get("EBB_CI") else 20))
SEED = int(os.environ.get("EBB_CONCURRENCY_SEED") or time.time())
WRITER = os.path.join(program.ROOT, "tests", "fault", "writer.py")
NAME = "ns.events"
OLD_S = 15 * 24 * 3600
OPERATIONS = 8
PURGE_S = 4  # in life a week: longer than any commit takes
# How a command may end while others write: done, refused (the table changed under its eyes), partly done.
ENDS = (0, 2, 3)
# Reasons that have nothing to do with a table that changes.
WRONG = ("usage", "internal", "config", "store", "audit", "memory", "limit", "format")


class Child:
    def __init__(self, top, number, seed):
        args = [PYTHON, WRITER, os.path.join(top, "catalog.db"), os.path.join(top, "wh"), NAME, str(number), str(seed)]
        self.log = open(os.path.join(top, "writer-%d.log" % number), "w", encoding="utf-8")
        self.process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1)
        self.location = self.answer()["location"]

    def send(self, **do):
        self.process.stdin.write(json.dumps(do) + "\n")
        self.process.stdin.flush()

    def is_busy(self):
        return not select.select([self.process.stdout], [], [], 0)[0]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("a writer ended: %s" % self.process.wait())
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
        self.log.close()


@unittest.skipUnless(PYTHON or second_reader.is_wanted(), "PyIceberg is not installed (tests/requirements.txt)")
class ConcurrencyTest(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="ebb-together-")
        self.addCleanup(shutil.rmtree, self.top, True)
        os.mkdir(os.path.join(self.top, "wh"))
        self.random = random.Random(SEED)
        self.counts = {}
        self.runs = []  # that may have something in quarantine
        self.planted = 0
        self.config = os.path.join(self.top, "ebb.lua")
        self.state = os.path.join(self.top, "state")
        fixtures.write_config(self.config, {"sql": {"type": "sqlite", "path": os.path.join(self.top, "catalog.db"), "name": "cat"}}, {})

    def count(self, what, n=1):
        self.counts[what] = self.counts.get(what, 0) + n

    # ---- the program ----

    def ebb(self, *args, ends=ENDS):
        done = program.run(list(args) + ["--json"], self.config, self.state)
        code = done.error().get("code", "") if done.status else ""
        self.count("%s: %s" % (args[0], "done" if done.status == 0 else code))
        if done.status not in ends or code.split(".")[0] in WRONG or "Sanitizer" in done.err:
            self.fail("ebb %s: %d: %s" % (" ".join(args), done.status, done.err[:3000]))
        return done

    def clean(self):
        plan = self.ebb("plan", "sql." + NAME, "--older-than", "1d", "--max-share", "1")
        if plan.status or plan.json()["status"] != "ready":
            return
        if self.random.random() < 0.5:
            time.sleep(self.random.random() * 0.4)  # time for a commit in between
        done = self.ebb("apply", plan.json()["file"], "--yes")
        if not done.out.strip():
            return
        result = done.json()
        for key in ("moved", "returned", "already_gone"):
            self.count("files " + key, result[key])
        self.count("files skipped", len(result["skipped"]))
        self.count("files failed", len(result["failed"]))
        if result["moved"]:
            self.runs.append((result["run"], time.monotonic()))

    def step(self):
        self.plant()
        self.clean()
        if self.runs and self.random.random() < 0.3:
            run, ended = self.runs.pop(self.random.randrange(len(self.runs)))
            if self.random.random() < 0.6 or time.monotonic() < ended + PURGE_S + 1:
                done = self.ebb("restore", run)
                self.count("files restored", done.json()["restored"])
                self.count("conflicts", len(done.json()["conflicts"]))
            else:
                done = self.ebb("purge", run, "--older-than", "%ds" % PURGE_S)
                self.count("files purged", done.json()["deleted"] if done.out.strip() else 0)
                if done.status:
                    self.runs.append((run, ended))

    # ---- the table ----

    def plant(self):
        for folder in ("data", "metadata"):
            self.planted += 1
            path = os.path.join(self.folder, folder, "planted-%d.parquet" % self.planted)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(b"litter %d" % self.planted)
            os.utime(path, (time.time() - OLD_S,) * 2)

    def grow_old(self):
        """While nobody writes: all files of the table become old, those that a failed commit left too."""
        for folder, subdirs, files in os.walk(self.folder):
            subdirs[:] = [d for d in subdirs if d != ".ebb-quarantine"]
            for name in files:
                os.utime(os.path.join(folder, name), (time.time() - OLD_S,) * 2)

    def read(self):
        self.reader.send(do="read")
        return self.reader.answer()

    def rescue(self):
        """A file that was committed after the last look of a run is found by verify and comes back by restore: nothing is lost."""
        done = self.ebb("verify", "sql." + NAME, ends=(0, 1))
        result = json.loads(done.out)
        missing = {note["path"] for note in result["missing"]}
        kept = {note["path"]: note["why"] for note in result["quarantined"]}
        self.assertEqual(set(), missing - set(kept), "files are lost")
        for path, why in kept.items():
            run = [word for word in why.replace(",", " ").split() if word.startswith("r-")][0]
            self.assertEqual(1, self.ebb("restore", run, path).json()["restored"], path)
            self.count("files committed after the last look, restored")
        return len(kept)

    def check(self, expected, blocked):
        rescued = self.rescue()
        if blocked:
            self.assertGreater(rescued, 0, "a writer found a file missing that was not in quarantine")
        got = self.read()
        self.assertNotIn("error", got, got.get("error"))
        rows = {int(i): value for i, value in got["rows"].items()}
        lost = sorted(set(expected) - set(rows))
        extra = sorted(set(rows) - set(expected))
        self.assertEqual(([], []), (lost[:20], extra[:20]), "rows lost, rows too many")
        self.assertEqual(expected, rows)
        self.assertEqual(len(rows), got["count"], "rows twice")
        self.count("rows read", len(rows))

    def batch(self, writers):
        for writer in writers:
            writer.send(do="write", operations=OPERATIONS)
        while any(writer.is_busy() for writer in writers):
            self.step()
        expected = {}
        blocked = 0
        for writer in writers:
            done = writer.answer()
            self.assertNotIn("error", done, done.get("error"))
            expected.update({int(i): value for i, value in done["rows"].items()})
            blocked += done["counts"].get("blocked", 0)
            for what, n in done["counts"].items():
                self.count("writers: " + what, n)
        self.check(expected, blocked)
        self.count("batches")
        self.grow_old()

    def test_no_row_is_lost(self):
        self.reader = Child(self.top, 0, SEED)
        self.folder = self.reader.location[len("file://") :]
        writers = [Child(self.top, n, SEED + n) for n in (1, 2)]
        end = time.monotonic() + SECONDS
        try:
            while time.monotonic() < end:
                self.batch(writers)
        finally:
            program.measured("seed %d, %.0f s" % (SEED, SECONDS))
            for what in sorted(self.counts):
                program.measured("  %-50s %d" % (what, self.counts[what]))
            for child in writers + [self.reader]:
                child.end()
        self.assertEqual([], audit_errors(os.path.join(self.state, "audit.jsonl")))
        self.assertGreater(self.counts.get("files moved", 0), 0)
        self.assertGreater(self.counts.get("writers: add_files", 0), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
