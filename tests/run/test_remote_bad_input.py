# SPDX-License-Identifier: Apache-2.0
"""Catalogs, storage and engines that are configured wrongly or not there: one line that says which and what to do, as people read it and with --json."""

import email.utils
import json
import os
import shutil
import socket
import tempfile
import time
import unittest

import program
from aws_standin import Server
from rest_standin import Catalog

SECRET = "s3cr3tOfThisTest"
HTML = b"<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head><body>hello</body></html>"


def xml(code, message, more=""):
    return ('<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message>%s</Error>' % (code, message, more)).encode()


class Bad(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ebb-bad-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def closed_port(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    def server(self, answer):
        made = Server(answer)
        self.addCleanup(made.stop)
        return made

    def ebb(self, text, *args, **env):
        config = os.path.join(self.dir, "ebb.lua")
        with open(config, "w", encoding="utf-8") as f:
            f.write("return { %s }" % text)
        clean = {"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1",
                 "AWS_ACCESS_KEY_ID": "AKTEST", "AWS_SECRET_ACCESS_KEY": SECRET}
        return program.run(args, config=config, state=os.path.join(self.dir, "state"), env={**clean, **env})

    def fails(self, text, args, exits, code, *texts, **env):
        """The same said twice: as JSON and for people."""
        done = self.ebb(text, *args, "--json", **env)
        self.assertEqual(exits, done.status, done.out + done.err)
        self.assertEqual(1, len([line for line in done.err.splitlines() if not line.startswith('{"warning"')]), done.err)
        error = done.error()
        self.assertEqual(code, error["code"], done.err)
        self.assertLessEqual({"code", "message", "hint", "retryable"}, set(error))
        for wanted in texts:
            self.assertIn(wanted, error["message"] + " / " + (error["hint"] or ""))
        plain = self.ebb(text, *args, **env)
        self.assertEqual(exits, plain.status)
        lines = [line for line in plain.err.strip().splitlines() if "hint:" not in line and "its clock is" not in line]
        self.assertEqual(1, len(lines), plain.err)
        for said in (done, plain):
            self.assertNotIn(SECRET, said.out + said.err)

    # ---- catalogs ----

    def rest(self, uri, more=""):
        return 'catalogs = { lake = { type = "rest", uri = "%s", %s } }' % (uri, more)

    def test_nothing_listens(self):
        uri = "http://127.0.0.1:%d" % self.closed_port()
        self.fails(self.rest(uri), ["tables"], 3, "catalog.failed", "catalog 'lake'", "127.0.0.1")

    def test_a_web_page(self):
        for status in (200, 404):
            server = self.server(lambda *_, status=status: (status, {"Content-Type": "text/html"}, HTML))
            self.fails(self.rest(server.uri), ["tables"], 3, "catalog.failed", "catalog 'lake'")

    def test_tls_where_there_is_none(self):
        server = self.server(lambda *_: (200, {}, b"{}"))
        self.fails(self.rest(server.uri.replace("http:", "https:")), ["tables"], 3, "catalog.failed", "catalog 'lake'", "127.0.0.1")

    def test_a_server_that_knows_us_not(self):
        for status in (401, 403):
            body = json.dumps({"error": {"message": "no " + SECRET, "type": "NotAuthorizedException", "code": status}}).encode()
            server = self.server(lambda *_, status=status, body=body: (status, {}, body))
            self.fails(self.rest(server.uri, 'token = "%s"' % SECRET), ["tables"], 3, "io.permission", "catalog 'lake'")

    def test_a_wrong_warehouse(self):
        body = json.dumps({"error": {"message": "Warehouse nowhere not found", "type": "NotFoundException", "code": 404}}).encode()
        server = self.server(lambda *_: (404, {}, body))
        self.fails(self.rest(server.uri, 'warehouse = "nowhere"'), ["tables"], 3, "catalog.failed", "catalog 'lake'", "Warehouse nowhere not found")

    def test_types(self):
        self.fails('catalogs = { lake = { type = "ress", uri = "http://127.0.0.1:1" } }', ["tables"], 64, "config.invalid", "catalogs.lake", "rest")
        self.fails('catalogs = { lake = { type = "hive", uri = "thrift://127.0.0.1:1" } }', ["tables"], 64, "unsupported", "catalogs.lake", "hive")
        self.fails('catalogs = { lake = { type = "rest" } }', ["tables"], 64, "config.invalid", "uri")

    def test_glue_without_region(self):
        self.fails('catalogs = { aws = { type = "glue" } }', ["tables"], 64, "config.invalid", "catalog 'aws'", "AWS_REGION")

    # ---- storage ----

    def storage(self, uri, more=""):
        return 'storage = { s3 = { endpoint = "%s", region = "eu-test-1", %s } }' % (uri, more)

    def s3(self, status, body=b"", headers=None):
        return self.server(lambda *_: (status, {"Content-Type": "application/xml", **(headers or {})}, body))

    PLAN = ["plan", "s3://lake/wh/db/t/metadata/00001-a.metadata.json"]

    def test_no_storage_there(self):
        uri = "http://127.0.0.1:%d" % self.closed_port()
        self.fails(self.storage(uri), self.PLAN, 3, "io.failed", "lake", "127.0.0.1")

    def test_what_storage_refuses(self):
        for status, code, exits, ours, texts in (
                (404, "NoSuchBucket", 64, "config.invalid", ["lake"]),
                (403, "AccessDenied", 3, "io.permission", ["lake"]),
                (403, "InvalidAccessKeyId", 64, "config.invalid", ["lake"]),
                (403, "SignatureDoesNotMatch", 64, "config.invalid", ["lake", "secret"])):
            with self.subTest(code):
                self.fails(self.storage(self.s3(status, xml(code, "so it is")).uri), self.PLAN, exits, ours, *texts)

    def test_a_wrong_region(self):
        body = xml("AuthorizationHeaderMalformed", "the region is wrong", "<Region>ap-right-1</Region>")
        self.fails(self.storage(self.s3(400, body).uri), self.PLAN, 64, "config.invalid", "ap-right-1")

    def test_a_clock_that_is_off(self):
        date = email.utils.formatdate(time.time() + 7200, usegmt=True)
        server = self.s3(403, xml("RequestTimeTooSkewed", "The difference is too large"), {"Date": date})
        self.fails(self.storage(server.uri), self.PLAN, 2, "clock.skew", "clock")

    def test_no_keys(self):
        self.fails(self.storage("http://127.0.0.1:1"), self.PLAN, 64, "config.invalid", "AWS_ACCESS_KEY_ID", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")

    def test_an_unreadable_profile(self):
        self.fails(self.storage("http://127.0.0.1:1", 'profile = "nowhere"'), self.PLAN, 64, "config.invalid", "nowhere", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")

    def test_no_region(self):
        self.fails("", self.PLAN, 64, "config.invalid", "region", "AWS_REGION", AWS_REGION="", AWS_DEFAULT_REGION="")

    # ---- doctor ----

    def doctor(self, text, check):
        done = self.ebb(text, "doctor", "--json")
        self.assertEqual("", done.err)
        self.assertNotIn(SECRET, done.out)
        return [(c["level"], c["message"], c.get("hint", "")) for c in done.json()["checks"] if c["check"] == check]

    def test_doctor_names_the_catalog_that_is_down(self):
        good = Catalog()
        self.addCleanup(good.stop)
        text = 'catalogs = { up = { type = "rest", uri = "%s" }, down = { type = "rest", uri = "http://127.0.0.1:%d" } }' % (good.uri, self.closed_port())
        found = self.doctor(text, "catalog")
        self.assertEqual({"ok", "fail"}, {level for level, _, _ in found}, found)
        self.assertTrue([1 for level, message, _ in found if level == "fail" and "'down'" in message], found)

    def test_doctor_looks_at_engines(self):
        trino = self.server(lambda *_: (200, {}, b'{"nodeVersion":{"version":"476"},"environment":"test"}'))
        page = self.server(lambda *_: (200, {}, HTML))
        found = self.doctor('engines = { trino = { uri = "%s", user = "u" }, livy = { uri = "%s", file = "/x.py" }, spark = { command = { "no-such-spark" } } }'
                            % (trino.uri, page.uri), "engine")
        self.assertEqual(3, len(found), found)
        by = {message.split(":")[0]: (level, message, hint) for level, message, hint in found}
        self.assertEqual("ok", by["trino"][0])
        self.assertIn("476", by["trino"][1])
        self.assertEqual(("fail", True), (by["livy"][0], "engines.livy.uri" in by["livy"][2]))
        self.assertEqual(("fail", True), (by["spark"][0], "no-such-spark" in by["spark"][1]))


if __name__ == "__main__":
    unittest.main()
