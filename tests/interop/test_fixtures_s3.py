# SPDX-License-Identifier: Apache-2.0
"""Real tables in real buckets: the same orphans and refusals as on a local disk, then apply, look, restore, look."""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402
import sqltext  # noqa: E402
import world  # noqa: E402
from world import fixtures  # noqa: E402

# (case, table): (why the answer is another one than for the same files on a disk, what it is then)
SCANNED, HELD = "scanned", "held"
GONE = ("metadata.missing_manifest_list", "metadata.missing_manifest")  # which is found first depends on where the slashes are
ELSEWHERE = "whether data that is written elsewhere lies apart is proved by real folders, and a bucket has none: held for a person to look at"
SLASHES = "a key keeps each slash: what was uploaded from a disk has one where the metadata names two"
DIFFERENT = {
    ("c15-write-paths", "db.out"): (ELSEWHERE, HELD),
    ("c38-object-flat", "db.oa"): (ELSEWHERE, HELD),
    ("c30-uris", "db.slash"): (SLASHES, GONE),
    ("c30-uris", "db.mixed"): (SLASHES, GONE),
    ("c29-damaged", "db.hint_ahead"): ("only a folder's version-hint.text is ahead, and the catalog does not read it", SCANNED),
}


def is_mangled(key):
    """versitygw sends keys as they are, in XML, which loses control characters: such objects are kept."""
    return any(ord(c) < 0x20 or ord(c) == 0x7F or c == "\ufffd" for c in key)


class Base:
    """What both servers are asked."""

    @classmethod
    def setUpClass(cls):
        cls.s3 = cls.server()

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ebb-fixtures-s3-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)

    def each_case(self):
        for case in fixtures.cases():
            base = os.path.join(self.work, case.name)
            os.makedirs(base)
            yield world.OnS3(case, base, self.s3, self.s3.new_bucket())

    def test_every_table(self):
        tables = moved = 0
        for place in self.each_case():
            for table in place.case.tables:
                with self.subTest(case=place.case.name, table=table["name"]):
                    tables += 1
                    moved += self.one(place, table)
        sqltext.measured("%s: %d tables planned as on a disk, %d objects moved and restored" % (self.s3.kind, tables, moved))

    def one(self, place, table):
        """How many objects went and came back."""
        self.assertTrue(table["metadata"], "no pointer")
        safe, output = table["safe"], os.path.join(place.base, "one.plan")
        if table["foreign_uuid"]:
            self.refused(place.plan(table, "--max-share", "1", output=output), "foreign-table", output)
            return 0
        done = place.plan(table, "--max-share", "1", output=output)
        _, change = DIFFERENT.get((place.case.name, table["name"]), (None, None))
        if safe["verdict"] == "refuse" and change != SCANNED:
            self.refused(done, safe["class"], output)
            return 0
        if change == HELD:
            self.assertEqual((2, ["zero_overlap"]), (done.status, done.json()["held_by"]), done.err)
            return 0
        if change == GONE and self.s3.encodes:  # versitygw keeps objects as files, and takes runs of slashes for one
            self.assertEqual(2, done.status, done.err)
            self.assertIn(done.error()["code"], GONE)
            return 0
        self.assertEqual(0, done.status, done.err)
        wanted = {place.local(p) for p in safe["orphans"]}
        if change == SCANNED:
            wanted = place.candidates(output)
        wanted -= set(place.refused)  # moto finds no way for a key with a line feed
        if not self.s3.encodes:
            wanted = {key for key in wanted if not is_mangled(key)}
        self.assertEqual(wanted, place.candidates(output))
        if wanted:
            self.there_and_back(place, table, output, wanted)
        os.remove(output)
        return len(wanted)

    def refused(self, done, name, output):
        self.assertEqual(2, done.status, done.out + done.err)
        self.assertEqual(name, done.error().get("class"), done.err)

    @staticmethod
    def visible(place):
        return {key: facts for key, facts in place.s3.list(place.bucket).items() if "/.ebb-quarantine/" not in key}

    def there_and_back(self, place, table, output, wanted):
        before = self.visible(place)
        done = place.run("apply", output, "--yes", "--json")
        self.assertEqual(0, done.status, done.out + done.err)
        run = done.json()
        self.assertEqual(("done", len(wanted), [], []), (run["status"], run["moved"], run["skipped"], run["failed"]))
        self.assertEqual({k: v for k, v in before.items() if k not in wanted}, self.visible(place))
        done = place.plan(table)
        self.assertEqual((0, "empty"), (done.status, done.json().get("status")), done.err)
        done = place.run("restore", run["run"], "--json")
        self.assertEqual(0, done.status, done.out + done.err)
        self.assertEqual(len(wanted), done.json()["restored"])
        self.assertEqual(before, self.visible(place))


class Versitygw(Base, unittest.TestCase):
    server = staticmethod(servers.s3)


class Moto(Base, unittest.TestCase):
    server = staticmethod(servers.moto)


if __name__ == "__main__":
    unittest.main()
