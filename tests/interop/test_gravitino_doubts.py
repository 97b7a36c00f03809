# SPDX-License-Identifier: Apache-2.0
"""What a Gravitino server may say or do that ebb must not build on: answers of odd kinds, policies that changed, names that are nearly those of others."""
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]
import daemon  # noqa: E402
import gravitino_lake as lake  # noqa: E402
from gravitino_lake import content  # noqa: E402

POLICIES = r"/policies\?details=true$"
NEW_TYPE = "system_iceberg_orphan_file_removal"


class Answers(lake.Base):
    """Answers that no server of this version gives."""

    def told(self, policies, objects=None):
        self.server.heal()
        self.server.fail("GET", POLICIES, 200, times=100, body=json.dumps({"code": 0, "policies": policies}).encode())
        tied = objects or [{"type": "table", "fullName": "lakehouse.db.orders"}]
        self.server.fail("GET", r"/policies/[^/]*/objects$", 200, times=100, body=json.dumps({"code": 0, "metadataObjects": tied}).encode())

    def verdict(self, given, kind="custom", **more):
        self.told([{"name": "p", "policyType": kind, "enabled": True, "content": given, **more}])
        done = self.ebb("gravitino", "status", "--json")
        self.assertIn(done.status, (0, 1), done.err)
        return done.json()["policies"][0]

    def test_content_of_another_kind_is_not_understood(self):
        good = content()
        for change in ({"customRules": [1, 2]}, {"customRules": "olderThanDays=9"}, {"customRules": 7}, {"supportedObjectTypes": "TABLE"}, {"supportedObjectTypes": {"TABLE": True}},
                       {"supportedObjectTypes": [7]}, {"supportedObjectTypes": []}, {"properties": {**good["properties"], "job.template-name": 7}},
                       {"properties": {**good["properties"], "job.template-name": ""}}):
            with self.subTest(change):
                self.assertEqual("not understood", self.verdict({**good, **change})["verdict"])
        for given in (None, [3], "x", 7):
            with self.subTest(given):
                self.assertEqual("not understood", self.verdict(given, kind=NEW_TYPE)["verdict"])

    def test_a_zero_byte_does_not_end_a_word(self):
        for policy in ({"content": content({"olderThanDays\0or-not": 3})}, {"name": "p\0q", "content": content()}, {"content": content(strategy=lake.STRATEGY + "\0x")}):
            self.told([{"name": "p", "policyType": "custom", "enabled": True, **policy}])
            done = self.ebb("gravitino", "sync", "--json")
            self.assertNotEqual(0, done.json()["running"] if done.status == 0 else "error")
            self.assertEqual(3, done.status, done.out)

    def test_long_words_in_a_problem(self):
        for key in ("x" + "\u00e9" * 200, "\u00e9" * 200, "xx" + "\U0001f600" * 90):
            found = self.verdict(content({key: 1}))
            self.assertEqual("not understood", found["verdict"])
            self.good("gravitino", "sync")
            with daemon.Daemon(self.config, self.state):
                pass
            os.unlink(os.path.join(self.top, "daemon.log"))

    def test_two_of_one_name(self):
        self.told([{"name": "p", "policyType": "custom", "enabled": True, "content": content({"olderThanDays": days})} for days in (3, 30)])
        self.assertNotEqual(0, self.ebb("gravitino", "sync").status)

    def test_a_place_of_another_depth(self):
        for place in ({"type": "schema", "fullName": "lakehouse"}, {"type": "table", "fullName": "lakehouse"}, {"type": "table", "fullName": "lakehouse.db"}, {"type": "catalog", "fullName": "lakehouse.db"},
                      {"type": "catalog", "fullName": "lakehouse."}, {"type": "table", "fullName": "lakehouse..orders"}, {"type": "schema", "fullName": "lakehouse."}):
            with self.subTest(place):
                self.told([{"name": "p", "policyType": "custom", "enabled": True, "content": content()}], [place])
                self.assertEqual([], self.ebb("gravitino", "status", "--json").json()["policies"][0]["ties"])

    def test_names_that_are_patterns(self):
        for name in ("ord?rs", "ord*", "**"):
            self.told([{"name": "p", "policyType": "custom", "enabled": True, "content": content()}], [{"type": "table", "fullName": "lakehouse.db." + name}])
            self.assertEqual([], self.ebb("gravitino", "status", "--json").json()["policies"][0]["ties"], name)

    def test_other_catalogs_with_the_same_beginning(self):
        places = [{"type": "catalog", "fullName": name} for name in ("lakehouse2", "lake", "Lakehouse", "lakehouse-2", "lakehouse/x")]
        self.told([{"name": "p", "policyType": "custom", "enabled": True, "content": content()}], places)
        self.assertEqual([], self.ebb("gravitino", "status", "--json").json()["policies"][0]["ties"])

    def test_members_that_come_twice(self):
        body = b'{"code":0,"table":{"name":"orders","properties":{"location":"file:/elsewhere","location":"file:%s"}}}' % self.orders.encode()
        self.server.fail("GET", r"/tables/orders$", 200, times=9, body=body)
        done = self.ebb("plan", "grav.db.orders")
        self.assertNotIn("Sanitizer", done.err)
        self.assertNotEqual(0, done.status)

    def test_statistics_of_odd_kinds(self):
        """What can't be read is unknown; an answer that is none is an error."""
        self.policy()
        odd = [{"name": "custom-a"}, {"name": "custom-b", "value": None}, {"value": 3}, {"name": 7, "value": 7}, 7, None, [], {"name": "custom-c", "value": [1, {"a": None}]}, {"name": "custom-n", "value": 12}]
        for body, status in ((json.dumps({"code": 0, "statistics": odd}).encode(), 0), (b'{"code":0,"statistics":7}', 0), (b'{"code":0}', 0), (b"{", 3), (b"[" * 5000, 3)):
            self.server.heal()
            self.server.fail("GET", r"/statistics$", 200, times=9, body=body)
            done = self.ebb("decide", "sweep", "grav.db.orders", "--json")
            self.assertEqual(status, done.status, done.out + done.err)

    def test_many(self):
        """More than a page of the store holds, of policies and of ties."""
        many = [{"name": "p%05d" % i, "policyType": "custom", "enabled": i % 2 == 0, "content": content()} for i in range(150)]
        self.told(many, [{"type": "table", "fullName": "lakehouse.db.t%d" % i} for i in range(150)])
        self.server.heal()
        self.server.fail("GET", POLICIES, 200, times=100, body=json.dumps({"code": 0, "policies": many}).encode())
        tied = [{"type": "table", "fullName": "lakehouse.db.t%d" % i} for i in range(150)]
        self.server.fail("GET", r"/policies/[^/]*/objects$", 200, times=10**6, body=json.dumps({"code": 0, "metadataObjects": tied}).encode())
        self.assertEqual({"catalog": "grav", "policies": 150, "running": 75, "changed": True}, json.loads(self.good("gravitino", "sync", "--json").out))
        self.assertFalse(json.loads(self.good("gravitino", "sync", "--json").out)["changed"])


class Secrets(lake.Base):
    catalog_options = 'token = "%s", headers = { ["X-Key"] = "Key %s" }' % ("s3cr3t-" * 100, "h1dden-" * 3)

    def test_no_part_of_a_secret_is_told(self):
        """Where a message is cut, it may be in the middle of one."""
        token, key = "s3cr3t-" * 100, "h1dden-" * 3
        for told in ({"message": "x" * 80 + " bad token " + token}, {"message": "bad " + key}, {"message": "x", "type": token}):
            self.server.heal()
            self.server.fail("GET", "/", 400, times=100, body=json.dumps({"code": 1001, "type": "IllegalArgumentException", **told}).encode())
            done = self.ebb("gravitino", "status")
            self.assertEqual(2, done.status, done.err)
            self.assertNotIn("s3cr3t", done.out + done.err)
            self.assertNotIn("h1dden", done.out + done.err)


class Tokens(lake.Base):
    catalog_options = 'credential = "ebb:secret-of-ebb", oauth2_server_uri = "http://127.0.0.1:1/token"'

    def test_who_gives_no_token_is_named(self):
        done = self.refused(3, "http://127.0.0.1:1/token", "gravitino", "status")
        self.assertNotIn("secret-of-ebb", done.err)
        self.catalog_options = 'credential = "ebb:secret-of-ebb", oauth2_server_uri = "%s/nobody"' % self.server.uri
        self.configure()
        done = self.refused(3, "/nobody answers 404", "gravitino", "status")
        self.assertIn("oauth2_server_uri", done.err)


class Several(lake.Base):
    def test_one_that_is_down_keeps_nobody_from_the_others(self):
        down = self.catalog(uri='"http://127.0.0.1:1"')
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" }, aaa = %s, grav = %s, zzz = %s } }' % (down, self.catalog(), down))
        self.policy_there("p", content(), ("catalog lakehouse",))
        done = self.refused(3, "127.0.0.1:1", "gravitino", "sync")
        self.assertEqual("grav: 1 policies about orphan files, 1 of them run; taken over\n", done.out)
        done = self.ebb("gravitino", "status", "--json")
        self.assertEqual(3, done.status)
        self.assertEqual(["grav"], [json.loads(line)["catalog"] for line in done.out.splitlines() if "catalog" in json.loads(line)])


if __name__ == "__main__":
    unittest.main()
