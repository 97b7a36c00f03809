# SPDX-License-Identifier: Apache-2.0
"""Catalogs of type glue over a server that checks signatures, pages, throttles and misbehaves."""

import json
import os
import shutil
import tempfile
import unittest

import program
from aws_standin import ACCOUNT, Glue
from rest_standin import Table

OTHER = "444455556666"


class GlueCatalog(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ebb-glue-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.glue = Glue()
        self.addCleanup(self.glue.stop)
        self.made = 0

    def table(self):
        self.made += 1
        return Table(os.path.join(self.dir, "t%d" % self.made))

    def ebb(self, *args, more="", region=None, secret=None, uri=None, key=None):
        name = os.path.join(self.dir, "ebb.lua")
        with open(name, "w", encoding="utf-8") as f:
            f.write('return { catalogs = { aws = { type = "glue", endpoint = "%s", region = "%s", %s } } }' % (uri or self.glue.uri, region or self.glue.region, more))
        env = {"AWS_ACCESS_KEY_ID": key or self.glue.key, "AWS_SECRET_ACCESS_KEY": secret or self.glue.secret, "AWS_CONFIG_FILE": "/nonexistent",
               "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1"}
        return program.run(args, config=name, state=os.path.join(self.dir, "state"), env=env)

    def names(self, **options):
        done = self.ebb("tables", "--json", **options)
        self.assertEqual(0, done.status, done.err)
        return [json.loads(line)["table"] for line in done.out.splitlines()]

    def fails(self, done, code, *texts):
        self.assertNotEqual(0, done.status, done.out)
        self.assertEqual(1, len(done.err.strip().splitlines()), done.err)
        error = done.error()
        self.assertEqual(code, error["code"], done.err)
        for text in texts:
            self.assertIn(text, error["message"] + " / " + (error.get("hint") or ""))
        self.assertNotIn(self.glue.secret, done.err + done.out)

    # ---- listing ----

    def test_iceberg_tables_of_all_pages(self):
        self.glue.page = 2
        want = []
        for database in ("sales", "empty", "hr", "z-last"):
            self.glue.databases[database] = {}
        for database in ("sales", "hr", "z-last"):
            for n in range(5):
                self.glue.add_iceberg(database, "t%d" % n, self.table().location, "ICEBERG" if n % 2 else "iceberg")
                want.append("aws.%s.t%d" % (database, n))
            self.glue.add(database, "hive", Parameters={"classification": "parquet"}, StorageDescriptor={"Location": "s3://b/hive"})
            self.glue.add(database, "bare")
            self.glue.add(database, "view", TableType="VIRTUAL_VIEW", Parameters={"table_type": "ICEBERG", "metadata_location": "s3://b/v.json"})
        self.assertEqual(sorted(want), self.names())
        self.assertEqual(0, self.ebb("plan", "aws.sales.t1", "--json").status)

    def test_a_token_that_comes_twice(self):
        self.glue.hook = lambda g, action, asked, headers: {"DatabaseList": [{"Name": "a"}], "NextToken": "again"} if action == "GetDatabases" else None
        self.fails(self.ebb("tables", "--json"), "catalog.failed", "comes twice")

    def test_no_pointer_is_a_problem_of_that_table(self):
        good, bare = self.table(), self.table()
        self.glue.add_iceberg("sales", "good", good.location)
        self.glue.add("sales", "bare", Parameters={"table_type": "ICEBERG"}, StorageDescriptor={"Location": "file:" + bare.folder})
        self.assertEqual(["aws.sales.bare", "aws.sales.good"], sorted(self.names()))
        self.fails(self.ebb("plan", "aws.sales.bare", "--json"), "metadata.pointer_unknown", "sales.bare", "metadata_location")
        self.assertEqual(0, self.ebb("plan", "aws.sales.good", "--json").status)

    def test_one_without_pointer_in_the_place_of_another_keeps_it(self):
        good = self.table()
        self.glue.add_iceberg("sales", "good", good.location)
        self.glue.add("sales", "inner", Parameters={"table_type": "ICEBERG"}, StorageDescriptor={"Location": "file:%s/data/inner" % good.folder})
        self.assertEqual(2, self.ebb("plan", "aws.sales.good", "--json").status)

    def test_what_is_not_there(self):
        self.glue.add("sales", "hive", Parameters={})
        self.fails(self.ebb("plan", "aws.sales.none", "--json"), "table.not_found")
        self.fails(self.ebb("plan", "aws.nowhere.none", "--json"), "table.not_found")
        self.fails(self.ebb("plan", "aws.sales.hive", "--json"), "table.not_found")

    # ---- links ----

    def link(self, database, name, account, to_database, to_name):
        self.glue.add(database, name, TargetTable={"CatalogId": account, "DatabaseName": to_database, "Name": to_name})

    def test_a_link_within_the_account_is_no_table_of_its_own(self):
        self.glue.add_iceberg("sales", "t", self.table().location)
        self.link("shared", "t", ACCOUNT, "sales", "t")
        self.glue.links["copy"] = {"Name": "copy", "CatalogId": ACCOUNT, "TargetDatabase": {"CatalogId": ACCOUNT, "DatabaseName": "sales"}}
        self.assertEqual(["aws.sales.t"], self.names())
        self.assertEqual(0, self.ebb("plan", "aws.sales.t", "--json").status)

    def test_a_link_to_another_account_is_followed(self):
        theirs = Glue.add_iceberg
        self.glue.databases, mine = {}, self.glue.databases
        theirs(self.glue, "lake", "orders", self.table().location)
        self.glue.add("lake", "hive", Parameters={})
        self.glue.accounts[OTHER], self.glue.databases = self.glue.databases, mine
        self.link("sales", "orders", OTHER, "lake", "orders")
        self.link("sales", "hive", OTHER, "lake", "hive")
        self.link("sales", "gone", OTHER, "lake", "gone")
        self.assertEqual(["aws.sales.orders"], self.names())
        self.assertEqual(0, self.ebb("plan", "aws.sales.orders", "--json").status)
        self.glue.databases["sales"].clear()
        self.glue.links["far"] = {"Name": "far", "CatalogId": ACCOUNT, "TargetDatabase": {"CatalogId": OTHER, "DatabaseName": "lake"}}
        self.assertEqual(["aws.far.orders"], self.names())

        def hook(glue, action, asked, headers):  # Glue has no tables in the link itself
            return (400, "EntityNotFoundException", "no") if asked.get("DatabaseName") == "far" else None

        self.glue.hook = hook
        self.assertEqual(0, self.ebb("plan", "aws.far.orders", "--json").status)

    def test_a_link_that_can_not_be_followed_stops_plans(self):
        self.glue.add_iceberg("sales", "t", self.table().location)
        self.link("sales", "shut", OTHER, "lake", "orders")
        self.glue.hook = lambda g, action, asked, headers: (400, "AccessDeniedException", "not yours") if asked.get("CatalogId") == OTHER else None
        self.assertEqual(["aws.sales.shut", "aws.sales.t"], sorted(self.names()))
        self.fails(self.ebb("plan", "aws.sales.t", "--json"), "location.ownership_unknown", "shut")

    # ---- bad moments ----

    def test_throttling_is_waited_for(self):
        self.glue.add_iceberg("sales", "t", self.table().location)
        seen = []

        def hook(glue, action, asked, headers):
            seen.append(action)
            if len(seen) % 3:
                return (400, "ThrottlingException", "Rate exceeded") if len(seen) % 3 == 1 else (503, "ServiceUnavailable", "")
            return None

        self.glue.hook = hook
        self.assertEqual(["aws.sales.t"], self.names())

    def test_throttling_without_end(self):
        self.glue.hook = lambda *_: (400, "ThrottlingException", "Rate exceeded")
        self.fails(self.ebb("tables", "--json"), "catalog.failed", "ThrottlingException", "later")

    def test_denied(self):
        self.glue.hook = lambda *_: (400, "AccessDeniedException", "User is not authorized to perform: glue:GetDatabases")
        self.fails(self.ebb("tables", "--json"), "io.permission", "catalog 'aws'", "glue:GetDatabases")

    def test_a_database_that_is_denied_ends_the_listing(self):
        self.glue.add_iceberg("open", "t", self.table().location)
        self.glue.databases["shut"] = {}
        self.glue.hook = lambda g, action, asked, headers: (400, "AccessDeniedException", "no") if asked.get("DatabaseName") == "shut" else None
        self.fails(self.ebb("tables", "--json"), "io.permission", "shut", "glue:GetTables")

    def test_keys_region_and_endpoint(self):
        self.fails(self.ebb("tables", "--json", key="AKIDOTHER"), "config.invalid", "UnrecognizedClientException", "environment")
        self.fails(self.ebb("tables", "--json", secret="another-secret"), "config.invalid", "InvalidSignatureException", "secret")
        self.fails(self.ebb("tables", "--json", region="xx-other-1"), "config.invalid", "region xx-other-1", "catalogs.aws.region")
        self.fails(self.ebb("tables", "--json", uri="http://127.0.0.1:9"), "catalog.failed", "catalog 'aws'", "http://127.0.0.1:9")
        self.glue.hook = lambda *_: b"<html><title>Hello</title></html>"
        self.fails(self.ebb("tables", "--json"), "catalog.failed", "really Glue")

    def test_the_clock(self):
        self.glue.hook = lambda *_: (400, "InvalidSignatureException", "Signature expired: 20200101T000000Z is now earlier than 20260101T000000Z (20260101T000500Z - 5 min.)")
        self.fails(self.ebb("tables", "--json"), "clock.skew", "clock")

    def test_keys_that_expire_are_fetched_anew_once(self):
        seen = []

        def hook(glue, action, asked, headers):
            seen.append(action)
            return (400, "ExpiredTokenException", "The security token included in the request is expired")

        self.glue.hook = hook
        self.fails(self.ebb("tables", "--json"), "config.invalid", "expired")
        self.assertEqual(2, len(seen))

    def test_a_server_that_repeats_a_secret(self):
        self.glue.hook = lambda *_: (400, "AccessDeniedException", "you sent " + self.glue.secret)
        self.fails(self.ebb("tables", "--json"), "catalog.failed")

    def test_answers_that_are_none(self):
        for answer in ({}, {"DatabaseList": [{}]}, {"DatabaseList": [{"Name": "a\0b"}]}, {"DatabaseList": {"a": 1}}, {"DatabaseList": [[]]},
                       {"DatabaseList": [{"Name": "x", "TargetDatabase": {}}]}, {"DatabaseList": [{"Name": 5}]}, [], {"DatabaseList": [], "NextToken": 7}):
            self.glue.hook = lambda *_, answer=answer: answer
            self.fails(self.ebb("tables", "--json"), "catalog.failed", "databases")

    def test_the_account(self):
        self.glue.accounts[OTHER] = {}
        self.names(more='catalog_id = "%s"' % OTHER)
        self.assertTrue(all(asked["CatalogId"] == OTHER for _, asked in self.glue.log))

    def test_hive_is_refused_by_name(self):
        name = os.path.join(self.dir, "hive.lua")
        with open(name, "w", encoding="ascii") as f:
            f.write('return { catalogs = { h = { type = "hive", uri = "thrift://127.0.0.1:9083" } } }')
        done = program.run(["tables", "--json"], config=name, state=os.path.join(self.dir, "state"))
        self.fails(done, "unsupported", "hive")


if __name__ == "__main__":
    unittest.main()
