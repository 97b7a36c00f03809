# SPDX-License-Identifier: Apache-2.0
"""ebb job expire-snapshots over a catalog of type rest: what goes, what the commit requires, and answers that leave it open."""

import os
import shutil
import tempfile
import unittest

import program
from rest_standin import Catalog, Table, snapshot

DAY = 86400000
HTML = b"<html><head><title>Error 500 Server Error</title></head></html>"


class RestExpire(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ebb-expire-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.catalog = Catalog()
        self.addCleanup(self.catalog.stop)
        self.posts = []
        self.usual = self.catalog.commit
        self.catalog.commit = self.commit
        self.instead = None
        # 1 ← 2 ← 3 ← 4 (main); 2 is tagged, 5 was staged long ago, 6 just now
        chain = [snapshot(1, None, 30 * DAY), snapshot(2, 1, 20 * DAY), snapshot(3, 2, 10 * DAY), snapshot(4, 3, DAY), snapshot(5, 1, 15 * DAY), snapshot(6, 3, DAY)]
        self.table = self.catalog.add(["s"], "t", Table(os.path.join(self.dir, "t"), snapshots=chain, refs={
            "main": {"snapshot-id": 4, "type": "branch"}, "kept": {"snapshot-id": 2, "type": "tag"}}))
        self.config = os.path.join(self.dir, "ebb.lua")
        with open(self.config, "w", encoding="utf-8") as f:
            f.write('return { catalogs = { lake = { type = "rest", uri = "%s" }, files = { type = "directory", path = "." } } }' % self.catalog.uri)

    def commit(self, table, asked):
        self.posts.append(asked)
        made = self.instead(table, asked) if self.instead else None
        return made if made is not None else self.usual(table, asked)

    def expire(self, *args, catalog="lake", table="s.t"):
        return program.run(["job", "expire-snapshots", "--catalog", catalog, "--table", table, *args], config=self.config, state=os.path.join(self.dir, "state"))

    def assert_fails(self, done, status, code, text=""):
        self.assertEqual((status, code), (done.status, done.error().get("code")), done.err)
        self.assertIn(text, done.error()["message"] + (done.error().get("hint") or ""))

    def test_what_goes(self):
        done = self.expire("--dry-run", "true")
        self.assertEqual((0, "1\n5\n3\n"), (done.status, done.out), done.err)
        self.assertEqual([], self.posts)
        self.assertEqual(6, len(self.table.ids()))
        self.assertEqual("1\n5\n", self.expire("--dry-run", "true", "--retain-last", "2").out)
        self.assertEqual("", self.expire("--older-than", "2001-01-01 00:00:00", "--retain-last", "", "--dry-run", "").out)
        done = self.expire()
        self.assertEqual((0, "1\n5\n3\n"), (done.status, done.out), done.err)
        self.assertEqual([2, 4, 6], self.table.ids())
        self.assertEqual({"main": 4, "kept": 2}, {name: ref["snapshot-id"] for name, ref in self.table.metadata["refs"].items()})
        self.assertEqual(1, len(self.posts))
        self.assertEqual((0, ""), (self.expire().status, self.expire().out))
        self.assertEqual(1, len(self.posts))

    def test_what_the_commit_requires(self):
        self.expire()
        asked = self.posts[0]
        self.assertEqual({"namespace": ["s"], "name": "t"}, asked["identifier"])
        self.assertIn({"type": "assert-table-uuid", "uuid": self.table.metadata["table-uuid"]}, asked["requirements"])
        for name, at in (("main", 4), ("kept", 2)):
            self.assertIn({"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": at}, asked["requirements"])
        self.assertEqual(3, len(asked["requirements"]))
        self.assertEqual([{"action": "remove-snapshots", "snapshot-ids": [1, 5, 3]}], asked["updates"])

    def test_the_tables_own_rules(self):
        self.table.metadata["properties"] = {"history.expire.max-snapshot-age-ms": str(16 * DAY), "history.expire.min-snapshots-to-keep": "3"}
        self.table.write()
        self.assertEqual("1\n", self.expire("--dry-run", "true").out)
        self.table.metadata["refs"]["main"].update({"min-snapshots-to-keep": 1, "max-snapshot-age-ms": 2 * DAY})
        self.table.write()
        self.assertEqual("1\n3\n", self.expire("--dry-run", "true").out)
        self.table.metadata["refs"]["kept"]["max-ref-age-ms"] = 1
        self.table.write()
        self.expire()
        self.assertIn("kept", self.table.metadata["refs"])
        self.table.metadata["properties"] = {"history.expire.min-snapshots-to-keep": "many"}
        self.table.write()
        self.assert_fails(self.expire("--json"), 2, "metadata.unreadable", "min-snapshots-to-keep")

    def test_gc_disabled(self):
        self.table.metadata["properties"] = {"gc.enabled": "false"}
        self.table.write()
        self.assert_fails(self.expire("--json"), 2, "table.gc_disabled")
        self.assertEqual([], self.posts)

    def test_refs_that_change_meanwhile(self):
        def moved(table, asked):
            if len(self.posts) == 1:
                table.metadata["refs"]["new"] = {"snapshot-id": 3, "type": "branch"}
                table.metadata["refs"]["main"] = {"snapshot-id": 6, "type": "branch"}
                table.metadata["current-snapshot-id"] = 6
                table.write()

        self.instead = moved
        done = self.expire("--older-than", "", "--json")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(2, len(self.posts))
        self.assertNotIn(3, self.posts[1]["updates"][0]["snapshot-ids"])
        self.assertEqual({"main", "kept", "new"}, set(self.table.metadata["refs"]))

    def test_a_ref_that_came_before_the_commit_is_seen(self):
        """There is no requirement that says "and no other refs": the table is loaded right before."""
        loads, usual = [0], self.catalog.load

        def load(table, query, headers):
            loads[0] += 1
            if loads[0] == 2:  # the first was for judging
                table.metadata["refs"]["new"] = {"snapshot-id": 3, "type": "tag"}
                table.write()
            return usual(table, query, headers)

        self.catalog.load = load
        self.assertEqual(0, self.expire().status)
        self.assertEqual([2, 3, 4, 6], self.table.ids())
        self.assertIn("new", self.table.metadata["refs"])

    def test_conflicts_end(self):
        self.instead = lambda table, asked: Catalog.error(409, "CommitFailedException", "no")
        self.assert_fails(self.expire("--json"), 3, "commit.conflict")
        self.assertEqual(3, len(self.posts))

    def test_a_rejected_commit_that_looks_open(self):
        for status in (500, 503):
            self.instead = lambda table, asked, status=status: (status, {"Content-Type": "text/html"}, HTML)
            self.posts.clear()
            self.assert_fails(self.expire("--json"), 3, "catalog.failed", "nothing was changed")
            self.assertEqual(1, len(self.posts))
            self.assertEqual(6, len(self.table.ids()))

    def test_an_open_answer_of_a_commit_that_was_done(self):
        def done_and(answer):
            def act(table, asked):
                self.usual(table, asked)
                return answer
            return act

        for answer in ((500, {}, HTML), (504, {}, b""), "drop"):
            self.table.metadata["snapshots"].insert(0, {**self.table.metadata["snapshots"][0], "snapshot-id": 1, "timestamp-ms": 5})
            self.table.metadata["snapshots"][0].pop("parent-snapshot-id", None)
            self.table.metadata["snapshots"] = list({one["snapshot-id"]: one for one in self.table.metadata["snapshots"]}.values())
            self.table.write()
            self.posts.clear()
            self.instead = done_and(answer)
            done = self.expire()
            self.assertEqual(0, done.status, done.err)
            self.assertEqual(1, len(self.posts))
            self.assertEqual([2, 4, 6], self.table.ids())

    def test_nobody_can_tell(self):
        for answer in ("drop", (504, {}, b""), (502, {}, HTML)):
            self.posts.clear()
            self.instead = lambda table, asked, answer=answer: answer
            self.assert_fails(self.expire("--json"), 3, "commit.unknown_state")
            self.assertEqual(1, len(self.posts))

        def broken(table, asked):
            self.catalog.hook = lambda *_: (403, {}, b"")
            return (500, {}, b"")

        self.instead = broken
        self.assert_fails(self.expire("--json"), 3, "commit.unknown_state", "can't be loaded since")

    def test_a_server_that_drops_a_ref(self):
        def drop(table, asked):
            made = self.usual(table, asked)
            del table.metadata["refs"]["kept"]
            table.write()
            return made

        self.instead = drop
        self.assert_fails(self.expire("--json"), 3, "commit.unknown_state", "branch or tag is gone")

    def test_a_server_that_does_nothing_and_says_yes(self):
        self.instead = lambda table, asked: Catalog.json(200, {"metadata-location": table.location, "metadata": table.metadata})
        self.assert_fails(self.expire("--json"), 3, "commit.unknown_state", "still there")

    def test_bad_input(self):
        for args in (("--retain-last", "0"), ("--retain-last", "x"), ("--dry-run", "yes"), ("--older-than", "soon"), ("--location", "x")):
            self.assertEqual(64, self.expire(*args).status, args)
        self.assertEqual(2, self.expire("--older-than", "2999-01-01 00:00:00").status)
        self.assertEqual(64, self.expire(catalog="none").status)
        self.assertEqual(64, self.expire(table="s.none").status)
        self.assertEqual([], self.posts)


if __name__ == "__main__":
    unittest.main()
