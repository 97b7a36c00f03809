# SPDX-License-Identifier: Apache-2.0
"""Writes Avro files, with every freedom that the format gives a writer: codecs, blocks, negative counts, order of unions."""

import json
import random
import struct
import zlib

CODECS = ("null", "deflate", "zstandard", "snappy")


def long(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def text(value):
    data = value if isinstance(value, bytes) else value.encode("utf-8")
    return long(len(data)) + data


class Encoder:
    """Encodes values by a schema; rnd decides how collections are cut into blocks."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.named = {}

    def learn(self, schema):
        if isinstance(schema, list):
            for branch in schema:
                self.learn(branch)
        elif isinstance(schema, dict):
            if "name" in schema and schema["type"] in ("record", "fixed", "enum"):
                self.named[schema["name"]] = schema
            for key in ("type", "items", "values"):
                if isinstance(schema.get(key), (dict, list)):
                    self.learn(schema[key])
            for field in schema.get("fields", []):
                self.learn(field["type"])

    def value(self, schema, value):
        if isinstance(schema, list):
            return self._union(schema, value)
        if isinstance(schema, str):
            return self._primitive(schema, value)
        kind = schema["type"]
        if kind == "record":
            return b"".join(self.value(f["type"], value.get(f["name"])) for f in schema["fields"])
        if kind == "array":
            return self._blocks([self.value(schema["items"], item) for item in value])
        if kind == "map":
            return self._blocks([text(key) + self.value(schema["values"], item) for key, item in value.items()])
        if kind == "fixed":
            return value
        if kind == "enum":
            return long(schema["symbols"].index(value))
        return self.value(kind, value)

    def _union(self, branches, value):
        for index, branch in enumerate(branches):
            if self._fits(branch, value):
                return long(index) + (b"" if value is None else self.value(branch, value))
        raise ValueError("no branch")

    @staticmethod
    def _fits(branch, value):
        if branch == "null" or value is None:
            return branch == "null" and value is None
        return not (branch == "string" and isinstance(value, int) or branch == "int" and isinstance(value, str))

    def _primitive(self, name, value):
        if name in self.named:
            return self.value(self.named[name], value)
        if name in ("int", "long"):
            return long(value)
        if name in ("string", "bytes"):
            return text(value)
        if name == "boolean":
            return b"\x01" if value else b"\x00"
        if name == "float":
            return struct.pack("<f", value)
        if name == "double":
            return struct.pack("<d", value)
        return b""

    def _blocks(self, items):
        out = b""
        while items:
            take = self.rnd.randint(1, len(items))
            body = b"".join(items[:take])
            out += long(-take) + long(len(body)) + body if self.rnd.random() < 0.4 else long(take) + body
            items = items[take:]
        return out + b"\x00"


def deflate(codec, data, rnd):
    if codec == "deflate":
        stream = zlib.compressobj(rnd.choice((1, 6, 9)), zlib.DEFLATED, -15)
        return stream.compress(data) + stream.flush()
    if codec == "zstandard":
        import zstandard

        return zstandard.ZstdCompressor(write_content_size=rnd.random() < 0.3).compress(data)
    if codec == "snappy":
        import snappy

        return snappy.compress(data) + zlib.crc32(data).to_bytes(4, "big")
    return data


def whole(schema, rows, rnd=None, codec="deflate", keys=None):
    """The bytes of an Avro file."""
    rnd = rnd or random.Random(1)
    encoder = Encoder(rnd)
    encoder.learn(schema)
    header = {"avro.schema": json.dumps(schema), **(keys or {})}
    if codec != "null" or rnd.random() < 0.5:
        header["avro.codec"] = codec
    pairs = list(header.items())
    rnd.shuffle(pairs)
    sync = rnd.randbytes(16)
    out = [b"Obj\x01", encoder._blocks([text(key) + text(value) for key, value in pairs]), sync]
    rows = list(rows)
    while rows:
        take = len(rows) if rnd.random() < 0.6 else rnd.randint(1, len(rows))
        body = deflate(codec, b"".join(encoder.value(schema, row) for row in rows[:take]), rnd)
        out += [long(take), long(len(body)), body, sync]
        rows = rows[take:]
    return b"".join(out)
