# SPDX-License-Identifier: Apache-2.0
"""A plan warns of files that the table references again while they lie in quarantine."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import program  # noqa: E402

ROOT = program.ROOT


class QuarantineWatch(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        case = os.path.join(ROOT, "tests", "fixtures", "tables", "c06-table-stats.tar.gz")
        subprocess.run(["tar", "--extract", "--gzip", "--directory", self.dir, "--file", case], check=True)
        self.table = os.path.join(self.dir, "wh", "c06-table-stats", "db", "st")

    def ebb(self, *args):
        return subprocess.run([os.environ.get("EBB", os.path.join(ROOT, "build", "release", "ebb")), *args, "--state",
                               os.path.join(self.dir, "state"), "--map", "file:/ebb=" + self.dir],
                              capture_output=True, text=True, check=False)

    def plan(self):
        return self.ebb("plan", self.table, "--older-than", "2026-06-01T00:00:00Z", "--json")

    def test_referenced_again(self):
        plan = json.loads(self.plan().stdout)
        applied = self.ebb("apply", "--yes", plan["plan"])
        self.assertEqual(0, applied.returncode, applied.stderr)
        self.assertNotIn("quarantine", self.plan().stderr)
        # A writer registers one of the moved statistics files again: a new metadata version names it.
        moved = [name for name in os.listdir(os.path.join(self.table, "metadata")) if name.startswith("v") and name.endswith(".json")]
        newest = max(moved, key=lambda name: int(name[1:].split(".")[0]))
        with open(os.path.join(self.table, "metadata", newest), encoding="utf-8") as f:
            metadata = json.load(f)
        gone = "file:/ebb/wh/c06-table-stats/db/st/data/edge-before.parquet"
        metadata["statistics"][0]["statistics-path"] = gone
        metadata["last-updated-ms"] += 1
        version = int(newest[1:].split(".")[0]) + 1
        with open(os.path.join(self.table, "metadata", f"v{version}.metadata.json"), "w", encoding="utf-8") as f:
            json.dump(metadata, f)
        again = self.plan()
        self.assertIn(gone + " is referenced, but lies in the quarantine of run r-", again.stderr)


if __name__ == "__main__":
    unittest.main()
