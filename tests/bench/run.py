#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare `ebb plan` with the least work any scan must do (floor.c), in one run, program after program, medians of three.

    run.py TABLE_FOLDER [--ebb build/release/ebb] [--floor build/release/bench_floor] [--runs 3]

TABLE_FOLDER comes from make_table.py; the orphans found are compared with its list. Ratios of CPU time are what counts; wall
time depends on what else the machine does.
"""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time


def run(command):
    """Wall and CPU seconds, peak MiB and standard output of a command that must succeed."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - begin
        out.seek(0)
        text = out.read().decode()
    if status:
        sys.exit("%s: status %d" % (" ".join(command), os.waitstatus_to_exitcode(status)))
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "mib": usage.ru_maxrss / 1024, "out": text}


def orphans_of(plan_file, location):
    found = []
    with open(plan_file, encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            if "why" in value:
                found.append(value["path"][len(location) + 1:])
    return sorted(found)


def check(plan_file, table, location):
    with open(table + ".orphans.txt", encoding="utf-8") as file:
        right = file.read().split()
    if orphans_of(plan_file, location) != right:
        sys.exit("the plan is not what %s.orphans.txt says" % table)


def plan(o, state):
    target = os.path.join(state, "bench.plan")
    if os.path.exists(target):
        os.unlink(target)
    done = run([o.ebb, "plan", o.table, "--older-than", "3d", "--state", state, "-o", target, "--json", "--progress", "none"])
    check(target, o.table, json.loads(done["out"])["location"])
    return done


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--ebb", default="build/release/ebb")
    parser.add_argument("--floor", default="build/release/bench_floor")
    parser.add_argument("--runs", type=int, default=3)
    o = parser.parse_args()
    o.table = os.path.abspath(o.table)
    return o


def main():
    o = options()
    floors, firsts, seconds = [], [], []
    run([o.floor, o.table])
    for _ in range(o.runs):
        state = tempfile.mkdtemp(prefix="ebb-bench-")
        floors.append(run([o.floor, o.table]))
        firsts.append(plan(o, state))
        seconds.append(plan(o, state))
        shutil.rmtree(state)
    middle = {name: {k: statistics.median(r[k] for r in rows) for k in ("wall", "cpu", "mib")}
              for name, rows in (("floor", floors), ("first plan", firsts), ("second plan", seconds))}
    print("%-12s %9s %9s %9s %11s %11s" % ("", "CPU s", "wall s", "MiB", "CPU/floor", "wall/floor"))
    for name, m in middle.items():
        print("%-12s %9.3f %9.3f %9.1f %11.2f %11.2f" % (name, m["cpu"], m["wall"], m["mib"], m["cpu"] / middle["floor"]["cpu"],
                                                         m["wall"] / middle["floor"]["wall"]))
    print("floor: " + floors[0]["out"].strip())


if __name__ == "__main__":
    main()
