# SPDX-License-Identifier: Apache-2.0
"""Plan files that were changed by hand, with a sum that is right."""

import base64
import hashlib
import json


def path_of(candidate):
    if "path_b64" in candidate:
        return base64.b64decode(candidate["path_b64"])
    return candidate["path"].encode("utf-8")


def rewrite(source, target, header=None, candidates=None):
    """Both are called with what it may change in place."""
    with open(source, "rb") as f:
        lines = [json.loads(line) for line in f.read().splitlines()]
    body = lines[1:-1]
    if header:
        header(lines[0])
    if candidates:
        candidates(body)
    lines[-1].update(candidates=len(body), candidate_bytes=sum(line["size"] for line in body))
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [lines[0]] + body)
    lines[-1]["sha256"] = hashlib.sha256(text.encode("ascii")).hexdigest()
    with open(target, "w", encoding="ascii") as f:
        f.write(text + json.dumps(lines[-1], separators=(",", ":")) + "\n")
