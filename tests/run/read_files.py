# SPDX-License-Identifier: Apache-2.0
"""The second reader for files: what PyIceberg finds in the manifests of the current snapshot. A line of input is a JSON list of {"metadata":
uri, "maps": {prefix: folder}}; its line of output a JSON list of {"stats": {…}, "partitions": [{…}]} or {"unreadable": reason}."""

import json
import re
import sys

import read_tables
from pyiceberg.manifest import DataFileContent
from pyiceberg.table import StaticTable


def key_of(table, file):
    """The folder that the writer put the file into, where that names the partition; else PyIceberg's own way to write it."""
    spec = table.specs()[file.spec_id]
    if not spec.fields:
        return ""
    names = "/".join(re.escape(field.name) + "=[^/]*" for field in spec.fields)
    found = re.search("/(" + names + ")/[^/]*$", file.file_path)
    return found.group(1) if found else spec.partition_to_path(file.partition, table.schema())


def read(job):
    read_tables.MAPS.clear()
    read_tables.MAPS.update(job["maps"])
    try:
        table = StaticTable.from_metadata(job["metadata"], {"py-io-impl": "read_tables.MappedIO"})
        return count(table)
    except Exception as error:
        return {"unreadable": type(error).__name__ + ": " + str(error)[:300]}


def count(table):
    stats = {"data_files": 0, "delete_files": 0, "delete_records": 0, "manifests": 0}
    partitions = {}
    times = {s.snapshot_id: s.timestamp_ms for s in table.metadata.snapshots}
    snapshot = table.current_snapshot()
    manifests = snapshot.manifests(table.io) if snapshot else []
    stats["manifests"] = len(manifests)
    for manifest in manifests:
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            file = entry.data_file
            file.spec_id = manifest.partition_spec_id
            p = partitions.setdefault((key_of(table, file), file.spec_id), {"files": 0, "bytes": 0, "records": 0, "delete_files": 0, "delete_records": 0, "max_file": 0, "last_write": None})
            if file.content == DataFileContent.DATA:
                stats["data_files"] += 1
                p["files"] += 1
                p["bytes"] += file.file_size_in_bytes
                p["records"] += file.record_count
                p["max_file"] = max(p["max_file"], file.file_size_in_bytes)
            else:
                stats["delete_files"] += 1
                stats["delete_records"] += file.record_count
                p["delete_files"] += 1
                p["delete_records"] += file.record_count
            p["misread"] = p.get("misread", False) or entry.status not in (0, 1)
            p["last_write"] = max(p["last_write"] or 0, times.get(entry.snapshot_id, 0)) or None
    for p in partitions.values():
        if p.pop("misread"):  # by PyIceberg: the columns of some files' entries stand in another order
            p["last_write"] = None
    rows = [dict(p, key=key, spec_id=spec_id) for (key, spec_id), p in sorted(partitions.items())]
    return {"stats": stats, "partitions": rows, "summary": dict(snapshot.summary.additional_properties) if snapshot and snapshot.summary else {}}


if __name__ == "__main__":
    import read_files  # the module that PyIceberg finds the reader's class in

    for line in sys.stdin:
        print(json.dumps([read_files.read(job) for job in json.loads(line)]), flush=True)
