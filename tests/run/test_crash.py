# SPDX-License-Identifier: Apache-2.0
"""The program is killed (SIGKILL) at every numbered step of apply, resume, restore and purge: afterwards nothing may be lost, and what was begun must
come to its end, or be undone, by the commands that a user has.

Needs a program built with EBB_FAILPOINTS. EBB_CRASH_WORKERS: how many tables are worked on at once (default 2)."""

import concurrent.futures
import errno
import glob
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))

import preload  # noqa: E402
import program  # noqa: E402
from small_table import SmallTable, scratch, set_time  # noqa: E402

WORKERS = int(os.environ.get("EBB_CRASH_WORKERS", "2"))
MANY = 1100
seen_names = set()


def steps_of(table, command):
    """Names of the steps that command(env) passes."""
    trace = os.path.join(table.top, "trace")
    if os.path.exists(trace):
        os.unlink(trace)
    done = command({"EBB_FAILPOINT_TRACE": trace})
    if done.status != 0:
        raise AssertionError("the undisturbed run: %d: %s" % (done.status, done.err))
    if not os.path.exists(trace):
        raise unittest.SkipTest("the program has no failpoints (build it with EBB_FAILPOINTS)")
    with open(trace, encoding="ascii") as f:
        names = [line.split(" ")[1].strip() for line in f]
    seen_names.update(names)
    return names


def killed_at(number):
    return {"EBB_FAILPOINT": str(number)}


class Trouble(Exception):
    """What must not be; it ends one step."""


def must(what, text, *values):
    if not what:
        raise Trouble(text % values if values else text)


def must_end(done, statuses, what):
    must(done.status in statuses, "%s: status %s: %s", what, done.status, done.err.strip()[:300])


def must_be_killed(done):
    must(done.status == -9, "not killed: status %s: %s", done.status, done.err.strip()[:300])


def must_be_sound(table, state="state"):
    errors = table.store_errors(state)
    must(not errors, "%r", errors)


def must_lose_nothing(table, replaced=()):
    lost = table.lost(replaced)
    must(not lost, "lost: %r", lost)


def must_be_as_before(table):
    found = table.differences()
    must(not found, "not as before: %s", "; ".join(found[:5]))


def must_verify(table, state="state"):
    must_end(table.verify(state), (0,), "verify")


def end_of(table, plan, statuses=(0,)):
    """What a user does after a crash: go on with the run, or apply again when there is none. Gives the run's id."""
    runs = table.runs()
    if not runs:
        done = table.apply(plan)
        must_end(done, statuses, "apply again")
        return done.json()["run"]
    run, status = runs[-1]
    done = table.resume(run)
    if status in ("done", "restored"):
        must_end(done, (2,), "resume of a run that is over")
        must(done.error().get("code") == "run.wrong_state", "resume: %s", done.err)
    else:  # the lock of a run that was over is taken over by the next
        must_end(done, statuses, "resume")
        must(not os.path.exists(table.lock()), "the lock is left")
    return run


class CrashTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.top = scratch("ebb-crash-")
        self.addCleanup(shutil.rmtree, self.top, True)
        self.made = 0
        self.began = time.monotonic()

    def fresh(self):
        self.made += 1
        return SmallTable(os.path.join(self.top, "t%d" % self.made))

    def each(self, what, numbers, step, make=None, keep=True):
        """Call step(table, n) for every n on tables of their own; a table is used again unless keep is false or the step failed."""
        make = make or self.fresh
        tables = queue.Queue()
        troubles = []

        def work(number):
            table = tables.get_nowait() if keep and not tables.empty() else make()
            try:
                table.fresh_state()
                step(table, number)
            except Trouble as trouble:
                troubles.append("%s, step %s: %s [%s]" % (what, number, trouble, table.top))
                return
            if keep:
                tables.put(table)
            else:
                shutil.rmtree(table.top)

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for done in [pool.submit(work, n) for n in numbers]:
                done.result()
        program.measured("%s: killed at %d of its steps, %.0f s" % (what, len(numbers), time.monotonic() - self.began))
        if troubles:
            if os.environ.get("EBB_KEEP"):
                self.doCleanups = lambda: True
            self.fail("\n".join(sorted(troubles)[:20]) + "\n%d in all" % len(troubles))

    def steps_of_apply(self, *args):
        table = self.fresh()
        plan = table.planned()
        names = steps_of(table, lambda env: table.apply(plan, *args, env=env))
        program.measured("apply %s: %d steps" % (" ".join(args), len(names)))
        return names

    def spread(self, steps, count):
        """About that many numbers, from 1 to steps, those of moves and of the ends among them."""
        stride = max(1, len(steps) // count)
        return sorted(set(range(1, len(steps) + 1, stride)) | {1, len(steps)})

    # ---- apply ----

    def apply_and_crash(self, table, number, *args, env=None):
        plan = table.planned()
        must_be_killed(table.apply(plan, *args, env={**killed_at(number), **(env or {})}))
        must_lose_nothing(table)
        must_be_sound(table)
        return plan

    def end_and_undo(self, table, plan, statuses=(0,)):
        run = end_of(table, plan, statuses)
        must_lose_nothing(table)
        kept = set(table.quarantined())
        must(kept == table.orphans or (3 in statuses and kept <= table.orphans), "not all in quarantine: %r", kept ^ table.orphans)
        must_verify(table)
        must_end(table.restore(run), (0,), "restore")
        must_be_as_before(table)
        must_be_sound(table)

    def test_plan(self):
        table = self.fresh()
        names = steps_of(table, lambda env: table.plan(env=env))

        def step(table, number):
            must_be_killed(table.plan(env=killed_at(number)))
            must_be_sound(table)
            plan = table.planned()
            must_be_as_before(table)
            must_end(table.apply(plan), (0,), "apply")
            must_end(table.restore(table.runs()[-1][0]), (0,), "restore")
            must_be_as_before(table)

        self.each("plan", range(1, len(names) + 1), step)

    def test_apply(self):
        names = self.steps_of_apply()

        def step(table, number):
            plan = self.apply_and_crash(table, number)
            self.end_and_undo(table, plan)

        self.each("apply", range(1, len(names) + 1), step)

    def test_apply_then_restore(self):
        """Undone at once, without going on first."""
        names = self.steps_of_apply()

        def step(table, number):
            self.apply_and_crash(table, number)
            for run, _ in table.runs():
                must_end(table.restore(run), (0,), "restore")
            if table.runs():
                must_be_as_before(table)
            else:
                self.end_and_undo(table, table.planned())
            must_be_sound(table)

        self.each("apply, then restore", self.spread(names, 40), step)

    def test_apply_by_links(self):
        """A file system without RENAME_NOREPLACE: a move is a link and an unlink."""
        env = preload.fault(preload.build(self.top), "renameat2", 1, errno.EINVAL, "on")
        table = self.fresh()
        plan = table.planned()
        names = steps_of(table, lambda more: table.apply(plan, env={**env, **more}))
        self.assertIn("link.after", names)
        numbers = [n for n, name in enumerate(names, 1) if name.startswith(("link.", "unlink."))]

        def step(table, number):
            plan = self.apply_and_crash(table, number, env=env)
            self.end_and_undo(table, plan, (0, 3))  # a file with a second name for a moment is no longer quite the planned one

        self.each("apply by links", numbers, step)

    def test_apply_with_a_lock_that_is_renewed(self):
        """Eight minutes pass in the middle of a run."""
        library = preload.build(self.top)
        for look in range(1, 60):
            env = preload.fault(library, "clock", look, 480, "on")
            table = self.fresh()
            plan = table.planned()
            try:
                names = steps_of(table, lambda more: table.apply(plan, env={**env, **more}))
            except AssertionError:  # too early: storage and program disagree about the time
                continue
            if "lock.renew.before" in names:
                break
        numbers = [n for n, name in enumerate(names, 1) if name.startswith(("lock.renew", "replace"))]
        self.assertEqual(4, len(numbers), names)

        def step(table, number):
            plan = self.apply_and_crash(table, number, env=env)
            self.end_and_undo(table, plan)

        self.each("apply, lock renewed", numbers, step)

    def test_apply_and_loss_of_the_state_folder(self):
        """The folder in quarantine alone is enough."""
        names = self.steps_of_apply()

        def step(table, number):
            self.apply_and_crash(table, number)
            table.fresh_state()
            for folder in glob.glob(os.path.join(glob.escape(os.fsdecode(table.folder)), ".ebb-quarantine", "r-*")):
                has_record = os.path.exists(os.path.join(folder, "run.jsonl"))
                uri = "%s/.ebb-quarantine/%s" % (table.uri, os.path.basename(folder))
                done = table.ebb("restore", "--from", uri if number % 2 else folder, "--json")
                must_end(done, (0,) if has_record else (2,), "restore --from")
                if not has_record:
                    shutil.rmtree(folder)
            must_lose_nothing(table)
            must(not table.quarantined(), "left in quarantine: %r", table.quarantined())
            must_be_sound(table)
            self.end_and_undo(table, table.planned())

        self.each("apply, state folder lost", self.spread(names, 40), step)

    def test_apply_and_a_writer_takes_the_old_names(self):
        """Between crash and resume new files appear under the old names: they are never replaced, moved or lost."""
        names = self.steps_of_apply()

        def step(table, number):
            plan = self.apply_and_crash(table, number)
            moved = set(table.quarantined()) & table.orphans
            aside = os.path.join(table.top, "aside")
            replaced = sorted(table.orphans - moved)[:1]
            for name in replaced:
                os.rename(table.path(name), aside)
            for i, name in enumerate(sorted(moved) + replaced):
                with open(table.path(name), "wb") as f:
                    f.write(b"new " + name)
                if i % 2:
                    set_time(table.path(name), table.original[name][2])
            new = {name: entry for name, entry in table.tree().items() if name in moved or name in replaced}

            def must_be_untouched(when):
                now = table.tree()
                must(all(now.get(n) == entry for n, entry in new.items()), "%s: a new file was touched", when)
                must_lose_nothing(table, replaced)

            run = end_of(table, plan, (3,) if new else (0,))
            must_be_untouched("resume")
            must(set(table.quarantined()) == table.orphans - set(replaced), "not all in quarantine after resume")
            must_verify(table)
            done = table.restore(run)
            must_end(done, (3,) if moved else (0, 3), "restore")
            must_be_untouched("restore")
            if moved:
                must(len(done.json()["conflicts"]) == len(moved), "conflicts: %s", done.out)
            for name in new:
                os.unlink(table.path(name))
            for name in replaced:
                os.rename(aside, table.path(name))
            must_end(table.restore(run), (0, 2), "restore again")
            must_be_as_before(table)
            must_be_sound(table)

        self.each("apply, old names taken", range(1, len(names) + 1), step)

    def test_resume(self):
        """Killed again while it goes on, and gone on with again."""
        names = self.steps_of_apply()
        moves = [n for n, name in enumerate(names, 1) if name == "rename.after"]
        crashes = {
            "nothing moved": names.index("journal.moves_planned.after") + 1,
            "some moved": moves[len(moves) // 2],
            "all moved": names.index("journal.moves_state.before") + 1,
        }
        for what, crash in crashes.items():
            table = self.fresh()
            plan = table.planned()
            table.apply(plan, env=killed_at(crash))
            again = steps_of(table, lambda env: table.resume(table.runs()[-1][0], env=env))
            program.measured("resume, %s: %d steps" % (what, len(again)))

            def step(table, number):
                plan = self.apply_and_crash(table, crash)
                must_be_killed(table.resume(table.runs()[-1][0], env=killed_at(number)))
                must_lose_nothing(table)
                must_be_sound(table)
                self.end_and_undo(table, plan)

            self.each("resume, " + what, self.spread(again, 45), step)

    # ---- restore, purge, delete ----

    def test_restore(self):
        table = self.fresh()
        run = table.apply(table.planned()).json()["run"]
        names = steps_of(table, lambda env: table.restore(run, env=env))
        program.measured("restore: %d steps" % len(names))

        def step(table, number):
            run = table.apply(table.planned()).json()["run"]
            must_be_killed(table.restore(run, env=killed_at(number)))
            must_lose_nothing(table)
            must_be_sound(table)
            must_end(table.restore(run), (0,), "restore again")
            must_be_as_before(table)
            must_be_sound(table)

        self.each("restore", range(1, len(names) + 1), step)

    def test_restore_from_the_folder_alone(self):
        def quarantine(table):
            folder = os.path.join(os.fsdecode(table.folder), ".ebb-quarantine", table.apply(table.planned()).json()["run"])
            table.fresh_state()
            return folder

        def restore(table, folder, env=None):
            return table.ebb("restore", "--from", folder, "--json", env=env)

        table = self.fresh()
        folder = quarantine(table)
        names = steps_of(table, lambda env: restore(table, folder, env))
        program.measured("restore --from: %d steps" % len(names))

        def step(table, number):
            folder = quarantine(table)
            must_be_killed(restore(table, folder, killed_at(number)))
            must_lose_nothing(table)
            must_be_sound(table)
            is_left = os.path.exists(os.path.join(folder, "run.jsonl"))
            must_end(restore(table, folder), (0,) if is_left else (2, 3), "restore --from again")
            if not is_left:
                left = set(table.left() or []) - {"lock", os.path.basename(folder) + "/"}  # a dead lock, an empty folder
                must(not left, "left: %r", left)
                shutil.rmtree(table.path(b".ebb-quarantine"), ignore_errors=True)
            must_be_as_before(table)
            must_be_sound(table)

        self.each("restore --from", range(1, len(names) + 1), step)

    def test_purge(self):
        table = self.fresh()
        run = table.apply(table.planned()).json()["run"]
        names = steps_of(table, lambda env: table.purge(run, env=env))
        program.measured("purge: %d steps" % len(names))

        def step(table, number):
            run = table.apply(table.planned()).json()["run"]
            must_be_killed(table.purge(run, env=killed_at(number)))
            must_be_sound(table)
            must_end(table.purge(run), (0,), "purge again")
            self.must_be_gone(table)
            must(table.runs()[-1][1] == "purged", "the run is %s", table.runs()[-1][1])

        self.each("purge", range(1, len(names) + 1), step, keep=False)

    def must_be_gone(self, table):
        """The orphans, and nothing else."""
        now = table.tree()
        wanted = {name: was for name, was in table.original.items() if name not in table.orphans}
        must(now == wanted, "not only the orphans are gone: %r", {n for n in set(now) ^ set(wanted)})
        left = table.left()
        must(left in (None, [], ["lock"]), "the quarantine folder is left, with %r", left)
        must_verify(table)
        must_be_sound(table)

    def test_delete(self):
        names = self.steps_of_apply("--delete")

        def step(table, number):
            plan = table.planned()
            must_be_killed(table.apply(plan, "--delete", env=killed_at(number)))
            lost = set(table.lost()) - table.orphans
            must(not lost, "lost: %r", lost)
            must_be_sound(table)
            runs = table.runs()
            if runs:
                end_of(table, plan)
            else:
                must_end(table.apply(plan, "--delete"), (0,), "apply again")
            self.must_be_gone(table)

        self.each("apply --delete", range(1, len(names) + 1), step, keep=False)

    def test_delete_then_restore(self):
        """What was not yet unlinked comes back; the rest is reported."""
        names = self.steps_of_apply("--delete")

        def step(table, number):
            plan = table.planned()
            table.apply(plan, "--delete", env=killed_at(number))
            gone = set(table.lost())
            must(gone <= table.orphans, "lost: %r", gone - table.orphans)
            for run, status in table.runs():
                done = table.restore(run)
                must_end(done, (3,) if gone else (0,), "restore")
                must(len(done.json()["failed"]) == len(gone), "failed: %s", done.out)
            now = table.tree()
            must(set(table.original) - set(now) == gone, "not back: %r", set(table.original) - set(now) - gone)
            must_verify(table)
            must_be_sound(table)

        numbers = [n for n, name in enumerate(names, 1) if name.startswith(("unlink.", "journal."))]
        self.each("apply --delete, then restore", numbers, step, keep=False)

    # ---- more than a batch ----

    def many(self):
        table = self.fresh()
        for i in range(MANY - len(table.orphans)):
            table.plant(b"data/many=%d/orphan-%04d.parquet" % (i % 7, i), b"%d" % i)
        table.original = table.tree()
        table.folders = table.dirs()
        return table

    def test_interrupted(self):
        """SIGTERM and SIGINT in the middle of a batch: it comes to its end, and the run can be gone on with."""
        library = preload.build(self.top)
        for number, at in ((signal.SIGTERM, 500), (signal.SIGINT, 10), (signal.SIGTERM, 700)):
            with self.subTest(signal=number, at=at):
                table = self.many()
                plan = table.planned()
                words = [program.path(), "apply", plan, "--yes", "--json", "--config", table.config, "--state", os.path.join(table.top, "state")]
                env = {**os.environ, **preload.fault(library, "renameat2", at, 0, "stop")}
                process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertTrue(preload.wait_until_stopped(process.pid))
                process.send_signal(number)
                process.send_signal(signal.SIGCONT)
                _, err = process.communicate(timeout=120)
                self.assertEqual(5, process.returncode, err)
                run, status = table.runs()[-1]
                self.assertEqual("interrupted", status)
                self.assertIn(run.encode(), err)
                self.assertFalse(os.path.exists(table.lock()))
                self.assertEqual([], table.lost())
                self.end_and_undo(table, plan)

    def test_many(self):
        table = self.many()
        plan = table.planned()
        names = steps_of(table, lambda env: table.apply(plan, env=env))
        program.measured("apply of %d: %d steps" % (MANY, len(names)))
        self.assertEqual(2, names.count("journal.moves_planned.after"))
        numbers = set(self.spread(names, 8))
        second = [n for n, name in enumerate(names, 1) if name == "journal.moves_planned.after"][1]
        numbers |= {second - 1, second, second + 1, second + 60}

        def step(table, number):
            plan = self.apply_and_crash(table, number)
            self.end_and_undo(table, plan)

        self.each("apply of %d" % MANY, sorted(numbers), step, self.many)


class Zz(unittest.TestCase):
    """Last, by its name."""

    def test_every_point_of_the_sources_was_passed(self):
        if not seen_names:
            self.skipTest("no other test ran")
        named = set()
        for path in glob.glob(os.path.join(program.ROOT, "core", "**", "*.c"), recursive=True):
            if os.path.basename(os.path.dirname(path)) == "service":  # see test_run_crash.py and test_serve_crash.py
                continue
            with open(path, encoding="utf-8") as f:
                named.update(re.findall(r'EBB_FAILPOINT\("([^"]+)"\)', f.read()))
        self.assertEqual(set(), named - seen_names)


if __name__ == "__main__":
    unittest.main(verbosity=2)
