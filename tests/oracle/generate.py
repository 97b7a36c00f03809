# SPDX-License-Identifier: Apache-2.0
"""Random small tables: metadata, lists and manifests of versions 1, 2 and 3 as many writers make them, with random files on disk.

make(seed, base, count) writes one warehouse of `count` tables below base/gen and returns what a catalog would know. The tables' URIs begin
with one of PREFIXES, all of which mean base/gen."""

import gzip
import json
import os
import random
import uuid

import manifest_write

PREFIXES = ("file:/gen", "hdfs://nn:8020/gen", "hdfs://other/gen", "s3://bkt/gen", "s3a://bkt/gen")
STYLES = ("file:/gen", "file:///gen", "/gen", "hdfs://nn:8020/gen", "s3://bkt/gen")
CUTOFF_MS = 1780272000000
OLD_NS = 1769904000000 * 1_000_000
ODD = (" ", "%20", "+", "#", "?", ";", "&", "=", "ü", "日", "\n", "\\", "'", '"', "$(x)", "~", ":", "é", "%2F", "\t", "{}", "*")
FIELDS = ("region", "_hid", ".dot", "a b#1", "9n", "_c2_trunc")
TYPES = tuple(manifest_write.PARTITION_TYPES)


class Made:
    """A table as it was made."""

    def __init__(self, label, kind, location, pointer, note):
        self.label = label  # catalog.namespace.name
        self.kind = kind  # "files" (Hadoop layout) or "sql"
        self.location = location
        self.pointer = pointer
        self.note = note


class Maker:
    def __init__(self, rnd, base, name, kind, folder=None):
        self.rnd = rnd
        self.base = base
        self.name = name
        self.kind = kind
        self.folder = folder or kind[0] + "/" + name.replace(".", "/")
        self.style = rnd.choice(STYLES)
        self.link = self.alias = None
        self.location = self.style + "/" + self.folder
        self.version = rnd.choice((1, 2, 2, 3))
        self.shape = manifest_write.Shape(rnd, self.version)
        self.uuid = str(uuid.UUID(int=rnd.getrandbits(128), version=4))
        if self.version == 1 and rnd.random() < 0.3:
            self.uuid = None
        self.fields = [(n, rnd.choice(TYPES)) for n in rnd.sample(FIELDS, rnd.choice((0, 1, 2, 3)))]
        self.serial = 0
        self.snapshots = []
        self.state = []  # manifests of main: dicts of ref and entries
        self.refs = {}
        self.current = None
        self.written = {}  # local path -> (bytes or None, mtime ns)
        self.properties = {}
        self.statistics = []
        self.partition_statistics = []
        self.log = []
        self.note = []

    # ---- names ----

    def chance(self, p):
        return self.rnd.random() < p

    def unique(self):
        self.serial += 1
        return "%05d-%s" % (self.serial, uuid.UUID(int=self.rnd.getrandbits(128)).hex[:12])

    def odd(self):
        return "".join(self.rnd.choice(ODD) for _ in range(self.rnd.choice((0, 0, 1, 2))))

    def partition_folder(self):
        if not self.fields or self.chance(0.3):
            return ""
        return "/".join("%s=%s" % (n.replace(" ", "+").replace("#", "%23"), "v" + self.odd().replace("\n", "")) for n, _ in self.fields) + "/"

    def spell(self, relative):
        """A URI of a file of the table, in one of the spellings that mean it."""
        uri = self.location + "/" + relative
        if self.link and relative.startswith("data/") and self.chance(0.3):
            return self.location + "/linked" + relative[4:]
        if self.alias and self.chance(0.3):
            return self.style + "/" + self.alias + "/" + relative
        if self.chance(0.9):
            return uri
        if self.style == "s3://bkt/gen":
            return "s3a" + uri[2:]
        if self.style.startswith(("file:", "/")):
            return self.rnd.choice(("file:/gen", "file:///gen", "/gen")) + uri[len(self.style) :]
        return self.style + "//" + self.folder + "/./" + relative

    def place(self, uri, data=b"x", mtime=None):
        """Write the file that a URI of this warehouse means."""
        path = os.path.normpath(self.base + uri[uri.index("/gen") :])
        if self.alias:
            path = path.replace("/" + self.alias + "/", "/" + self.folder + "/")
        if self.link and "/linked/" in path:
            if self.link != "data":
                return uri  # the link leads nowhere, or to something else
            path = path.replace("/linked/", "/data/")
        self.written[path] = (data, OLD_NS if mtime is None else mtime)
        return uri

    # ---- commits ----

    def data_file(self):
        where = "data/" if self.chance(0.8) else ""
        uri = self.spell(where + self.partition_folder() + self.unique() + self.odd() + ".parquet")
        if self.chance(0.06):
            uri = self.style + "/outside/" + self.name + "/" + self.unique() + ".parquet"
        if self.chance(0.97):
            self.place(uri)  # else: named, but gone from the storage
        return uri

    def manifest(self, entries, content=0):
        data = manifest_write.manifest(self.shape, self.fields, entries, content, 0)
        uri = self.place(self.spell("metadata/" + self.unique() + "-m0.avro"), data)
        counts = [sum(1 for e in entries if e["status"] == s) for s in (1, 0, 2)]
        ref = {"path": uri, "length": len(data), "content": content}
        for name, count in zip(("added", "existing", "deleted"), counts):
            unknown = self.version == 1 and self.chance(0.2)
            ref[name] = None if unknown else count
        return {"ref": ref, "entries": entries, "content": content}

    def live(self, content):
        return [e for m in self.state if m["content"] == content for e in m["entries"] if e["status"] != 2]

    def append(self):
        entries = [{"status": 1, "path": self.data_file(), "snapshot": self.current_id} for _ in range(self.rnd.randint(1, 4))]
        self.state = self.state + [self.manifest(entries)]
        return "append"

    def overwrite(self):
        """One manifest is written again: some of its files are gone, the rest exists."""
        old = [m for m in self.state if m["content"] == 0]
        if not old:
            return self.append()
        victim = self.rnd.choice(old)
        entries = []
        for entry in victim["entries"]:
            if entry["status"] != 2:
                status = 2 if self.chance(0.5) else 0
                entries.append({**entry, "status": status, "snapshot": self.current_id if status == 2 else entry["snapshot"]})
        self.state = [m for m in self.state if m is not victim] + [self.manifest(entries)]
        if self.chance(0.7):
            self.append()
        return "overwrite"

    def merge(self):
        old = [m for m in self.state if m["content"] == 0]
        entries = [{**e, "status": 0} for m in old for e in m["entries"] if e["status"] != 2]
        self.state = [m for m in self.state if m["content"]] + ([self.manifest(entries)] if entries else [])
        return "replace"

    def row_delta(self):
        live = self.live(0)
        if self.version == 1 or not live:
            return self.append()
        entries = []
        if self.version == 3:
            puffin = self.place(self.spell("data/" + self.unique() + ".puffin"))
            for target in self.rnd.sample(live, self.rnd.randint(1, len(live))):
                entries.append({"status": 1, "path": puffin, "dv": True, "content": 1, "referenced": target["path"], "snapshot": self.current_id})
        else:
            for _ in range(self.rnd.randint(1, 2)):
                path = self.place(self.spell("data/" + self.unique() + "-deletes.parquet"))
                target = self.rnd.choice(live)["path"] if self.chance(0.3) else None
                content = self.rnd.choice((1, 2))
                entries.append({"status": 1, "path": path, "content": content, "referenced": target, "snapshot": self.current_id})
        self.state = self.state + [self.manifest(entries, 1)]
        return "overwrite"

    def truncate(self):
        self.state = []
        return "delete"

    def commit(self):
        before = self.state
        self.current_id = self.rnd.randrange(1 << 53, 1 << 63)
        operation = self.rnd.choice((self.append, self.append, self.append, self.overwrite, self.overwrite, self.merge, self.row_delta, self.row_delta, self.truncate))()
        totals = (len(self.live(0)), len(self.live(1)))
        summary = {"operation": operation}
        if self.chance(0.8) or not self.state:
            less = self.rnd.randint(0, totals[0]) if self.chance(0.1) else 0
            summary["total-data-files"] = str(totals[0] - less)
            summary["total-delete-files"] = str(totals[1])
        snapshot = {"snapshot-id": self.current_id, "timestamp-ms": 1767225600000 + self.serial, "summary": summary}
        if self.version == 1 and self.chance(0.1):
            del summary["operation"]
            if not self.state:
                summary["operation"] = "delete"
        if self.current is not None and self.chance(0.9):
            snapshot["parent-snapshot-id"] = self.current
        if self.version > 1:
            snapshot["sequence-number"] = len(self.snapshots) + 1
        refs = [m["ref"] for m in self.state]
        if self.version == 1 and self.chance(0.3):
            snapshot["manifests"] = [r["path"] for r in refs]
        else:
            data = manifest_write.manifest_list(self.shape, refs, self.current_id)
            name = "snap-%d-1-%s.avro" % (self.current_id, self.unique())
            snapshot["manifest-list"] = self.place(self.spell("metadata/" + name), data)
        self.snapshots.append(snapshot)
        if self.chance(0.15):  # staged, or on a branch of its own
            if self.chance(0.5):
                self.refs["side%d" % len(self.refs)] = {"snapshot-id": self.current_id, "type": self.rnd.choice(("branch", "tag"))}
            self.state = before
        else:
            self.current = self.current_id

    def expire(self):
        """Snapshots leave the metadata; their files stay on storage."""
        named = {self.current} | {r["snapshot-id"] for r in self.refs.values()}
        self.snapshots = [s for s in self.snapshots if s["snapshot-id"] in named or self.chance(0.5)]

    def add_statistics(self):
        for target, suffix in ((self.statistics, ".stats"), (self.partition_statistics, ".parquet")):
            for snapshot in self.snapshots:
                if self.chance(0.2):
                    folder = self.rnd.choice(("metadata/", "data/", ""))
                    uri = self.place(self.spell(folder + self.unique() + suffix))
                    target.append({"snapshot-id": snapshot["snapshot-id"], "statistics-path": uri, "file-size-in-bytes": 1})

    # ---- litter ----

    def litter(self):
        rnd = self.rnd
        live = list(self.written)
        for _ in range(rnd.randint(3, 14)):
            folder = rnd.choice(("data/", "data/", "metadata/", "", "data/x/y/", "other/", "data/_temporary/0/", ".hoodie/", "data/" + self.partition_folder()))
            name = rnd.choice(("", "", "", "_", ".", "-")) + self.unique() + self.odd() + rnd.choice((".parquet", ".avro", ".orc", ".crc", "", ".metadata.json", ".txt"))
            if self.fields and self.chance(0.2):
                name = rnd.choice(self.fields)[0] + rnd.choice(("=", "")) + name
            if live and self.chance(0.15):  # near to a name that is live
                near = os.path.basename(rnd.choice(live))
                name = rnd.choice((near.upper(), near.replace("%20", " "), near + ".bak.parquet", near.replace("ü", "u\u0308"), " " + near))
            path = os.path.join(self.base + "/gen/" + self.folder, folder + name)
            if self.chance(0.05):
                path = os.fsdecode(os.fsencode(path) + b"\xff\xfe.parquet")
            if len(os.fsencode(os.path.basename(path))) < 250 and path not in self.written:
                self.written.setdefault(os.path.normpath(path), (b"{}" if rnd.random() < 0.5 else b"x", self.time()))

    def time(self):
        cut = CUTOFF_MS * 1_000_000
        return self.rnd.choice((OLD_NS, OLD_NS, OLD_NS, OLD_NS + 1234567, cut, cut - 1_000_000, cut - 1, cut + 1, cut + 86400 * 10**9, 0, -1_500_000_000))

    def choose_links(self):
        """A link inside the table to its data (or to nowhere), and one beside it to the whole table."""
        if self.chance(0.05):
            self.link = self.rnd.choice(("data", "data", "nowhere", "../..", "metadata/version-hint.text"))
        if self.chance(0.05):
            self.alias = os.path.dirname(self.folder) + "/alias-" + os.path.basename(self.folder)

    # ---- the metadata file ----

    def specs(self):
        fields = [
            {"name": name, "transform": "identity", "source-id": i + 1, "field-id": 1000 + i} for i, (name, _) in enumerate(self.fields)
        ]
        older = [{"name": "_old", "transform": "identity", "source-id": 9, "field-id": 1009}] if self.chance(0.2) else None
        return fields, older

    def metadata(self):
        fields, older = self.specs()
        meta = {"format-version": self.version, "table-uuid": self.uuid, "location": self.location, "last-updated-ms": 1767225700000}
        if self.chance(0.1):
            meta["location"] += "/"
        if self.uuid is None:
            del meta["table-uuid"]
        meta["last-column-id"] = 3
        schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}]}
        if self.version == 1:
            meta["schema"] = schema
            meta["partition-spec"] = fields
        if self.version > 1 or self.chance(0.5):
            meta["partition-specs"] = [{"spec-id": 0, "fields": fields}] + ([{"spec-id": 1, "fields": older}] if older else [])
            meta["default-spec-id"] = 0
        if self.version > 1:
            meta.update({"schemas": [schema], "current-schema-id": 0, "last-sequence-number": 9, "last-partition-id": 1009})
            meta.update({"sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0})
        if self.version == 3:
            meta["next-row-id"] = 1 << 40
        if self.current is not None:
            meta["current-snapshot-id"] = self.current
        elif self.chance(0.6):
            meta["current-snapshot-id"] = None if self.version == 3 else -1
        if self.refs or self.chance(0.5):
            meta["refs"] = dict(self.refs)
            if self.current is not None:
                meta["refs"]["main"] = {"snapshot-id": self.current, "type": "branch"}
        for key, value in (
            ("snapshots", self.snapshots),
            ("properties", self.properties),
            ("statistics", self.statistics),
            ("partition-statistics", self.partition_statistics),
            ("metadata-log", [{"timestamp-ms": 1, "metadata-file": uri} for uri in self.log]),
        ):
            if value or self.chance(0.6):
                meta[key] = value
        if self.chance(0.3):
            meta["some-later-key"] = {"deep": [1, [2, {"x": None}]], "manifest-list": "nothing"}
        keys = list(meta)
        self.rnd.shuffle(keys)
        return json.dumps({k: meta[k] for k in keys}, indent=self.rnd.choice((None, 1)), ensure_ascii=self.chance(0.5))

    def metadata_name(self, number, zipped):
        if self.kind == "files":
            return "v%d%s" % (number, self.rnd.choice((".gz.metadata.json", ".metadata.json.gz")) if zipped else ".metadata.json")
        return "%05d-%s%s" % (number, uuid.UUID(int=self.rnd.getrandbits(128)), ".gz.metadata.json" if zipped else ".metadata.json")

    def finish(self):
        """Write the metadata files of all versions; returns the pointer."""
        last = self.rnd.randint(1, 6)
        names = [self.metadata_name(n, self.chance(0.2)) for n in range(1, last + 1)]
        kept = self.rnd.randint(0, last - 1)
        old = json.dumps({"format-version": self.version, "table-uuid": self.uuid, "location": self.location} if self.uuid else {"old": 1})
        for number, name in enumerate(names[:-1], 1):
            uri = self.location + "/metadata/" + name
            if number >= last - kept:
                self.log.append(uri)
            if self.kind == "files" or self.chance(0.8):
                self.place(uri, gzip.compress(old.encode()) if ".gz" in name else old.encode())
        pointer = self.location + "/metadata/" + names[-1]
        data = self.metadata().encode("utf-8", "surrogateescape")
        if self.defect == "repeated-key":
            data = data[:1] + b'"location":"/gen/elsewhere",' + data[1:]
        if self.defect == "cut-metadata":
            data = data[: -self.rnd.randint(1, len(data) // 2)]
        self.place(pointer, gzip.compress(data) if ".gz" in names[-1] else data)
        if self.kind == "files":
            self.hint(last)
        return pointer

    def hint(self, last):
        choice = self.rnd.choice(("right", "right", "lags", "none", "text"))
        if self.defect == "hint-ahead":
            choice = "ahead"
        text = {"right": "%d" % last, "lags": "%d\n" % self.rnd.randint(1, last), "text": "v?", "ahead": "%d" % (last + 3), "none": None}[choice]
        if text is not None:
            self.place(self.location + "/metadata/version-hint.text", text.encode())

    # ---- what is wrong with some tables ----

    DEFECTS = (
        "gc", "version", "encrypted-property", "encrypted-key-id", "list-missing", "list-cut", "manifest-missing", "manifest-cut",
        "manifest-grown", "repeated-key", "cut-metadata", "hint-ahead", "conflict", "two-prefixes", "foreign-uuid", "total-too-high",
        "empty-list", "flink",
    )  # fmt: skip

    def spoil_before(self):
        d = self.defect
        if d == "gc":
            self.properties["gc.enabled"] = self.rnd.choice(("false", "FALSE", "no", " true"))
        elif d == "version":
            self.version = self.rnd.choice((4, 9))
        elif d == "encrypted-property":
            self.properties["encryption.key-id"] = "k1"
        elif d == "foreign-uuid":
            text = json.dumps({"format-version": 2, "table-uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, self.name)), "location": self.location})
            self.place(self.location + "/metadata/00077-dropped.metadata.json", text.encode())
        if not self.snapshots:
            return
        snapshot = self.rnd.choice(self.snapshots)
        if d == "encrypted-key-id":
            snapshot["key-id"] = "k"
        elif d == "total-too-high":
            snapshot.setdefault("summary", {})["total-data-files"] = "1000"
        elif d == "flink":
            snapshot["summary"]["flink.job-id"] = "5f3a.x"
            self.note.append("flink")
            path = self.place(self.location + "/data/" + self.unique() + ".parquet")
            data = manifest_write.manifest(self.shape, self.fields, [{"status": 1, "path": path}], 0, 0)
            self.place(self.location + "/metadata/5f3a.x-00001-1-7-00003.avro", data)
            self.place(self.location + "/metadata/5f3a.x-00001-1-7-00004.avro", data[: len(data) // 2])
            self.place(self.location + "/metadata/5f3ayx-00001-1-7-00005.avro", data)

    def spoil_after(self):
        d = self.defect
        lists = [p for p in self.written if os.path.basename(p).startswith("snap-")]
        manifests = [p for p in self.written if p.endswith("-m0.avro")]
        if d == "list-missing" and lists:
            del self.written[self.rnd.choice(sorted(lists))]
        elif d in ("list-cut", "empty-list") and lists:
            path = self.rnd.choice(sorted(lists))
            data = self.written[path][0]
            self.written[path] = (data[: self.rnd.randint(0, len(data) - 1)], OLD_NS)
        elif d == "manifest-missing" and manifests:
            del self.written[self.rnd.choice(sorted(manifests))]
        elif d in ("manifest-cut", "manifest-grown") and manifests:
            path = self.rnd.choice(sorted(manifests))
            data = self.written[path][0]
            data = data[: self.rnd.randint(0, len(data) - 1)] if d == "manifest-cut" else data + b"\0"
            self.written[path] = (data, OLD_NS)

    def two_prefixes(self):
        """A live file is named under another authority, instead of or besides its own."""
        if self.defect not in ("conflict", "two-prefixes") or not self.state:
            return
        path = self.place(self.location + "/data/" + self.unique() + ".parquet")
        named = [path.replace("hdfs://nn:8020", "hdfs://other")] + ([path] if self.defect == "two-prefixes" else [])
        self.state = self.state + [self.manifest([{"status": 1, "path": p, "snapshot": 1} for p in named])]
        self.commit_as_is()

    def commit_as_is(self):
        self.current_id = self.rnd.randrange(1 << 53, 1 << 63)
        data = manifest_write.manifest_list(self.shape, [m["ref"] for m in self.state], self.current_id)
        uri = self.place(self.location + "/metadata/snap-%d-1-x.avro" % self.current_id, data)
        snapshot = {"snapshot-id": self.current_id, "timestamp-ms": 1767225600001, "summary": {"operation": "append"}, "manifest-list": uri}
        if self.version > 1:
            snapshot["sequence-number"] = 99
        self.snapshots.append(snapshot)
        self.current = self.current_id

    # ---- the whole ----

    def make(self, defect):
        self.defect = defect
        self.choose_links()
        if defect in ("conflict", "two-prefixes"):
            self.style = "hdfs://nn:8020/gen"
            self.location = self.style + "/" + self.folder
        for _ in range(self.rnd.choice((0, 1, 2, 3, 4, 6))):
            self.commit()
        self.two_prefixes()
        if self.chance(0.4):
            self.expire()
        if self.current is not None and not any(s["snapshot-id"] == self.current for s in self.snapshots):
            self.current = None
        self.refs = {n: r for n, r in self.refs.items() if any(s["snapshot-id"] == r["snapshot-id"] for s in self.snapshots)}
        if self.chance(0.4):
            self.add_statistics()
        self.litter()
        self.spoil_before()
        pointer = self.finish()
        self.spoil_after()
        self.flush()
        if defect:
            self.note.append(defect)
        return Made(("files." if self.kind == "files" else "sql.") + self.name, self.kind, self.location, pointer, " ".join(self.note))

    def flush(self):
        os.makedirs(self.base + "/gen/" + self.folder + "/metadata", exist_ok=True)
        for path, (data, mtime) in self.written.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
            os.utime(path, ns=(mtime, mtime))
        if self.link:
            os.symlink(self.link, self.base + "/gen/" + self.folder + "/linked")
        if self.alias:
            os.symlink(os.path.basename(self.folder), self.base + "/gen/" + self.alias)


def make(seed, base, count):
    """A warehouse of about `count` tables; some share places with others."""
    rnd = random.Random(seed)
    made = []
    while len(made) < count:
        kind = rnd.choice(("files", "sql"))
        name = "ns%d.t%03d" % (seed % 7, len(made))
        defect = rnd.choice(Maker.DEFECTS) if rnd.random() < 0.2 else None
        maker = Maker(random.Random(rnd.getrandbits(64)), base, name, kind)
        if rnd.random() < 0.05 and made:
            maker.properties["write.data.path"] = rnd.choice(made).location + "/data"
        made.append(maker.make(defect))
        if rnd.random() < 0.04:
            inner = Maker(random.Random(rnd.getrandbits(64)), base, "inner.t%03d" % len(made), "sql", maker.folder + "/data/inner")
            made.append(inner.make(None))
    return made


def folder_of_hadoop(table):
    return table.location if table.kind == "files" else None
