# SPDX-License-Identifier: Apache-2.0
"""A table that Spark writes through a REST catalog onto S3: plan, apply, restore, purge, while Spark reads every row; and with a
second Spark that commits all the time."""
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402
import sqltext  # noqa: E402
from world import program  # noqa: E402

OLD_MS = 1769904000000  # 2026-02-01, before the cutoff
OLDER_THAN = "2026-06-01T00:00:00Z"
ROUNDS = 20 if os.environ.get("EBB_NIGHTLY") else 3
ORPHANS = ["data/00000-0-11111111-2222-3333-4444-555555555555-00001.parquet", "data/day=1/left over.parquet", "data/a+b%41'c.parquet", "metadata/aaaa-m0.avro",
           "metadata/snap-1-1-aaaaaaaa.avro", "data/日本.parquet", "stray.parquet"]


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rest = servers.rest(servers.parts.ICEBERG)  # whose separator Spark's metadata tables can bear
        cls.s3 = cls.rest.s3
        cls.spark = servers.spark(cls.rest)

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ebb-spark-s3-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.config = os.path.join(self.work, "ebb.lua")
        with open(self.config, "w", encoding="ascii") as f:
            f.write('return { catalogs = { lake = { type = "rest", uri = "%s" } } }\n' % self.rest.uri)
        self.state = os.path.join(self.work, "state")

    def ebb(self, *args, timeout=300):
        return program.run([*args, "--json"], self.config, self.state, self.s3.env(), timeout)

    def good(self, *args):
        done = self.ebb(*args)
        self.assertEqual(0, done.status, done.out + done.err)
        return done.json()

    def make_table(self, namespace):
        self.rest.namespace([namespace], __name__)
        self.name = "lake.%s.orders" % namespace
        self.spark.sql("CREATE TABLE %s (id BIGINT, s STRING, day INT) USING iceberg PARTITIONED BY (day)" % self.name)
        for n in range(4):
            self.insert(self.spark, n * 10, 10)
        self.rows = 40
        self.location = self.rest.load(namespace, "orders")["metadata"]["location"]
        self.prefix = self.location.split("/", 3)[3] + "/"

    def insert(self, spark, first, count):
        spark.sql("INSERT INTO %s VALUES %s" % (self.name, ", ".join("(%d, 'row %d', %d)" % (i, i, i % 3) for i in range(first, first + count))))

    def make_old(self):
        """All that is committed; nobody must be writing."""
        for key in self.s3.list(self.rest.bucket, self.prefix):
            if "/.ebb-quarantine/" not in key:
                self.s3.set_mtime(self.rest.bucket, key, OLD_MS)

    def plant(self, names):
        keys = {self.prefix + name for name in names}
        for key in keys:
            self.s3.put(self.rest.bucket, key, b"orphan " + key.encode(), OLD_MS)
        return keys

    def keys(self):
        return {key for key in self.s3.list(self.rest.bucket, self.prefix) if "/.ebb-quarantine/" not in key}

    def referenced(self, spark):
        """Keys of all that the table needs, as Spark tells."""
        paths = set()
        for text in ("file_path FROM %s.all_data_files", "file_path FROM %s.all_delete_files", "path FROM %s.all_manifests", "manifest_list FROM %s.snapshots",
                     "file FROM %s.metadata_log_entries"):
            paths |= {row[0] for row in spark.sql("SELECT " + text % self.name)}
        return {path.split("/", 3)[3] for path in paths}

    def check_rows(self, spark, least):
        """Reads every row: ids without gaps."""
        count, distinct, largest = spark.sql("SELECT count(*), count(DISTINCT id), max(id) FROM %s WHERE s = concat('row ', id)" % self.name)[0]
        self.assertEqual((count, count - 1), (distinct, largest))
        self.assertGreaterEqual(count, least)
        return count

    def plan(self, name):
        output = os.path.join(self.work, name)
        return self.good("plan", self.name, "--older-than", OLDER_THAN, "--max-share", "1", "-o", output), output

    def planned(self, output):
        return {os.fsdecode(uri).split("/", 3)[3] for uri in program.read_plan(output)[1]}


class EndToEnd(Base):
    def test_there_and_back_and_gone(self):
        self.make_table("whole")
        self.spark.sql("DELETE FROM %s WHERE id = 39" % self.name)
        self.insert(self.spark, 39, 1)
        orphans = self.plant(ORPHANS)
        self.make_old()
        before = self.keys()
        summary, output = self.plan("first.plan")
        self.assertEqual(orphans, self.planned(output))
        self.assertEqual(len(orphans), summary["candidates"])
        run = self.good("apply", output, "--yes")
        self.assertEqual(("done", len(orphans), [], []), (run["status"], run["moved"], run["skipped"], run["failed"]))
        self.assertEqual(before - orphans, self.keys())
        self.assertEqual(40, self.check_rows(self.spark, 40))
        restored = self.good("restore", run["run"])
        self.assertEqual(len(orphans), restored["restored"])
        self.assertEqual(before, self.keys())
        for key in orphans:
            self.assertEqual(b"orphan " + key.encode(), self.s3.client.get(self.rest.bucket, key))
        self.purge(orphans, before)

    def purge(self, orphans, before):
        self.make_old()
        _, output = self.plan("second.plan")
        self.assertEqual(orphans, self.planned(output))
        run = self.good("apply", output, "--yes")
        purged = self.good("purge", run["run"], "--older-than", "0d")
        self.assertEqual(len(orphans), purged["deleted"])
        left = [key for key in self.s3.list(self.rest.bucket, self.prefix) if "/.ebb-quarantine/" in key and not key.endswith((".jsonl", ".json"))]
        self.assertEqual([], [key for key in left if any(key.endswith(name) for name in ORPHANS)])
        self.assertEqual(before - orphans, self.keys())
        self.assertEqual(40, self.check_rows(self.spark, 40))
        self.assertLessEqual(self.referenced(self.spark), self.keys())


class Writer(threading.Thread):
    """Commits without pause, but while somebody holds the lock."""

    def __init__(self, test, spark):
        super().__init__(daemon=True)
        self.test, self.spark = test, spark
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.rows, self.commits, self.failure = test.rows, 0, None

    def run(self):
        try:
            while not self.ended.is_set():
                with self.lock:
                    self.test.insert(self.spark, self.rows, 5)
                    self.rows += 5
                    self.commits += 1
                    if self.commits % 7 == 0:
                        self.spark.sql("CALL lake.system.rewrite_data_files(table => '%s')" % self.test.name.split(".", 1)[1])
                time.sleep(0.05)  # so that others get the lock
        except Exception as error:  # told by the test
            self.failure = error


class Reader(threading.Thread):
    """Reads every row again and again."""

    def __init__(self, test, spark, writer):
        super().__init__(daemon=True)
        self.test, self.spark, self.writer = test, spark, writer
        self.ended, self.reads, self.failure = threading.Event(), 0, None

    def run(self):
        try:
            while not self.ended.is_set():
                self.test.check_rows(self.spark, self.writer.rows - 5)
                self.reads += 1
        except Exception as error:  # told by the test
            self.failure = error


class Concurrent(Base):
    def test_a_writer_that_commits_all_the_time(self):
        self.make_table("busy")
        other = servers.spark(self.rest, "reader")
        writer = Writer(self, self.spark)
        reader = Reader(self, other, writer)
        writer.start()
        reader.start()
        begin, moved = time.monotonic(), 0
        try:
            for number in range(ROUNDS):
                with self.subTest(round=number):
                    moved += self.round(number, writer, reader)
        finally:
            for one in (writer, reader):
                one.ended.set()
                one.join(120)
        self.assertIsNone(writer.failure)
        self.assertIsNone(reader.failure)
        self.assertFalse(writer.is_alive() or reader.is_alive())
        self.assertEqual(writer.rows, self.check_rows(other, writer.rows))
        self.assertLessEqual(self.referenced(other), self.keys())
        self.assertGreater(writer.commits, ROUNDS)
        self.assertGreater(reader.reads, 0)
        sqltext.measured("%d rounds in %.0f s: %d objects moved, %d commits, %d whole reads meanwhile"
                         % (ROUNDS, time.monotonic() - begin, moved, writer.commits, reader.reads))

    def round(self, number, writer, reader):
        rng = random.Random(number)
        with writer.lock:
            orphans = self.plant("data/day=%d/%s" % (number % 3, rng.randbytes(8).hex() + ".parquet") for _ in range(5))
            self.make_old()
        _, output = self.plan("round%d.plan" % number)
        planned = self.planned(output)  # metadata files that fell out of the log are orphans as well
        self.assertLessEqual(orphans, planned)
        self.assertEqual(set(), planned - orphans - {key for key in planned if key.endswith(".metadata.json")})
        run = self.good("apply", output, "--yes")
        self.assertEqual((len(planned), [], []), (run["moved"], run["skipped"], run["failed"]))
        if number % 4 == 1:
            self.assertEqual(len(planned), self.good("restore", run["run"])["restored"])
            for key in orphans:
                self.s3.client.delete(self.rest.bucket, key)
        elif number % 4 == 3:
            self.assertEqual(len(planned), self.good("purge", run["run"], "--older-than", "0d")["deleted"])
        self.assertIsNone(writer.failure)
        self.assertIsNone(reader.failure)
        with writer.lock:
            missing = self.referenced(self.spark) - self.keys()
        self.assertEqual(set(), missing)
        return len(planned)


if __name__ == "__main__":
    unittest.main()
