#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planning a table in a bucket of 100,000 objects, as a ratio to a bare LIST of the same bucket, page after page.

    s3_list.py [OBJECTS]        EBB: the program (default build/release/ebb)

Near: versitygw on this machine. It needs some 14 ms of CPU for a page and shares the cores with ebb, so no client can be faster than
that work on all cores: printed as `least`. Far: a server that answers from memory 20 ms later (s3_peer.py); `least` is as many times 20 ms
as sixteen at once need for the pages. Needs what tests/interop/install installs."""
import math
import os
import re
import resource
import shutil
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "interop"))
os.environ.setdefault("EBB", os.path.join(ROOT, "build", "release", "ebb"))
import s3_peer  # noqa: E402
import s3client  # noqa: E402
import servers  # noqa: E402
import world  # noqa: E402

CASE = "c01-v1-basic"
FOLDERS = 200
OLD = 1769904000
FAR_S = 0.02
AT_ONCE = 16
PLANS = 3
TOKEN = re.compile(rb"<NextContinuationToken>(.*?)</NextContinuationToken>", re.S)


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


def cpu_below(pid):
    """Seconds of CPU of a process and of all that it started and that still run."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        children = [int(child) for child in f.read().split()]
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(cpu_below, children))


def own_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Measured:
    """What one thing took: seconds, CPU of the server, CPU of programs that it ran."""

    def __init__(self, server_cpu, act):
        server, own, begin = server_cpu(), own_cpu(), time.monotonic()
        self.got = act()
        self.seconds, self.server_s, self.own_s = time.monotonic() - begin, server_cpu() - server, own_cpu() - own


def bare(s3, endpoint, bucket):
    """(pages, keys) of a LIST, of which no more is read than how it goes on."""
    client, token, pages, keys = s3client.Client(endpoint, s3.key, s3.secret, s3.region), None, 0, 0
    while pages == 0 or token:
        query = [("list-type", "2"), ("prefix", ""), ("max-keys", "1000")]
        body = client.must("GET", bucket, query=query + ([("continuation-token", token)] if token else [])).body
        found = TOKEN.search(body)
        token, pages, keys = found and found.group(1).decode(), pages + 1, keys + body.count(b"<Contents>")
    return pages, keys


def planned(place, endpoint):
    output = os.path.join(place.base, "x.plan")
    done = place.plan(place.case.tables[0], "--max-share", "1", output=output, env={"AWS_ENDPOINT_URL_S3": endpoint})
    assert done.status == 0, done.err
    return done.json()["listed"]


def show(name, listing, plan, least, note):
    pages, keys = listing.got
    print("%-5s bare LIST %5.2f s (%d pages, %d keys)   ebb plan %5.2f s (%d listed)   ratio %.2f   least %.2f s"
          % (name, listing.seconds, pages, keys, plan.seconds, plan.got, plan.seconds / listing.seconds, least))
    print("      CPU of ebb %.2f s, of the server %.2f s (%.1f ms a page of the bare LIST)%s"
          % (plan.own_s, plan.server_s, listing.server_s * 1000 / pages, note), flush=True)


def near(s3, place):
    server_cpu = lambda: cpu_below(s3.process.child.pid)  # noqa: E731
    listing = Measured(server_cpu, lambda: bare(s3, s3.endpoint, place.bucket))
    plan = min((Measured(server_cpu, lambda: planned(place, s3.endpoint)) for _ in range(PLANS)), key=lambda m: m.seconds)
    cores = os.cpu_count() or 1
    busy = (plan.server_s + plan.own_s) / (plan.seconds * cores)
    show("near", listing, plan, listing.server_s / cores, "; together %.0f %% of %d cores" % (busy * 100, cores))


def phases(rows):
    """How long it asked one after another before and after the pages, and for the pages."""
    pages = [i for i, row in enumerate(rows) if row[2] == "list" and "start-after" in row[3]]
    first, last = rows[pages[0]][0], max(rows[i][1] for i in pages)
    return first - rows[0][0], last - first, max(row[1] for row in rows) - last


def far(s3, place):
    with s3_peer.Peer(s3, place.bucket, FAR_S) as peer:
        listing = Measured(peer.cpu_s, lambda: bare(s3, peer.endpoint, place.bucket))
        best = None
        for _ in range(PLANS):
            peer.log()
            plan = Measured(peer.cpu_s, lambda: planned(place, peer.endpoint))
            rows = sorted(peer.log())
            if best is None or plan.seconds < best[0].seconds:
                best = plan, rows
    plan, rows = best
    show("far", listing, plan, math.ceil(listing.got[0] / AT_ONCE) * FAR_S, "")
    print("      %d requests, %d of them for folders and pages; %.2f s before the pages, %.2f s for them, %.2f s after"
          % (len(rows), sum(row[2] in ("list", "folders") for row in rows), *phases(rows)), flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    work = tempfile.mkdtemp(prefix="ebb-s3-list-")
    s3 = servers.s3()
    try:
        case = next(c for c in world.fixtures.cases() if c.name == CASE)
        place = world.OnS3(case, work, s3, s3.new_bucket())
        fill(s3, place, count)
        near(s3, place)
        far(s3, place)
    finally:
        s3.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
