# SPDX-License-Identifier: Apache-2.0
"""A thousand random tables (EBB_GENERATED: how many; EBB_SEED: where to begin): `ebb plan` must give the oracle's answer for each."""

import concurrent.futures
import os
import shutil
import sys
import tempfile
import unittest
import zlib

import fixtures
import program

import generate
import oracle

PER_WAREHOUSE = 25
# Refusals that are found while listing: where a table has two reasons, either may come first.
LISTING = {"foreign-uuid": "location.foreign_uuid", "link-in-use": "location.link_in_use", "prefix-conflict": "location.prefix_conflict"}


class Warehouse:
    """Generated tables with a configuration that knows them."""

    def __init__(self, base, seed, count):
        self.base = base
        self.made = generate.make(seed, base, count)
        maps = {prefix: base + "/gen" for prefix in generate.PREFIXES}
        self.config = os.path.join(base, "ebb.lua")
        self.state = os.path.join(base, "state")
        listed = [tuple(m.label[len("sql.") :].rsplit(".", 1)) + (m.pointer,) for m in self.made if m.kind == "sql"]
        fixtures.make_sqlite(os.path.join(base, "catalog.db"), listed)
        os.makedirs(base + "/gen/f", exist_ok=True)
        catalogs = {
            "files": {"type": "directory", "path": base + "/gen/f"},
            "sql": {"type": "sqlite", "path": os.path.join(base, "catalog.db"), "name": "cat"},
        }
        fixtures.write_config(self.config, catalogs, maps)
        self.world = oracle.World(maps)
        self.tables = [self.world.add(m.label, m.pointer, generate.folder_of_hadoop(m)) for m in self.made]

    def expected(self, made, table):
        """The oracle's answer, or its Refusal."""
        keep_deleted, below = self.options(made)
        try:
            return oracle.judge(self.world, table, generate.CUTOFF_MS, keep_deleted=keep_deleted, below=below)
        except oracle.Refusal as refusal:
            return refusal

    def options(self, made):
        """Some tables are planned with an option: (whether deleted entries count, folder to scan or None)."""
        number = zlib.crc32(made.label.encode()) % 10
        below = "data" if number == 0 and os.path.isdir(self.world.local(made.location + "/data")) else None
        return number == 1, below

    def planned(self, made):
        """A set of local paths and the summary, or None and the error object."""
        keep_deleted, below = self.options(made)
        output = os.path.join(self.base, made.label + ".plan")
        words = ["plan", made.label, "--older-than", fixtures.OLDER_THAN, "--max-share", "1", "--json", "-o", output]
        words += ["--keep-deleted-entries"] if keep_deleted else []
        words += ["--location", made.location + "/" + below] if below else []
        done = program.run(words, self.config, self.state)
        if done.status == 2 and not done.out:
            return None, done.error()
        if done.status not in (0, 2):
            return None, {"code": "exit %d" % done.status, "message": done.err}
        header, uris, summary = program.read_plan(output)
        root = header["table"]["location"]
        folder = self.base + "/gen" + root[root.index("/gen") + 4 :]
        os.remove(output)
        return {folder + os.fsdecode(uri)[len(root) :] for uri in uris}, summary


class Generated(unittest.TestCase):
    def test_all(self):
        count = int(os.environ.get("EBB_GENERATED", "1000"))
        first = int(os.environ.get("EBB_SEED", "1"))
        seeds = range(first, first + max(1, count // PER_WAREHOUSE))
        verdicts = {}
        for seed in seeds:
            base = tempfile.mkdtemp(prefix="ebb-generated-%d-" % seed)
            try:
                self.warehouse(Warehouse(base, seed, PER_WAREHOUSE), seed, verdicts)
            finally:
                if not os.environ.get("EBB_KEEP"):
                    shutil.rmtree(base, ignore_errors=True)
        words = ", ".join("%s %d" % pair for pair in sorted(verdicts.items()))
        print("\n%d generated tables: %s" % (sum(verdicts.values()), words), file=sys.stderr)
        self.assertGreater(verdicts.get("planned", 0), sum(verdicts.values()) // 2)

    def warehouse(self, warehouse, seed, verdicts):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(warehouse.planned, warehouse.made))
        for made, table, answer in zip(warehouse.made, warehouse.tables, answers):
            expected = warehouse.expected(made, table)
            with self.subTest(seed=seed, table=made.label, note=made.note, place=warehouse.base):
                self.compare(expected, *answer)
            name = expected.name if isinstance(expected, oracle.Refusal) else "planned"
            verdicts[name] = verdicts.get(name, 0) + 1

    def compare(self, expected, candidates, summary):
        if isinstance(expected, oracle.Refusal):
            self.assertIsNone(candidates, str(expected))
            if expected.name in LISTING:
                self.assertIn(summary.get("code"), LISTING.values(), (str(expected), summary))
            else:
                self.assertEqual(summary.get("class"), expected.name, (str(expected), summary))
            return
        self.assertIsNotNone(candidates, summary)
        self.assertEqual(candidates, expected.orphans)
        self.assertEqual(summary["listed"], expected.listed)
        self.assertEqual(summary["hidden"], expected.hidden)
        self.assertEqual(summary["too_young"], expected.too_young)
        self.assertLessEqual(set(summary["held_by"]), {"zero_overlap"})


if __name__ == "__main__":
    unittest.main()
