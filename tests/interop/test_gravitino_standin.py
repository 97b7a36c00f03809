# SPDX-License-Identifier: Apache-2.0
"""The stand-in for a server of Gravitino 1.3.0 answers as the real one was seen to: what other tests rely on. It needs no server."""
import base64
import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]
import daemon  # noqa: E402
import exchanges  # noqa: E402
import gravitino_server  # noqa: E402
import gravitino_wire as wire  # noqa: E402
import second_reader  # noqa: E402

LAKE = "/api/metalakes/ml"
POLICIES, RUNS, TEMPLATES = LAKE + "/policies", LAKE + "/jobs/runs", LAKE + "/jobs/templates"
TABLE = LAKE + "/objects/table/lake.shop.orders"
FINAL = ("succeeded", "failed", "cancelled")
BUILTINS = ["builtin-iceberg-rewrite-data-files", "builtin-iceberg-update-stats", "builtin-sparkpi"]
CUSTOM = {"name": "p", "policyType": "custom", "content": {"supportedObjectTypes": ["TABLE"]}}
PYTHON = second_reader.python("gravitino")


def is_there(pid):
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Base(unittest.TestCase):
    """A server with a metalake `ml`, a catalog `lake`, a schema `shop` and a table `orders`."""

    options = {}

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ebb-gravitino-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.g = gravitino_server.Gravitino(**{"pull_interval": 0.02, **self.options})
        self.addCleanup(self.g.close)
        self.addCleanup(lambda: self.assertEqual([], self.g.bugs))
        self.g.start()
        self.g.add_catalog("ml", "lake")
        self.g.add_table("ml", "lake", "shop", "orders", [{"name": "a", "type": "integer"}])

    def only_table(self, schema):
        """`orders` is in another schema."""
        self.g.metalakes["ml"].catalogs["lake"].schemas.clear()
        self.g.add_table("ml", "lake", schema, "orders", [{"name": "a", "type": "integer"}])

    def ask(self, method, path, body=None, status=None, headers=None, user=None):
        """The answer; a body that is no text is sent as JSON."""
        sent = {} if body is None else {"Content-Type": "application/json"}
        if user:
            sent["Authorization"] = "Basic " + base64.b64encode((user + ":x").encode()).decode()
        sent.update(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.g.port, timeout=20)
        with contextlib.closing(connection):
            data = json.dumps(body).encode() if body is not None and not isinstance(body, (str, bytes)) else body.encode() if isinstance(body, str) else body
            connection.request(method, path, data, {key: value for key, value in sent.items() if value is not None})
            got = connection.getresponse()
            answer = daemon.Answer(got.status, got.headers, got.read())
        if status is not None:
            self.assertEqual(status, answer.status, answer.text)
        return answer

    def get(self, path, **more):
        return self.ask("GET", path, status=200, **more).json()

    def post(self, path, body, status=200, **more):
        return self.ask("POST", path, body, status, **more).json()

    def refused(self, method, path, body, status, code, kind, reason=None, **more):
        """An error of that kind, whose message ends with the reason."""
        answer = self.ask(method, path, body, **more)
        got = answer.json()
        self.assertEqual((status, code, kind), (answer.status, got["code"], got["type"]), answer.text)
        if reason is not None:
            self.assertTrue(got["message"].endswith("reason [%s]" % reason) or got["message"] == reason, got["message"])
        return got

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def policy(self, name, **more):
        return self.post(POLICIES, {**CUSTOM, "name": name, **more})["policy"]

    def attach(self, path, add=None, remove=None, status=200):
        body = {key: value for key, value in (("policiesToAdd", add), ("policiesToRemove", remove)) if value is not None}
        return self.post(path + "/policies", body, status)


class Exchanges(exchanges.Comparison, Base):
    """Those that ebb's own interface is measured by, where they are the real server's."""

    changed = {"templates": {"sets": {"names": BUILTINS + ["echo"]}}}

    def test_what_a_real_server_answered(self):
        nap = self.write("nap", "#!/bin/sh\nexec sleep 0\n", 0o755)
        self.only_table("db")
        for exchange in exchanges.all_of_them():
            with self.subTest(exchange["name"]):
                self.check({**exchange, **self.changed.get(exchange["name"], {})}, self.asked, nap)

    def asked(self, path, method, body, headers):
        return self.ask(method, path, body, headers={"Content-Type": None, **headers})


# request, then what is answered to it: times are T, the order of sets is the alphabet's, a stack is an ellipsis
SAMPLES = [
    ("POST", POLICIES, {"name": "p", "policyType": "custom", "content": {"customRules": {"interval-hours": 168, "nul": None}, "supportedObjectTypes": ["TABLE", "CATALOG"],
                                                                        "properties": {"strategy.type": "iceberg-orphan-file-removal"}}},
     200, '{"code":0,"policy":{"name":"p","policyType":"custom","enabled":true,"content":{"customRules":{"interval-hours":168},"properties":{"strategy.type":"iceberg-orphan-file-removal"},'
          '"supportedObjectTypes":["catalog","table"]},"inherited":null,"audit":{"creator":"anonymous","createTime":"T"}}}'),
    ("POST", POLICIES, CUSTOM, 409, '{"code":1004,"type":"PolicyAlreadyExistsException","message":"Failed to operate policy(s) [p] operation [CREATE] under object [ml], '
                                    'reason [Policy with name p under metalake ml already exists]","stack":…}'),
    ("POST", POLICIES, {"name": "t", "policyType": "system_iceberg_orphan_file_removal", "content": {"supportedObjectTypes": ["TABLE"]}},
     400, '{"code":1001,"type":"IllegalArgumentException","message":"Failed to operate policy(s) [t] operation [CREATE] under object [ml], '
          'reason [Unknown built-in policy type: system_iceberg_orphan_file_removal]","stack":…}'),
    ("POST", POLICIES, "{", 400, '{"code":1001,"type":"IllegalArgumentException","message":"Malformed json request","stack":…}'),
    ("PATCH", POLICIES + "/p", {"enable": False}, 200, '{"code":0}'),
    ("POST", TABLE + "/policies", {"policiesToAdd": ["p", "no-such"]}, 200, '{"code":0,"names":["p"]}'),
    ("GET", TABLE + "/policies?details=true", None,
     200, '{"code":0,"policies":[{"name":"p","policyType":"custom","enabled":false,"content":{"customRules":{"interval-hours":168},"properties":'
          '{"strategy.type":"iceberg-orphan-file-removal"},"supportedObjectTypes":["catalog","table"]},"inherited":false,"audit":{"creator":"anonymous","createTime":"T",'
          '"lastModifier":"anonymous","lastModifiedTime":"T"}}]}'),
    ("GET", POLICIES + "/p/objects", None, 200, '{"code":0,"metadataObjects":[{"type":"table","fullName":"lake.shop.orders"}]}'),
    ("DELETE", POLICIES + "/p", None, 200, '{"code":0,"dropped":true}'),
    ("DELETE", POLICIES + "/p", None, 200, '{"code":0,"dropped":false}'),
    ("PUT", TABLE + "/statistics", {"updates": {"custom-n": 12}}, 200, '{"code":0}'),
    ("GET", TABLE + "/statistics", None, 200, '{"code":0,"statistics":[{"name":"custom-n","value":12,"reserved":false,"modifiable":true,"audit":{"creator":"anonymous","createTime":"T",'
                                              '"lastModifier":"anonymous","lastModifiedTime":"T"}}]}'),
    ("POST", TEMPLATES, {"jobTemplate": {"name": "echo", "jobType": "shell", "executable": "/bin/echo"}}, 200, '{"code":0}'),
    ("GET", TEMPLATES + "/echo", None, 200, '{"code":0,"jobTemplate":{"jobType":"shell","name":"echo","executable":"/bin/echo","arguments":[],"environments":{},"customFields":{},'
                                            '"audit":{"creator":"anonymous","createTime":"T"},"scripts":[]}}'),
    ("POST", RUNS, {"jobTemplateName": "echo", "jobConf": {"a": "1"}},
     200, '{"code":0,"job":{"jobId":"JOB","jobTemplateName":"echo","status":"queued","audit":{"creator":"anonymous","createTime":"T"}}}'),
    ("GET", RUNS + "/job-1", None, 404, '{"code":1003,"type":"NoSuchJobException","message":"Failed to operate job(s) [job-1] operation [GET] under object [ml], '
                                        'reason [Job with ID job-1 under metalake ml does not exist]","stack":…}'),
    ("POST", RUNS, {"jobTemplateName": "echo", "jobConf": {"a": None}},
     500, '{"code":1002,"type":"RuntimeException","message":"Failed to operate object operation [RUN] under [ml], reason [null value in entry: a=null]","stack":…}'),
    ("GET", LAKE + "/catalogs/lake/schemas/shop/tables/no", None,
     404, '{"code":1003,"type":"NoSuchTableException","message":"Failed to operate table(s) [no] operation [LOAD] under schema [shop], reason [Table lake.shop.no does not exist]","stack":…}'),
    ("GET", "/api/health/ready", None, 200, '{"code":0,"status":"up","checks":[{"name":"entityStore","status":"up","details":{}}]}'),
    ("POST", LAKE + "/catalogs", {"name": "c2", "type": "RELATIONAL", "provider": "lakehouse-iceberg", "properties": {"uri": "u", "jdbc-user": "x", "jdbc-password": "y"}},
     200, '{"code":0,"catalog":{"name":"c2","type":"relational","provider":"lakehouse-iceberg","properties":{"uri":"u","in-use":"true"},"audit":{"creator":"anonymous","createTime":"T"}}}'),
]


class Samples(Base):
    """Recorded answers, byte by byte."""

    def plain(self, text):
        text = re.sub(r'"\d{4}-\d\d-\d\dT[0-9:]{8}(\.(\d{3}){1,3})?Z"', '"T"', text)
        text = re.sub(r'"job-\d{16,19}"', '"JOB"', text).replace('["table","catalog"]', '["catalog","table"]')
        return re.sub(r'"stack":\[.*\]', '"stack":…', text, flags=re.S)

    def test_bodies(self):
        self.g.pull_interval = 300
        for method, path, body, status, wanted in SAMPLES:
            with self.subTest(method + " " + path, body=body):
                answer = self.ask(method, path, body)
                self.assertEqual((status, wanted), (answer.status, self.plain(answer.text)))

    def test_headers_of_an_answer(self):
        answer = self.ask("GET", "/api/version", headers={"Accept-Encoding": "gzip"}, status=200)
        self.assertEqual(("application/json", str(len(answer.body))), (answer.headers["Content-Type"], answer.headers["Content-Length"]))
        self.assertTrue(answer.headers["Server"].startswith("Jetty("))
        for name in ("ETag", "Transfer-Encoding", "Content-Encoding"):
            self.assertNotIn(name, answer.headers)

    def test_a_connection_is_kept(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.g.port, timeout=20)
        with contextlib.closing(connection):
            for _ in range(3):
                connection.request("GET", "/api/version")
                self.assertEqual(200, connection.getresponse().read() and 200)
                sock = connection.sock
            self.assertIs(sock, connection.sock)

    def test_an_idle_connection_is_closed(self):
        self.g.idle_seconds = 0.1
        connection = http.client.HTTPConnection("127.0.0.1", self.g.port, timeout=20)
        with contextlib.closing(connection):
            connection.request("GET", "/api/version")
            connection.getresponse().read()
            self.assertEqual(b"", connection.sock.recv(1))

    def test_a_stack_is_long(self):
        stack = self.ask("GET", RUNS + "/job-1").json()["stack"]
        self.assertTrue(77 <= len(stack) <= 130, len(stack))
        self.assertIn("NoSuchJobException", stack[0])

    def test_instants(self):
        for ns, text in ((0, ".000000000"[:0]), (5 * 10**8, ".500"), (123456000, ".123456"), (952577650, ".952577650")):
            self.assertEqual("1970-01-01T00:00:00%sZ" % text, wire.instant(ns))
        self.g.clock = lambda: 10**18
        self.assertEqual("2001-09-09T01:46:40Z", self.policy("p")["audit"]["createTime"])

    def test_numbers_are_written_as_java_does(self):
        for value, text in ((1.5e14, "1.5E14"), (0.0, "0.0"), (1e7, "1.0E7"), (1234567.5, "1234567.5"), (0.001, "0.001"), (0.00012, "1.2E-4"), (-2.5e-10, "-2.5E-10"), (123456789.25, "1.2345678925E8")):
            self.assertEqual(text, wire.dumps(value))

    def test_what_is_unreadable(self):
        for body in ("", "{", "[]", "null", '{"name":', '{"name":"x","policyType":"custom","content":{"supportedObjectTypes":["NOTHING"]}}', '{"name":["x"]}', "\x00", '{"n": NaN}',
                     '{"name":"x","policyType":"custom","content":{"supportedObjectTypes":["TABLE"],"more":1}}', '{"name":"x","more":1}'):
            if body:
                got = self.refused("POST", POLICIES, body, 400, 1001, "IllegalArgumentException", "Malformed json request")
                self.assertTrue(got["stack"][0].startswith("com.fasterxml.jackson"), got["stack"][0])
        self.refused("POST", POLICIES, gzip.compress(b"{}"), 400, 1001, "IllegalArgumentException", "Malformed json request", headers={"Content-Encoding": "gzip"})


class Transport(Base):
    def test_statuses_without_json(self):
        for method, path, body, headers, status, kind in (
                ("DELETE", TABLE + "/statistics", None, {}, 405, None), ("DELETE", RUNS + "/job-1", None, {}, 405, None), ("PUT", "/api/metalakes", {}, {}, 405, None),
                ("GET", "/api/version", None, {"Accept": "application/vnd.gravitino.v2+json"}, 406, None), ("GET", LAKE + "/nothing", None, {}, 404, "text/html"),
                ("GET", "/other", None, {}, 404, "text/html"), ("POST", POLICIES, "{}", {"Content-Type": None}, 415, "text/html"),
                ("POST", POLICIES, "{}", {"Content-Type": "text/plain"}, 415, "text/html")):
            with self.subTest(method + " " + path, headers=headers):
                answer = self.ask(method, path, body, status, headers)
                self.assertEqual((kind or ""), (answer.headers["Content-Type"] or "").split(";")[0])
                self.assertEqual(kind is None, answer.body == b"")
                self.assertEqual(status == 405, "Allow" in answer.headers)
        self.assertIn("POST", self.ask("DELETE", RUNS + "/job-1").headers["Allow"])
        for accept in (None, "*/*", "application/json", "application/vnd.gravitino.v1+json"):
            self.ask("GET", "/api/version", status=200, headers={"Accept": accept})

    def test_who_asks(self):
        for header, user in ((None, "anonymous"), ("Basic YW5uYTp4", "anna"), ("Basic " + base64.b64encode(b"bob").decode(), "bob"), ("Basic ???", "anonymous"), ("Basic ", "anonymous")):
            answer = self.ask("POST", POLICIES, {**CUSTOM, "name": "of %s" % header}, 200, {"Authorization": header})
            self.assertEqual(user, answer.json()["policy"]["audit"]["creator"])
        for header in ("Bearer x", "Negotiate x"):
            self.refused("GET", POLICIES, None, 401, 1011, "UnauthorizedException", "The provided credentials did not support", headers={"Authorization": header})
            self.ask("GET", "/api/health/live", status=200, headers={"Authorization": header})

    def test_segments_are_decoded_once(self):
        for name in ("a/b=c", "ü!", "a b", "%2F", "a?b#c", "x" * 300, "a+b"):
            path = POLICIES + "/" + urllib.parse.quote(name, safe="")
            self.policy(name)
            self.assertEqual(name, self.get(path)["policy"]["name"])
            self.assertTrue(self.ask("DELETE", path).json()["dropped"])

    def test_what_is_unknown_in_a_query_is_ignored(self):
        self.policy("p")
        self.assertEqual(["p"], self.get(POLICIES + "?limit=0&details=nonsense")["names"])


class Oauth(Base):
    options = {"auth": "oauth", "client": ("engine", "s3cret"), "token_seconds": 0.5}

    def token(self, status=200, **form):
        form = {"grant_type": "client_credentials", "client_id": "engine", "client_secret": "s3cret", "scope": "x", **form}
        return self.ask("POST", "/oauth/token", urllib.parse.urlencode(form), status, {"Content-Type": "application/x-www-form-urlencoded"}).json()

    def test_a_token_and_its_end(self):
        got = self.token()
        self.assertEqual("Bearer", got["token_type"])
        bearer = {"Authorization": "Bearer " + got["access_token"]}
        self.assertEqual("engine", self.post(POLICIES, CUSTOM, headers=bearer)["policy"]["audit"]["creator"])
        self.refused("GET", POLICIES, None, 401, 1011, "UnauthorizedException")
        for wrong in ("Bearer x", "Basic YW5uYTp4", "Bearer " + got["access_token"][:-1]):
            self.refused("GET", POLICIES, None, 401, 1011, "UnauthorizedException", headers={"Authorization": wrong})
        daemon.wait(lambda: self.ask("GET", POLICIES, headers=bearer).status == 401, 5, what="the end of the token")
        self.assertNotEqual(got["access_token"], self.token()["access_token"])

    def test_what_gets_no_token(self):
        self.assertEqual("invalid_client", self.token(401, client_secret="x")["error"])
        self.assertEqual("unsupported_grant_type", self.token(400, grant_type="password")["error"])
        self.ask("GET", "/health/ready", status=200)

    def test_tokens_that_were_revoked(self):
        self.g.token_seconds = 3600
        bearer = {"Authorization": "Bearer " + self.token()["access_token"]}
        self.ask("GET", POLICIES, status=200, headers=bearer)
        self.g.expire_tokens()
        self.ask("GET", POLICIES, status=401, headers=bearer)


class Tables(Base):
    schemas = LAKE + "/catalogs/lake/schemas"

    def test_made_by_requests(self):
        self.post("/api/metalakes", {"name": "m2"})
        lake = "/api/metalakes/m2"
        self.post(lake + "/catalogs", {"name": "c", "type": "RELATIONAL", "provider": "lakehouse-iceberg", "properties": {"warehouse": "file:/wh/"}})
        self.post(lake + "/catalogs/c/schemas", {"name": "s"})
        tables = lake + "/catalogs/c/schemas/s/tables"
        columns = [{"name": "id", "type": "long", "nullable": False}, {"name": "at", "type": "timestamp_tz"}]
        day = [{"strategy": "day", "fieldName": ["at"]}]
        made = self.post(tables, {"name": "t", "columns": columns, "partitioning": day})["table"]
        self.assertEqual(({}, "timestamp_tz", "none"), (made["properties"], made["columns"][1]["type"], made["distribution"]["strategy"]))
        got = self.get(tables + "/t")["table"]
        self.assertEqual({"location": "file:/wh/s/t", "current-snapshot-id": "none", "format": "iceberg/parquet", "provider": "iceberg", "format-version": "2"}, got["properties"])
        self.assertEqual(({"name": "id", "type": "long", "nullable": False, "autoIncrement": False}, "timestamp_tz(6)", day, "hash", []),
                         (got["columns"][0], got["columns"][1]["type"], got["partitioning"], got["distribution"]["strategy"], got["indexes"]))
        self.refused("POST", tables, {"name": "t", "columns": columns}, 409, 1004, "TableAlreadyExistsException")
        for path, body in ((tables, {"name": "a.b", "columns": columns}), (lake + "/catalogs", {"name": "a.b", "type": "RELATIONAL"}), ("/api/metalakes", {"name": "a.b"})):
            self.refused("POST", path, body, 400, 1001, "IllegalArgumentException")
        self.assertTrue(self.ask("DELETE", tables + "/t").json()["dropped"])
        self.assertFalse(self.ask("DELETE", tables + "/t").json()["dropped"])

    def test_a_commit_shows_at_once(self):
        self.g.set_properties("ml", "lake", "shop", "orders", current_snapshot_id="7", location="s3://b/x")
        shown = self.get(self.schemas + "/shop/tables/orders")["table"]["properties"]
        self.assertEqual(("7", "s3://b/x"), (shown["current-snapshot-id"], shown["location"]))
        self.g.add_table("ml", "lake", "shop", "later", comment="c")
        self.assertEqual({"orders", "later"}, {one["name"] for one in self.get(self.schemas + "/shop/tables")["identifiers"]})
        self.ask("PUT", self.schemas + "/shop/tables/orders", {"updates": [{"@type": "setProperty", "property": "k", "value": "v"}]}, 200)
        self.assertEqual("v", self.get(self.schemas + "/shop/tables/orders")["table"]["properties"]["k"])

    def test_what_is_not_there(self):
        for path, kind in (("/catalogs/no/schemas", "NoSuchCatalogException"), ("/catalogs/lake/schemas/no", "NoSuchSchemaException"), ("/catalogs/lake/schemas/no/tables", "NoSuchSchemaException"),
                           ("/catalogs/lake/schemas/shop/tables/no", "NoSuchTableException"), ("/catalogs/no", "NoSuchCatalogException")):
            self.refused("GET", LAKE + path, None, 404, 1003, kind)
        self.refused("GET", "/api/metalakes/no/policies", None, 404, 1003, "NoSuchMetalakeException", "Metalake no does not exist")
        self.refused("GET", self.schemas + "/shop/tables/orders/partitions", None, 405, 1006, "UnsupportedOperationException")

    def test_a_catalog_that_is_not_in_use(self):
        self.ask("PATCH", LAKE + "/catalogs/lake", {"inUse": False}, 200)
        self.assertEqual("false", self.get(LAKE + "/catalogs/lake")["catalog"]["properties"]["in-use"])
        for path in (self.schemas, self.schemas + "/shop/tables", self.schemas + "/shop/tables/orders", TABLE + "/policies", LAKE + "/objects/catalog/lake/policies"):
            self.refused("GET", path, None, 409, 1009, "CatalogNotInUseException")
        self.assertTrue(self.ask("DELETE", LAKE + "/catalogs/lake?force=true").json()["dropped"])

    def test_in_use_is_not_dropped(self):
        self.refused("DELETE", LAKE + "/catalogs/lake", None, 409, 1010, "CatalogInUseException")
        self.refused("DELETE", LAKE, None, 409, 1010, "MetalakeInUseException")
        self.ask("PATCH", LAKE, {"inUse": False}, 200)
        for path in ("/catalogs", "/policies", "/jobs/runs"):
            self.refused("GET", LAKE + path, None, 409, 1009, "MetalakeNotInUseException")
        self.assertTrue(self.ask("DELETE", LAKE + "?force=true").json()["dropped"])
        self.assertFalse(self.ask("DELETE", LAKE).json()["dropped"])

    def test_a_catalog_behind(self):
        """Tables of an Iceberg catalog in SQLite, as they are at each request."""
        metadata = {"format-version": 2, "location": "file:/wh/db/t", "current-schema-id": 0, "default-spec-id": 0, "current-snapshot-id": 12, "properties": {"a": "b", "write.format.default": "orc"},
                    "schemas": [{"schema-id": 0, "fields": [
                        {"id": 1, "name": "n", "required": True, "type": "int"}, {"id": 2, "name": "s", "required": False, "type": {"type": "struct", "fields": [
                            {"id": 3, "name": "d", "required": False, "type": "decimal(9, 2)"}]}}, {"id": 4, "name": "l", "required": False, "type": {
                                "type": "list", "element-id": 5, "element": "timestamptz", "element-required": False}}, {"id": 6, "name": "f", "required": False, "type": "fixed[4]"}]}],
                    "partition-specs": [{"spec-id": 0, "fields": [{"source-id": 1, "transform": "bucket[4]"}, {"source-id": 3, "transform": "identity"}, {"source-id": 6, "transform": "void"}]}]}
        path = self.write("t.metadata.json", json.dumps(metadata))
        database = os.path.join(self.dir, "c.db")
        with contextlib.closing(sqlite3.connect(database)) as db, db:
            db.execute("CREATE TABLE iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location)")
            db.execute("INSERT INTO iceberg_tables VALUES ('lake', 'db', 't', ?, NULL)", ("file:" + path,))
        self.g.backing = gravitino_server.sqlite_backing({"lake": (database, "lake")})
        got = self.get(self.schemas + "/db/tables/t")["table"]
        self.assertEqual({"location": "file:/wh/db/t", "current-snapshot-id": "12", "format": "iceberg/orc", "provider": "iceberg", "format-version": "2", "a": "b", "write.format.default": "orc"}, got["properties"])
        self.assertEqual([{"strategy": "bucket", "numBuckets": 4, "fieldNames": [["n"]]}, {"strategy": "identity", "fieldName": ["s", "d"]}], got["partitioning"])
        self.assertEqual(["integer", {"type": "struct", "fields": [{"name": "d", "type": "decimal(9,2)", "nullable": True}]}, {"type": "list", "elementType": "timestamp_tz(6)", "containsNull": True}, "fixed(4)"],
                         [column["type"] for column in got["columns"]])
        metadata["current-snapshot-id"] = 13
        self.write("t.metadata.json", json.dumps(metadata))
        self.assertEqual("13", self.get(self.schemas + "/db/tables/t")["table"]["properties"]["current-snapshot-id"])
        self.assertEqual({"db", "shop"}, {one["name"] for one in self.get(self.schemas)["identifiers"]})
        self.attach(LAKE + "/objects/table/lake.db.t", [])
        os.unlink(database)
        self.refused("GET", self.schemas, None, 502, 1007, "ConnectionFailedException")


class Policies(Base):
    def update(self, name, *updates, status=200):
        return self.ask("PUT", POLICIES + "/" + name, {"updates": list(updates)}, status).json()

    def test_contents(self):
        got = self.policy("c", policyType="SYSTEM_Iceberg_Compaction", content={"minDeleteFileNumber": "5"})
        self.assertEqual({"minDataFileMse": 405323966463344, "minDeleteFileNumber": 5, "dataFileMseWeight": 1, "deleteFileNumberWeight": 100, "maxPartitionNum": 50, "rewriteOptions": {}}, got["content"])
        rules = {"a": [1, {"b": None}], "big": 12345678901234567890, "n": None, "x": {"y": 1.5}}
        got = self.policy("r", content={"customRules": rules, "supportedObjectTypes": ["table", "TABLE", "column"]})["content"]
        self.assertEqual({"a": [1, {}], "big": 12345678901234567890, "x": {"y": 1.5}}, got["customRules"])
        self.assertEqual({"table", "column"}, set(got["supportedObjectTypes"]))
        self.assertNotIn("properties", got)

    def test_what_is_refused(self):
        for more, reason in (
                ({"policyType": "system_x"}, "Unknown built-in policy type: system_x"),
                ({"policyType": "foo"}, "Unknown policy type: foo, it should start with 'system_' or be 'custom'"),
                ({"policyType": "foo", "content": {}}, "supportedObjectTypes cannot be empty"), ({"content": {"supportedObjectTypes": []}}, "supportedObjectTypes cannot be empty"),
                ({"policyType": "system_iceberg_orphan_file_removal"}, "Unknown built-in policy type: system_iceberg_orphan_file_removal"),
                ({"policyType": "system_iceberg_compaction", "content": {"maxPartitionNum": 0}}, "maxPartitionNum must be > 0"),
                ({"policyType": "system_iceberg_compaction", "content": {"rewriteOptions": {"job.options.a": "b"}}}, "rewrite option key 'job.options.a' must not start with 'job.options.'"),
                ({"policyType": "system_iceberg_compaction", "content": {"rewriteOptions": {"a": " "}}}, "rewrite option 'a' must have non-empty value"),
                ({"name": " "}, '"name" is required and cannot be empty'), ({"content": None}, '"content" is required and cannot be null')):
            with self.subTest(more=more):
                self.refused("POST", POLICIES, {**CUSTOM, **more}, 400, 1001, "IllegalArgumentException", reason)
        self.refused("POST", POLICIES, {**CUSTOM, "policyType": "system_iceberg_orphan_file_removal", "content": {"olderThanDays": 3}}, 400, 1001, "IllegalArgumentException", "Malformed json request")
        self.assertEqual([], self.get(POLICIES)["names"])

    def test_updates(self):
        self.policy("p", comment="c", content={"customRules": {"a": 1}, "supportedObjectTypes": ["TABLE"], "properties": {"k": "v"}})
        before = self.get(POLICIES + "/p")["policy"]
        self.assertNotIn("lastModifiedTime", before["audit"])
        got = self.update("p")["policy"]
        self.assertEqual("anonymous", got["audit"]["lastModifier"])
        new = {"@type": "updateContent", "policyType": "custom", "newContent": {"supportedObjectTypes": ["SCHEMA"]}, "ignored": 1}
        self.assertEqual({"supportedObjectTypes": ["schema"]}, self.update("p", new)["policy"]["content"])
        self.refused("PUT", POLICIES + "/p", {"updates": [{**new, "policyType": "system_iceberg_compaction", "newContent": {}}]}, 400, 1001, "IllegalArgumentException")
        self.refused("PUT", POLICIES + "/p", {"updates": [{"@type": "other"}]}, 400, 1001, "IllegalArgumentException", "Malformed json request")
        self.policy("q")
        self.refused("PUT", POLICIES + "/p", {"updates": [{"@type": "rename", "newName": "q"}]}, 500, 1002, "RuntimeException")
        self.attach(TABLE, ["p"])
        self.assertEqual("p2", self.update("p", {"@type": "rename", "newName": "p2"}, {"@type": "updateComment", "newComment": "d"})["policy"]["name"])
        self.assertEqual(["p2"], self.get(TABLE + "/policies")["names"])
        self.refused("GET", POLICIES + "/p", None, 404, 1003, "NoSuchPolicyException", "Policy with name p under metalake ml does not exist")

    def test_enabling(self):
        created = self.policy("p")["audit"]
        self.ask("PATCH", POLICIES + "/p", {"enable": True}, 200)
        self.assertEqual(created, self.get(POLICIES + "/p")["policy"]["audit"])
        self.ask("PATCH", POLICIES + "/p", {"enable": False}, 200)
        self.assertFalse(self.get(POLICIES + "/p")["policy"]["enabled"])
        self.refused("PATCH", POLICIES + "/no", {"enable": True}, 404, 1003, "NoSuchPolicyException")

    def test_eight_at_once_all_win(self):
        self.policy("p")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = pool.map(lambda n: self.ask("PUT", POLICIES + "/p", {"updates": [{"@type": "updateComment", "newComment": str(n)}]}).status, range(8))
            self.assertEqual([200] * 8, list(statuses))

    def test_association(self):
        for name in "abc":
            self.policy(name)
        self.assertEqual({"a", "b"}, set(self.attach(TABLE, ["a", "b", "unknown"])["names"]))
        got = self.refused("POST", TABLE + "/policies", {"policiesToAdd": ["c", "a"], "policiesToRemove": ["b"]}, 409, 1004, "PolicyAlreadyAssociatedException")
        self.assertIn("[c, a]", got["message"])
        self.assertEqual({"a", "b"}, set(self.get(TABLE + "/policies")["names"]))
        self.assertEqual(["a"], self.attach(TABLE, ["c"], ["b", "c", "unknown"])["names"])
        self.assertEqual(["a"], self.attach(TABLE, remove=["b"])["names"])
        self.refused("POST", TABLE + "/policies", {}, 400, 1001, "IllegalArgumentException", "policiesToAdd and policiesToRemove cannot both be null")
        for kind, name, status, code, error in (
                ("table", "lake.shop.no", 404, 1003, "NoSuchMetadataObjectException"), ("tabel", "lake.shop.orders", 400, 1001, "IllegalArgumentException"),
                ("column", "lake.shop.orders.a", 400, 1001, "IllegalArgumentException"), ("metalake", "ml", 400, 1001, "IllegalArgumentException"),
                ("table", "lake.shop", 400, 1001, "IllegalArgumentException"), ("fileset", "lake.shop.f", 404, 1003, "NoSuchMetadataObjectException")):
            self.refused("POST", "%s/objects/%s/%s/policies" % (LAKE, kind, name), {"policiesToAdd": ["a"]}, status, code, error)

    def test_inheritance(self):
        for name in ("here", "schema", "catalog", "both"):
            self.policy(name)
        for path, names in ((TABLE, ["here", "both"]), (LAKE + "/objects/SCHEMA/lake.shop", ["schema"]), (LAKE + "/objects/Catalog/lake", ["catalog", "both"])):
            self.attach(path, names)
        seen = self.get(TABLE + "/policies?details=true")["policies"]
        self.assertEqual({"here": False, "both": False, "schema": True, "catalog": True}, {policy["name"]: policy["inherited"] for policy in seen})
        self.assertEqual(4, len(self.get(TABLE + "/policies")["names"]))
        self.assertIs(True, self.get(TABLE + "/policies/schema")["policy"]["inherited"])
        self.assertIs(False, self.get(TABLE + "/policies/both")["policy"]["inherited"])
        self.assertIsNone(self.get(POLICIES + "/both")["policy"]["inherited"])
        got = self.refused("GET", TABLE + "/policies/no", None, 404, 1003, "NoSuchPolicyException")
        self.assertNotIn("stack", got)
        self.ask("DELETE", POLICIES + "/both", status=200)
        self.g.drop_table("ml", "lake", "shop", "orders")
        self.assertEqual([], self.get(POLICIES + "/here/objects")["metadataObjects"])


class Newer(Base):
    options = {"newer": True}

    def test_types_of_later_releases(self):
        orphan = self.policy("o", policyType="system_iceberg_orphan_file_removal", content={"olderThanDays": 4, "location": "file:/x"})
        self.assertEqual({"olderThanDays": 4, "location": "file:/x", "dryRun": False}, orphan["content"])
        self.policy("e", policyType="system_iceberg_snapshot_expiration", content={})
        self.refused("POST", POLICIES, {"name": "x", "policyType": "system_iceberg_orphan_file_removal", "content": {"supportedObjectTypes": ["TABLE"]}}, 400, 1001, "IllegalArgumentException")


class Statistics(Base):
    path = TABLE + "/statistics"

    def values(self):
        return {one["name"]: one["value"] for one in self.get(self.path)["statistics"]}

    def test_values(self):
        self.ask("PUT", self.path, '{"updates":{"custom-i":1,"custom-big":12345678901234567890,"custom-d":1.5e14,"custom-s":"y","custom-b":true,"custom-l":[1,"a"],"custom-o":{"k":2}}}', 200)
        self.assertEqual({"custom-i": 1, "custom-big": -6101065172474983726, "custom-d": 1.5e14, "custom-s": "y", "custom-b": True, "custom-l": [1, "a"], "custom-o": {"k": 2}}, self.values())
        self.assertIn('"value":1.5E14', self.ask("GET", self.path).text)
        self.ask("PUT", self.path, {"updates": {"custom-i": 2}}, 200)
        self.assertEqual((2, "y"), (self.values()["custom-i"], self.values()["custom-s"]))

    def test_what_is_refused(self):
        self.refused("PUT", self.path, {"updates": {"custom-a": 1, "n": 1}}, 400, 1001, "IllegalStatisticNameException", "Statistic name must start with custom- , but got: n")
        self.refused("PUT", self.path, {"updates": {"custom-a": None}}, 400, 1001, "IllegalArgumentException")
        self.refused("PUT", self.path, {"updates": {}}, 400, 1001, "IllegalArgumentException")
        self.refused("GET", LAKE + "/objects/schema/lake.shop/statistics", None, 405, 1006, "UnsupportedOperationException")
        self.refused("GET", LAKE + "/objects/table/lake.shop.no/statistics", None, 404, 1003, "NoSuchMetadataObjectException")
        self.assertEqual({}, self.values())

    def test_of_partitions(self):
        path = self.path + "/partitions"
        key = '[{"day":"2026-01-02"},{"region":"eu"}]'
        self.ask("PUT", path, {"updates": [{"partitionName": name, "statistics": {"custom-x": 1, "custom-y": 2}} for name in (key, "b", "c", "d")]}, 200)
        for query, wanted in (("", [key, "b", "c", "d"]), ("?from=b", ["b", "c", "d"]), ("?to=c", [key, "b"]), ("?from=b&to=d&fromInclusive=false&toInclusive=true", ["c", "d"]), ("?from=x", [])):
            self.assertEqual(wanted, [one["partitionName"] for one in self.get(path + query)["partitionStatistics"]], query)
        drop = {"drops": [{"partitionName": "b", "statisticNames": ["custom-x", "no"]}]}
        self.assertEqual([True, False], [self.post(path, drop)["dropped"] for _ in range(2)])
        self.assertEqual(["custom-y"], [one["name"] for one in self.get(path + "?from=b&to=b&toInclusive=true")["partitionStatistics"][0]["statistics"]])
        for method, body in (("PUT", {"updates": []}), ("POST", {"drops": []})):
            self.refused(method, path, body, 400, 1001, "IllegalArgumentException")
        self.assertEqual({}, self.values())


class Jobs(Base):
    def script(self, name, text, mode=0o755):
        return self.write(name, "#!/bin/sh\n" + text + "\n", mode)

    def register(self, executable, name="j", **more):
        self.post(TEMPLATES, {"jobTemplate": {"name": name, "jobType": "shell", "executable": executable, **more}})

    def start(self, conf=None, name="j", **more):
        return self.post(RUNS, {"jobTemplateName": name, **({} if conf is None else {"jobConf": conf})}, **more)["job"]["jobId"]

    def status(self, job_id):
        return self.get(RUNS + "/" + job_id)["job"]["status"]

    def until(self, job_id, *states):
        return daemon.wait(lambda: self.status(job_id) in states and self.status(job_id), 10, 0.01, what="%s of a run" % (states,))

    def run_all(self, executable, conf=None, **more):
        """A run that has ended, of a fresh template."""
        self.register(executable, **more)
        job_id = self.start(conf)
        self.until(job_id, *FINAL)
        return self.g.run(job_id)


class Templates(Jobs):
    def test_built_in_ones(self):
        self.assertEqual(BUILTINS, sorted(self.get(TEMPLATES)["names"]))
        for name in BUILTINS:
            self.assertEqual({"version": "v1"}, self.get(TEMPLATES + "/" + name)["jobTemplate"]["customFields"])
            self.refused("DELETE", TEMPLATES + "/" + name, None, 400, 1001, "IllegalJobTemplateOperationException")
            self.refused("PUT", TEMPLATES + "/" + name, {"updates": []}, 400, 1001, "IllegalJobTemplateOperationException")
        self.refused("POST", TEMPLATES, {"jobTemplate": {"name": "builtin-x", "jobType": "shell", "executable": "/x"}}, 400, 1001, "IllegalJobTemplateOperationException")
        self.assertEqual(["jobType", "name", "comment", "executable", "arguments", "environments", "customFields", "audit", "className", "jars", "files", "archives", "configs"],
                         list(self.get(TEMPLATES + "/builtin-sparkpi")["jobTemplate"]))

    def test_what_is_refused(self):
        self.register("/x")
        self.refused("POST", TEMPLATES, {"jobTemplate": {"name": "j", "jobType": "shell", "executable": "/x"}}, 409, 1004, "JobTemplateAlreadyExistsException")
        for fields in ({"jobType": "other"}, {}, {"jobType": "shell", "more": 1}, {"jobType": "shell", "className": "x"}):
            self.refused("POST", TEMPLATES, {"jobTemplate": {"name": "y", "executable": "/x", **fields}}, 400, 1001, "IllegalArgumentException", "Malformed json request")
        self.refused("POST", TEMPLATES, {"jobTemplate": {"name": "y", "jobType": "shell"}}, 400, 1001, "IllegalArgumentException")
        self.refused("GET", TEMPLATES + "/no", None, 404, 1003, "NoSuchJobTemplateException", "Job template with name no under metalake ml does not exist")

    def test_changes(self):
        self.register("/bin/true", arguments=["a"], comment="c")
        job_id = self.start()
        self.until(job_id, "succeeded")
        got = self.ask("PUT", TEMPLATES + "/j", {"updates": [{"@type": "rename", "newName": "k"}, {"@type": "updateComment", "newComment": "d"}, {
            "@type": "updateTemplate", "newTemplate": {"@type": "shell", "newArguments": [], "newScripts": ["/s"]}}]}, 200).json()["jobTemplate"]
        self.assertEqual(("k", "d", [], ["/s"], "/bin/true"), tuple(got[key] for key in ("name", "comment", "arguments", "scripts", "executable")))
        self.assertEqual("k", self.get(RUNS + "/" + job_id)["job"]["jobTemplateName"])
        self.assertEqual(1, len(self.get(RUNS + "?jobTemplateName=k")["jobs"]))
        self.refused("PUT", TEMPLATES + "/k", {"updates": [{"@type": "updateTemplate", "newTemplate": {"@type": "spark"}}]}, 400, 1001, "IllegalArgumentException")
        self.refused("PUT", TEMPLATES + "/k", {"updates": [{"@type": "rename", "newName": "builtin-z"}]}, 400, 1001, "IllegalJobTemplateOperationException")
        self.register("/y")
        self.refused("PUT", TEMPLATES + "/k", {"updates": [{"@type": "rename", "newName": "j"}]}, 500, 1002, "RuntimeException")

    def test_deleting(self):
        self.register("/bin/sleep", arguments=["{{s}}"])
        job_id = self.start({"s": 1000})
        self.refused("DELETE", TEMPLATES + "/j", None, 409, 1010, "InUseException", "Job template j under metalake ml has active jobs associated with it")
        self.ask("POST", RUNS + "/" + job_id, status=200)
        self.until(job_id, "cancelled")
        self.assertEqual([True, False], [self.ask("DELETE", TEMPLATES + "/j").json()["dropped"] for _ in range(2)])
        self.assertEqual([], self.get(RUNS)["jobs"])
        self.assertEqual("cancelled", self.status(job_id))
        self.g.restart()
        self.refused("GET", RUNS + "/" + job_id, None, 404, 1003, "NoSuchJobException")


class Placeholders(Jobs):
    def given(self, value, argument="{{a}}"):
        """What arrives as the argument."""
        self.ask("DELETE", TEMPLATES + "/j")
        return self.run_all(self.script("show", 'printf %s "$1"'), {"a": value}, arguments=[argument]).output

    def test_what_arrives(self):
        for value, arrives in (("plain", "plain"), ("", ""), ("$1", "a"), ("$0", "{{a}}"), ("x$12y", "xa2y"), ("\\\\", "\\"), ("\\$HOME", "$HOME"), ("a\\b", "ab"), ("{{b}}", "{{b}}"),
                               ("a'b\"c ;`d`\n\té", "a'b\"c ;`d`\n\té"), (7, "7"), (1.50, "1.5"), (True, "true")):
            with self.subTest(value=value):
                self.assertEqual(arrives, self.given(value))
        self.assertEqual("{{no}}-{{a b}}-x", self.given("x", "{{no}}-{{a b}}-{{a}}"))

    def test_what_is_refused(self):
        self.register("/bin/echo", arguments=["{{a}}"])
        for value, reason in (("$HOME", "Illegal group reference"), ("$(", "Illegal group reference"), ("x$", "Illegal group reference: group index is missing"),
                              ("x\\", "character to be escaped is missing"), ("${x}", "No group with name {x}"), ("${x", "named capturing group is missing trailing '}'")):
            self.refused("POST", RUNS, {"jobTemplateName": "j", "jobConf": {"a": value}}, 400, 1001, "IllegalArgumentException", reason)
        self.refused("POST", RUNS, {"jobTemplateName": "j", "jobConf": {"a": "$2"}}, 500, 1002, "RuntimeException", "No group 2")
        self.refused("POST", RUNS, {"jobTemplateName": "j", "jobConf": {"a": None}}, 500, 1002, "RuntimeException", "null value in entry: a=null")
        self.refused("POST", RUNS, {"jobTemplateName": "j", "jobConf": {"a": ["x"]}}, 400, 1001, "IllegalArgumentException", "Malformed json request")
        self.assertEqual([], self.get(RUNS)["jobs"])

    def test_everywhere(self):
        path = self.script("show", 'printf "%s %s" "$K_x" "$1"')
        run = self.run_all("{{dir}}/show", {"dir": os.path.dirname(path), "key": "K_x", "value": "v", "n": "w"}, arguments=["-{{n}}-"], environments={"{{key}}": "{{value}}"})
        self.assertEqual("v -w-", run.output)


class Children(Jobs):
    def test_the_place_of_a_run(self):
        path = self.script("tool", 'pwd; printf "%s\\n" "$0" "$MINE" "$OURS"; ls -l "$0"; echo wrong >&2; exit 0', 0o600)
        self.g.executor.environment = {**os.environ, "OURS": "server"}
        run = self.run_all("file://" + path, environments={"MINE": "template"})
        folder = os.path.join(self.g.staging, "ml", "j", run.id)
        lines = run.output.splitlines()
        self.assertEqual([folder, folder + "/tool", "template", "server"], lines[:4])
        self.assertIn("-> " + path, lines[4])
        self.assertEqual("wrong\n", run.errors)
        self.assertEqual({"tool", "output.log", "error.log"}, set(os.listdir(folder)))
        self.assertEqual(0o700, os.stat(path).st_mode & 0o777)

    def test_ends(self):
        for code, status in ((0, "succeeded"), (1, "failed"), (143, "failed")):
            self.ask("DELETE", TEMPLATES + "/j")
            run = self.run_all(self.script("end", "exit %d" % code))
            self.assertEqual((status, code), (run.status, run.exit_code))
        self.ask("DELETE", TEMPLATES + "/j")
        self.assertEqual("failed", self.run_all(self.write("none", "#!/no/such\n", 0o755)).status)

    def test_standard_input_does_not_end(self):
        self.assertEqual(("failed", 124), (lambda run: (run.status, run.exit_code))(self.run_all(self.script("reads", "exec timeout 0.3 cat"))))

    def test_what_can_not_be_fetched(self):
        for number, executable in enumerate(("/no/such", "http://127.0.0.1:1/x.sh", "https://example.com/x.sh", "s3://b/x.sh")):
            self.register(executable, "j%d" % number)
            self.refused("POST", RUNS, {"jobTemplateName": "j%d" % number}, 500, 1002, "RuntimeException", "Failed to fetch file from URI " + executable)
        self.assertEqual([], self.get(RUNS)["jobs"])

    def test_one_at_a_time(self):
        self.register("/bin/sleep", arguments=["{{s}}"])
        first, second, third = [self.start({"s": "1000"}) for _ in range(3)]
        self.until(first, "started")
        self.assertEqual(["queued", "queued"], [self.status(second), self.status(third)])
        self.assertEqual("cancelling", self.ask("POST", RUNS + "/" + second, status=200).json()["job"]["status"])
        self.until(second, "cancelled")
        self.assertIsNone(self.g.run(second).process)
        self.ask("POST", RUNS + "/" + first, status=200)
        self.until(third, "started")
        self.assertEqual(["queued", "started", "cancelling", "cancelled"], self.g.run(first).history)
        self.assertEqual(-signal.SIGTERM, self.g.run(first).exit_code)

    def test_cancelling_reaches_the_child_alone(self):
        mark = os.path.join(self.dir, "grandchild")
        path = self.script("parent", "trap 'exit 143' TERM\nsleep 1000 & echo $! > %s.new; mv %s.new %s; wait" % (mark, mark, mark))
        self.register(path)
        job_id = self.start()
        daemon.wait(lambda: os.path.exists(mark), 10)
        with open(mark, encoding="ascii") as f:
            grandchild = int(f.read())
        self.until(job_id, "started")
        self.ask("POST", RUNS + "/" + job_id, status=200)
        self.until(job_id, "cancelled")
        self.assertEqual(143, self.g.run(job_id).exit_code)
        self.assertTrue(is_there(grandchild))
        os.kill(grandchild, signal.SIGKILL)

    def test_a_child_that_ends_well_all_the_same(self):
        mark = os.path.join(self.dir, "ready")
        self.register(self.script("stubborn", "trap 'exit 0' TERM\ntouch %s\nwhile :; do sleep 0.02; done" % mark))
        job_id = self.start()
        daemon.wait(lambda: os.path.exists(mark), 10)
        self.ask("POST", RUNS + "/" + job_id, status=200)
        self.until(job_id, "succeeded")
        self.assertEqual("succeeded", self.ask("POST", RUNS + "/" + job_id, status=200).json()["job"]["status"])

    def test_the_queue_is_bounded(self):
        self.g.executor.queue_limit = 2
        self.register("/bin/sleep", arguments=["1000"])
        for _ in range(3):
            self.start()
        self.refused("POST", RUNS, {"jobTemplateName": "j"}, 500, 1002, "RuntimeException")

    def test_spark(self):
        home = os.path.dirname(os.path.dirname(self.script("spark/bin/spark-submit", 'printf "%s\\n" "$@"')))
        self.g.executor.spark_home = home
        self.g.add_template("ml", "s", self.write("app.jar", ""), ["{{x}}"], "spark", className="C", jars=[], files=[], archives=[], configs={"k.{{x}}": "v"})
        job_id = self.start({"x": "1"}, "s")
        self.until(job_id, "succeeded")
        self.assertEqual(["--class", "C", "--conf", "k.1=v", os.path.join(self.g.run(job_id).folder, "app.jar"), "1"], self.g.run(job_id).output.splitlines())
        self.g.executor.spark_home = "/none"
        job_id = self.start({}, BUILTINS[2])
        self.until(job_id, "failed")


class Looks(Jobs):
    """Statuses are as old as the last look of the server."""

    options = {"pull_interval": 300}

    def test_a_status_jumps(self):
        self.register("/bin/true")
        job_id = self.start()
        daemon.wait(lambda: self.g.run(job_id).own == "succeeded", 10, 0.01)
        job = self.get(RUNS + "/" + job_id)["job"]
        self.assertEqual(("queued", ["creator", "createTime"]), (job["status"], list(job["audit"])))
        self.g.pull()
        job = self.get(RUNS + "/" + job_id)["job"]
        self.assertEqual(("succeeded", ["jobId", "jobTemplateName", "status", "audit"]), (job["status"], list(job)))
        self.assertEqual(["creator", "createTime", "lastModifier", "lastModifiedTime"], list(job["audit"]))
        self.assertEqual("succeeded", self.ask("POST", RUNS + "/" + job_id, status=200).json()["job"]["status"])

    def test_cancelled_at_the_next_look(self):
        self.register("/bin/sleep", arguments=["1000"])
        job_id = self.start()
        self.assertEqual("cancelling", self.ask("POST", RUNS + "/" + job_id, status=200).json()["job"]["status"])
        daemon.wait(lambda: self.g.run(job_id).own == "cancelled", 10, 0.01)
        self.assertEqual("cancelling", self.status(job_id))
        self.g.pull()
        self.assertEqual("cancelled", self.status(job_id))

    def test_frozen(self):
        self.g.pull_interval = 0.01
        self.g.freeze()
        self.register("/bin/true")
        job_id = self.start()
        daemon.wait(lambda: self.g.run(job_id).own == "succeeded", 10, 0.01)
        time.sleep(0.1)
        self.assertEqual("queued", self.status(job_id))
        self.g.thaw()
        self.until(job_id, "succeeded")

    def test_lists(self):
        self.register("/bin/true")
        self.register("/bin/true", "k")
        jobs = [self.start() for _ in range(8)] + [self.start(name="k", user="anna")]
        orders = [[job["jobId"] for job in self.get(RUNS)["jobs"]] for _ in range(4)]
        self.assertTrue(all(set(order) == set(jobs) for order in orders))
        self.assertGreater(len({tuple(order) for order in orders}), 1)
        self.assertEqual(set(jobs[:-1]), {job["jobId"] for job in self.get(RUNS + "?jobTemplateName=j&queuedAfter=2999-01-01T00:00:00Z&sortBy=queuedAt&sortOrder=asc")["jobs"]})
        self.assertEqual(["code", "jobs"], list(self.get(RUNS + "?statusCounts=true")))
        self.assertEqual("anna", self.get(RUNS + "?jobTemplateName=k")["jobs"][0]["audit"]["creator"])
        self.refused("GET", RUNS + "?jobTemplateName=no", None, 404, 1003, "NoSuchJobTemplateException")
        self.refused("POST", RUNS, {"jobTemplateName": "no"}, 404, 1003, "NoSuchJobTemplateException")
        self.refused("POST", RUNS, {}, 400, 1001, "IllegalArgumentException")
        self.refused("POST", RUNS + "/job-1", None, 404, 1003, "NoSuchJobException")
        self.assertNotIn("secret-value", self.ask("POST", RUNS, {"jobTemplateName": "j", "jobConf": {"x": "secret-value"}}).text)

    def test_a_job_that_is_forgotten(self):
        self.register("/bin/true")
        job_id = self.start()
        daemon.wait(lambda: self.g.run(job_id).own == "succeeded", 10, 0.01)
        folder = self.g.run(job_id).folder
        self.g.forget(job_id)
        self.refused("GET", RUNS + "/" + job_id, None, 404, 1003, "NoSuchJobException")
        self.assertEqual(([], False), (self.get(RUNS)["jobs"], os.path.exists(folder)))


class Restarts(Jobs):
    def started(self):
        self.register("/bin/sleep", arguments=["1000"])
        jobs = [self.start(), self.start()]
        self.until(jobs[0], "started")
        return jobs, self.g.run(jobs[0]).process.pid

    def test_an_orderly_stop(self):
        jobs, pid = self.started()
        self.policy("kept")
        port = self.g.port
        self.g.stop()
        daemon.wait(lambda: not is_there(pid), 10, 0.01, what="the end of the child")
        with self.assertRaises(OSError):
            self.ask("GET", "/api/version")
        self.g.start()
        self.assertEqual(port, self.g.port)
        for job_id in jobs:
            self.until(job_id, "failed")
        self.assertEqual(["kept"], self.get(POLICIES)["names"])
        self.until(self.start(), "started")

    def test_one_that_was_being_cancelled(self):
        jobs, _ = self.started()
        self.g.freeze()
        self.ask("POST", RUNS + "/" + jobs[0], status=200)
        self.g.restart()
        self.g.thaw()
        self.until(jobs[0], "cancelled")
        self.until(jobs[1], "failed")

    def test_a_crash(self):
        jobs, pid = self.started()
        self.g.kill()
        self.g.start()
        self.until(jobs[0], "failed")
        self.assertTrue(is_there(pid))
        self.g.close()
        daemon.wait(lambda: not is_there(pid), 10, 0.01, what="the end of the child")

    def test_as_a_program(self):
        command = [sys.executable, os.path.join(HERE, "gravitino_server.py"), "--catalog", "lake", "--pull-interval", "0.05", "--staging", os.path.join(self.dir, "staging")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            self.g.stop()
            self.g.port = int(process.stdout.readline().rsplit(":", 1)[1])
            self.register(self.script("nap", "echo $$ > %s/pid; exec sleep 1000" % self.dir))
            self.until(self.start(), "started")
            daemon.wait(lambda: os.path.exists(self.dir + "/pid") and os.path.getsize(self.dir + "/pid"), 10)
            with open(self.dir + "/pid", encoding="ascii") as f:
                pid = int(f.read())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(0, process.wait(10))
            daemon.wait(lambda: not is_there(pid), 10, 0.01, what="the end of the child")


class Troubles(Jobs):
    """What a test does to the server."""

    def test_failures(self):
        for status in (500, 502, 503):
            one = self.g.fail("POST", "/policies$", status, times=2, headers=[("Retry-After", "1")])
            for _ in range(2):
                self.assertEqual("1", self.ask("POST", POLICIES, CUSTOM, status).headers["Retry-After"])
            self.ask("GET", POLICIES, status=200)
            self.assertEqual(0, one.times)
        self.policy("p")

    def test_an_answer_that_is_lost(self):
        self.register("/bin/true")
        self.g.fail("POST", "/jobs/runs$", "drop")
        for _ in range(1):
            with self.assertRaises((OSError, http.client.HTTPException)):
                self.start()
        self.assertEqual([], self.get(RUNS)["jobs"])
        self.g.fail("POST", "/jobs/runs$", "drop", after=True)
        with self.assertRaises((OSError, http.client.HTTPException)):
            self.start()
        self.assertEqual(1, len(self.get(RUNS)["jobs"]))
        self.g.fail("POST", "/jobs/runs$", 502, after=True)
        self.ask("POST", RUNS, {"jobTemplateName": "j"}, 502)
        self.assertEqual(2, len(self.get(RUNS)["jobs"]))
        self.assertEqual([None, None, 502], [one.status for one in self.g.asked("POST", "/jobs/runs")])

    def test_delays_and_the_end_of_troubles(self):
        self.g.delay("GET", "/version", 0.2, times=1)
        begin = time.monotonic()
        self.ask("GET", "/api/version", status=200)
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)
        self.g.fail("*", "", 503, times=1000)
        self.ask("GET", "/api/version", status=503)
        self.g.heal()
        self.ask("GET", "/api/version", status=200)

    def test_a_log_of_requests(self):
        self.ask("POST", POLICIES, CUSTOM, 200, user="anna")
        self.ask("GET", POLICIES + "?details=true", status=200)
        first, second = self.g.requests
        self.assertEqual(("POST", POLICIES, "anna", CUSTOM, 200), (first.method, first.path, first.user, first.json(), first.status))
        self.assertEqual(("anonymous", {"details": "true"}), (second.user, second.query))
        self.assertEqual([1, 2, 0], [self.g.count("GET"), self.g.count(pattern="/policies"), self.g.count("DELETE")])


class Traps(Jobs):
    """The list at the end of what is known of the server, one by one."""

    def test_01_simple_authentication_takes_any_name(self):
        self.ask("GET", POLICIES, status=200, user="nobody-knows-me")
        self.ask("GET", POLICIES, status=401, headers={"Authorization": "Bearer x"})

    def test_02_post_drops_and_cancels(self):
        self.ask("PUT", TABLE + "/statistics", {"updates": {"custom-a": 1}}, 200)
        self.assertTrue(self.post(TABLE + "/statistics", {"names": ["custom-a"]})["dropped"])
        self.register("/bin/sleep", arguments=["1000"])
        job_id = self.start()
        self.ask("POST", RUNS + "/" + job_id, status=200)
        self.until(job_id, "cancelled")

    def test_03_disabled_policies_are_listed(self):
        self.policy("p", enabled=False)
        self.attach(TABLE, ["p"])
        self.assertEqual([False], [policy["enabled"] for policy in self.get(TABLE + "/policies?details=true")["policies"]])

    def test_04_object_types_are_not_enforced(self):
        self.policy("p", content={"supportedObjectTypes": ["TOPIC"]})
        self.assertEqual(["p"], self.attach(LAKE + "/objects/catalog/lake", ["p"])["names"])
        self.assertEqual(["p"], self.get(TABLE + "/policies")["names"])

    def test_05_contents_of_system_policies_are_not_expanded(self):
        content = self.policy("c", policyType="system_iceberg_compaction", content={})["content"]
        self.assertEqual(["minDataFileMse", "minDeleteFileNumber", "dataFileMseWeight", "deleteFileNumberWeight", "maxPartitionNum", "rewriteOptions"], list(content))

    def test_06_statuses_lag_by_minutes(self):
        with gravitino_server.Gravitino() as other:
            self.assertEqual((300.0, 1, 100), (other.pull_interval, other.max_running, other.queue_limit))

    def test_07_placeholders_without_a_value_stay(self):
        self.assertEqual("{{x}}\n", self.run_all("/bin/echo", {}, arguments=["{{x}}"]).output)

    def test_08_backslash_and_dollar(self):
        self.assertEqual("$a\\\n", self.run_all("/bin/echo", {"x": "\\$a\\\\"}, arguments=["{{x}}"]).output)

    def test_09_statistics_of_partitions_are_not_those_of_the_table(self):
        self.ask("PUT", TABLE + "/statistics/partitions", {"updates": [{"partitionName": "a", "statistics": {"custom-x": 1}}]}, 200)
        self.assertEqual([], self.get(TABLE + "/statistics")["statistics"])

    def test_10_the_metadata_file_is_not_told(self):
        self.assertNotIn("metadata", self.ask("GET", LAKE + "/catalogs/lake/schemas/shop/tables/orders").text)

    def test_11_what_is_missing_is_dropped_with_200(self):
        self.ask("PATCH", LAKE + "/catalogs/lake", {"inUse": True}, 200)
        for path in (POLICIES + "/no", TEMPLATES + "/no", LAKE + "/catalogs/no", "/api/metalakes/no"):
            self.assertEqual({"code": 0, "dropped": False}, self.ask("DELETE", path, status=200).json())

    def test_12_unknown_members_are_refused(self):
        for method, path, body in (("POST", POLICIES, {**CUSTOM, "x": 1}), ("POST", TABLE + "/policies", {"policiesToAdd": [], "x": 1}), ("POST", RUNS, {"jobTemplateName": "j", "x": 1}),
                                   ("PUT", TABLE + "/statistics", {"updates": {}, "x": 1}), ("POST", POLICIES, {**CUSTOM, "content": {**CUSTOM["content"], "x": 1}})):
            self.refused(method, path, body, 400, 1001, "IllegalArgumentException", "Malformed json request")

    def test_13_full_names_exclude_the_metalake(self):
        self.refused("GET", LAKE + "/objects/table/ml.lake.shop.orders/policies", None, 400, 1001, "IllegalArgumentException", "If the type is TABLE, the length of names must be 3")

    def test_14_a_value_may_be_null(self):
        self.g.metalakes["ml"].statistics["lake.shop.orders"] = self.g.new_statistics("anna", {"custom-x": None})
        self.assertIn('"value":null,"reserved"', self.ask("GET", TABLE + "/statistics").text)

    def test_15_unknown_policies_are_not_attached(self):
        self.assertEqual({"code": 0, "names": []}, self.attach(TABLE, ["no-such"]))

    def test_16_clients_faults_that_are_500(self):
        self.policy("p")
        self.policy("q")
        self.register("/no/such")
        for method, path, body in (("PUT", POLICIES + "/p", {"updates": [{"@type": "rename", "newName": "q"}]}), ("POST", RUNS, {"jobTemplateName": "j", "jobConf": {"a": None}}),
                                   ("POST", RUNS, {"jobTemplateName": "j"})):
            self.refused(method, path, body, 500, 1002, "RuntimeException")

    def test_17_dollar_one_is_the_name(self):
        self.assertEqual("table_identifier\n", self.run_all("/bin/echo", {"table_identifier": "$1"}, arguments=["{{table_identifier}}"]).output)

    def test_18_bodies_that_are_empty_or_html(self):
        for method, path, headers, status, start in (("PUT", RUNS, {}, 405, b""), ("GET", RUNS, {"Accept": "application/vnd.gravitino.v9+json"}, 406, b""), ("GET", "/api/x", {}, 404, b"<html>"),
                                                     ("POST", RUNS, {"Content-Type": "text/xml"}, 415, b"<html>")):
            body = self.ask(method, path, "{}" if method == "POST" else None, status, headers).body
            self.assertEqual(start, body[: len(start) or None])

    def test_19_filters_of_runs_are_ignored(self):
        self.register("/bin/true")
        self.start()
        self.assertEqual(1, len(self.get(RUNS + "?queuedAfter=2999-01-01T00%3A00%3A00Z&finishedAfter=nonsense")["jobs"]))

    def test_20_new_content_replaces_all(self):
        self.policy("c", policyType="system_iceberg_compaction", content={"maxPartitionNum": 7, "minDeleteFileNumber": 9})
        update = {"@type": "updateContent", "policyType": "system_iceberg_compaction", "newContent": {"maxPartitionNum": 8}}
        content = self.ask("PUT", POLICIES + "/c", {"updates": [update]}, 200).json()["policy"]["content"]
        self.assertEqual((8, 1), (content["maxPartitionNum"], content["minDeleteFileNumber"]))

    def test_21_standard_input_never_ends(self):
        self.register("/bin/cat")
        job_id = self.start()
        self.until(job_id, "started")
        time.sleep(0.2)
        self.assertEqual("started", self.status(job_id))


# A client with a token: what it is answered when it writes, reads and drops statistics.
STATISTICS = """
import json, sys
from gravitino import GravitinoClient
from gravitino.api.stats.statistic_values import StatisticValues
from gravitino.auth.default_oauth2_token_provider import DefaultOAuth2TokenProvider
from gravitino.name_identifier import NameIdentifier
provider = DefaultOAuth2TokenProvider(uri=sys.argv[1], credential="ebb:secret", scope="x", path="oauth/token")
client = GravitinoClient(uri=sys.argv[1], metalake_name="ml", auth_data_provider=provider)
table = client.load_catalog("lake").as_table_catalog().load_table(NameIdentifier.of("shop", "orders"))
table.update_statistics({"custom-n": StatisticValues.long_value(12), "custom-d": StatisticValues.double_value(1.5e14)})
read = {s.name(): s.value().value() for s in table.list_statistics()}
print(json.dumps([read, table.drop_statistics(["custom-n"]), table.drop_statistics(["custom-n"]), table.audit_info().creator()]))
"""


@unittest.skipUnless(PYTHON or second_reader.is_wanted(), "no client for the server: apache-gravitino is not installed (tests/requirements-client.txt)")
class Client(Base):
    """The Python client that ebb's own interface is asked by finds the same here."""

    options = {"version": "1.3.1"}

    def setUp(self):
        self.assertIsNotNone(PYTHON, "apache-gravitino is not installed (tests/requirements-client.txt)")
        super().setUp()

    def test_it_finds_what_it_looks_for(self):
        nap = self.write("nap", '#!/bin/sh\nexec sleep "$1"\n', 0o755)
        extra = "builtin-iceberg-remove-orphan-files"
        self.g.add_template("ml", extra, "/bin/true")
        self.only_table("db")
        script = os.path.join(os.path.dirname(HERE), "run", "gravitino_client.py")
        done = subprocess.run([PYTHON, script, self.g.uri, "ml", nap], capture_output=True, timeout=120, check=False)
        self.assertEqual(0, done.returncode, done.stderr.decode())
        got = json.loads(done.stdout)
        for key, last in (("short", "succeeded"), ("bad", "failed"), ("begun", "started"), ("cancelled", "cancelled"), ("removal", "succeeded")):
            self.assertEqual(last, got.pop(key)[-1], key)
        self.assertEqual({
            "version": "1.3.1", "catalogs": ["lake"], "catalog": ["lake", "lakehouse-iceberg", ["lake"]], "schemas": ["db"], "schema": "db", "tables": ["orders"],
            "table": ["orders", [["a", "integer"]], "2"], "no catalog": "NoSuchCatalogException", "again": "JobTemplateAlreadyExistsException",
            "templates": sorted([*BUILTINS, extra, "nap"]), "template": ["nap", "sleeps", nap, ["{{seconds}}"], {"WHO": "{{who}}"}, {"owner": "ops"}, []],
            "in use": "InUseException", "jobs": [3, 3], "no job": "NoSuchJobException", "no template": ["NoSuchJobTemplateException"] * 3,
            "changed": ["siesta", "naps", ["0"]], "renamed": 3, "deleted": [True, False], "builtin": "IllegalJobTemplateOperationException"}, got)

    def test_statistics_with_a_token(self):
        self.g.auth = "oauth"
        done = subprocess.run([PYTHON, "-c", STATISTICS, self.g.uri], capture_output=True, timeout=120, check=False)
        self.assertEqual(0, done.returncode, done.stderr.decode())
        self.assertEqual([{"custom-n": 12, "custom-d": 1.5e14}, True, False, "anonymous"], json.loads(done.stdout))
        self.assertEqual({"ebb"}, {one.user for one in self.g.asked(pattern="/statistics")})


if __name__ == "__main__":
    unittest.main(verbosity=2)
