# SPDX-License-Identifier: Apache-2.0
"""Damaged metadata and damaged plans. Whatever is cut, lost or changed: the plan is the same as before, or there is none.

Bytes that no check of the format covers (a letter of a name in a block without a checksum) can't be told from what a writer wrote. There the
oracle, which knows every check that the format has, must come to the same answer."""

import gzip
import os
import random
import sys
import unittest

import fixtures
import program
import test_fixtures

import avro_file
import oracle

CASES = ("c01-v1-basic", "c02-mor", "c04-v3-dv", "c05-gzip-metadata", "c19-codecs", "c22-pyiceberg", "c25-branch-only", "c40-pyiceberg-v1")
FLIPS = int(os.environ.get("EBB_FLIPS", "16"))


def cuts(rnd, data):
    """Lengths to cut a file to: the edges of its parts, and some more."""
    edges = {0, 1, 4, len(data) // 2, len(data) - 1, len(data) - 16, len(data) - 17}
    if data[:4] == avro_file.MAGIC:
        at = data.find(data[-16:])  # the header ends with the marker
        edges |= {at, at + 15, at + 16, at + 17}
    edges |= {rnd.randrange(len(data)) for _ in range(5)}
    return sorted(n for n in edges if 0 <= n < len(data))


def damages(rnd, data):
    """(what was done, bytes or None where the file is gone)"""
    yield "gone", None
    for n in cuts(rnd, data):
        yield "cut to %d" % n, data[:n]
    yield "one byte more", data + b"\0"
    yield "twice", data + data
    if len(data) > 64:
        at = rnd.randrange(len(data) - 32)
        yield "zeroes at %d" % at, data[:at] + bytes(32) + data[at + 32 :]
        yield "hole at %d" % at, data[:at] + data[at + 32 :]
    for _ in range(FLIPS):
        at, bit = rnd.randrange(len(data)), rnd.randrange(8)
        yield "bit %d of byte %d" % (bit, at), data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
    if data[:1] == b"{":
        for _ in range(FLIPS):  # in a gzip file every flip is seen; in text most change a name
            at = rnd.randrange(len(data))
            yield "letter at %d" % at, data[:at] + rnd.choice((b"x", b"1", b'"', b",", b"}")) + data[at + 1 :]


class Metadata(test_fixtures.Base):
    def test_every_piece(self):
        tally = {}
        for case, place in self.each_case():
            for table in case.tables if case.name in CASES else []:
                if table["safe"]["verdict"] == "scan":
                    self.table(place, table, random.Random(case.name), tally)
        print("\ndamaged metadata: " + ", ".join("%s %d" % pair for pair in sorted(tally.items())), file=sys.stderr)
        self.assertGreater(tally.get("refused", 0), 100)

    def pieces(self, place, table):
        reachable = table["reachable"]
        names = [table["metadata"]] + reachable["manifest_lists"] + reachable["manifests"]
        found = {place.local(fixtures.plain(uri)) for uri in names}
        hint = os.path.join(place.folder(table), "metadata", "version-hint.text")
        return sorted(found) + ([hint] if os.path.exists(hint) else [])

    def table(self, place, table, rnd, tally):
        right = {place.local(p) for p in table["safe"]["orphans"]}
        for piece in self.pieces(place, table):
            with open(piece, "rb") as f:
                data = f.read()
            facts = os.stat(piece)
            for what, changed in damages(rnd, data):
                if changed == data:
                    continue
                self.write(piece, changed)
                with self.subTest(case=place.case.name, table=table["name"], piece=os.path.basename(piece), what=what):
                    name = self.verdict(place, table, right)
                    tally[name] = tally.get(name, 0) + 1
                    if name == "unseen" and not what.startswith(("bit", "letter", "zeroes", "hole")):
                        self.fail("a file that is " + what + " is seen by everyone")
            self.write(piece, data)
            os.utime(piece, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    @staticmethod
    def write(path, data):
        if data is None:
            os.remove(path)
            return
        with open(path, "wb") as f:
            f.write(data)
        os.utime(path, ns=(10**18, 10**18))

    def verdict(self, place, table, right):
        output = os.path.join(place.base, "damaged.plan")
        done = self.plan(place, table, "--max-share", "1", output=output)
        if done.status != 0:
            held = done.status == 2 and done.out and done.json()["status"] == "held"
            if not held:
                self.assertIn(done.status, (2, 3, 64), done.err)  # 3: a location that is nowhere
                self.assertFalse(os.path.exists(output))
                self.assertTrue(done.error().get("code"), done.err)
                return "refused"
        found = self.candidates(place, output)
        os.remove(output)
        if found == right:
            return "the same"
        if done.status == 2:
            return "held"
        world, known = place.world()
        answer = oracle.judge(world, known[table["name"]], fixtures.CUTOFF_MS)
        self.assertEqual(found, answer.orphans)
        return "fewer" if found < right else "unseen"


class Plans(test_fixtures.Base):
    """A plan file that was changed is refused, by those who show it and by those who apply it."""

    def setUp(self):
        super().setUp()
        case = next(c for c in fixtures.cases() if c.name == "c02-mor")
        self.place = case.unpack(self.work)
        self.root = os.path.join(self.place.base, case.truth["root"])
        self.good = os.path.join(self.work, "good.plan")
        self.table = case.tables[0]
        done = self.plan(self.place, self.table, output=self.good)
        self.assertEqual(done.status, 0, done.err)
        with open(self.good, "rb") as f:
            self.data = f.read()
        self.before = program.tree(self.root)

    def run_with(self, data, *words):
        name = os.path.join(self.work, "bad.plan")
        with open(name, "wb") as f:
            f.write(data)
        return program.run([words[0], name] + list(words[1:]) + ["--json"], self.place.config, self.place.state)

    def refused(self, data, what):
        for words in (("show",), ("apply", "--yes")):
            with self.subTest(command=words[0], what=what):
                done = self.run_with(data, *words)
                self.assertEqual(done.status, 2, done.out + done.err)
                self.assertEqual(done.error().get("code"), "plan.unreadable", done.err)
        self.assertEqual(program.tree(self.root), self.before)

    def test_cut(self):
        rnd = random.Random("cut")
        lines = [n + 1 for n, byte in enumerate(self.data) if byte == 10]
        lengths = {0, 1, len(self.data) - 2} | set(lines[:-1]) | {n - 1 for n in lines[:-1]} | {rnd.randrange(len(self.data)) for _ in range(30)}
        for n in sorted(lengths):
            self.refused(self.data[:n], "cut to %d" % n)

    def test_flipped(self):
        rnd = random.Random("flip")
        last = self.data.rindex(b"\n", 0, -1) + 1
        for at in sorted(rnd.sample(range(last), 60)):
            self.refused(self.data[:at] + bytes([self.data[at] ^ 1 << rnd.randrange(7)]) + self.data[at + 1 :], "byte %d" % at)

    def test_summary_flipped(self):
        """The hash covers what stands before the summary: what a changed summary still allows is what the right one allows."""
        held = os.path.join(self.work, "held.plan")
        done = self.plan(self.place, self.table, "--max-share", "0.01", output=held)
        self.assertEqual((done.status, done.json()["status"]), (2, "held"))
        with open(held, "rb") as f:
            data = f.read()
        rnd = random.Random("summary")
        last = data.rindex(b"\n", 0, -1) + 1
        for at in range(last, len(data) - 1):
            changed = data[:at] + bytes([data[at] ^ 1 << rnd.randrange(7)]) + data[at + 1 :]
            with self.subTest(what="byte %d" % at):
                done = self.run_with(changed, "apply", "--yes")
                self.assertEqual(done.status, 2, done.out + done.err)
                self.assertIn(done.error().get("code"), ("plan.unreadable", "plan.held"))
        self.assertEqual(program.tree(self.root), self.before)

    def test_lines_moved(self):
        lines = self.data.splitlines(keepends=True)
        for what, changed in (
            ("a line less", lines[:2] + lines[3:]),
            ("a line twice", lines[:2] + lines[1:]),
            ("two lines in another order", [lines[0], lines[2], lines[1]] + lines[3:]),
            ("no header", lines[1:]),
            ("two headers", lines[:1] + lines),
            ("something behind the end", lines + lines[-1:]),
            ("a live file in place of an orphan", [line.replace(b"zero-b1c9.parquet", b"zero-b1c8.parquet") for line in lines]),
        ):
            self.assertNotEqual(b"".join(changed), self.data)
            self.refused(b"".join(changed), what)

    def test_other_formats(self):
        for what, data in (("gzip", gzip.compress(self.data)), ("nothing", b""), ("zeroes", bytes(4096)), ("a list", b"[]\n"), ("NUL", self.data.replace(b"c02", b"c\x002", 1))):
            self.refused(data, what)

    def test_the_good_one_is_good(self):
        done = self.run_with(self.data, "show")
        self.assertEqual(done.status, 0, done.err)


if __name__ == "__main__":
    unittest.main()
