#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write very many tiny Iceberg tables (Hadoop layout, metadata only) to measure the daemon with.

    make_tables.py --out WAREHOUSE --tables 10000 --per-namespace 100
"""
import argparse
import json
import os
import uuid

OLD_MS = 1735689600000  # 2025-01-01


def metadata(folder, number):
    snapshot = {"snapshot-id": 1000 + number, "sequence-number": 1, "timestamp-ms": OLD_MS, "manifest-list": "file:%s/metadata/snap-%d.avro" % (folder, number),
                "schema-id": 0, "summary": {"operation": "append", "total-data-files": "12", "total-files-size": "123456789", "total-records": "100000"}}
    return {"format-version": 2, "table-uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, folder)), "location": "file:" + folder, "last-sequence-number": 1,
            "last-updated-ms": OLD_MS, "last-column-id": 2, "current-schema-id": 0,
            "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": i, "name": "c%d" % i, "required": False, "type": "long"} for i in (1, 2)]}],
            "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999, "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}], "properties": {"owner": "bench"}, "current-snapshot-id": 1000 + number,
            "snapshots": [snapshot], "snapshot-log": [], "metadata-log": [], "refs": {"main": {"snapshot-id": 1000 + number, "type": "branch"}}}


def make(out, tables, per_namespace):
    out = os.path.abspath(out)
    for number in range(tables):
        folder = os.path.join(out, "ns%04d" % (number // per_namespace), "t%06d" % number)
        os.makedirs(os.path.join(folder, "metadata"))
        for name, text in (("v1.metadata.json", json.dumps(metadata(folder, number))), ("version-hint.text", "1")):
            with open(os.path.join(folder, "metadata", name), "w", encoding="utf-8") as f:
                f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--tables", type=int, default=10000)
    parser.add_argument("--per-namespace", type=int, default=100)
    o = parser.parse_args()
    make(o.out, o.tables, o.per_namespace)


if __name__ == "__main__":
    main()
