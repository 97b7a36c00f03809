#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planning a table in a bucket of 100,000 objects, as a ratio to a bare LIST of the same bucket, page after page.

    s3_list.py [OBJECTS]        EBB: the program (default build/release/ebb)

The server is versitygw on this machine; once directly, once behind a proxy that answers 20 ms later, as a bucket that is far away does.
Needs what tests/interop/install installs."""
import os
import shutil
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "interop"))
os.environ.setdefault("EBB", os.path.join(ROOT, "build", "release", "ebb"))
import proxy  # noqa: E402
import s3client  # noqa: E402
import servers  # noqa: E402
import world  # noqa: E402

CASE = "c01-v1-basic"
FOLDERS = 200
OLD = 1769904000


def fill(s3, place, count):
    """Objects of a versitygw bucket are files."""
    root = os.path.join(s3.data, place.bucket, place.case.truth["root"], "db", "t", "data")
    for folder in range(FOLDERS):
        path = os.path.join(root, "day=%03d" % folder)
        os.makedirs(path)
        for number in range(count // FOLDERS):
            name = os.path.join(path, "%05d-0-left.parquet" % number)
            with open(name, "wb"):
                pass
            os.utime(name, (OLD, OLD))


class Far(proxy.Latency):
    """Counts what it lets wait."""
    asked = 0

    def before(self, request, count):
        self.asked += 1
        return super().before(request, count)


def bare(s3, endpoint, bucket):
    client = s3client.Client(endpoint, s3.key, s3.secret, s3.region)
    begin, pages, keys = time.monotonic(), 0, 0
    for page in client.pages(bucket, encoded=False):
        pages += 1
        keys += sum(1 for _ in page.iter("Contents"))
    return time.monotonic() - begin, pages, keys


def planned(place, endpoint):
    output = os.path.join(place.base, "x.plan")
    begin = time.monotonic()
    done = place.plan(place.case.tables[0], "--max-share", "1", output=output, env={"AWS_ENDPOINT_URL_S3": endpoint})
    taken = time.monotonic() - begin
    assert done.status == 0, done.err
    return taken, done.json()["listed"]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    work = tempfile.mkdtemp(prefix="ebb-s3-list-")
    s3 = servers.s3()
    try:
        case = next(c for c in world.fixtures.cases() if c.name == CASE)
        place = world.OnS3(case, work, s3, s3.new_bucket())
        fill(s3, place, count)
        toxic = Far(0.02)
        with proxy.Proxy(s3.endpoint, toxic) as far:
            for name, endpoint in (("near", s3.endpoint), ("20 ms away", far.endpoint)):
                seconds, pages, keys = bare(s3, endpoint, place.bucket)
                toxic.asked = 0
                mine = min(planned(place, endpoint) for _ in range(2))
                print("%-10s  bare LIST %6.2f s (%d pages, %d keys)   ebb plan %6.2f s (%d listed)   ratio %.2f"
                      % (name, seconds, pages, keys, mine[0], mine[1], mine[0] / seconds), flush=True)
            print("requests of one plan: %d" % (toxic.asked // 2))
    finally:
        s3.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
