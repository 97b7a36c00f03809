# SPDX-License-Identifier: Apache-2.0
"""Listings of many pages, whatever the shape of the folders: each object is told once. Cuts of a listing are guessed from its first folders, so shapes differ
in what these tell of the rest."""
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
from world import fixtures  # noqa: E402

CASE = "c01-v1-basic"
OLD = 1769904000  # 2026-02-01, before the cutoff
ETAG = b'"d41d8cd98f00b204e9800998ecf8427e"'  # of nothing


def flat(count):
    return ["data/%05d-0-left.parquet" % n for n in range(count)]


def even(folders, each):
    return ["data/day=%03d/%05d-0-left.parquet" % (d, n) for d in range(folders) for n in range(each)]


def deep(count):
    """Only three levels further in do names differ."""
    return ["data/year=2026/month=%02d/day=%02d/%03d.parquet" % (n % 12, n // 12 % 28, n) for n in range(count)]


def uneven(count):
    """One large folder between many small ones, at the place where the large one begins or ends like its neighbours."""
    small = ["data/k=%s/one.parquet" % name for name in ("a", "ab", "b", "ba", "~", "\u65e5", "B", "0", "00", "!")]
    return small + ["data/k=ac/%s-%d.parquet" % ("x" * (n % 7), n) for n in range(count)] + ["data/k=ac/deeper/%d.parquet" % n for n in range(50)]


SHAPES = {"flat": flat(7300), "even": even(40, 180), "deep": deep(5600), "uneven": uneven(4200), "no folder below data": flat(3) + ["zz/%d" % n for n in range(2500)]}


class Listing(unittest.TestCase):
    def setUp(self):
        self.s3 = servers.s3()
        self.work = tempfile.mkdtemp(prefix="ebb-s3-listing-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)

    def place(self, number, names):
        """A table with these orphans beside its own; (place, the keys of all of them). Objects of this server are files."""
        case = next(c for c in fixtures.cases() if c.name == CASE)
        base = os.path.join(self.work, str(number))
        os.mkdir(base)
        place = world.OnS3(case, base, self.s3, self.s3.new_bucket())
        keys = {fixtures.plain(case.tables[0]["location"])[len("/ebb/") :] + "/" + name for name in names}
        for key in keys:
            path = os.path.join(self.s3.data, place.bucket, key)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb"):
                pass
            os.setxattr(path, "user.etag", ETAG)
            os.utime(path, (OLD, OLD))
        own = {place.local(p) for p in case.tables[0]["safe"]["orphans"]}
        return place, keys | {key for key in own if all(ord(c) >= 0x20 for c in key)}

    def check(self, place, wanted, env=None):
        output = os.path.join(place.base, "x.plan")
        done = place.plan(place.case.tables[0], "--max-share", "1", output=output, env=env)
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(wanted, place.candidates(output))
        return done.json()["listed"]

    def test_shapes(self):
        for number, (name, names) in enumerate(SHAPES.items()):
            with self.subTest(name):
                place, wanted = self.place(number, names)
                listed = self.check(place, wanted)
                self.assertEqual(len(self.s3.list(place.bucket)), listed)
                with proxy.Proxy(self.s3.endpoint, proxy.Latency(0.02)) as far:
                    self.assertEqual(listed, self.check(place, wanted, {"AWS_ENDPOINT_URL_S3": far.endpoint}))
                sqltext.measured("%s: %d objects, %d requests" % (name, listed, far.requests.count("list")))


if __name__ == "__main__":
    unittest.main()
