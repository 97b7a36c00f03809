# SPDX-License-Identifier: Apache-2.0
"""A proxy before S3 that misbehaves in each way that was seen: what was begun is ended later or refused, and nothing is lost."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import proxy  # noqa: E402
import servers  # noqa: E402
import world  # noqa: E402
from world import fixtures, program  # noqa: E402

CASE = "c03-compact-expire"
MORE = 1100  # orphans beside the case's own, so that a listing has pages; 60 where each is moved
OLD_MS = 1769904000000
# Statuses that say no and name a reason; a crash or a signal is none of them.
REFUSALS = range(1, 80)


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s3 = servers.s3()
        cls.work = tempfile.mkdtemp(prefix="ebb-s3-faults-")
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.fresh()

    @classmethod
    def fresh(cls, count=MORE):
        """A bucket with a table, its orphans and many more; what is live and what is not."""
        case = next(c for c in fixtures.cases() if c.name == CASE)
        base = tempfile.mkdtemp(dir=cls.work)
        cls.place = world.OnS3(case, base, cls.s3, cls.s3.new_bucket())
        cls.table = case.tables[0]
        cls.root = fixtures.plain(cls.table["location"])[len("/ebb/") :]
        more = os.path.join(base, "more")
        os.makedirs(os.path.join(more, cls.root, "data"))
        cls.more = {"%s/data/%05d-left.parquet" % (cls.root, n) for n in range(count)}
        for key in cls.more:
            with open(os.path.join(more, key), "wb") as f:
                f.write(key.encode())
            os.utime(os.path.join(more, key), (OLD_MS / 1000, OLD_MS / 1000))
        world.upload(cls.s3, cls.place.bucket, more, "wh")
        cls.orphans = {cls.place.local(p) for p in cls.table["safe"]["orphans"]} | cls.more
        cls.orphans = {key for key in cls.orphans if all(ord(c) >= 0x20 for c in key)}
        cls.all = cls.visible()
        cls.live = {key: facts for key, facts in cls.all.items() if key not in cls.orphans}
        assert set(cls.all) >= cls.orphans

    @classmethod
    def visible(cls):
        return {key: facts for key, facts in cls.s3.list(cls.place.bucket).items() if "/.ebb-quarantine/" not in key}

    def quarantined(self):
        """Orphans that lie in quarantine, by the names that they had."""
        tails = [key.split("/.ebb-quarantine/")[1].partition("/")[2] for key in self.s3.list(self.place.bucket) if "/.ebb-quarantine/" in key]
        return [tail for tail in tails if any(key.endswith("/" + tail) or tail.endswith(key[len(self.root) :]) for key in self.orphans)]

    def ebb(self, bad, *args):
        return self.place.run(*args, env={"AWS_ENDPOINT_URL_S3": bad.endpoint} if bad else None, timeout=240)

    def plan(self, bad=None):
        output = os.path.join(tempfile.mkdtemp(dir=self.work), "x.plan")
        words = ["plan", self.place.label(self.table), "--older-than", fixtures.OLDER_THAN, "--max-share", "1", "--json", "-o", output]
        return self.ebb(bad, *words), output

    def check_live(self):
        now = self.visible()
        self.assertEqual(self.live, {key: now.get(key) for key in self.live})
        return now

    def check_answer(self, done):
        """Done, or no with a reason in one line that hides nothing."""
        self.assertIn(done.status, [0, *REFUSALS], done.err)
        self.assertNotIn("AddressSanitizer", done.err)
        self.assertNotIn("ebbtestsecret", done.out + done.err)
        if done.status and not done.out.strip():
            self.assertTrue(done.error().get("message"), done.err)

    def planned(self, toxic, wanted):
        """wanted: "all" the orphans; "refused"; "fewer" (or refused), when what is not shown can't be missed; never one that lives."""
        with proxy.Proxy(self.s3.endpoint, toxic) as bad:
            done, output = self.plan(bad)
            self.assertTrue(bad.done or isinstance(toxic, proxy.Latency), "the proxy did nothing")
        self.check_answer(done)
        if wanted == "all" or (wanted == "fewer" and os.path.exists(output)):  # a plan that is held for a person is there as well
            got = self.place.candidates(output)
            self.assertLessEqual(got, self.orphans)
            if wanted == "all":
                self.assertEqual((0, self.orphans), (done.status, got), done.err)
        else:
            self.assertNotEqual(0, done.status, done.out)
            self.assertFalse(os.path.exists(output))
        self.assertEqual(self.all, self.check_live())
        return done

    def test_plans_that_get_through(self):
        for name, toxic in (("503 bursts", proxy.Burst(7, 3)), ("resets", proxy.Reset(5)), ("latency", proxy.Latency(0.05))):
            with self.subTest(name):
                self.planned(toxic, "all")

    def test_listings_that_are_not_right(self):
        page = proxy.Page
        for name, toxic, wanted in (("a page that is cut", page(proxy.cut_page), "refused"), ("no IsTruncated", page(proxy.drop_truncated), "refused"),
                                    ("the same token again and again", page(proxy.same_token), "refused"), ("complete, it says, too early", page(proxy.say_complete), "fewer"),
                                    ("keys are missing", page(proxy.drop_keys), "fewer"), ("keys below another folder", page(proxy.move_keys), "refused"),
                                    ("keys in another case", page(proxy.swap_case), "refused"), ("a page for people", proxy.Html(), "refused")):
            with self.subTest(name):
                self.planned(toxic, wanted)

    def test_rewritten_keys_are_not_removed(self):
        """Names of objects that are not there: whatever a plan says of them, applying it changes nothing else."""
        with proxy.Proxy(self.s3.endpoint, proxy.Page(proxy.rewrite_keys)) as bad:
            done, output = self.plan(bad)
            self.check_answer(done)
            if done.status == 0:
                self.check_answer(self.ebb(bad, "apply", output, "--yes", "--json"))
        self.assertEqual(self.all, self.check_live())

    def test_plans_that_are_refused(self):
        rows = (("expired in the middle", proxy.Expired(2), "credential|expired|token"), ("wrong region by redirect", proxy.WrongRegion(301), "eu-west-1"),
                ("wrong region by name", proxy.WrongRegion(400), "eu-west-1"), ("too skewed", proxy.TooSkewed(), "clock|time"), ("denied", proxy.Denied(), "denied|permission"),
                ("denied listing", proxy.Denied(("list",)), "denied|permission"))
        for name, toxic, said in rows:
            with self.subTest(name):
                done = self.planned(toxic, "refused")
                self.assertRegex(done.err.lower(), said.lower())
                self.assertEqual(1, sum('"error"' in line for line in done.err.splitlines()), done.err)

    def test_a_clock_that_is_behind_or_ahead(self):
        """Storage says what time it is; a table's files are not older for it."""
        for seconds in (-7200, 7200, 86400 * 400):
            with self.subTest(seconds):
                with proxy.Proxy(self.s3.endpoint, proxy.Skew(seconds)) as bad:
                    done, output = self.plan(bad)
                self.check_answer(done)
                if done.status == 0:
                    self.assertLessEqual(self.place.candidates(output), self.orphans)
                self.check_live()

    def tearDown(self):
        if len(self.more) != MORE:
            type(self).fresh()

    def there_and_back(self, toxic, purge=False):
        """Each step through the proxy; what did not end is ended without it. In the end all is at its old place, or purged."""
        self.fresh(60)
        done, output = self.plan()
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(self.orphans, self.place.candidates(output))
        with proxy.Proxy(self.s3.endpoint, toxic) as bad:
            run = self.finish(bad, output)
            self.assertEqual(self.live, self.check_live())
            done = self.ebb(bad, "purge", run, "--older-than", "0d", "--json") if purge else self.ebb(bad, "restore", run, "--json")
            self.check_answer(done)
        self.check_live()
        if purge:
            done = self.ebb(None, "purge", run, "--older-than", "0d", "--json") if done.status else done
            self.check_answer(done)
            self.assertEqual((self.live, []), (self.check_live(), self.quarantined()))
        else:
            done = self.ebb(None, "restore", run, "--json") if done.status else done
            self.assertEqual(0, done.status, done.err)
            self.assertEqual(self.all, self.check_live())

    def newest(self):
        return json.loads(self.ebb(None, "runs", "--json").out.splitlines()[0])

    def finish(self, bad, output):
        """Apply; what was not moved is where it was, what was moved is in quarantine, and resuming ends it."""
        done = self.ebb(bad, "apply", output, "--yes", "--json")
        self.check_answer(done)
        there = self.orphans & set(self.check_live())
        self.assertEqual(len(self.orphans), len(there) + len(self.quarantined()))
        for _ in range(3):
            if not there:
                break
            again = self.ebb(None, "apply", "--resume", self.newest()["id"], "--yes", "--json")
            if again.status:
                plan, output = self.plan()
                self.assertEqual(0, plan.status, plan.err)
                again = self.ebb(None, "apply", output, "--yes", "--json")
            there = self.orphans & set(self.check_live())
        self.assertEqual(set(), there)
        return done.json()["run"]

    def test_moves_through_bursts(self):
        self.there_and_back(proxy.Burst(40, 4))

    def test_moves_through_resets(self):
        """Also after the server has copied or deleted, so that nobody knows."""
        self.there_and_back(proxy.Reset(23))

    def interrupted(self, number, *args):
        """A signal while the 30th copy of a command is under way: exit code, standard error, and that the lock was let go of."""
        words = [program.path(), *args, "--json", "--config", self.place.config, "--state", self.place.state]

        def act():
            process.send_signal(number)
            time.sleep(0.5)

        with proxy.Proxy(self.s3.endpoint, proxy.At(30, act, ("copy",))) as bad:
            env = {**os.environ, **self.s3.env(), "AWS_ENDPOINT_URL_S3": bad.endpoint}
            process = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            _, err = process.communicate(timeout=240)
            self.assertGreater(bad.requests.count("copy"), 30)
        self.assertEqual([], [key for key in self.s3.list(self.place.bucket) if key.endswith("/.ebb-quarantine/lock")])
        self.assertEqual(self.live, {key: facts for key, facts in self.check_live().items() if key in self.live})
        return process.returncode, err

    def test_a_signal_in_the_middle_of_a_batch(self):
        """The batch comes to its end: its 1000 files are moved and looked at, the rest is where it was."""
        self.fresh(MORE + 1)
        done, output = self.plan()
        self.assertEqual(0, done.status, done.err)
        status, err = self.interrupted(signal.SIGTERM, "apply", output, "--yes")
        self.assertEqual(5, status, err)
        self.assertEqual(1000, len(self.quarantined()))
        self.assertEqual(len(self.orphans) - 1000, len(self.orphans & set(self.visible())))
        newest = self.newest()
        self.assertEqual("interrupted", newest["status"])
        status, err = self.interrupted(signal.SIGINT, "restore", newest["id"])
        self.assertIn(status, (0, 5), err)
        done = self.ebb(None, "restore", newest["id"], "--json")
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(self.all, self.check_live())

    def test_purge_with_partial_answers(self):
        self.there_and_back(proxy.PartialDelete(self.s3.client, "InternalError"), purge=True)


if __name__ == "__main__":
    unittest.main()
