# SPDX-License-Identifier: Apache-2.0
"""Stands in for spark-sql: looks at what it is given, answers as the folder FAKE says, and does what Spark would do.

    FAKE/answer   lines of the dry run; FAKE/removes  lines of the real one (default: the same), whose files it deletes
    FAKE/mode     exit, hang, stubborn, garbage, cut, no-header, two-columns, silent; FAKE/seen gets what was given
"""
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time

FAKE = os.environ["FAKE"]


def read(name, otherwise=""):
    try:
        with open(os.path.join(FAKE, name), encoding="utf-8", errors="surrogateescape", newline="\n") as f:
            return f.read()
    except FileNotFoundError:
        return otherwise


def note(statement):
    seen = {"argv": sys.argv[1:], "cwd": os.getcwd(), "statement": statement, "properties": open("session.properties", encoding="utf-8").read(),
            "modes": {name: oct(stat.S_IMODE(os.stat(name).st_mode)) for name in (".", "statement.sql", "session.properties")}, "lc_all": os.environ.get("LC_ALL"),
            "pid": os.getpid()}
    with open(os.path.join(FAKE, "seen"), "a", encoding="utf-8") as f:
        f.write(json.dumps(seen) + "\n")


def hang(mode):
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "1000"])
    with open(os.path.join(FAKE, "child"), "w", encoding="utf-8") as f:
        f.write(str(child.pid))
    while True:
        time.sleep(1000)


def main():
    statement = read(os.path.join(os.getcwd(), "statement.sql"))
    note(statement)
    is_dry = "dry_run => true" in statement
    mode = read("mode" if is_dry else "mode-real", read("mode")).strip()
    answer = read("answer") if is_dry else read("removes", read("answer"))
    if mode == "exit":
        print("26/12/01 WARN Utils: something\nPassword: " + os.environ.get("FAKE_SECRET", ""), file=sys.stderr)
        print("java.lang.IllegalArgumentException: Cannot remove orphan files with an interval less than 24 hours " + os.environ.get("FAKE_SECRET", ""), file=sys.stderr)
        sys.exit(1)
    if mode in ("hang", "stubborn"):
        hang(mode)
    if mode == "garbage":
        sys.stdout.buffer.write(b"\x00\xff\xfe\x01" * 1000 + b"\n")
        return
    if mode == "silent":
        return
    out = "noise before\n" + ("" if mode == "no-header" else "size\torphan_file_location\n" if mode == "two-columns" else "orphan_file_location\n")
    for line in answer.splitlines():
        out += ("12\t" if mode == "two-columns" else "") + line + "\n"
    sys.stdout.buffer.write(out.encode("utf-8", "surrogateescape")[: -3 if mode == "cut" else None])
    if not is_dry:
        for line in answer.splitlines():
            path = re.sub(r"^file:/+ebb", os.environ["FAKE_ROOT"], line)
            if os.path.exists(path):
                os.unlink(path)


main()
