# SPDX-License-Identifier: Apache-2.0
"""A second calculation of what may be removed from an Iceberg table: short, slow, written from the format's specification and the rules of
orphan removal, sharing nothing with the program that it judges. All files are local, reached through a map of prefixes."""

import gzip
import json
import os
import re

import avro_file
import location as loc

METADATA_NAME = re.compile(r".*\.metadata\.json(\.gz)?\Z", re.S)
# Kinds of files that a table is made of; anything else directly in the table's folder is somebody's own and stays.
TABLE_SUFFIXES = (".parquet", ".orc", ".avro", ".puffin", ".stats", ".metadata.json", ".metadata.json.gz")
PATH_PROPERTIES = ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
QUARANTINE = ".ebb-quarantine"


class Refusal(Exception):
    """Nothing may be removed. `name` is the class of the refusal."""

    def __init__(self, name, why):
        super().__init__(name + ": " + why)
        self.name = name


class World:
    """Where prefixes are, and every table that is known."""

    def __init__(self, maps):
        self.maps = [(loc.parse(uri), os.path.abspath(folder)) for uri, folder in maps.items()]
        self.maps.sort(key=lambda entry: -len(entry[0][2]))
        self.tables = []

    def add(self, label, metadata, folder=None):
        """folder: where a Hadoop table lies; its current metadata is found there. Else metadata is the catalog's pointer."""
        table = Table(self, label, metadata, folder)
        self.tables.append(table)
        return table

    def local(self, text, base=None):
        scheme, authority, path = loc.parse(text, base)
        for (known_scheme, known_authority, prefix), folder in self.maps:
            same = (scheme or "file").lower() == (known_scheme or "file").lower() and authority.lower() == known_authority.lower()
            if same and (path == prefix or path.startswith(prefix.rstrip("/") + "/")):
                return folder + path[len(prefix.rstrip("/")) :]
        if (scheme or "file").lower() == "file" and not authority:
            return path
        return None

    def read(self, text, base, missing):
        path = self.local(text, base)
        try:
            if path is None:
                raise FileNotFoundError(text)
            with open(path, "rb") as f:
                return f.read()
        except FileNotFoundError as error:
            raise Refusal(missing, text) from error


def _refuse_repeats(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("repeated key")
    return dict(pairs)


def parse_metadata(name, data):
    try:
        if data[:2] == b"\x1f\x8b" or re.search(r"\.gz\.metadata\.json\Z|\.metadata\.json\.gz\Z", name):
            data = gzip.decompress(data)
        meta = json.loads(data.decode("utf-8"), object_pairs_hook=_refuse_repeats)
        version = meta["format-version"]
    except Exception as error:
        raise Refusal("metadata-unreadable", name + ": " + str(error)) from error
    if not isinstance(version, int) or not 1 <= version <= 3:
        raise Refusal("unsupported-version", str(version))
    encrypted = meta.get("encryption-keys") or "encryption.key-id" in (meta.get("properties") or {})
    if encrypted or any(s.get("key-id") for s in meta.get("snapshots") or []):
        raise Refusal("encrypted", name)
    return meta


def hadoop_current(folder):
    """(number, file name, names of newer or equal versions that a lagging hint leaves open) of a table without a catalog."""
    metadata = os.path.join(folder, "metadata")
    names = os.listdir(metadata)

    def name_of(number):
        for form in ("v%d.metadata.json", "v%d.gz.metadata.json", "v%d.metadata.json.gz"):
            if form % number in names:
                return form % number
        return None

    hint = None
    try:
        with open(os.path.join(metadata, "version-hint.text"), encoding="utf-8") as f:
            hint = int(f.readline().strip())
    except (OSError, ValueError):
        pass
    if hint is None:
        numbers = [int(m.group(1)) for m in (re.match(r"v(\d+)\.", n) for n in names) if m and name_of(int(m.group(1)))]
        if not numbers:
            raise Refusal("metadata-unreadable", folder + ": no version")
        start = max(numbers)
    elif name_of(hint) is None:
        raise Refusal("hint-missing-version", folder + ": %d" % hint)
    else:
        start = hint
    number = start
    while name_of(number + 1):
        number += 1
    return name_of(number), [name_of(n) for n in range(start, number + 1)]


class Table:
    def __init__(self, world, label, pointer, folder):
        self.world = world
        self.label = label
        self.pointer = pointer
        self.folder = folder
        self.more_roots = []
        self._names = {}

    def load(self):
        """The metadata; raises Refusal."""
        if hasattr(self, "meta"):
            return self.meta
        if self.folder:
            name, versions = hadoop_current(self.world.local(self.folder))
            self.pointer = self.folder + "/metadata/" + name
            self.more_roots = [self.folder + "/metadata/" + v for v in versions]
        meta = parse_metadata(self.pointer, self.world.read(self.pointer, None, "metadata-unreadable"))
        self.location = meta["location"]
        if self.location.endswith("/") and len(self.location.rstrip("/")) > 0:
            self.location = self.location[:-1]
        self.meta = meta
        return meta

    def uuid(self):
        return (self.load().get("table-uuid") or "").lower()

    def snapshots(self):
        return self.load().get("snapshots") or []

    # ---- names that the metadata holds ----

    def names(self, keep_deleted=False):
        """Every name that the table's metadata holds, as it holds it. All or nothing. keep_deleted: entries marked as deleted count too."""
        if keep_deleted not in self._names:
            self.keep_deleted = keep_deleted
            self._names[keep_deleted] = self._collect()
        return self._names[keep_deleted]

    def _collect(self):
        meta = self.load()
        names = {self.pointer, self.location + "/metadata/version-hint.text", self.location + "/metadata/version-hint.txt"}
        names.update(self.more_roots)
        names.update(e["metadata-file"] for e in meta.get("metadata-log") or [])
        for key in ("statistics", "partition-statistics"):
            names.update(e["statistics-path"] for e in meta.get(key) or [])
        # The pointer is protected however the catalog spells its prefix.
        scheme, authority, _ = loc.split(self.location)
        for root in [self.pointer] + self.more_roots:
            names.add((scheme + ":" if scheme else "") + ("//" + authority if authority else "") + loc.split(root)[2])
        manifests = {}
        for snapshot in self.snapshots():
            self._snapshot(snapshot, names, manifests)
        return names

    def _snapshot(self, snapshot, names, manifests):
        rows = self._rows_of_list(snapshot, names)
        live = [0, 0]
        for row in rows:
            path = row["path"]
            names.add(path)
            if path not in manifests:
                manifests[path] = self._manifest(row, names)
            length, count, content = manifests[path]
            if row["length"] is not None and row["length"] != length:
                raise Refusal("manifest-corrupt", path + ": length")
            live[content] += count
        summary = snapshot.get("summary") or {}
        totals = [_counter(summary, key) for key in ("total-data-files", "total-delete-files")]
        if any(total is not None and found < total for found, total in zip(live, totals)):
            raise Refusal("manifest-list-corrupt", "%s: counts %s %s" % (snapshot["snapshot-id"], live, totals))
        if not rows and totals[0] is None and summary.get("operation") != "delete":
            raise Refusal("manifest-list-corrupt", "empty list of %s" % snapshot["snapshot-id"])

    def _rows_of_list(self, snapshot, names):
        if "manifest-list" not in snapshot:
            if "manifests" not in snapshot:
                raise Refusal("metadata-unreadable", "snapshot without manifests")
            return [{"path": p, "length": None, "counts": (None, None, None), "content": 0} for p in snapshot["manifests"]]
        name = snapshot["manifest-list"]
        names.add(name)
        schema, rows = _avro(self.world.read(name, self.location, "manifest-list-missing"), "manifest-list-corrupt", name)
        out = []
        for row in rows:
            row = avro_file.by_id(schema, row)
            if row.get(519) is not None:
                raise Refusal("encrypted", name)
            counts = (row.get(504), row.get(505), row.get(506))
            out.append({"path": row[500], "length": row[501], "counts": counts, "content": 1 if row.get(517) else 0})
        return out

    def _manifest(self, row, names):
        path = row["path"]
        data = self.world.read(path, self.location, "manifest-missing")
        if row["length"] is not None and row["length"] != len(data):
            raise Refusal("manifest-corrupt", path + ": length")
        found = [0, 0, 0]
        for status, name, referenced in entries(data, path):
            found[status] += 1
            if status != 2 or self.keep_deleted:
                names.add(name)
                if referenced:
                    names.add(referenced)
        # In the list the order is added, existing, deleted; a count that is missing is unknown.
        for said, seen in zip(row["counts"], (found[1], found[0], found[2])):
            if said is not None and seen < said:
                raise Refusal("manifest-corrupt", path + ": counts")
        return len(data), found[0] + found[1], row["content"]

    # ---- places ----

    def places(self):
        """Local folders that belong to the table: what its metadata file says, and the folders of what it names as far as that can be read."""
        properties = self.load().get("properties") or {}
        uris = [self.location] + [properties[key] for key in PATH_PROPERTIES if key in properties]
        try:
            uris += [name.rsplit("/", 1)[0] for name in self.names() if "/" in name]
        except Refusal:
            pass
        found = {self.world.local(uri, self.location) for uri in uris}
        return {os.path.realpath(path) for path in found if path}


def _avro(data, damaged, name):
    try:
        return avro_file.read(data)
    except avro_file.Encrypted as error:
        raise Refusal("encrypted", name) from error
    except avro_file.Damaged as error:
        raise Refusal(damaged, name + ": " + str(error)) from error


def entries(data, name):
    """(status, file path, referenced data file or None) of a manifest's bytes."""
    schema, rows = _avro(data, "manifest-corrupt", name)
    fields = avro_file.field_ids(schema)
    if not {0, 2} <= set(fields):
        raise Refusal("manifest-corrupt", name + ": not a manifest")
    file_schema = fields[2].type
    out = []
    for row in rows:
        status = row[fields[0].name]
        inner = avro_file.by_id(file_schema, row[fields[2].name])
        if status not in (0, 1, 2) or not inner.get(100):
            raise Refusal("manifest-corrupt", name + ": entry")
        out.append((status, inner[100], inner.get(143)))
    return out


def _counter(summary, key):
    text = summary.get(key)
    return int(text) if isinstance(text, str) and re.fullmatch(r"[0-9]+", text) else None


# ---- the listing ----


def partition_fields(meta):
    if "partition-specs" in meta:
        fields = [field for spec in meta["partition-specs"] for field in spec["fields"]]
    else:
        fields = meta.get("partition-spec") or []
    return [field["name"] for field in fields]


def is_hidden(relative, fields):
    special = tuple(name + "=" for name in fields if name[:1] in ("_", "."))
    return any(part[:1] in ("_", ".") and not part.startswith(special) for part in relative.split("/") if part)


class Answer:
    def __init__(self):
        self.orphans = set()  # local paths
        self.listed = self.hidden = self.too_young = 0
        self.links = []


def _walk(root):
    """(relative name, stat) of files and links below root; links are not followed."""
    for folder, subdirs, files in os.walk(root):
        subdirs[:] = [d for d in subdirs if not (folder == root and d == QUARANTINE)]
        for name in files + [d for d in subdirs if os.path.islink(os.path.join(folder, d))]:
            path = os.path.join(folder, name)
            yield os.path.relpath(path, root), os.lstat(path)


def _is_below(outer, inner):
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def _neighbours(world, table, root, keep_deleted):
    """(names of other tables to keep, their uuids). Refuses where another table owns a place in ours."""
    keep, uuids = [], set()
    for other in world.tables:
        if other is table:
            continue
        try:
            other.load()
        except Refusal as why:
            folder = world.local(other.folder or other.pointer.rsplit("/", 2)[0])
            if folder and (_is_below(root, os.path.realpath(folder)) or _is_below(os.path.realpath(folder), root)):
                raise Refusal("foreign-table", other.label + " is not readable") from why
            continue
        same = bool(table.uuid()) and other.uuid() == table.uuid()
        if same and world.local(other.pointer) == world.local(table.pointer):
            continue
        places = set() if same else other.places()
        if any(_is_below(root, place) for place in places):
            raise Refusal("foreign-table", other.label)
        if same or any(_is_below(place, root) for place in places):
            try:
                keep.append((other.names(keep_deleted), other.location))
            except Refusal as why:
                raise Refusal("foreign-table", other.label + " is not readable") from why
            uuids.add(other.uuid())
    return keep, uuids


def _reachable(keep):
    """{normal path: [prefixes]}"""
    paths = {}
    for names, base in keep:
        for name in names:
            scheme, authority, path = loc.parse(name, base)
            paths.setdefault(path, set()).add((scheme, authority))
    return paths


def _through_links(world, keep, root, links, paths, here):
    """A name that leads by a link to a file of the table protects the file that is really there, under the name that it is listed by."""
    real_root = os.path.realpath(root)
    for name in {(name, base) for names, base in keep for name in names}:
        prefix, path = loc.parse(*name)[:2], loc.parse(*name)[2]
        local = world.local(*name)
        relative = path[len(here) :].lstrip("/") if _is_below(here, path) else None
        if relative is not None and not any(_is_below(link, relative) for link in links):
            continue  # named as it is listed
        if relative is not None and not os.path.exists(os.path.join(root, relative)):
            raise Refusal("link-in-use", path)
        if local is None:
            continue
        real = os.path.join(os.path.realpath(os.path.dirname(local)), os.path.basename(local))
        if relative is not None:
            real = os.path.realpath(os.path.join(root, relative))
        if _is_below(real_root, real) and real != real_root:
            paths.setdefault(here + real[len(real_root) :], set()).add(prefix if relative is not None else ("", ""))


def _flink_jobs(table):
    jobs = [(s.get("summary") or {}).get("flink.job-id") for s in table.snapshots()]
    return tuple(job for job in jobs if job)


def judge(world, table, cutoff_ms, dropped=(), equal_authorities=None, keep_deleted=False, below=None):
    """What may go from the table, or from its folder `below`. Raises Refusal."""
    meta = table.load()
    if str((meta.get("properties") or {}).get("gc.enabled", "true")).lower() != "true":
        raise Refusal("gc-disabled", table.label)
    root = world.local(table.location)
    keep = [(table.names(keep_deleted), table.location)]
    others, known_uuids = _neighbours(world, table, os.path.realpath(os.path.join(root, below or ".")), keep_deleted)
    keep += others
    known_uuids |= {table.uuid()} | {uuid.lower() for uuid in dropped}
    paths = _reachable(keep)
    prefix = loc.split(table.location)[:2]
    here = loc.parse(table.location)[2]
    fields = partition_fields(meta)
    everything = list(_walk(root))
    listing = [(name, st) for name, st in everything if not below or _is_below(below, name)]
    answer = Answer()
    answer.links = [name for name, st in listing if os.path.islink(os.path.join(root, name))]
    _through_links(world, keep, root, answer.links, paths, here)
    jobs = _flink_jobs(table)
    for name in [n for n, _ in everything if jobs and n.startswith(tuple("metadata/" + j for j in jobs))]:
        try:
            with open(os.path.join(root, name), "rb") as f:
                for _, path, _ in entries(f.read(), name):
                    scheme, authority, path = loc.parse(path, table.location)
                    paths.setdefault(path, set()).add((scheme, authority))
        except Refusal:
            pass
    for name, st in listing:
        if name in answer.links:
            continue
        answer.listed += 1
        if is_hidden(name, fields):
            answer.hidden += 1
            continue
        known = paths.get(here.rstrip("/") + "/" + name)
        if known:
            if not any(loc.is_match(valid, prefix, equal_authorities) for valid in known):
                raise Refusal("prefix-conflict", name)
            continue
        if METADATA_NAME.match(name):
            _check_foreign(os.path.join(root, name), known_uuids)
        if "/" not in name and not name.endswith(TABLE_SUFFIXES):
            continue
        if jobs and name.startswith(tuple("metadata/" + job for job in jobs)) and name.count("/") == 1:
            continue
        ms = st.st_mtime_ns // 1_000_000
        if st.st_mtime_ns <= 0:
            continue
        if ms >= cutoff_ms:
            answer.too_young += 1
        else:
            answer.orphans.add(os.path.join(root, name))
    return answer


def _check_foreign(path, known_uuids):
    with open(path, "rb") as f:
        data = f.read()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        uuid = json.loads(data.decode("utf-8")).get("table-uuid")
    except Exception:
        return  # litter, not a table
    if isinstance(uuid, str) and uuid.lower() not in known_uuids:
        raise Refusal("foreign-uuid", path)
