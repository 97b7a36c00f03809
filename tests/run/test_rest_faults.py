# SPDX-License-Identifier: Apache-2.0
"""Catalogs of type rest over a server that misbehaves: the listing is complete, or an error of one line that says what to do."""

import http.server
import json
import os
import shutil
import tempfile
import threading
import time
import unittest

import program
from rest_standin import Catalog, Table, snapshot

HTML = b"<!DOCTYPE html><html><head><title>Error 400 Suspicious Path Character</title></head><body><h2>HTTP ERROR 400</h2></body></html>"


class Bucket:
    """Single objects, for whoever has the newest session token."""

    def __init__(self):
        self.objects, self.token, self.seen, self.expire_once = {}, "session-0", [], False
        bucket = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                token = self.headers.get("x-amz-security-token")
                bucket.seen.append(token)
                data = bucket.objects.get(self.path.split("?")[0])
                status = 200 if data is not None else 404
                if token != bucket.token or bucket.expire_once:
                    bucket.expire_once = False
                    status, data = 400, b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
                elif data is None:
                    data = b"<Error><Code>NoSuchKey</Code><Message>x</Message></Error>"
                first = self.headers.get("Range")
                self.send_response(206 if status == 200 and first else status)
                if status == 200:
                    self.send_header("ETag", '"e"')
                    self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
                    if first:
                        self.send_header("Content-Range", "bytes 0-%d/%d" % (len(data) - 1, len(data)))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_HEAD = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.uri = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class RestFaults(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ebb-rest-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.made = 0

    def catalog(self, **options):
        made = Catalog(**options)
        self.addCleanup(made.stop)
        return made

    def table(self, **options):
        self.made += 1
        return Table(os.path.join(self.dir, "t%d" % self.made), **options)

    def config(self, catalog, more="", uri=None):
        name = os.path.join(self.dir, "ebb.lua")
        with open(name, "w", encoding="utf-8") as f:
            f.write('return { catalogs = { lake = { type = "rest", uri = "%s", %s } } }' % (uri or catalog.uri, more))
        return name

    def ebb(self, catalog, *args, more="", uri=None, env=None):
        return program.run(args, config=self.config(catalog, more, uri), state=os.path.join(self.dir, "state"), env=env)

    def names(self, done):
        self.assertEqual(0, done.status, done.err)
        return [json.loads(line)["table"] for line in done.out.splitlines()]

    def assert_fails(self, done, code, *texts):
        self.assertNotEqual(0, done.status, done.out)
        error = done.error()
        self.assertEqual(code, error.get("code"), done.err)
        self.assertEqual(1, len(done.err.strip().splitlines()), done.err)
        for text in texts:
            self.assertIn(text, error["message"] + " / " + (error.get("hint") or ""))
        return error

    # ---- listing ----

    def test_names_and_levels(self):
        catalog = self.catalog()
        names = ["plain", "with space", "plus+sign", "per%cent", "slash/in", "q?x#y&z=1", "caf\u00e9", "\u8868", "quote'\"", "~tilde-_"]
        for name in names:
            catalog.add(["shop"], name, self.table())
        catalog.add(["shop", "e u", "\u00fc+%"], "deep", self.table())
        done = self.ebb(catalog, "tables", "--json")
        self.assertEqual(sorted(["lake.shop." + name for name in names] + ["lake.shop.e u.\u00fc+%.deep"]), sorted(self.names(done)))
        self.assertFalse([path for _, path in catalog.log if "+" in path])
        self.assertTrue(any("/namespaces/shop%1Fe%20u%1F%C3%BC%2B%25/tables/deep?snapshots=all" in path for _, path in catalog.log), catalog.log)
        for name in names:
            if "/" not in name and "'" not in name:
                self.assertEqual(0, self.ebb(catalog, "stats", "lake.shop." + name).status, name)

    def test_the_servers_separator_and_prefix(self):
        catalog = self.catalog(separator=".")
        catalog.config = {"defaults": {"prefix": "other"}, "overrides": {"prefix": "main%7Cwh", "namespace-separator": "%2E"}}
        catalog.add(["a", "b"], "t", self.table())
        self.assertEqual(["lake.a.b.t"], self.names(self.ebb(catalog, "tables", "--json", more='prefix = "mine"')))
        self.assertTrue(any(path.startswith("/v1/main%7Cwh/namespaces/a%2Eb/tables/t") for _, path in catalog.log), catalog.log)
        self.assertEqual("/v1/config", catalog.log[0][1])

    def test_a_configured_prefix_comes_before_the_default(self):
        catalog = self.catalog()
        catalog.config = {"defaults": {"prefix": "theirs"}, "overrides": {}}
        self.ebb(catalog, "tables", more='prefix = "mine", warehouse = "w h&x"')
        self.assertEqual("/v1/config?warehouse=w%20h%26x", catalog.log[0][1])
        self.assertTrue(catalog.log[1][1].startswith("/v1/mine/namespaces?"), catalog.log)

    def test_pages(self):
        catalog = self.catalog()
        catalog.page = 3
        for i in range(10):
            catalog.add(["s%d" % (i % 4)], "t%d" % i, self.table())
        self.assertEqual(10, len(self.names(self.ebb(catalog, "tables", "--json"))))
        self.assertIn("pageToken=&", [path for _, path in catalog.log if "/tables?" in path][0])

    def test_page_tokens_that_never_end(self):
        catalog = self.catalog()
        catalog.add(["s"], "t", self.table())
        count = [0]

        def circles(catalog, method, path, query, headers, body):
            return catalog.json(200, {"identifiers": [], "next-page-token": "again"}) if path.endswith("/tables") else None

        def endless(catalog, method, path, query, headers, body):
            count[0] += 1
            return catalog.json(200, {"namespaces": [["s"]], "next-page-token": "p%d" % count[0]}) if path.endswith("/namespaces") else None

        catalog.hook = circles
        self.assert_fails(self.ebb(catalog, "tables", "--json"), "catalog.failed", "tables of s", "circles")
        catalog.hook = endless
        self.assert_fails(self.ebb(catalog, "tables", "--json"), "catalog.failed", "no end")

    def test_servers_without_nesting(self):
        catalog = self.catalog()
        catalog.add(["s"], "t", self.table())
        answers = [lambda: catalog.json(200, {"namespaces": [["s"]]}), lambda: catalog.error(404, "NoSuchNamespaceException", "x"),
                   lambda: catalog.error(400, "BadRequestException", "Nested namespaces are not supported"), lambda: catalog.error(501, "UnsupportedOperationException", "x")]
        for answer in answers:
            catalog.hook = lambda c, method, path, query, headers, body, answer=answer: answer() if "parent" in query else None
            self.assertEqual(["lake.s.t"], self.names(self.ebb(catalog, "tables", "--json")))
        catalog.hook = lambda c, method, path, query, headers, body: (400, {"Content-Type": "text/html"}, HTML) if "parent" in query else None
        self.assert_fails(self.ebb(catalog, "tables", "--json"), "catalog.failed", "namespaces below s", "Suspicious Path Character")

    def test_dots_are_told(self):
        catalog = self.catalog()
        catalog.add(["x.y"], "t", self.table())
        catalog.add(["x"], "a.b", self.table())
        catalog.add(["x"], "..", self.table())
        catalog.add(["x"], "good", self.table())
        done = self.ebb(catalog, "tables", "--json")
        self.assertEqual(4, len(self.names(done)))
        self.assertNotEqual(0, self.ebb(catalog, "plan", "lake.x.y.t", "--json").status)
        self.assertFalse([path for _, path in catalog.log if "tables/.." in path])

    def test_a_table_of_another_namespace(self):
        catalog = self.catalog()
        catalog.add(["s"], "t", self.table())
        catalog.hook = lambda c, method, path, *_: c.json(200, {"identifiers": [{"namespace": ["z"], "name": "t"}]}) if path.endswith("/tables") else None
        self.assert_fails(self.ebb(catalog, "tables", "--json"), "catalog.failed", "another namespace")

    def test_what_was_dropped_meanwhile_is_not_there(self):
        catalog = self.catalog()
        catalog.add(["s"], "t", self.table())
        catalog.add(["s"], "gone", self.table())
        catalog.hook = lambda c, method, path, *_: c.error(404, "NoSuchTableException", "x") if path.endswith("/gone") else None
        self.assertEqual(["lake.s.t"], self.names(self.ebb(catalog, "tables", "--json")))
        catalog.hook = lambda c, method, path, *_: (404, {"Content-Type": "text/html"}, HTML) if path.endswith("/gone") else None
        done = self.ebb(catalog, "tables", "--json")  # that is no word of the catalog
        self.assertEqual(2, len(done.out.splitlines()), done.out)
        self.assertIn("catalog.failed", done.out)

    def test_a_table_that_fails_is_listed_with_its_problem(self):
        catalog = self.catalog()
        catalog.add(["s"], "good", self.table())
        catalog.add(["s"], "secret", self.table())
        catalog.add(["s"], "staged", self.table())
        catalog.add(["s"], "odd", self.table())

        def hook(c, method, path, query, headers, body):
            if path.endswith("/secret"):
                return c.error(403, "ForbiddenException", "not for you")
            if path.endswith("/staged"):
                return c.json(200, {"metadata-location": None, "metadata": c.spaces[("s",)]["staged"].metadata})
            return (200, {}, b'{"metadata-location": "file:/x", "metadata": {}}') if path.endswith("/odd") else None

        catalog.hook = hook
        lines = {json.loads(line)["table"]: json.loads(line).get("error", {}).get("code") for line in self.ebb(catalog, "tables", "--json").out.splitlines()}
        self.assertEqual({"lake.s.good": None, "lake.s.secret": "io.permission", "lake.s.staged": "metadata.pointer_unknown", "lake.s.odd": "catalog.failed"}, lines)

    # ---- answers ----

    def test_answers_that_are_none(self):
        catalog = self.catalog()
        catalog.add(["s"], "t", self.table())
        bad = [b"", b"{}", b"[]", b"null", b"{", b'{"namespaces":{}}', b'{"namespaces":[["a",5]]}', b'{"namespaces":[[]]}', b'{"namespaces":[[""]]}', b'{"namespaces":["s"]}',
               b'{"namespaces":[["a\\u0000b"]]}', b'{"namespaces":[["s"]],"namespaces":[]}', b'{"namespaces":[["s"]]}x', b'{"namespaces":[["' + b"\xff" + b'"]]}',
               b'{"namespaces":' + b"[" * 100000, b'{"namespaces":[' + b",".join([b'["' + b"n" * 40 + b'"'] + [b'"l"'] * 40) + b"]]}", HTML]
        for body in bad:
            catalog.hook = lambda c, method, path, *_: (200, {}, body) if path.endswith("/namespaces") else None
            with self.subTest(body=body[:60]):
                self.assert_fails(self.ebb(catalog, "tables", "--json"), "catalog.failed", "lake")
        for body in (b"", b"{}", b"hello", b'{"defaults":5}', HTML):
            catalog.hook = lambda c, method, path, *_: (200, {}, body) if path.endswith("/config") else None
            self.assert_fails(self.ebb(catalog, "tables", "--json"), "catalog.failed", "/v1/config")

    def test_one_line_for_each_way_to_fail(self):
        catalog = self.catalog()
        rows = [(404, {}, HTML, "catalog.failed", "before /v1/config"), (401, {}, b"", "io.permission", "set catalogs.lake.token"),
                (403, {}, b'{"error":{"message":"no","type":"ForbiddenException","code":403}}', "io.permission", "ForbiddenException"),
                (404, {}, b'{"error":{"message":"no such","type":"NoSuchWarehouseException","code":404}}', "catalog.failed", "check catalogs.lake.warehouse"),
                (302, {"Location": "http://127.0.0.1:1/"}, b"", "config.invalid", "redirects are not followed"),
                (500, {}, b'{"error":{"message":"Unknown warehouse \'w\'","type":"IllegalStateException","code":500}}', "catalog.failed", "check catalogs.lake.warehouse"),
                (400, {"Content-Type": "text/html"}, HTML, "catalog.failed", "Suspicious Path Character")]
        for status, headers, body, code, text in rows:
            catalog.hook = lambda *_: (status, headers, body)
            with self.subTest(status=status, body=body[:30]):
                self.assert_fails(self.ebb(catalog, "tables", "--json", more='warehouse = "w"'), code, text, "lake")

    def test_a_catalog_that_is_down(self):
        catalog = Catalog()
        catalog.stop()
        self.assert_fails(self.ebb(catalog, "tables", "--json"), "catalog.failed", "lake", catalog.uri, "is the catalog running")

    def test_a_secret_that_comes_back_is_not_told(self):
        catalog = self.catalog()
        catalog.hook = lambda c, method, path, query, headers, body: c.error(403, "ForbiddenException", "you sent %s" % headers.get("Authorization"))
        done = self.ebb(catalog, "tables", "--json", more='token = "SECRET-TOKEN"')
        self.assertEqual(1, len(done.err.splitlines()))
        self.assertNotIn("SECRET", done.err + done.out)

    # ---- retries ----

    def test_what_may_pass_is_asked_again(self):
        catalog = self.catalog()
        for i in range(5):
            catalog.add(["s"], "t%d" % i, self.table())
        seen = {}

        def hook(c, method, path, query, headers, body):
            key = (path, str(query))
            seen[key] = seen.get(key, 0) + 1
            if seen[key] == 1:
                return [(503, {"Retry-After": "0"}, b""), (500, {}, b""), "drop", (429, {}, b""), (502, {}, HTML)][len(seen) % 5]
            return None

        catalog.hook = hook
        self.assertEqual(5, len(self.names(self.ebb(catalog, "tables", "--json"))))

    def test_a_listing_that_fails_in_the_middle_is_no_listing(self):
        catalog = self.catalog()
        catalog.page = 2
        for i in range(6):
            catalog.add(["s"], "t%d" % i, self.table())
        catalog.hook = lambda c, method, path, query, *_: (500, {}, b"") if query.get("pageToken") == ["4"] else None
        done = self.ebb(catalog, "tables", "--json")
        self.assertEqual("", done.out)
        self.assert_fails(done, "catalog.failed", "tables of s")

    # ---- who we are ----

    def test_tokens_expire_in_the_middle_of_a_listing(self):
        catalog = self.catalog()
        catalog.credential, catalog.uses_max, catalog.page = "id:secret", 20, 10
        for i in range(60):
            catalog.add(["s"], "t%d" % i, self.table())
        done = self.ebb(catalog, "tables", "--json", more='credential = "id:secret"')
        self.assertEqual(60, len(self.names(done)))
        self.assertGreater(len(catalog.tokens), 2)
        self.assertLess(len(catalog.tokens), 10)

    def test_a_short_lived_token_is_fetched_before_it_ends(self):
        catalog = self.catalog()
        catalog.credential, catalog.expires_in = "id:secret", 0
        catalog.add(["s"], "t", self.table())
        self.assertEqual(1, len(self.names(self.ebb(catalog, "tables", "--json", more='credential = "id:secret"'))))
        self.assertGreater(len(catalog.tokens), 2)

    def test_wrong_credentials(self):
        catalog = self.catalog()
        catalog.credential = "id:secret"
        error = self.assert_fails(self.ebb(catalog, "tables", "--json", more='credential = "id:WRONG-SECRET"'), "io.permission", "invalid_client", "catalogs.lake.credential")
        self.assertNotIn("WRONG-SECRET", json.dumps(error))
        catalog.credential, catalog.token = None, "good"
        self.assert_fails(self.ebb(catalog, "tables", "--json", more='token = "bad-token"'), "io.permission", "check catalogs.lake.token")
        catalog.hook = lambda c, method, path, *_: (501, {}, b"") if "oauth" in path else None
        self.assert_fails(self.ebb(catalog, "tables", "--json", more='credential = "id:secret"'), "catalog.failed", "oauth2_server_uri")

    def test_credentials_go_nowhere_else(self):
        catalog, other = self.catalog(), self.catalog()
        catalog.add(["s"], "t", self.table())
        catalog.token = other.token = "mine-only"
        for uri in (other.uri, catalog.uri.replace("http:", "https:"), catalog.uri + "@" + other.uri[7:], catalog.uri + "0"):
            catalog.config = {"defaults": {}, "overrides": {"uri": uri}}
            self.assert_fails(self.ebb(catalog, "tables", "--json", more='token = "mine-only"'), "catalog.failed", "to another server", "catalogs.lake.uri")
        catalog.config = {"defaults": {"oauth2-server-uri": other.uri + "/t", "credential": "x:y", "uri": other.uri}, "overrides": {"uri": catalog.uri + "/", "oauth2-server-uri": other.uri}}
        self.assertEqual(["lake.s.t"], self.names(self.ebb(catalog, "tables", "--json", more='token = "mine-only"')))
        self.assertEqual([], other.log)

    # ---- what was seen before ----

    def test_a_plan_asks_with_etags(self):
        catalog = self.catalog()
        for i in range(40):
            catalog.add(["s%d" % (i % 4)], "t%d" % i, self.table(snapshots=[snapshot(i + 1)]))
        answers = []
        usual = catalog.load

        def load(table, query, headers):
            made = usual(table, query, headers)
            answers.append(made[0])
            return made

        catalog.load = load
        done = self.ebb(catalog, "plan", "lake.s1.t1", "--json")
        self.assertEqual(0, done.status, done.err)
        self.assertLessEqual(answers.count(200), 41, len(answers))

    def test_fewer_snapshots_than_the_file_are_refused(self):
        catalog = self.catalog()
        table = catalog.add(["s"], "t", self.table(snapshots=[snapshot(1), snapshot(2, 1)]))
        self.assertEqual(0, self.ebb(catalog, "plan", "lake.s.t", "--json").status)
        table.shown = lambda all_: all_[-1:]
        table.etag = "other"
        self.assert_fails(self.ebb(catalog, "plan", "lake.s.t", "--json"), "catalog.fewer_snapshots")

    # ---- keys that a catalog lends ----

    def lending(self, endpoints=(), life_ms=3600000):
        """A catalog whose table lies in a bucket that takes only the newest session token."""
        bucket = Bucket()
        self.addCleanup(bucket.stop)
        catalog = self.catalog()
        catalog.config["endpoints"] = list(endpoints)
        table = catalog.add(["s"], "t", self.table())
        with open(table.location[5:], "rb") as f:
            data = f.read().replace(table.metadata["location"].encode(), b"s3://lake/wh/t")
        table.location, table.metadata["location"], table.etag = "s3://lake/wh/t/metadata/00000-a.metadata.json", "s3://lake/wh/t", None
        bucket.objects["/lake/wh/t/metadata/00000-a.metadata.json"] = data

        def credentials():
            bucket.token = "session-%d" % (int(bucket.token.split("-")[1]) + 1)
            return [{"prefix": "s3://lake/", "config": {"s3.access-key-id": "AK", "s3.secret-access-key": "SK-secret", "s3.session-token": bucket.token,
                                                        "s3.session-token-expires-at-ms": str(int(time.time() * 1000) + life_ms), "s3.endpoint": bucket.uri, "client.region": "x-1"}}]

        table.credentials = credentials
        return catalog, bucket

    def test_lent_keys(self):
        catalog, bucket = self.lending()
        done = self.ebb(catalog, "stats", "lake.s.t", more="vended_credentials = true")
        self.assertEqual(0, done.status, done.err)
        self.assertTrue(bucket.seen and all(token == "session-1" for token in bucket.seen), bucket.seen)
        self.assertNotIn("SK-secret", done.err + done.out)
        self.assertNotEqual(0, self.ebb(catalog, "stats", "lake.s.t", env={"AWS_EC2_METADATA_DISABLED": "true"}).status)

    def test_lent_keys_are_fetched_before_they_expire(self):
        route = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"
        for endpoints, asked in (((route,), "/credentials"), ((), "tables/t?snapshots=all")):
            catalog, bucket = self.lending(endpoints, life_ms=-1)
            done = self.ebb(catalog, "stats", "lake.s.t", more="vended_credentials = true")
            self.assertEqual(0, done.status, done.err)
            self.assertGreater(catalog.count(asked), 0 if endpoints else 1)

    def test_lent_keys_that_the_bucket_takes_no_more(self):
        catalog, bucket = self.lending()
        bucket.expire_once = True
        done = self.ebb(catalog, "stats", "lake.s.t", more="vended_credentials = true")
        self.assertEqual(0, done.status, done.err)
        self.assertIn("session-2", bucket.seen)

    def test_remote_signing_is_refused_by_name(self):
        catalog = self.catalog()
        table = catalog.add(["s"], "t", self.table())
        table.config = {"s3.remote-signing-enabled": "true"}
        self.assert_fails(self.ebb(catalog, "stats", "lake.s.t", "--json", more="vended_credentials = true"), "unsupported", "remote signing", "storage.s3")
        self.assertEqual(0, self.ebb(catalog, "stats", "lake.s.t").status)


if __name__ == "__main__":
    unittest.main()
