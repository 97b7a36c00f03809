#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon costs with very many tables: start, first look at all, one full tick (every policy is due on every table), then
nothing to do.

    EBB=build/release/ebb tests/bench/serve_scale.py [--tables 10000] [--policies 4] [--warehouse FOLDER]

The aims on two cores: a tick below 10 s, idle below 1 % of a core, below 200 MiB. Exit status 1 when one is missed.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]

import daemon  # noqa: E402
import make_tables  # noqa: E402

TICK_S, IDLE, MIB = 10, 0.01, 200
POLICY = """return policy {
  api = 1, name = "p%d", target = { tables = { "**" } },
  triggers = { %s },
  decide = function(t, ctx)
    local v = all {
      check("live", t.current_snapshot, "exists"),
      check("format", t.format_version, ">=", 2),
      check("many_snapshots", t.stats.snapshots, ">=", %d),
      check("alone", t.location_overlaps, "==", 0),
      check("not_off", t.properties["maintenance.expire"], "unknown"),
    }
    if not v.ok then return skip(v) end
    return run(v, action.expire_snapshots { older_than = ctx.now - 432000000 })
  end,
}
"""


def configure(o, trigger):
    folder = os.path.join(o.dir, "policies")
    os.makedirs(folder, exist_ok=True)
    for i in range(o.policies):
        with open(os.path.join(folder, "p%d.lua" % i), "w", encoding="utf-8") as f:
            f.write(POLICY % (i, trigger, 100 + i))
    with open(os.path.join(o.dir, "ebb.lua"), "w", encoding="utf-8") as f:
        f.write('return { catalogs = { files = { type = "directory", path = "%s" } }, policies = "./policies",\n  bind = { %s } }\n' %
                (o.warehouse, ", ".join('{ policy = "p%d", tables = { "**" } }' % i for i in range(o.policies))))


def is_calm(d):
    s = d.status()
    return s["ready"] and s["looks"]["waiting"] == 0 and s["looks"]["running"] == 0


def say(name, text, good=None):
    print("%-28s %s%s" % (name, text, "" if good is None else "   (aim met)" if good else "   (aim MISSED)"), flush=True)
    return good is not False


def answered(d):
    """Decisions that were asked for: made, or known to be the same."""
    m = d.metrics()
    return sum(v for n, v in m.items() if n.split("{")[0] in ("ebb_decisions_total", "ebb_decisions_unchanged_total"))


def tick(o, d):
    """Wall seconds of one full tick, from the minute on; and CPU seconds."""
    wanted = o.tables * o.policies
    base = answered(d)
    daemon.wait(lambda: answered(d) > base, 90, 0.02, "the minute")
    begin = (time.time() // 60) * 60
    daemon.wait(lambda: answered(d) >= base + wanted, 600, 0.05, "the end of the tick")
    return time.time() - begin


def start(o):
    begin = time.monotonic()
    d = daemon.Daemon(os.path.join(o.dir, "ebb.lua"), os.path.join(o.dir, "state"))
    d.start(600)
    answers = time.monotonic() - begin
    daemon.wait(d.is_ready, 600, what="readiness")
    ready = time.monotonic() - begin
    daemon.wait(lambda: d.total("ebb_table_looks_total") >= o.tables and is_calm(d), 1200, what="a look at every table")
    return d, answers, ready, time.monotonic() - begin


def measure_tick(o):
    configure(o, 'time.every { "1m", anchor = "epoch" }')
    d, answers, ready, looked = start(o)
    with_cpu = d.cpu_s()
    say("start: answers after", "%.2f s" % answers)
    say("start: ready after", "%.2f s" % ready)
    say("start: all looked at after", "%.2f s, CPU %.2f s" % (looked, with_cpu))
    good = True
    try:
        for n in range(o.ticks):
            before = d.cpu_s()
            took = tick(o, d)
            good = say("tick %d" % (n + 1), "%.2f s, CPU %.2f s" % (took, d.cpu_s() - before), took < TICK_S) and good
        good = say("memory after ticks", "%.0f MiB" % (d.rss_bytes() / 2**20), d.rss_bytes() < MIB * 2**20) and good
        d.stop(120)
    finally:
        d.__exit__()
    return good


def measure_idle(o):
    configure(o, 'time.calendar { "Sun 02:00" }')
    d, _, ready, looked = start(o)
    try:
        say("start again: ready after", "%.2f s, all looked at after %.2f s" % (ready, looked))
        daemon.wait(lambda: is_calm(d), 120)
        polls, seconds, before, begin = [], 0, d.cpu_s(), time.monotonic()
        time.sleep(o.idle)
        seconds = time.monotonic() - begin
        share = (d.cpu_s() - before) / seconds
        good = say("idle", "%.2f %% of a core over %.0f s" % (100 * share, seconds), share < IDLE)
        at, before, begin = d.status()["listing"]["at"], d.cpu_s(), time.monotonic()
        daemon.wait(lambda: d.status()["listing"]["at"] != at, 130, 0.5, "the next listing")
        polls = d.cpu_s() - before
        say("one listing of all", "CPU %.2f s, in %d ms" % (polls, d.status()["listing"]["took_ms"]))
        good = say("memory", "%.0f MiB" % (d.rss_bytes() / 2**20), d.rss_bytes() < MIB * 2**20) and good
        say("store", "%.1f MiB" % (os.path.getsize(os.path.join(o.dir, "state", "ebb.db")) / 2**20))
        d.stop(120)
    finally:
        d.__exit__()
    return good


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10000)
    parser.add_argument("--policies", type=int, default=4)
    parser.add_argument("--ticks", type=int, default=2)
    parser.add_argument("--idle", type=float, default=20, help="seconds to watch nothing happen (20)")
    parser.add_argument("--warehouse", help="of make_tables.py, with as many tables; made when it is not given")
    return parser.parse_args()


def main():
    o = options()
    o.dir = tempfile.mkdtemp(prefix="ebb-scale-")
    try:
        if not o.warehouse:
            o.warehouse = os.path.join(o.dir, "wh")
            make_tables.make(o.warehouse, o.tables, 100)
        print("%d tables, %d policies, %d cores" % (o.tables, o.policies, os.cpu_count()))
        good = measure_tick(o)
        good = measure_idle(o) and good
    finally:
        shutil.rmtree(o.dir)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
