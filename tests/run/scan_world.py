# SPDX-License-Identifier: Apache-2.0
"""Small Iceberg tables for attacks on planning: written by hand, so that every part can be odd."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import program

sys.path.insert(0, os.path.join(program.ROOT, "tests", "oracle"))
import avro_write  # noqa: E402

DAY = 24 * 3600
OLD = 10 * DAY
UUID_A = "11111111-2222-4333-8444-555555555555"
UUID_B = "99999999-2222-4333-8444-555555555555"

LIST_FIELDS = [(500, "manifest_path", "string"), (501, "manifest_length", "long"), (502, "partition_spec_id", "int"), (517, "content", "int"),
               (515, "sequence_number", "long"), (516, "min_sequence_number", "long"), (503, "added_snapshot_id", "long"),
               (504, "added_files_count", "int"), (505, "existing_files_count", "int"), (506, "deleted_files_count", "int")]
FILE_FIELDS = [(134, "content", "int"), (100, "file_path", "string"), (101, "file_format", "string"), (103, "record_count", "long"),
               (104, "file_size_in_bytes", "long")]


def fields(rows):
    return [{"name": name, "type": kind, "field-id": number} for number, name, kind in rows]


def manifest_bytes(entries):
    """entries: (status, path)."""
    schema = {"type": "record", "name": "manifest_entry", "fields": fields([(0, "status", "int")]) + [
        {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": fields(FILE_FIELDS)}}]}
    rows = [{"status": s, "data_file": {"content": 0, "file_path": p, "file_format": "PARQUET", "record_count": 1, "file_size_in_bytes": 1}}
            for s, p in entries]
    return avro_write.whole(schema, rows, random.Random(1), "deflate", {"format-version": "2", "content": "data"})


def list_bytes(refs):
    """refs: (path, length, added, existing, deleted)."""
    rows = [{"manifest_path": p, "manifest_length": n, "partition_spec_id": 0, "content": 0, "sequence_number": 1, "min_sequence_number": 1,
             "added_snapshot_id": 1, "added_files_count": a, "existing_files_count": e, "deleted_files_count": d} for p, n, a, e, d in refs]
    schema = {"type": "record", "name": "manifest_file", "fields": fields(LIST_FIELDS)}
    return avro_write.whole(schema, rows, random.Random(1), "deflate", {"format-version": "2"})


class Table:
    """A table of the Hadoop layout, or with one NNNNN-uuid pointer."""

    def __init__(self, world, folder, location=None, uuid=UUID_A, version=2, pointer=None, **more):
        self.world = world
        self.folder = world.path(folder)
        self.location = location or "file:" + self.folder
        self.uuid = uuid
        self.version = version
        self.properties = more.pop("properties", {})
        self.more = more
        self.snapshots = []
        self.statistics = []
        self.log = []
        self.number = 0
        self.serial = 0
        self.pointer = pointer
        self.fields = []

    def file(self, name, age=OLD, data=b"x"):
        """A file below the table's folder; its URI."""
        self.world.put(os.path.join(self.folder, name), data, age)
        return self.location + "/" + name

    def snapshot(self, paths, entries=None, summary=None, metadata=None, **snapshot):
        """A snapshot with one manifest of these URIs; entries: more (status, URI)."""
        ident = len(self.snapshots) + 1
        self.serial += 1
        metadata = metadata or self.folder + "/metadata"
        where = self.location + "/metadata" if metadata == self.folder + "/metadata" else "file:" + metadata
        entries = [(1, p) for p in paths] + list(entries or [])
        manifest = manifest_bytes(entries)
        name = "m%d-%s.avro" % (self.serial, self.uuid or "none")
        if entries:
            self.world.put(os.path.join(metadata, name), manifest, OLD)
        counts = [sum(1 for s, _ in entries if s == k) for k in (1, 0, 2)]
        listing = list_bytes([(where + "/" + name, len(manifest), *counts)] if entries else [])
        list_name = "snap-%d-%s.avro" % (self.serial, self.uuid or "none")
        self.world.put(os.path.join(metadata, list_name), listing, OLD)
        made = {"snapshot-id": ident, "sequence-number": ident, "timestamp-ms": 1, "manifest-list": where + "/" + list_name,
                "summary": {"operation": "append", "total-data-files": str(counts[0] + counts[1])} if summary is None else summary}
        made.update(snapshot)
        self.snapshots.append(made)
        return self

    def document(self):
        doc = {"format-version": self.version, "location": self.location, "last-updated-ms": 1767225600000 + self.number,
               "last-column-id": 1, "current-schema-id": 0,
               "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "int"}]}],
               "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": self.fields}], "last-partition-id": 999,
               "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}], "properties": self.properties,
               "current-snapshot-id": self.snapshots[-1]["snapshot-id"] if self.snapshots else -1, "refs": {},
               "snapshots": self.snapshots, "snapshot-log": [], "metadata-log": self.log,
               "statistics": [{"snapshot-id": 1, "statistics-path": s, "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1,
                               "blob-metadata": []} for s in self.statistics]}
        if self.uuid:
            doc["table-uuid"] = self.uuid
        if self.version > 1:
            doc["last-sequence-number"] = 9
        if self.snapshots:
            doc["refs"] = {"main": {"snapshot-id": self.snapshots[-1]["snapshot-id"], "type": "branch"}}
        doc.update(self.more)
        return doc

    def commit(self, metadata=None, age=OLD, data=None):
        """Write the next metadata version; its local path."""
        self.number += 1
        metadata = metadata or self.folder + "/metadata"
        name = "%05d-%s.metadata.json" % (self.number, self.pointer) if self.pointer else "v%d.metadata.json" % self.number
        path = os.path.join(metadata, name)
        self.world.put(path, data if data is not None else json.dumps(self.document()).encode(), age)
        if not self.pointer:
            self.world.put(os.path.join(metadata, "version-hint.text"), b"%d" % self.number, age)
        where = self.location + "/metadata" if metadata == self.folder + "/metadata" else "file:" + metadata
        self.log = self.log + [{"timestamp-ms": 1, "metadata-file": where + "/" + name}]
        return path


class World(unittest.TestCase):
    def setUp(self):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="ebb-attack-"))
        self.addCleanup(self.remove)
        self.state = os.path.join(self.top, "state")
        self.catalogs = {}
        os.makedirs(self.path("wh"))

    def remove(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.top], check=False)
        shutil.rmtree(self.top, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.top, name)

    def put(self, path, data=b"x", age=OLD):
        path = os.path.join(self.top, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
        at = time.time() - age
        os.utime(path, (at, at))
        return path

    def table(self, folder="wh/t", *files, **more):
        """A committed table whose one snapshot holds these files."""
        t = Table(self, folder, **more)
        t.snapshot([t.file(name) for name in files])
        t.commit()
        return t

    # ---- catalogs ----

    def directory(self, name="files", folder="wh"):
        self.catalogs[name] = '{ type = "directory", path = %s }' % json.dumps(self.path(folder))

    def sqlite(self, rows, name="sql"):
        """rows: (namespace, name, metadata URI or path)."""
        file = self.path(name + ".db")
        db = sqlite3.connect(file)
        db.execute("CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name TEXT, table_namespace TEXT, table_name TEXT, metadata_location TEXT, "
                   "previous_metadata_location TEXT, PRIMARY KEY (catalog_name, table_namespace, table_name))")
        for ns, table, uri in rows:
            db.execute("INSERT OR REPLACE INTO iceberg_tables VALUES (?,?,?,?,NULL)", (name, ns, table, uri if ":" in uri else "file:" + uri))
        db.commit()
        db.close()
        self.catalogs[name] = '{ type = "sqlite", path = %s, name = "%s" }' % (json.dumps(file), name)

    def config(self, more=""):
        path = self.path("ebb.lua")
        with open(path, "w", encoding="utf-8") as f:
            f.write("return { catalogs = { %s }, %s }\n" % (", ".join("%s = %s" % c for c in self.catalogs.items()), more))
        return path

    # ---- planning ----

    def plan(self, table, *options, share="1", state=None, more="", **how):
        """(Done, candidates as paths relative to the top or raw URIs, summary or None)."""
        output = self.path("out.plan")
        if os.path.exists(output):
            os.unlink(output)
        words = ["plan", table.folder if isinstance(table, Table) else table, "--json", "-o", output]
        words += ["--max-share", share] if share else []
        done = program.run(words + list(options), self.config(more), state or self.state, **how)
        if not os.path.exists(output):
            return done, None, None
        header, uris, summary = program.read_plan(output)
        self.header = header
        names = [os.fsdecode(u) for u in uris]
        self.assertEqual([os.fsencode(n) for n in names], sorted(os.fsencode(n) for n in names), "sorted bytewise")
        self.assertEqual(len(names), len(set(names)))
        prefix = "file:" + self.top + "/"
        return done, [n[len(prefix):] if n.startswith(prefix) else n for n in names], summary

    def check_plan(self, table, expected, *options, status=0, **how):
        done, names, summary = self.plan(table, *options, **how)
        self.assertEqual(done.status, status, done.err)
        self.assertEqual(sorted(names), sorted(expected), summary)
        return done, summary

    def refused(self, table, code, *options, status=2, says=(), **how):
        done, names, _ = self.plan(table, *options, **how)
        self.assertIsNone(names, "a plan was written: %r" % (names,))
        self.assertEqual(done.error().get("code"), code, done.err or done.out)
        self.assertEqual(done.status, status, done.err)
        for text in (says,) if isinstance(says, str) else says:
            self.assertIn(text, done.error()["message"] + " | " + (done.error().get("hint") or ""))
        return done.error()

    def links(self):
        return subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode == 0
