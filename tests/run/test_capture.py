# SPDX-License-Identifier: Apache-2.0
"""`ebb capture`: a table as a file. What is kept, what never leaves, and that policies decide on the file as on the table."""

import json
import os
import shutil
import tempfile
import unittest

import fixtures
import program

AT = ["--at", "2026-06-01T00:00:00Z"]
POLICY = """return policy { api = 1, name = "%s",
  params = { zone = { type = "string", default = "UTC", property = "owner.zone" } },
  decide = function(t, ctx) %s end }
"""
READS_STATS = 'return skip(all { check("files", t.stats.data_files, ">", 100000), check("o", t.properties["owner"], "==", "nobody") })'
READS_PARTITIONS = 'return skip(all { check("parts", #(t.partitions {}), ">", 100000) })'
READS_SECRET = 'return skip(all { check("s", t.properties["s3.secret-access-key"], "==", "x") })'
READS_PROPERTIES = 'local n = 0 for k, v in pairs(t.properties) do n = n + 1 end return skip(all { check("n", n, ">", 100) })'


class Capture(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ebb-capture-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        case = [c for c in fixtures.cases() if c.name == "c02-mor"][0]
        self.place = case.unpack(self.work)
        self.table = self.place.label(case.tables[0])
        self.folder = self.place.folder(case.tables[0])

    def ebb(self, *words):
        return program.run(list(words), self.place.config, self.place.state)

    def write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def policy(self, name, decide):
        return self.write(name + ".lua", POLICY % (name, decide))

    def capture(self, *words):
        done = self.ebb("capture", self.table, *AT, *words)
        self.assertEqual(done.status, 0, done.err)
        return done

    def set_properties(self, properties):
        """Properties of the table as another writer would have left them."""
        folder = os.path.join(self.folder, "metadata")
        with open(os.path.join(folder, "version-hint.text"), encoding="ascii") as f:
            name = os.path.join(folder, "v%d.metadata.json" % int(f.read()))
        with open(name, encoding="utf-8") as f:
            metadata = json.load(f)
        metadata["properties"].update(properties)
        with open(name, "w", encoding="utf-8") as f:
            json.dump(metadata, f)

    def test_without_a_policy_everything_is_kept(self):
        captured = json.loads(self.capture().out)
        self.assertEqual(captured["format"], 1)
        self.assertEqual(captured["captured_at"], "2026-06-01T00:00:00Z")
        self.assertEqual(sorted(captured), ["captured_at", "ebb", "events", "format", "table"])
        t = captured["table"]
        self.assertEqual([p["key"] for p in t["partitions"]], ["cat=a", "cat=b", "cat=c"])
        self.assertEqual(t["stats"]["data_files"], 7)
        self.assertEqual(t["stats"]["delete_files"], 4)
        self.assertEqual(len(t["snapshots"]), 5)
        self.assertEqual(t["properties"]["write.delete.mode"], "merge-on-read")

    def test_it_is_the_same_each_time(self):
        self.assertEqual(self.capture().out, self.capture().out)
        self.assertEqual(json.loads(self.capture("--json").out), json.loads(self.capture().out))
        self.assertEqual(self.capture("--json").out.count("\n"), 1)

    def test_only_what_a_policy_reads_is_kept(self):
        one = self.policy("stats", READS_STATS)
        captured = json.loads(self.capture("--policy", one).out)
        t = captured["table"]
        self.assertEqual(sorted(t), ["catalog", "format_version", "location", "name", "namespace", "properties", "stats", "uuid"])
        self.assertEqual(t["properties"], {"owner": "root"})
        self.assertEqual(captured["runs"], [])
        self.assertNotIn("events", captured)
        two = json.loads(self.capture("--policy", one, "--policy", self.policy("parts", READS_PARTITIONS)).out)
        self.assertIn("stats", two["table"])
        self.assertIn("partitions", two["table"])
        self.assertNotIn("snapshots", two["table"])

    def test_properties_that_parameters_name_are_kept(self):
        self.set_properties({"owner.zone": "Europe/Berlin"})
        captured = json.loads(self.capture("--policy", self.policy("parts", READS_PARTITIONS)).out)
        self.assertEqual(captured["table"]["properties"], {"owner.zone": "Europe/Berlin"})

    def test_secrets_never_leave(self):
        secrets = {"s3.secret-access-key": "hush-1", "s3.access-key-id": "hush-2", "credential": "hush-3", "my.token": "hush-4", "db.password": "hush-5"}
        self.set_properties(secrets)
        for words in ([], ["--policy", self.policy("secret", READS_SECRET)], ["--policy", self.policy("all", READS_PROPERTIES)]):
            out = self.capture(*words).out
            self.assertNotIn("hush", out)
            self.assertTrue(set(secrets).isdisjoint(json.loads(out)["table"]["properties"]))

    def test_a_policy_decides_on_the_file_as_on_the_table(self):
        for name, decide in (("stats", READS_STATS), ("parts", READS_PARTITIONS)):
            policy = self.policy(name, decide)
            fixture = self.write("fixture.json", self.capture("--policy", policy).out)
            records = []
            for table in (self.table, fixture):
                done = self.ebb("decide", policy, table, "--json", *AT)
                self.assertEqual(done.status, 0, done.err)
                record = json.loads(done.out)
                records.append({key: record[key] for key in ("checks", "guards", "verdict", "reads", "gas", "table", "uuid")})
            self.assertEqual(records[0], records[1])

    def test_a_decision_that_needs_manifests_is_one_decision(self):
        done = self.ebb("decide", self.policy("parts", READS_PARTITIONS), self.table, "--json", *AT)
        self.assertEqual([c["a"] for c in json.loads(done.out)["checks"]], [3])
        self.assertEqual(len(self.ebb("decisions", "--json").out.splitlines()), 1)

    def test_a_captured_table_has_the_same_stats(self):
        fixture = self.write("fixture.json", self.capture().out)
        stats = [json.loads(self.ebb("stats", table, "--json", *AT).out) for table in (self.table, fixture)]
        for found in stats:
            del found["table"]
        self.assertEqual(stats[0], stats[1])

    def test_a_policy_of_other_tables_keeps_everything(self):
        policy = self.write("other.lua", 'return policy { api = 1, name = "other", target = { tables = { "x.y.z" } }, decide = function() end }')
        done = self.capture("--policy", policy)
        self.assertIn("other does not take this table", done.err)
        self.assertIn("partitions", json.loads(done.out)["table"])

    def test_a_policy_that_goes_wrong_has_read_something(self):
        policy = self.policy("wrong", 'local x = t.stats.bytes; error("no")')
        self.assertIn("stats", json.loads(self.capture("--policy", policy).out)["table"])

    def test_errors(self):
        self.assertEqual(self.ebb("capture", "files.db.nothing").status, 64)
        self.assertEqual(self.ebb("capture", self.table, "--policy", "nowhere.lua").status, 3)
        self.assertEqual(self.ebb("capture").status, 64)
        bad = self.write("bad.json", '{"format": 7, "ebb": "8.0", "table": {}}')
        done = self.ebb("decide", self.policy("stats", READS_STATS), bad)
        self.assertEqual(done.status, 64)
        self.assertIn("bad.json: format 7, written by ebb 8.0", done.err)
        self.assertIn("hint: capture the table again", done.err)


if __name__ == "__main__":
    unittest.main()
