# SPDX-License-Identifier: Apache-2.0
"""Literals and names as ebb writes them for an engine, and values to try them with."""
import csv
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SEED = 20261201


class Refused(str):
    """The code of an error in place of a text."""


def module_path():
    """ebb's Lua module of the build that is under test; no sanitizer can be loaded into a plain Lua."""
    return os.path.join(os.environ.get("EBB_BUILD_DIR", os.path.join(ROOT, "build", "release")), "lua", "?.so")


def _hex(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return data.hex() or "-"


def _ask(requests):
    done = subprocess.run(["lua5.4", os.path.join(HERE, "sqltext.lua")], input="".join(r + "\n" for r in requests), capture_output=True, text=True, check=False,
                          env={**os.environ, "LUA_CPATH": module_path()})
    if done.returncode:
        raise AssertionError("sqltext.lua: " + done.stderr)
    answers = [line.split(" ", 1) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests), done.stdout[-300:]
    return [Refused(what) if kind == "error" else "" if what == "-" else bytes.fromhex(what).decode("utf-8") for kind, what in answers]


def literals(dialect, values):
    return _ask(["literal %s %s" % (dialect, _hex(value)) for value in values])


def identifiers(dialect, names):
    return _ask(["identifier %s %s" % (dialect, " ".join(_hex(part) for part in parts)) for parts in names])


def rows(name):
    """[(dialect, value, text or Refused)] of a table of cases."""
    with open(os.path.join(ROOT, "tests", "cases", name), encoding="utf-8", newline="") as f:
        lines = list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return [(row[0], json.loads(row[1]), Refused("sql.invalid") if row[2] == "error" else json.loads(row[2])) for row in lines]


PIECES = ["'", "''", '"', '""', "`", "``", "\\", "\\\\", "\\'", "\\n", "\\u0041", "\\u", "\\U0001F600", "\\%", "\\_", "\\0", "\\101", "$", "${", "}", "${x}", "${env:HOME}", "$1", "{}",
          "\r", "\n", "\r\n", "\t", "\b", "\f", "\v", "\x01", "\x1a", "\x1b", "\x1f", "\x7f", "\x80", "\x85", "\xa0", "--", "-- x\n", "/*", "*/", "/* x */", "/*+ x */", ";", ";\n", "; ",
          "é", "e\u0301", "日本", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe", "\uffff", "😀", "\U0010ffff", "\u202e", " ", "  ", "a", "B", "0", "%", "_", "%41", "#", "@", "?", ":",
          ",", "(", ")", "=>", "CALL", "DROP TABLE lake.shop.victim", "'); DROP TABLE lake.shop.victim; --", "\\'); DROP TABLE lake.shop.victim; --", "map('a','b')", "s3://lake/t", "/",
          "system.remove_orphan_files", "U&'\\0041'", "\r'", "\\\n", "\\\r", "'\n'"]


def _letters(rng):
    kind = rng.random()
    if kind < 0.4:
        return chr(rng.randrange(1, 0x80))
    if kind < 0.7:
        return chr(rng.randrange(0x80, 0x800))
    if kind < 0.9:
        return chr(rng.choice([rng.randrange(0x800, 0xD800), rng.randrange(0xE000, 0x10000)]))
    return chr(rng.randrange(0x10000, 0x110000))


def values(count, seed=SEED):
    """Texts without NUL that are likely to be read wrongly: each control and each pair of pieces first, then at random, some long."""
    rng = random.Random(seed)
    found = dict.fromkeys([chr(n) for n in range(1, 0x100)] + [a + b for a in PIECES for b in PIECES])
    while len(found) < count:
        most = rng.choice([3, 6, 12, 12, 24, 24, 400])
        take = rng.choice([lambda: rng.choice(PIECES), lambda: _letters(rng), lambda: rng.choice([rng.choice(PIECES), _letters(rng)])])
        found["".join(take() for _ in range(rng.randrange(most)))] = None
    return list(found)[:count]


def measured(text):
    print("measured: " + text, flush=True, file=sys.stdout)
