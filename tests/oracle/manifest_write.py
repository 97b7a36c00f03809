# SPDX-License-Identifier: Apache-2.0
"""Manifest lists and manifests as different writers make them: optional fields there or not, unions in either order, fields of later
versions, metric maps, partition records of many types."""

import avro_write

PARTITION_TYPES = {
    "string": ("string", "a=b/c"),
    "int": ("int", -7),
    "long": ("long", 1 << 40),
    "boolean": ("boolean", True),
    "float": ("float", 1.5),
    "double": ("double", -2.25),
    "bytes": ("bytes", b"\x00\xff"),
    "date": ({"type": "int", "logicalType": "date"}, 20000),
    "time": ({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}, 1767225600000000),
    "uuid": ({"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}, bytes(range(16))),
    "decimal": ({"type": "fixed", "name": "decimal_9_2", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}, b"\x00\x00\x01\x02"),
}


class Shape:
    """The choices of one writer."""

    def __init__(self, rnd, version):
        self.rnd = rnd
        self.version = version
        self.codec = rnd.choice(avro_write.CODECS)
        self.has_metrics = rnd.random() < 0.5
        self.has_unknown = rnd.random() < 0.25
        self.wide_ints = rnd.random() < 0.2
        self.has_counts = version > 1 or rnd.random() < 0.6
        self.has_ids = rnd.random() < 0.95
        self.old_names = self.has_ids and rnd.random() < 0.3
        self.nullable_file = rnd.random() < 0.05

    def optional(self, schema):
        return ["null", schema] if self.rnd.random() < 0.7 else [schema, "null"]

    def field(self, number, name, schema, optional=False):
        field = {"name": name, "type": self.optional(schema) if optional else schema, "field-id": number}
        if optional and field["type"][0] == "null":
            field["default"] = None
        return field

    def integer(self):
        return "long" if self.wide_ints else "int"

    def unknown(self, number, name):
        schema = self.rnd.choice(
            [
                {"type": "map", "values": "long"},
                {"type": "array", "items": ["null", "string", "int"], "element-id": number + 500},
                {"type": "record", "name": name + "_r", "fields": [{"name": "x", "type": "double", "field-id": number + 600}]},
                {"type": "enum", "name": name + "_e", "symbols": ["A", "B"]},
            ]
        )
        return self.field(number, name, schema, optional=schema["type"] != "map"), schema

    def unknown_value(self, schema):
        kind = schema["type"]
        return {"map": {"k": -1, "": 5}, "array": [None, "s", 3], "record": {"x": 0.5}, "enum": "B"}[kind]


def _without_ids(schema):
    """The schema without ids, as writers leave it that do not know of them."""
    if isinstance(schema, list):
        return [_without_ids(branch) for branch in schema]
    if isinstance(schema, dict):
        return {key: _without_ids(value) for key, value in schema.items() if not key.endswith("-id")}
    return schema


def _metric(shape, number, name, key, value, kind):
    record = {
        "type": "record",
        "name": "k%d_v%d" % (key, value),
        "fields": [{"name": "key", "type": "int", "field-id": key}, {"name": "value", "type": kind, "field-id": value}],
    }
    return shape.field(number, name, {"type": "array", "items": record, "logicalType": "map"}, optional=True)


def manifest(shape, spec_fields, entries, content, spec_id):
    """spec_fields: [(name, type name)]; entries: dicts with status, path and what else is known."""
    partition, values = [], {}
    seen = set()
    for index, (name, kind) in enumerate(spec_fields):
        schema, value = PARTITION_TYPES[kind]
        if isinstance(schema, dict) and schema["type"] == "fixed":
            schema = schema["name"] if schema["name"] in seen else schema
            seen.add(PARTITION_TYPES[kind][0]["name"])
        plain = "".join(c if c.isalnum() and c.isascii() or c == "_" else "_x%X" % ord(c) for c in name)
        plain = "_" + plain if plain[:1].isdigit() else plain
        field = shape.field(1000 + index, plain, schema, optional=True)
        if plain != name:
            field["iceberg-field-name"] = name
        partition.append(field)
        values[plain] = value
    inner = _data_file_fields(shape, partition)
    unknowns = []
    fields = [shape.field(0, "status", shape.integer())]
    if shape.version > 1 or shape.rnd.random() < 0.8:
        fields.append(shape.field(1, "snapshot_id", "long", optional=True))
    if shape.version > 1:
        fields.append(shape.field(3, "sequence_number", "long", optional=True))
        fields.append(shape.field(4, "file_sequence_number", "long", optional=True))
    if shape.has_unknown:
        field, schema = shape.unknown(9000, "later")
        unknowns.append(("later", schema))
        fields.append(field)
    fields.append(shape.field(2, "data_file", {"type": "record", "name": "r2", "fields": inner}, optional=shape.nullable_file))
    schema = {"type": "record", "name": "manifest_entry", "fields": fields}
    rows = [_entry_row(shape, e, values, unknowns, content) for e in entries]
    keys = {"partition-spec-id": str(spec_id), "format-version": str(shape.version), "schema": "{}", "partition-spec": "[]"}
    if shape.version > 1:
        keys["content"] = "deletes" if content else "data"
    return avro_write.whole(schema if shape.has_ids else _without_ids(schema), rows, shape.rnd, shape.codec, keys)


def _data_file_fields(shape, partition):
    rnd = shape.rnd
    fields = []
    if shape.version > 1:
        fields.append(shape.field(134, "content", shape.integer()))
    fields += [
        shape.field(100, "file_path" if not shape.old_names else "location", "string"),
        shape.field(101, "file_format", "string"),
        shape.field(102, "partition", {"type": "record", "name": "r102", "fields": partition}),
        shape.field(103, "record_count", "long"),
        shape.field(104, "file_size_in_bytes", "long"),
    ]
    if shape.version == 1:
        fields.append(shape.field(105, "block_size_in_bytes", "long"))
    if shape.has_metrics:
        fields.append(_metric(shape, 108, "column_sizes", 117, 118, "long"))
        fields.append(_metric(shape, 125, "lower_bounds", 126, 127, "bytes"))
        fields.append(_metric(shape, 128, "upper_bounds", 129, 130, "bytes"))
    if rnd.random() < 0.5:
        fields.append(shape.field(131, "key_metadata", "bytes", optional=True))
        fields.append(shape.field(132, "split_offsets", {"type": "array", "items": "long", "element-id": 133}, optional=True))
    if shape.version > 1:
        fields.append(shape.field(135, "equality_ids", {"type": "array", "items": "int", "element-id": 136}, optional=True))
        fields.append(shape.field(143, "referenced_data_file", "string", optional=True))
    if shape.version > 2:
        fields.append(shape.field(144, "content_offset", "long", optional=True))
        fields.append(shape.field(145, "content_size_in_bytes", "long", optional=True))
    return fields


def _entry_row(shape, entry, partition, unknowns, content):
    rnd = shape.rnd
    metric = [{"key": k, "value": rnd.randrange(1 << 40)} for k in range(rnd.randint(0, 4))]
    bounds = [{"key": k, "value": rnd.randbytes(rnd.randint(0, 20))} for k in range(rnd.randint(0, 4))]
    data_file = {
        "content": entry.get("content", 1 if content else 0),
        "file_path": entry["path"],
        "location": entry["path"],
        "file_format": rnd.choice(("PARQUET", "parquet")) if not entry.get("dv") else "PUFFIN",
        "partition": {k: v if rnd.random() < 0.8 else None for k, v in partition.items()},
        "record_count": 1,
        "file_size_in_bytes": 1,
        "block_size_in_bytes": 67108864,
        "column_sizes": metric if rnd.random() < 0.9 else None,
        "lower_bounds": bounds,
        "upper_bounds": bounds,
        "split_offsets": [4],
        "equality_ids": [1] if entry.get("content") == 2 else None,
        "referenced_data_file": entry.get("referenced"),
        "content_offset": 4 if entry.get("dv") else None,
        "content_size_in_bytes": 40 if entry.get("dv") else None,
    }
    row = {"status": entry["status"], "snapshot_id": entry.get("snapshot"), "data_file": data_file}
    row["sequence_number"] = None if entry["status"] == 1 else 1
    for name, schema in unknowns:
        row[name] = shape.unknown_value(schema)
    return row


def manifest_list(shape, refs, snapshot_id):
    """refs: dicts with path, length, content, added, existing, deleted."""
    rnd = shape.rnd
    count = "_data_files_count" if shape.old_names else "_files_count"
    fields = [
        shape.field(500, "manifest_path", "string"),
        shape.field(501, "manifest_length", "long"),
        shape.field(502, "partition_spec_id", shape.integer()),
    ]
    if shape.version > 1:
        fields.append(shape.field(517, "content", shape.integer()))
        fields.append(shape.field(515, "sequence_number", "long"))
        fields.append(shape.field(516, "min_sequence_number", "long"))
    fields.append(shape.field(503, "added_snapshot_id", "long"))
    if shape.has_counts:
        for number, name in ((504, "added"), (505, "existing"), (506, "deleted")):
            fields.append(shape.field(number, name + count, shape.integer(), optional=shape.version == 1))
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [shape.field(509, "contains_null", "boolean"), shape.field(510, "lower_bound", "bytes", optional=True)],
    }
    if rnd.random() < 0.7:
        fields.append(shape.field(507, "partitions", {"type": "array", "items": summary, "element-id": 508}, optional=True))
    if rnd.random() < 0.5:
        fields.append(shape.field(519, "key_metadata", "bytes", optional=True))
    unknowns = []
    if shape.has_unknown:
        field, schema = shape.unknown(9100, "later_l")
        fields.insert(rnd.randint(0, len(fields)), field)
        unknowns.append(("later_l", schema))
    schema = {"type": "record", "name": "manifest_file", "fields": fields}
    rows = []
    for ref in refs:
        row = {
            "manifest_path": ref["path"],
            "manifest_length": ref["length"],
            "partition_spec_id": 0,
            "content": ref["content"],
            "sequence_number": 1,
            "min_sequence_number": 0,
            "added_snapshot_id": snapshot_id,
            "partitions": [{"contains_null": True, "lower_bound": b"a"}, {"contains_null": False}],
            "key_metadata": ref.get("key_metadata"),
        }
        for name in ("added", "existing", "deleted"):
            row[name + count] = ref[name]
        for name, unknown in unknowns:
            row[name] = shape.unknown_value(unknown)
        rows.append(row)
    keys = {"snapshot-id": str(snapshot_id), "format-version": str(shape.version)} if rnd.random() < 0.8 else {}
    schema = schema if shape.has_ids else _without_ids(schema)
    return avro_write.whole(schema, rows, rnd, shape.codec if rnd.random() < 0.5 else "deflate", keys)
