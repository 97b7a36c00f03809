#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events a second that `ebb serve` takes in over loopback and makes durable, beside bare SQLite inserts of the same rows in the same run.

    events.py [--ebb build/release/ebb] [--events 200000] [--batch 1000] [--senders 4] [--folder /tmp]

Both write with synchronous=FULL; the yardstick inserts a batch a transaction from one process without any HTTP, JSON or index but
the unique one. Each event is told apart by its id, and the store is counted at the end.
"""
import argparse
import http.client
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ebb", default="build/release/ebb")
    parser.add_argument("--events", type=int, default=200000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--senders", type=int, default=4)
    parser.add_argument("--folder", default=None, help="where the stores are made")
    return parser.parse_args()


def event(n):
    return {"source": "bench", "id": "e-%09d" % n, "type": "commit.failed", "table": "lake.db.t%d" % (n % 1000), "files_written": n % 300}


def start(o, state):
    config = os.path.join(state, "ebb.lua")
    with open(config, "w", encoding="utf-8") as f:
        f.write("return {}")
    with open(os.path.join(state, "log"), "wb") as log:
        process = subprocess.Popen([o.ebb, "serve", "-C", config, "--state", state, "--listen", "127.0.0.1:0"], stdout=log, stderr=log)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with open(os.path.join(state, "daemon.json"), encoding="utf-8") as f:
                place = json.load(f)
            if place.get("pid") == process.pid and place.get("address"):
                return process, place["address"]
        except (OSError, ValueError):
            pass
        time.sleep(0.05)
    process.kill()
    sys.exit("ebb serve does not start: see %s" % state)


def send(address, bodies, took):
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    for body in bodies:
        while True:
            begin = time.monotonic()
            connection.request("POST", "/api/events", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 202:
                took.append(time.monotonic() - begin)
                break
            if answer.status != 429:
                sys.exit("%d %s" % (answer.status, text.decode()))
            time.sleep(0.1)
    connection.close()


def told(o):
    """Events a second over HTTP, and the answer times."""
    bodies = [json.dumps([event(n) for n in range(i, min(i + o.batch, o.events))]).encode() for i in range(0, o.events, o.batch)]
    state = tempfile.mkdtemp(prefix="ebb-bench-", dir=o.folder)
    process, address = start(o, state)
    took = []
    threads = [threading.Thread(target=send, args=(address, bodies[i::o.senders], took)) for i in range(o.senders)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    process.kill()
    process.wait()
    with sqlite3.connect(os.path.join(state, "ebb.db")) as db:
        count = db.execute("SELECT count(*) FROM event").fetchone()[0]
    db.close()
    shutil.rmtree(state)
    if count != o.events:
        sys.exit("%d events were answered 202, %d are in the store after a kill" % (o.events, count))
    return o.events / seconds, sorted(took)


def bare(o):
    folder = tempfile.mkdtemp(prefix="ebb-bench-", dir=o.folder)
    rows = [("bench", "e-%09d" % n, "commit.failed", "lake.db.t%d" % (n % 1000), n, n, '{"files_written":%d}' % (n % 300)) for n in range(o.events)]
    db = sqlite3.connect(os.path.join(folder, "bare.db"), isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY, source TEXT, id TEXT, type TEXT, tbl TEXT, at INTEGER, received INTEGER, json TEXT,"
               " UNIQUE (source, id))")
    begin = time.monotonic()
    for i in range(0, o.events, o.batch):
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO event (source, id, type, tbl, at, received, json) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                       rows[i:i + o.batch])
        db.execute("COMMIT")
    seconds = time.monotonic() - begin
    db.close()
    shutil.rmtree(folder)
    return o.events / seconds


def main():
    o = options()
    yardstick = bare(o)
    rate, took = told(o)
    print("events over HTTP, durable   %9.0f /s   (batches of %d, %d senders)" % (rate, o.batch, o.senders))
    print("answer to a batch           %9.1f ms median, %.1f ms at 99 %%" % (1000 * took[len(took) // 2], 1000 * took[len(took) * 99 // 100]))
    print("bare SQLite batch inserts   %9.0f /s" % yardstick)
    print("ratio                       %9.2f" % (rate / yardstick))


if __name__ == "__main__":
    main()
