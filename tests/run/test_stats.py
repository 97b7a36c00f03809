# SPDX-License-Identifier: Apache-2.0
"""`ebb stats`: every real table against PyIceberg's reading of the same manifests, and against what the summaries recorded."""

import json
import os
import shutil
import tempfile
import unittest

import fixtures
import program
import second_reader

PYTHON = second_reader.python()
NUMBERS = ("files", "bytes", "records", "delete_files", "delete_records", "max_file")


class Stats(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ebb-stats-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)

    def each_table(self):
        for case in fixtures.cases():
            base = os.path.join(self.work, case.name)
            os.makedirs(base)
            place = case.unpack(base)
            for table in case.tables:
                yield place, table
            shutil.rmtree(base, ignore_errors=True)

    def stats(self, place, table):
        done = program.run(["stats", place.label(table), "--json"], place.config, place.state)
        return json.loads(done.out) if done.status == 0 else None

    def test_orphans_are_those_of_the_last_whole_listing(self):
        place = [case for case in fixtures.cases() if case.name == "c02-mor"][0].unpack(self.work)
        table = place.case.tables[0]
        self.assertNotIn("orphans", self.stats(place, table))
        done = program.run(["plan", place.label(table), "--older-than", fixtures.OLDER_THAN, "--json"], place.config, place.state)
        plan = json.loads(done.out)
        self.assertGreater(plan["candidates"], 0)
        self.assertNotIn("partial", plan)
        for _ in range(2):
            orphans = self.stats(place, table)["orphans"]
            self.assertEqual((orphans["files"], orphans["bytes"]), (plan["candidates"], plan["candidate_bytes"]))
            below = plan["location"] + "/data/cat=a"  # a plan of a part says nothing of the whole
            done = program.run(["plan", place.label(table), "--location", below, "--older-than", fixtures.OLDER_THAN, "--json"], place.config, place.state)
            self.assertNotEqual(json.loads(done.out)["candidates"], plan["candidates"])

    @unittest.skipUnless(PYTHON or second_reader.is_wanted(), "PyIceberg is not installed (tests/requirements.txt)")
    def test_files_and_partitions_are_those_of_a_second_reader(self):
        reader = second_reader.Reader(PYTHON, "read_files.py")
        self.addCleanup(reader.close)
        compared = 0
        for place, table in self.each_table():
            mine = self.stats(place, table)
            if mine is None:
                continue  # tables that may not be opened at all have their own tests
            other = reader.read([{"metadata": table["metadata"], "maps": place.maps}])[0]
            if "unreadable" in other:
                continue
            if "manifests" in mine:
                compared += 1
                with self.subTest(case=place.case.name, table=table["name"]):
                    self.compare(mine, other)
                    if place.case.name != "c17-add-files":  # Spark's add_files leaves the sizes out of the summary
                        self.assertEqual(mine["bytes"], int(other["summary"].get("total-files-size", mine["bytes"])))
        self.assertGreaterEqual(compared, 40)

    def compare(self, mine, other):
        for key in other["stats"]:
            self.assertEqual(mine[key], other["stats"][key], key)
        mine_rows = {(p["key"], p["spec_id"]): p for p in mine["partitions"]}
        other_rows = {(p["key"], p["spec_id"]): p for p in other["partitions"]}
        self.assertEqual(sorted(mine_rows), sorted(other_rows))
        for key, row in other_rows.items():
            for number in NUMBERS:
                self.assertEqual(mine_rows[key][number], row[number], (key, number))
            if row["last_write"] is not None:
                self.assertEqual(mine_rows[key]["last_write"], row["last_write"], key)
            if row["files"]:
                self.assertEqual(mine_rows[key]["avg_file"], row["bytes"] // row["files"])
        if "total-delete-files" in other["summary"]:
            self.assertEqual(mine["delete_files"], int(other["summary"]["total-delete-files"]))


if __name__ == "__main__":
    unittest.main()
