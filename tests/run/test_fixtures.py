# SPDX-License-Identifier: Apache-2.0
"""Real tables: every answer of `ebb plan` against the true one and against the oracle; then apply, a second reader, restore.

Run with python3 -m unittest from tests/run; EBB is the program, EBB_FIXTURES more tables."""

import json
import os
import shutil
import sys
import tempfile
import unittest

import fixtures
import program
import second_reader

import oracle

# Held with the default fuses: more than half of what is listed would go.
HELD = {
    ("c12-special-values", "db.special"),
    ("c15-write-paths", "db.out"),
    ("c18-empty", "db.fresh"),
    ("c18-empty", "db.altered"),
    ("c26-expired-kept", "db.exp"),
}
QUARANTINE = ".ebb-quarantine"


class Base(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ebb-fixtures-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)

    def each_case(self):
        for case in fixtures.cases():
            base = os.path.join(self.work, case.name)
            os.makedirs(base)
            yield case, case.unpack(base)
            shutil.rmtree(base, ignore_errors=True)

    @staticmethod
    def plan(place, table, *options, output=None):
        words = ["plan", place.label(table), "--older-than", fixtures.OLDER_THAN, "--json"]
        return program.run(words + (["-o", output] if output else []) + list(options), place.config, place.state)

    def candidates(self, place, output):
        """Local paths of a plan's candidates; each must be named once, and lie in the table's location as it is written."""
        header, uris, _ = program.read_plan(output)
        root = header["table"]["location"]
        paths = []
        for uri in uris:
            uri = os.fsdecode(uri)
            self.assertTrue(uri.startswith(root + "/"), uri)
            paths.append(place.base + fixtures.plain(root)[len("/ebb") :] + uri[len(root) :])
        self.assertEqual(len(paths), len(set(paths)))
        return set(paths)


class Plans(Base):
    def test_every_table(self):
        warehouses = tables = 0
        for case, place in self.each_case():
            world, known = place.world()
            warehouses += 1
            for table in case.tables:
                tables += 1
                with self.subTest(case=case.name, table=table["name"]):
                    self.one(place, table, world, known[table["name"]])
        program.measured("%d warehouses, %d tables planned" % (warehouses, tables))

    def one(self, place, table, world, known):
        safe = table["safe"]
        output = os.path.join(place.base, "one.plan")
        done = self.plan(place, table, "--max-share", "1", output=output)
        dropped = []
        if table["foreign_uuid"]:
            self.refused(done, "location.foreign_uuid", "foreign-table", output)
            dropped = self.uuids_below(place, table)
            options = [word for uuid in dropped for word in ("--dropped", uuid)]
            done = self.plan(place, table, "--max-share", "1", *options, output=output)
        if safe["verdict"] == "refuse":
            self.refused(done, None, safe["class"], output)
            with self.assertRaises(oracle.Refusal) as caught:
                oracle.judge(world, known, fixtures.CUTOFF_MS)
            self.assertEqual(caught.exception.name, safe["class"])
            if safe["class"] == "prefix-conflict":
                self.declared_equal(place, table, world, known, output)
            return
        self.assertEqual(done.status, 0, done.err)
        wanted = {place.local(p) for p in safe["orphans"]}
        self.assertEqual(self.candidates(place, output), wanted)
        answer = oracle.judge(world, known, fixtures.CUTOFF_MS, dropped)
        self.assertEqual(answer.orphans, wanted)
        self.counts(done.json(), table, wanted)
        near = {place.local(n["path"]) for n in safe.get("near", [])}
        self.assertLessEqual(near, wanted)
        os.remove(output)

    def counts(self, summary, table, wanted):
        listing = table["listing"]
        self.assertEqual(summary["status"], "ready" if wanted else "empty")
        self.assertEqual(summary["listed"], listing["files"])
        self.assertEqual(summary["hidden"], listing["hidden"])
        self.assertEqual(summary["too_young"], listing["young"])
        self.assertEqual(summary["candidates"], len(wanted))
        self.assertEqual(summary["uuid"], table["uuid"])
        self.assertEqual(summary["cutoff"], fixtures.OLDER_THAN)

    def refused(self, done, code, name, output):
        self.assertEqual(done.status, 2, done.out + done.err)
        error = done.error()
        self.assertEqual(error.get("class"), name, done.err)
        if code:
            self.assertEqual(error["code"], code)
        self.assertFalse(os.path.exists(output))

    def declared_equal(self, place, table, world, known, output):
        """What would be right once the two authorities are declared equal."""
        done = self.plan(place, table, "--max-share", "1", "--equal-authorities", "nn:8020=nn", output=output)
        self.assertEqual(done.status, 0, done.err)
        wanted = {place.local(p) for p in table["safe"]["orphans"]}
        self.assertEqual(self.candidates(place, output), wanted)
        answer = oracle.judge(world, known, fixtures.CUTOFF_MS, equal_authorities={"nn:8020": "nn"})
        self.assertEqual(answer.orphans, wanted)
        os.remove(output)

    @staticmethod
    def uuids_below(place, table):
        found = set()
        for folder, _, files in os.walk(place.folder(table)):
            for name in files:
                if oracle.METADATA_NAME.match(name):
                    with open(os.path.join(folder, name), "rb") as f:
                        try:
                            found.add(oracle.parse_metadata(name, f.read())["table-uuid"])
                        except (oracle.Refusal, KeyError):
                            pass
        return sorted(found - {table["uuid"]})

    def test_default_fuses_hold_five(self):
        held = set()
        for case, place in self.each_case():
            for table in case.tables:
                if table["safe"]["verdict"] == "scan" and not table["foreign_uuid"]:
                    done = self.plan(place, table)
                    summary = done.json()
                    if summary["status"] == "held":
                        self.assertEqual(summary["held_by"], ["max_share"])
                        self.assertEqual(done.status, 2)
                        held.add((case.name, table["name"]))
        self.assertEqual(held, HELD)


    def test_a_moved_table_behind_a_link(self):
        """A table that was moved, a link under its old name: all its files have other names now than its manifests say."""
        case = next(c for c in fixtures.cases() if c.name == "c02-mor")
        place = case.unpack(self.work)
        table = case.tables[0]
        old = place.folder(table)
        new = old.replace("/orders", "/moved")
        os.rename(old, new)
        os.symlink("moved", old)
        metadata = os.path.join(new, "metadata", os.path.basename(table["metadata"]))
        with open(metadata, encoding="utf-8") as f:
            meta = json.load(f)
        meta["location"] = meta["location"].replace("/orders", "/moved")
        with open(metadata, "w", encoding="utf-8") as f:
            json.dump(meta, f)
        output = os.path.join(place.base, "moved.plan")
        words = ["plan", "files.db.moved", "--older-than", fixtures.OLDER_THAN, "--json", "-o", output]
        done = program.run(words, place.config, place.state)
        self.assertEqual(done.status, 0, done.err)
        # What the log names by the old name is protected as well.
        wanted = {place.local(p).replace("/orders/", "/moved/") for p in table["safe"]["orphans"]}
        self.assertEqual(self.candidates(place, output), wanted)

    def test_names_that_do_not_fit_the_place(self):
        """A table whose data files are nowhere: the files in its folder may be they, under other names."""
        case = next(c for c in fixtures.cases() if c.name == "c15-write-paths")
        place = case.unpack(self.work)
        table = next(t for t in case.tables if t["name"] == "db.out")
        elsewhere = os.path.join(place.base, case.truth["root"], "elsewhere", "data")
        os.rename(elsewhere, elsewhere + ".gone")
        done = self.plan(place, table, "--max-share", "1")
        self.assertEqual(done.status, 2, done.err)
        self.assertEqual((done.json()["status"], done.json()["held_by"]), ("held", ["zero_overlap"]))


class Removal(Base):
    """Apply, look, restore, look."""

    def test_the_second_reader_is_there(self):
        if second_reader.python() is None:
            message = "PyIceberg is missing, rows are not compared: " + second_reader.__doc__
            self.fail(message) if second_reader.is_wanted() else self.skipTest(message)

    def test_every_table(self):
        interpreter = second_reader.python()
        reader = second_reader.Reader(interpreter) if interpreter else None
        if reader:
            self.addCleanup(reader.close)
        tables = read = 0
        for case, place in self.each_case():
            chosen = [t for t in case.tables if t["safe"]["verdict"] == "scan" and not t["foreign_uuid"]]
            before = self.second_look(reader, place, chosen)
            for table in chosen:
                tables += 1
                with self.subTest(case=case.name, table=table["name"]):
                    self.there_and_back(reader, place, table, before.get(table["name"]))
            read += sum(1 for digest in before.values() if "unreadable" not in digest)
        note = "read by PyIceberg: %d" % read if reader else "PyIceberg is not there: rows were not compared"
        program.measured("%d tables emptied of orphans and restored; %s" % (tables, note))
        if reader:
            self.assertGreaterEqual(read, tables * 3 // 4)

    @staticmethod
    def second_look(reader, place, tables):
        if not reader or not tables:
            return {}
        jobs = [{"metadata": t["metadata"], "maps": place.maps} for t in tables]
        return {t["name"]: digest for t, digest in zip(tables, reader.read(jobs))}

    def there_and_back(self, reader, place, table, digest):
        root = os.path.join(place.base, place.case.truth["root"])
        orphans = {place.local(p) for p in table["safe"]["orphans"]}
        output = os.path.join(place.base, "apply.plan")
        done = self.plan(place, table, "--max-share", "1", output=output)
        self.assertEqual(done.status, 0, done.err)
        before = program.tree(root, without=(QUARANTINE,))
        self.assertLessEqual(orphans, set(before))

        done = program.run(["apply", output, "--yes", "--json"], place.config, place.state)
        self.assertEqual(done.status, 0, done.out + done.err)
        run = done.json()
        self.assertEqual((run["status"], run["moved"], run["skipped"], run["failed"]), ("done", len(orphans), [], []))
        after = program.tree(root, without=(QUARANTINE,))
        self.assertEqual(after, {path: facts for path, facts in before.items() if path not in orphans})
        if digest and "unreadable" not in digest:
            self.assertEqual(self.second_look(reader, place, [table])[table["name"]], digest)
        self.nothing_left(place, table)

        done = program.run(["restore", run["run"], "--json"], place.config, place.state)
        self.assertEqual(done.status, 0, done.out + done.err)
        self.assertEqual(done.json()["restored"], len(orphans))
        self.assertEqual(program.tree(root, without=(QUARANTINE,)), before)
        os.remove(output)

    def nothing_left(self, place, table):
        """A second plan finds nothing; what lies in quarantine is not seen."""
        done = self.plan(place, table)
        self.assertEqual((done.status, done.json()["status"], done.json()["candidates"]), (0, "empty", 0), done.err)


if __name__ == "__main__":
    unittest.main()
