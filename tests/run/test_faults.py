# SPDX-License-Identifier: Apache-2.0
"""The n-th allocation fails, the n-th system call fails, the disk is full: the program then says so in one clear error, or succeeds; it never loses a file,
never calls a file an orphan that is none, and leaves a store that a later command can work with.

EBB_FAULT_EVERY: each how many-th number is tried after the first hundred (default 37; 1 = all). EBB_FAULT_WORKERS: default 2."""

import concurrent.futures
import errno
import os
import queue
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))

import preload  # noqa: E402
import program  # noqa: E402
from small_table import SmallTable, scratch  # noqa: E402

WORKERS = int(os.environ.get("EBB_FAULT_WORKERS", "2"))
EVERY = int(os.environ.get("EBB_FAULT_EVERY", "37"))
DENSE = 100
ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.ENOMEM, errno.ENOENT, errno.EINTR)
EXITS = (0, 1, 2, 3, 4, 5, 64)


class Trouble(Exception):
    """What must not be; it ends one try."""


def must(what, text, *values):
    if not what:
        raise Trouble(text % values if values else text)


def numbers(total, every=EVERY, dense=DENSE):
    return sorted(set(range(1, min(total, dense) + 1)) | set(range(dense, total + 1, every)) | {total})


def must_be_clear(done, what):
    """Either it went well, or there is one error with a code and a text that says what and why."""
    if "CHECK failed: sanitizer_" in done.err:  # the sanitizer's own allocation, when a thread starts
        return
    must(done.status in EXITS, "%s: ended with %s: %s", what, done.status, done.err[-2000:])
    must("Sanitizer" not in done.err and "runtime error" not in done.err, "%s: %s", what, done.err[-3000:])
    if done.status == 0:
        return
    error = done.error()
    must(error.get("code") and error.get("message"), "%s: status %d without an error: %r", what, done.status, done.err[:500])
    must(": " in error["message"], "%s: not clear: %r", what, error["message"])


class Op:
    """One command in its surroundings: before() brings the table to where it starts, run(env) is tried, after(done) puts all in order
    and checks."""

    def __init__(self, table):
        self.table = table

    def sound(self):
        errors = self.table.store_errors()
        must(not errors, "store: %r", errors)
        lost = self.table.lost()
        must(not lost, "lost: %r", lost)

    def as_before(self):
        for name in self.table.left() or []:
            if name.startswith("clock-"):  # the clock's probe, where nothing could be unlinked
                os.unlink(os.path.join(os.fsdecode(self.table.path(b".ebb-quarantine")), name))
        if self.table.left() == []:
            os.rmdir(self.table.path(b".ebb-quarantine"))
        found = self.table.differences()
        must(not found, "not as before: %s", "; ".join(found[:4]))

    def works(self, done, what, statuses=(0,)):
        must(done.status in statuses, "%s: status %s: %s", what, done.status, done.err[:1000])
        return done


class Plan(Op):
    def before(self):
        self.table.fresh_state()

    def run(self, env):
        return self.table.plan(env=env)

    def after(self, done, number):
        self.sound()
        self.as_before()
        if done.status == 0:
            plan = done.json()
            _, uris, summary = program.read_plan(plan["file"])
            names = {uri[len(os.fsencode(self.table.uri)) + 1 :] for uri in uris}
            must(names <= self.table.orphans, "called an orphan: %r", names - self.table.orphans)
            must(len(names) == plan["candidates"] == summary["candidates"], "counts differ: %r", plan)
        if number % 8 == 0:
            must(self.works(self.table.plan(), "plan again").json()["candidates"] == len(self.table.orphans), "fewer later")


class Apply(Op):
    options = ()

    def before(self):
        self.table.fresh_state()
        self.plan = self.table.planned()

    def run(self, env):
        return self.table.apply(self.plan, *self.options, env=env)

    def after(self, done, number):
        self.sound()
        kept = set(self.table.quarantined())
        if done.status == 0:  # a file that was not found is no failure: it is gone already
            gone = done.json()["already_gone"]
            must(len(kept) + gone == len(self.table.orphans), "succeeded, but %d are in quarantine, %d gone", len(kept), gone)
        self.works(self.table.verify(), "verify")
        runs = self.table.runs()
        if runs and number % 2:
            self.works(self.table.resume(runs[-1][0]), "resume", (0, 2, 3))
            self.sound()
        elif not runs:
            self.works(self.table.apply(self.plan), "apply again")
            runs = self.table.runs()
        self.works(self.table.restore(runs[-1][0]), "restore")
        self.as_before()
        self.sound()


class Restore(Op):
    def before(self):
        self.table.fresh_state()
        self.name = self.works(self.table.apply(self.table.planned()), "apply").json()["run"]

    def run(self, env):
        return self.table.restore(self.name, env=env)

    def after(self, done, number):
        self.sound()
        if done.status == 0:
            must(not self.table.quarantined(), "succeeded, but something is left in quarantine")
        self.works(self.table.restore(self.name), "restore again")
        self.as_before()
        self.sound()


class Purge(Op):
    """The table is given up after each try."""

    is_last = True

    def before(self):
        self.name = self.works(self.table.apply(self.table.planned()), "apply").json()["run"]

    def run(self, env):
        return self.table.purge(self.name, env=env)

    def after(self, done, number):
        errors = self.table.store_errors()
        must(not errors, "store: %r", errors)
        self.works(self.table.purge(self.name), "purge again")
        now = self.table.tree()
        wanted = {name: was for name, was in self.table.original.items() if name not in self.table.orphans}
        must(now == wanted, "not only the orphans are gone: %r", set(now) ^ set(wanted))
        self.works(self.table.verify(), "verify")


class FaultTest(unittest.TestCase):
    def setUp(self):
        self.top = scratch("ebb-fault-")
        self.addCleanup(shutil.rmtree, self.top, True)
        self.library = preload.build(self.top)
        self.made = 0

    def fresh(self):
        self.made += 1
        return SmallTable(os.path.join(self.top, "t%d" % self.made))

    def count(self, make):
        """Numbers of allocations and calls of a command that is not disturbed."""
        op = make(self.fresh())
        op.before()
        counts = os.path.join(self.top, "counts")
        done = op.run(preload.fault(self.library, "io", count=counts))
        self.assertEqual(0, done.status, done.err)
        return preload.read_counts(counts)

    def each(self, make, tries):
        """tries: [(number, environment)] of make(table)."""
        began = time.monotonic()
        name = make.__name__.lower()
        tables = queue.Queue()
        troubles = []
        endings = {}

        def work(number, env):
            table = tables.get_nowait() if not tables.empty() else self.fresh()
            op = make(table)
            try:
                op.before()
                done = op.run(env)
                endings[done.status] = endings.get(done.status, 0) + 1
                must_be_clear(done, name)
                op.after(done, number)
            except Trouble as trouble:
                troubles.append("%s with %s: %s [%s]" % (name, env["EBB_FAULT"], trouble, table.top))
                return
            if getattr(op, "is_last", False):
                shutil.rmtree(table.top)
            else:
                tables.put(table)

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for done in [pool.submit(work, *one) for one in tries]:
                done.result()
        print("%s: %d tries, exit statuses %s, %.0f s" % (name, len(tries), endings, time.monotonic() - began), flush=True)
        if troubles:
            if os.environ.get("EBB_KEEP"):
                self.doCleanups = lambda: True
            self.fail("\n".join(troubles[:15]) + "\n%d in all" % len(troubles))

    def allocations(self, make):
        total = self.count(make)["alloc"]
        self.each(make, [(n, preload.fault(self.library, "alloc", n, errno.ENOMEM)) for n in numbers(total)])

    def calls(self, make):
        """One error each, in turn; every number is tried where EVERY is small."""
        total = self.count(make)["io"]
        tries = []
        for i, n in enumerate(numbers(total, max(1, EVERY // 9), 0)):
            tries.append((n, preload.fault(self.library, "io", n, ERRORS[i % len(ERRORS)])))
        self.each(make, tries)

    def test_plan_allocations(self):
        self.allocations(Plan)

    def test_plan_calls(self):
        self.calls(Plan)

    def test_apply_allocations(self):
        self.allocations(Apply)

    def test_apply_calls(self):
        self.calls(Apply)

    def test_restore_allocations(self):
        self.allocations(Restore)

    def test_restore_calls(self):
        self.calls(Restore)

    def test_purge_calls(self):
        self.calls(Purge)

    def test_calls_that_fail_from_then_on(self):
        """A disk that is full or broken stays so."""
        for make in (Plan, Apply, Restore):
            total = self.count(make)["io"]
            tries = []
            for i, n in enumerate(numbers(total, max(1, total // 40), 0)):
                tries.append((n, preload.fault(self.library, "io", n, (errno.EIO, errno.EROFS)[i % 2], "on")))
            self.each(make, tries)

    def test_one_kind_of_call_fails_always(self):
        for make in (Plan, Apply, Restore):
            tries = []
            for what in ("read", "write", "pread", "pwrite", "open", "fsync", "renameat2", "unlink", "mkdir", "getdents64", "stat", "link"):
                for error in (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EDQUOT):
                    tries.append((2, preload.fault(self.library, what, 1, error, "on")))
            self.each(make, tries)

    def test_short_reads_and_writes(self):
        """At most a byte a call: slow, but all goes well."""
        for make in (Plan, Apply, Restore):
            for what in ("read", "write"):
                op = make(self.fresh())
                op.before()
                done = op.run(preload.fault(self.library, what, 1, 0, "short"))
                self.assertEqual(0, done.status, done.err)
                op.after(done, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
