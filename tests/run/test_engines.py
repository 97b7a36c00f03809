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


def open_state(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"


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

    def test_its_run_is_neither_purged_nor_restored(self):
        self.put("answer", self.orphans)
        self.assertEqual(0, self.job().status)
        run = self.runs()[0]["id"]
        for words, status, told in ((["purge", "--older-than", "0d"], 0, "Nothing to purge"), (["restore", run], None, "not a run that moved files"),
                                    (["apply", "--resume", run, "--yes"], None, "not a run that moved files")):
            with self.subTest(words=words):
                done = program.run(words, config=self.place.config, state=self.place.state, env=self.env)
                self.assertIn(told, done.out + done.err)
                self.assertEqual(status, done.status) if status is not None else self.assertNotEqual(0, done.status)

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


POLICY = """return policy { api = 1, name = "orphans", triggers = { time.every { "1h", anchor = "epoch" } }, guard = { deletes = { max_share = 1 } },
  decide = function(t, ctx)
    return run(all { check("there", t.location, "exists") }, action.remove_orphan_files { older_than = ctx.now - 100 * 86400000, prefix_mismatch = "error" })
  end }
"""


class Server(http.server.ThreadingHTTPServer):
    """Answers by what a test says: answer(method, path, body) → (status, JSON or text)."""

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.asked = answer, []
        self.uri = "http://127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.asked.append((self.command, self.path, body, dict(self.headers)))
        status, answer = self.server.answer(self.command, self.path, body)
        data = b"" if answer is None else answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = handle_any

    def log_message(self, *args):
        pass


class Trino(Base):
    """A stand-in that keeps to the protocol: POST registers, pages follow, errors come with status 200."""

    metadata = None
    result = None
    next_of_another = False
    hang = False

    def engines_text(self):
        self.server = Server(self.answer)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        return 'trino = { uri = "%s", token = env "FAKE_SECRET" }' % self.server.uri

    def answer(self, method, path, body):
        if method == "DELETE":
            self.hang = False
            return 204, None
        page = {"id": "20260101_000000_00001_abcde", "stats": {"state": "RUNNING"}}
        if method == "POST":
            kind = "look" if body.startswith("SELECT") else "remove"
            return 200, {**page, "nextUri": ("http://127.0.0.1:1" if self.next_of_another else self.server.uri) + "/v1/statement/queued/%s/1" % kind}
        if path.endswith("/remove/1"):
            if self.hang:
                time.sleep(0.05)
                return 200, {**page, "nextUri": self.server.uri + path}
            return 200, {**page, "stats": {"state": "FINISHED"}, "nextUri": self.server.uri + path[:-1] + "2"}
        if path.endswith("/look/1"):
            location = self.metadata or self.table["metadata"]
            return 200, {"columns": [{"name": "file", "type": "varchar"}], "data": [[location]], **page}
        if self.result:
            return self.result
        for uri in self.orphans:
            os.unlink(self.place.local(uri[len("file:") :]))
        return 200, {**page, "updateType": "ALTER TABLE EXECUTE", "columns": [{"name": "rows", "type": "bigint"}]}

    def remove(self):
        return self.job("--json", engine="trino", table=self.table["name"])

    def setUp(self):
        super().setUp()
        for path in ("data/part-0.ebb-x",):  # nothing that ebb keeps whatever its age
            self.assertFalse(os.path.exists(os.path.join(self.place.folder(self.table), path)))

    def statements(self):
        return [body for method, _, body, _ in self.server.asked if method == "POST"]

    def test_an_answer_is_followed_to_its_end(self):
        done = self.remove()
        if self.code(done) == "engine.unsafe":
            self.assertIn("ebb keeps", done.err)
            self.skipTest("the table holds files that Trino would not spare")
        self.assertEqual(0, done.status, done.err)
        look, remove = self.statements()
        self.assertEqual('SELECT "file" FROM "files"."db"."orders$metadata_log_entries" ORDER BY "timestamp" DESC LIMIT 1', look)
        self.assertTrue(remove.startswith('ALTER TABLE "files"."db"."orders" EXECUTE remove_orphan_files(retention_threshold => \''), remove)
        headers = self.server.asked[-1][3]
        self.assertEqual(("ebb", "ebb", "UTC", "Bearer s3cr3t-of-the-catalog"), tuple(headers[name] for name in ("X-Trino-User", "X-Trino-Source", "X-Trino-Time-Zone", "Authorization")))
        self.assertEqual(("done", len(self.orphans)), (self.runs()[0]["status"], self.runs()[0]["deleted"]))

    def test_trino_has_another_table(self):
        self.metadata = "file:/elsewhere/metadata/v1.metadata.json"
        self.refused(self.remove(), 2, "engine.unsafe", "")
        self.assertFalse(any(body.startswith("ALTER") for body in self.statements()))
        self.assertEqual(self.orphans, self.there(self.orphans))

    def test_trino_does_not_see_a_quarantine(self):
        run = os.path.join(self.place.folder(self.table), ".ebb-quarantine", "r-1")
        os.makedirs(run)
        with open(os.path.join(run, "run.jsonl"), "w", encoding="utf-8"):
            pass
        self.refused(self.remove(), 2, "engine.unsafe", "")
        self.assertFalse(any(body.startswith("ALTER") for body in self.statements()))

    def test_errors_come_with_status_200(self):
        self.result = (200, {"id": "20260101_000000_00001_abcde", "error": {"message": "no\nway", "errorName": "INVALID_PROCEDURE_ARGUMENT", "errorCode": 30}})
        done = self.remove()
        self.refused(done, 3, "engine.failed", "trino: INVALID_PROCEDURE_ARGUMENT: no way")
        self.assertNotIn("s3cr3t", done.err)

    def test_a_page_of_another_server_is_not_followed(self):
        self.next_of_another = True
        self.refused(self.remove(), 3, "engine.failed", "another server")

    def test_a_query_that_is_gone_is_not_known(self):
        self.result = (410, None)
        self.refused(self.remove(), 3, "engine.failed", "not known")

    def test_garbage(self):
        for answer in ("", "<html>", "[]", '{"id":1}'):
            with self.subTest(answer=answer):
                self.result = (200, answer)
                self.refused(self.remove(), 3, "engine.failed", "trino")

    def test_no_dry_run(self):
        self.refused(self.job("--dry-run", "true", "--json", engine="trino"), 64, "unsupported", "no dry run")
        self.assertEqual([], self.server.asked)


class Livy(Base):
    """A stand-in for batches: the answer comes through the log."""

    lost = False
    state = "success"
    log = None
    status = 201

    def engines_text(self):
        self.server = Server(self.answer)
        self.batches = {}
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        return 'livy = { uri = "%s", file = "/jobs/ebb_statement.py", user = "u", password = env "FAKE_SECRET" }' % self.server.uri

    def answer(self, method, path, body):
        if method == "POST":
            request = json.loads(body)
            if self.status != 201:
                return self.status, {"msg": "requirement failed: Local path /jobs/ebb_statement.py cannot be added to user sessions."}
            number = len(self.batches) + 7
            self.batches[number] = request
            if self.lost:
                return 502, "lost"
            return 201, {"id": number, "name": request["name"], "state": "starting", "log": []}
        if path.startswith("/batches?"):
            return 200, {"from": 0, "total": 1, "sessions": [{"id": i, "name": r["name"], "state": "running"} for i, r in self.batches.items()]}
        number = int(path.split("/")[2])
        if path.endswith("/state"):
            return (200, {"id": number, "state": self.state}) if self.state else (404, {"msg": "not found"})
        argument = json.loads(self.batches[number]["args"][0])
        rows = self.orphans
        if "dry_run => false" in argument["statement"]:
            for uri in rows:
                os.unlink(self.place.local(uri[len("file:") :]))
        lines = ["stdout: ", "EBB-ROWS other 0 [\"x\"]", "EBB-ROWS %s 0 %s" % (argument["key"], json.dumps(rows[:1])), "EBB-ROWS %s 1 %s" % (argument["key"], json.dumps(rows[1:])),
                 "EBB-END %s 2 %d" % (argument["key"], len(rows)), "\nstderr: ", "26/01/01 INFO x"]
        return 200, {"id": number, "from": 0, "total": len(lines), "log": self.log(lines, argument["key"]) if self.log else lines}

    def test_dry_then_real(self):
        done = self.job(engine="livy")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual([], self.there(self.orphans))
        self.assertEqual(["dry_run => true)", "dry_run => false)"], [json.loads(r["args"][0])["statement"].split(", ")[-1] for r in self.batches.values()])
        first = self.server.asked[0]
        self.assertEqual(("u", "Basic dTpzM2NyM3Qtb2YtdGhlLWNhdGFsb2c="), (first[3]["X-Requested-By"], first[3]["Authorization"]))
        self.assertEqual("UTC", self.batches[7]["conf"]["spark.sql.session.timeZone"])

    def test_a_lost_answer_is_not_asked_for_twice(self):
        self.lost = True
        self.assertEqual(0, self.job("--dry-run", "true", engine="livy").status)
        self.assertEqual(1, len(self.batches))

    def test_an_answer_that_is_not_whole(self):
        for log in (lambda lines, key: lines[:3] + lines[4:], lambda lines, key: lines[:4], lambda lines, key: lines[:2] + lines[3:], lambda lines, key: []):
            self.log = staticmethod(log)
            self.refused(self.job("--json", engine="livy"), 3, "engine.failed", "livy")
        self.assertEqual(self.orphans, self.there(self.orphans))

    def test_a_failed_batch_tells_why(self):
        self.state = "dead"
        self.log = staticmethod(lambda lines, key: ['EBB-FAILED %s "Oops: no s3cr3t-of-the-catalog here"' % key])
        done = self.job("--json", engine="livy")
        self.refused(done, 3, "engine.failed", "failed: Oops: no")
        self.assertNotIn("s3cr3t", done.err)

    def test_a_forgotten_batch_is_not_known(self):
        self.state = None
        self.refused(self.job("--json", engine="livy"), 3, "engine.failed", "not known")

    def test_a_refused_batch(self):
        self.status = 400
        self.refused(self.job("--json", engine="livy"), 3, "engine.failed", "cannot be added")


class Routed(Base):
    """Who does the job of a binding."""

    engine = '"spark"'

    def engines_text(self):
        return 'spark = { command = { "%s", "%s" } }' % (sys.executable, os.path.join(HERE, "fake_spark_sql.py"))

    def write_config(self, text):
        with open(self.place.config, "w", encoding="utf-8") as f:
            f.write(text)

    def run_policy(self, binding, begin_only=False):
        policies = os.path.join(self.place.base, "policies")
        os.makedirs(policies, exist_ok=True)
        with open(os.path.join(policies, "orphans.lua"), "w", encoding="utf-8") as f:
            f.write(POLICY)
        with open(self.place.config, encoding="utf-8") as f:
            text = f.read()
        self.put("answer", self.orphans)
        bind = 'return {\n  policies = "%s",\n  bind = { { policy = "orphans", tables = { "files.db.orders" }, mode = "%s", %s } },\n'
        self.write_config(text.replace("return {\n", bind % (policies, "observe", binding), 1))
        first = program.run(["run", "--at", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86400))], config=self.place.config, state=self.place.state, env=self.env)
        self.write_config(text.replace("return {\n", bind % (policies, "enforce", binding), 1))
        if begin_only:
            return self.begin_and_die()
        return first if first.status else program.run(["run"], config=self.place.config, state=self.place.state, env=self.env)

    def begin_and_die(self):
        """Killed while the engine removes."""
        running = subprocess.Popen([program.path(), "run", "--config", self.place.config, "--state", self.place.state], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        try:
            wait_for(lambda: os.path.exists(os.path.join(self.fake, "child")))
        finally:
            running.kill()
            running.wait()
        return None

    def test_irreversible_is_wanted(self):
        done = self.run_policy('engine = "spark"')
        self.assertIn("irreversible = true", done.out + done.err)
        self.assertEqual([], self.seen())
        self.assertEqual(self.orphans, self.there(self.orphans))

    def test_all_go_to_spark(self):
        self.run_policy('engine = "spark", irreversible = true')
        self.assertEqual(2, len(self.seen()))
        self.assertEqual([], self.there(self.orphans))

    def test_small_tables_stay_here(self):
        self.run_policy('engine = { "native", above = "50M files", use = "spark" }, irreversible = true')
        self.assertEqual([], self.seen())

    def test_large_tables_go(self):
        self.run_policy('engine = { "native", above = 1, use = "spark" }, irreversible = true')
        self.assertEqual(2, len(self.seen()))

    def test_a_run_that_died_is_asked_about_not_begun_again(self):
        self.put("mode-real", ["hang"])
        self.run_policy('engine = "spark", irreversible = true', begin_only=True)
        self.assertEqual(2, len(self.seen()))
        pid = self.seen()[1]["pid"]
        self.assertTrue(os.path.exists("/proc/%d" % pid))
        self.put("mode-real", [""])
        again = program.run(["run", "--json"], config=self.place.config, state=self.place.state, env=self.env)
        wait_for(lambda: not os.path.exists("/proc/%d" % pid) or open_state(pid) == "Z")
        self.assertEqual(2, len(self.seen()), again.out + again.err)
        self.assertEqual(["failed"], [run["status"] for run in self.runs() if run.get("engine")])
        self.assertEqual(self.orphans, self.there(self.orphans))

    def test_what_a_binding_may_not_say(self):
        for engine in ('engine = "flink"', 'engine = { "spark", above = 1, use = "spark" }', 'engine = { "native", above = "many", use = "spark" }',
                       'engine = { "native", above = "0 files", use = "spark" }', 'engine = { "native", use = "spark" }', "engine = 1"):
            with self.subTest(engine=engine):
                place = self.place = self.unpack("c02-mor")
                self.assertEqual(64, self.run_policy(engine).status)
                self.assertEqual([], self.seen(), place)


if __name__ == "__main__":
    unittest.main(verbosity=2)
