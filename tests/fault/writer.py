# SPDX-License-Identifier: Apache-2.0
"""A table's writer or reader (PyIceberg), driven by lines of JSON on standard input, one answer each: used by tests/run/test_concurrency.py.

    {"do": "write", "operations": N}    N random operations on rows of its own; the answer has all its rows and what it did
    {"do": "read"}                      a full scan: every row of the table
"""

import datetime
import json
import os
import random
import sys
import time

import pyarrow
import pyarrow.parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.expressions import And, GreaterThanOrEqual, LessThan

SCHEMA = pyarrow.schema([("id", pyarrow.int64()), ("value", pyarrow.string())])
PROPERTIES = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "8"}
OPERATIONS = ["append"] * 3 + ["add_files"] * 4 + ["overwrite", "delete", "expire", "tag"]
OLD_S = 20 * 24 * 3600
TRIES = 40


def catalog(database, warehouse):
    return SqlCatalog("cat", uri="sqlite:///%s?timeout=60" % database, warehouse="file://" + warehouse)


class Writer:
    """Its rows are those with ids from number * 10^9 on; nobody else changes them."""

    def __init__(self, cat, name, number, seed):
        self.catalog = cat
        self.name = name
        self.number = number
        self.next_id = number * 10**9
        self.rows = {}
        self.random = random.Random(seed)
        self.counts = {}

    def note(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def new_rows(self, ids):
        return {i: "%d-%d" % (i, self.random.randrange(10**6)) for i in ids}

    def new_ids(self):
        n = self.random.randrange(1, 30)
        self.next_id += n
        return range(self.next_id - n, self.next_id)

    def arrow(self, rows):
        return pyarrow.Table.from_pydict({"id": list(rows), "value": list(rows.values())}, schema=SCHEMA)

    def some_range(self):
        """A range of its own ids."""
        if not self.rows:
            return None
        ids = sorted(self.rows)
        a = self.random.randrange(len(ids))
        b = min(len(ids) - 1, a + self.random.randrange(25))
        return ids[a], ids[b] + 1

    def commit(self, what, change):
        """Call change(table) on the newest table until it is committed. False: it can't be done (a file is not there)."""
        missing = 0
        for _ in range(TRIES):
            try:
                change(self.catalog.load_table(self.name))
                self.note("commits")
                self.note(what)
                return True
            except CommitFailedException:
                self.note("commit conflicts")
            except ValueError as error:  # the other writer expired the same snapshot first: this library tells that conflict so
                if what != "expire" or "does not exist" not in str(error):
                    raise
                self.note("expire conflicts")
            except FileNotFoundError as error:
                missing += 1
                self.note("files not found")
                if what == "add_files" or missing > 3:
                    self.last_missing = str(error)
                    return False
            time.sleep(self.random.random() / 10)
        raise RuntimeError("%s: %d commits failed" % (what, TRIES))

    # ---- operations ----

    def append(self):
        rows = self.new_rows(self.new_ids())
        if self.commit("append", lambda table: table.append(self.arrow(rows))):
            self.rows.update(rows)

    def add_files(self):
        """A file with an old time, in the table's folder for a while before it becomes live."""
        table = self.catalog.load_table(self.name)
        rows = self.new_rows(self.new_ids())
        uri = "%s/data/added-%d-%d.parquet" % (table.location(), self.number, self.next_id)
        path = uri[len("file://") :]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pyarrow.parquet.write_table(self.arrow(rows), path + ".tmp")
        os.utime(path + ".tmp", (time.time() - OLD_S,) * 2)
        os.rename(path + ".tmp", path)
        time.sleep(self.random.choice((0, 0.02, 0.1, 0.3)) * self.random.random())
        if self.commit("add_files", lambda table: table.add_files([uri])):
            self.rows.update(rows)
        else:
            self.note("added too late")

    def overwrite(self):
        chosen = self.some_range()
        if not chosen:
            return
        gone = [i for i in self.rows if chosen[0] <= i < chosen[1]]
        rows = self.new_rows(gone)
        inside = And(GreaterThanOrEqual("id", chosen[0]), LessThan("id", chosen[1]))
        if self.commit("overwrite", lambda table: table.overwrite(self.arrow(rows), overwrite_filter=inside)):
            self.rows.update(rows)
        else:
            self.note("blocked")

    def delete(self):
        chosen = self.some_range()
        if not chosen:
            return
        inside = And(GreaterThanOrEqual("id", chosen[0]), LessThan("id", chosen[1]))
        if self.commit("delete", lambda table: table.delete(inside)):
            self.rows = {i: v for i, v in self.rows.items() if not chosen[0] <= i < chosen[1]}
        else:
            self.note("blocked")

    def expire(self):
        def change(table):
            table.maintenance.expire_snapshots().older_than(datetime.datetime.now()).commit()

        self.commit("expire", change)

    def tag(self):
        """At most one of its own: made, or moved to the current snapshot."""
        name = "writer-%d" % self.number

        def change(table):
            if name in table.refs():
                table.manage_snapshots().remove_tag(name).commit()
            elif table.current_snapshot():
                table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, name).commit()

        self.commit("tag", change)

    def write(self, operations):
        for _ in range(operations):
            getattr(self, self.random.choice(OPERATIONS))()
        counts, self.counts = self.counts, {}
        return {"rows": self.rows, "counts": counts}


def read(cat, name):
    found = cat.load_table(name).scan().to_arrow()
    return {"rows": dict(zip(found.column("id").to_pylist(), found.column("value").to_pylist())), "count": found.num_rows}


def answer(do, cat, writer, name):
    try:
        if do["do"] == "write":
            return writer.write(do["operations"])
        return read(cat, name)
    except Exception as error:  # the test judges it
        return {"error": "%s: %s" % (type(error).__name__, error), "missing": isinstance(error, FileNotFoundError)}


def main():
    database, warehouse, name, number, seed = sys.argv[1:6]
    cat = catalog(database, warehouse)
    if number == "0":
        cat.create_namespace_if_not_exists(name.split(".")[0])
        cat.create_table_if_not_exists(name, SCHEMA, properties=PROPERTIES)
    writer = Writer(cat, name, int(number), int(seed))
    print(json.dumps({"location": cat.load_table(name).location()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), cat, writer, name)), flush=True)


if __name__ == "__main__":
    main()
