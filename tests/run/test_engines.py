# SPDX-License-Identifier: Apache-2.0
"""Removal by other engines, with stand-ins for them: what ebb tells them, believes of them, and refuses to let them do."""
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import fixtures
import program

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {case.name: case for case in fixtures.cases()}
OLDER_THAN = "2026-06-01 00:00:00"


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.05)


class Base(unittest.TestCase):
    engines = ""

    def unpack(self, name):
        base = tempfile.mkdtemp(prefix="ebb-engines-")
        self.addCleanup(subprocess.run, ["rm", "-rf", base], check=False)
        place = CASES[name].unpack(base)
        self.fake = os.path.join(base, "fake")
        os.mkdir(self.fake)
        with open(place.config, encoding="utf-8") as f:
            text = f.read()
        with open(place.config, "w", encoding="utf-8") as f:
            f.write(text.replace("return {\n", "return {\n  engines = { %s },\n" % self.engines_text(), 1))
        return place

    def setUp(self):
        self.place = self.unpack("c02-mor")
        self.table = self.place.case.tables[0]
        self.orphans = sorted("file:" + fixtures.text(path) for path in self.table["safe"]["orphans"])
        self.env = {"FAKE": self.fake, "FAKE_ROOT": self.place.base, "FAKE_SECRET": "s3cr3t-of-the-catalog"}

    def put(self, name, lines):
        with open(os.path.join(self.fake, name), "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write("".join(line + "\n" for line in lines))

    def job(self, *more, place=None, table="db.orders", older_than=OLDER_THAN, engine="spark"):
        place = place or self.place
        return program.run(["job", "remove-orphan-files", "--catalog", "files", "--table", table, "--older-than", older_than, "--engine", engine, *more],
                           config=place.config, state=place.state, env=self.env)

    def seen(self):
        try:
            with open(os.path.join(self.fake, "seen"), encoding="utf-8") as f:
                return [json.loads(line) for line in f]
        except FileNotFoundError:
            return []

    def there(self, uris):
        return [uri for uri in uris if os.path.exists(self.place.local(uri[len("file:") :]))]

    def runs(self):
        done = program.run(["runs", "--json"], config=self.place.config, state=self.place.state, env=self.env)
        return [json.loads(line) for line in done.out.splitlines()]

    def refused(self, done, status, code, words):
        self.assertEqual((status, code), (done.status, self.code(done)), done.err)
        self.assertIn(words, done.err)

    def code(self, done):
        return done.error().get("code")


class Spark(Base):
    def engines_text(self):
        return 'spark = { command = { "%s", "%s", "--master", "local[1]" }, conf = { ["spark.sql.catalog.files.token"] = env "FAKE_SECRET", ["spark.x"] = "a\\\\b = c" } }' % (
            sys.executable, os.path.join(HERE, "fake_spark_sql.py"))

    def test_a_dry_run_names_what_ebb_allows(self):
        self.put("answer", self.orphans)
        done = self.job("--dry-run", "true")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(len(self.orphans), len(done.out.splitlines()))
        self.assertEqual(self.orphans, self.there(self.orphans))
        seen = self.seen()
        self.assertEqual(1, len(seen))
        self.assertEqual("CALL `files`.system.remove_orphan_files(table => '`files`.`db`.`orders`', older_than => TIMESTAMP '2026-06-01 00:00:00Z', dry_run => true);\n", seen[0]["statement"])

    def test_what_is_told_is_told_in_private(self):
        self.put("answer", self.orphans)
        self.assertEqual(0, self.job("--dry-run", "true", "--spark-conf", '{"spark.sql.shuffle.partitions":"2"}').status)
        seen = self.seen()[0]
        self.assertEqual({".": "0o700", "statement.sql": "0o600", "session.properties": "0o600"}, seen["modes"])
        self.assertNotIn("s3cr3t", " ".join(seen["argv"]))
        self.assertNotIn("CALL", " ".join(seen["argv"]))
        self.assertIn("s3cr3t-of-the-catalog", seen["properties"])
        for setting in ("spark.sql.session.timeZone=UTC", "spark.sql.variable.substitute=false", "spark.sql.parser.escapedStringLiterals=false", "spark.sql.cli.print.header=true",
                        "spark.sql.shuffle.partitions=2", "spark.x=a\\\\b = c"):
            self.assertIn("\n%s\n" % setting, seen["properties"])
        self.assertEqual("C.UTF-8", seen["lc_all"])
        self.assertFalse(os.path.exists(seen["cwd"]))

    def test_a_real_run_comes_after_a_dry_one(self):
        self.put("answer", self.orphans)
        done = self.job("--json")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(["dry_run => true", "dry_run => false"], [s["statement"].split(", ")[-1].rstrip(");\n") for s in self.seen()])
        self.assertEqual([], self.there(self.orphans))
        run = self.runs()[0]
        self.assertEqual(("done", "spark", len(self.orphans)), (run["status"], run["engine"], run["deleted"]))
        with open(os.path.join(self.place.state, "audit.jsonl"), encoding="utf-8") as f:
            self.assertEqual(len(self.orphans), sum('"event":"deleted"' in line for line in f))
        plans = program.run(["plans", "--json"], config=self.place.config, state=self.place.state, env=self.env)
        self.assertEqual("applied", json.loads(plans.out.splitlines()[0])["status"])

    def test_nothing_to_remove_is_not_asked_twice(self):
        self.put("answer", [])
        self.assertEqual(0, self.job().status)
        self.assertEqual(1, len(self.seen()))

    def refuses(self, uri, words):
        self.put("answer", self.orphans + [uri])
        done = self.job("--json")
        self.refused(done, 2, "engine.unsafe", words)
        self.assertEqual(1, len(self.seen()))
        self.assertEqual(self.orphans, self.there(self.orphans))
        self.assertEqual([], self.runs())

    def test_an_offered_live_file_is_refused(self):
        self.refuses(self.table["metadata"], "is part of the table")

    def test_an_offered_hidden_file_is_refused(self):
        self.refuses(self.table["location"] + "/data/_SUCCESS", "is hidden")

    def test_an_offered_foreign_file_is_refused(self):
        self.refuses("file:/ebb/wh/c02-mor/db/orders2/data/x.parquet", "does not lie inside")
        self.fake_reset()
        self.refuses("s3://bucket/ebb/wh/c02-mor/db/orders/data/x.parquet", "does not lie inside")

    def fake_reset(self):
        os.unlink(os.path.join(self.fake, "seen"))

    def test_an_offered_young_file_is_refused(self):
        young = os.path.join(self.place.folder(self.table), "data", "young-one.parquet")
        with open(young, "wb"):
            pass
        self.refuses(self.table["location"] + "/data/young-one.parquet", "is too young")

    def test_an_offered_missing_file_is_refused(self):
        self.refuses(self.table["location"] + "/data/nobody.parquet", "is not there")

    def test_an_offered_name_in_pieces_is_refused(self):
        self.refuses("of/a/name/with/a/line/end.parquet", "is no location")

    def test_a_link_is_refused(self):
        folder = self.place.folder(self.table)
        os.symlink("zero-b1c9.parquet", os.path.join(folder, "data", "link.parquet"))
        self.refuses(self.table["location"] + "/data/link.parquet", "is no plain file")

    def test_a_damaged_table_never_reaches_the_engine(self):
        place = self.unpack("c29-damaged")
        for table in ("db.trunc_manifest", "db.short_list", "db.no_list", "db.empty_json"):
            with self.subTest(table=table):
                done = self.job("--json", place=place, table=table)
                self.assertEqual(2, done.status, done.err)
                self.assertTrue(self.code(done).startswith("metadata."), done.err)
        self.assertEqual([], self.seen())

    def test_the_floor_is_not_lowered(self):
        soon = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() - 3600))
        with open(self.place.config, encoding="utf-8") as f:
            text = f.read()
        with open(self.place.config, "w", encoding="utf-8") as f:
            f.write(text.replace("return {\n", 'return {\n  tables = { ["**"] = { allow_below_floor = true } },\n', 1))
        self.refused(self.job("--json", older_than=soon), 2, "cutoff.below_floor", "24 hours")
        self.assertEqual([], self.seen())

    def test_what_goes_beyond_the_plan_is_told(self):
        self.put("answer", self.orphans[1:])
        self.put("removes", self.orphans)
        done = self.job("--json")
        self.refused(done, 3, "run.partial", "1 files that are not in plan")
        self.assertEqual("partial", self.runs()[0]["status"])

    def test_its_own_words_are_told_but_no_secret(self):
        self.put("mode", ["exit"])
        done = self.job("--json")
        self.refused(done, 3, "engine.failed", "exit status 1: java.lang.IllegalArgumentException: Cannot remove orphan files")
        self.assertNotIn("s3cr3t", done.err + done.out)

    def test_garbage_is_no_answer(self):
        for mode in ("garbage", "silent", "no-header", "cut"):
            with self.subTest(mode=mode):
                self.put("answer", self.orphans)
                self.put("mode", [mode])
                self.refused(self.job("--json"), 3, "engine.failed", "output")
        self.assertEqual(self.orphans, self.there(self.orphans))

    def test_columns_are_found_by_name(self):
        self.put("answer", self.orphans)
        self.put("mode", ["two-columns"])
        self.assertEqual(len(self.orphans), len(self.job("--dry-run", "true").out.splitlines()))

    def test_a_failed_removal_is_told(self):
        self.put("answer", self.orphans)
        self.put("mode-real", ["exit"])
        self.refused(self.job("--json"), 3, "engine.failed", "exit status 1")
        self.assertEqual("failed", self.runs()[0]["status"])

    def test_a_program_that_is_not_there(self):
        with open(self.place.config, encoding="utf-8") as f:
            text = f.read()
        with open(self.place.config, "w", encoding="utf-8") as f:
            f.write(text.replace(sys.executable, "no-such-spark-sql"))
        self.refused(self.job("--json"), 64, "config.invalid", "no-such-spark-sql: there is no such program")

    def start(self):
        words = [program.path(), "job", "remove-orphan-files", "--catalog", "files", "--table", "db.orders", "--older-than", OLDER_THAN, "--engine", "spark", "--config",
                 self.place.config, "--state", self.place.state]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **self.env})

    def child(self):
        name = os.path.join(self.fake, "child")
        wait_for(lambda: os.path.exists(name) and os.path.getsize(name))
        with open(name, encoding="utf-8") as f:
            return int(f.read())

    @staticmethod
    def lives(pid):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
                return f.read().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_cancel_ends_the_whole_group(self):
        for mode in ("hang", "stubborn"):
            with self.subTest(mode=mode):
                self.put("mode", [mode])
                running = self.start()
                pid = self.child()
                running.send_signal(signal.SIGTERM)
                self.assertEqual(5, running.wait(60), running.stderr.read())
                running.stderr.close()
                wait_for(lambda: not self.lives(pid))
                os.unlink(os.path.join(self.fake, "child"))

    def test_what_a_dead_process_left_is_ended_first(self):
        self.put("answer", self.orphans)
        self.put("mode-real", ["hang"])
        running = self.start()
        pid = self.child()
        running.kill()
        running.wait()
        running.stderr.close()
        self.assertTrue(self.lives(pid))
        self.put("mode-real", [""])
        done = self.job()
        self.assertEqual(0, done.status, done.err)
        wait_for(lambda: not self.lives(pid))
        self.assertEqual(["done", "failed"], sorted(run["status"] for run in self.runs()))

    def test_two_processes_do_not_meddle(self):
        self.put("answer", self.orphans)
        self.put("mode", ["hang"])
        running = self.start()
        pid = self.child()
        self.refused(self.job("--json"), 2, "run.locked", "has a run of spark on it")
        self.assertTrue(self.lives(pid))
        running.send_signal(signal.SIGTERM)
        running.wait(60)
        running.stderr.close()

    def test_settings_that_ebb_relies_on_stay(self):
        for conf in ('{"spark.sql.session.timeZone":"Europe/Berlin"}', '{"x":"y"}', '{"spark.x":1}', "[]", "{"):
            with self.subTest(conf=conf):
                self.refused(self.job("--json", "--spark-conf", conf), 64, "usage", "--spark-conf")
        self.refused(self.job("--json", "--spark-conf", '{"spark.x":"y"}', engine="native"), 64, "unsupported", "--spark-conf")

    def test_names_that_the_transport_does_not_carry(self):
        for name in ("db.a;b", "db.a--b", "db.a'b", 'db.a"b'):
            done = self.job("--json", table=name)
            self.assertIn(self.code(done), ("table.not_found", "sql.invalid"), done.err)
        self.assertEqual([], self.seen())

    def test_compare_explains(self):
        self.put("answer", self.orphans[1:] + [self.table["location"] + "/data/_SUCCESS"])
        done = program.run(["plan", "files.db.orders", "--older-than", fixtures.OLDER_THAN, "--compare", "spark", "--json", "--max-share", "1"],
                           config=self.place.config, state=self.place.state, env=self.env)
        self.assertEqual(1, done.status, done.err)
        told = done.json()["compare"]
        self.assertEqual((len(self.orphans) - 1, 1, 1, 1), (told["equal"], told["only_ebb_count"], told["only_engine_count"], told["unexplained"]))
        self.assertEqual(("hidden", True), (told["only_engine"][0]["rule"], told["only_engine"][0]["explained"]))
        self.assertEqual(("missed", False), (told["only_ebb"][0]["rule"], told["only_ebb"][0]["explained"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
