# SPDX-License-Identifier: Apache-2.0
"""The same orphans by ebb itself, by Spark, by Spark behind Livy and by Trino: real servers, a table that Spark wrote through REST onto S3."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
import parts  # noqa: E402
import program  # noqa: E402
import servers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
DAY_MS = 86400 * 1000
PLANTED = ["data/orphan1.parquet", "data/or phan'2.parquet", "data/p=1/\u65e5.parquet", "metadata/stale-m0.avro"]
KEPT = ["data/_SUCCESS", "data/.part.parquet"]


def text(value):
    return json.dumps(value, ensure_ascii=False)


class Engines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rest = servers.rest("1.10.1")
        cls.s3 = cls.rest.s3
        cls.spark = servers.spark(cls.rest)
        cls.livy = servers.livy()
        cls.trino = servers.trino(cls.rest)
        cls.where = servers.folder("engines")
        shutil.copy(os.path.join(ROOT, "scripts", "spark", "ebb_statement.py"), cls.livy.jobs)
        for jar in parts.spark_jars():
            shutil.copy(jar, cls.livy.jobs)
        cls.rest.namespace(["eng"], __name__)
        cls.config = cls.write_config("ebb.lua")

    @classmethod
    def settings(cls, more):
        conf = {k: v for k, v in cls.spark.conf.items() if k not in ("spark.sql.session.timeZone", "spark.ui.showConsoleProgress")}
        return "{ %s }" % ", ".join("[%s] = %s" % (text(k), text(v)) for k, v in {**conf, **more}.items())

    @classmethod
    def write_config(cls, name, more=None, trino="lake"):
        more = more or {}
        jars = ",".join(os.path.join(cls.livy.jobs, os.path.basename(jar)) for jar in parts.spark_jars())
        config = os.path.join(cls.where, name)
        with open(config, "w", encoding="utf-8") as f:
            f.write("return {\n")
            f.write("  catalogs = { lake = { type = 'rest', uri = %s } },\n" % text(cls.rest.uri))
            f.write("  storage = { s3 = { endpoint = %s, region = %s, path_style = true } },\n" % (text(cls.s3.endpoint), text(cls.s3.region)))
            f.write("  engines = {\n")
            f.write("    spark = { command = { %s, '--master', 'local[1]' }, conf = %s },\n" % (text(cls.spark.program("spark-sql")), cls.settings(more)))
            f.write("    livy = { uri = %s, file = %s, conf = %s },\n" % (text(cls.livy.endpoint), text(os.path.join(cls.livy.jobs, "ebb_statement.py")), cls.settings({"spark.jars": jars, **more})))
            f.write("    trino = { uri = %s, catalog = %s },\n  },\n}\n" % (text(cls.trino.endpoint), text(trino)))
        return config

    def make(self, name):
        """A table with three files, orphans of ten days, and what must stay. Its location's key."""
        self.spark.sql("CREATE TABLE lake.eng.%s (id BIGINT, s STRING) USING iceberg" % name)
        for i in range(3):
            self.spark.sql("INSERT INTO lake.eng.%s VALUES (%d, 'x')" % (name, i))
        location = self.rest.load("eng", name)["metadata"]["location"]
        key = location.split("/", 3)[3]
        old = int(time.time() * 1000) - 10 * DAY_MS
        for one in PLANTED + KEPT:
            self.s3.put(self.rest.bucket, key + "/" + one, b"x", mtime_ms=old)
        self.s3.put(self.rest.bucket, key + "/data/young.parquet", b"x")
        return key

    def env(self):
        return {**self.spark.env(), **self.s3.env()}

    def job(self, engine, table, *more, timeout=400):
        return program.run(["job", "remove-orphan-files", "--engine", engine, "--catalog", "lake", "--table", "eng." + table, *more], config=self.config,
                           state=os.path.join(self.where, "state"), env=self.env(), timeout=timeout)

    def keys(self, key):
        return {k[len(key) + 1 :] for k in self.s3.list(self.rest.bucket, key + "/")}

    def check_removed(self, name, key, gone, before):
        self.assertEqual(before - gone, {k for k in self.keys(key) if not k.startswith(".ebb-quarantine")})
        self.assertEqual(3, self.spark.sql("SELECT count(*) FROM lake.eng.%s" % name)[0][0])

    def test_the_same_set_by_all(self):
        key = self.make("same")
        found = {engine: sorted(self.job(engine, "same", "--dry-run", "true").out.splitlines()) for engine in ("native", "spark", "livy")}
        self.assertEqual(sorted("s3://%s/%s/%s" % (self.rest.bucket, key, one) for one in PLANTED), found["native"])
        self.assertEqual(found["native"], found["spark"])
        self.assertEqual(found["native"], found["livy"])
        self.assertTrue(set(PLANTED + KEPT) <= self.keys(key))

    def removes(self, engine, gone):
        name = "by_" + engine
        key = self.make(name)
        before = self.keys(key)
        done = self.job(engine, name)
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(len(PLANTED), len(done.out.splitlines()))
        self.check_removed(name, key, set(gone), before)

    def test_native_removes(self):
        self.removes("native", PLANTED)

    def test_spark_removes(self):
        self.removes("spark", PLANTED)

    def test_livy_removes(self):
        self.removes("livy", PLANTED)

    def test_trino_removes_hidden_files_too(self):
        self.removes("trino", PLANTED + KEPT)

    def test_compare_has_no_difference(self):
        self.make("compared")
        done = program.run(["plan", "lake.eng.compared", "--compare", "spark", "--json"], config=self.config, state=os.path.join(self.where, "state"), env=self.env(), timeout=400)
        self.assertEqual(0, done.status, done.err)
        told = done.json()["compare"]
        self.assertEqual((len(PLANTED), 0, 0, 0), (told["equal"], told["only_ebb_count"], told["only_engine_count"], told["unexplained"]))

    def test_trino_spares_a_quarantine(self):
        key = self.make("kept")
        self.assertEqual(0, self.job("native", "kept").status)
        self.s3.put(self.rest.bucket, key + "/data/orphan3.parquet", b"x", mtime_ms=int(time.time() * 1000) - 10 * DAY_MS)
        done = self.job("trino", "kept", "--json")
        self.assertEqual((2, "engine.unsafe"), (done.status, done.error().get("code")), done.err)
        self.assertIn("data/orphan3.parquet", self.keys(key))

    def test_a_damaged_table_is_refused_before_any_engine(self):
        key = self.make("damaged")
        manifest = next(k for k in sorted(self.keys(key)) if k.endswith("-m0.avro") and k not in PLANTED)
        whole = self.s3.client.get(self.rest.bucket, key + "/" + manifest)
        self.s3.put(self.rest.bucket, key + "/" + manifest, whole[: len(whole) - 40])
        for engine in ("native", "spark", "livy", "trino"):
            with self.subTest(engine=engine):
                done = self.job(engine, "damaged", "--json")
                self.assertEqual(2, done.status, done.err)
                self.assertTrue(done.error()["code"].startswith("metadata."), done.err)

    def test_errors_are_one_line(self):
        self.make("wrong")
        broken = self.write_config("broken.lua", {"spark.sql.catalog.lake.uri": "http://127.0.0.1:1"}, "nobody")
        for engine in ("spark", "livy", "trino"):
            with self.subTest(engine=engine):
                done = program.run(["job", "remove-orphan-files", "--engine", engine, "--catalog", "lake", "--table", "eng.wrong"], config=broken,
                                   state=os.path.join(self.where, "state"), env=self.env(), timeout=400)
                self.assertEqual(3, done.status, done.err)
                self.assertIn("ebb: %s: " % engine, done.err)

    def test_cancel_in_the_middle(self):
        key = self.make("cancelled")
        before = self.keys(key)
        words = [program.path(), "job", "remove-orphan-files", "--engine", "spark", "--catalog", "lake", "--table", "eng.cancelled", "--config", self.config, "--state",
                 os.path.join(self.where, "cancelled")]
        running = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.env())
        folder = os.path.join(self.where, "cancelled", "engines")
        deadline = time.monotonic() + 60
        while not (os.path.isdir(folder) and os.listdir(folder)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        self.assertEqual(5, running.wait(60), running.stderr.read())
        running.stderr.close()
        self.assertEqual(before, self.keys(key))
        self.assertEqual([], os.listdir(folder))


if __name__ == "__main__":
    unittest.main(verbosity=2)
