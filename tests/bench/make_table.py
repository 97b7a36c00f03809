#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write one big Iceberg v2 table (Hadoop layout) to measure scans with: sparse data files, manifests of realistic size and
compressibility, and planted orphans. The data files are empty of content: the table can be listed and planned, not read.

    make_table.py --out WAREHOUSE/ns/table --files 1000000 --partitions 1000 --snapshots 50

Beside the folder: OUT.orphans.txt (the right answer, sorted paths below the table) and OUT.counts.json.
"""
import argparse
import datetime
import json
import multiprocessing
import os
import random
import struct
import time
import uuid
import zlib

OLD = 1735689600  # 2025-01-01, the time of everything but young files
COLUMNS = 10
BLOCK_BYTES = 64000


def pairs(record, key_id, value_id, value):
    return {"type": "array", "logicalType": "map", "items": {"type": "record", "name": record, "fields": [
        {"name": "key", "type": "int", "field-id": key_id}, {"name": "value", "type": value, "field-id": value_id}]}}


def optional(name, field_id, kind):
    return {"name": name, "type": ["null", kind], "default": None, "field-id": field_id}


def field(name, field_id, kind):
    return {"name": name, "type": kind, "field-id": field_id}


DATA_FILE = {"type": "record", "name": "r2", "fields": [
    field("content", 134, "int"), field("file_path", 100, "string"), field("file_format", 101, "string"),
    field("partition", 102, {"type": "record", "name": "r102", "fields": [
        optional("ts_day", 1000, {"type": "int", "logicalType": "date"})]}),
    field("record_count", 103, "long"), field("file_size_in_bytes", 104, "long"),
    optional("column_sizes", 108, pairs("k117_v118", 117, 118, "long")),
    optional("value_counts", 109, pairs("k119_v120", 119, 120, "long")),
    optional("null_value_counts", 110, pairs("k121_v122", 121, 122, "long")),
    optional("lower_bounds", 125, pairs("k126_v127", 126, 127, "bytes")),
    optional("upper_bounds", 128, pairs("k129_v130", 129, 130, "bytes")),
    optional("key_metadata", 131, "bytes"),
    optional("split_offsets", 132, {"type": "array", "items": "long", "element-id": 133}),
    optional("sort_order_id", 140, "int")]}
ENTRY = {"type": "record", "name": "manifest_entry", "fields": [
    field("status", 0, "int"), optional("snapshot_id", 1, "long"), optional("sequence_number", 3, "long"),
    optional("file_sequence_number", 4, "long"), field("data_file", 2, DATA_FILE)]}
MANIFEST = {"type": "record", "name": "manifest_file", "fields": [
    field("manifest_path", 500, "string"), field("manifest_length", 501, "long"), field("partition_spec_id", 502, "int"),
    field("content", 517, "int"), field("sequence_number", 515, "long"), field("min_sequence_number", 516, "long"),
    field("added_snapshot_id", 503, "long"), field("added_files_count", 504, "int"), field("existing_files_count", 505, "int"),
    field("deleted_files_count", 506, "int"), field("added_rows_count", 512, "long"), field("existing_rows_count", 513, "long"),
    field("deleted_rows_count", 514, "long")]}
KINDS = ["long", "string", "double", "timestamp"]
SCHEMA = {"type": "struct", "schema-id": 0, "fields":
          [{"id": 1, "name": "ts", "required": False, "type": "timestamp"}] +
          [{"id": i, "name": "c%d" % i, "required": False, "type": KINDS[i % 4]} for i in range(2, COLUMNS + 1)]}
SPEC = [{"name": "ts_day", "transform": "day", "source-id": 1, "field-id": 1000}]


def number(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return number(len(raw)) + raw


def some(raw):
    return b"\x02" + raw


def listed(items):
    return number(len(items)) + b"".join(items) + b"\0" if items else b"\0"


class Container:
    """An Avro file in memory: deflate blocks of about BLOCK_BYTES."""

    def __init__(self, schema, meta, sync):
        meta = dict(meta, **{"avro.schema": json.dumps(schema), "avro.codec": "deflate"})
        self.sync = sync
        self.parts = [b"Obj\x01", listed([text(k) + text(v) for k, v in meta.items()]), sync]
        self.rows, self.size = [], 0

    def add(self, row):
        self.rows.append(row)
        self.size += len(row)
        if self.size >= BLOCK_BYTES:
            self.flush()

    def flush(self):
        if self.rows:
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            block = packer.compress(b"".join(self.rows)) + packer.flush()
            self.parts += [number(len(self.rows)), number(len(block)), block, self.sync]
        self.rows, self.size = [], 0

    def save(self, path):
        self.flush()
        raw = b"".join(self.parts)
        with open(path, "wb") as file:
            file.write(raw)
        os.utime(path, (OLD, OLD))
        return len(raw)


def day_name(day):
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()


def touch(path, size, when):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.ftruncate(fd, size)
    os.close(fd)
    os.utime(path, (when, when))


def bounds(rng, day, low):
    out = []
    for i in range(1, COLUMNS + 1):
        if i == 1 or i % 4 == 3:
            raw = struct.pack("<q", day * 86400000000 + rng.randrange(86400000000))
        elif i % 4 == 1:
            raw = ("k%012x" % rng.getrandbits(40)).encode()
        elif i % 4 == 2:
            raw = struct.pack("<d", rng.random() * 1000 * (1 if low else 2))
        else:
            raw = struct.pack("<q", rng.randrange(1 << 30))
        out.append(number(i) + text(raw))
    return listed(out)


def entry(rng, uri, day, snapshot, sequence, size):
    rows = rng.randrange(10000, 2000000)
    sizes = [number(i) + number(rng.randrange(1000, size)) for i in range(1, COLUMNS + 1)]
    counts = [number(i) + number(rows) for i in range(1, COLUMNS + 1)]
    nulls = [number(i) + number(rng.randrange(100) if i % 3 == 0 else 0) for i in range(1, COLUMNS + 1)]
    data_file = (number(0) + text(uri) + text("PARQUET") + some(number(day)) + number(rows) + number(size) + some(listed(sizes)) +
                 some(listed(counts)) + some(listed(nulls)) + some(bounds(rng, day, True)) + some(bounds(rng, day, False)) +
                 b"\0" + some(listed([number(4)])) + some(number(0)))
    return number(1) + some(number(snapshot)) + some(number(sequence)) + some(number(sequence)) + data_file


def write_manifest(job):
    """One manifest and its data files. job: options, number of the first file, count, snapshot, sequence, name."""
    o, first, count, snapshot, sequence, name = job
    rng = random.Random("%d/%s" % (o.seed, name))
    meta = {"schema": json.dumps(SCHEMA), "schema-id": "0", "partition-spec": json.dumps(SPEC), "partition-spec-id": "0",
            "format-version": "2", "content": "data"}
    out = Container(ENTRY, meta, rng.randbytes(16))
    for i in range(first, first + count):
        day = 18000 + i * o.partitions // o.files
        write = uuid.UUID(int=random.Random("%d/w%d" % (o.seed, i // 100)).getrandbits(128))
        path = "data/ts_day=%s/%05d-%d-%s-00001.parquet" % (day_name(day), i % 100, i, write)
        size = rng.randrange(4 << 20, 512 << 20)
        touch(os.path.join(o.out, path), size, OLD)
        out.add(entry(rng, o.uri + "/" + path, day, snapshot, sequence, size))
    return out.save(os.path.join(o.out, "metadata", name))


def plan_manifests(o):
    """The jobs of write_manifest, per snapshot."""
    snapshots, first = [], 0
    for s in range(o.snapshots):
        end = o.files * (s + 1) // o.snapshots
        jobs = []
        while first < end:
            count = min(o.entries, end - first)
            name = "%s-m%d.avro" % (uuid.UUID(int=random.Random("%d/c%d" % (o.seed, s)).getrandbits(128)), len(jobs))
            jobs.append((o, first, count, 1000 + s, s + 1, name))
            first += count
        snapshots.append(jobs)
    return snapshots


def write_lists(o, snapshots, lengths):
    """A list per snapshot, with the manifests of all before it; returns the entries of `snapshots` in the metadata."""
    entries, so_far = [], []
    for s, jobs in enumerate(snapshots):
        so_far = [(j, lengths[j[5]]) for j in jobs] + so_far
        out = Container(MANIFEST, {"snapshot-id": str(1000 + s), "sequence-number": str(s + 1), "format-version": "2"},
                        random.Random("%d/l%d" % (o.seed, s)).randbytes(16))
        for (_, _, count, snapshot, sequence, name), length in so_far:
            out.add(text(o.uri + "/metadata/" + name) + number(length) + number(0) + number(0) + number(sequence) +
                    number(sequence) + number(snapshot) + number(count) + number(0) + number(0) + number(count * 1000) +
                    number(0) + number(0))
        name = "snap-%d-1-%s.avro" % (1000 + s, uuid.UUID(int=random.Random("%d/l%d" % (o.seed, s)).getrandbits(128)))
        out.save(os.path.join(o.out, "metadata", name))
        entries.append({"snapshot-id": 1000 + s, "sequence-number": s + 1, "timestamp-ms": OLD * 1000 + s,
                        "manifest-list": o.uri + "/metadata/" + name, "schema-id": 0, "summary": {"operation": "append"}})
        if s:
            entries[-1]["parent-snapshot-id"] = 1000 + s - 1
    return entries


def write_metadata(o, entries):
    version = o.snapshots + 1
    meta = {"format-version": 2, "table-uuid": str(uuid.UUID(int=random.Random(o.seed).getrandbits(128))), "location": o.uri,
            "last-sequence-number": o.snapshots, "last-updated-ms": OLD * 1000 + o.snapshots, "last-column-id": COLUMNS,
            "current-schema-id": 0, "schemas": [SCHEMA], "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": SPEC}],
            "last-partition-id": 1000, "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": {}, "current-snapshot-id": entries[-1]["snapshot-id"], "snapshots": entries, "snapshot-log": [],
            "metadata-log": [], "refs": {"main": {"snapshot-id": entries[-1]["snapshot-id"], "type": "branch"}}}
    for name, raw in (("v%d.metadata.json" % version, json.dumps(meta)), ("version-hint.text", str(version))):
        with open(os.path.join(o.out, "metadata", name), "w", encoding="utf-8") as file:
            file.write(raw)
        os.utime(os.path.join(o.out, "metadata", name), (OLD, OLD))


def plant(o):
    names = []
    for i in range(o.orphans + o.young):
        day = day_name(18000 + i * o.partitions // (o.orphans + o.young))
        path = "data/ts_day=%s/%05d-lost-%d.parquet" % (day, i % 100, i)
        touch(os.path.join(o.out, path), 1 << 20, OLD if i < o.orphans else time.time())
        if i < o.orphans:
            names.append(path)
    with open(o.out + ".orphans.txt", "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in sorted(names))


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder of the table; must not exist")
    parser.add_argument("--files", type=int, default=10000, help="referenced data files (10000)")
    parser.add_argument("--partitions", type=int, default=100, help="day partitions (100)")
    parser.add_argument("--snapshots", type=int, default=10, help="appends (10)")
    parser.add_argument("--entries", type=int, default=20000, help="entries a manifest at most (20000)")
    parser.add_argument("--orphans", type=int, help="old unreferenced files (1 %% of --files)")
    parser.add_argument("--young", type=int, default=0, help="unreferenced files of this moment (0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    o = parser.parse_args()
    o.out = os.path.abspath(o.out)
    o.uri = "file://" + o.out
    o.orphans = o.files // 100 if o.orphans is None else o.orphans
    if min(o.files, o.partitions, o.snapshots, o.entries, o.jobs) < 1 or o.snapshots > o.files or o.partitions > o.files:
        parser.error("--files, --partitions and --snapshots: from 1, and no more partitions or snapshots than files")
    return o


def main():
    o = options()
    os.makedirs(os.path.join(o.out, "metadata"))
    for day in range(o.partitions):
        os.makedirs(os.path.join(o.out, "data/ts_day=" + day_name(18000 + day)))
    snapshots = plan_manifests(o)
    jobs = [job for each in snapshots for job in each]
    with multiprocessing.Pool(o.jobs) as pool:
        lengths = dict(zip([job[5] for job in jobs], pool.map(write_manifest, jobs, chunksize=1)))
    write_metadata(o, write_lists(o, snapshots, lengths))
    plant(o)
    counts = {"files": o.files, "orphans": o.orphans, "young": o.young, "manifests": len(jobs),
              "manifest_bytes": sum(lengths.values()), "listed": o.files + o.orphans + o.young + len(jobs) + o.snapshots + 2}
    with open(o.out + ".counts.json", "w", encoding="utf-8") as file:
        json.dump(counts, file)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
