# SPDX-License-Identifier: Apache-2.0
"""Apply, restore and purge on object stores: killed at each of their steps, gone on with, and met by others meanwhile."""
import collections
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import proxy  # noqa: E402
import servers  # noqa: E402
import sqltext  # noqa: E402
import world  # noqa: E402
from world import fixtures, program  # noqa: E402

CASE = "c01-v1-basic"
OLD_MS = 1769904000000


def is_odd(key):
    return any(ord(c) < 0x20 or ord(c) == 0x7F or c == "\ufffd" for c in key)


class Looks(proxy.Toxic):
    """Counts how often each object is looked at."""

    kinds = ("head",)

    def __init__(self):
        self.keys = collections.Counter()

    def before(self, request, count):
        self.keys[request.key] += 1


class Base:
    stride = 1  # each step; a server that is slow: some of them

    @classmethod
    def setUpClass(cls):
        cls.s3 = cls.server()

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ebb-s3-apply-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        case = next(c for c in fixtures.cases() if c.name == CASE)
        self.place = world.OnS3(case, self.work, self.s3, self.s3.new_bucket())
        self.bucket, self.table = self.place.bucket, case.tables[0]
        self.orphans = {self.place.local(p) for p in self.table["safe"]["orphans"]}
        if not self.s3.encodes:
            self.orphans = {key for key in self.orphans if not is_odd(key)}
        self.before = self.visible()
        self.bytes = {key: self.s3.client.get(self.bucket, key) for key in self.before}

    def visible(self):
        return {key: facts for key, facts in self.s3.list(self.bucket).items() if "/.ebb-quarantine/" not in key}

    def quarantined(self):
        return {key for key in self.s3.list(self.bucket) if "/.ebb-quarantine/" in key}

    def plan(self):
        output = os.path.join(tempfile.mkdtemp(dir=self.work), "x.plan")
        done = self.place.plan(self.table, "--max-share", "1", output=output)
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(self.orphans, self.place.candidates(output))
        return output

    def apply(self, output, *options, status=0, env=None):
        done = self.place.run("apply", output, "--yes", "--json", *options, env=env)
        self.assertEqual(status, done.status, done.err)
        return done

    def check_live(self):
        now = self.visible()
        for key in set(self.before) - self.orphans:
            self.assertEqual(self.before[key], now.get(key), key)
        return now

    def check_back(self):
        self.assertEqual(set(self.before), set(self.check_live()))
        for key in self.orphans:
            self.assertEqual(self.bytes[key], self.s3.client.get(self.bucket, key), key)

    def steps(self, *words):
        trace = os.path.join(self.work, "trace")
        if os.path.exists(trace):
            os.unlink(trace)
        done = self.place.run(*words, env={"EBB_FAILPOINT_TRACE": trace})
        self.assertEqual(0, done.status, done.err)
        if not os.path.exists(trace):
            self.skipTest("the program has no failpoints")
        with open(trace, encoding="ascii") as f:
            return len(f.readlines()), done.json()

    def runs(self):
        return [json.loads(line) for line in self.place.run("runs", "--json").out.splitlines()]

    def test_killed_at_each_step_of_apply_and_restore(self):
        count, run = self.steps("apply", self.plan(), "--yes", "--json")
        back, _ = self.steps("restore", run["run"], "--json")
        for number in range(1, count + 1, self.stride):
            with self.subTest(apply=number):
                shutil.rmtree(self.place.state, ignore_errors=True)
                self.again()
                output = self.plan()
                done = self.place.run("apply", output, "--yes", "--json", env={"EBB_FAILPOINT": str(number)})
                self.assertEqual(-9, done.status, done.err)
                self.check_live()
                run = self.go_on(output)
                self.assertEqual(set(), self.orphans & set(self.check_live()))
                self.restored_though_killed(run, 1 + number % back)
        sqltext.measured("%s: killed at %d of %d steps of apply, and in restore" % (self.s3.kind, len(range(0, count, self.stride)), count))

    def again(self):
        """As it was in the beginning; restored objects are young."""
        for key in self.quarantined():
            self.s3.client.delete(self.bucket, key)
        for key in self.orphans:
            self.s3.put(self.bucket, key, self.bytes[key], OLD_MS)

    def go_on(self, output):
        rows = self.runs()
        if not rows:
            return self.apply(output).json()["run"]
        run = rows[0].get("run") or rows[0]["id"]
        done = self.place.run("apply", "--resume", run, "--yes", "--json")
        if done.status == 2 and done.error().get("code") == "run.wrong_state":
            return run
        self.assertEqual(0, done.status, done.err)
        return run

    def restored_though_killed(self, run, number):
        done = self.place.run("restore", run, "--json", env={"EBB_FAILPOINT": str(number)})
        self.assertIn(done.status, (-9, 0), done.err)
        self.check_live()
        done = self.place.run("restore", run, "--json")
        self.assertEqual(0, done.status, done.err)
        self.check_back()

    def test_without_any_state(self):
        run = self.apply(self.plan()).json()
        shutil.rmtree(self.place.state)
        root = fixtures.plain(self.table["location"])[len("/ebb/") :]
        done = self.place.run("restore", "--from", "s3://%s/%s/.ebb-quarantine/%s" % (self.bucket, root, run["run"]), "--json")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(len(self.orphans), done.json()["restored"])
        self.check_back()

    def test_an_object_that_was_replaced_stays(self):
        output = self.plan()
        key = min(self.orphans)
        self.s3.put(self.bucket, key, b"written anew", OLD_MS)
        run = self.apply(output, status=3).json()
        self.assertEqual(len(self.orphans) - 1, run["moved"])
        self.assertEqual(1, len(run["skipped"]))
        self.assertEqual(b"written anew", self.s3.client.get(self.bucket, key))

    def test_a_new_object_under_the_old_name_is_not_overwritten(self):
        run = self.apply(self.plan()).json()
        key = min(self.orphans)
        self.s3.put(self.bucket, key, b"written anew", OLD_MS)
        done = self.place.run("restore", run["run"], "--json")
        self.assertEqual(3, done.status, done.err)
        self.assertEqual(1, len(done.json()["conflicts"]))
        self.assertEqual(b"written anew", self.s3.client.get(self.bucket, key))
        self.assertEqual(set(self.before), set(self.visible()))

    def test_purge(self):
        run = self.apply(self.plan()).json()
        done = self.place.run("purge", run["run"], "--older-than", "0d", "--json")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(len(self.orphans), done.json()["deleted"])
        self.assertEqual(set(), self.quarantined())
        self.assertEqual(set(self.before) - self.orphans, set(self.check_live()))

    def test_what_stays_is_looked_at_once_before_and_once_after(self):
        """Also a manifest that is in the lists of many snapshots."""
        output, looks = self.plan(), Looks()
        with proxy.Proxy(self.s3.endpoint, looks) as seen:
            self.apply(output, env={"AWS_ENDPOINT_URL_S3": seen.endpoint})
        manifests = {key for key in set(self.before) - self.orphans if key.endswith("-m0.avro")}
        self.assertEqual({2}, {looks.keys[key] for key in manifests})

    def test_a_table_that_misses_a_file_is_held(self):
        output = self.plan()
        key = fixtures.plain(self.table["reachable"]["data_files"][0])[len("/ebb/") :]
        self.s3.client.delete(self.bucket, key)
        done = self.place.run("apply", output, "--yes", "--json")
        self.assertEqual((2, "plan.held"), (done.status, done.error().get("code")), done.err)
        self.assertIn(os.path.basename(key), done.error()["message"])
        self.assertEqual({k: v for k, v in self.before.items() if k != key}, self.visible())

    def test_two_at_once(self):
        """The lock is an object that must not exist."""
        root = fixtures.plain(self.table["location"])[len("/ebb/") :]
        output = self.plan()
        lock = json.dumps({"host": "other", "pid": 1, "start": 1, "boot": "x", "space": "y", "run": "r-other", "epoch": 1, "expires": 32503680000000})
        self.s3.put(self.bucket, root + "/.ebb-quarantine/lock", lock.encode())
        done = self.place.run("apply", output, "--yes", "--json")
        self.assertEqual((2, "run.locked"), (done.status, done.error().get("code")), done.err)
        self.assertEqual(self.before, self.visible())


class Versitygw(Base, unittest.TestCase):
    server = staticmethod(servers.s3)


class Moto(Base, unittest.TestCase):
    stride = 5
    server = staticmethod(servers.moto)


if __name__ == "__main__":
    unittest.main()
