# SPDX-License-Identifier: Apache-2.0
"""Real tables with their true answers: finding, unpacking, and telling the program about them."""

import base64
import glob
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))

COMMITTED = os.path.join(ROOT, "tests", "fixtures", "tables")
OLDER_THAN = "2026-06-01T00:00:00Z"
CUTOFF_MS = 1780272000000
PREFIXES = ("file:/ebb", "hdfs://nn:8020/ebb", "hdfs://nn/ebb", "hdfs://other/ebb")


def text(path):
    return path if isinstance(path, str) else os.fsdecode(base64.b64decode(path["b64"]))


def plain(uri):
    """The path of a location: scheme and authority dropped, slashes collapsed, dots resolved."""
    m = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", uri)
    parts = []
    for part in (uri[m.end() :] if m else uri).split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


class Case:
    def __init__(self, truth_file):
        self.truth_file = truth_file
        opened = gzip.open if truth_file.endswith(".gz") else open
        with opened(truth_file, "rt", encoding="utf-8") as f:
            self.truth = json.load(f)
        self.name = self.truth["case"]
        self.archive = os.path.join(os.path.dirname(truth_file), self.truth["archive"])
        self.tables = self.truth["tables"]

    def unpack(self, base):
        subprocess.run(
            ["tar", "--extract", "--gzip", "--same-permissions", "--no-same-owner", "--directory", base, "--file", self.archive],
            check=True,
        )
        return Place(self, base)


def cases():
    """Those kept with the tests, and those of the folder that EBB_FIXTURES names."""
    found = {}
    for folder in (COMMITTED, os.environ.get("EBB_FIXTURES")):
        for name in sorted(glob.glob(os.path.join(folder or "/nowhere", "*.truth.json*"))):
            found[os.path.basename(name).split(".truth.json")[0]] = name
    return [Case(found[name]) for name in sorted(found)]


def lua_string(value):
    out = []
    for byte in os.fsencode(value):
        out.append(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else "\\%03d" % byte)
    return '"' + "".join(out) + '"'


def write_config(path, catalogs, locations):
    """An ebb.lua with catalogs {name: {key: text}} and locations {uri: folder}."""
    lines = ["return {", "  catalogs = {"]
    for name, settings in catalogs.items():
        inner = ", ".join("%s = %s" % (key, lua_string(value)) for key, value in settings.items())
        lines.append("    %s = { %s }," % (name, inner))
    lines += ["  },", "  locations = {"]
    lines += ["    [%s] = %s," % (lua_string(uri), lua_string(folder)) for uri, folder in locations.items()]
    lines += ["  },", "}", ""]
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(lines))


def make_sqlite(path, tables):
    """A catalog database as JDBC and PyIceberg SQL catalogs keep it; tables: [(namespace, name, metadata location)]."""
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, "
            "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "
            "iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))"
        )
        for namespace, name, metadata in tables:
            db.execute("INSERT INTO iceberg_tables VALUES ('cat', ?, ?, ?, NULL, 'TABLE')", (namespace, name, metadata))
    db.close()


class Place:
    """An unpacked case with a configuration for all its tables."""

    def __init__(self, case, base):
        self.case = case
        self.base = os.path.abspath(base)
        self.maps = {prefix: self.base for prefix in PREFIXES}
        self.config = os.path.join(self.base, "ebb.lua")
        self.state = os.path.join(self.base, "state")
        self._configure()

    def _configure(self):
        listed = []
        catalogs = {}
        for table in self.case.tables:
            if table["catalog"] == "hadoop":
                catalogs["files"] = {"type": "directory", "path": os.path.join(self.base, self.case.truth["root"])}
            else:
                namespace, name = table["name"].rsplit(".", 1)
                listed.append((namespace, name, table["metadata"]))
        if listed:
            database = os.path.join(self.base, "catalog.db")
            make_sqlite(database, listed)
            catalogs["sql"] = {"type": "sqlite", "path": database, "name": "cat"}
        write_config(self.config, catalogs, self.maps)

    def label(self, table):
        return ("files." if table["catalog"] == "hadoop" else "sql.") + table["name"]

    def local(self, path):
        """Where a path of the truth file lies here."""
        return self.base + text(path)[len("/ebb") :]

    def folder(self, table):
        if table.get("location"):
            return self.local(plain(table["location"]))
        return os.path.dirname(os.path.dirname(self.local(plain(table["metadata"]))))

    def world(self):
        """(world, {name: table}) of the oracle."""
        import oracle

        world = oracle.World(self.maps)
        tables = {}
        for table in self.case.tables:
            folder = None
            if table["catalog"] == "hadoop":
                folder = table["metadata"].rsplit("/metadata/", 1)[0]
            tables[table["name"]] = world.add(self.label(table), table["metadata"], folder)
        return world, tables
