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

# (server or None for both, case, table): why the answer differs from the one for the same files on a disk, and what it is then.
DIFFERENT = {}


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

    def different(self, place, table):
        for kind in (self.s3.kind, None):
            found = DIFFERENT.get((kind, place.case.name, table["name"]))
            if found:
                return found
        return None

    def one(self, place, table):
        """How many objects went and came back."""
        self.assertTrue(table["metadata"], "no pointer")
        safe, output = table["safe"], os.path.join(place.base, "one.plan")
        if table["foreign_uuid"]:
            self.refused(place.plan(table, "--max-share", "1", output=output), "foreign-table", output)
            return 0
        done = place.plan(table, "--max-share", "1", output=output)
        change = self.different(place, table)
        if change and "refused" in change:
            self.refused(done, change["refused"], output)
            return 0
        if safe["verdict"] == "refuse" and not (change or {}).get("scanned"):
            self.refused(done, safe["class"], output)
            return 0
        self.assertEqual(0, done.status, done.err)
        wanted = {place.local(p) for p in safe["orphans"]} - set((change or {}).get("without", ()))
        self.assertEqual(wanted, place.candidates(output))
        if wanted:
            self.there_and_back(place, table, output, wanted)
        os.remove(output)
        return len(wanted)

    def refused(self, done, name, output):
        self.assertEqual(2, done.status, done.out + done.err)
        self.assertEqual(name, done.error().get("class"), done.err)
        self.assertFalse(os.path.exists(output))

    def there_and_back(self, place, table, output, wanted):
        before = place.s3.list(place.bucket)
        done = place.run("apply", output, "--yes", "--json")
        self.assertEqual(0, done.status, done.out + done.err)
        run = done.json()
        self.assertEqual(("done", len(wanted), [], []), (run["status"], run["moved"], run["skipped"], run["failed"]))
        after = place.s3.list(place.bucket)
        self.assertEqual({k: v for k, v in before.items() if k not in wanted}, {k: v for k, v in after.items() if "/.ebb-quarantine/" not in k})
        done = place.plan(table)
        self.assertEqual((0, "empty"), (done.status, done.json().get("status")), done.err)
        done = place.run("restore", run["run"], "--json")
        self.assertEqual(0, done.status, done.out + done.err)
        self.assertEqual(len(wanted), done.json()["restored"])
        after = place.s3.list(place.bucket)
        self.assertEqual({k: v[0] for k, v in before.items()}, {k: v[0] for k, v in after.items() if "/.ebb-quarantine/" not in k})


class Versitygw(Base, unittest.TestCase):
    server = staticmethod(servers.s3)


class Moto(Base, unittest.TestCase):
    server = staticmethod(servers.moto)


if __name__ == "__main__":
    unittest.main()
