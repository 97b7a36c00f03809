# SPDX-License-Identifier: Apache-2.0
"""Locations as Hadoop's Path reads them: scheme, authority, normal path. Bytes of a name are kept in str by surrogateescape."""

FAMILY = {"s3a": "s3", "s3n": "s3"}


class BadLocation(Exception):
    pass


def split(text):
    """(scheme, authority, path as written); a missing part is ""."""
    if not text or "\0" in text:
        raise BadLocation(repr(text))
    scheme = authority = ""
    colon, slash = text.find(":"), text.find("/")
    if colon > 1 and (slash < 0 or colon < slash):
        scheme, text = text[:colon], text[colon + 1 :]
    if text.startswith("//") and len(text) > 2:
        end = text.find("/", 2)
        end = len(text) if end < 0 else end
        authority, text = text[2:end], text[end:]
    return scheme, authority, text


def normal(path):
    parts = []
    if not path.startswith("/"):
        raise BadLocation("relative: " + repr(path))
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise BadLocation("climbs: " + repr(path))
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def parse(text, base=None):
    """(scheme, authority, normal path). A relative name is meant below base."""
    scheme, authority, path = split(text)
    if base is not None and not scheme and not text.startswith("/"):
        scheme, authority, path = split(base.rstrip("/") + "/" + text)
    return scheme, authority, normal(path)


def is_match(valid, actual, equal_authorities=None):
    """Whether a name in metadata with prefix `valid` may mean a listed one with prefix `actual`."""
    equals = equal_authorities or {}
    scheme = FAMILY.get(valid[0].lower(), valid[0].lower())
    listed = FAMILY.get(actual[0].lower(), actual[0].lower()) or "file"
    if scheme and scheme != listed:
        return False
    authority = equals.get(valid[1], valid[1]).lower()
    return not authority or authority == equals.get(actual[1], actual[1]).lower()
