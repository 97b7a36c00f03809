# SPDX-License-Identifier: Apache-2.0
"""Reads a whole Avro file strictly. Schemas and values are decoded by the avro library (Debian's python3-avro), which shares nothing with
the program under test; the container is read here, since the library takes a file that was cut for a shorter one."""

import io
import json
import warnings
import zlib

import avro.io
import avro.schema
import snappy
import zstandard

MAGIC = b"Obj\x01"
_schemas = {}


class Damaged(Exception):
    """The file is not what a writer made."""


class Encrypted(Exception):
    """The file begins as Iceberg's encrypted streams do."""


class _Input:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, n):
        if n < 0 or self.at + n > len(self.data):
            raise Damaged("runs past the end")
        self.at += n
        return self.data[self.at - n : self.at]

    def long(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
            if shift > 63:
                raise Damaged("number of more than ten bytes")
        return (value >> 1) ^ -(value & 1)


def _header(data):
    keys = {}
    while True:
        count = data.long()
        if count == 0:
            return keys
        if count < 0:
            count = -count
            data.long()
        for _ in range(count):
            key = data.take(data.long()).decode("utf-8")
            keys[key] = data.take(data.long())


def _inflate(codec, payload):
    if codec == "null":
        return payload
    if codec == "deflate":
        stream = zlib.decompressobj(-15)
        out = stream.decompress(payload) + stream.flush()
        # Some Python writers leave up to three bytes of zlib's checksum behind the stream.
        rest = stream.unused_data
        if not stream.eof or len(rest) > 3 or rest != zlib.adler32(out).to_bytes(4, "big")[: len(rest)]:
            raise Damaged("deflate stream")
        return out
    if codec == "snappy":
        out = snappy.decompress(payload[:-4])
        if zlib.crc32(out) != int.from_bytes(payload[-4:], "big"):
            raise Damaged("checksum")
        return out
    if codec == "zstandard":
        stream = zstandard.ZstdDecompressor().decompressobj()
        return stream.decompress(payload)
    raise Damaged("codec " + codec)


def _schema(text):
    if text not in _schemas:
        if len(_schemas) > 4000:
            _schemas.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # logical types that the library does not know
            _schemas[text] = avro.schema.parse(text)
    return _schemas[text]


# Names for files whose writer left all ids out.
NAMES = {
    0: "status", 2: "data_file", 100: "file_path", 143: "referenced_data_file", 500: "manifest_path", 501: "manifest_length", 517: "content",
    504: "added_files_count", 505: "existing_files_count", 506: "deleted_files_count", 519: "key_metadata",
}  # fmt: skip


def field_ids(record):
    """{field id: field} of a record schema, or of the record among the branches of a union."""
    if record.type == "union":
        record = next(branch for branch in record.schemas if branch.type == "record")
    found = {}
    for field in record.fields:
        number = field.other_props.get("field-id")
        if number is not None:
            found[int(number)] = field
    if not found:
        by_name = {field.name: field for field in record.fields}
        found = {number: by_name[name] for number, name in NAMES.items() if name in by_name}
    return found


def by_id(record_schema, value):
    """{field id: value} of a decoded record."""
    return {number: value.get(field.name) for number, field in field_ids(record_schema).items()}


def read(data):
    """(schema, rows) of the bytes of an Avro file. Damaged on anything that is not exactly a whole file."""
    if data[:4] == b"AGS1":
        raise Encrypted("AGS1")
    if data[:4] != MAGIC:
        raise Damaged("magic")
    try:
        return _read(_Input(data))
    except (Damaged, Encrypted):
        raise
    except Exception as error:  # whatever a library says about bytes that it can't read
        raise Damaged(str(error)) from error


def _read(source):
    source.take(4)
    keys = _header(source)
    schema = _schema(keys["avro.schema"].decode("utf-8"))
    codec = keys.get("avro.codec", b"null").decode("ascii")
    sync = source.take(16)
    reader = avro.io.DatumReader(schema)
    rows = []
    while source.at < len(source.data):
        count = source.long()
        block = _inflate(codec, source.take(source.long()))
        if source.take(16) != sync:
            raise Damaged("sync marker")
        stream = io.BytesIO(block)
        decoder = avro.io.BinaryDecoder(stream)
        if count < 0:
            raise Damaged("negative count")
        rows += [reader.read(decoder) for _ in range(count)]
        if stream.tell() != len(block):
            raise Damaged("block holds more than its records")
    return schema, rows


def header(data):
    """The header's keys as text, for people and tests."""
    source = _Input(data)
    source.take(4)
    return {key: value.decode("utf-8", "replace") for key, value in _header(source).items()}


def dump(data):
    """JSON text of a file, for a person who looks at a failing case."""
    schema, rows = read(data)
    return json.dumps({"name": schema.name, "rows": rows}, default=repr, indent=1)
