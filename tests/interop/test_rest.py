# SPDX-License-Identifier: Apache-2.0
"""Real Iceberg REST catalogs on real S3: names, levels, keys that come with a table, expiring snapshots, and what each server can't."""
import json
import os
import shutil
import sys
import tempfile
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]
import program  # noqa: E402
import servers  # noqa: E402

SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "long"}]}
DAY = 86400000


class RestBase:
    kind = None
    separator = "%1F"
    names = ["orders", "with space", "caf\u00e9", "plus+sign", "per%cent"]

    def setUp(self):
        self.rest = servers.rest(self.kind)
        self.dir = tempfile.mkdtemp(prefix="ebb-rest-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def config(self, more="", keys=True):
        own = 'access_key_id = "%s", secret_access_key = "%s",' % (self.rest.s3.key, self.rest.s3.secret) if keys else ""
        name = os.path.join(self.dir, "ebb.lua")
        with open(name, "w", encoding="utf-8") as f:
            f.write('return { catalogs = { lake = { type = "rest", uri = "%s", %s } }, storage = { s3 = { endpoint = "%s", region = "%s", %s } } }'
                    % (self.rest.uri, more, self.rest.s3.endpoint, self.rest.s3.region, own))
        return name

    def ebb(self, *args, more="", keys=True):
        env = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"}
        return program.run(args, config=self.config(more, keys), state=os.path.join(self.dir, "state"), env=env)

    def make(self, levels, name):
        self.rest.namespace(levels, __name__)
        path = self.separator.join(urllib.parse.quote(level, safe="") for level in levels)
        status, answer = self.rest.call("POST", "namespaces/%s/tables" % path, {"name": name, "schema": SCHEMA, "stage-create": False, "properties": {}})
        self.assertIn(status, (200, 409), answer)

    def tables(self, **options):
        done = self.ebb("tables", "--json", **options)
        self.assertEqual(0, done.status, done.err)
        return {line["table"]: line for line in map(json.loads, done.out.splitlines())}

    def test_names_and_levels(self):
        for name in self.names:
            self.make(["stock"], name)
        self.make(["stock", "eu", "north"], "deep")
        found = self.tables()
        for name in ["lake.stock." + name for name in self.names] + ["lake.stock.eu.north.deep"]:
            self.assertIn(name, found)
            self.assertNotIn("error", found[name])

    def test_many_tables_on_pages(self):
        for i in range(12):
            self.make(["many"], "t%02d" % i)
        self.assertEqual(12, len([name for name in self.tables() if name.startswith("lake.many.")]))

    def test_what_is_not_there(self):
        done = self.ebb("stats", "lake.nowhere.none", "--json")
        self.assertEqual((64, "table.not_found"), (done.status, done.error()["code"]), done.err)
        done = self.ebb("tables", "--json", more='warehouse = "none-such"')
        if self.kind == "nessie":
            self.assertEqual(3, done.status)
            self.assertIn("warehouse", done.error()["hint"])


class Fixture(RestBase):
    def snapshots(self, name, count=3):
        """A table with snapshots of empty content, made by commits; the ids."""
        self.make(["exp"], name)
        loaded = self.rest.load("exp", name)
        where, ids = loaded["metadata"]["location"], []
        bucket, key = where[5:].split("/", 1)
        import rest_standin

        for i in range(count):
            ids.append(1000 + i)
            listed = "%s/metadata/snap-%d.avro" % (key, ids[-1])
            self.rest.s3.put(bucket, listed, rest_standin.EMPTY_LIST)
            made = {"snapshot-id": ids[-1], "sequence-number": i + 1, "timestamp-ms": loaded["metadata"]["last-updated-ms"] + i * 10, "schema-id": 0,
                    "summary": {"operation": "append", "total-data-files": "0", "total-delete-files": "0"}, "manifest-list": "s3://%s/%s" % (bucket, listed)}
            if i:
                made["parent-snapshot-id"] = ids[-2]
            status, answer = self.rest.call("POST", "namespaces/exp/tables/" + name, {"requirements": [], "updates": [
                {"action": "add-snapshot", "snapshot": made}, {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": ids[-1]}]})
            self.assertEqual(200, status, answer)
        return ids

    def expire(self, name, *args):
        return self.ebb("job", "expire-snapshots", "--catalog", "lake", "--table", "exp." + name, *args)

    def test_keys_of_the_catalog(self):
        self.make(["stock"], "lent")
        self.assertIn("error", self.tables(keys=False)["lake.stock.lent"])
        self.assertNotIn("error", self.tables(keys=False, more="vended_credentials = true")["lake.stock.lent"])

    def test_expire(self):
        ids = self.snapshots("old")
        status, _ = self.rest.call("POST", "namespaces/exp/tables/old", {"requirements": [], "updates": [
            {"action": "set-snapshot-ref", "ref-name": "kept", "type": "tag", "snapshot-id": ids[0]}]})
        self.assertEqual(200, status)
        import datetime

        later = (datetime.datetime.now(datetime.timezone.utc)).strftime("%Y-%m-%d %H:%M:%S.%f")[:23]
        done = self.expire("old", "--older-than", later, "--dry-run", "true")
        self.assertEqual((0, "%d\n" % ids[1]), (done.status, done.out), done.err)
        done = self.expire("old", "--older-than", later)
        self.assertEqual((0, "%d\n" % ids[1]), (done.status, done.out), done.err)
        metadata = self.rest.load("exp", "old")["metadata"]
        self.assertEqual([ids[0], ids[2]], sorted(one["snapshot-id"] for one in metadata["snapshots"]))
        self.assertEqual({"main": ids[2], "kept": ids[0]}, {name: ref["snapshot-id"] for name, ref in metadata["refs"].items()})
        self.assertEqual(ids[2], metadata["current-snapshot-id"])


class Fixture111(Fixture, unittest.TestCase):
    kind, separator = "1.11.0", "%2E"
    names = ["orders", "with space", "caf\u00e9", "plus+sign"]  # it takes no % in a path

    def test_a_name_it_can_not_take_is_told(self):
        self.make(["stock"], "orders")
        done = self.ebb("stats", "lake.stock.per%cent", "--json")
        self.assertEqual("catalog.failed", done.error()["code"], done.err)
        self.assertIn("Ambiguous", done.error()["message"])


class Fixture110(Fixture, unittest.TestCase):
    kind = "1.10.1"


class Nessie(RestBase, unittest.TestCase):
    kind = "nessie"
    names = ["orders", "with space", "caf\u00e9", "per%cent"]

    def test_it_gives_no_keys(self):
        """Asked for keys it turns signing off and gives none: ours are used."""
        self.make(["stock"], "signed")
        self.assertEqual(0, self.ebb("stats", "lake.stock.signed", more="vended_credentials = true").status)
        self.assertNotEqual(0, self.ebb("stats", "lake.stock.signed", more="vended_credentials = true", keys=False).status)

    def test_its_tables_are_not_cleaned(self):
        self.make(["stock"], "current_only")
        for args in (("plan", "lake.stock.current_only", "--json"), ("job", "expire-snapshots", "--catalog", "lake", "--table", "stock.current_only", "--json")):
            done = self.ebb(*args)
            self.assertEqual((2, "table.gc_disabled"), (done.status, done.error()["code"]), done.err)


if __name__ == "__main__":
    unittest.main()
