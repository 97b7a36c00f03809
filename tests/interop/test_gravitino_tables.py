# SPDX-License-Identifier: Apache-2.0
"""Catalogs of a Gravitino server: names from there, pointers from the catalog behind, and what may be wrong with either."""
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]
import gravitino_lake as lake  # noqa: E402
import program  # noqa: E402


class Tables(lake.Base):
    def tables(self, *args):
        return {line["table"]: line for line in map(json.loads, self.good("tables", "--json", *args).out.splitlines())}

    def candidates(self, table):
        plan = json.loads(self.good("plan", table, "--json").out)
        return [os.path.basename(uri) for uri in program.read_plan(plan["file"])[1]], plan

    def test_the_same_orphans_as_of_the_catalog_behind(self):
        self.assertEqual({"lake.db.orders", "grav.db.orders"}, set(self.tables()))
        there, plan = self.candidates("grav.db.orders")
        self.assertEqual([b"old-1.parquet", b"old-2.parquet"], there)
        self.assertEqual(there, self.candidates("lake.db.orders")[0])
        self.assertEqual("ready", plan["status"])
        self.good("apply", plan["plan"], "--yes")
        self.assertEqual(["old-1.parquet", "old-2.parquet"], self.moved())

    def test_nothing_but_reading(self):
        self.tables()
        self.candidates("grav.db.orders")
        self.assertEqual({"GET"}, {request.method for request in self.server.requests})

    def test_names_are_encoded_once(self):
        for name in ("with space", "per%cent", "plus+sign", "caf\u00e9", "a=b"):
            self.show(name, self.table(name))
        found = self.tables("grav.**")
        for name in ("with space", "per%cent", "plus+sign", "caf\u00e9", "a=b"):
            self.assertIn("grav.db." + name, found)
            self.assertEqual([b"old-1.parquet", b"old-2.parquet"], self.candidates("grav.db." + name)[0])

    def test_a_table_that_only_the_server_knows(self):
        self.show("ghost", self.orders, location="file:/nowhere/ghost")
        self.assertEqual("metadata.pointer_unknown", self.tables()["grav.db.ghost"]["error"]["code"])
        self.refused(2, "does not know this table", "plan", "grav.db.ghost")

    def test_a_table_that_the_server_hides_is_a_neighbour(self):
        """Its folder lies in that of orders: what is in there stays, though the server does not tell of it."""
        folder = self.table("inner")
        inside = os.path.join(self.orders, "data", "inner")
        os.rename(folder, inside)
        name = os.path.join(inside, "metadata", "v1.metadata.json")
        with open(name, encoding="utf-8") as f:
            text = f.read().replace(folder, inside)
        self.write(os.path.relpath(name, self.top), text, 10 * 86400)
        done = self.ebb("plan", "grav.db.orders", "--json")
        self.assertEqual(2, done.status, done.out)
        self.assertEqual("location.foreign_table", done.error()["code"])

    def test_the_wrong_catalog_behind(self):
        """Another table of the same name: the server means the one at its location."""
        self.show("orders", self.orders, location="s3://prod/db/orders")
        before = program.tree(self.orders)
        done = self.refused(2, "says it is at s3://prod/db/orders", "plan", "grav.db.orders", "--json")
        self.assertEqual("catalog.other_location", done.error()["code"])
        self.refused(2, "backing", "job", "remove-orphan-files", "--catalog", "grav", "--table", "db.orders")
        self.assertEqual(before, program.tree(self.orders))

    def test_a_location_that_ends_with_a_slash_is_the_same(self):
        self.show("orders", self.orders, location="file:" + self.orders + "/")
        self.candidates("grav.db.orders")

    def test_moved_between_plan_and_apply(self):
        plan = self.candidates("grav.db.orders")[1]
        self.show("orders", self.orders, location="file:/elsewhere")
        self.refused(2, "/elsewhere", "apply", plan["plan"], "--yes")
        self.assertEqual([], self.moved())

    def test_nothing_behind(self):
        self.configure(backing=None)
        self.refused(2, "does not tell where the metadata", "plan", "grav.db.orders")
        self.assertIn("grav.db.orders", self.tables())

    def test_an_unknown_table(self):
        self.refused(64, "there is no such table", "plan", "grav.db.nope")
        self.refused(64, "there is no such table", "plan", "grav.nope.orders")
        self.refused(64, "there is no such table", "plan", "grav.orders")

    def test_dots_are_no_path(self):
        self.refused(64, "", "plan", "grav.db...")
        self.assertEqual([], [r for r in self.server.requests if "/.." in r.target])

    def test_a_table_without_location(self):
        self.server.fail("GET", r"/tables/orders$", 200, body=b'{"code":0,"table":{"name":"orders","properties":{"location":7}}}')
        self.refused(3, "tells no location", "plan", "grav.db.orders")

    def test_names_that_are_wrong_in_the_configuration(self):
        for keys, text in (({"metalake": '"nope"'}, "catalogs.grav.metalake"), ({"catalog": '"nope"'}, "catalogs.grav.catalog")):
            self.configure(**keys)
            self.assertIn(text, self.ebb("tables").err + self.ebb("plan", "grav.db.orders").err)
            self.assertNotEqual(0, self.ebb("plan", "lake.db.orders").status)  # a neighbour may be unknown

    def test_another_kind_of_catalog(self):
        self.server.add_catalog("ml", "hive", provider="hive")
        self.configure(catalog='"hive"')
        self.refused(64, "has provider hive", "tables")

    def test_a_catalog_that_is_disabled(self):
        self.call("PATCH", "/catalogs/lakehouse", {"inUse": False})
        done = self.ebb("plan", "grav.db.orders")
        self.assertNotEqual(0, done.status)
        self.assertIn("disabled there", done.err)

    def test_a_path_behind_api(self):
        self.configure(uri='"%s/api"' % self.server.uri)
        self.refused(3, "the part before /api", "tables")

    def test_nobody_there(self):
        self.server.stop()
        self.addCleanup(self.server.start)
        self.refused(3, "is the server running", "plan", "grav.db.orders")
        self.assertEqual([], self.moved())

    def test_a_listing_is_whole_or_none(self):
        """What can't be told must not be taken for a warehouse without neighbours."""
        for body in (b"", b"{}", b"null", b"[]", b'{"code":0}', b'{"code":0,"identifiers":{}}', b'{"code":0,"identifiers":["x"]}', b'{"code":0,"identifiers":[{"namespace":[]}]}',
                     b'{"code":0,"identifiers":[{"name":"a\\u0000b"}]}', b'{"code":0,"identifiers":[]', b"\xff\xfe", b"[" * 100000, b'{"identifiers":[],"identifiers":[]}'):
            with self.subTest(body[:40]):
                self.server.heal()
                self.server.fail("GET", r"/schemas$", 200, times=100, body=body)
                done = self.ebb("plan", "lake.db.orders", "--json")
                header = json.loads(done.out) if done.status == 0 else {}
                self.assertTrue(done.status != 0 or header.get("ownership") != "full", done.out)
                self.assertEqual(3, self.ebb("tables").status)

    def test_short_troubles_are_waited_out(self):
        for trouble in (503, 502, "drop"):
            self.server.fail("GET", r"/tables/orders$", trouble, times=2)
            self.candidates("grav.db.orders")

    def test_long_troubles_are_told(self):
        self.server.fail("GET", r"/tables/orders$", 503, times=1000)
        self.refused(3, "answers 503", "plan", "grav.db.orders")

    def test_a_fault_of_its_own_is_not_asked_again(self):
        self.server.fail("GET", r"/tables/orders$", 500, times=1000, body=b'{"code":1002,"type":"RuntimeException","message":"secret anna","stack":["x"]}')
        before = self.server.count("GET", r"/tables/orders$")
        self.refused(3, "RuntimeException", "plan", "grav.db.orders")
        self.assertLessEqual(self.server.count("GET", r"/tables/orders$") - before, 8)


class Statistics(lake.Base):
    def test_policies_see_them(self):
        self.call("PUT", "/objects/table/lakehouse.db.orders/statistics", {"updates": {"custom-heat": 7, "custom-name": "x", "custom-list": [1, {"a": 2}]}})
        self.policy("local c = t.stats.custom; return skip(all { check('heat', c['custom-heat'], '==', 7), check('name', c['custom-name'], '==', 'x'), "
                    "check('list', c['custom-list'][2].a, '==', 2) })")
        decision = json.loads(self.good("decide", "sweep", "grav.db.orders", "--json").out)
        self.assertEqual({"true"}, {check["r"] for check in decision["checks"]}, decision["checks"])

    def test_none_is_no_error(self):
        self.policy("return skip(all { check('none', t.stats.custom, 'unknown') })")
        self.good("decide", "sweep", "grav.db.orders")


class Tokens(lake.Base):
    server_options = {"pull_interval": 0.2, "auth": "oauth", "client": ("ebb", "s3cret-word"), "token_seconds": 2.0}

    @property
    def catalog_options(self):
        return 'credential = "ebb:s3cret-word", oauth2_server_uri = "%s/oauth/token"' % self.server.uri

    def test_fetched_and_fetched_again(self):
        self.good("tables")
        self.server.expire_tokens()
        self.good("plan", "grav.db.orders")
        self.assertGreaterEqual(self.server.count("POST", "/oauth/token"), 2)

    def test_one_that_is_refused_is_renewed_once(self):
        self.server.fail("GET", r"/tables/orders$", 401, times=1, body=b'{"code":1011,"type":"UnauthorizedException","message":"expired"}')
        self.good("plan", "grav.db.orders")

    def test_a_wrong_secret(self):
        self.server.client = ("ebb", "other")
        done = self.refused(3, "credential", "plan", "grav.db.orders")
        self.assertNotIn("s3cret-word", done.err)

    def test_no_token_in_the_answer(self):
        for body in (b"{}", b'{"access_token":"a\\nb"}', b"<html>", b'{"access_token":7}'):
            self.server.fail("POST", "/oauth/token", 200, body=body)
            self.refused(3, "no token", "plan", "grav.db.orders")


class Bearer(lake.Base):
    """A token where the server wants none."""

    catalog_options = 'token = "abc-secret"'

    def test_it_says_so(self):
        done = self.refused(3, "401", "plan", "grav.db.orders")
        self.assertNotIn("abc-secret", done.err)
        self.assertIn("does not take our token", done.err)


if __name__ == "__main__":
    unittest.main()
