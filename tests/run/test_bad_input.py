# SPDX-License-Identifier: Apache-2.0
"""Bad metadata, bad plans, bad arguments, hostile folders: each gives the documented exit status and code, one clear line (and a hint where there is a
remedy), and nothing of the table is changed."""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))

import plan_file  # noqa: E402
import preload  # noqa: E402
import program  # noqa: E402
from small_table import DAY_NS, SmallTable, scratch, set_time  # noqa: E402

LINE = re.compile(r"ebb: [^\n]+: [^\n]+\n(  hint: [^\n]+\n)?\Z")
NOBODY = 65534
SEED = int(os.environ.get("EBB_SEED") or 20261130)


class BadInput(unittest.TestCase):
    def setUp(self):
        self.top = scratch("ebb-bad-")
        self.addCleanup(shutil.rmtree, self.top, True)
        self.table = SmallTable(os.path.join(self.top, "t"))
        self.serial = 0

    # ---- assertions ----

    def assert_clear(self, done):
        """The text for people: one line `ebb: what: why`, perhaps a hint, after any warnings."""
        text = "".join(line + "\n" for line in done.err.splitlines() if not line.startswith("ebb: warning:"))
        self.assertRegex(text, LINE)
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")

    def assert_refused(self, args, status, *codes, state="state", hint=None):
        """The command ends so, in JSON and in words, and the table is as it was."""
        before = (self.table.tree(), self.table.dirs())
        done = self.table.ebb(*args, "--json", state=state)
        error = done.error()
        self.assertEqual(status, done.status, done.err + done.out)
        self.assertIn(error.get("code"), codes, done.err)
        if hint is not None:
            self.assertRegex(error["hint"] or "", hint)
        done = self.table.ebb(*args, state=state)
        self.assertEqual(status, done.status, done.err)
        self.assert_clear(done)
        self.assertEqual(before, (self.table.tree(), self.table.dirs()))
        self.assertEqual({}, self.table.quarantined())
        return error

    def plan_args(self, *more):
        return ("plan", self.table.name, "--older-than", "3d", "--max-share", "1") + more

    def assert_undone(self, run):
        done = self.table.restore(run)
        self.assertEqual(0, done.status, done.err)
        self.assertEqual([], self.table.differences())

    # ---- damage ----

    def pieces(self):
        """{kind: full paths} of what the program reads: the current metadata file, manifest lists, manifests."""
        folder = self.table.path(b"metadata")
        old = (time.time() - 2 * 24 * 3600) * 10**9
        names = [n for n in os.listdir(folder) if self.table.original[b"metadata/" + n][2] < old and b"metadata/" + n not in self.table.orphans]
        current = max(n for n in names if n.endswith(b".metadata.json"))
        found = {
            "metadata": [current],
            "list": sorted(n for n in names if n.startswith(b"snap-")),
            "manifest": sorted(n for n in names if n.endswith(b".avro") and not n.startswith(b"snap-")),
        }
        return {kind: [os.path.join(folder, n) for n in group] for kind, group in found.items()}

    def with_bytes(self, path, content, call):
        st = os.stat(path)
        with open(path, "rb") as f:
            kept = f.read()
        try:
            with open(path, "wb") as f:
                f.write(content(kept))
            os.utime(path, ns=(st.st_mtime_ns, st.st_mtime_ns))
            return call()
        finally:
            with open(path, "wb") as f:
                f.write(kept)
            os.utime(path, ns=(st.st_mtime_ns, st.st_mtime_ns))

    CODES = {
        "metadata": ("metadata.unreadable",),
        "list": ("metadata.corrupt_manifest_list",),
        "manifest": ("metadata.corrupt_manifest",),
    }

    def test_truncated(self):
        for kind, paths in self.pieces().items():
            for path in (paths[0], paths[-1]):
                size = os.path.getsize(path)
                for keep in sorted({0, 1, 4, size // 2, size - 17, size - 16, size - 1}):
                    with self.subTest(kind=kind, keep=keep, of=size):
                        self.with_bytes(path, lambda b, n=keep: b[:n], lambda: self.assert_refused(self.plan_args(), 2, *self.CODES[kind]))

    def test_longer(self):
        for kind in ("list", "manifest"):
            path = self.pieces()[kind][0]
            for more in (b"\0", b"x" * 16):
                with self.subTest(kind=kind, more=more):
                    self.with_bytes(path, lambda b: b + more, lambda: self.assert_refused(self.plan_args(), 2, *self.CODES[kind]))

    def test_missing(self):
        codes = {"metadata": "metadata.missing", "list": "metadata.missing_manifest_list", "manifest": "metadata.missing_manifest"}
        for kind, paths in self.pieces().items():
            for path in paths:
                with self.subTest(kind=kind, path=path):
                    os.rename(path, path + b".away")
                    self.assert_refused(self.plan_args(), 2, codes[kind])
                    os.rename(path + b".away", path)

    def test_missing_data_is_told_by_verify(self):
        live = sorted(n for n in self.table.original if n.startswith(b"data/p=") and n not in self.table.orphans)[0]
        os.rename(self.table.path(live), os.path.join(self.top, "away"))
        done = self.table.verify()
        self.assertEqual(1, done.status)
        self.assertEqual("verify.missing_files", done.error()["code"])
        self.assertEqual([self.table.uri + "/" + os.fsdecode(live)], [note["path"] for note in done.json()["missing"]])
        self.assertEqual(0, self.table.plan().status)

    def test_flipped_bits(self):
        """One bit anywhere: refused, or nothing becomes an orphan that was none. Where a recorded path itself is hit, the file that it named may
        look unreferenced; no sum is kept in these formats that could tell."""
        chance = random.Random(SEED)
        for kind, paths in self.pieces().items():
            for _ in range(120):
                path = chance.choice(paths)
                at, bit = chance.randrange(os.path.getsize(path)), 1 << chance.randrange(8)
                with self.subTest(kind=kind, path=path, at=at, bit=bit):
                    done = self.with_bytes(path, lambda b, a=at, x=bit: b[:a] + bytes([b[a] ^ x]) + b[a + 1 :], self.table.plan)
                    self.assertIn(done.status, (0, 2, 3), done.err)
                    if done.status:
                        self.assertTrue(done.error().get("code") or done.json()["status"] == "held", done.err)
                        continue
                    plan = done.json()
                    _, uris, _ = program.read_plan(plan["file"])
                    names = {uri[len(self.table.uri) + 1 :] for uri in uris}
                    wrong = names - self.table.orphans
                    self.assertLessEqual(len(wrong), 1, "%r" % wrong)
                    if wrong and kind == "metadata":
                        self.assertNotRegex(wrong.pop(), rb"^data/|\.avro$")

    def test_plan_file(self):
        plan = self.table.planned()
        with open(plan, "rb") as f:
            whole = f.read()
        chance = random.Random(SEED)
        bad = os.path.join(self.top, "bad.plan")
        damages = [whole[:n] for n in (0, 1, len(whole) // 2, len(whole) - 1)]
        damages += [whole + b"\n", whole + b"{}\n", whole.replace(b"\n", b"\r\n"), whole[whole.index(b"\n") + 1 :], b"\0" * 100]
        damages += [b"".join(whole.splitlines(True)[:-2] + whole.splitlines(True)[-1:])]
        for _ in range(40):
            at = chance.randrange(len(whole))
            damages.append(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :])
        for number, damage in enumerate(damages):
            with self.subTest(number=number):
                with open(bad, "wb") as f:
                    f.write(damage)
                self.assert_refused(("apply", bad, "--yes"), 2, "plan.unreadable")
        self.assert_refused(("apply", os.path.join(self.top, "no.plan"), "--yes"), 64, "record.not_found")
        self.assert_refused(("apply", self.top, "--yes"), 2, "plan.unreadable")

    # ---- plans that say what is not so, with a right sum ----

    def altered(self, header=None, candidates=None):
        """A plan of that content which the store has not seen; known ids are compared with what was planned."""
        path = os.path.join(self.top, "altered.plan")

        def change(h):
            h["id"] = h["id"][:-6] + "%06d" % self.serial
            if header:
                header(h)

        self.serial += 1
        plan_file.rewrite(self.table.planned(), path, change, candidates)
        return path

    def test_plan_of_a_known_id(self):
        path = os.path.join(self.top, "altered.plan")
        plan_file.rewrite(self.table.planned(), path, candidates=lambda lines: lines.pop())
        self.assert_refused(("apply", path, "--yes"), 2, "plan.unreadable")

    def test_plan_with_a_path_that_leads_out(self):
        victim = os.path.join(self.table.top, "victim")
        with open(victim, "wb") as f:
            f.write(b"precious")
        set_time(victim, time.time_ns() - 30 * DAY_NS)
        st = os.stat(victim)
        place = "file:///ebb/"
        for path in (
            place + "victim",
            self.table.uri + "/../../../../victim",
            self.table.uri + "/data/../../../../../victim",
            self.table.uri,
            self.table.uri + "/",
            self.table.uri + "2/victim",
            "file:" + victim,
            victim,
            "s3://bucket/victim",
            "victim",
            self.table.uri + "/.ebb-quarantine/r-1/run.jsonl",
        ):

            def first(lines):
                lines[0].update(path=path, size=st.st_size, mtime=st.st_mtime_ns, id="%d:%d:%d" % (st.st_dev, st.st_ino, st.st_ctime_ns))
                lines[0].pop("path_b64", None)

            with self.subTest(path=path):
                self.assert_refused(
                    ("apply", self.altered(candidates=first), "--yes"), 2, "location.outside_table", "plan.unreadable", "location.unsafe"
                )
        with open(victim, "rb") as f:
            self.assertEqual(b"precious", f.read())

    def test_plan_with_a_live_file(self):
        """Whatever the plan says, what is referenced stays."""
        live = sorted(n for n in self.table.original if n not in self.table.orphans and n.startswith((b"data/p=", b"metadata/snap")))
        for name in (live[0], live[-1]):
            st = os.stat(self.table.path(name))

            def first(lines):
                lines[0].update(path=self.table.uri + "/" + os.fsdecode(name), size=st.st_size, mtime=st.st_mtime_ns)
                lines[0].update(id="%d:%d:%d" % (st.st_dev, st.st_ino, st.st_ctime_ns))
                lines[0].pop("path_b64", None)
                lines.sort(key=plan_file.path_of)

            done = self.table.apply(self.altered(candidates=first))
            self.assertEqual(3, done.status, done.err)
            result = done.json()
            self.assertEqual([self.table.uri + "/" + os.fsdecode(name)], [note["path"] for note in result["skipped"]])
            self.assertNotIn(name, self.table.quarantined())
            self.assert_undone(result["run"])

    def test_plan_with_other_identity(self):
        """A file that is not the planned one stays: other inode, other size, other time."""
        for key, value in (("size", 7777), ("mtime", time.time_ns() - 9 * DAY_NS), ("id", "1:2:3"), ("id", "x")):

            def first(lines):
                lines[0][key] = value

            with self.subTest(key=key):
                done = self.table.apply(self.altered(candidates=first))
                self.assertEqual(3, done.status, done.err)
                self.assertEqual(1, len(done.json()["skipped"]) + len(done.json()["failed"]), done.out)
                self.assertEqual(len(self.table.orphans) - 1, done.json()["moved"])
                self.assert_undone(done.json()["run"])

    def test_plan_with_other_times(self):
        now = int(time.time())
        iso = lambda s: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(s))  # noqa: E731
        for change, code in (
            ({"cutoff": iso(now + 3600)}, "cutoff.future"),
            ({"cutoff": iso(now - 3600)}, "cutoff.below_floor"),
            ({"cutoff": iso(now - 40 * 24 * 3600)}, "plan.unreadable"),
            ({"created": iso(now - 8 * 24 * 3600)}, "plan.stale"),
            ({"created": iso(now + 3600)}, "plan.stale"),
        ):
            with self.subTest(change=change):
                self.assert_refused(("apply", self.altered(header=lambda h: h.update(change)), "--yes"), 2, code)

    def test_plan_of_another_table(self):
        for change in (
            {"uuid": "99999999-2222-4333-8444-555555555555"},
            {"location": self.table.uri + "/data"},
            {"location": "file:///ebb"},
            {"location": "file:///"},
        ):
            with self.subTest(change=change):
                path = self.altered(header=lambda h: h["table"].update(change))
                self.assert_refused(("apply", path, "--yes"), 2, "plan.wrong_table", "location.outside_table", "plan.unreadable")

    def test_recreated_table(self):
        """Dropped and made again with the same name and place: another uuid."""
        plan = self.table.planned()
        current = self.pieces()["metadata"][0]
        with open(current, "rb") as f:
            text = f.read()
        other = re.sub(rb'("table-uuid":\s*")[^"]+', rb"\g<1>99999999-2222-4333-8444-555555555555", text)
        self.assertNotEqual(text, other)
        new = self.table.path(b"metadata/00006-99999999-2222-4333-8444-555555555555.metadata.json")
        with open(new, "wb") as f:
            f.write(other)
        with sqlite3.connect(self.table.copy_of_catalog()) as db:
            db.execute("UPDATE iceberg_tables SET metadata_location = ?", (self.table.uri + "/metadata/" + os.fsdecode(os.path.basename(new)),))
        db.close()
        self.assert_refused(("apply", plan, "--yes"), 2, "plan.wrong_table")

    def test_moved_table(self):
        plan = self.table.planned()
        done = self.table.apply(plan)
        run = done.json()["run"]
        self.assertEqual(0, done.status)
        self.assert_undone(run)
        os.rename(self.table.folder, self.table.folder + b"-moved")
        before = self.table.tree(self.table.folder + b"-moved")
        plan = self.table.ebb("apply", plan, "--yes", "--json")
        self.assertEqual(2, plan.status, plan.err)
        self.assertEqual(before, self.table.tree(self.table.folder + b"-moved"))

    # ---- plans at the wrong time ----

    def test_plan_already_applied(self):
        plan = self.table.planned()
        done = self.table.apply(plan)
        self.assertEqual(0, done.status, done.err)
        self.assert_undone(done.json()["run"])
        self.assert_refused(("apply", plan, "--yes"), 2, "plan.already_applied")
        shutil.copy(plan, os.path.join(self.top, "copy.plan"))
        self.assert_refused(("apply", os.path.join(self.top, "copy.plan"), "--yes"), 2, "plan.already_applied")

    def test_old_plan(self):
        plan = self.table.planned()
        time.sleep(1.1)
        self.assert_refused(("apply", plan, "--yes", "--max-age", "1s"), 2, "plan.stale", hint="plan again")
        self.assert_refused(("apply", plan, "--yes", "--max-age", "0d"), 64, "usage")
        self.assert_refused(("apply", plan, "--yes", "--max-age", "soon"), 64, "time.invalid", "usage")

    def test_held_plan(self):
        done = self.table.ebb("plan", self.table.name, "--older-than", "3d", "--max-files", "3", "--max-share", "1", "--json")
        self.assertEqual(2, done.status, done.err)
        self.assertEqual(("held", ["max_files"]), (done.json()["status"], done.json()["held_by"]))
        plan = done.json()["file"]
        self.assert_refused(("apply", plan, "--yes"), 2, "plan.held", hint="--override max_files")
        self.assert_refused(("apply", plan, "--yes", "--override", "max_share"), 2, "plan.held", hint="--override max_files")
        self.assert_refused(("apply", plan, "--yes", "--override", "everything"), 64, "usage")
        done = self.table.apply(plan, "--override", "max_files")
        self.assertEqual(0, done.status, done.err)
        self.assert_undone(done.json()["run"])

    def test_nobody_to_ask(self):
        self.assert_refused(("apply", self.table.planned()), 64, "usage", hint="--yes")

    def test_runs_in_the_wrong_state(self):
        run = self.table.apply(self.table.planned()).json()["run"]
        self.assert_undone(run)
        self.assert_refused(("apply", "--resume", run, "--yes"), 2, "run.wrong_state")
        self.assert_refused(("purge", run), 2, "run.wrong_state", hint="--older-than")
        for command in (("restore", "r-01AAAAAAAA"), ("purge", "r-01AAAAAAAA"), ("apply", "--resume", "r-01AAAAAAAA", "--yes"), ("explain", "r-01AAAAAAAA")):
            self.assert_refused(command, 64, "record.not_found")
        self.assertEqual(0, self.table.purge(run).status)
        self.assert_refused(("restore", run), 2, "run.wrong_state")

    # ---- arguments ----

    def test_cutoff(self):
        for text, status, code in (
            ("2999-01-01T00:00:00Z", 2, "cutoff.future"),
            ("1h", 2, "cutoff.below_floor"),
            ("23h59m", 2, "cutoff.below_floor"),
            ("0d", 2, "cutoff.below_floor"),
            (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), 2, "cutoff.below_floor"),
            ("", 64, "time.invalid"),
            ("-3d", 64, "time.invalid"),
            ("3 days", 64, "time.invalid"),
            ("2026-06-01", 64, "time.invalid"),
            ("2026-06-01 00:00:00", 64, "time.invalid"),
            ("99999999999999999999d", 64, "time.invalid"),
        ):
            with self.subTest(text=text):
                self.assert_refused(("plan", self.table.name, "--older-than=" + text), status, code, "usage" if status == 64 else code)

    def test_location(self):
        inside = self.table.place.base
        os.symlink(self.table.folder, os.path.join(inside, "link"))
        os.symlink("/etc", self.table.path(b"data/out"))
        for text, *codes in (
            ("file:///ebb/wh/c22-pyiceberg/py", "location.outside_table"),
            ("file:///ebb/wh/c22-pyiceberg/py/events2", "location.outside_table"),
            ("file:///ebb/wh/c22-pyiceberg/py/event", "location.outside_table"),
            (self.table.uri + "/../other", "location.outside_table"),
            (self.table.uri + "/data/../../../..", "location.outside_table"),
            (self.table.uri + "/data/out", "location.outside_table", "io.not_found", "io.failed", "location.link_in_use"),
            ("file:///", "location.outside_table"),
            ("file:///etc", "location.outside_table"),
            ("s3://bucket/data", "location.outside_table"),
            ("file://host/ebb/wh/c22-pyiceberg/py/events/data", "location.outside_table"),
            ("file:///ebb/../../..", "location.outside_table", "location.invalid", "location.unsafe"),
            ("", "location.invalid", "usage"),
            ("data", "location.invalid", "location.outside_table", "usage"),
        ):
            with self.subTest(text=text):
                before = self.table.tree()
                done = self.table.ebb(*self.plan_args("--location=" + text, "--json"))
                self.assertIn(done.error().get("code"), codes, done.err + done.out)
                self.assertIn(done.status, (2, 3, 64))
                self.assertEqual(before, self.table.tree())
        done = self.table.plan("--location", self.table.uri + "/data")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(sum(n.startswith(b"data/") for n in self.table.orphans), done.json()["candidates"])

    def test_usage(self):
        for args, *codes in (
            (("plam", self.table.name), "usage"),
            (("plan",), "usage"),
            (("plan", self.table.name, "--older-then", "3d"), "usage"),
            (("plan", self.table.name, "--older-than"), "usage"),
            (("plan", self.table.name, "--max-share", "1.5"), "usage"),
            (("plan", self.table.name, "--max-share", "0"), "usage"),
            (("plan", self.table.name, "--max-files", "-1"), "usage"),
            (("plan", self.table.name, "--age", "ctime"), "usage"),
            (("plan", "nosuch.py.events"), "catalog.unknown", "table.not_found"),
            (("plan", "sql.py.nosuch"), "table.not_found"),
            (("plan", "sql"), "table.not_found", "catalog.unknown"),
            (("plan", "/no/such/place"), "table.not_found"),
            (("verify",), "usage"),
            (("apply", "--yes"), "usage"),
            (("restore",), "usage"),
            (("verify", self.table.name, "--yes"), "usage"),
        ):
            with self.subTest(args=args):
                self.assert_refused(args, 64, *codes)
        self.assert_refused(("plam", self.table.name), 64, "usage", hint="plan")
        self.assert_refused(("plan", self.table.name, "--older-then", "3d"), 64, "usage", hint="--older-than")

    # ---- names and times ----

    def test_odd_names(self):
        odd = [b"data/" + name for name in (b"tab\t", b"-rf", b"--yes", b"$(touch x)", b"a;b", b"\x1b[31mred", b"\xff\xfe", b"\xed\xa0\x80", b"%2e%2e", b"sp ace ", b"\\", b"*", b"\r\n", b"\x7f")]
        odd.append(b"data/" + b"n" * 255)
        odd.append(b"/".join([b"data"] + [b"deep" * 20] * 12 + [b"file"]))
        for name in odd:
            self.table.plant(name, b"odd " + name)
        self.table.original, self.table.folders = self.table.tree(), self.table.dirs()
        plan = self.table.planned()
        _, uris, _ = program.read_plan(plan)
        self.assertEqual({os.fsencode(self.table.uri) + b"/" + n for n in self.table.orphans}, set(uris))
        self.assertEqual(sorted(uris), uris)
        for args in (("show", plan, "--limit", "0"), ("show", plan, "--json")):
            done = self.table.ebb(*args)
            self.assertEqual(0, done.status, done.err)
            self.assertNotRegex(done.out, r"[\x00-\x09\x0b-\x1f\x7f]")
        done = self.table.apply(plan)
        self.assertEqual((0, len(self.table.orphans)), (done.status, done.json()["moved"]), done.err)
        self.assertEqual(self.table.orphans, set(self.table.quarantined()))
        self.assertEqual(0, self.table.verify().status)
        self.assert_undone(done.json()["run"])

    def test_unknown_times(self):
        """Epoch 0, before it, and the future: never candidates."""
        for name, ns in ((b"data/zero", 0), (b"data/negative", -(10**18)), (b"data/one", -1), (b"data/future", time.time_ns() + DAY_NS)):
            self.table.plant(name, b"x")
            set_time(self.table.path(name), ns)
            self.table.orphans.discard(name)
        done = self.table.plan()
        self.assertEqual(0, done.status, done.err)
        _, uris, _ = program.read_plan(done.json()["file"])
        names = {uri[len(self.table.uri) + 1 :] for uri in uris}
        self.assertLessEqual(names, self.table.orphans)
        os.unlink(self.table.path(b"data/future"))
        _, uris, _ = program.read_plan(self.table.planned())
        self.assertEqual(self.table.orphans, {uri[len(self.table.uri) + 1 :] for uri in uris})

    # ---- hostile folders ----

    def test_quarantine_folder_is_a_link(self):
        elsewhere = os.path.join(self.table.top, "elsewhere")
        os.mkdir(elsewhere)
        os.symlink(elsewhere, self.table.path(b".ebb-quarantine"))
        plan = self.table.planned()
        done = self.table.apply(plan)
        self.assertIn(done.status, (2, 3), done.err)
        self.assertTrue(done.error().get("code"), done.err)
        self.assertEqual([], os.listdir(elsewhere))
        os.unlink(self.table.path(b".ebb-quarantine"))
        self.assertEqual([], self.table.differences())

    def test_quarantine_folder_is_a_file(self):
        with open(self.table.path(b".ebb-quarantine"), "wb"):
            pass
        done = self.table.apply(self.table.planned())
        self.assertIn(done.status, (2, 3), done.err)
        self.assertTrue(done.error().get("code"), done.err)
        os.unlink(self.table.path(b".ebb-quarantine"))
        self.assertEqual([], self.table.differences())

    def test_lock_is_a_link(self):
        victim = os.path.join(self.table.top, "victim")
        with open(victim, "wb") as f:
            f.write(b"precious")
        os.mkdir(self.table.path(b".ebb-quarantine"))
        os.symlink(victim, self.table.lock())
        done = self.table.apply(self.table.planned())
        self.assertIn(done.status, (2, 3), done.err)
        with open(victim, "rb") as f:
            self.assertEqual(b"precious", f.read())
        shutil.rmtree(self.table.path(b".ebb-quarantine"))
        self.assertEqual([], self.table.differences())

    def test_run_folder_became_a_link(self):
        """Between apply and restore or purge somebody replaces the run's folder."""
        run = self.table.apply(self.table.planned()).json()["run"]
        folder = os.path.join(os.fsdecode(self.table.path(b".ebb-quarantine")), run)
        elsewhere = os.path.join(self.table.top, "elsewhere")
        os.rename(folder, elsewhere)
        os.symlink(elsewhere, folder)
        before = self.table.tree(os.fsencode(elsewhere))
        for done in (self.table.restore(run), self.table.purge(run), self.table.ebb("restore", "--from", folder, "--json")):
            self.assertIn(done.status, (2, 3), done.err + done.out)
            self.assertEqual(before, self.table.tree(os.fsencode(elsewhere)))
        os.unlink(folder)
        os.rename(elsewhere, folder)
        self.assertEqual(0, self.table.restore(run).status)
        self.assertEqual([], self.table.differences())

    def test_folder_of_an_orphan_became_a_link(self):
        """Between plan and apply: what lies behind the link is not the table's."""
        plan = self.table.planned()
        elsewhere = os.path.join(self.table.top, "elsewhere")
        deep = self.table.path(b"data/1b")
        os.rename(deep, elsewhere)
        os.symlink(elsewhere, deep)
        before = self.table.tree(os.fsencode(elsewhere))
        done = self.table.apply(plan)
        self.assertEqual(3, done.status, done.err)
        self.assertEqual(before, self.table.tree(os.fsencode(elsewhere)))
        name = b"data/1b/7b/97/b3/87/deep.parquet"
        self.assertEqual(self.table.orphans - {name}, set(self.table.quarantined()))
        run = done.json()["run"]
        done = self.table.restore(run)  # that one file must not keep the others
        self.assertEqual((3, 1), (done.status, len(done.json()["failed"])), done.err)
        self.assertEqual({}, self.table.quarantined())
        os.unlink(deep)
        os.rename(elsewhere, deep)
        self.assertEqual(0, self.table.restore(run).status)
        self.assertEqual([], self.table.differences())

    def test_orphan_became_a_link(self):
        plan = self.table.planned()
        name = self.table.path(b"data/plus+plus.parquet")
        aside = os.path.join(self.table.top, "aside")
        os.rename(name, aside)
        os.symlink(aside, name)
        done = self.table.apply(plan)
        self.assertEqual(3, done.status, done.err)
        self.assertTrue(os.path.islink(name))
        self.table.restore(done.json()["run"])
        os.rename(aside, name)
        self.assertEqual([], self.table.differences())

    def test_hostile_run_record(self):
        """restore --from a folder whose record lies: nothing is written outside the table, nothing is overwritten."""
        run = self.table.apply(self.table.planned()).json()["run"]
        folder = os.path.join(os.fsdecode(self.table.path(b".ebb-quarantine")), run)
        record = os.path.join(folder, "run.jsonl")
        with open(record, "rb") as f:
            lines = f.read().splitlines(True)
        self.table.fresh_state()
        victim = os.path.join(self.table.top, "victim")
        with open(victim, "wb") as f:
            f.write(b"precious")
        kept = self.table.tree(os.fsencode(self.table.top))
        uri = self.table.uri

        def attack(change, number=1):
            line = json.loads(lines[number])
            change(line)
            text = json.dumps(line).encode() + b"\n"
            return lines[:number] + [text] + lines[number + 1 :]

        attacks = {
            "path climbs": attack(lambda f: f.update(path=uri + "/../../../../stolen")),
            "path elsewhere": attack(lambda f: f.update(path="file:///ebb/stolen")),
            "path is absolute": attack(lambda f: f.update(path=os.path.join(self.table.top, "stolen"))),
            "path is the table": attack(lambda f: f.update(path=uri)),
            "path of another scheme": attack(lambda f: f.update(path="s3://b/k")),
            "target climbs": attack(lambda f: f.update(target="../../../../../../victim")),
            "target climbs within": attack(lambda f: f.update(target="data/../../lock")),
            "target is absolute": attack(lambda f: f.update(target=victim)),
            "target is empty": attack(lambda f: f.update(target="")),
            "target has NUL": attack(lambda f: f.update(target="a\0b")),
            "location elsewhere": attack(lambda h: h["plan"]["table"].update(location="file:///ebb"), 0),
            "location is a root": attack(lambda h: h["plan"]["table"].update(location="file:///"), 0),
            "location above": attack(lambda h: h["plan"]["table"].update(location="file:///ebb/wh"), 0),
            "run id climbs": attack(lambda h: h.update(run="../" + run), 0),
            "run id of another": attack(lambda h: h.update(run="r-01AAAAAAAAAAAAAAAAAAAAAAAA"), 0),
            "run id is long": attack(lambda h: h.update(run="r" * 5000), 0),
            "no record": [b""],
            "no header": lines[1:],
            "bytes": [b"\0\xff" * 500],
            "deep": [b"[" * 100000 + b"\n"],
            "repeated key": [lines[0], lines[1].replace(b'{"seq"', b'{"path":"file:///ebb/stolen","seq"', 1)] + lines[2:],
        }
        for what, content in attacks.items():
            with self.subTest(what=what):
                with open(record, "wb") as f:
                    f.writelines(content)
                done = self.table.ebb("restore", "--from", folder, "--json", state="state2")
                self.assertIn(done.status, (2, 3, 64), done.err + done.out)
                self.assertTrue(done.error().get("code"), done.err)
                now = self.table.tree(os.fsencode(self.table.top))
                self.assertEqual({}, {n: e for n, e in now.items() if kept.get(n) != e and not n.startswith(b"state2/") and not n.endswith(b"run.jsonl")})
                self.assertEqual([], self.table.lost())
        with open(record, "wb") as f:
            f.writelines(lines)
        done = self.table.ebb("restore", "--from", folder, "--json", state="state3")
        self.assertEqual(0, done.status, done.err)
        os.unlink(victim)
        self.assertEqual([], self.table.differences())

    def test_record_of_another_place_moved_here(self):
        """A run folder that was copied into another table's quarantine restores nothing there."""
        other = SmallTable(os.path.join(self.top, "other"))
        run = other.apply(other.planned()).json()["run"]
        quarantine = self.table.path(b".ebb-quarantine")
        os.mkdir(quarantine)
        os.rename(os.path.join(os.fsdecode(other.path(b".ebb-quarantine")), run), os.path.join(os.fsdecode(quarantine), run))
        before = self.table.tree(quarantine)
        done = self.table.ebb("restore", "--from", os.path.join(os.fsdecode(quarantine), run), "--json")
        # Same uuid and location text: the record is this table's as far as anyone can tell, and its names are free or taken.
        self.assertIn(done.status, (0, 2, 3), done.err)
        self.assertEqual({}, {n: e for n, e in self.table.original.items() if self.table.tree().get(n) != e})
        self.assertTrue(before)

    # ---- two at once ----

    def test_two_at_once(self):
        first, second = self.table.planned(), self.table.planned()
        words = [program.path(), "apply", first, "--yes", "--json", "--config", self.table.config, "--state", os.path.join(self.table.top, "state")]
        env = {**os.environ, **preload.fault(preload.build(self.top), "renameat2", 3, 0, "stop")}
        process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.assertTrue(preload.wait_until_stopped(process.pid))
            run = self.table.runs()[-1][0]
            for args in (("apply", second, "--yes"), ("apply", "--resume", run, "--yes"), ("restore", run)):
                done = self.table.ebb(*args, "--json")
                self.assertEqual((2, "run.locked"), (done.status, done.error().get("code")), done.err)
                self.assertTrue(done.error()["retryable"])
                self.assert_clear(self.table.ebb(*args))
            done = self.table.ebb("restore", "--from", os.path.join(os.fsdecode(self.table.path(b".ebb-quarantine")), run), "--json", state="other")
            self.assertEqual((2, "run.locked"), (done.status, done.error().get("code")), done.err)
        finally:
            process.send_signal(signal.SIGCONT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(0, process.returncode, err)
        self.assertEqual(self.table.orphans, set(self.table.quarantined()))
        self.assert_undone(json.loads(out)["run"])
        done = self.table.apply(second)  # its files have another change time now
        self.assertIn(done.status, (0, 3), done.err)
        self.assert_undone(done.json()["run"])

    def test_lock_of_a_run_elsewhere(self):
        """Nobody can tell whether it still lives: only time can free it."""
        plan = self.table.planned()
        now = int(time.time() * 1000)
        lock = {"host": "elsewhere", "pid": 1, "start": 1, "boot": "b", "space": "s", "run": "r-01ELSEWHERE", "epoch": now, "expires": now + 600000}
        os.makedirs(self.table.path(b".ebb-quarantine"))
        with open(self.table.lock(), "w", encoding="ascii") as f:
            json.dump(lock, f)
        error = self.assert_refused(("apply", plan, "--yes"), 2, "run.locked")
        self.assertRegex(error["message"], "r-01ELSEWHERE.*elsewhere")
        with open(self.table.lock(), "w", encoding="ascii") as f:
            json.dump({**lock, "expires": now - 1000}, f)
        done = self.table.apply(plan)
        self.assertEqual(0, done.status, done.err)
        self.assert_undone(done.json()["run"])

    def test_lock_that_is_torn(self):
        plan = self.table.planned()
        os.makedirs(self.table.path(b".ebb-quarantine"))
        with open(self.table.lock(), "wb") as f:
            f.write(b"{")  # torn: it counts from when it was made
        self.assert_refused(("apply", plan, "--yes"), 2, "run.locked")
        set_time(self.table.lock(), time.time_ns() - 3600 * 10**9)
        done = self.table.apply(plan)
        self.assertEqual(0, done.status, done.err)
        self.assert_undone(done.json()["run"])

    # ---- rights and space ----

    def as_nobody(self, *args):
        """The program as another user, who may read all and write only his own state folder."""
        state = os.path.join(self.table.top, "state-of-nobody")
        os.makedirs(state, exist_ok=True)
        os.chown(state, NOBODY, NOBODY)
        words = [program.path()] + list(args) + ["--json", "--config", self.table.config, "--state", state]
        done = subprocess.run(
            ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"] + words,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            cwd="/",
        )
        return program.Done(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr))

    def open_to_all(self):
        os.chmod(self.top, 0o755)
        for folder, subdirs, files in os.walk(self.table.top):
            os.chmod(folder, 0o755)
            for name in files:
                os.chmod(os.path.join(folder, name), 0o644)
        copy = os.path.join(self.top, "ebb")
        shutil.copy(program.path(), copy)  # the program itself may lie where nobody may look
        self.addCleanup(os.environ.__setitem__, "EBB", program.path())
        os.environ["EBB"] = copy
        self.table.original = self.table.tree()

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can become another user")
    def test_no_right_to_write(self):
        self.open_to_all()
        done = self.as_nobody("plan", self.table.name, "--older-than", "3d", "--max-share", "1")
        self.assertEqual(0, done.status, done.err)
        done = self.as_nobody("apply", done.json()["file"], "--yes")
        self.assertEqual((3, "io.permission"), (done.status, done.error().get("code")), done.err)
        self.assertEqual([], self.table.differences())

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can become another user")
    def test_no_right_to_write_one_folder(self):
        """A folder of the table that may not be written: its files are named and stay, the rest goes."""
        self.open_to_all()
        for folder, subdirs, _ in os.walk(self.table.folder):
            if os.path.relpath(folder, self.table.folder) != b"metadata":
                os.chown(folder, NOBODY, NOBODY)
        plan = self.as_nobody("plan", self.table.name, "--older-than", "3d", "--max-share", "1").json()["file"]
        done = self.as_nobody("apply", plan, "--yes")
        self.assertEqual((3, "run.partial"), (done.status, done.error().get("code")), done.err)
        result = done.json()
        stuck = {n for n in self.table.orphans if n.startswith(b"metadata/")}
        self.assertEqual(stuck, {os.fsencode(n["path"])[len(self.table.uri) + 1 :] for n in result["failed"] + result["skipped"]})
        self.assertEqual(self.table.orphans - stuck, set(self.table.quarantined()))
        done = self.as_nobody("restore", result["run"])
        self.assertIn(done.status, (0, 3), done.err)
        self.assertEqual([], self.table.differences())

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can become another user")
    def test_no_right_to_read(self):
        self.open_to_all()
        for path, is_folder in ((self.pieces()["manifest"][0], False), (self.pieces()["metadata"][0], False), (self.table.path(b"data/p=z"), True)):
            with self.subTest(path=path):
                mode = stat.S_IMODE(os.stat(path).st_mode)
                os.chmod(path, 0)
                done = self.as_nobody("plan", self.table.name, "--older-than", "3d", "--max-share", "1")
                self.assertIn(done.status, (2, 3), done.err + done.out)
                self.assertTrue(done.error().get("code"), done.err)
                os.chmod(path, mode)

    def on_small_disk(self, script):
        """Run a shell script in a mount namespace of its own, with a file system of 256 KiB at TOP/small."""
        os.makedirs(os.path.join(self.top, "small"), exist_ok=True)
        mount = "mount -t tmpfs -o size=256k,nr_inodes=200 small %s/small || exit 77; %s" % (self.top, script)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", mount], capture_output=True, timeout=120)
        if done.returncode == 77 or b"unshare" in done.stderr:
            self.skipTest("no mounts here: %s" % done.stderr.decode())
        return done

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "only root can mount")
    def test_state_folder_on_a_full_disk(self):
        plan = self.table.planned()
        words = "%s %%s --json --config %s --state %s/small/state" % (program.path(), self.table.config, self.top)
        fill = "head -c %d /dev/zero > " + self.top + "/small/fill 2>/dev/null; "
        for free in (0, 4096, 16384, 40960, 65536, 90112, 131072):
            for command in ("plan %s --older-than 3d --max-share 1" % self.table.name, "apply %s --yes" % plan):
                with self.subTest(free=free, command=command.split()[0]):
                    done = self.on_small_disk(fill % (256 * 1024 - free) + words % command)
                    done = program.Done(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr))
                    if done.status == 0:
                        self.undo_by_folder()
                        continue
                    self.assertEqual(3, done.status, done.err)
                    self.assertTrue(done.error().get("code"), done.err)
                    self.undo_by_folder()
                    self.assertEqual([], self.table.differences())

    def undo_by_folder(self):
        """The state folder is gone with its disk: each run folder is restored by itself."""
        base = os.fsdecode(self.table.path(b".ebb-quarantine"))
        for name in os.listdir(base) if os.path.isdir(base) else []:
            if name.startswith("r-") and os.path.exists(os.path.join(base, name, "run.jsonl")):
                done = self.table.ebb("restore", "--from", os.path.join(base, name), "--json", state="rescue")
                self.assertEqual(0, done.status, done.err)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "only root can mount")
    def test_table_on_a_full_disk(self):
        """The table's own file system is full: a move needs room for the record and for folders."""
        script = """
            cp -a %(top)s/t/wh %(top)s/small/ && cd / &&
            mount --bind %(top)s/small/wh %(top)s/t/wh || exit 77
            %(ebb)s plan %(name)s --older-than 3d --max-share 1 --json > %(top)s/plan.json || exit 1
            plan=$(sed 's/.*"file":"\\([^"]*\\)".*/\\1/' %(top)s/plan.json)
            head -c 1000000 /dev/zero > %(top)s/small/fill 2>/dev/null
            dd if=/dev/null of=%(top)s/small/fill bs=1 seek=%(size)d 2>/dev/null
            find %(top)s/t/wh -printf '%%p %%i %%s %%T@\\n' | sort > %(top)s/before
            %(ebb)s apply "$plan" --yes --json > %(top)s/apply.out 2> %(top)s/apply.err; echo $? > %(top)s/apply.status
            rm %(top)s/small/fill
            %(ebb)s verify %(name)s --json > /dev/null || exit 2
            run=$(sed -n 's/.*"run":"\\([^"]*\\)".*/\\1/p' %(top)s/apply.out | head -n 1)
            [ -z "$run" ] || %(ebb)s restore "$run" --json > %(top)s/restore.out 2>&1 || exit 3
            find %(top)s/t/wh -path '*/.ebb-quarantine*' -prune -o -type f -printf '%%p %%i %%s %%T@\\n' | sort > %(top)s/after
            grep -c . %(top)s/after > /dev/null && find %(top)s/t/wh -type f -path '*/.ebb-quarantine/*' | head
        """
        ends = set()
        for used in (100, 96, 92, 84):
            with self.subTest(used=used):
                ebb = program.path()
                text = script % {"top": self.top, "name": self.table.name, "size": 256 * 1024 * used // 100, "ebb": 'E' }
                text = "E() { c=$1; shift; %s $c \"$@\" --config %s --state %s; }; " % (ebb, self.table.config, os.path.join(self.top, "state-%d" % used)) + text
                done = self.on_small_disk(text)
                self.assertEqual(0, done.returncode, done.stderr + self.read("apply.err"))
                status = int(self.read("apply.status"))
                ends.add(status)
                self.assertIn(status, (0, 3), self.read("apply.err"))
                before = {line for line in self.read("before").splitlines() if b".ebb-quarantine" not in line}
                after = set(self.read("after").splitlines())
                self.assertEqual(set(), after - before)
        self.assertIn(3, ends)

    def read(self, name):
        with open(os.path.join(self.top, name), "rb") as f:
            return f.read()

    # ---- state folder ----

    def test_state_folder_of_another_program(self):
        state = os.path.join(self.table.top, "foreign")
        os.mkdir(state)
        with sqlite3.connect(os.path.join(state, "ebb.db")) as db:
            db.execute("CREATE TABLE precious (x)")
        db.close()
        self.assert_refused(self.plan_args(), 3, "store.failed", "store.corrupt", state="foreign", hint="--state")
        with open(os.path.join(state, "ebb.db"), "wb") as f:
            f.write(b"not a database at all" * 100)
        self.assert_refused(self.plan_args(), 3, "store.failed", "store.corrupt", state="foreign")

    def test_state_folder_is_a_file(self):
        with open(os.path.join(self.table.top, "file"), "wb"):
            pass
        self.assert_refused(self.plan_args(), 3, "io.failed", "io.exists", "store.failed", state="file")

    def test_broken_audit_log(self):
        """Work that can't be recorded is not done."""
        plan = self.table.planned()
        done = self.table.apply(plan)
        self.assert_undone(done.json()["run"])
        log = os.path.join(self.table.top, "state", "audit.jsonl")
        with open(log, "rb") as f:
            lines = f.read().splitlines(True)
        with open(log, "wb") as f:
            f.writelines(lines[:-2] + [lines[-1].replace(b'"seq":', b'"seq":9')])
        self.assert_refused(self.plan_args(), 3, "audit.broken")

    # ---- policies ----

    POLICY = """return policy {
  api = 1, name = "p", owner = "me", doc = "d.",
  triggers = { time.calendar { "Sun 03:00", tz = "UTC" } },
  %s
  decide = function(t, ctx)
    local v = all { check("gc", t.properties["gc.enabled"] or "true", "==", "true") }
    if not v.ok then return skip(v) end
    return run(v, action.remove_orphan_files { older_than = ctx.now - 3 * 24 * 3600 * 1000 })
  end,
}
"""

    def policy(self, more):
        path = os.path.join(self.top, "p.lua")
        with open(path, "w", encoding="ascii") as f:
            f.write(self.POLICY % more)
        return path

    def test_policy_with_a_typo(self):
        self.assertEqual(0, self.table.ebb("check", self.policy("")).status)
        path = self.policy("guards = { overlap = 'skip' },")
        done = self.table.ebb("check", path, "--json")
        self.assertEqual(1, done.status, done.err)
        found = json.loads(done.out)
        self.assertEqual([("error", 4)], [(d["severity"], d["line"]) for d in found])
        self.assertRegex(found[0]["hint"] + found[0]["message"], r"\bguard\b")
        done = self.table.ebb("decide", path, self.table.name, "--json")
        self.assertEqual((4, "policy.schema"), (done.status, done.error().get("code")), done.err)
        self.assert_clear(self.table.ebb("decide", path, self.table.name))
        self.assertEqual([], self.table.differences())

    def test_policy_that_goes_wrong(self):
        for body, *codes in (
            ("t.location.x.y.z()", "policy.error"),
            ("while true do end", "policy.gas", "policy.deadline"),
            ("local s = 'x' while true do s = s .. s end", "policy.memory", "policy.gas"),
            ("os.exit(0)", "policy.error"),
            ("io.open('/etc/passwd')", "policy.error"),
        ):
            with self.subTest(body=body):
                path = self.policy("")
                with open(path, encoding="ascii") as f:
                    text = f.read().replace("local v = all", body + " local v = all")
                with open(path, "w", encoding="ascii") as f:
                    f.write(text)
                done = self.table.ebb("decide", path, self.table.name, "--json")
                self.assertEqual(4, done.status, done.err + done.out)
                self.assertIn(done.error().get("code"), codes, done.err)
        path = self.policy("")
        with open(path, "w", encoding="ascii") as f:
            f.write("return policy {")
        self.assertEqual(1, self.table.ebb("check", path).status)
        self.assertEqual(4, self.table.ebb("decide", path, self.table.name).status)

    # ---- configuration ----

    def test_configuration(self):
        config = os.path.join(self.top, "bad.lua")
        for text, *codes in (
            ("return {", "config.syntax"),
            ("return 7", "config.invalid"),
            ("return { catalog = {} }", "config.unknown_key"),
            ("return { catalogs = { x = { type = 'sqlit', path = 'y' } } }", "config.invalid"),
            ("return { catalogs = { x = { type = 'sqlite' } } }", "config.invalid"),
            ("os.exit(1)", "config.invalid", "config.syntax"),
            ("while true do end", "config.invalid"),
        ):
            with self.subTest(text=text):
                with open(config, "w", encoding="ascii") as f:
                    f.write(text)
                done = program.run(["tables", "--json"], config, os.path.join(self.top, "s"))
                self.assertEqual(64, done.status, done.err)
                self.assertIn(done.error().get("code"), codes, done.err)
        done = program.run(["tables"], config + ".no", os.path.join(self.top, "s"))
        self.assertEqual(64, done.status, done.err)
        self.assert_clear(done)


if __name__ == "__main__":
    unittest.main(verbosity=2)
