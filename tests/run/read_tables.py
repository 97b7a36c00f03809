# SPDX-License-Identifier: Apache-2.0
"""The second reader, run by second_reader.py inside its own environment: reads every snapshot of Iceberg tables with PyIceberg and prints a
digest of the rows. A line of input is a JSON list of {"metadata": uri, "maps": {prefix: folder}}; its line of output a JSON list of
{snapshot id: digest}, or {"unreadable": reason}."""

import hashlib
import json
import sys

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import StaticTable

MAPS = {}


def here(uri):
    for prefix, folder in MAPS.items():
        scheme, _, path = prefix.partition(":")
        spellings = [prefix] + ([scheme + "://" + path, path] if scheme == "file" else [])
        for spelling in spellings:
            if uri.startswith(spelling + "/"):
                return folder + uri[len(spelling) :]
    return uri


class MappedIO(PyArrowFileIO):
    """Reads the files of a mapped prefix where they are. Plain paths, so that names are never decoded."""

    def new_input(self, location):
        path = here(location)
        found = super().new_input("/plain")
        found._location = location
        found._filesystem = self.fs_by_scheme("file", None)
        found._path = path
        return found


def digest(table, snapshot_id):
    rows = table.scan(snapshot_id=snapshot_id).to_arrow().to_pylist()
    lines = sorted(json.dumps(row, default=repr, sort_keys=True) for row in rows)
    return "%d rows %s" % (len(lines), hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest())


def read(job):
    MAPS.clear()
    MAPS.update(job["maps"])
    try:
        table = StaticTable.from_metadata(job["metadata"], {"py-io-impl": "read_tables.MappedIO"})
        return {str(s.snapshot_id): digest(table, s.snapshot_id) for s in table.metadata.snapshots}
    except Exception as error:
        return {"unreadable": type(error).__name__ + ": " + str(error)[:300]}


if __name__ == "__main__":
    import read_tables  # the module that PyIceberg finds the reader's class in

    for line in sys.stdin:
        print(json.dumps([read_tables.read(job) for job in json.loads(line)]), flush=True)
