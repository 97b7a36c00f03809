# SPDX-License-Identifier: Apache-2.0
"""A small real table with orphans, and what must hold of it whatever happens to the program: used by the tests of crashes and faults."""

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import stat
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))

import fixtures  # noqa: E402
import program  # noqa: E402

DAY_NS = 24 * 3600 * 10**9
YOUNG_MS = 1780272000000  # planted files that are not older than this are the young ones
QUARANTINE = b".ebb-quarantine"
ODD_NAMES = (b"data/line\nfeed.parquet", b"data/p=z/caf\xe9.parquet", b"data/p=z/it's \"quoted\" \xe2\x98\x95.parquet")


def scratch(prefix):
    """A fresh folder, in memory where there is room: thousands of synced writes are made in it."""
    shm = "/dev/shm"
    has_room = os.path.isdir(shm) and os.access(shm, os.W_OK) and shutil.disk_usage(shm).free >= 48 << 20
    return tempfile.mkdtemp(prefix=prefix, dir=shm if has_room and not os.environ.get("TMPDIR") else None)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def set_time(path, ns):
    os.utime(path, ns=(ns, ns), follow_symlinks=False)


class SmallTable:
    """The table of case c22 (written by PyIceberg: three live data files, seven metadata trees) with nine orphans of its own and three
    with odd names, its times moved so that the orphans are 30 days old and the young files an hour. TOP/wh/…, TOP/catalog.db, TOP/ebb.lua."""

    name = "sql.py.events"

    def __init__(self, top):
        self.top = os.path.abspath(top)
        os.makedirs(self.top, exist_ok=True)
        case = [c for c in fixtures.cases() if c.name == "c22-pyiceberg"][0]
        self.place = case.unpack(self.top)
        self.config = self.place.config
        self.folder = os.fsencode(self.place.folder(case.tables[0]))
        self.uri = case.tables[0]["location"]
        self.orphans = {os.path.relpath(os.fsencode(self.place.local(p)), self.folder) for p in case.tables[0]["safe"]["orphans"]}
        self._date()
        for name in ODD_NAMES:
            self.plant(name, b"odd " + name)
        self.original = self.tree()
        self.folders = self.dirs()

    def _date(self):
        now = time.time_ns()
        for folder, _, files in os.walk(self.folder):
            for name in files:
                path = os.path.join(folder, name)
                ns = os.lstat(path).st_mtime_ns
                is_young = ns // 10**6 >= YOUNG_MS
                set_time(path, now - 3600 * 10**9 if is_young else now - 30 * DAY_NS + ns % 10**9)

    def path(self, name):
        return os.path.join(self.folder, name)

    def plant(self, name, content, age_ns=20 * DAY_NS):
        """One more orphan; its time has nanoseconds."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        set_time(path, time.time_ns() - age_ns + 123456789)
        self.orphans.add(name)

    def copy_of_catalog(self):
        return os.path.join(self.top, "catalog.db")

    # ---- what is there ----

    def tree(self, root=None):
        """{name: (inode, size, mtime, mode, content)} of everything but folders; ebb's own quarantine left out."""
        root = root or self.folder
        found = {}
        for folder, subdirs, files in os.walk(root):
            if folder == root:
                subdirs[:] = [d for d in subdirs if d != QUARANTINE]
            for name in files + [d for d in subdirs if os.path.islink(os.path.join(folder, d))]:
                path = os.path.join(folder, name)
                st = os.lstat(path)
                content = os.readlink(path) if stat.S_ISLNK(st.st_mode) else digest(path)
                found[os.path.relpath(path, root)] = (st.st_ino, st.st_size, st.st_mtime_ns, st.st_mode, content)
        return found

    def dirs(self):
        found = set()
        for folder, subdirs, _ in os.walk(self.folder):
            subdirs[:] = [d for d in subdirs if d != QUARANTINE]
            found.add(os.path.relpath(folder, self.folder))
        return found

    def quarantined(self):
        """{name below the table: full path} of what lies in the default quarantine; (run, name) must be unique."""
        found = {}
        base = self.path(QUARANTINE)
        for run in sorted(os.listdir(base)) if os.path.isdir(base) else []:
            run_folder = os.path.join(base, run)
            for folder, _, files in os.walk(run_folder) if os.path.isdir(run_folder) else []:
                for name in files:
                    path = os.path.join(folder, name)
                    relative = os.path.relpath(path, run_folder)
                    if not relative.startswith(b"run.jsonl"):
                        found[relative] = path
        return found

    def lock(self):
        return self.path(os.path.join(QUARANTINE, b"lock"))

    def left(self):
        """What lies in the quarantine folder, names below it; None when there is no such folder."""
        base = os.fsdecode(self.path(QUARANTINE))
        if not os.path.lexists(base):
            return None
        found = [os.path.join(d, n) for d, subdirs, files in os.walk(base) for n in files + [s + "/" for s in subdirs]]
        return sorted(os.path.relpath(path, base) + ("/" if path.endswith("/") else "") for path in found)

    # ---- the program ----

    def ebb(self, *args, state="state", env=None, timeout=120):
        return program.run([os.fsdecode(a) for a in args], self.config, os.path.join(self.top, state), env, timeout)

    def fresh_state(self, state="state"):
        shutil.rmtree(os.path.join(self.top, state), ignore_errors=True)

    def plan(self, *args, state="state", env=None):
        return self.ebb("plan", self.name, "--older-than", "3d", "--max-share", "1", "--json", *args, state=state, env=env)

    def planned(self, state="state"):
        """Path of a ready plan of all orphans."""
        done = self.plan(state=state)
        if done.status != 0:
            raise AssertionError("plan: %d: %s" % (done.status, done.err))
        return done.json()["file"]

    def apply(self, plan, *args, state="state", env=None):
        return self.ebb("apply", plan, "--yes", "--json", *args, state=state, env=env)

    def resume(self, run, state="state", env=None):
        return self.ebb("apply", "--resume", run, "--yes", "--json", state=state, env=env)

    def restore(self, run, *args, state="state", env=None):
        return self.ebb("restore", run, "--json", *args, state=state, env=env)

    def purge(self, run, state="state", env=None):
        return self.ebb("purge", run, "--older-than", "0d", "--json", state=state, env=env)

    def verify(self, state="state"):
        return self.ebb("verify", self.name, "--json", state=state)

    def runs(self, state="state"):
        """[(id, status)] of the run records, straight from the store."""
        file = os.path.join(self.top, state, "ebb.db")
        if not os.path.exists(file):
            return []
        with contextlib.closing(sqlite3.connect(file)) as db:  # left to the collector it would unlink the log at any later time
            try:
                return db.execute("SELECT id, status FROM record WHERE kind = 1 ORDER BY at_ms, id").fetchall()
            except sqlite3.OperationalError:  # killed before the schema was there
                return []

    # ---- what must hold ----

    def store_errors(self, state="state"):
        """Errors of the state folder: database and audit chain. A torn last audit line is none: it is cut off at the next opening."""
        folder = os.path.join(self.top, state)
        errors = []
        if os.path.exists(os.path.join(folder, "ebb.db")):
            with contextlib.closing(sqlite3.connect(os.path.join(folder, "ebb.db"))) as db:
                answer = db.execute("PRAGMA integrity_check").fetchall()
            if answer != [("ok",)]:
                errors.append("integrity_check: %r" % answer)
        return errors + audit_errors(os.path.join(folder, "audit.jsonl"))

    def lost(self, replaced=()):
        """Names of the original table that are neither at their place nor in quarantine, with the same inode, time and bytes; files that are no
        orphans must be at their place."""
        now, kept = self.tree(), self.quarantined()
        bad = []
        for name, was in self.original.items():
            if now.get(name) == was:
                continue
            if name in self.orphans and name in kept:
                st = os.lstat(kept[name])
                if (st.st_ino, st.st_size, st.st_mtime_ns, st.st_mode, digest(kept[name])) == was:
                    continue
            if name not in replaced:
                bad.append(name)
        return bad

    def differences(self):
        """How the table differs from what it was, its folders and ebb's own quarantine folder too."""
        now = self.tree()
        names = [n for n in set(now) | set(self.original) if now.get(n) != self.original.get(n)]
        found = ["%r: %r, was %r" % (n, now.get(n), self.original.get(n)) for n in sorted(names)]
        found += ["folder %r" % n for n in sorted(self.dirs() ^ self.folders)]
        if self.left() is not None:
            found.append("the quarantine folder is left, with %r" % self.left())
        return found


def audit_errors(path):
    """Errors of an audit log: each line has the number after and the digest of the line before."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    prev = "0" * 64
    for number, line in enumerate(lines[:-1], 1):
        try:
            event = json.loads(line)
        except ValueError:
            return ["audit line %d is no JSON: %r" % (number, line[:80])]
        if event.get("seq") != number or event.get("prev") != prev:
            return ["audit line %d: the chain is broken" % number]
        prev = hashlib.sha256(line).hexdigest()
    return []
